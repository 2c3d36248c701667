//! The points of a file without duplicates.

use super::compare::{check_frames, count_difference, first_moved};
use super::times::Timeline;
use super::velocity::VelocityInfo;
use crate::{Result, points::positions};
use burntrace_vtk::VtkFile;
use std::cmp::Ordering;

/// The points of a file without duplicates.
#[derive(Debug)]
pub(super) struct DistinctPoints {
    /// Number of points in the file.
    pub count: usize,
    /// Coordinates, in the order of the file.
    pub positions: Vec<[f64; 3]>,
    /// Indices of the points in the file; `None` if there are no duplicates.
    pub indices: Option<Vec<usize>>,
}

impl DistinctPoints {
    /// Reads the points of a file.
    ///
    /// # Errors
    ///
    /// If the file has no points, or one that is not finite.
    pub fn read(file: &VtkFile) -> Result<DistinctPoints> {
        Ok(DistinctPoints::of(positions(file)?))
    }

    /// Removes duplicates from the points of a file.
    pub fn of(mut positions: Vec<[f64; 3]>) -> DistinctPoints {
        let count = positions.len();
        let indices = first_occurrences(&positions);
        if let Some(indices) = &indices {
            positions = indices.iter().map(|&point| positions[point]).collect();
        }
        DistinctPoints { count, positions, indices }
    }

    /// Checks that all frames have these points and the velocity. Returns whether any of them, except for
    /// the first, has flags of hidden points or cells.
    pub fn check_frames(&self, timeline: &Timeline, velocity: &VelocityInfo) -> Result<bool> {
        check_frames(timeline, velocity, "points", |file| Ok(self.difference(&positions(file)?)))
    }

    /// How the points of another file differ from these, if they do.
    fn difference(&self, others: &[[f64; 3]]) -> Option<String> {
        let point = |node: usize| self.indices.as_ref().map_or(node, |indices| indices[node]);
        let nodes = self.positions.iter().enumerate();
        count_difference(others.len(), self.count, "point").or_else(|| {
            first_moved(nodes.map(|(node, here)| (point(node), *here, others[point(node)])))
        })
    }
}

/// Indices of the points that do not coincide with an earlier point; `None` if there are no
/// duplicates.
fn first_occurrences(points: &[[f64; 3]]) -> Option<Vec<usize>> {
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_unstable_by(|&a, &b| by_coordinates(&points[a], &points[b]).then(a.cmp(&b)));
    let mut is_first = vec![true; points.len()];
    for &[before, after] in order.array_windows() {
        is_first[after] = points[before] != points[after];
    }
    if is_first.iter().all(|is_first| *is_first) {
        return None;
    }
    Some((0..points.len()).filter(|&point| is_first[point]).collect())
}

/// An order of finite points in which coincident points are adjacent.
fn by_coordinates(a: &[f64; 3], b: &[f64; 3]) -> Ordering {
    a.partial_cmp(b).unwrap_or(Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use super::super::values::{Selection, select};
    use super::*;
    use burntrace_core::Floats;

    #[test]
    fn the_first_of_coincident_points_is_kept() {
        let [a, b, c] = [[0.0, 1.0, 2.0], [0.0, 1.0, 3.0], [-0.0, 1.0, 2.0]];
        assert_eq!(first_occurrences(&[a, b]), None);
        assert_eq!(first_occurrences(&[]), None);
        assert_eq!(first_occurrences(&[b, a, c, b, a]), Some(vec![0, 1]));
        let nodes = DistinctPoints { count: 5, positions: vec![b, a], indices: Some(vec![0, 3]) };
        let values = Floats::F32((0..15_u8).map(f32::from).collect());
        let picked =
            select(values, 3, nodes.indices.as_deref().map_or(Selection::All, Selection::Indices));
        assert_eq!(picked, Floats::F32(vec![0.0, 1.0, 2.0, 9.0, 10.0, 11.0]));
    }

    #[test]
    fn differences_are_described() {
        let [a, b, c] = [[0.0; 3], [1.0, 0.0, 0.0], [1.0, 0.5, 0.0]];
        let nodes = DistinctPoints { count: 3, positions: vec![a, b], indices: Some(vec![0, 2]) };
        assert_eq!(nodes.difference(&[a, a, b]), None);
        assert_eq!(nodes.difference(&[a, b]).unwrap(), "it has 2 points, not 3");
        let moved = nodes.difference(&[a, a, c]).unwrap();
        assert_eq!(moved, "its point 2 is at (1, 0.5, 0), not at (1, 0, 0)");
    }
}
