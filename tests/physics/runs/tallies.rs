//! Tallies: what adds up along tracks, where it is known in closed form or from saves of every step, and the ends by conditions.

use super::resume::assert_resumes;
use crate::{
    common::*,
    fields::arrays::{Laden, positions},
    meshes::{MeshFrames, mixed},
    recorded::run,
};
use burntrace::{
    BoundaryCondition, CellVelocity, Derived, EARTH_RADIUS, Engine, Error, Face, Field,
    FieldOptions, Gate, GateShape, GridField, Inlet, InletShape, MeshField, Pattern, Placement,
    RandomWalk, Save, SaveAt, Scheme, Seeds, Source, Status, StopCondition, Tally, Tolerance,
    Tracer, Tracks, WithDerived,
};

fn tally(text: &str) -> Tally {
    text.parse().unwrap()
}

fn condition(text: &str) -> StopCondition {
    text.parse().unwrap()
}

fn axes() -> [Vec<f64>; 3] {
    [even_axis(0.0, 2.0, 8), stretched_axis(0.0, 1.0, 5), even_axis(0.0, 1.0, 3)]
}

/// A field with an array `T`, on a grid.
fn laden(
    machine: &Machine,
    times: &[f64],
    velocity: fn([f64; 3], f64) -> [f64; 3],
    array: fn([f64; 3], f64, usize) -> f64,
) -> GridField {
    let frames = Frames::new(axes(), Placement::Nodes, times, velocity);
    let places = positions(&axes(), Placement::Nodes);
    let mut source = Laden::new(frames, &places, &[("T", 1, array)]);
    let options = FieldOptions { precision: machine.precision, ..FieldOptions::default() };
    GridField::load(&mut source, &machine.device, &options).unwrap()
}

/// The numbers `[saves, n]` of a saved tally.
fn saved(tracks: &Tracks, name: &str) -> Vec<f64> {
    floats(tracks.array(name).unwrap())
}

/// Strain, age and path in a shear flow, with releases within steps and ends at a face.
#[test]
fn strain_in_shear_is_the_shear_rate_times_the_age() {
    let release = [0.0, 0.0, 0.13, 0.5, 0.71, 0.9];
    for machine in machines() {
        let frames =
            Frames::new(axes(), Placement::Nodes, &[0.0], |[_, y, _], _| [1.7 * y, 0.0, 0.0]);
        let derived = WithDerived::on_grid(frames, &[Derived::ShearRate], None).unwrap();
        let options = FieldOptions { precision: machine.precision, ..FieldOptions::default() };
        let field = GridField::load(&mut { derived }, &machine.device, &options).unwrap();
        let points: Vec<[f64; 3]> =
            (0..6).map(|i| [0.1 + 0.35 * f64::from(i), 0.15 * f64::from(i) + 0.2, 0.4]).collect();
        let seeds = Seeds::list(points.clone()).unwrap().with_release(release.to_vec()).unwrap();
        for n in [1, 7, 40] {
            let tracer = Tracer::new(&field)
                .span(steps(0.0, 1.0, n))
                .tally("strain", tally("integral(shear_rate)"))
                .tally("age", Tally::Age)
                .tally("path", Tally::PathLength)
                .tally("way", tally("integral(speed)"));
            for &engine in machine.engines() {
                let tracks = tracer.clone().engine(engine).trace(&seeds).unwrap();
                let all = ["strain", "age", "path", "way"].map(|name| saved(&tracks, name));
                let mut ended = 0;
                for (i, point) in points.iter().enumerate() {
                    let end = tracks.ends().end_time[i];
                    ended += usize::from(!end.is_nan());
                    let age = if end.is_nan() { 1.0 } else { end } - release[i];
                    let u = 1.7 * point[1];
                    let name = format!("{machine}, {engine}, {n} steps, particle {i}");
                    let expected = [1.7 * age, age, u * age, u * age];
                    for (all, expected) in all.iter().zip(expected) {
                        let eps = 100.0 * machine.eps();
                        assert_below(
                            &format!("{name}: {all:?} {expected}"),
                            (all[i] - expected).abs(),
                            eps,
                        );
                    }
                }
                assert!(ended > 0, "none leaves");
            }
        }
    }
}

/// A quantity that is linear along the track: its integral, extremes and times are exact for any steps.
#[test]
fn linear_quantity_has_exact_tallies() {
    for machine in machines() {
        let field = laden(
            &machine,
            &[0.0, 0.4, 1.0],
            |_, _| [1.2, 0.3, -0.2],
            |[x, y, _], t, _| 3.0 * x - y - 5.0 * t,
        );
        let (seeds, at) = (Seeds::list(vec![[0.1, 0.2, 0.9]]).unwrap(), 0.1);
        // T is 0.1 at the start and changes by 3 * 1.2 - 0.3 - 5 = -1.7 in a unit of time.
        let names = [
            "integral(T)",
            "maximum(T)",
            "minimum(T)",
            "time_above(T, -0.5)",
            "time_below(T, -0.5)",
        ];
        let above = 0.6 / 1.7;
        let expected = [at - 0.85, at, at - 1.7, above, 1.0 - above];
        for n in [1, 6, 23] {
            for &engine in machine.engines() {
                let mut tracer = Tracer::new(&field)
                    .span(steps(0.0, 1.0, n))
                    .engine(engine)
                    .save(SaveAt::Times(vec![0.0, 1.0]));
                for name in names {
                    tracer = tracer.tally(name, tally(name));
                }
                let tracks = tracer.trace(&seeds).unwrap();
                for (name, expected) in names.into_iter().zip(expected) {
                    let found = saved(&tracks, name);
                    let what =
                        format!("{machine}, {engine}, {n} steps, {name}: {found:?} {expected}");
                    assert_below(&what, (found[1] - expected).abs(), 60.0 * machine.eps());
                    // At the release.
                    let start = if name.contains("mum") { at } else { 0.0 };
                    assert_below(&what, (found[0] - start).abs(), 60.0 * machine.eps());
                }
            }
        }
    }
}

/// Tallies of each step, from what saves of each step have.
fn check_by_saves(name: &str, tracer: &Tracer, seeds: &Seeds, field: &dyn Field, bound: f64) {
    let tracer = tracer
        .clone()
        .save(SaveAt::EverySteps(1))
        .sample("T", field)
        .tally("sum", tally("integral(T)"))
        .tally("highest", tally("maximum(T)"))
        .tally("path", Tally::PathLength);
    let tracks = tracer.trace(seeds).unwrap();
    let (count, times) = (seeds.positions().len(), tracks.times());
    let saves = times.len();
    let [t, sum, highest, path] = ["T", "sum", "highest", "path"].map(|name| saved(&tracks, name));
    let periods = tracks.periods();
    let unwrapped = |save: &Save| {
        let (position, image) = (floats(save.position.clone()), integers(save.image.clone()));
        let both = position.into_iter().zip(image).enumerate();
        both.map(|(k, (x, image))| x + image as f64 * periods[k % 3]).collect::<Vec<f64>>()
    };
    let positions: Vec<f64> = tracks.saves().iter().flat_map(unwrapped).collect();
    for i in 0..count {
        let (mut of_t, mut longest, mut top) = (0.0, 0.0, t[i]);
        for k in 1..saves {
            let (a, b) = (count * (k - 1) + i, count * k + i);
            let step = times[k] - times[k - 1];
            of_t += 0.5 * (t[a] + t[b]) * step.abs();
            let square: f64 =
                (0..3).map(|d| (positions[3 * b + d] - positions[3 * a + d]).powi(2)).sum();
            longest += square.sqrt();
            top = top.max(t[b]);
            for (found, expected) in [(sum[b], of_t), (highest[b], top), (path[b], longest)] {
                let what = format!("{name}, particle {i}, save {k}: {found} {expected}");
                assert_below(&what, (found - expected).abs(), bound);
            }
        }
    }
}

/// On grids and meshes, through periodic and reflecting faces, forward and backward, with every scheme.
#[test]
fn tallies_are_sums_over_steps() {
    let velocity = |[x, y, z]: [f64; 3], t: f64| {
        [0.9 + 0.3 * (3.0 * y).sin(), 0.4 * (2.0 * x).cos() - 0.2 * t, 0.3 * (x - y) + 0.1 * z]
    };
    let points = Dice(8).points([0.2, 0.2, 0.2], [1.8, 0.8, 0.8], 30);
    let seeds = Seeds::list(points).unwrap();
    for machine in machines() {
        let field = laden(&machine, &[0.0, 0.7, 1.5], velocity, |[x, y, z], t, _| {
            (2.0 * x).sin() + y * z - t
        });
        for (condition, dt) in [
            (BoundaryCondition::Periodic, 0.1),
            (BoundaryCondition::Reflect, -0.1),
            (BoundaryCondition::Slide, 0.1),
        ] {
            for scheme in [Scheme::Rk4, Scheme::Euler, Scheme::DormandPrince] {
                let (t0, t1) = if dt > 0.0 { (0.0, 1.5) } else { (1.5, 0.0) };
                let tracer =
                    Tracer::new(&field).span(span(t0, t1, dt)).scheme(scheme).all_faces(condition);
                for &engine in machine.engines() {
                    let name = format!("{machine}, {engine}, {condition:?}, {scheme:?}");
                    let bound = 2000.0 * machine.eps();
                    check_by_saves(&name, &tracer.clone().engine(engine), &seeds, &field, bound);
                }
                if !machine.is_cpu() {
                    break;
                }
            }
        }
    }
}

#[test]
fn tallies_are_sums_over_steps_on_meshes() {
    let made = mixed(3);
    let velocity = |[x, y, z]: [f64; 3], t: f64| [0.4 - y, x - 0.5 + 0.1 * t, 0.1 * (0.5 - z)];
    let places: Vec<[f64; 3]> = made.points.clone();
    let seeds = Seeds::list(Dice(4).points([0.3; 3], [0.7; 3], 20)).unwrap();
    for machine in machines() {
        let frames = MeshFrames::new(&made, &[0.0, 1.0], velocity);
        let mut source = Laden::new(frames, &places, &[("T", 1, |[x, y, _], t, _| x * y + t)]);
        let options = FieldOptions { precision: machine.precision, ..FieldOptions::default() };
        let field = MeshField::load(&mut source, &machine.device, &options, CellVelocity::Constant)
            .unwrap();
        let tracer = Tracer::new(&field).span(steps(0.0, 1.0, 12));
        for &engine in machine.engines() {
            let name = format!("{machine}, {engine}");
            let bound = 2000.0 * machine.eps();
            check_by_saves(&name, &tracer.clone().engine(engine), &seeds, &field, bound);
        }
    }
}

/// Adaptive parts of steps count one by one: the speed on an orbit is constant.
#[test]
fn adaptive_parts_of_steps_add_up() {
    for machine in machines().into_iter().filter(Machine::is_cpu) {
        let frames =
            Frames::new(axes(), Placement::Nodes, &[0.0], |[x, y, _], _| [0.5 - y, x - 1.0, 0.0]);
        let field = machine.field(&frames);
        let tracer = Tracer::new(&field)
            .span(steps(0.0, 9.0, 2))
            .scheme(Scheme::DormandPrince)
            .tolerance(Tolerance::new(1e-5, 1e-5))
            .tally("way", tally("integral(speed)"))
            .tally("path", Tally::PathLength)
            .tally("age", Tally::Age);
        let seeds = Seeds::list(vec![[1.3, 0.5, 0.5], [1.0, 0.1, 0.5]]).unwrap();
        let tracks = tracer.trace(&seeds).unwrap();
        for (i, radius) in [0.3, 0.4].into_iter().enumerate() {
            let [way, path, age] = ["way", "path", "age"].map(|name| saved(&tracks, name)[i]);
            assert_below(&format!("{machine}: {way}"), (way - 9.0 * radius).abs(), 2e-3);
            // Chords are shorter than arcs, by a part of the square of their angle.
            assert!(path < way && path > 0.97 * way, "{machine}: {path} {way}");
            assert_below("age", (age - 9.0).abs(), 50.0 * machine.eps());
        }
        let refused = tracer.clone().engine(Engine::Tensor).trace(&seeds).map(drop).unwrap_err();
        assert!(matches!(refused, Error::Combination { .. }), "{refused}");
    }
}

/// A sphere has lengths in metres.
#[test]
fn path_on_the_earth_is_in_metres() {
    for machine in machines() {
        let axes = [even_axis(0.0, 20.0, 40), even_axis(50.0, 60.0, 20), vec![0.0]];
        let frames = Frames::new(axes, Placement::Nodes, &[0.0], |_, _| [2.0, 0.0, 0.0]);
        let field = machine
            .load(&frames, FieldOptions { radius: Some(EARTH_RADIUS), ..Default::default() });
        let seeds = Seeds::list(vec![[3.0, 55.0, 0.0]]).unwrap();
        let tracer = Tracer::new(&field)
            .span(steps(0.0, 36_000.0, 20))
            .tally("path", Tally::PathLength)
            .tally("way", tally("integral(speed)"));
        let tracks = tracer.trace(&seeds).unwrap();
        for name in ["path", "way"] {
            let found = saved(&tracks, name)[0];
            // Vectors in space that are interpolated over half a degree are shorter by 6e-6.
            let bound = 72_000.0 * (1e-5 + 200.0 * machine.eps());
            assert_below(&format!("{machine}, {name}: {found}"), (found - 72_000.0).abs(), bound);
        }
    }
}

/// Conditions end particles where and when they are met, and nothing after that counts.
#[test]
fn conditions_end_particles_at_their_time() {
    for machine in machines() {
        let field = laden(&machine, &[0.0, 1.0], |_, _| [1.2, 0.0, 0.0], |[x, ..], _, _| 100.0 * x);
        let points = vec![[0.1, 0.5, 0.5], [0.6, 0.5, 0.5], [1.9, 0.5, 0.5], [0.3, 0.2, 0.5]];
        let seeds = Seeds::list(points).unwrap().with_release(vec![0.0, 0.0, 0.0, 0.45]).unwrap();
        for n in [1, 9, 64] {
            let tracer = Tracer::new(&field)
                .span(steps(0.0, 1.0, n))
                .stop_when(condition("age > 0.7"))
                .stop_when(condition("T > 120"))
                .tally("dose", tally("integral(T)"))
                .gate(Gate::new("late", GateShape::plane([1.21, 0.0, 0.0], [1.0, 0.0, 0.0])))
                .gate(Gate::new("early", GateShape::plane([0.7, 0.0, 0.0], [1.0, 0.0, 0.0])));
            for &engine in machine.engines() {
                let name = format!("{machine}, {engine}, {n} steps");
                let tracks = tracer.clone().engine(engine).trace(&seeds).unwrap();
                // By age; by the array after 0.5; at once, beyond it; and not at all.
                let status = [Status::Stopped, Status::Stopped, Status::Stopped, Status::Active];
                assert_eq!(tracks.ends().status, status, "{name}");
                let ends = &tracks.ends().end_time;
                let last = read(&tracks).last().to_vec();
                let eps = 60.0 * machine.eps();
                for (i, (time, x)) in [(0.7, 0.94), (0.5, 1.2), (0.0, 1.9)].into_iter().enumerate()
                {
                    assert_below(&format!("{name}: {ends:?}"), (ends[i] - time).abs(), eps);
                    assert_below(&format!("{name}: {last:?}"), (last[i][0] - x).abs(), eps);
                }
                let dose = saved(&tracks, "dose");
                for (i, expected) in [(0, 0.5 * (10.0 + 94.0) * 0.7), (1, 45.0), (2, 0.0)] {
                    assert_below(
                        &format!("{name}: {dose:?}"),
                        (dose[i] - expected).abs(),
                        400.0 * eps,
                    );
                }
                let mut crossed: Vec<(usize, usize)> =
                    tracks.crossings().iter().map(|of| (of.gate, of.slot)).collect();
                crossed.sort_unstable();
                assert_eq!(crossed, [(1, 0), (1, 1), (1, 3)], "{name}");
                let counted = tracks.summary().unwrap().counts.clone();
                assert!(counted.contains(&(Status::Stopped, 3)), "{name}");
            }
        }
    }
}

/// In slots that are re-used, each particle has tallies of its own, and a condition makes room for the next one.
#[test]
fn particles_of_a_source_have_tallies_of_their_own() {
    for machine in machines().into_iter().filter(Machine::is_cpu) {
        let field = laden(&machine, &[0.0], |[_, y, _], _| [1.0 + y, 0.0, 0.0], |[x, ..], _, _| x);
        let inlet = || {
            let origin = [0.0, 0.1, 0.1];
            let (edge1, edge2) = ([0.0, 0.8, 0.0], [0.0, 0.0, 0.8]);
            let shape = InletShape::Rectangle { origin, edge1, edge2 };
            Inlet::new(shape, Pattern::Uniform).unwrap()
        };
        for bound in [0.37, 5.0] {
            let source = Source::constant(inlet(), 50.0, 30).unwrap();
            let tracer = Tracer::new(&field)
                .span(steps(0.0, 4.0, 31))
                .source(source)
                .stop_when(condition(&format!("age > {bound}")))
                .tally("age", Tally::Age)
                .tally("path", Tally::PathLength)
                .tally("x", tally("integral(T)"))
                .save(SaveAt::EverySteps(3));
            let none = Seeds::none();
            let (record, summary) = run(&tracer, &none);
            assert!(record.instances.len() > 60, "{} instances", record.instances.len());
            let stopped: Vec<_> =
                record.instances.iter().filter(|of| of.status == Status::Stopped).collect();
            let counted = summary.counts.iter().find(|(status, _)| *status == Status::Stopped);
            assert_eq!(stopped.len(), counted.map_or(0, |(_, count)| *count));
            assert_eq!(stopped.len() > 50, bound < 1.0);
            for of in stopped {
                let eps = 100.0 * machine.eps();
                assert_below(
                    &format!("{machine}: {of:?}"),
                    (of.residence_time() - bound).abs(),
                    eps,
                );
            }
            // At a save, the ages, paths and integrals of those in flight.
            let tracks = tracer.trace(&none).unwrap();
            let count = 30;
            let all = ["age", "path", "x"].map(|name| saved(&tracks, name));
            let generation = |save: &Save| integers(save.generation.clone().unwrap());
            let generations: Vec<i64> = tracks.saves().iter().flat_map(generation).collect();
            let (positions, mut checked) = (floats(tracks.positions()), 0);
            for (k, time) in tracks.times().iter().enumerate() {
                for slot in 0..count {
                    let at = count * k + slot;
                    let own = record.instances.iter().find(|of| {
                        (of.slot, i64::from(of.generation)) == (slot, generations[at])
                            && of.release_time < *time
                            && (of.end_time.is_nan() || of.end_time > *time)
                    });
                    let Some(own) = own else { continue };
                    let age = time - own.release_time;
                    let (x, x0) = (positions[3 * at], own.release_position[0]);
                    let expected = [age, x - x0, 0.5 * (x + x0) * age];
                    for (all, expected) in all.iter().zip(expected) {
                        let name = format!("{machine}, bound {bound}, save {k}, slot {slot}");
                        let eps = 1000.0 * machine.eps();
                        assert_below(
                            &format!("{name}: {} {expected}", all[at]),
                            (all[at] - expected).abs(),
                            eps,
                        );
                        checked += 1;
                    }
                }
            }
            assert!(checked > 300, "{checked}");
        }
    }
}

/// Tallies are resumed to the same bits, and are the same in batches; they change no track.
#[test]
fn tallies_are_resumed_and_change_no_track() {
    let points = Dice(2).points([0.2, 0.2, 0.2], [1.8, 0.8, 0.8], 60);
    let seeds = Seeds::list(points).unwrap();
    for machine in some_machines() {
        let field = laden(
            &machine,
            &[0.0, 1.0],
            |[x, y, _], _| [0.4 * y, 0.3 - 0.2 * x, 0.1],
            |[x, y, _], t, _| x * y + t,
        );
        let plain = Tracer::new(&field)
            .span(steps(0.0, 1.0, 11))
            .all_faces(BoundaryCondition::Periodic)
            .random_walk(RandomWalk::isotropic(1e-3, 5))
            .save(SaveAt::EverySteps(2));
        let tallied = plain
            .clone()
            .tally("sum", tally("integral(T)"))
            .tally("top", tally("maximum(T)"))
            .tally("path", Tally::PathLength);
        let (a, b) = (plain.trace(&seeds).unwrap(), tallied.trace(&seeds).unwrap());
        assert_eq!(a.positions().into_data(), b.positions().into_data(), "{machine}");
        let ending = tallied.clone().stop_when(condition("path_length > 0.2"));
        for (what, tracer) in [("tallies", &tallied), ("conditions", &ending)] {
            let batches: &[usize] = if machine.is_cpu() { &[1000, 17] } else { &[1000] };
            let whole = run(tracer, &seeds).0.saves;
            for batch in batches {
                let tracer = tracer.clone().batch(*batch);
                assert!(run(&tracer, &seeds).0.saves == whole, "{machine}, {what}, {batch}");
                assert_resumes(&format!("{machine}, {what}, {batch}"), &tracer, &seeds);
            }
        }
    }
}

/// An operation after each step moves particles on, and its way counts.
#[test]
fn operations_after_each_step_count() {
    for machine in machines().into_iter().filter(Machine::is_cpu) {
        let field = laden(&machine, &[0.0], |_, _| [1.0, 0.0, 0.0], |[x, ..], _, _| x);
        let tracer = Tracer::new(&field)
            .span(steps(0.0, 0.5, 5))
            .each_step(|step| step.after + step.dt.repeat_dim(1, 3) * 0.5)
            .tally("path", Tally::PathLength)
            .stop_when(condition("path_length > 0.5"));
        let seeds = Seeds::list(vec![[0.1, 0.1, 0.1]; 3]).unwrap();
        for &engine in machine.engines() {
            let tracks = tracer.clone().engine(engine).trace(&seeds).unwrap();
            let speed = (1.5_f64 * 1.5 + 0.25 + 0.25).sqrt();
            let ends = &tracks.ends().end_time;
            let eps = 60.0 * machine.eps();
            assert!(ends.iter().all(|end| (end - 0.5 / speed).abs() < eps), "{machine}: {ends:?}");
            assert!(saved(&tracks, "path").iter().all(|path| (path - 0.5).abs() < eps));
        }
    }
}

/// The gradient of the flow map is the same beside tallies, for any number of particles.
#[test]
fn gradients_of_the_flow_map_are_those_without_tallies() {
    for machine in machines().into_iter().filter(Machine::is_cpu) {
        let velocity = |[x, y, _]: [f64; 3], _: f64| [0.3 * y, 0.2 - 0.1 * x, 0.0];
        let field = laden(&machine, &[0.0], velocity, |[x, ..], _, _| x);
        let seeds = Seeds::list(Dice(6).points([0.4; 3], [0.6; 3], 7)).unwrap();
        let plain = Tracer::new(&field).span(steps(0.0, 1.0, 9)).flow_map_gradient(true);
        let tallied =
            plain.clone().tally("path", Tally::PathLength).tally("T2", tally("integral(T)"));
        let gradient =
            |tracer: &Tracer| saved(&tracer.trace(&seeds).unwrap(), burntrace::FLOW_MAP_GRADIENT);
        assert_eq!(gradient(&plain), gradient(&tallied), "{machine}");
    }
}

#[test]
fn what_is_not_there_is_refused() {
    let machine = &machines()[0];
    let field = laden(machine, &[0.0], |_, _| [1.0, 0.0, 0.0], |[x, ..], _, _| x);
    let seeds = Seeds::list(vec![[0.1, 0.1, 0.1]]).unwrap();
    let refused = |tracer: Tracer| tracer.trace(&seeds).map(drop).unwrap_err().to_string();
    let tracer = || Tracer::new(&field).span(steps(0.0, 0.5, 5));
    let message = refused(tracer().tally("dose", tally("integral(p)")));
    assert!(
        message.contains("`dose`: the field that is traced has no array `p`; it has `T`, `speed`"),
        "{message}"
    );
    let message = refused(tracer().stop_when(condition("p > 3")));
    assert!(message.contains("the condition `p > 3`: the field"), "{message}");
    let message = refused(tracer().sample("T", &field).tally("T", Tally::Age));
    assert!(message.contains("`T` is saved twice"), "{message}");
    let message = refused(
        tracer().tally("age", Tally::Age).flow_map_gradient(true).stop_when(condition("age > 1")),
    );
    assert!(message.contains("gradient of the flow map"), "{message}");
    assert!(tracer().face(Face::XLow, BoundaryCondition::Stick).trace(&seeds).is_ok());
}
