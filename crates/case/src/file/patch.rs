//! Patches of the boundary of a mesh.

use super::keys::{Keys, Section};
use super::{Condition, KeyError, condition, kinds, schema};
use burntrace_io::NamedFaces;
use schemars::JsonSchema;
use serde::Serialize;

/// A part of the boundary of a mesh with a wall condition of its own: the faces that a file names, those in
/// a box, or both. An omitted corner is unbounded.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
#[schemars(deny_unknown_fields)]
pub struct Patch {
    /// A name that no other patch has.
    pub name: String,
    /// The faces that a file names; default: all faces in the box.
    // The schema accepts `block` beside `array`, which the reader refuses.
    #[serde(
        flatten,
        skip_serializing_if = "Option::is_none",
        serialize_with = "kinds::by_presence"
    )]
    pub faces: Option<NamedFaces>,
    /// Minimum corner of the box; `-inf` is an open side. Default: unbounded.
    #[schemars(with = "Option<schema::Corner>")]
    pub low: Option<[f64; 3]>,
    /// Maximum corner of the box; `inf` is an open side. Default: unbounded.
    #[schemars(with = "Option<schema::Corner>")]
    pub high: Option<[f64; 3]>,
    /// Condition at its faces.
    #[schemars(schema_with = "condition::schema_on_surface")]
    pub wall: Condition,
}

section!(Patch {
    name: get("name"),
    faces: any_of(false),
    low: option("low"),
    high: option("high"),
    wall: by("wall", condition::on_surface, None),
});
