//! Pictures of densities.

use super::{DensityRequest, Field, Target, files};
use crate::{
    album::FigureDir,
    args,
    case::Misuse,
    results::{AXES, Layer, Results, layer},
    summary::in_six_digits,
};
use anyhow::Result;
use burntrace::analysis::density::{Lattice, Plane};
use burntrace_plot::{Axis, Curves, Raster, picture};

/// Adds a picture of a density, if one can be made: of a line, a plane, or the middle of a grid in
/// space. Says whether it has.
pub fn add(
    results: &Results,
    asked: &DensityRequest,
    field: &Field,
    look: &args::Look,
    album: &mut FigureDir,
) -> Result<bool> {
    let style = look.style();
    let made = match (&asked.target, line(results, asked, field)) {
        (_, Some(curves)) => Some(picture::curves(&curves, &style)),
        (_, None) => raster(results, asked, field).map(|flat| picture::raster(&flat, &[], &style)),
    };
    let Some(made) = made else { return Ok(false) };
    album.add(&field.name(), &made.map_err(Misuse::of)?)?;
    Ok(true)
}

/// The axes along which a lattice has several nodes.
fn several(lattice: &Lattice) -> Vec<usize> {
    (0..3).filter(|&d| lattice.counts[d] > 1).collect()
}

fn axis(results: &Results, name: &str, range: [f64; 2]) -> Axis {
    Axis { name: name.into(), unit: results.units().length, range }
}

/// The curve of a density along one axis.
fn line(results: &Results, asked: &DensityRequest, field: &Field) -> Option<Curves> {
    let Target::Grid(lattice) = &asked.target else { return None };
    let [d] = several(lattice)[..] else { return None };
    let nodes = files::of_lattice(lattice, field.estimate.placement, results);
    let place = |i: usize| nodes.origin[d] + i as f64 * nodes.spacing[d];
    let points = field.values.iter().enumerate().map(|(i, &value)| [place(i), value]).collect();
    let density = Axis { name: "density".into(), unit: unit(results, asked), range: [0.0; 2] };
    Some(Curves {
        axes: [axis(results, AXES[d], [lattice.low[d], lattice.high[d]]), density],
        log: [false; 2],
        series: vec![(String::new(), points)],
        title: format!("density at {}", time(results, field)),
    })
}

/// The density on a plane: that of the target, or the one in the middle of a grid in space.
pub fn raster(results: &Results, asked: &DensityRequest, field: &Field) -> Option<Raster> {
    match &asked.target {
        Target::Points(_) => None,
        Target::Plane(plane) => Some(of_plane(results, asked, field, plane)),
        Target::Grid(lattice) => of_lattice(results, asked, field, lattice),
    }
}

fn of_lattice(
    results: &Results,
    asked: &DensityRequest,
    field: &Field,
    lattice: &Lattice,
) -> Option<Raster> {
    let nodes = files::of_lattice(lattice, field.estimate.placement, results);
    let Layer { raster, place } = layer(results, &nodes, &field.values)?;
    let place = if place.is_empty() { cut(lattice, asked) } else { place };
    Some(Raster {
        name: "density".into(),
        unit: unit(results, asked),
        title: format!("density at {}{place}", time(results, field)),
        ..raster
    })
}

/// Where a slice of a density in space lies.
fn cut(lattice: &Lattice, asked: &DensityRequest) -> String {
    let across = (0..3).find(|&d| lattice.counts[d] == 1 && asked.axes.counts()[d]);
    across
        .map_or_else(String::new, |d| format!(", {} = {}", AXES[d], in_six_digits(lattice.low[d])))
}

fn of_plane(results: &Results, asked: &DensityRequest, field: &Field, plane: &Plane) -> Raster {
    let length = |edge: [f64; 3]| edge.iter().map(|x| x * x).sum::<f64>().sqrt();
    let [u, v] = plane.edges.map(length);
    Raster {
        axes: [axis(results, "along u", [0.0, u]), axis(results, "along v", [0.0, v])],
        counts: plane.counts,
        values: field.values.iter().map(|&value| value as f32).collect(),
        name: "density".into(),
        unit: unit(results, asked),
        title: format!("density at {} on a plane", time(results, field)),
    }
}

fn time(results: &Results, field: &Field) -> String {
    format!("t = {} {}", field.time, results.units().time).trim_end().to_string()
}

/// The unit of a density.
fn unit(results: &Results, asked: &DensityRequest) -> String {
    let unit = results.units().per_space(asked.axes.dimension());
    if asked.is_number && !unit.is_empty() { unit.replace("1/", "particles/") } else { unit }
}
