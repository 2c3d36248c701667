//! Cases for programs: read, changed, written and run.

use crate::{
    console::{Console, Silent},
    errors,
    file::{self, Boundary, Case, Domain, Field, Misuse, OwnField, Run, Save, Trace, Units},
    run::{self, Printed, RunStart, Stopped},
};
use burntrace_core::Summary;
use burntrace_io::Tracks;
use std::path::{Path, PathBuf};

/// Why a case could not be read or run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The case or its input is invalid: the text says where, what was given, and what would be right.
    #[error("{0}")]
    Invalid(String),
    /// The run was stopped before its end; the text says how to resume it.
    #[error("{0}")]
    Stopped(String),
    /// A file could not be read or written, or a device failed.
    #[error("{0}")]
    Failed(String),
}

impl From<anyhow::Error> for Error {
    fn from(error: anyhow::Error) -> Self {
        let error = match error.downcast::<Error>() {
            Ok(own) => return own,
            Err(error) => error,
        };
        let text = errors::chain(&error);
        match (error.is::<Misuse>(), error.is::<Stopped>()) {
            (true, _) => Error::Invalid(text),
            (_, true) => Error::Stopped(text),
            _ => Error::Failed(text),
        }
    }
}

/// A run that has reached its end.
#[derive(Clone, Debug)]
pub struct Completed {
    /// The folder with `tracks`, `case.toml` and `summary.json`.
    pub folder: PathBuf,
    /// Counts, speed and times.
    pub summary: Summary,
    /// The content of `summary.json`.
    pub json: serde_json::Value,
}

impl Completed {
    /// Opens the tracks.
    ///
    /// # Errors
    ///
    /// If they were changed or removed since.
    pub fn tracks(&self) -> Result<Tracks, burntrace_io::Error> {
        Tracks::open(self.folder.join("tracks"))
    }
}

impl Case {
    /// A case with the defaults of all other keys: without seeds, to the end of the field.
    pub fn new(field: Field) -> Case {
        Case {
            field,
            domain: Domain::default(),
            boundary: Boundary::default(),
            patch: Vec::new(),
            obstacle: Vec::new(),
            gate: Vec::new(),
            inlet: None,
            source: Vec::new(),
            seeds: Vec::new(),
            trace: Trace::default(),
            motion: None,
            walk: None,
            save: Save::default(),
            units: Units::default(),
            run: Run::default(),
            notes: Vec::new(),
            has_durations: false,
        }
    }

    /// Reads a case file. Relative file names in it are in its folder, but `run.out` is in the working directory.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or the case is invalid: the text has the file, the line, the key, and what to write
    /// instead.
    pub fn from_path(path: impl AsRef<Path>) -> Result<Case, Error> {
        Ok(file::read(path.as_ref(), &[])?)
    }

    /// Reads a case from TOML. Relative file names in it are in the working directory.
    ///
    /// # Errors
    ///
    /// If the case is invalid: the text has the line, the key, and what to write instead.
    pub fn from_toml(text: &str) -> Result<Case, Error> {
        file::from_text(text, &[]).map_err(Error::Invalid)
    }

    /// Reads a case from its sections, as [`Case::from_toml`]. Errors have no lines.
    ///
    /// # Errors
    ///
    /// If the case is invalid: the text has the key, and what to write instead.
    pub fn from_table(table: toml::Table) -> Result<Case, Error> {
        file::from_table(table, None).map_err(Error::Invalid)
    }

    /// Reads a case from its sections, with a field of the program's own instead of that of the sections: `field` has its other keys,
    /// and any `files`.
    ///
    /// # Errors
    ///
    /// As [`Case::from_table`].
    pub fn with_own_field(table: toml::Table, field: OwnField) -> Result<Case, Error> {
        file::from_table(table, Some(field)).map_err(Error::Invalid)
    }

    /// The case as TOML.
    ///
    /// # Errors
    ///
    /// If a file name is not in UTF-8.
    pub fn to_toml(&self) -> Result<String, Error> {
        toml::to_string(self).map_err(|error| Error::Invalid(error.to_string()))
    }

    /// Sets a key, as `trace.dt=0.1` or `source[0].rate=5`, or removes it, as `trace.dt=`.
    ///
    /// # Errors
    ///
    /// If there is no such key, or its value is invalid.
    pub fn with(self, assignment: &str) -> Result<Case, Error> {
        let case = file::from_text(&self.to_toml()?, &[assignment.into()]);
        let mut case = case.map_err(Error::Invalid)?;
        case.notes = [self.notes, case.notes].concat();
        Ok(case)
    }

    /// Runs the case in a new folder, as the program does. The files in it are those of `burntrace run`, but no report and
    /// an empty log; events of [`tracing`] are what the log would have.
    ///
    /// # Errors
    ///
    /// If the case or its input is invalid, if the folder has a run already, or if a file cannot be written.
    pub fn run(self, out: impl AsRef<Path>) -> Result<Completed, Error> {
        self.run_with(out, &Silent::default())
    }

    /// As [`Case::run`], with a console that shows notes and progress, and that may stop the run.
    ///
    /// # Errors
    ///
    /// As [`Case::run`], and if the run is stopped; `burntrace run --resume` resumes it.
    pub fn run_with(
        self,
        out: impl AsRef<Path>,
        console: &dyn Console,
    ) -> Result<Completed, Error> {
        self.run_over(out, false, console)
    }

    /// As [`Case::run_with`]; `overwrite` replaces an earlier run in the folder.
    ///
    /// # Errors
    ///
    /// As [`Case::run_with`].
    pub fn run_over(
        self,
        out: impl AsRef<Path>,
        overwrite: bool,
        console: &dyn Console,
    ) -> Result<Completed, Error> {
        let here = std::env::current_dir().map_err(anyhow::Error::from)?;
        let mut case = self.within(&here);
        case.run.out = out.as_ref().into();
        let start = RunStart::New { overwrite };
        let (Printed { json, run: summary, .. }, stopped) = run::trace(&case, start, console)?;
        match stopped {
            None => Ok(Completed { folder: case.run.out, summary, json }),
            Some(stopped) => Err(Error::Stopped(stopped.text)),
        }
    }
}
