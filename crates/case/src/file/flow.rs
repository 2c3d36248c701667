//! Flows by name or as formulas.

use burntrace_core::Flow;
use schemars::JsonSchema;
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{MapAccess, Visitor, value::MapAccessDeserializer},
};
use std::{collections::BTreeMap, fmt};

/// A flow.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
#[serde(untagged)]
pub enum GivenFlow {
    /// The name of a built-in one.
    #[schemars(extend("enum" = Flow::NAMES))]
    Named(String),
    /// A velocity as formulas.
    Formula(OwnFormula),
}

/// A velocity as formulas of x, y, z and t.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct OwnFormula {
    /// Velocity along x, in length per time.
    pub u: Definition,
    /// Velocity along y, in length per time.
    pub v: Definition,
    /// Velocity along z, in length per time; default: 0.
    #[serde(default = "Definition::zero")]
    pub w: Definition,
    /// Names of numbers and formulas that others may use.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub constants: BTreeMap<String, Definition>,
}

/// A number or a formula.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(untagged, expecting = "give a number, or a formula as text")]
pub enum Definition {
    /// A number.
    Number(f64),
    /// A formula.
    Text(String),
}

impl Definition {
    fn zero() -> Self {
        Definition::Number(0.0)
    }
}

impl fmt::Display for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Definition::Number(number) => write!(f, "{number}"),
            Definition::Text(text) => f.write_str(text),
        }
    }
}

/// The name, or `u = -y, v = x, w = 0`.
impl fmt::Display for GivenFlow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GivenFlow::Named(name) => f.write_str(name),
            GivenFlow::Formula(OwnFormula { u, v, w, .. }) => {
                write!(f, "u = {u}, v = {v}, w = {w}")
            }
        }
    }
}

impl From<&str> for GivenFlow {
    fn from(name: &str) -> Self {
        GivenFlow::Named(name.into())
    }
}

impl<'de> Deserialize<'de> for GivenFlow {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameOrTable;
        impl<'de> Visitor<'de> for NameOrTable {
            type Value = GivenFlow;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("the name of a flow, or formulas: { u = \"-y\", v = \"x\" }")
            }

            fn visit_str<E>(self, name: &str) -> Result<GivenFlow, E> {
                Ok(GivenFlow::Named(name.into()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<GivenFlow, A::Error> {
                OwnFormula::deserialize(MapAccessDeserializer::new(map)).map(GivenFlow::Formula)
            }
        }
        deserializer.deserialize_any(NameOrTable)
    }
}
