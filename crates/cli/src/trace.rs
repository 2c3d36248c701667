//! Traces a case into its output folder: from loading the field to writing the summary.

use crate::{
    allocator,
    args::OutputArgs,
    case::{Case, Misuse},
    case_run::{CaseRun, Printed, interrupted, print_report},
    checkpoint::{Machine, RunCheckpoint, Spent},
    devices,
    extend::FinishedRun,
    fingerprint::Fingerprint,
    folder::{self, Folder},
    format::{count, twelve_digits},
    job::{self, LoadedField},
    log,
    notes::Notes,
    profile,
    ranks::{self, SharedStart, Worker},
    report,
    signals::Stopped,
    watch,
};
use anyhow::{Context, Result};
use burntrace::{SaveAt, Tracer, device::OpenDevice};
use std::cell::RefCell;
use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// How a run starts.
pub enum RunStart {
    /// From the beginning, in a new folder.
    New { overwrite: bool },
    /// From a checkpoint.
    Resumed { checkpoint: Box<RunCheckpoint>, accept_changes: bool },
    /// From the end of a finished run, in a new folder.
    Extended { finished: Box<FinishedRun>, overwrite: bool, accept_changes: bool },
}

/// What a run saves whose case does not say so.
const ONLY_END: &str =
    "only the end is saved; save.every, save.every_time or save.times saves more";

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
    check_and_start(case, base)?;
    let device = devices::only_name(&case.run.device, "this run")?;
    with_session(case, base, &device, output, |session| {
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
    check_and_start(case, base)?;
    let names = shared.rank.devices(&case.run.device)?;
    let mut case = case.clone();
    case.run.is_shared = true;
    case.share_among(&names);
    let case = &case;
    with_session(case, base, &names[0], output, |session| {
        let Session { loaded, device, start, notes, .. } = *session;
        let others = other_devices(&names[1..], session)?;
        let domain = job::domain(case, loaded.field.domain())?;
        let (seeds, about_seeds) = job::seeds(case, domain, base, &*loaded.field)?;
        let devices: Vec<(&OpenDevice, &LoadedField)> = std::iter::once((device, loaded))
            .chain(others.iter().map(|(device, loaded)| (device, loaded)))
            .collect();
        let mut tracers = Vec::new();
        for &(device, loaded) in &devices {
            let tracer = job::tracer(case, base, loaded, &device.name)?;
            let piece = job::piece_length(case, tracer.num_slots(&seeds));
            tracers.push((tracer.piece(piece), piece));
        }
        let mut workers = Vec::new();
        for ((tracer, piece), (device, loaded)) in tracers.iter().zip(devices) {
            let prepared = tracer.prepare(&seeds).map_err(Misuse::of)?;
            let compile = compile(tracer, *piece, device)?;
            let seeds = seeds.len();
            let load = load_seconds(loaded, compile);
            let load = Spent { total: load.read + load.upload + load.compile, ..load };
            let run = CaseRun { case, base, seeds, loaded, device, load, start, quiet: true };
            workers.push(Worker { run, prepared, is_fresh: AtomicBool::new(true) });
        }
        let mut warnings = warnings(case, session)?;
        warnings.extend(about_seeds);
        let fingerprint = Fingerprint::of(case, base, loaded, &seeds)?;
        ranks::share(&workers, shared, (fingerprint, warnings), notes, output)
    })
}

/// Opens further devices of a run, and copies its field to them.
fn other_devices(names: &[String], session: &Session) -> Result<Vec<(OpenDevice, LoadedField)>> {
    let open = |name: &String| devices::open(name, session.notes);
    let devices = names.iter().map(open).collect::<Result<Vec<_>>>()?;
    let all: Vec<&OpenDevice> = std::iter::once(session.device).chain(&devices).collect();
    devices::check_kinds(&all)?;
    let load = |device: OpenDevice| {
        let _phase = burntrace::phase!("load field");
        let loaded = session.loaded.on_device(&device)?;
        Ok((device, loaded))
    };
    devices.into_iter().map(load).collect()
}

/// Checks a case, and starts the threads of this process: before a device is chosen, as the choice depends on
/// their number.
fn check_and_start(case: &Case, base: &Path) -> Result<()> {
    job::check(case)?;
    job::check_folder(case, base)?;
    start_threads(case.run.threads)
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
    if case.run.memory.is_some() {
        allocator::return_large_blocks();
    }
    let notes = Notes { quiet: output.quiet };
    let device = devices::open(device, notes)?;
    let loaded = {
        let _phase = burntrace::phase!("load field");
        job::field(case, base, &device, notes)?
    };
    let (quiet, warned) = (output.quiet, RefCell::default());
    work(&Session { loaded: &loaded, device: &device, start, notes, quiet, warned: &warned })
}

/// Compiles the kernels of a run on a device that does so, and returns the seconds; otherwise the first launch
/// would. A profile shows the phase on every device.
fn compile(tracer: &Tracer, particles: usize, device: &OpenDevice) -> Result<f64> {
    if !device.compiles_kernels() && !profile::is_started() {
        return Ok(0.0);
    }
    let _phase = burntrace::phase!("compile");
    Ok(tracer.warm_up(particles)?)
}

/// The seconds of reading, uploading and compiling.
fn load_seconds(loaded: &LoadedField, compile: f64) -> Spent {
    Spent { read: loaded.read_seconds, upload: loaded.upload_seconds, compile, total: 0.0 }
}

/// The warnings of a run; keys without effect, and a missing `[save]`, are said as notes.
fn warnings(case: &Case, session: &Session) -> Result<Vec<String>> {
    let warnings = [case.notes.clone(), job::warnings(case, session.loaded)?].concat();
    if case.save.at == SaveAt::End {
        session.notes.say("save", ONLY_END.into());
    }
    if case.run.piece.is_some() && !case.run.is_shared {
        session
            .notes
            .say("piece", "run.piece has no effect in a run of one process on one device".into());
    }
    Ok(warnings)
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
    let compile = compile(&tracer, prepared.save_plan().particles, device)?;
    let mut warnings = warnings(case, session)?;
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
    checkpoint.add_warnings(warnings);
    let what = if checkpoint.resumed == 0 { "starts" } else { "resumes" };
    let time = checkpoint
        .time()
        .map_or_else(String::new, |time| format!(" at t = {}", twelve_digits(time)));
    let seeds_text = count(seeds.len());
    let field = report::field_in_words(&loaded.json).unwrap_or_else(|| "an unknown field".into());
    tracing::info!(
        "The run {what} on `{}`{time} with {seeds_text} seeds, through {field}",
        device.name
    );
    let (seeds, quiet) = (seeds.len(), session.quiet);
    let load = load_seconds(loaded, compile);
    let run = CaseRun { case, base, seeds, loaded, device, load, start, quiet };
    drop(preparing);
    run.complete(prepared, &folder, checkpoint).map_err(|error| interrupted(error, &folder, None))
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

/// Starts the CPU threads, once for this process and before all that uses them: whoever asks for their number
/// starts them, too. 0 means all that the process may use.
pub fn start_threads(threads: usize) -> Result<()> {
    let available = std::thread::available_parallelism().map_or(1, |n| n.get());
    let threads = if threads == 0 { available } else { threads };
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build_global()
        .with_context(|| format!("cannot start {threads} CPU threads; give fewer with --threads"))
}
