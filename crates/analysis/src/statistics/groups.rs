//! Slots in groups, and in pairs.

use crate::{Error, Result};
use std::ops::Range;

/// Which group each slot is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Groups {
    of_slot: Vec<u32>,
    count: usize,
}

impl Groups {
    /// The number of slots that are in no group. They count in what is about all.
    pub const NONE: u32 = u32::MAX;

    /// The number of the group of each slot `[slots]`, from 0 on, or [`NONE`](Groups::NONE).
    ///
    /// # Errors
    ///
    /// [`Error::Statistics`] where a number is not below the number of slots: groups are counted
    /// from 0.
    pub fn new(of_slot: Vec<u32>) -> Result<Self> {
        let slots = of_slot.len();
        let is_too_large = |group: &u32| *group != Self::NONE && *group as usize >= slots;
        if let Some(slot) = of_slot.iter().position(is_too_large) {
            return Err(Error::Statistics(format!(
                "slot {slot} is in group {}; {slots} slots have groups 0 to {} at most",
                of_slot[slot],
                slots - 1
            )));
        }
        let numbers = of_slot.iter().filter(|group| **group != Self::NONE);
        let count = numbers.max().map_or(0, |last| *last as usize + 1);
        Ok(Groups { of_slot, count })
    }

    /// A group for each range of slots, of so many slots; slots in no range are in no group.
    ///
    /// # Errors
    ///
    /// [`Error::Statistics`] where a range goes beyond the slots, or two have one in common.
    pub fn ranges(slots: usize, ranges: &[Range<usize>]) -> Result<Self> {
        let mut of_slot = vec![Self::NONE; slots];
        for (number, range) in ranges.iter().enumerate() {
            let Some(part) = of_slot.get_mut(range.clone()) else {
                return Err(Error::Statistics(format!(
                    "group {number} has slots {range:?}; there are {slots} slots, from 0 on"
                )));
            };
            if let Some(twice) = part.iter().position(|group| *group != Self::NONE) {
                return Err(Error::Statistics(format!(
                    "slot {} is in groups {} and {number}; give each slot one group",
                    range.start + twice,
                    part[twice]
                )));
            }
            part.fill(number as u32);
        }
        Ok(Groups { of_slot, count: ranges.len() })
    }

    /// How many groups there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// How many slots there are.
    pub fn slots(&self) -> usize {
        self.of_slot.len()
    }

    /// The group of a slot, or [`NONE`](Groups::NONE).
    pub(super) fn of(&self, slot: usize) -> u32 {
        self.of_slot[slot]
    }
}

/// Which pairs of slots are followed.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Pairs {
    /// Slots 0 and 1, 2 and 3, and so on: seeds in a row are neighbours.
    #[default]
    Consecutive,
    /// These pairs of slots.
    Given(Vec<[u32; 2]>),
    /// None.
    None,
}

impl Pairs {
    /// How many there are among so many slots.
    pub(super) fn count(&self, slots: usize) -> usize {
        match self {
            Pairs::Consecutive => slots / 2,
            Pairs::Given(pairs) => pairs.len(),
            Pairs::None => 0,
        }
    }

    /// The slots of one of them.
    pub(super) fn get(&self, number: usize) -> [usize; 2] {
        match self {
            Pairs::Given(pairs) => pairs[number].map(|slot| slot as usize),
            _ => [2 * number, 2 * number + 1],
        }
    }

    /// Makes sure that each is a pair of slots that there are.
    pub(super) fn check(&self, slots: usize) -> Result<()> {
        let Pairs::Given(pairs) = self else { return Ok(()) };
        let is_none = |[a, b]: &[u32; 2]| a == b || (*a).max(*b) as usize >= slots;
        match pairs.iter().find(|pair| is_none(pair)) {
            None => Ok(()),
            Some([a, b]) => Err(Error::Statistics(format!(
                "({a}, {b}) is no pair of slots; give two different ones of 0 to {}",
                slots.saturating_sub(1)
            ))),
        }
    }
}
