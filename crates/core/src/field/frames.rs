//! Frame times: the time axis of a field, interpolation in time, and times outside the frames.

use crate::{Error, Result, error::short, schedule::TimeSpan};
use burntrace_kernels::{Clock, Outside, Step, TimeInterpolation};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The velocity before the first frame and after the last one.
#[derive(Clone, Copy, Debug, JsonSchema, PartialEq, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
#[schemars(tag = "outside_time")]
pub enum OutsideTime {
    /// Refuse runs that leave the time range of the frames.
    #[default]
    #[schemars(extend("required" = []))]
    Error,
    /// Use the nearest frame.
    Hold,
    /// Use zero velocity.
    Zero,
    /// Repeat the frames with a period.
    Periodic {
        /// The period, in the data's unit of time. `None` is the time from the first frame to the
        /// last, which must then be equal. A longer period adds an interval from the last frame
        /// back to the first.
        period: Option<f64>,
    },
}

/// What a field holds of its frames at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Frames {
    /// All frames.
    #[default]
    All,
    /// This number of frames, including those that are read ahead. A separate thread reads the
    /// others when the run needs them. The minimum is 4; a step that spans more frames holds more.
    Streamed(usize),
}

impl Frames {
    /// The number of frames held at a time, or `None` if that is all of them.
    pub(crate) fn window(self, frames: usize) -> Option<usize> {
        match self {
            Frames::Streamed(held) => Some(held.max(4)).filter(|held| *held < frames),
            Frames::All => None,
        }
    }

    /// The number of held frames that are read ahead.
    pub(crate) fn ahead(held: usize) -> usize {
        (held / 3).max(1)
    }
}

/// Relative error that rounding to single precision may add to the time span of a step.
const SLACK: f64 = 1e-5;

/// Maximum number of periods in a step: a stage finds its frames by going from frame to frame.
const MAX_PERIODS: f64 = 100.0;

/// Times of the frames, with the rules between and outside them.
#[derive(Clone, Debug)]
pub(crate) struct TimeAxis {
    times: Vec<f64>,
    outside: OutsideTime,
    clock: std::sync::Arc<Clock>,
}

impl TimeAxis {
    /// A single frame at time 0, for all times.
    pub fn steady() -> Self {
        let clock = Clock { frames: 1, ..Clock::default() };
        TimeAxis { times: vec![0.0], outside: OutsideTime::Hold, clock: clock.into() }
    }

    pub fn new(times: Vec<f64>, outside: OutsideTime, in_time: TimeInterpolation) -> Result<Self> {
        if times.is_empty() {
            return Err(Error::Empty("the source has no frames"));
        }
        for (i, pair) in times.windows(2).enumerate() {
            // Negated, to refuse NaN too.
            if pair[0].partial_cmp(&pair[1]) != Some(std::cmp::Ordering::Less) {
                return Err(Error::Times { frame: i + 1, before: pair[0], after: pair[1] });
            }
        }
        let mut intervals: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        if let OutsideTime::Periodic { period: Some(period) } = outside {
            intervals.extend(closing_interval(&intervals, period)?);
        }
        let clock = Clock {
            frame_intervals: intervals,
            frames: times.len(),
            outside: match outside {
                OutsideTime::Error | OutsideTime::Hold => Outside::Hold,
                OutsideTime::Zero => Outside::Zero,
                OutsideTime::Periodic { .. } => Outside::Periodic,
            },
            in_time,
        };
        Ok(TimeAxis { times, outside, clock: clock.into() })
    }

    pub fn clock(&self) -> &std::sync::Arc<Clock> {
        &self.clock
    }

    /// The times of the frames.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// The velocity outside these times.
    pub fn outside(&self) -> OutsideTime {
        self.outside
    }

    /// First and last time at which the field is known; `None` if there is no limit.
    pub fn range(&self) -> Option<[f64; 2]> {
        (self.outside == OutsideTime::Error && self.times.len() > 1).then(|| self.ends())
    }

    /// The times of the first and the last frame.
    pub fn ends(&self) -> [f64; 2] {
        [self.times[0], self.times[self.times.len() - 1]]
    }

    /// Whether the first and the last frame are at the same phase of a period.
    pub fn ends_meet(&self) -> bool {
        self.outside == OutsideTime::Periodic { period: None } && self.times.len() > 1
    }

    /// The two frames around a time, and their weights.
    pub fn weights(&self, t: f64) -> ([usize; 2], [f64; 2]) {
        let Step { interval, since, .. } = self.step_at(t, 0.0);
        let Some(interval_length) = self.clock.frame_intervals.get(interval) else {
            return ([0, 0], [1.0, 0.0]);
        };
        let frames = [interval, (interval + 1) % self.clock.frames];
        let fraction = since / interval_length;
        let is_outside = !(-1e-12..=1.0 + 1e-12).contains(&fraction);
        if is_outside && self.clock.outside == Outside::Zero {
            return (frames, [0.0, 0.0]);
        }
        let a = fraction.clamp(0.0, 1.0);
        match self.clock.in_time {
            TimeInterpolation::Linear => (frames, [1.0 - a, a]),
            TimeInterpolation::Nearest if a < 0.5 => (frames, [1.0, 0.0]),
            TimeInterpolation::Nearest => (frames, [0.0, 1.0]),
        }
    }

    /// Whether the field is the same at all times.
    pub fn is_steady(&self) -> bool {
        self.clock.frame_intervals.is_empty()
    }

    /// Whether the frames repeat periodically.
    pub fn repeats(&self) -> bool {
        self.clock.outside == Outside::Periodic && !self.is_steady()
    }

    /// The period of frames that repeat.
    pub fn period(&self) -> f64 {
        self.clock.frame_intervals.iter().sum()
    }

    /// Refuses steps far longer than the period.
    ///
    /// # Errors
    ///
    /// [`Error::Span`], with the period.
    pub fn check_step(&self, dt: f64) -> Result<()> {
        let period = self.period();
        if !self.repeats() || dt.abs() <= MAX_PERIODS * period {
            return Ok(());
        }
        Err(Error::Span(format!(
            "a step of {} is longer than {MAX_PERIODS} periods of the field, which repeats after {}; give \
             a step shorter than the period",
            short(dt),
            short(period)
        )))
    }

    /// Like [`step_at`](TimeAxis::step_at), with the index of the interval. In a periodic field the
    /// index continues from period to period.
    pub fn step_unrolled(&self, t: f64, h: f64) -> (i64, Step) {
        let step = self.step_at(t, h);
        if !self.repeats() {
            return (step.interval as i64, step);
        }
        let period = self.period();
        let since = t - self.times[0];
        let round = ((since - since.rem_euclid(period)) / period).round() as i64;
        (round * self.clock.frame_intervals.len() as i64 + step.interval as i64, step)
    }

    /// The frames that a step of length `h` from time `t` may read, with indices that continue from
    /// period to period. Rounding in a kernel may carry a step into the interval after its last
    /// one.
    pub fn frames_of(&self, t: f64, h: f64) -> Range<i64> {
        let (current, step) = self.step_unrolled(t, h);
        let count = self.clock.frame_intervals.len() as i64;
        if count == 0 {
            return 0..1;
        }
        let length = |k: i64| self.clock.frame_intervals[k.rem_euclid(count) as usize];
        let is_there = |k: i64| self.repeats() || (0..count).contains(&k);
        let slack = SLACK * (step.since.abs() + h.abs());
        let [mut low, mut high] = [step.since, step.since];
        match h {
            0.0 => {}
            h if h > 0.0 => high += h + slack,
            h => low += h - slack,
        }
        let (mut first, mut last) = (current, current);
        while low < 0.0 && is_there(first - 1) {
            first -= 1;
            low += length(first);
        }
        while high > length(last) && is_there(last + 1) {
            high -= length(last);
            last += 1;
        }
        first..last + 2
    }

    /// The clock of a range of consecutive frames, with intervals counted from the first of them.
    /// Steps that read only these frames are the same as with the clock of all frames.
    pub fn clock_of(&self, frames: Range<i64>) -> Clock {
        let count = self.clock.frame_intervals.len() as i64;
        let length = |k: i64| self.clock.frame_intervals[k.rem_euclid(count) as usize];
        let intervals = if count == 0 {
            Vec::new()
        } else {
            (frames.start..frames.end - 1).map(length).collect()
        };
        Clock {
            frame_intervals: intervals,
            frames: (frames.end - frames.start) as usize,
            ..*self.clock
        }
    }

    /// Locates steps, given by start time and length, in intervals that are counted from frame `first`.
    pub fn steps_from(&self, first: i64, steps: &[(f64, f64)]) -> Vec<Step> {
        let locate = |(t, h): &(f64, f64)| {
            let (interval, step) = self.step_unrolled(*t, *h);
            Step { interval: (interval - first).max(0) as usize, ..step }
        };
        steps.iter().map(locate).collect()
    }

    /// The index, in the source, of a frame with an index that continues from period to period.
    pub fn number(&self, frame: i64) -> usize {
        match self.clock.frame_intervals.len() {
            0 => 0,
            intervals if self.repeats() => frame.rem_euclid(intervals as i64) as usize,
            _ => frame.clamp(0, self.clock.frames as i64 - 1) as usize,
        }
    }

    /// Locates a step of length `h` that starts at time `t`.
    pub fn step_at(&self, t: f64, h: f64) -> Step {
        let mut since = t - self.times[0];
        if self.repeats() {
            since = since.rem_euclid(self.period());
        }
        let t = self.times[0] + since;
        let intervals = self.clock.frame_intervals.len();
        let later = self.times.partition_point(|&frame| frame <= t);
        let interval = later.saturating_sub(1).min(intervals.saturating_sub(1));
        Step { interval, since: t - self.times[interval], h }
    }
}

/// Length of the interval from the last frame back to the first, if the period is longer than the
/// frames.
fn closing_interval(intervals: &[f64], period: f64) -> Result<Option<f64>> {
    let length: f64 = intervals.iter().sum();
    let rest = period - length;
    let slack = 1e-9 * length.max(period.abs());
    if intervals.is_empty() || !period.is_finite() || rest < -slack {
        return Err(Error::Period {
            period,
            reason: format!(
                "{} frames over a time of {length}; give two frames or more, and a longer period",
                intervals.len() + 1
            ),
        });
    }
    Ok((rest > slack).then_some(rest))
}

/// The steps of a span in groups that read few frames: the indices of these frames, and the total and the longest time of
/// the steps.
///
/// # Errors
///
/// If the times do not increase, or do not fit the period.
pub fn frames_of_steps(
    times: Vec<f64>,
    outside: OutsideTime,
    span: &TimeSpan,
) -> Result<Vec<(Vec<usize>, [f64; 2])>> {
    let axis = TimeAxis::new(times, outside, TimeInterpolation::Linear)?;
    let mut groups: Vec<(Range<i64>, [f64; 2])> = Vec::new();
    for step in 0..span.steps {
        let t = span.t0 + step as f64 * span.dt;
        let h = if step + 1 == span.steps { span.t1 - t } else { span.dt };
        let frames = axis.frames_of(t, h);
        let size = |frames: &Range<i64>| frames.end - frames.start;
        match groups.last_mut() {
            Some((all, [total, longest]))
                if size(&union(all.clone(), frames.clone())) <= size(&frames).max(2) =>
            {
                *all = union(all.clone(), frames);
                (*total, *longest) = (*total + h.abs(), longest.max(h.abs()));
            }
            _ => groups.push((frames, [h.abs(); 2])),
        }
    }
    let numbers = |frames: Range<i64>| frames.map(|frame| axis.number(frame)).collect();
    Ok(groups.into_iter().map(|(frames, times)| (numbers(frames), times)).collect())
}

/// The smallest range of frames that contains two others.
pub(super) fn union(a: Range<i64>, b: Range<i64>) -> Range<i64> {
    a.start.min(b.start)..a.end.max(b.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(outside: OutsideTime) -> TimeAxis {
        TimeAxis::new(vec![1.0, 2.0, 4.0], outside, TimeInterpolation::Linear).unwrap()
    }

    #[test]
    fn step_belongs_to_the_interval_that_starts_at_or_before_it() {
        let located = |t| {
            let step = axis(OutsideTime::Error).step_at(t, 0.1);
            (step.interval, step.since)
        };
        assert_eq!(located(1.0), (0, 0.0));
        assert_eq!(located(2.0), (1, 0.0));
        assert_eq!(located(3.5), (1, 1.5));
        assert_eq!(located(4.0), (1, 2.0));
        assert_eq!(located(0.5), (0, -0.5));
        assert_eq!(located(9.0), (1, 7.0));
    }

    #[test]
    fn longer_period_adds_a_closing_interval() {
        let closed = axis(OutsideTime::Periodic { period: Some(3.5) });
        assert_eq!(closed.clock().frame_intervals, [1.0, 2.0, 0.5]);
        let step = closed.step_at(1.0 + 3.5 + 3.25, 0.1);
        assert_eq!(step.interval, 2);
        assert!((step.since - 0.25).abs() < 1e-12);
        assert!(axis(OutsideTime::Periodic { period: None }).ends_meet());
        let short = TimeAxis::new(
            vec![1.0, 2.0],
            OutsideTime::Periodic { period: Some(0.5) },
            TimeInterpolation::Linear,
        );
        assert!(matches!(short, Err(Error::Period { .. })));
    }

    #[test]
    fn frames_of_a_step_cover_its_intervals() {
        let open = axis(OutsideTime::Hold);
        assert_eq!(open.frames_of(1.2, 0.5), 0..2);
        assert_eq!(open.frames_of(1.2, 0.8), 0..3);
        assert_eq!(open.frames_of(2.0, 0.0), 1..3);
        assert_eq!(open.frames_of(2.0, -0.5), 0..3);
        assert_eq!(open.frames_of(3.0, 5.0), 1..3);
        assert_eq!(open.frames_of(0.0, -5.0), 0..2);
        let closed = axis(OutsideTime::Periodic { period: Some(3.5) });
        assert_eq!(closed.frames_of(1.5, -0.9), -1..2);
        assert_eq!(closed.frames_of(8.2, 0.1), 6..8);
        assert_eq!(closed.clock_of(-1..2).frame_intervals, [0.5, 1.0]);
        let (interval, step) = closed.step_unrolled(4.25, 0.1);
        assert_eq!((interval, step.interval), (2, 2));
        assert_eq!(closed.step_unrolled(1.0 - 3.5 - 0.25, 0.1).0, -4);
    }

    #[test]
    fn groups_of_steps_have_the_frames_that_they_read() {
        let times = || vec![0.0, 1.0, 2.0, 3.0];
        let span = TimeSpan { t0: 0.0, t1: 2.25, dt: 0.5, steps: 5 };
        let groups = frames_of_steps(times(), OutsideTime::Error, &span).unwrap();
        let frames: Vec<&[usize]> = groups.iter().map(|(frames, _)| &frames[..]).collect();
        assert_eq!(frames, [&[0, 1, 2][..], &[1, 2, 3], &[2, 3]]);
        let total: f64 = groups.iter().map(|(_, [total, _])| total).sum();
        assert_eq!((total, groups[2].1), (2.25, [0.25; 2]));
        let span = TimeSpan { t0: 0.5, t1: -0.25, dt: -0.75, steps: 1 };
        let periodic = OutsideTime::Periodic { period: Some(4.0) };
        let groups = frames_of_steps(times(), periodic, &span).unwrap();
        assert_eq!(groups, [(vec![3, 0, 1], [0.75; 2])]);
    }

    #[test]
    fn steps_far_longer_than_the_period_are_refused() {
        let closed = axis(OutsideTime::Periodic { period: Some(3.5) });
        assert!(closed.check_step(-300.0).is_ok());
        let message = closed.check_step(1e300).unwrap_err().to_string();
        assert!(message.contains("a step of 1e300") && message.contains("after 3.5"), "{message}");
        assert!(axis(OutsideTime::Hold).check_step(1e300).is_ok());
    }

    #[test]
    fn decreasing_times_are_refused() {
        for times in [vec![0.0, 0.0], vec![1.0, 0.5], vec![0.0, f64::NAN]] {
            let axis = TimeAxis::new(times, OutsideTime::Error, TimeInterpolation::Linear);
            assert!(matches!(axis, Err(Error::Times { frame: 1, .. })));
        }
    }

    #[test]
    fn frame_halfway_between_two_is_the_later_one() {
        let times = vec![1.0, 2.0, 4.0];
        let axis = TimeAxis::new(times, OutsideTime::Hold, TimeInterpolation::Nearest).unwrap();
        assert_eq!(axis.weights(3.0), ([1, 2], [0.0, 1.0]));
        assert_eq!(axis.weights(2.75), ([1, 2], [1.0, 0.0]));
    }

    #[test]
    fn period_that_differs_by_rounding_adds_no_interval() {
        let times = vec![0.0, 0.1, 0.2, 0.3];
        for period in [0.3, 0.3 - 1e-11, 0.3 + 1e-11] {
            let outside = OutsideTime::Periodic { period: Some(period) };
            let axis = TimeAxis::new(times.clone(), outside, TimeInterpolation::Linear).unwrap();
            assert_eq!(axis.clock().frame_intervals.len(), 3, "{period}");
        }
    }
}
