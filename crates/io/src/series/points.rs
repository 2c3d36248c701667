//! Velocity fields on scattered points.

use super::distinct_points::DistinctPoints;
use super::find::open_first;
use super::frame_source::implement_series;
use super::ghosts::has_flags;
use super::info::SeriesInfo;
use super::names::Files;
use super::options::{NamedArray, SeriesOptions};
use super::times::{Timeline, TimesFrom};
use super::values::Selection;
use super::velocity::VelocityInfo;
use crate::Result;
use burntrace_core::{FrameData, PointSource};

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
        options.check_without_grid()?;
        options.check_without_model()?;
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

impl PointSeries {
    fn add_arrays(&mut self, arrays: &[NamedArray]) -> Result<()> {
        self.velocity = self.velocity.clone().with_arrays_of(&self.timeline, arrays)?;
        Ok(())
    }
}
