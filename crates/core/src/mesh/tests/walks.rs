//! Walks from cell to cell find the same cells as the locator.

use super::super::*;
use super::{
    check,
    made::{FLAT, Made, SOLID},
    mesh, random_point,
};
use burntrace_kernels::CellKind;

#[test]
fn walks_agree_with_the_locator() {
    for kind in SOLID.iter().chain(FLAT).copied() {
        let mesh = mesh(&Made::of(5, 0.2, kind).torn(7));
        let cells = mesh.cells().len();
        for k in 0..2000 {
            let point = random_point(k, &mesh);
            let located = mesh.locate(point).unwrap();
            let walked = mesh.walk(k * 31 % cells, point).unwrap();
            if walked.cell != located.cell {
                let sides = kind.table().sides.iter();
                let lowest = sides.map(|side| side.value(walked.coordinates)).fold(1.0, f64::min);
                assert!(lowest < 1e-8, "{kind:?} {point:?}: {walked:?} {located:?}");
            }
        }
        for outside in [[1.5, 0.5, 0.5], [-1e9, 0.0, 0.0], [f64::NAN; 3], [f64::INFINITY; 3]] {
            let found = mesh.walk(0, outside);
            assert_eq!(found, mesh.locate(outside));
            assert!(found.is_none(), "{kind:?} {outside:?}");
        }
        assert!(mesh.walk(usize::MAX, [0.5, 0.5, 0.0]).is_some());
    }
}

/// Cells of different sizes in the pieces of a file: faces do not match, and no position is lost.
#[test]
fn walks_cross_an_interface_with_hanging_nodes() {
    let (coarse, fine) =
        (Made::of(3, 0.2, CellKind::Hexahedron), Made::of(5, 0.2, CellKind::Tetra));
    let mut both = coarse.points.clone();
    both.extend(fine.points.iter().map(|[x, y, z]| [x + 1.0, *y, *z]));
    let mut cells = coarse.cells.clone();
    cells.kinds.extend(&fine.cells.kinds);
    let shift = coarse.cells.connectivity.len() as u32;
    cells.offsets.extend(fine.cells.offsets[1..].iter().map(|start| start + shift));
    let shift = coarse.points.len() as u32;
    cells.connectivity.extend(fine.cells.connectivity.iter().map(|node| node + shift));
    let mesh = Mesh::new(&both, cells).unwrap();
    let mut cell = 0;
    for k in 0..4000 {
        let [x, y, z] = random_point(k, &mesh);
        // Every fourth point is on the interface.
        let x = if k % 4 == 0 { 1.0 } else { 2.0 * x };
        check(&mesh, [x, y, z], 1.0, "interface");
        cell = mesh.walk(cell, [x, y, z]).unwrap().cell;
    }
}
