//! Frames of which blocks are read around the particles: bit-identical to frames in memory.

use crate::{common::*, recorded::*};
use burntrace::{
    Allowed, BoundaryCondition, Error, Face, Field, FieldOptions, Floats, FrameData, FrameSource,
    Frames as Held, GridBlock, GridField, GridSource, NotFinite, Obstacle, OutsideTime, Placement,
    RandomWalk, SaveAt, Scheme, Seeds, Shape, SourceError, Tolerance, Tracer,
};
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

/// A source that gives no whole frames, and records the values of its largest block.
#[derive(Clone)]
struct InBlocks {
    frames: Frames,
    largest: Arc<AtomicUsize>,
}

impl InBlocks {
    fn open(&self, machine: &Machine, bytes: u64, options: FieldOptions) -> GridField {
        let frames = Held::Blocks(bytes);
        let options = FieldOptions { precision: machine.precision, frames, ..options };
        GridField::open(Box::new(self.clone()), &machine.device, &options).unwrap()
    }
}

impl FrameSource for InBlocks {
    fn times(&self) -> &[f64] {
        self.frames.times()
    }

    fn read(&mut self, _: usize) -> Result<FrameData, SourceError> {
        Err("a whole frame was read".into())
    }
}

impl GridSource for InBlocks {
    fn axes(&self) -> &[Vec<f64>; 3] {
        &self.frames.axes
    }

    fn placement(&self) -> Placement {
        self.frames.placement
    }

    fn read_block(&mut self, frame: usize, block: &GridBlock) -> Result<FrameData, SourceError> {
        let nodes = self.frames.axes.each_ref().map(Vec::len);
        let values = &self.frames.values[frame];
        let indices = block.values(nodes, self.frames.placement);
        let taken: Vec<f64> = indices.flat_map(|i| values[3 * i..3 * i + 3].to_vec()).collect();
        self.largest.fetch_max(taken.len() / 3, Ordering::Relaxed);
        Ok(Floats::F64(taken).into())
    }
}

const CELLS: usize = 40;

/// A flow around the middle of a box with structures of a few cells, over some frames.
fn eddies(axes: [Vec<f64>; 3], placement: Placement, frames: usize) -> InBlocks {
    let times: Vec<f64> = (0..frames).map(|k| 0.6 * k as f64).collect();
    let [x0, y0, z0] = axes.each_ref().map(|axis| 0.5 * (axis[0] + axis[axis.len() - 1]));
    let frames = Frames::new(axes, placement, &times, |[x, y, z], t| {
        let (x, y, z) = (x - x0, y - y0, z - z0);
        let wave = 0.2 * (20.0 * x + 13.0 * y + 9.0 * z + t).sin();
        [0.3 - y + wave, x + wave, 0.2 * (8.0 * x).cos() - 0.3 * wave]
    });
    InBlocks { frames, largest: Arc::default() }
}

fn even() -> [Vec<f64>; 3] {
    [even_axis(-1.0, 1.0, CELLS), even_axis(0.0, 2.0, CELLS), even_axis(-1.0, 1.0, CELLS)]
}

/// Axes with a table, far from 0.
fn stretched() -> [Vec<f64>; 3] {
    [0.0, 500.0, -700.0].map(|low| stretched_axis(low, low + 2.0, CELLS))
}

fn flat() -> [Vec<f64>; 3] {
    [even_axis(-1.0, 1.0, 4 * CELLS), even_axis(0.0, 2.0, 4 * CELLS), vec![0.5]]
}

/// Seeds in a part of the box of axes, the whole of which is `width` 1; some are released late.
fn seeds_in(axes: &[Vec<f64>; 3], width: f64, count: usize) -> Seeds {
    let ends = |axis: &Vec<f64>| {
        let (low, high) = (axis[0], axis[axis.len() - 1]);
        [
            0.5 * (low + high) - 0.5 * width * (high - low),
            0.5 * (low + high) + 0.5 * width * (high - low),
        ]
    };
    let [x, y, z] = axes.each_ref().map(ends);
    let seeds = Seeds::uniform([x[0], y[0], z[0]], [x[1], y[1], z[1]], count, 3).unwrap();
    let times = (0..count).map(|i| if i % 7 == 0 { 0.13 * (i % 5) as f64 } else { 0.0 });
    seeds.with_release(times.collect()).unwrap()
}

/// Runs in memory and in blocks of at most a part of the frames needed at a time, and compares their bits.
/// Returns the number of blocks.
#[track_caller]
fn compare(
    machine: &Machine,
    source: &InBlocks,
    (part, options): (u64, FieldOptions),
    seeds: &Seeds,
    setting: impl for<'a> Fn(Tracer<'a>) -> Tracer<'a>,
) -> u64 {
    let field = machine.load(&source.frames, options);
    let values = source.frames.values[0].len() / 3;
    let bytes = if machine.is_double() { 32 } else { 16 };
    let needed = (values * source.frames.times.len().min(2) * bytes) as u64;
    let in_blocks = source.open(machine, needed / part, options);
    let [all, blocks] = [&field, &in_blocks].map(|field| run(&setting(Tracer::new(field)), seeds));
    assert_same(&machine.to_string(), &all, &blocks);
    let largest = source.largest.load(Ordering::Relaxed) * bytes * source.frames.times.len().min(2);
    assert!(largest as u64 <= needed / part, "{largest} of {needed} / {part}");
    blocks.1.input.unwrap().blocks
}

fn moving<'a>(tracer: Tracer<'a>, machine: &Machine) -> Tracer<'a> {
    let steps_ = if machine.is_cpu() { 100 } else { 16 };
    tracer.span(steps(0.0, 1.1, steps_)).save(SaveAt::EverySteps(steps_ / 4))
}

#[test]
fn blocks_give_bit_identical_tracks_on_all_kinds_of_grids() {
    for machine in some_machines() {
        let count = if machine.is_cpu() { 60 } else { 20 };
        let grids = [
            (even(), Placement::Nodes, 8),
            (even(), Placement::Cells, 8),
            (stretched(), Placement::Nodes, 6),
            (stretched(), Placement::Cells, 8),
            (flat(), Placement::Nodes, 8),
        ];
        for (axes, placement, part) in grids {
            let source = eddies(axes.clone(), placement, 3);
            let together = seeds_in(&axes, 0.1, count);
            let options = (part, FieldOptions::default());
            let blocks =
                compare(&machine, &source, options, &together, |tracer| moving(tracer, &machine));
            assert!((2..60).contains(&blocks), "{machine}, {placement:?}: {blocks} blocks");
        }
    }
}

#[test]
fn particles_everywhere_are_traced_group_by_group() {
    for machine in some_machines() {
        let source = eddies(even(), Placement::Nodes, 1);
        let seeds = seeds_in(&even(), 1.0, if machine.is_cpu() { 100 } else { 20 });
        let options = (8, FieldOptions::default());
        let blocks = compare(&machine, &source, options, &seeds, |tracer| moving(tracer, &machine));
        assert!(blocks > 20, "{machine}: {blocks} blocks");
    }
}

#[test]
fn steps_that_turn_around_stay_in_their_blocks() {
    let machine = &machines()[0];
    let sphere = Shape::Sphere { centre: [0.1, 0.9, 0.0], radius: 0.4 };
    let source = eddies(even(), Placement::Nodes, 4);
    let seeds = seeds_in(&even(), 0.9, 50);
    // The stages of the last one may be far from its steps.
    for (scheme, more) in [(Scheme::Euler, 1), (Scheme::Heun, 1), (Scheme::DormandPrince, 12)] {
        for span in
            [steps(0.0, 1.7, 90 * more), steps(1.75, 0.0, 90 * more), steps(0.2, 1.7, 30 * more)]
        {
            for face in [BoundaryCondition::Reflect, BoundaryCondition::Slide] {
                let options = (3, FieldOptions::default());
                compare(machine, &source, options, &seeds, |tracer| {
                    let shape = sphere.clone();
                    let surface = BoundaryCondition::Reflect;
                    tracer
                        .scheme(scheme)
                        .all_faces(face)
                        .face(Face::XHigh, BoundaryCondition::Exit)
                        .obstacle(Obstacle { shape, allowed: Allowed::Outside, surface })
                        .drift([0.4, -0.3, 0.2])
                        .seeds_outside(burntrace::SeedsOutside::NotLocated)
                        .span(span)
                        .save(SaveAt::EverySteps(30 * more))
                });
            }
        }
    }
}

#[test]
fn blocks_outside_the_times_of_the_frames_are_bit_identical() {
    let machine = &machines()[0];
    let source = eddies(even(), Placement::Nodes, 3);
    let seeds = seeds_in(&even(), 0.2, 40);
    for outside_time in
        [OutsideTime::Hold, OutsideTime::Zero, OutsideTime::Periodic { period: Some(1.5) }]
    {
        let options = (6, outside(outside_time));
        compare(machine, &source, options, &seeds, |tracer| tracer.span(steps(-0.5, 2.9, 120)));
    }
}

fn refusal<T>(result: burntrace::Result<T>) -> String {
    result.err().expect("it is refused").to_string()
}

#[test]
fn what_blocks_cannot_have_is_refused_by_name() {
    let machine = &machines()[0];
    let source = eddies(even(), Placement::Nodes, 2);
    let field = source.open(machine, 1 << 18, FieldOptions::default());
    let seeds = seeds_in(&even(), 0.1, 5);
    let refused = |tracer: Tracer, what: &str| {
        let message = refusal(tracer.span(steps(0.0, 0.5, 5)).prepare(&seeds));
        assert!(
            message.contains("`blocks` cannot be combined with") && message.contains(what),
            "{message}"
        );
    };
    let tracer = || Tracer::new(&field);
    refused(tracer().all_faces(BoundaryCondition::Periodic), "periodic faces");
    refused(tracer().engine(burntrace::Engine::Tensor), "steps in tensor operations");
    refused(tracer().save_velocity(true), "velocities or arrays of the traced field");
    refused(tracer().each_step(|step| step.after), "an operation after each step");
    refused(tracer().random_walk(RandomWalk::isotropic(1e-3, 1)), "a random walk");
    let tolerance = Tolerance::new(1e-5, 1e-6);
    refused(tracer().scheme(Scheme::DormandPrince).tolerance(tolerance), "a tolerance");
    refused(busy(&field, 4), "outlets and sources");

    let open = |options: FieldOptions, source: InBlocks| {
        let options = FieldOptions { frames: Held::Blocks(1 << 18), ..options };
        refusal(GridField::open(Box::new(source), &machine.device, &options))
    };
    let outside = FieldOptions { not_finite: NotFinite::Outside, ..FieldOptions::default() };
    assert!(open(outside, source.clone()).contains("holes of the field"));
    let periodic = self::outside(OutsideTime::Periodic { period: None });
    assert!(open(periodic, source.clone()).contains("give the period"));
    let mut broken = source.clone();
    broken.frames.values[0][0] = f64::NAN;
    assert!(open(FieldOptions::default(), broken).contains("(x, y, z) = (-1, 0, -1)"));
    let blocks = FieldOptions { frames: Held::Blocks(1 << 18), ..FieldOptions::default() };
    let whole = GridField::open(Box::new(source.frames.clone()), &machine.device, &blocks);
    let error = whole.err().unwrap();
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(cause.contains("gives whole frames"), "{cause}");
    let borrowed = GridField::load(&mut source.frames.clone(), &machine.device, &blocks);
    assert!(refusal(borrowed).contains("`GridField::open`"));

    let small = source.open(machine, 1 << 12, FieldOptions::default());
    let too_small = Tracer::new(&small).span(steps(0.0, 0.5, 1)).trace(&seeds);
    assert!(matches!(too_small, Err(Error::Memory { available: 4096, .. })), "{too_small:?}");
    assert!(refusal(field.to_device(&machine.device)).contains("use one device"));
}

#[test]
fn plan_of_blocks_says_how_many() {
    let machine = &machines()[0];
    let source = eddies(even(), Placement::Nodes, 2);
    let field = source.open(machine, 1 << 18, FieldOptions::default());
    let plan =
        Tracer::new(&field).span(steps(0.0, 0.5, 5)).plan(&seeds_in(&even(), 0.1, 5)).unwrap();
    // 41^3 nodes of 16 bytes in two frames.
    assert_eq!((plan.strategy(), plan.blocks()), (burntrace::Strategy::Blocks, Some(9)));
    assert!(plan.to_string().contains("blocks of at most 0.2 MiB, of which 9 are"), "{plan}");
}
