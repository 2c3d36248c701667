//! Frames streamed during a run: bit-identical to frames all in memory.

use crate::{cloud::Cloud, common::*, meshes::*, recorded::*};
use burn::tensor::Tensor;
use burntrace::{
    BoundaryCondition, CellVelocity, Engine, Error, Field, FieldOptions, FrameData, FrameSource,
    Frames as Held, GridField, MeshField, OutsideTime, PointField, SaveAt, Seeds, SourceError,
    TimeInterpolation, Tracer, Weighting,
};
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

/// A source that counts its reads, and may fail.
#[derive(Clone)]
struct Counted {
    frames: Frames,
    reads: Arc<AtomicUsize>,
    fails_at: Option<usize>,
}

impl Counted {
    fn new(frames: Frames) -> Self {
        Counted { frames, reads: Arc::default(), fails_at: None }
    }

    fn open(&self, machine: &Machine, held: usize, options: FieldOptions) -> GridField {
        let frames = Held::Streamed(held);
        let options = FieldOptions { precision: machine.precision, frames, ..options };
        GridField::open(Box::new(self.clone()), &machine.device, &options).unwrap()
    }
}

impl FrameSource for Counted {
    fn times(&self) -> &[f64] {
        self.frames.times()
    }

    fn read(&mut self, frame: usize) -> Result<FrameData, SourceError> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        if self.fails_at == Some(frame) {
            return Err("the file has vanished".into());
        }
        self.frames.read(frame)
    }
}

impl burntrace::GridSource for Counted {
    fn axes(&self) -> &[Vec<f64>; 3] {
        &self.frames.axes
    }

    fn placement(&self) -> burntrace::Placement {
        self.frames.placement
    }
}

/// The frames of [`swirl`], with the last equal to the first.
fn closed_swirl() -> Frames {
    let mut frames = swirl();
    let last = frames.values.len() - 1;
    frames.values[last] = frames.values[0].clone();
    frames
}

/// Many steps per frame, and many frames per step, forward and backward.
fn spans() -> [burntrace::Span; 4] {
    [steps(0.1, 7.9, 65), steps(0.0, 8.0, 3), steps(7.9, 0.3, 65), steps(8.0, 0.0, 16)]
}

#[test]
fn two_devices_in_step_read_streamed_frames_once() {
    let machine = &machines()[0];
    let frames = Counted::new(swirl());
    let field = frames.open(machine, 4, FieldOptions::default());
    let copy = field.to_device(&machine.device).unwrap();
    let fields: [&dyn Field; 2] = [&field, &*copy];
    let position = || Tensor::<2>::from_floats([[0.5, 0.5, 0.5]], &machine.device);
    for time in 0..9 {
        let [one, other] = fields.map(|field| floats(field.velocity(position(), time.into())));
        assert_eq!(one, other);
    }
    // Each of the nine frames once.
    assert_eq!(frames.reads.load(Ordering::Relaxed), 9);
    // Far behind, the first device reads frames again that are no longer kept.
    fields[0].velocity(position(), 0.5);
    assert!(frames.reads.load(Ordering::Relaxed) > 9);
}

#[test]
fn streamed_frames_give_bit_identical_tracks() {
    for machine in some_machines() {
        let frames = Counted::new(swirl());
        let field = machine.field(&frames.frames);
        let spans = if machine.is_cpu() { spans().to_vec() } else { spans()[1..3].to_vec() };
        for (k, span) in spans.iter().enumerate() {
            let seeds = seeds(if machine.is_cpu() { 50 } else { 20 });
            let all = run(&walking(&field, 1).span(*span), &seeds);
            assert_eq!(all.1.input, None);
            for (held, batch) in [(4, 1000), (5, 17)] {
                let name = format!("{machine}, span {k}, {held} frames");
                let streamed = frames.open(&machine, held, FieldOptions::default());
                let tracer = walking(&streamed, 1).span(*span).batch(batch);
                assert_same(&name, &all, &run(&tracer, &seeds));
            }
        }
    }
}

#[test]
fn streamed_frames_give_bit_identical_tracks_outside_their_times() {
    let outsides = [
        OutsideTime::Hold,
        OutsideTime::Zero,
        OutsideTime::Periodic { period: None },
        OutsideTime::Periodic { period: Some(8.75) },
    ];
    for machine in some_machines() {
        let frames = Counted::new(closed_swirl());
        let [long, back] = [steps(-3.0, 20.3, 90), steps(19.0, -9.5, 90)];
        let (outsides, spans) = match machine.is_cpu() {
            true => (outsides.to_vec(), vec![long, back]),
            false => (outsides[2..3].to_vec(), vec![steps(5.0, 11.0, 16)]),
        };
        for outside_time in outsides {
            for in_time in [TimeInterpolation::Linear, TimeInterpolation::Nearest] {
                let options = FieldOptions { outside_time, in_time, ..Default::default() };
                let field = machine.load(&frames.frames, options);
                for span in &spans {
                    let tracer = |field| busy(field, 1).span(*span).save(SaveAt::EverySteps(30));
                    let all = run(&tracer(&field), &seeds(30));
                    let streamed = frames.open(&machine, 4, options);
                    let name = format!("{machine}, {outside_time:?}, {in_time:?}");
                    assert_same(&name, &all, &run(&tracer(&streamed), &seeds(30)));
                }
            }
        }
    }
}

#[test]
fn streamed_frames_give_bit_identical_adaptive_tracks_with_both_engines() {
    for machine in machines().into_iter().filter(Machine::is_cpu) {
        let frames = Counted::new(swirl());
        let field = machine.field(&frames.frames);
        let streamed = frames.open(&machine, 4, FieldOptions::default());
        let (seeds, span) = (seeds(30), steps(0.0, 7.7, 11));
        for engine in [Engine::Fused, Engine::Tensor] {
            let tracer = |field| adapting(field, 1).span(span).engine(engine);
            let all = run(&tracer(&field), &seeds);
            assert_same(&format!("{machine}, {engine}"), &all, &run(&tracer(&streamed), &seeds));
        }
    }
}

fn in_box<'a>(field: &'a dyn Field) -> Tracer<'a> {
    Tracer::new(field)
        .all_faces(BoundaryCondition::Reflect)
        .span(steps(0.2, 7.9, 60))
        .save(SaveAt::EverySteps(30))
        .save_velocity(true)
}

const TIMES: [f64; 9] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];

#[test]
fn streamed_points_and_meshes_give_bit_identical_tracks() {
    for machine in machines().into_iter().filter(Machine::is_cpu) {
        let held = FieldOptions {
            precision: machine.precision,
            frames: Held::Streamed(4),
            ..FieldOptions::default()
        };
        let all = FieldOptions { frames: Held::All, ..held };
        let velocity = |[x, y, z]: [f64; 3], t: f64| [0.5 - y, x - 0.5, 0.1 * (t - z)];
        let mut dice = Dice(3);
        let positions: Vec<_> =
            (0..200).map(|_| [0, 1, 2].map(|_| dice.between(0.0, 1.0))).collect();
        let weighting = Weighting::InverseDistance { neighbours: 4, power: 2.0 };
        let cloud = Cloud::new(positions, &TIMES, weighting, velocity);
        let open = |options| {
            PointField::open(Box::new(cloud.clone()), &machine.device, options, weighting).unwrap()
        };
        let seeds = Seeds::uniform([0.3; 3], [0.7; 3], 40, 3).unwrap();
        let [one, other] = [&all, &held].map(|options| run(&in_box(&open(options)), &seeds));
        assert_same(&format!("{machine}, points"), &one, &other);
        assert!(other.1.input.is_some());

        let made = mixed(4);
        let mut mesh = MeshFrames::new(&made, &TIMES, velocity);
        for in_cells in [CellVelocity::Constant, CellVelocity::Averaged] {
            let open = |options| {
                let source = Box::new(mesh.clone());
                MeshField::open(source, &machine.device, options, in_cells).unwrap()
            };
            let [one, other] = [&all, &held].map(|options| run(&in_box(&open(options)), &seeds));
            assert_same(&format!("{machine}, mesh, {in_cells:?}"), &one, &other);
            let cells = MeshFrames::in_cells(&made, |cell| velocity([0.1 * cell as f64; 3], 0.0));
            mesh = MeshFrames {
                times: TIMES.to_vec(),
                values: vec![cells.values[0].clone(); TIMES.len()],
                ..cells
            };
        }
    }
}

#[test]
fn each_frame_is_read_once_in_a_run() {
    let machine = &machines()[0];
    for span in [steps(0.0, 8.0, 80), steps(8.0, 0.0, 80)] {
        let frames = Counted::new(swirl());
        let field = frames.open(machine, 4, FieldOptions::default());
        let before = frames.reads.load(Ordering::Relaxed);
        assert!(before <= 2, "{before}");
        let (_, summary) = run(&walking(&field, 1).span(span).batch(20), &seeds(50));
        let reads = frames.reads.load(Ordering::Relaxed);
        // All frames, and the first one again if the run starts at the other end.
        assert!((9..=10).contains(&reads), "{reads}");
        let input = summary.input.unwrap();
        assert_eq!(input.bytes, input.frames * 10 * 6 * 6 * 16);
    }
}

#[test]
fn run_stopped_by_an_unreadable_frame_can_be_resumed() {
    let machine = &machines()[0];
    let good = Counted::new(swirl());
    let bad = Counted { fails_at: Some(6), ..good.clone() };
    let (seeds, span) = (seeds(40), steps(0.0, 8.0, 80));
    for engine in [Engine::Fused, Engine::Tensor] {
        let [good, bad] =
            [&good, &bad].map(|frames| frames.open(machine, 4, FieldOptions::default()));
        let tracer = |field| walking(field, 1).span(span).engine(engine);
        let whole = run(&tracer(&good), &seeds);
        let (mut record, mut states) = (RecordingSink::default(), Idle::default());
        let failing = tracer(&bad);
        match failing.prepare(&seeds).unwrap().run_observed(&mut record, &mut states) {
            Err(Error::Source { frame: 6, source }) => {
                assert_eq!(source.to_string(), "the file has vanished");
            }
            other => panic!("{other:?}"),
        }
        // The checkpoint of the last segment, taken without a request.
        let [state] = &states.0[..] else { panic!("{} states", states.0.len()) };
        assert!(state.numbers.time() > 3.5, "{}", state.numbers.time());
        let mut record = record.at(state.numbers.mark());
        let tracer = tracer(&good);
        let prepared = tracer.prepare(&seeds).unwrap().resume(state).unwrap();
        let rest = prepared.run_into(&mut record).unwrap();
        assert_same(&engine.to_string(), &whole, &(record, rest));
    }
}

#[test]
fn borrowed_source_cannot_be_streamed() {
    let machine = &machines()[0];
    let options = FieldOptions { frames: Held::Streamed(4), ..FieldOptions::default() };
    match GridField::load(&mut swirl(), &machine.device, &options) {
        Err(Error::Plan(reason)) => assert!(reason.contains("`open`"), "{reason}"),
        other => panic!("{other:?}"),
    }
    let uneven = OutsideTime::Periodic { period: None };
    let options = FieldOptions { outside_time: uneven, ..options };
    match GridField::open(Box::new(swirl()), &machine.device, &options) {
        Err(Error::Period { .. }) => {}
        other => panic!("{other:?}"),
    }
}
