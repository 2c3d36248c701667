//! Residence times of particle instances, by status.

use burntrace_core::{ParticleInstance, Status};

/// Residence times of the particle instances that ended with one status.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResidenceTimes {
    pub status: Status,
    pub count: usize,
    pub sum: f64,
    pub min: f64,
    pub max: f64,
}

impl ResidenceTimes {
    pub fn mean(&self) -> f64 {
        self.sum / self.count as f64
    }

    /// Encodes the values as integers for a checkpoint: floats by their bits.
    pub fn to_integers(self) -> [u64; 5] {
        let [sum, min, max] = [self.sum, self.min, self.max].map(f64::to_bits);
        [self.status.code() as u64, self.count as u64, sum, min, max]
    }

    /// Decodes [`to_integers`](Self::to_integers). `None` if the status code is unknown.
    pub fn from_integers(&[code, count, sum, min, max]: &[u64; 5]) -> Option<Self> {
        let status = Status::from_code(i32::try_from(code).ok()?)?;
        let [sum, min, max] = [sum, min, max].map(f64::from_bits);
        Some(ResidenceTimes { status, count: count as usize, sum, min, max })
    }

    /// Adds an ended particle instance to the entry of its status.
    pub fn add(entries: &mut Vec<ResidenceTimes>, instance: &ParticleInstance) {
        let time = instance.residence_time();
        match entries.iter_mut().find(|entry| entry.status == instance.status) {
            Some(entry) => {
                entry.count += 1;
                entry.sum += time;
                entry.min = entry.min.min(time);
                entry.max = entry.max.max(time);
            }
            None => {
                let status = instance.status;
                entries.push(ResidenceTimes { status, count: 1, sum: time, min: time, max: time });
            }
        }
    }
}

/// Sorts residence times by status code.
pub fn sorted(mut entries: Vec<ResidenceTimes>) -> Vec<ResidenceTimes> {
    entries.sort_by_key(|entry| entry.status.code());
    entries
}
