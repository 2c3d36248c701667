//! What lies between the values of a field: whether the keys of a case go together, and what the
//! library calls it.

use crate::case::{self, Case, Interpolation, Misuse};
use anyhow::Result;
use burntrace::Weighting;

/// The nodes that count in a mean, unless a case says it; fewer where there are fewer.
const NEIGHBOURS: usize = 8;

/// The power of the distance, unless a case says it.
const POWER: f64 = 2.0;

/// Refuses keys that do not go with the interpolation of a case, or cannot be.
pub fn check(case: &Case) -> Result<()> {
    let field = &case.field;
    let (mean, mesh) = (Interpolation::InverseDistance, Interpolation::Mesh);
    let has_wall = case.boundary.mesh != case::Wall::default();
    let keys = [
        ("field.neighbours", field.neighbours.is_some(), mean),
        ("field.power", field.power.is_some(), mean),
        ("field.cell_velocity", field.cell_velocity.is_some(), mesh),
        ("field.other_cells", field.other_cells.is_some(), mesh),
        ("boundary.mesh", has_wall, mesh),
        ("[[patch]]", !case.patch.is_empty(), mesh),
    ];
    for (key, is_given, with) in keys {
        if is_given && field.interpolation != with {
            let name = if with == mesh { "mesh" } else { "inverse-distance" };
            let text = format!("{key} goes with field.interpolation = \"{name}\"");
            return Err(Misuse::error(text));
        }
    }
    if field.interpolation != Interpolation::Grid && field.files.is_none() {
        return Err(Misuse::error(
            "field.interpolation goes with field.files; a flow is a formula or on a grid",
        ));
    }
    check_mean(field)
}

/// Refuses means that cannot be.
fn check_mean(field: &case::Field) -> Result<()> {
    match (field.neighbours, field.power) {
        (Some(count), _) if !(1..=burntrace::MAX_NEIGHBOURS).contains(&count) => {
            Err(Misuse::error(format!(
                "field.neighbours is {count}; 1 to {} nodes can count, and 8 is usual",
                burntrace::MAX_NEIGHBOURS
            )))
        }
        (_, Some(power)) if !(power.is_finite() && power > 0.0) => Err(Misuse::error(format!(
            "field.power is {power}; it must be a number above 0, and 2 is usual"
        ))),
        _ => Ok(()),
    }
}

/// How the velocity between the points of a field follows from them.
pub fn weighting(field: &case::Field, points: usize) -> Weighting {
    if field.interpolation != Interpolation::InverseDistance {
        return Weighting::Nearest;
    }
    Weighting::InverseDistance {
        neighbours: field.neighbours.unwrap_or(NEIGHBOURS.min(points)),
        power: field.power.unwrap_or(POWER),
    }
}
