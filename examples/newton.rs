//! Recover a velocity field by Newton's method, and by Adam for comparison: products of the Hessian, and conjugate gradients.
//!
//! Newton's method has no rate to choose, and its last steps square the error. With a rate that suits the problem, Adam needs
//! as many gradients.
//!
//! `cargo run --release --example newton`

mod adam;

use adam::Parameter;
use burntrace::burn::tensor::{DType, Device, Tensor};
use burntrace::{
    BoundaryCondition, Error, FieldOptions, GridField, Precision, Seeds, Tracer, hessian_product,
};
use std::{cell::Cell, f64::consts::PI};

/// Nodes along x and y.
const NODES: [usize; 2] = [9, 5];
/// Drifters, and the time between their two observations.
const DRIFTERS: usize = 400;
const INTERVAL: f64 = 0.4;
/// Weight of the square of the velocities, for nodes that no drifter sees.
const DAMPING: f64 = 1e-9;
/// Steps of both methods, products of the Hessian for a step of Newton's, and the first step of Adam.
const NEWTON: usize = 8;
const PRODUCTS: usize = 40;
const ADAM: usize = 400;
const RATE: f64 = 0.03;
/// Maximum root mean square distance of computed from observed positions.
const TOLERANCE: f64 = 1e-5;

/// A steady double gyre.
fn gyres([x, y, _]: [f64; 3], _time: f64) -> [f64; 3] {
    let [u, v] = [-(PI * x).sin() * (PI * y).cos(), (PI * x).cos() * (PI * y).sin()];
    [0.3 * u, 0.3 * v, 0.0]
}

fn grid(device: &Device, velocity: fn([f64; 3], f64) -> [f64; 3]) -> Result<GridField, Error> {
    let axis = |d: usize| (0..NODES[d]).map(|i| i as f64 / (NODES[1] - 1) as f64).collect();
    let options = FieldOptions { precision: Precision::F64, ..FieldOptions::default() };
    GridField::from_fn([axis(0), axis(1), vec![0.0]], vec![0.0], device, &options, velocity)
}

/// The loss of velocities at the nodes, and how often its gradient was computed.
struct Loss {
    rest: GridField,
    seeds: Seeds,
    later: Tensor<2>,
    gradients: Cell<usize>,
}

impl Loss {
    fn new(device: &Device) -> Result<Self, Error> {
        let seeds = Seeds::uniform([0.0; 3], [2.0, 1.0, 0.0], DRIFTERS, 1)?;
        let rest = grid(device, |_, _| [0.0; 3])?;
        let truth = grid(device, gyres)?;
        let later = Loss::tracer(&truth).trace(&seeds)?.saves()[0].position.clone().detach();
        Ok(Loss { rest, seeds, later, gradients: Cell::new(0) })
    }

    fn tracer(field: &GridField) -> Tracer<'_> {
        Tracer::new(field).all_faces(BoundaryCondition::Slide).span(0.0..=INTERVAL).steps(8)
    }

    /// The mean square distance from the observed positions, and its gradient.
    fn at(&self, values: Tensor<3>) -> Result<(f64, Tensor<3>), Error> {
        self.gradients.set(self.gradients.get() + 1);
        let values = values.autodiff().require_grad();
        let field = self.rest.with_values(values.clone())?;
        let mut distance = f64::NAN;
        let (_, gradients) = Loss::tracer(&field).value_and_grad(&self.seeds, |tracks| {
            let square = (tracks.saves()[0].position.clone() - self.later.clone()).square().mean();
            distance = square.clone().into_scalar();
            square + values.clone().square().mean() * DAMPING
        })?;
        let zero = values.clone().inner().zeros_like();
        Ok((distance, values.grad(&gradients).unwrap_or(zero)))
    }
}

fn dot(a: &Tensor<3>, b: &Tensor<3>) -> f64 {
    (a.clone() * b.clone()).sum().into_scalar()
}

/// Velocities closer to the minimum: those of a step of Newton's method, or of a part of it if it leads upwards.
fn improved(
    loss: &Loss,
    at: &Tensor<3>,
    step: &Tensor<3>,
    square: f64,
) -> Result<Tensor<3>, Error> {
    let mut part = 1.0;
    loop {
        let next = at.clone() + step.clone() * part;
        if part < 1e-3 || loss.at(next.clone())?.0 < square {
            return Ok(next);
        }
        part *= 0.5;
    }
}

/// The step of Newton's method: the method of conjugate gradients for H step = -gradient, until the curvature along a direction is
/// not positive.
fn newton_step(loss: &Loss, at: &Tensor<3>, gradient: &Tensor<3>) -> Result<Tensor<3>, Error> {
    let (mut step, mut rest) = (at.zeros_like(), gradient.clone() * -1.0);
    let mut along = rest.clone();
    for round in 0..PRODUCTS {
        let square = dot(&rest, &rest);
        let product = hessian_product(at, &along, |values| Ok(loss.at(values)?.1))?;
        let curvature = dot(&along, &product);
        if round == 0 && curvature <= 0.0 {
            return Ok(along);
        }
        if curvature <= 0.0 || square < 1e-6 * dot(gradient, gradient) {
            break;
        }
        step = step + along.clone() * (square / curvature);
        rest = rest - product * (square / curvature);
        along = rest.clone() + along * (dot(&rest, &rest) / square);
    }
    Ok(step)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::flex().autodiff();
    let loss = Loss::new(&device)?;
    let start = loss.rest.values()?.inner().cast(DType::F64);

    let mut values = start.clone();
    let mut newton = f64::NAN;
    for step in 0..=NEWTON {
        let (square, gradient) = loss.at(values.clone())?;
        newton = square.sqrt();
        println!("Newton, step {step}: {newton:.1e} off after {} gradients", loss.gradients.get());
        if step < NEWTON {
            let along = newton_step(&loss, &values, &gradient)?;
            values = improved(&loss, &values, &along, square)?;
        }
    }

    loss.gradients.set(0);
    let mut parameter = Parameter::new(start.autodiff());
    let mut adam = f64::NAN;
    for step in 0..=ADAM {
        let mut found = 0.0;
        let values = parameter.value();
        let field = loss.rest.with_values(values)?;
        let (_, gradients) = Loss::tracer(&field).value_and_grad(&loss.seeds, |tracks| {
            let square = (tracks.saves()[0].position.clone() - loss.later.clone()).square().mean();
            found = square.clone().into_scalar::<f64>();
            square
        })?;
        adam = found.sqrt();
        if step % 100 == 0 {
            println!("Adam, step {step}: {adam:.1e} off after {} gradients", step + 1);
        }
        parameter.update(&gradients, RATE * (1.0 - step as f64 / (ADAM + 1) as f64));
    }
    match newton < TOLERANCE && adam < TOLERANCE {
        true => Ok(()),
        false => Err(format!("Newton's method is {newton:.1e} off, Adam {adam:.1e}").into()),
    }
}
