//! Selection of saves and particles.

use super::finals::{Final, Finals};
use crate::tracks::{ParticleState, Tracks};
use crate::{Error, Result};
use burntrace_core::Status;

/// The saves and particles to export. By default all saves, and all particles that have been released.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    /// Statuses at the save; empty for all of released particles.
    pub statuses: Vec<Status>,
    /// Statuses at the end of the run; empty for all.
    pub end_statuses: Vec<Status>,
    /// Earliest time.
    pub from: f64,
    /// Latest time.
    pub to: f64,
    /// Every nth save of the store, from the first one.
    pub every_save: usize,
    /// Every nth particle, or slot, from the first one.
    pub every_particle: usize,
}

impl Default for Selection {
    fn default() -> Self {
        Selection {
            statuses: Vec::new(),
            end_statuses: Vec::new(),
            from: f64::NEG_INFINITY,
            to: f64::INFINITY,
            every_save: 1,
            every_particle: 1,
        }
    }
}

impl Selection {
    /// The selected saves of a store.
    ///
    /// # Errors
    ///
    /// [`Error::Selection`] if none is selected.
    pub fn saves(&self, store: &Tracks) -> Result<Vec<usize>> {
        let times = store.times();
        let is_selected = |save: &usize| (self.from..=self.to).contains(&times[*save]);
        let saves = (0..times.len()).step_by(self.every_save.max(1)).filter(is_selected);
        let saves: Vec<usize> = saves.collect();
        match (saves.is_empty(), times) {
            (false, _) => Ok(saves),
            (true, []) => Err(Error::Selection("the run has no saves".into())),
            (true, [first, .., last]) => Err(Error::Selection(format!(
                "none of the {} saves, from t = {first} to {last}, is selected by times from {} to {} \
                 and every {}th save",
                times.len(),
                self.from,
                self.to,
                self.every_save
            ))),
            (true, [only]) => Err(Error::Selection(format!(
                "the only save, at t = {only}, is not between {} and {}",
                self.from, self.to
            ))),
        }
    }

    /// The slots that have a selected particle, apart from its statuses at the saves.
    pub(crate) fn slots(&self, store: &Tracks, finals: Option<&Finals>) -> Vec<usize> {
        let is_meant = |end: &Final| self.end_statuses.contains(&end.status);
        let ends = |finals: &Finals, slot| finals.of_slot(slot).iter().any(is_meant);
        let slots = (0..store.num_particles()).step_by(self.every_particle.max(1));
        let is_selected = |&slot: &usize| {
            self.end_statuses.is_empty() || finals.is_some_and(|all| ends(all, slot))
        };
        slots.filter(is_selected).collect()
    }

    /// Whether a state is selected. An empty slot never is.
    pub(crate) fn accepts(&self, state: &ParticleState, finals: Option<&Finals>) -> bool {
        let has_status = match self.statuses.as_slice() {
            [] => state.is_present(),
            some => some.contains(&state.status) && state.position.iter().all(|x| !x.is_nan()),
        };
        let ends = |finals: &Finals| {
            let end = finals.of(state.slot, state.generation);
            end.is_some_and(|end| self.end_statuses.contains(&end.status))
        };
        has_status
            && state.slot.is_multiple_of(self.every_particle.max(1))
            && (self.end_statuses.is_empty() || finals.is_some_and(ends))
    }

    /// The ends of the particles, if the run has ended.
    ///
    /// # Errors
    ///
    /// If they are selected by and not known, or a file cannot be read.
    pub(crate) fn finals(&self, store: &Tracks) -> Result<Option<Finals>> {
        match store.is_complete() {
            true => Finals::read(store).map(Some),
            false if self.end_statuses.is_empty() => Ok(None),
            false => Err(Error::Selection(
                "the run has not ended, so that statuses at its end are unknown; select by the \
                 statuses at the saves"
                    .into(),
            )),
        }
    }
}
