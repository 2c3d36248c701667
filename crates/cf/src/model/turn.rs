//! Velocities along the rows and columns of a grid, turned to east and north.

use super::Files;
use super::dims::Dims;
use super::positions::{Positions, from};
use crate::Result;
use crate::axis::UnitCheck;
use crate::choose::component;
use crate::degrees::Angle;
use crate::store::Span;

/// Cosine and sine of the angle from east to the rows at the points of a part of a grid; `None` if the components are
/// eastward and northward, or their positions are lengths.
pub(super) fn of_rows(
    files: Files,
    u: &Dims,
    positions: &Positions,
    [rows, columns]: [Span; 2],
    units: &mut UnitCheck,
) -> Result<Option<Vec<[f64; 2]>>> {
    let name = &u.variable.name;
    let standard = u.variable.text("standard_name").unwrap_or_default();
    if !positions.is_in_degrees || standard.contains("eastward") || name.contains("eastward") {
        return Ok(None);
    }
    let fits = |variable: &&crate::Variable| {
        let of = variable.dimensions.iter().filter(|of| of.len > 1).map(|of| of.name.as_str());
        let is_angle = ["angle", "angle_u"].contains(&variable.name.to_ascii_lowercase().as_str());
        is_angle && of.eq(u.horizontal())
    };
    let found = files.all().find_map(|store| Some((store, store.variables().iter().find(fits)?)));
    let angles = if let Some((store, variable)) = found {
        let is_in_degrees =
            matches!(variable.text("units").and_then(Angle::of), Some(Angle::Degrees));
        let values = Dims::of(store, variable)?.read(store, [Span::one(0), rows, columns])?;
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
    Ok(Some(angles.into_iter().map(|angle| [angle.cos(), angle.sin()]).collect()))
}

impl Positions {
    /// The angles from east to the rows, at longitudes and latitudes.
    fn angles(&self) -> Vec<f64> {
        let angle = |node: usize| {
            let column = node % self.columns;
            let west = if column > 0 { node - 1 } else { node };
            let east = if column + 1 < self.columns { node + 1 } else { node };
            let [[x, y], [next_x, next_y]] = [self.xy[west], self.xy[east]];
            (next_y - y).atan2(from(x, next_x) * self.xy[node][1].to_radians().cos())
        };
        (0..self.xy.len()).map(angle).collect()
    }
}
