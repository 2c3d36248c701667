//! The density of a diffusing cloud, compared with the exact solution, and an image of it.
//!
//! `cargo run --release --example plume`

mod formula;

use burntrace::analysis::density::{Axes, Bandwidth, Density, Estimate, Lattice};
use burntrace::burn::tensor::Tensor;
use burntrace::plot::{Axis, Raster, picture};
use burntrace::{FieldOptions, GridField, RandomWalk, Seeds, Span, Tracer, device};
use formula::Formula;
use std::f64::consts::TAU;

/// Diffusivity in length squared per time, and duration of the run.
const DIFFUSIVITY: f64 = 0.1;
const TIME: f64 = 10.0;
/// The standard deviation of each particle's Gaussian.
const BANDWIDTH: f64 = 0.2;
const LATTICE: Lattice =
    Lattice { counts: [121, 81, 1], low: [-6.0, -4.0, 0.0], high: [6.0, 4.0, 0.0] };

/// Final positions of particles released at one point in still water.
fn cloud() -> Result<Tensor<2>, burntrace::Error> {
    let device = device::open("auto")?.device;
    let still = Formula {
        corners: [[-50.0; 3], [50.0; 3]],
        nodes: [2; 3],
        velocity: |_| [0.0; 3],
        diffusivity: None,
    };
    let field = GridField::load(&mut still.frames(), &device, &FieldOptions::default())?;
    let tracks = Tracer::new(&field)
        .random_walk(RandomWalk::isotropic(DIFFUSIVITY, 7))
        .span(Span { t1: Some(TIME), dt: Some(0.1), ..Span::default() })
        .trace(&Seeds::list(vec![[0.0; 3]; 100_000])?)?;
    Ok(tracks.saves()[0].position.clone())
}

/// Exact solution: a normal distribution over x and y with the variances of the cloud and the bandwidth.
fn formula_at([x, y]: [f64; 2]) -> f64 {
    let variance = 2.0 * DIFFUSIVITY * TIME + BANDWIDTH * BANDWIDTH;
    (-(x * x + y * y) / (2.0 * variance)).exp() / (TAU * variance)
}

fn picture_of(values: &[f64]) -> Result<(), Box<dyn std::error::Error>> {
    let axis = |d: usize, name: &str| Axis {
        name: name.into(),
        unit: String::new(),
        range: [LATTICE.low[d], LATTICE.high[d]],
    };
    let raster = Raster {
        axes: [axis(0, "x"), axis(1, "y")],
        counts: [LATTICE.counts[0], LATTICE.counts[1]],
        values: values.iter().map(|&value| value as f32).collect(),
        name: "density".into(),
        unit: String::new(),
        title: format!("a cloud after {TIME} units of time"),
        ..Raster::default()
    };
    std::fs::create_dir_all("results")?;
    picture::raster(&raster, &[], &picture::Style::default())?.write_png("results/plume.png")?;
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let density = Density::kde(Bandwidth::Fixed(BANDWIDTH)).axes(Axes::XY);
    let Estimate { values, integral, used, .. } = density.on_grid(&cloud()?, &LATTICE)?;
    let values: Vec<f64> = values.into_data().iter().collect();
    let node = |i: usize| {
        let index = [i % LATTICE.counts[0], i / LATTICE.counts[0]];
        [0, 1].map(|d| LATTICE.low[d] + index[d] as f64 * LATTICE.pitch(d))
    };
    let errors = values.iter().enumerate().map(|(i, value)| (value - formula_at(node(i))).abs());
    let (error, peak) = (errors.fold(0.0, f64::max), formula_at([0.0; 2]));
    println!("{used} particles, integral {:.4}", integral.unwrap_or(f64::NAN));
    // The variance of a mean of Gaussians: B. W. Silverman, Density Estimation, 1986, 3.3.1.
    let sampling = (peak / (2.0 * TAU * BANDWIDTH.powi(2) * used as f64)).sqrt();
    let [error, sampling] = [error, sampling].map(|x| 100.0 * x / peak);
    println!(
        "maximum error {error:.1} % of the peak; the standard error of the sample is {sampling:.1} %"
    );
    picture_of(&values)?;
    println!("results/plume.png");
    Ok(())
}
