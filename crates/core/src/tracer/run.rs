//! A run in progress: segment after segment, and in each batch after batch.

use super::{
    Tracer,
    batches::Batches,
    cloud::Cloud,
    lives::{End, Following, Slots},
    reading::Reading,
    start::Begun,
    state::Counts,
    stepper::Stepper,
};
use crate::{
    Control, Error, InputSummary, Observer, Progress, Result, Sampled, TrackSink, device,
    schedule::{Chunk, Chunks, Schedule},
    tracks::sunk,
};
use burn::tensor::ExecutionError;
use burntrace_kernels::Particles;
use std::{ops::Range, time::Instant};

/// A run in progress.
pub(super) struct Run<'a> {
    pub tracer: &'a Tracer<'a>,
    pub schedule: &'a Schedule,
    /// The segments that are to come. Where they begin and end depends neither on batches nor on
    /// threads.
    pub segments: Chunks<'a>,
    pub stepper: Stepper<'a>,
    /// When seeds are released.
    pub begun: Begun,
    /// The slots, where they are used again.
    pub slots: Option<Slots>,
    pub cloud: Cloud,
    pub batches: Batches,
    /// Whether saves are read back while the device goes on.
    pub overlaps: bool,
    /// The save that is being read back.
    pub reading: Option<Reading>,
    pub counts: Counts,
    /// What had been read of the field before.
    before: InputSummary,
    pub cancelled: bool,
}

impl<'a> Run<'a> {
    /// A run into a sink that wants its saves on the host, or takes them where they are.
    pub fn new(
        tracer: &'a Tracer<'a>,
        (schedule, segments): (&'a Schedule, Chunks<'a>),
        stepper: Stepper<'a>,
        (begun, slots): (Begun, Option<Slots>),
        (cloud, batches): (Cloud, Batches),
        on_host: bool,
    ) -> Self {
        let device = tracer.field.device();
        let is_card = device::compiles_kernels(&device) && !device.is_autodiff();
        Run {
            tracer,
            schedule,
            segments,
            stepper,
            begun,
            slots,
            cloud,
            batches,
            overlaps: on_host && is_card,
            reading: None,
            counts: Counts::default(),
            before: tracer.field.sampled().and_then(Sampled::input).unwrap_or_default(),
            cancelled: false,
        }
    }

    /// Takes the particles through what is left of the schedule, or until the observer cancels.
    pub fn all_segments(
        &mut self,
        sink: &mut dyn TrackSink,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        while let Some(segment) = self.segments.next() {
            self.segment(&segment, sink)?;
            let progress = Progress {
                fraction: self.schedule.span.fraction(segment.end()),
                time: segment.end(),
                particle_steps: self.counts.steps * self.cloud.count() as u64,
            };
            let control = observer.progress(progress);
            if observer.keeps(&progress) {
                self.keep(sink, observer)?;
            }
            if control == Control::Cancel {
                self.cancelled = true;
                break;
            }
        }
        self.hand_over(sink)
    }

    /// Takes all particles through a segment, batch after batch, and makes the save after it.
    fn segment(&mut self, segment: &Chunk, sink: &mut dyn TrackSink) -> Result<()> {
        let following = match segment.steps() {
            0 => None,
            _ => self.slots.as_mut().map(|slots| slots.prepare(segment).clone()),
        };
        let mut ends = Vec::new();
        let samples = self.tracer.velocity && segment.save.is_some();
        for part in self.stepper.parts(segment, samples) {
            let following = following.as_ref().map(|following| following.during(&part));
            let mut first = 0;
            while first < self.cloud.count() {
                let batch = self.batches.next(first, self.cloud.count());
                first = batch.end;
                self.batch(batch, &part, following.as_ref(), &mut ends, sink)?;
            }
        }
        self.counts.steps += segment.steps() as u64;
        self.absorb(ends, segment, sink)
    }

    /// Takes a batch through a part of a segment, and makes its part of the save after that.
    fn batch(
        &mut self,
        batch: Range<usize>,
        segment: &Chunk,
        following: Option<&Following>,
        ends: &mut Vec<End>,
        sink: &mut dyn TrackSink,
    ) -> Result<()> {
        let begin = Instant::now();
        let particles = self.cloud.take(batch.clone())?;
        self.counts.trace_seconds += begin.elapsed().as_secs_f64();
        let particles = self.launch((batch.start, particles), segment, following, ends)?;
        self.hand_over(sink)?;
        match segment.save {
            Some(index) if self.overlaps => {
                self.start_reading(&particles, (index, segment.end(), batch.start))?;
            }
            save => {
                self.sync()?;
                if let Some(index) = save {
                    self.save(&particles, (index, segment.end(), batch.start), sink)?;
                }
            }
        }
        let begin = Instant::now();
        self.cloud.put(batch.start, particles)?;
        self.counts.trace_seconds += begin.elapsed().as_secs_f64();
        Ok(())
    }

    fn launch(
        &mut self,
        (first, particles): (usize, Particles),
        segment: &Chunk,
        following: Option<&Following>,
        ends: &mut Vec<End>,
    ) -> Result<Particles> {
        if segment.steps() == 0 {
            return Ok(particles);
        }
        let begin = Instant::now();
        let (particles, ended) = self.stepper.advance((first, particles), segment, following)?;
        ends.extend(ended);
        if self.reading.is_some() {
            // Some devices gather launches before they begin; the sink's time should not be lost.
            self.tracer.field.device().flush().map_err(failed)?;
        }
        self.counts.trace_seconds += begin.elapsed().as_secs_f64();
        self.counts.launches += self.stepper.launches(segment);
        Ok(particles)
    }

    /// Takes note of the ends of a segment, all batches' together, and hands those lives over.
    fn absorb(&mut self, ends: Vec<End>, segment: &Chunk, sink: &mut dyn TrackSink) -> Result<()> {
        let Some(slots) = self.slots.as_mut().filter(|_| !ends.is_empty()) else { return Ok(()) };
        let begin = Instant::now();
        let lives = slots.absorb(ends, segment)?;
        self.counts.trace_seconds += begin.elapsed().as_secs_f64();
        let begin = Instant::now();
        sunk(sink.lives(&lives))?;
        self.counts.save_seconds += begin.elapsed().as_secs_f64();
        Ok(())
    }

    /// What the run has read of its field's frames.
    pub fn input(&self) -> Option<InputSummary> {
        let now = self.tracer.field.sampled().and_then(Sampled::input)?;
        Some(InputSummary {
            frames: now.frames - self.before.frames,
            bytes: now.bytes - self.before.bytes,
            wait_seconds: now.wait_seconds - self.before.wait_seconds,
        })
    }

    /// Waits for the device, so that times are those of the work and failures are seen.
    fn sync(&mut self) -> Result<()> {
        let begin = Instant::now();
        self.tracer.field.device().sync().map_err(failed)?;
        self.counts.trace_seconds += begin.elapsed().as_secs_f64();
        Ok(())
    }
}

fn failed(error: ExecutionError) -> Error {
    Error::Execution(format!("{error:?}"))
}
