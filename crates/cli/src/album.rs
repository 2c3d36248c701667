//! The pictures of a run, as files in a folder.

use anyhow::Result;
use burntrace_plot::picture::Picture;
use std::path::{Path, PathBuf};

/// A folder of pictures that look alike.
pub struct FigureDir {
    folder: PathBuf,
    ending: &'static str,
    /// The files that were written, in order.
    pub written: Vec<PathBuf>,
}

impl FigureDir {
    /// Makes the folder, if it is not there.
    pub fn at(folder: &Path, svg: bool) -> Result<FigureDir> {
        crate::folder::make(folder)?;
        let ending = if svg { "svg" } else { "png" };
        Ok(FigureDir { folder: folder.into(), ending, written: Vec::new() })
    }

    /// Writes a picture under a name without its ending.
    pub fn add(&mut self, name: &str, picture: &Picture) -> Result<()> {
        let path = self.folder.join(format!("{name}.{}", self.ending));
        match self.ending {
            "svg" => picture.write_svg(&path)?,
            _ => picture.write_png(&path)?,
        }
        self.written.push(path);
        Ok(())
    }
}
