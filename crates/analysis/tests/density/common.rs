//! Devices, random numbers and tensors for the tests.

use crate::requirements::skip;
use burn::tensor::{DType, Device, Tensor, TensorData};
use burntrace_core::device;

/// A device with a precision.
#[derive(Clone, Debug)]
pub struct Machine {
    pub name: String,
    pub device: Device,
    pub dtype: DType,
}

impl std::fmt::Display for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {:?}", self.name, self.dtype)
    }
}

impl Machine {
    pub fn flex(dtype: DType) -> Self {
        Machine { name: "flex".into(), device: Device::flex(), dtype }
    }

    /// Machine epsilon of the precision.
    pub fn epsilon(&self) -> f64 {
        if self.dtype == DType::F64 { f64::EPSILON } else { f64::from(f32::EPSILON) }
    }

    /// Points as a tensor `[n, 3]`.
    pub fn tensor(&self, points: &[[f64; 3]]) -> Tensor<2> {
        let numbers = points.as_flattened().to_vec();
        let data = TensorData::new(numbers, [points.len(), 3]).convert_dtype(self.dtype);
        Tensor::from_data(data, (&self.device, self.dtype))
    }

    /// Points rounded to the precision.
    pub fn rounded(&self, points: &[[f64; 3]]) -> Vec<[f64; 3]> {
        let round = |x: f64| if self.dtype == DType::F64 { x } else { f64::from(x as f32) };
        points.iter().map(|point| point.map(round)).collect()
    }
}

/// Every device with each precision that it supports.
pub fn machines() -> Vec<Machine> {
    let mut machines = Vec::new();
    for name in ["flex", "ndarray", "vulkan:0"] {
        let kind = name.trim_end_matches(":0");
        match device::open(name) {
            Ok(open) => {
                let precisions =
                    if open.has_f64 { vec![DType::F32, DType::F64] } else { vec![DType::F32] };
                machines.extend(precisions.into_iter().map(|dtype| Machine {
                    name: name.into(),
                    device: open.device.clone(),
                    dtype,
                }));
            }
            Err(error) => skip(kind, &error.to_string()),
        }
    }
    machines
}

/// Values of a tensor in double precision.
pub fn numbers(values: &Tensor<1>) -> Vec<f64> {
    values.clone().into_data().convert::<f64>().try_into_vec().unwrap()
}

/// Random numbers: splitmix64.
pub struct Random(pub u64);

impl Random {
    /// Uniform in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Standard normal.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    pub fn uniforms(&mut self, n: usize, low: [f64; 3], high: [f64; 3]) -> Vec<[f64; 3]> {
        let mut point = || [0, 1, 2].map(|d| low[d] + (high[d] - low[d]) * self.uniform());
        (0..n).map(|_| point()).collect()
    }

    pub fn normals(&mut self, n: usize, mean: [f64; 3], deviation: [f64; 3]) -> Vec<[f64; 3]> {
        let mut point = || [0, 1, 2].map(|d| mean[d] + deviation[d] * self.normal());
        (0..n).map(|_| point()).collect()
    }
}
