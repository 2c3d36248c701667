//! Find the release position from which a cloud of particles drifts to a target, by gradients with respect to
//! the seeds.
//!
//! `cargo run --release --example aim [FOLDER]`: the folder of the picture, `results` by default.

mod adam;

use adam::Parameter;
use burntrace::burn::tensor::{Device, Tensor};
use burntrace::plot::picture::{self, Style, View};
use burntrace::plot::{Attribute, Trajectories};
use burntrace::{
    Analytic, BoundaryCondition, Error, FieldOptions, Flow, GridField, RandomWalk, SaveAt, Seeds,
    Span, Tracer, Tracks,
};

/// The target: its centre and its radius.
const TARGET: [f64; 3] = [1.3, 0.7, 0.0];
const RADIUS: f64 = 0.1;
/// First release position, number of particles, and standard deviation of their distance from it.
const RELEASE: [f64; 3] = [1.3, 0.3, 0.0];
const PARTICLES: usize = 500;
const SPREAD: f64 = 0.01;
/// Travel time, time step and diffusivity.
const TIME: f64 = 5.0;
const DT: f64 = 0.05;
const DIFFUSIVITY: f64 = 1e-5;
/// Iterations, and the step of the first one.
const ITERATIONS: usize = 60;
const RATE: f64 = 0.05;
/// Minimum fraction of the particles in the target, and maximum distance from the release position that a
/// backward run gives.
const FRACTION: f64 = 0.95;
const TOLERANCE: f64 = 0.02;

fn double_gyre(device: &Device) -> Result<GridField, Error> {
    let flow = Flow::DoubleGyre { amplitude: 0.1, epsilon: 0.25, omega: 0.628 };
    let (domain, times) = (flow.domain(), (0..=10).map(f64::from).collect());
    let mut frames = Analytic::sample(flow, domain, [65, 33, 1], times)?;
    GridField::load(&mut frames, device, &FieldOptions::default())
}

/// Tracks of a cloud released around a position `[1, 3]`. The random numbers are the same in each run.
fn drift(field: &GridField, release: Tensor<2>) -> Result<Tracks, Error> {
    let offsets = Seeds::gaussian([0.0; 3], [SPREAD, SPREAD, 0.0], PARTICLES, 7)?;
    let offsets: Vec<f32> = offsets.positions().as_flattened().iter().map(|x| *x as f32).collect();
    let offsets = Tensor::<1>::from_floats(offsets.as_slice(), &release.device());
    let seeds = Seeds::from_tensor(offsets.reshape([-1, 3]) + release)?;
    Tracer::new(field)
        .all_faces(BoundaryCondition::Reflect)
        .random_walk(RandomWalk::isotropic(DIFFUSIVITY, 7))
        .span(Span { t1: Some(TIME), dt: Some(DT), ..Span::default() })
        .save(SaveAt::EverySteps(4))
        .trace(&seeds)
}

/// Squared distances `[n, 1]` from the target at the end.
fn squares(tracks: &Tracks) -> Tensor<2> {
    let last = tracks.positions().narrow(0, tracks.saves().len() - 1, 1).squeeze_dim(0);
    let target = Tensor::<2>::from_floats([TARGET], &Device::flex());
    (last - target).square().sum_dim(1)
}

/// The fraction of the particles in the target at the end.
fn fraction(tracks: &Tracks) -> f64 {
    let squares: Vec<f64> = squares(tracks).into_data().iter::<f64>().collect();
    squares.iter().filter(|square| **square < RADIUS * RADIUS).count() as f64 / PARTICLES as f64
}

fn points<const D: usize>(tensor: Tensor<D>) -> Vec<[f64; 3]> {
    let numbers: Vec<f64> = tensor.into_data().iter::<f64>().collect();
    numbers.as_chunks::<3>().0.to_vec()
}

/// The position from which a particle without diffusion drifts to the centre of the target.
fn traced_back(field: &GridField) -> Result<[f64; 3], Error> {
    let span = Span { t0: Some(TIME), t1: Some(0.0), dt: Some(-DT), ..Span::default() };
    let tracks = Tracer::new(field)
        .all_faces(BoundaryCondition::Reflect)
        .span(span)
        .trace(&Seeds::list(vec![TARGET])?)?;
    Ok(points(tracks.positions())[0])
}

/// The path of a cloud's centre in each iteration.
type Paths = Vec<Vec<[f64; 3]>>;

/// The best release position, and the path of the cloud's centre `[saves]` in each iteration.
fn aim(field: &GridField, device: &Device) -> Result<(Tensor<2>, Paths), Error> {
    let mut release = Parameter::new(Tensor::<2>::from_floats([RELEASE], device));
    let mut paths = Vec::new();
    for iteration in 0..ITERATIONS {
        let tracks = drift(field, release.value())?;
        let loss = squares(&tracks).mean();
        if iteration % 10 == 0 {
            let (position, fraction) = (points(release.value())[0], fraction(&tracks));
            println!("iteration {iteration:>2}: {fraction:.3} in the target from {position:.4?}");
        }
        paths.push(points(tracks.positions().inner().mean_dim(1)));
        let remaining = 1.0 - iteration as f64 / ITERATIONS as f64;
        release.update(&loss.backward(), RATE * remaining);
    }
    Ok((release.value(), paths))
}

/// Draws the paths, coloured by iteration.
fn draw(paths: &[Vec<[f64; 3]>], path: &std::path::Path) -> Result<(), burntrace::plot::Error> {
    let saves = paths[0].len();
    let iterations = Attribute {
        name: "iteration".into(),
        unit: String::new(),
        values: (0..saves).flat_map(|_| (0..paths.len()).map(|i| i as f32)).collect(),
        ..Attribute::default()
    };
    let trajectories = Trajectories {
        times: (0..saves).map(|k| TIME * k as f64 / (saves - 1) as f64).collect(),
        particles: (0..paths.len() as u32).collect(),
        position: (0..saves).flat_map(|k| paths.iter().map(move |path| path[k])).collect(),
        joined: (0..saves).flat_map(|k| paths.iter().map(move |_| k > 0)).collect(),
        active: vec![true; saves * paths.len()],
        attributes: vec![iterations],
        domain: [[0.0; 3], [2.0, 1.0, 0.0]],
        run_size: [paths.len(), saves],
        ..Trajectories::default()
    };
    let title = format!("Centre of the cloud, aimed at ({}, {})", TARGET[0], TARGET[1]);
    let style = Style { title: Some(title), ..Style::default() };
    picture::tracks(&trajectories, &View::default(), &style)?.write_png(path)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "results".into());
    let device = Device::flex().autodiff();
    let field = double_gyre(&device)?;
    let (release, paths) = aim(&field, &device)?;
    let fraction = fraction(&drift(&field, release.clone())?);
    let (found, expected) = (points(release)[0], traced_back(&field)?);
    let distance = (found[0] - expected[0]).hypot(found[1] - expected[1]);
    println!("released at {found:.4?}, {fraction:.3} of the particles reach the target");
    println!("a particle traced back from the target comes from {expected:.4?}");

    let path = std::path::Path::new(&folder).join("aim.png");
    std::fs::create_dir_all(&folder)?;
    draw(&paths, &path)?;
    println!("{}", path.display());
    if fraction < FRACTION {
        return Err(format!("the fraction {fraction:.3} is below {FRACTION}").into());
    }
    if distance > TOLERANCE {
        return Err(format!("the release is {distance:.4} from that of the backward run").into());
    }
    Ok(())
}
