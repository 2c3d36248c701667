//! A folder of figures.

use crate::{file::Misuse, folder};
use anyhow::Result;
use burntrace::io;
use burntrace_plot::{Error, picture::Picture};
use std::path::{Path, PathBuf};

/// An error of a picture, a page or an animation: of the case or the command line, unless a file cannot be written.
pub fn plot_error(error: Error) -> anyhow::Error {
    match error {
        Error::Write { .. } | Error::Ffmpeg { .. } => error.into(),
        error => Misuse::of(error),
    }
}

/// A folder of figures in one file format.
pub struct FigureDir {
    folder: PathBuf,
    extension: &'static str,
    /// The files written so far, in order.
    pub written: Vec<PathBuf>,
}

impl FigureDir {
    /// Creates the folder if it does not exist.
    pub fn at(folder: &Path, svg: bool) -> Result<FigureDir> {
        folder::make(folder)?;
        let extension = if svg { "svg" } else { "png" };
        Ok(FigureDir { folder: folder.into(), extension, written: Vec::new() })
    }

    /// The path of a file in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Writes a picture. `name` has no extension.
    pub fn add(&mut self, name: &str, picture: &Picture) -> Result<()> {
        let path = self.folder.join(format!("{name}.{}", self.extension));
        io::write_beside(&path, |part| match self.extension {
            "svg" => picture.write_svg(part).map_err(plot_error),
            _ => picture.write_png(part).map_err(plot_error),
        })?;
        self.written.push(path);
        Ok(())
    }
}
