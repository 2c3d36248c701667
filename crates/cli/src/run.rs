//! `burntrace run`.

use crate::{
    args,
    case::{self, Case, Misuse, VtkOutput},
    job,
    lives::{Stays, Watched},
    log,
    progress::{Display, Notes},
    summary,
};
use anyhow::{Context, Result};
use burntrace::{Summary, Tracer, device, io};
use std::path::{Path, PathBuf};
use std::time::Instant;

pub fn execute(args: &args::Run) -> Result<()> {
    let mut case = case::read(&args.case, &args.set)?;
    if let Some(device) = &args.device {
        case.run.device = device.clone();
    }
    if let Some(out) = &args.out {
        case.run.out = out.clone();
    }
    if let Some(threads) = args.threads {
        case.run.threads = threads;
    }
    let file = std::path::absolute(&args.case)?;
    let base = file.parent().unwrap_or(Path::new("/"));
    trace(&case, base, args.overwrite, args.output)
}

/// Runs a case: from its field to the files of its run folder.
pub fn trace(case: &Case, base: &Path, overwrite: bool, output: args::Output) -> Result<()> {
    let begin = Instant::now();
    job::check(case)?;
    use_threads(case.run.threads)?;
    let device = device::open(&case.run.device).map_err(Misuse::of)?;
    let loaded = job::field(case, base, &device, Notes { quiet: output.quiet })?;
    let domain = job::domain(case, loaded.field.domain())?;
    let seeds = job::seeds(case, domain, base)?;
    let tracer = job::tracer(case, base, &*loaded.field, &device.name)?;
    tracer.check(&seeds).map_err(Misuse::of)?;

    let folder = Folder::create(&case.run.out, overwrite)?;
    folder.write_case(case, base)?;
    log::to_file(&folder.path("log.txt"))?;
    tracing::info!(device = device.name, field = %loaded.description, seeds = seeds.len(), "run begins");
    let (run, stays, write_seconds) = follow(&tracer, &seeds, &folder, case, output.quiet)?;
    tracing::info!(?run, "run ends");

    let report = summary::Report {
        run: &run,
        seeds: seeds.len(),
        stays: stays.as_deref(),
        device: &device,
        loaded: &loaded,
        write_seconds,
        total_seconds: begin.elapsed().as_secs_f64(),
        folder: &folder.root,
    };
    let json = report.json();
    folder.write("summary.json", &format!("{json:#}\n"))?;
    print(&report, &json, output)
}

/// Traces the seeds into the folder's store and writes what else the case asks for. Gives how long
/// lives have lasted, where slots are used again, and the seconds that writing took.
fn follow(
    tracer: &Tracer,
    seeds: &burntrace::Seeds,
    folder: &Folder,
    case: &Case,
    quiet: bool,
) -> Result<(Summary, Option<Vec<Stays>>, f64)> {
    let store = folder.path("tracks");
    let mut writer = io::TrackWriter::new(&store);
    let mut display = Display::new(quiet);
    let mut sink = Watched::new(&mut writer);
    let run = tracer.trace_into(seeds, &mut sink, &mut |progress| display.observe(progress));
    display.finish();
    let run = run.map_err(as_misuse)?;
    let stays = sink.into_stays();
    let begin = Instant::now();
    let tracks = io::Tracks::open(&store)?;
    for kind in &case.save.vtk {
        match kind {
            VtkOutput::Lines => io::write_tracks(&tracks, folder.path("tracks.vtp"))?,
            VtkOutput::Clouds => {
                io::write_clouds(&tracks, folder.path("clouds"))?;
            }
        }
    }
    let write_seconds = run.save_seconds + begin.elapsed().as_secs_f64();
    Ok((run, stays, write_seconds))
}

/// Errors that the case is to blame for end the program with code 2, the others with code 1.
fn as_misuse(error: burntrace::Error) -> anyhow::Error {
    use burntrace::Error::{Execution, Sink, Source};
    match error {
        Execution(_) | Sink(_) | Source { .. } => error.into(),
        _ => Misuse::of(error),
    }
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

fn print(report: &summary::Report, json: &serde_json::Value, output: args::Output) -> Result<()> {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    if output.json {
        writeln!(out, "{json:#}")?;
    } else if !output.quiet {
        write!(out, "{}", report.text())?;
    }
    Ok(())
}

/// The folder that a run writes to.
struct Folder {
    root: PathBuf,
}

impl Folder {
    /// Makes the folder; an earlier run in it is replaced only where that was asked for.
    fn create(root: &Path, overwrite: bool) -> Result<Self> {
        let folder = Folder { root: root.to_path_buf() };
        let has_run = folder.path("case.toml").exists() || folder.path("tracks").exists();
        if has_run && !overwrite {
            return Err(Misuse::error(format!(
                "{} holds an earlier run; give --overwrite to replace it, or another folder with --out",
                root.display()
            )));
        }
        for name in ["tracks", "clouds"] {
            remove(std::fs::remove_dir_all(folder.path(name)))?;
        }
        for name in ["case.toml", "summary.json", "log.txt", "tracks.vtp"] {
            remove(std::fs::remove_file(folder.path(name)))?;
        }
        std::fs::create_dir_all(root)
            .with_context(|| format!("the folder {} cannot be made", root.display()))?;
        Ok(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Writes a file beside its final name and renames it, so that it is whole or not there.
    fn write(&self, name: &str, text: &str) -> Result<()> {
        let path = self.path(name);
        let part = self.path(&format!("{name}.part"));
        std::fs::write(&part, text)
            .and_then(|()| std::fs::rename(&part, &path))
            .with_context(|| format!("{} cannot be written", path.display()))
    }

    /// Writes the case as it ran, with absolute file names, so that it runs from anywhere.
    fn write_case(&self, case: &Case, base: &Path) -> Result<()> {
        let case = case.clone().within(base);
        self.write("case.toml", &toml::to_string(&case)?)
    }
}

/// Removal of something that need not be there.
fn remove(result: std::io::Result<()>) -> Result<()> {
    match result {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}
