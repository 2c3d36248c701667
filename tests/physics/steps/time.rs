//! Unsteady velocities: linear in time is exact, quadratic converges with the number of frames.

use crate::common::*;
use burntrace::{Scheme, Seeds, Tracer};

/// Irregular frame times, not multiples of the step.
const TIMES: [f64; 5] = [0.0, 0.7, 1.1, 2.9, 4.0];
const A: [f64; 3] = [0.3, -0.2, 0.1];
const B: [f64; 3] = [0.25, 0.4, -0.15];

fn linear() -> Frames {
    let velocity = |t: f64| std::array::from_fn(|d| A[d] + B[d] * t);
    Frames::uniform([-20.0; 3], [20.0; 3], &TIMES, velocity)
}

/// Sixteen steps over coordinates of up to 20, with rounded frame weights.
fn round_off(machine: &Machine) -> f64 {
    16.0 * machine.eps() * 20.0
}

/// The error of Euler is exactly -b T h/2; the quadrature of the other schemes is exact for linear
/// functions.
#[test]
fn displacements_in_a_linearly_changing_velocity_are_exact() {
    let start = [1.0, -2.0, 0.5];
    let seeds = Seeds::list(vec![start]).unwrap();
    for machine in machines() {
        let field = machine.field(&linear());
        for scheme in Scheme::ALL {
            for (t0, t1, dt) in [(0.0, 4.0, 0.25), (4.0, 0.0, -0.25)] {
                let tracer = Tracer::new(&field).scheme(scheme).span(span(t0, t1, dt));
                let run = trace(&tracer, &seeds);
                let lag = if scheme == Scheme::Euler { (t1 - t0) * dt / 2.0 } else { 0.0 };
                let integral = |t: f64, d: usize| A[d] * t + B[d] * t * t / 2.0;
                let expected = std::array::from_fn(|d| {
                    start[d] + integral(t1, d) - integral(t0, d) - B[d] * lag
                });
                let what = format!("{machine}, {scheme:?}, from {t0}");
                assert_below(&what, distance(run.last(), &[expected]), round_off(&machine));
            }
        }
    }
}

/// From the first to the last frame, or the reverse for a backward run.
#[test]
fn default_span_is_that_of_the_frames() {
    let seeds = Seeds::list(vec![[0.0; 3]]).unwrap();
    for machine in machines() {
        let field = machine.field(&linear());
        for dt in [0.25, -0.25] {
            let without_times = burntrace::Span { dt: Some(dt), ..Default::default() };
            let tracer =
                Tracer::new(&field).span(without_times).save(burntrace::SaveAt::EverySteps(8));
            let run = trace(&tracer, &seeds);
            let expected = if dt > 0.0 { [0.0, 2.0, 4.0] } else { [4.0, 2.0, 0.0] };
            assert_eq!(run.times, expected, "{machine}");
            let displacement = |d: usize| (4.0 * A[d] + 8.0 * B[d]).copysign(run.last()[0][d]);
            for d in 0..3 {
                let deviation = (run.last()[0][d] - displacement(d)).abs();
                assert_below(&format!("{machine}, dt {dt}"), deviation, round_off(&machine));
                let is_forward = run.last()[0][d] * (4.0 * A[d] + 8.0 * B[d]) > 0.0;
                assert_eq!(is_forward, dt > 0.0, "{machine}");
            }
        }
    }
}

/// For a velocity that depends on time only, and schemes with symmetric quadrature.
#[test]
fn backward_run_returns_to_the_seeds() {
    let velocities = Dice(3).points([-1.0; 3], [1.0; 3], TIMES.len());
    let frames = Frames::uniform([-20.0; 3], [20.0; 3], &TIMES, |t| {
        velocities[TIMES.iter().position(|known| *known == t).unwrap()]
    });
    let starts = Dice(4).points([-5.0; 3], [5.0; 3], 50);
    for machine in machines() {
        let field = machine.field(&frames);
        for scheme in [Scheme::Midpoint, Scheme::Heun, Scheme::Rk4] {
            let tracer = Tracer::new(&field).scheme(scheme);
            let there = trace(
                &tracer.clone().span(span(0.0, 4.0, 0.25)),
                &Seeds::list(starts.clone()).unwrap(),
            );
            let back = trace(
                &tracer.span(span(4.0, 0.0, -0.25)),
                &Seeds::list(there.last().to_vec()).unwrap(),
            );
            let deviation = distance(back.last(), &starts);
            assert_below(&format!("{machine}, {scheme:?}"), deviation, 2.0 * round_off(&machine));
        }
    }
}

/// Linear interpolation of c t^2 between frames at a spacing H is too large by c H^2/6 on average. The error
/// of a run over T is exactly c T H^2/6 if steps end on frames.
#[test]
fn error_in_a_quadratic_velocity_is_second_order_in_the_frame_interval() {
    let seeds = Seeds::list(vec![[0.0; 3]]).unwrap();
    let c = 0.125;
    for machine in machines() {
        let error = |frames: usize| {
            let times = even_axis(0.0, 4.0, frames);
            let source = Frames::uniform([-20.0; 3], [20.0; 3], &times, |t| [c * t * t, 0.0, 0.0]);
            let field = machine.field(&source);
            let run = trace(&Tracer::new(&field).span(steps(0.0, 4.0, 32)), &seeds);
            run.last()[0][0] - c * 64.0 / 3.0
        };
        for frames in [4, 8, 16] {
            let spacing = 4.0 / frames as f64;
            let deviation = (error(frames) - c * 4.0 * spacing * spacing / 6.0).abs();
            let what = format!("{machine}, {frames} frames");
            assert_below(&what, deviation, 2.0 * round_off(&machine));
        }
        let ratio = error(4) / error(8);
        assert_below(&format!("{machine}: ratio {ratio}"), (ratio - 4.0).abs(), 0.01);
    }
}

/// Each stage reads the frames around its time.
#[test]
fn steps_across_several_frames_are_exact() {
    let seeds = Seeds::list(vec![[0.0; 3]]).unwrap();
    for machine in machines() {
        let field = machine.field(&linear());
        for (t0, t1) in [(0.0, 4.0), (4.0, 0.0), (0.5, 3.5), (3.5, 0.5)] {
            let run = trace(&Tracer::new(&field).span(steps(t0, t1, 1)), &seeds);
            let integral = |t: f64, d: usize| A[d] * t + B[d] * t * t / 2.0;
            let expected = std::array::from_fn(|d| integral(t1, d) - integral(t0, d));
            let what = format!("{machine}, {t0} to {t1}");
            assert_below(&what, distance(run.last(), &[expected]), round_off(&machine));
        }
    }
}
