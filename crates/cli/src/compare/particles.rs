//! The differences of each particle, as a table.

use crate::results::Results;
use anyhow::{Context, Result};
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
    pub fn write(&self, path: &Path, runs: &[Results; 2]) -> Result<()> {
        self.fill(path, runs).with_context(|| format!("cannot write {}", path.display()))
    }

    fn fill(&self, path: &Path, runs: &[Results; 2]) -> Result<()> {
        let ends = [0, 1].map(|i| {
            let tracks = &runs[i].tracks;
            tracks.is_complete().then(|| tracks.ends()).transpose()
        });
        let [a, b] = ends;
        let ends = [a?, b?];
        let mut out = BufWriter::new(File::create(path)?);
        writeln!(
            out,
            "slot,status_a,status_b,end_time_a,end_time_b,last_distance,max_distance,max_time"
        )?;
        for (slot, ([max, time], last)) in self.max.iter().zip(&self.last).enumerate() {
            let [a, b] = [0, 1].map(|i| match &ends[i] {
                Some(ends) => (ends.status[slot].to_string(), number(ends.end_time[slot])),
                None => Default::default(),
            });
            let [last, max, time] = [*last, *max, *time].map(number);
            writeln!(out, "{slot},{},{},{},{},{last},{max},{time}", a.0, b.0, a.1, b.1)?;
        }
        Ok(out.flush()?)
    }
}

/// A number; empty if it is not finite.
fn number(x: f64) -> String {
    if x.is_finite() { x.to_string() } else { String::new() }
}
