//! Interpolation of a field in space: checks of its keys, and the settings of the library.

use crate::file::{self, Case, FieldSource, Interpolation, Misuse};
use anyhow::Result;
use burntrace_core::Weighting;

/// The default number of nodes in a mean; fewer if the field has fewer.
const NEIGHBOURS: usize = 8;

/// The default power of the distance.
const POWER: f64 = 2.0;

/// Refuses sections that the interpolation of a case cannot use, and values out of range.
pub fn check(case: &Case) -> Result<()> {
    let has_wall = case.boundary.mesh != file::Condition::default();
    for (key, is_given) in [("boundary.mesh", has_wall), ("[[patch]]", !case.patch.is_empty())] {
        if is_given && !case.is_on_mesh() {
            let text = format!("{key} needs field.interpolation = \"mesh\"");
            return Err(Misuse::error(text));
        }
    }
    if let (FieldSource::Flow { .. }, true) =
        (&case.field.source, case.field.interpolation != Interpolation::Grid)
    {
        return Err(Misuse::error(format!(
            "[field] has `flow` and interpolation = {:?}, which needs `files`; omit the interpolation, or give \
             `files` instead of `flow`",
            file::name_of(&case.field.interpolation)
        )));
    }
    check_mean(&case.field.interpolation)
}

/// Refuses values out of range.
fn check_mean(interpolation: &Interpolation) -> Result<()> {
    let Interpolation::InverseDistance { neighbours, power } = *interpolation else {
        return Ok(());
    };
    match (neighbours, power) {
        (Some(count), _) if !(1..=burntrace_core::program::MAX_NEIGHBOURS).contains(&count) => {
            Err(Misuse::error(format!(
                "field.neighbours is {count}; give a number of nodes from 1 to {}, such as 8",
                burntrace_core::program::MAX_NEIGHBOURS
            )))
        }
        (_, Some(power)) if !(power.is_finite() && power > 0.0) => {
            Err(Misuse::error(format!("field.power is {power}; give a number above 0, such as 2")))
        }
        _ => Ok(()),
    }
}

/// The weights of the points of a field.
pub fn weighting(interpolation: &Interpolation, points: usize) -> Weighting {
    match *interpolation {
        Interpolation::InverseDistance { neighbours, power } => Weighting::InverseDistance {
            neighbours: neighbours.unwrap_or(NEIGHBOURS.min(points)),
            power: power.unwrap_or(POWER),
        },
        _ => Weighting::Nearest,
    }
}
