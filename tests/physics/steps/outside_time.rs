//! Fields outside the times of their frames, and long runs in periodic fields.

use crate::common::{machines as all_machines, *};
use burntrace::{
    Error, FieldOptions, GridField, OutsideTime, Scheme, Seeds, TimeInterpolation, Tracer,
};

/// GPUs in single precision only: each rule needs its own kernel.
fn machines() -> Vec<Machine> {
    all_machines().into_iter().filter(|m| m.is_cpu() || !m.is_double()).collect()
}

/// Velocity 1 at time 0 and 3 at time 1, everywhere.
fn ramp() -> Frames {
    Frames::uniform([-50.0; 3], [50.0; 3], &[0.0, 1.0], |t| [1.0 + 2.0 * t, 0.0, 0.0])
}

/// A velocity along x, uniform in space, with given values at given times.
fn wave(times: &[f64], values: &[f64]) -> Frames {
    let of = |t: f64| values[times.iter().position(|known| *known == t).unwrap()];
    Frames::uniform([-50.0; 3], [50.0; 3], times, |t| [of(t), 0.0, 0.0])
}

/// The displacement of a particle along x.
fn displacement(machine: &Machine, frames: &Frames, options: FieldOptions, run: Tracing) -> f64 {
    let field = machine.load(frames, options);
    let tracer = Tracer::new(&field).scheme(run.0).span(span(run.1, run.2, run.3));
    let seeds = Seeds::list(vec![[0.0; 3]]).unwrap();
    trace(&tracer, &seeds).last()[0][0]
}

/// Scheme, start time, end time, time step.
type Tracing = (Scheme, f64, f64, f64);

/// A few dozen steps over a displacement of up to 20.
fn round_off(machine: &Machine) -> f64 {
    40.0 * machine.eps() * 20.0
}

#[test]
fn run_beyond_the_frames_is_an_error_with_the_valid_range() {
    for machine in machines() {
        let field = machine.field(&ramp());
        let seeds = Seeds::list(vec![[0.0; 3]]).unwrap();
        for (t0, t1) in [(0.0, 1.25), (-0.25, 1.0), (1.25, 0.0), (5.0, 6.0)] {
            let dt = 0.25f64.copysign(t1 - t0);
            let error = Tracer::new(&field).span(span(t0, t1, dt)).trace(&seeds).unwrap_err();
            let expected = Error::OutsideTime { t0, t1, first: 0.0, last: 1.0 };
            assert_eq!(error.to_string(), expected.to_string());
        }
        assert!(Tracer::new(&field).span(span(0.0, 1.0, 0.25)).trace(&seeds).is_ok());
    }
}

/// The midpoint scheme never samples the ends of a step, where a field with the rule `zero` jumps.
#[test]
fn displacements_with_hold_and_zero_are_exact() {
    for machine in machines() {
        for (policy, forward) in [(OutsideTime::Hold, 1.0 + 2.0 + 6.0), (OutsideTime::Zero, 2.0)] {
            for (t0, t1, dt, sign) in [(-1.0, 3.0, 0.25, 1.0), (3.0, -1.0, -0.25, -1.0)] {
                let run = (Scheme::Midpoint, t0, t1, dt);
                let found = displacement(&machine, &ramp(), outside(policy), run);
                let deviation = (found - sign * forward).abs();
                assert_below(
                    &format!("{machine}, {policy:?}: {found}"),
                    deviation,
                    round_off(&machine),
                );
            }
        }
    }
}

/// All stages are outside the frames.
#[test]
fn runs_entirely_outside_the_frames_hold_or_rest() {
    for machine in machines() {
        for (t0, velocity) in [(10.0, 3.0), (-20.0, 1.0)] {
            let run = (Scheme::Rk4, t0, t0 + 2.0, 0.5);
            let held = displacement(&machine, &ramp(), outside(OutsideTime::Hold), run);
            let deviation = (held - 2.0 * velocity).abs();
            assert_below(&format!("{machine}, held"), deviation, round_off(&machine));
            assert_eq!(displacement(&machine, &ramp(), outside(OutsideTime::Zero), run), 0.0);
        }
    }
}

#[test]
fn single_frame_is_a_steady_field() {
    for machine in machines() {
        let frames = Frames::uniform([-50.0; 3], [50.0; 3], &[3.0], |_| [1.5, 0.0, 0.0]);
        for (t0, t1, dt) in [(-4.0, 4.0, 0.5), (100.0, 92.0, -0.5)] {
            let run = (Scheme::Rk4, t0, t1, dt);
            let found = displacement(&machine, &frames, FieldOptions::default(), run);
            assert_below(
                &machine.to_string(),
                (found - 1.5 * (t1 - t0)).abs(),
                round_off(&machine),
            );
        }
    }
}

/// Euler reads 1, 1, 3, 3 with nearest frames (the later one at equal distances), and 1, 1.5, 2, 2.5 with
/// linear interpolation.
#[test]
fn nearest_interpolation_takes_the_later_frame_at_equal_distances() {
    for machine in machines() {
        for (in_time, expected) in
            [(TimeInterpolation::Nearest, 2.0), (TimeInterpolation::Linear, 1.75)]
        {
            let options = FieldOptions { in_time, ..FieldOptions::default() };
            let found = displacement(&machine, &ramp(), options, (Scheme::Euler, 0.0, 1.0, 0.25));
            assert_eq!(found, expected, "{machine}, {in_time:?}");
        }
    }
}

/// The mean velocity of the frames 0, 2, 0 at 0, 1, 4 is 1; steps end on the frames, so the quadrature is
/// exact.
#[test]
fn default_period_is_from_the_first_to_the_last_frame() {
    let frames = wave(&[0.0, 1.0, 4.0], &[0.0, 2.0, 0.0]);
    let options = outside(OutsideTime::Periodic { period: None });
    for machine in machines() {
        for (t0, t1, dt) in [(0.0, 12.0, 0.5), (-8.0, 4.0, 0.5), (4.0, -8.0, -0.5), (1.0, 9.0, 0.5)]
        {
            let found = displacement(&machine, &frames, options, (Scheme::Rk4, t0, t1, dt));
            let deviation = (found - (t1 - t0)).abs();
            assert_below(
                &format!("{machine}, {t0} to {t1}: {found}"),
                deviation,
                round_off(&machine),
            );
        }
    }
}

/// Frames 0, 2 at 0, 1 that close over a period of 4: the same wave as above.
#[test]
fn given_period_interpolates_from_the_last_frame_to_the_first() {
    let frames = wave(&[0.0, 1.0], &[0.0, 2.0]);
    let options = outside(OutsideTime::Periodic { period: Some(4.0) });
    for machine in machines() {
        for (t0, t1, dt) in [(0.0, 12.0, 0.5), (-8.0, 4.0, 0.5), (7.0, -5.0, -0.5), (2.5, 6.5, 0.5)]
        {
            let found = displacement(&machine, &frames, options, (Scheme::Rk4, t0, t1, dt));
            let deviation = (found - (t1 - t0)).abs();
            assert_below(
                &format!("{machine}, {t0} to {t1}: {found}"),
                deviation,
                round_off(&machine),
            );
        }
    }
}

/// A step of two and a half periods: Euler samples its start, midpoint its middle.
#[test]
fn steps_longer_than_a_period_are_exact() {
    let frames = wave(&[0.0, 1.0, 4.0], &[0.0, 2.0, 0.0]);
    let options = outside(OutsideTime::Periodic { period: None });
    for machine in machines() {
        // From t = 0.5 (velocity 1) to 10.5; the middle, 5.5, is 1.5 in the wave: 5/3.
        let euler = displacement(&machine, &frames, options, (Scheme::Euler, 0.5, 10.5, 10.0));
        assert_below(&machine.to_string(), (euler - 10.0).abs(), round_off(&machine));
        let midpoint =
            displacement(&machine, &frames, options, (Scheme::Midpoint, 0.5, 10.5, 10.0));
        assert_below(&machine.to_string(), (midpoint - 50.0 / 3.0).abs(), round_off(&machine));
    }
}

#[test]
fn frames_that_do_not_fit_a_period_are_rejected() {
    for machine in machines() {
        let load = |frames: &Frames, period| {
            let outside_time = OutsideTime::Periodic { period };
            let options = FieldOptions { precision: machine.precision, ..outside(outside_time) };
            GridField::load(&mut frames.clone(), &machine.device, &options)
        };
        let ends_differ = load(&ramp(), None).unwrap_err();
        assert!(matches!(ends_differ, Error::Period { period: 1.0, .. }), "{ends_differ}");
        let too_short = load(&ramp(), Some(0.5)).unwrap_err();
        assert!(matches!(too_short, Error::Period { period: 0.5, .. }), "{too_short}");
        assert!(load(&ramp(), Some(1.5)).is_ok());
    }
}

/// After 2^30 periods, the host's double-precision time still resolves 2^-21 of a period; single precision
/// would not resolve one. Steps and times are multiples of 2^-3, so the tracks must be bit-identical.
#[test]
fn runs_a_billion_periods_apart_are_bit_identical() {
    let frames = wave(&[0.0, 1.0, 4.0], &[0.0, 2.0, 0.0]);
    let options = outside(OutsideTime::Periodic { period: None });
    let late = 4.0 * f64::from(1 << 30);
    for machine in machines() {
        for dt in [0.125, -0.125] {
            let at = |t0: f64| {
                displacement(&machine, &frames, options, (Scheme::Rk4, t0, t0 + 100.0 * dt, dt))
            };
            assert_eq!(at(0.5), at(late + 0.5), "{machine}, dt {dt}");
            assert!(at(0.5).abs() > 10.0);
        }
    }
}

/// 80,000 steps over ten thousand periods with zero mean velocity leave only round-off: positions stay below
/// 2, so the bound is five times a random walk of half an ulp of 2 per step.
#[test]
fn round_off_over_ten_thousand_periods_is_a_random_walk() {
    let frames = wave(&[0.0, 1.0, 2.0, 3.0, 4.0], &[0.0, 1.0, 0.0, -1.0, 0.0]);
    let options = outside(OutsideTime::Periodic { period: None });
    for machine in machines().into_iter().filter(Machine::is_cpu) {
        let found = displacement(&machine, &frames, options, (Scheme::Rk4, 0.0, 4e4, 0.5));
        let walk = machine.eps() * 80_000f64.sqrt();
        assert_below(&machine.to_string(), found.abs(), 5.0 * walk);
    }
}
