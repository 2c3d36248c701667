//! Train a neural network that is the velocity of a flow, on observed tracks.
//!
//! The network is evaluated at the nodes of a grid, and the grid is traced by the fused operation.
//!
//! `cargo run --release --example neural_field [FOLDER]`: the folder of the picture, `results` by default.

mod adam;

use adam::Parameter;
use burntrace::burn::tensor::{Device, Distribution, Tensor};
use burntrace::plot::picture::{self, Style};
use burntrace::plot::{Axis, Curves};
use burntrace::{
    Analytic, BoundaryCondition, Domain, Error, Field, FieldFn, FieldOptions, Flow, GridField,
    Precision, SaveAt, Seeds, Span, Tracer, Tracks, value_and_grad,
};
use std::f64::consts::TAU;
use std::path::Path;
use std::time::Instant;

/// Nodes along x and y, frames, and units of the layers of the network.
const NODES: [usize; 2] = [33, 17];
const FRAMES: usize = 11;
const UNITS: [usize; 4] = [5, 64, 64, 3];
/// Observed particles, and the standard deviation of their coordinates.
const PARTICLES: usize = 500;
const NOISE: f64 = 0.002;
/// Duration of the observations and of a window, and time step.
const END: f64 = 10.0;
const WINDOW: f64 = 1.0;
const DT: f64 = 0.2;
/// Passes over all windows, and the step of the first one.
const EPOCHS: usize = 80;
const RATE: f64 = 0.02;
/// Maximum error of the velocity relative to its root mean square.
const TOLERANCE: f64 = 0.15;

/// Particles observed at the start and at the end of a window.
#[derive(Clone)]
struct Window {
    start: f64,
    before: Seeds,
    after: Tensor<2>,
}

/// Consecutive windows, with the network's inputs at the nodes of their frames.
struct Batch {
    windows: Vec<Window>,
    inputs: Tensor<2>,
    grid: GridField,
}

fn axes() -> [Vec<f64>; 3] {
    let axis = |size: f64, nodes: usize| {
        (0..nodes).map(|i| size * i as f64 / (nodes - 1) as f64).collect()
    };
    [axis(2.0, NODES[0]), axis(1.0, NODES[1]), vec![0.0]]
}

/// Inputs `[n, 5]` of the network: the position, the time, and its phase in a known period.
fn inputs(position: Tensor<2>, time: f64) -> Tensor<2> {
    let x = position.clone().narrow(1, 0, 1) - 1.0;
    let y = position.narrow(1, 1, 1) * 2.0 - 1.0;
    let phase = TAU * time / END;
    let [time, sine, cosine] =
        [2.0 * time / END - 1.0, phase.sin(), phase.cos()].map(|value| x.full_like(value));
    Tensor::cat(vec![x, y, time, sine, cosine], 1)
}

/// Inputs for all nodes at some times `[times x nodes, 5]`.
fn inputs_of_nodes(times: &[f64], device: &Device) -> Tensor<2> {
    let [xs, ys, _] = axes();
    let nodes = ys.iter().flat_map(|y| xs.iter().flat_map(|x| [*x as f32, *y as f32, 0.0]));
    let nodes: Vec<f32> = nodes.collect();
    let nodes = Tensor::<1>::from_floats(nodes.as_slice(), device).reshape([-1, 3]);
    Tensor::cat(times.iter().map(|time| inputs(nodes.clone(), *time)).collect(), 0)
}

/// A batch of windows.
fn batch(windows: &[Window], device: &Device) -> Result<Batch, Error> {
    let time = |k: usize| windows[0].start + WINDOW * k as f64;
    let times: Vec<f64> = (0..=windows.len()).map(time).collect();
    let inputs = inputs_of_nodes(&times, device);
    let options = FieldOptions::default();
    let grid = GridField::from_fn(axes(), times, device, &options, |_, _| [0.0; 3])?;
    Ok(Batch { windows: windows.to_vec(), inputs, grid })
}

/// Weights and biases, layer by layer.
fn parameters(device: &Device) -> Vec<Parameter<2>> {
    device.seed(7);
    let layer = |units: &[usize]| {
        let width = (6.0 / (units[0] + units[1]) as f64).sqrt();
        let weights =
            Tensor::random([units[0], units[1]], Distribution::Uniform(-width, width), device);
        [weights, Tensor::zeros([1, units[1]], device)].map(Parameter::new)
    };
    UNITS.windows(2).flat_map(layer).collect()
}

/// Outputs `[n, 3]` of the network for inputs `[n, 5]`.
fn network(parameters: &[Parameter<2>], inputs: Tensor<2>) -> Tensor<2> {
    let last = UNITS.len() - 2;
    parameters.chunks(2).enumerate().fold(inputs, |x, (i, layer)| {
        let x = x.matmul(layer[0].value()) + layer[1].value();
        if i < last { x.tanh() } else { x * 0.1 }
    })
}

fn tracer(field: &dyn Field, [start, end]: [f64; 2], dt: f64) -> Tracer<'_> {
    let span = Span { t0: Some(start), t1: Some(end), dt: Some(dt), ..Span::default() };
    Tracer::new(field).all_faces(BoundaryCondition::Reflect).span(span)
}

fn points<const D: usize>(tensor: Tensor<D>) -> Vec<[f64; 3]> {
    let numbers: Vec<f64> = tensor.into_data().iter::<f64>().collect();
    numbers.as_chunks::<3>().0.to_vec()
}

/// Tracks with errors, split into windows, so that no gradient grows over a longer time (multiple shooting).
fn observe(truth: &GridField, device: &Device) -> Result<Vec<Window>, Error> {
    let seeds = Seeds::uniform([0.0; 3], [2.0, 1.0, 0.0], PARTICLES, 7)?;
    let tracer = tracer(truth, [0.0, END], DT / 4.0).save(SaveAt::EveryTime(WINDOW));
    let positions = points(tracer.trace(&seeds)?.positions());
    let noise = Seeds::gaussian([0.0; 3], [NOISE, NOISE, 0.0], positions.len(), 3)?;
    let observed = positions.iter().zip(noise.positions()).map(|([x, y, z], error)| {
        [(x + error[0]).clamp(0.0, 2.0), (y + error[1]).clamp(0.0, 1.0), *z]
    });
    let observed: Vec<[f64; 3]> = observed.collect();
    let saves: Vec<&[[f64; 3]]> = observed.chunks(PARTICLES).collect();
    let window = |(k, pair): (usize, &[&[[f64; 3]]])| {
        let after: Vec<f32> = pair[1].as_flattened().iter().map(|x| *x as f32).collect();
        let after = Tensor::<1>::from_floats(after.as_slice(), device).reshape([-1, 3]);
        Ok(Window { start: WINDOW * k as f64, before: Seeds::list(pair[0].to_vec())?, after })
    };
    saves.windows(2).enumerate().map(window).collect()
}

fn tracer_of<'a>(field: &'a dyn Field, window: &Window) -> Tracer<'a> {
    tracer(field, [window.start, window.start + WINDOW], DT)
}

/// Mean square of the differences between computed and observed positions, in units of the noise.
fn loss(tracks: &[Tracks], windows: &[Window]) -> Tensor<1> {
    let errors = tracks.iter().zip(windows).map(|(tracks, window)| {
        (tracks.saves()[0].position.clone() - window.after.clone()).square().mean()
    });
    let zero = Tensor::zeros([1], &windows[0].after.device());
    errors.fold(zero, |sum, error| sum + error) / (windows.len() as f64 * NOISE * NOISE)
}

/// Velocities `[frames, nodes, 3]` of the network.
fn velocities(parameters: &[Parameter<2>], inputs: &Tensor<2>) -> Tensor<3> {
    let nodes = NODES[0] * NODES[1];
    network(parameters, inputs.clone()).reshape([inputs.dims()[0] / nodes, nodes, 3])
}

/// A training step with the network at the nodes; its loss.
fn train(batch: &Batch, parameters: &mut [Parameter<2>], rate: f64) -> Result<f64, Error> {
    let field = batch.grid.with_values(velocities(parameters, &batch.inputs))?;
    let tracks = batch.windows.iter().map(|window| tracer_of(&field, window).trace(&window.before));
    let loss = loss(&tracks.collect::<Result<Vec<_>, Error>>()?, &batch.windows);
    let gradients = loss.backward();
    parameters.iter_mut().for_each(|parameter| parameter.update(&gradients, rate));
    Ok(loss.into_scalar())
}

/// A training step with the network as a closure, which is called in each stage of each step. Gradients go back step
/// by step, without the graph of all of them.
fn train_closure(
    windows: &[Window],
    parameters: &mut [Parameter<2>],
    device: &Device,
) -> Result<f64, Error> {
    let domain = Domain::new([0.0; 3], [2.0, 1.0, 0.0])?;
    let velocity = |position, time| network(parameters, inputs(position, time));
    let field = FieldFn::new(domain, device, Precision::F32, velocity);
    let tracers: Vec<Tracer> = windows.iter().map(|window| tracer_of(&field, window)).collect();
    let seeds = windows.iter().map(|window| &window.before);
    let runs: Vec<(&Tracer, &Seeds)> = tracers.iter().zip(seeds).collect();
    let (loss, gradients) = value_and_grad(&runs, |tracks| loss(tracks, windows))?;
    drop(tracers);
    drop(field);
    parameters.iter_mut().for_each(|parameter| parameter.update(&gradients, RATE));
    Ok(loss.into_scalar())
}

/// Compares the times of training steps of both kinds, for all windows.
fn compare(windows: &[Window], device: &Device) -> Result<(), Error> {
    let (all, mut parameters) = (batch(windows, device)?, parameters(device));
    train(&all, &mut parameters, RATE)?;
    let start = Instant::now();
    train(&all, &mut parameters, RATE)?;
    let nodes = 1e3 * start.elapsed().as_secs_f64();
    let start = Instant::now();
    train_closure(windows, &mut parameters, device)?;
    let closure = 1e3 * start.elapsed().as_secs_f64();
    println!(
        "a training step of {PARTICLES} particles and {:.0} time steps takes {nodes:.1} ms with the network at \
         the nodes, {closure:.0} ms as a closure",
        END / DT
    );
    Ok(())
}

/// Root mean square of the error, relative to that of the true velocity.
fn error(found: Tensor<3>, truth: &Tensor<3>) -> f64 {
    let found = found.inner() * Tensor::<3>::from_floats([[[1.0, 1.0, 0.0]]], &Device::flex());
    let truth = truth.clone().inner();
    let errors = (found - truth.clone()).square().mean() / truth.square().mean();
    errors.sqrt().into_scalar()
}

/// Draws the loss and the error over the epochs.
fn draw(path: &Path, series: [(&str, Vec<[f64; 2]>); 2]) -> Result<(), burntrace::plot::Error> {
    let axis = |name: &str| Axis { name: name.into(), unit: String::new(), range: [0.0; 2] };
    let curves = Curves {
        axes: [axis("epoch"), axis("")],
        log: [false, true],
        series: series.map(|(name, points)| (name.into(), points)).to_vec(),
        bands: Vec::new(),
        title: "training".into(),
    };
    picture::curves(&curves, &Style::default())?.write_png(path)
}

/// The true field: a double gyre.
fn double_gyre(device: &Device) -> Result<GridField, Error> {
    let flow = Flow::DoubleGyre { amplitude: 0.1, epsilon: 0.25, omega: TAU / END };
    let domain = flow.domain();
    let times = (0..FRAMES).map(|k| END * k as f64 / (FRAMES - 1) as f64).collect();
    let mut frames = Analytic::sample(flow, domain, [NODES[0], NODES[1], 1], times)?;
    GridField::load(&mut frames, device, &FieldOptions::default())
}

/// Trains the network and returns the loss and the error over the epochs.
fn run(
    truth: &Tensor<3>,
    windows: &[Window],
    device: &Device,
) -> Result<[Vec<[f64; 2]>; 2], Error> {
    let batches = windows.chunks(1).map(|window| batch(window, device));
    let batches = batches.collect::<Result<Vec<Batch>, Error>>()?;
    let (all, mut parameters) = (batch(windows, device)?, parameters(device));
    let [mut losses, mut errors] = [Vec::new(), Vec::new()];
    for epoch in 1..=EPOCHS {
        let rate = RATE * (1.0 - (epoch - 1) as f64 / EPOCHS as f64);
        let mut sum = 0.0;
        for i in 0..batches.len() {
            // Not in the order of time; 7 and the number of batches are coprime.
            sum += train(&batches[7 * i % batches.len()], &mut parameters, rate)?;
        }
        let (epoch, loss) = (epoch as f64, sum / batches.len() as f64);
        let error = error(velocities(&parameters, &all.inputs), truth);
        losses.push([epoch, loss]);
        errors.push([epoch, error]);
        if epoch % 10.0 == 0.0 {
            println!("epoch {epoch:>3}: loss {loss:.3}, error {error:.4}");
        }
    }
    Ok([losses, errors])
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "results".into());
    let device = Device::flex().autodiff();
    let truth = double_gyre(&device)?;
    let windows = observe(&truth, &device)?;
    compare(&windows, &device)?;
    let [losses, errors] = run(&truth.values()?, &windows, &device)?;
    let error = errors.last().map_or(f64::NAN, |last| last[1]);
    println!("the error of the velocity is {error:.4} of its root mean square");

    let path = Path::new(&folder).join("neural_field.png");
    std::fs::create_dir_all(&folder)?;
    draw(&path, [("Loss", losses), ("Relative error of the velocity", errors)])?;
    println!("{}", path.display());
    match error < TOLERANCE {
        true => Ok(()),
        false => Err(format!("the error {error:.4} is not below {TOLERANCE}").into()),
    }
}
