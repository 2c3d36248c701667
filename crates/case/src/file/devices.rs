//! The devices of a run, by their names.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The devices of a run: one by its name (`"cuda:0"`), several (`["cuda:0", "cuda:1"]`, `"cuda:0,cuda:1"`), or all of
/// a kind (`"cuda:*"`).
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(try_from = "Given", into = "Given")]
pub struct DeviceNames(Vec<String>);

#[derive(Deserialize, JsonSchema, Serialize)]
#[serde(untagged, expecting = "give the name of a device, such as \"cuda:0\", or a list of names")]
enum Given {
    One(String),
    Several(Vec<String>),
}

impl DeviceNames {
    /// The names given on the command line; `None` without any.
    pub fn given(names: &[String]) -> Option<Self> {
        (!names.is_empty()).then(|| DeviceNames(names.to_vec()))
    }

    /// The names, of which one may stand for all devices of a kind.
    pub fn names(&self) -> &[String] {
        &self.0
    }

    /// Whether the device is left to burntrace.
    pub fn is_auto(&self) -> bool {
        self.0 == ["auto"]
    }
}

/// Names between commas.
impl From<&str> for DeviceNames {
    fn from(text: &str) -> Self {
        DeviceNames(text.split(',').map(|name| name.trim().into()).collect())
    }
}

impl TryFrom<Given> for DeviceNames {
    type Error = &'static str;

    fn try_from(given: Given) -> Result<Self, Self::Error> {
        match given {
            Given::One(text) => Ok(text.as_str().into()),
            Given::Several(names) if names.is_empty() => {
                Err("the list has no device; give the name of one, such as \"auto\"")
            }
            Given::Several(names) => Ok(DeviceNames(names)),
        }
    }
}

impl From<DeviceNames> for Given {
    fn from(DeviceNames(names): DeviceNames) -> Self {
        match <[String; 1]>::try_from(names) {
            Ok([name]) => Given::One(name),
            Err(names) => Given::Several(names),
        }
    }
}

impl std::fmt::Display for DeviceNames {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toml::Table;

    #[test]
    fn one_name_and_several_are_read_and_written() {
        let read = |value: &str| {
            let table: Table = format!("device = {value}").parse().unwrap();
            table["device"].clone().try_into::<DeviceNames>()
        };
        for (value, names) in [
            ("\"cuda:*\"", &["cuda:*"][..]),
            ("[\"flex\", \"flex\"]", &["flex", "flex"]),
            ("\"vulkan:0, vulkan:1\"", &["vulkan:0", "vulkan:1"]),
        ] {
            let read_names = read(value).unwrap();
            assert_eq!(read_names.names(), names, "{value}");
            let written = toml::Value::try_from(&read_names).unwrap();
            assert_eq!(written.clone().try_into::<DeviceNames>().unwrap(), read_names);
            assert_eq!(written.is_str(), names.len() == 1, "{value}");
        }
        for value in ["[]", "3", "[1]"] {
            let message = read(value).unwrap_err().to_string();
            assert!(message.contains("give the name of"), "{value}: {message}");
        }
    }
}
