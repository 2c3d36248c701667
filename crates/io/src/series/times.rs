//! Times of files.

use super::numbers::numbers;
use super::open_files::OPEN_FILES;
use super::options::SeriesOptions;
use super::overlaps;
use crate::listing::counted;
use crate::{Error, Result};
use burntrace_vtk::VtkFile;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Which of two files gives the frames from the first to the last time that both have, as where a simulation was
/// restarted.
#[derive(Clone, Copy, Debug, JsonSchema, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SameTimes {
    /// The file that starts first; of files that start together, the first one in the list.
    First,
    /// The file that starts last.
    Last,
}

/// Times of all files, before the selection of frames, as in a case file.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "give a list of times, or { start = 0.0, step = 0.1 }")]
pub enum CaseTimes {
    /// One time for each file.
    List(Vec<f64>),
    /// `start`, `start + step`, `start + 2 step`, and so on.
    Steps {
        /// Time of the first file.
        start: f64,
        /// Time from one file to the next.
        step: f64,
    },
}

/// The source of the times of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TimesFrom {
    /// The timesteps of a `.pvd` file.
    Pvd,
    /// The times in a `.series` file.
    Series,
    /// Field data of the VTK files.
    TimeValue,
    /// The time steps of VTKHDF files.
    Steps,
    /// The coordinate of time of NetCDF files or Zarr groups, in seconds.
    Coordinate,
    /// The numbers in the file names, times this.
    FileNumbers(f64),
    /// [`SeriesOptions::times`](super::SeriesOptions::times).
    Case,
    /// None: a single frame is at time 0.
    SingleFrame,
}

/// For example `the .pvd file`.
impl std::fmt::Display for TimesFrom {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            TimesFrom::Pvd => f.write_str("the .pvd file"),
            TimesFrom::Series => f.write_str("the .series file"),
            TimesFrom::TimeValue => f.write_str("TimeValue in the files"),
            TimesFrom::Steps => f.write_str("the time steps in the files"),
            TimesFrom::Coordinate => f.write_str("the coordinate of time in the files"),
            TimesFrom::FileNumbers(dt) => write!(f, "file numbers x {dt}"),
            TimesFrom::Case => f.write_str("the case file"),
            TimesFrom::SingleFrame => f.write_str("a single frame"),
        }
    }
}

impl Serialize for TimesFrom {
    fn serialize<S: serde::Serializer>(
        &self,
        serializer: S,
    ) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Times, and where they are from.
pub(super) type SourcedTimes = (Vec<f64>, TimesFrom);

/// Frames with their strictly increasing times.
#[derive(Debug)]
pub(super) struct Timeline {
    pub frames: Vec<FrameFiles>,
    /// The first file of each frame.
    pub paths: Vec<PathBuf>,
    pub times: Vec<f64>,
    pub from: TimesFrom,
    /// What is not used, or unusual.
    pub notes: Vec<String>,
}

impl Timeline {
    pub fn new(frames: Vec<FrameFiles>, times: Vec<f64>, from: TimesFrom) -> Self {
        let paths = frames.iter().map(|frame| frame.path.clone()).collect();
        Timeline { frames, paths, times, from, notes: Vec::new() }
    }

    /// No frames.
    pub fn empty() -> Self {
        Timeline::new(Vec::new(), Vec::new(), TimesFrom::SingleFrame)
    }

    /// The files of a frame.
    pub fn files(&self, frame: usize) -> Result<&FrameFiles> {
        let count = self.frames.len();
        self.frames.get(frame).ok_or(Error::Index { what: "frame", index: frame, count })
    }

    /// Opens the files of a frame, which are VTK files, at its time step.
    pub fn open(&self, frame: usize) -> Result<VtkFile> {
        self.files(frame)?.open()
    }

    /// Bytes that the files keep while they are open.
    pub fn cache_bytes(&self) -> u64 {
        let mut paths: Vec<&PathBuf> = self.paths.iter().collect();
        paths.dedup();
        let each = paths.first().map_or(0, |path| burntrace_cf::cache_bytes(path));
        each * paths.len().min(OPEN_FILES) as u64
    }

    /// Whether a frame is the first one, or of the same files and step.
    pub fn is_first(&self, frame: usize) -> bool {
        self.frames.get(frame) == self.frames.first()
    }

    /// The error of a frame that differs from the first one.
    pub fn frame_differs(&self, frame: usize, on: &'static str, difference: String) -> Error {
        frame_differs(&self.paths, frame, on, difference)
    }

    /// The frames with these indices.
    pub fn select(&self, frames: &[usize]) -> Self {
        let times = frames.iter().map(|&frame| self.times[frame]).collect();
        let frames = frames.iter().map(|&frame| self.frames[frame].clone()).collect();
        Timeline { notes: self.notes.clone(), ..Timeline::new(frames, times, self.from) }
    }
}

/// The files of a frame.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FrameFiles {
    /// The first file.
    pub path: PathBuf,
    /// All files with their names, if the frame has several parts.
    pub parts: Vec<(String, PathBuf)>,
    /// The index among the times of the file; 0 in files of one time.
    pub step: usize,
}

impl FrameFiles {
    /// A frame of a file of several.
    pub fn at(path: PathBuf, step: usize) -> Self {
        FrameFiles { path, parts: Vec::new(), step }
    }

    /// Opens the data set that the files form.
    pub fn open(&self) -> Result<VtkFile> {
        Ok(match self.parts.as_slice() {
            [] => burntrace_vtk::open_step(&self.path, self.step)?,
            parts => burntrace_vtk::open_blocks(parts)?,
        })
    }
}

/// A frame of one file.
impl From<PathBuf> for FrameFiles {
    fn from(path: PathBuf) -> Self {
        FrameFiles::at(path, 0)
    }
}

/// Determines the time of each frame; `listed` are the times in a `.pvd` or `.series` file.
pub(super) fn resolve(
    frames: Vec<FrameFiles>,
    listed: Option<SourcedTimes>,
    options: &SeriesOptions,
) -> Result<Timeline> {
    let steps: Vec<Vec<f64>> = frames.iter().map(steps_of).collect::<Result<_>>()?;
    if steps.iter().all(|times| times.len() <= 1) {
        let times = find(&frames, listed, options)?;
        return in_order(frames, times, options.same_times);
    }
    let lacks = steps.iter().position(Vec::is_empty);
    match (lacks, listed) {
        (_, Some((_, from))) => Err(Error::Times(format!(
            "a file has several time steps, and {from} gives one time; give the file itself"
        ))),
        (Some(lacks), None) => {
            let has = steps.iter().position(|times| !times.is_empty()).unwrap_or(0);
            Err(Error::TimeMissing {
                lacks: frames[lacks].path.clone(),
                has: frames[has].path.clone(),
            })
        }
        (None, None) => {
            let each = frames.iter().zip(&steps).flat_map(|(frame, times)| {
                (0..times.len()).map(|step| FrameFiles::at(frame.path.clone(), step))
            });
            let known = (!options.ignore_file_times).then(|| (steps.concat(), TimesFrom::Steps));
            resolve_frames(each.collect(), known, options)
        }
    }
}

/// The times of the time steps of a VTKHDF file; none for other files.
fn steps_of(frame: &FrameFiles) -> Result<Vec<f64>> {
    match frame.parts.is_empty() && burntrace_vtk::is_hdf5(&frame.path) {
        true => Ok(frame.open()?.steps().to_vec()),
        false => Ok(Vec::new()),
    }
}

/// Determines the time of each frame of files with several; `known` are the times in the files.
pub(super) fn resolve_frames(
    frames: Vec<FrameFiles>,
    known: Option<SourcedTimes>,
    options: &SeriesOptions,
) -> Result<Timeline> {
    let times = match known {
        Some(known) => known,
        None => given(&frames, options)?,
    };
    in_order(frames, times, options.same_times)
}

/// Sorts frames by time, unless the case gives their times, and checks the times.
fn in_order(
    frames: Vec<FrameFiles>,
    (times, from): SourcedTimes,
    same: Option<SameTimes>,
) -> Result<Timeline> {
    let mut frames: Vec<(FrameFiles, f64)> = frames.into_iter().zip(times).collect();
    let mut notes = Vec::new();
    if from != TimesFrom::Case {
        frames = overlaps::resolve(frames, same, &mut notes);
        // Sorted by time, because a shell lists `u_10` before `u_2`.
        frames.sort_by(|a, b| a.1.total_cmp(&b.1));
    }
    check(&frames, from)?;
    let (frames, times) = frames.into_iter().unzip();
    Ok(Timeline { notes, ..Timeline::new(frames, times, from) })
}

fn find(
    frames: &[FrameFiles],
    listed: Option<SourcedTimes>,
    options: &SeriesOptions,
) -> Result<SourcedTimes> {
    if !options.ignore_file_times {
        if let Some(listed) = listed {
            return Ok(listed);
        }
        if let Some(times) = in_files(frames)? {
            return Ok((times, TimesFrom::TimeValue));
        }
    }
    given(frames, options)
}

/// Times by the options, of frames whose files give none.
fn given(frames: &[FrameFiles], options: &SeriesOptions) -> Result<SourcedTimes> {
    let paths: Vec<PathBuf> = frames.iter().map(|frame| frame.path.clone()).collect();
    let paths = paths.as_slice();
    if let Some(dt) = options.file_dt {
        return Ok((from_numbers(paths, dt)?, TimesFrom::FileNumbers(dt)));
    }
    match (&options.times, paths) {
        (Some(times), _) => Ok((from_case(times, paths.len())?, TimesFrom::Case)),
        (None, [_]) => Ok((vec![0.0], TimesFrom::SingleFrame)),
        (None, _) => {
            let first = paths.first().cloned().unwrap_or_default();
            Err(Error::NoTimes { files: paths.len(), first })
        }
    }
}

/// Times in the VTK files; `None` if no file has one.
fn in_files(frames: &[FrameFiles]) -> Result<Option<Vec<f64>>> {
    let mut times = Vec::with_capacity(frames.len());
    for frame in frames {
        times.push(frame.open()?.time_value()?);
    }
    let lacks = times.iter().position(Option::is_none);
    let has = times.iter().position(Option::is_some);
    match (lacks, has) {
        (Some(lacks), Some(has)) => Err(Error::TimeMissing {
            lacks: frames[lacks].path.clone(),
            has: frames[has].path.clone(),
        }),
        _ => Ok(times.into_iter().collect()),
    }
}

fn from_numbers(paths: &[PathBuf], dt: f64) -> Result<Vec<f64>> {
    if !(dt.is_finite() && dt > 0.0) {
        return Err(Error::Times(format!(
            "`file_dt = {dt}` is not a time between two files; give a number above 0"
        )));
    }
    Ok(numbers(paths)?.into_iter().map(|number| number * dt).collect())
}

fn from_case(times: &CaseTimes, files: usize) -> Result<Vec<f64>> {
    match times {
        CaseTimes::Steps { start, step } => {
            Ok((0..files).map(|file| start + file as f64 * step).collect())
        }
        CaseTimes::List(times) if times.len() == files => Ok(times.clone()),
        CaseTimes::List(times) => Err(Error::Times(format!(
            "`times` lists {} for {}; list one for each file",
            counted(times.len(), "time"),
            counted(files, "file")
        ))),
    }
}

fn check(files: &[(FrameFiles, f64)], from: TimesFrom) -> Result<()> {
    if let Some((frame, time)) = files.iter().find(|(_, time)| !time.is_finite()) {
        let path = frame.path.display();
        return Err(Error::Times(format!("`{path}` is at time {time} ({from})")));
    }
    match files.array_windows().find(|[(_, a), (_, b)]| a >= b) {
        None => Ok(()),
        Some([(first, a), (second, b)]) => {
            Err(Error::Times(not_increasing(&first.path, *a, &second.path, *b, from)))
        }
    }
}

fn not_increasing(first: &Path, a: f64, second: &Path, b: f64, from: TimesFrom) -> String {
    let remedy = match from {
        TimesFrom::Case => "give times that increase strictly",
        _ if a == b && first != second => {
            "set `same_times = \"first\"` or `\"last\"` to use the frame of the file that starts first or last, \
             or list other files"
        }
        TimesFrom::Pvd
        | TimesFrom::Series
        | TimesFrom::TimeValue
        | TimesFrom::Steps
        | TimesFrom::Coordinate => {
            "correct them, or set `ignore_file_times = true` and give `file_dt` or `times`"
        }
        _ => "give times that increase strictly",
    };
    format!(
        "`{}` is at {a} and the next file `{}` at {b} ({from}); {remedy}",
        first.display(),
        second.display()
    )
}

/// The error of a frame that differs from the first one.
pub(super) fn frame_differs(
    paths: &[PathBuf],
    frame: usize,
    on: &'static str,
    difference: String,
) -> Error {
    let [path, first] = [frame, 0].map(|frame| paths.get(frame).cloned().unwrap_or_default());
    Error::FrameDiffers { frame, path, first, on, difference }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(names: &[&str]) -> Vec<FrameFiles> {
        names.iter().map(|name| PathBuf::from(name).into()).collect()
    }

    fn options(times: Option<CaseTimes>, file_dt: Option<f64>) -> SeriesOptions {
        SeriesOptions { times, file_dt, ignore_file_times: true, ..Default::default() }
    }

    #[test]
    fn numbers_in_names_determine_times_and_order() {
        let options = options(None, Some(0.5));
        let line = resolve(paths(&["u_10", "u_2"]), None, &options).unwrap();
        assert_eq!((line.times, line.from), (vec![1.0, 5.0], TimesFrom::FileNumbers(0.5)));
        assert_eq!(line.frames, paths(&["u_2", "u_10"]));
        let error = |names: &[&str]| resolve(paths(names), None, &options).unwrap_err().to_string();
        assert!(error(&["u_1", "u"]).contains("`u` has no number"));
        assert!(error(&["a_1", "b_1"]).contains("`a_1` is at 0.5 and the next file `b_1` at 0.5"));
    }

    #[test]
    fn times_are_given_as_a_list_or_as_steps() {
        let resolve =
            |times, names: &[&str]| resolve(paths(names), None, &options(Some(times), None));
        let steps = CaseTimes::Steps { start: 1.0, step: 0.25 };
        let line = resolve(steps, &["a", "b", "c"]).unwrap();
        assert_eq!((line.times, line.from), (vec![1.0, 1.25, 1.5], TimesFrom::Case));
        let error = |times: &[f64]| {
            let error = resolve(CaseTimes::List(times.into()), &["a", "b"]).unwrap_err();
            error.to_string()
        };
        assert!(error(&[1.0]).contains("`times` lists 1 time for 2 files"));
        assert!(error(&[1.0, 1.0]).contains("increase strictly"));
        // Given times belong to the files in their order, so that none are sorted.
        assert!(error(&[2.0, 1.0]).contains("`a` is at 2 and the next file `b` at 1"));
        assert!(error(&[1.0, f64::NAN]).contains("`b` is at time NaN"));
    }

    #[test]
    fn file_dt_has_priority_over_times() {
        let both = options(Some(CaseTimes::List(vec![7.0])), Some(1.0));
        let line = resolve(paths(&["u_3"]), None, &both).unwrap();
        assert_eq!((line.times, line.from), (vec![3.0], TimesFrom::FileNumbers(1.0)));
        let bad = options(None, Some(0.0));
        assert!(
            resolve(paths(&["u_3"]), None, &bad).unwrap_err().to_string().contains("file_dt = 0")
        );
    }

    #[test]
    fn several_files_without_times_are_refused() {
        let none = options(None, None);
        let line = resolve(paths(&["u"]), None, &none).unwrap();
        assert_eq!((line.times, line.from), (vec![0.0], TimesFrom::SingleFrame));
        let error = resolve(paths(&["a", "b"]), None, &none).unwrap_err().to_string();
        for source in ["file_dt", "times", ".pvd", "TimeValue"] {
            assert!(error.contains(source), "{error}");
        }
        let pvd = Some((vec![2.0, 1.0], TimesFrom::Pvd));
        let error = resolve(paths(&["a", "b"]), pvd.clone(), &none);
        assert!(error.is_err(), "times in the .pvd are ignored");
        let line = resolve(paths(&["a", "b"]), pvd, &SeriesOptions::default()).unwrap();
        assert_eq!((line.times, line.from), (vec![1.0, 2.0], TimesFrom::Pvd));
    }
}
