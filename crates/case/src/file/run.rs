//! The device, the output folder and the memory of a run.

use super::{Case, DeviceNames, KeyError, schema};
use burntrace_core::{Precision, Strategy};
use schemars::JsonSchema;
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{DeserializeOwned, Error, IntoDeserializer},
};
use std::{fmt, path::PathBuf};

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
    /// Memory limit of the run: bytes, text such as `"3GiB"`, or a part of the available memory, such as `"75%"` or 0.75; default: the
    /// available memory.
    #[serde(deserialize_with = "limit")]
    #[schemars(with = "Option<GivenLimit>")]
    pub memory: Option<MemoryLimit>,
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

/// A limit of memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MemoryLimit {
    /// Bytes.
    Bytes(u64),
    /// A part of what is available, above 0 and up to 1.
    Part(f64),
}

impl fmt::Display for MemoryLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MemoryLimit::Bytes(bytes) => write!(f, "{bytes} bytes"),
            MemoryLimit::Part(part) => write!(f, "{}%", 100.0 * part),
        }
    }
}

impl Serialize for MemoryLimit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            MemoryLimit::Bytes(bytes) => serializer.serialize_u64(*bytes),
            MemoryLimit::Part(_) => serializer.serialize_str(&self.to_string()),
        }
    }
}

/// A limit of memory, given as `3221225472`, `"3GiB"`, `0.75` or `"75%"`.
#[derive(Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "give a number of bytes, text such as \"3GiB\", or a part such as \"75%\" or 0.75"
)]
enum GivenLimit {
    Bytes(u64),
    Part(f64),
    Text(String),
}

/// Reads a limit of memory.
fn limit<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<MemoryLimit>, D::Error> {
    let limit = match GivenLimit::deserialize(deserializer)? {
        GivenLimit::Bytes(bytes) => Ok(MemoryLimit::Bytes(bytes)),
        GivenLimit::Part(part) => part_of(part),
        GivenLimit::Text(text) => match text.trim().strip_suffix('%') {
            Some(number) => number
                .trim()
                .parse::<f64>()
                .map_err(|_| format!("give a number before %, such as 75%, not {number:?}"))
                .and_then(|number| part_of(number / 100.0)),
            None => parse_bytes(&text).map(MemoryLimit::Bytes),
        },
    };
    limit.map(Some).map_err(D::Error::custom)
}

/// A part of the available memory.
fn part_of(part: f64) -> Result<MemoryLimit, String> {
    match part > 0.0 && part <= 1.0 {
        true => Ok(MemoryLimit::Part(part)),
        false => Err(format!(
            "a part of {part} of the available memory is not above 0 and up to 1; give such as \"75%\" or 0.75, or bytes such as \
             \"3GiB\""
        )),
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
        for (text, expected) in [
            ("memory = 0.75", Some(MemoryLimit::Part(0.75))),
            ("memory = \"75%\"", Some(MemoryLimit::Part(0.75))),
            ("memory = \" 100 %\"", Some(MemoryLimit::Part(1.0))),
            ("memory = 3000", Some(MemoryLimit::Bytes(3000))),
            ("memory = \"2kB\"", Some(MemoryLimit::Bytes(2000))),
        ] {
            let run: Run = toml::from_str(text).unwrap();
            assert_eq!(run.memory, expected, "{text}");
            let again: Run = toml::from_str(&toml::to_string(&run).unwrap()).unwrap();
            assert_eq!(again.memory, expected, "{text}");
        }
        for text in [
            "memory = 0.0",
            "memory = 1.5",
            "memory = \"0%\"",
            "memory = \"x%\"",
            "memory = \"101%\"",
        ] {
            let message = toml::from_str::<Run>(text).unwrap_err().to_string();
            assert!(message.contains("75%"), "{text}: {message}");
        }
        for text in ["", "GiB", "-1GB", "3 GiBs", "nan", "1e300", "0"] {
            let message = parse_bytes(text).unwrap_err();
            assert!(message.contains("3GiB"), "{text}: {message}");
        }
    }
}
