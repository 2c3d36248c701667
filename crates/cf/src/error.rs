//! The error type of the crate.

use std::path::{Path, PathBuf};

/// The result of an operation of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// A file that cannot be opened, or a variable that cannot be used. Messages say what was given, what is
/// wrong, and what to give instead.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An operation of the operating system failed.
    #[error("cannot read `{}`: {source}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The file is damaged, of another format, or uses a part of the format that is not supported.
    #[error("`{}`: {reason}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// The problem, and what to give instead.
        reason: String,
    },
    /// A variable cannot be read or used.
    #[error("`{}`, variable `{variable}`: {reason}", path.display())]
    Variable {
        /// The file or folder.
        path: PathBuf,
        /// The variable.
        variable: String,
        /// The problem, and what to give instead.
        reason: String,
    },
    /// The velocity or another array is missing or ambiguous.
    #[error("`{}`: {reason}; its variables: {variables}", path.display())]
    Choice {
        /// The file or folder.
        path: PathBuf,
        /// The problem, and what to give instead.
        reason: String,
        /// The variables of the file with their dimensions and units.
        variables: String,
    },
}

impl Error {
    /// The error of a failed operation of the operating system.
    pub(crate) fn read(path: &Path) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.to_path_buf();
        move |source| Error::Read { path, source }
    }

    /// The error of a file.
    pub(crate) fn file(path: &Path, reason: impl Into<String>) -> Error {
        Error::File { path: path.into(), reason: reason.into() }
    }

    /// The error of a variable.
    pub(crate) fn variable(path: &Path, variable: &str, reason: impl Into<String>) -> Error {
        Error::Variable { path: path.into(), variable: variable.into(), reason: reason.into() }
    }
}
