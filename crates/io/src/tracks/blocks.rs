//! Parts of saves, read together.

use super::decode::{statuses, triples};
use super::layout;
use super::reader::{Tracks, unwrap};
use super::states::ParticleState;
use crate::Result;
use burntrace_core::{Floats, Status};
use std::ops::Range;

/// The values of a range of slots at a save.
#[derive(Debug)]
pub(crate) struct SaveBlock {
    pub time: f64,
    slots: Range<usize>,
    pub position: Vec<[f64; 3]>,
    pub status: Vec<Status>,
    generation: Option<Vec<i32>>,
    /// Positions that are continuous across periodic faces, if there are any.
    pub unwrapped: Option<Vec<[f64; 3]>>,
    pub velocity: Option<Vec<[f64; 3]>>,
    /// The arrays sampled along the tracks, in their order.
    pub arrays: Vec<Floats>,
}

impl SaveBlock {
    /// Reads a part of a save.
    ///
    /// # Errors
    ///
    /// As [`Tracks::position_range`].
    pub fn read(store: &Tracks, save: usize, slots: Range<usize>) -> Result<SaveBlock> {
        let position = store.position_range(save, slots.clone())?;
        let codes = store.of_slots(&layout::STATUS, save, slots.clone())?;
        let generation = store.optional(&layout::GENERATION);
        let generation = generation.map(|spec| store.of_slots(spec, save, slots.clone()));
        let image = store.optional(&layout::IMAGE);
        let image = image.map(|spec| store.of_slots::<i32>(spec, save, slots.clone()));
        let unwrapped = image.transpose()?.map(|image| {
            let mut unwrapped = position.clone();
            let pairs = unwrapped.iter_mut().zip(triples(image));
            pairs.for_each(|(position, image)| unwrap(position, image, store.periods()));
            unwrapped
        });
        let velocity = store.optional(&layout::VELOCITY);
        let velocity =
            velocity.map(|spec| store.floats(spec, store.row(save)?, slots.clone())).transpose()?;
        let sampled = store.arrays();
        let arrays = sampled.iter().map(|array| store.sampled(array, save, slots.clone()));
        Ok(SaveBlock {
            time: store.times()[save],
            position,
            status: statuses(store.folder(), codes)?,
            generation: generation.transpose()?,
            unwrapped,
            velocity,
            arrays: arrays.collect::<Result<_>>()?,
            slots,
        })
    }

    /// Number of slots.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// The state of a slot, by its index in the block.
    pub fn state(&self, index: usize) -> ParticleState {
        ParticleState {
            slot: self.slots.start + index,
            generation: self.generation.as_ref().map_or(0, |all| all[index]),
            status: self.status[index],
            position: self.position[index],
            time: self.time,
        }
    }
}
