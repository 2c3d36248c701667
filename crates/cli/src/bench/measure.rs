//! One workload on one device: whether it is right, and how long it takes.

use super::{
    batch::{self, Batch, Tried},
    check::Check,
    machine,
    plan::Plan,
    record::{Bytes, Outcome, Record, Seconds, Speed},
    source,
    workload::Workload,
};
use anyhow::{Result, anyhow, bail};
use burntrace::{
    Condition, Precision, Seeds, Span, Tracer, burn::tensor::TensorData, device::OpenDevice,
};
use std::time::Instant;

/// What is traced, and how.
pub struct Subject<'a> {
    workload: &'a Workload,
    field: source::OnDevice,
    /// Steps of the run that is timed.
    pub steps: u64,
}

/// What one run of all batches took and gave.
pub struct Run {
    pub seconds: f64,
    steps: u64,
    particle_steps: u64,
    active: usize,
    data: Vec<TensorData>,
}

impl Subject<'_> {
    fn tracer(&self, steps: u64) -> Tracer<'_> {
        let kind = self.workload.kind;
        let wall = if kind.reflects() { Condition::Reflect } else { Condition::Exit };
        let span = Span { t0: Some(0.0), dt: Some(kind.dt()), steps: Some(steps), t1: None };
        Tracer::new(&*self.field.field).all_faces(wall).span(span)
    }

    /// Traces all batches, one after the other. The time ends when the last positions are on the
    /// host, so that the device has finished.
    pub fn run(&self, batches: &[Seeds], steps: u64) -> Result<Run> {
        let tracer = self.tracer(steps);
        let mut run = Run { seconds: 0.0, steps, particle_steps: 0, active: 0, data: Vec::new() };
        let begin = Instant::now();
        for seeds in batches {
            let tracks = tracer.trace(seeds)?;
            let data = tracks.positions().try_into_data();
            run.data.push(data.map_err(|error| anyhow!("positions are lost: {error:?}"))?);
            let summary = tracks.summary().ok_or_else(|| anyhow!("a run gave no summary"))?;
            run.particle_steps += summary.particle_steps;
            run.active += summary.active();
        }
        run.seconds = begin.elapsed().as_secs_f64();
        Ok(run)
    }
}

impl Run {
    fn positions(self) -> Result<Vec<[f64; 3]>> {
        let mut positions = Vec::new();
        for data in self.data {
            let numbers = data.convert::<f64>().try_into_vec::<f64>();
            let numbers =
                numbers.map_err(|error| anyhow!("positions cannot be read: {error:?}"))?;
            positions.extend_from_slice(numbers.as_chunks().0);
        }
        Ok(positions)
    }
}

/// What is measured on a device.
pub struct Task<'a> {
    pub plan: &'a Plan,
    pub workload: &'a Workload,
    pub seeds: &'a [[f64; 3]],
    pub check: &'a Check,
    pub steps: u64,
}

impl Task<'_> {
    /// Measures on a device. A device that fails is recorded, so that the others are measured.
    pub fn on(&self, device: &OpenDevice) -> Record {
        machine::forget_peak();
        let mut record = Record::new(device, self);
        if let Err(error) = self.fill(device, &mut record) {
            record.outcome = Outcome::Failed;
            record.message = Some(crate::chain(&error));
        }
        record.host_peak_bytes = machine::peak();
        if record.outcome != Outcome::Right {
            record.forget_times();
        }
        record
    }

    fn fill(&self, device: &OpenDevice, record: &mut Record) -> Result<()> {
        let Plan { precision, batch, .. } = *self.plan;
        let count = self.seeds.len();
        let begin = Instant::now();
        let field = source::load(self.workload, &device.device, precision)?;
        let load = begin.elapsed().as_secs_f64();
        let subject = Subject { workload: self.workload, field, steps: self.steps };
        record.batch = batch.first(count);
        let compile = subject.tracer(self.steps).warm_up(record.batch)?;
        let first = self.first(&subject, record)?;
        if record.outcome == Outcome::Right && batch == Batch::Auto {
            record.batches_tried = self.try_batches(&subject, record)?;
            record.batch = record.batches_tried.first().map_or(count, |tried| tried.batch);
        }
        let steady = self.steady(&subject, record)?;
        record.seconds = Some(Seconds { load, compile, first, steady });
        record.bytes = Some(bytes(subject.field.bytes, count, record.batch, precision));
        Ok(())
    }

    /// The first call, and shorter runs that are compared, too. Gives the seconds of the first
    /// call.
    fn first(&self, subject: &Subject, record: &mut Record) -> Result<f64> {
        let batches = batch::divide(self.seeds, record.batch)?;
        let run = subject.run(&batches, self.steps)?;
        let seconds = run.seconds;
        self.examine(run, record)?;
        for &steps in self.check.earlier() {
            self.examine(subject.run(&batches, steps)?, record)?;
        }
        Ok(seconds)
    }

    fn try_batches(&self, subject: &Subject, record: &mut Record) -> Result<Vec<Tried>> {
        let mut see = |run| self.examine(run, record);
        batch::try_all(subject, self.seeds, &mut see)
    }

    /// The later calls, as long as they are right. Gives their seconds.
    fn steady(&self, subject: &Subject, record: &mut Record) -> Result<Vec<f64>> {
        let batches = batch::divide(self.seeds, record.batch)?;
        let mut seconds = Vec::with_capacity(self.plan.repeats);
        while record.outcome == Outcome::Right && seconds.len() < self.plan.repeats {
            let run = subject.run(&batches, self.steps)?;
            seconds.push(run.seconds);
            record.speed = Some(Speed::of(run.particle_steps, &seconds));
            self.examine(run, record)?;
        }
        Ok(seconds)
    }

    /// Looks at the positions of a run, and notes in the record what is wrong with them.
    fn examine(&self, run: Run, record: &mut Record) -> Result<()> {
        let (active, steps) = (run.active, run.steps);
        let positions = run.positions()?;
        if positions.len() != self.seeds.len() {
            bail!("{} particles gave {} positions", self.seeds.len(), positions.len());
        }
        if let Some(errors) = self.check.errors(&positions, steps) {
            record.note(errors);
        }
        if let Some(complaint) = self.check.complaint(&positions, active) {
            record.outcome = Outcome::Wrong;
            record.message = Some(complaint);
        }
        Ok(())
    }
}

/// What lies on the device at once, and what all batches of a call move there and back, computed
/// from the shapes of the tensors.
fn bytes(field: u64, particles: usize, batch: usize, precision: Precision) -> Bytes {
    let number = precision.bytes() as u64;
    // A position, the fraction of a step, and a record of five 32-bit integers.
    let one = 3 * number + number + 5 * 4;
    let moved = particles as u64 * one;
    Bytes { field, particles: batch as u64 * one, to_device: moved, from_device: moved }
}
