//! The dimensions of a variable of a model: time, levels, rows and columns.

use crate::layout::{axis_of, coordinate_of, time_of};
use crate::mesh::{Gather, NONE, Weights, decode};
use crate::packing::Decoded;
use crate::store::{Dimension, Span, Store, Variable};
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
    /// If it has fewer than two, the time among the last two, others beside the time and the levels, or more values
    /// than can be read.
    pub fn of(store: &dyn Store, variable: &Variable) -> Result<Dims> {
        let fail = |reason: String| Error::variable(store.path(), &variable.name, reason);
        let count = variable.dimensions.len();
        let (time, _) = time_of(store, variable);
        let fixed = count - usize::from(time.is_some());
        if fixed < 2 {
            return Err(fail(format!(
                "rows and columns of its grid are not found: it has {fixed} dimensions beside the time; name another \
                 variable, or the file of its nodes and faces, as in `corners = {{ files = \"grid.nc\" }}`"
            )));
        }
        if let Some(d) = time.filter(|d| d + 2 >= count) {
            return Err(fail(format!(
                "its time is not before its rows and columns: {variable}; transpose it (in xarray: \
                 `ds.transpose(\"{}\", ...)`)",
                variable.dimensions[d].name
            )));
        }
        let is_other = |d: &usize| Some(*d) != time && variable.dimensions[*d].len > 1;
        let others: Vec<usize> = (0..count - 2).filter(is_other).collect();
        let read = others.iter().copied().chain([count - 2, count - 1]);
        let values = read.map(|d| variable.dimensions[d].len).fold(1, usize::saturating_mul);
        match others.as_slice() {
            [] | [_] if values >= NONE as usize => Err(fail(format!(
                "it has {values} values at a time, and at most {NONE} can be read of a mesh"
            ))),
            [] => Ok(Dims { variable: variable.clone(), time, z: None }),
            [z] if !is_ensemble(store, variable, *z) => {
                Ok(Dims { variable: variable.clone(), time, z: Some(*z) })
            }
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

    /// The dimension of time.
    pub fn time(&self) -> Option<&Dimension> {
        self.time.map(|d| &self.variable.dimensions[d])
    }

    /// How a box of the variable is read.
    pub fn gather(&self, quantity: Option<Quantity>, of: Box3, weights: Weights) -> Gather {
        let (variable, slab) = (self.variable.name.clone(), self.slab(of));
        Gather { variable, quantity, slab, time: self.time, weights }
    }

    /// The indices of a box at the first time.
    pub fn slab(&self, [levels, rows, columns]: Box3) -> Vec<Span> {
        let count = self.variable.dimensions.len();
        let span = |d: usize| match d {
            _ if Some(d) == self.z => levels,
            _ if d + 2 == count => rows,
            _ if d + 1 == count => columns,
            _ => Span::one(0),
        };
        (0..count).map(span).collect()
    }

    /// The decoded numbers of a box at the first time, level by level and row by row.
    pub fn read(&self, store: &dyn Store, of: Box3, quantity: Option<Quantity>) -> Result<Decoded> {
        decode(store, &self.variable, &self.slab(of), quantity)
    }

    /// The name of the dimension of the levels.
    pub fn level_name(&self) -> Option<&str> {
        self.levels().map(|d| self.variable.dimensions[d].name.as_str())
    }
}

impl Span {
    /// Indices from `start`.
    pub(crate) fn range(start: usize, count: usize) -> Span {
        Span { start, count, step: 1 }
    }
}

/// Whether a variable is in the middle of the cells with these velocities on their faces, by the numbers and names of its
/// rows and columns.
pub(super) fn is_in_cells(dims: &Dims, [u, v]: [&Dims; 2]) -> bool {
    let ([_, rows, _], [_, _, columns]) = (u.size(), v.size());
    let names = dims.horizontal();
    let is_on_faces =
        u.horizontal() != v.horizontal() && (names == u.horizontal() || names == v.horizontal());
    dims.size()[1..] == [rows, columns] && !is_on_faces
}

/// Whether a dimension is that of the members of an ensemble by its name or its coordinate, or along x or y.
fn is_ensemble(store: &dyn Store, variable: &Variable, d: usize) -> bool {
    let name = variable.dimensions[d].name.to_ascii_lowercase();
    let is_named = ["member", "ens", "realization"].iter().any(|start| name.starts_with(start));
    let coordinate = coordinate_of(store, variable, d);
    let is_other = |of: &Variable| {
        of.text("standard_name") == Some("realization") || matches!(axis_of(of), Some(0..=1))
    };
    is_named || coordinate.is_some_and(is_other)
}
