use super::*;

/// Reference values computed with VTK (`tests/peers/cells.py`).
const VTK: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/peers/cells.csv"));

fn lines(what: &str) -> impl Iterator<Item = (CellKind, Vec<f64>)> {
    VTK.lines().filter_map(move |line| {
        let numbers = line.strip_prefix(what)?.strip_prefix(',')?;
        let mut numbers = numbers.split(',').map(|x| x.parse::<f64>().unwrap());
        let kind = CellKind::from_vtk(numbers.next()? as u8).unwrap();
        Some((kind, numbers.collect()))
    })
}

#[test]
fn nodes_match_vtk() {
    let mut count = 0;
    for (kind, line) in lines("node") {
        assert_eq!(kind.table().nodes[line[0] as usize], line[1..], "{kind:?} node {}", line[0]);
        count += 1;
    }
    assert_eq!(count, ALL.iter().map(|kind| kind.nodes()).sum::<usize>());
}

#[test]
fn face_corners_match_vtk() {
    let mut count = 0;
    for (kind, line) in lines("face") {
        let mut vtk: Vec<usize> = line[1..].iter().map(|x| *x as usize).collect();
        let mut ours = kind.table().faces[line[0] as usize].to_vec();
        vtk.sort_unstable();
        ours.sort_unstable();
        assert_eq!(ours, vtk, "{kind:?} face {}", line[0]);
        count += 1;
    }
    assert_eq!(count, ALL.iter().map(|kind| kind.table().faces.len()).sum::<usize>());
}

#[test]
fn shape_functions_and_derivatives_match_vtk() {
    let mut count = 0;
    for (kind, line) in lines("shape") {
        let at = [line[0], line[1], line[2]];
        let ours = kind.weights(at);
        for (i, vtk) in line[3..].iter().enumerate() {
            assert!((ours[i] - vtk).abs() < 1e-12, "{kind:?} {i} at {at:?}: {} {vtk}", ours[i]);
        }
        count += 1;
    }
    for (kind, line) in lines("slope") {
        let at = [line[0], line[1], line[2]];
        let (ours, n) = (kind.gradients(at), kind.nodes());
        assert_eq!(line.len(), 3 + n * kind.dimension());
        for (k, vtk) in line[3..].iter().enumerate() {
            let gradient = ours[k % n][k / n];
            assert!((gradient - vtk).abs() < 1e-12, "{kind:?} {k} at {at:?}: {gradient} {vtk}");
        }
        count += 1;
    }
    assert_eq!(count, 2 * 6 * ALL.len());
}

#[test]
fn table_order_matches_cell_kinds() {
    for (k, kind) in ALL.into_iter().enumerate() {
        let table = kind.table();
        assert_eq!((kind as usize, table.kind), (k, kind));
        assert_eq!(CellKind::from_vtk(table.vtk), Some(kind));
        assert!(table.nodes.len() <= MAX_CELL_NODES && table.exponents.len() <= MAX_CELL_NODES);
    }
    assert_eq!(CellKind::from_vtk(42), None);
}

#[test]
fn shape_functions_are_one_at_their_node_and_zero_at_others() {
    for kind in ALL {
        for (k, node) in kind.table().nodes.iter().enumerate() {
            let weights = kind.weights(*node);
            for (i, weight) in weights.iter().enumerate() {
                assert_eq!(*weight, f64::from(u8::from(i == k)), "{kind:?} {i} at node {k}");
            }
        }
    }
}

#[test]
fn coefficients_are_integers_and_weights_sum_to_one() {
    for kind in ALL {
        let table = kind.table();
        assert!(table.coefficients.iter().flatten().all(|c| c.fract() == 0.0));
        for j in 0..table.exponents.len() {
            let sum: f64 = table.coefficients.iter().map(|row| row[j]).sum();
            assert_eq!(sum, f64::from(u8::from(table.exponents[j] == [0; 3])), "{kind:?} {j}");
        }
    }
}

#[test]
fn sides_contain_the_corners_of_their_faces() {
    for kind in ALL {
        let table = kind.table();
        for (k, side) in table.sides.iter().enumerate() {
            assert!(side.value(kind.centre()) > 0.1, "{kind:?} {k}");
            if k >= table.faces.len() {
                assert_eq!(kind, CellKind::Pyramid);
                continue;
            }
            assert_eq!(side.face, k);
            for (i, node) in table.nodes.iter().enumerate().take(table.corners) {
                let is_apex = kind == CellKind::Pyramid && i == 4;
                let is_on = side.value(*node) == 0.0;
                let is_listed = table.faces[k].contains(&i);
                assert!(is_apex || is_on == is_listed, "{kind:?} side {k} node {i}");
            }
        }
    }
}

#[test]
fn face_corners_give_outward_normals() {
    for kind in ALL {
        let table = kind.table();
        for (face, side) in table.faces.iter().zip(table.sides) {
            let p = |i: usize| table.nodes[face[i % face.len()]];
            let step = |i: usize| [0, 1, 2].map(|d| p(i + 1)[d] - p(i)[d]);
            if table.dimension == 2 {
                let [x, y, _] = step(0);
                assert!(
                    y * f64::from(side.plane[1]) - x * f64::from(side.plane[2]) < 0.0,
                    "{kind:?} {face:?}"
                );
                continue;
            }
            for i in 0..face.len() {
                let (a, b) = (step(i), step(i + 1));
                let normal = [0, 1, 2].map(|d| {
                    let (u, v) = ((d + 1) % 3, (d + 2) % 3);
                    a[u] * b[v] - a[v] * b[u]
                });
                let inwards: f64 = (0..3).map(|d| normal[d] * f64::from(side.plane[d + 1])).sum();
                assert!(inwards < 0.0, "{kind:?} {face:?} {i}");
            }
        }
    }
}
