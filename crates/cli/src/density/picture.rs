//! Pictures of densities.

use super::{
    files,
    request::{DensityRequest, Target},
    saved_density::SavedDensity,
};
use crate::{
    figure_dir::FigureDir,
    file::Misuse,
    format::{count, six_digits, three_digits, twelve_digits},
    results::{AXES, Layer, Results, layer},
};
use anyhow::Result;
use burntrace::analysis::density::{Lattice, Plane};
use burntrace_plot::{
    Axis, Curves, Raster,
    picture::{self, Style},
};

/// A density that can be drawn.
pub enum Drawable {
    /// Along a line.
    Curves(Curves),
    /// On a plane, or on a layer of a 3D grid.
    Raster(Raster),
}

impl Drawable {
    /// `None` for densities at points.
    pub fn of(
        results: &Results,
        request: &DensityRequest,
        density: &SavedDensity,
    ) -> Option<Drawable> {
        match line(results, request, density) {
            Some(curves) => Some(Drawable::Curves(curves)),
            None => raster(results, request, density).map(Drawable::Raster),
        }
    }

    /// Writes the picture.
    pub fn draw(&self, name: &str, style: &Style, figures: &mut FigureDir) -> Result<()> {
        let made = match self {
            Drawable::Curves(curves) => picture::curves(curves, style),
            Drawable::Raster(raster) => picture::raster(raster, &[], style),
        };
        figures.add(name, &made.map_err(Misuse::of)?)
    }
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
    let Layer { raster, position } =
        layer(results, &nodes, &density.values, densest(density, lattice))?;
    let position = if position.is_empty() { slice(lattice, request, results) } else { position };
    Some(Raster {
        name: "density".into(),
        unit: unit(results, request),
        title: format!("density at {}{position}", time(results, density)),
        subtitle: subtitle(results, density),
        ..raster
    })
}

/// The layer along z that has the greatest density.
fn densest(density: &SavedDensity, lattice: &Lattice) -> usize {
    let size = lattice.counts[0] * lattice.counts[1];
    let first = density.values.iter().enumerate().filter(|(_, value)| value.is_finite());
    let node = first.max_by(|(i, a), (j, b)| a.total_cmp(b).then(j.cmp(i))).map_or(0, |(i, _)| i);
    node / size.max(1)
}

/// The number of particles and the bandwidth.
fn subtitle(results: &Results, density: &SavedDensity) -> String {
    let estimate = &density.estimate;
    let plural = if estimate.used == 1 { "" } else { "s" };
    let particles = format!("{} particle{plural}", count(estimate.used));
    let widths: Vec<String> = estimate
        .bandwidth
        .iter()
        .filter(|width| **width > 0.0)
        .map(|width| format!("{}", three_digits(*width)))
        .collect();
    let unit = results.units().length;
    match widths.is_empty() {
        true => particles,
        false => format!("{particles}, bandwidth {} {unit}", widths.join(" × ")).trim_end().into(),
    }
}

/// The position of a slice through a 3D density, as `, z = 0.5`.
fn slice(lattice: &Lattice, request: &DensityRequest, results: &Results) -> String {
    let normal = (0..3).find(|&d| lattice.counts[d] == 1 && request.axes.active()[d]);
    let unit = results.units().length;
    normal.map_or_else(String::new, |d| {
        format!(", {} = {} {unit}", AXES[d], six_digits(lattice.low[d])).trim_end().into()
    })
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
        subtitle: subtitle(results, density),
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
