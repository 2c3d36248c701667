//! Train a network, a module of Burn, on the tracks of drifters; save it, load it, and check its gradient in double precision.
//!
//! The network is evaluated at the particles in each stage of each step, so that any model that maps positions to
//! velocities can take its place.
//!
//! `cargo run --release --example drifters [FOLDER]`: the folder of the weights, `results` by default.

use burntrace::burn::{
    self,
    module::{Module, ModuleMapper, Param, ParamId},
    nn::{Linear, LinearConfig},
    tensor::{DType, Device, Gradients, Tensor},
};
use burntrace::{
    Analytic, BoundaryCondition, Domain, Error, Field, FieldFn, Flow, Precision, SaveAt, Seeds,
    Span, Tracer, Tracks,
};
use std::{collections::HashMap, path::Path};

/// Size of the domain, and scale of the network's velocities.
const SIZE: [f64; 2] = [2.0, 1.0];
const SPEED: f64 = 0.5;
/// Units of a hidden layer.
const UNITS: usize = 24;
/// Drifters, the duration of their tracks, the time step, and the time between observations.
const DRIFTERS: usize = 300;
const END: f64 = 2.0;
const DT: f64 = 0.4;
const OBSERVED_EVERY: f64 = 0.4;
/// Iterations, and the step of the first one.
const ITERATIONS: usize = 300;
const RATE: f64 = 0.02;
/// Maximum error of the final positions of other drifters (root mean square), as part of the distance that they go.
const TOLERANCE: f64 = 0.1;

/// The velocity of a steady current in a plane: a model as any other of Burn.
#[derive(Module, Debug)]
struct Current {
    input: Linear,
    hidden: Linear,
    output: Linear,
}

impl Current {
    fn new(device: &Device) -> Current {
        let layer = |from, to| LinearConfig::new(from, to).init(device);
        Current { input: layer(2, UNITS), hidden: layer(UNITS, UNITS), output: layer(UNITS, 2) }
    }

    /// Velocities `[n, 3]` at positions `[n, 3]`.
    fn forward(&self, position: Tensor<2>) -> Tensor<2> {
        let x = position.clone().narrow(1, 0, 1) * (2.0 / SIZE[0]) - 1.0;
        let y = position.clone().narrow(1, 1, 1) * (2.0 / SIZE[1]) - 1.0;
        let x = self.input.forward(Tensor::cat(vec![x, y], 1) * 3.0).sin();
        let x = self.hidden.forward(x).sin();
        let velocity = self.output.forward(x) * SPEED;
        Tensor::cat(vec![velocity, position.narrow(1, 2, 1).zeros_like()], 1)
    }

    /// The model as a field, on the device of its parameters.
    fn field(&self, precision: Precision) -> Result<impl Field, Error> {
        let domain = Domain::new([0.0; 3], [SIZE[0], SIZE[1], 0.0])?;
        let device = self.output.weight.val().device();
        let velocity = |position: Tensor<2>, _time: f64| self.forward(position);
        Ok(FieldFn::new(domain, &device, precision, velocity))
    }
}

/// A tracer in a field. Particles slide along the walls.
fn tracer(field: &dyn Field) -> Tracer<'_> {
    let span = Span { t1: Some(END), dt: Some(DT), ..Span::default() };
    Tracer::new(field)
        .all_faces(BoundaryCondition::Slide)
        .span(span)
        .save(SaveAt::EveryTime(OBSERVED_EVERY))
}

/// Observed drifters: where they start, and their positions `[saves, n, 3]`.
struct Observed {
    seeds: Seeds,
    positions: Tensor<3>,
}

impl Observed {
    /// Drifters in a double gyre.
    fn new(count: usize, seed: u64) -> Result<Observed, Error> {
        let flow = Flow::DoubleGyre { amplitude: 0.1, epsilon: 0.0, omega: 1.0 };
        let field = Analytic::new(flow, &Device::flex(), Precision::F64);
        let seeds = Seeds::uniform([0.0; 3], [SIZE[0], SIZE[1], 0.0], count, seed)?;
        let positions = tracer(&field).trace(&seeds)?.positions();
        Ok(Observed { seeds, positions })
    }

    /// The mean square distance of tracks from the observed ones.
    fn loss(&self, tracks: &Tracks) -> Tensor<1> {
        let computed = tracks.positions();
        let observed = self.positions.clone().cast(computed.dtype()).autodiff();
        (computed - observed).square().mean()
    }
}

/// Adam for all parameters of a module, as `burn::optim::AdamConfig` of the feature `optim`.
#[derive(Default)]
struct Adam {
    /// The moments of the gradients, as vectors.
    moments: HashMap<ParamId, [Tensor<1>; 2]>,
    updates: i32,
}

/// An update of all parameters of a module.
struct Update<'a> {
    adam: &'a mut Adam,
    gradients: &'a Gradients,
    rate: f64,
}

impl Adam {
    fn step(&mut self, model: Current, gradients: &Gradients, rate: f64) -> Current {
        self.updates += 1;
        model.map(&mut Update { adam: self, gradients, rate })
    }
}

impl ModuleMapper for Update<'_> {
    fn map_float<const D: usize>(&mut self, parameter: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let (id, updates) = (parameter.id, self.adam.updates);
        let Some(gradient) = parameter.val().grad(self.gradients) else { return parameter };
        let shape = gradient.shape();
        let gradient: Tensor<1> = gradient.flatten(0, D - 1);
        let moments = self.adam.moments.entry(id);
        let moments = moments.or_insert_with(|| [gradient.zeros_like(), gradient.zeros_like()]);
        let powers = [gradient.clone(), gradient.square()];
        let mut corrected = Vec::new();
        for ((moment, power), decay) in moments.iter_mut().zip(powers).zip([0.9, 0.999]) {
            *moment = moment.clone() * decay + power * (1.0 - decay);
            corrected.push(moment.clone() / (1.0 - f64::powi(decay, updates)));
        }
        let step = corrected.remove(0) / (corrected.remove(0).sqrt() + 1e-8) * self.rate;
        // A new leaf of the graph: without the graph of the update itself.
        parameter.map(|value| (value.inner() - step.reshape(shape)).autodiff().require_grad())
    }
}

/// Trains a model on the tracks of drifters.
fn train(mut model: Current, observed: &Observed) -> Result<Current, Error> {
    let mut adam = Adam::default();
    for iteration in 0..ITERATIONS {
        let field = model.field(Precision::F32)?;
        let loss = |tracks: &Tracks| observed.loss(tracks);
        let (loss, gradients) = tracer(&field).value_and_grad(&observed.seeds, loss)?;
        drop(field);
        if iteration % 50 == 0 {
            println!("iteration {iteration:>3}: loss {:.3e}", loss.into_scalar::<f64>());
        }
        let rate = RATE * (1.0 - iteration as f64 / ITERATIONS as f64);
        model = adam.step(model, &gradients, rate);
    }
    Ok(model)
}

/// The loss of a model, without gradients.
fn loss_of(model: &Current, precision: Precision, observed: &Observed) -> Result<f64, Error> {
    let field = model.field(precision)?;
    let loss = tracer(&field).evaluate(&observed.seeds, |tracks| observed.loss(tracks))?;
    Ok(loss.into_scalar())
}

/// Moves all parameters along their gradients, in double precision.
struct Move<'a> {
    gradients: Option<&'a Gradients>,
    step: f64,
    /// The sum of the squared gradients.
    square: f64,
}

impl ModuleMapper for Move<'_> {
    fn map_float<const D: usize>(&mut self, parameter: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let value = parameter.val();
        let moved = match self.gradients.and_then(|gradients| value.grad(gradients)) {
            Some(gradient) => {
                self.square += gradient.clone().square().sum().into_scalar::<f64>();
                value.inner() + gradient * self.step
            }
            None => value.inner().cast(DType::F64),
        };
        parameter.map(|_| moved.autodiff().require_grad())
    }
}

/// Compares the derivative of the loss along its gradient with a central difference, in double precision; their relative
/// difference.
fn check_gradient(model: Current, observed: &Observed) -> Result<f64, Error> {
    let model = model.map(&mut Move { gradients: None, step: 0.0, square: 0.0 });
    let field = model.field(Precision::F64)?;
    let loss = |tracks: &Tracks| observed.loss(tracks);
    let (_, gradients) = tracer(&field).value_and_grad(&observed.seeds, loss)?;
    let mut squares = [0.0; 2];
    let mut losses = [0.0; 2];
    let size = 1e-3;
    for (k, step) in [size, -size].into_iter().enumerate() {
        let mut along = Move { gradients: Some(&gradients), step, square: 0.0 };
        losses[k] = loss_of(&model.clone().map(&mut along), Precision::F64, observed)?;
        squares[k] = along.square;
    }
    let (derivative, difference) = (squares[0], (losses[0] - losses[1]) / (2.0 * size));
    println!("derivative along the gradient {derivative:.9e}, by differences {difference:.9e}");
    Ok((derivative - difference).abs() / derivative)
}

/// The error of the final positions of drifters (root mean square), as part of the distance that they go.
fn error(model: &Current, others: &Observed) -> Result<f64, Error> {
    let last = others.positions.dims()[0] - 1;
    let [start, end] = [0, last].map(|save| others.positions.clone().narrow(0, save, 1));
    // On a device without autodiff.
    let model = model.valid();
    let tracks = tracer(&model.field(Precision::F32)?).trace(&others.seeds)?;
    let computed = tracks.positions().narrow(0, last, 1).cast(end.dtype());
    let error = (computed - end.clone()).square().sum() / (end - start).square().sum();
    Ok(error.sqrt().into_scalar())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "results".into());
    let device = Device::flex().autodiff();
    device.seed(7);
    let (observed, others) = (Observed::new(DRIFTERS, 1)?, Observed::new(100, 2)?);
    let model = train(Current::new(&device), &observed)?;
    let error = error(&model, &others)?;
    println!("the error of other drifters is {error:.3} of the distance that they go");

    std::fs::create_dir_all(&folder)?;
    let path = Path::new(&folder).join("drifters.bpk");
    model.clone().save_file(&path)?;
    println!("{}", path.display());
    let loaded = Current::new(&device).try_load_file(&path)?;
    let [before, after] = [&model, &loaded].map(|model| loss_of(model, Precision::F32, &observed));
    let (before, after) = (before?, after?);
    println!("the loss is {before:.6e}, and {after:.6e} of the network that was loaded");
    let off = check_gradient(loaded, &observed)?;
    match (before == after, error < TOLERANCE, off < 1e-6) {
        (false, ..) => Err("the network that was loaded has another loss".into()),
        (_, false, _) => Err(format!("the error {error:.3} is not below {TOLERANCE}").into()),
        (.., false) => Err(format!("the gradient is off by {off:.1e} of its size").into()),
        _ => Ok(()),
    }
}
