//! Releases and ends of all particles.

use crate::Result;
use crate::tracks::Tracks;
use burntrace_core::Status;

/// Release and end of a particle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Final {
    pub status: Status,
    /// NaN if it was not released.
    pub release_time: f64,
    /// NaN if it has not ended.
    pub end_time: f64,
}

/// Release and end of each particle, by slot and generation. Needs 24 bytes for each.
pub(crate) struct Finals {
    /// One particle in each slot.
    slots: Vec<Final>,
    /// If slots are re-used, all particle instances of each slot.
    instances: Option<Vec<Vec<Final>>>,
}

impl Finals {
    /// Reads the ends of a run that has ended.
    ///
    /// # Errors
    ///
    /// As [`Tracks::ends`].
    pub fn read(store: &Tracks) -> Result<Finals> {
        let Some(table) = store.instances() else {
            let ends = store.ends()?;
            let slots = ends.status.iter().zip(ends.release_time.iter().zip(&ends.end_time));
            let slots = slots.map(|(&status, (&release_time, &end_time))| Final {
                status,
                release_time,
                end_time,
            });
            return Ok(Finals { slots: slots.collect(), instances: None });
        };
        let mut instances: Vec<Vec<Final>> = vec![Vec::new(); store.num_particles()];
        for of in table {
            let of = of?;
            // Within a slot they come in the order of their generations.
            let (status, release_time, end_time) = (of.status, of.release_time, of.end_time);
            instances[of.slot].push(Final { status, release_time, end_time });
        }
        Ok(Finals { slots: Vec::new(), instances: Some(instances) })
    }

    /// All particles that a slot has had.
    pub fn of_slot(&self, slot: usize) -> &[Final] {
        match &self.instances {
            None => self.slots.get(slot).map_or(&[], std::slice::from_ref),
            Some(instances) => instances.get(slot).map_or(&[], Vec::as_slice),
        }
    }

    /// The end of a particle; `None` if it was not released.
    pub fn of(&self, slot: usize, generation: i32) -> Option<Final> {
        let generation =
            if self.instances.is_some() { usize::try_from(generation).ok()? } else { 0 };
        self.of_slot(slot).get(generation).copied()
    }
}
