//! The density request of a command line and a run.

use super::{check, region};
use crate::{
    args::{DensityArgs, DensityEdges, DensityMethod},
    file::Misuse,
    notes,
    results::{AXES, Results},
};
use anyhow::Result;
use burntrace::analysis::{
    self,
    density::{
        Axes, Bandwidth, Density, Edge, Estimate, Factor, Kernel, Lattice, Normalization, Plane,
        Region,
    },
};
use burntrace::{
    densities::{DensityNodes, SavedParticles, Target},
    device::OpenDevice,
    io,
};

/// Default number of nodes along the longest axis, in 1, 2 and 3 dimensions.
pub const NODES: [usize; 3] = [512, 256, 96];

/// Rules that derive the bandwidth from the particles.
const RULES: [&str; 4] = ["spacing", "scott", "silverman", "covariance"];

/// An estimator and where to evaluate it.
pub struct DensityRequest {
    pub density: Density,
    pub nodes: DensityNodes,
    /// The extents of the domain along the axes of the density, in units of the bandwidth; 0 along others.
    pub extents: [f64; 3],
    /// Metres in a degree on a sphere; else 1.
    pub lengths_per_unit: f64,
    /// Whether positions are in degrees.
    pub is_on_sphere: bool,
    /// The point of the domain from which devices measure positions.
    origin: [f64; 3],
    /// The reach of kernels in bandwidths; 0 for methods without a kernel, and where it is not checked.
    pub reach: f64,
    /// Whether the bandwidth is a given length instead of a rule.
    pub has_given_bandwidth: bool,
    /// Whether the bandwidth is that of the spacing of particles.
    pub has_default_bandwidth: bool,
    /// Whether the nodes are not given in any way.
    pub has_default_nodes: bool,
}

impl DensityRequest {
    /// The request of a command line.
    pub fn of(args: &DensityArgs, results: &Results) -> Result<DensityRequest> {
        let axes = axes(args.axes.as_deref(), results)?;
        let edges = match args.edges {
            DensityEdges::Run => edges(results),
            DensityEdges::Open => [[Edge::Open; 2]; 3],
        };
        let [low, high] = results.domain;
        let method = method(args, axes, results)?;
        let is_number = args.number || args.method != DensityMethod::Kde;
        let normalization =
            if is_number { Normalization::Number } else { Normalization::Probability };
        let density = method.axes(axes).within(low, high, edges).normalization(normalization);
        let density = in_region(density, args, region::of(results, axes));
        let (target, origin) = (target(args, results, axes)?, results.origin());
        // No particle is outside the domain.
        let edges = match args.method {
            DensityMethod::Histogram | DensityMethod::CloudInCell => [[Edge::Reflecting; 2]; 3],
            // Kernels on a sphere know no faces.
            DensityMethod::Kde | DensityMethod::Sph if results.radius().is_some() => {
                [[Edge::Open; 2]; 3]
            }
            DensityMethod::Kde | DensityMethod::Sph => edges,
        };
        check::target(&target, (axes, edges), results)?;
        let reach = check::reach(args.method, args.kernel.map(Kernel::from));
        let has_given_bandwidth =
            args.bandwidth.as_ref().is_some_and(|given| !RULES.contains(&given.as_str()));
        let has_default_bandwidth = matches!(args.bandwidth.as_deref(), None | Some("spacing"));
        let has_default_nodes = args.points.is_none()
            && args.slice.is_none()
            && args.nodes.is_empty()
            && [&args.low, &args.high, &args.plane].into_iter().all(Vec::is_empty);
        let extents = extents(results, axes);
        Ok(DensityRequest {
            density,
            nodes: nodes(results, axes, target, is_number),
            extents,
            lengths_per_unit: results.lengths_per_unit(),
            is_on_sphere: results.radius().is_some(),
            origin,
            reach,
            has_given_bandwidth,
            has_default_bandwidth,
            has_default_nodes,
        })
    }

    /// The default request: KDE with a bandwidth of the spacing over the axes of the domain; in 3D, on the plane normal to
    /// z that most of the particles are near to.
    pub fn default_of(results: &Results, particles: &SavedParticles) -> Result<DensityRequest> {
        let axes = axes(None, results)?;
        let [low, high] = results.domain;
        let mut grid = Lattice { counts: counts(&[], axes, low, high)?, low, high };
        if axes == Axes::XYZ {
            let height = particles.densest(2, high[2] - low[2]);
            let height = height.unwrap_or(0.5 * (low[2] + high[2])).max(low[2]).min(high[2]);
            (grid.low[2], grid.high[2]) = (height, height);
            grid.counts = [256, 256, 1];
        }
        let density = Density::kde(Bandwidth::Spacing).axes(axes).within(low, high, edges(results));
        let density = region::of(results, axes).into_iter().fold(density, Density::inside);
        let (target, origin) = (Target::Grid(grid), results.origin());
        let extents = extents(results, axes);
        Ok(DensityRequest {
            density,
            nodes: nodes(results, axes, target, false),
            extents,
            lengths_per_unit: results.lengths_per_unit(),
            is_on_sphere: results.radius().is_some(),
            origin,
            reach: 0.0,
            has_given_bandwidth: false,
            has_default_bandwidth: true,
            has_default_nodes: true,
        })
    }

    /// The estimator with a width along each axis; on a sphere, with the maximum of these.
    pub fn with_widths(&self, widths: [f64; 3]) -> Density {
        self.density.clone().bandwidth(match self.is_on_sphere {
            true => Bandwidth::Fixed(widths.into_iter().fold(0.0, f64::max)),
            false => Bandwidth::PerAxis(widths),
        })
    }

    /// Whether the nodes are on a plane or a line across the space of the density, whose integral is not
    /// that over the domain.
    pub fn is_slice(&self) -> bool {
        let DensityNodes { target, axes, .. } = &self.nodes;
        match target {
            Target::Grid(grid) => (0..3).any(|d| axes.active()[d] && grid.counts[d] == 1),
            Target::Plane(_) => axes.dimension() == 3,
            Target::Points(_) => false,
        }
    }

    /// The axis normal to the plane of the nodes.
    pub fn normal_axis(&self) -> usize {
        match &self.nodes.target {
            Target::Grid(grid) => (0..3).find(|d| grid.counts[*d] == 1).unwrap_or(2),
            Target::Plane(_) | Target::Points(_) => 2,
        }
    }

    /// Limits the number of nodes along each side of a grid. Returns the position of a slice normal to z.
    pub fn limit_nodes(&mut self, max: usize) -> Option<f64> {
        let Target::Grid(grid) = &mut self.nodes.target else { return None };
        grid.counts = grid.counts.map(|count| count.min(max));
        let is_slice = self.nodes.axes == Axes::XYZ && grid.counts[2] == 1;
        is_slice.then_some(grid.low[2])
    }

    /// Estimates the density of particles on a device.
    pub fn estimate(
        &self,
        particles: &SavedParticles,
        device: &OpenDevice,
    ) -> analysis::Result<Estimate> {
        self.estimate_with(&self.density, particles, device)
    }

    /// The same with another estimator.
    pub fn estimate_with(
        &self,
        density: &Density,
        particles: &SavedParticles,
        device: &OpenDevice,
    ) -> analysis::Result<Estimate> {
        self.nodes.estimate(density, particles, self.origin, device)
    }
}

/// The estimator in a region with walls. Kernels that walls do not change are said in a note.
fn in_region(density: Density, args: &DensityArgs, region: Option<Region>) -> Density {
    let Some(region) = region else { return density };
    let is_correlated = args.bandwidth.as_deref() == Some("covariance");
    if args.method == DensityMethod::Sph || is_correlated {
        let kernels = if is_correlated { "--bandwidth covariance" } else { "--method sph" };
        notes::note(format!(
            "walls do not change kernels of {kernels}: parts of them in land, in bodies and outside of a mesh are lost, \
             and parts get past thin walls; kde with another bandwidth keeps them"
        ));
    }
    density.inside(region)
}

fn nodes(results: &Results, axes: Axes, target: Target, is_number: bool) -> DensityNodes {
    let (units, low) = (results.tracks.units(), results.domain[0]);
    DensityNodes { target, axes, is_number, units, low }
}

/// The extents of the domain along some axes, in units of the bandwidth, and 0 along the others.
fn extents(results: &Results, axes: Axes) -> [f64; 3] {
    let [low, high] = results.domain;
    std::array::from_fn(|d| {
        if axes.active()[d] { results.lengths_per_unit() * (high[d] - low[d]) } else { 0.0 }
    })
}

/// The axes of the density: the given ones, else those along which the domain has an extent; on a sphere, longitude and
/// latitude.
fn axes(given: Option<&str>, results: &Results) -> Result<Axes> {
    let is_shown = |d: &usize| *d < 2 || results.radius().is_none();
    let all: String = results.axes().into_iter().filter(is_shown).map(|d| AXES[d]).collect();
    let name = given.unwrap_or(&all);
    if name.is_empty() {
        return Err(Misuse::error(
            "the domain of the run is a point and has no density; give --axes, --low and --high",
        ));
    }
    name.parse().map_err(Misuse::of)
}

/// Periodic faces are periodic, all others reflect, so that the integral over the domain counts all
/// particles.
fn edges(results: &Results) -> [[Edge; 2]; 3] {
    let [low, high] = results.domain;
    std::array::from_fn(|d| match results.tracks.periods()[d] > 0.0 {
        true => [Edge::Periodic; 2],
        false if low[d] < high[d] => [Edge::Reflecting; 2],
        false => [Edge::Open; 2],
    })
}

fn method(args: &DensityArgs, axes: Axes, results: &Results) -> Result<Density> {
    match (args.method, args.kernel, args.bandwidth.as_deref()) {
        (DensityMethod::Kde, None, width) => {
            Ok(Density::kde(bandwidth(width.unwrap_or("spacing"), axes, results)?))
        }
        (DensityMethod::Sph, kernel, Some(width)) => {
            let kernel = kernel.map_or(Kernel::CubicSpline, Kernel::from);
            let h = width.parse().map_err(|_| {
                Misuse::error(format!("--bandwidth {width}: with sph, give a length such as 0.1"))
            })?;
            check::lengths((width, &[h]), axes, results)?;
            Ok(Density::sph(kernel, h))
        }
        (DensityMethod::Sph, _, None) => Err(Misuse::error(
            "--method sph needs a smoothing length; give it with --bandwidth, in the unit of the \
             data; about twice the distance between particles is usual",
        )),
        (DensityMethod::Histogram, None, None) => Ok(Density::histogram()),
        (DensityMethod::CloudInCell, None, None) => Ok(Density::cloud_in_cell()),
        (_, Some(_), _) => Err(Misuse::error("--kernel needs --method sph")),
        (_, None, Some(_)) => Err(Misuse::error(
            "--bandwidth needs --method kde or sph; the cell width of other methods follows from \
             --nodes",
        )),
    }
}

fn bandwidth(given: &str, axes: Axes, results: &Results) -> Result<Bandwidth> {
    let lengths: Result<Vec<f64>, _> = given.split(',').map(|part| part.trim().parse()).collect();
    if let Ok(lengths) = &lengths {
        check::lengths((given, lengths), axes, results)?;
    }
    match (given, lengths.as_deref()) {
        ("spacing", _) => Ok(Bandwidth::Spacing),
        ("scott", _) => Ok(Bandwidth::Scott),
        ("silverman", _) => Ok(Bandwidth::Silverman),
        ("covariance", _) => Ok(Bandwidth::Full(Factor::Scott)),
        (_, Ok([h])) => Ok(Bandwidth::Fixed(*h)),
        (_, Ok(lengths)) if lengths.len() == axes.dimension() => {
            Ok(Bandwidth::PerAxis(spread(lengths, axes, 0.0)))
        }
        _ => Err(Misuse::error(format!(
            "--bandwidth {given}: give spacing, scott, silverman, covariance, a length, or one length \
             for each axis of the density, such as 0.1,0.2"
        ))),
    }
}

/// Assigns values to the axes of the density, and `other` to the remaining axes.
fn spread<T: Copy>(values: &[T], axes: Axes, other: T) -> [T; 3] {
    let mut values = values.iter();
    axes.active().map(|counts| counts.then(|| values.next()).flatten().copied().unwrap_or(other))
}

fn target(args: &DensityArgs, results: &Results, axes: Axes) -> Result<Target> {
    if let Some(file) = &args.points {
        return Ok(Target::Points(io::read_points(file).map_err(Misuse::of)?.position));
    }
    let low = corner("--low", &args.low, results.domain[0])?;
    let high = corner("--high", &args.high, results.domain[1])?;
    if !args.plane.is_empty() && results.radius().is_some() {
        return Err(Misuse::error(
            "--plane is of lengths, and positions are in degrees; give --nodes, --low and --high, or --points",
        ));
    }
    if !args.plane.is_empty() {
        return plane(&args.plane, &args.nodes).map(Target::Plane);
    }
    let mut grid = Lattice { counts: counts(&args.nodes, axes, low, high)?, low, high };
    if let Some(slice) = &args.slice {
        let (d, position) = slice_position(slice, axes)?;
        grid.counts[d] = 1;
        (grid.low[d], grid.high[d]) = (position, position);
    }
    Ok(Target::Grid(grid))
}

/// An oblique plane: nine numbers, and nodes along its edges.
fn plane(numbers: &[f64], nodes: &[usize]) -> Result<Plane> {
    let [ox, oy, oz, ux, uy, uz, vx, vy, vz] = *numbers else {
        return Err(Misuse::error(format!(
            "--plane has {} numbers; give nine: the origin and two edges, such as 0,0,0.5,1,0,0,0,1,0",
            numbers.len()
        )));
    };
    let counts = match *nodes {
        [] => [256; 2],
        [n] => [n; 2],
        [n, m] => [n, m],
        _ => {
            return Err(Misuse::error(
                "--nodes has more than two numbers; with --plane, give one or two",
            ));
        }
    };
    Ok(Plane { origin: [ox, oy, oz], edges: [[ux, uy, uz], [vx, vy, vz]], counts })
}

/// A corner of the command line, or that of the domain.
pub fn corner(name: &str, given: &[f64], domain: [f64; 3]) -> Result<[f64; 3]> {
    match given {
        [] => Ok(domain),
        _ => given.try_into().map_err(|_| {
            Misuse::error(format!("{name} has {} numbers; give three, such as 0,0,0", given.len()))
        }),
    }
}

/// Number of nodes along each axis: as given, else in proportion to the extents.
fn counts(given: &[usize], axes: Axes, low: [f64; 3], high: [f64; 3]) -> Result<[usize; 3]> {
    match given {
        [] => {
            let extent = |d: usize| if axes.active()[d] { high[d] - low[d] } else { 0.0 };
            let longest = (0..3).map(extent).fold(0.0, f64::max);
            let max = NODES[axes.dimension() - 1];
            let count = |d| ((max as f64 * extent(d) / longest).round() as usize).max(2);
            Ok(std::array::from_fn(|d| if axes.active()[d] { count(d) } else { 1 }))
        }
        [n] => Ok(axes.active().map(|counts| if counts { *n } else { 1 })),
        given if given.len() == axes.dimension() => Ok(spread(given, axes, 1)),
        given => Err(Misuse::error(format!(
            "--nodes has {} numbers; give one, or one for each of the {} axes of the density",
            given.len(),
            axes.dimension()
        ))),
    }
}

/// Parses the axis normal to a slice, and the position on it.
fn slice_position(slice: &str, axes: Axes) -> Result<(usize, f64)> {
    let found = slice.split_once('=').and_then(|(name, position)| {
        let d = AXES.iter().position(|axis| *axis == name.trim())?;
        Some((d, position.trim().parse().ok().filter(|x: &f64| x.is_finite())?))
    });
    found.filter(|(d, _)| axes.active()[*d] && axes.dimension() > 1).ok_or_else(|| {
        Misuse::error(format!(
            "--slice {slice}: give an axis of the density and a position on it, such as z=0.5"
        ))
    })
}
