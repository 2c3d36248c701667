//! The state of a run from those of its pieces.

use super::state::{Counts, Identity, RunNumbers, RunState, SlotCounters};
use crate::{DurablePosition, Error, Result};

impl RunState<'static> {
    /// The state of a run from those of its [pieces](super::Prepared::piece), in their order, all at the same
    /// time. It is the state that the whole run has there. One piece is in memory at a time beside the result.
    ///
    /// # Errors
    ///
    /// [`Error::State`] if there is no state, or if a state is not that of the next piece at this time; or the first
    /// error of the pieces.
    pub fn join<E: From<Error>>(
        pieces: impl IntoIterator<Item = std::result::Result<RunState<'static>, E>>,
    ) -> std::result::Result<RunState<'static>, E> {
        let mut pieces = pieces.into_iter();
        let none = || Error::State("there are no states of pieces; give one or more".into());
        let mut all = pieces.next().ok_or_else(none)??;
        for piece in pieces {
            let piece = piece?;
            all.numbers.join(&piece.numbers)?;
            let is_same = |((one, _), (other, _)): (&(String, _), &(String, _))| one == other;
            let pairs = all.arrays.iter().zip(&piece.arrays);
            if all.arrays.len() != piece.arrays.len() || !pairs.clone().all(is_same) {
                return Err(Error::State("its pieces have different arrays".into()).into());
            }
            for ((_, all), (_, more)) in all.arrays.iter_mut().zip(&piece.arrays) {
                all.to_mut().extend_from_slice(more);
            }
        }
        if let Some(counters) = &mut all.numbers.counters {
            counters.by_segment = None;
        }
        Ok(all)
    }
}

impl RunNumbers {
    /// Adds the numbers of the next piece.
    fn join(&mut self, next: &RunNumbers) -> Result<()> {
        let expected = Identity {
            particles: next.run.particles,
            first_slot: self.run.first_slot + self.run.particles,
            ..self.run.clone()
        };
        let is_next = next.run == expected && next.cursor == self.cursor;
        let is_at_same_save = next.counts.saves == self.counts.saves;
        if !is_next || !is_at_same_save || next.counters.is_some() != self.counters.is_some() {
            return Err(Error::State(format!(
                "a piece of it ({:?} at t = {}) does not continue the one before ({:?} at t = {}); give all \
                 pieces of one run in their order, at the same time",
                next.run, next.cursor.now, self.run, self.cursor.now
            )));
        }
        self.run.particles += next.run.particles;
        self.counts.join(&next.counts);
        if let (Some(all), Some(next)) = (&mut self.counters, &next.counters) {
            all.join(next);
        }
        let instances = self.mark.instances + next.mark.instances;
        let crossings = self.mark.crossings + next.mark.crossings;
        let saves = self.mark.saves.min(next.mark.saves);
        self.mark = DurablePosition { saves, instances, crossings };
        let pairs = self.crossings_by_segment.iter_mut().zip(&next.crossings_by_segment);
        pairs.for_each(|(sum, count)| *sum += count);
        Ok(())
    }
}

impl Counts {
    fn join(&mut self, next: &Counts) {
        self.launches += next.launches;
        self.instances += next.instances;
        self.crossings += next.crossings;
        self.trace_seconds += next.trace_seconds;
        self.save_seconds += next.save_seconds;
    }
}

impl SlotCounters {
    /// Adds the counters of the next piece. Both count all releases that were due.
    fn join(&mut self, next: &SlotCounters) {
        let add = |all: &mut Vec<u64>, more: &[u64]| {
            all.iter_mut().zip(more).for_each(|(sum, count)| *sum += count);
        };
        add(&mut self.ended, &next.ended);
        add(&mut self.left_through, &next.left_through);
        self.particle_steps += next.particle_steps;
        self.from_sources += next.from_sources;
    }
}
