//! The obstacles of a case.

use crate::file::{self, Case, Condition, Misuse, ObstacleShape};
use crate::{console::Console, format::counted};
use anyhow::Result;
use burntrace_core::{BoundaryCondition, Obstacle, Shape, SurfaceError};
use burntrace_io as io;
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

/// The obstacles of a case.
pub fn obstacles(case: &Case, console: &dyn Console) -> Result<Vec<Obstacle>> {
    let count = case.obstacle.len();
    let one = |(i, given)| {
        obstacle(given, console)
            .map_err(|error| Misuse::error(format!("[[obstacle]] {} of {count}: {error}", i + 1)))
    };
    case.obstacle.iter().enumerate().map(one).collect()
}

fn obstacle(given: &file::Obstacle, console: &dyn Console) -> Result<Obstacle> {
    let shape = match given.shape {
        ObstacleShape::Sphere { centre, radius } => Shape::Sphere { centre, radius },
        ObstacleShape::Cylinder { base, axis, radius, capped } => {
            Shape::Cylinder { base, axis, radius, capped: capped.unwrap_or(true) }
        }
        ObstacleShape::Box { low, high } => Shape::Box { low, high },
        ObstacleShape::Surface { ref path, scale, shift, weld } => {
            surface(path, (scale, shift), weld, console)?
        }
    };
    Ok(Obstacle { shape, allowed: given.allowed, surface: given.surface.into() })
}

/// The triangles in a file, scaled and then shifted.
pub fn triangles(
    path: &Path,
    (scale, shift): (Option<f64>, Option<[f64; 3]>),
) -> Result<io::Triangles> {
    let scale = scale.unwrap_or(1.0);
    if !(scale > 0.0 && scale.is_finite()) {
        return Err(Misuse::error(format!(
            "scale is {scale}; give a positive number, such as 0.001 for a file in \
             millimetres and a field in metres"
        )));
    }
    let triangles = io::read_triangles(path).map_err(Misuse::of)?;
    Ok(triangles.moved(scale, shift.unwrap_or_default()))
}

/// The closed surface of the [triangles] in a file, whose points are merged within a distance, with a note of how
/// many.
pub fn surface(
    path: &Path,
    placed: (Option<f64>, Option<[f64; 3]>),
    weld: Option<f64>,
    console: &dyn Console,
) -> Result<Shape> {
    let (triangles, path) = (triangles(path, placed)?, path.display());
    let triangles = match weld {
        None => triangles,
        Some(distance) if distance > 0.0 && distance.is_finite() => {
            let (welded, [points, flat]) = triangles.welded(distance);
            if points + flat > 0 {
                console.note(&format!(
                    "`{path}`: {} merged within {distance}, and {} dropped",
                    counted(points, "point"),
                    counted(flat, "flat triangle")
                ));
            }
            welded
        }
        Some(distance) => {
            return Err(Misuse::error(format!(
                "weld is {distance}; give the distance within which points are merged, a \
                 positive number, or omit it"
            )));
        }
    };
    let hint = match weld {
        None => "; `weld = 1e-6`, a distance, merges points that nearly coincide",
        Some(_) => "",
    };
    let closed = triangles.closed().map_err(|error| {
        let hint = if matches!(error, SurfaceError::Open { .. }) { hint } else { "" };
        Misuse::error(format!("the surface in `{path}`: {error}{hint}"))
    })?;
    Ok(Shape::surface(closed))
}
