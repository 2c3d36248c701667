//! The grid of a file: its axes, and the reversal of decreasing axes.

use super::geometry::{Geometry, check_turn, turn_to};
use super::options::SeriesOptions;
use crate::{Error, Result};
use burntrace_cf::Turn;
use burntrace_vtk::{Geometry as OfFile, VtkFile};
use std::path::Path;

pub(super) const AXES: [char; 3] = ['x', 'y', 'z'];

/// Maximum distance of a node from its position on the axes, relative to the minimum spacing.
const TOLERANCE: f64 = 1e-6;

/// A grid with axes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Grid {
    /// Node coordinates of the x, y and z axes, increasing.
    pub axes: [Vec<f64>; 3],
    /// Whether each axis decreases in the file.
    pub flipped: [bool; 3],
    /// Whether x and y are longitude and latitude in degrees.
    pub is_in_degrees: bool,
}

impl Grid {
    /// Reads the grid of a file.
    ///
    /// # Errors
    ///
    /// If the data set has no axes along x, y and z, or an axis is not strictly monotonic.
    pub fn read(file: &VtkFile) -> Result<Grid> {
        let axes = match file.geometry() {
            OfFile::Image { .. } | OfFile::Rectilinear { .. } => file.coordinates()?,
            OfFile::Structured { dims, .. } => structured_axes(file, *dims)?,
            OfFile::Unstructured { .. } | OfFile::PolyData { .. } => {
                // The note of an image whose axes are tilted.
                let note = file.notes().iter().find(|note| note.contains("`Direction`"));
                let detail = note.map_or(String::new(), |note| format!(": {note}"));
                return Err(without_axes(file, detail));
            }
        };
        Grid::of(axes, file.path())
    }

    /// The grid with these axes in the order of a file.
    ///
    /// # Errors
    ///
    /// If an axis is not strictly monotonic.
    pub fn of(mut axes: [Vec<f64>; 3], path: &Path) -> Result<Grid> {
        let mut flipped = [false; 3];
        for (d, axis) in axes.iter_mut().enumerate() {
            flipped[d] = matches!(axis.as_slice(), [first, .., last] if first > last);
            if flipped[d] {
                axis.reverse();
            }
            if let Some(reason) = unusable(axis) {
                return Err(Error::Axis { path: path.into(), axis: AXES[d], reason });
            }
        }
        Ok(Grid { axes, flipped, is_in_degrees: false })
    }

    pub fn geometry(&self) -> Geometry {
        match self.is_in_degrees {
            true => Geometry::of_degrees(&self.axes[0]),
            false => Geometry::Flat,
        }
    }

    /// The turn of longitudes that options ask for.
    pub fn turn_to(&self, options: &SeriesOptions) -> Option<Turn> {
        let to = options.turned_to().filter(|_| self.is_in_degrees)?;
        turn_to(&self.axes[0], to, self.flipped[0])
    }

    /// Refuses longitudes of more than a full turn.
    pub fn check_turn(&self, path: &Path) -> Result<()> {
        let checked = if self.is_in_degrees { check_turn(&self.axes[0]) } else { Ok(()) };
        checked.map_err(|reason| Error::Part { path: path.into(), reason })
    }

    /// Nodes along each axis.
    pub fn nodes(&self) -> [usize; 3] {
        self.axes.each_ref().map(Vec::len)
    }

    /// Number of cells along each axis; one along an axis of one node.
    pub fn cells(&self) -> [usize; 3] {
        self.nodes().map(|nodes| (nodes - 1).max(1))
    }

    /// How another grid differs from this one, if it does.
    pub fn difference(&self, other: &Grid) -> Option<String> {
        if self.is_in_degrees != other.is_in_degrees {
            let units = if other.is_in_degrees {
                "in degrees, not lengths"
            } else {
                "lengths, not in degrees"
            };
            return Some(format!("its axes are {units}"));
        }
        let (nodes, others) = (self.nodes(), other.nodes());
        if nodes != others {
            let count = |[x, y, z]: [usize; 3]| format!("{x} x {y} x {z} nodes");
            return Some(format!("it has {}, not {}", count(others), count(nodes)));
        }
        (0..3).find_map(|d| {
            if self.flipped[d] != other.flipped[d] {
                return Some(format!("its {} axis has the opposite direction", AXES[d]));
            }
            let tolerance = TOLERANCE * min_spacing(&self.axes[d]).unwrap_or(0.0);
            let mut pairs = self.axes[d].iter().zip(&other.axes[d]);
            let node = pairs.position(|(a, b)| (a - b).abs() > tolerance)?;
            let (expected, found) = (self.axes[d][node], other.axes[d][node]);
            Some(format!("node {node} of its {} axis is at {found}, not at {expected}", AXES[d]))
        })
    }
}

/// Why an axis, flipped if it decreases, cannot be used.
fn unusable(axis: &[f64]) -> Option<String> {
    if axis.is_empty() {
        return Some("has no nodes".into());
    }
    if let Some(node) = axis.iter().position(|x| !x.is_finite()) {
        return Some(format!("is {} at node {node}, which is not a coordinate", axis[node]));
    }
    let node = axis.array_windows().position(|[a, b]| a >= b)?;
    let (before, after) = (axis[node], axis[node + 1]);
    Some(format!("is not strictly monotonic: {before} is followed by {after}"))
}

/// Minimum distance between nodes of an axis; `None` if there is one node.
pub(super) fn min_spacing(axis: &[f64]) -> Option<f64> {
    axis.array_windows().map(|[a, b]| (b - a).abs()).reduce(f64::min)
}

/// The axes of a structured grid. It has axes if x depends only on the first index, y on the second
/// and z on the third.
fn structured_axes(file: &VtkFile, dims: [usize; 3]) -> Result<[Vec<f64>; 3]> {
    let points = file.points()?.values.into_f64();
    let [nx, ny, _] = dims;
    let strides = [1, nx, nx * ny];
    let axes: [Vec<f64>; 3] = std::array::from_fn(|d| {
        (0..dims[d]).filter_map(|i| points.get(3 * i * strides[d] + d).copied()).collect()
    });
    // For an axis of one node, which has no spacing.
    let min = axes.iter().filter_map(|axis| min_spacing(axis)).fold(f64::INFINITY, f64::min);
    let tolerance = axes.each_ref().map(|axis| TOLERANCE * min_spacing(axis).unwrap_or(min));
    for (node, point) in points.chunks_exact(3).enumerate() {
        for d in 0..3 {
            let index = node / strides[d] % dims[d].max(1);
            // The negation also refuses NaN.
            if !matches!(axes[d].get(index), Some(x) if (point[d] - x).abs() <= tolerance[d]) {
                let detail = format!(": node {node} is not aligned with the axes");
                return Err(without_axes(file, detail));
            }
        }
    }
    Ok(axes)
}

fn without_axes(file: &VtkFile, detail: String) -> Error {
    Error::NoGrid { path: file.path().into(), kind: file.kind(), detail }
}

/// Reverses values of `width` numbers on a grid along its flipped axes; `counts` are the numbers of
/// values along the axes.
pub(super) fn flip<T: Copy>(
    values: Vec<T>,
    width: usize,
    counts: [usize; 3],
    flipped: [bool; 3],
) -> Vec<T> {
    if flipped == [false; 3] || values.is_empty() {
        return values;
    }
    let [nx, ny, nz] = counts;
    let source = |d: usize, i: usize| if flipped[d] { counts[d] - 1 - i } else { i };
    let mut reversed = Vec::with_capacity(values.len());
    for k in 0..nz {
        for j in 0..ny {
            let start = width * nx * (source(2, k) * ny + source(1, j));
            let row = &values[start..start + width * nx];
            match flipped[0] {
                true => reversed.extend(row.chunks(width).rev().flatten()),
                false => reversed.extend_from_slice(row),
            }
        }
    }
    reversed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(x: &[f64]) -> Grid {
        let axes = [x.into(), vec![0.0, 1.0], vec![0.0]];
        Grid { axes, flipped: [false; 3], is_in_degrees: false }
    }

    #[test]
    fn differences_are_named() {
        let first = grid(&[0.0, 0.1, 0.3]);
        assert_eq!(first.difference(&grid(&[0.0, 0.1 + 1e-9, 0.3])), None);
        let moved = first.difference(&grid(&[0.0, 0.1, 0.4])).unwrap();
        assert_eq!(moved, "node 2 of its x axis is at 0.4, not at 0.3");
        let smaller = first.difference(&grid(&[0.0, 0.1])).unwrap();
        assert_eq!(smaller, "it has 2 x 2 x 1 nodes, not 3 x 2 x 1 nodes");
        let reversed = Grid { flipped: [false, true, false], ..first.clone() };
        let difference = first.difference(&reversed).unwrap();
        assert_eq!(difference, "its y axis has the opposite direction");
        let sphere = Grid { is_in_degrees: true, ..first.clone() };
        assert_eq!(first.difference(&sphere).unwrap(), "its axes are in degrees, not lengths");
        assert_eq!(first.cells(), [2, 1, 1]);
    }

    #[test]
    fn an_axis_must_be_strictly_monotonic() {
        assert_eq!(unusable(&[0.0]), None);
        assert_eq!(unusable(&[0.0, 1.0, 3.0]), None);
        assert!(unusable(&[]).unwrap().contains("no nodes"));
        assert!(unusable(&[0.0, f64::NAN]).unwrap().contains("NaN at node 1"));
        assert!(unusable(&[0.0, 2.0, 1.0, 3.0]).unwrap().contains("2 is followed by 1"));
    }

    #[test]
    fn values_are_reversed_with_their_axes() {
        let values: Vec<i32> = (0..4).flat_map(|i| [i, 10 * i, 100 * i]).collect();
        let order = |flipped| -> Vec<i32> {
            flip(values.clone(), 3, [2, 2, 1], flipped).chunks(3).map(|v| v[0]).collect()
        };
        assert_eq!(order([false; 3]), [0, 1, 2, 3]);
        assert_eq!(order([true, false, false]), [1, 0, 3, 2]);
        assert_eq!(order([false, true, true]), [2, 3, 0, 1]);
    }
}
