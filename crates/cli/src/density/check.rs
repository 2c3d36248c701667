//! Finds requests whose density would be zero everywhere.

use super::request::DensityRequest;
use crate::{
    args::DensityMethod,
    file::Misuse,
    format::six_digits,
    results::{AXES, Results},
};
use anyhow::Result;
use burntrace::analysis::density::{Axes, Edge, Estimate, Kernel, Plane};
use burntrace::{Precision, densities::Target, mesh::Bounds};

/// Truncation of Gaussians in standard deviations, the default of the library.
const TRUNCATION: f64 = 6.0;
/// Maximum bandwidth, in extents of the domain. The density of a wider kernel is the same everywhere.
const MAX_EXTENTS: f64 = 1000.0;

/// The reach of a kernel in bandwidths; 0 for methods without a kernel.
pub fn reach(method: DensityMethod, kernel: Option<Kernel>) -> f64 {
    match (method, kernel.unwrap_or(Kernel::CubicSpline)) {
        (DensityMethod::Kde, _) => TRUNCATION,
        // Its standard deviation is the smoothing length divided by the root of 2.
        (DensityMethod::Sph, Kernel::Gaussian) => TRUNCATION / std::f64::consts::SQRT_2,
        (DensityMethod::Sph, kernel) => kernel.support(),
        (DensityMethod::Histogram | DensityMethod::CloudInCell, _) => 0.0,
    }
}

/// Refuses a given bandwidth that positions of the run do not resolve, or far beyond the domain.
pub fn lengths((given, lengths): (&str, &[f64]), axes: Axes, results: &Results) -> Result<()> {
    let active = (0..3).filter(|d| axes.active()[*d]);
    let along = |i: usize| lengths.get(i).or(lengths.first()).copied();
    for (i, d) in active.enumerate() {
        let Some(h) = along(i) else { return Ok(()) };
        let (name, scale) = (AXES[d], results.lengths_per_unit());
        let resolution = scale * resolution(results, d);
        if h > 0.0 && h < resolution {
            return Err(Misuse::error(format!(
                "--bandwidth {given}: positions of the run along {name} are resolved to {resolution:.1e}, so that \
                 a narrower kernel reaches no node; give a greater length, or spacing"
            )));
        }
        let extent = scale * (results.domain[1][d] - results.domain[0][d]);
        if extent > 0.0 && h > MAX_EXTENTS * extent {
            return Err(Misuse::error(format!(
                "--bandwidth {given}: the domain has an extent of {} along {name}, so that the density would be \
                 the same everywhere; give up to {}, or spacing",
                six_digits(extent),
                six_digits(MAX_EXTENTS * extent)
            )));
        }
    }
    Ok(())
}

/// The distance of adjacent positions of a run along an axis.
fn resolution(results: &Results, d: usize) -> f64 {
    let epsilon = match results.tracks.precision() {
        Precision::F32 => f64::from(f32::EPSILON),
        Precision::F64 => f64::EPSILON,
    };
    let ends =
        [results.domain[0][d], results.domain[1][d]].map(|x| (x - results.origin()[d]).abs());
    let largest = ends.into_iter().filter(|x| x.is_finite()).fold(0.0, f64::max);
    epsilon * largest
}

/// Refuses nodes that are all outside the domain, at faces beyond which the density is zero.
pub fn target(
    target: &Target,
    (axes, edges): (Axes, [[Edge; 2]; 3]),
    results: &Results,
) -> Result<()> {
    let (what, Bounds { low, high }) = match target {
        Target::Grid(grid) => ("the grid", Bounds { low: grid.low, high: grid.high }),
        Target::Plane(plane) => {
            area(plane)?;
            ("the plane", Bounds::of(corners(plane)))
        }
        Target::Points(points) => ("the list of points", Bounds::of(points.iter().copied())),
    };
    let [first, last] = results.domain;
    let is_closed = |d: usize| axes.active()[d] && edges[d] == [Edge::Reflecting; 2];
    // Rounded coordinates of a face are still on it.
    let slack = |d: usize| 1e-6 * (last[d] - first[d]);
    let is_apart = |d: usize| high[d] < first[d] - slack(d) || low[d] > last[d] + slack(d);
    let Some(d) = (0..3).find(|d| is_closed(*d) && is_apart(*d)) else { return Ok(()) };
    let (name, at) = (
        AXES[d],
        match low[d] == high[d] {
            true => format!("is at {}", low[d]),
            false => format!("extends from {} to {}", low[d], high[d]),
        },
    );
    Err(Misuse::error(format!(
        "{what} of the density {at} along {name}, outside the domain of the run from {} to {}, where the \
         density is 0; give coordinates in the domain",
        first[d], last[d]
    )))
}

/// Refuses a plane without area.
fn area(plane: &Plane) -> Result<()> {
    let [u, v] = plane.edges;
    let cross = [0, 1, 2].map(|d| {
        let (a, b) = ((d + 1) % 3, (d + 2) % 3);
        u[a] * v[b] - u[b] * v[a]
    });
    let length = |edge: [f64; 3]| edge.iter().map(|x| x * x).sum::<f64>().sqrt();
    // A NaN or an infinite number is refused by the library, which names it.
    if length(cross) > 1e-12 * length(u) * length(v) || !length(cross).is_finite() {
        return Ok(());
    }
    Err(Misuse::error(format!(
        "--plane has the edges {u:?} and {v:?}, which span no area; give two edges of different directions, \
         such as 0,0,0.5,1,0,0,0,1,0"
    )))
}

fn corners(plane: &Plane) -> [[f64; 3]; 4] {
    let [u, v] = plane.edges;
    [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
        .map(|[a, b]| [0, 1, 2].map(|d| plane.origin[d] + a * u[d] + b * v[d]))
}

/// Describes kernels that reach no node from most positions between nodes. `None` if all are wide enough.
pub fn kernels(request: &DensityRequest, estimate: &Estimate) -> Option<String> {
    let lattice = estimate.lattice.as_ref()?;
    let reach = |d: usize| request.reach * estimate.bandwidth[d];
    let pitch = |d: usize| request.lengths_per_unit * lattice.pitch(d);
    let is_lost =
        |d: usize| request.reach > 0.0 && lattice.counts[d] > 1 && 2.0 * reach(d) < pitch(d);
    let d = (0..3).find(|d| is_lost(*d))?;
    let (pitch, bandwidth) = (pitch(d), estimate.bandwidth[d]);
    Some(format!(
        "the bandwidth along {} is {}, and the nodes are {} apart, so that particles between nodes would not \
         count; give a bandwidth of at least {}, more --nodes, or a smaller grid with --low and --high",
        AXES[d],
        six_digits(bandwidth),
        six_digits(pitch),
        six_digits(0.5 * pitch / request.reach)
    ))
}
