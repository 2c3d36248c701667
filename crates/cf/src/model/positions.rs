//! Horizontal positions of the points of a model.

use super::dims::Dims;
use super::turn::is_angle;
use super::{Corners, Files};
use crate::axis::{self, UnitCheck};
use crate::degrees::{self, Angle, step};
use crate::layout::{axis_of, coordinate_of};
use crate::mesh::{NONE, decode};
use crate::projection::Projection;
use crate::store::{Span, Store, Variable};
use crate::units::Quantity;
use crate::{Error, Result};

/// The positions of rows of points.
#[derive(Clone, Debug)]
pub(super) struct Positions {
    pub rows: usize,
    pub columns: usize,
    /// Row by row; x and y in metres, or longitude and latitude in degrees.
    pub xy: Vec<[f64; 2]>,
    pub is_in_degrees: bool,
    /// The angles in radians from east to the x axis of a map projection; `None` without one.
    pub angles: Option<Vec<f64>>,
    /// The variables.
    pub names: [String; 2],
}

impl Positions {
    /// Reads the positions in two variables of one or two dimensions.
    ///
    /// # Errors
    ///
    /// If they are of different sizes, neither lengths nor degrees, or not finite.
    pub fn read(
        store: &dyn Store,
        [x, y]: [&Variable; 2],
        units: &mut UnitCheck,
    ) -> Result<Positions> {
        let is_in_degrees = are_degrees(store, [x, y], units)?;
        let [x_values, y_values] = [(x, 0), (y, 1)].map(|(variable, axis)| match is_in_degrees {
            true => angles(store, variable, axis),
            false => lengths(store, variable, axis, units),
        });
        let (x_values, y_values) = (x_values?, y_values?);
        let [rows, columns] = size(store, [x, y])?;
        let is_of_axes = x.shape().len() == 1;
        let at = |node: usize| match is_of_axes {
            true => [x_values[node % columns], y_values[node / columns]],
            false => [x_values[node], y_values[node]],
        };
        let mut xy = room(store, x, [rows, columns])?;
        xy.extend((0..rows * columns).map(at));
        let names = [x, y].map(|variable| variable.name.clone());
        Ok(Positions { rows, columns, xy, is_in_degrees, angles: None, names })
    }

    /// Longitudes and latitudes of the axes of a map projection or a rotated grid.
    ///
    /// # Errors
    ///
    /// If they are no lengths, or, of a rotated grid, no degrees, or not on the map.
    pub fn projected(
        store: &dyn Store,
        [x, y]: [&Variable; 2],
        projection: &Projection,
        units: &mut UnitCheck,
    ) -> Result<Positions> {
        let fail = |reason: String| Error::variable(store.path(), &x.name, reason);
        let is_radian = |of: &Variable| of.text("units").and_then(Angle::of) == Some(Angle::Other);
        if projection.is_rotated() && (is_radian(x) || is_radian(y)) {
            return Err(fail(
                "it must be in degrees, as its projection is a rotated sphere".into(),
            ));
        }
        let [x_values, y_values] =
            [(x, 0), (y, 1)].map(|(of, axis)| match projection.is_rotated() {
                true => numbers(store, of, None),
                false => axis::nodes(store, of, axis, units),
            });
        let (x_values, y_values) = (x_values?, y_values?);
        let (rows, columns) = (y_values.len(), x_values.len());
        let (mut xy, mut angles) =
            (room(store, x, [rows, columns])?, room(store, x, [rows, columns])?);
        for at in y_values.iter().flat_map(|y| x_values.iter().map(|x| [*x, *y])) {
            let (degrees, angle) = projection.degrees_and_angle(at).map_err(fail)?;
            xy.push(degrees);
            angles.push(angle);
        }
        let names = [x, y].map(|variable| variable.name.clone());
        units.convert(format!(
            "`{}` and `{}` are converted to longitude and latitude by their `grid_mapping`",
            names[0], names[1]
        ));
        units.notes.extend(projection.notes().iter().cloned());
        Ok(Positions { rows, columns, xy, is_in_degrees: true, angles: Some(angles), names })
    }

    /// The means of each four neighbours.
    pub fn midpoints(&self) -> Positions {
        let (rows, columns) = (self.rows - 1, self.columns - 1);
        let middle = |cell: usize| {
            let first = (cell / columns) * self.columns + cell % columns;
            let nodes = [first, first + 1, first + self.columns, first + self.columns + 1];
            let start = self.xy[first];
            let mut sum = [0.0; 2];
            for node in nodes {
                let [x, y] = self.xy[node];
                let x = if self.is_in_degrees { start[0] + step(start[0], x) } else { x };
                sum = [sum[0] + x, sum[1] + y];
            }
            sum.map(|total| total / 4.0)
        };
        let xy = (0..rows * columns).map(middle).collect();
        self.with(rows, columns, xy, None)
    }

    /// A box of rows and columns.
    pub fn part(&self, rows: Span, columns: Span) -> Positions {
        let nodes = (0..rows.count).flat_map(|j| (0..columns.count).map(move |i| (j, i)));
        let index = |(j, i)| (rows.start + j) * self.columns + columns.start + i;
        let nodes: Vec<usize> = nodes.map(index).collect();
        let xy = nodes.iter().map(|node| self.xy[*node]).collect();
        let of_angles = |of: &Vec<f64>| nodes.iter().map(|node| of[*node]).collect();
        let angles = self.angles.as_ref().map(of_angles);
        self.with(rows.count, columns.count, xy, angles)
    }

    /// Other points of the same kind.
    fn with(
        &self,
        rows: usize,
        columns: usize,
        xy: Vec<[f64; 2]>,
        angles: Option<Vec<f64>>,
    ) -> Positions {
        let (is_in_degrees, names) = (self.is_in_degrees, self.names.clone());
        Positions { rows, columns, xy, is_in_degrees, angles, names }
    }
}

/// The file and the variables of x and y.
type Pair<'a> = (&'a dyn Store, [&'a Variable; 2]);

/// The variables of positions that a request names.
pub(super) fn named<'a>(files: Files<'a>, corners: &Corners) -> Result<Option<Pair<'a>>> {
    match [&corners.x, &corners.y] {
        [Some(x), Some(y)] => named_pair(files, [x, y]).map(Some),
        [None, None] => Ok(None),
        _ => {
            let reason = "`corners` has one of `x` and `y`; give both, or none";
            Err(Error::file(files.own.path(), reason))
        }
    }
}

/// The variables that hold the positions of a variable: those that are listed by its attribute `coordinates`, or on its
/// rows and columns.
pub(super) fn of_variable<'a>(files: Files<'a>, dims: &'a Dims) -> Result<Pair<'a>> {
    let own = files.own;
    let fits = |variable: &&Variable| {
        let of = variable.dimensions.iter().filter(|of| of.len > 1).map(|of| of.name.as_str());
        variable.scalar.is_some() && !is_angle(variable) && of.eq(dims.horizontal())
    };
    let listed: Vec<&str> =
        dims.variable.text("coordinates").unwrap_or_default().split_ascii_whitespace().collect();
    // Those that are listed, then all; both of one file.
    for is_any in [false, true] {
        for store in files.all() {
            let in_list = listed.iter().filter_map(|name| store.find(name));
            let others = store.variables().iter().filter(|_| is_any);
            let all = || in_list.clone().chain(others.clone()).filter(fits);
            let of = |axis: usize| all().find(|variable| axis_of(variable) == Some(axis));
            if let [Some(x), Some(y)] = [of(0), of(1)] {
                return Ok((store, [x, y]));
            }
        }
    }
    let count = dims.variable.dimensions.len();
    let axes = [1, 2].map(|end| coordinate_of(own, &dims.variable, count - end));
    match axes {
        [Some(x), Some(y)] => Ok((own, [x, y])),
        _ => {
            let [rows, columns] = dims.horizontal();
            Err(Error::variable(
                own.path(),
                &dims.variable.name,
                format!(
                    "the positions of its points on `{rows}` and `{columns}` are not found; name their variables, as in \
                     `corners = {{ x = \"lon\", y = \"lat\" }}`, with `files` if they are in another file"
                ),
            ))
        }
    }
}

/// Two variables that are named.
pub(super) fn named_pair<'a>(files: Files<'a>, [x, y]: [&str; 2]) -> Result<Pair<'a>> {
    let both = |store: &'a dyn Store| Some((store, [store.find(x)?, store.find(y)?]));
    let missing = || {
        let store = files.grid.unwrap_or(files.own);
        let name = if store.find(x).is_none() { x } else { y };
        crate::choose::choice(store, format!("it has no variable `{name}` for the corners"))
    };
    files.all().find_map(both).ok_or_else(missing)
}

/// An empty list for rows and columns of points.
fn room<T>(store: &dyn Store, x: &Variable, [rows, columns]: [usize; 2]) -> Result<Vec<T>> {
    let mut points = Vec::new();
    let count = rows.checked_mul(columns).filter(|count| *count < NONE as usize);
    let is_there = count.is_some_and(|count| points.try_reserve_exact(count).is_ok());
    is_there.then_some(points).ok_or_else(|| {
        let reason = format!(
            "its grid has {rows} x {columns} points, and at most {NONE} can be read, of those that memory holds; name \
             other positions, or correct their sizes"
        );
        Error::variable(store.path(), &x.name, reason)
    })
}

/// Number of rows and columns of positions.
pub(super) fn size(store: &dyn Store, [x, y]: [&Variable; 2]) -> Result<[usize; 2]> {
    let fail = |reason: String| Error::variable(store.path(), &x.name, reason);
    let shapes = [x, y].map(|of| of.dimensions.iter().map(|d| d.len).collect::<Vec<_>>());
    match shapes.each_ref().map(Vec::as_slice) {
        [[columns], [rows]] => Ok([*rows, *columns]),
        [[.., rows, columns], other] if *other == shapes[0] => Ok([*rows, *columns]),
        _ => Err(fail(format!("it has other dimensions than `{}`: {x}, {y}", y.name))),
    }
}

/// The names of positions in NEMO's files, which have no units.
const OF_NEMO: [&str; 3] = ["glam", "gphi", "nav_"];

/// Whether positions are in degrees.
fn are_degrees(store: &dyn Store, pair: [&Variable; 2], units: &mut UnitCheck) -> Result<bool> {
    let is_bare = |of: &Variable| of.text("units").is_none_or(str::is_empty);
    let is_of_nemo = |of: &Variable| OF_NEMO.iter().any(|start| of.name.starts_with(start));
    if pair.iter().all(|of| is_bare(of) && is_of_nemo(of)) {
        let [x, y] = pair.map(|of| of.name.as_str());
        units.notes.push(format!("`{x}` and `{y}` have no units, and are taken as degrees"));
        return Ok(true);
    }
    degrees::are_axes(store, pair.map(Some))
}

/// All numbers of the first index of leading dimensions.
fn numbers(store: &dyn Store, variable: &Variable, quantity: Option<Quantity>) -> Result<Vec<f64>> {
    let count = variable.dimensions.len();
    let span = |d: usize| match d + 2 < count {
        true => Span::one(0),
        false => Span::all(variable.dimensions[d].len),
    };
    let slab: Vec<Span> = (0..count).map(span).collect();
    let values = decode(store, variable, &slab, quantity)?.values.into_f64();
    match values.iter().find(|value| !value.is_finite()) {
        None => Ok(values),
        Some(_) => Err(Error::variable(
            store.path(),
            &variable.name,
            "it is missing or not finite at some points, and positions are needed of all of them, on land, too; give \
             the variables of a file that has them, as in `corners = { files = \"grid.nc\", x = \"lon\", y = \"lat\" }`",
        )),
    }
}

fn angles(store: &dyn Store, variable: &Variable, axis: usize) -> Result<Vec<f64>> {
    let mut values = numbers(store, variable, None)?;
    if axis == 1 {
        let checked = degrees::check_latitudes(&mut values);
        checked.map_err(|reason| Error::variable(store.path(), &variable.name, reason))?;
    }
    Ok(values)
}

fn lengths(
    store: &dyn Store,
    variable: &Variable,
    axis: usize,
    units: &mut UnitCheck,
) -> Result<Vec<f64>> {
    if variable.dimensions.len() == 1 {
        return axis::nodes(store, variable, axis, units);
    }
    units.unit(store, variable, Quantity::Length)?;
    numbers(store, variable, Some(Quantity::Length))
}
