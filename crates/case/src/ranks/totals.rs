//! What the processes of a run have done, from the reports of its pieces.

use super::piece::PieceReport;
use crate::run::{CheckpointTotals, IoStats, SharedWork, Spent, Traced};
use burntrace_core::Summary;
use serde::Serialize;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// What a process did on a device, as `summary.json` has it.
#[derive(Default, Serialize)]
struct DeviceWork<'a> {
    rank: usize,
    process: &'a str,
    device: &'a str,
    pieces: usize,
    particle_steps: u64,
    seconds: f64,
}

/// Joins pieces to a run. `None` without pieces.
pub fn join(reports: &[PieceReport]) -> Option<Traced> {
    let pieces = || reports.iter().map(|report| &report.traced);
    let mut all = Traced {
        run: Summary::join(pieces().map(|piece| piece.run.clone()))?,
        time: pieces().next()?.time,
        spent: Spent::default(),
        io: IoStats::default(),
        checkpoints: CheckpointTotals::default(),
        resumed: 0,
        warnings: Vec::new(),
        residence: None,
    };
    for piece in pieces() {
        all.spent += piece.spent;
        all.io.read += piece.io.read;
        all.io.written += piece.io.written;
        all.io.output += piece.io.output;
        all.io.memory = all.io.memory.max(piece.io.memory);
        all.io.card_memory = all.io.card_memory.max(piece.io.card_memory);
        all.checkpoints.count += piece.checkpoints.count;
        all.checkpoints.bytes += piece.checkpoints.bytes;
        all.checkpoints.seconds += piece.checkpoints.seconds;
        all.resumed += piece.resumed;
    }
    all.io.input = all.spent.read + all.run.input.as_ref().map_or(0.0, |input| input.wait_seconds);
    all.io.total = all.spent.total;
    Some(all)
}

/// What each process did for a run.
pub fn work(reports: &[PieceReport], largest_piece: usize) -> SharedWork {
    let mut works: BTreeMap<_, DeviceWork> = BTreeMap::new();
    for PieceReport { traced, rank, process, device, worker } in reports {
        let work = works.entry((*rank, process, *worker)).or_default();
        (work.rank, work.process, work.device) = (*rank, process, device);
        work.pieces += 1;
        work.particle_steps += traced.run.particle_steps;
        work.seconds += traced.spent.total;
    }
    let (pieces, works) = (reports.len(), works.into_values().collect::<Vec<_>>());
    let by = in_words(&works);
    SharedWork {
        json: json!({ "pieces": pieces, "largest_piece": largest_piece, "processes": works }),
        text: format!("{pieces} pieces of up to {largest_piece} particles by {by}"),
        largest_piece,
    }
}

/// The processes and their seconds.
fn in_words(works: &[DeviceWork]) -> String {
    let processes = works.iter().map(|work| work.process).collect::<BTreeSet<_>>().len();
    let seconds = works.iter().map(|work| work.seconds);
    let (min, max) =
        seconds.fold((f64::INFINITY, 0.0_f64), |(min, max), s| (min.min(s), max.max(s)));
    let who = match (processes, works.len()) {
        (1, 1) => return format!("1 process: {max:.3} s"),
        (1, devices) => format!("{devices} devices of 1 process"),
        (processes, devices) if devices == processes => format!("{processes} processes"),
        (processes, devices) => format!("{devices} devices of {processes} processes"),
    };
    format!("{who}: {min:.3} to {max:.3} s each; other times are sums")
}
