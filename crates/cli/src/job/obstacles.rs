//! The obstacles of a case.

use super::keys::{self, need};
use crate::case::{self, Case, Misuse, ObstacleKind, Surface};
use anyhow::Result;
use burntrace::{Obstacle, Shape, Tracer, io};
use std::path::Path;

/// Whether obstacles are outlets.
pub fn are_outlets(case: &Case) -> bool {
    case.obstacle.iter().any(|given| given.surface == Surface::Outlet)
}

/// Refuses obstacles that are outlets beside others that particles end at for good: which of them
/// a particle has hit does not say what follows.
pub fn check(case: &Case) -> Result<()> {
    let exits = case.obstacle.iter().any(|given| given.surface == Surface::Exit);
    if exits && are_outlets(case) {
        return Err(Misuse::error(
            "some obstacles have the surface `exit` and some `outlet`; make them all the same, or \
             have particles end for good with `stick`",
        ));
    }
    Ok(())
}

/// Gives a tracer the obstacles of a case. Relative file names start at `base`.
pub fn add<'a>(case: &Case, base: &Path, tracer: Tracer<'a>) -> Result<Tracer<'a>> {
    let count = case.obstacle.len();
    let one = |(i, given)| {
        obstacle(given, base)
            .map_err(|error| Misuse::error(format!("obstacle {} of {count}: {error}", i + 1)))
    };
    let obstacles = case.obstacle.iter().enumerate().map(one).collect::<Result<Vec<_>>>()?;
    Ok(tracer.obstacles(obstacles))
}

fn obstacle(given: &case::Obstacle, base: &Path) -> Result<Obstacle> {
    check_keys(given)?;
    let shape = match given.kind {
        ObstacleKind::Sphere => Shape::Sphere {
            centre: need(given.centre, "obstacle", "centre")?,
            radius: need(given.radius, "obstacle", "radius")?,
        },
        ObstacleKind::Cylinder => Shape::Cylinder {
            base: need(given.base, "obstacle", "base")?,
            axis: need(given.axis, "obstacle", "axis")?,
            radius: need(given.radius, "obstacle", "radius")?,
            capped: given.capped.unwrap_or(true),
        },
        ObstacleKind::Box => Shape::Box {
            low: need(given.low, "obstacle", "low")?,
            high: need(given.high, "obstacle", "high")?,
        },
        ObstacleKind::Surface => surface(given, base)?,
    };
    Ok(Obstacle { shape, allowed: given.allowed.into(), surface: given.surface.into() })
}

/// The surface in a file, scaled and then moved.
fn surface(given: &case::Obstacle, base: &Path) -> Result<Shape> {
    let path = base.join(need(given.path.as_ref(), "obstacle", "path")?);
    let scale = given.scale.unwrap_or(1.0);
    if !(scale > 0.0 && scale.is_finite()) {
        return Err(Misuse::error(format!(
            "obstacle.scale is {scale}; give a positive number, such as 0.001 for a file in \
             millimetres and a field in metres"
        )));
    }
    let triangles = io::read_triangles(&path).map_err(Misuse::of)?;
    let moved = triangles.moved(scale, given.shift.unwrap_or_default());
    let surface = moved
        .closed()
        .map_err(|error| Misuse::error(format!("the surface in `{}`: {error}", path.display())))?;
    Ok(Shape::surface(surface))
}

/// Refuses keys that a kind of obstacle does not use.
fn check_keys(given: &case::Obstacle) -> Result<()> {
    let used: &[&str] = match given.kind {
        ObstacleKind::Sphere => &["centre", "radius"],
        ObstacleKind::Cylinder => &["base", "axis", "radius", "capped"],
        ObstacleKind::Box => &["low", "high"],
        ObstacleKind::Surface => &["path", "scale", "shift"],
    };
    keys::check("obstacle", given, [used, &["allowed", "surface"]])
}
