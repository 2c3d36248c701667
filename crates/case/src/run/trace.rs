//! Traces a case into its output folder: from loading the field to writing the summary.

use super::{
    CaseRun, Fingerprint, FinishedRun, Machine, Printed, RunCheckpoint, Spent, Stopped,
    checkpoint_policy, devices, interrupted,
};
use crate::{
    console::{self, Console},
    file::{Case, VtkOutput},
    folder::{self, Folder, lock},
    format::{bytes, count, with_date},
    job::{self, LoadedField},
};
use anyhow::{Context, Result};
use burntrace_core::{
    SaveAt, SavePlan, Tracer,
    device::OpenDevice,
    program::{FreeMemory, default_threads, note_started_threads},
};
use burntrace_io as io;
use std::error::Error;
use std::path::Path;
use std::time::Instant;

/// How a run starts.
pub enum RunStart {
    /// From the beginning, in a new folder.
    New {
        /// Whether an earlier run in the folder is replaced.
        overwrite: bool,
    },
    /// From a checkpoint.
    Resumed {
        /// The checkpoint.
        checkpoint: Box<RunCheckpoint>,
        /// Whether input files may have changed since.
        accept_changes: bool,
    },
    /// From the end of a finished run, in a new folder.
    Extended {
        /// The finished run.
        finished: Box<FinishedRun>,
        /// Whether an earlier run in the new folder is replaced.
        overwrite: bool,
        /// Whether input files may have changed since.
        accept_changes: bool,
    },
}

/// What a run saves whose case does not say so.
const ONLY_END: &str =
    "only the end is saved; save.every, save.every_time or save.times saves more";

/// What a run uses beside its case; the runs of a sweep share it.
pub struct Session<'a> {
    /// The field.
    pub loaded: &'a LoadedField,
    /// The device.
    pub device: &'a OpenDevice,
    /// When the run started.
    pub start: Instant,
    /// Where notes and progress are shown.
    pub console: &'a dyn Console,
}

/// Runs a case and writes all files of its output folder. Returns its output, and whether it was cut short.
///
/// # Errors
///
/// If the case or its input is invalid, if a file cannot be written, or if the run is stopped and can be resumed.
pub fn trace(
    case: &Case,
    start: RunStart,
    console: &dyn Console,
) -> Result<(Printed, Option<Stopped>)> {
    check_and_start(case)?;
    let device = devices::only_name(&case.run.device, "this run")?;
    with_session(case, &device, console, |session| trace_in(case, start, session))
}

/// Checks a case, and starts the threads of this process: before a device is chosen, as the choice depends on
/// their number.
pub fn check_and_start(case: &Case) -> Result<()> {
    job::check(case)?;
    job::check_folder(case)?;
    start_threads(case.run.threads)
}

/// Loads the field of a case on a device, and passes it on.
pub fn with_session<T>(
    case: &Case,
    device: &str,
    console: &dyn Console,
    work: impl FnOnce(&Session) -> Result<T>,
) -> Result<T> {
    let start = Instant::now();
    let device = console.open_device(device)?;
    let loaded = {
        let _phase = burntrace_core::phase!("load field");
        job::field(case, &device, console)?
    };
    work(&Session { loaded: &loaded, device: &device, start, console })
}

/// Compiles the kernels of a run on a device that does so, and returns the seconds; otherwise the first launch
/// would. A profile shows the phase on every device.
pub fn compile(
    tracer: &Tracer,
    particles: usize,
    device: &OpenDevice,
    console: &dyn Console,
) -> Result<f64> {
    if !device.compiles_kernels() && console.profile().is_none() {
        return Ok(0.0);
    }
    let _phase = burntrace_core::phase!("compile");
    Ok(tracer.warm_up(particles)?)
}

/// The seconds of reading, uploading, preparing and compiling.
pub fn load_seconds(loaded: &LoadedField, [prepare, compile]: [f64; 2]) -> Spent {
    let (read, upload) = (loaded.read_seconds, loaded.upload_seconds);
    Spent { read, upload, prepare, compile, total: 0.0 }
}

/// The warnings of a run; conversions, keys without effect, and a missing `[save]` are said as notes.
pub fn warnings(case: &Case, loaded: &LoadedField, console: &dyn Console) -> Result<Vec<String>> {
    let conversions = job::about_files(loaded, true);
    conversions.iter().for_each(|text| console.say("note", text));
    let warnings = [case.notes.clone(), job::warnings(case, loaded)?].concat();
    if case.save.at == SaveAt::End {
        console.say("save", ONLY_END);
    }
    if case.run.piece.is_some() && !case.run.is_shared {
        let text = "run.piece has no effect in a run of one process on one device";
        console.say("piece", text);
    }
    Ok(warnings)
}

/// That the lines of a run will not fit into memory, before it takes hours.
pub fn too_many_lines(case: &Case, plan: &SavePlan) -> Option<String> {
    let (needed, free) = (io::lines_memory(plan), FreeMemory::now().bytes);
    (case.save.vtk.contains(&VtkOutput::Lines) && needed > free).then(|| {
        format!(
            "{} particles at {} saves are lines that need up to {} of memory, and {} are free: `tracks.vtp` will not be written unless they fit \
             then; leave \"lines\" out of save.vtk, or save fewer, and write a part of them later with `burntrace export RUN --to vtp`",
            count(plan.particles),
            count(plan.saves),
            bytes(needed as f64),
            bytes(free as f64)
        )
    })
}

/// Runs a case whose field is loaded, and writes all files of its output folder. Returns its output, and whether
/// it was cut short.
pub fn trace_in(
    case: &Case,
    run_start: RunStart,
    session: &Session,
) -> Result<(Printed, Option<Stopped>)> {
    let Session { loaded, device, start, console } = *session;
    let preparing = burntrace_core::phase!("prepare");
    let before = Instant::now();
    let domain = job::domain(case, loaded)?;
    let (seeds, about_seeds) = job::seeds(case, domain, loaded)?;
    let tracer = job::tracer(case, (loaded, &seeds), &device.name, console)?;
    let prepared = tracer.prepare(&seeds).map_err(|error| loaded.misuse(error))?;
    let prepare = before.elapsed().as_secs_f64();
    let compile = compile(&tracer, prepared.save_plan().particles, device, console)?;
    let mut warnings = warnings(case, loaded, console)?;
    warnings.extend(about_seeds);
    warnings.extend(prepared.slow_steps());
    warnings.extend(too_many_lines(case, &prepared.save_plan()));
    warnings.extend(job::long_steps(case, loaded, device)?);

    let fingerprint = Fingerprint::of(case, loaded, &seeds)?;
    let (folder, mut checkpoint) = match run_start {
        RunStart::New { overwrite } => open_new(case, overwrite, fingerprint, session)?,
        RunStart::Resumed { checkpoint, accept_changes } => {
            let (folder, checkpoint, changes) =
                open_resumed(case, *checkpoint, (fingerprint, accept_changes), device)?;
            warnings.extend(changes);
            (folder, checkpoint)
        }
        RunStart::Extended { finished, overwrite, accept_changes } => {
            let data = (fingerprint, accept_changes);
            let (folder, checkpoint, changes) =
                finished.open_longer(case, (&prepared, &seeds), data, overwrite, session)?;
            warnings.extend(changes);
            (folder, checkpoint)
        }
    };
    console::warn(console, &warnings);
    checkpoint.add_warnings(warnings);
    let origin = loaded.time_origin();
    let what = if checkpoint.resumed == 0 { "starts" } else { "resumes" };
    let time = checkpoint
        .time()
        .map_or_else(String::new, |time| format!(" at t = {}", with_date(time, origin)));
    let seeds_text = count(seeds.len());
    let field = job::field_in_words(&loaded.json).unwrap_or_else(|| "an unknown field".into());
    tracing::info!(
        "The run {what} on `{}`{time} with {seeds_text} seeds, through {field}",
        device.name
    );
    let (seeds, load) = (seeds.len(), load_seconds(loaded, [prepare, compile]));
    let run = CaseRun { case, seeds, loaded, device, load, start, console, shows_progress: true };
    drop(preparing);
    run.complete(prepared, &folder, checkpoint).map_err(|error| interrupted(error, &folder, None))
}

/// Creates the folder of a new run, with its case and its initial checkpoint.
fn open_new(
    case: &Case,
    overwrite: bool,
    fingerprint: Fingerprint,
    session: &Session,
) -> Result<(Folder, RunCheckpoint)> {
    let folder = Folder::create(&case.run.out, overwrite)?;
    let text = folder::case_text(case)?;
    folder.write("case.toml", &text)?;
    let checkpoint = RunCheckpoint::initial(text, fingerprint, Machine::of(session.device));
    if checkpoint_policy(&case.run).is_some() {
        checkpoint.write(&folder, &[])?;
    }
    open_log(&folder.path("log.txt"), session.console)?;
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
    let changes = checkpoint.changes(device).into_iter().chain(change).collect();
    checkpoint.resumed += 1;
    checkpoint.fingerprint = fingerprint;
    Ok((folder, checkpoint, changes))
}

/// Opens the log of a run, which is locked as long as the console keeps it.
///
/// # Errors
///
/// If its run is in progress.
pub fn open_log(path: &Path, console: &dyn Console) -> Result<()> {
    console.log(lock::locked(path)?);
    Ok(())
}

/// Starts the CPU threads, once for this process and before all that uses them: whoever asks for their number
/// starts them, too. Reading and meshes take the same number. 0 means as many as `RAYON_NUM_THREADS` says, or all that the process may use.
pub fn start_threads(threads: usize) -> Result<()> {
    let wanted = if threads == 0 { default_threads().0 } else { threads };
    let built = rayon::ThreadPoolBuilder::new().num_threads(wanted).build_global();
    match built {
        // Started before, by a program that calls.
        Err(error)
            if error.source().is_none() && [0, rayon::current_num_threads()].contains(&threads) =>
        {
            Ok(())
        }
        built => built.with_context(|| {
            format!("cannot start {wanted} CPU threads; give fewer with --threads")
        }),
    }?;
    let count = rayon::current_num_threads();
    note_started_threads(count);
    io::series::set_reading_threads(count);
    Ok(())
}
