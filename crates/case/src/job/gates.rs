//! The gates of a case.

use super::{obstacles, patches};
use crate::console::Console;
use crate::file::{self, Case, Misuse};
use anyhow::Result;
use burntrace_core::{Gate, GateShape, Shape};

/// The gates of a case, in their order.
pub fn gates(case: &Case, console: &dyn Console) -> Result<Vec<Gate>> {
    let gate = |given: &file::Gate| {
        let shape = shape(case, given, console)
            .map_err(|error| Misuse::error(format!("[[gate]] {:?}: {error}", given.name)))?;
        Ok(Gate::new(&given.name, shape))
    };
    case.gate.iter().map(gate).collect()
}

/// The names of the gates of a case.
pub fn gate_names(case: &Case) -> Vec<&str> {
    case.gate.iter().map(|gate| gate.name.as_str()).collect()
}

fn shape(case: &Case, given: &file::Gate, console: &dyn Console) -> Result<GateShape> {
    use file::GateShape::{Box, Cylinder, Disc, Patch, Plane, Polygon, Sphere, Surface};
    Ok(match given.shape {
        Polygon { ref corners } => GateShape::Polygon(corners.as_slice().into()),
        Plane { origin, normal, low, high } => GateShape::Plane {
            origin,
            normal,
            radius: f64::INFINITY,
            low: low.unwrap_or([f64::NEG_INFINITY; 3]),
            high: high.unwrap_or([f64::INFINITY; 3]),
        },
        Disc { centre, normal, radius } => GateShape::disc(centre, normal, radius),
        Sphere { centre, radius } => GateShape::Region(Shape::Sphere { centre, radius }),
        Cylinder { base, axis, radius, capped } => {
            let capped = capped.unwrap_or(true);
            GateShape::Region(Shape::Cylinder { base, axis, radius, capped })
        }
        Box { low, high } => GateShape::Region(Shape::Box { low, high }),
        Surface { ref path, scale, shift, weld } => {
            GateShape::Region(obstacles::surface(path, (scale, shift), weld, console)?)
        }
        Patch { ref patch } => {
            let known = patches::named(case, patch, "patch")?;
            let is_this = |other: &file::Patch| other.name == known.name;
            GateShape::Patch(case.patch.iter().position(is_this).unwrap_or_default())
        }
    })
}
