//! Recover a velocity field on a grid from the positions of drifters, by gradients with respect to its values.
//!
//! `cargo run --release --example assimilate [FOLDER]`: the folder of the pictures, `results` by default.

mod adam;

use adam::Parameter;
use burntrace::burn::tensor::{Device, Tensor};
use burntrace::plot::picture::{self, Range, Style};
use burntrace::plot::{Axis, Raster};
use burntrace::{BoundaryCondition, Error, FieldOptions, GridField, SaveAt, Seeds, Span, Tracer};
use std::f64::consts::PI;
use std::path::Path;

/// Nodes along x and y.
const NODES: [usize; 2] = [33, 17];
/// Size of the domain.
const SIZE: [f64; 2] = [2.0, 1.0];
/// Drifters around the centre of each gyre, and the radii of the discs in which they are released.
const DRIFTERS: usize = 150;
const RADII: [f64; 2] = [0.42, 0.3];
/// Time between two observations, and their number after the release.
const INTERVAL: f64 = 0.5;
const OBSERVATIONS: usize = 20;
/// Standard deviation of the observed coordinates, 3 % of a cell.
const NOISE: f64 = 0.002;
/// Weight of the smoothness term.
const SMOOTHNESS: f64 = 2e3;
/// Iterations, and the step of the first one.
const ITERATIONS: usize = 150;
const RATE: f64 = 0.02;
/// Maximum error where drifters went, relative to the root mean square of the velocity.
const TOLERANCE: f64 = 0.05;

/// Observed displacements: positions, and the positions `[n, 3]` an interval later.
struct Observations {
    before: Seeds,
    after: Tensor<2>,
}

/// A steady double gyre.
fn gyres([x, y, _]: [f64; 3], _time: f64) -> [f64; 3] {
    let [u, v] = [-(PI * x).sin() * (PI * y).cos(), (PI * x).cos() * (PI * y).sin()];
    [0.1 * PI * u, 0.1 * PI * v, 0.0]
}

/// A field on the grid.
fn field(device: &Device, velocity: fn([f64; 3], f64) -> [f64; 3]) -> Result<GridField, Error> {
    let axis =
        |d: usize| (0..NODES[d]).map(|i| SIZE[d] * i as f64 / (NODES[d] - 1) as f64).collect();
    let options = FieldOptions::default();
    GridField::from_fn([axis(0), axis(1), vec![0.0]], vec![0.0], device, &options, velocity)
}

/// A tracer for a number of intervals.
fn tracer(field: &GridField, intervals: usize) -> Tracer<'_> {
    let end = INTERVAL * intervals as f64;
    Tracer::new(field)
        .all_faces(BoundaryCondition::Reflect)
        .span(Span { t0: Some(0.0), t1: Some(end), dt: Some(0.05), ..Span::default() })
        .save(SaveAt::EveryTime(INTERVAL))
}

fn points(tensor: Tensor<3>) -> Vec<[f64; 3]> {
    let numbers: Vec<f64> = tensor.into_data().iter::<f64>().collect();
    numbers.as_chunks::<3>().0.to_vec()
}

/// Positions of the drifters with errors, the saves one after the other.
fn observe(truth: &GridField) -> Result<Vec<[f64; 3]>, Error> {
    let disc = |x: f64, radius| Seeds::disc([x, 0.5, 0.0], [0.0, 0.0, 1.0], radius, DRIFTERS);
    let seeds = disc(0.5, RADII[0])?.join(disc(1.5, RADII[1])?)?;
    let positions = points(tracer(truth, OBSERVATIONS).trace(&seeds)?.positions());
    let noise = Seeds::gaussian([0.0; 3], [NOISE, NOISE, 0.0], positions.len(), 7)?;
    let observed = positions.iter().zip(noise.positions()).map(|([x, y, z], error)| {
        [(x + error[0]).clamp(0.0, SIZE[0]), (y + error[1]).clamp(0.0, SIZE[1]), *z]
    });
    Ok(observed.collect())
}

/// Splits the tracks into intervals, so that no gradient grows over a longer time.
fn split(observed: &[[f64; 3]], device: &Device) -> Result<Observations, Error> {
    let n = 2 * DRIFTERS;
    let before = Seeds::list(observed[..observed.len() - n].to_vec())?;
    let after: Vec<f32> = observed[n..].as_flattened().iter().map(|x| *x as f32).collect();
    let after = Tensor::<1>::from_floats(after.as_slice(), device).reshape([-1, 3]);
    Ok(Observations { before, after })
}

/// Mean square of the differences between computed and observed positions, in units of the noise.
fn misfit(field: &GridField, observations: &Observations) -> Result<Tensor<1>, Error> {
    let tracks = tracer(field, 1).trace(&observations.before)?;
    let computed = tracks.saves()[1].position.clone();
    Ok((computed - observations.after.clone()).square().mean() / (NOISE * NOISE))
}

/// Mean square of the second differences of velocities `[1, nodes, 3]` along x and y.
fn roughness(values: Tensor<3>) -> Tensor<1> {
    let rows = values.reshape([NODES[1], NODES[0], 3]);
    let along = |d: usize| {
        let count = rows.dims()[d] - 2;
        let part = |first| rows.clone().narrow(d, first, count);
        (part(0) - part(1) * 2.0 + part(2)).square().mean()
    };
    along(0) + along(1)
}

/// Velocities `[1, nodes, 3]` that explain the observations, starting from a field at rest.
fn recover(observations: &Observations, device: &Device) -> Result<Tensor<3>, Error> {
    let rest = field(device, |_, _| [0.0; 3])?;
    let mut velocity = Parameter::new(rest.values()?);
    for iteration in 0..ITERATIONS {
        let values = velocity.value();
        let misfit = misfit(&rest.with_values(values.clone())?, observations)?;
        let loss = misfit.clone() + roughness(values) * SMOOTHNESS;
        let remaining = 1.0 - iteration as f64 / ITERATIONS as f64;
        velocity.update(&loss.backward(), RATE * remaining);
        if iteration % 50 == 0 {
            println!("iteration {iteration:>3}: misfit {:.3}", misfit.into_scalar::<f64>());
        }
    }
    Ok(velocity.value())
}

/// Whether each node belongs to a cell in which a drifter was observed.
fn visited(observed: &[[f64; 3]]) -> Vec<bool> {
    let mut nodes = vec![false; NODES[0] * NODES[1]];
    for position in observed {
        let cell = [0, 1].map(|d| {
            let cells = NODES[d] - 1;
            ((position[d] / SIZE[d] * cells as f64) as usize).min(cells - 1)
        });
        let first = cell[0] + NODES[0] * cell[1];
        for offset in [0, 1, NODES[0], NODES[0] + 1] {
            nodes[first + offset] = true;
        }
    }
    nodes
}

/// Root mean square of the error at some nodes, relative to that of the true velocity there.
fn error(found: &[[f64; 3]], truth: &[[f64; 3]], at: impl Fn(usize) -> bool) -> f64 {
    let square = |v: [f64; 3]| v.iter().map(|x| x * x).sum::<f64>();
    let nodes = || (0..truth.len()).filter(|i| at(*i));
    let errors = nodes().map(|i| square([0, 1, 2].map(|d| found[i][d] - truth[i][d])));
    (errors.sum::<f64>() / nodes().map(|i| square(truth[i])).sum::<f64>()).sqrt()
}

/// Draws the speed, with drifters as dots.
fn draw(
    path: &Path,
    title: &str,
    (velocity, drifters): (&[[f64; 3]], &[[f64; 3]]),
) -> Result<(), burntrace::plot::Error> {
    let axis = |d: usize, name: &str| Axis {
        name: name.into(),
        unit: String::new(),
        range: [0.0, SIZE[d]],
    };
    let raster = Raster {
        axes: [axis(0, "x"), axis(1, "y")],
        counts: NODES,
        values: velocity.iter().map(|[u, v, _]| u.hypot(*v) as f32).collect(),
        name: "speed".into(),
        unit: String::new(),
        title: title.into(),
        ..Raster::default()
    };
    let dots: Vec<[f64; 2]> = drifters.iter().map(|[x, y, _]| [*x, *y]).collect();
    let style = Style { range: Range::Given([0.0, 0.32]), ..Style::default() };
    picture::raster(&raster, &dots, &style)?.write_png(path)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "results".into());
    let device = Device::flex().autodiff();
    let truth = field(&device, gyres)?;
    let observed = observe(&truth)?;
    let found = points(recover(&split(&observed, &device)?, &device)?);

    let (truth, visited) = (points(truth.values()?), visited(&observed));
    let inside = error(&found, &truth, |i| visited[i]);
    let outside = error(&found, &truth, |i| !visited[i]);
    let count = visited.iter().filter(|is_visited| **is_visited).count();
    println!(
        "relative error at the {count} of {} nodes where drifters went: {inside:.4}",
        truth.len()
    );
    println!("relative error elsewhere: {outside:.4}");
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    let drifters = &observed[..2 * DRIFTERS];
    draw(&folder.join("assimilate-truth.png"), "true speed", (&truth, drifters))?;
    draw(&folder.join("assimilate.png"), "recovered speed", (&found, drifters))?;
    println!("{}", folder.join("assimilate.png").display());
    match inside < TOLERANCE {
        true => Ok(()),
        false => Err(format!("the error {inside:.4} is not below {TOLERANCE}").into()),
    }
}
