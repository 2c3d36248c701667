//! Directions of the components of a velocity, by their names and attributes.

use crate::axis::UnitCheck;
use crate::choose::{component, component_by_name};
use crate::layout::Layout;
use crate::store::{Store, Variable};
use crate::{Error, Result};

const AXES: [char; 3] = ['x', 'y', 'z'];

/// Whether the values of a variable are velocities downward, or upward, by its standard name or its attribute
/// `positive`.
pub(crate) fn points(variable: &Variable, [word, positive]: [&str; 2]) -> bool {
    variable.text("standard_name").is_some_and(|name| name.contains(word))
        || variable.text("positive").is_some_and(|given| given.eq_ignore_ascii_case(positive))
}

pub(crate) const DOWNWARD: [&str; 2] = ["downward_", "down"];
const UPWARD: [&str; 2] = ["upward_", "up"];

/// Refuses two components of which one is not along the plane of the grid, and notes directions that are assumed.
pub(crate) fn check(
    store: &dyn Store,
    velocity: &[&Variable],
    (layout, axes): (&Layout, &[Vec<f64>; 3]),
    units: &mut UnitCheck,
) -> Result<()> {
    let given: &[usize] = match (velocity.len(), axes.each_ref().map(|axis| axis.len() > 1)) {
        (3, _) => &[0, 1, 2],
        (2, [true, false, true]) => &[0, 2],
        (2, [false, true, true]) => &[1, 2],
        (2, _) => &[0, 1],
        _ => &[],
    };
    for (variable, axis) in velocity.iter().zip(given) {
        let by_standard = variable.text("standard_name").and_then(component);
        let known = by_standard.or_else(|| component_by_name(&variable.name));
        if given != [0, 1] && known.is_some_and(|known| !given.contains(&known)) {
            return Err(Error::variable(store.path(), &variable.name, across(given)));
        }
        let map = layout.coordinates[*axis].as_deref().and_then(|axis| store.find(axis));
        units.notes.extend(note(variable, *axis, map));
        let is_known = [UPWARD, DOWNWARD].iter().any(|to| points(variable, *to));
        if *axis == 2 && units.is_turned && !is_known {
            let name = &variable.name;
            units.notes.push(format!("`{name}` is taken as the velocity upward, as z"));
        }
    }
    Ok(())
}

/// A note on a component whose standard name tells another direction than its axis does.
fn note(variable: &Variable, axis: usize, coordinate: Option<&Variable>) -> Option<String> {
    let (name, standard) = (&variable.name, variable.text("standard_name")?);
    let along = AXES[axis];
    if component(standard).is_some_and(|known| known != axis) {
        return Some(format!("`{name}` is {standard}, and used as the velocity along {along}"));
    }
    let map = coordinate?;
    let is_map = map.text("standard_name")?.starts_with("projection_");
    let is_of_compass = standard.contains("eastward_") || standard.contains("northward_");
    (is_map && is_of_compass).then(|| {
        format!(
            "`{name}` is {standard}, and taken as the velocity along `{}`: turn it where these differ",
            map.name
        )
    })
}

fn across(plane: &[usize]) -> String {
    let [a, b] = [0, 1].map(|i| plane.get(i).map_or('x', |d| AXES[*d]));
    format!(
        "the grid is in the {a}-{b} plane, and it is the velocity across it; name the components along {a} and {b}, \
         as in `velocity = [\"u\", \"w\"]`, or three components"
    )
}
