//! The particles in all slots at a save.

use super::{
    decode::{statuses, triples},
    layout,
    reader::{Tracks, unwrap},
};
use crate::{Error, Result};
use burntrace_core::{Ends, ParticleInstance, Status};
use std::ops::Range;

/// Release and end times of all particles, for the times and ages of [`ParticleState`]s.
///
/// Needs about 40 bytes for each slot and, if slots are re-used, 8 to 16 bytes for each particle
/// instance.
#[derive(Debug)]
pub struct ParticleTimes {
    ends: Option<Ends>,
    /// Release times of the particle instances of each slot.
    releases: Option<Vec<Vec<f64>>>,
}

/// The states of the slots at a save.
#[derive(Debug)]
pub struct SavedStates {
    pub(crate) time: f64,
    first: usize,
    /// Positions in the data's unit of length, in the order of the slots: in the box, but for [`read_unwrapped`](Self::read_unwrapped).
    pub position: Vec<[f64; 3]>,
    pub(crate) status: Vec<Status>,
    generation: Option<Vec<i32>>,
}

/// The state of a slot at a save.
#[derive(Clone, Copy, Debug)]
pub struct ParticleState {
    /// The slot.
    pub slot: usize,
    /// Number of earlier particle instances in the slot; 0 if slots are not re-used.
    pub generation: i32,
    /// Status of the particle.
    pub status: Status,
    /// Position in the data's unit of length, in the box unless it was read unwrapped; NaN in an empty slot.
    pub position: [f64; 3],
    /// Time of the save, in the data's unit of time.
    pub time: f64,
}

impl SavedStates {
    /// Reads a save.
    ///
    /// # Errors
    ///
    /// As [`Tracks::position`].
    pub fn read(store: &Tracks, save: usize) -> Result<SavedStates> {
        SavedStates::read_range(store, save, 0..store.num_particles())
    }

    /// Reads a range of slots of a save, with positions that are continuous across periodic faces. Other slots are not read.
    ///
    /// # Errors
    ///
    /// As [`Tracks::position_range`].
    pub fn read_unwrapped(store: &Tracks, save: usize, slots: Range<usize>) -> Result<SavedStates> {
        let mut states = SavedStates::read_range(store, save, slots.clone())?;
        if let Some(spec) = store.optional(&layout::IMAGE) {
            let images = triples(store.of_slots::<i32>(spec, save, slots)?);
            let pairs = states.position.iter_mut().zip(images);
            pairs.for_each(|(position, image)| unwrap(position, image, store.periods()));
        }
        Ok(states)
    }

    /// Reads a range of slots of a save.
    pub(crate) fn read_range(
        store: &Tracks,
        save: usize,
        slots: Range<usize>,
    ) -> Result<SavedStates> {
        let generation = store.optional(&layout::GENERATION);
        let generation = generation.map(|spec| store.of_slots(spec, save, slots.clone()));
        Ok(SavedStates {
            time: store.times().get(save).copied().unwrap_or(f64::NAN),
            first: slots.start,
            position: store.position_range(save, slots.clone())?,
            status: statuses(store.folder(), store.of_slots(&layout::STATUS, save, slots)?)?,
            generation: generation.transpose()?,
        })
    }

    /// The state of a slot, by its index among those that were read.
    ///
    /// # Panics
    ///
    /// If it is out of range.
    pub fn state(&self, index: usize) -> ParticleState {
        ParticleState {
            slot: self.first + index,
            generation: self.generation.as_ref().map_or(0, |all| all[index]),
            status: self.status[index],
            position: self.position[index],
            time: self.time,
        }
    }
}

impl ParticleState {
    /// Whether there is a released particle in the slot: it is neither waiting nor not located, and
    /// the slot is not empty.
    pub fn is_present(&self) -> bool {
        self.status.is_released() && self.position.iter().all(|x| x.is_finite())
    }
}

impl ParticleTimes {
    /// Reads the ends and the table of particle instances. The store of an unfinished run has no
    /// ends, and only the particle instances that have ended: other ages are NaN, and an ended
    /// particle has the time of the save.
    ///
    /// # Errors
    ///
    /// As [`Tracks::ends`]; also if the generations of a slot are not consecutive.
    pub fn read(store: &Tracks) -> Result<ParticleTimes> {
        let ends = store.is_complete().then(|| store.ends()).transpose()?;
        Ok(ParticleTimes { ends, releases: releases(store)? })
    }

    /// Whether slots are re-used.
    pub fn reuses_slots(&self) -> bool {
        self.releases.is_some()
    }

    /// The time of a particle's state: its end time if it has ended, otherwise the time of the
    /// save.
    pub fn time(&self, state: &ParticleState) -> f64 {
        let ParticleState { slot, generation, status, time, .. } = *state;
        let Some(ends) = &self.ends else { return time };
        // `ends` has the last particle instance of each slot.
        let last = ends.generation.get(slot).map_or(0, |last| i64::from(*last));
        let end = ends.end_time[slot];
        match status.has_ended() && i64::from(generation) == last && end.is_finite() {
            true => end,
            false => time,
        }
    }

    /// Time since the release, or from the release to the end for an ended particle. Positive in
    /// backward runs, too; NaN for a particle that was not released.
    pub fn age(&self, state: &ParticleState) -> f64 {
        let release = match &self.releases {
            None => self.ends.as_ref().and_then(|ends| ends.release_time.get(state.slot)),
            Some(releases) => {
                let generation = usize::try_from(state.generation).ok();
                generation.and_then(|generation| releases[state.slot].get(generation))
            }
        };
        release.map_or(f64::NAN, |release| (self.time(state) - release).abs())
    }
}

/// Release times of all particle instances, by slot; `None` if slots are not re-used.
fn releases(store: &Tracks) -> Result<Option<Vec<Vec<f64>>>> {
    let Some(instances) = store.instances() else { return Ok(None) };
    let mut releases: Vec<Vec<f64>> = vec![Vec::new(); store.num_particles()];
    for instance in instances {
        let ParticleInstance { slot, generation, release_time, .. } = instance?;
        let of_slot = &mut releases[slot];
        if of_slot.len() != generation as usize {
            return Err(Error::Store {
                path: store.folder().join(&*layout::INSTANCE_GENERATION.name),
                found: format!("found generation {generation} of slot {slot}"),
                expected: format!("generation {}: they are consecutive", of_slot.len()),
            });
        }
        of_slot.push(release_time);
    }
    Ok(Some(releases))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_in_a_backward_run_are_positive() {
        let ends = Ends { end_time: vec![1.75], generation: vec![1], ..Ends::default() };
        let times = ParticleTimes { ends: Some(ends), releases: Some(vec![vec![4.0, 3.0]]) };
        let (slot, status, position) = (0, Status::Stagnant, [0.0; 3]);
        let last = ParticleState { slot, generation: 1, status, position, time: 1.5 };
        assert_eq!((times.time(&last), times.age(&last)), (1.75, 1.25));
        let first = ParticleState { generation: 0, time: 3.5, ..last };
        assert_eq!((times.time(&first), times.age(&first)), (3.5, 0.5));
        assert!(times.age(&ParticleState { generation: 2, ..last }).is_nan());
    }
}
