//! What each process did for a run.

use super::{member, piece::PieceReport};
use crate::checkpoint::{CheckpointTotals, Spent};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What the processes of a run did, from the reports of its pieces.
pub struct RankTotals {
    /// Number of pieces.
    pieces: usize,
    /// Number of particles of the largest piece.
    pub largest_piece: usize,
    /// By the names of the processes, and the numbers of their devices.
    processes: BTreeMap<(String, usize), Process>,
    /// Bytes of frames read and of tracks written.
    pub bytes: [u64; 2],
    /// Seconds that processes waited for the writer of tracks.
    pub waited: f64,
    pub spent: Spent,
    pub checkpoints: CheckpointTotals,
    /// How many times a piece was resumed.
    pub resumed: u64,
}

/// What a process did on a device.
#[derive(Default)]
struct Process {
    device: String,
    pieces: usize,
    particle_steps: u64,
    seconds: f64,
    load: Spent,
    read: u64,
}

impl RankTotals {
    pub fn of(reports: &[PieceReport], largest_piece: usize) -> RankTotals {
        let mut totals = RankTotals {
            pieces: reports.len(),
            largest_piece,
            processes: BTreeMap::new(),
            bytes: [0; 2],
            waited: 0.0,
            spent: Spent::default(),
            checkpoints: CheckpointTotals::default(),
            resumed: 0,
        };
        for report in reports {
            totals.add(report);
        }
        let mut read: BTreeMap<&str, u64> = BTreeMap::new();
        for ((name, _), process) in &totals.processes {
            // The devices of a process share its frames.
            let of_process = read.entry(name).or_default();
            *of_process = process.read.max(*of_process);
            totals.spent.read += process.load.read;
            totals.spent.upload += process.load.upload;
            totals.spent.compile += process.load.compile;
            let Spent { read, upload, compile, .. } = process.load;
            totals.spent.total += process.seconds + read + upload + compile;
        }
        totals.bytes[0] = read.values().sum();
        totals
    }

    fn add(&mut self, report: &PieceReport) {
        let process = self.processes.entry((report.process.clone(), report.worker)).or_default();
        process.device.clone_from(&report.device);
        process.pieces += 1;
        process.particle_steps += report.summary.particle_steps;
        process.seconds += report.seconds;
        process.load = report.load;
        process.read = process.read.max(report.read);
        self.bytes[1] += report.written;
        self.waited += report.waited;
        self.checkpoints.count += report.checkpoints.count;
        self.checkpoints.bytes += report.checkpoints.bytes;
        self.checkpoints.seconds += report.checkpoints.seconds;
        self.resumed += report.resumed;
    }

    /// A list of the processes, for `summary.json`.
    pub fn json(&self) -> Value {
        let process = |((id, _), process): (&(String, usize), &Process)| {
            json!({
                "rank": member::rank_of(id),
                "process": id,
                "device": process.device,
                "pieces": process.pieces,
                "particle_steps": process.particle_steps,
                "seconds": process.seconds,
            })
        };
        json!({
            "pieces": self.pieces,
            "largest_piece": self.largest_piece,
            "processes": self.processes.iter().map(process).collect::<Vec<_>>(),
        })
    }

    /// A line of text.
    pub fn text(&self) -> String {
        let seconds = self.processes.values().map(|process| process.seconds);
        let (min, max) =
            seconds.fold((f64::INFINITY, 0.0_f64), |(min, max), s| (min.min(s), max.max(s)));
        let mut names: Vec<&str> = self.processes.keys().map(|(name, _)| name.as_str()).collect();
        names.dedup();
        let by = match (names.len(), self.processes.len()) {
            (1, 1) => format!("1 process: {max:.3} s"),
            (processes, devices) => {
                let who = match processes {
                    1 => format!("{devices} devices of 1 process"),
                    _ if devices == processes => format!("{processes} processes"),
                    _ => format!("{devices} devices of {processes} processes"),
                };
                format!("{who}: {min:.3} to {max:.3} s each; other times are sums")
            }
        };
        let (pieces, largest) = (self.pieces, self.largest_piece);
        format!("{pieces} pieces of up to {largest} particles by {by}")
    }
}
