//! The order of particles in space, kept from launch to launch.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Where the launches of a run keep the order in which particles are close to each other in space.
///
/// Particles move little in a few steps. A launch that is too short to sort them takes the order of an
/// earlier one, and so does the sampling of a save. No result depends on it. Copies share the orders.
#[derive(Clone, Debug, Default)]
pub struct KeptOrder(Arc<Mutex<BTreeMap<u32, RowOrder>>>);

/// The order of the rows of a launch.
#[derive(Debug, Default)]
pub(crate) struct RowOrder {
    /// All rows, or none if they are not sorted yet.
    pub rows: Vec<u32>,
    /// Steps taken since they were sorted.
    pub steps: usize,
}

impl KeptOrder {
    /// The orders of launches, by the slots of their first rows.
    pub(crate) fn of_launches(&self) -> MutexGuard<'_, BTreeMap<u32, RowOrder>> {
        // An order that was not completed is not in the map, so that it is valid after a panic, too.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The rows of a launch in their order, if it is known.
    pub(crate) fn rows(&self, first_slot: u32, count: usize) -> Option<Vec<u32>> {
        let launches = self.of_launches();
        let order = launches.get(&first_slot).filter(|order| order.rows.len() == count);
        order.filter(|order| !order.rows.is_empty()).map(|order| order.rows.clone())
    }
}
