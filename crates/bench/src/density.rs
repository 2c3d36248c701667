//! The workload `density`: uniform samples in a periodic box, summed onto a grid.

use crate::{
    check::{Bounds, Errors},
    kind::DENSITY_NODES as SIDE,
    measure::Measurement,
    record::{Bytes, Outcome, Record, Seconds, Speed},
};
use anyhow::{Result, anyhow};
use burntrace::{
    Precision,
    analysis::density::{Bandwidth, Density, Edge, Lattice},
    burn::tensor::{Tensor, TensorData},
    device::OpenDevice,
};
use rayon::prelude::*;
use std::time::Instant;

/// Number of nodes at which the density is compared with a sum over all samples.
const COMPARED: usize = 200;

/// Upper bounds of the error of a density, relative to the mean density.
fn bounds(precision: Precision) -> Bounds {
    match precision {
        // What the truncation of the kernels neglects is 6e-9.
        Precision::F64 => Bounds { median: 3e-8, p99: 1e-7 },
        Precision::F32 => Bounds { median: 1e-6, p99: 5e-6 },
    }
}

impl Measurement<'_> {
    /// Measures density estimates; a sample counts as a particle-step.
    pub fn density(&self, device: &OpenDevice, record: &mut Record) -> Result<()> {
        let (count, precision) = (self.seeds.len(), self.settings.precision);
        let start = Instant::now();
        let numbers = TensorData::new(self.seeds.as_flattened().to_vec(), [count, 3]);
        let numbers = numbers.convert_dtype(precision.dtype());
        let positions = Tensor::<2>::from_data(numbers, (&device.device, precision.dtype()));
        let load = start.elapsed().as_secs_f64();
        let picks: Vec<usize> =
            (0..COMPARED).map(|i| i * (SIDE.pow(3) - 1) / (COMPARED - 1)).collect();
        let expected = summed(self.seeds, &picks);
        let examine = |values: Vec<f64>, record: &mut Record| {
            let errors = picks.iter().zip(&expected).map(|(i, sum)| (values[*i] - sum).abs());
            record.note(Errors::of(errors.collect(), self.steps, bounds(precision)));
        };
        let (first, values) = estimate(&positions)?;
        examine(values, record);
        let mut steady = Vec::with_capacity(self.settings.repeats);
        while record.outcome == Outcome::Right && steady.len() < self.settings.repeats {
            let (seconds, values) = estimate(&positions)?;
            steady.push(seconds);
            record.speed = Some(Speed::of(count as u64, &steady));
            examine(values, record);
        }
        record.seconds = Some(Seconds { load, compile: 0.0, first, steady });
        let [particles, field] =
            [3 * count, SIDE.pow(3)].map(|numbers| (numbers * precision.bytes()) as u64);
        record.bytes = Some(Bytes { field, particles, to_device: 0, from_device: field });
        Ok(())
    }
}

/// The density at the nodes with Scott's bandwidth, and the seconds that it took.
fn estimate(positions: &Tensor<2>) -> Result<(f64, Vec<f64>)> {
    let start = Instant::now();
    let density =
        Density::kde(Bandwidth::Scott).within([0.0; 3], [1.0; 3], [[Edge::Periodic; 2]; 3]);
    let lattice = Lattice { counts: [SIDE; 3], low: [0.0; 3], high: [1.0; 3] };
    let values = density.on_grid(positions, &lattice)?.values.try_into_data();
    let values = values.map_err(|error| anyhow!("cannot read the density: {error:?}"))?;
    let seconds = start.elapsed().as_secs_f64();
    let values = values.convert::<f64>().try_into_vec::<f64>();
    Ok((seconds, values.map_err(|error| anyhow!("cannot convert the density: {error:?}"))?))
}

/// The density at some nodes in double precision: the sum of the nearest image of each sample.
fn summed(samples: &[[f64; 3]], nodes: &[usize]) -> Vec<f64> {
    let count = samples.len() as f64;
    let widths = [0, 1, 2].map(|d| {
        let mean = samples.iter().map(|p| p[d]).sum::<f64>() / count;
        let square: f64 = samples.iter().map(|p| (p[d] - mean).powi(2)).sum();
        (square / (count - 1.0)).sqrt() * count.powf(-1.0 / 7.0)
    });
    let peak = 1.0 / widths.iter().map(|h| h * std::f64::consts::TAU.sqrt()).product::<f64>();
    let sum = |node: &usize| {
        let at = [node % SIDE, node / SIDE % SIDE, node / (SIDE * SIDE)];
        let at = at.map(|i| i as f64 / (SIDE - 1) as f64);
        let kernel = |p: &[f64; 3]| {
            let off = |d: usize| (p[d] - at[d]) - (p[d] - at[d]).round();
            (-0.5 * (0..3).map(|d| (off(d) / widths[d]).powi(2)).sum::<f64>()).exp()
        };
        peak * samples.iter().map(kernel).sum::<f64>() / count
    };
    nodes.par_iter().map(sum).collect()
}
