//! Train a network for the velocities at the nodes of a grid, in small batches of observed drifters.
//!
//! `cargo run --release --example training`

mod adam;

use adam::Parameter;
use burntrace::burn::tensor::{Device, Distribution, Int, Tensor, TensorData};
use burntrace::{BoundaryCondition, Error, FieldOptions, GridField, Seeds, Tracer, Tracks};
use std::f64::consts::PI;

/// Nodes along x and y, and units of the hidden layer.
const NODES: [usize; 2] = [41, 21];
const UNITS: usize = 32;
/// Drifters, those in a batch, the time between their two observations, and the number of steps in it.
const DRIFTERS: usize = 4000;
const BATCH: usize = 500;
const INTERVAL: f64 = 0.5;
const STEPS: u64 = 10;
/// Passes over all drifters, and the step of the first one.
const EPOCHS: usize = 20;
const RATE: f64 = 0.02;
/// Maximum root mean square distance of other drifters from their second observations, as part of what they move.
const TOLERANCE: f64 = 0.05;

/// A steady double gyre.
fn gyres([x, y, _]: [f64; 3], _time: f64) -> [f64; 3] {
    let [u, v] = [-(PI * x).sin() * (PI * y).cos(), (PI * x).cos() * (PI * y).sin()];
    [0.3 * u, 0.3 * v, 0.0]
}

/// A field on the grid.
fn grid(device: &Device, velocity: fn([f64; 3], f64) -> [f64; 3]) -> Result<GridField, Error> {
    let axis = |d: usize| (0..NODES[d]).map(|i| i as f64 / (NODES[1] - 1) as f64).collect();
    let options = FieldOptions::default();
    GridField::from_fn([axis(0), axis(1), vec![0.0]], vec![0.0], device, &options, velocity)
}

/// Tracks from an observation to the next one.
fn tracer(field: &GridField) -> Tracer<'_> {
    Tracer::new(field).all_faces(BoundaryCondition::Slide).span(0.0..=INTERVAL).steps(STEPS)
}

/// Observed drifters: seeds at the first observation, and the positions `[n, 3]` at the second.
struct Drifters {
    seeds: Seeds,
    later: Tensor<2>,
}

/// The root mean square of how far drifters move along an axis.
fn moved(drifters: &Drifters) -> f64 {
    let later: Vec<f64> = drifters.later.to_data().iter::<f64>().collect();
    let first = drifters.seeds.positions().as_flattened();
    let square = |(a, b): (&f64, &f64)| (a - b) * (a - b);
    (first.iter().zip(&later).map(square).sum::<f64>() / later.len() as f64).sqrt()
}

impl Drifters {
    fn observed(count: usize, seed: u64) -> Result<Self, Error> {
        let seeds = Seeds::uniform([0.0; 3], [2.0, 1.0, 0.0], count, seed)?;
        let tracks = tracer(&grid(&Device::flex(), gyres)?).trace(&seeds)?;
        Ok(Drifters { seeds, later: end(&tracks) })
    }

    /// Some of them.
    fn select(&self, batch: &[usize]) -> Result<Self, Error> {
        let index: Vec<i32> = batch.iter().map(|i| *i as i32).collect();
        let index = TensorData::new(index, [batch.len()]);
        let index = Tensor::<1, Int>::from_data(index, &self.later.device());
        Ok(Drifters {
            seeds: self.seeds.select(batch)?,
            later: self.later.clone().select(0, index),
        })
    }

    /// The mean square distance of tracks from the second observations.
    fn loss(&self, tracks: &Tracks) -> Tensor<1> {
        let later = self.later.clone().to_device(&tracks.saves()[0].position.device());
        (end(tracks) - later).square().mean()
    }
}

/// Final positions `[n, 3]`.
fn end(tracks: &Tracks) -> Tensor<2> {
    tracks.saves()[0].position.clone()
}

/// A network with a hidden layer, from positions to velocities.
struct Network([Parameter<2>; 3]);

impl Network {
    fn new(device: &Device) -> Self {
        let uniform = |rows: usize, columns: usize, size: f64| {
            Parameter::new(Tensor::random(
                [rows, columns],
                Distribution::Uniform(-size, size),
                device,
            ))
        };
        Network([uniform(2, UNITS, 4.0), uniform(1, UNITS, PI), uniform(UNITS, 2, 0.1)])
    }

    /// Velocities `[1, nodes, 3]`.
    fn at(&self, nodes: &Tensor<2>) -> Tensor<3> {
        let [inner, phase, outer] = &self.0;
        let hidden = (nodes.clone().matmul(inner.value()) + phase.value()).sin();
        let level = hidden.matmul(outer.value());
        let zero = level.clone().narrow(1, 0, 1).zeros_like();
        Tensor::cat(vec![level, zero], 1).unsqueeze()
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::flex().autodiff();
    device.seed(7);
    let (observed, others) = (Drifters::observed(DRIFTERS, 1)?, Drifters::observed(500, 2)?);
    // Made once: axes, settings, and the nodes at which the network is evaluated.
    let rest = grid(&device, |_, _| [0.0; 3])?;
    let nodes = grid(&device, |[x, y, _], _| [x, y, 0.0])?.values()?;
    let nodes = nodes.squeeze_dim::<2>(0).narrow(1, 0, 2).detach();
    let tracer = tracer(&rest);
    let mut network = Network::new(&device);
    let mut validated = f64::NAN;
    for epoch in 0..EPOCHS {
        let order = shuffled(DRIFTERS, epoch);
        for batch in order.chunks(BATCH) {
            let batch = observed.select(batch)?;
            let field = rest.with_values(network.at(&nodes))?;
            let tracer = tracer.with_field(&field);
            let (_, gradients) =
                tracer.value_and_grad(&batch.seeds, |tracks| batch.loss(tracks))?;
            let rate = RATE * (1.0 - epoch as f64 / EPOCHS as f64);
            network.0.iter_mut().for_each(|parameter| parameter.update(&gradients, rate));
        }
        // In the graph of the network, which `evaluate` frees.
        let field = rest.with_values(network.at(&nodes))?;
        let loss =
            tracer.with_field(&field).evaluate(&others.seeds, |tracks| others.loss(tracks))?;
        validated = loss.into_scalar::<f64>().sqrt();
        if epoch % 5 == 0 {
            println!("epoch {epoch:>2}: other drifters are {validated:.4} off");
        }
    }
    let moved = moved(&others);
    println!("in the end they are {validated:.4} off, {:.3} of what they move", validated / moved);
    match validated < TOLERANCE * moved {
        true => Ok(()),
        false => Err(format!("the distance is not below {TOLERANCE} of {moved:.4}").into()),
    }
}

/// The numbers below a count in an order of an epoch.
fn shuffled(count: usize, epoch: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    // A multiplicative hash: any order that differs between epochs will do.
    order.sort_by_key(|i| (i + 1 + epoch * count).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 7);
    order
}
