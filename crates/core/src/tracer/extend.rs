//! Continues a finished run to a later end.

use super::{Prepared, slots::Slots, state::RunState, stepper};
use crate::{Error, Result, error::short, schedule::Cursor};
use burntrace_kernels::{RECORD, Record, status::WAITING};
use std::borrow::Cow;

impl Prepared<'_> {
    /// The state from which this run [resumes](Prepared::resume) to continue a finished run of the same
    /// case with an earlier end. `state` is the state after the last segment of that run. The results are
    /// bit-identical to those of this run from its start.
    ///
    /// # Errors
    ///
    /// [`Error::Extend`] if the two runs differ before the end of the finished one: in particles, steps,
    /// saves or releases, or if that end is not a step and a save of both runs; [`Error::State`] if the
    /// state is not one of its end.
    pub fn extend(
        &self,
        finished: &Prepared,
        mut state: RunState<'static>,
    ) -> Result<RunState<'static>> {
        finished.check_end(&state)?;
        let (own, before) = (self.identity(), finished.identity());
        if [own.particles, own.bytes_per_number] != [before.particles, before.bytes_per_number]
            || own.is_fused != before.is_fused
        {
            return Err(Error::Extend(format!(
                "its particles, precision or engine differ from those of the finished run ({own:?}, {before:?}); \
                 give the same case with a later end"
            )));
        }
        let cursor = self.common_part(finished)?;
        self.set_releases(&mut state)?;
        let numbers = &mut state.numbers;
        (numbers.run, numbers.cursor) = (own, cursor);
        numbers.mark = numbers.counts.given();
        Ok(state)
    }

    /// Refuses a state that is not one of the end of this run.
    fn check_end(&self, state: &RunState) -> Result<()> {
        let (numbers, span) = (&state.numbers, &self.schedule.span);
        if numbers.run != self.identity() {
            return Err(Error::State(format!(
                "it belongs to another run ({:?}) than the finished one ({:?})",
                numbers.run,
                self.identity()
            )));
        }
        match numbers.cursor.grid >= span.steps
            && numbers.counts.saves == self.schedule.saves() as u64
        {
            true => Ok(()),
            false => Err(Error::State(format!(
                "it is of t = {}, not of the end of the run at {}; finish the run first",
                short(numbers.cursor.now),
                short(span.t1)
            ))),
        }
    }

    /// Compares steps, saves and releases of sources until the end of a finished run. Returns the position
    /// there in the schedule of this run.
    fn common_part(&self, finished: &Prepared) -> Result<Cursor> {
        let timetables = |slots: Option<&Slots>| slots.map(|slots| slots.timetables.clone());
        let mut own = timetables(self.slots.as_ref()).unwrap_or_default();
        let mut before = timetables(finished.slots.as_ref()).unwrap_or_default();
        let precision = self.tracer.field.precision();
        let max_steps = stepper::max_steps(self.all, &self.tracer.field.device());
        let (span, earlier) = (self.schedule.span, finished.schedule.span);
        self.schedule.after(&finished.schedule, max_steps, |chunk| {
            for (i, (own, before)) in own.iter_mut().zip(&mut before).enumerate() {
                let own = own.releases(chunk, &span, precision);
                let before = before.releases(chunk, &earlier, precision);
                if (own.first, own.events) != (before.first, before.events) {
                    return Err(Error::Extend(format!(
                        "source {} releases other particles until t = {}; give the same rates",
                        i + 1,
                        short(earlier.t1)
                    )));
                }
            }
            Ok(())
        })
    }

    /// Sets step and fraction of seeds that are still to be released: those after the end of the finished
    /// run had none.
    fn set_releases(&self, state: &mut RunState<'static>) -> Result<()> {
        let (count, seeds) = (self.count(), self.positions().len());
        let mut record: Vec<i32> = state.array("record", RECORD * count)?;
        let records = Record::from_numbers(&record)[..seeds].iter().enumerate();
        let waiting: Vec<usize> =
            records.filter_map(|(i, record)| (record.status == WAITING).then_some(i)).collect();
        let step = |seed: usize| self.releases.of(seed).1;
        for &seed in &waiting {
            let numbers = &mut record[RECORD * seed..][..RECORD];
            let changed = Record { step: step(seed) as i32, ..Record::from_numbers(numbers)[0] };
            numbers.copy_from_slice(Record::as_numbers(&[changed]));
        }
        replace(state, "record", bytemuck::cast_slice(&record));
        let precision = self.tracer.field.precision();
        let mut fractions = state.floats("fraction", count, precision)?;
        waiting.iter().for_each(|i| fractions.set(*i, self.releases.fraction(*i)));
        replace(state, "fraction", fractions.bytes());
        if self.slots.is_some() {
            let mut steps: Vec<u64> = state.array("release_step", count)?;
            waiting.iter().for_each(|i| steps[*i] = step(*i));
            replace(state, "release_step", bytemuck::cast_slice(&steps));
        }
        Ok(())
    }
}

/// Replaces the bytes of an array.
fn replace(state: &mut RunState<'static>, name: &str, bytes: &[u8]) {
    if let Some((_, old)) = state.arrays.iter_mut().find(|(of, _)| of == name) {
        *old = Cow::Owned(bytes.to_vec());
    }
}
