//! The one error type of the crate.

use std::path::{Path, PathBuf};

/// The result of an operation of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why there is no picture: what was given, why it cannot be used, and what can.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The parts of what is to be drawn do not fit together.
    #[error("the {what} cannot be drawn: {reason}")]
    Data {
        /// What was to be drawn: `tracks`, `raster`.
        what: &'static str,
        /// What is wrong with it.
        reason: String,
    },

    /// There is no attribute of this name.
    #[error("the tracks have no `{given}` to be coloured by; they have {there}")]
    Attribute {
        /// The name that was given.
        given: String,
        /// The names that there are.
        there: String,
    },

    /// A name that stands for nothing.
    #[error("`{given}` is no {what}; write one of {known}")]
    Name {
        /// What was to be named: `colour map`, `plane`.
        what: &'static str,
        /// The name that was given.
        given: String,
        /// The names that there are.
        known: String,
    },

    /// A picture of this size cannot be made.
    #[error("a picture of {} x {} pixels cannot be made; give {least} to {most} for each", size[0], size[1])]
    Size {
        /// The size that was given.
        size: [u32; 2],
        /// The least width and height.
        least: u32,
        /// The greatest width and height.
        most: u32,
    },

    /// A number in the style of a picture or animation cannot be used.
    #[error("`{name}` cannot be {given}; give {wanted}")]
    Option {
        /// The name of the option.
        name: &'static str,
        /// What was given.
        given: String,
        /// What can be given.
        wanted: &'static str,
    },

    /// The operating system refused something.
    #[error("cannot write `{}`: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },

    /// The program that makes MP4 files is not there.
    #[error(
        "MP4 files are made by ffmpeg, and there is no program `{}`; install ffmpeg \
         (https://ffmpeg.org), or write a GIF", program.display()
    )]
    NoFfmpeg {
        /// The program that was looked for.
        program: PathBuf,
    },

    /// The program that makes MP4 files failed.
    #[error("`{}` made no `{}`: {said}", program.display(), path.display())]
    Ffmpeg {
        /// The program.
        program: PathBuf,
        /// The file that was to be made.
        path: PathBuf,
        /// What it said, or how it ended.
        said: String,
    },
}

impl Error {
    pub(crate) fn data(what: &'static str, reason: impl Into<String>) -> Self {
        Self::Data { what, reason: reason.into() }
    }

    /// Makes the error of a file that cannot be written.
    pub(crate) fn write(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Write { path, source }
    }
}
