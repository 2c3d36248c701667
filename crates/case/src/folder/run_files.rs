//! `case.toml`, `summary.json`, `domain.json` and `land.json` of a run, which may be missing or damaged.

use super::{DOMAIN, Folder, LAND};
use crate::file::{self, Case};
use burntrace_plot::Land;
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
    summary_problem: Option<String>,
    /// The content of `domain.json`, which only unfinished runs have, or null.
    pub domain: Value,
    /// Why the domain cannot be read, and what to do.
    domain_problem: Option<String>,
    /// The land, of runs that have any.
    pub land: Option<Land>,
    /// Why the land cannot be read, and what to do.
    land_problem: Option<String>,
}

impl RunFiles {
    /// Reads the files. Every command can do without one, so that a problem is not an error here.
    pub fn read(folder: &Folder) -> RunFiles {
        let (case, case_problem) = match read_case(folder) {
            Ok(case) => (Some(case), None),
            Err(problem) => (None, Some(problem)),
        };
        // The summary is written at the end of a run.
        let is_unfinished = folder.is_stopped() || folder.is_in_progress();
        let unknown =
            "counts, timings, warnings, the number of seeds and the device of the run are unknown";
        let (summary, summary_problem) = match read_json(folder, "summary.json", unknown) {
            Ok(summary) => (summary, None),
            Err(problem) => (Value::Null, (!is_unfinished).then_some(problem)),
        };
        let unknown = "the domain of the run is unknown unless its case has it";
        let (domain, domain_problem) = match read_json(folder, DOMAIN, unknown) {
            Ok(domain) => (domain, None),
            // Finished runs have none.
            Err(_) if !folder.path(DOMAIN).exists() || !summary.is_null() => (Value::Null, None),
            Err(problem) => (Value::Null, Some(problem)),
        };
        let (land, land_problem) = match read_land(folder) {
            Ok(land) => (land, None),
            Err(problem) => (None, Some(problem)),
        };
        RunFiles {
            case,
            case_problem,
            summary,
            summary_problem,
            domain,
            domain_problem,
            land,
            land_problem,
        }
    }

    /// What is missing or damaged.
    pub fn problems(&self) -> Vec<String> {
        let all =
            [&self.case_problem, &self.summary_problem, &self.domain_problem, &self.land_problem];
        all.into_iter().flatten().cloned().collect()
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
    file::read(&path, &[])
        .map_err(|error| format!("cannot read the case of the run: {error}: {unknown}; {RESTORE}"))
}

/// The land of a run; `None` if it has none.
fn read_land(folder: &Folder) -> Result<Option<Land>, String> {
    if !folder.path(LAND).exists() {
        return Ok(None);
    }
    let unknown = "pictures have no land";
    let land = serde_json::from_value(read_json(folder, LAND, unknown)?).ok();
    let damage = || format!("{} is damaged: {unknown}; {RESTORE}", folder.path(LAND).display());
    land.filter(Land::is_valid).ok_or_else(damage).map(Some)
}

/// The content of a JSON file; if there is none, why and what to do.
fn read_json(folder: &Folder, name: &str, unknown: &str) -> Result<Value, String> {
    let path = folder.path(name);
    let bytes = std::fs::read(&path)
        .map_err(|_| format!("{} is missing: {unknown}; {RESTORE}", path.display()))?;
    let damage = match serde_json::from_slice(&bytes) {
        Ok(content @ Value::Object(_)) => return Ok(content),
        Ok(_) => "not a JSON object".into(),
        Err(error) => error.to_string(),
    };
    Err(format!("{} is damaged ({damage}): {unknown}; {RESTORE}", path.display()))
}
