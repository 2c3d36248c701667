//! Joins the pieces of a run, and writes the files of a finished run.

use super::{
    parts,
    piece::PieceReport,
    share::{Sharer, Worker},
    totals,
};
use crate::{
    console::{self, Console},
    folder::{self, DOMAIN, Folder, STATE},
    run::{Printed, ResidenceTimes, RunCheckpoint, device_bytes, sorted_residence},
};
use anyhow::{Context, Result};
use burntrace_core::{DurablePosition, RunState};
use burntrace_io::{
    self as io,
    tracks::{PieceTracks, join_pieces},
};
use std::io::Write;
use std::time::{Duration, Instant};

impl Sharer<'_> {
    /// Joins the pieces, writes summary and report, and removes the pieces. After an error the next process may join them.
    pub fn finish(&self) -> Result<Printed> {
        self.join().inspect_err(|_| drop(std::fs::remove_file(parts::join_lock(&self.folder))))
    }

    fn join(&self) -> Result<Printed> {
        let start = Instant::now();
        tracing::info!("joins the pieces");
        let pieces: Vec<Folder> =
            (0..self.plan.count()).map(|number| parts::done_piece(&self.folder, number)).collect();
        let reports: Vec<PieceReport> =
            pieces.iter().map(PieceReport::read).collect::<Result<_>>()?;
        let mut traced = totals::join(&reports).context("the run has no pieces")?;
        self.folder.remove_files()?;
        self.join_tracks(&pieces, &reports)?;
        let mut end = self.checkpoint.at_start(self.checkpoint.machine.clone());
        reports.iter().for_each(|report| end.add_warnings(report.traced.warnings.clone()));
        let state = self.state(&pieces, &mut end)?;
        let mark = state.as_ref().map_or(DurablePosition::default(), |state| state.numbers.mark());
        let (residence, at_mark) = self.residence(mark)?;
        (traced.residence, traced.warnings) = (residence, end.warnings.clone());
        if let Some(state) = state {
            end.write_end(&self.folder, state, at_mark.as_deref())?;
        }
        traced.add_writing(start);
        let Worker { run, prepared, .. } = &self.workers[0];
        let work = totals::work(&reports, self.plan.piece);
        let device_bytes = device_bytes(prepared);
        let printed = run.summarise(&mut traced, &self.folder, device_bytes, Some(work))?;
        self.folder.write("case.toml", &self.checkpoint.case)?;
        self.close()?;
        run.with_report(&traced.run, &self.folder, printed)
    }

    /// Writes the tracks of the run.
    fn join_tracks(&self, pieces: &[Folder], reports: &[PieceReport]) -> Result<()> {
        let stores = pieces.iter().zip(reports).map(|(piece, report)| PieceTracks {
            folder: piece.path("tracks"),
            instances_by_segment: report.traced.run.instances_by_segment.clone(),
            crossings_by_segment: report.traced.run.crossings_by_segment.clone(),
        });
        let plan = self.workers[0].prepared.save_plan();
        Ok(join_pieces(&stores.collect::<Vec<_>>(), self.folder.path("tracks"), &plan)?)
    }

    /// The last state of the run, if it is kept and all pieces have theirs.
    fn state(
        &self,
        pieces: &[Folder],
        end: &mut RunCheckpoint,
    ) -> Result<Option<RunState<'static>>> {
        if !self.workers[0].run.case.run.keep_state {
            return Ok(None);
        }
        if let Some(number) = pieces.iter().position(|piece| !piece.path(STATE).is_file()) {
            end.add_warnings(vec![format!(
                "piece {number} was traced with `run.keep_state = false`: the run has no `{STATE}`, and cannot be \
                 extended"
            )]);
            return Ok(None);
        }
        let states = pieces.iter().map(|piece| {
            let state = RunCheckpoint::of_end(piece)?.take_state();
            state.with_context(|| format!("{} has no state", piece.root.display()))
        });
        Ok(Some(RunState::join(states)?))
    }

    /// Residence times at the end of the run, and those of the instances up to a position; `None` if
    /// slots are not re-used. They are sums in the order of the table.
    #[allow(clippy::type_complexity)]
    fn residence(
        &self,
        mark: DurablePosition,
    ) -> Result<(Option<Vec<ResidenceTimes>>, Option<Vec<ResidenceTimes>>)> {
        let tracks = io::Tracks::open(self.folder.path("tracks"))?;
        let Some(instances) = tracks.instances() else { return Ok((None, None)) };
        let (mut entries, mut at_mark) = (Vec::new(), Vec::new());
        for (row, instance) in instances.enumerate() {
            let instance = instance?;
            if instance.status.has_ended() {
                ResidenceTimes::add(&mut entries, &instance);
            }
            if row as u64 + 1 == mark.instances {
                at_mark.clone_from(&entries);
            }
        }
        Ok((Some(sorted_residence(entries)), Some(at_mark)))
    }

    /// Joins the logs of all processes, and removes the pieces: the run is complete.
    fn close(&self) -> Result<()> {
        tracing::info!("the run is complete");
        let (root, log) = (self.folder.parts(), self.folder.path("log.txt"));
        let own = self.folder.rank_log(self.rank.index);
        let failed = || format!("cannot write {}", own.display());
        let mut file = std::fs::File::options().append(true).open(&own).with_context(failed)?;
        for other in self.folder.rank_logs().iter().filter(|path| **path != own) {
            let content = std::fs::read(other).unwrap_or_default();
            let name = other.file_name().unwrap_or_default().to_string_lossy();
            let written =
                writeln!(file, "log of rank {name}").and_then(|()| file.write_all(&content));
            written.with_context(failed)?;
        }
        std::fs::rename(&own, log).with_context(failed)?;
        self.folder.remove(DOMAIN)?;
        let old = self.folder.path(&format!("{}.{}", folder::PARTS, std::process::id()));
        std::fs::rename(&root, old).with_context(|| format!("cannot rename {}", root.display()))?;
        remove_parts(&self.folder, self.console)
    }
}

/// Removes the pieces of a complete run, and folders of processes that ended before they could start it.
pub fn remove_parts(folder: &Folder, console: &dyn Console) -> Result<()> {
    let start = format!("{}.", folder::PARTS);
    let failed = || format!("cannot read {}", folder.root.display());
    for entry in std::fs::read_dir(&folder.root).with_context(failed)? {
        let entry = entry.with_context(failed)?;
        if entry.file_name().to_string_lossy().starts_with(&start) {
            remove(&entry.path(), console);
        }
    }
    Ok(())
}

/// Removes a folder. NFS keeps files that are open, for a moment.
fn remove(folder: &std::path::Path, console: &dyn Console) {
    for _ in 0..20 {
        match std::fs::remove_dir_all(folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                std::thread::sleep(Duration::from_millis(100));
            }
            _ => return,
        }
    }
    let text = format!("{} cannot be removed; the run is complete without it", folder.display());
    console::warn(console, &[text]);
}
