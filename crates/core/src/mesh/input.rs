//! Cells as input, and their validation.

use super::bounds::Bounds;
use crate::{Error, Result};
use burntrace_kernels::CellKind;

/// The cells of a mesh: their kinds, and their nodes in VTK's order, cell by cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cells {
    /// The kind of each of `n` cells.
    pub kinds: Vec<CellKind>,
    /// Start of each cell's nodes in `connectivity`, followed by its length: `n + 1` numbers from
    /// 0.
    pub offsets: Vec<u32>,
    /// Indices of points.
    pub connectivity: Vec<u32>,
}

/// Maximum number of cells and of points: on a device, indices of faces and entries of bins are
/// `i32`, and a cell may have eight of them.
const MAX_COUNT: usize = i32::MAX as usize / 8;

impl Cells {
    /// Indices of the points of one cell.
    pub fn nodes(&self, cell: usize) -> &[u32] {
        &self.connectivity[self.offsets[cell] as usize..self.offsets[cell + 1] as usize]
    }

    /// The mean of the points of one cell.
    pub(crate) fn centre(&self, cell: usize, points: &[[f64; 3]]) -> [f64; 3] {
        mean(self.nodes(cell).iter().copied(), points)
    }

    /// Number of cells.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether there are no cells.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Checks the cells against each other and a number of points, and returns their dimension.
    pub(super) fn check(&self, points: usize) -> Result<usize> {
        if self.is_empty() {
            return refuse("it has no cells; give one or more".into());
        }
        let count = self.len().max(points);
        if count > MAX_COUNT {
            return refuse(format!("it has {count} cells or points; the maximum is {MAX_COUNT}"));
        }
        self.check_offsets()?;
        match self.connectivity.iter().position(|node| *node as usize >= points) {
            None => self.dimension(),
            Some(k) => {
                let cell = self.offsets.partition_point(|start| *start as usize <= k) - 1;
                refuse(format!(
                    "cell {cell} has a node at point {}, of {points} points; give smaller indices",
                    self.connectivity[k]
                ))
            }
        }
    }

    fn check_offsets(&self) -> Result<()> {
        let (cells, offsets) = (self.len(), self.offsets.len());
        if offsets != cells + 1 {
            return refuse(format!(
                "{offsets} offsets are given for {cells} cells; give {}, including the end",
                cells + 1
            ));
        }
        let mut end = 0_usize;
        for (cell, kind) in self.kinds.iter().enumerate() {
            let [from, to] = [self.offsets[cell], self.offsets[cell + 1]].map(|x| x as usize);
            if from != end || to != from + kind.nodes() {
                return refuse(format!(
                    "cell {cell}, a {}, has its nodes at {from} to {to} of the connectivity; they \
                     should be at {end} to {}",
                    kind.table().name,
                    end + kind.nodes()
                ));
            }
            end = to;
        }
        let given = self.connectivity.len();
        if end != given {
            return refuse(format!("the connectivity has {given} numbers; the cells use {end}"));
        }
        Ok(())
    }

    /// The axis normal to two-dimensional cells, which are in a plane x, y or z = const; `None` in three
    /// dimensions.
    ///
    /// # Errors
    ///
    /// As [`Mesh::new`](super::Mesh::new), if the cells are inconsistent or not in such a plane.
    pub fn flat_axis(&self, points: &[[f64; 3]]) -> Result<Option<usize>> {
        match self.check(points.len())? {
            2 => flat_axis(points, self).map(Some),
            _ => Ok(None),
        }
    }

    fn dimension(&self) -> Result<usize> {
        let flat = self.kinds.iter().filter(|kind| kind.dimension() == 2).count();
        let solid = self.len() - flat;
        if flat > 0 && solid > 0 {
            return refuse(format!(
                "{flat} cells are two-dimensional and {solid} three-dimensional; give cells of one \
                 dimension"
            ));
        }
        Ok(if flat > 0 { 2 } else { 3 })
    }
}

/// The mean of some points.
pub(crate) fn mean(
    nodes: impl ExactSizeIterator<Item = u32> + Clone,
    points: &[[f64; 3]],
) -> [f64; 3] {
    let count = nodes.len() as f64;
    [0, 1, 2].map(|d| nodes.clone().map(|node| points[node as usize][d]).sum::<f64>() / count)
}

pub(super) fn refuse<T>(reason: String) -> Result<T> {
    Err(Error::Mesh(reason))
}

pub(super) fn check_points(points: &[[f64; 3]]) -> Result<()> {
    match points.iter().position(|p| p.iter().any(|x| !x.is_finite())) {
        None => Ok(()),
        Some(i) => refuse(format!("point {i} is at {:?}, which is not finite", points[i])),
    }
}

/// Maximum deviation of a flat mesh from a plane, as a fraction of its extent.
const FLATNESS: f64 = 1e-6;

/// The axis normal to the plane of two-dimensional cells.
pub(super) fn flat_axis(points: &[[f64; 3]], cells: &Cells) -> Result<usize> {
    let nodes = cells.connectivity.iter().map(|node| points[*node as usize]);
    let Bounds { low, high } = Bounds::of(nodes);
    let extent = [0, 1, 2].map(|d| high[d] - low[d]);
    let longest = extent.iter().copied().fold(0.0, f64::max);
    let is_flat = |d: &usize| extent[*d] <= FLATNESS * longest;
    match [2, 1, 0].into_iter().find(is_flat) {
        Some(axis) => Ok(axis),
        None => refuse(format!(
            "its cells are two-dimensional, but extend from {low:?} to {high:?}; give cells in one plane \
             x, y or z = const"
        )),
    }
}
