//! Particles on the host.

use crate::{Error, Result, floats::Floats};
use burn::tensor::{DType, Device, Tensor, TensorData};
use burntrace_kernels::{POSITION, Particles, RECORD, TANGENTS};
use std::ops::Range;

/// Particles on the host, one after another.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rows {
    /// [`POSITION`] numbers for each particle; empty if positions are not needed.
    pub position: Floats,
    /// [`RECORD`] numbers for each particle.
    pub record: Vec<i32>,
    /// One number for each particle.
    pub fraction: Floats,
    /// The gradient of the flow map, [`TANGENTS`] numbers for each particle, if it is wanted.
    pub tangents: Option<Floats>,
}

impl Rows {
    /// Reads particles back; tensors with one owner are not copied.
    pub fn read(particles: Particles, with_positions: bool) -> Result<Self> {
        let record = particles.record.try_into_data().map_err(failed)?.convert::<i32>();
        Ok(Rows {
            position: match with_positions {
                true => Floats::from_tensor(particles.position)?,
                false => Floats::F32(Vec::new()),
            },
            record: record.try_into_vec::<i32>().map_err(failed)?,
            fraction: Floats::from_tensor(particles.fraction)?,
            tangents: particles.tangents.map(Floats::from_tensor).transpose()?,
        })
    }

    pub fn count(&self) -> usize {
        self.fraction.len()
    }

    /// The position of a particle, measured from the origin of the run.
    pub fn position(&self, particle: usize) -> [f64; 3] {
        let at = POSITION * particle;
        [at, at + 1, at + 2].map(|i| self.position.get(i) + self.position.get(i + 3))
    }

    /// A copy of some rows.
    pub fn batch(&self, rows: Range<usize>) -> Self {
        Rows {
            position: self.position.slice(POSITION * rows.start..POSITION * rows.end),
            record: self.record[RECORD * rows.start..RECORD * rows.end].to_vec(),
            fraction: self.fraction.slice(rows.clone()),
            tangents: self
                .tangents
                .as_ref()
                .map(|all| all.slice(TANGENTS * rows.start..TANGENTS * rows.end)),
        }
    }

    /// Overwrites the rows from `first` on.
    pub fn put(&mut self, first: usize, batch: &Rows) {
        self.position.put(POSITION * first, &batch.position);
        self.record[RECORD * first..][..batch.record.len()].copy_from_slice(&batch.record);
        self.fraction.put(first, &batch.fraction);
        if let (Some(all), Some(batch)) = (&mut self.tangents, &batch.tangents) {
            all.put(TANGENTS * first, batch);
        }
    }

    /// Uploads the rows to a device.
    pub fn into_particles(self, device: &Device) -> Particles {
        let count = self.count();
        let record = TensorData::new(self.record, [count, RECORD]);
        Particles {
            position: self.position.into_tensor([count, POSITION], device),
            record: Tensor::from_data(record, (device, DType::I32)),
            fraction: self.fraction.into_tensor([count], device),
            tangents: self.tangents.map(|rows| rows.into_tensor([count, TANGENTS], device)),
        }
    }
}

fn failed(error: impl std::fmt::Debug) -> Error {
    Error::Execution(format!("{error:?}"))
}
