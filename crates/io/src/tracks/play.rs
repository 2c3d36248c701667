//! Plays a store into a sink, as its run did.

use super::decode::statuses;
use super::instances::Instances;
use super::layout::{self, ArraySpec};
use super::reader::Tracks;
use crate::{Error, Result};
use burn::tensor::{DType, Device, Element, Int, Tensor, TensorData};
use burntrace_core::{
    Floats, ParticleInstance, Precision, Save, SavePlan, SinkError, Status, TrackSink,
};
use std::iter::Peekable;
use std::ops::Range;

/// Default number of particles in a block: about 5 MB with velocities in f64.
const BLOCK: usize = 1 << 16;

/// Number of particle instances passed to the sink at a time.
const INSTANCES: usize = 1 << 12;

impl Tracks {
    /// Passes the store to a sink, as its run did: the release positions of the seeds; each save in
    /// blocks of 65,536 particles, on the host (Flex) and in the precision of the store; each particle
    /// instance after the first save at or after its end; finally the ends.
    ///
    /// Memory is needed for one block, and for the ends. An incomplete store has no ends: the sink
    /// gets its saves and the particle instances that have ended, and `end` is not called. The plan
    /// that the sink gets has the number of saves in the store.
    ///
    /// # Errors
    ///
    /// If a file cannot be read, a status code is unknown, or the sink fails ([`Error::Sink`]).
    pub fn play(&self, sink: &mut dyn TrackSink) -> Result<()> {
        self.play_blocks(BLOCK, sink)
    }

    /// As [`play`](Tracks::play), with blocks of this number of particles (at least one).
    ///
    /// # Errors
    ///
    /// As [`play`](Tracks::play).
    pub fn play_blocks(&self, particles: usize, sink: &mut dyn TrackSink) -> Result<()> {
        from_sink(sink.begin(&self.plan()))?;
        self.play_releases(particles.max(1), sink)?;
        let mut instances = self.instances().map(Iterator::peekable);
        let is_backward = self.times().first() > self.times().last();
        for save in 0..self.num_saves() {
            self.play_save(save, particles.max(1), sink)?;
            let now = self.times()[save];
            let has_passed = |end: f64| if is_backward { end >= now } else { end <= now };
            self.play_instances(instances.as_mut(), |of| has_passed(of.end_time), sink)?;
        }
        self.play_instances(instances.as_mut(), |_| true, sink)?;
        for crossings in self.crossings() {
            from_sink(sink.crossings(&crossings?))?;
        }
        if self.is_complete() {
            from_sink(sink.end(&self.ends()?))?;
        }
        Ok(())
    }

    /// What a run with these tracks would save.
    pub(crate) fn plan(&self) -> SavePlan {
        SavePlan {
            particles: self.num_particles(),
            reuses_slots: self.num_instances().is_some(),
            saves: self.num_saves(),
            precision: self.precision(),
            positions: self.position_precision(),
            velocity: self.has_velocity(),
            periods: self.periods(),
            arrays: self.arrays(),
            gates: self.gates().to_vec(),
        }
    }

    /// Passes the release positions of the seeds, which have the first slots.
    fn play_releases(&self, block_size: usize, sink: &mut dyn TrackSink) -> Result<()> {
        for first in (0..self.num_particles()).step_by(block_size) {
            let slots = first..self.num_particles().min(first + block_size);
            let mut positions = self.release_positions(slots)?;
            let seeds = positions.iter().take_while(|p| p.iter().all(|x| x.is_finite())).count();
            positions.truncate(seeds);
            if positions.is_empty() {
                return Ok(());
            }
            from_sink(sink.releases(first, &positions))?;
        }
        Ok(())
    }

    /// Passes a save block by block; an empty block if there are no particles.
    fn play_save(&self, save: usize, block_size: usize, sink: &mut dyn TrackSink) -> Result<()> {
        let mut first = 0;
        loop {
            let end = self.num_particles().min(first + block_size);
            from_sink(sink.save(self.block(save, first..end)?))?;
            first = end;
            if first == self.num_particles() {
                return Ok(());
            }
        }
    }

    fn block(&self, save: usize, slots: Range<usize>) -> Result<Save> {
        let n = slots.len();
        let codes = self.of_slots(&layout::STATUS, save, slots.clone())?;
        let codes = statuses(self.folder(), codes)?.into_iter().map(Status::code).collect();
        let image = self.optional(&layout::IMAGE);
        let image = image.map(|spec| self.of_slots(spec, save, slots.clone())).transpose()?;
        let velocity = self.optional(&layout::VELOCITY);
        let generation = self.optional(&layout::GENERATION);
        let generation = generation.map(|spec| self.of_slots(spec, save, slots.clone()));
        let (position, rest) = self.positions(save, &slots)?;
        let sampled = self.arrays();
        let arrays = sampled.iter().map(|array| {
            let shape = [n, array.components];
            Ok(match self.sampled(array, save, slots.clone())? {
                Floats::F32(numbers) => floats(numbers, shape),
                Floats::F64(numbers) => floats(numbers, shape),
            })
        });
        Ok(Save {
            index: save,
            time: self.times()[save],
            first: slots.start,
            position,
            rest,
            status: ints(codes, [n]),
            image: ints(image.unwrap_or_else(|| vec![0; 3 * n]), [n, 3]),
            velocity: velocity.map(|spec| self.vectors(spec, save, &slots)).transpose()?,
            generation: generation.transpose()?.map(|numbers| ints(numbers, [n])),
            arrays: arrays.collect::<Result<_>>()?,
        })
    }

    /// Positions `[n, 3]` in the precision of the run, and their rests if they need more.
    fn positions(
        &self,
        save: usize,
        slots: &Range<usize>,
    ) -> Result<(Tensor<2>, Option<Tensor<2>>)> {
        if self.position_precision() == self.precision() {
            return Ok((self.vectors(&layout::POSITION, save, slots)?, None));
        }
        let exact: Vec<f64> = self.of_slots(&layout::POSITION, save, slots.clone())?;
        let single: Vec<f32> = exact.iter().map(|x| *x as f32).collect();
        let rest = exact.iter().zip(&single).map(|(x, single)| (x - f64::from(*single)) as f32);
        let shape = [slots.len(), 3];
        let rest = floats(rest.collect(), shape);
        Ok((floats(single, shape), Some(rest)))
    }

    /// Rows `[n, 3]` in the precision of the run.
    fn vectors(&self, spec: &ArraySpec, save: usize, slots: &Range<usize>) -> Result<Tensor<2>> {
        let shape = [slots.len(), 3];
        Ok(match self.precision() {
            Precision::F32 => floats(self.of_slots::<f32>(spec, save, slots.clone())?, shape),
            Precision::F64 => floats(self.of_slots::<f64>(spec, save, slots.clone())?, shape),
        })
    }

    /// Passes particle instances in the order of the table, while `is_due` is true.
    fn play_instances(
        &self,
        instances: Option<&mut Peekable<Instances<'_>>>,
        is_due: impl Fn(&ParticleInstance) -> bool,
        sink: &mut dyn TrackSink,
    ) -> Result<()> {
        let Some(instances) = instances else { return Ok(()) };
        loop {
            let mut block = Vec::new();
            while block.len() < INSTANCES {
                let is_next =
                    |instance: &Result<ParticleInstance>| instance.as_ref().map_or(true, &is_due);
                match instances.next_if(is_next) {
                    Some(instance) => block.push(instance?),
                    None => break,
                }
            }
            if block.is_empty() {
                return Ok(());
            }
            from_sink(sink.instances(&block))?;
        }
    }
}

fn floats<T: Element>(numbers: Vec<T>, shape: [usize; 2]) -> Tensor<2> {
    Tensor::from_data(TensorData::new(numbers, shape), (&Device::flex(), T::dtype()))
}

fn ints<const D: usize>(numbers: Vec<i32>, shape: [usize; D]) -> Tensor<D, Int> {
    Tensor::from_data(TensorData::new(numbers, shape), (&Device::flex(), DType::I32))
}

fn from_sink<T>(result: std::result::Result<T, SinkError>) -> Result<T> {
    result.map_err(Error::Sink)
}
