//! Gradients of a workload: their time, relative to the run itself, and their error.

use crate::{
    check::GRADIENT_BOUND,
    kind::GradientBy,
    measure::Measurement,
    record::{Gradient, Outcome, Record, Seconds, Speed},
    source::{self, OnDevice},
    subject::{self, Subject},
};
use anyhow::{Result, anyhow};
use burntrace::{
    Field, GridField, Precision, Seeds,
    burn::tensor::{Device, Gradients, Tensor, TensorData},
    device::OpenDevice,
};
use std::time::Instant;

/// Number of seeds whose gradients are compared with differences.
const COMPARED: usize = 16;

/// Step of the differences: relative for values, in edge lengths for seeds.
const STEP: f64 = 1e-6;

impl Measurement<'_> {
    /// Measures runs and runs with gradients in turns.
    pub fn gradients(
        &self,
        by: GradientBy,
        device: &OpenDevice,
        record: &mut Record,
    ) -> Result<()> {
        let start = Instant::now();
        let field = source::load(self.workload, &device.device, self.settings.precision)?;
        let plain = Subject { workload: self.workload, field, steps: self.steps };
        let tracked = Tracked::new(self, by, &device.device)?;
        let load = start.elapsed().as_secs_f64();
        let compile = plain.tracer(self.steps).warm_up(self.seeds.len())?;
        let first = self.first(&plain, record)?;
        let (mut forward, mut both, mut found) = (Vec::new(), Vec::new(), Vec::new());
        let batch = [Seeds::list(self.seeds.to_vec())?];
        for _ in 0..self.settings.repeats {
            let run = plain.run(&batch, self.steps)?;
            forward.push(run.seconds);
            let steps = run.particle_steps;
            let (seconds, gradient) = tracked.run(self)?;
            both.push(seconds);
            found = gradient;
            record.speed = Some(Speed::of(steps, &both));
        }
        let [forward, median] =
            [&forward, &both].map(|seconds| Speed::of(1, seconds).median_seconds);
        let error = self.gradient_error(by, &found)?;
        record.gradient = Some(Gradient { times_forward: median / forward, error });
        if error.is_nan() || error > GRADIENT_BOUND {
            record.outcome = Outcome::Wrong;
            record.message = Some(format!(
                "the gradient deviates from differences by {error:.1e}, more than {GRADIENT_BOUND:.0e}"
            ));
        }
        record.seconds = Some(Seconds { load, compile, first, steady: both });
        Ok(())
    }

    /// The deviation of a gradient of the sum of all final coordinates from central differences in double
    /// precision, relative to the largest difference.
    fn gradient_error(&self, by: GradientBy, found: &[f64]) -> Result<f64> {
        let device = Device::flex();
        let field = source::load(self.workload, &device, Precision::F64)?;
        let subject = Subject { workload: self.workload, field, steps: self.steps };
        match by {
            GradientBy::Seeds => {
                let picks = self.picks();
                let expected = self.differences(&subject, &picks)?;
                let size = expected.iter().fold(0.0_f64, |size, x| size.max(x.abs()));
                let found = picks.iter().flat_map(|i| &found[3 * i..3 * i + 3]);
                let errors = found.zip(&expected).map(|(a, b)| (a - b).abs());
                Ok(errors.fold(0.0, f64::max) / size)
            }
            GradientBy::Values => {
                let scaled = |factor: f64| -> Result<f64> {
                    let field = source::scaled(self.workload, &device, factor)?;
                    let subject = Subject { workload: self.workload, field, steps: self.steps };
                    sum(&subject, self.seeds, self.steps)
                };
                let expected = (scaled(1.0 + STEP)? - scaled(1.0 - STEP)?) / (2.0 * STEP);
                let values = self.workload.frames.iter().flatten();
                let along: f64 = values.zip(found).map(|(v, g)| f64::from(*v) * g).sum();
                Ok((along - expected).abs() / expected.abs())
            }
        }
    }

    fn picks(&self) -> Vec<usize> {
        let count = self.seeds.len().min(COMPARED);
        (0..count).map(|k| k * self.seeds.len() / count).collect()
    }

    /// Central differences of the sum of each picked particle's final coordinates.
    fn differences(&self, subject: &Subject, picks: &[usize]) -> Result<Vec<f64>> {
        let mut differences = Vec::new();
        for &i in picks {
            for d in 0..3 {
                let at = |sign: f64| {
                    let mut seed = self.seeds[i];
                    seed[d] += sign * STEP;
                    sum(subject, &[seed], self.steps)
                };
                differences.push((at(1.0)? - at(-1.0)?) / (2.0 * STEP));
            }
        }
        Ok(differences)
    }
}

/// The sum of the final coordinates of all particles.
fn sum(subject: &Subject, seeds: &[[f64; 3]], steps: u64) -> Result<f64> {
    let run = subject.run(&[Seeds::list(seeds.to_vec())?], steps)?;
    Ok(run.positions()?.as_flattened().iter().sum())
}

/// A workload that tracks gradients.
enum Tracked {
    BySeeds(OnDevice, Device),
    /// The grid, and the velocities at its nodes.
    ByValues(Box<(GridField, Tensor<3>)>),
}

impl Tracked {
    fn new(measurement: &Measurement, by: GradientBy, device: &Device) -> Result<Self> {
        let (workload, precision) = (measurement.workload, measurement.settings.precision);
        let device = device.clone().autodiff();
        if by == GradientBy::Seeds {
            let field = source::load(workload, &device, precision)?;
            return Ok(Tracked::BySeeds(field, device));
        }
        let field = source::grid(workload, &device, precision)?;
        let values = field.values()?.detach().require_grad();
        Ok(Tracked::ByValues(Box::new((field, values))))
    }

    /// The seconds of a run with its backward pass, and the gradient.
    fn run(&self, measurement: &Measurement) -> Result<(f64, Vec<f64>)> {
        let start = Instant::now();
        let gradient = match self {
            Tracked::BySeeds(field, device) => {
                let seeds = seeds(measurement, device);
                let gradients =
                    backward(measurement, &*field.field, &Seeds::from_tensor(seeds.clone())?);
                seeds.grad(&gradients?).map(Tensor::try_into_data)
            }
            Tracked::ByValues(grid) => {
                let (field, values) = &**grid;
                let field = field.with_values(values.clone())?;
                let seeds = Seeds::list(measurement.seeds.to_vec())?;
                let gradients = backward(measurement, &field, &seeds);
                values.grad(&gradients?).map(Tensor::try_into_data)
            }
        };
        let seconds = start.elapsed().as_secs_f64();
        let gradient = gradient.ok_or_else(|| anyhow!("there is no gradient"))?;
        let gradient = gradient.map_err(|error| anyhow!("cannot read the gradient: {error:?}"))?;
        let numbers = gradient.convert::<f64>().try_into_vec::<f64>();
        let numbers = numbers.map_err(|error| anyhow!("cannot convert the gradient: {error:?}"))?;
        Ok((seconds, numbers))
    }
}

/// The gradients of the sum of all final coordinates.
fn backward(measurement: &Measurement, field: &dyn Field, seeds: &Seeds) -> Result<Gradients> {
    let tracer = subject::tracer(measurement.workload.kind, field, measurement.steps);
    Ok(tracer.trace(seeds)?.positions().sum().backward())
}

/// The seeds as a tensor whose gradients are tracked.
fn seeds(measurement: &Measurement, device: &Device) -> Tensor<2> {
    let dtype = measurement.settings.precision.dtype();
    let numbers = measurement.seeds.as_flattened().to_vec();
    let data = TensorData::new(numbers, [measurement.seeds.len(), 3]).convert_dtype(dtype);
    Tensor::from_data(data, (device, dtype)).require_grad()
}
