//! Traces a piece of a run into a folder of its own.

use super::{
    parts,
    share::{Sharer, Worker},
};
use crate::{
    console::Interrupts,
    folder::{self, Folder, lock},
    run::{CaseRun, Machine, RunCheckpoint, Spent, Traced, checkpoint_policy},
};
use anyhow::{Context, Result};
use burntrace_core::program::ReadTotals;
use serde::{Deserialize, Serialize};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

/// Name of the file that a traced piece has.
const REPORT: &str = "piece.json";

/// The report of a traced piece.
#[derive(Debug, Deserialize, Serialize)]
pub struct PieceReport {
    pub traced: Traced,
    pub rank: usize,
    /// The machine and the number of the process that completed it.
    pub process: String,
    pub device: String,
    /// The number of the device in the process.
    pub worker: usize,
}

impl PieceReport {
    pub fn read(folder: &Folder) -> Result<PieceReport> {
        let path = folder.path(REPORT);
        let text = std::fs::read_to_string(&path);
        let text = text.with_context(|| format!("cannot read {}", path.display()))?;
        serde_json::from_str(&text).with_context(|| format!("{} is damaged", path.display()))
    }
}

impl Sharer<'_> {
    /// Traces a piece on a device, from the checkpoint in its folder if there is one.
    ///
    /// # Errors
    ///
    /// Also if a signal stops the process.
    pub fn trace_piece(
        &self,
        number: usize,
        worker: usize,
        interrupts: &dyn Interrupts,
    ) -> Result<()> {
        let folder = &parts::piece(&self.folder, number);
        folder::make(&folder.root)?;
        let _lock = lock::locked(&folder.path("lock"))?;
        if !folder.path(REPORT).exists() {
            let report = self.trace_into(folder, number, worker, interrupts)?;
            folder.write(REPORT, &serde_json::to_string(&report)?)?;
        }
        if folder.is_stopped() {
            folder.end_checkpoint(self.workers[worker].run.case.run.keep_state)?;
        }
        parts::complete(&self.folder, number)?;
        tracing::info!(number, "piece is done");
        Ok(())
    }

    fn trace_into(
        &self,
        folder: &Folder,
        number: usize,
        worker: usize,
        interrupts: &dyn Interrupts,
    ) -> Result<PieceReport> {
        let Worker { run, prepared, is_fresh } = &self.workers[worker];
        let checkpoint = self.open_piece(folder, worker)?;
        let first = number * self.plan.piece;
        let slots = first..self.plan.particles.min(first + self.plan.piece);
        tracing::info!(number, ?slots, resumed = checkpoint.resumed, "piece starts");
        // The seconds of loading, and the bytes that were read, are those of one piece.
        let load = if is_fresh.swap(false, Relaxed) { run.load } else { Spent::default() };
        let piece = CaseRun { start: Instant::now(), load, ..*run };
        let mut traced = piece.trace(prepared.piece(slots)?, folder, checkpoint, interrupts)?;
        if traced.run.cancelled {
            return Err(run.stopped(interrupts, traced.time).into());
        }
        let read = ReadTotals::now().bytes;
        traced.io.read = read.saturating_sub(self.read.fetch_max(read, Relaxed));
        traced.warnings.extend(self.warnings.iter().cloned());
        let device = run.device.name.clone();
        Ok(PieceReport {
            traced,
            rank: self.rank.index,
            process: self.process.clone(),
            device,
            worker,
        })
    }

    /// The checkpoint of a piece: its own, or that of its start.
    fn open_piece(&self, folder: &Folder, worker: usize) -> Result<RunCheckpoint> {
        let run = &self.workers[worker].run;
        if folder.is_stopped() {
            let mut checkpoint = RunCheckpoint::read(folder)?;
            checkpoint.resumed += 1;
            let changes = checkpoint.changes(run.device);
            checkpoint.add_warnings(changes);
            return Ok(checkpoint);
        }
        let tracks = folder.path("tracks");
        if tracks.is_dir() {
            let removed = std::fs::remove_dir_all(&tracks);
            removed.with_context(|| format!("cannot remove {}", tracks.display()))?;
        }
        let checkpoint = self.checkpoint.at_start(Machine::of(run.device));
        if checkpoint_policy(&run.case.run).is_some() {
            checkpoint.write(folder, &[])?;
        }
        Ok(checkpoint)
    }
}
