//! `tracks.json`: what the arrays of a store are.

use super::npy::partial;
use crate::{Error, Result};
use burntrace_core::{Precision, SavePlan, Status};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Name of the file. It is written last, so a folder that has it has all the arrays too.
pub(super) const NAME: &str = "tracks.json";

const FORMAT: &str = "burntrace tracks";
const VERSION: u32 = 1;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub format: String,
    pub version: u32,
    pub particles: usize,
    pub saves: usize,
    /// More than `saves` where the run was cancelled.
    pub planned_saves: usize,
    pub precision: Number,
    /// Widths of the box along periodic axes; 0 along the others.
    pub periods: [f64; 3],
    /// Rows of the table of lives, where slots are used again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lives: Option<usize>,
    /// Names of the arrays, without `.npy`.
    pub arrays: Vec<String>,
    pub statuses: Vec<StatusCode>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Number {
    F32,
    F64,
}

/// A code in `status.npy` with its meaning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct StatusCode {
    pub code: i32,
    pub name: String,
}

impl Manifest {
    pub fn new(
        plan: &SavePlan,
        saves: usize,
        lives: Option<usize>,
        arrays: Vec<String>,
    ) -> Manifest {
        let code = |status: Status| StatusCode { code: status.code(), name: status.to_string() };
        Manifest {
            format: FORMAT.into(),
            version: VERSION,
            particles: plan.particles,
            saves,
            planned_saves: plan.saves,
            precision: match plan.precision {
                Precision::F32 => Number::F32,
                Precision::F64 => Number::F64,
            },
            periods: plan.periods,
            lives,
            arrays,
            statuses: Status::ALL.map(code).to_vec(),
        }
    }

    pub fn precision(&self) -> Precision {
        match self.precision {
            Number::F32 => Precision::F32,
            Number::F64 => Precision::F64,
        }
    }

    pub fn has(&self, array: &str) -> bool {
        self.arrays.iter().any(|name| name == array)
    }

    pub fn write(&self, folder: &Path) -> Result<()> {
        let path = folder.join(NAME);
        let part = partial(&path);
        let text = serde_json::to_string_pretty(self)
            .map_err(|e| Error::system("write", &part)(e.into()))?;
        std::fs::write(&part, text + "\n").map_err(Error::system("write", &part))?;
        std::fs::rename(&part, &path).map_err(Error::system("rename", &part))
    }

    pub fn read(folder: &Path) -> Result<Manifest> {
        let path = folder.join(NAME);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Err(missing(folder)),
            Err(e) => return Err(Error::system("read", &path)(e)),
        };
        let expected = || format!("the description of a store (`{FORMAT}`, version {VERSION})");
        let wrong = |found| Error::Store { path: path.clone(), found, expected: expected() };
        let manifest: Manifest = serde_json::from_str(&text)
            .map_err(|e| wrong(format!("found something else ({e})")))?;
        if (manifest.format.as_str(), manifest.version) != (FORMAT, VERSION) {
            return Err(wrong(format!(
                "found `{}`, version {}",
                manifest.format, manifest.version
            )));
        }
        Ok(manifest)
    }
}

fn missing(folder: &Path) -> Error {
    let unfinished = partial(&folder.join("position.npy")).exists();
    let found = match unfinished {
        true => "its files end in `.part`: the run is still going on, or was killed".into(),
        false if folder.is_dir() => format!("it has no `{NAME}`"),
        false => "there is no such folder".into(),
    };
    Error::Store { path: folder.into(), found, expected: "the tracks of a finished run".into() }
}
