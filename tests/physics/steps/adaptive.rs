//! Adaptive step sizes.

use crate::common::*;
use burntrace::{
    Analytic, BoundaryCondition, Domain, Engine, Face, Field, FieldFn, Flow, Formula, GridField,
    Inlet, InletShape, Pattern, Placement, RandomWalk, SaveAt, Scheme, Seeds, Span, Status,
    Tolerance, Tracer,
    burn::tensor::{Device, Tensor},
};
use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicUsize, Ordering},
};

fn adaptive<'a>(tracer: Tracer<'a>, tolerance: f64) -> Tracer<'a> {
    tracer.scheme(Scheme::DormandPrince).tolerance(Tolerance::new(tolerance, tolerance))
}

fn one(p: [f64; 3]) -> Seeds {
    Seeds::list(vec![p]).unwrap()
}

/// End points of `../shared/reference/analytic-flows.md`, from independent integrations.
#[test]
fn end_points_in_smooth_flows_match_the_reference() {
    let gyre =
        Flow::DoubleGyre { amplitude: 0.1, epsilon: 0.25, omega: std::f64::consts::TAU / 10.0 };
    let abc = Flow::Abc { a: 3.0_f64.sqrt(), b: 2.0_f64.sqrt(), c: 1.0 };
    let cases = [
        (gyre.clone(), 10.0, [0.5, 0.5, 0.0], [0.050550530572, 0.111020148786, 0.0]),
        (gyre.clone(), 10.0, [0.6, 0.3, 0.0], [0.331895097569, 0.017144215232, 0.0]),
        (gyre.clone(), 15.0, [0.5, 0.5, 0.0], [0.046712505867, 0.879384110424, 0.0]),
        (gyre, -10.0, [0.6, 0.3, 0.0], [0.639996127730, 0.059338950732, 0.0]),
        (abc, 5.0, [1.0, 2.0, 3.0], [-0.175385476457, 1.343436817806, 13.303238375398]),
    ];
    for machine in double_machines().into_iter().filter(Machine::is_cpu) {
        for (flow, t1, from, to) in &cases {
            let field = Analytic::new(flow.clone(), &machine.device, machine.precision);
            let span = Span { t0: Some(0.0), t1: Some(*t1), ..Span::default() };
            let tracer =
                adaptive(Tracer::new(&field), 1e-11).all_faces(BoundaryCondition::Periodic);
            let tracer = match flow {
                Flow::Abc { .. } => tracer,
                _ => tracer.all_faces(BoundaryCondition::Exit),
            };
            let tracks = tracer.span(span).trace(&one(*from)).unwrap();
            let run = read(&tracks);
            let error = distance(&run.unwrapped(tracks.periods()), &[*to]);
            assert_below(&format!("{machine}, {flow:?} to {t1}"), error, 1e-8);
        }
    }
}

/// Rotation at rate 1 about the centre: a linear flow, which is exact on a grid.
fn rotation(machine: &Machine) -> GridField {
    let axes = [even_axis(-2.0, 2.0, 7), even_axis(-2.0, 2.0, 5), even_axis(0.0, 1.0, 2)];
    machine.field(&Frames::new(axes, Placement::Nodes, &[0.0], |[x, y, _], _| [-y, x, 0.0]))
}

#[test]
fn error_is_proportional_to_the_tolerance() {
    let seeds = Seeds::list(vec![[1.0, 0.0, 0.5], [0.0, 0.3, 0.25], [-1.3, 0.4, 0.75]]).unwrap();
    let time: f64 = 5.0;
    let (sin, cos) = time.sin_cos();
    let rotated =
        seeds.positions().iter().map(|[x, y, z]| [cos * x - sin * y, sin * x + cos * y, *z]);
    let rotated: Vec<[f64; 3]> = rotated.collect();
    for machine in machines() {
        let field = rotation(&machine);
        let tolerances: &[f64] =
            if machine.is_double() { &[1e-4, 1e-6, 1e-8, 1e-10] } else { &[1e-3, 1e-4, 1e-5] };
        let mut last = 0;
        for &tolerance in tolerances {
            for &engine in machine.engines() {
                let tracer = adaptive(Tracer::new(&field), tolerance).engine(engine);
                let run = trace(&tracer.span(steps(0.0, time, 1)), &seeds);
                // The errors of ten to a hundred steps add up.
                let what = format!("{machine}, {engine}, {tolerance:e}");
                assert_below(&what, distance(run.last(), &rotated), 50.0 * tolerance);
                let [accepted, rejected] = run.summary.tries.unwrap();
                assert!(rejected > 0, "{what}: the first trial step is the whole run");
                assert!(accepted > 3 * 3, "{what}: {accepted}");
                if engine == Engine::Fused {
                    // Order 5: a hundred times the accuracy needs 2.5 times the steps.
                    assert!(accepted > last, "{what}: {accepted} after {last}");
                    last = accepted;
                }
            }
        }
    }
}

/// A wavy flow, linear only between nodes and frames, and tangential at the faces: the error estimate of a
/// step does not include the effect of a face.
fn wavy(machine: &Machine) -> GridField {
    let axes = [even_axis(0.0, 2.0, 9), even_axis(0.0, 1.0, 6), even_axis(0.0, 1.0, 5)];
    let frames = Frames::new(axes, Placement::Nodes, &[0.0, 1.0, 2.0, 4.0], |[x, y, z], t| {
        let (a, b) = (3.0 * x + t, 4.0 * y - 2.0 * t);
        let [u, v, w] = [0.3 * b.sin() * a.cos(), -0.2 * a.sin(), 0.2 * (5.0 * z + a).cos()];
        let still = |s: f64| (std::f64::consts::PI * s).sin();
        [u * still(0.5 * x), v * still(y), w * still(z)]
    });
    machine.field(&frames)
}

/// Single particles, so that both engines take the same steps.
#[test]
fn adaptive_steps_of_both_engines_agree() {
    for machine in machines() {
        let other = Machine { name: "flex".into(), device: Device::flex(), ..machine.clone() };
        let (fused, tensor) = (wavy(&machine), wavy(&other));
        for (i, p) in Dice(8).points([0.1; 3], [1.9, 0.9, 0.9], 6).into_iter().enumerate() {
            let release = 0.13 * i as f64;
            let seeds = one(p).release_at(release).unwrap();
            let run = |field, engine| {
                let tracer = adaptive(Tracer::new(field), 1e-4).engine(engine);
                trace(
                    &tracer.all_faces(BoundaryCondition::Reflect).span(span(0.0, 4.0, 0.7)),
                    &seeds,
                )
            };
            let [a, b] = [run(&fused, Engine::Fused), run(&tensor, Engine::Tensor)];
            let what = format!("{machine}, {p:?}");
            // Step-size control (a fifth root) amplifies rounding more than the step itself.
            let bound = if machine.is_double() { 1e-9 } else { 1e-5 };
            assert_below(&what, distance(a.last(), b.last()), bound);
            assert_eq!(a.summary.tries, b.summary.tries, "{what}");
        }
    }
}

/// An accelerating rotation with a vertical component in a grid of one cell, without kinks: at a kink,
/// rounding of a step length changes the error estimate.
fn accelerating(machine: &Machine) -> GridField {
    let axes = [even_axis(0.0, 2.0, 1), even_axis(0.0, 1.0, 1), even_axis(0.0, 1.0, 1)];
    let frames = Frames::new(axes, Placement::Nodes, &[0.0, 4.0], |[x, y, z], t| {
        let (x, y, rate) = (x - 1.0, 2.0 * y - 1.0, 1.0 + 2.0 * t);
        [-rate * y, 0.5 * rate * x, x * y * (0.5 - z)]
    });
    machine.field(&frames)
}

/// Many particles at once, with releases and saves between their steps.
#[test]
fn particles_take_their_own_steps_on_both_engines() {
    let points = Dice(9).points([0.5, 0.25, 0.2], [1.5, 0.75, 0.8], 12);
    let release: Vec<f64> = (0..12).map(|i| 0.13 * (i % 4) as f64).collect();
    for machine in double_machines().into_iter().filter(Machine::is_cpu) {
        let field = accelerating(&machine);
        let run = |engine, i: std::ops::Range<usize>| {
            let seeds = Seeds::list(points[i.clone()].to_vec()).unwrap();
            let tracer = adaptive(Tracer::new(&field), 1e-7).engine(engine);
            let tracer = tracer.all_faces(BoundaryCondition::Reflect).span(span(0.0, 4.0, 0.7));
            let tracer = tracer.save(SaveAt::Times(vec![0.5, 1.9, 4.0]));
            trace(&tracer, &seeds.with_release(release[i].to_vec()).unwrap())
        };
        let together = [Engine::Fused, Engine::Tensor].map(|engine| run(engine, 0..12));
        let (mut tries, mut different) = ([[0; 2]; 2], BTreeSet::new());
        for i in 0..12 {
            let alone = [Engine::Fused, Engine::Tensor].map(|engine| run(engine, i..i + 1));
            let what = format!("{machine}, particle {i}");
            for (k, alone) in alone.iter().enumerate() {
                assert_eq!(alone.last()[0], together[k].last()[i], "{what}, engine {k}");
                let found = alone.summary.tries.unwrap();
                tries[k] = [tries[k][0] + found[0], tries[k][1] + found[1]];
            }
            assert_eq!(alone[0].summary.tries, alone[1].summary.tries, "{what}");
            different.insert(alone[0].summary.tries);
            assert_below(&what, distance(alone[0].last(), alone[1].last()), 1e-12);
        }
        assert_eq!(tries.map(Some), together.map(|run| run.summary.tries), "{machine}");
        assert!(tries[0][1] > 12 && different.len() > 6, "{machine}: {tries:?}, {different:?}");
    }
}

/// One by one, by rows of equal times, or in one call.
#[test]
fn fields_asked_at_many_times_give_the_same_tracks() {
    for machine in double_machines().into_iter().filter(Machine::is_cpu) {
        for (name, tolerance) in [("double-gyre", 1e-8), ("decaying-eddy", 1e-4)] {
            let flow = Flow::named(name).unwrap();
            let seeds = Seeds::list(Dice(10).points([0.3, 0.2, 0.0], [1.7, 0.8, 0.0], 6)).unwrap();
            let exact = Analytic::new(flow.clone(), &machine.device, machine.precision);
            let exact = exact.with_domain(Domain::unbounded());
            let closure = |p, t| flow.velocity(p, t);
            let (device, precision) = (&machine.device, machine.precision);
            let grouped = FieldFn::new(Domain::unbounded(), device, precision, closure);
            let run = |field, seeds: &Seeds| {
                trace(&adaptive(Tracer::new(field), tolerance).span(steps(0.0, 6.0, 3)), seeds)
            };
            let [exact, grouped] = [run(&exact, &seeds), run(&grouped, &seeds)];
            assert_eq!(exact.summary.tries, grouped.summary.tries, "{machine}, {name}");
            let deviation = distance(exact.last(), grouped.last());
            assert_below(&format!("{machine}, {name}"), deviation, 1e-12);
        }
    }
}

#[test]
fn steady_field_is_called_less_often_for_the_same_tracks() {
    let machine = &double_machines()[0];
    let calls = AtomicUsize::new(0);
    let velocity = |p: Tensor<2>, _| {
        calls.fetch_add(1, Ordering::Relaxed);
        let [x, y] = [0, 1].map(|d| p.clone().narrow(1, d, 1));
        Tensor::cat(vec![y.clone() * x.clone().cos(), y.zeros_like(), y.zeros_like()], 1)
    };
    let field = FieldFn::new(Domain::unbounded(), &machine.device, machine.precision, velocity);
    let seeds = Seeds::list(vec![[0.0, 1.0, 0.0], [0.0, 30.0, 0.0]]).unwrap();
    let count = |field: &dyn Field| {
        calls.store(0, Ordering::Relaxed);
        let tracer = adaptive(Tracer::new(field), 1e-8).span(steps(0.0, 1.0, 1));
        let run = trace(&tracer, &seeds);
        (calls.load(Ordering::Relaxed), run.last().to_vec(), run.summary.tries)
    };
    let (many, last, tries) = count(&field);
    let (few, same, again) = count(&field.steady());
    assert_eq!((last, tries), (same, again));
    assert!(few < many, "{few}, {many}");
}

/// Against RK4 with very short steps, on a field with kinks.
#[test]
fn kinks_reduce_step_size_but_not_accuracy() {
    let seeds = Seeds::uniform([0.1; 3], [1.9, 0.9, 0.9], 200, 5).unwrap();
    // At a kink the error of an RK4 step is the square of its length, 4e-10.
    let flex = double_machines().swap_remove(0);
    let field = wavy(&flex);
    let tracer = Tracer::new(&field).all_faces(BoundaryCondition::Reflect);
    let exact = trace(&tracer.span(steps(0.0, 4.0, 200_000)), &seeds);
    for machine in machines() {
        let tolerance = if machine.is_double() { 1e-8 } else { 1e-5 };
        let field = wavy(&machine);
        let tracer = adaptive(Tracer::new(&field), tolerance).all_faces(BoundaryCondition::Reflect);
        let run = trace(&tracer.span(steps(0.0, 4.0, 20)), &seeds);
        let per_particle = run.summary.tries.unwrap()[0] as f64 / 200.0;
        let min_steps = if machine.is_double() { 30.0 } else { 20.0 };
        assert!(per_particle >= min_steps, "{machine}: {per_particle}");
        // The error estimate is too small for steps across a kink. The median error is about twice the sum
        // of the tolerances of all steps in double precision; the flow amplifies the errors of some
        // particles.
        let pairs = run.last().iter().zip(exact.last());
        let mut errors: Vec<f64> = pairs.map(|(a, b)| distance(&[*a], &[*b])).collect();
        errors.sort_by(f64::total_cmp);
        let allowed = per_particle * tolerance;
        assert_below(&format!("{machine}, median"), errors[100], 4.0 * allowed);
        assert_below(&format!("{machine}, worst"), errors[199], 100.0 * allowed);
        let back = adaptive(Tracer::new(&field), tolerance).all_faces(BoundaryCondition::Reflect);
        let back = back.span(steps(4.0, 0.0, 20));
        let returned = trace(&back, &Seeds::list(run.last().to_vec()).unwrap());
        let pairs = returned.last().iter().zip(seeds.positions());
        let mut errors: Vec<f64> = pairs.map(|(a, b)| distance(&[*a], &[*b])).collect();
        errors.sort_by(f64::total_cmp);
        assert_below(&format!("{machine}, back"), errors[100], 8.0 * allowed);
    }
}

#[test]
fn end_and_residence_times_in_uniform_flow_are_exact() {
    for machine in some_machines() {
        let low = [0.0; 3];
        let high = [2.0, 1.0, 1.0];
        let field = machine.field(&Frames::uniform(low, high, &[0.0], |_| [0.3, 0.0, 0.0]));
        let tracer = adaptive(Tracer::new(&field), 1e-6).span(steps(0.0, 30.0, 3));
        let run = trace(&tracer, &one([0.5, 0.5, 0.5]));
        assert_eq!(run.status[0], Status::Exited(Face::XHigh), "{machine}");
        assert_below(&format!("{machine}"), (run.end_time[0] - 5.0).abs(), 60.0 * machine.eps());
        let inlet = Inlet::new(InletShape::Face(Face::XLow), Pattern::Lattice).unwrap();
        let tracks = tracer.outlet(Face::XHigh, inlet).trace(&one([0.5, 0.5, 0.5])).unwrap();
        let instances = tracks.instances();
        assert_eq!(instances.len(), 5, "{machine}: {instances:?}");
        for instance in &instances[1..4] {
            let deviation = (instance.residence_time() - 2.0 / 0.3).abs();
            assert_below(&format!("{machine}, {instance:?}"), deviation, 200.0 * machine.eps());
        }
    }
}

#[test]
fn errors_name_the_invalid_option() {
    let machine = &machines()[0];
    let field = rotation(machine);
    let message = |tracer: Tracer| {
        let tracer = tracer.span(steps(0.0, 1.0, 1));
        tracer.trace(&one([0.0, 0.0, 0.5])).unwrap_err().to_string()
    };
    let rk4 = Tracer::new(&field).tolerance(Tolerance::new(1e-3, 1e-3));
    assert!(message(rk4).contains("`dormand-prince` (`rk4`): it does not estimate its error"));
    for bad in [-1.0, f64::NAN, 1e300] {
        let message = message(adaptive(Tracer::new(&field), bad));
        assert!(message.contains(&format!("they are {bad}")), "{message}");
    }
    let walk = adaptive(Tracer::new(&field), 1e-3).random_walk(RandomWalk::isotropic(1.0, 1));
    assert!(message(walk).contains("random walk"));
    let reversed = Tolerance::new(1e-3, 1e-3).steps_between(2.0, 1.0);
    let reversed = adaptive(Tracer::new(&field), 1e-3).tolerance(reversed);
    assert!(message(reversed).contains("limits are 2 and 1"));
}

/// The flow into a sink grows beyond bounds: the last steps would be shorter than the time can resolve.
#[test]
fn particles_whose_steps_become_too_short_end_where_they_are() {
    let unit = Domain::new([-1.0, -1.0, 0.0], [1.0, 1.0, 0.0]).unwrap();
    let sink = Formula::parse(["-x/(x*x+y*y)", "-y/(x*x+y*y)", "0"], &[]).unwrap();
    let rotation = Formula::parse(["-y", "x", "0"], &[]).unwrap();
    for machine in machines().into_iter().filter(|m| m.is_cpu() || !m.is_double()) {
        let field = |flow: &Formula| {
            let field =
                Analytic::new(Flow::Formula(flow.clone()), &machine.device, machine.precision);
            field.with_domain(unit)
        };
        let (sink, rotation) = (field(&sink), field(&rotation));
        // It reaches the sink at 0.5 r^2.
        let cases = [
            (&sink, Tolerance::new(1e-6, 0.0), 0.02),
            (&rotation, Tolerance::new(0.0, 1e-300), 0.0),
        ];
        for (field, tolerance, until) in cases {
            for &engine in machine.engines() {
                // Below the range of single precision, a tolerance is 0.
                if engine == Engine::Tensor && machine.is_double() {
                    continue;
                }
                let tracer = Tracer::new(field).engine(engine).scheme(Scheme::DormandPrince);
                let run = trace(
                    &tracer.tolerance(tolerance).span(steps(0.0, 2.0, 4)),
                    &one([0.2, 0.0, 0.0]),
                );
                let what = format!("{machine}, {engine}, {tolerance:?}");
                assert_eq!(run.status, [Status::StepTooSmall], "{what}");
                assert!(run.last()[0].iter().all(|x| x.is_finite()), "{what}");
                assert!((run.end_time[0] - until).abs() < 1e-3, "{what}");
            }
        }
    }
}

#[test]
fn maximum_step_that_needs_too_many_steps_is_refused() {
    let field = rotation(&machines()[0]);
    let tolerance = Tolerance::new(1e-3, 1e-3).steps_between(0.0, 1e-17);
    let tracer = adaptive(Tracer::new(&field), 1e-3).tolerance(tolerance).span(steps(0.0, 1.0, 1));
    let error = tracer.trace(&one([0.0, 0.0, 0.5])).unwrap_err().to_string();
    assert!(
        error.contains("maximum step is 0.00000000000000001") && error.contains("give 0.0001"),
        "{error}"
    );
}

/// Without an absolute tolerance, a coordinate of 0 has a tolerance of 0, which no motion meets.
#[test]
fn relative_tolerance_alone_accepts_particles_on_a_coordinate_plane() {
    for machine in machines() {
        let axes = [even_axis(1.0, 2.0, 2), even_axis(0.0, 1.0, 2), vec![0.0]];
        let velocity = |_: [f64; 3], _: f64| [0.1, 0.0, 0.0];
        let field = machine.field(&Frames::new(axes, Placement::Nodes, &[0.0], velocity));
        for &engine in machine.engines() {
            let tracer = Tracer::new(&field).engine(engine).scheme(Scheme::DormandPrince);
            let tracer = tracer.tolerance(Tolerance::new(1e-5, 0.0)).span(steps(0.0, 1.0, 4));
            let run = trace(&tracer, &one([1.25, 0.0, 0.0]));
            let what = format!("{machine}, {engine}");
            assert_eq!(run.summary.tries, Some([4, 0]), "{what}");
            assert_below(&what, distance(run.last(), &[[1.35, 0.0, 0.0]]), 4.0 * machine.eps());
        }
    }
}
