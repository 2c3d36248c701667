//! A velocity on a grid with axes.

use crate::axis::{self, UnitCheck};
use crate::choose::{choice, velocity};
use crate::directions;
use crate::kinds;
use crate::packing::Decoded;
use crate::parallel::{is_large, read_each};
use crate::part::Part;
use crate::store::{Span, Store, Variable};
use crate::strided::{Run, copy};
use crate::time::TimeAxis;
use crate::turn::Turn;
use crate::units::Quantity;
use crate::values::Values;
use crate::{Error, Result};
use std::path::Path;

/// The variables to read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// The velocity: one variable with components, or two or three components; found by itself if empty.
    pub velocity: Vec<String>,
    /// Whether only other variables are read.
    pub without_velocity: bool,
    /// The diffusivity of a random walk.
    pub diffusivity: Option<String>,
    /// Other variables, which are not converted.
    pub arrays: Vec<String>,
}

/// The values of one time, node by node: x varies fastest, then y, in the order of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct CfFrame {
    /// Velocity `u, v, w` in m/s, where w = 0 if the file has two components; NaN where it is missing.
    pub velocity: Values,
    /// Whether the velocity of each node is missing; `None` if no value means a missing one.
    pub missing: Option<Vec<bool>>,
    /// Diffusivity in m²/s.
    pub diffusivity: Option<Values>,
    /// The numbers of the other variables, components together; NaN where they are missing.
    pub arrays: Vec<Values>,
}

/// A velocity on a grid in a NetCDF file or a Zarr group.
#[derive(Debug)]
pub struct CfGrid {
    store: Box<dyn Store>,
    axes: [Vec<f64>; 3],
    is_in_degrees: bool,
    turn: Option<Turn>,
    time: Option<TimeAxis>,
    velocity: Vec<Part>,
    diffusivity: Option<Part>,
    arrays: Vec<Part>,
    units: UnitCheck,
}

impl CfGrid {
    /// Opens a file, and finds its velocity, axes and times.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, a variable is missing or ambiguous, the variables are not on one grid, its
    /// axes are neither lengths nor longitude and latitude, or units are unknown.
    pub fn open(path: impl AsRef<Path>, request: &Request) -> Result<CfGrid> {
        CfGrid::of(crate::open(path)?, request)
    }

    /// The same, of an opened file.
    ///
    /// # Errors
    ///
    /// As [`open`](CfGrid::open).
    pub fn of(store: Box<dyn Store>, request: &Request) -> Result<CfGrid> {
        let file = &*store;
        let mut units = UnitCheck::default();
        let names = match (request.without_velocity, request.velocity.as_slice()) {
            (true, _) => Vec::new(),
            (false, []) => velocity(file)?,
            (false, names) => names.to_vec(),
        };
        let mut part = |name: &String, quantity| Part::of(file, name, quantity, &mut units);
        let of_velocity = |name| part(name, Some(Quantity::Speed));
        let velocity: Vec<Part> = names.iter().map(of_velocity).collect::<Result<_>>()?;
        let diffusivity = request.diffusivity.as_ref();
        let diffusivity = diffusivity.map(|name| part(name, Some(Quantity::Diffusivity)));
        let diffusivity = diffusivity.transpose()?;
        let arrays: Vec<Part> =
            request.arrays.iter().map(|name| part(name, None)).collect::<Result<_>>()?;
        check_components(file, &velocity)?;
        let mut parts = velocity.iter().chain(&diffusivity).chain(&arrays);
        let Some(first) = parts.clone().rev().max_by_key(|part| part.layout.rank()) else {
            return Err(choice(file, "no variable of it is read"));
        };
        parts.try_for_each(|other| first.check_same_grid(file, other, &mut units))?;
        let [x, y, _] = &first.layout.coordinates;
        let horizontal = [x, y].map(|name| name.as_deref().and_then(|name| file.find(name)));
        if let Some(error) = kinds::counted(file, horizontal) {
            return Err(error);
        }
        let (axes, is_in_degrees) = axis::read(file, &first.variable, &first.layout, &mut units)?;
        let time = TimeAxis::read(file, &first.variable, &first.layout, &mut units)?;
        let variables: Vec<&Variable> = velocity.iter().map(|part| &part.variable).collect();
        directions::check(file, &variables, (&first.layout, &axes), &mut units)?;
        units.check(file)?;
        Ok(CfGrid {
            axes,
            is_in_degrees,
            turn: None,
            time,
            velocity,
            diffusivity,
            arrays,
            units,
            store,
        })
    }

    /// The same grid with its columns in another order, or with other longitudes.
    #[must_use]
    pub fn turned(mut self, turn: Option<Turn>) -> CfGrid {
        if let Some(turn) = turn {
            self.axes[0] = turn.axis(&self.axes[0]);
        }
        self.turn = turn;
        self
    }

    /// Refuses another file of the series in which a variable would be converted otherwise: without units, or with
    /// the opposite sign.
    ///
    /// # Errors
    ///
    /// That of the file that lacks an attribute.
    pub fn check_conversions(&self, other: &CfGrid) -> Result<()> {
        self.units.check_with(self.store(), &other.units)?;
        other.units.check_with(other.store(), &self.units)?;
        let mut parts = self.velocity.iter().zip(&other.velocity);
        match parts.find(|(own, others)| own.is_negated != others.is_negated) {
            None => Ok(()),
            Some((own, _)) => Err(Error::variable(
                other.store().path(),
                &own.variable.name,
                format!(
                    "it is downward in one of this file and `{}`, and upward in the other, by their attributes \
                     `standard_name` and `positive`; correct them",
                    self.store().path().display()
                ),
            )),
        }
    }

    /// The file.
    pub fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// The nodes of the x, y and z axes in the order of the file, in metres, or x and y in degrees of longitude,
    /// continuous, and latitude; one node on a flat axis, at 0 unless the file tells its position.
    pub fn axes(&self) -> &[Vec<f64>; 3] {
        &self.axes
    }

    /// Whether x is the longitude and y the latitude in degrees.
    pub fn is_in_degrees(&self) -> bool {
        self.is_in_degrees
    }

    /// The times; `None` if the variables do not depend on time.
    pub fn time(&self) -> Option<&TimeAxis> {
        self.time.as_ref()
    }

    /// The names of the variables of the velocity.
    pub fn velocity(&self) -> Vec<String> {
        self.velocity.iter().map(|part| part.variable.name.clone()).collect()
    }

    /// Number of components of the velocity: 2 or 3; 0 without a velocity.
    pub fn velocity_components(&self) -> usize {
        self.velocity.iter().map(|part| part.layout.components(&part.variable)).sum()
    }

    /// Number of components of each of the other variables.
    pub fn array_components(&self) -> Vec<usize> {
        self.arrays.iter().map(|part| part.layout.components(&part.variable)).collect()
    }

    /// What is converted or assumed, for example `` `x` is converted from km to m ``.
    pub fn notes(&self) -> &[String] {
        &self.units.notes
    }

    /// Those of the notes that say how the file is read by its own attributes.
    pub fn conversions(&self) -> &[String] {
        &self.units.conversions
    }

    /// Reads the values of one time in a box of nodes, by ranges along x, y and z in the order of the file.
    ///
    /// # Errors
    ///
    /// If the time or a range does not exist, or the data cannot be read.
    pub fn read(&self, time: usize, [x, y, z]: [Span; 3]) -> Result<CfFrame> {
        let columns = self.turn.map_or_else(|| vec![x], |turn| turn.in_file(x));
        let mut parts = columns.into_iter().map(|x| self.read_box(time, [x, y, z]));
        let first = parts.next().unwrap_or_else(|| self.read_box(time, [x, y, z]))?;
        match parts.next() {
            Some(next) => Ok(first.beside(next?, y.count * z.count)),
            None => Ok(first),
        }
    }

    /// Reads a box of nodes, by ranges in the file.
    fn read_box(&self, time: usize, ranges: [Span; 3]) -> Result<CfFrame> {
        let Decoded { values: velocity, missing } = self.read_velocity(time, ranges)?;
        let numbers = |part: &Part| {
            let width = part.layout.components(&part.variable);
            Ok(self.read_parts((std::slice::from_ref(part), width), time, ranges)?.values)
        };
        Ok(CfFrame {
            missing,
            velocity,
            diffusivity: self.diffusivity.as_ref().map(numbers).transpose()?,
            arrays: self.arrays.iter().map(numbers).collect::<Result<_>>()?,
        })
    }

    /// The velocity with three components, and whether it is missing at each node.
    fn read_velocity(&self, time: usize, ranges: [Span; 3]) -> Result<Decoded> {
        let Decoded { values, missing } = self.read_parts((&self.velocity, 3), time, ranges)?;
        let missing = missing.map(|all| all.chunks(3).map(|v| v.contains(&true)).collect());
        Ok(Decoded { values, missing })
    }

    /// The numbers of variables with one component each, or of one variable, node by node: `width` numbers for each; missing
    /// components are 0.
    fn read_parts(
        &self,
        (parts, width): (&[Part], usize),
        time: usize,
        ranges: [Span; 3],
    ) -> Result<Decoded> {
        let counts = ranges.map(|range| range.count);
        let Some(first) = parts.first() else {
            return Ok(Decoded { values: Values::F32(Vec::new()), missing: None });
        };
        let fail = |reason: &str| Error::variable(self.store.path(), &first.variable.name, reason);
        let count = counts.iter().try_fold(width, |all: usize, count| all.checked_mul(*count));
        let count = count.ok_or_else(|| fail("it has more values than can be counted"))?;
        let is_single = parts.iter().all(|part| part.packing.is_single());
        let is_large = is_large(size_of::<f32>() * (count / width.max(1)));
        let read = |part: &Part| part.read(&*self.store, time, ranges);
        let read = read_each(parts, is_large, read)?;
        // Allocated after the data has been read, by which its size is known to be true.
        let values = Values::filled(is_single, count, 0.0);
        let mut values = values.map_err(|_| fail("its values do not fit into memory"))?;
        let has_missing = read.iter().any(|part| part.missing.is_some());
        let mut missing = has_missing.then(|| vec![false; count]);
        for (component, (part, found)) in parts.iter().zip(read).enumerate() {
            let runs = part.runs(counts, width);
            let copied = match &mut values {
                Values::F32(values) => {
                    copy_from(values, component, &found.values.into_f32(), &runs)
                }
                Values::F64(values) => {
                    copy_from(values, component, &found.values.into_f64(), &runs)
                }
            };
            let copied = copied.and_then(|()| match (&mut missing, &found.missing) {
                (Some(missing), Some(found)) => copy_from(missing, component, found, &runs),
                _ => Some(()),
            });
            copied
                .ok_or_else(|| fail("its values are of another number than its dimensions tell"))?;
        }
        Ok(Decoded { values, missing })
    }
}

/// Copies to a component of the nodes.
fn copy_from<T: Copy>(to: &mut [T], component: usize, from: &[T], runs: &[Run]) -> Option<()> {
    copy(to.get_mut(component..)?, from, runs)
}

/// Refuses a velocity that has neither two nor three components.
fn check_components(store: &dyn Store, velocity: &[Part]) -> Result<()> {
    let each: Vec<usize> =
        velocity.iter().map(|part| part.layout.components(&part.variable)).collect();
    let names: Vec<&str> = velocity.iter().map(|part| part.variable.name.as_str()).collect();
    match each.as_slice() {
        [] | [2 | 3] | [1, 1] | [1, 1, 1] => Ok(()),
        [_] => Err(choice(
            store,
            format!(
                "`{}` has one component; give two or three variables, as in `velocity = [\"u\", \"v\", \"w\"]`, \
                 or one with a dimension of 2 or 3 components",
                names.join(", ")
            ),
        )),
        _ => Err(choice(
            store,
            format!(
                "`{}` are not two or three variables of one component each",
                names.join("`, `")
            ),
        )),
    }
}
