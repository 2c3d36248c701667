//! The dimensions of a variable of a model: time, levels, rows and columns.

use crate::layout::time_of;
use crate::mesh::{Gather, Weights, decode};
use crate::packing::Decoded;
use crate::store::{Span, Store, Variable};
use crate::units::Quantity;
use crate::{Error, Result};

/// The dimensions of a variable whose last two are the rows and the columns.
#[derive(Clone, Debug)]
pub(super) struct Dims {
    pub variable: Variable,
    time: Option<usize>,
    /// The dimension of the levels; `None` if there is one level.
    z: Option<usize>,
}

/// A range of levels, rows and columns.
pub(super) type Box3 = [Span; 3];

impl Dims {
    /// The dimensions of a variable.
    ///
    /// # Errors
    ///
    /// If it has fewer than two, or others beside the time and the levels.
    pub fn of(store: &dyn Store, variable: &Variable) -> Result<Dims> {
        let fail = |reason: String| Error::variable(store.path(), &variable.name, reason);
        let count = variable.dimensions.len();
        if count < 2 {
            return Err(fail(format!(
                "it has {count} dimensions, and rows and columns of a grid are needed; name another variable"
            )));
        }
        let (time, _) = time_of(store, variable);
        let is_other = |d: &usize| Some(*d) != time && variable.dimensions[*d].len > 1;
        let others: Vec<usize> = (0..count - 2).filter(is_other).collect();
        match others.as_slice() {
            [] => Ok(Dims { variable: variable.clone(), time, z: None }),
            [z] => Ok(Dims { variable: variable.clone(), time, z: Some(*z) }),
            [.., last] => Err(fail(format!(
                "its dimension `{0}` is neither the time nor the levels; select one index of it (in xarray: \
                 `ds.isel({0}=0)`)",
                variable.dimensions[*last].name
            ))),
        }
    }

    fn len(&self, from_end: usize) -> usize {
        self.variable.dimensions[self.variable.dimensions.len() - 1 - from_end].len
    }

    /// Number of levels, rows and columns.
    pub fn size(&self) -> [usize; 3] {
        let levels = self.z.map_or(1, |z| self.variable.dimensions[z].len);
        [levels, self.len(1), self.len(0)]
    }

    /// The dimension of the levels, also of a single one that has a coordinate.
    pub fn levels(&self) -> Option<usize> {
        let single =
            || (0..self.variable.dimensions.len() - 2).rev().find(|d| Some(*d) != self.time);
        self.z.or_else(single)
    }

    /// The names of the rows and the columns.
    pub fn horizontal(&self) -> [&str; 2] {
        let dimensions = &self.variable.dimensions;
        [2, 1].map(|end| dimensions[dimensions.len() - end].name.as_str())
    }

    /// How a box of the variable is read.
    pub fn gather(&self, quantity: Option<Quantity>, of: Box3, weights: Weights) -> Gather {
        let [levels, rows, columns] = of;
        let count = self.variable.dimensions.len();
        let span = |d: usize| match d {
            _ if Some(d) == self.z => levels,
            _ if d + 2 == count => rows,
            _ if d + 1 == count => columns,
            _ => Span::one(0),
        };
        let slab = (0..count).map(span).collect();
        Gather { variable: self.variable.name.clone(), quantity, slab, time: self.time, weights }
    }

    /// The decoded numbers of a box at the first time, level by level and row by row.
    pub fn read(&self, store: &dyn Store, of: Box3) -> Result<Decoded> {
        let all = self.gather(None, of, Weights::NOTHING);
        decode(store, &self.variable, &all.slab, None)
    }
}

impl Dims {
    /// The name of the dimension of the levels.
    pub fn level_name(&self) -> Option<&str> {
        self.levels().map(|d| self.variable.dimensions[d].name.as_str())
    }
}
