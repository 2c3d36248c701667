//! Where a field's frames come from, and where they lie in time.

use crate::{Error, Result};
use burntrace_kernels::{Clock, Outside, Step, TimeInterpolation};

/// What a field is worth before its first frame and after its last one.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum OutsideTime {
    /// A run that reaches there is refused.
    #[default]
    Error,
    /// The nearest frame.
    Hold,
    /// Zero velocity.
    Zero,
    /// The frames again, every `period`.
    Periodic {
        /// The period, in the data's unit of time. `None` is the time from the first frame to
        /// the last one, which then must be equal. A longer period adds an interval that leads
        /// from the last frame back to the first.
        period: Option<f64>,
    },
}

/// How many frames a field holds at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Frames {
    /// All of them.
    #[default]
    All,
    /// So many, those that are read ahead among them; the others are read when a run comes to them,
    /// by a thread of their own. At least 4; a step that spans more of them holds more.
    Streamed(usize),
}

impl Frames {
    /// How many of a field's frames are held at a time, where that is not all of them.
    pub(crate) fn window(self, frames: usize) -> Option<usize> {
        match self {
            Frames::Streamed(held) => Some(held.max(4)).filter(|held| *held < frames),
            Frames::All => None,
        }
    }

    /// How many of those that are held are read ahead.
    pub(crate) fn ahead(held: usize) -> usize {
        (held / 3).max(1)
    }
}

/// What rounding to single precision may add to a step's way through the frames, as a part of it.
const SLACK: f64 = 1e-5;

/// The frames' times with what lies between and outside them.
#[derive(Clone, Debug)]
pub(crate) struct TimeAxis {
    times: Vec<f64>,
    outside: OutsideTime,
    clock: std::sync::Arc<Clock>,
}

impl TimeAxis {
    pub fn new(times: Vec<f64>, outside: OutsideTime, in_time: TimeInterpolation) -> Result<Self> {
        if times.is_empty() {
            return Err(Error::Empty("it has no frames"));
        }
        for (i, pair) in times.windows(2).enumerate() {
            // Written so that a time that is not a number is refused too.
            if pair[0].partial_cmp(&pair[1]) != Some(std::cmp::Ordering::Less) {
                return Err(Error::Times { frame: i + 1, before: pair[0], after: pair[1] });
            }
        }
        let mut gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        if let OutsideTime::Periodic { period: Some(period) } = outside {
            gaps.extend(closing_gap(&gaps, period)?);
        }
        let clock = Clock {
            frame_intervals: gaps,
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

    /// First and last time at which the field is known, or `None` where it always is.
    pub fn range(&self) -> Option<[f64; 2]> {
        (self.outside == OutsideTime::Error && self.times.len() > 1).then(|| self.ends())
    }

    /// The times of the first and the last frame.
    pub fn ends(&self) -> [f64; 2] {
        [self.times[0], self.times[self.times.len() - 1]]
    }

    /// Whether the first and the last frame stand for the same moment of a period.
    pub fn ends_meet(&self) -> bool {
        self.outside == OutsideTime::Periodic { period: None } && self.times.len() > 1
    }

    /// The two frames around a time, and their weights.
    pub fn weights(&self, t: f64) -> ([usize; 2], [f64; 2]) {
        let Step { interval, since, .. } = self.place(t, 0.0);
        let Some(gap) = self.clock.frame_intervals.get(interval) else {
            return ([0, 0], [1.0, 0.0]);
        };
        let frames = [interval, (interval + 1) % self.clock.frames];
        let fraction = since / gap;
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

    /// Whether the frames come again and again.
    pub fn repeats(&self) -> bool {
        self.clock.outside == Outside::Periodic && !self.clock.frame_intervals.is_empty()
    }

    /// As [`place`](TimeAxis::place), and the interval's number where those of a period are counted
    /// on without end.
    pub fn place_unrolled(&self, t: f64, h: f64) -> (i64, Step) {
        let step = self.place(t, h);
        if !self.repeats() {
            return (step.interval as i64, step);
        }
        let period: f64 = self.clock.frame_intervals.iter().sum();
        let since = t - self.times[0];
        let round = ((since - since.rem_euclid(period)) / period).round() as i64;
        (round * self.clock.frame_intervals.len() as i64 + step.interval as i64, step)
    }

    /// The frames, counted on without end, that a step of length `h` from time `t` on may read. A
    /// kernel's own precision may lead it into the interval after the one in which the step ends.
    pub fn frames_of(&self, t: f64, h: f64) -> std::ops::Range<i64> {
        let (begin, step) = self.place_unrolled(t, h);
        let count = self.clock.frame_intervals.len() as i64;
        if count == 0 {
            return 0..1;
        }
        let gap = |k: i64| self.clock.frame_intervals[k.rem_euclid(count) as usize];
        let is_there = |k: i64| self.repeats() || (0..count).contains(&k);
        let slack = SLACK * (step.since.abs() + h.abs());
        let [mut low, mut high] = [step.since, step.since];
        match h {
            0.0 => {}
            h if h > 0.0 => high += h + slack,
            h => low += h - slack,
        }
        let (mut first, mut last) = (begin, begin);
        while low < 0.0 && is_there(first - 1) {
            first -= 1;
            low += gap(first);
        }
        while high > gap(last) && is_there(last + 1) {
            high -= gap(last);
            last += 1;
        }
        first..last + 2
    }

    /// The clock of some consecutive frames, counted on without end. Steps that read no others are
    /// the same by it as by the clock of all frames, but that intervals are counted from the first.
    pub fn clock_of(&self, frames: std::ops::Range<i64>) -> Clock {
        let count = self.clock.frame_intervals.len() as i64;
        let gap = |k: i64| self.clock.frame_intervals[k.rem_euclid(count) as usize];
        let gaps =
            if count == 0 { Vec::new() } else { (frames.start..frames.end - 1).map(gap).collect() };
        Clock { frame_intervals: gaps, frames: (frames.end - frames.start) as usize, ..*self.clock }
    }

    /// Places a step that begins at time `t` among the frames.
    pub fn place(&self, t: f64, h: f64) -> Step {
        let mut since = t - self.times[0];
        if self.clock.outside == Outside::Periodic && !self.clock.frame_intervals.is_empty() {
            since = since.rem_euclid(self.clock.frame_intervals.iter().sum());
        }
        let t = self.times[0] + since;
        let intervals = self.clock.frame_intervals.len();
        let later = self.times.partition_point(|&frame| frame <= t);
        let interval = later.saturating_sub(1).min(intervals.saturating_sub(1));
        Step { interval, since: t - self.times[interval], h }
    }
}

/// The interval from the last frame back to the first, where the period is longer than the
/// frames.
fn closing_gap(gaps: &[f64], period: f64) -> Result<Option<f64>> {
    let length: f64 = gaps.iter().sum();
    let rest = period - length;
    let slack = 1e-9 * length.max(period.abs());
    if gaps.is_empty() || !period.is_finite() || rest < -slack {
        return Err(Error::Period {
            period,
            reason: format!("there are {} frames over {length}", gaps.len() + 1),
        });
    }
    Ok((rest > slack).then_some(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(outside: OutsideTime) -> TimeAxis {
        TimeAxis::new(vec![1.0, 2.0, 4.0], outside, TimeInterpolation::Linear).unwrap()
    }

    #[test]
    fn steps_are_placed_in_the_interval_that_begins_at_or_before_them() {
        let place = |t| {
            let step = axis(OutsideTime::Error).place(t, 0.1);
            (step.interval, step.since)
        };
        assert_eq!(place(1.0), (0, 0.0));
        assert_eq!(place(2.0), (1, 0.0));
        assert_eq!(place(3.5), (1, 1.5));
        assert_eq!(place(4.0), (1, 2.0));
        assert_eq!(place(0.5), (0, -0.5));
        assert_eq!(place(9.0), (1, 7.0));
    }

    #[test]
    fn a_period_may_close_with_an_interval_of_its_own() {
        let closed = axis(OutsideTime::Periodic { period: Some(3.5) });
        assert_eq!(closed.clock().frame_intervals, [1.0, 2.0, 0.5]);
        let step = closed.place(1.0 + 3.5 + 3.25, 0.1);
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
    fn a_step_reads_the_frames_of_the_intervals_that_it_may_come_to() {
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
        let (interval, step) = closed.place_unrolled(4.25, 0.1);
        assert_eq!((interval, step.interval), (2, 2));
        assert_eq!(closed.place_unrolled(1.0 - 3.5 - 0.25, 0.1).0, -4);
    }

    #[test]
    fn times_must_increase() {
        for times in [vec![0.0, 0.0], vec![1.0, 0.5], vec![0.0, f64::NAN]] {
            let axis = TimeAxis::new(times, OutsideTime::Error, TimeInterpolation::Linear);
            assert!(matches!(axis, Err(Error::Times { frame: 1, .. })));
        }
    }
}
