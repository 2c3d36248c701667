//! Uniform positions on boundary faces of cells of every kind.

use super::made::{FLAT, Made, SOLID};
use super::*;
use crate::{Patch, Precision, Seeds};

const OPEN: f64 = f64::INFINITY;

/// Asserts that a part of positions is a fraction of them, within four standard deviations.
fn check_fraction(positions: &[[f64; 3]], expected: f64, is_in: impl Fn([f64; 3]) -> bool) {
    let n = positions.len() as f64;
    let count = positions.iter().filter(|p| is_in(**p)).count() as f64;
    let deviation = (n * expected * (1.0 - expected)).sqrt();
    assert!((count - n * expected).abs() < 4.0 * deviation, "{count} of {n}, not {expected}");
}

/// One cell of a kind, with its nodes at these points.
fn cell(kind: CellKind, points: &[[f64; 3]]) -> Mesh {
    let count = points.len() as u32;
    let cells =
        Cells { kinds: vec![kind], connectivity: (0..count).collect(), offsets: vec![0, count] };
    Mesh::new(points, cells).unwrap()
}

/// Asserts that positions are uniform in y and z, or in y in two dimensions.
fn check_uniform(positions: &[[f64; 3]], is_solid: bool, what: &str) {
    let per_axis = 11;
    let mut bins = vec![0.0; if is_solid { per_axis * per_axis } else { per_axis }];
    for p in positions {
        let [_, y, z] = p.map(|x| ((x * per_axis as f64) as usize).min(per_axis - 1));
        bins[if is_solid { y + per_axis * z } else { y }] += 1.0;
    }
    let expected = positions.len() as f64 / bins.len() as f64;
    let sum: f64 = bins.iter().map(|n: &f64| (n - expected).powi(2) / expected).sum();
    // Chi-squared: mean n - 1, variance 2 (n - 1).
    let freedom = (bins.len() - 1) as f64;
    assert!((sum - freedom).abs() < 5.0 * (2.0 * freedom).sqrt(), "{what}: {sum}");
}

/// The faces of the unit box are cut into distorted faces: positions that are uniform on these are
/// uniform on the box.
#[test]
fn positions_on_distorted_faces_of_every_kind_are_uniform() {
    for kind in SOLID.iter().chain(FLAT).copied() {
        let made = Made::of(3, 0.15, kind);
        for precision in [Precision::F32, Precision::F64] {
            let mesh =
                Mesh::build(&made.points, made.cells.clone(), Coordinates::of(precision)).unwrap();
            for (x, inward) in [(0.0, 1.0), (1.0, -1.0)] {
                let patch = Patch::new("end", [x, -OPEN, -OPEN], [x, OPEN, OPEN]);
                let seeds = Seeds::on_patch(&mesh, &patch, 10_000, 7).unwrap();
                let what = format!("{kind:?} {precision} {x}");
                check_uniform(seeds.positions(), mesh.dimension() == 3, &what);
                // Faces beside the patch are in its box, widened, near their edges.
                let depth = |p: &&[f64; 3]| (p[0] - x) * inward;
                let widened = if precision == Precision::F32 { 2e-5 } else { 1e-8 };
                let deepest = mesh.tolerance() + widened;
                assert!(seeds.positions().iter().all(|p| depth(&p) > -1e-15), "{what}");
                assert!(seeds.positions().iter().all(|p| depth(&p) < deepest), "{what}");
                let rounded = |p: &[f64; 3]| p.map(|x| precision.round(x));
                let is_located = |p: &[f64; 3]| mesh.locate(rounded(p)).is_some();
                assert!(seeds.positions().iter().all(is_located), "{what}");
            }
        }
    }
}

#[test]
fn positions_on_a_side_of_a_pyramid_are_uniform() {
    let corners =
        [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let mesh = cell(CellKind::Pyramid, &corners);
    let patch = Patch::new("end", [-OPEN, 0.0, -OPEN], [OPEN, 0.0, OPEN]);
    let seeds = Seeds::on_patch(&mesh, &patch, 10_000, 7).unwrap();
    check_fraction(seeds.positions(), 0.25, |p| p[2] > 0.5);
    check_fraction(seeds.positions(), 0.25, |p| p[0] > 0.5);
    check_fraction(seeds.positions(), 0.5, |p| p[0] > p[2]);
}

/// A trapezoid with parallel sides of 1 and 3 at y = 0 and y = 1: the width at y is 1 + 2 y.
#[test]
fn positions_on_a_trapezoid_are_uniform() {
    let layer = |x: f64| [[x, 0.0, 0.0], [x, 1.0, 0.0], [x, 1.0, 3.0], [x, 0.0, 1.0]];
    let mesh = cell(CellKind::Hexahedron, &[layer(0.0), layer(1.0)].concat());
    let patch = Patch::new("end", [0.0, -OPEN, -OPEN], [0.0, OPEN, OPEN]);
    let seeds = Seeds::on_patch(&mesh, &patch, 20_000, 7).unwrap();
    for y in [0.25, 0.5, 0.75] {
        check_fraction(seeds.positions(), (y + y * y) / 2.0, |p| p[1] < y);
    }
}

/// A face that bulges along a parabola, x = -4 h y (1 - y).
#[test]
fn positions_on_a_curved_face_are_uniform_by_area() {
    let height = 0.6;
    let table = CellKind::QuadraticHexahedron.table();
    let points: Vec<[f64; 3]> = table.nodes.to_vec();
    let is_bulge = |[x, y, _]: [f64; 3]| x == 0.0 && y == 0.5;
    let bulged = |p: [f64; 3]| if is_bulge(p) { [-height, p[1], p[2]] } else { p };
    let points: Vec<[f64; 3]> = points.into_iter().map(bulged).collect();
    let mesh = cell(CellKind::QuadraticHexahedron, &points);
    // Without the faces at z = 0 and z = 1, which bulge too.
    let patch = Patch::new("end", [-OPEN, -OPEN, 0.01], [0.0, OPEN, 0.99]);
    let seeds = Seeds::on_patch(&mesh, &patch, 20_000, 7).unwrap();
    let surface = |y: f64| -4.0 * height * y * (1.0 - y);
    let depth = |p: &[f64; 3]| p[0] - surface(p[1]);
    assert!(seeds.positions().iter().all(|p| depth(p).abs() < 4.0 * mesh.tolerance()));
    assert!(seeds.positions().iter().all(|p| mesh.locate(*p).is_some()));
    // The length of the parabola up to y.
    let slope = |y: f64| 4.0 * height * (2.0 * y - 1.0);
    let primitive = |s: f64| 0.5 * (s * (1.0 + s * s).sqrt() + s.asinh());
    let length = |y: f64| primitive(slope(y)) - primitive(slope(0.0));
    for y in [0.1, 0.25, 0.5, 0.8] {
        check_fraction(seeds.positions(), length(y) / length(1.0), |p| p[1] < y);
    }
    check_fraction(seeds.positions(), 0.5, |p| p[2] < 0.5);
}
