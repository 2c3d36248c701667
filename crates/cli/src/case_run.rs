//! The run of a case whose field is loaded: tracing, the files of the output folder, and what is printed.

use crate::{
    args::OutputArgs,
    case::{Case, Misuse, Reporting, VtkOutput},
    checkpoint::{RunCheckpoint, Spent},
    counting_sink::CountingSink,
    errors,
    folder::{DOMAIN, Folder},
    format::{count, duration, twelve_digits},
    io_stats::IoMeter,
    job::{self, LoadedField},
    profile,
    progress::Display,
    report, residence,
    shared::Shared,
    signals::{Signals, Stopped},
    summary::{self, RunSummary, SharedWork, Traced},
    watch::{self, Watch},
};
use anyhow::{Context, Result};
use burntrace::{Prepared, Summary, device::OpenDevice, io};
use std::path::Path;
use std::time::Instant;

/// Bytes of saved positions from which on `save.report = "auto"` makes no report.
const MAX_AUTO_REPORT_BYTES: usize = 256 << 20;

/// The run of a case whose field is loaded.
#[derive(Clone, Copy)]
pub struct CaseRun<'a> {
    pub case: &'a Case,
    /// The folder of relative file names.
    pub base: &'a Path,
    /// Number of seeds.
    pub seeds: usize,
    pub loaded: &'a LoadedField,
    pub device: &'a OpenDevice,
    /// Seconds in which the field was read and uploaded and kernels were compiled; their total if `start` was later.
    pub load: Spent,
    pub start: Instant,
    /// Whether to show no progress.
    pub quiet: bool,
}

impl CaseRun<'_> {
    /// Traces, and writes all files. Returns the report to print, and whether a signal cut the run
    /// short.
    pub fn complete(
        &self,
        prepared: Prepared,
        folder: &Folder,
        checkpoint: RunCheckpoint,
    ) -> Result<(Printed, Option<Stopped>)> {
        let root = folder.root.clone();
        let has_checkpoints = watch::policy(&self.case.run).is_some();
        let signals =
            Signals::watch(has_checkpoints.then_some(move || within_segment(&Folder::at(&root))))?;
        let domain = job::domain(self.case, self.loaded.field.domain())?;
        folder.write(DOMAIN, &format!("{:#}\n", summary::of_domain(domain)))?;
        let device_bytes = device_bytes(&prepared);
        let mut traced = self.trace(prepared, folder, checkpoint, &signals)?;
        let printed = self.summarise(&mut traced, folder, device_bytes, None)?;
        folder.end_checkpoint(self.case.run.keep_state)?;
        folder.remove(DOMAIN)?;
        let printed = self.with_report(&traced.run, folder, printed)?;
        let hint = "the tracks up to this time are complete; the run cannot be resumed, because \
                    `run.checkpoint = 0` writes no checkpoints";
        let cut_short = traced.run.cancelled.then(|| stopped(&signals, traced.time, hint.into()));
        Ok((printed, cut_short))
    }

    /// Traces the run, or a piece of it, into a folder.
    ///
    /// # Errors
    ///
    /// Also if a signal stops the run, and it can be resumed.
    pub fn trace(
        &self,
        prepared: Prepared,
        folder: &Folder,
        checkpoint: RunCheckpoint,
        signals: &Signals,
    ) -> Result<Traced> {
        let CaseRun { loaded, load, start, .. } = *self;
        let meter = IoMeter { loaded, load, start, before: checkpoint.spent };
        let shared = Shared::default();
        shared.residence.replace(checkpoint.residence());
        let resumed = checkpoint.resumed;
        let display = Display::new(self.quiet);
        let mut watch =
            Watch::new(display, (signals, &meter, &shared), (folder, checkpoint), self.case);
        let run = self.trace_to_store(prepared, &mut watch)?;
        let [steps, released, active, ended] =
            [run.steps as usize, run.released, run.active(), run.ended()].map(count);
        tracing::info!(
            "Tracing ends after {steps} steps in {}: {released} released, {active} active, {ended} ended",
            duration(run.trace_seconds)
        );
        if shared.is_stopped.get() {
            return Err(self.stopped(signals, watch.time).into());
        }
        Ok(Traced {
            run,
            time: watch.time,
            spent: meter.spent(),
            io: meter.stats(&shared),
            checkpoints: watch.totals,
            resumed,
            warnings: watch.checkpoint.warnings,
            residence: shared.residence.take().map(residence::sorted),
        })
    }

    /// That a signal stopped the run at a time, and it can be resumed.
    pub fn stopped(&self, signals: &Signals, time: f64) -> Stopped {
        let command = Folder::at(&self.case.run.out).resume_command();
        stopped(signals, time, format!("resume with {command}"))
    }

    /// Writes the VTK files and the summary of a traced run.
    pub fn summarise(
        &self,
        traced: &mut Traced,
        folder: &Folder,
        device_bytes: Option<u64>,
        shared: Option<SharedWork>,
    ) -> Result<Printed> {
        let start = Instant::now();
        write_vtk(self.case, folder)?;
        traced.add_writing(start);
        let summary = RunSummary {
            traced,
            seeds: self.seeds,
            device: self.device,
            loaded: self.loaded,
            domain: job::domain(self.case, self.loaded.field.domain())?,
            device_bytes,
            profile: profile::table(),
            folder: &folder.root,
            shared,
        };
        let printed = Printed { json: summary.json(), text: summary.text() };
        folder.write("summary.json", &format!("{:#}\n", printed.json))?;
        Ok(printed)
    }

    /// Traces the seeds into the store in the folder.
    fn trace_to_store(&self, prepared: Prepared, watch: &mut Watch) -> Result<Summary> {
        let store = watch.folder.path("tracks");
        let writer = match watch.checkpoint.resumed {
            0 => io::TrackWriter::new(store),
            _ => io::TrackWriter::resume(store, watch.checkpoint.durable()),
        };
        let origin = self.loaded.description.series().and_then(|series| series.time_origin.clone());
        let writer = writer.units(io::tracks::Units { origin, ..(&self.case.units).into() });
        let writer = writer.compress(self.case.save.compress);
        let state = watch.checkpoint.take_state();
        let mut sink = CountingSink::new(writer, watch.shared);
        let prepared = match &state {
            Some(state) => prepared.resume(state),
            None => Ok(prepared),
        };
        let run = prepared.and_then(|prepared| prepared.run_observed(&mut sink, watch));
        watch.display.finish();
        run.map_err(|error| {
            use burntrace::Error::{Execution, FrameSize, NotFinite, Sink, Source};
            match (&error, job::file_of(self.loaded.description.origin.files(), &error)) {
                // A frame that the run read while tracing.
                (NotFinite { .. } | FrameSize { .. }, Some(file)) => {
                    anyhow::anyhow!("{}: {error}", file.display())
                }
                (Execution(_) | Sink(_) | Source { .. } | NotFinite { .. }, _) => error.into(),
                _ => Misuse::of(error),
            }
        })
    }

    /// Makes the report of a completed run, if the case asks for one.
    pub fn with_report(
        &self,
        run: &Summary,
        folder: &Folder,
        mut printed: Printed,
    ) -> Result<Printed> {
        let positions = 3 * run.precision.bytes() * run.saves * run.particles;
        let is_wanted = match self.case.save.report {
            Reporting::Always => true,
            Reporting::Never => false,
            Reporting::Auto => positions < MAX_AUTO_REPORT_BYTES,
        };
        if run.cancelled || !is_wanted {
            return Ok(printed);
        }
        let _phase = burntrace::phase!("report");
        let [report, picture] = report::of_folder(&folder.root)
            .context("the run is complete, but its report failed")?;
        let lines = format!("report     {}\npicture    {}\n", report.display(), picture.display());
        printed.text.push_str(&lines);
        Ok(printed)
    }
}

/// Planned peak memory of a device that has memory of its own, in bytes.
pub fn device_bytes(prepared: &Prepared) -> Option<u64> {
    let plan = prepared.plan().ok()?;
    Some(plan.device_bytes()).filter(|_| !plan.memory().is_shared)
}

/// The output of a completed run.
pub struct Printed {
    pub json: serde_json::Value,
    pub text: String,
}

/// Writes the VTK files of the case.
fn write_vtk(case: &Case, folder: &Folder) -> Result<()> {
    let _phase = burntrace::phase!("write VTK files");
    let tracks = io::Tracks::open(folder.path("tracks"))?;
    for kind in &case.save.vtk {
        match kind {
            VtkOutput::Lines => io::write_tracks(&tracks, folder.path("tracks.vtp"))?,
            VtkOutput::Clouds => {
                io::write_clouds(&tracks, folder.path("clouds"))?;
            }
        }
    }
    Ok(())
}

/// That a signal stopped a run at a time.
fn stopped(signals: &Signals, time: f64, hint: String) -> Stopped {
    Stopped {
        code: signals.code().unwrap_or(1),
        text: format!("stopped at t = {}; {hint}", twelve_digits(time)),
    }
}

/// What a signal leaves that ended the program within a segment, or after the run.
fn within_segment(folder: &Folder) -> String {
    let root = folder.root.display();
    if folder.is_stopped() {
        let command = folder.resume_command();
        return format!("stopped within a segment; resume from the last checkpoint with {command}");
    }
    match folder.path("summary.json").exists() {
        true => format!(
            "stopped; the run in {root} is complete, but not its report: make it with `burntrace \
             report {root}`"
        ),
        false => {
            format!("stopped; {root} has no checkpoint, so the run cannot be resumed")
        }
    }
}

/// Prints the output of a completed run.
pub fn print_report(report: &Printed, output: OutputArgs) -> Result<()> {
    output.print(|| report.json.clone(), || report.text.clone())
}

/// Logs the error that interrupted a run, and adds `rest`, what is left of a run that several processes share, and how to
/// resume the run, if it can be resumed.
pub fn interrupted(error: anyhow::Error, folder: &Folder, rest: Option<String>) -> anyhow::Error {
    if error.is::<Stopped>() {
        tracing::info!("{error}");
        return error;
    }
    tracing::error!("{}", errors::chain(&error));
    if !folder.is_stopped() {
        return error;
    }
    let (chain, command) = (errors::chain(&error), folder.resume_command());
    let text = match rest {
        None => format!("{chain}; after fixing this, resume with {command}"),
        Some(rest) => {
            format!(
                "{chain}; {rest}; after fixing this, resume with {command} and any number of ranks"
            )
        }
    };
    if error.is::<Misuse>() { Misuse::error(text) } else { anyhow::anyhow!(text) }
}
