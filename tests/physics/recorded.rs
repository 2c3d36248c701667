//! Bit-exact records of runs, and tracers that combine all features.

use super::common::*;
use burntrace::{
    BoundaryCondition, CheckpointEvery, Control, Crossing, DurablePosition, Ends, Face, Field,
    Gate, GateShape, Inlet, InletShape, Observer, ParticleInstance, Pattern, Progress, RandomWalk,
    RunState, Save, SaveAt, SavePlan, Scheme, Seeds, Shape, SinkError, Source, Summary, Tolerance,
    Tracer, TrackSink,
};

/// The bits of a save.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedSave {
    time: u64,
    position: Vec<u64>,
    velocity: Vec<u64>,
    /// Sampled arrays, one after the other.
    arrays: Vec<Vec<u64>>,
    /// Statuses, images, generations.
    ints: [Vec<i64>; 3],
}

/// A sink that records everything.
#[derive(Clone, Debug, Default)]
pub struct RecordingSink {
    pub saves: Vec<RecordedSave>,
    pub instances: Vec<ParticleInstance>,
    pub crossings: Vec<Crossing>,
    pub ends: Ends,
    particles: usize,
    has_part: bool,
}

impl RecordingSink {
    /// The record up to a durable position.
    pub fn at(&self, position: DurablePosition) -> Self {
        RecordingSink {
            saves: self.saves[..position.saves as usize].to_vec(),
            instances: self.instances[..position.instances as usize].to_vec(),
            crossings: self.crossings[..position.crossings as usize].to_vec(),
            ends: Ends::default(),
            particles: self.particles,
            has_part: false,
        }
    }

    /// Adds the record of the next piece of the run, without its instances and crossings.
    pub fn join(&mut self, next: &RecordingSink) {
        if self.saves.is_empty() {
            let (instances, crossings) = (Vec::new(), Vec::new());
            *self = RecordingSink { instances, crossings, ..next.clone() };
            return;
        }
        for (all, more) in self.saves.iter_mut().zip(&next.saves) {
            assert_eq!(all.time, more.time);
            all.position.extend(&more.position);
            all.velocity.extend(&more.velocity);
            all.arrays.iter_mut().zip(&more.arrays).for_each(|(all, more)| all.extend(more));
            all.ints.iter_mut().zip(&more.ints).for_each(|(all, more)| all.extend(more));
        }
        let (ends, more) = (&mut self.ends, &next.ends);
        ends.status.extend(&more.status);
        ends.release_time.extend(&more.release_time);
        ends.end_time.extend(&more.end_time);
        ends.mesh_face.extend(&more.mesh_face);
        ends.obstacle.extend(&more.obstacle);
        ends.generation.extend(&more.generation);
    }
}

fn bits(numbers: Vec<f64>) -> Vec<u64> {
    numbers.into_iter().map(f64::to_bits).collect()
}

impl TrackSink for RecordingSink {
    fn on_host(&self) -> bool {
        true
    }

    fn begin(&mut self, plan: &SavePlan) -> Result<(), SinkError> {
        self.particles = plan.particles;
        Ok(())
    }

    fn save(&mut self, save: Save) -> Result<(), SinkError> {
        let end = save.first + save.position.dims()[0];
        let generation = save.generation.map(integers).unwrap_or_default();
        let block = RecordedSave {
            time: save.time.to_bits(),
            position: bits(floats(save.position)),
            velocity: bits(save.velocity.map(floats).unwrap_or_default()),
            arrays: save.arrays.into_iter().map(|values| bits(floats(values))).collect(),
            ints: [integers(save.status), integers(save.image), generation],
        };
        match self.saves.last_mut().filter(|_| self.has_part) {
            None => {
                assert_eq!((save.first, save.index), (0, self.saves.len()));
                self.saves.push(block);
            }
            Some(partial) => {
                assert_eq!(3 * save.first, partial.position.len());
                partial.position.extend(block.position);
                partial.velocity.extend(block.velocity);
                for (all, more) in partial.arrays.iter_mut().zip(block.arrays) {
                    all.extend(more);
                }
                for (all, more) in partial.ints.iter_mut().zip(block.ints) {
                    all.extend(more);
                }
            }
        }
        self.has_part = end < self.particles;
        Ok(())
    }

    fn instances(&mut self, instances: &[ParticleInstance]) -> Result<(), SinkError> {
        self.instances.extend(instances);
        Ok(())
    }

    fn crossings(&mut self, crossings: &[Crossing]) -> Result<(), SinkError> {
        self.crossings.extend(crossings);
        Ok(())
    }

    fn sync(&mut self) -> Result<DurablePosition, SinkError> {
        assert!(!self.has_part);
        Ok(DurablePosition {
            saves: self.saves.len() as u64,
            instances: self.instances.len() as u64,
            crossings: self.crossings.len() as u64,
        })
    }

    fn end(&mut self, ends: &Ends) -> Result<(), SinkError> {
        self.ends = ends.clone();
        Ok(())
    }
}

/// An observer that takes a checkpoint after each segment.
#[derive(Default)]
pub struct States(pub Vec<RunState<'static>>);

impl Observer for States {
    fn progress(&mut self, _: Progress) -> Control {
        Control::Continue
    }

    fn wants_checkpoint(&mut self, _: &Progress) -> bool {
        CheckpointEvery::segments(1).is_due()
    }

    fn checkpoint(&mut self, state: RunState<'_>) -> Result<(), SinkError> {
        self.0.push(state.into_owned());
        Ok(())
    }
}

/// An observer that requests no checkpoints.
#[derive(Default)]
pub struct Idle(pub Vec<RunState<'static>>);

impl Observer for Idle {
    fn progress(&mut self, _: Progress) -> Control {
        Control::Continue
    }

    fn checkpoint(&mut self, state: RunState<'_>) -> Result<(), SinkError> {
        self.0.push(state.into_owned());
        Ok(())
    }
}

/// A complete run.
pub fn run(tracer: &Tracer, seeds: &Seeds) -> (RecordingSink, Summary) {
    let mut record = RecordingSink::default();
    let summary = tracer.trace_into(seeds, &mut record, &mut |_| Control::Continue).unwrap();
    (record, summary)
}

/// Checks that two runs are bit-identical.
#[track_caller]
pub fn assert_same(name: &str, one: &(RecordingSink, Summary), other: &(RecordingSink, Summary)) {
    let [a, b] = [&one.0, &other.0];
    assert_eq!(a.saves.len(), b.saves.len(), "{name}");
    for (k, (a, b)) in a.saves.iter().zip(&b.saves).enumerate() {
        let deviation = a.position.iter().zip(&b.position).filter(|(a, b)| a != b).count();
        assert_eq!(
            deviation,
            0,
            "{name}, save {k}: {deviation} of {} coordinates differ",
            a.position.len()
        );
        assert!(a == b, "{name}, save {k}");
    }
    // As text, which treats NaNs as equal.
    assert_eq!(format!("{:?}", a.instances), format!("{:?}", b.instances), "{name}");
    assert_eq!(a.crossings, b.crossings, "{name}");
    assert_eq!(format!("{:?}", a.ends), format!("{:?}", b.ends), "{name}");
    let counts = |s: &Summary| {
        let sums = (s.released, s.dropped, s.steps, s.particle_steps, s.saves, s.tries);
        (sums, s.counts.clone(), s.patches.clone())
    };
    assert_eq!(counts(&one.1), counts(&other.1), "{name}");
}

const HIGH: [f64; 3] = [2.0, 1.0, 1.0];

/// A swirling flow along x, over nine frames.
pub fn swirl() -> Frames {
    let axes = [even_axis(0.0, 2.0, 9), even_axis(0.0, 1.0, 5), even_axis(0.0, 1.0, 5)];
    let placement = burntrace::Placement::Nodes;
    let times: Vec<f64> = (0..9).map(f64::from).collect();
    Frames::new(axes, placement, &times, |[x, y, z], t| {
        let v = 0.1 * (3.0 * x + t).sin() * (4.0 * y).cos();
        [0.4 + 0.2 * (5.0 * y + 0.3 * t).sin(), v, 0.1 * (4.0 * z + x).sin()]
    })
}

/// Seeds, some of them released late.
pub fn seeds(count: usize) -> Seeds {
    let seeds = Seeds::uniform([0.0; 3], HIGH, count, 5).unwrap();
    let times = (0..count).map(|i| if i % 5 == 0 { 0.37 * (i % 11) as f64 } else { 0.0 });
    seeds.with_release(times.collect()).unwrap()
}

fn inlet(pattern: Pattern) -> Inlet {
    Inlet::new(InletShape::Face(Face::XLow), pattern).unwrap()
}

/// A tracer with re-used slots, a source and gates; other particles end at faces.
pub fn busy<'a>(field: &'a dyn Field, steps_: u64) -> Tracer<'a> {
    let source = Source::constant(inlet(Pattern::Uniform), 4.3, 17).unwrap();
    let source = source.between(0.4, 6.0).unwrap();
    let ball = Shape::Sphere { centre: [0.8, 0.4, 0.5], radius: 0.3 };
    Tracer::new(field)
        .all_faces(BoundaryCondition::Reflect)
        .face(Face::XLow, BoundaryCondition::Clamp)
        .face(Face::XHigh, BoundaryCondition::Exit)
        .face(Face::ZHigh, BoundaryCondition::Exit)
        .outlet(Face::XHigh, inlet(Pattern::Uniform))
        .source(source)
        .span(steps(0.0, 7.7, steps_))
        .gate(Gate::new("slanted", GateShape::plane([1.0, 0.5, 0.5], [1.0, 0.3, -0.2])))
        .gate(Gate::new("ball", GateShape::Region(ball)))
        .save(SaveAt::EverySteps(4))
        .save_velocity(true)
}

/// The same with a random walk, and with a source in proportion to the initial inflow.
pub fn walking<'a>(field: &'a dyn Field, steps: u64) -> Tracer<'a> {
    let source = Source::constant(inlet(Pattern::Flux), 2.1, 9).unwrap();
    busy(field, steps).source(source).random_walk(RandomWalk::isotropic(2e-3, 77))
}

/// The same with adaptive steps.
pub fn adapting<'a>(field: &'a dyn Field, steps: u64) -> Tracer<'a> {
    busy(field, steps).scheme(Scheme::DormandPrince).tolerance(Tolerance::new(1e-5, 1e-6))
}
