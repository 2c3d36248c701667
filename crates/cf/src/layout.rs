//! The meaning of the dimensions of a variable.

use crate::degrees::Angle;
use crate::store::{Attribute, Store, Variable};
use crate::units::is_pressure;
use crate::{Error, Result};

/// What a dimension of a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// x, y or z.
    Space(usize),
    Time,
    /// The components of a vector.
    Component,
    /// One index, whatever it means.
    Single,
}

/// The roles of the dimensions of a variable.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Layout {
    pub roles: Vec<Role>,
    /// The coordinate variable of x, y and z, by its name; of `None`, the grid is flat.
    pub coordinates: [Option<String>; 3],
    /// The dimension and the coordinate variable of the time.
    pub time: Option<(String, Option<String>)>,
}

impl Layout {
    /// Finds the roles of the dimensions of a variable.
    ///
    /// # Errors
    ///
    /// If the role of a dimension is unknown, or two dimensions have one role.
    pub fn of(store: &dyn Store, variable: &Variable) -> Result<Layout> {
        let fail = |reason: String| Error::variable(store.path(), &variable.name, reason);
        let mut layout = Layout { roles: Vec::new(), coordinates: [const { None }; 3], time: None };
        let mut unknown = Vec::new();
        for (d, dimension) in variable.dimensions.iter().enumerate() {
            let coordinate = coordinate_of(store, variable, d);
            if dimension.len == 0 {
                return Err(fail(format!(
                    "its dimension `{}` has length 0, so that it has no values; check how the file was written",
                    dimension.name
                )));
            }
            if let Some(coordinate) = coordinate {
                check_marks(coordinate)
                    .map_err(|reason| Error::variable(store.path(), &coordinate.name, reason))?;
            }
            let role = coordinate.and_then(role_of).or_else(|| match coordinate {
                None => role_of_name(&dimension.name),
                Some(_) => None,
            });
            let name = coordinate.map(|coordinate| coordinate.name.clone());
            match role {
                Some(Role::Space(axis)) => {
                    let name = name.ok_or_else(|| fail(no_coordinate(&dimension.name)))?;
                    layout.set_axis(axis, name).map_err(fail)?;
                }
                Some(Role::Time) if layout.time.is_some() => {
                    return Err(fail(format!(
                        "`{}` is a second dimension of time",
                        dimension.name
                    )));
                }
                Some(Role::Time) => layout.time = Some((dimension.name.clone(), name)),
                _ if dimension.len == 1 => {}
                _ if coordinate.is_some_and(is_of_pressure) => {
                    return Err(fail(on_pressures(&dimension.name, dimension.len)));
                }
                // A dimension of components has no positions.
                _ => unknown.push((d, coordinate.is_none())),
            }
            let otherwise = if dimension.len == 1 { Role::Single } else { Role::Component };
            layout.roles.push(role.unwrap_or(otherwise));
        }
        layout.check_unknown(variable, &unknown).map_err(fail)?;
        Ok(layout)
    }

    fn set_axis(&mut self, axis: usize, name: String) -> std::result::Result<(), String> {
        match &self.coordinates[axis] {
            None => self.coordinates[axis] = Some(name),
            Some(other) => {
                let axis = ['x', 'y', 'z'][axis];
                return Err(format!(
                    "both `{other}` and `{name}` are its {axis} axis; set their attributes `axis` to X, Y or Z"
                ));
            }
        }
        Ok(())
    }

    /// Of the dimensions without a role, one can be that of components.
    fn check_unknown(
        &self,
        variable: &Variable,
        unknown: &[(usize, bool)],
    ) -> std::result::Result<(), String> {
        let is_component =
            |(d, can_be): &(usize, bool)| *can_be && (2..=3).contains(&variable.dimensions[*d].len);
        match unknown {
            [] => Ok(()),
            [only] if is_component(only) => Ok(()),
            [first, ..] => {
                let (d, _) = unknown.iter().find(|of| !is_component(of)).unwrap_or(first);
                let dimension = &variable.dimensions[*d];
                Err(format!(
                    "its dimension `{}` of {} is neither an axis, nor the time, nor the 2 or 3 components of \
                     a vector, which have no coordinate; set the attribute `axis` of its coordinate to X, Y, Z or T, or select one \
                     index of it (in xarray: `ds.isel({}=0)`)",
                    dimension.name, dimension.len, dimension.name
                ))
            }
        }
    }

    /// Number of axes, and of those with the time: the grid is that of the variable with the most.
    pub fn rank(&self) -> usize {
        self.coordinates.iter().flatten().count() + usize::from(self.time.is_some())
    }

    /// Number of components.
    pub fn components(&self, variable: &Variable) -> usize {
        let mut roles = self.roles.iter().zip(&variable.dimensions);
        roles.find(|(role, _)| **role == Role::Component).map_or(1, |(_, dimension)| dimension.len)
    }
}

fn on_pressures(dimension: &str, levels: usize) -> String {
    format!(
        "its vertical axis `{dimension}` of {levels} levels is a pressure, and heights are needed; select one level \
         (in xarray: `ds.isel({dimension}=[0])`), or interpolate the variables to heights first"
    )
}

fn no_coordinate(dimension: &str) -> String {
    format!(
        "its dimension `{dimension}` has no coordinate variable; add a variable `{dimension}` with the \
         positions of the nodes (in xarray: `ds.assign_coords({dimension}=...)`)"
    )
}

/// The coordinate variable of a dimension: that of its name, or one that the attribute `coordinates` lists.
pub(crate) fn coordinate_of<'a>(
    store: &'a dyn Store,
    variable: &'a Variable,
    d: usize,
) -> Option<&'a Variable> {
    let dimension = &variable.dimensions[d];
    let is_of = |coordinate: &&Variable| {
        coordinate.scalar.is_some() && coordinate.dimensions == std::slice::from_ref(dimension)
    };
    let listed = variable.text("coordinates").unwrap_or_default().split_ascii_whitespace();
    let named = store.find(&dimension.name).filter(is_of);
    named.or_else(|| {
        let mut listed = listed.filter_map(|name| store.find(name)).filter(is_of);
        listed.find(|coordinate| role_of(coordinate).is_some())
    })
}

/// The dimension of time of a variable, whatever its other dimensions are, and a layout with nothing but that.
pub(crate) fn time_of(store: &dyn Store, variable: &Variable) -> (Option<usize>, Layout) {
    let mut layout = Layout { roles: Vec::new(), coordinates: [const { None }; 3], time: None };
    let found = (0..variable.dimensions.len()).find(|d| {
        let coordinate = coordinate_of(store, variable, *d);
        let role = coordinate.and_then(role_of);
        let by_name = || role_of_name(&variable.dimensions[*d].name) == Some(Role::Time);
        role == Some(Role::Time) || (coordinate.is_none() && by_name())
    });
    if let Some(d) = found {
        let coordinate =
            coordinate_of(store, variable, d).map(|coordinate| coordinate.name.clone());
        layout.time = Some((variable.dimensions[d].name.clone(), coordinate));
    }
    (found, layout)
}

/// Refuses a coordinate of which two attributes tell different axes.
fn check_marks(coordinate: &Variable) -> std::result::Result<(), String> {
    match [role_by_axis(coordinate), role_by_standard_name(coordinate)] {
        [Some(a), Some(b)] if a != b => Err(format!(
            "its attribute `axis` is {:?}, and its `standard_name` {:?}; correct one of them",
            coordinate.text("axis").unwrap_or_default(),
            coordinate.text("standard_name").unwrap_or_default()
        )),
        _ => Ok(()),
    }
}

fn role_by_axis(coordinate: &Variable) -> Option<Role> {
    match coordinate.text("axis")?.to_ascii_uppercase().as_str() {
        "X" => Some(Role::Space(0)),
        "Y" => Some(Role::Space(1)),
        "Z" => Some(Role::Space(2)),
        "T" => Some(Role::Time),
        _ => None,
    }
}

fn role_by_standard_name(coordinate: &Variable) -> Option<Role> {
    let standard = coordinate.text("standard_name")?;
    let is_vertical = |start| standard.starts_with(start);
    match standard {
        "projection_x_coordinate" | "longitude" | "grid_longitude" => Some(Role::Space(0)),
        "projection_y_coordinate" | "latitude" | "grid_latitude" => Some(Role::Space(1)),
        "time" => Some(Role::Time),
        _ if ["height", "altitude", "depth"].into_iter().any(is_vertical) => Some(Role::Space(2)),
        _ => dimensionless(coordinate).map(|_| Role::Space(2)),
    }
}

/// The role of a coordinate variable by its attributes and its name.
fn role_of(coordinate: &Variable) -> Option<Role> {
    if is_of_pressure(coordinate) {
        return None;
    }
    let by_mark = role_by_axis(coordinate).or_else(|| role_by_standard_name(coordinate));
    if by_mark.is_some() {
        return by_mark;
    }
    if is_depth(coordinate) {
        return Some(Role::Space(2));
    }
    let units = coordinate.text("units").unwrap_or_default();
    if units.to_ascii_lowercase().contains(" since ") {
        return Some(Role::Time);
    }
    match Angle::of(units) {
        Some(Angle::Axis(axis)) => return Some(Role::Space(axis)),
        Some(_) => return role_of_name(&coordinate.name).or(Some(Role::Space(0))),
        None => {}
    }
    if matches!(coordinate.attribute("positive"), Some(Attribute::Text(_))) {
        return Some(Role::Space(2));
    }
    role_of_name(&coordinate.name)
}

/// The role of a dimension or coordinate by its name.
fn role_of_name(name: &str) -> Option<Role> {
    let name = name.to_ascii_lowercase();
    Some(match name.as_str() {
        "x" | "xc" | "x_c" | "xt" | "x_coord" | "x_coordinate" | "easting" | "lon"
        | "longitude" => Role::Space(0),
        "y" | "yc" | "y_c" | "yt" | "y_coord" | "y_coordinate" | "northing" | "lat"
        | "latitude" => Role::Space(1),
        "z" | "zc" | "z_c" | "zt" | "z_coord" | "z_coordinate" | "height" | "altitude"
        | "depth" | "elevation" => Role::Space(2),
        "t" | "time" => Role::Time,
        _ => return None,
    })
}

/// The standard name of a vertical coordinate without a unit of length.
pub(crate) fn dimensionless(coordinate: &Variable) -> Option<&str> {
    let standard = coordinate.text("standard_name")?;
    let is_of_model = standard.starts_with("ocean_") || standard.starts_with("atmosphere_");
    (is_of_model && standard.contains("_coordinate")).then_some(standard)
}

/// The name of the variable that is a term of the formula of a coordinate, by its attribute `formula_terms`.
pub(crate) fn formula_term<'a>(coordinate: &'a Variable, term: &str) -> Option<&'a str> {
    let mut words = coordinate.text("formula_terms")?.split_ascii_whitespace();
    words.find(|word| word.trim_end_matches(':') == term).and_then(|_| words.next())
}

/// Whether a coordinate is a depth by its standard name, or by its other names if it has none.
pub(crate) fn is_depth(coordinate: &Variable) -> bool {
    // NEMO has `gdepw_1d` and the like.
    let starts = |name: &str| {
        ["depth", "gdep"].iter().any(|start| name.to_ascii_lowercase().starts_with(start))
    };
    match coordinate.text("standard_name") {
        Some(standard) if !standard.is_empty() => standard.starts_with("depth"),
        _ => starts(&coordinate.name) || coordinate.text("long_name").is_some_and(starts),
    }
}

/// Whether a vertical coordinate is a pressure by its units, or by its standard name if it has none.
fn is_of_pressure(coordinate: &Variable) -> bool {
    let text = |name| coordinate.text(name).unwrap_or_default();
    match text("units") {
        "" => text("standard_name").ends_with("_pressure"),
        units => is_pressure(units),
    }
}

/// The axis of a coordinate variable, if it is one of space.
pub(crate) fn axis_of(coordinate: &Variable) -> Option<usize> {
    match role_of(coordinate)? {
        Role::Space(axis) => Some(axis),
        _ => None,
    }
}
