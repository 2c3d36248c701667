//! The manifest of a store: the attributes of its group in `zarr.json`.

use super::array::{is_chunk_or_partial, read_json, text_of, write_text};
use super::checksums::{self, Entry};
use super::density;
use super::layout::{self, ArraySpec, Counts, METADATA, Precisions};
use crate::disk::remove_file;
use crate::{Error, Result};
use burntrace_core::{Precision, SavePlan, Status};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::Path;

/// Files that identify a store of an earlier version, which had NumPy files: of a complete run, and
/// of a stopped one.
const LEGACY: [&str; 2] = ["tracks.json", "position.npy.part"];

const FORMAT: &str = "burntrace tracks";

/// Version of the format. Version 1 was a folder of NumPy files.
const VERSION: u32 = 2;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub format: String,
    pub version: u32,
    /// Whether the run has ended and the store is complete.
    pub complete: bool,
    pub particles: usize,
    /// 0 until the run ends.
    pub saves: usize,
    /// More than `saves` if the run was cancelled.
    pub planned_saves: usize,
    pub precision: FloatType,
    /// Of positions, if they need more than the rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position_precision: Option<FloatType>,
    /// Widths of the box along periodic axes, in the data's unit of length; 0 along other axes.
    pub periods: [f64; 3],
    /// Number of particle instances, if slots are re-used; 0 until the run ends.
    #[serde(default, rename = "lives", skip_serializing_if = "Option::is_none")]
    pub instances: Option<usize>,
    /// Names of the arrays.
    pub arrays: Vec<String>,
    pub statuses: Vec<StatusCode>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum FloatType {
    F32,
    F64,
}

impl From<Precision> for FloatType {
    fn from(precision: Precision) -> Self {
        match precision {
            Precision::F32 => FloatType::F32,
            Precision::F64 => FloatType::F64,
        }
    }
}

impl From<FloatType> for Precision {
    fn from(float: FloatType) -> Self {
        match float {
            FloatType::F32 => Precision::F32,
            FloatType::F64 => Precision::F64,
        }
    }
}

/// A status code with its meaning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct StatusCode {
    pub code: i32,
    pub name: String,
}

impl Manifest {
    /// The manifest of a new run.
    pub fn new(plan: &SavePlan) -> Manifest {
        let code = |status: Status| StatusCode { code: status.code(), name: status.to_string() };
        let is_periodic = plan.periods.iter().any(|period| *period != 0.0);
        let mut arrays =
            vec![layout::TIME, layout::POSITION, layout::STATUS, layout::RELEASE_POSITION];
        arrays.extend(is_periodic.then_some(layout::IMAGE));
        arrays.extend(plan.velocity.then_some(layout::VELOCITY));
        arrays.extend(plan.reuses_slots.then_some(layout::GENERATION));
        if plan.reuses_slots {
            arrays.extend(layout::ALL.iter().filter(|spec| spec.dims == layout::Dims::Instances));
        }
        Manifest {
            format: FORMAT.into(),
            version: VERSION,
            complete: false,
            particles: plan.particles,
            saves: 0,
            planned_saves: plan.saves,
            precision: plan.precision.into(),
            position_precision: (plan.positions != plan.precision).then(|| plan.positions.into()),
            periods: plan.periods,
            instances: plan.reuses_slots.then_some(0),
            arrays: arrays.iter().map(|spec| spec.name.into()).collect(),
            statuses: Status::ALL.map(code).to_vec(),
        }
    }

    pub fn precisions(&self) -> Precisions {
        let positions = self.position_precision.unwrap_or(self.precision);
        Precisions { run: self.precision.into(), positions: positions.into() }
    }

    pub fn has(&self, array: ArraySpec) -> bool {
        self.arrays.iter().any(|name| name == array.name)
    }

    /// Counts of a complete store.
    pub fn counts(&self) -> Counts {
        let instances = self.instances.unwrap_or(0);
        Counts { saves: self.saves, particles: self.particles, instances }
    }

    /// Planned counts; the number of particle instances is not known in advance.
    pub fn planned(&self) -> Counts {
        Counts { saves: self.planned_saves, instances: 0, ..self.counts() }
    }

    /// The first property in which two runs differ: its name and both values.
    pub fn difference(&self, other: &Manifest) -> Option<(&'static str, String, String)> {
        let of = |all: &Manifest| {
            [
                ("particles", all.particles.to_string()),
                ("saves", all.planned_saves.to_string()),
                ("precision", all.precisions().run.to_string()),
                ("precision of positions", all.precisions().positions.to_string()),
                ("periods", format!("{:?}", all.periods)),
                ("velocities", all.has(layout::VELOCITY).to_string()),
                ("re-used slots", all.instances.is_some().to_string()),
            ]
        };
        let mut pairs = of(self).into_iter().zip(of(other));
        let pair = pairs.find(|((_, here), (_, there))| here != there);
        pair.map(|((what, here), (_, there))| (what, here, there))
    }

    /// Writes `zarr.json`.
    pub fn write(&self, folder: &Path) -> Result<()> {
        write_text(&folder.join(METADATA), &self.text(folder)?)
    }

    /// The checksum of `zarr.json`.
    pub fn checksum(&self, folder: &Path) -> Result<Entry> {
        Ok(Entry::of(self.text(folder)?.as_bytes()))
    }

    fn text(&self, folder: &Path) -> Result<String> {
        let failed =
            |e: serde_json::Error| Error::system("write", &folder.join(METADATA))(e.into());
        let attributes = serde_json::to_value(self).map_err(failed)?;
        let group = json!({ "zarr_format": 3, "node_type": "group", "attributes": attributes });
        Ok(text_of(&group))
    }

    /// Reads the manifest of a store.
    ///
    /// # Errors
    ///
    /// If there is no store, it is one of an earlier version, or `zarr.json` describes something
    /// else.
    pub fn read(folder: &Path) -> Result<Manifest> {
        let path = folder.join(METADATA);
        if !path.exists() {
            return Err(missing(folder));
        }
        let wrong = |found| Error::Store {
            path: path.clone(),
            found,
            expected: format!("the description of a store (`{FORMAT}`, version {VERSION})"),
        };
        let value = read_json(&path)?["attributes"].take();
        if value["format"] != *FORMAT || value["version"] != VERSION {
            let of = |key| value.get(key).unwrap_or(&Value::Null).to_string();
            return Err(wrong(format!("found `{}`, version {}", of("format"), of("version"))));
        }
        Manifest::deserialize(value).map_err(|e| wrong(format!("found something else ({e})")))
    }
}

/// Whether a folder has a store, complete or not, of this version or an earlier one.
pub fn is_store(folder: &Path) -> bool {
    folder.join(METADATA).exists() || legacy_file(folder).is_some()
}

/// The file that identifies a store of an earlier version, if the folder has one.
fn legacy_file(folder: &Path) -> Option<&'static str> {
    LEGACY.into_iter().find(|name| folder.join(name).exists())
}

/// Removes a store of an earlier version, if there is one.
pub(super) fn remove_legacy(folder: &Path) -> Result<()> {
    for name in LEGACY {
        remove_file(&folder.join(name))?;
    }
    for spec in layout::ALL {
        for extension in ["npy", "npy.part"] {
            remove_file(&folder.join(format!("{}.{extension}", spec.name)))?;
        }
    }
    Ok(())
}

/// The names in a folder, and in those of its arrays, that no store writes, in order; none if there
/// is no folder. Files that file managers leave in each folder do not count. The arrays of
/// [densities](super::Tracks::put_density) are part of a store.
///
/// # Errors
///
/// If a folder cannot be read.
pub fn foreign_names(folder: &Path) -> Result<Vec<String>> {
    let mut foreign = Vec::new();
    for name in names(folder)? {
        let stem = name.trim_end_matches(".part").trim_end_matches(".npy");
        let is_file = name.starts_with(METADATA) || LEGACY.contains(&name.as_str());
        if density::NAMES.contains(&stem) || layout::ALL.iter().any(|spec| spec.name == stem) {
            let others = names(&folder.join(&name))?.into_iter().filter(|name| !is_of_array(name));
            foreign.extend(others.map(|other| format!("{name}/{other}")));
        } else if !is_file {
            foreign.push(name);
        }
    }
    foreign.sort();
    Ok(foreign)
}

/// Whether a name in the folder of an array is one of the store.
fn is_of_array(name: &str) -> bool {
    name == METADATA || name == checksums::FILE || is_chunk_or_partial(name)
}

/// Files that file managers write into each folder that they show.
const OF_FILE_MANAGERS: [&str; 3] = [".DS_Store", "Thumbs.db", "desktop.ini"];

/// The names in a folder, except those of file managers; none if it is missing, or a file.
fn names(folder: &Path) -> Result<Vec<String>> {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    let entries = match std::fs::read_dir(folder) {
        Err(e) if [NotADirectory, NotFound].contains(&e.kind()) => return Ok(Vec::new()),
        entries => entries.and_then(|all| all.collect::<std::io::Result<Vec<_>>>()),
    };
    let entries = entries.map_err(Error::system("read", folder))?;
    let names = entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned());
    Ok(names.filter(|name| !OF_FILE_MANAGERS.contains(&name.as_str())).collect())
}

fn missing(folder: &Path) -> Error {
    let expected = format!("the tracks of a run, a Zarr group (`{METADATA}`)");
    let store = |found, expected| Error::Store { path: folder.into(), found, expected };
    match legacy_file(folder) {
        Some(name) => store(
            format!("found a store of NumPy files (`{name}`), which an earlier version wrote"),
            format!(
                "{expected}; stores of earlier versions are not read: run the case again with this \
                 version"
            ),
        ),
        None if folder.is_dir() => store(format!("it has no `{METADATA}`"), expected),
        None => store("there is no such folder".into(), expected),
    }
}
