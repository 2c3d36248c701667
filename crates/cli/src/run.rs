//! `burntrace run`.

use crate::{
    args,
    case::{self, Case, Misuse, Reporting, VtkOutput},
    checkpoint::{Kept, Machine},
    fingerprint::Fingerprint,
    folder::{self, Folder},
    job::{self, LoadedField},
    lives::{self, Watched},
    log,
    progress::{Display, Notes},
    report, resume,
    signals::{Signals, Stopped},
    summary,
    traffic::IoStats,
    watch::{self, Shared, Watch},
};
use anyhow::{Context, Result};
use burntrace::{
    Prepared, Summary,
    device::{self, OpenDevice},
    io,
};
use std::path::Path;
use std::time::Instant;

/// Positions that are saved, in bytes, from which on a report is made only where it is asked for.
const REPORTED_BYTES: usize = 256 << 20;

/// How a run begins.
pub enum Begin {
    /// In a folder of its own.
    Anew { overwrite: bool },
    /// From a checkpoint.
    From { kept: Box<Kept>, accept_changes: bool },
}

pub fn execute(args: &args::Run) -> Result<()> {
    let file = match (&args.resume, &args.case) {
        (Some(root), _) => return resume::execute(args, root),
        (None, Some(file)) => file,
        (None, None) => return Err(Misuse::error("give a case file, or --resume and a folder")),
    };
    let mut case = case::read(file, &args.set)?;
    args.put_into(&mut case);
    let file = std::path::absolute(file)?;
    let base = file.parent().unwrap_or(Path::new("/"));
    trace(&case, base, Begin::Anew { overwrite: args.overwrite }, args.output)
}

impl args::Run {
    /// Sets the keys of a case that have options of their own.
    pub fn put_into(&self, case: &mut Case) {
        if let Some(device) = &self.device {
            case.run.device = device.clone();
        }
        if let Some(out) = &self.out {
            case.run.out = out.clone();
        }
        if let Some(threads) = self.threads {
            case.run.threads = threads;
        }
    }
}

/// Runs a case: from its field to the files of its run folder. Relative file names start at `base`.
pub fn trace(case: &Case, base: &Path, begin: Begin, output: args::Output) -> Result<()> {
    let start = Instant::now();
    job::check(case)?;
    use_threads(case.run.threads)?;
    let device = device::open(&case.run.device).map_err(Misuse::of)?;
    let loaded = job::field(case, base, &device, Notes { quiet: output.quiet })?;
    let domain = job::domain(case, loaded.field.domain())?;
    let seeds = job::seeds(case, domain, base)?;
    let tracer = job::tracer(case, base, &*loaded.field, &device.name)?;
    let prepared = tracer.prepare(&seeds).map_err(Misuse::of)?;

    let print = Fingerprint::of(case, base, &loaded, &seeds)?;
    let (folder, kept) = match begin {
        Begin::Anew { overwrite } => open_new((case, base), overwrite, print, &device)?,
        Begin::From { kept, accept_changes } => {
            open_old(case, *kept, (print, accept_changes), &device)?
        }
    };
    log::warn(&case.notes);
    let what = if kept.resumed == 0 { "begins" } else { "goes on" };
    let (time, field) = (kept.time(), &loaded.json);
    tracing::info!(device = device.name, %field, seeds = seeds.len(), time, "run {what}");
    let job = Job { case, seeds: seeds.len(), loaded: &loaded, device: &device, start };
    let done = job.complete(prepared, &folder, kept, output);
    match done {
        Ok((report, stopped)) => {
            print_report(&report, output)?;
            stopped.map_or(Ok(()), |stopped| Err(stopped.into()))
        }
        Err(error) => {
            match error.is::<Stopped>() {
                true => tracing::info!("{error}"),
                false => tracing::error!("{}", crate::chain(&error)),
            }
            Err(with_way_on(error, &folder))
        }
    }
}

/// The folder of a run that begins, with its case and a checkpoint of its begin.
fn open_new(
    (case, base): (&Case, &Path),
    overwrite: bool,
    print: Fingerprint,
    device: &OpenDevice,
) -> Result<(Folder, Kept)> {
    let folder = Folder::create(&case.run.out, overwrite)?;
    let text = folder::text_of(case, base)?;
    folder.write("case.toml", &text)?;
    let kept = Kept::begin(text, print, Machine::of(device));
    if watch::policy(&case.run).is_some() {
        kept.write(&folder, &[])?;
    }
    log::to_file(&folder.path("log.txt"))?;
    Ok((folder, kept))
}

/// The folder of a run that goes on.
fn open_old(
    case: &Case,
    mut kept: Kept,
    (print, accept_changes): (Fingerprint, bool),
    device: &OpenDevice,
) -> Result<(Folder, Kept)> {
    let folder = Folder::at(&case.run.out);
    let change = print.change(&kept.fingerprint);
    if let Some(change) = change.as_ref().filter(|_| !accept_changes) {
        return Err(Misuse::error(format!(
            "the field or the seeds are not those with which the run in {} began: {change}; bring \
             them back, or go on with what is there with --accept-changes",
            folder.root.display()
        )));
    }
    let change = change.map(|change| format!("{change}, which is accepted"));
    for warning in kept.warnings(device).into_iter().chain(change) {
        eprintln!("warning: {warning}");
        tracing::warn!("{warning}");
    }
    kept.resumed += 1;
    kept.fingerprint = print;
    Ok((folder, kept))
}

/// What is to be done.
struct Job<'a> {
    case: &'a Case,
    seeds: usize,
    loaded: &'a LoadedField,
    device: &'a OpenDevice,
    start: Instant,
}

impl Job<'_> {
    /// Traces, and writes all files. Gives the account, and whether a signal has cut the run short.
    fn complete(
        &self,
        prepared: Prepared,
        folder: &Folder,
        kept: Kept,
        output: args::Output,
    ) -> Result<(Printed, Option<Stopped>)> {
        let device_bytes = device_bytes(&prepared);
        let signals = Signals::watch()?;
        let traffic = IoStats { loaded: self.loaded, begin: self.start };
        let shared = Shared::default();
        shared.stays.replace(kept.stays());
        let resumed = kept.resumed;
        let display = Display::new(output.quiet, kept.particle_steps);
        let mut watch =
            Watch::new(display, (&signals, &traffic, &shared), (folder, kept), self.case);
        let run = self.follow(prepared, &mut watch)?;
        tracing::info!(?run, "tracing ends");
        let (time, checkpoints) = (watch.time, watch.checkpoints);
        if shared.is_stopped.get() {
            return Err(stopped(&signals, time, format!("go on with {}", folder.way_on())).into());
        }
        let seconds = write_vtk(self.case, folder)?;
        let stays = shared.stays.take().map(lives::sorted);
        let report = summary::Report {
            run: &run,
            seeds: self.seeds,
            stays: stays.as_deref(),
            device: self.device,
            loaded: self.loaded,
            domain: job::domain(self.case, self.loaded.field.domain())?,
            write_seconds: run.save_seconds + seconds,
            flow: traffic.flow(&shared),
            checkpoints,
            resumed,
            device_bytes,
            folder: &folder.root,
        };
        let printed = Printed { json: report.json(), text: report.text() };
        folder.write("summary.json", &format!("{:#}\n", printed.json))?;
        folder.forget_checkpoint()?;
        let printed = self.reported(&run, folder, printed)?;
        let kept = "the tracks up to there are kept, and `run.checkpoint = 0` leaves nothing to go on \
                    with";
        let cut = run.cancelled.then(|| stopped(&signals, time, kept.into()));
        Ok((printed, cut))
    }

    /// Traces the seeds into the folder's store.
    fn follow(&self, prepared: Prepared, watch: &mut Watch) -> Result<Summary> {
        let store = watch.folder.path("tracks");
        let writer = match watch.kept.resumed {
            0 => io::TrackWriter::new(store),
            _ => io::TrackWriter::resume(store, watch.kept.mark()),
        };
        let state = watch.kept.take_state();
        let mut sink = Watched::new(writer, watch.shared);
        let prepared = match &state {
            Some(state) => prepared.resume(state),
            None => Ok(prepared),
        };
        let run = prepared.and_then(|prepared| prepared.run_observed(&mut sink, watch));
        watch.display.finish();
        run.map_err(|error| {
            use burntrace::Error::{Execution, FrameSize, NotFinite, Sink, Source};
            match (&error, self.loaded.description.origin.file_of(&error)) {
                // A frame that is read in the course of the run.
                (NotFinite { .. } | FrameSize { .. }, Some(file)) => {
                    anyhow::anyhow!("{}: {error}", file.display())
                }
                (Execution(_) | Sink(_) | Source { .. } | NotFinite { .. }, _) => error.into(),
                _ => Misuse::of(error),
            }
        })
    }

    /// Makes the report of a run that has come to its end, where it is asked for.
    fn reported(&self, run: &Summary, folder: &Folder, mut printed: Printed) -> Result<Printed> {
        let positions = 3 * run.precision.bytes() * run.saves * run.particles;
        let is_wanted = match self.case.save.report {
            Reporting::Always => true,
            Reporting::Never => false,
            Reporting::Auto => positions < REPORTED_BYTES,
        };
        if run.cancelled || !is_wanted {
            return Ok(printed);
        }
        let [report, picture] = report::of_folder(&folder.root)
            .context("the run is complete, but there is no report of it")?;
        let lines = format!("report     {}\npicture    {}\n", report.display(), picture.display());
        printed.text.push_str(&lines);
        Ok(printed)
    }
}

/// Peak memory of a device that has memory of its own, in bytes, by the plan.
fn device_bytes(prepared: &Prepared) -> Option<u64> {
    let plan = prepared.plan().ok()?;
    Some(plan.device_bytes()).filter(|_| !plan.memory().is_shared)
}

/// What a run prints at its end.
struct Printed {
    json: serde_json::Value,
    text: String,
}

/// Writes the files for ParaView that the case asks for, and gives the seconds that it took.
fn write_vtk(case: &Case, folder: &Folder) -> Result<f64> {
    let begin = Instant::now();
    let tracks = io::Tracks::open(folder.path("tracks"))?;
    for kind in &case.save.vtk {
        match kind {
            VtkOutput::Lines => io::write_tracks(&tracks, folder.path("tracks.vtp"))?,
            VtkOutput::Clouds => {
                io::write_clouds(&tracks, folder.path("clouds"))?;
            }
        }
    }
    Ok(begin.elapsed().as_secs_f64())
}

fn stopped(signals: &Signals, time: f64, what: String) -> Stopped {
    Stopped { code: signals.code().unwrap_or(1), text: format!("stopped at t = {time}; {what}") }
}

/// An error in the middle of a run, with how to go on where that can be.
fn with_way_on(error: anyhow::Error, folder: &Folder) -> anyhow::Error {
    if error.is::<Stopped>() || !folder.is_stopped() {
        return error;
    }
    let way = folder.way_on();
    let text = format!("{}; once that is mended, go on with {way}", crate::chain(&error));
    if error.is::<Misuse>() { Misuse::error(text) } else { anyhow::anyhow!(text) }
}

/// Sets the number of CPU threads; 0 is all that this process may use.
fn use_threads(threads: usize) -> Result<()> {
    let available = std::thread::available_parallelism().map_or(1, |n| n.get());
    let threads = if threads == 0 { available } else { threads };
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build_global()
        .context("the threads could not be started")
}

fn print_report(report: &Printed, output: args::Output) -> Result<()> {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    if output.json {
        writeln!(out, "{:#}", report.json)?;
    } else if !output.quiet {
        write!(out, "{}", report.text)?;
    }
    Ok(())
}
