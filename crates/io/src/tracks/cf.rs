//! Attributes of the CF conventions, which xarray, NetCDF tools and ParaView show beside the values.

use super::dates::TimeOrigin;
use super::layout::{self, ArraySpec, COMPONENT, Dims, METADATA, ValueType};
use crate::disk::{remove_folder, sync_all, write_text_beside};
use crate::{Error, Result};
use burntrace_cf::zarr::{self, KEYS};
use burntrace_core::{FLOW_MAP_GRADIENT, Status};
use serde_json::{Map, Value, json};
use std::path::Path;

/// The conventions that the attributes follow.
pub(crate) const CONVENTIONS: &str = "CF-1.11";

/// The attribute of an array that is sampled along the tracks, by which its folder is known to be one
/// of a store.
const ORIGIN: &str = "origin";
const SAMPLED: &str = "sampled along the tracks";

/// Units of the data, as text; empty if unknown. Nothing is converted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Units {
    /// Unit of lengths, such as `m`.
    pub length: String,
    /// Unit of times, such as `s`.
    pub time: String,
    /// The date of time 0, of times in seconds.
    pub origin: Option<TimeOrigin>,
    /// Radius in metres of the sphere whose longitudes and latitudes in degrees x and y of positions are; `length` is the unit
    /// of z then. `None` where positions are lengths.
    pub radius: Option<f64>,
    /// Whether saved longitudes go on beyond the domain where particles go around the sphere.
    pub continuous: bool,
}

/// What the attributes of all arrays of a store depend on.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Cf {
    pub units: Units,
    /// Whether `generation` tells the particles of a slot apart.
    pub reuses_slots: bool,
    /// Names of the gates.
    pub gates: Vec<String>,
}

/// The quantity that an array holds, by which its unit is known.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quantity {
    Time,
    Length,
    Speed,
    Count,
    /// A code, an index, or a quantity whose unit is unknown.
    Other,
}

impl Units {
    /// The unit of time as a symbol of UDUNITS: older versions of xarray convert times in spelt units,
    /// such as `hours`, to nanoseconds.
    fn time_symbol(&self) -> &str {
        match self.time.as_str() {
            "nanoseconds" => "ns",
            "microseconds" => "us",
            "milliseconds" => "ms",
            "seconds" => "s",
            "minutes" => "min",
            "hours" => "h",
            "days" => "d",
            other => other,
        }
    }

    /// The origin, unless times are known to be in another unit than seconds.
    pub fn origin_of_seconds(&self) -> Option<&TimeOrigin> {
        self.origin.as_ref().filter(|_| ["", "s"].contains(&self.time_symbol()))
    }

    fn of(&self, quantity: Quantity) -> Option<String> {
        let text = match quantity {
            Quantity::Time => self.time_symbol().into(),
            Quantity::Length if self.radius.is_some() => String::new(),
            Quantity::Length => self.length.clone(),
            Quantity::Speed if self.length.is_empty() || self.time.is_empty() => String::new(),
            Quantity::Speed => format!("{}/{}", self.length, self.time_symbol()),
            Quantity::Count => "1".into(),
            Quantity::Other => String::new(),
        };
        (!text.is_empty()).then_some(text)
    }

    /// The unit of an array along tracks by its name, of those that burntrace computes; empty if it is unknown, or for a number.
    pub fn of_array(&self, name: &str) -> String {
        let time = self.time_symbol();
        let per_time = || if time.is_empty() { String::new() } else { format!("1/{time}") };
        match name {
            "age" => time.into(),
            "speed" => self.of(Quantity::Speed).unwrap_or_default(),
            "path_length" | "wall_distance" => self.length.clone(),
            "shear_rate" | "vorticity" | "divergence" | "velocity_gradient" => per_time(),
            "q_criterion" if !time.is_empty() => format!("1/{time}²"),
            "acceleration" if !self.length.is_empty() && !time.is_empty() => {
                format!("{}/{time}²", self.length)
            }
            _ => self.of_tally(name),
        }
    }

    /// The unit of what adds up along tracks, such as `maximum(shear_rate)`.
    fn of_tally(&self, name: &str) -> String {
        let within = |word: &str| name.strip_prefix(word).and_then(|rest| rest.strip_suffix(')'));
        if let Some(of) = within("maximum(").or_else(|| within("minimum(")) {
            return self.of_array(of);
        }
        if name.starts_with("time_above(") || name.starts_with("time_below(") {
            return self.time_symbol().into();
        }
        // The integral of a rate is a number; others have the unit of the quantity times that of times.
        match within("integral(").map(|of| self.of_array(of)) {
            Some(unit) if !unit.is_empty() && !unit.starts_with("1/") => {
                format!("{unit} {}", self.time_symbol()).trim_end().into()
            }
            _ => String::new(),
        }
    }

    /// Names and units of the axes for people, if positions are longitude, latitude and height.
    pub fn axes(&self) -> Option<[[String; 2]; 3]> {
        let named = |name: &str, unit: &str| [name.into(), unit.into()];
        let axes = || [named("longitude", "°"), named("latitude", "°"), named("z", &self.length)];
        self.radius.map(|_| axes())
    }

    /// Names and units of the axes for people.
    pub fn axis_names(&self) -> [[String; 2]; 3] {
        let plain = |name: &str| [name.into(), self.length.clone()];
        self.axes().unwrap_or_else(|| ["x", "y", "z"].map(plain))
    }

    /// The names of the components of vectors, by which xarray selects them.
    pub(super) fn components(&self) -> [&'static str; 3] {
        if self.radius.is_some() { ["lon", "lat", "z"] } else { ["x", "y", "z"] }
    }
}

/// The standard names and the units of longitude, latitude and height.
const STANDARD_NAMES: [&str; 3] = ["longitude", "latitude", "height"];
const DEGREES: [&str; 2] = ["degrees_east", "degrees_north"];

impl Cf {
    /// The attributes of an array.
    pub fn attributes(&self, spec: &ArraySpec) -> Value {
        let (long_name, quantity) = meaning(&spec.name);
        let mut attributes = Map::new();
        let mut set = |name: &str, value: Value| attributes.insert(name.into(), value);
        match spec.value_type {
            ValueType::Sampled if spec.name == FLOW_MAP_GRADIENT => {
                set("long_name", "derivatives of the position by the release position".into());
                set("units", "1".into());
                set(ORIGIN, SAMPLED.into());
            }
            ValueType::Sampled => {
                set("long_name", (*spec.name).into());
                set(ORIGIN, SAMPLED.into());
            }
            ValueType::Position if spec.dims == Dims::SavesParticles && self.units.continuous => {
                set("long_name", "position of the particle, with continuous longitudes".into());
            }
            _ => {
                set("long_name", long_name.into());
            }
        }
        if let Some(units) = self.units.of(quantity) {
            set("units", units.into());
        }
        if self.units.radius.is_some() && quantity == Quantity::Length {
            let [lon, lat] = DEGREES;
            set("component_standard_names", STANDARD_NAMES.join(" ").into());
            set("component_units", format!("{lon} {lat} {}", self.units.length).trim_end().into());
        }
        let is_in_full = spec.dims == Dims::Saves;
        let dated = self.units.origin_of_seconds().filter(|of| is_in_full || of.is_gregorian());
        if let (Some(TimeOrigin { date, calendar }), Quantity::Time) = (dated, quantity) {
            set("units", format!("seconds since {date}").into());
            set("calendar", calendar.as_str().into());
        }
        if *spec == layout::CROSSING_GATE {
            let names: Vec<String> = self.gates.iter().map(|name| name.replace(' ', "_")).collect();
            set("flag_values", (0..names.len()).collect::<Vec<_>>().into());
            set("flag_meanings", names.join(" ").into());
        }
        if *spec == layout::CROSSING_DIRECTION {
            set("flag_values", vec![-1, 1].into());
            set("flag_meanings", "backward forward".into());
        }
        match (spec.value_type, spec.dims) {
            (ValueType::U8, _) => {
                let (values, meanings) = flags();
                set("standard_name", "status_flag".into());
                set("flag_values", values.into());
                set("flag_meanings", meanings.into());
            }
            (_, Dims::Saves) => {
                set("standard_name", "time".into());
                set("axis", "T".into());
            }
            _ => {}
        }
        let is_of_particles = spec.dims == Dims::SavesParticles && spec.name != "generation";
        if self.reuses_slots && is_of_particles {
            set("coordinates", "generation".into());
        }
        attributes.into()
    }

    /// The attributes of a column of a table of tracks, as a variable over trajectories; `is_list` is whether it is over their
    /// observations, too.
    pub fn of_column(&self, column: &str, is_list: bool) -> Value {
        let axes = ["x", "y", "z"];
        let axis = column.strip_prefix("unwrapped_").unwrap_or(column);
        let array = if column.starts_with("velocity_") { "velocity" } else { column };
        let spec = layout::ALL.into_iter().find(|spec| spec.name == array);
        let mut attributes = match (axes.iter().position(|name| *name == axis), spec) {
            (Some(d), _) => self.of_node_axis(['x', 'y', 'z'][d]),
            (None, Some(spec)) => self.attributes(spec),
            (None, None) => json!({ "long_name": column }),
        };
        if axes.contains(&axis) {
            attributes["long_name"] = format!("{axis} coordinate of the particle").into();
        }
        if axis == "z" && self.units.radius.is_some() {
            (attributes["standard_name"], attributes["positive"]) = ("height".into(), "up".into());
        }
        if is_list && column != "time" && !axes.contains(&column) {
            let [x, y, z] = self.units.components();
            attributes["coordinates"] = format!("time {y} {x} {z}").into();
            attributes.as_object_mut().and_then(|attributes| attributes.remove("axis"));
        }
        attributes
    }

    /// The attributes of the coordinate of a density along an axis.
    pub fn of_node_axis(&self, axis: char) -> Value {
        let name = format!("{axis} coordinate of the nodes");
        let mut attributes = json!({ "long_name": name, "axis": axis.to_uppercase().to_string() });
        let of_degrees =
            ['x', 'y'].iter().position(|name| *name == axis && self.units.radius.is_some());
        if let Some(d) = of_degrees {
            attributes["standard_name"] = STANDARD_NAMES[d].into();
            attributes["units"] = DEGREES[d].into();
        } else if !self.units.length.is_empty() {
            attributes["units"] = self.units.length.as_str().into();
        }
        attributes
    }
}

/// What an array of the store holds.
fn meaning(name: &str) -> (&'static str, Quantity) {
    use Quantity::{Count, Length, Other, Speed, Time};
    match name {
        "time" => ("time of the save", Time),
        "position" => ("position of the particle in the domain box", Length),
        "status" => ("status of the particle", Other),
        "image" => ("periodic boxes crossed by the particle", Count),
        "velocity" => ("velocity at the particle", Speed),
        "generation" => ("number of earlier particles in the slot", Count),
        "release_position" => ("release position of the particle", Length),
        "release_time" => ("release time of the particle", Time),
        "end_time" => ("end time of the particle", Time),
        "end_status" => ("status of the particle at the end of the run", Other),
        "end_generation" => {
            ("number of earlier particles in the slot at the end of the run", Count)
        }
        "mesh_cell" => ("cell through which the particle left the mesh, or -1", Other),
        "mesh_face" => ("face of the cell through which the particle left the mesh, or -1", Other),
        "obstacle" => ("obstacle at which the particle ended, or -1", Other),
        "patch" => ("patch through which the particle left the mesh, or -1", Other),
        "condition" => ("condition that stopped the particle, or -1", Other),
        "instance_slot" => ("slot of the particle instance", Other),
        "instance_generation" => ("number of earlier particles in the slot", Count),
        "instance_status" => ("final status of the particle instance", Other),
        "instance_release_time" => ("release time of the particle instance", Time),
        "instance_end_time" => ("end time of the particle instance", Time),
        "instance_release_position" => ("release position of the particle instance", Length),
        "instance_end_position" => {
            ("end position of the particle instance in the domain box", Length)
        }
        "crossing_gate" => ("gate that is crossed", Other),
        "crossing_slot" => ("slot of the particle that crosses the gate", Other),
        "crossing_generation" => ("number of earlier particles in the slot", Count),
        "crossing_direction" => ("direction of the crossing", Other),
        "crossing_time" => ("time of the crossing", Time),
        "crossing_position" => ("position of the crossing", Length),
        _ => ("", Other),
    }
}

/// The status codes and their names, as flags.
fn flags() -> (Vec<i32>, String) {
    let names = Status::ALL.iter().map(|status| status.to_string().replace(' ', "_"));
    let codes = Status::ALL.iter().map(|status| status.code()).collect();
    (codes, names.collect::<Vec<_>>().join(" "))
}

/// Whether these are the metadata of an array that is sampled along the tracks.
pub(super) fn is_sampled(metadata: &Value) -> bool {
    metadata["attributes"][ORIGIN] == SAMPLED
}

/// The metadata of the coordinate `component`.
pub(super) fn component_metadata() -> Value {
    let attributes = json!({ "long_name": "component of a vector" });
    let mut metadata = zarr::array("string", &[3], &[3], &[COMPONENT], attributes);
    metadata["fill_value"] = "".into();
    metadata["codecs"] = json!([{ "name": "vlen-utf8" }]);
    metadata
}

/// The chunk of the coordinate `component`: the number of texts, and each with its length.
fn component_chunk(texts: [&str; 3]) -> Vec<u8> {
    let text = |text: &str| [&(text.len() as u32).to_le_bytes(), text.as_bytes()].concat();
    let count = texts.len() as u32;
    count.to_le_bytes().into_iter().chain(texts.into_iter().flat_map(text)).collect()
}

/// The files of the coordinate `component`: their names in the store, and their content.
pub(super) fn component_files(units: &Units) -> [(String, Vec<u8>); 2] {
    let metadata = zarr::text(&component_metadata()).into_bytes();
    let name = |file: &str| format!("{COMPONENT}/{file}");
    [(name(METADATA), metadata), (name(&KEYS.name(&[0])), component_chunk(units.components()))]
}

/// Writes the coordinate `component`.
pub(super) fn write_component(store: &Path, units: &Units) -> Result<()> {
    let folder = store.join(COMPONENT);
    remove_folder(&folder)?;
    std::fs::create_dir_all(&folder).map_err(Error::system("create", &folder))?;
    let mut paths = vec![folder];
    for (name, content) in component_files(units) {
        let path = store.join(name);
        write_text_beside(&path, content)?;
        paths.push(path);
    }
    sync_all(&paths)
}

#[cfg(test)]
mod tests {
    use super::super::layout;
    use super::*;

    fn cf(length: &str, time: &str) -> Cf {
        let units = Units { length: length.into(), time: time.into(), ..Units::default() };
        Cf { units, ..Cf::default() }
    }

    #[test]
    fn every_array_has_a_long_name_and_units_where_known() {
        for spec in layout::ALL {
            let attributes = cf("mm", "hours").attributes(spec);
            assert!(attributes["long_name"].as_str().is_some_and(|name| !name.is_empty()));
            assert!(cf("", "").attributes(spec)["units"].as_str().is_none_or(|unit| unit == "1"));
        }
        let units = |spec: &ArraySpec, cf: Cf| cf.attributes(spec)["units"].clone();
        assert_eq!(units(&layout::POSITION, cf("mm", "")), "mm");
        assert_eq!(units(&layout::TIME, cf("", "hours")), "h");
        assert_eq!(units(&layout::VELOCITY, cf("m", "s")), "m/s");
        assert_eq!(units(&layout::VELOCITY, cf("m", "")), Value::Null);
        assert_eq!(units(&layout::STATUS, cf("m", "s")), Value::Null);
        assert_eq!(cf("m", "").of_node_axis('z')["axis"], "Z");
    }

    #[test]
    fn quantities_along_tracks_have_units() {
        let of = |length: &str, time: &str, name: &str| cf(length, time).units.of_array(name);
        for (name, unit) in [
            ("age", "h"),
            ("path_length", "mm"),
            ("maximum(shear_rate)", "1/h"),
            ("integral(shear_rate)", ""),
            ("integral(speed)", "mm/h h"),
            ("time_above(shear_rate, 3)", "h"),
            ("minimum(wall_distance)", "mm"),
            ("q_criterion", "1/h²"),
            ("T", ""),
        ] {
            assert_eq!(of("mm", "hours", name), unit, "{name}");
        }
        assert_eq!(of("mm", "", "shear_rate"), "");
        assert_eq!(of("", "h", "acceleration"), "");
    }

    #[test]
    fn positions_in_degrees_name_their_components() {
        let mut of = cf("m", "s");
        of.units.radius = Some(6371008.8);
        let attributes = of.attributes(&layout::RELEASE_POSITION);
        assert_eq!(attributes["units"], Value::Null);
        assert_eq!(attributes["component_units"], "degrees_east degrees_north m");
        assert_eq!(attributes["component_standard_names"], "longitude latitude height");
        assert_eq!(of.attributes(&layout::VELOCITY)["units"], "m/s");
        let [x, y, z] = ['x', 'y', 'z'].map(|axis| of.of_node_axis(axis)["units"].clone());
        assert_eq!([x, y, z], ["degrees_east", "degrees_north", "m"]);
        assert_eq!(
            component_files(&of.units)[1].1,
            *b"\x03\0\0\0\x03\0\0\0lon\x03\0\0\0lat\x01\0\0\0z"
        );
    }

    #[test]
    fn times_in_seconds_have_their_date() {
        let date = "2000-01-01T06:00:00";
        let origin = TimeOrigin { date: date.into(), calendar: "noleap".into() };
        assert_eq!(origin.to_string(), "seconds since 2000-01-01T06:00:00 (calendar noleap)");
        for (time, units) in [
            ("", "seconds since 2000-01-01T06:00:00"),
            ("seconds", "seconds since 2000-01-01T06:00:00"),
            ("h", "h"),
        ] {
            let mut of = cf("m", time);
            of.units.origin = Some(origin.clone());
            let attributes = of.attributes(&layout::TIME);
            assert_eq!(attributes["units"], units);
            assert_eq!(attributes["calendar"].is_null(), time == "h");
            // Of particles without a release they are NaN, which xarray decodes in Gregorian calendars only.
            let unit =
                if time.is_empty() { Value::Null } else { cf("", time).units.time_symbol().into() };
            assert_eq!(of.attributes(&layout::RELEASE_TIME)["units"], unit);
            of.units.origin = Some(TimeOrigin { calendar: "standard".into(), ..origin.clone() });
            assert_eq!(of.attributes(&layout::RELEASE_TIME)["units"], units);
        }
    }

    #[test]
    fn generations_are_a_coordinate_where_slots_are_reused() {
        let coordinates = |spec: &ArraySpec, reuses_slots: bool| {
            let of = Cf { reuses_slots, ..Cf::default() }.attributes(spec);
            of["coordinates"].clone()
        };
        assert_eq!(coordinates(&layout::POSITION, true), "generation");
        assert_eq!(coordinates(&layout::POSITION, false), Value::Null);
        assert_eq!(coordinates(&layout::GENERATION, true), Value::Null);
        assert_eq!(coordinates(&layout::END_STATUS, true), Value::Null);
    }
}
