//! Saves, states and the summary, passed from a run to its sink and observer.

use super::{
    arrays::{Values, is_host},
    columns::{Columns, Order},
    ends,
    reading::{Block, Reading},
    rows::Rows,
    run::Run,
};
use crate::{Observer, Patch, Result, Save, Summary, TrackSink, sink::sunk};
use burn::tensor::{DType, Device, Int, Tensor};
use burntrace_kernels::Particles;
use std::time::Instant;

impl Run<'_> {
    /// Starts to read a save back. The next launch follows in the device's queue and may reuse the
    /// memory.
    pub fn start_reading(&mut self, particles: &Particles, block: Block) -> Result<()> {
        let start = Instant::now();
        let first = self.first_slot + block.2;
        let values = self.sampler.sample(&self.stepper, (first, particles), block.1)?;
        let has = [self.has_image(), self.slots.is_some()];
        self.reading = Some(Reading::start(particles, values, has, (block, self.shift)));
        self.counts.trace_seconds += start.elapsed().as_secs_f64();
        Ok(())
    }

    /// Passes the save that is being read back to the sink, if there is one.
    pub fn finish_reading(&mut self, sink: &mut dyn TrackSink) -> Result<()> {
        let Some(reading) = self.reading.take() else { return Ok(()) };
        let start = Instant::now();
        let save = {
            let _phase = crate::phase!("wait for device");
            reading.finish()?
        };
        self.counts.trace_seconds += start.elapsed().as_secs_f64();
        self.give(save, sink, Instant::now())
    }

    /// A save, or a block of one, on the device of the particles, which are returned.
    pub fn save(
        &mut self,
        particles: Particles,
        (index, time, first): Block,
    ) -> Result<(Particles, Save)> {
        let start = Instant::now();
        let slots = (self.first_slot + first, &particles);
        let values = self.sampler.sample(&self.stepper, slots, time)?;
        let (particles, columns, values) = self.columns(particles, values)?;
        self.counts.trace_seconds += start.elapsed().as_secs_f64();
        let Columns { position, rest, status, image, generation } = columns;
        let Values { velocity, arrays } = values;
        let arrays = arrays.into_iter().collect();
        let save = Save {
            index,
            time,
            first,
            position,
            rest,
            status,
            image,
            velocity,
            generation,
            arrays,
        };
        Ok((particles, save))
    }

    /// The columns of a save, and its values, in the order of slots.
    fn columns(
        &mut self,
        particles: Particles,
        values: Values,
    ) -> Result<(Particles, Columns, Values)> {
        let device = particles.position.device();
        let reuses_slots = self.slots.is_some();
        if is_host(&device) {
            let no_images = (!self.has_image()).then(|| self.no_images(particles.count(), &device));
            let rows = particles.slots.is_some().then_some(&self.ranks[..]);
            let order = Order { rows, device: &device };
            let rows = Rows::read(particles, true)?;
            let columns = Columns::of(&rows, &order, (no_images, reuses_slots), &self.shift);
            return Ok((rows.into_particles(&device), columns, order.values(values)?));
        }
        let (position, rest) = self.shift.apply(particles.position.clone());
        let (status, image) = (particles.status(), particles.image());
        let generation = reuses_slots.then(|| particles.generation());
        Ok((particles, Columns { position, rest, status, image, generation }, values))
    }

    /// Images of particles that cross no periodic face; one tensor for all saves.
    fn no_images(&mut self, count: usize, device: &Device) -> Tensor<2, Int> {
        match &self.no_images {
            Some(images) if images.dims()[0] == count => images.clone(),
            _ => {
                let images = Tensor::zeros([count, 3], (device, DType::I32));
                self.no_images.insert(images).clone()
            }
        }
    }

    /// Whether particles may cross periodic faces.
    fn has_image(&self) -> bool {
        (0..3).any(|axis| self.stepper.boundary.is_periodic(axis))
    }

    /// Passes a save or a block to the sink, unless it was passed on before a roll-back.
    pub fn give(&mut self, mut save: Save, sink: &mut dyn TrackSink, start: Instant) -> Result<()> {
        let _phase = crate::phase!("save");
        let is_whole = save.first + save.position.dims()[0] == self.store.count();
        let slots = self.slots.as_ref();
        if let Some(values) = save.arrays.pop() {
            save.arrays.push(self.kept.keep((values, &save.status), save.first, is_whole)?);
        }
        if let Some(empty) = slots.and_then(|slots| slots.empty(save.first, &save.status)) {
            let empty = empty.expand(save.position.dims());
            save.position = save.position.mask_fill(empty.clone(), f64::NAN);
            save.rest = save.rest.map(|rows| rows.mask_fill(empty.clone(), f64::NAN));
            save.velocity = save.velocity.map(|rows| rows.mask_fill(empty.clone(), f64::NAN));
            let empty = empty.narrow(1, 0, 1);
            for values in &mut save.arrays {
                *values = values.clone().mask_fill(empty.clone().expand(values.dims()), f64::NAN);
            }
        }
        if let Some(values) = save.arrays.pop() {
            save.arrays = self.sampler.split(values)?;
        }
        let is_known = (save.index as u64) < self.given.saves;
        self.counts.saves += u64::from(is_whole);
        if !is_known {
            self.given.saves += u64::from(is_whole);
            sunk(sink.save(save))?;
        }
        self.counts.save_seconds += start.elapsed().as_secs_f64();
        Ok(())
    }

    /// Passes the state to the observer, once the sink has everything before it.
    pub fn keep(&mut self, sink: &mut dyn TrackSink, observer: &mut dyn Observer) -> Result<()> {
        self.finish_reading(sink)?;
        let _phase = crate::phase!("checkpoint");
        let start = Instant::now();
        let mark = sunk(sink.sync())?;
        sunk(observer.checkpoint(self.state(mark)?))?;
        self.counts.save_seconds += start.elapsed().as_secs_f64();
        Ok(())
    }

    /// Counts the final statuses and closes the sink.
    pub fn finish(mut self, sink: &mut dyn TrackSink) -> Result<Summary> {
        let _phase = crate::phase!("end");
        let (particles, input) = (self.store.count(), self.input());
        let start = Instant::now();
        let slots = ends::Slots {
            releases: &self.releases,
            again: self.slots.as_ref(),
            patches: &self.stepper.boundary.patches,
            faces: self.tracer.field.mesh().map(|mesh| &**mesh.face_tags()),
            have_obstacles: !self.tracer.surroundings.obstacles.is_empty(),
            conditions: self.tracer.surroundings.stop_when.len(),
        };
        let fraction = self.store.fraction().filter(|fraction| fraction.device().is_autodiff());
        let rows = self.store.into_rows(slots.need_positions())?;
        let field = (self.tracer.field, self.counts.steps);
        let account = ends::account(&rows, self.schedule, &slots, field)?;
        if self.is_tracked && !self.tracer.execution.allow_non_finite {
            account.check_finite(self.schedule)?;
        }
        let end_times = fraction
            .map(|fraction| ends::times_in_graph(fraction, &rows, &account.ends, self.schedule));
        drop(rows);
        self.counts.trace_seconds += start.elapsed().as_secs_f64();
        let start = Instant::now();
        if self.slots.is_some() {
            sunk(sink.instances(&account.instances))?;
        }
        if let Some(times) = end_times {
            sunk(sink.end_times(times))?;
        }
        sunk(sink.end(&account.ends))?;
        self.counts.save_seconds += start.elapsed().as_secs_f64();
        let device = self.tracer.field.device();
        let name = self.tracer.execution.device_name.clone();
        let names = self.tracer.surroundings.patches.iter().map(Patch::name).map(str::to_string);
        let conditions = self.tracer.surroundings.stop_when.iter().map(ToString::to_string);
        Ok(Summary {
            engine: self.stepper.engine,
            device: name.unwrap_or_else(|| format!("{device:?}")),
            precision: self.tracer.field.precision(),
            particles,
            released: account.released,
            dropped: account.dropped,
            steps: self.counts.steps,
            particle_steps: match self.stepper.adaptive {
                Some(_) => account.tries.iter().sum(),
                None => account.particle_steps,
            },
            tries: self.stepper.adaptive.map(|_| account.tries),
            launches: self.counts.launches,
            kernels: self.stepper.kernels(self.tracer.samples_field()),
            saves: self.counts.saves as usize,
            counts: account.counts,
            patches: names.zip(account.patches).collect(),
            conditions: conditions.zip(account.conditions).collect(),
            batches: self.batches.summary(),
            input,
            trace_seconds: self.counts.trace_seconds,
            save_seconds: self.counts.save_seconds,
            cancelled: self.cancelled,
            instances_by_segment: self.slots.and_then(|slots| slots.by_segment).unwrap_or_default(),
            crossings_by_segment: self.crossings_by_segment,
        })
    }
}
