//! A schedule that continues a shorter one.

use super::{Chunk, Cursor, Schedule};
use crate::{Error, Result, error::short};

impl Schedule {
    /// The position at the end of an earlier, shorter schedule whose steps and saves are the first ones of
    /// this schedule. Calls a function for each of the common launches.
    ///
    /// # Errors
    ///
    /// [`Error::Extend`] if a step or a save differs, if the end of the earlier schedule is not a save of
    /// both, or if this schedule does not go on after it.
    pub fn after(
        &self,
        earlier: &Schedule,
        max_steps: usize,
        mut each: impl FnMut(&Chunk) -> Result<()>,
    ) -> Result<Cursor> {
        self.check_steps(earlier)?;
        let mut chunks = self.chunks(max_steps);
        for expected in earlier.chunks(max_steps) {
            match chunks.next() {
                Some(chunk) if chunk == expected => each(&chunk)?,
                _ => return Err(self.other_saves(earlier)),
            }
        }
        let cursor = chunks.cursor();
        match cursor.save as usize == earlier.saves() && cursor.now == earlier.span.t1 {
            true => Ok(cursor),
            false => Err(self.other_saves(earlier)),
        }
    }

    /// Refuses a schedule with other steps, or without further ones.
    fn check_steps(&self, earlier: &Schedule) -> Result<()> {
        let (now, before) = (&self.span, &earlier.span);
        let fail = |reason: String| Err(Error::Extend(reason));
        if now.t0.to_bits() != before.t0.to_bits() {
            return fail(format!(
                "it starts at t = {}, the finished run at {}; start both at the same time",
                short(now.t0),
                short(before.t0)
            ));
        }
        if now.dt.to_bits() != before.dt.to_bits() {
            return fail(format!(
                "its steps have a length of {}, those of the finished run {}; give the same \
                 `Span::dt`, or for `Span::t1` = {} the number `Span::steps` = {:.0}",
                now.dt,
                before.dt,
                short(now.t1),
                ((now.t1 - now.t0) / before.dt).ceil().max(1.0)
            ));
        }
        if now.steps <= before.steps {
            return fail(format!(
                "it ends at t = {}, not after the end of the finished run at {}; give a later `Span::t1`, in the \
                 direction of the run",
                short(now.t1),
                short(before.t1)
            ));
        }
        let end = now.time(before.steps);
        if end.to_bits() != before.t1.to_bits() {
            return fail(format!(
                "the finished run ended at t = {}, and a step of the longer run ends at {end} instead: the last \
                 step of the finished run was shorter or longer than the others; run the longer case from its \
                 start, and let runs to be continued end after whole steps, by `Span::dt` and `Span::steps`",
                before.t1
            ));
        }
        Ok(())
    }

    /// The error if the saves until the end of the earlier schedule differ.
    fn other_saves(&self, earlier: &Schedule) -> Error {
        let of_both = (0..earlier.saves())
            .map(|k| (earlier.save_time(k), (k < self.saves()).then(|| self.save_time(k))));
        let differ = |(before, now): &(f64, Option<f64>)| *now != Some(*before);
        let what = match of_both.into_iter().find(differ) {
            Some((before, Some(now))) => format!(
                "the finished run saved at t = {before}, the longer one saves at {now} instead"
            ),
            Some((before, None)) => {
                format!("the finished run saved at t = {before}, the longer one does not")
            }
            None => {
                let end = earlier.span.t1;
                format!("the end of the finished run at t = {end} is not a save of both runs")
            }
        };
        Error::Extend(format!(
            "{what}; give the save times of the finished run, its end among them, and further ones: with \
             `SaveAt::EverySteps` a divisor of its {} steps, or with `SaveAt::Times`",
            earlier.span.steps
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{SaveAt, TimeSpan};
    use super::*;

    fn schedule(t1: f64, dt: f64, save: SaveAt) -> Schedule {
        let steps = ((t1 / dt) - 1e-9).ceil() as u64;
        Schedule::new(TimeSpan { t0: 0.0, t1, dt, steps }, save).unwrap()
    }

    fn reason(longer: &Schedule, earlier: &Schedule) -> String {
        match longer.after(earlier, 3, |_| Ok(())) {
            Err(Error::Extend(reason)) => reason,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn longer_schedule_goes_on_where_the_earlier_one_ended() {
        let saves = [
            [SaveAt::EverySteps(2), SaveAt::EverySteps(2)],
            [SaveAt::EveryTime(0.5), SaveAt::EveryTime(0.5)],
            [SaveAt::End, SaveAt::Times(vec![1.0, 1.5])],
        ];
        for [before, now] in saves {
            let earlier = schedule(1.0, 0.25, before);
            let longer = schedule(2.0, 0.25, now);
            let mut steps = 0;
            let count = |chunk: &Chunk| {
                steps += chunk.steps();
                Ok(())
            };
            let cursor = longer.after(&earlier, 3, count).unwrap();
            assert_eq!((cursor.now, cursor.grid, cursor.step), (1.0, 4, 4));
            assert_eq!((cursor.save as usize, steps), (earlier.saves(), 4));
        }
        let [earlier, longer] = [-1.0, -2.0].map(|t1| schedule(t1, -0.25, SaveAt::EverySteps(1)));
        assert_eq!(longer.after(&earlier, 100, |_| Ok(())).unwrap().now, -1.0);
    }

    #[test]
    fn schedules_that_differ_are_refused_with_the_difference() {
        let every = |steps| SaveAt::EverySteps(steps);
        let earlier = schedule(1.0, 0.25, every(2));
        let message = reason(&schedule(2.0, 0.2, every(2)), &earlier);
        assert!(message.contains("length of 0.2"), "{message}");
        assert!(message.contains("`Span::steps` = 8"), "{message}");
        let message = reason(&schedule(1.0, 0.25, every(2)), &earlier);
        assert!(message.contains("not after the end of the finished run at 1"), "{message}");
        let message = reason(&schedule(2.0, 0.25, every(1)), &earlier);
        assert!(message.contains("saved at t = 0.5, the longer one saves at 0.25"), "{message}");
        // An end that is no step of the longer run, by a shorter step and by rounding.
        let message = reason(&schedule(2.0, 0.25, every(1)), &schedule(0.9, 0.25, every(1)));
        assert!(message.contains("ended at t = 0.9"), "{message}");
        let message = reason(&schedule(2.0, 0.1, every(1)), &schedule(0.3, 0.1, every(1)));
        assert!(message.contains("ends at 0.30000000000000004 instead"), "{message}");
        // An end that is no save of the longer run.
        let message = reason(&schedule(2.0, 0.25, every(3)), &schedule(1.0, 0.25, every(3)));
        assert!(message.contains("saved at t = 1, the longer one saves at 1.5"), "{message}");
        let message = reason(&schedule(2.0, 0.25, SaveAt::End), &schedule(1.0, 0.25, SaveAt::End));
        assert!(message.contains("the longer one saves at 2"), "{message}");
        let half = SaveAt::Times(vec![0.5]);
        let message =
            reason(&schedule(2.0, 0.25, SaveAt::Times(vec![0.5, 1.5])), &schedule(1.0, 0.25, half));
        assert!(message.contains("end of the finished run at t = 1 is not a save"), "{message}");
    }
}
