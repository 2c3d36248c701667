//! Lives: outlets and inlets, sources, slots that are used again.

use super::common::*;
use burntrace::{
    Condition, Control, Ends, Engine, Face, GridField, Inlet, InletShape, ParticleInstance,
    Pattern, Placement, Precision, Save, SaveAt, SavePlan, Scheme, Seeds, SinkError, Source,
    Status, Tolerance, Tracer, TrackSink, Tracks,
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

/// A tracer through plug flow from outlet to inlet; its steps do not divide the box.
fn through<'a>(field: &'a GridField, steps_: u64) -> Tracer<'a> {
    let dt = 0.11;
    Tracer::new(field)
        .all_faces(Condition::Reflect)
        .face(Face::XLow, Condition::Clamp)
        .face(Face::XHigh, Condition::Exit)
        .outlet(Face::XHigh, inlet(Pattern::Lattice))
        .span(steps(0.0, dt * steps_ as f64, steps_))
}

/// The lives of each slot, in order.
fn by_slot(tracks: &Tracks) -> Vec<Vec<ParticleInstance>> {
    let count = tracks.ends().status.len();
    let mut slots = vec![Vec::new(); count];
    for life in tracks.instances() {
        slots[life.slot].push(*life);
    }
    for lives in &slots {
        let numbers: Vec<u32> = lives.iter().map(|life| life.generation).collect();
        assert_eq!(numbers, (0..lives.len() as u32).collect::<Vec<_>>());
    }
    slots
}

/// What the issue asks of a life: to 1e-5 in single and 1e-10 in double precision.
fn life_bound(machine: &Machine) -> f64 {
    if machine.is_double() { 1e-10 } else { 1e-5 }
}

/// Keeps the last save, and holds lives against the time that the way takes as they end.
struct Lasting {
    /// The seeds.
    starts: Vec<[f64; 3]>,
    /// Lives that have ended, and how far off their times were at most, as part of a whole life.
    ended: usize,
    off: f64,
    last: Option<Save>,
}

impl TrackSink for Lasting {
    fn begin(&mut self, _: &SavePlan) -> Result<(), SinkError> {
        Ok(())
    }

    fn save(&mut self, save: Save) -> Result<(), SinkError> {
        self.last = Some(save);
        Ok(())
    }

    fn instances(&mut self, instances: &[ParticleInstance]) -> Result<(), SinkError> {
        for life in instances.iter().filter(|life| life.status.has_ended()) {
            assert_eq!(life.status, Status::Exited(Face::XHigh), "{life:?}");
            let begun = if life.generation == 0 { self.starts[life.slot][0] } else { 0.0 };
            let off = (life.residence_time() - (LENGTH - begun) / SPEED).abs() / (LENGTH / SPEED);
            self.ended += 1;
            self.off = self.off.max(off);
        }
        Ok(())
    }

    fn end(&mut self, _: &Ends) -> Result<(), SinkError> {
        Ok(())
    }
}

/// Plug flow through so many steps: how long lives last, and that none is lost or doubled.
fn check_plug_flow(machine: &Machine, count: usize, steps: u64) {
    let field = plug(machine);
    let seeds = lattice(count);
    let starts = seeds.positions().to_vec();
    let mut sink = Lasting { starts, ended: 0, off: 0.0, last: None };
    let tracer = through(&field, steps);
    let summary = tracer.trace_into(&seeds, &mut sink, &mut |_| Control::Continue).unwrap();
    let what = format!("{machine}, {steps} steps");
    assert_below(&format!("{what}, lives"), sink.off, life_bound(machine));
    assert_eq!(summary.released, count.pow(3) + sink.ended, "{what}");
    assert_eq!(summary.active(), count.pow(3), "{what}");
    let last = sink.last.unwrap();
    assert!(integers(last.status).iter().all(|code| *code == 1), "{what}");
    let ends = rows(last.position);
    let way = SPEED * 0.11 * steps as f64;
    // None doubled, and each layer of the lattice in a part of the box of its own.
    let mut places: Vec<[u64; 3]> = ends.iter().map(|p| p.map(f64::to_bits)).collect();
    places.sort_unstable();
    places.dedup();
    assert_eq!(places.len(), count.pow(3), "{what}");
    let mut layers = vec![0; count];
    let mut most: f64 = 0.0;
    for (start, end) in sink.starts.iter().zip(&ends) {
        let part = ((end[0] - way).rem_euclid(LENGTH) / LENGTH * count as f64) as usize;
        layers[part.min(count - 1)] += 1;
        let off = ((start[0] + way).rem_euclid(LENGTH) - end[0]).abs();
        most = most.max(off.min(LENGTH - off));
        assert_below(&format!("{what}, y"), (start[1] - end[1]).abs(), machine.eps());
    }
    assert_eq!(layers, vec![count * count; count], "{what}");
    assert_below(&format!("{what}, x"), most, steps as f64 * 4.0 * machine.eps());
    eprintln!("{what}: {} lives, off by {:.1e} at most, x by {most:.1e}", sink.ended, sink.off);
}

#[test]
fn plug_flow_stays_uniform() {
    for machine in machines() {
        check_plug_flow(&machine, if machine.is_cpu() { 10 } else { 6 }, 700);
    }
}

/// 1,000 particles, a million steps.
#[test]
#[ignore = "takes minutes: `--ignored full_size`"]
fn full_size_plug_flow_stays_uniform() {
    for machine in machines().iter().filter(|machine| machine.name == "flex") {
        check_plug_flow(machine, 10, 1_000_000);
    }
}

#[test]
fn every_life_lasts_as_long_as_the_way_takes() {
    for machine in machines() {
        let field = plug(&machine);
        let tracks = through(&field, 300).trace(&lattice(5)).unwrap();
        let seeds = lattice(5);
        for (slot, lives) in by_slot(&tracks).iter().enumerate() {
            let start = seeds.positions()[slot];
            let ended = &lives[..lives.len() - 1];
            assert!(ended.len() >= 4, "{machine}: {} lives", ended.len());
            for life in ended {
                let way = if life.generation == 0 { LENGTH - start[0] } else { LENGTH };
                let off = (life.residence_time() - way / SPEED).abs() / (LENGTH / SPEED);
                assert_below(&format!("{machine}, {life:?}"), off, life_bound(&machine));
                assert_eq!(life.status, Status::Exited(Face::XHigh));
                assert_eq!(life.end_position[0], LENGTH);
                let place = life.release_position;
                let expected = if life.generation == 0 { start[0] } else { 0.0 };
                assert_below("release x", (place[0] - expected).abs(), machine.eps());
                assert_below("release y", (place[1] - start[1]).abs(), machine.eps());
            }
            for pair in lives.windows(2) {
                assert_eq!(pair[0].end_time, pair[1].release_time);
            }
            let last = lives[lives.len() - 1];
            assert!(last.end_time.is_nan() && last.status == Status::Active);
        }
        let summary = tracks.summary().unwrap();
        assert_eq!(summary.released, tracks.instances().len());
        assert_eq!(summary.particle_steps, 300 * 125 + summary.released as u64 - 125);
    }
}

/// A step that leads through the box several times.
#[test]
fn a_long_step_has_several_lives() {
    for machine in machines() {
        let field = machine.field(&Frames::uniform(LOW, HIGH, &[0.0], |_| [31.0, 0.0, 0.0]));
        for &engine in machine.engines() {
            let tracer = through(&field, 4).span(steps(0.0, 1.0, 4)).engine(engine);
            let tracks = tracer.trace(&lattice(2)).unwrap();
            let starts = lattice(2);
            for (slot, lives) in by_slot(&tracks).iter().enumerate() {
                let x = starts.positions()[slot][0] + 31.0;
                assert_eq!(lives.len() - 1, (x / LENGTH).floor() as usize, "{machine}, {engine}");
            }
            let last = rows(tracks.saves()[0].position.clone());
            for (start, end) in starts.positions().iter().zip(last) {
                let expected = (start[0] + 31.0).rem_euclid(LENGTH);
                assert_below("x", (expected - end[0]).abs(), 400.0 * machine.eps());
            }
        }
    }
}

/// No more lives than this begin in a step; the next one goes on with the next step.
const MAX_LIVES_A_STEP: usize = 64;

#[test]
fn a_step_of_too_many_lives_goes_on_in_the_next() {
    for machine in machines() {
        let field = machine.field(&Frames::uniform(LOW, HIGH, &[0.0], |_| [301.0, 0.0, 0.0]));
        for &engine in machine.engines() {
            let plain = through(&field, 4).span(steps(0.0, 4.0, 4)).engine(engine);
            let tolerance = Tolerance::new(1e-3, 1e-3);
            let adaptive = plain.clone().scheme(Scheme::DormandPrince).tolerance(tolerance);
            for tracer in [plain, adaptive] {
                let tracks = tracer.trace(&lattice(2)).unwrap();
                for lives in by_slot(&tracks) {
                    // The first of a step has begun before it, and the last one waits for the next.
                    assert_eq!(lives.len(), 4 * (MAX_LIVES_A_STEP + 1), "{machine}, {engine}");
                }
            }
        }
    }
}

/// A flow that turns, so that lives are of all lengths, and leaves on two sides.
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
        .all_faces(Condition::Exit)
        .face(Face::ZLow, Condition::Reflect)
        .face(Face::ZHigh, Condition::Clamp)
        .outlet(Face::XHigh, inlet(Pattern::Flux))
        .outlet(Face::YLow, disc)
        .source(source)
        .source(burst)
        .span(span(0.0, 2.5, 0.07))
        .save(SaveAt::EveryTime(0.5))
        .engine(engine)
}

/// Life by life, both paths have the same releases and ends, to the method's own rounding.
#[test]
fn fused_lives_are_those_of_tensor_operations() {
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

/// More ends in a launch than the log of a card has room for.
#[test]
fn a_full_log_loses_nothing() {
    let seeds = Seeds::uniform(LOW, HIGH, 100, 3).unwrap();
    let run = |machine: &Machine| {
        let field = machine.field(&Frames::uniform(LOW, HIGH, &[0.0], |_| [31.0, 0.2, 0.0]));
        let tracer = through(&field, 1).span(steps(0.0, 10.0, 32));
        tracer.outlet(Face::XHigh, inlet(Pattern::Uniform)).trace(&seeds).unwrap()
    };
    let single = |m: &Machine| m.precision == Precision::F32;
    let machines: Vec<Machine> = machines().into_iter().filter(single).collect();
    let reference = run(&machines[0]);
    // A step leads through the box five times, a launch has 16 steps at least, and the log has room
    // for 64 ends of a slot.
    assert!(reference.instances().len() > 100 * 150);
    for machine in &machines[1..] {
        let tracks = run(machine);
        assert_eq!(tracks.instances().len(), reference.instances().len(), "{machine}");
        let pairs = by_slot(&tracks).into_iter().zip(by_slot(&reference));
        for (a, b) in pairs {
            let release = |lives: &[ParticleInstance]| {
                lives.iter().map(|l| l.release_position).collect::<Vec<_>>()
            };
            assert_eq!(release(&a), release(&b), "{machine}");
        }
    }
}

#[test]
fn a_source_releases_at_its_rate() {
    let rate = 50.0;
    for machine in machines() {
        let field = plug(&machine);
        let life = LENGTH / SPEED;
        let source = Source::constant(inlet(Pattern::Uniform), rate, 400).unwrap();
        let tracer = Tracer::new(&field).source(source).span(span(0.0, 10.0, 0.11));
        let tracks = tracer.trace(&Seeds::none()).unwrap();
        let summary = tracks.summary().unwrap();
        assert_eq!((summary.released, summary.dropped), (500, 0), "{machine}");
        assert_eq!(summary.active(), (rate * life).floor() as usize, "{machine}");
        let mut times: Vec<f64> = tracks.instances().iter().map(|life| life.release_time).collect();
        times.sort_by(f64::total_cmp);
        for (k, time) in times.iter().enumerate() {
            let off = (time - k as f64 / rate).abs();
            assert_below(&format!("{machine}, release {k}"), off, 0.11 * machine.eps());
        }
        for lived in tracks.instances().iter().filter(|life| life.status.has_ended()) {
            let off = (lived.residence_time() - life).abs() / life;
            assert_below(&format!("{machine}"), off, life_bound(&machine));
        }
    }
}

/// A slot that is not free has its release dropped; what becomes of the others does not depend on
/// that.
#[test]
fn a_small_capacity_drops_releases() {
    for machine in machines() {
        let field = plug(&machine);
        let run = |capacity| {
            let source = Source::constant(inlet(Pattern::Lattice), 50.0, capacity).unwrap();
            let tracer = Tracer::new(&field).source(source).span(span(0.0, 10.0, 0.11));
            tracer.trace(&Seeds::none()).unwrap()
        };
        // A life takes 6.67, in which 333 come; slot s has releases at s / 50, and every 2 after.
        let tracks = run(100);
        let summary = tracks.summary().unwrap();
        assert_eq!(summary.released + summary.dropped, 500, "{machine}");
        // The next one that comes after 6.67 is at 8.
        assert_eq!(summary.released, 200, "{machine}");
        for life in tracks.instances() {
            let expected = 0.02 * life.slot as f64 + 8.0 * f64::from(life.generation);
            let off = (life.release_time - expected).abs();
            assert_below("release", off, 8.0 * machine.eps());
        }
    }
}
