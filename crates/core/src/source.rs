//! Sources: particles that are released in the course of a run.

use crate::{
    Error, Inlet, Precision, Result,
    schedule::{Chunk, TimeSpan},
};
use burntrace_kernels::Releases;

/// How many particles a source releases, and when.
///
/// Times are in the data's unit, rates in particles per unit of time, whichever way time runs in the
/// run.
#[derive(Clone, Debug, PartialEq)]
pub enum Rate {
    /// So many per unit of time.
    Constant(f64),
    /// Rates at times, linear between them and zero before the first and after the last one.
    Table(Vec<[f64; 2]>),
    /// So many at once.
    Burst {
        /// When.
        time: f64,
        /// How many.
        count: u64,
    },
}

/// Particles that come in through an inlet in the course of a run.
///
/// Release `k`, counted from 0, takes place when the rate's integral since the begin of the run
/// exceeds `k`: that of a constant rate `r` at `begin + k / r`. It belongs to slot `k % capacity` of the source. Where that
/// slot's last particle is still on its way, the release is dropped and counted, so that no particle
/// depends on another one: a capacity of a little more than the rate times the longest life drops
/// none.
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
    /// A source with a rate, and the most particles of it at a time.
    ///
    /// # Errors
    ///
    /// [`Error::Release`] where the rate is not positive and finite, a table's times do not
    /// increase, or the capacity is 0.
    pub fn new(inlet: Inlet, rate: Rate, capacity: usize) -> Result<Self> {
        if capacity == 0 {
            return fail("its capacity is 0; give the most particles that it may have at a time");
        }
        check_rate(&rate)?;
        Ok(Source { inlet, rate, capacity, span: None })
    }

    /// A source with a constant rate (particles per unit of time), from the begin of the run to its
    /// end.
    ///
    /// # Errors
    ///
    /// As [`new`](Source::new).
    pub fn constant(inlet: Inlet, rate: f64, capacity: usize) -> Result<Self> {
        Source::new(inlet, Rate::Constant(rate), capacity)
    }

    /// A source that releases all its particles at one time.
    ///
    /// # Errors
    ///
    /// As [`new`](Source::new).
    pub fn burst(inlet: Inlet, time: f64, count: usize) -> Result<Self> {
        Source::new(inlet, Rate::Burst { time, count: count as u64 }, count)
    }

    /// Has a constant rate begin and end at these times, in the direction of the run.
    ///
    /// # Errors
    ///
    /// [`Error::Release`] where a time is not a number, or the rate is not a constant one: tables and
    /// bursts have times of their own.
    pub fn between(mut self, begin: f64, end: f64) -> Result<Self> {
        if !matches!(self.rate, Rate::Constant(_)) {
            return fail(
                "only a constant rate is limited to a span; change the table or the burst",
            );
        }
        if !begin.is_finite() || end.is_nan() {
            return fail(format!(
                "it begins at {begin} and ends at {end}; give a finite begin, and an end"
            ));
        }
        self.span = Some([begin, end]);
        Ok(self)
    }

    /// Where its particles come in.
    pub fn inlet(&self) -> &Inlet {
        &self.inlet
    }

    /// How many it releases, and when.
    pub fn rate(&self) -> &Rate {
        &self.rate
    }

    /// The most particles of it at a time.
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
            "its rate is {rate} particles per unit of time; it must be positive and finite"
        )),
        Rate::Burst { time, .. } if !time.is_finite() => {
            fail(format!("the time of its burst is {time}; it must be finite"))
        }
        Rate::Burst { count: 0, .. } => fail("its burst has no particles; ask for at least one"),
        Rate::Table(rows) => check_table(rows),
        _ => Ok(()),
    }
}

fn check_table(rows: &[[f64; 2]]) -> Result<()> {
    if rows.len() < 2 {
        return fail(format!("its table has {} rows; it needs at least two", rows.len()));
    }
    for (i, [time, rate]) in rows.iter().enumerate() {
        if !time.is_finite() || !rate.is_finite() || *rate < 0.0 {
            return fail(format!(
                "row {i} of its table is ({time}, {rate}); times must be finite, and rates too, and not negative"
            ));
        }
        if i > 0 && *time <= rows[i - 1][0] {
            return fail(format!(
                "its table goes from time {} to {time}; times must increase",
                rows[i - 1][0]
            ));
        }
    }
    if rows.iter().all(|[_, rate]| *rate == 0.0) {
        return fail("all rates of its table are 0");
    }
    Ok(())
}

/// When a source releases its particles, from one chunk of a run to the next.
#[derive(Clone, Debug)]
pub(crate) struct Timetable {
    plan: Plan,
    /// The number of the next release.
    next: u64,
}

/// Times are since the begin of the run, in its direction.
#[derive(Clone, Debug)]
enum Plan {
    /// So many at once.
    Burst { since: f64, count: u64 },
    /// Stretches of time, and the one that the next release is in.
    Pieces { pieces: Vec<Piece>, at: usize },
}

/// A stretch of time in which a rate is linear.
#[derive(Clone, Copy, Debug)]
struct Piece {
    begin: f64,
    length: f64,
    /// Releases before it.
    before: f64,
    rate: f64,
    /// Change of the rate per time.
    slope: f64,
}

impl Piece {
    /// From one time and rate to another, without what lies before the begin of the run.
    fn between([begin, rate]: [f64; 2], [end, last]: [f64; 2]) -> Self {
        let slope = if rate == last { 0.0 } else { (last - rate) / (end - begin) };
        let late = (-begin).max(0.0);
        Piece {
            begin: begin + late,
            length: (end - begin - late).max(0.0),
            before: 0.0,
            rate: rate + slope * late,
            slope,
        }
    }

    /// Releases up to its end.
    fn after(&self) -> f64 {
        if self.length == 0.0 {
            return self.before;
        }
        let bend = if self.slope == 0.0 { 0.0 } else { 0.5 * self.slope * self.length };
        self.before + (self.rate + bend) * self.length
    }

    /// The last time in it at which no more than `number` releases have been due.
    fn time(&self, number: f64) -> f64 {
        let due = number - self.before;
        // The root of due = rate x + slope x^2 / 2, in the form that does not cancel.
        let root = (self.rate * self.rate + 2.0 * self.slope * due).max(0.0).sqrt();
        let x = if due == 0.0 { 0.0 } else { 2.0 * due / (self.rate + root) };
        self.begin + x.min(self.length)
    }
}

impl Timetable {
    /// The timetable of a source in a run.
    pub fn new(source: &Source, span: &TimeSpan) -> Self {
        let since = |time: f64| (time - span.t0) * span.dt.signum();
        let rows = match (&source.rate, source.span) {
            (Rate::Burst { time, count }, _) => {
                let plan = Plan::Burst { since: since(*time), count: *count };
                return Timetable { plan, next: 0 };
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
        let piece = |pair: &[[f64; 2]]| {
            let piece = Piece { before, ..Piece::between(pair[0], pair[1]) };
            before = piece.after();
            piece
        };
        let pieces = rows.windows(2).map(piece).collect();
        Timetable { plan: Plan::Pieces { pieces, at: 0 }, next: 0 }
    }

    /// Releases so far.
    pub fn due(&self) -> u64 {
        self.next
    }

    /// Goes on after so many releases.
    pub fn go_to(&mut self, due: u64) {
        self.next = due;
    }

    /// The releases within the steps of the run's next chunk.
    pub fn releases(&mut self, chunk: &Chunk, span: &TimeSpan, precision: Precision) -> Releases {
        let mut releases = Releases { first: self.next, events: Vec::new() };
        for (j, pair) in chunk.times.windows(2).enumerate() {
            let [begin, end] = [pair[0], pair[1]].map(|t| (t - span.t0) * span.dt.signum());
            while let Some(time) = self.time().filter(|time| *time < end) {
                let fraction = precision.round(((time - begin) / (end - begin)).max(0.0));
                releases.events.push(((chunk.first_step + j as u64) as i32, fraction));
                self.next += 1;
            }
        }
        releases
    }

    /// The time of the next release.
    fn time(&mut self) -> Option<f64> {
        match &mut self.plan {
            Plan::Burst { since, count } => (*since >= 0.0 && self.next < *count).then_some(*since),
            Plan::Pieces { pieces, at } => {
                let number = self.next as f64;
                while pieces.get(*at)?.after() <= number {
                    *at += 1;
                }
                Some(pieces[*at].time(number))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{InletShape, Pattern};

    fn inlet() -> Inlet {
        Inlet::new(InletShape::Points(vec![[0.0; 3]]), Pattern::Lattice).unwrap()
    }

    /// Steps of 1 from time 0 to `steps`, or backward.
    fn times(source: &Source, steps: usize, dt: f64) -> Vec<f64> {
        let span = TimeSpan { t0: 0.0, t1: steps as f64 * dt, dt, steps: steps as u64 };
        let mut timetable = Timetable::new(source, &span);
        let mut times = Vec::new();
        // In chunks of two steps.
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
    fn a_constant_rate_releases_at_even_intervals() {
        let source = Source::constant(inlet(), 2.0, 1).unwrap();
        assert_close(&times(&source, 3, 1.0), &[0.0, 0.5, 1.0, 1.5, 2.0, 2.5]);
        assert_close(&times(&source, 2, -1.0), &[0.0, -0.5, -1.0, -1.5]);
        let part = source.between(-7.0, 1.25).unwrap();
        assert_close(&times(&part, 3, 1.0), &[0.0, 0.5, 1.0]);
    }

    #[test]
    fn a_table_releases_by_its_integral() {
        let table =
            |rows: &[[f64; 2]]| Source::new(inlet(), Rate::Table(rows.to_vec()), 1).unwrap();
        // N(t) = t^2 / 2 on 0..4, then 8 + 4 (t - 4).
        let source = table(&[[0.0, 0.0], [4.0, 4.0], [5.0, 4.0]]);
        let mut expected: Vec<f64> = (0..8).map(|k| (2.0 * f64::from(k)).sqrt()).collect();
        expected.extend([4.0, 4.25, 4.5, 4.75]);
        assert_close(&times(&source, 9, 1.0), &expected);
        // Falling: N = 2 t - t^2 / 2 up to 2.
        let source = table(&[[0.0, 2.0], [2.0, 0.0], [3.0, 0.0]]);
        assert_close(&times(&source, 9, 1.0), &[0.0, 2.0 - 2.0_f64.sqrt()]);
        // A gap without releases, and what lies before the run.
        let source = table(&[[-1.0, 1.0], [0.5, 1.0], [1.0, 0.0], [2.0, 0.0], [2.5, 2.0]]);
        // 0.5 + 0.25 by time 1, then (t - 2)^2 * 2 with 0.25 to come.
        assert_close(&times(&source, 9, 1.0), &[0.0, 2.0 + 0.125_f64.sqrt()]);
    }

    #[test]
    fn a_burst_releases_all_at_once() {
        let source = Source::burst(inlet(), 1.5, 3).unwrap();
        assert_close(&times(&source, 4, 1.0), &[1.5; 3]);
        assert_eq!(source.capacity(), 3);
        assert_close(&times(&source, 4, -1.0), &[]);
        assert_close(&times(&Source::burst(inlet(), 0.0, 2).unwrap(), 1, 1.0), &[0.0; 2]);
    }

    #[test]
    fn misuse_says_what_was_given() {
        let message = |result: Result<Source>| result.unwrap_err().to_string();
        assert!(message(Source::constant(inlet(), 0.0, 1)).contains("its rate is 0"));
        assert!(message(Source::constant(inlet(), 1.0, 0)).contains("capacity is 0"));
        assert!(message(Source::burst(inlet(), f64::NAN, 1)).contains("NaN"));
        let table = |rows: &[[f64; 2]]| message(Source::new(inlet(), Rate::Table(rows.into()), 1));
        assert!(table(&[[0.0, 1.0]]).contains("1 rows"));
        assert!(table(&[[0.0, 1.0], [0.0, 2.0]]).contains("from time 0 to 0"));
        assert!(table(&[[0.0, 1.0], [1.0, -2.0]]).contains("row 1 of its table is (1, -2)"));
        assert!(table(&[[0.0, 0.0], [1.0, 0.0]]).contains("all rates"));
        let burst = Source::burst(inlet(), 0.0, 1).unwrap();
        assert!(message(burst.between(0.0, 1.0)).contains("constant rate"));
    }
}
