//! Outlets, inlets and sources: particle instances in re-used slots.

use crate::common::*;
use burntrace::{
    BoundaryCondition, Control, Ends, Engine, Face, GridField, Inlet, InletShape, ParticleInstance,
    Pattern, Placement, Precision, RandomWalk, Save, SaveAt, SavePlan, Scheme, Seeds, SinkError,
    Source, Status, Tolerance, Tracer, TrackSink, Tracks,
};

const LENGTH: f64 = 2.0;
const LOW: [f64; 3] = [0.0; 3];
const HIGH: [f64; 3] = [LENGTH, 1.0, 1.0];
const SPEED: f64 = 0.3;

fn plug(machine: &Machine) -> GridField {
    machine.field(&Frames::uniform(LOW, HIGH, &[0.0], |_| [SPEED, 0.0, 0.0]))
}

fn inlet(pattern: Pattern) -> Inlet {
    Inlet::new(InletShape::Face(Face::XLow), pattern).unwrap()
}

/// A lattice of n x n x n seeds.
fn lattice(n: usize) -> Seeds {
    Seeds::grid(LOW, HIGH, [n; 3], burntrace::GridPlacement::Centres).unwrap()
}

/// A tracer through plug flow from outlet to inlet; the box is not a multiple of a step's displacement.
fn through<'a>(field: &'a GridField, steps_: u64) -> Tracer<'a> {
    let dt = 0.11;
    Tracer::new(field)
        .all_faces(BoundaryCondition::Reflect)
        .face(Face::XLow, BoundaryCondition::Clamp)
        .face(Face::XHigh, BoundaryCondition::Exit)
        .outlet(Face::XHigh, inlet(Pattern::Lattice))
        .span(steps(0.0, dt * steps_ as f64, steps_))
}

/// The particle instances of each slot, in order.
fn by_slot(tracks: &Tracks) -> Vec<Vec<ParticleInstance>> {
    let count = tracks.ends().status.len();
    let mut slots = vec![Vec::new(); count];
    for instance in tracks.instances() {
        slots[instance.slot].push(*instance);
    }
    for instances in &slots {
        let numbers: Vec<u32> = instances.iter().map(|instance| instance.generation).collect();
        assert_eq!(numbers, (0..instances.len() as u32).collect::<Vec<_>>());
    }
    slots
}

/// Relative tolerance of residence times: 1e-5 in single and 1e-10 in double precision.
fn residence_tolerance(machine: &Machine) -> f64 {
    if machine.is_double() { 1e-10 } else { 1e-5 }
}

/// Stores the last save, and compares residence times with plug flow.
struct ResidenceCheck {
    /// The seeds.
    starts: Vec<[f64; 3]>,
    /// Number of ended particle instances, and the maximum error of their residence times relative to the
    /// residence time in the whole box.
    ended: usize,
    error: f64,
    last: Option<Save>,
}

impl TrackSink for ResidenceCheck {
    fn begin(&mut self, _: &SavePlan) -> Result<(), SinkError> {
        Ok(())
    }

    fn save(&mut self, save: Save) -> Result<(), SinkError> {
        self.last = Some(save);
        Ok(())
    }

    fn instances(&mut self, instances: &[ParticleInstance]) -> Result<(), SinkError> {
        for instance in instances.iter().filter(|instance| instance.status.has_ended()) {
            assert_eq!(instance.status, Status::Exited(Face::XHigh), "{instance:?}");
            let start = if instance.generation == 0 { self.starts[instance.slot][0] } else { 0.0 };
            let deviation =
                (instance.residence_time() - (LENGTH - start) / SPEED).abs() / (LENGTH / SPEED);
            self.ended += 1;
            self.error = self.error.max(deviation);
        }
        Ok(())
    }

    fn end(&mut self, _: &Ends) -> Result<(), SinkError> {
        Ok(())
    }
}

/// Plug flow over a number of steps: checks residence times, and that no particle is lost or duplicated.
fn check_plug_flow(machine: &Machine, count: usize, steps: u64) {
    let field = plug(machine);
    let seeds = lattice(count);
    let starts = seeds.positions().to_vec();
    let mut sink = ResidenceCheck { starts, ended: 0, error: 0.0, last: None };
    let tracer = through(&field, steps);
    let summary = tracer.trace_into(&seeds, &mut sink, &mut |_| Control::Continue).unwrap();
    let what = format!("{machine}, {steps} steps");
    assert_below(&format!("{what}, residence times"), sink.error, residence_tolerance(machine));
    assert_eq!(summary.released, count.pow(3) + sink.ended, "{what}");
    assert_eq!(summary.active(), count.pow(3), "{what}");
    let last = sink.last.unwrap();
    assert!(integers(last.status).iter().all(|code| *code == 1), "{what}");
    let ends = rows(last.position);
    let travel = SPEED * 0.11 * steps as f64;
    // No duplicates, and each layer of the lattice in its own part of the box.
    let mut positions: Vec<[u64; 3]> = ends.iter().map(|p| p.map(f64::to_bits)).collect();
    positions.sort_unstable();
    positions.dedup();
    assert_eq!(positions.len(), count.pow(3), "{what}");
    let mut layers = vec![0; count];
    let mut max: f64 = 0.0;
    for (start, end) in sink.starts.iter().zip(&ends) {
        let part = ((end[0] - travel).rem_euclid(LENGTH) / LENGTH * count as f64) as usize;
        layers[part.min(count - 1)] += 1;
        let deviation = ((start[0] + travel).rem_euclid(LENGTH) - end[0]).abs();
        max = max.max(deviation.min(LENGTH - deviation));
        assert_below(&format!("{what}, y"), (start[1] - end[1]).abs(), machine.eps());
    }
    assert_eq!(layers, vec![count * count; count], "{what}");
    assert_below(&format!("{what}, x"), max, steps as f64 * 4.0 * machine.eps());
    eprintln!(
        "{what}: {} particle instances, maximum error {:.1e}, of x {max:.1e}",
        sink.ended, sink.error
    );
}

#[test]
fn plug_flow_stays_uniform() {
    for machine in machines() {
        check_plug_flow(&machine, if machine.is_cpu() { 10 } else { 6 }, 700);
    }
}

/// 1,000 particles and a million steps.
#[test]
#[ignore = "minutes, by hand: `--ignored full_size`; a smaller run is tested above"]
fn full_size_plug_flow_stays_uniform() {
    for machine in machines().iter().filter(|machine| machine.name == "flex") {
        check_plug_flow(machine, 10, 1_000_000);
    }
}

#[test]
fn residence_times_in_plug_flow_are_exact() {
    for machine in machines() {
        let field = plug(&machine);
        let tracks = through(&field, 300).trace(&lattice(5)).unwrap();
        let seeds = lattice(5);
        for (slot, instances) in by_slot(&tracks).iter().enumerate() {
            let start = seeds.positions()[slot];
            let ended = &instances[..instances.len() - 1];
            assert!(ended.len() >= 4, "{machine}: {} particle instances", ended.len());
            for instance in ended {
                let travel = if instance.generation == 0 { LENGTH - start[0] } else { LENGTH };
                let deviation =
                    (instance.residence_time() - travel / SPEED).abs() / (LENGTH / SPEED);
                assert_below(
                    &format!("{machine}, {instance:?}"),
                    deviation,
                    residence_tolerance(&machine),
                );
                assert_eq!(instance.status, Status::Exited(Face::XHigh));
                assert_eq!(instance.end_position[0], LENGTH);
                let release = instance.release_position;
                let expected = if instance.generation == 0 { start[0] } else { 0.0 };
                assert_below("release x", (release[0] - expected).abs(), machine.eps());
                assert_below("release y", (release[1] - start[1]).abs(), machine.eps());
            }
            for pair in instances.windows(2) {
                assert_eq!(pair[0].end_time, pair[1].release_time);
            }
            let last = instances[instances.len() - 1];
            assert!(last.end_time.is_nan() && last.status == Status::Active);
        }
        let summary = tracks.summary().unwrap();
        assert_eq!(summary.released, tracks.instances().len());
        assert_eq!(summary.particle_steps, 300 * 125 + summary.released as u64 - 125);
    }
}

/// Across periodic faces on the way to the outlet: each particle instance counts its own periods.
#[test]
fn images_count_from_the_release_of_each_particle_instance() {
    let velocity = [SPEED, 0.7, 0.0];
    for machine in machines() {
        let field = machine.field(&Frames::uniform(LOW, HIGH, &[0.0], |_| velocity));
        for &engine in machine.engines() {
            let tracer = through(&field, if machine.is_cpu() { 150 } else { 80 })
                .face(Face::YLow, BoundaryCondition::Periodic)
                .face(Face::YHigh, BoundaryCondition::Periodic)
                .engine(engine)
                .save(SaveAt::EverySteps(10));
            let tracks = tracer.trace(&lattice(2)).unwrap();
            let slots = by_slot(&tracks);
            let mut later = 0;
            for save in tracks.saves() {
                let (positions, images) =
                    (rows(save.position.clone()), integers(save.image.clone()));
                let generations = integers(save.generation.clone().unwrap());
                for (slot, generation) in generations.into_iter().enumerate() {
                    let instance = &slots[slot][generation as usize];
                    let y = positions[slot][1] + images[3 * slot + 1] as f64;
                    let age = save.time - instance.release_time;
                    let expected = instance.release_position[1] + velocity[1] * age;
                    let what = format!("{machine} {engine}, slot {slot} at t = {}", save.time);
                    assert_below(&what, (y - expected).abs(), 200.0 * machine.eps());
                    later += usize::from(generation > 0 && images[3 * slot + 1] > 0);
                }
            }
            assert!(later > 10, "{machine} {engine}: {later} crossings of later instances");
        }
    }
}

/// A step through several box lengths.
#[test]
fn one_step_can_reinject_a_particle_several_times() {
    for machine in machines() {
        let field = machine.field(&Frames::uniform(LOW, HIGH, &[0.0], |_| [31.0, 0.0, 0.0]));
        for &engine in machine.engines() {
            let tracer = through(&field, 4).span(steps(0.0, 1.0, 4)).engine(engine);
            let tracks = tracer.trace(&lattice(2)).unwrap();
            let starts = lattice(2);
            for (slot, instances) in by_slot(&tracks).iter().enumerate() {
                let x = starts.positions()[slot][0] + 31.0;
                assert_eq!(
                    instances.len() - 1,
                    (x / LENGTH).floor() as usize,
                    "{machine}, {engine}"
                );
            }
            let last = rows(tracks.saves()[0].position.clone());
            for (start, end) in starts.positions().iter().zip(last) {
                let expected = (start[0] + 31.0).rem_euclid(LENGTH);
                assert_below("x", (expected - end[0]).abs(), 400.0 * machine.eps());
            }
        }
    }
}

/// Maximum number of re-injections of a slot in a step; further ones follow in the next step.
const MAX_REINJECTIONS_PER_STEP: usize = 64;

#[test]
fn reinjections_beyond_the_limit_continue_in_the_next_step() {
    for machine in machines() {
        let field = machine.field(&Frames::uniform(LOW, HIGH, &[0.0], |_| [301.0, 0.0, 0.0]));
        for &engine in machine.engines() {
            let plain = through(&field, 4).span(steps(0.0, 4.0, 4)).engine(engine);
            let tolerance = Tolerance::new(1e-3, 1e-3);
            let adaptive = plain.clone().scheme(Scheme::DormandPrince).tolerance(tolerance);
            for tracer in [plain, adaptive] {
                let tracks = tracer.trace(&lattice(2)).unwrap();
                for instances in by_slot(&tracks) {
                    // In each step, the first instance is active from before, and the last waits for the next step.
                    assert_eq!(
                        instances.len(),
                        4 * (MAX_REINJECTIONS_PER_STEP + 1),
                        "{machine}, {engine}"
                    );
                }
            }
        }
    }
}

/// A rotating flow with outflow on two sides, so that residence times vary.
fn turning(machine: &Machine) -> GridField {
    let axes = [even_axis(0.0, LENGTH, 8), even_axis(0.0, 1.0, 5), even_axis(0.0, 1.0, 4)];
    let frames = Frames::new(axes, Placement::Nodes, &[0.0, 1.0, 2.5], |[x, y, z], t| {
        [1.0 + 0.5 * y - 0.3 * z + 0.2 * t, 0.4 * (x - 1.0) * (1.0 + 0.3 * t), 0.5 - z + 0.1 * x]
    });
    machine.field(&frames)
}

fn everything<'a>(field: &'a GridField, engine: Engine) -> Tracer<'a> {
    let disc = InletShape::Disc { centre: [0.3, 0.5, 0.5], normal: [1.0, 0.0, 0.0], radius: 0.2 };
    let disc = Inlet::new(disc, Pattern::Uniform).unwrap();
    let source = Source::constant(inlet(Pattern::Uniform), 37.0, 11).unwrap();
    let burst = Source::burst(disc.clone(), 0.33, 6).unwrap();
    Tracer::new(field)
        .all_faces(BoundaryCondition::Exit)
        .face(Face::ZLow, BoundaryCondition::Reflect)
        .face(Face::ZHigh, BoundaryCondition::Clamp)
        .outlet(Face::XHigh, inlet(Pattern::Flux))
        .outlet(Face::YLow, disc)
        .source(source)
        .source(burst)
        .span(span(0.0, 2.5, 0.07))
        .save(SaveAt::EveryTime(0.5))
        .engine(engine)
}

/// Releases and ends of each particle instance agree to rounding.
#[test]
fn particle_instances_of_both_engines_agree() {
    let seeds = Seeds::uniform(LOW, HIGH, 9, 5).unwrap();
    let seeds = seeds.with_release((0..9).map(|i| 0.05 * f64::from(i)).collect()).unwrap();
    for machine in machines() {
        for scheme in [Scheme::Euler, Scheme::Rk4] {
            let field = turning(&machine);
            let fused = everything(&field, Engine::Fused).scheme(scheme).trace(&seeds).unwrap();
            let reference = Machine {
                name: "flex".into(),
                device: burntrace::burn::tensor::Device::flex(),
                ..machine.clone()
            };
            let field = turning(&reference);
            let tensor = everything(&field, Engine::Tensor).scheme(scheme).trace(&seeds).unwrap();
            let what = format!("{machine}, {scheme:?}");
            compare(&what, &fused, &tensor, 3e3 * machine.eps());
            let [a, b] = [&fused, &tensor].map(|tracks| tracks.summary().unwrap());
            assert_eq!((a.released, a.dropped), (b.released, b.dropped), "{what}");
            assert_eq!(a.particle_steps, b.particle_steps, "{what}");
            assert!(a.dropped > 0 && a.released > 60, "{what}: {a:?}");
        }
    }
}

/// It is a particle like any other that is released there and then: it knows nothing of the step sizes of
/// the one before it.
#[test]
fn reinjected_particle_takes_the_adaptive_steps_of_a_seed() {
    for machine in double_machines() {
        let field = turning(&machine);
        for &engine in machine.engines() {
            let tracer = Tracer::new(&field)
                .all_faces(BoundaryCondition::Exit)
                .outlet(Face::XHigh, inlet(Pattern::Lattice))
                .scheme(Scheme::DormandPrince)
                .tolerance(Tolerance::new(1e-2, 1e-2))
                .span(span(0.0, 2.5, 0.8))
                .engine(engine);
            let tracks = tracer.trace(&Seeds::list(vec![[0.9, 0.45, 0.5]]).unwrap()).unwrap();
            let second = by_slot(&tracks)[0][1];
            assert!(second.release_time > 0.5, "{machine}, {engine}: {second:?}");
            let seed = Seeds::list(vec![second.release_position]).unwrap();
            let seed = seed.with_release(vec![second.release_time]).unwrap();
            let alone = by_slot(&tracer.trace(&seed).unwrap())[0][0];
            let apart = distance(&[second.end_position], &[alone.end_position]);
            assert_eq!(second.status, alone.status, "{machine}, {engine}");
            assert_below(&format!("{machine}, {engine}"), apart, 1e-9);
        }
    }
}

/// Each particle instance in a slot has its own random numbers.
#[test]
fn random_walks_of_particle_instances_of_both_engines_agree() {
    let seeds = Seeds::uniform(LOW, HIGH, 9, 5).unwrap();
    for machine in double_machines() {
        let field = turning(&machine);
        let walk = RandomWalk::isotropic(1e-3, 7);
        let fused =
            everything(&field, Engine::Fused).random_walk(walk.clone()).trace(&seeds).unwrap();
        let reference = Machine {
            name: "flex".into(),
            device: burntrace::burn::tensor::Device::flex(),
            ..machine.clone()
        };
        let field = turning(&reference);
        let tensor = everything(&field, Engine::Tensor).random_walk(walk).trace(&seeds).unwrap();
        compare(&machine.to_string(), &fused, &tensor, 3e3 * machine.eps());
    }
}

fn compare(what: &str, a: &Tracks, b: &Tracks, bound: f64) {
    for (a, b) in by_slot(a).iter().zip(&by_slot(b)) {
        assert_eq!(a.len(), b.len(), "{what}: {a:?} {b:?}");
        for (a, b) in a.iter().zip(b) {
            assert_eq!(a.status, b.status, "{what}: {a:?} {b:?}");
            let near = |x: f64, y: f64| x.is_nan() && y.is_nan() || (x - y).abs() <= bound;
            assert!(near(a.release_time, b.release_time), "{what}: {a:?} {b:?}");
            assert!(near(a.end_time, b.end_time), "{what}: {a:?} {b:?}");
            assert_below(what, distance(&[a.release_position], &[b.release_position]), bound);
            assert_below(what, distance(&[a.end_position], &[b.end_position]), bound);
        }
    }
    for (a, b) in a.saves().iter().zip(b.saves()) {
        let status = [a, b].map(|save| integers(save.status.clone()));
        assert_eq!(status[0], status[1], "{what}");
        let generation = [a, b].map(|save| integers(save.generation.clone().unwrap()));
        assert_eq!(generation[0], generation[1], "{what}");
        let [p, q] = [a, b].map(|save| rows(save.position.clone()));
        for ((p, q), status) in p.iter().zip(&q).zip(&status[0]) {
            assert_eq!(p[0].is_nan(), q[0].is_nan());
            let is_empty = p.iter().all(|x| x.is_nan());
            assert!(!is_empty || *status == 0, "{what}: an empty slot waits");
            assert!(is_empty || distance(&[*p], &[*q]) <= bound, "{what}: {p:?} {q:?}");
        }
    }
}

/// More ends in a launch than the log of a GPU can hold.
#[test]
fn overflowing_end_log_loses_no_particle_instance() {
    let seeds = Seeds::uniform(LOW, HIGH, 100, 3).unwrap();
    let run = |machine: &Machine| {
        let field = machine.field(&Frames::uniform(LOW, HIGH, &[0.0], |_| [31.0, 0.2, 0.0]));
        let tracer = through(&field, 1).span(steps(0.0, 10.0, 32));
        tracer.outlet(Face::XHigh, inlet(Pattern::Uniform)).trace(&seeds).unwrap()
    };
    let single = |m: &Machine| m.precision == Precision::F32;
    let machines: Vec<Machine> = machines().into_iter().filter(single).collect();
    let reference = run(&machines[0]);
    // Each step crosses the box five times, a launch has at least 16 steps, and the log holds 64 ends of a
    // slot.
    assert!(reference.instances().len() > 100 * 150);
    for machine in &machines[1..] {
        let tracks = run(machine);
        assert_eq!(tracks.instances().len(), reference.instances().len(), "{machine}");
        let pairs = by_slot(&tracks).into_iter().zip(by_slot(&reference));
        for (a, b) in pairs {
            let release = |instances: &[ParticleInstance]| {
                instances.iter().map(|l| l.release_position).collect::<Vec<_>>()
            };
            assert_eq!(release(&a), release(&b), "{machine}");
        }
    }
}

#[test]
fn source_releases_particles_at_its_rate() {
    let rate = 50.0;
    for machine in machines() {
        let field = plug(&machine);
        let residence = LENGTH / SPEED;
        let source = Source::constant(inlet(Pattern::Uniform), rate, 400).unwrap();
        let tracer = Tracer::new(&field).source(source).span(span(0.0, 10.0, 0.11));
        let tracks = tracer.trace(&Seeds::none()).unwrap();
        let summary = tracks.summary().unwrap();
        assert_eq!((summary.released, summary.dropped), (500, 0), "{machine}");
        assert_eq!(summary.active(), (rate * residence).floor() as usize, "{machine}");
        let mut times: Vec<f64> =
            tracks.instances().iter().map(|instance| instance.release_time).collect();
        times.sort_by(f64::total_cmp);
        for (k, time) in times.iter().enumerate() {
            let deviation = (time - k as f64 / rate).abs();
            assert_below(&format!("{machine}, release {k}"), deviation, 0.11 * machine.eps());
        }
        for ended in tracks.instances().iter().filter(|instance| instance.status.has_ended()) {
            let deviation = (ended.residence_time() - residence).abs() / residence;
            assert_below(&format!("{machine}"), deviation, residence_tolerance(&machine));
        }
    }
}

/// A release into an occupied slot is dropped, without effect on other slots.
#[test]
fn releases_beyond_the_capacity_are_dropped() {
    for machine in machines() {
        let field = plug(&machine);
        let run = |capacity| {
            let source = Source::constant(inlet(Pattern::Lattice), 50.0, capacity).unwrap();
            let tracer = Tracer::new(&field).source(source).span(span(0.0, 10.0, 0.11));
            tracer.trace(&Seeds::none()).unwrap()
        };
        // A residence time is 6.67, in which the source emits 333; slot s has releases at s / 50 and every 2
        // thereafter.
        let tracks = run(100);
        let summary = tracks.summary().unwrap();
        assert_eq!(summary.released + summary.dropped, 500, "{machine}");
        // The next release after 6.67 is at 8.
        assert_eq!(summary.released, 200, "{machine}");
        for instance in tracks.instances() {
            let expected = 0.02 * instance.slot as f64 + 8.0 * f64::from(instance.generation);
            let deviation = (instance.release_time - expected).abs();
            assert_below("release", deviation, 8.0 * machine.eps());
        }
    }
}

/// Also those of particles of a source that are re-injected. The flow keeps y and z.
#[test]
fn reported_release_positions_are_those_of_the_tracks() {
    for machine in machines() {
        let field = plug(&machine);
        for &engine in machine.engines() {
            let source = Source::constant(inlet(Pattern::Uniform), 3.0, 5).unwrap();
            let tracer = through(&field, if machine.is_cpu() { 160 } else { 80 })
                .outlet(Face::XHigh, inlet(Pattern::Uniform))
                .source(source)
                .save(SaveAt::EverySteps(8))
                .engine(engine);
            let tracks = tracer.trace(&lattice(2)).unwrap();
            let slots = by_slot(&tracks);
            let mut reinjected = 0;
            for save in tracks.saves() {
                let generations = integers(save.generation.clone().unwrap());
                let positions = rows(save.position.clone()).into_iter().zip(generations);
                for (slot, ([x, y, z], generation)) in positions.enumerate() {
                    if x.is_nan() {
                        continue;
                    }
                    let [_, v, w] = slots[slot][generation as usize].release_position;
                    let apart = (y - v).abs().max((z - w).abs());
                    assert_below(&format!("{machine}, {engine}, {slot}"), apart, machine.eps());
                    reinjected += usize::from(slot >= 8 && generation > 0);
                }
            }
            assert!(reinjected > 10, "{machine}, {engine}: {reinjected}");
        }
    }
}

#[test]
fn empty_slots_have_neither_a_position_nor_a_velocity() {
    for machine in machines() {
        let field = plug(&machine);
        for &engine in machine.engines() {
            let source = Source::constant(inlet(Pattern::Lattice), 2.0, 4).unwrap();
            let tracer = Tracer::new(&field).source(source).span(steps(0.0, 1.0, 4));
            let tracer = tracer.save(SaveAt::EverySteps(1)).save_velocity(true).engine(engine);
            let tracks = tracer.trace(&Seeds::list(vec![[0.5; 3]]).unwrap()).unwrap();
            let mut empty = Vec::new();
            for save in tracks.saves() {
                let position = rows(save.position.clone());
                let velocity = rows(save.velocity.clone().unwrap());
                let has_none = |p: &[f64; 3]| p.iter().all(|x| x.is_nan());
                let none: Vec<bool> = position.iter().map(has_none).collect();
                assert_eq!(none, velocity.iter().map(has_none).collect::<Vec<_>>(), "{machine}");
                empty.push(none.iter().filter(|is_none| **is_none).count());
            }
            assert_eq!(empty[1..], [3, 3, 2, 2], "{machine}, {engine}");
        }
    }
}

/// Slots of a source that are idle for part of a launch get their next release in a later one, however a
/// device divides the launch: with many slots, a CPU sorts them several times.
#[test]
fn idle_slots_of_a_large_source_are_used_again() {
    for machine in machines() {
        let field = plug(&machine);
        let capacity = if machine.is_cpu() { 2500 } else { 250 };
        let rate = capacity as f64 / 8.0;
        // A residence time is 6.67: each slot has its next release 8 after the last one.
        let source = Source::constant(inlet(Pattern::Lattice), rate, capacity).unwrap();
        let tracer = Tracer::new(&field).source(source).span(span(0.0, 24.0, 0.1));
        let tracer = tracer.save(SaveAt::EverySteps(40));
        let tracks = tracer.trace(&Seeds::none()).unwrap();
        let summary = tracks.summary().unwrap();
        assert_eq!((summary.released, summary.dropped), (3 * capacity, 0), "{machine}");
        assert_eq!(tracks.instances().len(), 3 * capacity, "{machine}");
    }
}

/// The same for slots whose particles end in the first part of a launch, far from their next releases.
#[test]
fn slots_that_are_idle_from_early_in_a_launch_are_used_again() {
    for machine in machines().into_iter().filter(Machine::is_cpu) {
        let (field, capacity) = (plug(&machine), 2500);
        let inlet = InletShape::Points(vec![[1.85, 0.5, 0.5]]);
        let inlet = Inlet::new(inlet, Pattern::Lattice).unwrap();
        let source = Source::constant(inlet, capacity as f64 / 8.0, capacity).unwrap();
        let tracer = Tracer::new(&field).source(source).span(span(0.0, 24.0, 0.1));
        let tracks = tracer.save(SaveAt::EverySteps(80)).trace(&Seeds::none()).unwrap();
        let summary = tracks.summary().unwrap();
        assert_eq!((summary.released, summary.dropped), (3 * capacity, 0), "{machine}");
    }
}
