//! Gradients by the drift and the diffusivity, and by seeds in a diffusivity that varies.

use super::adjoint::weighted;
use crate::{common::*, meshes::Made, steps::walk::Mixing};
use burn::tensor::{Device, Tensor, TensorData};
use burntrace::{
    BoundaryCondition, CellKind, Engine, Field, FieldOptions, MeshField, Placement, Precision,
    RandomWalk, SaveAt, Seeds, Tracer, WalkScheme,
};

/// A random walk with a diffusivity, or with factors of the field's.
type Walk = fn(Tensor<1>) -> RandomWalk;

const ENGINES: [Engine; 2] = [Engine::Fused, Engine::Tensor];

/// The drift, then the diffusivity or its factors.
const MOTION: [f64; 6] = [0.9, -0.4, 0.3, 0.004, 0.002, 0.007];

fn tensor<const D: usize>(numbers: &[f64], shape: [usize; D], device: &Device) -> Tensor<D> {
    Tensor::from_data(TensorData::new(numbers.to_vec(), shape), (device, Precision::F64.dtype()))
}

/// A run with a drift and a walk.
struct Case<'a> {
    field: &'a dyn Field,
    walk: Walk,
    engine: Engine,
}

impl Case<'_> {
    /// The sum of all coordinates of all saves, each with a weight of its own.
    fn loss(&self, motion: Tensor<1>, seeds: &Seeds) -> Tensor<1> {
        let walk = (self.walk)(motion.clone().narrow(0, 3, 3));
        let tracer = Tracer::new(self.field)
            .span(steps(0.1, 0.9, 8))
            .save(SaveAt::EverySteps(3))
            .drift(motion.narrow(0, 0, 3))
            .random_walk(walk)
            .engine(self.engine);
        let tracer = match self.field.mesh().is_some() {
            true => tracer.mesh_wall(BoundaryCondition::Reflect),
            false => tracer.all_faces(BoundaryCondition::Reflect),
        };
        let tracks = tracer.trace(seeds).unwrap();
        assert_eq!(tracks.summary().unwrap().engine, self.engine);
        weighted(tracks.positions())
    }

    /// Compares the gradient by the motion with central differences.
    fn check_motion(&self, what: &str, device: &Device, seeds: &Seeds) {
        let leaf = tensor(&MOTION, [6], &device.clone().autodiff()).require_grad();
        let gradients = self.loss(leaf.clone(), seeds).backward();
        let gradient = floats(leaf.grad(&gradients).unwrap());
        for (k, gradient) in gradient.into_iter().enumerate() {
            let at = |change: f64| {
                let mut motion = MOTION;
                motion[k] += change;
                floats(self.loss(tensor(&motion, [6], device), seeds))[0]
            };
            check(&format!("{what}, {}, by {k}", self.engine), gradient, at);
        }
    }

    /// Compares the gradient by the seeds with central differences.
    fn check_seeds(&self, what: &str, device: &Device, points: &[[f64; 3]]) {
        let (numbers, motion) = (points.as_flattened(), tensor(&MOTION, [6], device));
        let shape = [points.len(), 3];
        let leaf = tensor(numbers, shape, &device.clone().autodiff()).require_grad();
        let seeds = Seeds::from_tensor(leaf.clone()).unwrap();
        let gradients = self.loss(motion.clone(), &seeds).backward();
        let gradient = floats(leaf.grad(&gradients).unwrap());
        for (k, gradient) in gradient.into_iter().enumerate() {
            let at = |change: f64| {
                let mut points = points.to_vec();
                points.as_flattened_mut()[k] += change;
                floats(self.loss(motion.clone(), &Seeds::list(points).unwrap()))[0]
            };
            check(&format!("{what}, {}, by {k}", self.engine), gradient, at);
        }
    }
}

/// Compares a gradient with a central difference, which is known to about 1e-9.
fn check(what: &str, gradient: f64, at: impl Fn(f64) -> f64) {
    let step = 1e-6;
    let difference = (at(step) - at(-step)) / (2.0 * step);
    let what = format!("{what}: {gradient}, {difference}");
    assert_below(&what, (gradient - difference).abs() / difference.abs().max(1.0), 1e-7);
}

fn some_points() -> Vec<[f64; 3]> {
    Dice(3).points([0.1; 3], [0.9; 3], 9)
}

fn swirl([x, y, z]: [f64; 3], t: f64) -> [f64; 3] {
    [y - 0.5 + 0.2 * t, 0.5 - x * z, 0.3 * x * y]
}

fn mixing() -> Mixing {
    Mixing::new([4, 3, 5], swirl, |[x, y, z]| 0.5 + 0.3 * x * y + z * (1.0 - z))
}

/// Releases during steps, some of them after the start.
fn some_seeds() -> Seeds {
    let release = (0..9).map(|i| 0.1 + 0.037 * f64::from(i)).collect();
    Seeds::list(some_points()).unwrap().with_release(release).unwrap()
}

const CONSTANT: Walk = |diffusivity| RandomWalk::per_axis(diffusivity, 7);
const VARYING: Walk = |factors| RandomWalk::of_field(factors, 7);
const MILSTEIN: Walk = |factors| RandomWalk::of_field(factors, 7).scheme(WalkScheme::Milstein);

#[test]
fn gradients_by_drift_and_diffusivity_match_central_differences() {
    for machine in exact_machines() {
        let field = mixing().field(&machine);
        for (name, walk) in [("constant", CONSTANT), ("varying", VARYING), ("Milstein", MILSTEIN)] {
            for engine in ENGINES {
                let case = Case { field: &field, walk, engine };
                case.check_motion(&format!("{machine}, {name}"), &machine.device, &some_seeds());
            }
        }
    }
}

#[test]
fn gradients_by_drift_and_diffusivity_on_a_mesh_match_central_differences() {
    let made = Made::new(3, 0.1, |_| CellKind::Tetra);
    let values = Dice(17).points([-0.5; 3], [0.5; 3], made.points.len()).into_flattened();
    for machine in exact_machines() {
        let values = tensor(&values, [1, made.points.len(), 3], &machine.device);
        let (mesh, nodes) = ((made.points.clone(), made.cells.clone()), Placement::Nodes);
        let options = FieldOptions::default();
        let field = MeshField::from_tensor(mesh, vec![0.0], nodes, values, &options).unwrap();
        for engine in ENGINES {
            let case = Case { field: &field, walk: CONSTANT, engine };
            case.check_motion(&machine.to_string(), &machine.device, &some_seeds());
        }
    }
}

#[test]
fn gradients_by_seeds_in_a_varying_diffusivity_match_central_differences() {
    for machine in exact_machines() {
        let field = mixing().field(&machine);
        for (name, walk) in [("varying", VARYING), ("Milstein", MILSTEIN)] {
            for engine in ENGINES {
                let case = Case { field: &field, walk, engine };
                case.check_seeds(&format!("{machine}, {name}"), &machine.device, &some_points());
            }
        }
    }
}

/// The derivative of the square root of 0 is infinite; flat axes do not move.
#[test]
fn diffusivity_of_zero_has_a_gradient_of_zero() {
    let mixing = Mixing::new([3, 3, 0], |_, _| [0.1, 0.0, 0.0], |_| 1.0);
    for machine in exact_machines() {
        let field = mixing.field(&machine);
        let device = machine.device.clone().autodiff();
        let motion = tensor(&[0.1, 0.2, 0.3, 0.004, 0.0, 0.0], [6], &device).require_grad();
        for engine in ENGINES {
            let case = Case { field: &field, walk: CONSTANT, engine };
            let seeds = Seeds::list(vec![[0.4, 0.5, 0.0]]).unwrap();
            let gradients = case.loss(motion.clone(), &seeds).backward();
            let gradient = floats(motion.grad(&gradients).unwrap());
            let is_zero: Vec<bool> = gradient.iter().map(|x| *x == 0.0).collect();
            let expected = [false, false, true, false, true, true];
            assert_eq!(is_zero, expected, "{machine}, {engine}: {gradient:?}");
        }
    }
}

#[test]
fn motion_of_another_shape_is_refused() {
    let machine = &exact_machines()[0];
    let field = mixing().field(machine);
    let two = tensor(&[1.0, 2.0], [2], &machine.device);
    let seeds = Seeds::list(some_points()).unwrap();
    let tracer = Tracer::new(&field).span(steps(0.0, 1.0, 4)).drift(two);
    let refused = tracer.trace(&seeds).unwrap_err().to_string();
    assert!(refused.contains("[2]; give one of the shape [3]"), "{refused}");
}
