//! The gates of a case.

use crate::file::{self, Case};
use burntrace_core::{Gate, GateShape, Shape};

/// The gates of a case, in their order.
pub fn gates(case: &Case) -> Vec<Gate> {
    case.gate.iter().map(|gate| Gate::new(&gate.name, shape(&gate.shape))).collect()
}

fn shape(given: &file::GateShape) -> GateShape {
    use file::GateShape::{Box, Cylinder, Disc, Plane, Polygon, Sphere};
    match *given {
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
    }
}
