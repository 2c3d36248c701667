//! Densities as files.

use super::{DensityRequest, Field, Target};
use crate::results::Results;
use anyhow::{Context, Result};
use burntrace::analysis::density::{Lattice, Plane};
use burntrace::{Placement, io};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Writes a density: image data of grids and planes, a table of points. Those on grids go into the
/// store of tracks, too.
pub fn write(
    results: &Results,
    asked: &DensityRequest,
    field: &Field,
    folder: &Path,
) -> Result<PathBuf> {
    let image = match (&asked.target, &field.estimate.lattice) {
        (Target::Points(points), _) => return write_table(points, field, folder),
        (Target::Plane(plane), _) => of_plane(plane),
        (Target::Grid(asked), lattice) => {
            of_lattice(lattice.as_ref().unwrap_or(asked), field.estimate.placement, results)
        }
    };
    let mut facts = vec![("TimeValue".to_string(), field.time)];
    facts.extend(field.estimate.integral.map(|integral| ("integral".to_string(), integral)));
    let arrays = vec![("density".to_string(), field.values.clone())];
    let path = folder.join(format!("{}.vti", field.name()));
    let image = io::Image { arrays, facts, ..image };
    io::write_image(&image, &path)?;
    results.tracks.put_density(field.save, &image)?;
    Ok(path)
}

/// Nodes of a lattice, or the middles of bins. Along an axis that does not count, the image lies at
/// the low face of the domain.
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

/// Nodes of a plane. The edges of an oblique one are not at right angles, which image data cannot
/// say; its direction matrix takes them as they are.
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

fn write_table(points: &[[f64; 3]], field: &Field, folder: &Path) -> Result<PathBuf> {
    let mut text = String::from("x,y,z,density\n");
    for ([x, y, z], density) in points.iter().zip(&field.values) {
        // Writing to a string does not fail.
        writeln!(text, "{x},{y},{z},{density}").ok();
    }
    let path = folder.join(format!("{}.csv", field.name()));
    std::fs::write(&path, text).with_context(|| format!("{} cannot be written", path.display()))?;
    Ok(path)
}
