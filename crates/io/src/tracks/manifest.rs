//! The manifest of a store: the attributes of its group in `zarr.json`.

use super::TimeOrigin;
use super::cf::{self, CONVENTIONS, Cf, Units};
use super::checksums::{Checksums, Entry};
use super::layout::{self, ArraySpec, COMPONENT, Counts, Encoding, METADATA};
use super::names;
use crate::disk::write_content;
use crate::{Error, Result};
use burntrace_cf::zarr::{self, read_json};
use burntrace_core::{FieldArray, Precision, SavePlan};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::path::Path;

const FORMAT: &str = "burntrace tracks";

/// Version of the format, the only one that is read.
const VERSION: u32 = 4;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub format: String,
    pub version: u32,
    /// Whether the run has ended and the store is complete: 1 or 0 in the file, as NetCDF has no truth
    /// values.
    #[serde(with = "flag")]
    pub complete: bool,
    pub particles: usize,
    /// 0 until the run ends.
    pub saves: usize,
    /// More than `saves` if the run was cancelled.
    pub planned_saves: usize,
    pub precision: FloatType,
    /// Of positions, if they need more than the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position_precision: Option<FloatType>,
    /// Whether arrays over saves and particles are compressed.
    #[serde(with = "flag")]
    pub compressed: bool,
    /// Widths of the box along periodic axes, in the data's unit of length; 0 along other axes.
    pub periods: [f64; 3],
    /// Number of particle instances, if slots are re-used; 0 until the run ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instances: Option<usize>,
    /// Number of crossings of gates, if there are gates; 0 until the run ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crossings: Option<usize>,
    /// Names of the gates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<String>,
    /// Names of the arrays.
    pub arrays: Vec<String>,
    /// Names of the arrays that are sampled along the tracks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sampled: Vec<String>,
    /// For each of these, its numbers for each particle.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sampled_components: Vec<usize>,
    /// Unit of lengths; empty if unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub length_unit: String,
    /// Unit of times; empty if unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub time_unit: String,
    /// Date of time 0; empty if unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub time_origin: String,
    /// Calendar of that date.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub calendar: String,
    /// Radius in metres of the sphere that positions are on, if they are longitude, latitude and height.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radius: Option<f64>,
    /// Whether longitudes go on beyond the box.
    #[serde(default, skip_serializing_if = "std::ops::Not::not", with = "flag")]
    pub continuous_longitude: bool,
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

impl Manifest {
    /// The manifest of a new run.
    pub fn new(plan: &SavePlan, units: &Units) -> Manifest {
        let is_periodic = plan.periods.iter().any(|period| *period != 0.0);
        let mut arrays =
            vec![&layout::TIME, &layout::POSITION, &layout::STATUS, &layout::RELEASE_POSITION];
        arrays.extend(is_periodic.then_some(&layout::IMAGE));
        arrays.extend(plan.velocity.then_some(&layout::VELOCITY));
        arrays.extend(plan.reuses_slots.then_some(&layout::GENERATION));
        if plan.reuses_slots {
            arrays.extend(layout::ALL.iter().filter(|spec| spec.dims == layout::Dims::Instances));
        }
        if !plan.gates.is_empty() {
            arrays.extend(layout::ALL.iter().filter(|spec| spec.dims == layout::Dims::Crossings));
        }
        let names = arrays.iter().map(|spec| spec.name.to_string());
        let sampled = plan.arrays.iter().map(|array| array.name.clone());
        Manifest {
            format: FORMAT.into(),
            version: VERSION,
            complete: false,
            particles: plan.particles,
            saves: 0,
            planned_saves: plan.saves,
            precision: plan.precision.into(),
            position_precision: (plan.positions != plan.precision).then(|| plan.positions.into()),
            compressed: false,
            periods: plan.periods,
            instances: plan.reuses_slots.then_some(0),
            crossings: (!plan.gates.is_empty()).then_some(0),
            gates: plan.gates.clone(),
            arrays: names.chain(sampled.clone()).chain([COMPONENT.into()]).collect(),
            sampled: sampled.collect(),
            sampled_components: plan.arrays.iter().map(|array| array.components).collect(),
            length_unit: units.length.clone(),
            time_unit: units.time.clone(),
            time_origin: units.origin.as_ref().map_or(String::new(), |origin| origin.date.clone()),
            calendar: units.origin.as_ref().map_or(String::new(), |origin| origin.calendar.clone()),
            radius: units.radius,
            continuous_longitude: units.continuous,
        }
    }

    pub fn encoding(&self) -> Encoding {
        let positions = self.position_precision.unwrap_or(self.precision);
        Encoding {
            run: self.precision.into(),
            positions: positions.into(),
            compressed: self.compressed,
        }
    }

    /// The arrays that are sampled along the tracks.
    pub fn sampled_arrays(&self) -> Vec<FieldArray> {
        let pairs = self.sampled.iter().zip(&self.sampled_components);
        pairs.map(|(name, &components)| FieldArray { name: name.clone(), components }).collect()
    }

    /// The arrays that are sampled along the tracks.
    pub fn sampled_specs(&self) -> impl Iterator<Item = ArraySpec> {
        self.sampled_arrays().into_iter().map(|array| ArraySpec::sampled(&array))
    }

    pub fn has(&self, array: &ArraySpec) -> bool {
        self.arrays.iter().any(|name| *name == array.name)
    }

    /// Counts of a complete store.
    pub fn counts(&self) -> Counts {
        let [instances, crossings] =
            [self.instances, self.crossings].map(|count| count.unwrap_or(0));
        Counts { saves: self.saves, particles: self.particles, instances, crossings }
    }

    /// Planned counts; the numbers of particle instances and crossings are not known in advance.
    pub fn planned(&self) -> Counts {
        Counts { saves: self.planned_saves, instances: 0, crossings: 0, ..self.counts() }
    }

    /// The counts that Zarr's metadata have: until the run has ended, the planned ones.
    pub fn counts_for_zarr(&self) -> Counts {
        if self.complete { self.counts() } else { self.planned() }
    }

    /// What the attributes of the arrays depend on.
    pub fn cf(&self) -> Cf {
        let (units, gates) = (self.units(), self.gates.clone());
        Cf { units, reuses_slots: self.instances.is_some(), gates }
    }

    pub fn units(&self) -> Units {
        let (date, calendar) = (self.time_origin.clone(), self.calendar.clone());
        let origin = (!date.is_empty()).then_some(TimeOrigin { date, calendar });
        let (length, time) = (self.length_unit.clone(), self.time_unit.clone());
        Units { length, time, origin, radius: self.radius, continuous: self.continuous_longitude }
    }

    /// The first property in which two runs differ: its name and both values.
    pub fn difference(&self, other: &Manifest) -> Option<(&'static str, String, String)> {
        let of = |all: &Manifest| {
            [
                ("particles", all.particles.to_string()),
                ("saves", all.planned_saves.to_string()),
                ("precision", all.encoding().run.to_string()),
                ("precision of positions", all.encoding().positions.to_string()),
                ("compression", all.compressed.to_string()),
                ("periods", format!("{:?}", all.periods)),
                ("continuous longitudes", all.continuous_longitude.to_string()),
                ("velocities", all.has(&layout::VELOCITY).to_string()),
                ("re-used slots", all.instances.is_some().to_string()),
                ("gates", format!("[{}]", all.gates.join(", "))),
                ("sampled arrays", sampled_text(&all.sampled_arrays())),
            ]
        };
        let mut pairs = of(self).into_iter().zip(of(other));
        let pair = pairs.find(|((_, here), (_, there))| here != there);
        pair.map(|((what, here), (_, there))| (what, here, there))
    }

    /// Writes `zarr.json`.
    pub fn write(&self, folder: &Path) -> Result<()> {
        write_content(&folder.join(METADATA), self.text(folder)?)
    }

    /// The checksum of `zarr.json`.
    pub fn checksum(&self, folder: &Path) -> Result<Entry> {
        Ok(Entry::of(self.text(folder)?.as_bytes()))
    }

    fn text(&self, folder: &Path) -> Result<String> {
        let failed =
            |e: serde_json::Error| Error::system("write", &folder.join(METADATA))(e.into());
        let mut attributes = serde_json::to_value(self).map_err(failed)?;
        attributes["Conventions"] = CONVENTIONS.into();
        attributes["featureType"] = "trajectory".into();
        let group = json!({
            "zarr_format": 3,
            "node_type": "group",
            "attributes": attributes,
            "consolidated_metadata": {
                "kind": "inline",
                "must_understand": false,
                "metadata": self.consolidated(folder),
            },
        });
        Ok(zarr::text(&group))
    }

    /// The metadata of all arrays, which Zarr reads at once, without looking for them in folders.
    fn consolidated(&self, folder: &Path) -> Map<String, Value> {
        let (encoding, counts, cf) = (self.encoding(), self.counts_for_zarr(), self.cf());
        let known = layout::ALL.into_iter().filter(|spec| self.has(spec)).cloned();
        let of_spec = |spec: ArraySpec| {
            let metadata =
                spec.metadata(encoding, counts, &spec.grid(self.planned()), cf.attributes(&spec));
            (spec.name.into_owned(), metadata)
        };
        let component = (COMPONENT.to_string(), cf::component_metadata());
        let arrays = known.chain(self.sampled_specs()).map(of_spec).chain([component]);
        arrays.chain(densities(folder)).collect()
    }

    /// Writes `zarr.json` of a complete store again, after arrays of densities were added. The list of
    /// checksums is without this file in between.
    pub fn add_densities(&self, folder: &Path) -> Result<()> {
        // A damaged list is reported when it is used.
        let mut listed = Checksums::read(folder).ok();
        if let Some(listed) = &mut listed {
            listed.remove(METADATA);
            listed.write(folder)?;
        }
        self.write(folder)?;
        match listed {
            Some(mut listed) => {
                listed.add(METADATA.into(), self.checksum(folder)?);
                listed.write(folder)
            }
            None => Ok(()),
        }
    }

    /// Reads the manifest of a store.
    ///
    /// # Errors
    ///
    /// If there is no store, it is one of another version, or `zarr.json` describes something else.
    pub fn read(folder: &Path) -> Result<Manifest> {
        let path = folder.join(METADATA);
        if !path.exists() {
            return Err(missing(folder));
        }
        let wrong = |found| Error::Store {
            path: path.clone(),
            found,
            expected: format!(
                "the description of a store (`{FORMAT}`, version {VERSION}); tracks of another version must \
                 be traced again"
            ),
        };
        let value = read_json(&path)?["attributes"].take();
        if value["format"] != *FORMAT || value["version"] != VERSION {
            let of = |key| value.get(key).unwrap_or(&Value::Null).to_string();
            return Err(wrong(format!("found `{}`, version {}", of("format"), of("version"))));
        }
        let manifest = Manifest::deserialize(value);
        let manifest = manifest.map_err(|e| wrong(format!("found something else ({e})")))?;
        let is_valid = manifest.sampled.len() == manifest.sampled_components.len();
        let checked = names::check_names(&manifest.sampled_arrays());
        match (is_valid, checked) {
            (true, Ok(())) => Ok(manifest),
            (true, Err(error)) => {
                Err(wrong(format!("found a sampled array with an error: {error}")))
            }
            (false, _) => Err(wrong(
                "found a number of `sampled_components` that differs from that of \
                                     `sampled`"
                    .into(),
            )),
        }
    }
}

/// Flags as 0 and 1.
mod flag {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
        match u8::deserialize(from)? {
            number @ (0 | 1) => Ok(number == 1),
            number => Err(D::Error::custom(format!("found {number}, expected 0 or 1"))),
        }
    }

    #[allow(clippy::trivially_copy_pass_by_ref)] // The signature that serde asks for.
    pub fn serialize<S: Serializer>(flag: &bool, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(u8::from(*flag))
    }
}

/// Names and components of sampled arrays, for messages.
fn sampled_text(arrays: &[FieldArray]) -> String {
    let each = arrays.iter().map(|array| format!("{} ({})", array.name, array.components));
    format!("[{}]", each.collect::<Vec<_>>().join(", "))
}

fn missing(folder: &Path) -> Error {
    let found = match folder.is_dir() {
        true => format!("it has no `{METADATA}`"),
        false => "there is no such folder".into(),
    };
    let expected = format!("the tracks of a run, a Zarr group (`{METADATA}`)");
    Error::Store { path: folder.into(), found, expected }
}

/// The metadata of the arrays of densities in a store, by name.
fn densities(store: &Path) -> impl Iterator<Item = (String, Value)> {
    let of = |name: &str| Some((name.into(), read_json(&store.join(name).join(METADATA)).ok()?));
    names::DENSITY.into_iter().filter_map(of).collect::<Vec<_>>().into_iter()
}
