//! `case.toml` and `summary.json` of a run, which may be missing or damaged.

use crate::{
    case::{self, Case},
    folder::Folder,
};
use serde_json::Value;

/// The files of a run beside its tracks.
pub struct RunFiles {
    /// The effective case, if it can be read.
    pub case: Option<Case>,
    /// Why there is no case, and what to do.
    pub case_problem: Option<String>,
    /// The content of `summary.json`, or null.
    pub summary: Value,
    /// Why there is no summary, and what to do.
    pub summary_problem: Option<String>,
}

impl RunFiles {
    /// Reads both files. Every command can do without one, so that a problem is not an error here.
    pub fn read(folder: &Folder) -> RunFiles {
        let mut files = RunFiles {
            case: None,
            case_problem: None,
            summary: Value::Null,
            summary_problem: None,
        };
        match read_case(folder) {
            Ok(case) => files.case = Some(case),
            Err(problem) => files.case_problem = Some(problem),
        }
        match read_summary(folder) {
            Ok(summary) => files.summary = summary,
            // It is written at the end of a run.
            Err(_) if folder.is_stopped() => {}
            Err(problem) => files.summary_problem = Some(problem),
        }
        files
    }

    /// What is missing or damaged.
    pub fn problems(&self) -> Vec<String> {
        self.case_problem.iter().chain(&self.summary_problem).cloned().collect()
    }
}

/// What to do about a missing or damaged file.
const RESTORE: &str = "restore it from a copy, or run the case again";

fn read_case(folder: &Folder) -> Result<Case, String> {
    let path = folder.path("case.toml");
    let unknown = "units, seeds and the device of the run are unknown";
    if !path.is_file() {
        return Err(format!("{} is missing: {unknown}; {RESTORE}", path.display()));
    }
    case::read(&path, &[])
        .map_err(|error| format!("cannot read the case of the run: {error}: {unknown}; {RESTORE}"))
}

fn read_summary(folder: &Folder) -> Result<Value, String> {
    let path = folder.path("summary.json");
    let unknown = "counts, timings and the device of the run are unknown";
    let bytes = std::fs::read(&path)
        .map_err(|_| format!("{} is missing: {unknown}; {RESTORE}", path.display()))?;
    match serde_json::from_slice(&bytes) {
        Ok(summary @ Value::Object(_)) => Ok(summary),
        Ok(_) => {
            Err(format!("{} is damaged (not a JSON object): {unknown}; {RESTORE}", path.display()))
        }
        Err(error) => Err(format!("{} is damaged ({error}): {unknown}; {RESTORE}", path.display())),
    }
}
