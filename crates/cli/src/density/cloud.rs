//! The particles of a save.

use crate::results::{Results, tensors};
use anyhow::Result;
use burntrace::burn::tensor::Tensor;
use burntrace::{Precision, device::OpenDevice, io::SavedStates};

/// Particles at a save: those that count.
pub struct Cloud {
    pub time: f64,
    pub positions: Vec<[f64; 3]>,
    pub precision: Precision,
}

impl Cloud {
    /// Reads a save, and keeps the particles that are active; those that have ended too, if asked.
    pub fn read(results: &Results, save: usize, with_ended: bool) -> Result<Cloud> {
        let moments = SavedStates::read(&results.tracks, save)?;
        let slots = (0..results.tracks.num_particles()).map(|slot| moments.state(slot));
        let counts = slots
            .filter(|moment| moment.is_present() && (with_ended || !moment.status.has_ended()));
        Ok(Cloud {
            time: results.tracks.times()[save],
            positions: counts.map(|moment| moment.position).collect(),
            precision: results.tracks.precision(),
        })
    }

    /// The positions on a device `[n, 3]`, in the precision of the store.
    pub fn on(&self, device: &OpenDevice) -> Tensor<2> {
        tensors::places(&self.positions, self.precision, device)
    }
}
