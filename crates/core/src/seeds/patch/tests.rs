use super::super::tests::message;
use super::*;
use crate::field::{Internals, Sealed};
use crate::mesh::Cells;
use crate::{Domain, Precision};
use burn::tensor::{Device, Tensor};
use burntrace_kernels::CellKind;
use std::sync::Arc;

const ALL: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];

/// Two hexahedra in a row along y, with lengths of 1 and 3.
fn row() -> Arc<Mesh> {
    let layer = |y: f64| [[0.0, y, 0.0], [1.0, y, 0.0], [1.0, y, 1.0], [0.0, y, 1.0]];
    let points = [layer(0.0), layer(1.0), layer(4.0)].concat();
    let cells = Cells {
        kinds: vec![CellKind::Hexahedron; 2],
        connectivity: [0, 1].map(|k| [0, 1, 2, 3, 4, 5, 6, 7].map(|n| n + 4 * k)).concat(),
        offsets: vec![0, 8, 16],
    };
    Arc::new(Mesh::new(&points, cells).unwrap())
}

/// The part of the boundary at a coordinate along x.
fn at_x(x: f64) -> Patch {
    Patch::new("end", [x, ALL[0], ALL[0]], [x, ALL[1], ALL[1]])
}

/// A velocity along x as a linear function of y, `(a + b y) time`, on a mesh.
struct Sheared {
    mesh: Arc<Mesh>,
    shear: [f64; 2],
}

impl Field for Sheared {
    fn velocity(&self, position: Tensor<2>, time: f64) -> Tensor<2> {
        let [a, b] = self.shear;
        let y = position.narrow(1, 1, 1);
        let u = y.clone().mul_scalar(b).add_scalar(a).mul_scalar(time);
        Tensor::cat(vec![u, y.zeros_like(), y.zeros_like()], 1)
    }

    fn domain(&self) -> Domain {
        Domain::new([0.0; 3], [1.0, 4.0, 1.0]).unwrap()
    }

    fn device(&self) -> Device {
        Device::flex()
    }

    fn precision(&self) -> Precision {
        Precision::F64
    }

    fn times(&self) -> Option<[f64; 2]> {
        Some([-2.0, 2.0])
    }

    fn internals(&self, _: Sealed) -> Internals<'_> {
        Internals { mesh: Some(&self.mesh), ..Internals::default() }
    }
}

/// Asserts that a part of seeds is a fraction of them, within four standard deviations.
fn check_fraction(seeds: &Seeds, expected: f64, is_in: impl Fn([f64; 3]) -> bool) {
    let n = seeds.len() as f64;
    let count = seeds.positions().iter().filter(|p| is_in(**p)).count() as f64;
    let deviation = (n * expected * (1.0 - expected)).sqrt();
    assert!((count - n * expected).abs() < 4.0 * deviation, "{count} of {n}, not {expected}");
}

fn reason<T: std::fmt::Debug>(result: Result<T>) -> String {
    match result {
        Err(Error::Patch { name, reason }) => {
            assert_eq!(name, "end");
            reason
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn faces_have_seeds_in_proportion_to_their_areas() {
    let mesh = row();
    let seeds = Seeds::on_patch(&mesh, &at_x(0.0), 20_000, 3).unwrap();
    check_fraction(&seeds, 0.25, |p| p[1] < 1.0);
    check_fraction(&seeds, 0.5, |p| p[2] < 0.5);
    check_fraction(&seeds, 0.375, |p| p[1] > 2.5);
    assert!(seeds.positions().iter().all(|p| 0.0 < p[0] && p[0] < mesh.tolerance()));
    assert!(seeds.positions().iter().all(|p| mesh.locate(*p).is_some()));
}

#[test]
fn patch_may_end_in_the_middle_of_a_face() {
    let patch = Patch::new("end", [0.0, 0.5, 0.25], [0.0, 2.5, 0.5]);
    let seeds = Seeds::on_patch(&row(), &patch, 4000, 3).unwrap();
    // The box is widened, and positions are moved in.
    let is_in = |x: f64, [low, high]: [f64; 2]| low - 1e-4 < x && x < high + 1e-4;
    let is_inside = |p: &[f64; 3]| is_in(p[1], [0.5, 2.5]) && is_in(p[2], [0.25, 0.5]);
    assert!(seeds.positions().iter().all(is_inside));
    check_fraction(&seeds, 0.25, |p| p[1] < 1.0);
    let both = Patch::new("end", [ALL[0]; 3], [0.0, 1.0, ALL[1]]);
    // Around an edge: the face at y = 0 is in the box at its edge only.
    check_fraction(&Seeds::on_patch(&row(), &both, 4000, 3).unwrap(), 0.5, |p| p[1] < 0.5);
}

#[test]
fn flux_is_proportional_to_the_inflow_speed() {
    let field = Sheared { mesh: row(), shear: [0.0, 1.0] };
    let seeds = Seeds::on_patch_by_flux(&field, &at_x(0.0), 1.0, 20_000, 3).unwrap();
    for y in [0.5, 1.0, 2.0, 3.0, 3.8] {
        check_fraction(&seeds, y * y / 16.0, |p| p[1] < y);
    }
    check_fraction(&seeds, 0.5, |p| p[2] < 0.5);
    assert!(seeds.positions().iter().all(|p| field.mesh.locate(*p).is_some()));
}

#[test]
fn parts_with_outflow_have_no_seeds() {
    let field = Sheared { mesh: row(), shear: [-2.0, 1.0] };
    let seeds = |x, time| Seeds::on_patch_by_flux(&field, &at_x(x), time, 5000, 3).unwrap();
    for (x, time) in [(0.0, 1.0), (1.0, -1.0)] {
        let seeds = seeds(x, time);
        assert!(seeds.positions().iter().all(|p| p[1] > 2.0));
        check_fraction(&seeds, 0.25, |p| p[1] < 3.0);
    }
    // Where the flow leaves at one end, it enters at the other.
    for (x, time) in [(1.0, 1.0), (0.0, -2.0)] {
        let seeds = seeds(x, time);
        assert!(seeds.positions().iter().all(|p| p[1] < 2.0));
        check_fraction(&seeds, 0.75, |p| p[1] < 1.0);
    }
}

#[test]
fn positions_depend_only_on_seed_and_number() {
    let field = Sheared { mesh: row(), shear: [0.1, 1.0] };
    let by_area = |count, seed| Seeds::on_patch(&field.mesh, &at_x(0.0), count, seed).unwrap();
    let by_flux =
        |count, seed| Seeds::on_patch_by_flux(&field, &at_x(0.0), 1.0, count, seed).unwrap();
    assert_eq!(by_area(1000, 1).positions()[..100], *by_area(100, 1).positions());
    assert_ne!(by_area(10, 1).positions(), by_area(10, 2).positions());
    // The first one has several batches of candidates.
    assert_eq!(by_flux(40_000, 1).positions()[..100], *by_flux(100, 1).positions());
    assert_ne!(by_flux(10, 1).positions(), by_flux(10, 2).positions());
}

#[test]
fn patch_without_inflow_is_refused_with_its_velocity() {
    let field = Sheared { mesh: row(), shear: [1.0, 0.0] };
    let flux = |x, time| Seeds::on_patch_by_flux(&field, &at_x(x), time, 10, 1);
    for (x, time) in [(1.0, 1.5), (0.0, -1.5)] {
        let message = reason(flux(x, time));
        assert!(message.contains("no flow enters"), "{message}");
        assert!(message.contains("-1.5 on average and at most -1.5"), "{message}");
    }
    assert!(reason(flux(0.0, 0.0)).contains("0 on average and at most 0"));
    assert!(message(flux(0.0, f64::NAN)).contains("NaN"));
    assert!(matches!(flux(0.0, 3.0), Err(Error::OutsideTime { t0: 3.0, last: 2.0, .. })));
    let spot = Sheared { mesh: row(), shear: [1.0, f64::NAN] };
    let undefined = Seeds::on_patch_by_flux(&spot, &at_x(0.0), 1.0, 10, 1);
    assert!(reason(undefined).contains("undefined"));
}

#[test]
fn patch_without_faces_is_refused() {
    let on = |patch: &Patch, count| Seeds::on_patch(&row(), patch, count, 1);
    let inner = Patch::new("end", [0.2; 3], [0.8; 3]);
    let away = reason(on(&inner, 10));
    assert!(away.contains("no boundary face") && away.contains("[1.0, 4.0, 1.0]"), "{away}");
    assert!(reason(on(&Patch::new("end", [1.0; 3], [0.0; 3]), 10)).contains("empty along x"));
    assert!(message(on(&at_x(0.0), 0)).contains("none"));
    let domain = Domain::new([0.0; 3], [1.0; 3]).unwrap();
    let velocity = |position: Tensor<2>, _| position.ones_like();
    let field = crate::FieldFn::new(domain, &Device::flex(), Precision::F64, velocity);
    let flux = Seeds::on_patch_by_flux(&field, &at_x(0.0), 0.0, 10, 1);
    assert!(reason(flux).contains("has no mesh"));
}
