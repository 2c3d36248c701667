//! Parts of saves, read together.

use super::decode::triples;
use super::layout;
use super::reader::{Tracks, unwrap};
use super::states::SavedStates;
use crate::Result;
use burntrace_core::Floats;
use std::ops::Range;

/// The values of a range of slots at a save.
#[derive(Debug)]
pub(crate) struct SaveBlock {
    pub states: SavedStates,
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
        let states = SavedStates::read_range(store, save, slots.clone())?;
        let image = store.optional(&layout::IMAGE);
        let image = image.map(|spec| store.of_slots::<i32>(spec, save, slots.clone()));
        let unwrapped = image.transpose()?.map(|image| {
            let mut unwrapped = states.position.clone();
            let pairs = unwrapped.iter_mut().zip(triples(image));
            pairs.for_each(|(position, image)| unwrap(position, image, store.periods()));
            unwrapped
        });
        let velocity = store.optional(&layout::VELOCITY);
        let velocity =
            velocity.map(|spec| store.floats(spec, store.row(save)?, slots.clone())).transpose()?;
        let sampled = store.arrays();
        let arrays = sampled.iter().map(|array| store.sampled(array, save, slots.clone()));
        let arrays = arrays.collect::<Result<_>>()?;
        Ok(SaveBlock { states, unwrapped, velocity, arrays })
    }
}
