//! Particles on the host.

use crate::{Error, Precision, Result};
use burn::tensor::{DType, Device, Tensor, TensorData};
use burntrace_kernels::{Particles, RECORD};
use std::ops::Range;

/// Real numbers in the precision of a run.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Reals {
    Single(Vec<f32>),
    Double(Vec<f64>),
}

impl Reals {
    pub fn of(precision: Precision, numbers: impl Iterator<Item = f64>) -> Self {
        match precision {
            Precision::F32 => Reals::Single(numbers.map(|x| x as f32).collect()),
            Precision::F64 => Reals::Double(numbers.collect()),
        }
    }

    /// Those of a tensor. They are not copied where nobody else holds them.
    pub fn read<const D: usize>(tensor: Tensor<D>) -> Result<Self> {
        let data = tensor.try_into_data().map_err(failed)?;
        Ok(match data.dtype() {
            DType::F64 => Reals::Double(data.try_into_vec().map_err(failed)?),
            _ => Reals::Single(data.convert::<f32>().try_into_vec().map_err(failed)?),
        })
    }

    pub fn bytes(&self) -> &[u8] {
        match self {
            Reals::Single(numbers) => bytemuck::cast_slice(numbers),
            Reals::Double(numbers) => bytemuck::cast_slice(numbers),
        }
    }

    pub fn len(&self) -> usize {
        match self {
            Reals::Single(numbers) => numbers.len(),
            Reals::Double(numbers) => numbers.len(),
        }
    }

    pub fn get(&self, i: usize) -> f64 {
        match self {
            Reals::Single(numbers) => f64::from(numbers[i]),
            Reals::Double(numbers) => numbers[i],
        }
    }

    /// Three numbers from one on.
    pub fn place(&self, i: usize) -> [f64; 3] {
        [0, 1, 2].map(|d| self.get(3 * i + d))
    }

    fn slice(&self, range: Range<usize>) -> Self {
        match self {
            Reals::Single(numbers) => Reals::Single(numbers[range].to_vec()),
            Reals::Double(numbers) => Reals::Double(numbers[range].to_vec()),
        }
    }

    /// Writes numbers of the same precision over its own.
    fn put(&mut self, at: usize, numbers: &Reals) {
        match (self, numbers) {
            (Reals::Single(all), Reals::Single(part)) => {
                all[at..at + part.len()].copy_from_slice(part);
            }
            (Reals::Double(all), Reals::Double(part)) => {
                all[at..at + part.len()].copy_from_slice(part);
            }
            _ => unreachable!("a run has one precision"),
        }
    }

    fn into_tensor<const D: usize>(self, shape: [usize; D], device: &Device) -> Tensor<D> {
        match self {
            Reals::Single(numbers) => {
                Tensor::from_data(TensorData::new(numbers, shape), (device, DType::F32))
            }
            Reals::Double(numbers) => {
                Tensor::from_data(TensorData::new(numbers, shape), (device, DType::F64))
            }
        }
    }
}

/// Particles on the host, one after another.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rows {
    /// Three numbers for each; none where nobody asks for them.
    pub position: Reals,
    /// [`RECORD`] numbers for each.
    pub record: Vec<i32>,
    /// A number for each.
    pub fraction: Reals,
}

impl Rows {
    /// Reads particles back. Those of tensors that nobody else holds are not copied.
    pub fn read(particles: Particles, with_positions: bool) -> Result<Self> {
        let record = particles.record.try_into_data().map_err(failed)?.convert::<i32>();
        Ok(Rows {
            position: match with_positions {
                true => Reals::read(particles.position)?,
                false => Reals::Single(Vec::new()),
            },
            record: record.try_into_vec::<i32>().map_err(failed)?,
            fraction: Reals::read(particles.fraction)?,
        })
    }

    pub fn count(&self) -> usize {
        self.fraction.len()
    }

    /// A copy of some of them.
    pub fn batch(&self, rows: Range<usize>) -> Self {
        Rows {
            position: self.position.slice(3 * rows.start..3 * rows.end),
            record: self.record[RECORD * rows.start..RECORD * rows.end].to_vec(),
            fraction: self.fraction.slice(rows),
        }
    }

    /// Writes some over those from `first` on.
    pub fn put(&mut self, first: usize, batch: &Rows) {
        self.position.put(3 * first, &batch.position);
        self.record[RECORD * first..][..batch.record.len()].copy_from_slice(&batch.record);
        self.fraction.put(first, &batch.fraction);
    }

    /// Puts them on a device.
    pub fn into_particles(self, device: &Device) -> Particles {
        let count = self.count();
        let record = TensorData::new(self.record, [count, RECORD]);
        Particles {
            position: self.position.into_tensor([count, 3], device),
            record: Tensor::from_data(record, (device, DType::I32)),
            fraction: self.fraction.into_tensor([count], device),
        }
    }
}

fn failed(error: impl std::fmt::Debug) -> Error {
    Error::Execution(format!("{error:?}"))
}
