//! Selection of frames.

use crate::listing::counted;
use crate::{Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A frame by its index or its time.
///
/// In a case file an integer is an index and a float a time: `start = 2` is the third frame,
/// `start = 2.0` the first one at or after time 2.
#[derive(Clone, Copy, Debug, JsonSchema, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "give the number of a frame, such as 3, or a time, such as 3.0")]
pub enum At {
    /// Index of the frame, from 0; negative numbers count from the end, -1 is the last frame.
    Index(i64),
    /// Time, in the data's unit of time.
    Time(f64),
}

impl std::fmt::Display for At {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            At::Index(index) => write!(f, "{index}"),
            // With a decimal point, which distinguishes it from an index.
            At::Time(time) => write!(f, "{time:?}"),
        }
    }
}

/// A selection of frames.
#[derive(Clone, Copy, Debug, JsonSchema, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Frames {
    /// The first frame.
    pub start: Option<At>,
    /// The last frame, inclusive.
    pub stop: Option<At>,
    /// The step from frame to frame: 1 selects every frame, 2 every second one.
    pub every: usize,
    /// Maximum number of frames.
    pub max: Option<usize>,
}

impl Default for Frames {
    fn default() -> Self {
        Frames { start: None, stop: None, every: 1, max: None }
    }
}

impl Frames {
    /// Indices of the selected frames among frames at these increasing times.
    ///
    /// # Errors
    ///
    /// [`Error::Frames`] if `every` is 0 or no frame is selected.
    pub fn select(&self, times: &[f64]) -> Result<Vec<usize>> {
        if self.every == 0 {
            let reason =
                "`every = 0` is not a valid step; 1 selects every frame, 2 every second one";
            return Err(Error::Frames(reason.into()));
        }
        let first = self.start.map_or(0, |at| first_from(at, times));
        let end = self.stop.map_or(times.len(), |at| end_after(at, times));
        let max = self.max.unwrap_or(usize::MAX);
        let selected: Vec<usize> = (first..end).step_by(self.every).take(max).collect();
        if selected.is_empty() {
            return Err(Error::Frames(self.empty_selection(times)));
        }
        Ok(selected)
    }

    fn empty_selection(&self, times: &[f64]) -> String {
        let mut given = Vec::new();
        given.extend(self.start.map(|at| format!("start = {at}")));
        given.extend(self.stop.map(|at| format!("stop = {at}")));
        given.extend(self.max.map(|max| format!("max = {max}")));
        let available = match times {
            [] => "none".into(),
            [only] => format!("1 frame, at time {only:?}"),
            [first, .., last] => {
                format!("{}, at times {first:?} to {last:?}", counted(times.len(), "frame"))
            }
        };
        format!("`{}` matches no frame; available: {available}", given.join(", "))
    }
}

/// Index of the first frame at or after `at`.
fn first_from(at: At, times: &[f64]) -> usize {
    match at {
        At::Index(index) => from_start(index, times.len()),
        At::Time(time) => times.partition_point(|&frame| frame < time - tolerance(times)),
    }
}

/// One more than the index of the last frame at or before `at`.
fn end_after(at: At, times: &[f64]) -> usize {
    match at {
        At::Index(index) if index < -(times.len() as i64) => 0,
        At::Index(index) => times.len().min(from_start(index, times.len()).saturating_add(1)),
        At::Time(time) => times.partition_point(|&frame| frame <= time + tolerance(times)),
    }
}

fn from_start(index: i64, count: usize) -> usize {
    let magnitude = usize::try_from(index.unsigned_abs()).unwrap_or(usize::MAX);
    if index < 0 { count.saturating_sub(magnitude) } else { magnitude }
}

/// Tolerance for matching a frame to a given time: file number 3 x 0.1 is 0.30000000000000004, but
/// the user writes 0.3.
fn tolerance(times: &[f64]) -> f64 {
    let intervals = times.array_windows().map(|[a, b]| b - a);
    1e-6 * intervals.reduce(f64::min).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMES: [f64; 5] = [0.0, 0.1, 0.2, 0.30000000000000004, 0.4];

    fn select(
        start: Option<At>,
        stop: Option<At>,
        every: usize,
        max: Option<usize>,
    ) -> Result<Vec<usize>> {
        Frames { start, stop, every, max }.select(&TIMES)
    }

    #[test]
    fn frames_are_selected_by_index_and_time() {
        let index = |i| Some(At::Index(i));
        let time = |t| Some(At::Time(t));
        assert_eq!(Frames::default().select(&TIMES).unwrap(), [0, 1, 2, 3, 4]);
        assert_eq!(select(index(1), index(3), 1, None).unwrap(), [1, 2, 3]);
        assert_eq!(select(index(-2), None, 1, None).unwrap(), [3, 4]);
        assert_eq!(select(None, index(-2), 1, None).unwrap(), [0, 1, 2, 3]);
        assert_eq!(select(index(-9), index(99), 2, None).unwrap(), [0, 2, 4]);
        assert_eq!(select(time(0.05), time(0.3), 1, None).unwrap(), [1, 2, 3]);
        assert_eq!(select(None, None, 2, Some(2)).unwrap(), [0, 2]);
        assert_eq!(select(time(-1.0), time(9.0), 4, None).unwrap(), [0, 4]);
        assert_eq!(select(None, index(i64::MAX), 1, Some(1)).unwrap(), [0]);
    }

    #[test]
    fn an_empty_selection_lists_the_available_frames() {
        let error = |start, stop, max| select(start, stop, 1, max).unwrap_err().to_string();
        let late = error(Some(At::Index(7)), None, None);
        assert!(
            late.contains("`start = 7`") && late.contains("5 frames, at times 0.0 to 0.4"),
            "{late}"
        );
        assert!(error(Some(At::Time(2.0)), None, None).contains("`start = 2.0`"));
        assert!(error(None, Some(At::Index(-6)), None).contains("stop = -6"));
        assert!(error(None, None, Some(0)).contains("max = 0"));
        assert!(select(None, None, 0, None).unwrap_err().to_string().contains("every = 0"));
    }

    #[test]
    fn in_a_case_file_integers_are_indices_and_floats_are_times() {
        let frames: Frames =
            serde_json::from_str(r#"{"start": 2, "stop": 2.0, "max": 7}"#).unwrap();
        let expected =
            Frames { start: Some(At::Index(2)), stop: Some(At::Time(2.0)), every: 1, max: Some(7) };
        assert_eq!(frames, expected);
        assert!(serde_json::from_str::<Frames>(r#"{"step": 2}"#).is_err());
    }
}
