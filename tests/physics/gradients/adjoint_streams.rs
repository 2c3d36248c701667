//! The fused adjoint with streamed frames, batches and operations after steps.

use super::adjoint::{kinds, tensor, values_of, weighted};
use crate::{common::*, recorded::swirl};
use burn::tensor::{Device, Tensor};
use burntrace::{
    BoundaryCondition, Engine, Error, FieldOptions, FrameData, FrameSource, Frames as Held,
    GridField, GridSource, Placement, RandomWalk, SaveAt, Seeds, SourceError, Step, Tracer,
};
use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

/// Frames that count their reads, and can fail.
#[derive(Clone, Default)]
struct Watch {
    reads: Arc<AtomicUsize>,
    has_failed: Arc<AtomicBool>,
}

struct Watched(Frames, Watch);

impl FrameSource for Watched {
    fn times(&self) -> &[f64] {
        self.0.times()
    }

    fn read(&mut self, frame: usize) -> Result<FrameData, SourceError> {
        self.1.reads.fetch_add(1, Ordering::Relaxed);
        match self.1.has_failed.load(Ordering::Relaxed) {
            true => Err("the file has vanished".into()),
            false => self.0.read(frame),
        }
    }
}

impl GridSource for Watched {
    fn axes(&self) -> &[Vec<f64>; 3] {
        &self.0.axes
    }

    fn placement(&self) -> Placement {
        self.0.placement
    }
}

fn open(device: &Device, machine: &Machine, frames: Held) -> (GridField, Watch) {
    let watch = Watch::default();
    let source = Box::new(Watched(swirl(), watch.clone()));
    let options = FieldOptions { precision: machine.precision, frames, ..FieldOptions::default() };
    (GridField::open(source, device, &options).unwrap(), watch)
}

fn seeds(start: &Tensor<2>) -> Seeds {
    let [count, _] = start.dims();
    let release = (0..count).map(|i| if i % 4 == 0 { 0.3 * (i % 7) as f64 } else { 0.1 });
    Seeds::from_tensor(start.clone()).unwrap().with_release(release.collect()).unwrap()
}

fn points(count: usize) -> Vec<f64> {
    Dice(7).points([0.1; 3], [1.2, 0.9, 0.9], count).into_flattened()
}

/// The loss of a run in a field, and the gradients by seeds, drift and diffusivity.
fn gradients(field: &GridField, device: &Device, backward: bool) -> (f64, Vec<f64>, Vec<f64>) {
    let start = tensor(points(60), [60, 3], device).require_grad();
    let motion = tensor(vec![0.05, -0.02, 0.01, 0.001, 0.002, 0.001], [6], device).require_grad();
    let span = if backward { steps(7.9, 0.2, 75) } else { steps(0.1, 7.9, 75) };
    let tracks = Tracer::new(field)
        .all_faces(BoundaryCondition::Reflect)
        .drift(motion.clone().narrow(0, 0, 3))
        .random_walk(RandomWalk::per_axis(motion.clone().narrow(0, 3, 3), 5))
        .span(span)
        .save(SaveAt::EverySteps(25))
        .trace(&seeds(&start))
        .unwrap();
    assert_eq!(tracks.summary().unwrap().engine, Engine::Fused);
    let loss = weighted(tracks.positions());
    let gradients = loss.backward();
    let by_seeds = floats(start.grad(&gradients).unwrap());
    let by_motion = floats(motion.grad(&gradients).unwrap());
    (floats(loss)[0], by_seeds, by_motion)
}

/// The frames are read once more, from the last to the first. The gradients by the motion are sums over launches, which
/// end where frames do.
#[test]
fn streamed_frames_give_bit_identical_gradients() {
    for machine in exact_machines() {
        let tracking = machine.device.clone().autodiff();
        for backward in [false, true] {
            let (all, _) = open(&machine.device, &machine, Held::All);
            let expected = gradients(&all, &tracking, backward);
            assert!(expected.1.iter().chain(&expected.2).all(|x| x.is_finite() && *x != 0.0));
            for device in [&machine.device, &tracking] {
                let (streamed, watch) = open(device, &machine, Held::Streamed(4));
                let found = gradients(&streamed, &tracking, backward);
                let what = format!("{machine}, {device:?}, backward in time: {backward}");
                assert!((found.0, &found.1) == (expected.0, &expected.1), "{what}");
                for (found, expected) in found.2.iter().zip(&expected.2) {
                    assert_below(&what, (found - expected).abs() / expected.abs(), 1e-12);
                }
                let reads = watch.reads.load(Ordering::Relaxed);
                assert!((13..40).contains(&reads), "{what}: {reads} frames were read");
            }
        }
    }
}

#[test]
fn frame_that_cannot_be_read_again_makes_gradients_nan_and_fails_the_next_run() {
    let machine = &exact_machines()[0];
    let device = machine.device.clone().autodiff();
    let (field, watch) = open(&device, machine, Held::Streamed(4));
    let start = tensor(points(3), [3, 3], &device).require_grad();
    let tracer =
        Tracer::new(&field).all_faces(BoundaryCondition::Reflect).span(steps(0.0, 8.0, 40));
    let seeds = Seeds::from_tensor(start.clone()).unwrap();
    let tracks = tracer.trace(&seeds).unwrap();
    watch.has_failed.store(true, Ordering::Relaxed);
    let gradients = tracks.positions().sum().backward();
    assert!(floats(start.grad(&gradients).unwrap()).iter().all(|x| x.is_nan()));
    let next = tracer.trace(&seeds);
    assert!(matches!(next, Err(Error::Source { .. })), "{next:?}");
}

/// Batches are parts of one operation.
#[test]
fn batches_give_bit_identical_gradients() {
    for machine in exact_machines() {
        let device = machine.device.clone().autodiff();
        for (name, count, make) in kinds().into_iter().take(3) {
            let run = |batch: Option<usize>| {
                let values = tensor(values_of(count), [3, count, 3], &device).require_grad();
                let field = make(values.clone());
                let start = tensor(points(300), [300, 3], &device).require_grad();
                let mut tracer = Tracer::new(&*field)
                    .all_faces(BoundaryCondition::Reflect)
                    .random_walk(RandomWalk::isotropic(0.001, 3))
                    .span(steps(0.1, 1.4, 70))
                    .save(SaveAt::EverySteps(35));
                if let Some(batch) = batch {
                    tracer = tracer.batch(batch);
                }
                let tracks = tracer.trace(&seeds(&start)).unwrap();
                assert_eq!(tracks.summary().unwrap().engine, Engine::Fused);
                let gradients = weighted(tracks.positions()).backward();
                let by_seeds = floats(start.grad(&gradients).unwrap());
                let by_values = floats(values.grad(&gradients).unwrap());
                (floats(tracks.positions()), by_seeds, by_values)
            };
            let expected = run(None);
            for batch in [7, 64, 299] {
                assert!(run(Some(batch)) == expected, "{machine}, {name}, batches of {batch}");
            }
        }
    }
}

/// The gradients by seeds, by values and by a parameter of an operation after each step.
fn with_operation(machine: &Machine, engine: Engine, is_adaptive: bool) -> Vec<f64> {
    let device = machine.device.clone().autodiff();
    let (_, count, make) = kinds().swap_remove(0);
    let values = tensor(values_of(count), [3, count, 3], &device).require_grad();
    let field = make(values.clone());
    let start = tensor(points(12), [12, 3], &device).require_grad();
    let swim = tensor(vec![0.4, -0.3, 0.2], [1, 3], &device).require_grad();
    let operation = |step: Step| {
        // A third of the particles stays, in the graph.
        let moved = (step.before.sin() * swim.clone() + swim.clone()) * step.dt;
        let stays = step.after.clone().narrow(1, 1, 1).lower_elem(0.35).expand([12, 3]);
        step.after.clone() + moved.mask_fill(stays, 0.0)
    };
    let mut tracer = Tracer::new(&*field)
        .all_faces(BoundaryCondition::Reflect)
        .span(steps(0.1, 1.3, 9))
        .save(SaveAt::EverySteps(3))
        .each_step(operation)
        .engine(engine);
    if is_adaptive {
        tracer = tracer
            .scheme(burntrace::Scheme::DormandPrince)
            .tolerance(burntrace::Tolerance::new(1e-6, 1e-6));
    }
    let tracks = tracer.trace(&seeds(&start)).unwrap();
    assert_eq!(tracks.summary().unwrap().engine, engine);
    let gradients = weighted(tracks.positions()).backward();
    let of = |found: Option<Tensor<2>>| floats(found.unwrap());
    let by_values = floats(values.grad(&gradients).unwrap());
    [of(start.grad(&gradients)), of(swim.grad(&gradients)), by_values].concat()
}

#[test]
fn gradients_through_an_operation_after_each_step_match_the_tensor_engine() {
    for machine in exact_machines() {
        for is_adaptive in [false, true] {
            let of = |engine| with_operation(&machine, engine, is_adaptive);
            let (fused, expected) = (of(Engine::Fused), of(Engine::Tensor));
            let size = expected.iter().fold(1.0, |size: f64, x| size.max(x.abs()));
            let off = fused.iter().zip(&expected).map(|(a, b)| (a - b).abs());
            let what = format!("{machine}, adaptive: {is_adaptive}");
            assert_below(&what, off.fold(0.0, f64::max) / size, 1e-10);
        }
    }
}
