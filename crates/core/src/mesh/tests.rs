mod box_of_tets;
mod collapsed;
mod damaged;
mod face_positions;
mod groups;
mod locator;
mod made;
mod reentrant;
mod uniform_positions;
mod walks;

use super::*;
use crate::random::uniform;
use burntrace_kernels::CellKind;
use made::{FLAT, Made, SOLID};

fn mesh(made: &Made) -> Mesh {
    Mesh::new(&made.points, made.cells.clone()).unwrap()
}

fn random_point(k: usize, mesh: &Mesh) -> [f64; 3] {
    let [x, y, z] = [0, 1, 2].map(|d| uniform(9, k as u64, 2, d));
    [x, y, if mesh.dimension() == 2 { 0.0 } else { z }]
}

/// Interpolates a position from the weights of a location.
fn position(mesh: &Mesh, location: &Location) -> [f64; 3] {
    let mut sum = [0.0; 3];
    for (node, weight) in mesh.cells().nodes(location.cell).iter().zip(location.weights) {
        let point = mesh.point(*node as usize);
        sum = [0, 1, 2].map(|d| sum[d] + weight * point[d]);
    }
    sum
}

/// Locates a point, and checks the interpolated position, which makes every linear function exact.
fn check(mesh: &Mesh, point: [f64; 3], scale: f64, what: &str) -> Location {
    let Some(location) = mesh.locate(point) else { panic!("{what}: {point:?} is in no cell") };
    let found = position(mesh, &location);
    for d in 0..mesh.dimension() {
        assert!((found[d] - point[d]).abs() < 1e-11 * scale, "{what}: {point:?} became {found:?}");
    }
    location
}

#[test]
fn random_points_in_distorted_boxes_of_every_kind_are_located() {
    for kind in SOLID.iter().chain(FLAT).copied() {
        let made = Made::of(5, 0.15, kind);
        for (mesh, what) in [(mesh(&made), "whole"), (mesh(&made.torn(3)), "torn")] {
            assert_eq!(mesh.counts().folded + mesh.counts().degenerate, 0, "{kind:?}");
            for k in 0..3000 {
                check(&mesh, random_point(k, &mesh), 1.0, &format!("{kind:?} {what}"));
            }
        }
    }
}

/// Some cells are folded, and still cover the box.
#[test]
fn random_points_in_strongly_distorted_boxes_are_located() {
    for kind in SOLID.iter().chain(FLAT).copied() {
        let mesh = mesh(&Made::of(6, 0.4, kind));
        for k in 0..1000 {
            let point = random_point(k, &mesh);
            check(&mesh, point, 1.0, &format!("{kind:?}"));
            assert!(mesh.walk(k % mesh.cells().len(), point).is_some(), "{kind:?} {point:?}");
        }
    }
}

/// Cells of all kinds match if faces are planar: a sheared box.
#[test]
fn random_points_in_mixed_meshes_are_located() {
    let shear = |[x, y, z]: [f64; 3]| [x + 0.3 * y, y - 0.2 * z, z + 0.1 * x];
    let solid = Made::new(6, 0.0, |k| SOLID[k * 7919 % 101 % SOLID.len()]).mapped(shear);
    let flat = |[x, y, _]: [f64; 3]| [x + 0.3 * y, y - 0.2 * x, 7.0];
    let square = Made::new(12, 0.0, |k| FLAT[k * 7919 % 101 % FLAT.len()]).mapped(flat);
    for made in [&solid, &solid.torn(1), &square, &square.torn(2)] {
        let mesh = mesh(made);
        for k in 0..20_000 {
            let point = random_point(k, &mesh);
            let point = if mesh.dimension() == 2 { flat(point) } else { shear(point) };
            check(&mesh, point, 1.0, "mixed");
        }
    }
}

/// Linear functions in space are linear in every cell, however distorted.
#[test]
fn linear_functions_are_exact_in_mixed_and_distorted_meshes() {
    let f = |p: [f64; 3]| 3.0 - 2.0 * p[0] + 5.0 * p[1] + 0.5 * p[2];
    let made = Made::new(6, 0.2, |k| SOLID[k * 7919 % 101 % SOLID.len()]).torn(8);
    let mesh = mesh(&made);
    let values: Vec<f64> = made.points.iter().map(|p| f(*p)).collect();
    let (mut found, count) = (0, 5000);
    for k in 0..count {
        let point = random_point(k, &mesh);
        let Some(location) = mesh.locate(point) else { continue };
        let nodes = mesh.cells().nodes(location.cell).iter();
        let value: f64 = nodes
            .zip(location.weights)
            .map(|(node, weight)| weight * values[mesh.first()[*node as usize] as usize])
            .sum();
        assert!((value - f(point)).abs() < 1e-10, "{point:?}");
        found += 1;
    }
    // Curved faces leave gaps between cells of different kinds.
    assert!(found > count * 95 / 100, "{found}");
}

#[test]
fn points_on_faces_edges_and_vertices_are_located_in_the_lowest_cell() {
    for kind in SOLID.iter().chain(FLAT).copied() {
        let mesh = mesh(&Made::of(3, 0.2, kind));
        for cell in 0..mesh.cells().len() {
            for (k, at) in points_on_sides(kind, cell as u64).into_iter().enumerate() {
                let location = Location { cell, coordinates: at, weights: kind.weights(at) };
                let found = check(&mesh, position(&mesh, &location), 1.0, &format!("{kind:?} {k}"));
                assert!(found.cell <= cell, "{kind:?} {k}: {} instead of {cell}", found.cell);
            }
        }
    }
}

/// Parametric coordinates of corners, and of random points on edges and faces.
fn points_on_sides(kind: CellKind, seed: u64) -> Vec<[f64; 3]> {
    let table = kind.table();
    let mut points = table.nodes.to_vec();
    for (f, face) in table.faces.iter().enumerate() {
        for weights in [[1.0, 1.0, 1.0, 1.0], [1.0, 2.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]] {
            let weights: Vec<f64> = (0..face.len())
                .map(|i| weights[i] * (0.01 + uniform(seed, f as u64, 3, i as u32)))
                .collect();
            let sum: f64 = weights.iter().sum();
            points.push([0, 1, 2].map(|d| {
                face.iter().zip(&weights).map(|(i, w)| w / sum * table.nodes[*i][d]).sum()
            }));
        }
    }
    points
}

#[test]
fn location_is_independent_of_units_and_origin() {
    for scale in [1e-150, 1e-3, 1e3, 1e150] {
        for kind in SOLID.iter().copied() {
            let made = Made::of(3, 0.2, kind).mapped(|p| p.map(|x| scale * (x - 40.0)));
            let mesh = mesh(&made);
            assert_eq!(mesh.counts().degenerate, 0);
            for k in 0..300 {
                let point = random_point(k, &mesh).map(|x| scale * (x - 40.0));
                check(&mesh, point, scale, &format!("{kind:?} {scale}"));
            }
            // Vertices have the largest rounding errors.
            for point in mesh.points() {
                check(&mesh, point, scale, &format!("{kind:?} {scale} node"));
            }
        }
    }
}

#[test]
fn thin_layers_keep_all_cells() {
    for kind in SOLID.iter().copied() {
        // Thickness 10^-6 of the width.
        let made = Made::of(4, 0.15, kind).mapped(|[x, y, z]| [x, y, 1e-6 * z]);
        let mesh = mesh(&made);
        assert_eq!((mesh.counts().merged, mesh.counts().degenerate), (0, 0), "{kind:?}");
        for k in 0..1000 {
            let [x, y, z] = random_point(k, &mesh);
            check(&mesh, [x, y, 1e-6 * z], 1.0, &format!("{kind:?}"));
        }
    }
}

#[test]
fn torn_meshes_are_merged() {
    for kind in SOLID.iter().chain(FLAT).copied() {
        let made = Made::of(4, 0.2, kind);
        let (whole, torn) = (mesh(&made), mesh(&made.torn(6)));
        assert_eq!(whole.counts().merged, 0);
        assert_eq!(torn.points().len(), whole.points().len(), "{kind:?}");
        assert_eq!(torn.counts().merged, made.cells.connectivity.len() - whole.points().len());
        assert_eq!(torn.counts().open_faces, whole.counts().open_faces);
        let sides = if kind.dimension() == 2 { 4 * 4 } else { 6 * 16 };
        let cut = matches!(kind, CellKind::Tetra | CellKind::QuadraticTetra);
        let more = if cut { 2 * sides } else { sides };
        // With wedges, two sides of the box have squares cut into two triangles.
        let more = if kind == CellKind::Wedge { 4 * 16 + 2 * 2 * 16 } else { more };
        assert_eq!(whole.counts().open_faces, more, "{kind:?}");
        assert_eq!(whole.counts().crowded_faces + torn.counts().crowded_faces, 0);
    }
}

#[test]
fn neighbours_are_mutual() {
    let mesh = mesh(&Made::new(4, 0.0, |k| SOLID[k % SOLID.len()]).torn(4));
    for cell in 0..mesh.cells().len() {
        assert_eq!(mesh.neighbours(cell).len(), mesh.cells().kinds[cell].table().faces.len());
        for next in mesh.neighbours(cell).iter().filter(|next| **next >= 0) {
            assert!(mesh.neighbours(*next as usize).contains(&(cell as i32)));
        }
    }
    let starts = mesh.face_starts();
    assert_eq!(starts[starts.len() - 1] as usize, mesh.all_neighbours().len());
}

/// Positions interpolated by VTK, which located them again (`tests/peers/cells.py`).
#[test]
fn weights_in_distorted_cells_match_vtk() {
    let vtk =
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/peers/cells.csv"));
    let mut count = 0;
    for line in vtk.lines().filter_map(|line| line.strip_prefix("place,")) {
        let numbers: Vec<f64> = line.split(',').map(|x| x.parse().unwrap()).collect();
        let kind = CellKind::from_vtk(numbers[0] as u8).unwrap();
        let n = kind.nodes();
        let (coordinates, weights) = numbers[1..].split_at(3 * n + 3);
        let points: Vec<[f64; 3]> = coordinates.chunks(3).map(|p| [p[0], p[1], p[2]]).collect();
        let cells = Cells {
            kinds: vec![kind],
            offsets: vec![0, n as u32],
            connectivity: (0..n as u32).collect(),
        };
        let mesh = Mesh::new(&points[..n], cells).unwrap();
        let location = check(&mesh, points[n], 1.0, &format!("{kind:?}"));
        for (ours, vtk) in location.weights.iter().zip(weights) {
            assert!((ours - vtk).abs() < 1e-10, "{kind:?} {:?} {weights:?}", location.weights);
        }
        count += 1;
    }
    assert_eq!(count, 6 * CellKind::ALL.len());
}

#[test]
fn positions_above_an_apex_are_outside() {
    let points =
        [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.5, 0.5, 1.0]];
    let cells = Cells {
        kinds: vec![CellKind::Pyramid],
        offsets: vec![0, 5],
        connectivity: vec![0, 1, 2, 3, 4],
    };
    let mesh = Mesh::new(&points, cells).unwrap();
    assert!(mesh.locate([0.5, 0.5, 1.0]).is_some());
    for k in 1..20 {
        let near = 0.1_f64.powi(k);
        assert!(mesh.locate([0.5, 0.5, 1.0 - near]).is_some(), "{near}");
        assert!(k > 9 || mesh.locate([0.5, 0.5, 1.0 + near]).is_none(), "{near}");
        assert!(mesh.locate([0.5 + 0.5 * near, 0.5, 1.0 - near]).is_some(), "{near}");
        assert!(k > 8 || mesh.locate([0.5 + 0.6 * near, 0.5, 1.0 - near]).is_none(), "{near}");
    }
}

#[test]
fn irregular_cells_are_counted() {
    let points = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [1.0, 1.0, 0.0],
        [0.0, 1.0, 0.0],
        [2.0, 0.0, 0.0],
        [0.6, 0.3, 0.0],
    ];
    let cells = |kinds: &[CellKind], connectivity: &[u32]| {
        let mut offsets = vec![0];
        for kind in kinds {
            offsets.push(offsets[offsets.len() - 1] + kind.nodes() as u32);
        }
        Cells { kinds: kinds.to_vec(), offsets, connectivity: connectivity.to_vec() }
    };
    let kinds = [CellKind::Triangle, CellKind::Triangle, CellKind::Triangle, CellKind::Triangle];
    let mesh = Mesh::new(&points, cells(&kinds, &[0, 1, 2, 0, 2, 3, 0, 4, 1, 1, 2, 4])).unwrap();
    // The third is a line; the fourth has the opposite orientation.
    assert_eq!((mesh.counts().degenerate, mesh.counts().inverted), (1, 1));
    assert!(mesh.locate([1.5, 0.0, 0.0]).is_some());
    let crossed = Mesh::new(&points, cells(&[CellKind::Quad], &[0, 1, 3, 2])).unwrap();
    let notched = Mesh::new(&points, cells(&[CellKind::Quad], &[0, 4, 5, 3])).unwrap();
    assert_eq!((crossed.counts().folded, notched.counts().folded), (1, 1));
}

#[test]
fn errors_name_the_given_and_the_expected_values() {
    let points = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let cells = |kinds: &[CellKind], offsets: &[u32], connectivity: &[u32]| Cells {
        kinds: kinds.to_vec(),
        offsets: offsets.to_vec(),
        connectivity: connectivity.to_vec(),
    };
    let (tri, tet) = (CellKind::Triangle, CellKind::Tetra);
    let error =
        |points: &[[f64; 3]], cells: Cells| Mesh::new(points, cells).unwrap_err().to_string();
    let one = || cells(&[tet], &[0, 4], &[0, 1, 2, 3]);
    for (found, expected) in [
        (error(&points, Cells::default()), "has no cells"),
        (error(&points, cells(&[tet], &[0], &[0, 1, 2, 3])), "1 offsets are given for 1 cells"),
        (
            error(&points, cells(&[tet], &[0, 3], &[0, 1, 2])),
            "cell 0, a tetra, has its nodes at 0 to 3",
        ),
        (error(&points, cells(&[tet], &[0, 4], &[0, 1, 2])), "the connectivity has 3 numbers"),
        (error(&points[..3], one()), "cell 0 has a node at point 3, of 3 points"),
        (error(&[[0.0; 3], [0.0; 3], [f64::NAN; 3], [0.0; 3]], one()), "point 2 is at [NaN"),
        (
            error(
                &points,
                cells(&[tet, tri, tri], &[0, 4, 7, 10], &[0, 1, 2, 3, 0, 1, 2, 0, 1, 3]),
            ),
            "2 cells are two-dimensional and 1 three-dimensional",
        ),
        (
            error(&points, cells(&[tri], &[0, 3], &[1, 2, 3])),
            "from [0.0, 0.0, 0.0] to [1.0, 1.0, 1.0]; give cells in one plane",
        ),
    ] {
        assert!(found.contains(expected), "{found}");
    }
}
