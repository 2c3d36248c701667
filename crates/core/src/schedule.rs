//! Schedule of steps and saves.
//!
//! Steps and saves are computed on demand, so that memory does not grow with the number of steps.

mod cursor;
mod extension;
mod span;

pub(crate) use cursor::Cursor;
pub use span::{Span, TimeSpan};

use crate::{Error, Result, error::short};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use span::{SLACK, resolution};

/// Maximum number of saves of a run.
const MAX_SAVES: f64 = 10_000_000.0;

/// Maximum number of particles whose ends are counted at a time.
pub(crate) const EVENTS: usize = 1 << 22;

/// Times at which positions are saved.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SaveAt {
    /// At the end only.
    #[default]
    #[schemars(skip)]
    End,
    /// At the start, after every number of steps, and at the end.
    #[serde(rename = "every")]
    EverySteps(
        /// Number of steps from one save to the next; also saves the start and the end.
        u64,
    ),
    /// At the start, at every multiple of an interval, and at the end. Steps are split at these
    /// times.
    EveryTime(
        /// Time from one save to the next; also saves the start and the end.
        f64,
    ),
    /// At these times, in the direction of the run. Steps are split at these times.
    Times(
        /// Times of the saves, in the direction of the run.
        Vec<f64>,
    ),
}

/// A span with its saves.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    pub span: TimeSpan,
    save: SaveAt,
    saves: usize,
}

/// Step index of an event that does not happen; it fits the integers of particle records.
pub(crate) const NEVER: u64 = i32::MAX as u64;

/// Steps of one launch, and the save after them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Chunk {
    /// Index of the first step.
    pub first_step: u64,
    /// Start time of each step, and end time of the last one; one time if there is no step.
    pub times: Vec<f64>,
    /// The save after the steps.
    pub save: Option<usize>,
}

impl Chunk {
    pub fn steps(&self) -> usize {
        self.times.len() - 1
    }

    /// Start times and lengths of the steps.
    pub fn step_spans(&self) -> Vec<(f64, f64)> {
        self.times.windows(2).map(|pair| (pair[0], pair[1] - pair[0])).collect()
    }

    /// A range of the steps, with the save if it is the last one.
    pub fn part(&self, steps: std::ops::Range<usize>, is_last: bool) -> Chunk {
        Chunk {
            first_step: self.first_step + steps.start as u64,
            times: self.times[steps.start..=steps.end].to_vec(),
            save: self.save.filter(|_| is_last),
        }
    }

    pub fn end(&self) -> f64 {
        self.times[self.times.len() - 1]
    }
}

impl Schedule {
    pub fn new(span: TimeSpan, save: SaveAt) -> Result<Self> {
        let saves = match &save {
            SaveAt::End => 1,
            SaveAt::EverySteps(0) => {
                return Err(Error::Saves("every 0 steps; give 1 or more".into()));
            }
            SaveAt::EverySteps(n) => count(1.0 + span.steps.div_ceil(*n) as f64)?,
            SaveAt::EveryTime(interval) => {
                if !interval.is_finite() || *interval <= 0.0 {
                    return Err(Error::Saves(format!(
                        "the interval {} is not valid; give a positive time",
                        short(*interval)
                    )));
                }
                let resolution = resolution(&span);
                if *interval < resolution {
                    return Err(Error::Saves(format!(
                        "the interval {} is shorter than times between {} and {} can be apart \
                         ({resolution:.1e}); give a longer one",
                        short(*interval),
                        short(span.t0),
                        short(span.t1)
                    )));
                }
                count(1.0 + ((span.t1 - span.t0).abs() / interval - SLACK).ceil())?
            }
            SaveAt::Times(times) => check_times(&span, times)?,
        };
        Ok(Schedule { span, save, saves })
    }

    /// Number of saves.
    pub fn saves(&self) -> usize {
        self.saves
    }

    /// Time of a save.
    fn save_time(&self, k: usize) -> f64 {
        let is_last = k + 1 == self.saves;
        match &self.save {
            SaveAt::Times(times) => times[k],
            _ if is_last => self.span.t1,
            SaveAt::End => self.span.t1,
            SaveAt::EverySteps(n) => self.span.time(k as u64 * n),
            SaveAt::EveryTime(interval) => {
                self.span.t0 + k as f64 * interval.copysign(self.span.dt)
            }
        }
    }

    /// The launches of the run, each with at most `max_steps` steps.
    pub fn chunks(&self, max_steps: usize) -> Chunks<'_> {
        let cursor = Cursor { now: self.span.t0, grid: 0, save: 0, step: 0 };
        Chunks { schedule: self, max_steps, cursor }
    }

    /// The step that contains each time, and the fraction of the step. Times increase along the
    /// run; a time after the end gets the step [`NEVER`].
    pub fn locate(&self, times: &[f64]) -> Vec<(u64, f64)> {
        let mut found = Vec::with_capacity(times.len());
        for chunk in self.chunks(1024) {
            for (j, pair) in chunk.times.windows(2).enumerate() {
                while let Some(&t) = times.get(found.len())
                    && (t - pair[1]) / self.span.dt < 0.0
                {
                    let fraction = ((t - pair[0]) / (pair[1] - pair[0])).max(0.0);
                    found.push((chunk.first_step + j as u64, fraction));
                }
            }
        }
        found.resize(times.len(), (NEVER, 0.0));
        found
    }

    /// Times of events, given by step and fraction in any order.
    pub fn times_of(&self, events: &[(u64, f64)]) -> Vec<f64> {
        let mut order: Vec<usize> = (0..events.len()).filter(|&i| events[i].0 != NEVER).collect();
        order.sort_by_key(|&i| events[i].0);
        let mut times = vec![f64::NAN; events.len()];
        let mut next = order.into_iter().peekable();
        for chunk in self.chunks(1024) {
            if next.peek().is_none() {
                break;
            }
            let end = chunk.first_step + chunk.steps() as u64;
            while let Some(i) = next.next_if(|&i| events[i].0 < end) {
                let (step, fraction) = events[i];
                let j = (step - chunk.first_step) as usize;
                times[i] = chunk.times[j] + fraction * (chunk.times[j + 1] - chunk.times[j]);
            }
        }
        times
    }
}

/// A number of saves.
fn count(saves: f64) -> Result<usize> {
    match saves <= MAX_SAVES {
        true => Ok(saves as usize),
        false => Err(Error::Saves(format!(
            "there would be {saves:.3e} of them; the maximum is {MAX_SAVES}, so save less often"
        ))),
    }
}

fn check_times(span: &TimeSpan, times: &[f64]) -> Result<usize> {
    if times.is_empty() {
        return Err(Error::Saves("the list of times is empty; give one or more".into()));
    }
    for (i, &t) in times.iter().enumerate() {
        if !t.is_finite() || span.is_before(t, span.t0) || span.is_before(span.t1, t) {
            return Err(Error::Saves(format!(
                "t = {} is not in the run from {} to {}",
                short(t),
                short(span.t0),
                short(span.t1)
            )));
        }
        if i > 0 && !span.is_before(times[i - 1], t) {
            return Err(Error::Saves(format!(
                "{} follows {}; order the times in the direction of the run",
                short(t),
                short(times[i - 1])
            )));
        }
    }
    Ok(times.len())
}

/// Iterator over the launches of a schedule.
pub(crate) struct Chunks<'a> {
    schedule: &'a Schedule,
    max_steps: usize,
    cursor: Cursor,
}

impl Iterator for Chunks<'_> {
    type Item = Chunk;

    fn next(&mut self) -> Option<Chunk> {
        let span = &self.schedule.span;
        let first_step = self.cursor.step;
        let mut times = vec![self.cursor.now];
        loop {
            let is_due = self.save().is_some_and(|save| !span.is_before(self.cursor.now, save));
            if is_due || self.cursor.grid >= span.steps || times.len() > self.max_steps {
                let save = is_due.then_some(self.cursor.save as usize);
                self.cursor.save += u64::from(is_due);
                let is_empty = times.len() == 1 && save.is_none();
                return (!is_empty).then_some(Chunk { first_step, times, save });
            }
            self.advance();
            self.cursor.step += 1;
            times.push(self.cursor.now);
        }
    }
}

impl Chunks<'_> {
    /// The start of the next launch.
    pub fn cursor(&self) -> Cursor {
        self.cursor
    }

    /// Moves to the start of a launch of the same schedule.
    pub fn go_to(&mut self, cursor: Cursor) {
        self.cursor = cursor;
    }

    /// Time of the next save, if there is one.
    fn save(&self) -> Option<f64> {
        let save = self.cursor.save as usize;
        (save < self.schedule.saves).then(|| self.schedule.save_time(save))
    }

    /// Moves to the end of the current step, or to a save before it.
    fn advance(&mut self) {
        let span = &self.schedule.span;
        let end = span.time(self.cursor.grid + 1);
        if let Some(save) = self.save()
            && span.is_before(save, end)
        {
            self.cursor.now = save;
            return;
        }
        self.cursor.now = end;
        self.cursor.grid += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(t0: f64, t1: f64, dt: f64) -> TimeSpan {
        let span = Span { t0: Some(t0), t1: Some(t1), dt: Some(dt), steps: None };
        span.resolve([0.0, 0.0]).unwrap()
    }

    #[test]
    fn two_values_define_the_third() {
        let resolve = |t1, dt, steps| Span { t0: Some(0.0), t1, dt, steps }.resolve([0.0, 9.0]);
        assert_eq!(resolve(Some(1.0), Some(0.25), None).unwrap().steps, 4);
        assert_eq!(resolve(Some(1.0), Some(0.3), None).unwrap().steps, 4);
        assert_eq!(resolve(None, Some(0.1), Some(7)).unwrap().t1, 0.1 * 7.0);
        assert_eq!(resolve(Some(2.0), None, Some(8)).unwrap().dt, 0.25);
        assert_eq!(resolve(Some(1.0), Some(0.1), Some(10)).unwrap().steps, 10);
        assert_eq!(resolve(None, Some(1.0), None).unwrap().t1, 9.0);
        assert!(resolve(Some(1.0), Some(0.1), Some(11)).is_err());
        assert!(resolve(Some(1.0), Some(-0.1), None).is_err());
        assert!(resolve(None, None, None).is_err());
        let steady = Span { t0: Some(3.0), ..Span::default() }.resolve([0.0, 0.0]);
        let message = steady.unwrap_err().to_string();
        assert!(message.contains("t1, dt and steps are missing"), "{message}");
        assert!(message.contains("two of them, such as t1 = 4"), "{message}");
        assert!(resolve(Some(f64::NAN), Some(0.1), None).is_err());
        assert!(resolve(Some(0.0), Some(0.1), None).is_err());
        let message = resolve(None, Some(1e308), Some(100)).unwrap_err().to_string();
        assert!(message.contains("100 steps of 1e308 from t = 0 end at inf"), "{message}");
        let late = Span { t0: Some(1e16), t1: Some(1e16 + 8.0), dt: Some(0.5), steps: None };
        let message = late.resolve([0.0, 0.0]).unwrap_err().to_string();
        assert!(message.contains("a step of 0.5 is shorter than times between 1e16"), "{message}");
        let backward = Span { dt: Some(-1.0), ..Span::default() }.resolve([2.0, 9.0]).unwrap();
        assert_eq!((backward.t0, backward.t1, backward.steps), (9.0, 2.0, 7));
    }

    #[test]
    fn last_step_ends_at_t1() {
        let schedule = Schedule::new(span(0.0, 1.0, 0.3), SaveAt::End).unwrap();
        let chunks: Vec<_> = schedule.chunks(100).collect();
        assert_eq!(chunks.len(), 1);
        assert_eq!(chunks[0].steps(), 4);
        assert_eq!(chunks[0].end(), 1.0);
        assert_eq!(chunks[0].save, Some(0));
    }

    #[test]
    fn steps_are_split_at_saves() {
        let schedule = Schedule::new(span(0.0, 1.0, 0.4), SaveAt::EveryTime(0.5)).unwrap();
        let chunks: Vec<_> = schedule.chunks(100).collect();
        let saves: Vec<_> = chunks.iter().map(|c| (c.end(), c.save)).collect();
        assert_eq!(saves, [(0.0, Some(0)), (0.5, Some(1)), (1.0, Some(2))]);
        assert_eq!(chunks[1].times, [0.0, 0.4, 0.5]);
        assert_eq!(chunks[2].times, [0.5, 0.8, 1.0]);
        assert_eq!(chunks[2].first_step, 2);
    }

    #[test]
    fn saves_at_the_end_of_steps_do_not_split_them() {
        for save in [SaveAt::EverySteps(5), SaveAt::EveryTime(0.5)] {
            let schedule = Schedule::new(span(0.0, 10.0, 0.1), save).unwrap();
            let chunks: Vec<_> = schedule.chunks(1000).collect();
            assert_eq!(chunks.iter().map(Chunk::steps).sum::<usize>(), 100);
            assert_eq!(chunks.len(), 21);
            assert_eq!(chunks.iter().filter(|c| c.save.is_some()).count(), schedule.saves());
        }
    }

    #[test]
    fn long_save_interval_saves_start_and_end() {
        let schedule = Schedule::new(span(0.0, 1.0, 0.1), SaveAt::EverySteps(1000)).unwrap();
        let ends: Vec<_> = schedule.chunks(1000).filter_map(|c| c.save.map(|_| c.end())).collect();
        assert_eq!(ends, [0.0, 1.0]);
    }

    #[test]
    fn launches_are_bounded_and_backward_runs_mirror_forward_ones() {
        let schedule =
            Schedule::new(span(2.0, -1.0, -0.25), SaveAt::Times(vec![1.1, -1.0])).unwrap();
        let chunks: Vec<_> = schedule.chunks(3).collect();
        assert!(chunks.iter().all(|c| c.steps() <= 3));
        assert_eq!(chunks.iter().map(Chunk::steps).sum::<usize>(), 13);
        assert_eq!(chunks.last().unwrap().end(), -1.0);
        assert!(Schedule::new(span(0.0, 1.0, 0.1), SaveAt::Times(vec![0.5, 0.2])).is_err());
        assert!(Schedule::new(span(0.0, 1.0, 0.1), SaveAt::Times(vec![2.0])).is_err());
    }

    #[test]
    fn located_events_have_their_times() {
        let schedule = Schedule::new(span(0.0, 1.0, 0.4), SaveAt::EveryTime(0.5)).unwrap();
        let times = [0.0, 0.2, 0.45, 0.9, 1.5];
        let events = schedule.locate(&times);
        assert_eq!(events.iter().map(|e| e.0).collect::<Vec<_>>()[..4], [0, 0, 1, 3]);
        assert_eq!(events[4].0, NEVER);
        let back = schedule.times_of(&events);
        for (t, b) in times.iter().zip(&back).take(4) {
            assert!((t - b).abs() < 1e-15, "{t} {b}");
        }
        assert!(back[4].is_nan());
    }

    #[test]
    fn events_at_the_end_of_a_step_are_at_the_start_of_the_next_one() {
        let schedule = Schedule::new(span(0.0, 1.0, 0.25), SaveAt::End).unwrap();
        assert_eq!(schedule.locate(&[0.25, 0.75, 1.0]), [(1, 0.0), (3, 0.0), (NEVER, 0.0)]);
    }

    #[test]
    fn intervals_between_saves_of_backward_runs_count_from_their_start() {
        let schedule = Schedule::new(span(1.0, 0.0, -0.25), SaveAt::EveryTime(0.5)).unwrap();
        let saves: Vec<_> = schedule.chunks(100).map(|c| (c.end(), c.save)).collect();
        assert_eq!(saves, [(1.0, Some(0)), (0.5, Some(1)), (0.0, Some(2))]);
    }
}
