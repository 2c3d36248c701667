//! Files of densities.

use super::{
    request::{DensityRequest, Target},
    saved_density::SavedDensity,
};
use crate::results::Results;
use anyhow::Result;
use burntrace::analysis::density::{Lattice, Plane};
use burntrace::{Placement, io};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Writes a density: a table for points; otherwise image data, which is also added to the track
/// store.
pub fn write(
    results: &Results,
    request: &DensityRequest,
    density: &SavedDensity,
    folder: &Path,
) -> Result<PathBuf> {
    let image = match (&request.target, &density.estimate.lattice) {
        (Target::Points(points), _) => return write_table(points, density, folder),
        (Target::Plane(plane), _) => of_plane(plane),
        (Target::Grid(requested), lattice) => {
            of_lattice(lattice.as_ref().unwrap_or(requested), density.estimate.placement, results)
        }
    };
    let mut facts = vec![("TimeValue".to_string(), density.time)];
    facts.extend(density.estimate.integral.map(|integral| ("integral".to_string(), integral)));
    let arrays = vec![("density".to_string(), density.values.clone())];
    let unit = results.units().per_space(request.axes.dimension());
    let path = folder.join(format!("{}.vti", density.name()));
    let image = io::Image { arrays, facts, unit, ..image };
    io::write_image(&image, &path)?;
    results.tracks.put_density(density.save, &image)?;
    Ok(path)
}

/// Image data on the nodes of a lattice, or on the centres of bins. Along an axis that is not part
/// of the density, the image is at the low face of the domain.
pub fn of_lattice(lattice: &Lattice, placement: Placement, results: &Results) -> io::Image {
    let is_bins = placement == Placement::Cells;
    let widths: [f64; 3] = std::array::from_fn(|d| {
        let (n, extent) = (lattice.counts[d] as f64, lattice.high[d] - lattice.low[d]);
        if is_bins { extent / n } else { lattice.pitch(d) }
    });
    let origin = std::array::from_fn(|d| match lattice.low[d] == lattice.high[d] {
        true if lattice.counts[d] == 1 && lattice.low[d] == 0.0 => results.domain[0][d],
        _ => lattice.low[d] + if is_bins { 0.5 * widths[d] } else { 0.0 },
    });
    io::Image { counts: lattice.counts, origin, spacing: widths, ..io::Image::default() }
}

/// Image data on the nodes of a plane. The direction matrix takes the edges as they are, even if
/// they are not orthogonal.
fn of_plane(plane: &Plane) -> io::Image {
    let [u, v] = plane.edges;
    let lengths = [u, v].map(|edge| edge.iter().map(|x| x * x).sum::<f64>().sqrt());
    let unit =
        |edge: [f64; 3], length: f64| edge.map(|x| if length > 0.0 { x / length } else { x });
    let (a, b) = (unit(u, lengths[0]), unit(v, lengths[1]));
    let normal = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    let step = |n: usize, length: f64| length / (n.max(2) - 1) as f64;
    io::Image {
        counts: [plane.counts[0], plane.counts[1], 1],
        origin: plane.origin,
        spacing: [step(plane.counts[0], lengths[0]), step(plane.counts[1], lengths[1]), 1.0],
        directions: Some([a, b, normal]),
        ..io::Image::default()
    }
}

fn write_table(points: &[[f64; 3]], density: &SavedDensity, folder: &Path) -> Result<PathBuf> {
    let mut text = String::from("x,y,z,density\n");
    for ([x, y, z], value) in points.iter().zip(&density.values) {
        // Writing to a string does not fail.
        writeln!(text, "{x},{y},{z},{value}").ok();
    }
    let path = folder.join(format!("{}.csv", density.name()));
    io::write_text_beside(&path, text)?;
    Ok(path)
}
