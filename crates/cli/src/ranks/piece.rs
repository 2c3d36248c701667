//! Traces a piece of a run into a folder of its own.

use super::{PiecePlan, Worker};
use crate::{
    case_run,
    checkpoint::{CheckpointTotals, Machine, RunCheckpoint, Spent},
    folder::Folder,
    io_stats::IoMeter,
    progress::Display,
    shared::Shared,
    signals::Signals,
    watch::{self, Watch},
};
use anyhow::{Context, Result};
use burntrace::Summary;
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// Name of the file that a complete piece has.
pub const REPORT: &str = "piece.json";

/// What the pieces of a run have in common.
pub struct PieceCommon {
    /// The checkpoint before the first step.
    pub checkpoint: RunCheckpoint,
    pub plan: PiecePlan,
    /// Warnings of this process.
    pub warnings: Vec<String>,
}

/// The pieces of a run, as a device traces them.
pub struct PieceRun<'a> {
    pub worker: &'a Worker<'a>,
    /// The number of the device in this process.
    pub number: usize,
    pub common: &'a PieceCommon,
}

/// The report of a complete piece.
#[derive(Debug, Deserialize, Serialize)]
pub struct PieceReport {
    pub summary: Summary,
    /// The process that completed it.
    pub process: String,
    pub device: String,
    /// The number of the device in the process.
    #[serde(default)]
    pub worker: usize,
    /// The time at the end.
    pub time: f64,
    /// Seconds of all processes that traced it.
    pub seconds: f64,
    /// Seconds in which the last process read and uploaded the field and compiled kernels, once for all its pieces.
    pub load: Spent,
    /// Bytes of frames that this process had read by then.
    pub read: u64,
    /// Bytes of the piece that it wrote, and the seconds that it waited for that.
    pub written: u64,
    pub waited: f64,
    pub checkpoints: CheckpointTotals,
    pub resumed: u64,
    pub warnings: Vec<String>,
}

impl PieceRun<'_> {
    /// Traces a piece, from the checkpoint in its folder if there is one.
    ///
    /// # Errors
    ///
    /// Also if a signal stops the process.
    pub fn trace(
        &self,
        number: usize,
        folder: &Folder,
        signals: &Signals,
        process: &str,
    ) -> Result<()> {
        let Worker { run, prepared } = self.worker;
        let (case, plan) = (run.case, self.common.plan);
        if !folder.path(REPORT).exists() {
            let start = Instant::now();
            let checkpoint = self.open(folder)?;
            let (before, resumed) = (checkpoint.spent, checkpoint.resumed);
            let meter = IoMeter { loaded: run.loaded, compile: 0.0, start, before };
            let shared = Shared::default();
            let display = Display::new(true);
            let first = number * plan.piece;
            let slots = first..plan.particles.min(first + plan.piece);
            tracing::info!(number, ?slots, resumed, "piece starts");
            let mut watch =
                Watch::new(display, (signals, &meter, &shared), (folder, checkpoint), case);
            let summary = run.trace_to_store(prepared.piece(slots)?, &mut watch)?;
            let (time, checkpoints) = (watch.time, watch.totals);
            let mut warnings = std::mem::take(&mut watch.checkpoint.warnings);
            if shared.is_stopped.get() || summary.cancelled {
                let command = Folder::at(&case.run.out).resume_command();
                let hint = format!("other ranks go on with its piece, or resume with {command}");
                return Err(case_run::stopped(signals, time, hint).into());
            }
            warnings.extend(self.common.warnings.iter().cloned());
            let (written, waited) = shared.tracks.get();
            let report = PieceReport {
                summary,
                process: process.into(),
                device: run.device.name.clone(),
                worker: self.number,
                time,
                seconds: before.total + start.elapsed().as_secs_f64(),
                load: Spent {
                    read: run.loaded.read_seconds,
                    upload: run.loaded.upload_seconds,
                    compile: run.compile,
                    total: 0.0,
                },
                read: run.loaded.bytes_read(),
                written,
                waited,
                checkpoints,
                resumed,
                warnings,
            };
            folder.write(REPORT, &serde_json::to_string(&report)?)?;
        }
        match folder.is_stopped() {
            true => folder.end_checkpoint(case.run.keep_state),
            false => Ok(()),
        }
    }

    /// The checkpoint of a piece: its own, or that of its start.
    fn open(&self, folder: &Folder) -> Result<RunCheckpoint> {
        let run = &self.worker.run;
        if folder.is_stopped() {
            let mut checkpoint = RunCheckpoint::read(folder)?;
            checkpoint.resumed += 1;
            let changes = checkpoint.changes(run.device);
            checkpoint.add_warnings(changes);
            checkpoint.add_warnings(checkpoint.unverified(folder).into_iter().collect());
            return Ok(checkpoint);
        }
        let tracks = folder.path("tracks");
        if tracks.is_dir() {
            let removed = std::fs::remove_dir_all(&tracks);
            removed.with_context(|| format!("cannot remove {}", tracks.display()))?;
        }
        let checkpoint = self.common.checkpoint.at_start(Machine::of(run.device));
        if watch::policy(&run.case.run).is_some() {
            checkpoint.write(folder, &[])?;
        }
        Ok(checkpoint)
    }
}
