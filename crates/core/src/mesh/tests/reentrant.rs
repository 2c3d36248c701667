//! Cells near re-entrant edges and gaps.

use super::*;
use crate::Precision;

/// A rotation, after which numbers in single precision are not exact.
fn rotated([x, y, z]: [f64; 3]) -> [f64; 3] {
    [0.8 * x - 0.6 * y, 0.6 * x + 0.8 * y, z + 3.0].map(|x| f64::from(x as f32))
}

/// Whether each cell of a part of a box is near opposed faces; empty if there are none.
fn near(made: &Made, is_in: impl Fn([f64; 3]) -> bool) -> Vec<([f64; 3], bool)> {
    let mut cells = Cells { offsets: vec![0], ..Cells::default() };
    let mut first = Vec::new();
    for cell in 0..made.cells.len() {
        let nodes = made.cells.nodes(cell);
        if is_in(made.points[nodes[0] as usize]) {
            cells.connectivity.extend(nodes);
            cells.offsets.push(cells.connectivity.len() as u32);
            cells.kinds.push(made.cells.kinds[cell]);
            first.push(made.points[nodes[0] as usize]);
        }
    }
    let points: Vec<_> = made.points.iter().map(|p| rotated(*p)).collect();
    let mesh = Mesh::new(&points, cells).unwrap();
    let bits = mesh.near_reentrant(&mesh.locator_in(Precision::F32));
    let bit = |cell: usize| bits.get(cell / 32).map(|bits| bits >> (cell % 32) & 1 == 1);
    first.into_iter().enumerate().filter_map(|(cell, p)| Some((p, bit(cell)?))).collect()
}

#[test]
fn convex_meshes_have_no_opposed_faces() {
    for kind in SOLID.iter().chain(FLAT).copied().filter(|kind| !kind.is_quadratic()) {
        // Rotated, pixels and voxels are not aligned with the axes, which is of no importance here.
        let shake = if matches!(kind, CellKind::Voxel | CellKind::Pixel) { 0.0 } else { 0.15 };
        let found = near(&Made::of(5, shake, kind), |_| true);
        assert!(found.is_empty(), "{kind:?}: {found:?}");
    }
}

#[test]
fn cells_near_a_notch_and_a_gap_are_marked() {
    for kind in [CellKind::Triangle, CellKind::Quad] {
        let made = Made::of(20, 0.0, kind);
        let notch = near(&made, |[x, y, _]| !((0.49..0.54).contains(&x) && y > 0.49));
        let is_marked = |x: f64, y: f64| {
            let at =
                |(p, _): &&([f64; 3], bool)| (p[0] - x).abs() < 0.01 && (p[1] - y).abs() < 0.01;
            notch.iter().find(at).unwrap().1
        };
        for [x, y] in [[0.45, 0.45], [0.55, 0.95], [0.45, 0.95]] {
            assert!(is_marked(x, y), "{kind:?}: {x}, {y}");
        }
        for [x, y] in [[0.0, 0.0], [0.5, 0.2], [0.9, 0.9], [0.2, 0.95]] {
            assert!(!is_marked(x, y), "{kind:?}: {x}, {y}");
        }
    }
}
