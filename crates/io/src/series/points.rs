//! A velocity on the points of files, whatever lies between them.

use super::times::Timeline;
use super::velocity::VelocityInfo;
use super::{
    Files, SeriesInfo, SeriesOptions, TimesFrom, begin, check_others, frame_path, other_count, tell,
};
use crate::{Result, points::positions};
use burntrace_core::{FrameData, PointSource};
use burntrace_vtk::VtkFile;
use std::cmp::Ordering;
use std::path::PathBuf;

/// A velocity field on scattered points over one or many VTK files, one frame each.
///
/// The points of any data set will do: poly data, unstructured and structured grids, and the nodes
/// of image data and rectilinear grids. Points at the same place, as on the seams of a `.pvtu`, are
/// taken once, with the velocity of the first of them: twice they would count twice in a mean.
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
    line: Timeline,
    nodes: Nodes,
    velocity: VelocityInfo,
    info: SeriesInfo,
}

impl PointSeries {
    /// Opens a series: one VTK file, a pattern, a list, or a `.pvd` file. The points of all frames
    /// are read, and must be those of the first one in the same order.
    ///
    /// # Errors
    ///
    /// If files are missing or damaged, their times are not known or do not increase, no frame is
    /// selected, it is not clear which array is the velocity, it is in the cells, the diffusivity is
    /// not there, or the frames are not all on the same points, which must be finite.
    pub fn open(files: impl Into<Files>, options: &SeriesOptions) -> Result<PointSeries> {
        let (line, file, mut info) = begin(&files.into(), options)?;
        let velocity = VelocityInfo::choose_on_points(&file, &options.velocity, options.prefer)?
            .with_diffusivity(&file, options.diffusivity.as_ref())?;
        velocity.locate(&file)?;
        let nodes = Nodes::read(&file)?;
        nodes.check_others(&line.paths, &velocity)?;
        info.settle_points(&nodes);
        info.settle_on_points(&nodes, &velocity);
        Ok(PointSeries { line, nodes, velocity, info })
    }

    /// Reads a frame: the velocity `u, v, w` at each of the [`positions`](PointSource::positions),
    /// and the diffusivity if the options name its array, in the precision of
    /// [`Series::read_frame`](super::Series::read_frame). May be called from several threads at
    /// once.
    ///
    /// # Errors
    ///
    /// If there is no such frame, if its file has been removed, damaged or replaced by one with
    /// another number of points, or if a diffusivity is negative or not finite.
    pub fn read_frame(&self, frame: usize) -> Result<FrameData> {
        let file = burntrace_vtk::open(frame_path(&self.line.paths, frame)?)?;
        self.velocity.read_selected(&file, self.nodes.count, self.nodes.kept.as_deref())
    }
}

impl PointSource for PointSeries {
    fn positions(&self) -> &[[f64; 3]] {
        &self.nodes.positions
    }
}

tell!(PointSeries);

/// The points of a file, each place once.
#[derive(Debug)]
pub(super) struct Nodes {
    /// How many points the file has.
    pub count: usize,
    /// The places, in the order of the file.
    pub positions: Vec<[f64; 3]>,
    /// Which points of the file these are; `None`: all of them.
    kept: Option<Vec<usize>>,
}

impl Nodes {
    /// Reads the points of a file.
    ///
    /// # Errors
    ///
    /// If it has none, or one that is not finite.
    pub fn read(file: &VtkFile) -> Result<Nodes> {
        Ok(Nodes::of(positions(file)?))
    }

    /// The points of a file, which are `positions`.
    pub fn of(mut positions: Vec<[f64; 3]>) -> Nodes {
        let count = positions.len();
        let kept = first_of_each(&positions);
        if let Some(kept) = &kept {
            positions = kept.iter().map(|&point| positions[point]).collect();
        }
        Nodes { count, positions, kept }
    }

    /// Makes sure that all frames after the first one are on its points and have the velocity.
    pub fn check_others(&self, paths: &[PathBuf], velocity: &VelocityInfo) -> Result<()> {
        check_others(paths, velocity, "points", |file| Ok(self.difference(&positions(file)?)))
    }

    /// How the points of another file differ from these, if they do.
    fn difference(&self, others: &[[f64; 3]]) -> Option<String> {
        let point = |node: usize| self.kept.as_ref().map_or(node, |kept| kept[node]);
        let nodes = self.positions.iter().enumerate();
        other_count(others.len(), self.count, "point")
            .or_else(|| moved(nodes.map(|(node, here)| (point(node), *here, others[point(node)]))))
    }
}

/// Which of some points, each with its place in the first file and in another one, has moved first.
pub(super) fn moved(
    mut points: impl Iterator<Item = (usize, [f64; 3], [f64; 3])>,
) -> Option<String> {
    let (point, here, there) = points.find(|(_, here, there)| here != there)?;
    let [there, here] = [there, here].map(|[x, y, z]| format!("({x}, {y}, {z})"));
    Some(format!("its point {point} is at {there}, not at {here}"))
}

/// The least and the greatest corner of the box around points.
pub(super) fn bounds(points: &[[f64; 3]]) -> [[f64; 3]; 2] {
    let corner = |limit: f64, choose: fn(f64, f64) -> f64| {
        points
            .iter()
            .fold([limit; 3], |corner, point| std::array::from_fn(|d| choose(corner[d], point[d])))
    };
    [corner(f64::INFINITY, f64::min), corner(f64::NEG_INFINITY, f64::max)]
}

/// The points that are the first ones at their places; `None` if all are.
fn first_of_each(points: &[[f64; 3]]) -> Option<Vec<usize>> {
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_unstable_by(|&a, &b| by_place(&points[a], &points[b]).then(a.cmp(&b)));
    let mut is_first = vec![true; points.len()];
    for &[before, after] in order.array_windows() {
        is_first[after] = points[before] != points[after];
    }
    if is_first.iter().all(|is_first| *is_first) {
        return None;
    }
    Some((0..points.len()).filter(|&point| is_first[point]).collect())
}

/// An order of finite points in which those at the same place are neighbours.
fn by_place(a: &[f64; 3], b: &[f64; 3]) -> Ordering {
    a.partial_cmp(b).unwrap_or(Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use super::super::velocity::pick;
    use super::*;
    use burntrace_core::Floats;

    #[test]
    fn the_first_point_of_a_place_is_kept() {
        let [a, b, c] = [[0.0, 1.0, 2.0], [0.0, 1.0, 3.0], [-0.0, 1.0, 2.0]];
        assert_eq!(first_of_each(&[a, b]), None);
        assert_eq!(first_of_each(&[]), None);
        assert_eq!(first_of_each(&[b, a, c, b, a]), Some(vec![0, 1]));
        let nodes = Nodes { count: 5, positions: vec![b, a], kept: Some(vec![0, 3]) };
        let values = Floats::F32((0..15_u8).map(f32::from).collect());
        let picked = pick::<3>(values, nodes.kept.as_deref());
        assert_eq!(picked, Floats::F32(vec![0.0, 1.0, 2.0, 9.0, 10.0, 11.0]));
        assert_eq!(bounds(&nodes.positions), [[0.0, 1.0, 2.0], [0.0, 1.0, 3.0]]);
    }

    #[test]
    fn differences_are_named() {
        let [a, b, c] = [[0.0; 3], [1.0, 0.0, 0.0], [1.0, 0.5, 0.0]];
        let nodes = Nodes { count: 3, positions: vec![a, b], kept: Some(vec![0, 2]) };
        assert_eq!(nodes.difference(&[a, a, b]), None);
        assert_eq!(nodes.difference(&[a, b]).unwrap(), "it has 2 points, not 3");
        let moved = nodes.difference(&[a, a, c]).unwrap();
        assert_eq!(moved, "its point 2 is at (1, 0.5, 0), not at (1, 0, 0)");
    }
}
