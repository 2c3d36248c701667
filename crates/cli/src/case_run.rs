//! The run of a case whose field is loaded: tracing, the files of the output folder, and what is printed.

use crate::{
    args::OutputArgs,
    case::{Case, Misuse, Reporting, VtkOutput},
    checkpoint::RunCheckpoint,
    counting_sink::CountingSink,
    folder::{DOMAIN, Folder},
    format::{count, duration, twelve_digits},
    io_stats::IoMeter,
    job::{self, LoadedField},
    profile,
    progress::Display,
    report, residence,
    shared::Shared,
    signals::{Signals, Stopped},
    summary::{self, RunSummary},
    watch::{self, Watch},
};
use anyhow::{Context, Result};
use burntrace::{Prepared, Summary, device::OpenDevice, io};
use std::path::Path;
use std::time::Instant;

/// Bytes of saved positions from which on `save.report = "auto"` makes no report.
const MAX_AUTO_REPORT_BYTES: usize = 256 << 20;

/// The run of a case whose field is loaded.
pub struct CaseRun<'a> {
    pub case: &'a Case,
    /// The folder of relative file names.
    pub base: &'a Path,
    /// Number of seeds.
    pub seeds: usize,
    pub loaded: &'a LoadedField,
    pub device: &'a OpenDevice,
    /// Seconds in which kernels were compiled before the run.
    pub compile: f64,
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
        let before = checkpoint.spent;
        let meter =
            IoMeter { loaded: self.loaded, compile: self.compile, start: self.start, before };
        let shared = Shared::default();
        shared.residence.replace(checkpoint.residence());
        let resumed = checkpoint.resumed;
        let display = Display::new(self.quiet);
        let mut watch =
            Watch::new(display, (&signals, &meter, &shared), (folder, checkpoint), self.case);
        let domain = job::domain(self.case, self.loaded.field.domain())?;
        folder.write(DOMAIN, &format!("{:#}\n", summary::of_domain(domain)))?;
        let device_bytes = device_bytes(&prepared);
        let run = self.trace_to_store(prepared, &mut watch)?;
        let [steps, released, active, ended] =
            [run.steps as usize, run.released, run.active(), run.ended()].map(count);
        tracing::info!(
            "Tracing ends after {steps} steps in {}: {released} released, {active} active, {ended} ended",
            duration(run.trace_seconds)
        );
        let (time, checkpoints) = (watch.time, watch.totals);
        let warnings = std::mem::take(&mut watch.checkpoint.warnings);
        if shared.is_stopped.get() {
            let hint = format!("resume with {}", folder.resume_command());
            return Err(stopped(&signals, time, hint).into());
        }
        let seconds = write_vtk(self.case, folder)?;
        let residence = shared.residence.take().map(residence::sorted);
        let summary = RunSummary {
            run: &run,
            time,
            seeds: self.seeds,
            residence: residence.as_deref(),
            device: self.device,
            loaded: self.loaded,
            domain,
            write_seconds: run.save_seconds + seconds,
            io: meter.stats(&shared),
            spent: meter.spent(),
            checkpoints,
            resumed,
            device_bytes,
            warnings,
            profile: profile::table(),
            folder: &folder.root,
            ranks: None,
        };
        let printed = Printed { json: summary.json(), text: summary.text() };
        folder.write("summary.json", &format!("{:#}\n", printed.json))?;
        folder.end_checkpoint(self.case.run.keep_state)?;
        folder.remove(DOMAIN)?;
        let printed = self.with_report(&run, folder, printed)?;
        let hint = "the tracks up to this time are complete; the run cannot be resumed, because \
                    `run.checkpoint = 0` writes no checkpoints";
        let cut_short = run.cancelled.then(|| stopped(&signals, time, hint.into()));
        Ok((printed, cut_short))
    }

    /// Traces the seeds into the store in the folder.
    pub fn trace_to_store(&self, prepared: Prepared, watch: &mut Watch) -> Result<Summary> {
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

/// Writes the VTK files of the case, and returns the seconds it took.
pub fn write_vtk(case: &Case, folder: &Folder) -> Result<f64> {
    let _phase = burntrace::phase!("write VTK files");
    let start = Instant::now();
    let tracks = io::Tracks::open(folder.path("tracks"))?;
    for kind in &case.save.vtk {
        match kind {
            VtkOutput::Lines => io::write_tracks(&tracks, folder.path("tracks.vtp"))?,
            VtkOutput::Clouds => {
                io::write_clouds(&tracks, folder.path("clouds"))?;
            }
        }
    }
    Ok(start.elapsed().as_secs_f64())
}

/// That a signal stopped a run at a time.
pub fn stopped(signals: &Signals, time: f64, hint: String) -> Stopped {
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
