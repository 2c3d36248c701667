//! The error type of pictures and animations.

use std::path::{Path, PathBuf};

/// The result of an operation on a picture or an animation.
pub type Result<T> = std::result::Result<T, Error>;

/// An invalid input, or a file that cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The parts of the data are inconsistent.
    #[error("cannot draw the {what}: {reason}")]
    Data {
        /// The kind of data: `tracks`, `raster`, `histogram`.
        what: &'static str,
        /// The inconsistency.
        reason: String,
    },

    /// The tracks have no attribute of this name.
    #[error("unknown attribute `{given}` to colour the tracks by; available: {available}")]
    Attribute {
        /// The name that was given.
        given: String,
        /// The names of the attributes, separated by commas.
        available: String,
    },

    /// A name that is not known.
    #[error("unknown {what} `{given}`; use one of {known}")]
    Name {
        /// The kind of name: `colour map`, `view`.
        what: &'static str,
        /// The name that was given.
        given: String,
        /// The known names, separated by commas.
        known: String,
    },

    /// The width or the height is out of range.
    #[error("invalid picture size {} x {}: use {min} to {max} pixels for each side", size[0], size[1])]
    Size {
        /// The given width and height, in pixels.
        size: [u32; 2],
        /// The minimum width and height.
        min: u32,
        /// The maximum width and height.
        max: u32,
    },

    /// A number in the style, the view or the animation is out of range.
    #[error("`{name}` is {given}; use {expected}")]
    Option {
        /// The name of the option.
        name: &'static str,
        /// The given value.
        given: String,
        /// The allowed values.
        expected: &'static str,
    },

    /// A file cannot be written.
    #[error("cannot write `{}`: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },

    /// The program that encodes MP4 files is not installed.
    #[error(
        "MP4 files need ffmpeg, and there is no program `{}`; install ffmpeg (https://ffmpeg.org), \
         or write a GIF", program.display()
    )]
    NoFfmpeg {
        /// The name or path of the program.
        program: PathBuf,
    },

    /// The program that encodes MP4 files failed.
    #[error("`{}` failed to write `{}`: {message}", program.display(), path.display())]
    Ffmpeg {
        /// The program.
        program: PathBuf,
        /// The file to write.
        path: PathBuf,
        /// Its error output, or its exit status.
        message: String,
    },
}

impl Error {
    pub(crate) fn data(what: &'static str, reason: impl Into<String>) -> Self {
        Self::Data { what, reason: reason.into() }
    }

    /// The error of a file that cannot be written.
    pub(crate) fn write(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Write { path, source }
    }
}
