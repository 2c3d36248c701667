//! The track of one particle.

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

impl Track {
    /// Unwrapped positions, continuous across periodic faces. `periods` are
    /// [the store's](super::Tracks::periods).
    pub fn unwrapped(&self, periods: [f64; 3]) -> Vec<[f64; 3]> {
        let mut positions = self.position.clone();
        for (position, image) in positions.iter_mut().zip(self.image.iter().flatten()) {
            unwrap(position, *image, periods);
        }
        positions
    }
}

/// Moves a position in the box to its periodic image.
pub(super) fn unwrap(position: &mut [f64; 3], image: [i32; 3], periods: [f64; 3]) {
    for d in 0..3 {
        position[d] += f64::from(image[d]) * periods[d];
    }
}
