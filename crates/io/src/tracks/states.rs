//! Who is in which slot at a save, and how old.

use super::Tracks;
use crate::{Error, Result};
use burntrace_core::{Ends, Status};

/// When particles were released and when they ended: about 40 bytes for each slot, and where slots
/// are used again, 8 to 16 bytes for each life.
#[derive(Debug)]
pub struct Clock {
    ends: Ends,
    /// Times of release of the lives of each slot.
    releases: Option<Vec<Vec<f64>>>,
}

/// All slots at a save.
#[derive(Debug)]
pub struct SavedStates {
    time: f64,
    /// Positions in the box, in the order of the slots.
    pub position: Vec<[f64; 3]>,
    status: Vec<Status>,
    generation: Option<Vec<i32>>,
}

/// A slot at a save.
#[derive(Clone, Copy, Debug)]
pub struct ParticleState {
    /// The slot.
    pub slot: usize,
    /// How many lives the slot has had before; 0 where slots are not used again.
    pub generation: i32,
    /// What has become of the particle.
    pub status: Status,
    /// Where it is, in the box.
    pub position: [f64; 3],
    /// Time of the save.
    pub time: f64,
}

impl SavedStates {
    /// Reads a save.
    ///
    /// # Errors
    ///
    /// As [`Tracks::position`].
    pub fn read(store: &Tracks, save: usize) -> Result<SavedStates> {
        Ok(SavedStates {
            time: store.times().get(save).copied().unwrap_or(f64::NAN),
            position: store.position(save)?,
            status: store.status(save)?,
            generation: store.generation(save)?,
        })
    }

    /// The moment of a slot.
    ///
    /// # Panics
    ///
    /// If there is no such slot.
    pub fn of(&self, slot: usize) -> ParticleState {
        ParticleState {
            slot,
            generation: self.generation.as_ref().map_or(0, |all| all[slot]),
            status: self.status[slot],
            position: self.position[slot],
            time: self.time,
        }
    }
}

impl ParticleState {
    /// Whether there is a particle: it does not wait, and the slot is not empty.
    pub fn is_there(&self) -> bool {
        self.status != Status::Waiting && self.position.iter().all(|x| x.is_finite())
    }
}

impl Clock {
    /// Reads the ends and the table of lives.
    ///
    /// # Errors
    ///
    /// As [`Tracks::ends`]; also if the lives of a slot do not come one by one.
    pub fn of(store: &Tracks) -> Result<Clock> {
        Ok(Clock { ends: store.ends()?, releases: releases(store)? })
    }

    /// Whether slots are used again.
    pub fn has_lives(&self) -> bool {
        self.releases.is_some()
    }

    /// The time of a particle's point: that of the save, or of the end before it.
    pub fn time(&self, moment: &ParticleState) -> f64 {
        let ParticleState { slot, generation, status, time, .. } = *moment;
        // The ends are those of the last lives.
        let last = self.ends.generation.get(slot).map_or(0, |last| i64::from(*last));
        let end = self.ends.end_time[slot];
        match status.has_ended() && i64::from(generation) == last && end.is_finite() {
            true => end,
            false => time,
        }
    }

    /// Time since the release, or from the release to the end of one that has ended; positive in
    /// backward runs too, NaN where it was not released.
    pub fn age(&self, moment: &ParticleState) -> f64 {
        let release = match &self.releases {
            None => self.ends.release_time.get(moment.slot),
            Some(releases) => {
                let generation = usize::try_from(moment.generation).ok();
                generation.and_then(|life| releases[moment.slot].get(life))
            }
        };
        release.map_or(f64::NAN, |release| (self.time(moment) - release).abs())
    }
}

fn releases(store: &Tracks) -> Result<Option<Vec<Vec<f64>>>> {
    let Some(lives) = store.instances() else { return Ok(None) };
    let mut releases: Vec<Vec<f64>> = vec![Vec::new(); store.num_particles()];
    for life in lives {
        let life = life?;
        let of_slot = &mut releases[life.slot];
        if of_slot.len() != life.generation as usize {
            return Err(Error::Store {
                path: store.folder().join("life_generation"),
                found: format!("found life {} of slot {}", life.generation, life.slot),
                expected: format!("life {}: those of a slot come one by one", of_slot.len()),
            });
        }
        of_slot.push(life.release_time);
    }
    Ok(Some(releases))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backward_run_has_the_times_of_ends_and_ages_too() {
        let ends = Ends { end_time: vec![1.75], generation: vec![1], ..Ends::default() };
        let clock = Clock { ends, releases: Some(vec![vec![4.0, 3.0]]) };
        let (slot, status, position) = (0, Status::Stagnant, [0.0; 3]);
        let last = ParticleState { slot, generation: 1, status, position, time: 1.5 };
        assert_eq!((clock.time(&last), clock.age(&last)), (1.75, 1.25));
        let first = ParticleState { generation: 0, time: 3.5, ..last };
        assert_eq!((clock.time(&first), clock.age(&first)), (3.5, 0.5));
        assert!(clock.age(&ParticleState { generation: 2, ..last }).is_nan());
    }
}
