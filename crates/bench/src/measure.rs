//! One workload on one device: correctness and speed.

use crate::{
    batch::{self, Batch, Tried},
    check::Check,
    kind::WorkloadKind,
    record::{Bytes, Outcome, Record, Seconds, Speed},
    source,
    subject::{Subject, TimedRun},
    workload::Workload,
};
use anyhow::{Result, bail};
use burntrace::{Precision, device::OpenDevice};
use std::time::Instant;

/// How workloads are measured.
pub struct Settings {
    pub precision: Precision,
    /// Number of timed runs.
    pub repeats: usize,
    pub batch: Batch,
}

/// One workload with one number of particles, to be measured on several devices.
pub struct Measurement<'a> {
    pub settings: &'a Settings,
    pub workload: &'a Workload,
    pub seeds: &'a [[f64; 3]],
    pub check: &'a Check,
    pub steps: u64,
}

impl Measurement<'_> {
    /// A record without results.
    pub fn empty_record(&self, device: &OpenDevice) -> Record {
        let particles = self.seeds.len();
        Record {
            device: device.name.clone(),
            workload: self.workload.kind.name(),
            particles,
            precision: self.settings.precision.to_string(),
            steps: self.steps,
            first_seed: self.seeds.first().copied().unwrap_or_default(),
            batch: particles,
            ..Record::default()
        }
    }

    /// Measures on a device.
    pub fn fill(&self, device: &OpenDevice, record: &mut Record) -> Result<()> {
        if let Some(by) = self.workload.kind.gradient() {
            return self.gradients(by, device, record);
        }
        if self.workload.kind == WorkloadKind::Density {
            return self.density(device, record);
        }
        let Settings { precision, batch, .. } = *self.settings;
        let count = self.seeds.len();
        let start = Instant::now();
        let field = source::load(self.workload, &device.device, precision)?;
        let load = start.elapsed().as_secs_f64();
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

    /// Makes the first call, and the shorter runs that are also checked. Returns the seconds of the
    /// first call.
    pub fn first(&self, subject: &Subject, record: &mut Record) -> Result<f64> {
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
        let mut examine = |run| self.examine(run, record);
        batch::try_all(subject, self.seeds, &mut examine)
    }

    /// Makes the later calls while their results are right. Returns their seconds.
    fn steady(&self, subject: &Subject, record: &mut Record) -> Result<Vec<f64>> {
        let batches = batch::divide(self.seeds, record.batch)?;
        let mut seconds = Vec::with_capacity(self.settings.repeats);
        while record.outcome == Outcome::Right && seconds.len() < self.settings.repeats {
            let run = subject.run(&batches, self.steps)?;
            seconds.push(run.seconds);
            record.speed = Some(Speed::of(run.particle_steps, &seconds));
            self.examine(run, record)?;
        }
        Ok(seconds)
    }

    /// Checks the positions of a run, and records errors.
    fn examine(&self, run: TimedRun, record: &mut Record) -> Result<()> {
        let (active, steps) = (run.active, run.steps);
        let positions = run.positions()?;
        if positions.len() != self.seeds.len() {
            bail!("{} particles gave {} positions", self.seeds.len(), positions.len());
        }
        if let Some(errors) = self.check.errors(&positions, steps) {
            record.note(errors);
        }
        if let Some(problem) = self.check.problem(&positions, active) {
            record.outcome = Outcome::Wrong;
            record.message = Some(problem);
        }
        Ok(())
    }
}

/// Device memory in use at one time, and bytes that all batches of a call transfer in each
/// direction, computed from tensor shapes.
fn bytes(field: u64, particles: usize, batch: usize, precision: Precision) -> Bytes {
    let per_particle = precision.particle_bytes() as u64;
    let moved = particles as u64 * per_particle;
    Bytes { field, particles: batch as u64 * per_particle, to_device: moved, from_device: moved }
}
