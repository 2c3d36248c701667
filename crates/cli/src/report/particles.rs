//! The table of particle statistics.

use crate::results::Results;
use anyhow::{Context, Result};
use burntrace::{analysis::statistics::ParticleStatistics, io};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes `particles.csv`: one row per particle, or per particle instance where slots are re-used.
pub fn write(results: &Results, rows: &[ParticleStatistics]) -> Result<PathBuf> {
    let path = results.folder.path("particles.csv");
    io::write_beside(&path, |part| {
        fill(part, rows).with_context(|| format!("cannot write {}", path.display()))
    })?;
    Ok(path)
}

fn fill(path: &Path, rows: &[ParticleStatistics]) -> std::io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    writeln!(
        out,
        "slot,generation,status,release_time,end_time,residence_time,displacement_x,\
         displacement_y,displacement_z,distance,path_length,mean_speed,max_speed"
    )?;
    let number = |x: Option<f64>| x.map_or_else(String::new, |x| x.to_string());
    for row in rows {
        let [x, y, z] = row.displacement;
        writeln!(
            out,
            "{},{},{},{},{},{},{x},{y},{z},{},{},{},{}",
            row.slot,
            row.generation,
            row.status,
            number(row.release_time),
            number(row.end_time),
            number(row.residence_time),
            row.distance,
            row.path_length,
            number(row.mean_speed),
            number(row.max_speed),
        )?;
    }
    out.flush()
}
