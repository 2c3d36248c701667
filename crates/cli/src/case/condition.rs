//! Conditions at surfaces: those of the library, by name, and outlets.

use burntrace::BoundaryCondition;
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, IntoDeserializer, SeqAccess, Visitor, value::SeqAccessDeserializer},
};

/// The condition at a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Condition {
    /// A condition of the library.
    Of(BoundaryCondition),
    /// An exit that re-injects particles at the inlet.
    Outlet,
}

const OUTLET: &str = "outlet";

/// Every name.
const NAMES: [&str; BoundaryCondition::ALL.len() + 1] = {
    let mut names = [OUTLET; BoundaryCondition::ALL.len() + 1];
    let mut i = 0;
    while i < BoundaryCondition::ALL.len() {
        names[i] = BoundaryCondition::ALL[i].name();
        i += 1;
    }
    names
};

impl Default for Condition {
    fn default() -> Self {
        Condition::Of(BoundaryCondition::default())
    }
}

impl From<Condition> for BoundaryCondition {
    fn from(condition: Condition) -> Self {
        match condition {
            Condition::Of(condition) => condition,
            Condition::Outlet => BoundaryCondition::Exit,
        }
    }
}

impl<'de> Deserialize<'de> for Condition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        if name == OUTLET {
            return Ok(Condition::Outlet);
        }
        let of = BoundaryCondition::ALL.into_iter().find(|condition| condition.name() == name);
        of.map(Condition::Of).ok_or_else(|| D::Error::unknown_variant(&name, &NAMES))
    }
}

/// Reads the conditions at the low and the high face of an axis: a list of both, or one for both.
pub fn both_faces<'de, D: Deserializer<'de>>(deserializer: D) -> Result<[Condition; 2], D::Error> {
    deserializer.deserialize_tuple(2, BothFaces)
}

struct BothFaces;

impl<'de> Visitor<'de> for BothFaces {
    type Value = [Condition; 2];

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a condition for both faces, such as \"reflect\", or a list of two, for the low and the high face")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
        Condition::deserialize(name.into_deserializer()).map(|condition| [condition; 2])
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Self::Value, A::Error> {
        <[Condition; 2]>::deserialize(SeqAccessDeserializer::new(items))
    }
}

impl Serialize for Condition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(match self {
            Condition::Of(condition) => condition.name(),
            Condition::Outlet => OUTLET,
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::case::from_text;

    #[test]
    fn a_condition_stands_for_both_faces() {
        let case = |boundary: &str| {
            let text = format!(
                "[field]\nflow = \"saddle\"\n[boundary]\n{boundary}\n[seeds]\nkind = \"sobol\"\ncount = 1\n"
            );
            from_text(&text, &[])
        };
        let short = case("x = \"reflect\"\ny = \"periodic\"").unwrap().boundary;
        let long = case("x = [\"reflect\", \"reflect\"]\ny = [\"periodic\", \"periodic\"]")
            .unwrap()
            .boundary;
        assert_eq!(short, long);
        assert_ne!(short, case("").unwrap().boundary);
        for (given, parts) in [
            ("x = \"stop\"", ["line 4: `boundary.x` is \"stop\"; give", "\"reflect\""]),
            ("x = [\"exit\", \"stop\"]", ["`boundary.x[1]` is \"stop\"", "\"reflect\""]),
            (
                "x = [\"exit\"]",
                ["`boundary.x` is [\"exit\"]; give a condition for both", "or a list of two"],
            ),
            ("x = 1", ["`boundary.x` is 1; give a condition for both", "or a list of two"]),
        ] {
            let message = case(given).unwrap_err();
            assert!(parts.iter().all(|part| message.contains(part)), "{message}");
        }
    }
}
