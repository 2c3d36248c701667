//! Traces a case into its output folder: from loading the field to writing the summary.

use crate::{
    args::OutputArgs,
    case::{Case, Misuse, Reporting, VtkOutput},
    checkpoint::{Machine, RunCheckpoint},
    counting_sink::CountingSink,
    errors,
    extend::FinishedRun,
    fingerprint::Fingerprint,
    folder::{self, DOMAIN, Folder},
    format::twelve_digits,
    io_stats::IoMeter,
    job::{self, LoadedField},
    log,
    notes::Notes,
    profile,
    progress::Display,
    ranks::{self, SharedStart},
    report, residence,
    shared::Shared,
    signals::{Signals, Stopped},
    summary::{self, RunSummary},
    watch::{self, Watch},
};
use anyhow::{Context, Result};
use burntrace::{
    Engine, Prepared, Summary,
    device::{self, OpenDevice},
    io,
};
use std::cell::RefCell;
use std::collections::HashSet;
use std::path::Path;
use std::time::Instant;

/// Bytes of saved positions from which on `save.report = "auto"` makes no report.
const MAX_AUTO_REPORT_BYTES: usize = 256 << 20;

/// How a run starts.
pub enum RunStart {
    /// From the beginning, in a new folder.
    New { overwrite: bool },
    /// From a checkpoint.
    Resumed { checkpoint: Box<RunCheckpoint>, accept_changes: bool },
    /// From the end of a finished run, in a new folder.
    Extended { finished: Box<FinishedRun>, overwrite: bool, accept_changes: bool },
}

/// Why a run is slow whose case does not choose the engine.
const SLOW_ENGINE: &str = "tensor: the field is a formula that is not sampled; with field.sample the fused engine \
                           takes the steps, many times as fast";

/// What a run uses beside its case; the runs of a sweep share it.
pub struct Session<'a> {
    pub loaded: &'a LoadedField,
    pub device: &'a OpenDevice,
    /// When the run started.
    pub start: Instant,
    /// Notes while the run is prepared.
    pub notes: Notes,
    /// Whether to show no progress.
    pub quiet: bool,
    /// Warnings that have been printed, and are not printed again.
    pub warned: &'a RefCell<HashSet<String>>,
}

/// Runs a case and writes all files of its output folder. Relative file names are resolved against
/// `base`.
pub fn trace(case: &Case, base: &Path, run_start: RunStart, output: OutputArgs) -> Result<()> {
    with_session(case, base, &case.run.device, output, |session| {
        let (report, stopped) = trace_in(case, base, run_start, session)?;
        print_report(&report, output)?;
        stopped.map_or(Ok(()), |stopped| Err(stopped.into()))
    })
}

/// Takes part in the run of a case that several processes share: traces pieces until none is left.
pub fn trace_shared(
    case: &Case,
    base: &Path,
    shared: SharedStart,
    output: OutputArgs,
) -> Result<()> {
    let device = shared.rank.device(&case.run.device);
    with_session(case, base, &device, output, |session| {
        let Session { loaded, device, start, .. } = *session;
        let domain = job::domain(case, loaded.field.domain())?;
        let (seeds, about_seeds) = job::seeds(case, domain, base, &*loaded.field)?;
        let tracer = job::tracer(case, base, loaded, &device.name)?;
        let piece = ranks::piece_length(case, tracer.num_slots(&seeds));
        let tracer = tracer.piece(piece);
        let prepared = tracer.prepare(&seeds).map_err(Misuse::of)?;
        let (mut warnings, slow) = warnings(case, session, &prepared)?;
        warnings.extend(about_seeds.into_iter().chain(slow));
        let fingerprint = Fingerprint::of(case, base, loaded, &seeds)?;
        let (seeds, quiet) = (seeds.len(), session.quiet);
        let run = CaseRun { case, base, seeds, loaded, device, start, quiet };
        ranks::share(&run, &prepared, shared, (fingerprint, warnings), output)
    })
}

/// Loads the field of a case on a device, and passes it on.
fn with_session(
    case: &Case,
    base: &Path,
    device: &str,
    output: OutputArgs,
    work: impl FnOnce(&Session) -> Result<()>,
) -> Result<()> {
    let start = Instant::now();
    job::check(case)?;
    job::check_folder(case, base)?;
    start_threads(case.run.threads)?;
    let device = device::open(device).map_err(Misuse::of)?;
    let notes = Notes { quiet: output.quiet };
    let loaded = {
        let _phase = burntrace::phase!("load field");
        job::field(case, base, &device, notes)?
    };
    let (quiet, warned) = (output.quiet, RefCell::default());
    work(&Session { loaded: &loaded, device: &device, start, notes, quiet, warned: &warned })
}

/// The warnings of a prepared run, and why it is slow, if it is; that has been said as a note.
fn warnings(
    case: &Case,
    session: &Session,
    prepared: &Prepared,
) -> Result<(Vec<String>, Option<String>)> {
    let warnings = [case.notes.clone(), job::warnings(case, session.loaded)?].concat();
    let is_chosen = Option::<Engine>::from(case.trace.engine).is_some();
    let is_slow = prepared.engine() == Engine::Tensor && !is_chosen;
    if is_slow {
        session.notes.say("engine", SLOW_ENGINE.into());
    }
    Ok((warnings, is_slow.then(|| SLOW_ENGINE.into())))
}

/// Runs a case whose field is loaded, and writes all files of its output folder. Returns the output to
/// print, and whether a signal cut the run short.
pub fn trace_in(
    case: &Case,
    base: &Path,
    run_start: RunStart,
    session: &Session,
) -> Result<(Printed, Option<Stopped>)> {
    let Session { loaded, device, start, .. } = *session;
    let preparing = burntrace::phase!("prepare");
    let domain = job::domain(case, loaded.field.domain())?;
    let (seeds, about_seeds) = job::seeds(case, domain, base, &*loaded.field)?;
    let tracer = job::tracer(case, base, loaded, &device.name)?;
    let prepared = tracer.prepare(&seeds).map_err(Misuse::of)?;
    if profile::is_started() {
        // Otherwise the first launch compiles.
        let _phase = burntrace::phase!("compile");
        tracer.warm_up(prepared.save_plan().particles)?;
    }
    let (mut warnings, slow) = warnings(case, session, &prepared)?;
    warnings.extend(about_seeds);

    let fingerprint = Fingerprint::of(case, base, loaded, &seeds)?;
    let (folder, mut checkpoint) = match run_start {
        RunStart::New { overwrite } => open_new((case, base), overwrite, fingerprint, device)?,
        RunStart::Resumed { checkpoint, accept_changes } => {
            let (folder, checkpoint, changes) =
                open_resumed(case, *checkpoint, (fingerprint, accept_changes), device)?;
            warnings.extend(changes);
            (folder, checkpoint)
        }
        RunStart::Extended { finished, overwrite, accept_changes } => {
            let run = (&prepared, loaded, &seeds);
            let data = (fingerprint, accept_changes);
            let (folder, checkpoint, changes) =
                finished.open_longer(case, run, data, overwrite, device)?;
            warnings.extend(changes);
            (folder, checkpoint)
        }
    };
    log::warn_once(&warnings, &mut session.warned.borrow_mut());
    warnings.extend(slow);
    checkpoint.add_warnings(warnings);
    let what = if checkpoint.resumed == 0 { "starts" } else { "resumes" };
    let (time, field) = (checkpoint.time(), &loaded.json);
    tracing::info!(device = device.name, %field, seeds = seeds.len(), time, "run {what}");
    let (seeds, quiet) = (seeds.len(), session.quiet);
    let run = CaseRun { case, base, seeds, loaded, device, start, quiet };
    drop(preparing);
    run.complete(prepared, &folder, checkpoint).map_err(|error| {
        match error.is::<Stopped>() {
            true => tracing::info!("{error}"),
            false => tracing::error!("{}", errors::chain(&error)),
        }
        with_resume_hint(error, &folder)
    })
}

/// Creates the folder of a new run, with its case and its initial checkpoint.
fn open_new(
    (case, base): (&Case, &Path),
    overwrite: bool,
    fingerprint: Fingerprint,
    device: &OpenDevice,
) -> Result<(Folder, RunCheckpoint)> {
    let folder = Folder::create(&case.run.out, overwrite)?;
    let text = folder::case_text(case, base)?;
    folder.write("case.toml", &text)?;
    let checkpoint = RunCheckpoint::initial(text, fingerprint, Machine::of(device));
    if watch::policy(&case.run).is_some() {
        checkpoint.write(&folder, &[])?;
    }
    log::to_file(&folder.path("log.txt"))?;
    Ok((folder, checkpoint))
}

/// Opens the folder of a resumed run, and checks the input data against its fingerprint. Returns warnings
/// about changes, too.
fn open_resumed(
    case: &Case,
    mut checkpoint: RunCheckpoint,
    (fingerprint, accept_changes): (Fingerprint, bool),
    device: &OpenDevice,
) -> Result<(Folder, RunCheckpoint, Vec<String>)> {
    let folder = Folder::at(&case.run.out);
    let since = format!("since the run in {} started", folder.root.display());
    let change = checkpoint.data_change(&fingerprint, accept_changes, &since)?;
    let unverified = checkpoint.unverified(&folder);
    let changes = checkpoint.changes(device).into_iter().chain(change).chain(unverified).collect();
    checkpoint.resumed += 1;
    checkpoint.fingerprint = fingerprint;
    Ok((folder, checkpoint, changes))
}

/// The run of a case whose field is loaded.
pub struct CaseRun<'a> {
    pub case: &'a Case,
    /// The folder of relative file names.
    pub base: &'a Path,
    /// Number of seeds.
    pub seeds: usize,
    pub loaded: &'a LoadedField,
    pub device: &'a OpenDevice,
    pub start: Instant,
    /// Whether to show no progress.
    pub quiet: bool,
}

impl CaseRun<'_> {
    /// Traces, and writes all files. Returns the report to print, and whether a signal cut the run
    /// short.
    fn complete(
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
        let meter = IoMeter { loaded: self.loaded, start: self.start, before };
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
        tracing::info!(?run, "tracing ends");
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

/// Adds how to resume to an error that interrupted a run, if the run can be resumed.
fn with_resume_hint(error: anyhow::Error, folder: &Folder) -> anyhow::Error {
    if error.is::<Stopped>() || !folder.is_stopped() {
        return error;
    }
    let command = folder.resume_command();
    let text = format!("{}; after fixing this, resume with {command}", errors::chain(&error));
    if error.is::<Misuse>() { Misuse::error(text) } else { anyhow::anyhow!(text) }
}

/// Starts the CPU threads. 0 means all that the process may use.
pub fn start_threads(threads: usize) -> Result<()> {
    let available = std::thread::available_parallelism().map_or(1, |n| n.get());
    let threads = if threads == 0 { available } else { threads };
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build_global()
        .context("cannot start the CPU threads")
}

pub fn print_report(report: &Printed, output: OutputArgs) -> Result<()> {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    if output.json {
        writeln!(out, "{:#}", report.json)?;
    } else if !output.quiet {
        write!(out, "{}", report.text)?;
    }
    Ok(())
}
