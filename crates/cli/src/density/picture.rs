//! Pictures of densities.

use super::{
    files,
    request::{DensityRequest, Target},
    saved_density::SavedDensity,
};
use crate::{
    args::StyleArgs,
    case::Misuse,
    figure_dir::FigureDir,
    format::{six_digits, twelve_digits},
    results::{AXES, Layer, Results, layer},
};
use anyhow::Result;
use burntrace::analysis::density::{Lattice, Plane};
use burntrace_plot::{Axis, Curves, Raster, picture};

/// Writes a picture of a density along a line, on a plane, or on the middle layer of a 3D grid.
/// Returns whether the density can be drawn.
pub fn add(
    results: &Results,
    request: &DensityRequest,
    density: &SavedDensity,
    style: &StyleArgs,
    figures: &mut FigureDir,
) -> Result<bool> {
    let style = style.style();
    let made = match (&request.target, line(results, request, density)) {
        (_, Some(curves)) => Some(picture::curves(&curves, &style)),
        (_, None) => {
            raster(results, request, density).map(|flat| picture::raster(&flat, &[], &style))
        }
    };
    let Some(made) = made else { return Ok(false) };
    figures.add(&density.name(), &made.map_err(Misuse::of)?)?;
    Ok(true)
}

/// The axes along which a lattice has more than one node.
fn extended_axes(lattice: &Lattice) -> Vec<usize> {
    (0..3).filter(|&d| lattice.counts[d] > 1).collect()
}

fn axis(results: &Results, name: &str, range: [f64; 2]) -> Axis {
    Axis { name: name.into(), unit: results.units().length, range }
}

/// The density along one axis as a curve. `None` for other targets.
fn line(results: &Results, request: &DensityRequest, density: &SavedDensity) -> Option<Curves> {
    let Target::Grid(lattice) = &request.target else { return None };
    let [d] = extended_axes(lattice)[..] else { return None };
    let nodes = files::of_lattice(lattice, density.estimate.placement, results);
    let coordinate = |i: usize| nodes.origin[d] + i as f64 * nodes.spacing[d];
    let points =
        density.values.iter().enumerate().map(|(i, &value)| [coordinate(i), value]).collect();
    let values = Axis { name: "density".into(), unit: unit(results, request), range: [0.0; 2] };
    Some(Curves {
        axes: [axis(results, AXES[d], [lattice.low[d], lattice.high[d]]), values],
        log: [false; 2],
        series: vec![(String::new(), points)],
        bands: Vec::new(),
        title: format!("density at {}", time(results, density)),
    })
}

/// The density on the target plane, or on the middle layer of a 3D grid.
pub fn raster(
    results: &Results,
    request: &DensityRequest,
    density: &SavedDensity,
) -> Option<Raster> {
    match &request.target {
        Target::Points(_) => None,
        Target::Plane(plane) => Some(of_plane(results, request, density, plane)),
        Target::Grid(lattice) => of_lattice(results, request, density, lattice),
    }
}

fn of_lattice(
    results: &Results,
    request: &DensityRequest,
    density: &SavedDensity,
    lattice: &Lattice,
) -> Option<Raster> {
    let nodes = files::of_lattice(lattice, density.estimate.placement, results);
    let Layer { raster, position } = layer(results, &nodes, &density.values)?;
    let position = if position.is_empty() { slice(lattice, request) } else { position };
    Some(Raster {
        name: "density".into(),
        unit: unit(results, request),
        title: format!("density at {}{position}", time(results, density)),
        ..raster
    })
}

/// The position of a slice through a 3D density, as `, z = 0.5`.
fn slice(lattice: &Lattice, request: &DensityRequest) -> String {
    let normal = (0..3).find(|&d| lattice.counts[d] == 1 && request.axes.active()[d]);
    normal.map_or_else(String::new, |d| format!(", {} = {}", AXES[d], six_digits(lattice.low[d])))
}

fn of_plane(
    results: &Results,
    request: &DensityRequest,
    density: &SavedDensity,
    plane: &Plane,
) -> Raster {
    let length = |edge: [f64; 3]| edge.iter().map(|x| x * x).sum::<f64>().sqrt();
    let [u, v] = plane.edges.map(length);
    Raster {
        axes: [axis(results, "along u", [0.0, u]), axis(results, "along v", [0.0, v])],
        counts: plane.counts,
        values: density.values.iter().map(|&value| value as f32).collect(),
        name: "density".into(),
        unit: unit(results, request),
        title: format!("density at {} on a plane", time(results, density)),
    }
}

fn time(results: &Results, density: &SavedDensity) -> String {
    format!("t = {} {}", twelve_digits(density.time), results.units().time).trim_end().to_string()
}

/// The unit of a density.
fn unit(results: &Results, request: &DensityRequest) -> String {
    let unit = results.units().per_space(request.axes.dimension());
    if request.is_number && !unit.is_empty() { unit.replace("1/", "particles/") } else { unit }
}
