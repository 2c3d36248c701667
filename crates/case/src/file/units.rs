//! The units of the data, for pictures, reports and the attributes of the tracks.

use burntrace_io as io;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The units of lengths and times. Nothing is converted.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Units {
    /// Name of the unit of length, such as `"m"`; default: unknown.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub length: String,
    /// Name of the unit of time, such as `"s"`; default: unknown.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub time: String,
}

impl Units {
    /// The unit of speeds; empty if a unit is unknown.
    pub fn speed(&self) -> String {
        match self.length.is_empty() || self.time.is_empty() {
            true => String::new(),
            false => format!("{}/{}", self.length, self.time),
        }
    }

    /// The unit of rates; empty if the unit of time is unknown.
    pub fn rate(&self) -> String {
        if self.time.is_empty() { String::new() } else { format!("1/{}", self.time) }
    }
}

impl From<&Units> for io::tracks::Units {
    fn from(units: &Units) -> Self {
        let (length, time) = (units.length.clone(), units.time.clone());
        Self { length, time, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_derived_quantities_are_composed() {
        let units = Units { length: "m".into(), time: "s".into() };
        assert_eq!(units.speed(), "m/s");
        assert_eq!(units.rate(), "1/s");
        let none = Units { length: "m".into(), time: String::new() };
        assert_eq!([none.speed(), none.rate()], ["", ""]);
    }
}
