//! A run in progress: chunk after chunk, save after save.

use super::{Tracer, ends, lives::Slots, reading::Reading, start::Begun, stepper::Stepper};
use crate::{
    Control, Error, Progress, Result, Save, Summary, TrackSink, device,
    schedule::{Chunk, Schedule},
    tracks::sunk,
};
use burn::tensor::{ExecutionError, Tensor};
use burntrace_kernels::Particles;
use std::time::Instant;

/// A run in progress.
pub(super) struct Run<'a> {
    tracer: &'a Tracer<'a>,
    schedule: &'a Schedule,
    stepper: Stepper<'a>,
    /// When seeds are released.
    begun: Begun,
    /// The slots, where they are used again.
    slots: Option<Slots>,
    /// Whether saves are read back while the device goes on.
    overlaps: bool,
    /// The save that is being read back.
    reading: Option<Reading>,
    steps: u64,
    launches: u64,
    saves: usize,
    trace_seconds: f64,
    save_seconds: f64,
    cancelled: bool,
}

impl<'a> Run<'a> {
    /// A run into a sink that wants its saves on the host, or takes them where they are.
    pub fn new(
        tracer: &'a Tracer<'a>,
        schedule: &'a Schedule,
        stepper: Stepper<'a>,
        (begun, mut slots): (Begun, Option<Slots>),
        on_host: bool,
    ) -> Self {
        if let Some(slots) = &mut slots {
            slots.seeds_begin(&begun.times, &begun.steps);
        }
        let device = tracer.field.device();
        let is_card = device::compiles_kernels(&device) && !device.is_autodiff();
        Run {
            tracer,
            schedule,
            stepper,
            begun,
            slots,
            overlaps: on_host && is_card,
            reading: None,
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
        for chunk in self.schedule.chunks(self.stepper.most_steps(count)) {
            particles = self.launch(particles, &chunk, sink)?;
            self.hand_over(sink)?;
            match chunk.save {
                Some(index) if self.overlaps => self.start_reading(&particles, index, chunk.end()),
                save => {
                    self.sync()?;
                    if let Some(index) = save {
                        self.save(&particles, index, chunk.end(), sink)?;
                    }
                }
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
        self.hand_over(sink)?;
        Ok(particles)
    }

    fn launch(
        &mut self,
        particles: Particles,
        chunk: &Chunk,
        sink: &mut dyn TrackSink,
    ) -> Result<Particles> {
        if chunk.steps() == 0 {
            return Ok(particles);
        }
        let begin = Instant::now();
        let following = self.slots.as_mut().map(|slots| slots.prepare(chunk));
        let (particles, ends) = self.stepper.advance(particles, chunk, following)?;
        if self.reading.is_some() {
            // Some devices gather launches before they begin; the sink's time should not be lost.
            self.tracer.field.device().flush().map_err(failed)?;
        }
        self.trace_seconds += begin.elapsed().as_secs_f64();
        self.steps += chunk.steps() as u64;
        self.launches += self.stepper.launches(chunk);
        if let Some(slots) = self.slots.as_mut().filter(|_| !ends.is_empty()) {
            let begin = Instant::now();
            let lives = slots.absorb(ends, chunk)?;
            self.trace_seconds += begin.elapsed().as_secs_f64();
            let begin = Instant::now();
            sunk(sink.lives(&lives))?;
            self.save_seconds += begin.elapsed().as_secs_f64();
        }
        Ok(particles)
    }

    /// Waits for the device, so that times are those of the work and failures are seen.
    fn sync(&mut self) -> Result<()> {
        let begin = Instant::now();
        self.tracer.field.device().sync().map_err(failed)?;
        self.trace_seconds += begin.elapsed().as_secs_f64();
        Ok(())
    }

    fn velocity(&self, particles: &Particles, time: f64) -> Option<Tensor<2>> {
        self.tracer.velocity.then(|| self.stepper.velocity(particles, time))
    }

    /// Begins to read a save back. The next launch comes after that in the device's queue, and
    /// may thus write to the same memory.
    fn start_reading(&mut self, particles: &Particles, index: usize, time: f64) {
        let begin = Instant::now();
        let velocity = self.velocity(particles, time);
        let has_image = (0..3).any(|axis| self.stepper.boundary.is_periodic(axis));
        let has = [has_image, self.slots.is_some()];
        self.reading = Some(Reading::start(particles, velocity, has, (index, time)));
        self.trace_seconds += begin.elapsed().as_secs_f64();
    }

    /// Gives the sink the save that is being read back, if there is one.
    fn hand_over(&mut self, sink: &mut dyn TrackSink) -> Result<()> {
        let Some(reading) = self.reading.take() else { return Ok(()) };
        let begin = Instant::now();
        let save = reading.finish()?;
        self.trace_seconds += begin.elapsed().as_secs_f64();
        self.give(save, sink, Instant::now())
    }

    fn save(
        &mut self,
        particles: &Particles,
        index: usize,
        time: f64,
        sink: &mut dyn TrackSink,
    ) -> Result<()> {
        let begin = Instant::now();
        let save = Save {
            index,
            time,
            position: particles.position.clone(),
            status: particles.status(),
            image: particles.image(),
            velocity: self.velocity(particles, time),
            generation: self.slots.as_ref().map(|_| particles.generation()),
        };
        self.give(save, sink, begin)
    }

    fn give(&mut self, mut save: Save, sink: &mut dyn TrackSink, begin: Instant) -> Result<()> {
        if let Some(empty) = self.slots.as_ref().and_then(|slots| slots.empty(&save.status)) {
            let empty = empty.expand(save.position.dims());
            save.position = save.position.mask_fill(empty.clone(), f64::NAN);
            save.velocity = save.velocity.map(|rows| rows.mask_fill(empty, f64::NAN));
        }
        sunk(sink.save(save))?;
        self.saves += 1;
        self.save_seconds += begin.elapsed().as_secs_f64();
        Ok(())
    }

    /// Counts what has become of the particles, and closes the sink.
    pub fn finish(mut self, particles: Particles, sink: &mut dyn TrackSink) -> Result<Summary> {
        let count = particles.count();
        let begin = Instant::now();
        let patches = &self.stepper.boundary.patches;
        let slots = ends::Slots {
            begun: &self.begun,
            again: self.slots.as_ref(),
            patches,
            have_obstacles: !self.stepper.obstacles.is_empty(),
        };
        let account =
            ends::account(particles, self.schedule, &slots, (self.tracer.field, self.steps))?;
        self.trace_seconds += begin.elapsed().as_secs_f64();
        let begin = Instant::now();
        if self.slots.is_some() {
            sunk(sink.lives(&account.lives))?;
        }
        sunk(sink.end(&account.ends))?;
        self.save_seconds += begin.elapsed().as_secs_f64();
        let device = self.tracer.field.device();
        let name = self.tracer.device_name.clone();
        let names = self.tracer.patches.iter().map(|patch| patch.name().to_string());
        Ok(Summary {
            path: self.stepper.path,
            device: name.unwrap_or_else(|| format!("{device:?}")),
            precision: self.tracer.field.precision(),
            particles: count,
            released: account.released,
            dropped: account.dropped,
            steps: self.steps,
            particle_steps: match self.stepper.adaptive {
                Some(_) => account.tries.iter().sum(),
                None => account.particle_steps,
            },
            tries: self.stepper.adaptive.map(|_| account.tries),
            launches: self.launches,
            kernels: self.stepper.kernels(self.tracer.velocity),
            saves: self.saves,
            counts: account.counts,
            patches: names.zip(account.patches).collect(),
            trace_seconds: self.trace_seconds,
            save_seconds: self.save_seconds,
            cancelled: self.cancelled,
        })
    }
}

fn failed(error: ExecutionError) -> Error {
    Error::Execution(format!("{error:?}"))
}
