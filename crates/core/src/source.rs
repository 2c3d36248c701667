//! Sources, which release particles during a run.

use crate::{
    Error, Inlet, Precision, Result,
    error::short,
    schedule::{Chunk, TimeSpan},
};
use burntrace_kernels::{MAX_INSTANCES_PER_STEP, Releases};

/// Number and times of the particles that a source releases.
///
/// Times are in the data's unit, rates in particles per unit of time, in forward and in backward
/// runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Rate {
    /// A number of particles per unit of time.
    Constant(f64),
    /// Pairs of time and rate, with linear interpolation between them and zero outside.
    Table(Vec<[f64; 2]>),
    /// A number of particles at one time.
    Burst {
        /// Time of release.
        time: f64,
        /// Number of particles.
        count: u64,
    },
}

/// A source of particles at an inlet.
///
/// Release `k`, counted from 0, happens when the integral of the rate since the start of the run
/// exceeds `k`: for a constant rate `r`, at `start + k / r`. It uses slot `k % capacity` of the
/// source. If the last particle of that slot is still active, the release is dropped and counted,
/// so that no particle depends on another. A capacity slightly above the rate times the longest
/// residence time drops none.
///
/// ```
/// use burntrace_core::{Face, Inlet, InletShape, Pattern, Source};
///
/// # fn main() -> burntrace_core::Result<()> {
/// let inlet = Inlet::new(InletShape::Face(Face::XLow), Pattern::Uniform)?;
/// let source = Source::constant(inlet, 100.0, 5000)?.between(0.0, 10.0)?;
/// # let _ = source;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    inlet: Inlet,
    rate: Rate,
    capacity: usize,
    span: Option<[f64; 2]>,
}

impl Source {
    /// A source with a rate, and the maximum number of its particles at a time.
    ///
    /// # Errors
    ///
    /// [`Error::Release`] if the rate is not positive and finite, if the times of a table do not
    /// increase, or if the capacity is 0.
    pub fn new(inlet: Inlet, rate: Rate, capacity: usize) -> Result<Self> {
        if capacity == 0 {
            return fail("its capacity is 0; give the maximum number of its particles at a time");
        }
        check_rate(&rate)?;
        Ok(Source { inlet, rate, capacity, span: None })
    }

    /// A source with a constant rate (particles per unit of time) during the whole run.
    ///
    /// # Errors
    ///
    /// Like [`new`](Source::new).
    pub fn constant(inlet: Inlet, rate: f64, capacity: usize) -> Result<Self> {
        Source::new(inlet, Rate::Constant(rate), capacity)
    }

    /// A source that releases all its particles at one time.
    ///
    /// # Errors
    ///
    /// Like [`new`](Source::new).
    pub fn burst(inlet: Inlet, time: f64, count: usize) -> Result<Self> {
        Source::new(inlet, Rate::Burst { time, count: count as u64 }, count)
    }

    /// Limits a constant rate to a time span, in the direction of the run.
    ///
    /// # Errors
    ///
    /// [`Error::Release`] if a time is NaN, if the start is infinite, or if the rate is a table or
    /// a burst, which have their own times.
    pub fn between(mut self, start: f64, end: f64) -> Result<Self> {
        if !matches!(self.rate, Rate::Constant(_)) {
            return fail(
                "only a constant rate can be limited to a time span; change the times of the \
                 table or the burst",
            );
        }
        if !start.is_finite() || end.is_nan() {
            return fail(format!(
                "its time span is from {start} to {end}; give a finite start, and an end"
            ));
        }
        self.span = Some([start, end]);
        Ok(self)
    }

    /// The inlet.
    pub fn inlet(&self) -> &Inlet {
        &self.inlet
    }

    /// The release rate.
    pub fn rate(&self) -> &Rate {
        &self.rate
    }

    /// The maximum number of its particles at a time.
    pub fn capacity(&self) -> usize {
        self.capacity
    }
}

fn fail<T>(reason: impl Into<String>) -> Result<T> {
    Err(Error::Release(reason.into()))
}

fn check_rate(rate: &Rate) -> Result<()> {
    match rate {
        Rate::Constant(rate) if !(rate.is_finite() && *rate > 0.0) => fail(format!(
            "its rate is {rate} particles per unit of time; give a positive, finite number"
        )),
        Rate::Burst { time, .. } if !time.is_finite() => {
            fail(format!("the time of its burst is {time}; give a finite number"))
        }
        Rate::Burst { count: 0, .. } => fail("its burst has no particles; give one or more"),
        Rate::Table(rows) => check_table(rows),
        _ => Ok(()),
    }
}

fn check_table(rows: &[[f64; 2]]) -> Result<()> {
    if rows.len() < 2 {
        return fail(format!("its table has {} rows; give two or more", rows.len()));
    }
    for (i, [time, rate]) in rows.iter().enumerate() {
        if !time.is_finite() || !rate.is_finite() || *rate < 0.0 {
            return fail(format!(
                "row {i} of its table is ({time}, {rate}); give finite times, and finite rates \
                 that are not negative"
            ));
        }
        if i > 0 && *time <= rows[i - 1][0] {
            return fail(format!(
                "its table goes from time {} to {time}; give increasing times",
                rows[i - 1][0]
            ));
        }
    }
    let is_steep = |[[start, first], [end, last]]: &&[[f64; 2]; 2]| {
        !((last - first) / (end - start)).is_finite()
    };
    if let Some([[start, first], [end, last]]) = rows.array_windows().find(is_steep) {
        return fail(format!(
            "its table goes from a rate of {} to {} within a time of {}, which is too short for a rate in \
             between; give times farther apart",
            short(*first),
            short(*last),
            short(end - start)
        ));
    }
    if rows.iter().all(|[_, rate]| *rate == 0.0) {
        return fail("all rates of its table are 0; give a positive rate");
    }
    Ok(())
}

/// Number of releases in a step that fit into memory, unless a source has many slots. A launch lists its
/// releases in 16 bytes each. It has up to 1024 steps, and fewer if there are many slots.
const MAX_LISTED_RELEASES: usize = 1 << 17;

/// Maximum number of releases in a step: as many as its slots can start in it, if they can be listed.
fn max_releases(capacity: usize) -> f64 {
    let listed = MAX_LISTED_RELEASES.max(capacity.saturating_mul(4));
    capacity.saturating_mul(MAX_INSTANCES_PER_STEP).min(listed) as f64
}

/// The release times of a source, from launch to launch.
#[derive(Clone, Debug)]
pub(crate) struct Timetable {
    releasing: Releasing,
    /// Index of the next release.
    next: u64,
}

/// Times are relative to the start of the run, in its direction.
#[derive(Clone, Debug)]
enum Releasing {
    /// A number of releases at one time.
    Burst { since: f64, count: u64 },
    /// Intervals of time, and the one that contains the next release.
    Intervals { intervals: Vec<Interval>, at: usize },
}

/// An interval of time in which the rate is linear.
#[derive(Clone, Copy, Debug)]
struct Interval {
    start: f64,
    length: f64,
    /// Releases before the interval.
    before: f64,
    rate: f64,
    /// Derivative of the rate.
    derivative: f64,
}

impl Interval {
    /// From one time and rate to another, clipped at the start of the run.
    fn between([start, rate]: [f64; 2], [end, last]: [f64; 2]) -> Self {
        let derivative = if rate == last { 0.0 } else { (last - rate) / (end - start) };
        let clipped = (-start).max(0.0);
        Interval {
            start: start + clipped,
            length: (end - start - clipped).max(0.0),
            before: 0.0,
            rate: rate + derivative * clipped,
            derivative,
        }
    }

    /// Releases until the end of the interval.
    fn after(&self) -> f64 {
        if self.length == 0.0 {
            return self.before;
        }
        let bend = if self.derivative == 0.0 { 0.0 } else { 0.5 * self.derivative * self.length };
        self.before + (self.rate + bend) * self.length
    }

    /// Releases until a time in the interval.
    fn until(&self, time: f64) -> f64 {
        Interval { length: (time - self.start).clamp(0.0, self.length), ..*self }.after()
    }

    /// The last time in the interval at which at most `number` releases have happened.
    fn time(&self, number: f64) -> f64 {
        let due = number - self.before;
        // The root of due = rate x + derivative x^2 / 2, in the form without cancellation.
        let root = (self.rate * self.rate + 2.0 * self.derivative * due).max(0.0).sqrt();
        let x = if due == 0.0 { 0.0 } else { 2.0 * due / (self.rate + root) };
        self.start + x.min(self.length)
    }
}

impl Timetable {
    /// The timetable of a source in a run.
    pub fn new(source: &Source, span: &TimeSpan) -> Self {
        let since = |time: f64| (time - span.t0) * span.dt.signum();
        let rows = match (&source.rate, source.span) {
            (Rate::Burst { time, count }, _) => {
                let releasing = Releasing::Burst { since: since(*time), count: *count };
                return Timetable { releasing, next: 0 };
            }
            (Rate::Constant(rate), None) => vec![[0.0, *rate], [f64::INFINITY, *rate]],
            (Rate::Constant(rate), Some(span)) => span.map(|t| [since(t), *rate]).to_vec(),
            (Rate::Table(rows), _) => {
                let mut rows: Vec<_> = rows.iter().map(|[t, rate]| [since(*t), *rate]).collect();
                rows.sort_by(|a, b| a[0].total_cmp(&b[0]));
                rows
            }
        };
        let mut before = 0.0;
        let interval = |pair: &[[f64; 2]]| {
            let interval = Interval { before, ..Interval::between(pair[0], pair[1]) };
            before = interval.after();
            interval
        };
        let intervals = rows.windows(2).map(interval).collect();
        Timetable { releasing: Releasing::Intervals { intervals, at: 0 }, next: 0 }
    }

    /// Refuses a rate that the slots of the source cannot start, before the releases of a launch fill the
    /// memory.
    ///
    /// # Errors
    ///
    /// [`Error::Release`] if a step has more releases than instances can start in it.
    pub fn check(&self, source: &Source, span: &TimeSpan) -> Result<()> {
        let Releasing::Intervals { intervals, .. } = &self.releasing else { return Ok(()) };
        let (per_step, at) = busiest_step(intervals, span);
        let max = max_releases(source.capacity);
        if per_step <= max {
            return Ok(());
        }
        let dt = span.dt.abs();
        fail(format!(
            "its rate releases {per_step:.3e} particles within a step of {}, from t = {} on, but its capacity \
             of {} particles at a time allows {} releases in a step; give a rate of up to {} particles per \
             unit of time, a greater capacity or a shorter step",
            short(dt),
            short(span.t0 + at * span.dt.signum()),
            source.capacity,
            short(max),
            short(max / dt)
        ))
    }

    /// Number of releases so far.
    pub fn due(&self) -> u64 {
        self.next
    }

    /// Continues after `due` releases.
    pub fn go_to(&mut self, due: u64) {
        self.next = due;
    }

    /// The releases during the steps of the run's next launch.
    pub fn releases(&mut self, chunk: &Chunk, span: &TimeSpan, precision: Precision) -> Releases {
        let mut releases = Releases { first: self.next, events: Vec::new() };
        for (j, pair) in chunk.times.windows(2).enumerate() {
            let [start, end] = [pair[0], pair[1]].map(|t| (t - span.t0) * span.dt.signum());
            while let Some(time) = self.time().filter(|time| *time < end) {
                let fraction = precision.round(((time - start) / (end - start)).max(0.0));
                releases.events.push(((chunk.first_step + j as u64) as i32, fraction));
                self.next += 1;
            }
        }
        releases
    }

    /// Time of the next release.
    fn time(&mut self) -> Option<f64> {
        match &mut self.releasing {
            Releasing::Burst { since, count } => {
                (*since >= 0.0 && self.next < *count).then_some(*since)
            }
            Releasing::Intervals { intervals, at } => {
                let number = self.next as f64;
                while intervals.get(*at)?.after() <= number {
                    *at += 1;
                }
                Some(intervals[*at].time(number))
            }
        }
    }
}

/// The maximum number of releases within the length of a step, and the time at which this step starts.
/// Tried are steps that start, end or have their middle at a breakpoint of the rate: any other step has at
/// most twice as many.
fn busiest_step(intervals: &[Interval], span: &TimeSpan) -> (f64, f64) {
    let end = (span.t1 - span.t0).abs();
    let dt = span.dt.abs().min(end);
    let released = |time: f64| {
        let after = intervals.partition_point(|interval| interval.start <= time);
        after.checked_sub(1).map_or(0.0, |i| intervals[i].until(time))
    };
    let breakpoints = intervals.iter().flat_map(|i| [i.start, i.start + i.length]);
    let starts = breakpoints.flat_map(|time| [time - dt, time - 0.5 * dt, time]);
    let counts = starts.map(|start| {
        let start = start.clamp(0.0, end - dt);
        (released(start + dt) - released(start), start)
    });
    counts.fold((0.0, 0.0), |most, next| if next.0 > most.0 { next } else { most })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{InletShape, Pattern};

    fn inlet() -> Inlet {
        Inlet::new(InletShape::Points(vec![[0.0; 3]]), Pattern::Lattice).unwrap()
    }

    /// Unit steps from time 0 to `steps`, or backward.
    fn times(source: &Source, steps: usize, dt: f64) -> Vec<f64> {
        let span = TimeSpan { t0: 0.0, t1: steps as f64 * dt, dt, steps: steps as u64 };
        let mut timetable = Timetable::new(source, &span);
        let mut times = Vec::new();
        // In launches of two steps.
        for first in (0..steps).step_by(2) {
            let last = (first + 2).min(steps);
            let chunk = Chunk {
                first_step: first as u64,
                times: (first..=last).map(|i| i as f64 * dt).collect(),
                save: None,
            };
            let releases = timetable.releases(&chunk, &span, Precision::F64);
            assert_eq!(releases.first as usize, times.len());
            times.extend(releases.events.iter().map(|(step, f)| dt * (f64::from(*step) + f)));
        }
        assert_eq!(timetable.due() as usize, times.len());
        times
    }

    fn assert_close(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len(), "{found:?} {expected:?}");
        for (a, b) in found.iter().zip(expected) {
            assert!((a - b).abs() < 1e-14, "{found:?} {expected:?}");
        }
    }

    #[test]
    fn constant_rate_releases_at_equal_intervals() {
        let source = Source::constant(inlet(), 2.0, 1).unwrap();
        assert_close(&times(&source, 3, 1.0), &[0.0, 0.5, 1.0, 1.5, 2.0, 2.5]);
        assert_close(&times(&source, 2, -1.0), &[0.0, -0.5, -1.0, -1.5]);
        let part = source.between(-7.0, 1.25).unwrap();
        assert_close(&times(&part, 3, 1.0), &[0.0, 0.5, 1.0]);
    }

    #[test]
    fn table_releases_by_its_integral() {
        let table =
            |rows: &[[f64; 2]]| Source::new(inlet(), Rate::Table(rows.to_vec()), 1).unwrap();
        // N(t) = t^2 / 2 on 0..4, then 8 + 4 (t - 4).
        let source = table(&[[0.0, 0.0], [4.0, 4.0], [5.0, 4.0]]);
        let mut expected: Vec<f64> = (0..8).map(|k| (2.0 * f64::from(k)).sqrt()).collect();
        expected.extend([4.0, 4.25, 4.5, 4.75]);
        assert_close(&times(&source, 9, 1.0), &expected);
        // A decreasing rate: N = 2 t - t^2 / 2 up to 2.
        let source = table(&[[0.0, 2.0], [2.0, 0.0], [3.0, 0.0]]);
        assert_close(&times(&source, 9, 1.0), &[0.0, 2.0 - 2.0_f64.sqrt()]);
        // An interval without releases, and a part before the run.
        let source = table(&[[-1.0, 1.0], [0.5, 1.0], [1.0, 0.0], [2.0, 0.0], [2.5, 2.0]]);
        // 0.5 + 0.25 by time 1, then (t - 2)^2 * 2 with 0.25 remaining.
        assert_close(&times(&source, 9, 1.0), &[0.0, 2.0 + 0.125_f64.sqrt()]);
    }

    #[test]
    fn burst_releases_all_at_once() {
        let source = Source::burst(inlet(), 1.5, 3).unwrap();
        assert_close(&times(&source, 4, 1.0), &[1.5; 3]);
        assert_eq!(source.capacity(), 3);
        assert_close(&times(&source, 4, -1.0), &[]);
        assert_close(&times(&Source::burst(inlet(), 0.0, 2).unwrap(), 1, 1.0), &[0.0; 2]);
    }

    #[test]
    fn errors_name_the_given_values() {
        let message = |result: Result<Source>| result.unwrap_err().to_string();
        assert!(message(Source::constant(inlet(), 0.0, 1)).contains("its rate is 0"));
        assert!(message(Source::constant(inlet(), 1.0, 0)).contains("capacity is 0"));
        assert!(message(Source::burst(inlet(), f64::NAN, 1)).contains("NaN"));
        let table = |rows: &[[f64; 2]]| message(Source::new(inlet(), Rate::Table(rows.into()), 1));
        assert!(table(&[[0.0, 1.0]]).contains("1 rows"));
        assert!(table(&[[0.0, 1.0], [0.0, 2.0]]).contains("from time 0 to 0"));
        assert!(table(&[[0.0, 1.0], [1.0, -2.0]]).contains("row 1 of its table is (1, -2)"));
        assert!(table(&[[0.0, 0.0], [1.0, 0.0]]).contains("all rates"));
        assert!(
            table(&[[0.0, 0.0], [5e-324, 8.0]]).contains("from a rate of 0 to 8 within a time of")
        );
        let burst = Source::burst(inlet(), 0.0, 1).unwrap();
        assert!(message(burst.between(0.0, 1.0)).contains("constant rate"));
    }

    #[test]
    fn rates_far_beyond_the_capacity_are_refused() {
        let span = TimeSpan { t0: 0.0, t1: 10.0, dt: 0.5, steps: 20 };
        let check = |source: Source| Timetable::new(&source, &span).check(&source, &span);
        let message = |result: Result<()>| result.unwrap_err().to_string();
        let constant = |rate| Source::constant(inlet(), rate, 10).unwrap();
        let text = message(check(constant(1e9)));
        for part in [
            "5.000e8 particles within a step of 0.5",
            "capacity of 10",
            "640 releases",
            "up to 1280 ",
        ] {
            assert!(text.contains(part), "`{part}` is not in: {text}");
        }
        check(constant(1280.0)).unwrap();
        // A burst of 10 particles within a small part of a step.
        check(constant(1e6).between(1.0, 1.0 + 1e-5).unwrap()).unwrap();
        let table = |rows: &[[f64; 2]]| Source::new(inlet(), Rate::Table(rows.into()), 10).unwrap();
        check(table(&[[0.0, 0.0], [1e-5, 1e6], [2e-5, 0.0]])).unwrap();
        let text = message(check(table(&[[0.0, 0.0], [1.0, 1e6], [2.0, 0.0]])));
        assert!(text.contains("4.375e5 particles") && text.contains("from t = 0.75"), "{text}");
        // After the end of the run.
        check(table(&[[0.0, 1.0], [10.0, 1.0], [11.0, 1e6]])).unwrap();
    }

    #[test]
    fn short_pulses_are_counted_one_by_one() {
        // A pulse of 10 particles in each unit of time, 20 pulses.
        let pulse = |k: u32| {
            let at = f64::from(k) + 0.5;
            [[at - 1e-4, 0.0], [at, 1e5], [at + 1e-4, 0.0]]
        };
        let rows = (0..20).flat_map(pulse).collect();
        let source = Source::new(inlet(), Rate::Table(rows), 20).unwrap();
        for (t1, dt) in [(20.0, 0.05), (20.0, 20.0), (20.0, 50.0), (-20.0, -0.05)] {
            let span = TimeSpan { t0: 0.0, t1, dt, steps: 1 };
            let Releasing::Intervals { intervals, .. } = Timetable::new(&source, &span).releasing
            else {
                unreachable!("a table has intervals")
            };
            let expected = if t1 < 0.0 {
                0.0
            } else if dt < 1.0 {
                10.0
            } else {
                200.0
            };
            let (found, _) = busiest_step(&intervals, &span);
            assert!((found - expected).abs() < 1e-9, "{found} in a step of {dt}");
        }
        // The peak rate times the step, or the sum over all pulses, would be too many.
        let few = Source { capacity: 1, ..source };
        let span = TimeSpan { t0: 0.0, t1: 20.0, dt: 0.05, steps: 400 };
        Timetable::new(&few, &span).check(&few, &span).unwrap();
    }

    #[test]
    fn the_list_of_releases_limits_large_sources() {
        assert_eq!(max_releases(50), 3200.0);
        assert_eq!(max_releases(10_000), f64::from(1 << 17));
        assert_eq!(max_releases(1_000_000), 4e6);
    }

    #[test]
    fn table_that_starts_before_the_run_has_its_rate_at_the_start() {
        // The rate is 1 at time 0, and N(t) = t + t^2 / 2 up to 1.
        let source = Source::new(inlet(), Rate::Table(vec![[-1.0, 0.0], [1.0, 2.0]]), 1).unwrap();
        assert_close(&times(&source, 2, 1.0), &[0.0, 3.0_f64.sqrt() - 1.0]);
    }

    #[test]
    fn table_of_a_backward_run_is_read_from_its_end() {
        // From time -1 to -2 the rate falls from 4 to 0.
        let source = Source::new(inlet(), Rate::Table(vec![[-2.0, 0.0], [-1.0, 4.0]]), 1).unwrap();
        assert_close(&times(&source, 3, -1.0), &[-1.0, 0.5_f64.sqrt() - 2.0]);
    }
}
