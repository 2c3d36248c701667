//! Real numbers on the host, in the precision of a run.

use crate::{Error, Precision, Result};
use burn::tensor::{DType, Device, Tensor, TensorData};
use std::ops::Range;

/// Real numbers in one precision.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Floats {
    Single(Vec<f32>),
    Double(Vec<f64>),
}

/// Runs a body on the vector of either precision.
macro_rules! with_numbers {
    ($floats:expr, $numbers:ident => $body:expr) => {
        match $floats {
            Floats::Single($numbers) => $body,
            Floats::Double($numbers) => $body,
        }
    };
}
pub(crate) use with_numbers;

impl Floats {
    /// None, with room for some.
    pub fn with_capacity(precision: Precision, count: usize) -> Self {
        match precision {
            Precision::F32 => Floats::Single(Vec::with_capacity(count)),
            Precision::F64 => Floats::Double(Vec::with_capacity(count)),
        }
    }

    pub fn of(precision: Precision, numbers: impl Iterator<Item = f64>) -> Self {
        match precision {
            Precision::F32 => Floats::Single(numbers.map(|x| x as f32).collect()),
            Precision::F64 => Floats::Double(numbers.collect()),
        }
    }

    /// Those of a tensor. They are not copied where nobody else holds them.
    pub fn read<const D: usize>(tensor: Tensor<D>) -> Result<Self> {
        let failed = |error: &dyn std::fmt::Debug| Error::Execution(format!("{error:?}"));
        let data = tensor.try_into_data().map_err(|error| failed(&error))?;
        Ok(match data.dtype() {
            DType::F64 => Floats::Double(data.try_into_vec().map_err(|error| failed(&error))?),
            _ => {
                let data = data.convert::<f32>();
                Floats::Single(data.try_into_vec().map_err(|error| failed(&error))?)
            }
        })
    }

    pub fn bytes(&self) -> &[u8] {
        with_numbers!(self, numbers => bytemuck::cast_slice(numbers))
    }

    pub fn len(&self) -> usize {
        with_numbers!(self, numbers => numbers.len())
    }

    pub fn get(&self, i: usize) -> f64 {
        match self {
            Floats::Single(numbers) => f64::from(numbers[i]),
            Floats::Double(numbers) => numbers[i],
        }
    }

    /// Three numbers from one on.
    pub fn place(&self, i: usize) -> [f64; 3] {
        [0, 1, 2].map(|d| self.get(3 * i + d))
    }

    pub fn slice(&self, range: Range<usize>) -> Self {
        match self {
            Floats::Single(numbers) => Floats::Single(numbers[range].to_vec()),
            Floats::Double(numbers) => Floats::Double(numbers[range].to_vec()),
        }
    }

    /// Writes numbers of the same precision over its own.
    pub fn put(&mut self, at: usize, numbers: &Floats) {
        match (self, numbers) {
            (Floats::Single(all), Floats::Single(part)) => {
                all[at..at + part.len()].copy_from_slice(part);
            }
            (Floats::Double(all), Floats::Double(part)) => {
                all[at..at + part.len()].copy_from_slice(part);
            }
            _ => unreachable!("a run has one precision"),
        }
    }

    /// Moves some numbers to another place, and has so many of them; those that are new are 0.
    pub fn shift(&mut self, from: Range<usize>, to: usize, count: usize) {
        with_numbers!(self, numbers => {
            numbers.reserve_exact(count.saturating_sub(numbers.len()));
            numbers.resize(count.max(numbers.len()), Default::default());
            numbers.copy_within(from, to);
            numbers.truncate(count);
        });
    }

    pub fn into_tensor<const D: usize>(self, shape: [usize; D], device: &Device) -> Tensor<D> {
        let (data, dtype) = match self {
            Floats::Single(numbers) => (TensorData::new(numbers, shape), DType::F32),
            Floats::Double(numbers) => (TensorData::new(numbers, shape), DType::F64),
        };
        Tensor::from_data(data, (device, dtype))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shifted_both_ways() {
        let mut floats = Floats::of(Precision::F64, (0..6).map(f64::from));
        floats.shift(2..6, 0, 7);
        assert_eq!(floats, Floats::Double(vec![2.0, 3.0, 4.0, 5.0, 4.0, 5.0, 0.0]));
        floats.shift(0..3, 1, 4);
        assert_eq!(floats, Floats::Double(vec![2.0, 2.0, 3.0, 4.0]));
        floats.put(2, &Floats::Double(vec![9.0, 8.0]));
        assert_eq!(floats.slice(1..4), Floats::Double(vec![2.0, 9.0, 8.0]));
    }
}
