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

/// The formats of picture files.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Formats {
    pub svg: bool,
    pub pdf: bool,
}

impl Formats {
    /// The extensions: PNG files if no other format is wanted.
    fn extensions(self) -> Vec<&'static str> {
        let vector = [(self.svg, "svg"), (self.pdf, "pdf")];
        match vector
            .into_iter()
            .filter(|(is_wanted, _)| *is_wanted)
            .map(|(_, name)| name)
            .collect::<Vec<_>>()
        {
            none if none.is_empty() => vec!["png"],
            wanted => wanted,
        }
    }
}

/// A folder of figures.
pub struct FigureDir {
    folder: PathBuf,
    extensions: Vec<&'static str>,
    /// The files written so far, in order, in the first format.
    pub written: Vec<PathBuf>,
    /// Those in further formats.
    pub others: Vec<PathBuf>,
}

impl FigureDir {
    /// Creates the folder if it does not exist.
    pub fn at(folder: &Path, formats: Formats) -> Result<FigureDir> {
        folder::make(folder)?;
        let extensions = formats.extensions();
        Ok(FigureDir { folder: folder.into(), extensions, written: Vec::new(), others: Vec::new() })
    }

    /// The path of a file in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Writes a picture. `name` has no extension.
    pub fn add(&mut self, name: &str, picture: &Picture) -> Result<()> {
        for (number, extension) in self.extensions.iter().enumerate() {
            let path = self.folder.join(format!("{name}.{extension}"));
            io::write_beside(&path, |part| match *extension {
                "svg" => picture.write_svg(part).map_err(plot_error),
                "pdf" => picture.write_pdf(part).map_err(plot_error),
                _ => picture.write_png(part).map_err(plot_error),
            })?;
            let written = if number == 0 { &mut self.written } else { &mut self.others };
            written.push(path);
        }
        Ok(())
    }
}
