//! The summary of a run: launches, engines, counts.

use crate::{common::*, recorded::RecordingSink};
use burn::tensor::Tensor;
use burntrace::{
    Control, Domain, Engine, Error, Execution, Face, Field, FieldFn, Placement, Progress, SaveAt,
    Seeds, Status, Tracer,
};

fn shear() -> Frames {
    let axes = [even_axis(0.0, 1.0, 4), even_axis(0.0, 1.0, 4), vec![0.0]];
    Frames::new(axes, Placement::Nodes, &[0.0, 1.0], |p, _| [p[1], 0.0, 0.0])
}

fn points(count: usize) -> Seeds {
    Seeds::list(Dice(5).points([0.0; 3], [1.0, 1.0, 0.0], count)).unwrap()
}

/// An analytic field instead of a grid.
fn formula(machine: &Machine) -> impl Field {
    let domain = Domain::new([0.0; 3], [1.0, 1.0, 0.0]).unwrap();
    FieldFn::new(domain, &machine.device, machine.precision, |p: Tensor<2>, _| {
        let y = p.narrow(1, 1, 1);
        let zero = y.zeros_like();
        Tensor::cat(vec![y, zero.clone(), zero], 1)
    })
}

/// A launch covers all steps between two saves.
#[test]
fn one_launch_covers_all_steps_between_saves() {
    for machine in machines() {
        let field = machine.field(&shear());
        let tracer = Tracer::new(&field).span(steps(0.0, 1.0, 12)).execution(Execution {
            device_name: Some("test device".into()),
            ..Execution::default()
        });
        for (save, saves, launches) in [
            (SaveAt::EverySteps(3), 5, 4),
            (SaveAt::End, 1, 1),
            (SaveAt::EverySteps(5), 4, 3),
            (SaveAt::EveryTime(0.25), 5, 4),
            (SaveAt::Times(vec![0.5]), 1, 2),
        ] {
            let summary = trace(&tracer.clone().save(save), &points(30)).summary;
            assert_eq!((summary.saves, summary.launches), (saves, launches), "{machine}");
            assert_eq!((summary.steps, summary.particles), (12, 30), "{machine}");
            assert_eq!(summary.engine, Engine::Fused, "{machine}");
            assert_eq!(
                (summary.device.as_str(), summary.precision),
                ("test device", machine.precision)
            );
            assert_eq!(summary.kernels, usize::from(!machine.is_cpu()), "{machine}");
            assert!(summary.trace_seconds > 0.0 && !summary.cancelled, "{machine}");
        }
        if machine.is_cpu() {
            let tensor = trace(&tracer.engine(Engine::Tensor), &points(30)).summary;
            assert_eq!((tensor.engine, tensor.launches, tensor.kernels), (Engine::Tensor, 12, 0));
        }
    }
}

/// Launches are limited, so that observers are called regularly; on a software rasteriser the limit is
/// much lower.
#[test]
fn launches_have_at_most_about_a_thousand_steps() {
    for machine in machines().into_iter().filter(Machine::is_cpu) {
        let field = machine.field(&shear());
        let run = trace(&Tracer::new(&field).span(steps(0.0, 1.0, 3000)), &points(3));
        assert_eq!((run.summary.steps, run.summary.launches), (3000, 3), "{machine}");
    }
}

#[test]
fn analytic_fields_need_the_tensor_engine() {
    for machine in machines() {
        let field = formula(&machine);
        let tracer = Tracer::new(&field).span(steps(0.0, 1.0, 4));
        assert_eq!(trace(&tracer, &points(3)).summary.engine, Engine::Tensor, "{machine}");
        match tracer.engine(Engine::Fused).trace(&points(3)) {
            Err(error @ Error::Combination { .. }) => {
                assert!(error.to_string().contains("a field of your own"), "{error}");
            }
            other => panic!("{machine}: {other:?}"),
        }
        let grid = machine.field(&shear());
        let run = trace(&Tracer::new(&grid).span(steps(0.0, 1.0, 4)), &points(3));
        assert_eq!(run.summary.engine, Engine::Fused, "{machine}");
    }
}

/// Seeds that are released late, end, or are never released: each is counted once, and steps are counted
/// only while a particle is active.
#[test]
fn counts_and_particle_steps_add_up() {
    let seeds = vec![
        [0.0, 0.5, 0.0], // active to the end: 10 steps
        [0.9, 0.5, 0.0], // exits after a time of 0.2, in step 2 of 10, counted from 1
        [0.0, 0.1, 0.0], // released at 0.35, in step 4: 7 steps
        [0.0, 0.1, 0.0], // not released before the end
        [0.3, 0.0, 0.0], // at rest: stagnant in its first step
    ];
    let release = vec![0.0, 0.0, 0.35, 7.0, 0.0];
    let seeds = Seeds::list(seeds).unwrap().with_release(release).unwrap();
    for machine in machines() {
        let field = machine.field(&shear());
        let tracer = Tracer::new(&field).span(steps(0.0, 1.0, 10)).stagnant_speed(0.05);
        for &engine in machine.engines() {
            let run = trace(&tracer.clone().engine(engine), &seeds);
            let expected = [
                Status::Active,
                Status::Exited(Face::XHigh),
                Status::Active,
                Status::Waiting,
                Status::Stagnant,
            ];
            assert_eq!(run.status, expected, "{machine}, {engine}");
            let summary = &run.summary;
            assert_eq!((summary.released, summary.active(), summary.ended()), (4, 2, 2));
            let total: usize = summary.counts.iter().map(|(_, count)| count).sum();
            assert_eq!(total, summary.particles);
            // The exit is at the end of step 2; rounding may move it to the start of step 3.
            let steps = summary.particle_steps;
            assert!([20, 21].contains(&steps), "{machine}, {engine}: {steps}");
            assert!((run.end_time[1] - 0.2).abs() <= 8.0 * machine.eps(), "{machine}, {engine}");
            assert_eq!(run.end_time[4], 0.0, "{machine}, {engine}");
            let released = [0, 1, 2, 4].map(|i| run.release_time[i]);
            assert_eq!(released, [0.0, 0.0, 0.35, 0.0], "{machine}, {engine}");
            assert!(run.release_time[3].is_nan() && run.end_time[3].is_nan());
            assert_eq!(
                run.last()[3],
                [0.0, 0.1f32.into(), 0.0]
                    .map(|x: f64| { if machine.is_double() && x != 0.0 { 0.1 } else { x } })
            );
        }
    }
}

#[test]
fn particle_that_ends_between_two_reports_counts_for_half_of_their_steps() {
    // The second particle exits within the first five steps.
    let seeds = Seeds::list(vec![[0.0, 0.5, 0.0], [0.9, 0.5, 0.0]]).unwrap();
    for machine in machines() {
        let field = machine.field(&shear());
        let tracer = Tracer::new(&field).span(steps(0.0, 1.0, 10)).save(SaveAt::EverySteps(5));
        let (mut sink, mut found) = (RecordingSink::default(), Vec::new());
        let mut observer = |progress: Progress| {
            found.push(progress.particle_steps);
            Control::Continue
        };
        tracer.trace_into(&seeds, &mut sink, &mut observer).unwrap();
        assert_eq!(found, [0, 7, 12], "{machine}");
    }
}

#[test]
fn stagnation_depends_on_the_speed_along_all_axes() {
    let seeds = Seeds::list(vec![[0.5; 3]]).unwrap();
    for machine in machines() {
        for axis in 0..3 {
            let mut velocity = [0.0; 3];
            velocity[axis] = 0.125;
            let frames = Frames::uniform([0.0; 3], [1.0; 3], &[0.0], |_| velocity);
            let field = machine.field(&frames);
            for &engine in machine.engines() {
                let tracer = Tracer::new(&field).span(steps(0.0, 1.0, 2)).engine(engine);
                for (threshold, status) in [(0.0625, Status::Active), (0.25, Status::Stagnant)] {
                    let run = trace(&tracer.clone().stagnant_speed(threshold), &seeds);
                    assert_eq!(run.status, [status], "{machine}, {engine}, axis {axis}");
                }
            }
        }
    }
}
