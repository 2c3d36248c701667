//! The locator lists the cells near a position, and stays small.

use super::{check, made::Made, mesh, random_point};
use crate::Precision;
use burntrace_kernels::CellKind;

#[test]
fn locator_lists_all_overlapping_cells_and_stays_small() {
    for precision in [Precision::F64, Precision::F32] {
        for (kind, count) in
            [(CellKind::Tetra, 12), (CellKind::Hexahedron, 20), (CellKind::Quad, 40)]
        {
            let mesh = mesh(&Made::of(count, 0.2, kind));
            let (locator, cells) = (mesh.locator_in(precision), mesh.cells().len());
            assert!(locator.cells.len() <= 8 * cells, "{kind:?} {}", locator.cells.len());
            assert!(locator.starts.len() <= 2 * cells + 1, "{kind:?} {}", locator.starts.len());
            // Bins are not overfull either.
            assert!(4 * locator.starts.len() * kind.nodes() > cells, "{:?}", locator.bins);
            for k in 0..2000 {
                let point = random_point(k, &mesh);
                let near = locator.near(point.map(|x| f64::from(x as f32)));
                assert!(near.is_sorted());
                for (cell, bounds) in mesh.boxes().iter().enumerate() {
                    if bounds.contains(point, mesh.flat_axis()) {
                        assert!(near.contains(&(cell as i32)), "{kind:?} {point:?} {cell}");
                    }
                }
            }
        }
    }
}

/// Cells end at the limits of bins, where a position that rounding moved out of its cell is in the next bin.
#[test]
fn locator_lists_cells_beside_a_position_within_their_margin() {
    for (precision, margin) in [(Precision::F64, 5e-10), (Precision::F32, 5e-5)] {
        for kind in [CellKind::Quad, CellKind::Hexahedron] {
            let mesh = mesh(&Made::of(8, 0.0, kind));
            let locator = mesh.locator_in(precision);
            for (cell, bounds) in mesh.boxes().iter().enumerate() {
                let margin = margin * (bounds.high[0] - bounds.low[0]);
                let corners = [bounds.low.map(|x| x - margin), bounds.high.map(|x| x + margin)];
                for corner in corners {
                    let near = locator.near(corner);
                    assert!(near.contains(&(cell as i32)), "{kind:?} {precision} {corner:?}");
                }
            }
        }
    }
}

#[test]
fn locator_of_very_different_cells_is_small() {
    let made = Made::of(12, 0.1, CellKind::Tetra).mapped(|p| p.map(|x| (14.0 * x).exp()));
    let mesh = mesh(&made);
    let cells = mesh.cells().len();
    assert!(mesh.locator().cells.len() <= 8 * cells);
    for k in 0..500 {
        check(&mesh, random_point(k, &mesh).map(|x| (14.0 * x).exp().max(1.0)), 1e6, "stretched");
    }
}
