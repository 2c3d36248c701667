//! Division of polyhedra, polygons and quadratic wedges and pyramids.

use std::collections::HashMap;

use super::common::{composite, points, values, velocity};
use burntrace_vtk::{SplitCells, VtkFile, open};

/// The positions of all points of the cells, the added ones included.
fn positions(file: &VtkFile, split: &SplitCells) -> Vec<[f64; 3]> {
    let mut points = points(file);
    let along = |d: usize| split.added.values(|point| points[point][d]).collect::<Vec<f64>>();
    let (x, y, z) = (along(0), along(1), along(2));
    points.extend((0..x.len()).map(|i| [x[i], y[i], z[i]]));
    points
}

fn split(name: &str) -> (VtkFile, SplitCells, Vec<[f64; 3]>) {
    let file = open(composite(name)).unwrap();
    let split = file.split_cells(&points(&file)).unwrap();
    let positions = positions(&file, &split);
    (file, split, positions)
}

/// Six times the volume of a tetrahedron.
fn volume6([a, b, c, d]: [[f64; 3]; 4]) -> f64 {
    let [u, v, w] = [b, c, d].map(|p| [0, 1, 2].map(|i| p[i] - a[i]));
    u[0] * (v[1] * w[2] - v[2] * w[1]) - u[1] * (v[0] * w[2] - v[2] * w[0])
        + u[2] * (v[0] * w[1] - v[1] * w[0])
}

/// The volume of a linear tetrahedron, pyramid or hexahedron with plane faces.
fn volume(kind: u8, corners: &[[f64; 3]]) -> f64 {
    let tetrahedra: &[[usize; 4]] = match kind {
        10 => &[[0, 1, 2, 3]],
        14 => &[[0, 1, 2, 4], [0, 2, 3, 4]],
        12 => &[[0, 1, 2, 6], [0, 2, 3, 6], [0, 3, 7, 6], [0, 7, 4, 6], [0, 4, 5, 6], [0, 5, 1, 6]],
        other => panic!("type {other}"),
    };
    let volumes = tetrahedra.iter().map(|tetra| volume6(tetra.map(|i| corners[i])) / 6.0);
    volumes.inspect(|volume| assert!(*volume > 0.0, "{kind} {corners:?}")).sum()
}

/// How many cells have each face of linear cells, by its points.
fn faces(split: &SplitCells) -> HashMap<Vec<u32>, usize> {
    let mut found = HashMap::new();
    for (kind, corners) in split.cells.iter() {
        let of_kind: &[&[usize]] = match kind {
            10 => &[&[0, 1, 2], &[0, 1, 3], &[1, 2, 3], &[0, 2, 3]],
            14 => &[&[0, 1, 2, 3], &[0, 1, 4], &[1, 2, 4], &[2, 3, 4], &[3, 0, 4]],
            _ => &[
                &[0, 1, 2, 3],
                &[4, 5, 6, 7],
                &[0, 1, 5, 4],
                &[1, 2, 6, 5],
                &[2, 3, 7, 6],
                &[3, 0, 4, 7],
            ],
        };
        for face in of_kind {
            let mut points: Vec<u32> = face.iter().map(|i| corners[*i]).collect();
            points.sort_unstable();
            *found.entry(points).or_insert(0) += 1;
        }
    }
    found
}

#[test]
fn polyhedra_fill_space_without_gaps() {
    for (name, kinds, expected, boundary) in [
        ("polyhedra.vtu", &[10][..], 1.0, 6.0),
        ("octree.vtu", &[10, 12, 14], 12.0, 0.0),
        ("octree-old.vtu", &[10, 12, 14], 12.0, 0.0),
    ] {
        let (file, split, positions) = split(name);
        let mut found: Vec<u8> = split.cells.types().to_vec();
        found.sort_unstable();
        found.dedup();
        assert_eq!(found, kinds, "{name}");
        let corners =
            |cell: &[u32]| cell.iter().map(|i| positions[*i as usize]).collect::<Vec<_>>();
        let volumes = split.cells.iter().map(|(kind, cell)| volume(kind, &corners(cell)));
        assert!((volumes.sum::<f64>() - expected).abs() < 1e-9, "{name}");
        let faces = faces(&split);
        assert!(faces.values().all(|cells| *cells <= 2), "{name}");
        // The faces of one cell only are on the sides of the box.
        let [low, high] = [f64::min, f64::max].map(|f| {
            positions.iter().copied().reduce(|a, b| [0, 1, 2].map(|d| f(a[d], b[d]))).unwrap()
        });
        let is_on_side = |face: &Vec<u32>| {
            let all = |d: usize, x: f64| {
                face.iter().all(|i| (positions[*i as usize][d] - x).abs() < 1e-9)
            };
            (0..3).any(|d| all(d, low[d]) || all(d, high[d]))
        };
        let open: Vec<&Vec<u32>> =
            faces.iter().filter(|(_, cells)| **cells == 1).map(|(face, _)| face).collect();
        assert!(open.iter().all(|face| is_on_side(face)), "{name}");
        let area = |face: &&Vec<u32>| {
            let [a, b, c] = [0, 1, 2].map(|i| positions[face[i] as usize]);
            let [u, v] = [b, c].map(|p| [0, 1, 2].map(|d| p[d] - a[d]));
            let normal =
                [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
            normal.iter().map(|x| x * x).sum::<f64>().sqrt() / 2.0
        };
        if boundary > 0.0 {
            assert!((open.iter().map(area).sum::<f64>() - boundary).abs() < 1e-9, "{name}");
        }
        assert_eq!(split.parents.as_ref().unwrap().indices.len(), split.cells.len());
        let parents = &split.parents.as_ref().unwrap().indices;
        assert!(
            parents.is_sorted()
                && *parents.last().unwrap() as usize + 1 == file.cells().unwrap().len()
        );
    }
}

#[test]
fn both_layouts_of_polyhedra_give_the_same_cells() {
    let (_, new, _) = split("octree.vtu");
    let (_, old, _) = split("octree-old.vtu");
    assert_eq!(new, old);
    for legacy in ["octree-4.vtk", "octree-5.vtk"] {
        assert_eq!(split(legacy).1, new, "{legacy}");
    }
    let foam = open(composite("foam.vtm")).unwrap();
    assert_eq!(foam.split_cells(&points(&foam)).unwrap(), new);
}

#[test]
fn polyhedra_in_pieces_of_a_file_have_their_faces_and_values() {
    let (whole, whole_split, _) = split("octree.vtu");
    let (file, of_pieces, positions) = split("octree-pieces.vtu");
    let volumes = of_pieces.cells.iter().map(|(kind, cell)| {
        let corners: Vec<_> = cell.iter().map(|point| positions[*point as usize]).collect();
        volume(kind, &corners)
    });
    assert!((volumes.sum::<f64>() - 12.0).abs() < 1e-9);
    // The pieces have the hexahedra 1 and 2, the polyhedron, and the others.
    let parents = |split: &SplitCells| split.parents.clone().unwrap();
    assert_eq!(parents(&of_pieces).types, [12, 12, 42, 12, 12]);
    let parts = |split: &SplitCells, cell: u32| -> usize {
        parents(split).indices.iter().filter(|parent| **parent == cell).count()
    };
    assert_eq!(parts(&of_pieces, 2), parts(&whole_split, 0));
    assert_eq!(values(&file, "density"), [101.0, 102.0, 100.0, 103.0, 104.0]);
    assert_eq!(values(&whole, "density"), [100.0, 101.0, 102.0, 103.0, 104.0]);
    let expected: Vec<f64> = points(&file).into_iter().flat_map(velocity).collect();
    assert_eq!(values(&file, "velocity"), expected);
    let index = tempfile::tempdir().unwrap();
    std::fs::copy(composite("octree-pieces.vtu"), index.path().join("a.vtu")).unwrap();
    std::fs::copy(composite("octree-old.vtu"), index.path().join("b.vtu")).unwrap();
    let path = index.path().join("both.pvtu");
    let text = "<VTKFile type=\"PUnstructuredGrid\"><PUnstructuredGrid><Piece Source=\"a.vtu\"/>\
                <Piece Source=\"b.vtu\"/></PUnstructuredGrid></VTKFile>";
    std::fs::write(&path, text).unwrap();
    let both = open(&path).unwrap();
    let all = both.split_cells(&points(&both)).unwrap();
    assert_eq!(all.cells.len(), 2 * whole_split.cells.len());
    assert_eq!(parents(&all).types, [12, 12, 42, 12, 12, 42, 12, 12, 12, 12]);
}

#[test]
fn values_at_added_points_are_exact_for_linear_fields() {
    for name in ["polyhedra.vtu", "octree.vtu", "quadratic.vtu"] {
        let (file, split, positions) = split(name);
        let first = points(&file).len();
        assert!(!split.added.is_empty(), "{name}");
        for d in 0..3 {
            let at = |point: usize| velocity(positions[point])[d];
            for (i, found) in split.added.values(at).enumerate() {
                let expected = velocity(positions[first + i])[d];
                assert!((found - expected).abs() < 1e-13, "{name}: {found} {expected}");
            }
        }
        for (points, weights) in split.added.iter() {
            assert_eq!(points.len(), weights.len());
            assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-14, "{name}");
        }
    }
}

#[test]
fn quadratic_cells_become_quadratic_tetrahedra() {
    let (file, split, positions) = split("quadratic.vtu");
    assert_eq!(split.cells.types(), [24; 8]);
    let parents = split.parents.as_ref().unwrap();
    assert_eq!(parents.indices, [0, 0, 0, 1, 1, 1, 2, 2]);
    assert_eq!(parents.types, [26, 26, 27]);
    // Six faces with four sides, of which the pyramid shares one.
    assert_eq!(split.added.len(), 6);
    let edges = [[0, 1], [1, 2], [0, 2], [0, 3], [1, 3], [2, 3]];
    for (_, nodes) in split.cells.iter() {
        let at = |i: usize| positions[nodes[i] as usize];
        assert!(volume6([at(0), at(1), at(2), at(3)]) > 0.0);
        for (middle, [a, b]) in edges.into_iter().enumerate() {
            let expected = [0, 1, 2].map(|d| (at(a)[d] + at(b)[d]) / 2.0);
            let found = at(4 + middle);
            let is_close = (0..3).all(|d| (found[d] - expected[d]).abs() < 0.1);
            // The faces are not plane: the midpoint of a diagonal is that of the face.
            let is_edge = (nodes[4 + middle] as usize) < points(&file).len();
            assert!(is_close && (!is_edge || found == expected), "{found:?} {expected:?}");
        }
    }
    // Neighbours divide their face alike.
    let sides = [[0, 1, 2], [0, 1, 3], [1, 2, 3], [0, 2, 3]];
    let mut faces: HashMap<[u32; 3], usize> = HashMap::new();
    for (_, nodes) in split.cells.iter() {
        for side in sides {
            let mut face = side.map(|i| nodes[i]);
            face.sort_unstable();
            *faces.entry(face).or_insert(0) += 1;
        }
    }
    let shared = faces.values().filter(|cells| **cells == 2).count();
    // Two inside each wedge, one inside the pyramid, one between the wedges, two below the pyramid.
    assert_eq!(shared, 2 + 2 + 1 + 1 + 2);
}

#[test]
fn polygons_are_divided_unless_they_are_convex_quads() {
    let (file, split, positions) = split("polygons.vtp");
    let area: f64 = split
        .cells
        .iter()
        .map(|(_, corners)| {
            let at = |i: usize| positions[corners[i % corners.len()] as usize];
            let twice: f64 =
                (0..corners.len()).map(|i| at(i)[0] * at(i + 1)[1] - at(i)[1] * at(i + 1)[0]).sum();
            assert!(twice > 0.0);
            twice / 2.0
        })
        .sum();
    assert!((area - 16.0).abs() < 1e-12, "{area}");
    let parents = split.parents.unwrap().indices;
    let parts = |cell: u32| parents.iter().filter(|parent| **parent == cell).count();
    // A quad with three corners in a line is divided, a convex one is not.
    assert_eq!([0, 1, 2, 3, 4, 5].map(parts), [4, 1, 1, 1, 3, 2]);
    assert!(split.added.is_empty());
    assert_eq!(values(&file, "density").len(), 6);
}

#[test]
fn cells_that_need_no_division_are_unchanged() {
    let file = open(super::common::folder().join("raw.vtu")).unwrap();
    let split = file.split_cells(&points(&file)).unwrap();
    assert_eq!((split.cells, split.parents), (file.cells().unwrap(), None));
    assert!(file.split_cells(&[]).is_err());
}

#[test]
fn broken_polyhedra_are_refused() {
    let text = |name: &str| std::fs::read_to_string(composite(name)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let error = |text: String| {
        let path = folder.path().join("bad.vtu");
        std::fs::write(&path, text).unwrap();
        let file = open(&path).unwrap();
        file.split_cells(&points(&file)).unwrap_err().to_string()
    };
    let old = text("octree-old.vtu");
    let stream = old.find("Name=\"faces\" format=\"ascii\">").unwrap() + 28;
    // One face more than there are, and a point that does not exist.
    for (from, to) in [("9 4", "10 4"), ("9 4 0", "9 4 99")] {
        let broken = old[..stream].to_owned() + &old[stream..].replacen(from, to, 1);
        let error = error(broken);
        assert!(error.contains("faces of the polyhedron `0` that cannot be read"), "{error}");
    }
    let missing = error(old.replace("Name=\"faces\"", "Name=\"other\""));
    assert!(missing.contains("polyhedron whose faces are missing"), "{missing}");
    let legacy = std::fs::read_to_string(composite("octree-4.vtk")).unwrap();
    for (from, to) in
        [("50 9 4 0", "50 10 4 0"), ("50 9 4 0", "50 9 4 99"), ("50 9 4 0", "50 9 5 0")]
    {
        let error = error(legacy.replacen(from, to, 1));
        assert!(error.contains("faces of the polyhedron `0` that cannot be read"), "{error}");
    }
    let hexahedron = error(legacy.replacen("8 0 13", "8 99 13", 1));
    assert!(hexahedron.contains("point `99` in cell `1`"), "{hexahedron}");
    let new = text("octree.vtu");
    let error = error(new.replace("Name=\"polyhedron_to_faces\"", "Name=\"other\""));
    assert!(error.contains("polyhedra without the array `polyhedron_to_faces`"), "{error}");
}

/// The nodes of cells of order 2, as VTK's `GetParametricCoords` gives them, in halves.
const NODES: [[u8; 3]; 27] = [
    [0, 0, 0],
    [2, 0, 0],
    [2, 2, 0],
    [0, 2, 0],
    [0, 0, 2],
    [2, 0, 2],
    [2, 2, 2],
    [0, 2, 2],
    [1, 0, 0],
    [2, 1, 0],
    [1, 2, 0],
    [0, 1, 0],
    [1, 0, 2],
    [2, 1, 2],
    [1, 2, 2],
    [0, 1, 2],
    [0, 0, 1],
    [2, 0, 1],
    [2, 2, 1],
    [0, 2, 1],
    [0, 1, 1],
    [2, 1, 1],
    [1, 0, 1],
    [1, 2, 1],
    [1, 1, 0],
    [1, 1, 2],
    [1, 1, 1],
];
const QUAD: [usize; 9] = [0, 1, 2, 3, 8, 9, 10, 11, 24];
const TRIANGLE: [usize; 6] = [0, 1, 3, 8, 24, 11];
const TETRA: [usize; 10] = [0, 1, 3, 4, 8, 24, 11, 16, 22, 20];
const WEDGE: [usize; 18] = [0, 1, 3, 4, 5, 7, 8, 24, 11, 12, 25, 15, 16, 17, 19, 22, 26, 20];

/// The cells of a file with one cell, whose points are these nodes under a linear map.
fn split_one(version: &str, kind: u8, nodes: &[usize]) -> (SplitCells, Vec<[f64; 3]>) {
    let place = |node: &usize| {
        let [x, y, z] = NODES[*node].map(|half| f64::from(half) / 2.0);
        [2.0 * x + 0.5 * y, y - 0.25 * z, 3.0 * z + 0.5 * x]
    };
    let flat =
        |point: [f64; 3]| if matches!(kind, 69 | 70) { [point[0], point[1], 0.0] } else { point };
    let points: Vec<[f64; 3]> = nodes.iter().map(place).map(flat).collect();
    let text: Vec<String> = points.iter().flatten().map(f64::to_string).collect();
    let (count, ids) = (points.len(), (0..points.len()).map(|i| i.to_string()).collect::<Vec<_>>());
    let file = format!(
        "# vtk DataFile Version {version}\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS {count} double\n{}\n\
         CELLS 1 {}\n{count} {}\nCELL_TYPES 1\n{kind}\n",
        text.join(" "),
        count + 1,
        ids.join(" ")
    );
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.vtk"), file).unwrap();
    let split = open(folder.path().join("a.vtk")).unwrap().split_cells(&points).unwrap();
    (split, points)
}

/// Lagrange cells of order 1 and 2 have the nodes of other cells, and those with nodes in the middle of faces become
/// quadratic tetrahedra or triangles that have all nodes.
#[test]
fn lagrange_cells_of_order_1_and_2_are_other_cells() {
    let hexahedron: Vec<usize> = (0..27).collect();
    // Files of this version have two nodes in another order.
    let old: Vec<usize> = (0..18).chain([19, 18]).chain(20..27).collect();
    for (kind, nodes, expected) in [
        (69, &TRIANGLE[..3], (5, 1)),
        (69, &TRIANGLE, (22, 1)),
        (70, &QUAD[..4], (9, 1)),
        (70, &QUAD, (22, 2)),
        (28, &QUAD, (22, 2)),
        (71, &TETRA[..4], (10, 1)),
        (71, &TETRA, (24, 1)),
        (72, &hexahedron[..8], (12, 1)),
        (72, &old, (24, 6)),
        (29, &hexahedron, (24, 6)),
        (73, &WEDGE[..6], (13, 1)),
        (73, &WEDGE, (24, 3)),
        (32, &WEDGE, (24, 3)),
    ] {
        let (split, points) = split_one("4.2", kind, nodes);
        assert!(split.cells.types().iter().all(|found| *found == expected.0), "{kind}: {split:?}");
        assert_eq!((split.cells.len(), split.added.len()), (expected.1, 0), "{kind}");
        let edges: &[[usize; 2]] = match expected.0 {
            24 => &[[0, 1], [1, 2], [2, 0], [0, 3], [1, 3], [2, 3]],
            22 => &[[0, 1], [1, 2], [2, 0]],
            _ => &[],
        };
        let corners = if expected.0 == 24 { 4 } else { 3 };
        let mut volume = 0.0;
        for (_, nodes) in split.cells.iter() {
            let at = |i: usize| points[nodes[i] as usize];
            for (i, [a, b]) in edges.iter().enumerate() {
                let middle = [0, 1, 2].map(|d| f64::midpoint(at(*a)[d], at(*b)[d]));
                assert_eq!(at(corners + i), middle, "{kind}: node {i} of {nodes:?}");
            }
            if expected.0 == 24 {
                let part = volume6([at(0), at(1), at(2), at(3)]) / 6.0;
                assert!(part > 0.1, "{kind}: {part}");
                volume += part;
            }
        }
        let whole = match kind {
            71 => 1.0 / 6.0,
            73 | 32 => 0.5,
            _ => 1.0,
        };
        if expected.0 == 24 {
            // The determinant of the map.
            assert!((volume / whole - 5.9375).abs() < 1e-12, "{kind}: {volume}");
        }
    }
    let (split, _) = split_one(
        "4.2",
        72,
        &NODES.iter().enumerate().map(|(i, _)| i).take(20).collect::<Vec<_>>(),
    );
    assert_eq!(split.cells.types(), [72], "other numbers of nodes are left");
}

#[test]
fn convex_point_sets_are_polyhedra() {
    let corners = [6, 1, 4, 3, 0, 7, 2, 5];
    let (split, points) = split_one("4.2", 41, &corners);
    assert_eq!((split.cells.len(), split.added.len(), split.overlapping), (12, 1, 0));
    let all: Vec<[f64; 3]> = points
        .iter()
        .copied()
        .chain([[0, 1, 2].map(|d| points.iter().map(|p| p[d]).sum::<f64>() / 8.0)])
        .collect();
    let parts = split.cells.iter().map(|(kind, nodes)| {
        volume(kind, &nodes.iter().map(|i| all[*i as usize]).collect::<Vec<_>>())
    });
    let [whole, hexahedron] = [parts.sum::<f64>(), {
        let (split, points) = split_one("4.2", 72, &[0, 1, 2, 3, 4, 5, 6, 7]);
        let nodes: Vec<_> =
            split.cells.connectivity().iter().map(|i| points[*i as usize]).collect();
        volume(12, &nodes)
    }];
    assert!((whole - hexahedron).abs() < 1e-12, "{whole} {hexahedron}");
}
