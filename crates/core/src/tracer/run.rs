//! A run in progress: chunk after chunk, save after save.

use super::{
    Tracer, ends,
    start::Start,
    stepper::{self, Stepper},
};
use crate::{
    Control, Error, Progress, Result, Save, Summary, TrackSink,
    schedule::{Chunk, Schedule},
    tracks::sunk,
};
use burntrace_kernels::Particles;
use std::time::Instant;

/// A run in progress.
pub(super) struct Run<'a> {
    tracer: &'a Tracer<'a>,
    schedule: &'a Schedule,
    stepper: Stepper<'a>,
    steps: u64,
    launches: u64,
    saves: usize,
    trace_seconds: f64,
    save_seconds: f64,
    cancelled: bool,
}

impl<'a> Run<'a> {
    pub fn new(tracer: &'a Tracer<'a>, schedule: &'a Schedule, stepper: Stepper<'a>) -> Self {
        Run {
            tracer,
            schedule,
            stepper,
            steps: 0,
            launches: 0,
            saves: 0,
            trace_seconds: 0.0,
            save_seconds: 0.0,
            cancelled: false,
        }
    }

    /// Takes the particles through the whole schedule, or until the observer cancels. They are
    /// passed on by value: a tensor that nobody else holds is advanced where it lies.
    pub fn all_chunks(
        &mut self,
        mut particles: Particles,
        sink: &mut dyn TrackSink,
        observer: &mut dyn FnMut(Progress) -> Control,
    ) -> Result<Particles> {
        let count = particles.count();
        for chunk in self.schedule.chunks(stepper::most_steps(count)) {
            particles = self.advance(particles, &chunk)?;
            if let Some(index) = chunk.save {
                self.save(&particles, index, chunk.end(), sink)?;
            }
            let progress = Progress {
                fraction: self.schedule.span.fraction(chunk.end()),
                time: chunk.end(),
                particle_steps: self.steps * count as u64,
            };
            if observer(progress) == Control::Cancel {
                self.cancelled = true;
                break;
            }
        }
        Ok(particles)
    }

    fn advance(&mut self, particles: Particles, chunk: &Chunk) -> Result<Particles> {
        if chunk.steps() == 0 {
            return Ok(particles);
        }
        let begin = Instant::now();
        let particles = self.stepper.advance(particles, chunk);
        self.sync()?;
        self.trace_seconds += begin.elapsed().as_secs_f64();
        self.steps += chunk.steps() as u64;
        self.launches += self.stepper.launches(chunk);
        Ok(particles)
    }

    /// Waits for the device, so that times are those of the work and failures are seen.
    fn sync(&self) -> Result<()> {
        let device = self.tracer.field.device();
        device.sync().map_err(|error| Error::Execution(format!("{error:?}")))
    }

    fn save(
        &mut self,
        particles: &Particles,
        index: usize,
        time: f64,
        sink: &mut dyn TrackSink,
    ) -> Result<()> {
        let begin = Instant::now();
        let velocity = self.tracer.velocity.then(|| self.stepper.velocity(particles, time));
        let save = Save {
            index,
            time,
            position: particles.position.clone(),
            status: particles.status(),
            image: particles.image(),
            velocity,
        };
        sunk(sink.save(save))?;
        self.saves += 1;
        self.save_seconds += begin.elapsed().as_secs_f64();
        Ok(())
    }

    /// Counts what has become of the particles, and closes the sink.
    pub fn finish(
        mut self,
        particles: Particles,
        sink: &mut dyn TrackSink,
        start: &Start,
    ) -> Result<Summary> {
        let count = particles.count();
        let begin = Instant::now();
        let account = ends::account(particles, self.schedule, start, self.steps)?;
        self.trace_seconds += begin.elapsed().as_secs_f64();
        let begin = Instant::now();
        sunk(sink.end(&account.ends))?;
        self.save_seconds += begin.elapsed().as_secs_f64();
        let device = self.tracer.field.device();
        let name = self.tracer.device_name.clone();
        Ok(Summary {
            path: self.stepper.path,
            device: name.unwrap_or_else(|| format!("{device:?}")),
            precision: self.tracer.field.precision(),
            particles: count,
            steps: self.steps,
            particle_steps: account.particle_steps,
            launches: self.launches,
            kernels: self.stepper.kernels(self.tracer.velocity),
            saves: self.saves,
            counts: account.counts,
            trace_seconds: self.trace_seconds,
            save_seconds: self.save_seconds,
            cancelled: self.cancelled,
        })
    }
}
