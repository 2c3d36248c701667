//! The device, the output folder and the memory of a run.

use super::{Case, DeviceNames, KeyError, schema};
use burntrace_core::{Precision, Strategy};
use schemars::JsonSchema;
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{DeserializeOwned, Error, IntoDeserializer},
};
use std::path::PathBuf;

/// The device, the folder and the memory of a run.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Run {
    /// The device, or several: a name such as `"cuda:0"`, a list of names, or `"cuda:*"` for all of a kind.
    pub device: DeviceNames,
    /// Precision of positions and velocities.
    pub precision: Precision,
    /// Number of CPU threads; 0 for all that the process may use.
    pub threads: usize,
    /// The run folder, relative to the working directory.
    pub out: PathBuf,
    /// Seconds between two checkpoints; 0 for none.
    pub checkpoint: f64,
    /// Also write a checkpoint after this many segments, 1 or more; a segment ends at each save.
    pub checkpoint_segments: Option<u64>,
    /// Whether a finished run keeps its last state, from which `--extend` continues it.
    pub keep_state: bool,
    /// Memory limit of the run: bytes, or text such as `"3GiB"`; default: the available memory.
    #[serde(deserialize_with = "bytes")]
    #[schemars(with = "Option<Bytes>")]
    pub memory: Option<u64>,
    /// How the run uses memory; by default (`None`) `"auto"`: the first that fits.
    #[serde(deserialize_with = "or_auto")]
    #[schemars(schema_with = "schema::or_auto::<Strategy>")]
    pub strategy: Option<Strategy>,
    /// Maximum number of particles on the device at a time; default: as many as fit.
    pub batch: Option<usize>,
    /// Number of particles of a piece of a run that several processes or devices share; default: from the number of
    /// particles.
    pub piece: Option<usize>,
    /// Whether the run is traced piece by piece, by several processes or devices.
    #[serde(skip)]
    pub is_shared: bool,
    /// The devices of this process.
    #[serde(skip)]
    pub at_once: AtOnce,
}

impl Run {
    /// Keys that may change on resume. The tracks do not depend on them, except on the device, which
    /// the checkpoint records.
    pub const FREE: [&str; 9] = [
        "device",
        "threads",
        "out",
        "checkpoint",
        "checkpoint_segments",
        "keep_state",
        "memory",
        "strategy",
        "batch",
    ];
}

/// How many pieces this process traces at a time, which share its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtOnce {
    /// Number of devices, each with a piece.
    pub devices: usize,
    /// The maximum number of pieces on one device, which may be given several times.
    pub on_device: usize,
}

impl AtOnce {
    /// For devices of these names.
    pub fn of(names: &[String]) -> Self {
        let count = |name: &String| names.iter().filter(|other| *other == name).count();
        AtOnce { devices: names.len(), on_device: names.iter().map(count).max().unwrap_or(1) }
    }
}

impl Case {
    /// Lets the devices of these names, if they are several, trace pieces of the run at a time.
    pub fn share_among(&mut self, devices: &[String]) {
        self.run.at_once = AtOnce::of(devices);
        self.run.is_shared |= devices.len() > 1;
    }
}

impl Default for AtOnce {
    fn default() -> Self {
        AtOnce { devices: 1, on_device: 1 }
    }
}

impl Default for Run {
    fn default() -> Self {
        Run {
            device: "auto".into(),
            precision: Precision::default(),
            threads: 0,
            out: "results/run".into(),
            checkpoint: 60.0,
            checkpoint_segments: None,
            keep_state: true,
            memory: None,
            strategy: None,
            batch: None,
            piece: None,
            is_shared: false,
            at_once: AtOnce::default(),
        }
    }
}

/// Reads a name, or `"auto"` for `None`.
pub fn or_auto<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    match &*String::deserialize(deserializer).unwrap_or_default() {
        "auto" => Ok(None),
        name => T::deserialize(IntoDeserializer::<KeyError>::into_deserializer(name))
            .map(Some)
            .map_err(|error| D::Error::custom(format!("{}, or \"auto\"", error.instead()))),
    }
}

/// A number of bytes, given as `3221225472` or `"3GiB"`.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged, expecting = "give a number of bytes, or text such as \"3GiB\"")]
enum Bytes {
    Number(u64),
    Text(String),
}

/// Reads a number of bytes.
fn bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    match Bytes::deserialize(deserializer)? {
        Bytes::Number(bytes) => Ok(Some(bytes)),
        Bytes::Text(text) => parse_bytes(&text).map(Some).map_err(D::Error::custom),
    }
}

/// Units and their number of bytes.
const UNITS: [(&str, f64); 10] = [
    ("kib", 1024.0),
    ("mib", 1048576.0),
    ("gib", 1073741824.0),
    ("tib", 1099511627776.0),
    ("kb", 1e3),
    ("mb", 1e6),
    ("gb", 1e9),
    ("tb", 1e12),
    ("b", 1.0),
    ("", 1.0),
];

fn parse_bytes(text: &str) -> Result<u64, String> {
    let wrong = || {
        "give a number of bytes, such as \"3GiB\", \"500 MB\" or 3000000; units are B, kB, MB, GB, TB, \
         KiB, MiB, GiB and TiB"
            .to_string()
    };
    let digits = text.trim().trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = text.trim()[digits.len()..].to_lowercase();
    let factor = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, bytes)| bytes);
    let number: f64 = digits.trim().parse().map_err(|_| wrong())?;
    let bytes = number * factor.ok_or_else(wrong)?;
    match bytes.is_finite() && (1.0..2_f64.powi(63)).contains(&bytes) {
        true => Ok(bytes as u64),
        false => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_with_their_unit() {
        assert_eq!(parse_bytes("3GiB"), Ok(3 << 30));
        assert_eq!(parse_bytes(" 1.5 MiB"), Ok(3 << 19));
        assert_eq!(parse_bytes("2kB"), Ok(2000));
        assert_eq!(parse_bytes("17"), Ok(17));
        for text in ["", "GiB", "-1GB", "3 GiBs", "nan", "1e300", "0"] {
            let message = parse_bytes(text).unwrap_err();
            assert!(message.contains("3GiB"), "{text}: {message}");
        }
    }
}
