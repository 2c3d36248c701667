//! Files of densities.

use crate::results::Results;
use anyhow::Result;
use burntrace::densities::{DensityNodes, SavedDensity, Target};
use burntrace::io;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The name of the files of a density, without an extension.
pub fn name(density: &SavedDensity) -> String {
    format!("density_{:05}", density.save)
}

/// Writes a density: a table for points; otherwise image data, which is also added to the track
/// store.
pub fn write(
    results: &Results,
    nodes: &DensityNodes,
    density: &SavedDensity,
    folder: &Path,
) -> Result<PathBuf> {
    let path = folder.join(name(density));
    if let Target::Points(points) = &nodes.target {
        return write_table(points, density, path.with_extension("csv"));
    }
    let path = path.with_extension("vti");
    if let Some(image) = nodes.image(density) {
        io::write_image(&image, &path)?;
        results.tracks.put_density(density.save, &image)?;
    }
    Ok(path)
}

fn write_table(points: &[[f64; 3]], density: &SavedDensity, path: PathBuf) -> Result<PathBuf> {
    let mut text = String::from("x,y,z,density\n");
    for ([x, y, z], value) in points.iter().zip(&density.values) {
        // Writing to a string does not fail.
        writeln!(text, "{x},{y},{z},{value}").ok();
    }
    io::write_text_beside(&path, text)?;
    Ok(path)
}
