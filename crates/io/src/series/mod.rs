//! Velocity fields in one or several files.

mod arrays;
mod cf;
mod choice;
mod compare;
mod diffusivity;
mod distinct_points;
mod entries;
mod file_series;
mod find;
mod frame_source;
mod frames;
mod geometry;
mod ghosts;
mod grid;
mod info;
mod inspect;
mod mask;
mod mesh;
mod names;
mod numbers;
mod open_files;
mod options;
mod overlaps;
mod part;
mod points;
mod pvd;
mod reading;
mod times;
mod values;
mod velocity;

pub use burntrace_cf::{
    Attribute, COAST, Calendar, Clock, Convention, Corners, DataSet, Dimension, Numbers, SURFACE,
    ScalarType, Span, Staggering, Values, Variable, set_threads as set_reading_threads,
};
pub use burntrace_vtk::Kind;
pub use cf::{SeriesTimes, times};
pub use entries::{ArrayEntry, AxisInfo};
pub use frames::{At, Frames};
pub use geometry::{Closure, Geometry};
pub use info::SeriesInfo;
pub use inspect::{FileContents, contents, inspect};
pub use mask::{LandMask, MaskFile};
pub use mesh::{BoundaryInfo, CellCount, MeshCounts, MeshInfo, MeshSeries};
pub use names::{ComponentFiles, Files};
pub use options::{Crop, NamedArray, NamedFaces, OtherCells, SeriesOptions};
pub use points::PointSeries;
pub use times::{CaseTimes, SameTimes, TimesFrom};
pub use velocity::{Association, VelocityInfo, VelocityName};

use crate::Result;
use burntrace_core::{FrameData, GridSource, Placement};
use cf::{CfFiles, CfTimes, Survey};
use compare::check_grids;
use find::{is_cf, open_first};
use frame_source::implement_series;
use ghosts::has_flags;
use grid::Grid;
use part::GridPart;
use std::ops::Range;
use times::Timeline;

/// A velocity field on a grid in one or several VTK files, one frame each, or in NetCDF files or Zarr
/// groups with one or several frames each.
///
/// [`open`](Series::open) reads the structure of all files, so that problems are found before a run.
/// [`read_frame`](Series::read_frame) reads the velocities.
///
/// ```no_run
/// use burntrace_io::{Frames, Series, SeriesOptions};
///
/// let options = SeriesOptions {
///     file_dt: Some(0.1),
///     frames: Frames { max: Some(10), ..Default::default() },
///     ..Default::default()
/// };
/// let series = Series::open("run/u_*.vti", &options)?;
/// assert_eq!(series.times_from().to_string(), "file numbers x 0.1");
/// # Ok::<(), burntrace_io::Error>(())
/// ```
#[derive(Debug)]
pub struct Series {
    timeline: Timeline,
    /// The grid of the frames.
    grid: Grid,
    /// The grid of the files, and the part of it that is read; `None` for all of it.
    part: Option<(Grid, GridPart)>,
    velocity: VelocityInfo,
    /// Whether any file may hide values.
    hides: bool,
    /// Whether each value is land by a mask.
    is_land: Option<Vec<bool>>,
    /// The open NetCDF files or Zarr groups; `None` for VTK files.
    cf: Option<CfFiles>,
    info: SeriesInfo,
}

impl Series {
    /// Opens a series: one VTK file, NetCDF file or Zarr group, a pattern, a list, or a `.pvd` or `.series` file.
    ///
    /// Reads image data, rectilinear grids, and structured grids with nodes aligned along axes, and the
    /// grids of NetCDF files and Zarr groups, whose units are converted to metres and seconds, or whose
    /// [positions](Series::geometry) are longitude and latitude. Decreasing axes are reversed together with their
    /// data.
    ///
    /// # Errors
    ///
    /// If files are missing or damaged, their times are unknown or do not increase, no frame is
    /// selected, the velocity is missing or ambiguous, the diffusivity is missing, or the frames are
    /// not all on one grid with axes.
    pub fn open(files: impl Into<Files>, options: &SeriesOptions) -> Result<Series> {
        let files = files.into();
        options.check_without_model()?;
        if is_cf(&files)? {
            return Series::open_cf(&files, options);
        }
        let (timeline, file, mut info) = open_first(&files, options)?;
        let grid = Grid::read(&file)?;
        let velocity = VelocityInfo::of(&file, options, VelocityInfo::choose)?;
        velocity.locate(&file)?;
        let has_flags = check_grids(&timeline, &grid, &velocity)? || has_flags(&file);
        let on_points = velocity.association == Association::Point;
        let hides = has_flags && !options.ignore_hidden;
        let part = GridPart::of(&grid, options, velocity.association, file.path())?;
        let (grid, part) = info.add_part(grid, part, options.crop);
        info.add_grid(&grid, Some(&velocity), on_points);
        let is_land = info.add_mask(options, file.path(), (&grid, velocity.association))?;
        Ok(Series { timeline, grid, part, velocity, hides, is_land, cf: None, info })
    }

    /// Reads a frame: the velocity `u, v, w` of each node or cell, and the diffusivity if the
    /// options name its array. x varies fastest. Only these arrays are decoded. May be called
    /// concurrently.
    ///
    /// Points and cells that the array `vtkGhostType` hides (bit 2 of a point, or of a point of the cell,
    /// bit 32 of a cell) are [hidden](FrameData::hidden), unless the options ignore that, as are nodes whose
    /// velocity is a missing value of a NetCDF file or a Zarr group. Land by a [mask](LandMask) is hidden, too.
    ///
    /// Arrays of a type that single precision represents exactly are returned in single precision,
    /// all others in double precision.
    ///
    /// # Errors
    ///
    /// If the frame does not exist, its file has been removed, damaged or replaced by one of another
    /// shape, a diffusivity is negative or not finite, or the velocity is at the points and a cell is
    /// hidden whose points are not.
    pub fn read_frame(&self, frame: usize) -> Result<FrameData> {
        let frame = self.read_on(frame, &self.grid, self.part.as_ref())?;
        let Some(is_land) = &self.is_land else { return Ok(frame) };
        let is_hidden = |i: usize| frame.hidden().is_some_and(|hidden| hidden[i]);
        let hidden =
            (0..).zip(is_land).map(|(i, is_land)| *is_land || is_hidden(i)).collect::<Vec<_>>();
        Ok(frame.with_hidden(hidden))
    }

    /// Reads ranges of the nodes of a frame, or the cells between them, without hiding land by a [mask](LandMask). A NetCDF file or a
    /// Zarr group is decoded only there.
    ///
    /// # Errors
    ///
    /// As for [`read_frame`](Series::read_frame).
    pub fn read_box(&self, frame: usize, nodes: &[Range<usize>; 3]) -> Result<FrameData> {
        let all = || GridPart::whole(&self.grid, self.velocity.association);
        let (whole, part) = match &self.part {
            Some((whole, part)) => (whole, part.within(nodes)),
            None => (&self.grid, all().within(nodes)),
        };
        self.read_on(frame, &part.grid(whole), Some(&(whole.clone(), part)))
    }

    /// Whether positions are lengths, or longitude and latitude.
    pub fn geometry(&self) -> Geometry {
        self.grid.geometry()
    }

    fn open_cf(files: &Files, options: &SeriesOptions) -> Result<Series> {
        let survey = Survey::of(files, options)?;
        let mut info = SeriesInfo::of_cf(survey.first.store());
        let path = &survey.times.timeline.paths[0];
        let part = GridPart::of(&survey.grid, options, Association::Point, path)?;
        let (grid, part) = info.add_part(survey.grid.clone(), part, options.crop);
        grid.check_turn(path)?;
        survey.describe(&mut info, &grid);
        let is_land = info.add_mask(options, path, (&grid, Association::Point))?;
        let Survey { times: CfTimes { timeline, .. }, velocity, turn, .. } = survey;
        let (hides, cf) = (!options.ignore_hidden, Some(CfFiles::turned(turn)));
        Ok(Series { timeline, grid, part, velocity, hides, is_land, cf, info })
    }

    /// Reads a frame on a grid, which may be a part of that of the files.
    fn read_on(
        &self,
        frame: usize,
        grid: &Grid,
        part: Option<&(Grid, GridPart)>,
    ) -> Result<FrameData> {
        if let Some(files) = &self.cf {
            let of_frame = self.timeline.files(frame)?;
            return files.read(of_frame, &self.velocity, (grid, part), self.hides);
        }
        let file = self.timeline.open(frame)?;
        let Some((whole, part)) = part else {
            return self.velocity.read(&file, grid, self.hides);
        };
        let widths = self.velocity.sampled.arrays.iter().map(|array| array.components);
        Ok(part.take(self.velocity.read(&file, whole, self.hides)?, widths))
    }
}

impl GridSource for Series {
    fn axes(&self) -> &[Vec<f64>; 3] {
        &self.grid.axes
    }

    fn placement(&self) -> Placement {
        self.velocity.placement()
    }
}

implement_series!(Series);

impl Series {
    fn add_arrays(&mut self, arrays: &[NamedArray]) -> Result<()> {
        self.velocity = self.velocity.clone().with_arrays_of(&self.timeline, arrays)?;
        Ok(())
    }
}
