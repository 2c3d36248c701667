//! Patches of the boundary of a mesh.

use super::keys::{Keys, Section};
use super::{Condition, KeyError, condition, kinds};
use burntrace_io::NamedFaces;
use serde::Serialize;

/// A part of the boundary of a mesh with a wall condition of its own: the faces that a file names, those in
/// a box, or both. An omitted corner is unbounded.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Patch {
    pub name: String,
    #[serde(
        flatten,
        skip_serializing_if = "Option::is_none",
        serialize_with = "kinds::by_presence"
    )]
    pub faces: Option<NamedFaces>,
    pub low: Option<[f64; 3]>,
    pub high: Option<[f64; 3]>,
    pub wall: Condition,
}

section!(Patch {
    name: get("name"),
    faces: any_of(false),
    low: option("low"),
    high: option("high"),
    wall: by("wall", condition::on_surface, None),
});
