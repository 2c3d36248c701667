//! A folder of figures.

use crate::folder;
use anyhow::Result;
use burntrace_plot::picture::Picture;
use std::path::{Path, PathBuf};

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
        match self.extension {
            "svg" => picture.write_svg(&path)?,
            _ => picture.write_png(&path)?,
        }
        self.written.push(path);
        Ok(())
    }
}
