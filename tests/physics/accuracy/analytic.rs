//! Flows with exact solutions, with both engines: the errors must match the method.
//!
//! The quoted errors were computed in float64 by an independent program. The error of a run must be at
//! most 1.05 times the quoted one (which is rounded), and at least half of it: a smaller error would
//! indicate another method.

use crate::common::*;
use burntrace::{
    Analytic, BoundaryCondition, Domain, Field, Flow, Precision, Scheme, Seeds, Span, Tracer,
};
use std::f64::consts::{FRAC_PI_2, TAU};

fn flow(name: &str) -> Flow {
    Flow::named(name).unwrap()
}

/// The final position of a particle in the plane z = 0.
fn end(machine: &Machine, flow: &Flow, scheme: Scheme, from: [f64; 2], span: Span) -> [f64; 2] {
    let field = Analytic::new(flow.clone(), &machine.device, machine.precision)
        .with_domain(Domain::unbounded());
    let seeds = Seeds::list(vec![[from[0], from[1], 0.0]]).unwrap();
    let runs = machine.engines().iter().map(|engine| {
        trace(&Tracer::new(&field).scheme(scheme).span(span).engine(*engine), &seeds).last()[0]
    });
    let ends: Vec<[f64; 3]> = runs.collect();
    let size = ends[0].into_iter().fold(1.0, |size: f64, x| size.max(x.abs()));
    let apart = distance(&ends, &vec![ends[0]; ends.len()]);
    assert_below("engines", apart, 500.0 * machine.eps() * size);
    [ends[0][0], ends[0][1]]
}

fn error(found: [f64; 2], exact: [f64; 2]) -> f64 {
    (found[0] - exact[0]).hypot(found[1] - exact[1])
}

#[track_caller]
fn assert_quoted(what: &str, error: f64, quoted: f64) {
    let matches = 0.5 * quoted <= error && error <= 1.05 * quoted;
    assert!(matches, "{what}: the error is {error:e}, not {quoted:e}");
}

/// Errors of Euler, midpoint, Heun and RK4.
type Errors = [f64; 4];

fn check_eddy(name: &str, to: [f64; 2], span: Span, start: [f64; 2], errors: Errors) {
    for machine in exact_machines() {
        for (scheme, quoted) in Scheme::ALL.into_iter().zip(errors) {
            let found = end(&machine, &flow(name), scheme, start, span);
            // The quoted errors are the maximum over the axes.
            let error = (found[0] - to[0]).abs().max((found[1] - to[1]).abs());
            assert_quoted(&format!("{machine}, {name}, {scheme:?}"), error, quoted);
        }
    }
}

#[test]
fn stationary_eddy_has_the_quoted_errors() {
    let to = [14494.150382336, 7832.902561248];
    let errors = [41.9, 6.3e-2, 1.3e-1, 1.7e-7];
    check_eddy("stationary-eddy", to, span(0.0, 21_600.0, 180.0), [12000.0, 12500.0], errors);
}

#[test]
fn moving_eddy_has_the_quoted_errors() {
    let to = [13059.913006515, 12333.331741563];
    let errors = [82.9, 1.24, 2.47, 3.3e-4];
    check_eddy("moving-eddy", to, span(0.0, 3600.0, 1800.0), [12000.0, 12500.0], errors);
}

#[test]
fn decaying_eddy_has_the_quoted_errors() {
    let to = [15089.166132687, 6702.141210860];
    let errors = [592.0, 18.6, 37.2, 2.1e-2];
    check_eddy("decaying-eddy", to, span(0.0, 82_800.0, 3600.0), [1e4, 1e4], errors);
}

#[test]
fn rk4_in_a_decaying_eddy_converges_with_order_four() {
    let to = [15089.166132687, 6702.141210860];
    for machine in exact_machines() {
        for (n, quoted) in [(23, 2.2e-2), (46, 1.4e-3), (92, 8.6e-5), (184, 5.4e-6)] {
            let span = steps(0.0, 82_800.0, n);
            let found = end(&machine, &flow("decaying-eddy"), Scheme::Rk4, [1e4, 1e4], span);
            assert_quoted(&format!("{machine}, {n} steps"), error(found, to), quoted);
        }
    }
}

/// Backward over the same steps, from the exact end point to the start.
#[test]
fn backward_decaying_eddy_has_the_forward_error() {
    let from = [15089.166132687, 6702.141210860];
    for machine in exact_machines() {
        let span = steps(82_800.0, 0.0, 23);
        let found = end(&machine, &flow("decaying-eddy"), Scheme::Rk4, from, span);
        // A quadrature of a function of time is the same in both directions.
        assert_quoted(&machine.to_string(), error(found, [1e4, 1e4]), 2.2e-2);
    }
}

#[test]
fn double_gyre_end_points_match_the_reference() {
    let points: [([f64; 2], f64, [f64; 2]); 7] = [
        ([0.5, 0.5], 10.0, [0.050550530572, 0.111020148786]),
        ([1.0, 0.5], 10.0, [0.257920850250, 0.487372892321]),
        ([0.6, 0.3], 10.0, [0.331895097569, 0.017144215232]),
        ([1.5, 0.25], 10.0, [1.268344706387, 0.350726839743]),
        ([0.5, 0.5], 15.0, [0.046712505867, 0.879384110424]),
        ([0.6, 0.3], 15.0, [0.017441501607, 0.394107849332]),
        ([0.6, 0.3], -10.0, [0.639996127730, 0.059338950732]),
    ];
    for machine in exact_machines() {
        let field = Analytic::new(flow("double-gyre"), &machine.device, machine.precision);
        for (time, n) in [(10.0, 800), (15.0, 1600), (-10.0, 800)] {
            let known: Vec<_> = points.iter().filter(|point| point.1 == time).collect();
            let starts = known.iter().map(|([x, y], ..)| [*x, *y, 0.0]).collect();
            let seeds = Seeds::list(starts).unwrap();
            let run = trace(&Tracer::new(&field).span(steps(0.0, time, n)), &seeds);
            for ((from, _, to), [x, y, _]) in known.iter().zip(run.last()) {
                let error = error([*x, *y], *to);
                // The maximum error is 2.85e-10, for (1.5, 0.25).
                assert_below(&format!("{machine}, {from:?}, {time}"), error, 3e-10);
            }
        }
    }
}

#[test]
fn rk4_in_the_double_gyre_converges_with_order_four() {
    let to = [0.331895097569, 0.017144215232];
    for machine in exact_machines() {
        for (n, quoted) in [(50, 2.4e-5), (100, 1.1e-6), (200, 6.0e-8), (400, 3.4e-9)] {
            let span = steps(0.0, 10.0, n);
            let found = end(&machine, &flow("double-gyre"), Scheme::Rk4, [0.6, 0.3], span);
            assert_quoted(&format!("{machine}, {n} steps"), error(found, to), quoted);
        }
    }
}

/// The period of a particle from (pi/2, asin 1/2) is 4 K(k) with k^2 = 1 - psi^2.
#[test]
fn taylor_green_orbit_closes_after_its_period() {
    let start = [FRAC_PI_2, 0.5f64.asin()];
    for machine in exact_machines() {
        for (n, quoted) in [(100, 1.6e-6), (200, 1.0e-7), (400, 6.5e-9)] {
            let span = steps(0.0, 8.626062589998574, n);
            let found = end(&machine, &flow("taylor-green"), Scheme::Rk4, start, span);
            assert_quoted(&format!("{machine}, {n} steps"), error(found, start), quoted);
        }
    }
}

/// A trajectory that leaves the box twice: with periodic faces and images the end point is the same.
#[test]
fn abc_end_points_in_periodic_and_open_space_match_the_reference() {
    let to = [-0.175385476457, 1.343436817806, 13.303238375398];
    let seeds = Seeds::list(vec![[1.0, 2.0, 3.0]]).unwrap();
    for machine in exact_machines() {
        let boxed = Analytic::new(flow("abc"), &machine.device, machine.precision);
        let open = boxed.clone().with_domain(Domain::unbounded());
        for field in [boxed, open] {
            let tracer = Tracer::new(&field).span(steps(0.0, 5.0, 500));
            let is_open = field.domain().low[0].is_infinite();
            let condition =
                if is_open { BoundaryCondition::Exit } else { BoundaryCondition::Periodic };
            let run = trace(&tracer.all_faces(condition), &seeds);
            let deviation = distance(&run.unwrapped([TAU; 3]), &[to]);
            assert_quoted(&format!("{machine}, open: {is_open}"), deviation, 5.0e-9);
            assert_eq!(run.image[0] != [0; 3], !is_open);
        }
    }
}

/// For C = 0, H = B sin x + A cos z is constant along a trajectory, and y = y0 + H t.
#[test]
fn abc_without_c_conserves_its_invariant() {
    let (a, b) = (3f64.sqrt(), 2f64.sqrt());
    let flow = Flow::Abc { a, b, c: 0.0 };
    let start = [1.0, 2.0, 3.0];
    let invariant = |p: [f64; 3]| b * p[0].sin() + a * p[2].cos();
    for machine in exact_machines() {
        let field = Analytic::new(flow.clone(), &machine.device, machine.precision)
            .with_domain(Domain::unbounded());
        let tracer = Tracer::new(&field).span(steps(0.0, 5.0, 500));
        let run = trace(&tracer, &Seeds::list(vec![start]).unwrap());
        let p = run.last()[0];
        assert_quoted(&machine.to_string(), (invariant(p) - invariant(start)).abs(), 1.45e-11);
        assert_quoted(&machine.to_string(), (p[1] - 2.0 - 5.0 * invariant(start)).abs(), 7.5e-10);
    }
}

#[test]
fn hill_vortex_on_the_axis_has_the_quoted_error() {
    for machine in exact_machines() {
        let field = Analytic::new(flow("hill"), &machine.device, machine.precision);
        let seeds = Seeds::list(vec![[0.0, 0.0, 0.5]]).unwrap();
        let run = trace(&Tracer::new(&field).span(steps(0.0, 1.0, 100)), &seeds);
        let deviation = distance(run.last(), &[[0.0, 0.0, -0.7400970131]]);
        assert_quoted(&machine.to_string(), deviation, 8.5e-10);
    }
}

/// The same flows on every device, where single precision resolves the errors.
#[test]
fn single_precision_has_the_quoted_errors_within_rounding() {
    for machine in machines().into_iter().filter(|m| m.precision == Precision::F32) {
        let to = [0.331895097569, 0.017144215232];
        let found =
            end(&machine, &flow("double-gyre"), Scheme::Rk4, [0.6, 0.3], steps(0.0, 10.0, 50));
        // The scheme's error of 2.4e-5, and the rounding of 50 steps amplified by exp(0.225 x 10) = 10.
        let round_off = 50.0 * machine.eps() * 10.0;
        assert_below(&machine.to_string(), error(found, to), 2.4e-5 + round_off);
        let to = [13059.913006515, 12333.331741563];
        let run = span(0.0, 3600.0, 1800.0);
        for (scheme, quoted) in
            [(Scheme::Euler, 82.9), (Scheme::Midpoint, 1.24), (Scheme::Heun, 2.47)]
        {
            let found = end(&machine, &flow("moving-eddy"), scheme, [12000.0, 12500.0], run);
            assert_quoted(&format!("{machine}, {scheme:?}"), error(found, to), quoted);
        }
    }
}
