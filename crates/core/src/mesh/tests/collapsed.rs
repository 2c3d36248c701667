//! Hexahedra of which edges have collapsed.

use super::*;

/// The parametric coordinates of the corners of a hexahedron.
fn corners() -> &'static [[f64; 3]] {
    CellKind::Hexahedron.table().nodes
}

/// The edges of a hexahedron.
fn edges() -> Vec<[usize; 2]> {
    let differ =
        |[a, b]: &[usize; 2]| (0..3).filter(|d| corners()[*a][*d] != corners()[*b][*d]).count();
    let pairs = (0..8).flat_map(|b| (0..b).map(move |a| [a, b]));
    pairs.filter(|pair| differ(pair) == 1).collect()
}

/// The nodes of a hexahedron after some edges have collapsed, and their number.
fn collapsed(edges: &[[usize; 2]], set: u32) -> ([u32; 8], usize) {
    let mut nodes = [0, 1, 2, 3, 4, 5, 6, 7];
    for (_, [a, b]) in edges.iter().enumerate().filter(|(k, _)| set >> k & 1 == 1) {
        let (low, high) = (nodes[*a].min(nodes[*b]), nodes[*a].max(nodes[*b]));
        nodes.iter_mut().filter(|node| **node == high).for_each(|node| *node = low);
    }
    let count = (0..8).filter(|k| !nodes[..*k].contains(&nodes[*k])).count();
    (nodes, count)
}

/// The trilinear shape functions of a hexahedron.
fn trilinear(at: [f64; 3]) -> Vec<f64> {
    let factor = |corner: &[f64; 3]| -> f64 {
        (0..3).map(|d| if corner[d] == 0.0 { 1.0 - at[d] } else { at[d] }).product()
    };
    corners().iter().map(factor).collect()
}

#[test]
fn collapsed_hexahedra_keep_their_positions_and_values() {
    let moved = |k: u64, d: usize| corners()[k as usize][d] + 0.2 * uniform(7, k, d as u32, 0);
    let points: Vec<[f64; 3]> = (0..8).map(|k| [0, 1, 2].map(|d| moved(k, d))).collect();
    let mut kinds = std::collections::HashMap::new();
    let edges = edges();
    assert_eq!(edges.len(), 12);
    for set in 0..1 << edges.len() {
        let (nodes, count) = collapsed(&edges, set);
        let cells = Cells {
            kinds: vec![CellKind::Hexahedron],
            offsets: vec![0, 8],
            connectivity: nodes.to_vec(),
        };
        let mesh = Mesh::new(&points, cells).unwrap();
        let kind = mesh.cells().kinds[0];
        if kind == CellKind::Hexahedron || kind.nodes() != count {
            continue;
        }
        *kinds.entry(kind).or_insert(0) += 1;
        assert_eq!(mesh.counts().inverted, 0, "{nodes:?}");
        for k in 0..8 {
            let at = [0, 1, 2].map(|d| 0.05 + 0.9 * uniform(set.into(), k, d, 1));
            let weights = trilinear(at);
            let sum = |of: &dyn Fn(u32) -> f64| -> f64 {
                nodes.iter().zip(&weights).map(|(node, weight)| weight * of(*node)).sum()
            };
            let point = [0, 1, 2].map(|d| sum(&|node| points[node as usize][d]));
            let location = check(&mesh, point, 1.0, &format!("{nodes:?} at {at:?}"));
            let value = |node: u32| uniform(9, node.into(), 0, 0);
            let pairs = mesh.cells().nodes(0).iter().zip(&location.weights);
            let found: f64 = pairs.map(|(node, weight)| weight * value(*node)).sum();
            assert!((found - sum(&value)).abs() < 1e-10, "{nodes:?} at {at:?}");
        }
    }
    // A wedge in 12 ways; a pyramid at 6 faces; both again.
    assert!(kinds[&CellKind::Wedge] >= 12 && kinds[&CellKind::Pyramid] >= 6, "{kinds:?}");
    assert!(kinds[&CellKind::Tetra] >= 24, "{kinds:?}");
}
