//! The obstacles of a case.

use crate::case::{self, Case, Condition, Misuse, ObstacleShape};
use anyhow::Result;
use burntrace::{BoundaryCondition, Obstacle, Shape, io};
use std::path::Path;

/// Whether an obstacle is an outlet.
pub fn are_outlets(case: &Case) -> bool {
    case.obstacle.iter().any(|given| given.surface == Condition::Outlet)
}

/// Refuses outlets and exits together: both end particles with the same status, so that re-injection
/// cannot tell them apart.
pub fn check(case: &Case) -> Result<()> {
    let exits =
        case.obstacle.iter().any(|given| given.surface == Condition::Of(BoundaryCondition::Exit));
    if exits && are_outlets(case) {
        return Err(Misuse::error(
            "some obstacles have surface = \"exit\" and some \"outlet\"; use one of the two for all, or \
             end particles with \"stick\"",
        ));
    }
    Ok(())
}

/// The obstacles of a case. Relative file names are resolved in `base`.
pub fn obstacles(case: &Case, base: &Path) -> Result<Vec<Obstacle>> {
    let count = case.obstacle.len();
    let one = |(i, given)| {
        obstacle(given, base)
            .map_err(|error| Misuse::error(format!("[[obstacle]] {} of {count}: {error}", i + 1)))
    };
    case.obstacle.iter().enumerate().map(one).collect()
}

fn obstacle(given: &case::Obstacle, base: &Path) -> Result<Obstacle> {
    let shape = match given.shape {
        ObstacleShape::Sphere { centre, radius } => Shape::Sphere { centre, radius },
        ObstacleShape::Cylinder { base, axis, radius, capped } => {
            Shape::Cylinder { base, axis, radius, capped: capped.unwrap_or(true) }
        }
        ObstacleShape::Box { low, high } => Shape::Box { low, high },
        ObstacleShape::Surface { ref path, scale, shift } => {
            surface(&base.join(path), scale.unwrap_or(1.0), shift.unwrap_or_default())?
        }
    };
    Ok(Obstacle { shape, allowed: given.allowed.into(), surface: given.surface.into() })
}

/// The surface in a file, scaled and then shifted.
fn surface(path: &Path, scale: f64, shift: [f64; 3]) -> Result<Shape> {
    if !(scale > 0.0 && scale.is_finite()) {
        return Err(Misuse::error(format!(
            "obstacle.scale is {scale}; give a positive number, such as 0.001 for a file in \
             millimetres and a field in metres"
        )));
    }
    let triangles = io::read_triangles(path).map_err(Misuse::of)?;
    let surface = triangles
        .moved(scale, shift)
        .closed()
        .map_err(|error| Misuse::error(format!("the surface in `{}`: {error}", path.display())))?;
    Ok(Shape::surface(surface))
}
