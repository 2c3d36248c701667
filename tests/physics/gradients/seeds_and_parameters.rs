//! Gradients of tracks with respect to seeds and to parameters of the field.

use crate::{
    common::*,
    meshes::{MeshFrames, mixed},
};
use burn::tensor::{Device, Tensor, TensorData};
use burntrace::{
    BoundaryCondition, Domain, Engine, Field, FieldFn, FieldOptions, GridField, Placement,
    Precision, Scheme, Seeds, Tracer,
};
use std::f64::consts::TAU;

const RATE: f64 = TAU / 24.0;
pub const STEPS: u64 = 10;

/// Clockwise solid rotation about the origin, on a grid that may be flat along z.
pub fn rotation(device: &Device, precision: Precision, z: Vec<f64>) -> GridField {
    let axes = [even_axis(-8.0, 8.0, 7), stretched_axis(-8.0, 8.0, 5), z];
    let mut frames =
        Frames::new(axes, Placement::Nodes, &[0.0], |p, _| [RATE * p[1], -RATE * p[0], 0.0]);
    let options = FieldOptions { precision, ..FieldOptions::default() };
    GridField::load(&mut frames, device, &options).unwrap()
}

/// The n-th power of the stability function R(-i w h), as the matrix [[a, -b], [b, a]], for the velocity
/// (y, -x).
pub fn exact(scheme: Scheme, steps: u64) -> [f64; 2] {
    let h = RATE;
    let (mut a, mut b) = (1.0, 0.0);
    for _ in 0..steps {
        // The Taylor polynomial of exp(-i h) of the scheme's order.
        let (re, im) = match scheme {
            Scheme::Euler => (1.0, -h),
            Scheme::Midpoint | Scheme::Heun => (1.0 - h * h / 2.0, -h),
            Scheme::Rk4 => (1.0 - h * h / 2.0 + h.powi(4) / 24.0, -h + h.powi(3) / 6.0),
            // Plus a term of order 6 from the sixth stage.
            Scheme::DormandPrince => (
                1.0 - h * h / 2.0 + h.powi(4) / 24.0 - h.powi(6) / 600.0,
                -h + h.powi(3) / 6.0 - h.powi(5) / 120.0,
            ),
        };
        (a, b) = (a * re - b * im, a * im + b * re);
    }
    [a, b]
}

fn leaf(points: &[[f64; 3]], device: &Device, precision: Precision) -> Tensor<2> {
    let data = TensorData::new(points.as_flattened().to_vec(), [points.len(), 3]);
    Tensor::from_data(data.convert_dtype(precision.dtype()), (device, precision.dtype()))
        .require_grad()
}

/// The deviation from `expected` of the gradient of component `d` of the final positions, summed over the
/// particles, which are independent of each other: the larger one of both engines.
fn deviation(tracer: &Tracer, start: &Tensor<2>, d: usize, expected: &[[f64; 3]]) -> f64 {
    let found = [Engine::Tensor, Engine::Fused].map(|engine| {
        let tracer = tracer.clone().engine(engine);
        let tracks = tracer.trace(&Seeds::from_tensor(start.clone()).unwrap()).unwrap();
        assert_eq!(tracks.summary().unwrap().engine, engine);
        let last = tracks.saves().last().unwrap().position.clone();
        // `sum_dim` instead of `sum`: Burn's single-precision `sum` kernel crashes on the software Vulkan
        // of Mesa 22.3.
        let gradients = last.narrow(1, d, 1).sum_dim(0).backward();
        distance(&rows(start.grad(&gradients).unwrap()), expected)
    });
    found[0].max(found[1])
}

/// Checks the gradients of the rotation `field`, on an autodiff device.
fn check_rotation(field: &dyn Field, name: &str, bound: f64) {
    let (device, precision) = (field.device(), field.precision());
    let points = Dice(31).points([-2.0, -2.0, 0.5], [2.0, 2.0, 0.5], 5);
    for scheme in Scheme::ALL {
        for condition in [BoundaryCondition::Exit, BoundaryCondition::Periodic] {
            let tracer = Tracer::new(field).scheme(scheme).all_faces(condition).span(steps(
                0.0,
                STEPS as f64,
                STEPS,
            ));
            let start = leaf(&points, &device, precision);
            let [a, b] = exact(scheme, STEPS);
            let expected = [[a, -b, 0.0], [b, a, 0.0], [0.0, 0.0, 1.0]];
            for (d, row) in expected.iter().enumerate() {
                let deviation = deviation(&tracer, &start, d, &[*row; 5]);
                let what = format!("{name}, {device:?}, {scheme:?}, {condition:?}, row {d}");
                assert_below(&what, deviation, bound);
            }
        }
    }
}

#[test]
fn flow_map_gradient_of_a_rotation_on_a_grid_is_exact() {
    for machine in exact_machines() {
        let device = machine.device.clone().autodiff();
        let solid = even_axis(0.0, 1.0, 2);
        check_rotation(&rotation(&device, Precision::F64, vec![0.5]), "flat grid", 1e-12);
        check_rotation(&rotation(&device, Precision::F64, solid), "grid", 1e-12);
    }
}

/// Cells are located on the host; gradients flow through the weights of their nodes.
#[test]
fn flow_map_gradient_of_a_rotation_on_a_mesh_is_exact() {
    let made = mixed(4).mapped(|p| p.map(|x| 16.0 * x - 8.0));
    let frames = MeshFrames::new(&made, &[0.0], |p, _| [RATE * p[1], -RATE * p[0], 0.0]);
    for machine in exact_machines() {
        let device = machine.device.clone().autodiff();
        check_rotation(&frames.field(&Machine { device, ..machine }), "mesh", 1e-11);
    }
}

/// The field is on a device without autodiff; the seeds track gradients.
#[test]
fn seeds_with_gradients_can_be_traced_in_a_plain_field() {
    for machine in exact_machines() {
        let field = rotation(&machine.device, Precision::F64, vec![0.5]);
        let device = machine.device.clone().autodiff();
        let start = leaf(&[[1.0, 0.5, 0.5]], &device, Precision::F64);
        let tracer = Tracer::new(&field).span(steps(0.0, STEPS as f64, STEPS));
        let [a, b] = exact(Scheme::Rk4, STEPS);
        let deviation = deviation(&tracer, &start, 0, &[[a, -b, 0.0]]);
        assert_below(&machine.to_string(), deviation, 1e-12);
    }
}

/// An autodiff device and a plain device give identical tracks.
#[test]
fn autodiff_device_gives_identical_tracks() {
    for machine in exact_machines() {
        let points = Dice(32).points([-2.0, -2.0, 0.5], [2.0, 2.0, 0.5], 20);
        let run = |device: &Device| {
            let field = rotation(device, Precision::F64, vec![0.5]);
            let tracer = Tracer::new(&field).span(steps(0.0, STEPS as f64, STEPS));
            trace(&tracer.engine(Engine::Tensor), &Seeds::list(points.clone()).unwrap())
        };
        let plain = run(&machine.device);
        assert_eq!(plain.saves, run(&machine.device.clone().autodiff()).saves, "{machine}");
    }
}

/// Final positions of particles in the flow (k y, -k sin x).
fn with_parameter(machine: &Machine, k: Tensor<1>) -> Tensor<2> {
    let device = k.device();
    let velocity = move |p: Tensor<2>, _| {
        let (x, y) = (p.clone().narrow(1, 0, 1), p.narrow(1, 1, 1));
        let zero = x.zeros_like();
        Tensor::cat(vec![y, x.sin().neg(), zero], 1) * k.clone().reshape([1, 1])
    };
    let field = FieldFn::new(Domain::unbounded(), &device, machine.precision, velocity);
    let seeds = Seeds::list(vec![[0.5, 0.0, 0.0], [1.0, -0.5, 0.0]]).unwrap();
    let tracks = Tracer::new(&field).span(steps(0.0, 2.0, 20)).trace(&seeds).unwrap();
    tracks.saves().last().unwrap().position.clone()
}

/// The error of a central difference of step 1e-4 is 1e-8 times a third derivative of order one.
#[test]
fn gradient_of_a_field_parameter_matches_a_central_difference() {
    let (k, step) = (1.3, 1e-4);
    for machine in exact_machines() {
        let at = |k: f64, device: &Device| {
            let data = TensorData::new(vec![k], [1]);
            Tensor::<1>::from_data(data, (device, machine.precision.dtype()))
        };
        let sum = |k: f64| -> f64 {
            floats(with_parameter(&machine, at(k, &machine.device))).iter().sum()
        };
        let difference = (sum(k + step) - sum(k - step)) / (2.0 * step);
        let leaf = at(k, &machine.device.clone().autodiff()).require_grad();
        let gradients = with_parameter(&machine, leaf.clone()).sum().backward();
        let found = floats(leaf.grad(&gradients).unwrap())[0];
        assert!(difference.abs() > 0.1);
        assert_below(
            &format!("{machine}: {found}, {difference}"),
            (found - difference).abs(),
            1e-7,
        );
    }
}

/// A reflected trajectory has the mirrored gradient, an exit the gradient of the exit point, and a
/// clamped coordinate none.
#[test]
fn gradients_at_faces_match_their_conditions() {
    for machine in exact_machines() {
        let device = machine.device.clone().autodiff();
        let source = Frames::uniform([0.0; 3], [1.0; 3], &[0.0], |_| [0.8, 0.4, 0.0]);
        let options = FieldOptions { precision: machine.precision, ..FieldOptions::default() };
        let field = GridField::load(&mut source.clone(), &device, &options).unwrap();
        // The exit along x is after 5/8 of the step: x1 is on the face, y1 = y0 + (1 - x0)/2.
        let expected = [
            (BoundaryCondition::Reflect, [[-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),
            (BoundaryCondition::Clamp, [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),
            (BoundaryCondition::Periodic, [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),
            (BoundaryCondition::Exit, [[0.0, 0.0, 0.0], [-0.5, 1.0, 0.0]]),
        ];
        for (condition, gradient_of) in expected {
            let tracer = Tracer::new(&field).all_faces(condition).span(steps(0.0, 1.0, 1));
            for (d, row) in gradient_of.iter().enumerate() {
                let start = leaf(&[[0.5, 0.25, 0.5]], &device, machine.precision);
                let deviation = deviation(&tracer, &start, d, &[*row]);
                assert_below(&format!("{machine}, {condition:?}, row {d}"), deviation, 1e-14);
            }
        }
    }
}

/// On a GPU, or a software GPU.
#[test]
fn gpu_gradient_of_a_rotation_is_exact_to_rounding() {
    for machine in machines().into_iter().filter(|machine| !machine.is_cpu()) {
        // Steps take seconds here, so only two steps, one condition and one row of the matrix.
        let device = machine.device.clone().autodiff();
        let field = rotation(&device, machine.precision, vec![0.5]);
        let tracer = Tracer::new(&field).span(steps(0.0, 2.0, 2));
        let start = leaf(&[[1.0, 0.5, 0.5], [-1.5, 2.0, 0.5]], &device, machine.precision);
        let [a, b] = exact(Scheme::Rk4, 2);
        let deviation = deviation(&tracer, &start, 0, &[[a, -b, 0.0]; 2]);
        // A few dozen roundings of numbers below one.
        assert_below(&machine.to_string(), deviation, 30.0 * machine.eps());
    }
}
