//! Velocities that change in time: linear is exact, quadratic converges with the frames.

use super::common::*;
use burntrace::{Scheme, Seeds, Tracer};

/// Irregular, and not multiples of the step.
const TIMES: [f64; 5] = [0.0, 0.7, 1.1, 2.9, 4.0];
const A: [f64; 3] = [0.3, -0.2, 0.1];
const B: [f64; 3] = [0.25, 0.4, -0.15];

fn linear() -> Frames {
    let velocity = |t: f64| std::array::from_fn(|d| A[d] + B[d] * t);
    Frames::uniform([-20.0; 3], [20.0; 3], &TIMES, velocity)
}

/// Sixteen steps over numbers of up to 20, with weights of frames that are rounded too.
fn round_off(machine: &Machine) -> f64 {
    16.0 * machine.eps() * 20.0
}

/// Explicit Euler lags by b h/2 in every step: its error is -b T h/2, exactly; the others'
/// quadrature is exact for linear functions.
#[test]
fn linear_in_time_is_exact_but_for_euler() {
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

/// A run that is not told when to begin and end goes from the first frame to the last one, and
/// a backward one the other way.
#[test]
fn a_run_takes_its_ends_from_the_frames() {
    let seeds = Seeds::list(vec![[0.0; 3]]).unwrap();
    for machine in machines() {
        let field = machine.field(&linear());
        for dt in [0.25, -0.25] {
            let ask = burntrace::Span { dt: Some(dt), ..Default::default() };
            let tracer = Tracer::new(&field).span(ask).save(burntrace::SaveAt::EverySteps(8));
            let run = trace(&tracer, &seeds);
            let expected = if dt > 0.0 { [0.0, 2.0, 4.0] } else { [4.0, 2.0, 0.0] };
            assert_eq!(run.times, expected, "{machine}");
            let displacement = |d: usize| (4.0 * A[d] + 8.0 * B[d]).copysign(run.last()[0][d]);
            for d in 0..3 {
                let off = (run.last()[0][d] - displacement(d)).abs();
                assert_below(&format!("{machine}, dt {dt}"), off, round_off(&machine));
                let is_forward = run.last()[0][d] * (4.0 * A[d] + 8.0 * B[d]) > 0.0;
                assert_eq!(is_forward, dt > 0.0, "{machine}");
            }
        }
    }
}

/// Going back along the same steps of a velocity that depends on time only undoes them, for
/// schemes whose quadrature is symmetric.
#[test]
fn backward_undoes_forward() {
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
            let off = distance(back.last(), &starts);
            assert_below(&format!("{machine}, {scheme:?}"), off, 2.0 * round_off(&machine));
        }
    }
}

/// Linear interpolation of c t^2 over frames H apart is too large by c H^2/6 on average; the
/// error of a run over T is c T H^2/6, exactly where steps end on frames.
#[test]
fn quadratic_in_time_converges_with_the_frames() {
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
            let off = (error(frames) - c * 4.0 * spacing * spacing / 6.0).abs();
            let what = format!("{machine}, {frames} frames");
            assert_below(&what, off, 2.0 * round_off(&machine));
        }
        let ratio = error(4) / error(8);
        assert_below(&format!("{machine}: ratio {ratio}"), (ratio - 4.0).abs(), 0.01);
    }
}

/// A step longer than several frame intervals reads the frames that its stages fall on.
#[test]
fn a_step_may_cross_several_frames() {
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
