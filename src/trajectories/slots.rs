//! Which slots and saves of a run are shown.

use crate::Status;
use burntrace_io::{Result, Tracks};

/// Slots by whether they had a particle up to the last save.
pub(super) struct Located {
    /// Those that had one, increasing.
    pub slots: Vec<usize>,
    /// Number of those whose seed was not located.
    pub not_located: usize,
}

impl Located {
    pub fn read(tracks: &Tracks) -> Result<Located> {
        let Some(last) = tracks.num_saves().checked_sub(1) else {
            return Ok(Located { slots: Vec::new(), not_located: 0 });
        };
        let (status, generation) = (tracks.status(last)?, tracks.generation(last)?);
        let is_unused = |slot: usize| {
            status[slot] == Status::Waiting
                && generation.as_ref().is_none_or(|generation| generation[slot] == 0)
        };
        let is_lost = |slot: usize| status[slot] == Status::NotLocated;
        let slots = (0..status.len()).filter(|slot| !is_lost(*slot) && !is_unused(*slot)).collect();
        Ok(Located { slots, not_located: (0..status.len()).filter(|slot| is_lost(*slot)).count() })
    }
}

/// At most `max` of the slots, spread evenly, the first one included. Each is at another place in its
/// interval, so that seeds on a lattice are not all taken from one of its columns.
pub(super) fn spread(slots: &[usize], max: usize) -> Vec<usize> {
    let taken = slots.len().min(max);
    let start = |i: usize| (i as u128 * slots.len() as u128 / taken as u128) as usize;
    let chosen = |i: usize| {
        let (from, to) = (start(i), start(i + 1));
        from + ((to - from) as f64 * (i as f64 * GOLDEN).fract()) as usize
    };
    (0..taken).map(|i| slots[chosen(i)]).collect()
}

/// The golden ratio: its multiples are spread evenly between integers.
const GOLDEN: f64 = 1.618_033_988_749_895;

/// At most `max` evenly spaced indices below `count`, the last one included.
pub(super) fn evenly_spaced_with_last(count: usize, max: usize) -> Vec<usize> {
    let taken = count.min(max.max(1));
    let last = count.saturating_sub(1);
    let index = |i: usize| (i * last).checked_div(taken - 1).unwrap_or(last);
    (0..taken).map(index).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn samples_are_evenly_spaced() {
        let slots = [3, 4, 5, 6, 10, 11, 12, 13, 14];
        assert_eq!(spread(&slots, 3), [3, 10, 12]);
        assert_eq!(spread(&slots[..2], 5), [3, 4]);
        assert_eq!(spread(&[], 5), [0; 0]);
        // On a lattice with 40 columns, 50 of 2000 are not in few columns.
        let lattice: Vec<usize> = (0..2000).collect();
        let columns: HashSet<usize> = spread(&lattice, 50).iter().map(|slot| slot % 40).collect();
        assert!(columns.len() > 25, "{columns:?}");
        assert_eq!(evenly_spaced_with_last(11, 3), [0, 5, 10]);
        assert_eq!(evenly_spaced_with_last(11, 1), [10]);
        assert_eq!(evenly_spaced_with_last(2, 9), [0, 1]);
        assert_eq!(evenly_spaced_with_last(1, 9), [0]);
        assert_eq!(evenly_spaced_with_last(0, 9), [0; 0]);
    }
}
