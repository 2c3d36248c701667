//! Velocity fields in one or several files.

mod arrays;
mod cf;
mod choice;
mod crop;
mod diffusivity;
mod file_series;
mod frames;
mod ghosts;
mod grid;
mod info;
mod inspect;
mod mesh;
mod names;
mod points;
mod pvd;
mod times;
mod values;
mod velocity;

pub use arrays::NamedArray;
pub use burntrace_vtk::Kind;
pub use crop::Crop;
pub use frames::{At, Frames};
pub use info::{ArrayEntry, AxisInfo, SeriesInfo};
pub use inspect::{FileContents, contents, inspect};
pub use mesh::{BoundaryInfo, CellCount, MeshCounts, MeshInfo, MeshSeries, NamedFaces, OtherCells};
pub use names::Files;
pub use points::PointSeries;
pub use times::{CaseTimes, TimeOptions, TimesFrom};
pub use velocity::{Association, VelocityInfo, VelocityName};

use crate::{Error, Result, listing::counted};
use burntrace_core::{FrameData, GridBlock, GridSource, Placement, SourceError};
use burntrace_vtk::VtkFile;
use cf::CfFiles;
use crop::GridPart;
use ghosts::has_flags;
use grid::Grid;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use times::{FrameFiles, SourcedTimes, Timeline};

/// Options for reading a series.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SeriesOptions {
    /// The times of the files.
    pub time: TimeOptions,
    /// The frames to read.
    pub frames: Frames,
    /// The velocity array.
    pub velocity: VelocityName,
    /// Point or cell array, if both have the name of the velocity.
    pub prefer: Option<Association>,
    /// The diffusivity array of a random walk, if any: one number per point or cell, with the same
    /// association as the velocity, in length squared per time.
    pub diffusivity: Option<String>,
    /// Other arrays of the frames, with the same association as the velocity: scalars, vectors or
    /// tensors, which can be sampled along tracks.
    #[serde(skip)]
    pub arrays: Vec<NamedArray>,
    /// The box of which a grid is read; the whole grid if omitted. Only for a [`Series`].
    pub crop: Option<Crop>,
    /// Every how many nodes along x, y and z of a grid with values at the nodes are read, from the first node
    /// on; all if omitted. Only for a [`Series`].
    pub every: Option<[usize; 3]>,
    /// Whether to use the values of points and cells that `vtkGhostType` hides; not for a
    /// [`MeshSeries`].
    pub ignore_hidden: bool,
    /// The treatment of cells that cannot be part of a mesh; only for a [`MeshSeries`].
    pub other_cells: OtherCells,
    /// Faces of the boundary that become groups of the mesh; only for a [`MeshSeries`].
    pub faces: Vec<NamedFaces>,
}

/// Implements the common methods of a series, and `FrameSource`, for a type with the fields
/// `timeline`, `velocity` and `info` and the method `read_frame`.
macro_rules! implement_series {
    ($series:ident) => {
        impl $series {
            /// The source of the times.
            pub fn times_from(&self) -> TimesFrom {
                self.timeline.from
            }

            /// The file of each frame; the first one, if a frame has several parts.
            pub fn paths(&self) -> &[std::path::PathBuf] {
                &self.timeline.paths
            }

            /// The arrays of the velocity and of the diffusivity.
            pub fn velocity(&self) -> &VelocityInfo {
                &self.velocity
            }

            /// Adds arrays to the frames, with the same association as the velocity.
            ///
            /// # Errors
            ///
            /// If a file lacks one, or it has other components than in the first file.
            pub fn with_arrays(mut self, arrays: &[NamedArray]) -> Result<Self> {
                if arrays.is_empty() {
                    return Ok(self);
                }
                self.velocity = self.velocity.with_arrays_of(&self.timeline, arrays)?;
                Ok(self)
            }

            /// The description of the series.
            pub fn info(&self) -> &SeriesInfo {
                &self.info
            }
        }

        impl burntrace_core::FrameSource for $series {
            fn times(&self) -> &[f64] {
                &self.timeline.times
            }

            fn arrays(&self) -> &[burntrace_core::FieldArray] {
                &self.velocity.sampled.arrays
            }

            fn has_velocity(&self) -> bool {
                !self.velocity.arrays.is_empty()
            }

            fn cache_bytes(&self) -> u64 {
                self.timeline.cache_bytes()
            }

            fn read(
                &mut self,
                frame: usize,
            ) -> std::result::Result<burntrace_core::FrameData, burntrace_core::SourceError> {
                Ok(self.read_frame(frame)?)
            }

            fn read_many(
                &mut self,
                frames: &[usize],
            ) -> Vec<std::result::Result<burntrace_core::FrameData, burntrace_core::SourceError>>
            {
                let found =
                    crate::series::read_concurrently(frames, |frame| self.read_frame(frame));
                found.into_iter().map(|frame| Ok(frame?)).collect()
            }
        }
    };
}
use implement_series;

/// Reads several frames, each in a new thread: the threads of a pool may be busy with steps.
fn read_concurrently<T: Send>(
    frames: &[usize],
    read: impl Fn(usize) -> Result<T> + Sync,
) -> Vec<Result<T>> {
    if let [frame] = frames {
        return vec![read(*frame)];
    }
    std::thread::scope(|scope| {
        let read = &read;
        let threads: Vec<_> =
            frames.iter().map(|frame| scope.spawn(move || read(*frame))).collect();
        let found = threads.into_iter().map(|thread| thread.join());
        found.map(|found| found.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}

/// A velocity field on a grid in one or several VTK files, one frame each, or in NetCDF files or Zarr
/// groups with one or several frames each.
///
/// [`open`](Series::open) reads the structure of all files, so that problems are found before a run.
/// [`read_frame`](Series::read_frame) reads the velocities.
///
/// ```no_run
/// use burntrace_io::{Frames, Series, SeriesOptions, TimeOptions};
///
/// let options = SeriesOptions {
///     time: TimeOptions { file_dt: Some(0.1), ..Default::default() },
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
    /// The open NetCDF files or Zarr groups; `None` for VTK files.
    cf: Option<CfFiles>,
    info: SeriesInfo,
}

impl Series {
    /// Opens a series: one VTK file, NetCDF file or Zarr group, a pattern, a list, or a `.pvd` or `.series` file.
    ///
    /// Reads image data, rectilinear grids, and structured grids with nodes aligned along axes, and the
    /// grids of NetCDF files and Zarr groups, whose units are converted to metres and seconds. Decreasing
    /// axes are reversed together with their data.
    ///
    /// # Errors
    ///
    /// If files are missing or damaged, their times are unknown or do not increase, no frame is
    /// selected, the velocity is missing or ambiguous, the diffusivity is missing, or the frames are
    /// not all on one grid with axes.
    pub fn open(files: impl Into<Files>, options: &SeriesOptions) -> Result<Series> {
        let files = files.into();
        if cf::is_cf(&files)? {
            return cf::open(&files, options);
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
        Ok(Series { timeline, grid, part, velocity, hides, cf: None, info })
    }

    /// Reads a frame: the velocity `u, v, w` of each node or cell, and the diffusivity if the
    /// options name its array. x varies fastest. Only these arrays are decoded. May be called
    /// concurrently.
    ///
    /// Points and cells that the array `vtkGhostType` hides (bit 2 of a point, or of a point of the cell,
    /// bit 32 of a cell) are [hidden](FrameData::hidden), unless the options ignore that, as are nodes whose
    /// velocity is a missing value of a NetCDF file or a Zarr group.
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
        let FrameFiles { path, step, .. } = self.timeline.files(frame)?;
        let on = (&self.grid, self.part.as_ref());
        match &self.cf {
            Some(files) => files.read(path, *step, &self.velocity, on, self.hides),
            None => self.read_vtk(frame),
        }
    }
}

impl Series {
    /// Reads a block of a frame.
    fn frame_block(&self, frame: usize, block: &GridBlock) -> Result<FrameData> {
        let (whole, part) = match &self.part {
            Some((whole, part)) => (whole, part.block(block)),
            None => {
                (&self.grid, GridPart::whole(&self.grid, self.velocity.association).block(block))
            }
        };
        let FrameFiles { path, step, .. } = self.timeline.files(frame)?;
        match &self.cf {
            Some(files) => {
                let (grid, part) = (part.grid(whole), (whole.clone(), part));
                files.read(path, *step, &self.velocity, (&grid, Some(&part)), self.hides)
            }
            None => {
                let file = self.timeline.open(frame)?;
                self.velocity.read_part(&file, whole, (&part, block.nodes), self.hides)
            }
        }
    }

    fn read_vtk(&self, frame: usize) -> Result<FrameData> {
        let file = self.timeline.open(frame)?;
        match &self.part {
            None => self.velocity.read(&file, &self.grid, self.hides),
            Some((whole, part)) => {
                let widths = self.velocity.sampled.arrays.iter().map(|array| array.components);
                Ok(part.take(self.velocity.read(&file, whole, self.hides)?, widths))
            }
        }
    }
}

impl GridSource for Series {
    fn axes(&self) -> &[Vec<f64>; 3] {
        &self.grid.axes
    }

    fn placement(&self) -> Placement {
        self.velocity.placement()
    }

    fn read_block(
        &mut self,
        frame: usize,
        block: &GridBlock,
    ) -> std::result::Result<FrameData, SourceError> {
        Ok(self.frame_block(frame, block)?)
    }
}

implement_series!(Series);

/// The selected files with their times, the first file, and the description so far.
fn open_first(files: &Files, options: &SeriesOptions) -> Result<(Timeline, VtkFile, SeriesInfo)> {
    if cf::is_cf(files)? {
        return Err(cf::not_on_grid(files)?);
    }
    let (timeline, found) = select_frames(files, options)?;
    let file = timeline.open(0)?;
    let mut info = SeriesInfo::of(&file);
    info.set_times(&timeline, found);
    Ok((timeline, file, info))
}

/// The selected frames with their files and times, and the number of frames before the selection.
fn select_frames(files: &Files, options: &SeriesOptions) -> Result<(Timeline, usize)> {
    let (frames, listed) = find(files)?;
    let all = times::resolve(frames, listed, &options.time)?;
    let selected = options.frames.select(&all.times)?;
    Ok((all.select(&selected), all.frames.len()))
}

/// The frames, at least one, with their times in a `.pvd` or `.series` file.
fn find(files: &Files) -> Result<(Vec<FrameFiles>, Option<SourcedTimes>)> {
    let paths = files.paths()?;
    let collection = paths.iter().find_map(|path| Some((path, collection_times(path)?)));
    let Some((path, from)) = collection else {
        return Ok((paths.into_iter().map(FrameFiles::from).collect(), None));
    };
    if paths.len() > 1 {
        return Err(Error::Files(format!(
            "`{}` is a collection among other files; give either the collection or the files",
            path.display()
        )));
    }
    let frames = match from {
        TimesFrom::Series => file_series::read(path)?,
        _ => pvd::read(path)?,
    };
    let (frames, times) = frames.into_iter().unzip();
    Ok((frames, Some((times, from))))
}

/// Where the times of a collection of files are from; `None` if a file is not a collection.
fn collection_times(path: &Path) -> Option<TimesFrom> {
    let extension = path.extension()?;
    let kinds = [("pvd", TimesFrom::Pvd), ("series", TimesFrom::Series)];
    let kind = kinds.into_iter().find(|(name, _)| extension.eq_ignore_ascii_case(name));
    kind.map(|(_, from)| from)
}

/// Checks that all frames have the velocity and the grid of the first one. Returns whether any of them,
/// except for the first, has flags of hidden points or cells.
fn check_grids(timeline: &Timeline, grid: &Grid, velocity: &VelocityInfo) -> Result<bool> {
    check_frames(timeline, velocity, "grid", |file| Ok(grid.difference(&Grid::read(file)?)))
}

/// Checks that all frames have the velocity, and the grid, mesh or points (`on`) of the first one:
/// `difference` describes how a file differs. Returns whether any of them, except for the first, has
/// flags of hidden points or cells.
fn check_frames(
    timeline: &Timeline,
    velocity: &VelocityInfo,
    on: &'static str,
    difference: impl Fn(&VtkFile) -> Result<Option<String>>,
) -> Result<bool> {
    let mut hides = false;
    for frame in 1..timeline.frames.len() {
        let file = timeline.open(frame)?;
        velocity.locate(&file)?;
        if let Some(difference) = difference(&file)? {
            return Err(timeline.frame_differs(frame, on, difference));
        }
        hides |= has_flags(&file);
    }
    Ok(hides)
}

/// The error of a frame that differs from the first one.
fn frame_differs(paths: &[PathBuf], frame: usize, on: &'static str, difference: String) -> Error {
    let [path, first] = [frame, 0].map(|frame| paths.get(frame).cloned().unwrap_or_default());
    Error::FrameDiffers { frame, path, first, on, difference }
}

/// How a number of points or cells differs from the first file, if it does.
fn count_difference(found: usize, expected: usize, noun: &str) -> Option<String> {
    (found != expected).then(|| format!("it has {}, not {expected}", counted(found, noun)))
}
