use super::*;
use burn::tensor::{DType, Device, TensorData};
use std::f64::consts::{FRAC_PI_2, PI};

fn tensor(points: &[[f64; 3]]) -> Tensor<2> {
    let data = TensorData::new(points.as_flattened().to_vec(), [points.len(), 3]);
    Tensor::from_data(data, (&Device::flex(), DType::F64))
}

fn points(tensor: Tensor<2>) -> Vec<[f64; 3]> {
    tensor.into_data().try_to_vec::<f64>().unwrap().as_chunks().0.to_vec()
}

fn named(name: &str) -> Flow {
    Flow::named(name).unwrap()
}

fn velocity(flow: &Flow, p: [f64; 3], t: f64) -> [f64; 3] {
    points(flow.velocity(tensor(&[p]), t))[0]
}

/// End points after `n` steps of RK4.
fn trace(flow: &Flow, from: &[[f64; 3]], [t0, t1]: [f64; 2], n: usize) -> Vec<[f64; 3]> {
    let h = (t1 - t0) / n as f64;
    let mut p = tensor(from);
    for i in 0..n {
        let t = t0 + i as f64 * h;
        let a = flow.velocity(p.clone(), t);
        let b = flow.velocity(p.clone() + a.clone() * (0.5 * h), t + 0.5 * h);
        let c = flow.velocity(p.clone() + b.clone() * (0.5 * h), t + 0.5 * h);
        let d = flow.velocity(p.clone() + c.clone() * h, t + h);
        p = p + (a + (b + c) * 2.0 + d) * (h / 6.0);
    }
    points(p)
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|d| (a[d] - b[d]).powi(2)).sum::<f64>().sqrt()
}

/// Checks an error against its known value, given to two digits.
fn assert_error(found: f64, known: f64) {
    assert!((found / known - 1.0).abs() < 0.06, "error {found:e}, known {known:e}");
}

#[track_caller]
fn assert_close(found: [f64; 3], expected: [f64; 3], tolerance: f64) {
    assert!(distance(found, expected) <= tolerance, "{found:?}, expected {expected:?}");
}

#[test]
fn flows_are_named_consistently() {
    for name in Flow::NAMES {
        let flow = named(name);
        assert_eq!(flow.name(), name);
        let domain = flow.domain();
        assert!(Domain::new(domain.low, domain.high).is_ok());
        assert!(domain.size()[0].is_finite() && !domain.is_flat(0) && !domain.is_flat(1));
        for axis in (0..3).filter(|&axis| domain.is_flat(axis)) {
            assert!(!flow.is_periodic(axis));
            let inside: [f64; 3] = std::array::from_fn(|d| domain.low[d] + 0.3 * domain.size()[d]);
            assert_eq!(velocity(&flow, inside, 1.0)[axis], 0.0);
        }
    }
    assert_eq!(Flow::named("vortex"), None);
}

#[test]
fn steady_flows_do_not_depend_on_time() {
    for name in Flow::NAMES {
        let flow = named(name);
        let domain = flow.domain();
        let p = std::array::from_fn(|d| domain.low[d] + 0.37 * domain.size()[d]);
        let differs = velocity(&flow, p, 0.0) != velocity(&flow, p, 1.5);
        assert_eq!(flow.is_steady(), !differs, "{name}");
    }
}

#[test]
fn periodic_flows_repeat_over_their_domain() {
    for name in ["abc", "taylor-green"] {
        let flow = named(name);
        let p = [0.4, 1.3, 2.9];
        for axis in (0..3).filter(|&axis| flow.is_periodic(axis)) {
            let mut next = p;
            next[axis] += flow.domain().size()[axis];
            assert_close(velocity(&flow, next, 0.0), velocity(&flow, p, 0.0), 1e-14);
        }
    }
}

#[test]
fn divergence_is_zero() {
    let fractions = [[0.2, 0.3, 0.4], [0.71, 0.52, 0.55], [0.43, 0.81, 0.62], [0.02, 0.6, 0.1]];
    for name in ["abc", "taylor-green", "double-gyre", "hill", "stommel", "peninsula", "saddle"] {
        let flow = named(name);
        let (domain, size) = (flow.domain(), flow.domain().size());
        let h = 1e-5 * size[0];
        for fraction in fractions {
            let p: [f64; 3] = std::array::from_fn(|d| domain.low[d] + fraction[d] * size[d]);
            let gradient: [f64; 3] = std::array::from_fn(|d| {
                let side = |h: f64| {
                    let mut q = p;
                    q[d] += h;
                    velocity(&flow, q, 1.7)[d]
                };
                (side(h) - side(-h)) / (2.0 * h)
            });
            let divergence: f64 = gradient.iter().sum();
            let max_abs = |v: [f64; 3]| v.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
            // The velocity sets a scale too, for flows without stretching along the axes.
            let scale = max_abs(gradient) + max_abs(velocity(&flow, p, 1.7)) / size[0];
            assert!(
                divergence.abs() < 2e-6 * scale,
                "{name} at {p:?}: {divergence:e} of {gradient:?}"
            );
        }
    }
}

#[test]
fn velocities_match_values_derived_by_hand() {
    let at = |name, p, t| velocity(&named(name), p, t);
    assert_close(at("uniform", [0.3; 3], 2.0), [1.0, 0.0, 0.0], 0.0);
    // Right of the centre, a clockwise rotation points down.
    assert_close(at("rotation", [50.0, 30.0, 0.0], 0.0), [0.0, -20.0 * TAU / DAY, 0.0], 1e-18);
    let linear = Flow::LinearInTime { a: [1.0, 2.0, 3.0], b: [0.5, 0.0, -1.0] };
    assert_close(velocity(&linear, [0.0; 3], 2.0), [2.0, 2.0, 1.0], 0.0);
    let quarter = FRAC_PI_2 / 1e-4;
    assert_close(at("stationary-eddy", [0.0; 3], quarter), [0.0, -0.3, 0.0], 1e-15);
    assert_close(at("moving-eddy", [0.0; 3], quarter), [0.04, -0.26, 0.0], 1e-15);
    assert_close(at("decaying-eddy", [0.0; 3], 0.0), [0.3, 0.0, 0.0], 1e-15);
    assert_close(at("taylor-green", [FRAC_PI_2, 0.0, 0.0], 0.0), [1.0, 0.0, 0.0], 1e-15);
    assert_close(at("taylor-green", [0.0, FRAC_PI_2, 0.0], 0.0), [0.0, -1.0, 0.0], 1e-15);
    // At t = 0 the wall is at x = 1: phi = x.
    assert_close(at("double-gyre", [0.5, 0.0, 0.0], 0.0), [-0.1 * PI, 0.0, 0.0], 1e-15);
    assert_close(at("double-gyre", [0.0, 0.5, 0.0], 0.0), [0.0, 0.1 * PI, 0.0], 1e-15);
    // At t = 2.5 a = 1/4, b = 1/2: phi(1) = 3/4 and phi'(1) = 1.
    let s = 0.1 * PI * 0.5_f64.sqrt();
    assert_close(at("double-gyre", [1.0, 0.0, 0.0], 2.5), [-s, 0.0, 0.0], 1e-15);
    assert_close(at("double-gyre", [1.0, 0.5, 0.0], 2.5), [0.0, -s, 0.0], 1e-15);
    assert_close(at("abc", [0.0; 3], 0.0), [1.0, SQRT_3, SQRT_2], 1e-15);
    assert_close(at("saddle", [0.5, 0.25, 0.0], 0.0), [0.5, -0.25, 0.0], 0.0);
    assert_close(at("shear", [0.5, 0.25, 0.0], 0.0), [0.25, 0.0, 0.0], 0.0);
}

#[test]
fn hill_vortex_matches_the_published_formulas() {
    let flow = Flow::Hill { radius: 2.0, speed: 3.0 };
    let at = |p| velocity(&flow, p, 0.0);
    assert_close(at([0.0; 3]), [0.0, 0.0, -4.5], 1e-15);
    // Inside, at r = 1, z = 0.5: u_r = -(9/8) r z, u_z = -4.5 (1 - 2.25/4).
    assert_close(at([0.6, 0.8, 0.5]), [0.6 * -0.5625, 0.8 * -0.5625, -1.96875], 1e-14);
    // Outside, at r = 3, z = 4: R = 5.
    let radial = -4.5 * 8.0 * 12.0 / 3125.0;
    let axial = 3.0 * (1.0 - 8.0 / 125.0 + 3.0 * 8.0 * 9.0 / 6250.0);
    assert_close(at([3.0, 0.0, 4.0]), [radial, 0.0, axial], 1e-14);
    // The sphere is a stream surface, and the velocity is continuous across it.
    let on = [1.2, 0.0, 1.6];
    let [u, _, w] = at(on);
    assert!((u * on[0] + w * on[2]).abs() < 1e-14);
    assert_close(at(on.map(|x| x * (1.0 + 1e-12))), at(on.map(|x| x * (1.0 - 1e-12))), 1e-10);
    assert_close(at([0.0, 0.0, 2e5]), [0.0, 0.0, 3.0], 1e-14);
}

#[test]
fn peninsula_velocity_is_zero_on_land() {
    let flow = named("peninsula");
    let at = |p| velocity(&flow, p, 0.0);
    assert_eq!(at([5e4, 0.0, 0.0]), [0.0; 3]);
    assert_eq!(at([5.5e4, 1e4, 0.0]), [0.0; 3]);
    // At the tip, the flow is along the coast and twice as fast as at infinity.
    assert_close(at([5e4, 1.6e4 * (1.0 + 1e-12), 0.0]), [2.0, 0.0, 0.0], 1e-11);
    assert_close(at([5e4 + 3.2e4, 0.0, 0.0]), [0.75, 0.0, 0.0], 1e-15);
    assert_close(at([5e4, 3.2e4, 0.0]), [1.25, 0.0, 0.0], 1e-15);
}

#[test]
fn normal_velocity_is_zero_at_walls() {
    let gyre = named("double-gyre");
    for t in [0.0, 1.0, 3.3] {
        assert!(velocity(&gyre, [0.0, 0.3, 0.0], t)[0].abs() < 1e-15);
        assert!(velocity(&gyre, [2.0, 0.3, 0.0], t)[0].abs() < 1e-15);
        assert!(velocity(&gyre, [0.7, 1.0, 0.0], t)[1].abs() < 1e-15);
    }
    let basin = named("stommel");
    assert!(velocity(&basin, [0.0, 3e6, 0.0], 0.0)[0].abs() < 1e-15);
    assert!(velocity(&basin, [1e7, 3e6, 0.0], 0.0)[0].abs() < 1e-15);
    assert!(velocity(&basin, [3e6, 1e7, 0.0], 0.0)[1].abs() < 1e-15);
}

#[test]
fn rotation_has_its_exact_discrete_solution() {
    let end = trace(&named("rotation"), &[[50.0, 30.0, 0.0]], [0.0, DAY], 24)[0];
    assert_close(end, [49.998_935_420, 30.004_799_172, 0.0], 1e-9);
}

#[test]
fn linear_in_time_is_exact() {
    let flow = Flow::LinearInTime { a: [1.0, -0.5, 0.25], b: [0.5, 0.25, -0.125] };
    let end = trace(&flow, &[[0.0; 3]], [0.0, 4.0], 3)[0];
    assert_close(end, [8.0, 0.0, 0.0], 1e-14);
}

#[test]
fn eddies_reach_their_known_positions() {
    let stationary = [14_494.150_382_336, 7_832.902_561_248];
    let moving = [13_059.913_006_515, 12_333.331_741_563];
    let cases = [
        ("stationary-eddy", 6.0, 120, stationary, 1.7e-7),
        ("moving-eddy", 1.0, 2, moving, 3.3e-4),
    ];
    for (name, hours, steps, [x, y], error) in cases {
        let start = [12_000.0, 12_500.0, 0.0];
        let end = trace(&named(name), &[start], [0.0, hours * 3600.0], steps)[0];
        assert_error((end[0] - x).abs().max((end[1] - y).abs()), error);
    }
    // The decaying eddy: fourth-order error.
    let exact = [15_089.166_132_687, 6_702.141_210_860, 0.0];
    for (steps, error) in [(23, 2.2e-2), (46, 1.4e-3), (92, 8.6e-5), (184, 5.4e-6)] {
        let start = [1e4, 1e4, 0.0];
        let end = trace(&named("decaying-eddy"), &[start], [0.0, 23.0 * 3600.0], steps)[0];
        assert_error(distance(end, exact), error);
    }
}

#[test]
fn taylor_green_orbit_is_closed() {
    let start = [FRAC_PI_2, 0.5_f64.asin(), 0.0];
    for (n, error) in [(100, 1.6e-6), (200, 1.0e-7), (400, 6.5e-9)] {
        let end = trace(&Flow::TaylorGreen, &[start], [0.0, 8.626_062_589_998_574], n)[0];
        assert_error(distance(end, start), error);
    }
}

#[test]
fn double_gyre_matches_its_flow_map() {
    let flow = named("double-gyre");
    let starts = [[0.5, 0.5, 0.0], [1.0, 0.5, 0.0], [0.6, 0.3, 0.0], [1.5, 0.25, 0.0]];
    let expected = [
        [0.050550530572, 0.111020148786, 0.0],
        [0.257920850250, 0.487372892321, 0.0],
        [0.331895097569, 0.017144215232, 0.0],
        [1.268344706387, 0.350726839743, 0.0],
    ];
    let ends = trace(&flow, &starts, [0.0, 10.0], 2000);
    for (end, expected) in ends.iter().zip(expected) {
        assert_close(*end, expected, 2e-11);
    }
    for (n, error) in [(50, 2.4e-5), (100, 1.1e-6), (200, 6.0e-8), (400, 3.4e-9)] {
        let end = trace(&flow, &starts[2..3], [0.0, 10.0], n)[0];
        assert_error(distance(end, expected[2]), error);
    }
    let backward = trace(&flow, &starts[2..3], [0.0, -10.0], 2000)[0];
    assert_close(backward, [0.639996127730, 0.059338950732, 0.0], 2e-11);
}

#[test]
fn abc_reaches_its_known_position() {
    let end = trace(&named("abc"), &[[1.0, 2.0, 3.0]], [0.0, 5.0], 2000)[0];
    assert_close(end, [-0.175385476457, 1.343436817806, 13.303238375398], 1e-10);
    let flow = Flow::Abc { a: SQRT_3, b: SQRT_2, c: 0.0 };
    let [x, y, z] = [1.0_f64, 2.0, 3.0];
    let h = SQRT_2 * x.sin() + SQRT_3 * z.cos();
    let end = trace(&flow, &[[x, y, z]], [0.0, 5.0], 1000)[0];
    assert!((end[1] - (y + h * 5.0)).abs() < 1e-9);
    assert!((SQRT_2 * end[0].sin() + SQRT_3 * end[2].cos() - h).abs() < 1e-9);
}

#[test]
fn hill_axis_matches_its_solution() {
    let end = trace(&named("hill"), &[[0.0, 0.0, 0.5]], [0.0, 1.0], 400)[0];
    assert_close(end, [0.0, 0.0, -0.7400970131], 1e-10);
}

#[test]
fn stream_functions_are_conserved() {
    let peninsula = |p: &[f64; 3]| {
        let square = (p[0] - 5e4).powi(2) + p[1] * p[1];
        1.6e4_f64.powi(2) * p[1] / square - p[1]
    };
    let starts: Vec<_> = (0..20).map(|i| [3e3, 3e3 + 44e3 / 19.0 * f64::from(i), 0.0]).collect();
    let ends = trace(&named("peninsula"), &starts, [0.0, 23.0 * 3600.0], 46);
    let drift = starts.iter().zip(&ends).map(|(a, b)| (peninsula(b) / peninsula(a) - 1.0).abs());
    let drift = drift.fold(0.0, f64::max);
    assert!(drift < 5e-5, "{drift:e}");

    let Flow::Stommel { side, layer, .. } = named("stommel") else { unreachable!() };
    let stommel =
        |p: &[f64; 3]| (1.0 - (-p[0] / layer).exp() - p[0] / side) * (PI * p[1] / side).sin();
    let starts = [[1e4, 5e6, 0.0], [5e6, 3e6, 0.0]];
    let ends = trace(&named("stommel"), &starts, [0.0, 50.0 * DAY], 1200);
    for (a, b) in starts.iter().zip(&ends) {
        let drift = (stommel(b) / stommel(a) - 1.0).abs();
        assert!(drift < 1e-8, "{drift:e}");
    }
}
