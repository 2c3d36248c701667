//! The differences of each particle, as a table.

use super::ends::RunEnds;
use crate::format::csv_number;
use anyhow::{Context, Result};
use burntrace::io;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// The differences of each particle of two runs.
#[derive(Default)]
pub struct ParticleDistances {
    /// Maximum distance over the saves that both runs have, and its time; NaN for a particle that is
    /// at no save in both runs.
    pub max: Vec<[f64; 2]>,
    /// Distance at the last of these saves; NaN for a particle that is not in both runs there.
    pub last: Vec<f64>,
}

impl ParticleDistances {
    /// Writes a row for each slot.
    pub fn write(&self, path: &Path, ends: &[RunEnds; 2]) -> Result<()> {
        io::write_beside(path, |part| {
            self.fill(part, ends).with_context(|| format!("cannot write {}", path.display()))
        })
    }

    fn fill(&self, path: &Path, ends: &[RunEnds; 2]) -> Result<()> {
        let mut out = BufWriter::new(File::create(path)?);
        writeln!(
            out,
            "slot,status_a,status_b,end_time_a,end_time_b,last_distance,max_distance,max_time"
        )?;
        for (slot, ([max, time], last)) in self.max.iter().zip(&self.last).enumerate() {
            let [a, b] = ends.each_ref().map(|ends| ends.status[slot]);
            let time_of = |ends: &RunEnds| ends.end_time.as_ref().map_or(f64::NAN, |of| of[slot]);
            let [end_a, end_b] = ends.each_ref().map(time_of).map(csv_number);
            let [last, max, time] = [*last, *max, *time].map(csv_number);
            writeln!(out, "{slot},{a},{b},{end_a},{end_b},{last},{max},{time}")?;
        }
        Ok(out.flush()?)
    }
}
