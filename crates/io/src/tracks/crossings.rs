//! Crossings of gates in a store.

use super::Tracks;
use super::decode::triples;
use super::layout::{self, ArraySpec};
use crate::{Error, Result};
use burntrace_core::Crossing;
use std::ops::Range;

/// Crossings read at a time.
const CROSSINGS: usize = 1 << 12;

impl Tracks {
    /// Names of the gates whose crossings are stored.
    pub fn gates(&self) -> &[String] {
        &self.manifest().gates
    }

    /// Number of stored crossings of gates; `None` for a run without gates.
    pub fn num_crossings(&self) -> Option<usize> {
        self.manifest().crossings
    }

    /// Iterates over blocks of the crossings of gates, segment of the run after segment; those of a particle are in order. There are
    /// none for a run without gates.
    pub fn crossings(&self) -> impl Iterator<Item = Result<Vec<Crossing>>> + '_ {
        let count = self.num_crossings().unwrap_or(0);
        let block = move |first| first..count.min(first + CROSSINGS);
        (0..count).step_by(CROSSINGS).map(move |first| self.block_of_crossings(block(first)))
    }

    /// Reads some rows of the table.
    fn block_of_crossings(&self, rows: Range<usize>) -> Result<Vec<Crossing>> {
        let arrays = self.store_arrays();
        let ints = |spec: &ArraySpec| arrays.read::<i32>(spec, rows.clone(), 0..1);
        let numbers = |spec: &ArraySpec| arrays.read::<f64>(spec, rows.clone(), 0..1);
        let (gates, slots) = (ints(&layout::CROSSING_GATE)?, ints(&layout::CROSSING_SLOT)?);
        let (generations, directions) =
            (ints(&layout::CROSSING_GENERATION)?, ints(&layout::CROSSING_DIRECTION)?);
        let times = numbers(&layout::CROSSING_TIME)?;
        let positions = triples(numbers(&layout::CROSSING_POSITION)?);
        let crossing = |i: usize| {
            let known = (
                usize::try_from(gates[i]),
                usize::try_from(slots[i]),
                u32::try_from(generations[i]),
            );
            let (Ok(gate), Ok(slot), Ok(generation)) = known else {
                return Err(Error::Store {
                    path: self.folder().into(),
                    found: format!(
                        "found a crossing of gate {} by generation {} of slot {}",
                        gates[i], generations[i], slots[i]
                    ),
                    expected: "numbers from 0".into(),
                });
            };
            let (time, position, is_forward) = (times[i], positions[i], directions[i] > 0);
            Ok(Crossing { gate, slot, generation, is_forward, time, position })
        };
        (0..rows.len()).map(crossing).collect()
    }
}
