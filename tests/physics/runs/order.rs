//! Tracks are bit-identical for any order of the seeds, batches, threads and launches.

use crate::common::*;
use burntrace::{
    BoundaryCondition, Control, Face, GridField, Placement, Precision, SaveAt, Seeds, Tracer,
    TrackSink, Tracks,
};
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::process::Command;

/// More than one tile (256) of particles on a CPU.
const COUNT: usize = 700;

fn frames() -> Frames {
    let mut dice = Dice(7);
    let axes = [even_axis(0.0, 1.0, 6), even_axis(0.0, 1.0, 5), even_axis(0.0, 1.0, 4)];
    Frames::new(axes, Placement::Nodes, &[0.0, 0.4, 1.0], |_, _| {
        std::array::from_fn(|_| dice.between(-1.0, 1.0))
    })
}

fn tracer(field: &GridField) -> Tracer<'_> {
    Tracer::new(field)
        .all_faces(BoundaryCondition::Reflect)
        .face(Face::XLow, BoundaryCondition::Exit)
        .span(steps(0.0, 1.0, 24))
        .save(SaveAt::EverySteps(6))
}

fn points() -> Vec<[f64; 3]> {
    Dice(8).points([0.0; 3], [1.0; 3], COUNT)
}

fn seeds(points: &[[f64; 3]]) -> Seeds {
    Seeds::list(points.to_vec()).unwrap()
}

#[test]
fn permuted_seeds_give_permuted_tracks() {
    let points = points();
    let mut order: Vec<usize> = (0..COUNT).collect();
    let mut dice = Dice(9);
    for i in (1..COUNT).rev() {
        order.swap(i, (dice.bits() % (i as u64 + 1)) as usize);
    }
    let permuted: Vec<_> = order.iter().map(|&i| points[i]).collect();
    for machine in machines() {
        let field = machine.field(&frames());
        let a = trace(&tracer(&field), &seeds(&points));
        let b = trace(&tracer(&field), &seeds(&permuted));
        for (before, after) in a.saves.iter().zip(&b.saves) {
            let expected: Vec<_> = order.iter().map(|&i| before[i]).collect();
            assert_eq!(&expected, after, "{machine}");
        }
        let status: Vec<_> = order.iter().map(|&i| a.status[i]).collect();
        assert_eq!(status, b.status, "{machine}");
    }
}

#[test]
fn repeated_and_split_runs_give_bit_identical_tracks() {
    let points = points();
    for machine in machines() {
        let field = machine.field(&frames());
        let run = |points: &[[f64; 3]]| trace(&tracer(&field), &seeds(points));
        let whole = run(&points);
        assert_eq!(whole.saves, run(&points).saves, "{machine}");
        for at in [1, 300] {
            let (first, second) = (run(&points[..at]), run(&points[at..]));
            for (k, all) in whole.saves.iter().enumerate() {
                let joined = [first.saves[k].clone(), second.saves[k].clone()].concat();
                assert_eq!(all, &joined, "{machine}, split at {at}");
            }
        }
    }
}

/// The number of steps per launch depends on the saves.
#[test]
fn save_interval_gives_bit_identical_tracks() {
    let points = points();
    for machine in machines() {
        let field = machine.field(&frames());
        let run = |save| trace(&tracer(&field).save(save), &seeds(&points));
        let end = run(SaveAt::End);
        for every in [1, 5, 24] {
            let other = run(SaveAt::EverySteps(every));
            assert_eq!(end.last(), other.last(), "{machine}, every {every}");
            let bits = |run: &Run| run.end_time.iter().map(|t| t.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&end), bits(&other), "{machine}");
        }
    }
}

/// Over 24 steps in a unit box, the gradient of the field (2 over a spacing of 1/6) amplifies rounding by at
/// most exp(12), and in practice far less.
#[test]
fn tracks_of_all_devices_agree_to_rounding() {
    let points = points();
    for precision in [Precision::F32, Precision::F64] {
        let here = machines().into_iter().filter(|machine| machine.precision == precision);
        let mut runs = here.map(|machine| {
            let field = machine.field(&frames());
            let run = trace(&tracer(&field), &seeds(&points));
            (machine, run)
        });
        let (_, first) = runs.next().unwrap();
        for (machine, run) in runs {
            assert_eq!(first.status, run.status, "{machine}");
            let deviation = distance(first.last(), run.last());
            assert_below(&machine.to_string(), deviation, 500.0 * machine.eps());
        }
    }
}

/// Set in the child processes of [`thread_count_gives_bit_identical_tracks`].
const CHILD: &str = "BURNTRACE_TEST_PRINT_HASH";

fn hashes() -> String {
    let lines = machines().into_iter().filter(Machine::is_cpu).map(|machine| {
        let field = machine.field(&frames());
        let run = trace(&tracer(&field), &seeds(&points()));
        let mut hasher = DefaultHasher::new();
        let numbers = run.saves.iter().flatten().flatten();
        numbers.for_each(|x| x.to_bits().hash(&mut hasher));
        format!("hash of {machine}: {:x}\n", hasher.finish())
    });
    lines.collect()
}

/// The number of threads is fixed for a process, so each count needs its own process.
#[test]
fn thread_count_gives_bit_identical_tracks() {
    if std::env::var_os(CHILD).is_some() {
        println!("{}", hashes());
        return;
    }
    let here = hashes();
    for threads in ["1", "2", "5"] {
        let name = "runs::order::thread_count_gives_bit_identical_tracks";
        let output = Command::new(std::env::current_exe().unwrap())
            .args([name, "--exact", "--nocapture"])
            .env(CHILD, "1")
            .env("RAYON_NUM_THREADS", threads)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains(&here), "{threads} threads: {text}\nhere: {here}");
    }
}

#[test]
fn observer_sees_monotonic_progress() {
    let points = points();
    for machine in machines() {
        let field = machine.field(&frames());
        for &engine in machine.engines() {
            let mut seen = Vec::new();
            let mut tracks = Tracks::default();
            let tracer = tracer(&field).engine(engine);
            let summary = tracer
                .trace_into(&seeds(&points[..50]), &mut tracks, &mut |progress| {
                    seen.push(progress);
                    Control::Continue
                })
                .unwrap();
            assert!(seen.len() >= 4, "{machine}: {seen:?}");
            let is_monotonic = |pair: &[burntrace::Progress]| {
                pair[0].time <= pair[1].time
                    && pair[0].fraction <= pair[1].fraction
                    && pair[0].particle_steps <= pair[1].particle_steps
            };
            assert!(seen.windows(2).all(is_monotonic), "{machine}: {seen:?}");
            let last = seen.last().unwrap();
            assert_eq!((last.fraction, last.time), (1.0, 1.0));
            // A particle that ends in a segment counts for half of it.
            let longest = seen.windows(2).map(|pair| pair[1].fraction - pair[0].fraction);
            let slack = summary.ended() as f64 * 24.0 * longest.fold(0.25, f64::max);
            let apart = last.particle_steps.abs_diff(summary.particle_steps);
            assert!(apart as f64 <= slack, "{machine}: {last:?} and {summary:?}");
            assert!(summary.ended() > 0 && last.particle_steps < 24 * 50);
            assert!(!summary.cancelled);
        }
    }
}

#[test]
fn cancelled_run_returns_the_saves_so_far() {
    let points = points();
    for machine in machines() {
        let field = machine.field(&frames());
        let whole = trace(&tracer(&field), &seeds(&points));
        let mut tracks = Tracks::default();
        let summary = tracer(&field)
            .trace_into(&seeds(&points), &mut tracks, &mut |progress| {
                if progress.time >= 0.5 { Control::Cancel } else { Control::Continue }
            })
            .unwrap();
        assert!(summary.cancelled, "{machine}");
        assert_eq!((summary.saves, summary.steps), (3, 12), "{machine}");
        assert_eq!(tracks.times(), [0.0, 0.25, 0.5], "{machine}");
        let saves: Vec<_> = tracks.saves().iter().map(|save| rows(save.position.clone())).collect();
        assert_eq!(saves, whole.saves[..3], "{machine}");
        assert_eq!(tracks.ends().status.len(), COUNT, "{machine}");
        assert_eq!(summary.released, summary.active() + summary.ended());
    }
}

/// The run returns the error of the sink.
#[test]
fn failing_sink_stops_the_run() {
    struct Full;
    impl TrackSink for Full {
        fn begin(&mut self, _: &burntrace::SavePlan) -> Result<(), burntrace::SinkError> {
            Ok(())
        }
        fn save(&mut self, save: burntrace::Save) -> Result<(), burntrace::SinkError> {
            if save.index == 2 { Err("the disk is full".into()) } else { Ok(()) }
        }
        fn end(&mut self, _: &burntrace::Ends) -> Result<(), burntrace::SinkError> {
            panic!("the run continued")
        }
    }
    for machine in machines() {
        let field = machine.field(&frames());
        let result =
            tracer(&field).trace_into(&seeds(&points()), &mut Full, &mut |_| Control::Continue);
        match result {
            Err(burntrace::Error::Sink(source)) => {
                assert_eq!(source.to_string(), "the disk is full")
            }
            other => panic!("{machine}: {other:?}"),
        }
    }
}
