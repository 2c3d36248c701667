//! The output folder of a run.

pub mod lock;
mod names;
pub mod paths;
mod run_files;

pub use run_files::RunFiles;

use crate::file::{Case, Misuse};
use anyhow::{Context, Result};
use burntrace_io as io;
use names::{FILES, FOLDERS};
use std::path::{Path, PathBuf};

/// Name of the checkpoint in the folder.
pub const CHECKPOINT: &str = "checkpoint.bin";

/// Name of the file with the last state of a finished run.
pub const STATE: &str = "state.bin";

/// Name of the subfolder with the pieces of an unfinished run that several processes share.
pub const PARTS: &str = "parts";

/// Name of the folder in it with the logs of these processes.
pub const RANKS: &str = "ranks";

/// Name of the file with the definition of a sweep.
pub const SWEEP: &str = "sweep.json";

/// Name of the file with the corners of the domain, until the summary has them.
pub const DOMAIN: &str = "domain.json";

/// Name of the file with the land, seen from above.
pub const LAND: &str = "land.json";

/// The output folder of a run.
pub struct Folder {
    /// Its path.
    pub root: PathBuf,
}

impl Folder {
    /// The folder at a path, which is not checked.
    pub fn at(root: impl AsRef<Path>) -> Self {
        Folder { root: root.as_ref().to_path_buf() }
    }

    /// Whether it contains an unfinished run: stopped, or still in progress.
    pub fn is_stopped(&self) -> bool {
        self.path(CHECKPOINT).exists() || self.is_shared()
    }

    /// Whether it contains an unfinished run that several processes share.
    pub fn is_shared(&self) -> bool {
        self.parts().is_dir()
    }

    /// Whether a process works on the run.
    pub fn is_in_progress(&self) -> bool {
        lock::is_taken(&self.path("log.txt")) || self.has_rank_in_progress()
    }

    /// Whether one of the processes that share the run is at work.
    fn has_rank_in_progress(&self) -> bool {
        self.rank_logs().iter().any(|path| lock::is_taken(path))
    }

    /// The logs of the processes that share the run, in the order of their ranks.
    pub fn rank_logs(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.parts().join(RANKS)).into_iter().flatten().flatten();
        let mut logs: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        logs.sort();
        logs
    }

    /// The log of a process that shares the run.
    pub fn rank_log(&self, rank: usize) -> PathBuf {
        self.parts().join(RANKS).join(format!("{rank:05}"))
    }

    /// The folder of the pieces of a run that several processes share.
    pub fn parts(&self) -> PathBuf {
        self.path(PARTS)
    }

    /// Creates the folder. Replaces an earlier run in it only if `overwrite` is set.
    pub fn create(root: &Path, overwrite: bool) -> Result<Self> {
        let folder = Folder::at(root);
        if !overwrite {
            folder.refuse_earlier("give --overwrite")?;
        }
        refuse_file(root)?;
        folder.refuse_sweep()?;
        let _earlier = lock::of_earlier(&folder.path("log.txt"))?;
        if folder.has_rank_in_progress() {
            return Err(Misuse::error(format!(
                "the run in {} is still in progress: other processes trace its pieces; wait until they end, or \
                 stop them",
                root.display()
            )));
        }
        folder.refuse_other_tracks()?;
        folder.remove_results()?;
        make(root)?;
        Ok(folder)
    }

    /// Refuses to mix a run with the files of a sweep.
    fn refuse_sweep(&self) -> Result<()> {
        match self.path(SWEEP).is_file() {
            false => Ok(()),
            true => Err(Misuse::error(format!(
                "{} contains a sweep; give another folder for the run with --out",
                self.root.display()
            ))),
        }
    }

    /// Refuses to replace an earlier run. `replace` says how to replace it nevertheless.
    pub fn refuse_earlier(&self, replace: &str) -> Result<()> {
        let root = &self.root;
        refuse_file(root)?;
        self.refuse_sweep()?;
        let has = |name: &str| self.path(name).exists();
        let is_stopped = self.is_stopped();
        if !(is_stopped || has("case.toml") || has("tracks")) {
            return Ok(());
        }
        let what = match is_stopped {
            true => format!("a run that was stopped; resume it with {}", self.resume_command()),
            false => "an earlier run".into(),
        };
        Err(Misuse::error(format!(
            "{} contains {what}; to replace it, {replace}; to keep it, give another folder with --out",
            root.display()
        )))
    }

    /// Removes the files of an earlier run.
    fn remove_results(&self) -> Result<()> {
        // First, so that a checkpoint never outlives the tracks that it refers to.
        self.remove_checkpoint()?;
        for folder in [PARTS, "tracks", "tracks.zarr", "tracks_npy"].map(|name| self.path(name)) {
            ignore_missing(&folder, std::fs::remove_dir_all(&folder))?;
        }
        self.remove_files()
    }

    /// Removes the files of an earlier run, but not its tracks and its checkpoint.
    pub fn remove_files(&self) -> Result<()> {
        for (name, stems, extensions) in FOLDERS {
            remove_own(&self.path(name), stems, extensions)?;
        }
        for name in FILES {
            self.remove(name)?;
        }
        Ok(())
    }

    /// Refuses to replace a folder `tracks` with files that no run wrote.
    fn refuse_other_tracks(&self) -> Result<()> {
        let tracks = self.path("tracks");
        let foreign = io::tracks::foreign_names(&tracks).map_err(Misuse::of)?;
        match foreign.first() {
            None => Ok(()),
            Some(first) => Err(Misuse::error(format!(
                "{} contains {}, which no run wrote ({first}), and would be removed; move the folder, \
                 or give another one with --out",
                tracks.display(),
                match foreign.len() {
                    1 => "a file".into(),
                    count => format!("{count} files"),
                }
            ))),
        }
    }

    /// The path of a file in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Writes a file under a temporary name and renames it, so that a partial file never appears.
    pub fn write(&self, name: &str, text: &str) -> Result<()> {
        Ok(io::write_text_beside(&self.path(name), text)?)
    }

    /// Whether it contains a run or a sweep.
    pub fn has_run(&self) -> bool {
        self.is_stopped()
            || self.path(SWEEP).is_file()
            || self.path("tracks").is_dir()
                && (self.path("case.toml").is_file() || self.path("summary.json").is_file())
    }

    /// The command that resumes the run in the folder.
    pub fn resume_command(&self) -> String {
        format!("`burntrace run --resume {}`", self.root.display())
    }

    /// The folder of the tracks.
    pub fn tracks(&self) -> Result<PathBuf> {
        let tracks = self.path("tracks");
        match tracks.is_dir() {
            true => Ok(tracks),
            false if self.is_stopped() => Err(self.without_saves()),
            false if self.path(SWEEP).is_file() => Err(Misuse::error(format!(
                "{0} contains a sweep; give the folder of one of its runs, such as {0}/run_0000",
                self.root.display()
            ))),
            false => Err(Misuse::error(format!(
                "{} contains no run: it has no folder `tracks`; give an output folder of `burntrace \
                 run`",
                self.root.display()
            ))),
        }
    }

    /// An error for an unfinished run that has no complete save.
    pub fn without_saves(&self) -> anyhow::Error {
        Misuse::error(format!(
            "{} contains a run without a complete save: {}, or resume it with {}",
            self.root.display(),
            match self.is_shared() {
                true => "the saves of its pieces are joined at its end; wait for it",
                false => {
                    "it was stopped before, or is still in progress; wait for its first save"
                }
            },
            self.resume_command()
        ))
    }

    /// Removes the checkpoint if there is one.
    pub fn remove_checkpoint(&self) -> Result<()> {
        self.remove(CHECKPOINT)
    }

    /// Ends a run: its checkpoint becomes its last state, or is removed.
    pub fn end_checkpoint(&self, keeps_state: bool) -> Result<()> {
        match keeps_state && self.is_stopped() {
            true => std::fs::rename(self.path(CHECKPOINT), self.path(STATE))
                .with_context(|| format!("cannot write {}", self.path(STATE).display())),
            false => self.remove_checkpoint(),
        }
    }

    /// Removes a file if there is one.
    pub fn remove(&self, name: &str) -> Result<()> {
        let path = self.path(name);
        ignore_missing(&path, std::fs::remove_file(&path))
    }
}

/// Removes the files in a folder whose names have one of the stems and extensions, and the folder if
/// nothing else is in it.
fn remove_own(folder: &Path, stems: &[&str], extensions: &[&str]) -> Result<()> {
    let failed = || format!("cannot read {}", folder.display());
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        entries => entries.with_context(failed)?,
    };
    let mut has_others = false;
    for entry in entries {
        let entry = entry.with_context(failed)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_file = entry.file_type().with_context(failed)?.is_file();
        match is_file && is_own(&name, stems, extensions) {
            true => ignore_missing(&entry.path(), std::fs::remove_file(entry.path()))?,
            false => has_others = true,
        }
    }
    if has_others { Ok(()) } else { ignore_missing(folder, std::fs::remove_dir(folder)) }
}

/// Whether a name has one of the stems and extensions, and possibly `.part` after it.
fn is_own(name: &str, stems: &[&str], extensions: &[&str]) -> bool {
    let name = name.strip_suffix(".part").unwrap_or(name);
    let Some((stem, extension)) = name.rsplit_once('.') else { return false };
    let has_stem = |own: &&str| match own.strip_suffix('#') {
        Some(start) => stem.strip_prefix(start).is_some_and(|number| {
            number.len() >= 5 && number.bytes().all(|byte| byte.is_ascii_digit())
        }),
        None => stem == *own,
    };
    extensions.contains(&extension) && stems.iter().any(has_stem)
}

/// Refuses to replace a file of a run or a sweep, or one of the inputs of a command, by a table. The table may have the
/// name that it would have by default.
pub fn refuse_replacing(path: &Path, inputs: &[PathBuf], default: &str) -> Result<()> {
    let Ok(real) = path.canonicalize() else { return Ok(()) };
    let refuse = |what: String| {
        Err(Misuse::error(format!(
            "{} is {what}, which would be replaced; give the name of another file",
            path.display()
        )))
    };
    if inputs.iter().any(|input| input.canonicalize().is_ok_and(|input| input == real)) {
        return refuse("a file that is read".into());
    }
    for root in real.ancestors().skip(1).filter(|root| Folder::at(root).has_run()) {
        let inside = real.strip_prefix(root).unwrap_or(&real).to_string_lossy().into_owned();
        let is_table = inside == default;
        let folder = inside.split('/').next().unwrap_or_default();
        let is_own = FILES.contains(&inside.as_str())
            || [CHECKPOINT, SWEEP, "sweep.csv", "ensembles.csv"].contains(&inside.as_str())
            || ["tracks", PARTS].contains(&folder)
            || FOLDERS.iter().any(|(name, ..)| *name == folder);
        if is_own && !is_table {
            return refuse(format!("a file of the run in {}", root.display()));
        }
    }
    Ok(())
}

/// Refuses a folder that is a file, or in one.
fn refuse_file(root: &Path) -> Result<()> {
    match root.ancestors().find(|path| path.is_file()) {
        None => Ok(()),
        Some(file) => Err(Misuse::error(format!(
            "{} is a file; give the name of a folder for the run with --out",
            file.display()
        ))),
    }
}

/// Creates a folder and its parents if they do not exist.
pub fn make(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot create the folder {}", folder.display()))
}

/// The case as TOML, with absolute file names, so that it runs from any working directory.
pub fn case_text(case: &Case) -> Result<String> {
    let here = std::env::current_dir()?;
    toml::to_string(&case.clone().within(&here)).map_err(|error| {
        Misuse::error(format!(
            "the case of the run cannot be written: {error}; rename what is not in UTF-8 (run.out is {:?})",
            case.run.out
        ))
    })
}

/// Treats the removal of a missing file or folder as success.
fn ignore_missing(path: &Path, result: std::io::Result<()>) -> Result<()> {
    match result {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", path.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_the_program_are_own() {
        let own = |of: &str, name: &str| {
            let (_, stems, extensions) = FOLDERS.into_iter().find(|(all, ..)| *all == of).unwrap();
            is_own(name, stems, extensions)
        };
        for (of, name) in [
            ("clouds", "clouds.pvd"),
            ("clouds", "cloud_00012.vtp"),
            ("clouds", "cloud_123456.vtp.part"),
            ("pictures", "tracks-3d.svg"),
            ("density", "density_00003.csv"),
            ("ftle", "ftle_00003.png"),
        ] {
            assert!(own(of, name), "{name}");
        }
        for (of, name) in [
            ("clouds", "cloud_1.vtp"),
            ("clouds", "clouds.pvsm"),
            ("pictures", "tracks-final.png"),
            ("pictures", "tracks"),
            ("density", "density_0000x.vti"),
            ("ftle", "density_00003.vti"),
        ] {
            assert!(!own(of, name), "{name}");
        }
    }
}
