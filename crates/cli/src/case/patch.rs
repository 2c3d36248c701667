//! Patches of the boundary of a mesh.

use super::keys::{Keys, Section};
use super::{Condition, KeyError, condition::OnSurface};
use burntrace::io::NamedFaces;
use serde::Serialize;

/// A part of the boundary of a mesh with a wall condition of its own: the faces that a file names, those in
/// a box, or both. An omitted corner is unbounded.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Patch {
    pub name: String,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub faces: Option<NamedFaces>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<[f64; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<[f64; 3]>,
    pub wall: Condition,
}

impl Section for Patch {
    fn read(keys: &mut Keys) -> Result<Self, KeyError> {
        keys.allow(&["name", "block", "array", "value", "low", "high", "wall"]);
        keys.check()?;
        let (block, array, value) = (keys.get("block")?, keys.get("array")?, keys.get("value")?);
        let faces = match (block, array, value) {
            (None, None, None) => None,
            (Some(block), None, None) => Some(NamedFaces::Block { block }),
            (None, Some(array), Some(value)) => Some(NamedFaces::Array { array, value }),
            (Some(_), ..) => {
                return Err(KeyError::keys(
                    "has a `block`, and an `array` or a `value`; keep the `block`, or the other two",
                ));
            }
            (None, Some(_), None) => {
                return Err(KeyError::keys(
                    "has an `array` and no `value`; add the value of its faces, such as `value = 3`",
                ));
            }
            (None, None, Some(_)) => {
                return Err(KeyError::keys(
                    "has a `value` and no `array`; add the name of the cell array, such as \
                     `array = \"BoundaryID\"`",
                ));
            }
        };
        let (name, OnSurface(wall)) = (keys.get("name")?, keys.get("wall")?);
        Ok(Patch { name, faces, low: keys.get("low")?, high: keys.get("high")?, wall })
    }
}
