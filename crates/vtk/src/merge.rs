//! Joins the parts of an array, and checks that they agree where they overlap.

use crate::Error;
use crate::array::{ArrayInfo, Association, GridBox, Part, Placement};
use crate::source::ErrorContext;
use crate::values::Values;

/// Flag of duplicate points and cells in the array `vtkGhostType`, which another piece owns.
const DUPLICATE: u8 = 1;

/// Maximum difference of the values of two pieces at a shared point or cell, relative to the largest
/// value.
const DATA_TOLERANCE: f64 = 1e-5;

/// The same for coordinates, in units of the precision of their type.
const COORDINATE_TOLERANCE: f64 = 16.0;

/// What is known of a tuple of the joined array.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Missing,
    /// From a piece that marks it as a duplicate.
    Duplicate,
    Owned,
}

/// A tuple for which two pieces have different values.
struct Conflict<'a> {
    tuple: usize,
    difference: f64,
    values: [f64; 2],
    context: ErrorContext<'a>,
}

/// An array that is being joined.
struct Joined<'a> {
    components: usize,
    values: Values,
    states: Vec<State>,
    /// The largest difference so far.
    conflict: Option<Conflict<'a>>,
}

/// Whether each tuple of a part is a duplicate, by its flags (or levels, of earlier VTK versions).
pub(crate) fn duplicates(flags: &Values, are_levels: bool) -> Vec<bool> {
    let is_duplicate = |flags: f64| match are_levels {
        true => flags > 0.0,
        false => flags as u8 & DUPLICATE != 0,
    };
    (0..flags.len()).map(|tuple| flags.get(tuple).is_some_and(is_duplicate)).collect()
}

/// Joins the parts of an array. `masks` say which of their tuples are duplicates; without masks, none
/// are. Where tuples overlap, those that are not duplicates are used, and must agree.
pub(crate) fn join(
    context: ErrorContext<'_>,
    info: &ArrayInfo,
    parts: Vec<(&Part, ErrorContext<'_>, Values)>,
    masks: &[Vec<bool>],
) -> Result<Values, Error> {
    let count = info.tuples.saturating_mul(info.components);
    let mut values = Values::empty(info.scalar);
    values.try_reserve(count).map_err(|_| context.out_of_memory(count))?;
    values.resize(count);
    let mut states = Vec::new();
    states.try_reserve_exact(info.tuples).map_err(|_| context.out_of_memory(info.tuples))?;
    states.resize(info.tuples, State::Missing);
    let mut joined = Joined { components: info.components, values, states, conflict: None };
    let mut next = 0;
    for (index, (part, of_part, values)) in parts.iter().enumerate() {
        let target = match part.placement {
            Placement::Box(target) => target,
            Placement::Append { .. } => {
                let start = [next, 0, 0];
                next += part.tuples;
                GridBox { start, size: [part.tuples, 1, 1], grid_size: [info.tuples, 1, 1] }
            }
        };
        let mask = masks.get(index).map_or(&[][..], Vec::as_slice);
        joined
            .add(*of_part, values, mask, target)
            .ok_or_else(|| of_part.malformed("a piece outside the data set", "pieces inside it"))?;
    }
    joined.finish(context, info)
}

impl<'a> Joined<'a> {
    /// Copies the tuples of a part into a box; `None` if it is out of bounds.
    fn add(
        &mut self,
        context: ErrorContext<'a>,
        part: &Values,
        mask: &[bool],
        target: GridBox,
    ) -> Option<()> {
        let [start_x, start_y, start_z] = target.start;
        let [row, rows, layers] = target.size;
        let [size_x, size_y, _] = target.grid_size;
        if start_x + row > size_x || start_y + rows > size_y {
            return None;
        }
        for line in 0..rows * layers {
            let (y, z) = (start_y + line % rows, start_z + line / rows);
            let (to, from) = ((z * size_y + y) * size_x + start_x, line * row);
            let states = self.states.get_mut(to..to + row)?;
            if mask.is_empty() && states.iter().all(|state| *state == State::Missing) {
                states.fill(State::Owned);
                self.copy(to, part, from, row)?;
                continue;
            }
            for i in 0..row {
                let is_duplicate = mask.get(from + i).copied().unwrap_or(false);
                self.add_tuple(context, to + i, part, (from + i, is_duplicate))?;
            }
        }
        Some(())
    }

    fn add_tuple(
        &mut self,
        context: ErrorContext<'a>,
        to: usize,
        part: &Values,
        (from, is_duplicate): (usize, bool),
    ) -> Option<()> {
        let state = self.states.get_mut(to)?;
        match (*state, is_duplicate) {
            (State::Owned, false) => return self.compare(context, to, part, from),
            (State::Missing, true) => *state = State::Duplicate,
            (_, true) => return Some(()),
            (_, false) => *state = State::Owned,
        }
        self.copy(to, part, from, 1)
    }

    fn copy(&mut self, to: usize, part: &Values, from: usize, tuples: usize) -> Option<()> {
        let width = self.components;
        self.values.copy_run(to * width, part, from * width, tuples * width)
    }

    /// Records the difference of a tuple, if it is the largest.
    fn compare(
        &mut self,
        context: ErrorContext<'a>,
        tuple: usize,
        part: &Values,
        from: usize,
    ) -> Option<()> {
        for component in 0..self.components {
            let here = self.values.get(tuple * self.components + component)?;
            let there = part.get(from * self.components + component)?;
            let difference = difference(here, there);
            let largest = self.conflict.as_ref().map_or(0.0, |conflict| conflict.difference);
            if difference > largest {
                self.conflict =
                    Some(Conflict { tuple, difference, values: [here, there], context });
            }
        }
        Some(())
    }

    /// The joined values, if they are complete and without conflict.
    fn finish(self, context: ErrorContext<'_>, info: &ArrayInfo) -> Result<Values, Error> {
        if let Some(tuple) = self.states.iter().position(|state| *state == State::Missing) {
            let found = format!("no piece with tuple `{tuple}`");
            return Err(context.malformed(found, "pieces that cover the data set"));
        }
        let Some(conflict) = self.conflict else { return Ok(self.values) };
        let tolerance = match info.association {
            Association::Topology => COORDINATE_TOLERANCE * info.scalar.epsilon(),
            _ => DATA_TOLERANCE,
        };
        if conflict.difference <= tolerance * self.values.magnitude() {
            return Ok(self.values);
        }
        let ([here, there], tuple) = (conflict.values, conflict.tuple);
        Err(conflict.context.malformed(
            format!(
                "`{there}` for tuple `{tuple}` of the whole, which is `{here}` in another piece"
            ),
            "pieces that agree where they overlap, or duplicates marked by `vtkGhostType`",
        ))
    }
}

/// The difference of two numbers; 0 if neither is a number.
fn difference(a: f64, b: f64) -> f64 {
    if a == b || (a.is_nan() && b.is_nan()) {
        return 0.0;
    }
    let difference = (a - b).abs();
    if difference.is_nan() { f64::INFINITY } else { difference }
}
