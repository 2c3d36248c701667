//! Velocities along the rows and columns of a grid, turned to east and north.

use super::Files;
use super::dims::Dims;
use super::positions::Positions;
use crate::axis::UnitCheck;
use crate::choose::component;
use crate::degrees::{Angle, step};
use crate::mesh::NONE;
use crate::store::{Span, Variable};
use crate::{Error, Result};
use std::path::PathBuf;

/// The angles in radians from east to the rows at the points of a part of a grid.
pub(super) struct Angles {
    of: Vec<f64>,
    /// The file and the variable that they are of, for messages.
    from: (PathBuf, String),
}

impl Angles {
    /// Cosine and sine at nodes with the indices of their values, of which [`NONE`] is on land.
    ///
    /// # Errors
    ///
    /// If they are missing elsewhere.
    pub fn at<'i>(&self, nodes: impl Iterator<Item = (u32, &'i u32)>) -> Result<Vec<[f64; 2]>> {
        let turn = |(node, index): (u32, &u32)| {
            let angle = self.of[node as usize];
            match angle.is_finite() {
                true => Some([angle.cos(), angle.sin()]),
                false => (*index == NONE).then_some([1.0, 0.0]),
            }
        };
        let missing = || {
            let (path, name) = &self.from;
            let reason = "it is missing at points with a velocity, which is turned by it; give it at all of these";
            Error::variable(path, name, reason)
        };
        nodes.map(turn).collect::<Option<_>>().ok_or_else(missing)
    }
}

/// Whether a variable is the angle from east to the rows by its name.
pub(super) fn is_angle(variable: &Variable) -> bool {
    ["angle", "angle_u"].contains(&variable.name.to_ascii_lowercase().as_str())
}

/// The angles of a variable, a projection or the rows themselves; `None` if the components are eastward and northward, or
/// their positions are lengths.
pub(super) fn of_rows(
    files: Files,
    u: &Dims,
    positions: &Positions,
    [rows, columns]: [Span; 2],
    units: &mut UnitCheck,
) -> Result<Option<Angles>> {
    let name = &u.variable.name;
    let standard = u.variable.text("standard_name").unwrap_or_default();
    if !positions.is_in_degrees || standard.contains("eastward") || name.contains("eastward") {
        return Ok(None);
    }
    let fits = |variable: &&Variable| {
        let of = variable.dimensions.iter().filter(|of| of.len > 1).map(|of| of.name.as_str());
        is_angle(variable) && of.eq(u.horizontal())
    };
    let found = files.all().find_map(|store| Some((store, store.variables().iter().find(fits)?)));
    let mut from = (files.own.path().to_path_buf(), name.clone());
    let of = if let Some((store, variable)) = found {
        let is_in_degrees =
            matches!(variable.text("units").and_then(Angle::of), Some(Angle::Degrees));
        let values = Dims::of(store, variable)?.read(store, [Span::one(0), rows, columns], None)?;
        from = (store.path().to_path_buf(), variable.name.clone());
        units.convert(format!("`{name}` is turned to east by `{}`", variable.name));
        let values = values.values.into_f64();
        values.into_iter().map(|x| if is_in_degrees { x.to_radians() } else { x }).collect()
    } else if let Some(angles) = &positions.angles {
        units.convert(format!("`{name}` is turned to east by the projection of its grid"));
        angles.clone()
    } else if component(standard) == Some(0) {
        let angles = positions.angles();
        if angles.iter().all(|angle| angle.abs() < 1e-9) {
            return Ok(None);
        }
        units.convert(format!(
            "`{name}` is {standard}, and turned to east by the direction of the rows"
        ));
        angles
    } else {
        units.notes.push(format!("`{name}` is taken as the velocity eastward: it has neither a `standard_name` nor `angle`"));
        return Ok(None);
    };
    Ok(Some(Angles { of, from }))
}

impl Positions {
    /// The angles from east to the rows, at longitudes and latitudes.
    fn angles(&self) -> Vec<f64> {
        let angle = |node: usize| {
            let column = node % self.columns;
            let west = if column > 0 { node - 1 } else { node };
            let east = if column + 1 < self.columns { node + 1 } else { node };
            let [[x, y], [next_x, next_y]] = [self.xy[west], self.xy[east]];
            (next_y - y).atan2(step(x, next_x) * self.xy[node][1].to_radians().cos())
        };
        (0..self.xy.len()).map(angle).collect()
    }
}
