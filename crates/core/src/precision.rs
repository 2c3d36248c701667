//! Single or double precision.

use burn::tensor::{DType, TensorData};
use burntrace_kernels::{POSITION, RECORD};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Precision of positions, velocities and all arithmetic on a device.
#[derive(Clone, Copy, Debug, JsonSchema, PartialEq, Eq, Hash, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// Single precision.
    #[default]
    F32,
    /// Double precision, if the device supports it.
    F64,
}

impl Precision {
    /// The data type of Burn.
    pub fn dtype(self) -> DType {
        match self {
            Precision::F32 => DType::F32,
            Precision::F64 => DType::F64,
        }
    }

    /// Tensor data of numbers rounded to this precision.
    pub(crate) fn data<const D: usize>(
        self,
        numbers: impl IntoIterator<Item = f64>,
        shape: [usize; D],
    ) -> TensorData {
        let numbers = numbers.into_iter();
        match self {
            Precision::F32 => TensorData::new(numbers.map(|x| x as f32).collect::<Vec<_>>(), shape),
            Precision::F64 => TensorData::new(numbers.collect::<Vec<_>>(), shape),
        }
    }

    /// Index of the lattice cell that contains a coordinate; 0 below the origin. Uses the same
    /// arithmetic as the kernels, so that both find the same cell.
    pub(crate) fn cell(self, x: f64, origin: f64, per_length: f64) -> usize {
        match self {
            Precision::F32 => ((x as f32 - origin as f32) * per_length as f32) as usize,
            Precision::F64 => ((x - origin) * per_length) as usize,
        }
    }

    /// Machine epsilon: the distance from 1 to the next number.
    pub(crate) fn epsilon(self) -> f64 {
        match self {
            Precision::F32 => f64::from(f32::EPSILON),
            Precision::F64 => f64::EPSILON,
        }
    }

    /// Rounds a number to this precision.
    pub(crate) fn round(self, x: f64) -> f64 {
        match self {
            Precision::F32 => f64::from(x as f32),
            Precision::F64 => x,
        }
    }

    /// A position in numbers of this precision, and the rest that they cannot hold.
    pub(crate) fn split(self, position: [f64; 3]) -> [f64; POSITION] {
        let [x, y, z] = position.map(|x| self.round(x));
        [x, y, z, position[0] - x, position[1] - y, position[2] - z]
    }

    /// Bytes of a number.
    pub fn bytes(self) -> usize {
        match self {
            Precision::F32 => 4,
            Precision::F64 => 8,
        }
    }

    /// Bytes of one particle on a device: its position and the rest of it, the fraction of its step,
    /// and its record of `i32` values.
    pub fn particle_bytes(self) -> usize {
        (POSITION + 1) * self.bytes() + RECORD * size_of::<i32>()
    }
}

impl std::fmt::Display for Precision {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Precision::F32 => "f32",
            Precision::F64 => "f64",
        })
    }
}
