//! What is in a store: the attributes of its group, `zarr.json`, or `tracks.json` in those of
//! NumPy files.

use super::array::{read_json, write_json};
use super::layout::{self, Counts, METADATA, Spec};
use crate::{Error, Result};
use burntrace_core::{Precision, SavePlan, Status};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::Path;

/// The file that describes a store of NumPy files, and that it had last.
pub(super) const NUMPY: &str = "tracks.json";

/// A file that a store of NumPy files has while its run goes on.
const NUMPY_UNFINISHED: &str = "position.npy.part";

const FORMAT: &str = "burntrace tracks";

/// Versions of the format: in NumPy files, and in chunks of Zarr.
const VERSIONS: [u32; 2] = [1, 2];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub format: String,
    pub version: u32,
    /// Whether the run has ended, and all of it is here. Stores of NumPy files always are complete.
    #[serde(default = "yes")]
    pub complete: bool,
    pub particles: usize,
    /// 0 until the run comes to its end.
    pub saves: usize,
    /// More than `saves` where the run was cancelled.
    pub planned_saves: usize,
    pub precision: Number,
    /// Widths of the box along periodic axes; 0 along the others.
    pub periods: [f64; 3],
    /// Rows of the table of lives, where slots are used again; 0 until the run comes to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lives: Option<usize>,
    /// Names of the arrays.
    pub arrays: Vec<String>,
    pub statuses: Vec<StatusCode>,
}

fn yes() -> bool {
    true
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Number {
    F32,
    F64,
}

/// A status code with its meaning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct StatusCode {
    pub code: i32,
    pub name: String,
}

/// How the arrays of a store are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    NumPy,
    Zarr,
}

impl Manifest {
    /// That of a run which begins.
    pub fn new(plan: &SavePlan) -> Manifest {
        let code = |status: Status| StatusCode { code: status.code(), name: status.to_string() };
        let is_periodic = plan.periods.iter().any(|period| *period != 0.0);
        let mut arrays = vec![layout::TIME, layout::POSITION, layout::STATUS];
        arrays.extend(is_periodic.then_some(layout::IMAGE));
        arrays.extend(plan.velocity.then_some(layout::VELOCITY));
        arrays.extend(plan.reuses_slots.then_some(layout::GENERATION));
        if plan.reuses_slots {
            arrays.extend(layout::ALL.iter().filter(|spec| spec.over == layout::Over::Lives));
        }
        Manifest {
            format: FORMAT.into(),
            version: VERSIONS[1],
            complete: false,
            particles: plan.particles,
            saves: 0,
            planned_saves: plan.saves,
            precision: match plan.precision {
                Precision::F32 => Number::F32,
                Precision::F64 => Number::F64,
            },
            periods: plan.periods,
            lives: plan.reuses_slots.then_some(0),
            arrays: arrays.iter().map(|spec| spec.name.into()).collect(),
            statuses: Status::ALL.map(code).to_vec(),
        }
    }

    pub fn precision(&self) -> Precision {
        match self.precision {
            Number::F32 => Precision::F32,
            Number::F64 => Precision::F64,
        }
    }

    pub fn has(&self, array: Spec) -> bool {
        self.arrays.iter().any(|name| name == array.name)
    }

    /// How much of everything there is.
    pub fn counts(&self) -> Counts {
        let lives = self.lives.unwrap_or(0);
        Counts { saves: self.saves, particles: self.particles, lives }
    }

    /// How much of everything there will be, as far as that is known.
    pub fn planned(&self) -> Counts {
        Counts { saves: self.planned_saves, lives: 0, ..self.counts() }
    }

    /// The first thing in which two plans differ, and what each has.
    pub fn difference(&self, other: &Manifest) -> Option<(&'static str, String, String)> {
        let of = |all: &Manifest| {
            [
                ("particles", all.particles.to_string()),
                ("saves", all.planned_saves.to_string()),
                ("precision", all.precision().to_string()),
                ("periods", format!("{:?}", all.periods)),
                ("velocities", all.has(layout::VELOCITY).to_string()),
                ("lives", all.lives.is_some().to_string()),
            ]
        };
        let mut pairs = of(self).into_iter().zip(of(other));
        let pair = pairs.find(|((_, here), (_, there))| here != there);
        pair.map(|((what, here), (_, there))| (what, here, there))
    }

    /// Writes the file of a store of Zarr.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let path = folder.join(METADATA);
        let attributes =
            serde_json::to_value(self).map_err(|e| Error::system("write", &path)(e.into()))?;
        let group = json!({ "zarr_format": 3, "node_type": "group", "attributes": attributes });
        write_json(&path, &group)
    }

    /// Reads what is in a store, of either form.
    ///
    /// # Errors
    ///
    /// If there is none, or what is there describes something else.
    pub fn read(folder: &Path) -> Result<(Manifest, Form)> {
        let (zarr, numpy) = (folder.join(METADATA), folder.join(NUMPY));
        let (path, form) = match (zarr.exists(), numpy.exists()) {
            (true, _) => (zarr, Form::Zarr),
            (false, true) => (numpy, Form::NumPy),
            (false, false) => return Err(missing(folder)),
        };
        let expected =
            || format!("the description of a store (`{FORMAT}`, version 1 or {})", VERSIONS[1]);
        let wrong = |found| Error::Store { path: path.clone(), found, expected: expected() };
        let mut value = read_json(&path)?;
        let value = match form {
            Form::Zarr => value["attributes"].take(),
            Form::NumPy => value,
        };
        let version = match form {
            Form::NumPy => VERSIONS[0],
            Form::Zarr => VERSIONS[1],
        };
        if value["format"] != *FORMAT || value["version"] != version {
            let of = |key| value.get(key).unwrap_or(&Value::Null).to_string();
            return Err(wrong(format!("found `{}`, version {}", of("format"), of("version"))));
        }
        let manifest = Manifest::deserialize(value)
            .map_err(|e| wrong(format!("found something else ({e})")))?;
        Ok((manifest, form))
    }
}

/// Whether a folder has tracks, be their run at its end or not.
pub(super) fn is_store(folder: &Path) -> bool {
    [METADATA, NUMPY, NUMPY_UNFINISHED].iter().any(|name| folder.join(name).exists())
}

fn missing(folder: &Path) -> Error {
    let found = match folder.join(NUMPY_UNFINISHED).exists() {
        true => {
            "its files end in `.part`: an earlier version wrote them, and its run was killed or \
                 is still going on"
                .into()
        }
        false if folder.is_dir() => format!("it has neither `{METADATA}` nor `{NUMPY}`"),
        false => "there is no such folder".into(),
    };
    Error::Store { path: folder.into(), found, expected: "the tracks of a run".into() }
}
