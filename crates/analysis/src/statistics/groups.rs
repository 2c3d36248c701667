//! Groups and pairs of slots.

use crate::{Error, Result};
use std::ops::Range;

/// The group of each slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Groups {
    of_slot: Vec<u32>,
    count: usize,
}

impl Groups {
    /// The group number of slots without a group. They count only in the statistics of all particles.
    pub const NONE: u32 = u32::MAX;

    /// Groups from a group number for each slot `[slots]`, counted from 0, or [`NONE`](Groups::NONE).
    ///
    /// # Errors
    ///
    /// [`Error::Statistics`] if a group number is not less than the number of slots.
    pub fn new(of_slot: Vec<u32>) -> Result<Self> {
        let slots = of_slot.len();
        let is_too_large = |group: &u32| *group != Self::NONE && *group as usize >= slots;
        if let Some(slot) = of_slot.iter().position(is_too_large) {
            return Err(Error::Statistics(format!(
                "slot {slot} is in group {}; give {slots} slots group numbers from 0 to {}",
                of_slot[slot],
                slots - 1
            )));
        }
        let numbers = of_slot.iter().filter(|group| **group != Self::NONE);
        let count = numbers.max().map_or(0, |last| *last as usize + 1);
        Ok(Groups { of_slot, count })
    }

    /// One group for each range of slots, out of a total of `slots`; slots outside all ranges have no
    /// group.
    ///
    /// # Errors
    ///
    /// [`Error::Statistics`] if a range exceeds the slots, or two ranges overlap.
    pub fn ranges(slots: usize, ranges: &[Range<usize>]) -> Result<Self> {
        let mut of_slot = vec![Self::NONE; slots];
        for (number, range) in ranges.iter().enumerate() {
            let Some(part) = of_slot.get_mut(range.clone()) else {
                return Err(Error::Statistics(format!(
                    "group {number} has slots {range:?}; there are {slots} slots, counted from 0"
                )));
            };
            if let Some(shared) = part.iter().position(|group| *group != Self::NONE) {
                return Err(Error::Statistics(format!(
                    "slot {} is in groups {} and {number}; give each slot one group",
                    range.start + shared,
                    part[shared]
                )));
            }
            part.fill(number as u32);
        }
        Ok(Groups { of_slot, count: ranges.len() })
    }

    /// Number of groups.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Number of slots.
    pub fn slots(&self) -> usize {
        self.of_slot.len()
    }

    /// The group of a slot, or [`NONE`](Groups::NONE).
    pub(super) fn of(&self, slot: usize) -> u32 {
        self.of_slot[slot]
    }
}

/// Pairs of slots for the relative dispersion.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Pairs {
    /// Slots 0 and 1, 2 and 3, and so on: pairs of consecutive seeds.
    #[default]
    Consecutive,
    /// A list of pairs of slots.
    Given(Vec<[u32; 2]>),
    /// No pairs.
    None,
}

impl Pairs {
    /// Number of pairs in a run with `slots` slots.
    pub(super) fn count(&self, slots: usize) -> usize {
        match self {
            Pairs::Consecutive => slots / 2,
            Pairs::Given(pairs) => pairs.len(),
            Pairs::None => 0,
        }
    }

    /// The slots of a pair.
    pub(super) fn get(&self, number: usize) -> [usize; 2] {
        match self {
            Pairs::Given(pairs) => pairs[number].map(|slot| slot as usize),
            _ => [2 * number, 2 * number + 1],
        }
    }

    /// Checks that each pair has two different existing slots.
    pub(super) fn check(&self, slots: usize) -> Result<()> {
        let Pairs::Given(pairs) = self else { return Ok(()) };
        let is_invalid = |[a, b]: &[u32; 2]| a == b || (*a).max(*b) as usize >= slots;
        match pairs.iter().find(|pair| is_invalid(pair)) {
            None => Ok(()),
            Some([a, b]) => Err(Error::Statistics(format!(
                "({a}, {b}) is not a pair of slots; give two different slots from 0 to {}",
                slots.saturating_sub(1)
            ))),
        }
    }
}
