//! A run in progress: segment by segment, and within a segment batch by batch.

use super::{
    Tracer,
    arrays::{Sampler, is_host},
    batches::Batches,
    kept_values::KeptValues,
    origin_shift::OriginShift,
    particle_store::ParticleStore,
    reading::Reading,
    reinjection::{End, Reinjection},
    rows::Rows,
    segments::Tape,
    slots::Slots,
    start::Releases,
    state::{Counts, RunState},
    stepper::Stepper,
};
use crate::{
    Control, DurablePosition, Error, InputSummary, Observer, Progress, Result, Sampled, TrackSink,
    combinations::{Feature, refusal},
    device,
    schedule::{Chunk, Chunks, Schedule},
    sink::sunk,
};
use burn::tensor::{ExecutionError, Int, Tensor};
use burntrace_kernels::Particles;
use std::{
    ops::Range,
    time::{Duration, Instant},
};

/// Steps after which particles are sorted again.
pub(super) const STEPS_BETWEEN_SORTS: usize = 64;

/// A state kept in memory during the run.
pub(super) struct Snapshot {
    pub state: RunState<'static>,
    pub taken: Instant,
    pub took: Duration,
}

/// A run in progress.
pub(super) struct Run<'a> {
    pub tracer: &'a Tracer<'a>,
    pub schedule: &'a Schedule,
    /// The first slot: not 0 in a piece of a run.
    pub first_slot: usize,
    /// The remaining segments. Their limits depend neither on batches nor on threads.
    pub segments: Chunks<'a>,
    pub stepper: Stepper<'a>,
    pub sampler: Sampler<'a>,
    pub kept: KeptValues,
    /// Releases of the seeds.
    pub releases: Releases,
    /// The slots, if they are re-used.
    pub slots: Option<Slots>,
    pub store: ParticleStore,
    pub shift: OriginShift,
    pub batches: Batches,
    /// Whether gradients are tracked.
    pub is_tracked: bool,
    /// Records the segments, if gradients go back through them one by one.
    pub tape: Option<&'a mut Tape>,
    /// Whether saves are read back while the device takes the next steps.
    pub overlaps: bool,
    /// Whether particles are kept in spatial order.
    pub sorts: bool,
    /// Steps since they were sorted, and the row of each slot since then.
    pub since_sort: usize,
    pub ranks: Vec<u32>,
    /// The images of a save without periodic axes.
    pub no_images: Option<Tensor<2, Int>>,
    /// The save that is being read back.
    pub reading: Option<Reading>,
    pub counts: Counts,
    pub crossings_by_segment: Vec<u64>,
    /// Steps of active particles in this process, and the active particles now.
    pub taken: [u64; 2],
    /// Output that the sink has received.
    pub given: DurablePosition,
    /// A state to return to when a device with all particles runs out of memory.
    pub snapshot: Option<Snapshot>,
    /// Totals of the frames read before the run.
    pub input_before: InputSummary,
    pub cancelled: bool,
}

impl Run<'_> {
    /// Advances the particles to the end of the schedule, or until the observer cancels.
    pub fn all_segments(
        &mut self,
        sink: &mut dyn TrackSink,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        loop {
            let start = self.segments.cursor();
            let Some(segment) = self.segments.next() else { break };
            let samples = self.tracer.samples_field() && segment.save.is_some();
            let parts = self.stepper.parts(&segment, samples);
            if let Err(error) = self.stepper.ready(&parts[0], samples) {
                // No step of this segment has been taken, so a later run can resume here.
                self.segments.go_to(start);
                self.keep(sink, observer)?;
                return Err(error);
            }
            if let Err(error) = self.segment(&segment, &parts, sink) {
                self.roll_back(error)?;
                continue;
            }
            let progress = Progress {
                fraction: self.schedule.span.fraction(segment.end()),
                time: segment.end(),
                particle_steps: self.count_steps(&segment),
            };
            let control = observer.progress(progress);
            if observer.wants_checkpoint(&progress) {
                self.keep(sink, observer)?;
            }
            if control == Control::Cancel {
                self.cancelled = true;
                break;
            }
            self.take_snapshot()?;
        }
        self.finish_reading(sink)
    }

    /// Adds the steps of active particles in a segment to those before.
    fn count_steps(&mut self, segment: &Chunk) -> u64 {
        let [steps, before] = self.taken;
        // A count waits for the device, so a graphics card is asked with a save only.
        let asks = segment.save.is_some() || !device::compiles_kernels(&self.tracer.field.device());
        // It is for the display: a lack of memory is left to the next launch.
        let after = if asks { self.store.active().unwrap_or(before) } else { before };
        self.taken = [steps + (before + after) * segment.steps() as u64 / 2, after];
        self.taken[0]
    }

    /// Advances all particles by a segment, batch by batch, and makes the save at its end.
    fn segment(
        &mut self,
        segment: &Chunk,
        parts: &[Chunk],
        sink: &mut dyn TrackSink,
    ) -> Result<()> {
        let following = match segment.steps() {
            0 => None,
            _ => self.slots.as_mut().map(|slots| slots.prepare(segment).clone()),
        };
        let mut ends = Vec::new();
        for part in parts {
            let following = following.as_ref().map(|following| following.during(part));
            self.part(part, following.as_ref(), &mut ends, sink)?;
        }
        self.counts.steps += segment.steps() as u64;
        self.absorb(ends, segment, sink)?;
        self.give_crossings(segment, sink)
    }

    /// Advances all particles by a part of a segment, batch by batch. A batch that does not fit
    /// into the device's memory is repeated in halves.
    fn part(
        &mut self,
        part: &Chunk,
        following: Option<&Reinjection>,
        ends: &mut Vec<End>,
        sink: &mut dyn TrackSink,
    ) -> Result<()> {
        let mut first = 0;
        while first < self.store.count() {
            let batch = self.batches.next(first, self.store.count());
            let known = (ends.len(), self.stepper.gates.count());
            match self.batch(batch.clone(), part, following, ends, sink) {
                Ok(()) => {
                    self.batches.fitted(batch.len());
                    first = batch.end;
                }
                Err(error) if self.store.is_on_host() => {
                    self.batches.halve(batch.len(), error)?;
                    self.tracer.field.device().memory_cleanup();
                    ends.truncate(known.0);
                    self.stepper.gates.truncate(known.1);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Advances a batch by a part of a segment, and makes its block of the save at the end.
    fn batch(
        &mut self,
        batch: Range<usize>,
        part: &Chunk,
        following: Option<&Reinjection>,
        ends: &mut Vec<End>,
        sink: &mut dyn TrackSink,
    ) -> Result<()> {
        if batch.len() < self.store.count() && self.tracer.has(Feature::SeveralFields) {
            return Err(refusal(Feature::SeveralFields, Feature::Batches));
        }
        let start = Instant::now();
        #[cfg(test)]
        super::batches::failing::pass(super::batches::failing::FailurePoint::Upload, batch.len())?;
        let particles = {
            let _phase = crate::phase!("upload particles");
            self.store.take(batch.clone())?
        };
        let particles = match part.first_step {
            0 if self.counts.steps == 0 => self.stepper.start_tallies(particles, part.times[0])?,
            _ => particles,
        };
        self.counts.trace_seconds += start.elapsed().as_secs_f64();
        let first_slot = self.first_slot + batch.start;
        let mut particles = self.recorded_launch((first_slot, particles), part, following, ends)?;
        self.finish_reading(sink)?;
        let save = part.save.map(|index| (index, part.end(), batch.start));
        match save {
            Some(block) if self.overlaps => {
                self.start_reading(&particles, block)?;
                if !self.store.is_on_host() {
                    return self.store.put(batch.start, particles);
                }
            }
            _ => self.sync()?,
        }
        let save = match (self.reading.take(), save) {
            (Some(reading), _) => Some(reading.finish()?),
            (None, None) => None,
            (None, Some(block)) => {
                let (same, save) = self.save(particles, block)?;
                particles = same;
                Some(save)
            }
        };
        let start = Instant::now();
        #[cfg(test)]
        super::batches::failing::pass(
            super::batches::failing::FailurePoint::ReadBack,
            batch.len(),
        )?;
        {
            let _phase = crate::phase!("read back particles");
            self.store.put(batch.start, particles)?;
        }
        self.counts.trace_seconds += start.elapsed().as_secs_f64();
        // Last, so that the sink receives nothing twice after a failure.
        save.map_or(Ok(()), |save| self.give(save, sink, Instant::now()))
    }

    pub fn launch(
        &mut self,
        (first_slot, particles): (usize, Particles),
        segment: &Chunk,
        following: Option<&Reinjection>,
        ends: &mut Vec<End>,
    ) -> Result<Particles> {
        if segment.steps() == 0 {
            return Ok(particles);
        }
        let _phase = crate::phase!("launch");
        let start = Instant::now();
        #[cfg(test)]
        super::batches::failing::pass(
            super::batches::failing::FailurePoint::Launch,
            particles.count(),
        )?;
        let particles = self.sorted(particles, segment)?;
        let (particles, ended) =
            self.stepper.advance_tallied((first_slot, particles), segment, following)?;
        ends.extend(ended);
        if self.reading.is_some() {
            // Some devices queue launches; flush them, so that they run while the sink works.
            self.tracer.field.device().flush().map_err(failed)?;
        }
        self.counts.trace_seconds += start.elapsed().as_secs_f64();
        self.counts.launches += self.stepper.launches(segment);
        Ok(particles)
    }

    /// The particles in spatial order, where it pays.
    fn sorted(&mut self, particles: Particles, segment: &Chunk) -> Result<Particles> {
        // The parameters of an operation after each step may track gradients.
        let is_host = is_host(&particles.position.device());
        if !self.sorts || self.store.is_on_host() || !is_host {
            return Ok(particles);
        }
        let is_fresh = particles.slots.is_some() && self.since_sort < STEPS_BETWEEN_SORTS;
        self.since_sort = if is_fresh { self.since_sort } else { 0 } + segment.steps();
        if is_fresh {
            return Ok(particles);
        }
        let _phase = crate::phase!("sort particles");
        let device = particles.position.device();
        let rows = Rows::read(particles, true)?.in_spatial_order();
        self.ranks = rows.ranks().unwrap_or_default();
        Ok(rows.into_particles(&device))
    }

    /// Records the ends of a segment over all batches, and passes the instances to the sink.
    fn absorb(&mut self, ends: Vec<End>, segment: &Chunk, sink: &mut dyn TrackSink) -> Result<()> {
        let Some(slots) = self.slots.as_mut() else { return Ok(()) };
        let start = Instant::now();
        let instances = slots.absorb(ends, segment)?;
        self.counts.trace_seconds += start.elapsed().as_secs_f64();
        let start = Instant::now();
        // After a roll-back, some of them have been passed on already.
        let known = self.given.instances.saturating_sub(self.counts.instances) as usize;
        self.counts.instances += instances.len() as u64;
        self.given.instances = self.given.instances.max(self.counts.instances);
        if let Some(fresh) = instances.get(known..).filter(|fresh| !fresh.is_empty()) {
            sunk(sink.instances(fresh))?;
        }
        self.counts.save_seconds += start.elapsed().as_secs_f64();
        Ok(())
    }

    /// Passes the crossings of a segment to the sink.
    fn give_crossings(&mut self, segment: &Chunk, sink: &mut dyn TrackSink) -> Result<()> {
        if self.stepper.gates.shapes.is_empty() {
            return Ok(());
        }
        let start = Instant::now();
        let crossings = self.stepper.gates.take(segment, self.first_slot, self.shift.origin);
        self.crossings_by_segment.push(crossings.len() as u64);
        // After a roll-back, some of them have been passed on already.
        let known = self.given.crossings.saturating_sub(self.counts.crossings) as usize;
        self.counts.crossings += crossings.len() as u64;
        self.given.crossings = self.given.crossings.max(self.counts.crossings);
        if let Some(fresh) = crossings.get(known..).filter(|fresh| !fresh.is_empty()) {
            sunk(sink.crossings(fresh))?;
        }
        self.counts.save_seconds += start.elapsed().as_secs_f64();
        Ok(())
    }

    /// Totals of the frames that the run has read.
    pub fn input(&self) -> Option<InputSummary> {
        let now = self.tracer.field.sampled().and_then(Sampled::input)?;
        Some(InputSummary {
            frames: now.frames - self.input_before.frames,
            bytes: now.bytes - self.input_before.bytes,
            wait_seconds: now.wait_seconds - self.input_before.wait_seconds,
        })
    }

    /// Waits for the device, so that times cover the work and failures are reported.
    fn sync(&mut self) -> Result<()> {
        let _phase = crate::phase!("wait for device");
        let start = Instant::now();
        self.tracer.field.device().sync().map_err(failed)?;
        self.counts.trace_seconds += start.elapsed().as_secs_f64();
        Ok(())
    }
}

fn failed(error: ExecutionError) -> Error {
    Error::Execution(format!("{error:?}"))
}
