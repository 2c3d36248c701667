//! A velocity field over one or many VTK files.

mod diffusivity;
mod frames;
mod grid;
mod info;
mod inspect;
mod mesh;
mod names;
mod points;
mod pvd;
mod times;
mod velocity;

pub use frames::{At, Frames};
pub use info::{ArrayEntry, AxisInfo, SeriesInfo};
pub use inspect::inspect;
pub use mesh::{CellCount, MeshCounts, MeshInfo, MeshSeries, OtherCells};
pub use names::Files;
pub use points::PointSeries;
pub use times::{CaseTimes, TimeOptions, TimesFrom};
pub use velocity::{Association, VelocityInfo, VelocityName};

use crate::{Error, Result, listing::counted};
use burntrace_core::{FrameData, GridSource, Placement};
use burntrace_vtk::VtkFile;
use grid::Grid;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use times::Timeline;

/// How the files of a series are read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SeriesOptions {
    /// The times of the files.
    pub time: TimeOptions,
    /// Which of the frames to take.
    pub frames: Frames,
    /// Which array is the velocity.
    pub velocity: VelocityName,
    /// Which one to take where the same name is there for the points and for the cells.
    pub prefer: Option<Association>,
    /// Which array is the diffusivity of a random walk, if any: one number for each point or cell,
    /// where the velocity is.
    pub diffusivity: Option<String>,
    /// What becomes of cells of which no mesh can be made; only a [`MeshSeries`] looks at cells.
    pub other_cells: OtherCells,
}

/// What every series says of itself, and how the tracer reads it: the series holds a `line`, a
/// `velocity` and an `info`, and reads the velocity and the diffusivity of a frame by its number.
macro_rules! tell {
    ($series:ident) => {
        impl $series {
            /// Where the times come from.
            pub fn times_from(&self) -> TimesFrom {
                self.line.from
            }

            /// The file of each frame.
            pub fn paths(&self) -> &[std::path::PathBuf] {
                &self.line.paths
            }

            /// The arrays that are the velocity, and the diffusivity beside it.
            pub fn velocity(&self) -> &VelocityInfo {
                &self.velocity
            }

            /// What there is to know about the series.
            pub fn info(&self) -> &SeriesInfo {
                &self.info
            }
        }

        impl burntrace_core::FrameSource for $series {
            fn times(&self) -> &[f64] {
                &self.line.times
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
                let found = crate::series::together(frames, |frame| self.read_frame(frame));
                found.into_iter().map(|frame| Ok(frame?)).collect()
            }
        }
    };
}
use tell;

/// What is read of several frames, each by a thread of its own. Those of a pool may be busy with
/// steps for long.
fn together<T: Send>(frames: &[usize], read: impl Fn(usize) -> Result<T> + Sync) -> Vec<Result<T>> {
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

/// A velocity field on a grid over one or many VTK files, one frame each.
///
/// [`open`](Series::open) reads the structure of the files, so that whatever would keep a frame
/// from being read is known before a run; the velocities stay in the files until
/// [`read_frame`](Series::read_frame).
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
    line: Timeline,
    grid: Grid,
    velocity: VelocityInfo,
    info: SeriesInfo,
}

impl Series {
    /// Opens a series: one VTK file, a pattern, a list, or a `.pvd` file.
    ///
    /// Image data, rectilinear grids, and structured grids whose nodes lie along axes can be read.
    /// Axes that decrease are turned round together with their data.
    ///
    /// # Errors
    ///
    /// If files are missing or damaged, their times are not known or do not increase, no frame is
    /// selected, it is not clear which array is the velocity, the diffusivity is not there, or the
    /// frames are not all on one grid with axes.
    pub fn open(files: impl Into<Files>, options: &SeriesOptions) -> Result<Series> {
        let (line, file, mut info) = begin(&files.into(), options)?;
        let grid = Grid::read(&file)?;
        let velocity = VelocityInfo::choose(&file, &options.velocity, options.prefer)?
            .with_diffusivity(&file, options.diffusivity.as_ref())?;
        velocity.locate(&file)?;
        check_grids(&line.paths, &grid, &velocity)?;
        let on_points = velocity.association == Association::Point;
        info.settle(&grid, Some(&velocity), on_points);
        Ok(Series { line, grid, velocity, info })
    }

    /// Reads a frame: the velocity `u, v, w` of each node or cell, and the diffusivity if the
    /// options name its array. x varies fastest. Only these arrays are decoded. May be called from
    /// several threads at once.
    ///
    /// Arrays whose numbers single precision represents exactly are returned in single precision,
    /// all others in double precision.
    ///
    /// # Errors
    ///
    /// If there is no such frame, if its file has been removed, damaged or replaced by one of
    /// another shape, or if a diffusivity is negative or not finite.
    pub fn read_frame(&self, frame: usize) -> Result<FrameData> {
        let file = burntrace_vtk::open(frame_path(&self.line.paths, frame)?)?;
        self.velocity.read(&file, &self.grid)
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

tell!(Series);

/// The selected files with their times, the first file, and what is known of them so far.
fn begin(files: &Files, options: &SeriesOptions) -> Result<(Timeline, VtkFile, SeriesInfo)> {
    let (line, found) = timeline(files, options)?;
    let file = burntrace_vtk::open(&line.paths[0])?;
    let mut info = SeriesInfo::of(&file);
    describe_times(&mut info, &line, found);
    Ok((line, file, info))
}

fn describe_times(info: &mut SeriesInfo, line: &Timeline, found: usize) {
    info.files = line.paths.clone();
    info.files_found = found;
    info.times = line.times.clone();
    info.times_from = Some(line.from);
}

/// The selected files with their times, and how many there were to select from.
fn timeline(files: &Files, options: &SeriesOptions) -> Result<(Timeline, usize)> {
    let (paths, in_pvd) = find(files)?;
    let all = times::resolve(paths, in_pvd, &options.time)?;
    let chosen = options.frames.select(&all.times)?;
    let line = Timeline {
        paths: chosen.iter().map(|&i| all.paths[i].clone()).collect(),
        times: chosen.iter().map(|&i| all.times[i]).collect(),
        from: all.from,
    };
    Ok((line, all.paths.len()))
}

/// The files, at least one, with the times that a `.pvd` file gives them.
fn find(files: &Files) -> Result<(Vec<PathBuf>, Option<Vec<f64>>)> {
    let paths = files.paths()?;
    match paths.iter().find(|path| is_pvd(path)) {
        None => Ok((paths, None)),
        Some(pvd) if paths.len() == 1 => {
            let (paths, times) = pvd::read(pvd)?.into_iter().unzip();
            Ok((paths, Some(times)))
        }
        Some(pvd) => Err(Error::Files(format!(
            "`{}` is a collection and stands among other files; name it alone, or the others",
            pvd.display()
        ))),
    }
}

fn is_pvd(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("pvd"))
}

/// The file of a frame.
fn frame_path(paths: &[PathBuf], frame: usize) -> Result<&Path> {
    let missing = || Error::Index { what: "frame", index: frame, count: paths.len() };
    paths.get(frame).map(PathBuf::as_path).ok_or_else(missing)
}

/// Makes sure that all frames after the first one are on its grid and have the velocity.
fn check_grids(paths: &[PathBuf], grid: &Grid, velocity: &VelocityInfo) -> Result<()> {
    check_others(paths, velocity, "grid", |file| Ok(grid.difference(&Grid::read(file)?)))
}

/// Makes sure that all frames after the first one have the velocity, `on` the same as the first
/// one: `difference` says how a file is not.
fn check_others(
    paths: &[PathBuf],
    velocity: &VelocityInfo,
    on: &'static str,
    difference: impl Fn(&VtkFile) -> Result<Option<String>>,
) -> Result<()> {
    for (frame, path) in paths.iter().enumerate().skip(1) {
        let file = burntrace_vtk::open(path)?;
        velocity.locate(&file)?;
        if let Some(difference) = difference(&file)? {
            return Err(differs(paths, frame, on, difference));
        }
    }
    Ok(())
}

/// Says that a frame is not `on` the same as the first one.
fn differs(paths: &[PathBuf], frame: usize, on: &'static str, difference: String) -> Error {
    let [path, first] = [frame, 0].map(|frame| paths.get(frame).cloned().unwrap_or_default());
    Error::FrameDiffers { frame, path, first, on, difference }
}

/// How a number of points or cells is not that of the first file.
fn other_count(found: usize, expected: usize, thing: &str) -> Option<String> {
    (found != expected).then(|| format!("it has {}, not {expected}", counted(found, thing)))
}
