//! The run of a case whose field is loaded: tracing, and the files of the output folder.

use super::{
    RunCheckpoint, Spent, Stopped, checkpoint_policy,
    counting_sink::CountingSink,
    io_meter::IoMeter,
    land, residence,
    shared::Shared,
    summary::{self, RunSummary, SharedWork, Traced},
    watch::Watch,
};
use crate::{
    console::{self, Console, Hint, Interrupts, Silent},
    errors,
    file::{Case, Misuse, Reporting, VtkOutput},
    folder::{DOMAIN, Folder, LAND},
    format::{count, duration, with_date},
    gates,
    job::{self, LoadedField},
};
use anyhow::{Context, Result};
use burntrace_analysis::gates::PassageStatistics;
use burntrace_core::{Prepared, Summary, device::OpenDevice};
use burntrace_io as io;
use std::time::Instant;

/// Bytes of saved positions from which on `save.report = "auto"` makes no report.
const MAX_AUTO_REPORT_BYTES: usize = 256 << 20;

/// The run of a case whose field is loaded.
#[derive(Clone, Copy)]
pub struct CaseRun<'a> {
    pub case: &'a Case,
    /// Number of seeds.
    pub seeds: usize,
    pub loaded: &'a LoadedField,
    pub device: &'a OpenDevice,
    /// Seconds in which the field was read and uploaded and kernels were compiled; their total if `start` was later.
    pub load: Spent,
    pub start: Instant,
    pub console: &'a dyn Console,
    pub shows_progress: bool,
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
        let hint: Hint = Box::new(move || within_segment(&Folder::at(&root)));
        let interrupts =
            self.console.interrupts(checkpoint_policy(&self.case.run).map(|_| hint))?;
        let interrupts = &*interrupts;
        self.write_domain(folder)?;
        let device_bytes = device_bytes(&prepared);
        let mut traced = self.trace(prepared, folder, checkpoint, interrupts)?;
        let printed = self.summarise(&mut traced, folder, device_bytes, None)?;
        folder.end_checkpoint(self.case.run.keep_state)?;
        folder.remove(DOMAIN)?;
        let printed = self.with_report(&traced.run, folder, printed)?;
        let hint = "the tracks up to this time are complete; the run cannot be resumed, because \
                    `run.checkpoint = 0` writes no checkpoints";
        let cut_short =
            traced.run.cancelled.then(|| self.stopped_with(interrupts, traced.time, hint.into()));
        Ok((printed, cut_short))
    }

    /// Writes the corners of the domain and the land, for commands that evaluate the run.
    pub fn write_domain(&self, folder: &Folder) -> Result<()> {
        let field = &*self.loaded.field;
        let domain = job::domain(self.case, self.loaded)?;
        folder.write(DOMAIN, &format!("{:#}\n", summary::of_domain(domain)))?;
        match land::from_above(field) {
            Some(land) => folder.write(LAND, &format!("{}\n", serde_json::to_string(&land)?)),
            None => Ok(()),
        }
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
        interrupts: &dyn Interrupts,
    ) -> Result<Traced> {
        let CaseRun { loaded, load, start, .. } = *self;
        let (device, before) = (self.device, checkpoint.spent);
        let meter = IoMeter { loaded, device, load, start, before };
        let shared = Shared::default();
        shared.residence.replace(checkpoint.residence());
        let resumed = checkpoint.resumed;
        if self.shows_progress {
            self.console.begin_steps(loaded.time_origin());
        }
        let mut watch = Watch::new(
            self.console,
            (interrupts, &meter, &shared),
            (folder, checkpoint),
            self.case,
        );
        let run = self.trace_to_store(prepared, &mut watch)?;
        let [steps, released, active, ended] =
            [run.steps as usize, run.released, run.active(), run.ended()].map(count);
        tracing::info!(
            "Tracing ends after {steps} steps in {}: {released} released, {active} active, {ended} ended",
            duration(run.trace_seconds)
        );
        if shared.is_stopped.get() {
            return Err(self.stopped(interrupts, watch.time).into());
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
    pub fn stopped(&self, interrupts: &dyn Interrupts, time: f64) -> Stopped {
        let command = Folder::at(&self.case.run.out).resume_command();
        self.stopped_with(interrupts, time, format!("resume with {command}"))
    }

    /// That a signal stopped the run at a time, and a hint.
    fn stopped_with(&self, interrupts: &dyn Interrupts, time: f64, hint: String) -> Stopped {
        let time = with_date(time, self.loaded.time_origin());
        Stopped {
            code: interrupts.code().unwrap_or(1),
            text: format!("stopped at t = {time}; {hint}"),
        }
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
        traced.warnings.extend(self.write_vtk(folder)?);
        traced.add_writing(start);
        let summary = RunSummary {
            traced,
            seeds: self.seeds,
            device: self.device,
            loaded: self.loaded,
            start: job::time_span(self.case, self.loaded)?.t0,
            domain: job::domain(self.case, self.loaded)?,
            device_bytes,
            profile: self.console.profile(),
            compilations: self.console.compilations(),
            folder: &folder.root,
            shared,
            passages: self.passages(folder, traced.time)?,
        };
        let printed =
            Printed { json: summary.json(), text: summary.text(), run: traced.run.clone() };
        folder.write("summary.json", &format!("{:#}\n", printed.json))?;
        Ok(printed)
    }

    /// Writes the VTK files. Lines that do not fit into memory are left out, with a warning, as the tracks are in the store.
    fn write_vtk(&self, folder: &Folder) -> Result<Option<String>> {
        let _phase = burntrace_core::phase!("write VTK files");
        let tracks = io::Tracks::open(folder.path("tracks"))?;
        let mut left_out = None;
        for kind in &self.case.save.vtk {
            match kind {
                VtkOutput::Lines => match io::write_tracks(&tracks, folder.path("tracks.vtp")) {
                    Err(error @ io::Error::LinesMemory { .. }) => {
                        let root = folder.root.display();
                        left_out = Some(format!(
                            "{error}: `burntrace export {root} --to vtp --every-save 10`"
                        ));
                    }
                    written => written?,
                },
                VtkOutput::Clouds => drop(io::write_clouds(&tracks, folder.path("clouds"))?),
            }
        }
        console::warn(self.console, left_out.as_slice());
        Ok(left_out)
    }

    /// Who crossed the gates of the run.
    fn passages(&self, folder: &Folder, end: f64) -> Result<Option<PassageStatistics>> {
        if self.case.gate.is_empty() {
            return Ok(None);
        }
        let gates = job::gates(self.case, &Silent::default())?;
        let tracks = io::Tracks::open_partial(folder.path("tracks"))?;
        let domain = job::domain(self.case, self.loaded)?;
        let of_run = (&domain, end);
        tracks.is_complete().then(|| gates::passages(&tracks, gates, of_run)).transpose()
    }

    /// Traces the seeds into the store in the folder.
    fn trace_to_store(&self, prepared: Prepared, watch: &mut Watch) -> Result<Summary> {
        let store = watch.folder.path("tracks");
        let writer = match watch.checkpoint.resumed {
            0 => io::TrackWriter::new(store),
            _ => io::TrackWriter::resume(store, watch.checkpoint.durable()),
        };
        let writer = writer.units(job::units(self.case, self.loaded.description.series()));
        let writer = writer.compress(self.case.save.compress);
        let state = watch.checkpoint.take_state();
        let mut sink = CountingSink::new(writer, watch.shared);
        let prepared = match &state {
            Some(state) => prepared.resume(state),
            None => Ok(prepared),
        };
        let run = prepared.and_then(|prepared| prepared.run_observed(&mut sink, watch));
        self.console.end_steps();
        run.map_err(|error| failed(self.loaded, error))
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
        let _phase = burntrace_core::phase!("report");
        let lines = self.console.report(&folder.root, self.loaded.field.mesh());
        printed.text += &lines.context("the run is complete, but its report failed")?;
        Ok(printed)
    }
}

/// The error of a run that has started, with the file of a frame that it read while tracing.
pub fn failed(loaded: &LoadedField, error: burntrace_core::Error) -> anyhow::Error {
    use burntrace_core::Error::{Execution, FrameSize, NotFinite, Sink, Source};
    match (&error, job::file_of(loaded.description.origin.files(), &error)) {
        (NotFinite { .. } | FrameSize { .. }, Some(file)) => {
            anyhow::anyhow!("{}: {error}", file.display())
        }
        (Execution(_) | Sink(_) | Source { .. } | NotFinite { .. }, _) => error.into(),
        _ => Misuse::of(error),
    }
}

/// Planned peak memory of a device that has memory of its own, in bytes.
pub fn device_bytes(prepared: &Prepared) -> Option<u64> {
    let plan = prepared.plan().ok()?;
    Some(plan.device_bytes()).filter(|_| !plan.memory().is_shared)
}

/// The output of a completed run.
pub struct Printed {
    /// Counts, speed and times.
    pub run: Summary,
    /// The content of `summary.json`.
    pub json: serde_json::Value,
    /// The same as lines of text.
    pub text: String,
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
