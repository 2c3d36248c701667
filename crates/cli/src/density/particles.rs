//! The particles of a save.

use crate::results::{Results, tensors};
use anyhow::Result;
use burntrace::burn::tensor::Tensor;
use burntrace::{Precision, device::OpenDevice, io::SavedStates};

/// Positions of the particles of a save.
pub struct SavedParticles {
    pub time: f64,
    pub positions: Vec<[f64; 3]>,
    pub precision: Precision,
}

impl SavedParticles {
    /// Reads the active particles of a save, and with `with_ended` also the ended ones.
    pub fn read(results: &Results, save: usize, with_ended: bool) -> Result<SavedParticles> {
        let states = SavedStates::read(&results.tracks, save)?;
        let slots = (0..results.tracks.num_particles()).map(|slot| states.state(slot));
        let selected =
            slots.filter(|state| state.is_present() && (with_ended || !state.status.has_ended()));
        Ok(SavedParticles {
            time: results.tracks.times()[save],
            positions: selected.map(|state| state.position).collect(),
            precision: results.tracks.precision(),
        })
    }

    /// The positions as a tensor `[n, 3]`, measured from an origin, in the precision of the run.
    pub fn on(&self, origin: [f64; 3], device: &OpenDevice) -> Tensor<2> {
        tensors::positions(&self.positions, origin, self.precision, device)
    }
}
