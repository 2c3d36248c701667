//! Domain faces in uniform flow, where every trajectory is known in closed form.

use crate::common::*;
use burntrace::{
    BoundaryCondition, Domain, Error, Face, Field, FieldOptions, FrameSource, GridField,
    GridSource, PeriodicAxis, PeriodicGrid, Placement, SaveAt, Scheme, Seeds, SeedsOutside, Status,
    Tracer,
};
use std::f64::consts::TAU;

const LOW: [f64; 3] = [-1.0, 2.0, 0.5];
const HIGH: [f64; 3] = [2.0, 3.0, 1.0];
const WIDTH: [f64; 3] = [3.0, 1.0, 0.5];

fn uniform(machine: &Machine, velocity: [f64; 3]) -> GridField {
    machine.field(&Frames::uniform(LOW, HIGH, &[0.0], |_| velocity))
}

fn points(count: usize) -> Vec<[f64; 3]> {
    Dice(21).points(LOW, HIGH, count)
}

fn seeds(points: &[[f64; 3]]) -> Seeds {
    Seeds::list(points.to_vec()).unwrap()
}

/// Velocities and step counts for a run over a time of 1: within a box, across it in some steps, and across
/// several boxes in every step.
const FLOWS: [([f64; 3], u64); 3] =
    [([0.3, -0.2, 0.1], 8), ([-7.1, 2.3, 3.7], 16), ([31.0, -17.3, -8.9], 4)];

/// At most 16 steps, each of which rounds a position of up to 3 after a displacement of up to 31.
fn round_off(machine: &Machine) -> f64 {
    16.0 * 2.0 * 34.0 * machine.eps()
}

#[test]
fn unwrapped_periodic_tracks_are_free_trajectories() {
    let points = points(40);
    for machine in machines() {
        for (velocity, n) in FLOWS {
            let field = uniform(&machine, velocity);
            let tracer =
                Tracer::new(&field).all_faces(BoundaryCondition::Periodic).span(steps(0.0, 1.0, n));
            for &engine in machine.engines() {
                let tracks = tracer.clone().engine(engine).trace(&seeds(&points)).unwrap();
                let periods = tracks.periods();
                let run = read(&tracks);
                let free: Vec<[f64; 3]> =
                    points.iter().map(|p| std::array::from_fn(|d| p[d] + velocity[d])).collect();
                let deviation = distance(&run.unwrapped(periods), &free);
                assert_eq!(periods, WIDTH);
                assert_below(
                    &format!("{machine}, {engine}, {velocity:?}"),
                    deviation,
                    round_off(&machine),
                );
                assert!(run.last().iter().all(|p| is_inside(*p)), "{machine}, {engine}");
            }
        }
    }
}

fn is_inside(p: [f64; 3]) -> bool {
    (0..3).all(|d| LOW[d] <= p[d] && p[d] <= HIGH[d])
}

/// x' = L - |(x mod 2L) - L|.
fn triangle_wave(x: f64, d: usize) -> f64 {
    let width = WIDTH[d];
    LOW[d] + width - ((x - LOW[d]).rem_euclid(2.0 * width) - width).abs()
}

/// Reflection mirrors the position, not the velocity of the field, which sets the direction again in the
/// next step. So the triangle wave applies to a single step.
#[test]
fn reflected_positions_follow_the_triangle_wave() {
    let points = points(40);
    for machine in machines() {
        for (velocity, _) in FLOWS {
            let field = uniform(&machine, velocity);
            let tracer =
                Tracer::new(&field).all_faces(BoundaryCondition::Reflect).span(steps(0.0, 1.0, 1));
            for &engine in machine.engines() {
                let run = trace(&tracer.clone().engine(engine), &seeds(&points));
                let expected: Vec<[f64; 3]> = points
                    .iter()
                    .map(|p| std::array::from_fn(|d| triangle_wave(p[d] + velocity[d], d)))
                    .collect();
                let deviation = distance(run.last(), &expected);
                assert_below(
                    &format!("{machine}, {engine}, {velocity:?}"),
                    deviation,
                    round_off(&machine),
                );
                assert!(run.image.iter().all(|image| *image == [0; 3]));
            }
        }
    }
}

/// A particle on a face stays on it exactly, and moves along it.
#[test]
fn clamped_particles_move_along_their_face() {
    let points = points(40);
    for machine in machines() {
        let field = uniform(&machine, [0.4, -9.0, 5.0]);
        let tracer = Tracer::new(&field)
            .all_faces(BoundaryCondition::Clamp)
            .span(steps(0.0, 1.0, 8))
            .save(SaveAt::EverySteps(4));
        for &engine in machine.engines() {
            let run = trace(&tracer.clone().engine(engine), &seeds(&points));
            for save in &run.saves[1..] {
                let is_on_faces = |p: &[f64; 3]| p[1] == LOW[1] && p[2] == HIGH[2];
                assert!(save.iter().all(is_on_faces), "{machine}, {engine}: {save:?}");
            }
            let along: Vec<f64> = points.iter().map(|p| (p[0] + 0.4).min(HIGH[0])).collect();
            for (p, x) in run.last().iter().zip(along) {
                assert_below(
                    &format!("{machine}, {engine}"),
                    (p[0] - x).abs(),
                    round_off(&machine),
                );
            }
        }
    }
}

/// Time, face and position of exits, also near the corners, where the first face counts.
#[test]
fn exits_have_the_exact_face_position_and_time() {
    let points = points(60);
    for machine in machines() {
        for (velocity, n) in FLOWS {
            let field = uniform(&machine, velocity);
            let tracer = Tracer::new(&field).span(steps(0.0, 1.0, n));
            for &engine in machine.engines() {
                let run = trace(&tracer.clone().engine(engine), &seeds(&points));
                let what = format!("{machine}, {engine}, {velocity:?}");
                for (i, p) in points.iter().enumerate() {
                    check_exit(&what, &run, i, *p, velocity, round_off(&machine));
                }
                assert!(run.summary.ended() > 0, "{what}");
            }
        }
    }
}

fn check_exit(what: &str, run: &Run, i: usize, from: [f64; 3], velocity: [f64; 3], bound: f64) {
    let reach = |d: usize| match velocity[d] > 0.0 {
        true => (HIGH[d] - from[d]) / velocity[d],
        false => (LOW[d] - from[d]) / velocity[d],
    };
    let mut axes = [0, 1, 2];
    axes.sort_by(|a, b| reach(*a).total_cmp(&reach(*b)));
    let [d, ..] = axes;
    // The error of a time is the error of a position over the velocity.
    let bound_of_time = bound / velocity[d].abs();
    let found = run.last()[i];
    if reach(d) > 1.0 + bound_of_time {
        assert_eq!(run.status[i], Status::Active, "{what}");
        assert!(run.end_time[i].is_nan(), "{what}");
    } else if reach(d) < 1.0 - bound_of_time {
        let side = usize::from(velocity[d] > 0.0);
        assert_eq!(run.status[i], Status::Exited(Face::ALL[2 * d + side]), "{what}: {from:?}");
        assert_eq!(found[d], [LOW[d], HIGH[d]][side], "{what}: not exactly on the face");
        assert_below(what, (run.end_time[i] - reach(d)).abs(), bound_of_time);
        for other in 0..3 {
            let expected = from[other] + velocity[other] * reach(d);
            let bound = bound * (1.0 + (velocity[other] / velocity[d]).abs());
            assert_below(what, (found[other] - expected).abs(), bound);
        }
    }
}

/// A path through an edge of the box reaches both faces at the same time: the status names one, and the position
/// is on both.
#[test]
fn exit_through_an_edge_is_on_both_faces() {
    for machine in machines() {
        let field = uniform(&machine, [1.0, 1.0, 0.0]);
        let seeds = seeds(&[[1.0, 2.0, 0.75]]);
        let run = trace(&Tracer::new(&field).span(steps(0.0, 2.0, 3)), &seeds);
        assert_eq!(run.last(), [[2.0, 3.0, 0.75]], "{machine}");
        let faces = [Status::Exited(Face::XHigh), Status::Exited(Face::YHigh)];
        assert!(faces.contains(&run.status[0]), "{machine}: {:?}", run.status);
        assert_below(&machine.to_string(), (run.end_time[0] - 1.0).abs(), 4.0 * machine.eps());
    }
}

/// A seed on an inflow face is active; a seed on an outflow face exits immediately.
#[test]
fn seeds_on_a_face_are_inside_the_box() {
    for machine in machines() {
        let seeds = seeds(&[[LOW[0], 2.5, 0.75], [HIGH[0], 2.5, 0.75]]);
        let field = uniform(&machine, [0.5, 0.0, 0.0]);
        for &engine in machine.engines() {
            let tracer = Tracer::new(&field).span(steps(0.0, 1.0, 4)).engine(engine);
            let run = trace(&tracer, &seeds);
            let expected = [Status::Active, Status::Exited(Face::XHigh)];
            assert_eq!(run.status, expected, "{machine}, {engine}");
            assert_eq!(run.end_time[1], 0.0, "{machine}, {engine}");
            assert_eq!(run.last()[1], [HIGH[0], 2.5, 0.75], "{machine}, {engine}");
        }
    }
}

/// A reflected particle exits through the opposite face in the same step.
#[test]
fn reflected_particle_exits_through_the_opposite_face_in_one_step() {
    for machine in machines() {
        let field = uniform(&machine, [-8.0, 0.0, 0.0]);
        // 1 to the mirror at -1, and 3 to the exit at 2: after 4 of the 8.
        let seeds = seeds(&[[0.0, 2.5, 0.75]]);
        let tracer = Tracer::new(&field)
            .face(Face::XLow, BoundaryCondition::Reflect)
            .scheme(Scheme::Euler)
            .span(steps(0.0, 1.0, 1));
        for &engine in machine.engines() {
            let run = trace(&tracer.clone().engine(engine), &seeds);
            assert_eq!(run.status, [Status::Exited(Face::XHigh)], "{machine}, {engine}");
            assert_eq!(run.last(), [[2.0, 2.5, 0.75]], "{machine}, {engine}");
            assert_eq!(run.end_time, [0.5], "{machine}, {engine}");
        }
    }
}

/// Conditions on unbounded sides never apply.
#[test]
fn conditions_on_unbounded_sides_have_no_effect() {
    let (inf, start) = (f64::INFINITY, [0.5, 2.9, 0.75]);
    let velocity = [40.0, 0.3, -0.2];
    for machine in machines() {
        let field = uniform(&machine, velocity);
        for low in [LOW[0], -inf] {
            let domain = Domain { low: [low, 2.0, 0.5], high: [inf, 3.0, 1.0] };
            for condition in
                [BoundaryCondition::Reflect, BoundaryCondition::Clamp, BoundaryCondition::Exit]
            {
                let tracer = Tracer::new(&field)
                    .all_faces(BoundaryCondition::Reflect)
                    .face(Face::XLow, condition)
                    .face(Face::XHigh, condition)
                    .domain(domain)
                    .span(steps(0.0, 1.0, 1));
                for &engine in machine.engines() {
                    let run = trace(&tracer.clone().engine(engine), &seeds(&[start]));
                    let expected = [[40.5, 2.8, 0.55]];
                    let deviation = distance(run.last(), &expected);
                    let what = format!("{machine}, {engine}, {condition:?} from {low}");
                    assert_below(&what, deviation, round_off(&machine));
                }
            }
        }
    }
}

#[test]
fn seeds_outside_the_box_are_an_error_or_not_located() {
    let points = [[0.0, 2.5, 0.75], [0.0, 1.5, 0.75], [5.0, 2.5, 0.75]];
    for machine in machines() {
        let field = uniform(&machine, [0.1, 0.0, 0.0]);
        let tracer = Tracer::new(&field).span(steps(0.0, 1.0, 2));
        let error = tracer.trace(&seeds(&points)).unwrap_err().to_string();
        assert!(error.contains("2 of 3 seeds") && error.contains("number 1"), "{error}");
        let run = trace(&tracer.seeds_outside(SeedsOutside::NotLocated), &seeds(&points));
        assert_eq!(run.status, [Status::Active, Status::NotLocated, Status::NotLocated]);
        assert_eq!(run.last()[1..], points[1..], "{machine}");
        let summary = &run.summary;
        let counts = (summary.released, summary.active(), summary.ended(), summary.not_located());
        assert_eq!(counts, (1, 1, 0, 2));
    }
}

#[test]
fn single_periodic_face_is_rejected() {
    for machine in machines().into_iter().take(1) {
        let field = uniform(&machine, [0.1, 0.0, 0.0]);
        let tracer = Tracer::new(&field).span(steps(0.0, 1.0, 2));
        let error = tracer.face(Face::YHigh, BoundaryCondition::Periodic).trace(&seeds(&points(1)));
        let error = error.unwrap_err().to_string();
        assert!(error.contains("y-high") && error.contains("y-low"), "{error}");
    }
}

#[test]
fn domain_without_the_field_is_refused() {
    let machine = &machines()[0];
    let field = machine.field(&Frames::uniform([0.0; 3], [1.0; 3], &[0.0], |_| [1.0, 0.0, 0.0]));
    let seeds = Seeds::list(vec![[0.5; 3]]).unwrap();
    let of = |low: f64, high: f64| {
        let domain = Domain { low: [0.0, low, 0.0], high: [1.0, high, 1.0] };
        Tracer::new(&field).domain(domain).span(steps(0.0, 0.1, 1)).trace(&seeds)
    };
    assert!(of(-1.0, 2.0).is_ok());
    for (low, high) in [(1.5, 2.0), (-2.0, -0.5)] {
        let error = of(low, high).unwrap_err();
        assert!(matches!(error, Error::DomainApart { axis: 'y', .. }), "{error}");
    }
}

/// Data of a spectral simulation, 8 nodes without the repeated layer, are those of 9 nodes with it.
#[test]
fn closed_axes_are_those_of_a_repeated_layer() {
    let velocity = |[x, y, _]: [f64; 3], t: f64| {
        [1.0 + 0.5 * (TAU * x).sin(), 0.1 * (TAU * (y + t)).cos(), 0.0]
    };
    let axis = |nodes: usize| (0..nodes).map(|i| i as f64 / 8.0).collect::<Vec<_>>();
    let frames = |x: usize, y: usize| {
        let axes = [axis(x), axis(y), vec![0.0]];
        // Exactly periodic.
        let wrapped = |p: [f64; 3], t: f64| velocity(p.map(|x| x.fract()), t);
        Frames::new(axes, Placement::Nodes, &[0.0, 5.0], wrapped)
    };
    let closed = PeriodicAxis::Closed { period: None };
    let seeds = Seeds::list(vec![[0.1, 0.25, 0.0], [0.9375, 0.96875, 0.0]]).unwrap();
    for machine in machines() {
        let options = FieldOptions { precision: machine.precision, ..FieldOptions::default() };
        let grid = PeriodicGrid::new(frames(8, 8), [closed, closed, PeriodicAxis::Open]);
        let field = GridField::load(&mut grid.unwrap(), &machine.device, &options).unwrap();
        assert_eq!(field.domain().high, [1.0, 1.0, 0.0]);
        let repeated = machine.field(&frames(9, 9));
        let run = |field: &GridField, engine| {
            let tracer = Tracer::new(field).all_faces(BoundaryCondition::Periodic).engine(engine);
            trace(&tracer.span(steps(0.0, 5.0, 400)), &seeds).unwrapped([1.0, 1.0, 0.0])
        };
        for &engine in machine.engines() {
            let found = run(&field, engine);
            assert_eq!(found, run(&repeated, engine), "{machine}, {engine}");
            // Not 4.599, as with a period of 7 spacings.
            assert_below(&format!("{machine}, {engine}"), (found[0][0] - 4.624).abs(), 5e-4);
        }
    }
}

#[test]
fn axes_that_cannot_be_closed_are_refused() {
    let frames = |x: Vec<f64>, placement| {
        Frames::new([x, vec![0.0, 1.0], vec![0.0]], placement, &[0.0], |[x, ..], _| [x, 0.0, 0.0])
    };
    let uneven = || frames(vec![0.0, 1.0, 3.0], Placement::Nodes);
    let of = |frames: Frames, period| {
        let axes = [PeriodicAxis::Closed { period }, PeriodicAxis::Open, PeriodicAxis::Open];
        PeriodicGrid::new(frames, axes).map(|grid| grid.axes()[0].clone())
    };
    assert_eq!(of(uneven(), Some(4.5)).unwrap(), [0.0, 1.0, 3.0, 4.5]);
    for (frames, period, reason) in [
        (uneven(), None, "not evenly spaced"),
        (uneven(), Some(2.5), "before its last node"),
        (uneven(), Some(f64::NAN), "before its last node"),
        (frames(vec![0.0, 1.0], Placement::Nodes), None, "fewer than three nodes"),
        (frames(vec![0.0, 1.0, 2.0], Placement::Cells), None, "in cells"),
    ] {
        let error = of(frames, period).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
    // A layer that is said to be repeated, and is not.
    let axes = [PeriodicAxis::Repeated, PeriodicAxis::Open, PeriodicAxis::Open];
    let mut grid = PeriodicGrid::new(uneven(), axes).unwrap();
    let error = grid.read(0).unwrap_err().to_string();
    assert!(
        error.contains("differ by up to 3.000e0") && error.contains("periodic_axes"),
        "{error}"
    );
}
