//! A workload on a device, ready to trace.

use super::{kind::WorkloadKind, source::OnDevice, workload::Workload};
use anyhow::{Result, anyhow};
use burntrace::{BoundaryCondition, Field, Seeds, Span, Tracer, burn::tensor::TensorData};
use std::time::Instant;

/// A workload on a device, ready to trace.
pub struct Subject<'a> {
    pub workload: &'a Workload,
    pub field: OnDevice,
    /// Number of steps of the timed run.
    pub steps: u64,
}

/// The result of tracing all batches once.
pub struct TimedRun {
    pub seconds: f64,
    pub steps: u64,
    pub particle_steps: u64,
    pub active: usize,
    positions: Vec<TensorData>,
}

/// The tracer of a workload.
pub fn tracer(kind: WorkloadKind, field: &dyn Field, steps: u64) -> Tracer<'_> {
    let wall = if kind.reflects() { BoundaryCondition::Reflect } else { BoundaryCondition::Exit };
    let span = Span { t0: Some(0.0), dt: Some(kind.dt()), steps: Some(steps), t1: None };
    Tracer::new(field).all_faces(wall).span(span)
}

impl Subject<'_> {
    pub fn tracer(&self, steps: u64) -> Tracer<'_> {
        tracer(self.workload.kind, &*self.field.field, steps)
    }

    /// Traces all batches one after the other. The timing includes reading the last positions back,
    /// so that the device has finished.
    pub fn run(&self, batches: &[Seeds], steps: u64) -> Result<TimedRun> {
        let tracer = self.tracer(steps);
        let mut run =
            TimedRun { seconds: 0.0, steps, particle_steps: 0, active: 0, positions: Vec::new() };
        let start = Instant::now();
        for seeds in batches {
            let tracks = tracer.trace(seeds)?;
            let data = tracks.positions().try_into_data();
            run.positions.push(data.map_err(|error| anyhow!("cannot read positions: {error:?}"))?);
            let summary = tracks.summary().ok_or_else(|| anyhow!("the run has no summary"))?;
            run.particle_steps += summary.particle_steps;
            run.active += summary.active();
        }
        run.seconds = start.elapsed().as_secs_f64();
        Ok(run)
    }
}

impl TimedRun {
    /// The final positions of all particles.
    pub fn positions(self) -> Result<Vec<[f64; 3]>> {
        let mut positions = Vec::new();
        for data in self.positions {
            let numbers = data.convert::<f64>().try_into_vec::<f64>();
            let numbers =
                numbers.map_err(|error| anyhow!("cannot convert positions: {error:?}"))?;
            positions.extend_from_slice(numbers.as_chunks().0);
        }
        Ok(positions)
    }
}
