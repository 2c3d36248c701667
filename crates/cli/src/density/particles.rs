//! The particles of a save.

use crate::{
    format::rounded_to_extent,
    results::{Results, tensors},
};
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

    /// The coordinate along an axis that most particles are near to, within a tenth of their standard
    /// deviation, rounded to a thousandth of an extent or less. `None` without particles.
    pub fn densest(&self, axis: usize, extent: f64) -> Option<f64> {
        let mut along: Vec<f64> = self.positions.iter().map(|position| position[axis]).collect();
        along.sort_unstable_by(f64::total_cmp);
        let count = along.len() as f64;
        let mean = along.iter().sum::<f64>() / count;
        let variance = along.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
        let width = 0.2 * variance.sqrt();
        let (mut best, mut end) = (None, 0);
        for start in 0..along.len() {
            while end < along.len() && along[end] - along[start] <= width {
                end += 1;
            }
            if best.is_none_or(|(most, _)| end - start > most) {
                best = Some((end - start, 0.5 * (along[start] + along[end - 1])));
            }
        }
        best.map(|(_, middle)| rounded_to_extent(middle, extent))
    }

    /// The positions as a tensor `[n, 3]`, measured from an origin, in the precision of the run.
    pub fn on(&self, origin: [f64; 3], device: &OpenDevice) -> Tensor<2> {
        tensors::positions(&self.positions, origin, self.precision, device)
    }
}
