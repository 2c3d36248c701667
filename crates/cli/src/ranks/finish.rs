//! Joins the pieces of a run, and writes the files of a finished run.

use super::{
    member::{self, Member},
    parts::{self, Owner, Parts, Work},
    piece::{PieceReport, PieceRun, REPORT},
    read_json,
    totals::RankTotals,
};
use crate::{
    case_run::{self, Printed},
    checkpoint::RunCheckpoint,
    folder::{DOMAIN, Folder, STATE},
    io_stats::IoStats,
    job, log, machine,
    residence::{self, ResidenceTimes},
    summary::RunSummary,
};
use anyhow::{Context, Result};
use burntrace::{
    DurablePosition, RunState, Summary,
    io::{
        self,
        tracks::{PieceTracks, join_pieces},
    },
};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

/// The end of a run whose pieces are all done.
pub struct Finish<'a> {
    pub piece: &'a PieceRun<'a>,
    pub parts: &'a Parts,
    /// The folder of the run.
    pub folder: &'a Folder,
}

impl Finish<'_> {
    /// Joins the pieces, writes summary and report, and removes the pieces.
    pub fn complete(&self, member: &Member) -> Result<Printed> {
        let start = Instant::now();
        tracing::info!("joins the pieces");
        let pieces: Vec<Folder> = (0..self.parts.count).map(|number| self.piece(number)).collect();
        let reports: Vec<PieceReport> =
            pieces.iter().map(|piece| read_json(&piece.path(REPORT))).collect::<Result<_>>()?;
        self.folder.remove_files()?;
        self.join_tracks(&pieces, &reports)?;
        let run = Summary::join(reports.iter().map(|report| report.summary.clone()))
            .context("the run has no pieces")?;
        let mut warnings: Vec<String> = Vec::new();
        for warning in reports.iter().flat_map(|report| &report.warnings) {
            if !warnings.contains(warning) {
                warnings.push(warning.clone());
            }
        }
        let state = self.state(&pieces, &mut warnings)?;
        let mark = state.as_ref().map_or(DurablePosition::default(), |state| state.numbers.mark());
        let (residence, at_mark) = self.residence(mark)?;
        if let Some(state) = state {
            let start = &self.piece.common.checkpoint;
            let checkpoint = start.at_start(start.machine.clone());
            checkpoint.write_end(self.folder, state, at_mark.as_deref())?;
        }
        let printed = self.write_summary(&run, &reports, (residence, warnings), start)?;
        self.close(member)?;
        self.piece.worker.run.with_report(&run, self.folder, printed)
    }

    /// The folder of a piece.
    fn piece(&self, number: usize) -> Folder {
        Folder::at(self.parts.path(Work::Piece(number), &Owner::Done))
    }

    /// Writes the tracks of the run.
    fn join_tracks(&self, pieces: &[Folder], reports: &[PieceReport]) -> Result<()> {
        let stores = pieces.iter().zip(reports).map(|(piece, report)| PieceTracks {
            folder: piece.path("tracks"),
            instances_by_segment: report.summary.instances_by_segment.clone(),
        });
        let plan = self.piece.worker.prepared.save_plan();
        Ok(join_pieces(&stores.collect::<Vec<_>>(), self.folder.path("tracks"), &plan)?)
    }

    /// The last state of the run, if it is kept and all pieces have theirs.
    fn state(
        &self,
        pieces: &[Folder],
        warnings: &mut Vec<String>,
    ) -> Result<Option<RunState<'static>>> {
        if !self.piece.worker.run.case.run.keep_state {
            return Ok(None);
        }
        if let Some(number) = pieces.iter().position(|piece| !piece.path(STATE).is_file()) {
            warnings.push(format!(
                "piece {number} was traced with `run.keep_state = false`: the run has no `{STATE}`, and cannot be \
                 extended"
            ));
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
        Ok((Some(residence::sorted(entries)), Some(at_mark)))
    }

    /// Writes the VTK files, the summary and the case.
    fn write_summary(
        &self,
        run: &Summary,
        reports: &[PieceReport],
        (residence, warnings): (Option<Vec<ResidenceTimes>>, Vec<String>),
        start: Instant,
    ) -> Result<Printed> {
        let (worker, folder) = (self.piece.worker, self.folder);
        let of = &worker.run;
        let joined = start.elapsed().as_secs_f64();
        let vtk = case_run::write_vtk(of.case, folder)?;
        let totals = RankTotals::of(reports, self.piece.common.plan.piece);
        let mut spent = totals.spent;
        spent.total += start.elapsed().as_secs_f64();
        let summary = RunSummary {
            run,
            time: reports[0].time,
            seeds: of.seeds,
            residence: residence.as_deref(),
            device: of.device,
            loaded: of.loaded,
            domain: job::domain(of.case, of.loaded.field.domain())?,
            write_seconds: run.save_seconds + joined + vtk,
            io: IoStats {
                read: totals.bytes[0],
                written: totals.bytes[1],
                input: spent.read + run.input.as_ref().map_or(0.0, |input| input.wait_seconds),
                output: totals.waited,
                total: spent.total,
                memory: machine::peak_memory(),
            },
            spent,
            checkpoints: totals.checkpoints,
            resumed: totals.resumed,
            device_bytes: case_run::device_bytes(&worker.prepared),
            warnings,
            folder: &folder.root,
            profile: None,
            ranks: Some(&totals),
        };
        let printed = Printed { json: summary.json(), text: summary.text() };
        folder.write("summary.json", &format!("{:#}\n", printed.json))?;
        folder.write("case.toml", &self.piece.common.checkpoint.case)?;
        Ok(printed)
    }

    /// Joins the logs of all processes, and removes the pieces: the run is complete.
    fn close(&self, member: &Member) -> Result<()> {
        tracing::info!("the run is complete");
        let own = member.log();
        let failed = || format!("cannot write {}", own.display());
        let mut log = std::fs::File::options().append(true).open(&own).with_context(failed)?;
        for other in member::logs(&self.parts.root).iter().filter(|path| **path != own) {
            let content = std::fs::read(other).unwrap_or_default();
            let name = other.file_name().unwrap_or_default().to_string_lossy();
            let written = writeln!(log, "log of {name}").and_then(|()| log.write_all(&content));
            written.with_context(failed)?;
        }
        std::fs::rename(&own, self.folder.path("log.txt")).with_context(failed)?;
        self.folder.remove(DOMAIN)?;
        let old = self.folder.path(&format!("{}.{}", parts::FOLDER, member.id));
        let root = &self.parts.root;
        std::fs::rename(root, old).with_context(|| format!("cannot rename {}", root.display()))?;
        remove_abandoned(self.folder)
    }
}

/// Removes the pieces of a complete run, and folders of processes that ended before they could start it.
pub fn remove_abandoned(folder: &Folder) -> Result<()> {
    let start = format!("{}.", parts::FOLDER);
    let failed = || format!("cannot read {}", folder.root.display());
    for entry in std::fs::read_dir(&folder.root).with_context(failed)? {
        let entry = entry.with_context(failed)?;
        if entry.file_name().to_string_lossy().starts_with(&start) {
            remove(&entry.path());
        }
    }
    Ok(())
}

/// Removes a folder. NFS keeps files that are open, for a moment.
fn remove(folder: &Path) {
    for _ in 0..20 {
        match std::fs::remove_dir_all(folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                std::thread::sleep(Duration::from_millis(100));
            }
            _ => return,
        }
    }
    log::warn(&[format!("{} cannot be removed; the run is complete without it", folder.display())]);
}
