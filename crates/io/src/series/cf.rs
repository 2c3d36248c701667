//! Series of NetCDF files and Zarr groups.

mod files;

pub(super) use files::{CfFiles, floats};

use super::find::{file_error, find, is_cf, select_frames};
use super::frames::Frames;
use super::grid::Grid;
use super::info::SeriesInfo;
use super::inspect::FileContents;
use super::mesh::MeshSeries;
use super::names::Files;
use super::options::{NamedArray, SeriesOptions};
use super::times::{FrameFiles, Timeline, TimesFrom, frame_differs, resolve_frames};
use super::velocity::{Association, VelocityInfo, VelocityName};
use crate::tracks::TimeOrigin;
use crate::{Error, Result};
use burntrace_cf::{CfGrid, Clock, Request, Store, TimeAxis, Times, Turn};
use burntrace_core::FieldArray;
use burntrace_vtk::Kind;
use std::path::PathBuf;

/// The files, which no collection may list.
pub(super) fn files_of(files: &Files) -> Result<Vec<FrameFiles>> {
    let (frames, listed) = find(files)?;
    match listed {
        None => Ok(frames),
        Some((_, from)) => Err(file_error(
            &frames[0].path,
            format!("it has times of its own, and {from} gives one; list the files themselves"),
        )),
    }
}

impl FrameFiles {
    /// Opens the NetCDF file or Zarr group, or those with a component each as one.
    pub(super) fn store(&self) -> Result<Box<dyn Store>> {
        let mut paths: Vec<PathBuf> = Vec::new();
        for (_, path) in &self.parts {
            if !paths.contains(path) {
                paths.push(path.clone());
            }
        }
        Ok(match paths.as_slice() {
            [] => burntrace_cf::open(&self.path)?,
            paths => burntrace_cf::open_joined(paths)?,
        })
    }
}

/// Describes a series, which may have problems.
pub(super) fn inspect(files: &Files, options: &SeriesOptions) -> Result<SeriesInfo> {
    let found = files_of(files)?;
    let mut info = SeriesInfo::of_cf(&*found[0].store()?);
    let survey = Survey::of(files, options);
    let survey = match survey {
        Ok(survey) => survey,
        Err(of_grid) => match MeshSeries::open_cf(files, options) {
            Ok(mesh) => return Ok(mesh.described()),
            Err(of_mesh) => {
                info.problems.extend([of_grid.to_string(), format!("as a mesh: {of_mesh}")]);
                info.files_found = found.len();
                info.files = found.into_iter().map(|file| file.path).collect();
                return Ok(info);
            }
        },
    };
    survey.describe(&mut info, &survey.grid);
    let Survey { times: CfTimes { timeline, .. }, grid, turn, velocity, .. } = survey;
    let checked = grid.check_turn(&timeline.paths[0]);
    info.problems.extend(checked.err().map(|problem| problem.to_string()));
    let hides = !options.ignore_hidden;
    let files = CfFiles::turned(turn);
    let read = |frame: &FrameFiles| files.read(frame, &velocity, (&grid, None), hides);
    match read(&timeline.frames[0]) {
        Ok(frame) => info.add_frame(&frame),
        Err(problem) => info.problems.push(problem.to_string()),
    }
    // A simulation that was stopped may have left the last one incomplete.
    let last = timeline.frames.iter().skip(1).next_back().map(read);
    info.problems.extend(last.and_then(Result::err).map(|problem| problem.to_string()));
    Ok(info)
}

/// The times of a series.
#[derive(Clone, Debug, PartialEq)]
pub struct SeriesTimes {
    /// The times of all frames.
    pub times: Vec<f64>,
    /// The date of time 0; `None` if times are not from a date, or there are none.
    pub origin: Option<TimeOrigin>,
}

/// The times of all frames of a series.
///
/// # Errors
///
/// If the files cannot be read as a series.
pub fn times(files: impl Into<Files>, options: &SeriesOptions) -> Result<SeriesTimes> {
    let files = files.into();
    let all = SeriesOptions { frames: Frames::default(), ..options.clone() };
    if !is_cf(&files)? {
        let (timeline, _) = select_frames(&files, &all)?;
        return Ok(SeriesTimes { times: timeline.times, origin: None });
    }
    // Of the grid of an ocean model, which has no axes, the times alone are known.
    let CfTimes { timeline, origin, .. } = Survey::of(&files, &all)
        .map(|survey| survey.times)
        .or_else(|error| CfTimes::of_variables(&files, &all).map_err(|_| error))?;
    Ok(SeriesTimes { times: timeline.times, origin })
}

/// The variables of the first file.
pub(super) fn contents(file: FrameFiles) -> Result<FileContents> {
    let arrays = SeriesInfo::of_cf(&*file.store()?).arrays;
    Ok(FileContents { path: file.path, kind: Kind::RectilinearGrid, arrays })
}

/// The files of a series, without the values of frames.
pub(super) struct Survey {
    pub first: CfGrid,
    pub times: CfTimes,
    pub grid: Grid,
    pub turn: Option<Turn>,
    pub velocity: VelocityInfo,
}

impl Survey {
    /// Opens the files of the selected frames.
    pub fn of(files: &Files, options: &SeriesOptions) -> Result<Survey> {
        let files = files_of(files)?;
        options.check_at_nodes(&files[0].path)?;
        let first = CfGrid::of(files[0].store()?, &requested(options))?;
        let velocity = VelocityInfo::of_cf(&first, options);
        let turn = Grid::of_cf(&first)?.turn_to(options);
        let first = first.turned(turn);
        let grid = Grid::of_cf(&first)?;
        let request = request_of(&velocity);
        let mut times = vec![first.time().cloned()];
        for (index, file) in files.iter().enumerate().skip(1) {
            let other = CfGrid::of(file.store()?, &request)?.turned(turn);
            if options.velocity == VelocityName::Auto {
                check_same_velocity(&first, &other)?;
            }
            first.check_conversions(&other)?;
            if let Some(difference) = difference(&first, &grid, &other)? {
                return Err(frame_differs(&paths_of(&files), index, "grid", difference));
            }
            times.push(other.time().cloned());
        }
        let times = CfTimes::of(&files, &times, options)?;
        Ok(Survey { first, times, grid, turn, velocity })
    }

    /// Describes the series; `read` is the grid of its frames.
    pub fn describe(&self, info: &mut SeriesInfo, read: &Grid) {
        let nodes = self.grid.nodes();
        info.points = nodes.iter().product();
        info.cells = self.grid.cells().iter().product();
        info.dims = Some(nodes);
        info.notes.extend(self.first.notes().iter().cloned());
        info.conversions.extend(self.first.conversions().iter().cloned());
        if self.grid.is_in_degrees {
            info.add_surface([&self.grid, read].map(|grid| &grid.axes[2][..]));
        }
        self.times.describe(info);
        info.add_grid(read, Some(&self.velocity), false);
    }
}

fn paths_of(files: &[FrameFiles]) -> Vec<PathBuf> {
    files.iter().map(|file| file.path.clone()).collect()
}

/// The frames of files with one or several times each.
pub(super) struct CfTimes {
    pub timeline: Timeline,
    /// Number of frames before the selection.
    found: usize,
    clock: Option<Clock>,
    origin: Option<TimeOrigin>,
}

impl CfTimes {
    /// The selected frames of files, of which these are the times.
    pub fn of(
        files: &[FrameFiles],
        times: &[Option<TimeAxis>],
        options: &SeriesOptions,
    ) -> Result<CfTimes> {
        let (known, clock) = match options.ignore_file_times {
            true => (None, None),
            false => known_times(&paths_of(files), times, options.clock.as_ref())?,
        };
        let known = known.map(|times| (times, TimesFrom::Coordinate));
        let all = resolve_frames(frames(files, times), known, options)?;
        let origin = clock.as_ref().map(TimeOrigin::of);
        let selected = options.frames.select(&all.times).map_err(|error| match error {
            Error::Frames(reason) => Error::Frames(reason + &dates_of(&origin, &all.times)),
            other => other,
        });
        let timeline = all.select(&selected?);
        Ok(CfTimes { timeline, found: all.times.len(), clock, origin })
    }

    /// The selected frames of files by the variables of their velocity, whatever their grid is.
    fn of_variables(files: &Files, options: &SeriesOptions) -> Result<CfTimes> {
        let (files, request) = (files_of(files)?, requested(options));
        let times = files.iter().map(|file| Ok(burntrace_cf::times(&*file.store()?, &request)?));
        CfTimes::of(&files, &times.collect::<Result<Vec<_>>>()?, options)
    }

    /// Describes the files, times and dates.
    pub fn describe(&self, info: &mut SeriesInfo) {
        info.time_origin = self.origin.clone();
        info.clock = self.clock.clone();
        info.set_times(&self.timeline, self.found);
        info.dates = info.time_origin.as_ref().and_then(|origin| origin.range(&info.times));
    }
}

impl TimeOrigin {
    fn of(clock: &Clock) -> Self {
        TimeOrigin { date: clock.date(), calendar: clock.calendar().name().into() }
    }
}

/// The first and the last date of times, to add to a message.
fn dates_of(origin: &Option<TimeOrigin>, times: &[f64]) -> String {
    let dates = origin.as_ref().and_then(|origin| origin.range(times));
    dates.map_or(String::new(), |[first, last]| format!(" ({first} to {last})"))
}

/// Refuses another file whose velocity would be found in other variables than that of the first one.
fn check_same_velocity(first: &CfGrid, other: &CfGrid) -> Result<()> {
    let [own, others] = [first.velocity(), burntrace_cf::velocity(other.store())?];
    if own == others {
        return Ok(());
    }
    let [own, others] = [own, others].map(|names| names.join("`, `"));
    let first = first.store().path().display();
    let reason = format!(
        "its velocity is `{others}`, and that of the first file, `{first}`, is `{own}`; name the variables that all \
         files have, as in `velocity = [\"u\", \"v\"]`, or list other files"
    );
    Err(file_error(other.store().path(), reason))
}

/// How another file differs from the first one, if it does.
fn difference(first: &CfGrid, grid: &Grid, other: &CfGrid) -> Result<Option<String>> {
    let [own, others] =
        [first, other].map(|file| (file.velocity_components(), file.array_components()));
    if own != others {
        return Ok(Some("its variables have other components".into()));
    }
    Ok(grid.difference(&Grid::of_cf(other)?))
}

impl Grid {
    fn of_cf(file: &CfGrid) -> Result<Grid> {
        let grid = Grid::of(file.axes().clone(), file.store().path())?;
        Ok(Grid { is_in_degrees: file.is_in_degrees(), ..grid })
    }
}

/// The variables that options name.
pub(super) fn requested(options: &SeriesOptions) -> Request {
    Request {
        velocity: match &options.velocity {
            VelocityName::Auto | VelocityName::None => Vec::new(),
            VelocityName::Array(name) => vec![name.clone()],
            VelocityName::Components(names) => names.to_vec(),
            VelocityName::Plane(names) => names.to_vec(),
        },
        without_velocity: options.velocity == VelocityName::None,
        diffusivity: options.diffusivity.clone(),
        arrays: options.arrays.iter().map(|array| array.array.clone()).collect(),
    }
}

/// The variables of a series.
pub(super) fn request_of(velocity: &VelocityInfo) -> Request {
    Request {
        velocity: velocity.arrays.clone(),
        without_velocity: velocity.arrays.is_empty(),
        diffusivity: velocity.diffusivity.clone(),
        arrays: velocity.sampled.in_files.clone(),
    }
}

impl VelocityInfo {
    fn of_cf(file: &CfGrid, options: &SeriesOptions) -> VelocityInfo {
        let mut velocity = VelocityInfo {
            diffusivity: options.diffusivity.clone(),
            ..VelocityInfo::new(file.velocity(), Association::Point)
        };
        velocity.add_cf_arrays(&options.arrays);
        velocity.set_cf_components(file);
        velocity
    }

    /// Adds variables, which all files must have with the same components.
    pub(super) fn with_cf_arrays(
        mut self,
        frames: &[FrameFiles],
        arrays: &[NamedArray],
    ) -> Result<VelocityInfo> {
        self.add_cf_arrays(arrays);
        let request = request_of(&self);
        let first = CfGrid::of(frames[0].store()?, &request)?;
        self.set_cf_components(&first);
        let mut others: Vec<&FrameFiles> =
            frames.iter().filter(|frame| frame.path != frames[0].path).collect();
        others.dedup_by(|a, b| a.path == b.path);
        for frame in others {
            let other = CfGrid::of(frame.store()?, &request)?;
            if other.array_components() != first.array_components() {
                let reason = "its variables have other components than those of the first file";
                return Err(file_error(&frame.path, reason));
            }
        }
        Ok(self)
    }

    pub(super) fn add_cf_arrays(&mut self, arrays: &[NamedArray]) {
        for NamedArray { array, name } in arrays {
            self.sampled.in_files.push(array.clone());
            self.sampled.arrays.push(FieldArray::new(name.clone(), 1));
        }
    }

    fn set_cf_components(&mut self, file: &CfGrid) {
        let arrays = self.sampled.arrays.iter_mut().zip(file.array_components());
        arrays.for_each(|(array, components)| array.components = components);
    }
}

/// The file and the index of each frame.
fn frames(files: &[FrameFiles], times: &[Option<TimeAxis>]) -> Vec<FrameFiles> {
    let of_file = |(file, time): (&FrameFiles, &Option<TimeAxis>)| {
        let count = time.as_ref().map_or(1, |time| time.len);
        (0..count).map(|step| FrameFiles { step, ..file.clone() }).collect::<Vec<_>>()
    };
    files.iter().zip(times).flat_map(of_file).collect()
}

type KnownTimes = (Option<Vec<f64>>, Option<Clock>);

/// The times in the files, in seconds, and the date of time 0: that of `clock`, or the first time. `None` if no
/// file has any.
fn known_times(
    paths: &[PathBuf],
    times: &[Option<TimeAxis>],
    clock: Option<&Clock>,
) -> Result<KnownTimes> {
    let (mut dated, mut plain) = (Vec::new(), Vec::new());
    for time in times.iter().flatten() {
        match &time.times {
            Times::Dated(times) => dated.push(times),
            Times::Plain(times) => plain.push(times),
            Times::Unknown => {}
        }
    }
    match (dated.as_slice(), plain.as_slice()) {
        ([], []) => Ok((None, None)),
        ([], plain) if plain.len() == times.len() => {
            Ok((Some(plain.iter().copied().flatten().copied().collect()), None))
        }
        ([first, ..], []) if dated.len() == times.len() => {
            let seconds = |clock: &Clock| {
                let all = dated.iter().zip(paths).map(|(times, path)| {
                    times.seconds_from(clock).map_err(|reason| file_error(path, reason))
                });
                all.collect::<Result<Vec<Vec<f64>>>>()
            };
            // The first file may not be the earliest.
            let starts = seconds(&first.clock())?;
            let starts = starts.into_iter().map(|times| times.first().copied().unwrap_or(0.0));
            let earliest = starts.enumerate().min_by(|a, b| a.1.total_cmp(&b.1));
            let own = dated[earliest.map_or(0, |(file, _)| file)].clock();
            let clock = clock.cloned().unwrap_or(own);
            Ok((Some(seconds(&clock)?.concat()), Some(clock)))
        }
        _ => Err(Error::Times(format!(
            "some of the files (`{}` and so on) have times from a date, and others have other times or none; \
             set `ignore_file_times = true` and give `times`",
            paths[0].display()
        ))),
    }
}
