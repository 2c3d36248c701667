//! Gradients in segments of the tensor engine, against those of the graph of all steps.

use crate::common::*;
use burn::tensor::{DType, Device, Tensor, TensorData};
use burntrace::{
    Adjoint, Allowed, BoundaryCondition, Domain, Engine, Error, Face, Field, FieldFn, FieldOptions,
    GridField, Inlet, InletShape, Obstacle, Pattern, Placement, Precision, RandomWalk, SaveAt,
    Scheme, Seeds, Shape, Tolerance, Tracer, Tracks, value_and_grad,
};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Settings of a tracer.
type Set = dyn for<'a> Fn(Tracer<'a>, &Parameters) -> Tracer<'a>;

fn leaf<const D: usize>(numbers: Vec<f64>, shape: [usize; D], device: &Device) -> Tensor<D> {
    Tensor::from_data(TensorData::new(numbers, shape), (device, DType::F64)).require_grad()
}

/// Random numbers in a tensor that requires gradients.
fn random<const D: usize>(seed: u64, shape: [usize; D], device: &Device) -> Tensor<D> {
    let mut dice = Dice(seed);
    let count = shape.iter().product();
    leaf((0..count).map(|_| dice.between(-0.5, 0.5)).collect(), shape, device)
}

fn cube() -> Domain {
    Domain { low: [-1.0; 3], high: [1.0; 3] }
}

/// The tensors that require gradients.
struct Parameters {
    weights: [Tensor<2>; 2],
    bias: Tensor<2>,
    seeds: Tensor<2>,
    drift: Tensor<1>,
    diffusivity: Tensor<1>,
    swimming: Tensor<2>,
    scale: Tensor<1>,
}

impl Parameters {
    fn new(device: &Device) -> Self {
        Parameters {
            weights: [random(1, [4, 6], device), random(2, [6, 3], device)],
            bias: random(3, [1, 6], device),
            seeds: random(4, [7, 3], device),
            drift: leaf(vec![0.2, -0.1, 0.05], [3], device),
            diffusivity: leaf(vec![0.002, 0.001, 0.003], [3], device),
            swimming: random(5, [1, 3], device),
            scale: leaf(vec![1.3], [1], device),
        }
    }

    /// A network as a field, which changes with time.
    fn field(&self, device: &Device) -> impl Field + use<> {
        let ([first, second], bias) = (self.weights.clone(), self.bias.clone());
        FieldFn::new(cube(), device, Precision::F64, move |position: Tensor<2>, time| {
            let time = position.clone().narrow(1, 0, 1).full_like(time);
            let inputs = Tensor::cat(vec![position, time], 1);
            (inputs.matmul(first.clone()) + bias.clone()).tanh().matmul(second.clone()) * 4.0
        })
    }

    /// Seeds that depend on a leaf through an operation; two are released later.
    fn seeds(&self) -> Seeds {
        let release = vec![0.0, 0.0, 0.33, 0.0, 0.5, 0.0, 0.0];
        let positions = self.seeds.clone() * self.scale.clone().reshape([1, 1]);
        Seeds::from_tensor(positions).unwrap().with_release(release).unwrap()
    }

    /// A loss on positions, velocities and end times, and on the parameters themselves.
    fn loss(&self, tracks: &Tracks) -> Tensor<1> {
        let positions = tracks.positions();
        let velocities = tracks.velocities().unwrap();
        let weights = (0..positions.shape().num_elements()).map(|i| (1.0 + i as f64).sin());
        let data = TensorData::new(weights.collect::<Vec<_>>(), positions.dims());
        let weights = Tensor::<3>::from_data(data, (&positions.device(), DType::F64));
        let of_tracks =
            (positions * weights.clone()).sum() + (velocities * weights).square().mean();
        let times = tracks.end_times().unwrap();
        let has_not_ended = times.clone().is_nan();
        let of_times = times.mask_fill(has_not_ended, 0.0).square().sum();
        of_tracks + of_times + self.weights[0].clone().square().sum() * 0.01
    }

    /// All gradients; zero where there is none.
    fn gradients(&self, of: &burn::tensor::Gradients) -> Vec<Vec<f64>> {
        fn numbers<const D: usize>(leaf: &Tensor<D>, of: &burn::tensor::Gradients) -> Vec<f64> {
            leaf.grad(of).map(floats).unwrap_or_default()
        }
        let mut all: Vec<Vec<f64>> = self.weights.iter().map(|leaf| numbers(leaf, of)).collect();
        for leaf in [&self.bias, &self.seeds, &self.swimming] {
            all.push(numbers(leaf, of));
        }
        for leaf in [&self.drift, &self.diffusivity, &self.scale] {
            all.push(numbers(leaf, of));
        }
        all
    }
}

/// The loss and its gradients, of a whole graph or in segments.
fn value_and_gradients(device: &Device, set: &Set, adjoint: Adjoint) -> (f64, Vec<Vec<f64>>) {
    let parameters = Parameters::new(device);
    let field = parameters.field(device);
    let swimming = parameters.swimming.clone();
    let tracer = Tracer::new(&field)
        .span(steps(0.0, 1.0, 11))
        .save(SaveAt::EverySteps(4))
        .save_velocity(true)
        .drift(parameters.drift.clone() * parameters.scale.clone())
        .each_step(move |step| step.after.clone() + step.before.sin() * swimming.clone() * step.dt)
        .adjoint(adjoint);
    let tracer = set(tracer, &parameters);
    let seeds = parameters.seeds();
    let (value, gradients) = match adjoint {
        Adjoint::Graph => {
            let tracks = tracer.trace(&seeds).unwrap();
            assert_eq!(tracks.summary().unwrap().engine, Engine::Tensor);
            let loss = parameters.loss(&tracks);
            (loss.clone().inner(), loss.backward())
        }
        _ => tracer.value_and_grad(&seeds, |tracks| parameters.loss(tracks)).unwrap(),
    };
    (floats(value)[0], parameters.gradients(&gradients))
}

/// Compares gradients in segments of several lengths with those of the graph of all steps.
fn check(what: &str, set: &Set) {
    for machine in exact_machines() {
        let device = machine.device.clone().autodiff();
        let (value, expected) = value_and_gradients(&device, set, Adjoint::Graph);
        let size = expected.iter().flatten().fold(0.0, |max: f64, x| max.max(x.abs()));
        assert!(size > 0.1, "{what}, {machine}: {expected:?}");
        for steps in [0, 1, 3, 100] {
            let adjoint = if steps == 0 { Adjoint::Auto } else { Adjoint::Segments { steps } };
            let what = format!("{what}, {machine}, {adjoint:?}");
            let (same, found) = value_and_gradients(&device, set, adjoint);
            assert_eq!(same, value, "{what}");
            for (k, (found, expected)) in found.iter().zip(&expected).enumerate() {
                assert_eq!(found.len(), expected.len(), "{what}, tensor {k}");
                for (a, b) in found.iter().zip(expected) {
                    let size = size.max(b.abs());
                    assert_below(
                        &format!("{what}, tensor {k}: {a}, {b}"),
                        (a - b).abs() / size,
                        1e-12,
                    );
                }
            }
        }
    }
}

fn walking<'a>(tracer: Tracer<'a>, parameters: &Parameters) -> Tracer<'a> {
    tracer.random_walk(RandomWalk::per_axis(parameters.diffusivity.clone(), 5))
}

#[test]
fn gradients_in_segments_equal_those_of_the_whole_graph() {
    use BoundaryCondition::*;
    for condition in [Exit, Reflect, Periodic, Slide] {
        let set: &Set = &move |tracer, parameters| walking(tracer.all_faces(condition), parameters);
        check(&format!("{condition:?}"), set);
    }
    check("tolerance", &|tracer, _| {
        let tracer = tracer.scheme(Scheme::DormandPrince).all_faces(Reflect);
        tracer.tolerance(Tolerance::new(1e-6, 1e-6))
    });
    check("obstacle", &|tracer, _| {
        let shape = Shape::Sphere { centre: [0.2, 0.1, 0.0], radius: 0.2 };
        tracer.all_faces(Stick).obstacle(Obstacle {
            shape,
            allowed: Allowed::Outside,
            surface: Reflect,
        })
    });
    check("outlet", &|tracer, _| {
        let inlet = Inlet::new(InletShape::Face(Face::YLow), Pattern::Uniform).unwrap();
        tracer.outlet(Face::XHigh, inlet)
    });
}

/// A field that counts its evaluations, and the gradient by its rate.
fn counted(steps_of_run: u64, adjoint: Adjoint, runs: usize) -> (usize, f64) {
    let device = Device::flex().autodiff();
    let rate = leaf(vec![-0.5], [1], &device);
    let count = AtomicUsize::new(0);
    let field = FieldFn::new(Domain::unbounded(), &device, Precision::F64, |position, _| {
        count.fetch_add(1, Ordering::Relaxed);
        position * rate.clone().reshape([1, 1])
    });
    let tracer = Tracer::new(&field)
        .span(steps(0.0, 1.0, steps_of_run))
        .save(SaveAt::EverySteps(3))
        .scheme(Scheme::Euler)
        .adjoint(adjoint);
    let seeds = Seeds::list(vec![[1.0, 0.5, 0.0]; 4]).unwrap();
    let all = vec![(&tracer, &seeds); runs];
    // Without the evaluations that ask whether gradients are tracked.
    count.store(0, Ordering::Relaxed);
    let loss = |tracks: &[Tracks]| {
        let each = tracks.iter().map(|tracks| tracks.positions().square().sum());
        each.reduce(|sum, loss| sum + loss).unwrap()
    };
    let (_, gradients) = value_and_grad(&all, loss).unwrap();
    (count.load(Ordering::Relaxed), floats(rate.grad(&gradients).unwrap())[0])
}

#[test]
fn the_last_segment_is_taken_once() {
    let (once, whole) = counted(12, Adjoint::Auto, 1);
    assert_eq!(once, 12);
    for (segment, count) in [(1, 23), (5, 21), (12, 12), (100, 12)] {
        let (found, gradient) = counted(12, Adjoint::Segments { steps: segment }, 1);
        assert_eq!((found, gradient), (count, whole), "{segment}");
    }
    // Of several runs, those that are one segment.
    for (adjoint, count) in [(Adjoint::Auto, 36), (Adjoint::Segments { steps: 6 }, 72)] {
        let (found, gradient) = counted(12, adjoint, 3);
        assert_eq!(found, count, "{adjoint:?}");
        assert_below("sum", (gradient - 3.0 * whole).abs() / whole.abs(), 1e-14);
    }
    // A longer run has segments.
    let (found, long) = counted(300, Adjoint::Auto, 1);
    assert!((590..600).contains(&found), "{found}");
    let (_, graph) = counted(300, Adjoint::Segments { steps: 300 }, 1);
    assert_below("300 steps", (long - graph).abs() / graph.abs(), 1e-13);
}

/// An operation after each step in a sampled field: the fused engine takes the steps.
#[test]
fn operation_after_each_step_has_gradients_on_the_fused_engine() {
    for machine in exact_machines() {
        let device = machine.device.clone().autodiff();
        let all = |adjoint: Adjoint| {
            let values = random(6, [2, 27, 3], &device);
            let (axis, options) = (
                vec![-1.0, 0.0, 1.0],
                FieldOptions { precision: Precision::F64, ..FieldOptions::default() },
            );
            let axes = [axis.clone(), axis.clone(), axis];
            let times = vec![0.0, 1.0];
            let field =
                GridField::from_tensor(axes, times, Placement::Nodes, values.clone(), &options);
            let (field, parameters) = (field.unwrap(), Parameters::new(&device));
            let swimming = parameters.swimming.clone();
            let tracer = Tracer::new(&field)
                .span(steps(0.0, 1.0, 11))
                .save(SaveAt::EverySteps(4))
                .all_faces(BoundaryCondition::Reflect)
                .drift(parameters.drift.clone())
                .each_step(move |step| step.after + step.before.sin() * swimming.clone() * step.dt)
                .adjoint(adjoint);
            let mut engine = None;
            let loss = |tracks: &Tracks| {
                engine = tracks.summary().map(|summary| summary.engine);
                tracks.positions().square().sum()
            };
            let (_, gradients) = tracer.value_and_grad(&parameters.seeds(), loss).unwrap();
            let mut all = parameters.gradients(&gradients);
            all.push(floats(values.grad(&gradients).unwrap()));
            (engine.unwrap(), all)
        };
        let (engine, fused) = all(Adjoint::Auto);
        assert_eq!(engine, Engine::Fused, "{machine}");
        let (engine, graph) = all(Adjoint::Graph);
        assert_eq!(engine, Engine::Tensor, "{machine}");
        for (k, (fused, graph)) in fused.iter().zip(&graph).enumerate() {
            assert_eq!(fused.len(), graph.len(), "{machine}, tensor {k}");
            for (a, b) in fused.iter().zip(graph) {
                assert_below(&format!("{machine}, tensor {k}: {a}, {b}"), (a - b).abs(), 1e-12);
            }
        }
    }
}

#[test]
fn fused_gradients_do_not_depend_on_the_steps_between_states() {
    for machine in exact_machines() {
        let device = machine.device.clone().autodiff();
        let gradient = |adjoint: Adjoint| {
            let values = random(6, [2, 27, 3], &device);
            let (axis, options) = (
                vec![-1.0, 0.0, 1.0],
                FieldOptions { precision: Precision::F64, ..FieldOptions::default() },
            );
            let (axes, times) = ([axis.clone(), axis.clone(), axis], vec![0.0, 1.0]);
            let field =
                GridField::from_tensor(axes, times, Placement::Nodes, values.clone(), &options);
            let field = field.unwrap();
            let tracer = Tracer::new(&field).span(steps(0.0, 1.0, 20)).adjoint(adjoint);
            let seeds = Seeds::list(Dice(8).points([-0.5; 3], [0.5; 3], 9)).unwrap();
            let launches = tracer.trace(&seeds).unwrap().summary().unwrap().launches;
            let loss = |tracks: &Tracks| tracks.positions().sum();
            let (_, gradients) = tracer.value_and_grad(&seeds, loss).unwrap();
            (launches, floats(values.grad(&gradients).unwrap()))
        };
        let (launches, expected) = gradient(Adjoint::Auto);
        assert_eq!(launches, 1, "{machine}");
        for every in [1, 7, 1000] {
            let (launches, found) = gradient(Adjoint::Fused { every });
            assert_eq!(launches, 20u64.div_ceil(every as u64), "{machine}");
            for (a, b) in found.iter().zip(&expected) {
                assert_below(&format!("{machine}, {every}: {a}, {b}"), (a - b).abs(), 1e-13);
            }
        }
    }
}

#[test]
fn adjoints_that_are_not_possible_are_refused() {
    let device = Device::flex().autodiff();
    let parameters = Parameters::new(&device);
    let own = parameters.field(&device);
    let seeds = parameters.seeds();
    let refused = |tracer: Tracer| tracer.prepare(&seeds).err().unwrap().to_string();
    let with = |adjoint| Tracer::new(&own).span(steps(0.0, 1.0, 8)).adjoint(adjoint);
    let message = refused(with(Adjoint::Fused { every: 8 }));
    assert!(
        message.contains("the fused engine cannot be combined with a field of your own"),
        "{message}"
    );
    for (adjoint, part) in [
        (Adjoint::Fused { every: 0 }, "every 0 steps; give 1 or more"),
        (Adjoint::Segments { steps: 0 }, "0 steps; give 1 or more"),
        (Adjoint::Segments { steps: 4 }, "use `value_and_grad`"),
    ] {
        let message = refused(with(adjoint));
        assert!(message.contains(part), "{message}");
    }

    let values = random(6, [1, 8, 3], &device);
    let (axis, options) =
        (vec![-1.0, 1.0], FieldOptions { precision: Precision::F64, ..FieldOptions::default() });
    let axes = [axis.clone(), axis.clone(), axis];
    let field = GridField::from_tensor(axes, vec![0.0], Placement::Nodes, values, &options);
    let field = field.unwrap();
    let tracer = Tracer::new(&field).span(steps(0.0, 1.0, 8));
    let fixed = Seeds::list(vec![[0.0; 3]]).unwrap();
    let segments = tracer.clone().adjoint(Adjoint::Segments { steps: 4 });
    let error = segments.value_and_grad(&fixed, |tracks| tracks.positions().sum()).err().unwrap();
    assert!(matches!(error, Error::Combination { .. }), "{error}");
    assert!(error.to_string().contains("the values of the field have a graph"), "{error}");
    let constant = |_: &Tracks| Tensor::zeros([1], &device);
    let error = tracer.value_and_grad(&fixed, constant).err().unwrap();
    assert!(error.to_string().contains("call `require_grad`"), "{error}");
}

/// The graph of a segment is counted once, that of the whole run in proportion to the steps.
#[test]
fn plan_counts_what_gradients_keep() {
    let device = Device::flex().autodiff();
    let parameters = Parameters::new(&device);
    let field = parameters.field(&device);
    let seeds = parameters.seeds();
    let bytes = |adjoint, count| {
        let tracer = Tracer::new(&field).span(steps(0.0, 1.0, count)).adjoint(adjoint);
        let plan = tracer.plan(&seeds).unwrap();
        let item = plan.items().iter().find(|item| item.name == "gradients").unwrap();
        (item.host + item.device) as f64 / seeds.len() as f64
    };
    let graph = bytes(Adjoint::Graph, 400);
    assert_eq!(bytes(Adjoint::Graph, 800), 2.0 * graph);
    let segment = bytes(Adjoint::Segments { steps: 20 }, 400);
    assert_below("a segment of 20 of 400 steps", segment, 0.1 * graph);
    let more = bytes(Adjoint::Segments { steps: 20 }, 800) - segment;
    assert_eq!(more, 20.0 * Precision::F64.particle_bytes() as f64);
}
