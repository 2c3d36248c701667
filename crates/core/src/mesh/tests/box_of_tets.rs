//! Points in a box of many tetrahedra.

use super::super::*;
use super::{check, random_point};
use crate::Precision;
use burntrace_kernels::CellKind;

/// A box of hexahedra, each cut into six tetrahedra, with its nodes on a lattice.
fn tets(count: usize) -> (Vec<[f64; 3]>, Cells) {
    let side = count + 1;
    let node = |i: usize, j: usize, k: usize| ((k * side + j) * side + i) as u32;
    let points = (0..side * side * side)
        .map(|n| [n % side, n / side % side, n / side / side].map(|i| i as f64 / count as f64));
    let mut cells = Cells { offsets: vec![0], ..Cells::default() };
    for n in 0..count * count * count {
        let [i, j, k] = [n % count, n / count % count, n / count / count];
        for [a, b] in [[1, 3], [1, 5], [2, 3], [2, 6], [4, 5], [4, 6]] {
            let corner = |bits: usize| node(i + (bits & 1), j + (bits >> 1 & 1), k + (bits >> 2));
            cells.connectivity.extend([corner(0), corner(a), corner(b), corner(7)]);
            cells.kinds.push(CellKind::Tetra);
            cells.offsets.push(cells.connectivity.len() as u32);
        }
    }
    (points.collect(), cells)
}

#[test]
fn random_points_in_a_box_of_tets_are_located() {
    let (nodes, cells) = tets(20);
    let mesh = Mesh::new(&nodes, cells).unwrap();
    let locator = mesh.locator_in(Precision::F32);
    assert!(locator.cells.len() <= 8 * mesh.cells().len());
    for k in 0..20_000 {
        check(&mesh, random_point(k, &mesh), 1.0, "tets");
    }
    let mut cell = 0;
    for k in 0..20_000 {
        let x = 0.5 + 0.45 * (1e-4 * k as f64).sin();
        cell = mesh.walk(cell, [x, 0.3 + 0.3 * x, 0.7 - 0.2 * x]).unwrap().cell;
    }
}
