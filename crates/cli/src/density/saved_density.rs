//! The density at one save.

use crate::results::tensors;
use anyhow::Result;
use burntrace::analysis::density::Estimate;

/// The density at one save.
pub struct SavedDensity {
    pub estimate: Estimate,
    /// The values of the estimate on the host.
    pub values: Vec<f64>,
    pub save: usize,
    pub time: f64,
}

impl SavedDensity {
    /// Reads the values of an estimate from the device.
    pub fn of(estimate: Estimate, save: usize, time: f64) -> Result<SavedDensity> {
        let values = tensors::numbers(estimate.values.clone())?;
        Ok(SavedDensity { values, estimate, save, time })
    }

    /// The name of its files, without an extension.
    pub fn name(&self) -> String {
        format!("density_{:05}", self.save)
    }
}
