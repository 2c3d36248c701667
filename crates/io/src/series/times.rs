//! Times of files.

use super::names::last_number;
use crate::listing::counted;
use crate::{Error, Result};
use burntrace_vtk::VtkFile;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Options for the times of the files.
///
/// The times are taken from the first of these sources that is available: the `.pvd` or `.series` file;
/// `TimeValue` (or `TIME`) field data in every file; the number in each file name times `file_dt`;
/// `times`. A single file without any of them is at time 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TimeOptions {
    /// Times of the files, one per file, in the data's unit of time.
    pub times: Option<CaseTimes>,
    /// Time between files whose numbers differ by one, in the data's unit of time. The number is the
    /// last one in the file name, before the extension.
    pub file_dt: Option<f64>,
    /// Ignores the times in `.pvd`, `.series` and VTK files.
    pub ignore_file_times: bool,
}

/// Times of all files, before the selection of frames, as in a case file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// The numbers in the file names, times this.
    FileNumbers(f64),
    /// [`TimeOptions::times`].
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

/// Frames with their strictly increasing times.
#[derive(Debug)]
pub(super) struct Timeline {
    pub frames: Vec<FrameFiles>,
    /// The first file of each frame.
    pub paths: Vec<PathBuf>,
    pub times: Vec<f64>,
    pub from: TimesFrom,
}

impl Timeline {
    pub fn new(frames: Vec<FrameFiles>, times: Vec<f64>, from: TimesFrom) -> Self {
        let paths = frames.iter().map(|frame| frame.path.clone()).collect();
        Timeline { frames, paths, times, from }
    }

    /// Opens the files of a frame.
    pub fn open(&self, frame: usize) -> Result<VtkFile> {
        let count = self.frames.len();
        let missing = || Error::Index { what: "frame", index: frame, count };
        self.frames.get(frame).ok_or_else(missing)?.open()
    }
}

/// The files of a frame.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FrameFiles {
    /// The first file.
    pub path: PathBuf,
    /// All files with their names, if the frame has several parts.
    pub parts: Vec<(String, PathBuf)>,
}

impl FrameFiles {
    /// Opens the data set that the files form.
    pub fn open(&self) -> Result<VtkFile> {
        Ok(match self.parts.as_slice() {
            [] => burntrace_vtk::open(&self.path)?,
            parts => burntrace_vtk::open_blocks(parts)?,
        })
    }
}

/// A frame of one file.
impl From<PathBuf> for FrameFiles {
    fn from(path: PathBuf) -> Self {
        FrameFiles { path, parts: Vec::new() }
    }
}

/// The times of all frames in a `.pvd` or `.series` file.
pub(super) type ListedTimes = (Vec<f64>, TimesFrom);

/// Determines the time of each frame; `listed` are the times in a `.pvd` or `.series` file.
pub(super) fn resolve(
    frames: Vec<FrameFiles>,
    listed: Option<ListedTimes>,
    options: &TimeOptions,
) -> Result<Timeline> {
    let (times, from) = find(&frames, listed, options)?;
    let mut files: Vec<(FrameFiles, f64)> = frames.into_iter().zip(times).collect();
    if from != TimesFrom::Case {
        // Sorted by time, because a shell lists `u_10` before `u_2`.
        files.sort_by(|a, b| a.1.total_cmp(&b.1));
    }
    check(&files, from)?;
    let (frames, times) = files.into_iter().unzip();
    Ok(Timeline::new(frames, times, from))
}

fn find(
    frames: &[FrameFiles],
    listed: Option<ListedTimes>,
    options: &TimeOptions,
) -> Result<(Vec<f64>, TimesFrom)> {
    if !options.ignore_file_times {
        if let Some(listed) = listed {
            return Ok(listed);
        }
        if let Some(times) = in_files(frames)? {
            return Ok((times, TimesFrom::TimeValue));
        }
    }
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
    let time = |path: &PathBuf| match last_number(path) {
        Some(number) => Ok(number * dt),
        None => Err(Error::Times(format!(
            "`{}` has no number in its name, which `file_dt` needs; give `times` instead",
            path.display()
        ))),
    };
    paths.iter().map(time).collect()
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
        TimesFrom::Pvd | TimesFrom::Series | TimesFrom::TimeValue => {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(names: &[&str]) -> Vec<FrameFiles> {
        names.iter().map(|name| PathBuf::from(name).into()).collect()
    }

    fn options(times: Option<CaseTimes>, file_dt: Option<f64>) -> TimeOptions {
        TimeOptions { times, file_dt, ignore_file_times: true }
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
        let line = resolve(paths(&["a", "b"]), pvd, &TimeOptions::default()).unwrap();
        assert_eq!((line.times, line.from), (vec![1.0, 2.0], TimesFrom::Pvd));
    }
}
