//! Conditions at surfaces: those of the library, by name, and outlets.

use burntrace_core::BoundaryCondition;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, IntoDeserializer, SeqAccess, Visitor, value::SeqAccessDeserializer},
};
use std::sync::LazyLock;

/// The condition at a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Condition {
    /// A condition of the library.
    Of(BoundaryCondition),
    /// An exit that re-injects particles at the inlet.
    Outlet,
}

const OUTLET: &str = "outlet";

/// The names of all conditions, and of those at the boundary of a mesh, at patches and at obstacles.
static NAMES: LazyLock<Vec<&str>> = LazyLock::new(|| names(true));
static SURFACE_NAMES: LazyLock<Vec<&str>> = LazyLock::new(|| names(false));
static COAST_NAMES: LazyLock<Vec<&str>> =
    LazyLock::new(|| SURFACE_NAMES.iter().copied().filter(|name| *name != OUTLET).collect());

fn names(of_faces: bool) -> Vec<&'static str> {
    let all = BoundaryCondition::ALL.iter().filter(|of| of_faces || !of.is_of_faces());
    all.map(|condition| condition.name()).chain([OUTLET]).collect()
}

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
        named(&String::deserialize(deserializer)?, &NAMES)
    }
}

/// The condition with a name, else an error that offers `names`.
fn named<E: Error>(name: &str, names: &'static [&'static str]) -> Result<Condition, E> {
    if name == OUTLET {
        return Ok(Condition::Outlet);
    }
    let of = BoundaryCondition::ALL.into_iter().find(|condition| condition.name() == name);
    of.map(Condition::Of).ok_or_else(|| E::unknown_variant(name, names))
}

/// Reads the condition at the boundary of a mesh, at a patch or at an obstacle. An unknown name is an error that
/// offers those that are possible there; those of faces are refused later, with the reason.
pub fn on_surface<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Condition, D::Error> {
    named(&String::deserialize(deserializer)?, &SURFACE_NAMES)
}

/// Reads the condition at the coast, which is no outlet.
pub fn at_coast<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Condition, D::Error> {
    match on_surface(deserializer)? {
        Condition::Outlet => Err(D::Error::unknown_variant(OUTLET, &COAST_NAMES)),
        condition => Ok(condition),
    }
}

/// Reads the conditions at the low and the high face of an axis: a list of both, or one for both.
pub fn both_faces<'de, D: Deserializer<'de>>(deserializer: D) -> Result<[Condition; 2], D::Error> {
    deserializer.deserialize_tuple(2, BothFaces)
}

/// The same, of a key whose default depends on the field.
pub fn given_faces<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<[Condition; 2]>, D::Error> {
    both_faces(deserializer).map(Some)
}

/// The schema of the conditions at both faces of an axis.
pub fn schema_of_faces(_: &mut SchemaGenerator) -> Schema {
    let one = json_schema!({ "enum": *NAMES });
    json_schema!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 2, "maxItems": 2 }] })
}

/// The schema of the condition at the boundary of a mesh, at a patch or at an obstacle.
pub fn schema_on_surface(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "enum": *SURFACE_NAMES })
}

/// The schema of the condition at the coast.
pub fn schema_at_coast(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "enum": *COAST_NAMES })
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
    use crate::file::from_text;

    #[test]
    fn only_possible_conditions_are_offered() {
        let message = |sections: &str| {
            let text = format!("[field]\nflow = \"saddle\"\n{sections}\n");
            from_text(&text, &[]).unwrap_err()
        };
        let body = "kind = \"sphere\"\ncentre = [0.0, 0.0, 0.0]\nradius = 1.0";
        for sections in [
            "[boundary]\nmesh = \"stop\"",
            "[[patch]]\nname = \"a\"\nwall = \"stop\"",
            &format!("[[obstacle]]\n{body}\nsurface = \"stop\""),
        ] {
            let message = message(sections);
            let offered = ["reflect", "slide", "stick", "exit", "outlet"];
            assert!(offered.iter().all(|name| message.contains(name)), "{message}");
            assert!(!message.contains("periodic") && !message.contains("clamp"), "{message}");
        }
        assert!(message("[boundary]\nx = \"stop\"").contains("\"periodic\""));
    }

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
