//! The table of particle statistics.

use crate::results::Results;
use anyhow::{Context, Result};
use burntrace::{Tally, analysis::statistics::ParticleStatistics, io};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes `particles.csv`: one row per particle, or per particle instance where slots are re-used.
/// Path lengths are those that the run has added up step by step, if it has.
pub fn write(results: &Results, mut rows: Vec<ParticleStatistics>) -> Result<PathBuf> {
    let path = results.folder.path("particles.csv");
    let lengths = path_lengths(results)?.unwrap_or_default();
    for row in &mut rows {
        let length = lengths.get(row.slot).copied().filter(|length| length.is_finite());
        row.path_length = length.unwrap_or(row.path_length);
    }
    io::write_beside(&path, |part| {
        fill(part, &rows).with_context(|| format!("cannot write {}", path.display()))
    })?;
    Ok(path)
}

/// The path lengths by slot at the last save that the run has added up along its steps. Those of particles that were followed by
/// others in their slots are not kept.
fn path_lengths(results: &Results) -> Result<Option<Vec<f64>>> {
    let tracks = &results.tracks;
    let last = tracks.num_saves().checked_sub(1).filter(|_| tracks.num_instances().is_none());
    let requests = results.case.iter().flat_map(|case| &case.save.fields);
    let is_length = |array: &str| matches!(array.parse(), Ok(Tally::PathLength));
    let name = requests.filter(|of| of.files.is_none() && is_length(&of.array)).map(|of| &of.name);
    let has = |name: &&String| tracks.arrays().iter().any(|array| array.name == **name);
    let found = name.into_iter().find(has).zip(last);
    Ok(found.map(|(name, last)| tracks.array(name, last)).transpose()?)
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
