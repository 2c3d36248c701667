//! What is asked for, from the command line and from the run.

use super::Cloud;
use crate::{
    args::{self, Edges, Method},
    case::Misuse,
    results::{AXES, Results, tensors},
};
use anyhow::Result;
use burntrace::analysis::density::{
    Axes, Bandwidth, Density, Edge, Estimate, Factor, Kernel, Lattice, Normalization, Plane,
};
use burntrace::{device::OpenDevice, io};

/// Nodes along the longest axis, of 1, 2 and 3 axes.
const NODES: [usize; 3] = [512, 256, 96];

/// A density that can be made of any cloud of the run.
pub struct DensityRequest {
    pub density: Density,
    pub axes: Axes,
    pub target: Target,
    /// Whether the integral is the number of particles, and not 1.
    pub is_number: bool,
}

/// Where a density is wanted.
pub enum Target {
    Grid(Lattice),
    Plane(Plane),
    Points(Vec<[f64; 3]>),
}

impl DensityRequest {
    /// What a command line asks for.
    pub fn of(args: &args::Density, results: &Results) -> Result<DensityRequest> {
        let axes = axes(args.axes.as_deref(), results)?;
        let edges = match args.edges {
            Edges::Run => edges(results),
            Edges::Open => [[Edge::Open; 2]; 3],
        };
        let [low, high] = results.domain;
        let method = method(args, axes)?;
        let is_number = args.number || args.method != Method::Kde;
        let normalization =
            if is_number { Normalization::Number } else { Normalization::Probability };
        let density = method.axes(axes).within(low, high, edges).normalization(normalization);
        Ok(DensityRequest { density, axes, target: target(args, results, axes)?, is_number })
    }

    /// The density that is shown where nothing is asked for: of all axes of the domain by Scott's
    /// rule; in space, on the plane across z in the middle.
    pub fn plain(results: &Results) -> Result<DensityRequest> {
        let axes = axes(None, results)?;
        let [low, high] = results.domain;
        let mut grid = Lattice { counts: counts(&[], axes, low, high)?, low, high };
        if axes == Axes::XYZ {
            let middle = 0.5 * (low[2] + high[2]);
            (grid.low[2], grid.high[2]) = (middle, middle);
            grid.counts = [256, 256, 1];
        }
        let density = Density::kde(Bandwidth::Scott).axes(axes).within(low, high, edges(results));
        Ok(DensityRequest { density, axes, target: Target::Grid(grid), is_number: false })
    }

    /// The density of a cloud, on a device.
    pub fn estimate(&self, cloud: &Cloud, device: &OpenDevice) -> Result<Estimate> {
        let positions = cloud.on(device);
        let estimate = match &self.target {
            Target::Grid(lattice) => self.density.on_grid(&positions, lattice),
            Target::Plane(plane) => self.density.on_plane(&positions, plane),
            Target::Points(points) => {
                let points = tensors::places(points, cloud.precision, device);
                self.density.at(&positions, &points)
            }
        };
        estimate.map_err(Misuse::of)
    }
}

/// The axes that count: those that are named, else those along which the domain has an extent.
fn axes(given: Option<&str>, results: &Results) -> Result<Axes> {
    let all: String = results.axes().into_iter().map(|d| AXES[d]).collect();
    let name = given.unwrap_or(&all);
    if name.is_empty() {
        return Err(Misuse::error(
            "the domain of the run has no extent along any axis, so there is no density in it; give \
             --axes, --low and --high",
        ));
    }
    name.parse().map_err(Misuse::of)
}

/// Periodic faces wrap, others mirror; so the integral over the domain is that of all particles.
fn edges(results: &Results) -> [[Edge; 2]; 3] {
    let [low, high] = results.domain;
    std::array::from_fn(|d| match results.tracks.periods()[d] > 0.0 {
        true => [Edge::Periodic; 2],
        false if low[d] < high[d] => [Edge::Reflecting; 2],
        false => [Edge::Open; 2],
    })
}

fn method(args: &args::Density, axes: Axes) -> Result<Density> {
    match (args.method, args.kernel, args.bandwidth.as_deref()) {
        (Method::Kde, None, width) => Ok(Density::kde(bandwidth(width.unwrap_or("scott"), axes)?)),
        (Method::Sph, kernel, Some(width)) => {
            let kernel = kernel.map_or(Kernel::CubicSpline, Kernel::from);
            let h = width.parse().map_err(|_| {
                Misuse::error(format!("--bandwidth {width}: give a length, as 0.1, with sph"))
            })?;
            Ok(Density::sph(kernel, h))
        }
        (Method::Sph, _, None) => Err(Misuse::error(
            "--method sph needs a smoothing length: give it with --bandwidth, in the data's unit; \
             some two distances between particles are usual",
        )),
        (Method::Histogram, None, None) => Ok(Density::histogram()),
        (Method::CloudInCell, None, None) => Ok(Density::cloud_in_cell()),
        (_, Some(_), _) => Err(Misuse::error("--kernel goes with --method sph only")),
        (_, None, Some(_)) => Err(Misuse::error(
            "--bandwidth goes with kde and sph; the width of the cells of the others follows from \
             --nodes",
        )),
    }
}

fn bandwidth(given: &str, axes: Axes) -> Result<Bandwidth> {
    let lengths: Result<Vec<f64>, _> = given.split(',').map(|part| part.trim().parse()).collect();
    match (given, lengths.as_deref()) {
        ("scott", _) => Ok(Bandwidth::Scott),
        ("silverman", _) => Ok(Bandwidth::Silverman),
        ("covariance", _) => Ok(Bandwidth::Full(Factor::Scott)),
        (_, Ok([h])) => Ok(Bandwidth::Fixed(*h)),
        (_, Ok(lengths)) if lengths.len() == axes.dimension() => {
            Ok(Bandwidth::PerAxis(spread(lengths, axes, 0.0)))
        }
        _ => Err(Misuse::error(format!(
            "--bandwidth {given}: give scott, silverman, covariance, a length, or one for each axis \
             that counts, as 0.1,0.2"
        ))),
    }
}

/// Values of the axes that count, with another one for those that do not.
fn spread<T: Copy>(values: &[T], axes: Axes, other: T) -> [T; 3] {
    let mut values = values.iter();
    axes.counts().map(|counts| counts.then(|| values.next()).flatten().copied().unwrap_or(other))
}

fn target(args: &args::Density, results: &Results, axes: Axes) -> Result<Target> {
    if let Some(file) = &args.points {
        return Ok(Target::Points(io::read_points(file).map_err(Misuse::of)?.position));
    }
    let low = corner("--low", &args.low, results.domain[0])?;
    let high = corner("--high", &args.high, results.domain[1])?;
    if !args.plane.is_empty() {
        return plane(&args.plane, &args.nodes).map(Target::Plane);
    }
    let mut grid = Lattice { counts: counts(&args.nodes, axes, low, high)?, low, high };
    if let Some(slice) = &args.slice {
        let (d, place) = across(slice, axes)?;
        grid.counts[d] = 1;
        (grid.low[d], grid.high[d]) = (place, place);
    }
    Ok(Target::Grid(grid))
}

/// A slice askew: nine numbers, and nodes along its edges.
fn plane(numbers: &[f64], nodes: &[usize]) -> Result<Plane> {
    let [ox, oy, oz, ux, uy, uz, vx, vy, vz] = *numbers else {
        return Err(Misuse::error(format!(
            "--plane has {} numbers; give nine: the origin and the two edges, as 0,0,0.5,1,0,0,0,1,0",
            numbers.len()
        )));
    };
    let counts = match *nodes {
        [] => [256; 2],
        [n] => [n; 2],
        [n, m] => [n, m],
        _ => return Err(Misuse::error("--nodes with --plane: give one number, or two")),
    };
    Ok(Plane { origin: [ox, oy, oz], edges: [[ux, uy, uz], [vx, vy, vz]], counts })
}

fn corner(name: &str, given: &[f64], domain: [f64; 3]) -> Result<[f64; 3]> {
    match given {
        [] => Ok(domain),
        _ => given.try_into().map_err(|_| {
            Misuse::error(format!("{name} has {} numbers; give three, as 0,0,0", given.len()))
        }),
    }
}

/// Nodes along each axis: as given, or in proportion to the extents.
fn counts(given: &[usize], axes: Axes, low: [f64; 3], high: [f64; 3]) -> Result<[usize; 3]> {
    match given {
        [] => {
            let extent = |d: usize| if axes.counts()[d] { high[d] - low[d] } else { 0.0 };
            let longest = (0..3).map(extent).fold(0.0, f64::max);
            let most = NODES[axes.dimension() - 1];
            let count = |d| ((most as f64 * extent(d) / longest).round() as usize).max(2);
            Ok(std::array::from_fn(|d| if axes.counts()[d] { count(d) } else { 1 }))
        }
        [n] => Ok(axes.counts().map(|counts| if counts { *n } else { 1 })),
        given if given.len() == axes.dimension() => Ok(spread(given, axes, 1)),
        given => Err(Misuse::error(format!(
            "--nodes has {} numbers; give one, or one for each of the {} axes that count",
            given.len(),
            axes.dimension()
        ))),
    }
}

/// The axis across a slice, and where on it.
fn across(slice: &str, axes: Axes) -> Result<(usize, f64)> {
    let found = slice.split_once('=').and_then(|(name, place)| {
        let d = AXES.iter().position(|axis| *axis == name.trim())?;
        Some((d, place.trim().parse().ok().filter(|place: &f64| place.is_finite())?))
    });
    found.filter(|(d, _)| axes.counts()[*d] && axes.dimension() > 1).ok_or_else(|| {
        Misuse::error(format!(
            "--slice {slice}: give an axis that counts and a place on it, as z=0.5"
        ))
    })
}
