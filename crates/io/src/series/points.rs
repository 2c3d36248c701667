//! Velocity fields on scattered points.

use super::ghosts::has_flags;
use super::times::Timeline;
use super::values::Selection;
use super::velocity::VelocityInfo;
use super::{
    Files, NamedArray, SeriesInfo, SeriesOptions, TimesFrom, check_frames, count_difference, crop,
    implement_series, open_first,
};
use crate::{Result, points::positions};
use burntrace_core::{FrameData, PointSource};
use burntrace_vtk::VtkFile;
use std::cmp::Ordering;

/// A velocity field on scattered points in one or several VTK files, one frame each.
///
/// Reads the points of any data set: poly data, unstructured and structured grids, and the nodes of
/// image data and rectilinear grids. Of coincident points, as on the seams of a `.pvtu`, only the
/// first is used, so that they do not count twice in a mean. Hidden points are read as by
/// [`Series::read_frame`](super::Series::read_frame).
///
/// ```no_run
/// use burntrace_core::PointSource;
/// use burntrace_io::{PointSeries, SeriesOptions};
///
/// let series = PointSeries::open("run/mesh_*.vtu", &SeriesOptions::default())?;
/// println!("{} nodes", series.positions().len());
/// # Ok::<(), burntrace_io::Error>(())
/// ```
#[derive(Debug)]
pub struct PointSeries {
    timeline: Timeline,
    nodes: DistinctPoints,
    velocity: VelocityInfo,
    /// Whether any file may hide points.
    hides: bool,
    info: SeriesInfo,
}

impl PointSeries {
    /// Opens a series: one VTK file, a pattern, a list, or a `.pvd` or `.series` file. All frames must have the
    /// same points in the same order.
    ///
    /// # Errors
    ///
    /// If files are missing or damaged, their times are unknown or do not increase, no frame is
    /// selected, the velocity is missing, ambiguous or in the cells, the diffusivity is missing, the
    /// frames do not all have the same points, or a point is not finite.
    pub fn open(files: impl Into<Files>, options: &SeriesOptions) -> Result<PointSeries> {
        crop::refuse(options)?;
        let (timeline, file, mut info) = open_first(&files.into(), options)?;
        let velocity = VelocityInfo::of(&file, options, VelocityInfo::choose_on_points)?;
        velocity.check_on_points(&file)?;
        velocity.locate(&file)?;
        let nodes = DistinctPoints::read(&file)?;
        let has_flags = nodes.check_frames(&timeline, &velocity)? || has_flags(&file);
        let hides = has_flags && !options.ignore_hidden;
        info.set_points(&nodes);
        info.add_points(&nodes, &velocity);
        Ok(PointSeries { timeline, nodes, velocity, hides, info })
    }

    /// Reads a frame: the velocity `u, v, w` at each of the [`positions`](PointSource::positions),
    /// and the diffusivity if the options name its array, in the precision of
    /// [`Series::read_frame`](super::Series::read_frame). May be called concurrently.
    ///
    /// # Errors
    ///
    /// If the frame does not exist, its file has been removed, damaged or replaced by one with another
    /// number of points, or a diffusivity is negative or not finite.
    pub fn read_frame(&self, frame: usize) -> Result<FrameData> {
        let file = self.timeline.open(frame)?;
        let indices = self.nodes.indices.as_deref();
        let selected = (self.nodes.count, indices.map_or(Selection::All, Selection::Indices));
        self.velocity.read_selected(&file, selected, self.hides)
    }
}

impl PointSource for PointSeries {
    fn positions(&self) -> &[[f64; 3]] {
        &self.nodes.positions
    }
}

implement_series!(PointSeries);

/// The points of a file without duplicates.
#[derive(Debug)]
pub(super) struct DistinctPoints {
    /// Number of points in the file.
    pub count: usize,
    /// Coordinates, in the order of the file.
    pub positions: Vec<[f64; 3]>,
    /// Indices of the points in the file; `None` if there are no duplicates.
    indices: Option<Vec<usize>>,
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

/// The message for the first point that has moved. Items are the index of a point, and its
/// coordinates in the first file and in another one.
pub(super) fn first_moved(
    mut points: impl Iterator<Item = (usize, [f64; 3], [f64; 3])>,
) -> Option<String> {
    let (point, here, there) = points.find(|(_, here, there)| here != there)?;
    let [there, here] = [there, here].map(|[x, y, z]| format!("({x}, {y}, {z})"));
    Some(format!("its point {point} is at {there}, not at {here}"))
}

/// Minimum and maximum corner of the bounding box of points.
pub(super) fn bounds(points: &[[f64; 3]]) -> [[f64; 3]; 2] {
    let corner = |limit: f64, choose: fn(f64, f64) -> f64| {
        points
            .iter()
            .fold([limit; 3], |corner, point| std::array::from_fn(|d| choose(corner[d], point[d])))
    };
    [corner(f64::INFINITY, f64::min), corner(f64::NEG_INFINITY, f64::max)]
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
    use super::super::values::select;
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
        assert_eq!(bounds(&nodes.positions), [[0.0, 1.0, 2.0], [0.0, 1.0, 3.0]]);
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
