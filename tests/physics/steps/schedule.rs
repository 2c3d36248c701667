//! Steps and saves.

use crate::common::*;
use burntrace::{Error, GridField, SaveAt, Seeds, Span, Tracer};

/// Velocity (1, t, 0): the position encodes the elapsed time and detects lost steps.
fn clock(machine: &Machine) -> GridField {
    let frames = Frames::uniform([-30.0; 3], [30.0; 3], &[0.0, 5.0], |t| [1.0, t, 0.0]);
    machine.field(&frames)
}

fn run(machine: &Machine, span: Span, save: SaveAt) -> Run {
    let field = clock(machine);
    let seeds = Seeds::list(vec![[0.0; 3]]).unwrap();
    trace(&Tracer::new(&field).span(span).save(save), &seeds)
}

/// Checks that every position matches the time of its save.
#[track_caller]
fn assert_on_time(machine: &Machine, run: &Run) {
    let first = run.times[0];
    for (t, save) in run.times.iter().zip(&run.saves) {
        let expected = [t - first, (t * t - first * first) / 2.0, 0.0];
        // A missing or extra step would change the position by far more.
        let bound = 50.0 * machine.eps() * 13.0;
        assert_below(&format!("{machine}, t = {t}"), distance(save, &[expected]), bound);
    }
}

#[test]
fn last_step_is_shortened_to_the_end_time() {
    for machine in machines() {
        let run = run(&machine, span(0.0, 1.0, 0.3), SaveAt::EverySteps(1));
        assert_eq!(run.times, [0.0, 0.3, 0.6, 3.0 * 0.3, 1.0]);
        assert_eq!(run.summary.steps, 4);
        assert_on_time(&machine, &run);
    }
}

#[test]
fn saves_are_at_exact_times() {
    let cases = [
        // Seven steps, split at 0.5 and 1; one ends at 1.5.
        (SaveAt::EveryTime(0.5), vec![0.0, 0.5, 1.0, 1.5, 2.0], 9),
        // The duration is not a multiple of the interval: the last interval is shorter.
        (SaveAt::EveryTime(0.75), vec![0.0, 0.75, 1.5, 2.0], 8),
        (SaveAt::EverySteps(3), vec![0.0, 3.0 * 0.3, 6.0 * 0.3, 2.0], 7),
        (SaveAt::Times(vec![0.0, 0.1, 0.25, 1.9]), vec![0.0, 0.1, 0.25, 1.9], 10),
    ];
    for machine in machines() {
        for (save, times, steps) in &cases {
            let run = run(&machine, span(0.0, 2.0, 0.3), save.clone());
            assert_eq!(&run.times, times, "{machine}, {save:?}");
            assert_eq!(run.summary.steps, *steps, "{machine}, {save:?}");
            assert_on_time(&machine, &run);
        }
    }
}

#[test]
fn backward_saves_are_at_exact_times() {
    for machine in machines() {
        let save = SaveAt::Times(vec![5.0, 4.3, 4.25, 3.1]);
        let run = run(&machine, span(5.0, 3.0, -0.4), save);
        assert_eq!(run.times, [5.0, 4.3, 4.25, 3.1], "{machine}");
        assert_on_time(&machine, &run);
    }
}

#[test]
fn end_time_step_size_and_step_count_follow_from_any_two() {
    let span_of = |t1, dt, steps| Span { t0: Some(0.5), t1, dt, steps };
    for machine in machines() {
        let spans = [
            span_of(Some(2.5), Some(0.25), None),
            span_of(Some(2.5), None, Some(8)),
            span_of(None, Some(0.25), Some(8)),
            span_of(Some(2.5), Some(0.25), Some(8)),
        ];
        let runs = spans.map(|span| run(&machine, span, SaveAt::EverySteps(1)));
        for run in &runs {
            assert_eq!((run.summary.steps, run.times[8]), (8, 2.5), "{machine}");
            assert_eq!(run.saves, runs[0].saves, "{machine}");
        }
    }
}

#[test]
fn inconsistent_spans_and_saves_are_rejected() {
    let seeds = Seeds::list(vec![[0.0; 3]]).unwrap();
    let machine = &machines()[0];
    let field = clock(machine);
    let span_of = |t1, dt, steps| Span { t0: Some(0.0), t1, dt, steps };
    for span in [
        span_of(Some(1.0), Some(0.1), Some(11)),
        span_of(Some(1.0), Some(-0.1), None),
        span_of(Some(1.0), Some(0.0), None),
        span_of(Some(1.0), None, Some(0)),
        span_of(Some(1.0), None, None),
        span_of(Some(f64::NAN), Some(0.1), None),
        span_of(Some(0.0), Some(0.1), None),
    ] {
        let error = Tracer::new(&field).span(span).trace(&seeds).unwrap_err();
        assert!(matches!(error, Error::Span(_)), "{span:?}: {error}");
    }
    for save in [
        SaveAt::EverySteps(0),
        SaveAt::EveryTime(0.0),
        SaveAt::EveryTime(f64::NAN),
        // Below the resolution of times, and more than ten million.
        SaveAt::EveryTime(1e-20),
        SaveAt::EveryTime(1e-8),
        SaveAt::Times(vec![]),
        SaveAt::Times(vec![0.5, 0.4]),
        SaveAt::Times(vec![1.5]),
    ] {
        let tracer = Tracer::new(&field).span(span(0.0, 1.0, 0.1)).save(save.clone());
        let error = tracer.trace(&seeds).unwrap_err();
        assert!(matches!(error, Error::Saves(_)), "{save:?}: {error}");
    }
}

#[test]
fn particle_released_at_the_start_is_active_in_the_first_save() {
    let release = vec![0.0, -1.0, 0.25, 0.5];
    for machine in machines() {
        let field = clock(&machine);
        let seeds = Seeds::list(vec![[0.0; 3]; 4]).unwrap();
        let seeds = seeds.with_release(release.clone()).unwrap();
        for &engine in machine.engines() {
            let tracer = Tracer::new(&field).span(span(0.0, 1.0, 0.25)).engine(engine);
            let tracks = tracer.save(SaveAt::EverySteps(4)).trace(&seeds).unwrap();
            let status = integers(tracks.saves()[0].status.clone());
            assert_eq!(status, [1, 1, 0, 0], "{machine}, {engine}");
        }
    }
}

/// Particles released within a step take the rest of it, so their displacements do not depend on the steps.
#[test]
fn displacements_after_a_release_within_a_step_are_exact() {
    let release = vec![0.0, 0.125, 0.3, 0.7499, 0.9, 2.0];
    for machine in machines() {
        let field = clock(&machine);
        let seeds = Seeds::list(vec![[0.0; 3]; 6]).unwrap();
        let seeds = seeds.with_release(release.clone()).unwrap();
        for &engine in machine.engines() {
            for dt in [0.25, 0.3, 1.0] {
                let tracer = Tracer::new(&field).span(span(0.0, 1.0, dt)).engine(engine);
                let run = trace(&tracer, &seeds);
                let expected: Vec<[f64; 3]> = release
                    .iter()
                    .map(|t| if *t > 1.0 { [0.0; 3] } else { [1.0 - t, (1.0 - t * t) / 2.0, 0.0] })
                    .collect();
                let deviation = distance(run.last(), &expected);
                assert_below(
                    &format!("{machine}, {engine}, {dt}"),
                    deviation,
                    20.0 * machine.eps(),
                );
            }
        }
    }
}
