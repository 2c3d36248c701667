//! How particles of two runs end.

use anyhow::Result;
use burntrace::{Status, io::Tracks};
use serde::Serialize;
use std::collections::BTreeMap;

/// How the particles of two runs end, slot by slot; with re-used slots, the last ones.
#[derive(Serialize)]
pub struct EndComparison {
    /// Number of slots.
    pub slots: usize,
    /// Number of slots whose particles have different statuses at the end.
    pub different: usize,
    /// Numbers of slots with each pair of different statuses, the most frequent first.
    pub changes: Vec<StatusChange>,
    /// Maximum difference of end times between particles with the same status.
    pub max_end_time_difference: Option<f64>,
}

/// Particles with one status in the first run and another one in the second.
#[derive(Serialize)]
pub struct StatusChange {
    pub statuses: [String; 2],
    pub count: usize,
}

/// Statuses at the end, and end times where they are known.
pub struct RunEnds {
    pub status: Vec<Status>,
    pub end_time: Option<Vec<f64>>,
}

/// Compares the ends of two runs with the same number of slots.
pub fn compare([a, b]: &[RunEnds; 2]) -> EndComparison {
    let mut changes = BTreeMap::<[String; 2], usize>::new();
    let pairs = a.status.iter().zip(&b.status);
    for (a, b) in pairs.clone().filter(|(a, b)| a != b) {
        *changes.entry([a.to_string(), b.to_string()]).or_default() += 1;
    }
    let changes = changes.into_iter().map(|(statuses, count)| StatusChange { statuses, count });
    let mut changes: Vec<StatusChange> = changes.collect();
    changes.sort_by_key(|change| std::cmp::Reverse(change.count));
    let max_end_time_difference =
        a.end_time.as_ref().zip(b.end_time.as_ref()).and_then(|(a, b)| {
            let times = a.iter().zip(b).zip(pairs).filter(|(_, (a, b))| a == b);
            let differences = times.map(|((a, b), _)| (a - b).abs()).filter(|x| x.is_finite());
            differences.reduce(f64::max)
        });
    EndComparison {
        slots: a.status.len(),
        different: changes.iter().map(|change| change.count).sum(),
        changes,
        max_end_time_difference,
    }
}

impl RunEnds {
    /// The ends of a run; of an unfinished one, the statuses of its last save.
    pub fn read(tracks: &Tracks) -> Result<RunEnds> {
        if tracks.is_complete() {
            let ends = tracks.ends()?;
            return Ok(RunEnds { status: ends.status, end_time: Some(ends.end_time) });
        }
        let last = tracks.num_saves().saturating_sub(1);
        Ok(RunEnds { status: tracks.status(last)?, end_time: None })
    }
}
