//! The folder that a run writes to.

use crate::{
    case::{Case, Misuse},
    checkpoint,
};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// The files of a run and of what is made of it, apart from the folders.
const FILES: [&str; 10] = [
    "case.toml",
    "summary.json",
    "log.txt",
    "tracks.vtp",
    "report.md",
    "report.json",
    "particles.csv",
    "page.html",
    "tracks.gif",
    "tracks.mp4",
];

/// The folder that a run writes to.
pub struct Folder {
    pub root: PathBuf,
}

impl Folder {
    /// The folder of this name, as it is.
    pub fn at(root: impl AsRef<Path>) -> Self {
        Folder { root: root.as_ref().to_path_buf() }
    }

    /// Whether it has a run that can go on, or is still going on.
    pub fn is_stopped(&self) -> bool {
        self.path(checkpoint::NAME).exists()
    }

    /// Makes the folder; an earlier run in it is replaced only where that was asked for.
    pub fn create(root: &Path, overwrite: bool) -> Result<Self> {
        let folder = Folder::at(root);
        let has = |name: &str| folder.path(name).exists();
        let is_stopped = folder.is_stopped();
        if (is_stopped || has("case.toml") || has("tracks")) && !overwrite {
            let what = match is_stopped {
                true => format!("a run that was stopped; go on with it with {}", folder.way_on()),
                false => "an earlier run".into(),
            };
            return Err(Misuse::error(format!(
                "{} holds {what}; give --overwrite to replace it, or another folder with --out",
                root.display()
            )));
        }
        // First of all, so that nobody goes on with tracks that are not there.
        folder.forget_checkpoint()?;
        for name in ["tracks", "clouds", "pictures", "density", "ftle"] {
            remove(std::fs::remove_dir_all(folder.path(name)))?;
        }
        for name in FILES {
            remove(std::fs::remove_file(folder.path(name)))?;
        }
        make(root)?;
        Ok(folder)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Writes a file beside its final name and renames it, so that it is whole or not there.
    pub fn write(&self, name: &str, text: &str) -> Result<()> {
        let path = self.path(name);
        let part = self.path(&format!("{name}.part"));
        std::fs::write(&part, text)
            .and_then(|()| std::fs::rename(&part, &path))
            .with_context(|| format!("{} cannot be written", path.display()))
    }

    /// The command that goes on with the run in it.
    pub fn way_on(&self) -> String {
        format!("`burntrace run --resume {}`", self.root.display())
    }

    /// Removes the checkpoint, of which there is no need any more.
    pub fn forget_checkpoint(&self) -> Result<()> {
        remove(std::fs::remove_file(self.path(checkpoint::NAME)))
    }
}

/// Makes a folder, if it is not there.
pub fn make(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("the folder {} cannot be made", folder.display()))
}

/// A case as it runs, with absolute file names, so that it runs from anywhere.
pub fn text_of(case: &Case, base: &Path) -> Result<String> {
    Ok(toml::to_string(&case.clone().within(base))?)
}

/// Removal of something that need not be there.
fn remove(result: std::io::Result<()>) -> Result<()> {
    match result {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}
