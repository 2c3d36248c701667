//! The track of a particle.

use super::decode::{statuses, triples};
use super::layout;
use super::reader::{Tracks, unwrap};
use crate::Result;
use burntrace_core::Status;

/// The track of one particle; if slots are re-used, of all particle instances in one slot.
#[derive(Debug, Clone, PartialEq)]
pub struct Track {
    /// Times of the saves, in the data's unit of time.
    pub time: Vec<f64>,
    /// Positions in the box, one per save, in the data's unit of length. An ended particle
    /// keeps its last position; an empty slot of a source has NaN.
    pub position: Vec<[f64; 3]>,
    /// Status at each save.
    pub status: Vec<Status>,
    /// Periodic images at each save: boxes crossed along x, y and z; `None` without periodic faces.
    pub image: Option<Vec<[i32; 3]>>,
    /// Velocities at each save, if they are stored.
    pub velocity: Option<Vec<[f64; 3]>>,
    /// Number of earlier particle instances in the slot at each save, if slots are re-used. Saves
    /// with different numbers belong to different particles.
    pub generation: Option<Vec<i32>>,
}

impl Tracks {
    /// The track of one particle, or of all particle instances in one slot.
    ///
    /// # Errors
    ///
    /// If the particle does not exist, or a file cannot be read.
    pub fn track(&self, particle: usize) -> Result<Track> {
        let (saves, column) = (0..self.num_saves(), particle..particle + 1);
        self.check_particles(&column)?;
        let arrays = self.store_arrays();
        let ints = |spec| arrays.read::<i32>(spec, saves.clone(), column.clone());
        let floats = |spec| self.floats(spec, saves.clone(), column.clone());
        let codes = arrays.read(&layout::STATUS, saves.clone(), column.clone())?;
        let image = self.optional(&layout::IMAGE).map(ints).transpose()?;
        Ok(Track {
            time: self.times().to_vec(),
            position: floats(&layout::POSITION)?,
            status: statuses(self.folder(), codes)?,
            image: image.map(triples),
            velocity: self.optional(&layout::VELOCITY).map(floats).transpose()?,
            generation: self.optional(&layout::GENERATION).map(ints).transpose()?,
        })
    }
}

impl Track {
    /// Unwrapped positions, continuous across periodic faces. `periods` are
    /// [the store's](Tracks::periods).
    pub fn unwrapped(&self, periods: [f64; 3]) -> Vec<[f64; 3]> {
        let mut positions = self.position.clone();
        for (position, image) in positions.iter_mut().zip(self.image.iter().flatten()) {
            unwrap(position, *image, periods);
        }
        positions
    }
}
