//! When each file's frame is.

use super::names::last_number;
use crate::listing::counted;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What the caller says about the times of the files.
///
/// The first of these that is there gives the times: the `.pvd` file; `TimeValue` (or `TIME`)
/// field data, in every file; the number in each file's name times `file_dt`; `times`. A single
/// file with none of them is at time 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TimeOptions {
    /// Times of the files, one for each, in the data's unit of time.
    pub times: Option<CaseTimes>,
    /// Time between files whose numbers differ by one, in the data's unit of time. The last number
    /// in a file's name counts, the extension left out.
    pub file_dt: Option<f64>,
    /// Passes over the times in `.pvd` and VTK files.
    pub ignore_file_times: bool,
}

/// Times as a case file gives them, for all files, before frames are selected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "give a list of times, or { start = 0.0, step = 0.1 }")]
pub enum CaseTimes {
    /// One for each file.
    List(Vec<f64>),
    /// `start`, `start + step`, `start + 2 step`, and so on.
    Steps {
        /// Time of the first file.
        start: f64,
        /// Time from one file to the next.
        step: f64,
    },
}

/// Where the times of a series come from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TimesFrom {
    /// The timesteps of a `.pvd` file.
    Pvd,
    /// Field data of the VTK files.
    TimeValue,
    /// The numbers in the names of the files, times this.
    FileNumbers(f64),
    /// What the caller gave.
    Case,
    /// There is one frame, and it needs none.
    SingleFrame,
}

/// Writes it in plain words, e.g. `the .pvd file`.
impl std::fmt::Display for TimesFrom {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            TimesFrom::Pvd => f.write_str("the .pvd file"),
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

/// Files with their times, which increase strictly.
#[derive(Debug)]
pub(super) struct Timeline {
    pub paths: Vec<PathBuf>,
    pub times: Vec<f64>,
    pub from: TimesFrom,
}

/// Gives each file its time; `in_pvd` are the times from a `.pvd` file.
pub(super) fn resolve(
    paths: Vec<PathBuf>,
    in_pvd: Option<Vec<f64>>,
    options: &TimeOptions,
) -> Result<Timeline> {
    let (times, from) = find(&paths, in_pvd, options)?;
    let mut files: Vec<(PathBuf, f64)> = paths.into_iter().zip(times).collect();
    if from != TimesFrom::Case {
        // A shell lists `u_10` before `u_2`; the times know better.
        files.sort_by(|a, b| a.1.total_cmp(&b.1));
    }
    check(&files, from)?;
    let (paths, times) = files.into_iter().unzip();
    Ok(Timeline { paths, times, from })
}

fn find(
    paths: &[PathBuf],
    in_pvd: Option<Vec<f64>>,
    options: &TimeOptions,
) -> Result<(Vec<f64>, TimesFrom)> {
    if !options.ignore_file_times {
        if let Some(times) = in_pvd {
            return Ok((times, TimesFrom::Pvd));
        }
        if let Some(times) = in_files(paths)? {
            return Ok((times, TimesFrom::TimeValue));
        }
    }
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

/// Times in the files themselves; `None` if no file has one.
fn in_files(paths: &[PathBuf]) -> Result<Option<Vec<f64>>> {
    let mut times = Vec::with_capacity(paths.len());
    for path in paths {
        times.push(burntrace_vtk::open(path)?.time_value()?);
    }
    let lacks = times.iter().position(Option::is_none);
    let has = times.iter().position(Option::is_some);
    match (lacks, has) {
        (Some(lacks), Some(has)) => {
            Err(Error::TimeMissing { lacks: paths[lacks].clone(), has: paths[has].clone() })
        }
        _ => Ok(times.into_iter().collect()),
    }
}

fn from_numbers(paths: &[PathBuf], dt: f64) -> Result<Vec<f64>> {
    if !(dt.is_finite() && dt > 0.0) {
        return Err(Error::Times(format!(
            "`file_dt = {dt}` is no time between two files; give a number above 0"
        )));
    }
    let time = |path: &PathBuf| match last_number(path) {
        Some(number) => Ok(number * dt),
        None => Err(Error::Times(format!(
            "`{}` has no number in its name that `file_dt` could multiply; give `times` instead",
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

fn check(files: &[(PathBuf, f64)], from: TimesFrom) -> Result<()> {
    if let Some((path, time)) = files.iter().find(|(_, time)| !time.is_finite()) {
        return Err(Error::Times(format!("`{}` is at time {time} ({from})", path.display())));
    }
    match files.array_windows().find(|[(_, a), (_, b)]| a >= b) {
        None => Ok(()),
        Some([(first, a), (second, b)]) => {
            Err(Error::Times(not_increasing(first, *a, second, *b, from)))
        }
    }
}

fn not_increasing(first: &Path, a: f64, second: &Path, b: f64, from: TimesFrom) -> String {
    let remedy = match from {
        TimesFrom::Pvd | TimesFrom::TimeValue => {
            "mend them, or set `ignore_file_times = true` and give `file_dt` or `times`"
        }
        _ => "times must increase strictly",
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

    fn paths(names: &[&str]) -> Vec<PathBuf> {
        names.iter().map(PathBuf::from).collect()
    }

    fn options(times: Option<CaseTimes>, file_dt: Option<f64>) -> TimeOptions {
        TimeOptions { times, file_dt, ignore_file_times: true }
    }

    #[test]
    fn numbers_in_names_give_times_and_the_order() {
        let options = options(None, Some(0.5));
        let line = resolve(paths(&["u_10", "u_2"]), None, &options).unwrap();
        assert_eq!((line.times, line.from), (vec![1.0, 5.0], TimesFrom::FileNumbers(0.5)));
        assert_eq!(line.paths, paths(&["u_2", "u_10"]));
        let error = |names: &[&str]| resolve(paths(names), None, &options).unwrap_err().to_string();
        assert!(error(&["u_1", "u"]).contains("`u` has no number"));
        assert!(error(&["a_1", "b_1"]).contains("`a_1` is at 0.5 and the next file `b_1` at 0.5"));
    }

    #[test]
    fn the_caller_gives_a_list_or_steps() {
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
        assert!(error(&[1.0, f64::NAN]).contains("`b` is at time NaN"));
    }

    #[test]
    fn file_numbers_come_before_the_callers_times() {
        let both = options(Some(CaseTimes::List(vec![7.0])), Some(1.0));
        let line = resolve(paths(&["u_3"]), None, &both).unwrap();
        assert_eq!((line.times, line.from), (vec![3.0], TimesFrom::FileNumbers(1.0)));
        let bad = options(None, Some(0.0));
        assert!(
            resolve(paths(&["u_3"]), None, &bad).unwrap_err().to_string().contains("file_dt = 0")
        );
    }

    #[test]
    fn several_files_need_a_source_of_times() {
        let none = options(None, None);
        let line = resolve(paths(&["u"]), None, &none).unwrap();
        assert_eq!((line.times, line.from), (vec![0.0], TimesFrom::SingleFrame));
        let error = resolve(paths(&["a", "b"]), None, &none).unwrap_err().to_string();
        for way in ["file_dt", "times", ".pvd", "TimeValue"] {
            assert!(error.contains(way), "{error}");
        }
        let pvd = Some(vec![2.0, 1.0]);
        let error = resolve(paths(&["a", "b"]), pvd.clone(), &none);
        assert!(error.is_err(), "times in the .pvd are to be ignored");
        let line = resolve(paths(&["a", "b"]), pvd, &TimeOptions::default()).unwrap();
        assert_eq!((line.times, line.from), (vec![1.0, 2.0], TimesFrom::Pvd));
    }
}
