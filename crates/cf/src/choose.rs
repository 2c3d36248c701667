//! The variables of the velocity.

use crate::kinds;
use crate::layout::{Layout, Role};
use crate::store::{Store, Variable};
use crate::{Error, Result};

/// Names of three components, or of two, in order of preference; in lower case.
const NAMES: [[&str; 3]; 10] = [
    ["u", "v", "w"],
    ["ux", "uy", "uz"],
    ["u_x", "u_y", "u_z"],
    ["vx", "vy", "vz"],
    ["velocity_x", "velocity_y", "velocity_z"],
    ["uo", "vo", "wo"],
    ["water_u", "water_v", "water_w"],
    ["u10", "v10", "w10"],
    ["uvel", "vvel", "wvel"],
    ["vozocrtx", "vomecrty", "vovecrtz"],
];

/// The names of the velocity in files of unstructured models, in order of preference.
const ON_MESHES: [&[&str]; 10] = [
    &["u", "v", "ww"],
    &["u", "v", "w"],
    &["u", "v"],
    &["hvel", "vertical_velocity"],
    &["hvel"],
    &["horizontalVelX", "horizontalVelY", "verticalVelocity"],
    &["horizontalVelX", "horizontalVelY"],
    &["ua", "va"],
    &["dahv"],
    &["depthAverageVelX", "depthAverageVelY"],
];

/// Other names of vertical velocities, in lower case.
const VERTICAL: [&str; 4] = ["wt", "w_velocity", "vertical_velocity", "wz"];

/// Finds the velocity: by `standard_name`, by usual names of components, or as the only variable with
/// components.
///
/// # Errors
///
/// If there is none, or several variables could be it or its third component.
pub fn velocity(store: &dyn Store) -> Result<Vec<String>> {
    let on_grid: Vec<Field> = fields(store).into_iter().filter(|field| field.is_on_grid).collect();
    let variables: Vec<&Variable> = on_grid.iter().map(|field| field.variable).collect();
    let found = by_standard_name(&variables).or_else(|| by_name(&variables));
    let found = found.map_or_else(|| only_vector(&on_grid), Ok);
    // A velocity that is not on a grid: the error that follows says why.
    let numbers = store.variables().iter().filter(|variable| variable.scalar.is_some());
    let numbers: Vec<&Variable> = numbers.collect();
    let elsewhere = || by_standard_name(&numbers).or_else(|| by_name(&numbers));
    let found = found.or_else(|reason| elsewhere().ok_or(reason));
    found.and_then(|names| with_third(names, &on_grid, &numbers)).map_err(|reason| {
        // The kind of a grid without usual names of components says more.
        kinds::error(store).unwrap_or_else(|| choice(store, reason))
    })
}

/// Adds the variable that is the vertical component by its standard name or its name, wherever it is.
fn with_third(
    mut names: Vec<String>,
    on_grid: &[Field],
    numbers: &[&Variable],
) -> std::result::Result<Vec<String>, String> {
    let components = |name: &String| {
        on_grid
            .iter()
            .find(|field| field.variable.name == *name)
            .map_or(1, |field| field.components)
    };
    if names.iter().map(components).sum::<usize>() != 2 {
        return Ok(names);
    }
    let is_vertical = |variable: &&&Variable| match variable.text("standard_name") {
        Some(standard) if !standard.is_empty() => component(standard) == Some(2),
        _ => {
            component_by_name(&variable.name) == Some(2)
                || VERTICAL.contains(&variable.name.to_ascii_lowercase().as_str())
        }
    };
    let is_coordinate = |variable: &Variable| matches!(variable.dimensions.as_slice(), [only] if only.name == variable.name);
    let found = numbers.iter().filter(is_vertical).filter(|variable| !is_coordinate(variable));
    let found: Vec<&str> = found.map(|variable| variable.name.as_str()).collect();
    match (found.as_slice(), names.as_slice()) {
        ([], _) => {}
        ([third], [_, _]) => names.push((*third).into()),
        (several, names) => {
            let quoted = |names: &[&str]| format!("[\"{}\"]", names.join("\", \""));
            let given: Vec<&str> = names.iter().map(String::as_str).collect();
            let (first, with) = (quoted(&given), quoted(&[&given[..], &several[..1]].concat()));
            let remedy = match given.len() {
                1 => format!("name the variable, as in `velocity = {first}`"),
                _ => format!(
                    "name the variables, as in `velocity = {with}`, or {first} for a flat field"
                ),
            };
            return Err(format!(
                "its velocity is `{}`, and its third component could be {}; {remedy}",
                given.join("`, `"),
                several.join(" or ")
            ));
        }
    }
    Ok(names)
}

/// The velocity of a file by the names that models use, wherever it is.
pub(crate) fn usual_velocity(store: &dyn Store) -> Option<Vec<String>> {
    usual(&store.variables().iter().collect::<Vec<_>>())
}

/// The first velocity of models among variables.
pub(crate) fn usual(variables: &[&Variable]) -> Option<Vec<String>> {
    let has = |name: &&str| variables.iter().any(|variable| variable.name == **name);
    let found = ON_MESHES.iter().find(|names| names.iter().all(has))?;
    Some(found.iter().map(|name| (*name).into()).collect())
}

/// The note on a velocity of two components in layers.
pub(crate) fn without_vertical() -> String {
    "it has no vertical velocity, and w = 0".into()
}

/// The error of a missing or ambiguous variable, which lists those of the file.
pub(crate) fn choice(store: &dyn Store, reason: impl Into<String>) -> Error {
    /// Maximum number of variables that a message lists.
    const LISTED: usize = 12;
    let all = store.variables();
    let mut variables: Vec<String> = all.iter().take(LISTED).map(Variable::to_string).collect();
    if all.is_empty() {
        variables.push("none".into());
    }
    if all.len() > LISTED {
        variables.push(format!("and {} more", all.len() - LISTED));
    }
    let (path, reason) = (store.path().into(), reason.into());
    Error::Choice { path, reason, variables: variables.join(", ") }
}

/// A variable of a file, whether it can be read as a field or not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Field<'a> {
    /// The variable.
    pub variable: &'a Variable,
    /// Whether it has numbers on a grid.
    pub is_on_grid: bool,
    /// Number of components, 1 unless it has a dimension of components.
    pub components: usize,
    /// Number of values at one time.
    pub tuples: usize,
}

/// The variables of a file.
pub fn fields(store: &dyn Store) -> Vec<Field<'_>> {
    store.variables().iter().map(|variable| Field::of(store, variable)).collect()
}

impl<'a> Field<'a> {
    fn of(store: &dyn Store, variable: &'a Variable) -> Field<'a> {
        let is_coordinate =
            matches!(variable.dimensions.as_slice(), [only] if only.name == variable.name);
        let layout = Layout::of(store, variable).ok().filter(|layout| {
            let is_on_axes = layout.coordinates.iter().any(Option::is_some);
            variable.scalar.is_some() && !is_coordinate && is_on_axes
        });
        let count = |role: Option<&Role>, len: usize| match role {
            Some(Role::Time | Role::Component) => 1,
            _ => len,
        };
        let tuples = variable.dimensions.iter().enumerate().fold(1_usize, |all, (d, dimension)| {
            let role = layout.as_ref().and_then(|layout| layout.roles.get(d));
            all.saturating_mul(count(role, dimension.len))
        });
        let components = layout.as_ref().map_or(1, |layout| layout.components(variable));
        Field { variable, is_on_grid: layout.is_some(), components, tuples }
    }
}

/// The component of a velocity with this standard name of CF.
pub(crate) fn component(standard_name: &str) -> Option<usize> {
    let is_velocity = standard_name.ends_with("velocity") || standard_name.ends_with("wind");
    let has = |words: [&str; 2]| words.iter().any(|word| standard_name.contains(word));
    let of = |component: usize, words| (is_velocity && has(words)).then_some(component);
    let vertical = || of(2, ["upward_", "downward_"]);
    of(0, ["eastward_", "x_"])
        .filter(|_| !has(["flux", "due_to"]) && vertical().is_none())
        .or_else(|| of(1, ["northward_", "y_"]).filter(|_| vertical().is_none()).or_else(vertical))
}

/// The component of a velocity with this usual name.
pub(crate) fn component_by_name(name: &str) -> Option<usize> {
    let name = name.to_ascii_lowercase();
    NAMES.iter().find_map(|names| names.iter().position(|known| *known == name))
}

pub(crate) fn by_standard_name(fields: &[&Variable]) -> Option<Vec<String>> {
    let mut found: [Vec<String>; 3] = [const { Vec::new() }; 3];
    for variable in fields {
        if let Some(component) = variable.text("standard_name").and_then(component) {
            found[component].push(variable.name.clone());
        }
    }
    match found.each_ref().map(Vec::as_slice) {
        [[u], [v], [w]] => Some(vec![u.clone(), v.clone(), w.clone()]),
        [[u], [v], []] => Some(vec![u.clone(), v.clone()]),
        _ => None,
    }
}

fn by_name(fields: &[&Variable]) -> Option<Vec<String>> {
    let named = |name: &str| {
        let mut found = fields.iter().filter(|field| field.name.to_ascii_lowercase() == name);
        found.next().filter(|_| found.next().is_none()).map(|field| field.name.clone())
    };
    let of = |names: &[&str; 3]| {
        let [u, v, w] = names.map(named);
        Some([Some(u?), Some(v?), w].into_iter().flatten().collect())
    };
    NAMES.iter().find_map(of)
}

fn only_vector(fields: &[Field]) -> std::result::Result<Vec<String>, String> {
    let vectors = fields.iter().filter(|field| field.components > 1);
    let vectors: Vec<&str> = vectors.map(|field| field.variable.name.as_str()).collect();
    match vectors.as_slice() {
        [only] => Ok(vec![(*only).into()]),
        [] => {
            Err("it has no variables that are known as a velocity; name them, as in `velocity = \
                   [\"u\", \"v\", \"w\"]`, or one variable with a dimension of components"
                .into())
        }
        several => Err(format!(
            "it has several vectors, {}; name the one that is the velocity",
            several.join(", ")
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::component;

    #[test]
    fn standard_names_tell_components() {
        for (name, expected) in [
            ("eastward_sea_water_velocity", Some(0)),
            ("sea_water_x_velocity", Some(0)),
            ("x_wind", Some(0)),
            ("northward_wind", Some(1)),
            ("sea_water_y_velocity", Some(1)),
            ("upward_air_velocity", Some(2)),
            ("downward_sea_water_velocity", Some(2)),
            ("wind_speed", None),
            ("surface_downward_eastward_stress", None),
            ("air_temperature", None),
        ] {
            assert_eq!(component(name), expected, "{name}");
        }
    }
}
