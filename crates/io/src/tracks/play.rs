//! Plays a store, as if its run went on again.

use super::layout::{self, Spec};
use super::lives::Lives;
use super::reader::{Tracks, statuses};
use crate::{Error, Result};
use burn::tensor::{DType, Device, Element, Int, Tensor, TensorData};
use burntrace_core::{ParticleInstance, Precision, Save, SavePlan, SinkError, Status, TrackSink};
use std::iter::Peekable;
use std::ops::Range;

/// Particles in a block, unless told otherwise: some 5 MB with velocities in f64.
const BLOCK: usize = 1 << 16;

/// Lives that are given at a time.
const LIVES: usize = 1 << 12;

impl Tracks {
    /// Gives what is in the store to a sink, as its run did: saves one by one, in blocks of 65,536
    /// particles, on the host (Flex) in the precision of the store; lives after the first save that
    /// is not before their ends; then the ends.
    ///
    /// Memory is that of a block, apart from the ends. A store whose run has not come to its
    /// end has no ends: its saves come, and the lives that have ended, and then nothing. The sink is
    /// told at the begin of as many saves as are there.
    ///
    /// # Errors
    ///
    /// If a file cannot be read, a code is that of no status, or the sink fails ([`Error::Sink`]).
    pub fn play(&self, sink: &mut dyn TrackSink) -> Result<()> {
        self.play_blocks(BLOCK, sink)
    }

    /// As [`play`](Tracks::play), with so many particles in a block (one at least).
    ///
    /// # Errors
    ///
    /// As [`play`](Tracks::play).
    pub fn play_blocks(&self, particles: usize, sink: &mut dyn TrackSink) -> Result<()> {
        sunk(sink.begin(&self.plan()))?;
        let mut lives = self.instances().map(Iterator::peekable);
        let is_backward = self.times().first() > self.times().last();
        for save in 0..self.num_saves() {
            self.play_save(save, particles.max(1), sink)?;
            let now = self.times()[save];
            let is_over = |end: f64| if is_backward { end >= now } else { end <= now };
            self.play_lives(lives.as_mut(), |life| is_over(life.end_time), sink)?;
        }
        self.play_lives(lives.as_mut(), |_| true, sink)?;
        if self.is_complete() {
            sunk(sink.end(&self.ends()?))?;
        }
        Ok(())
    }

    fn plan(&self) -> SavePlan {
        SavePlan {
            particles: self.num_particles(),
            reuses_slots: self.num_lives().is_some(),
            saves: self.num_saves(),
            precision: self.precision(),
            velocity: self.has_velocity(),
            periods: self.periods(),
        }
    }

    /// Gives a save, block by block; one that is empty where there are no particles.
    fn play_save(&self, save: usize, most: usize, sink: &mut dyn TrackSink) -> Result<()> {
        let mut first = 0;
        loop {
            let end = self.num_particles().min(first + most);
            sunk(sink.save(self.block(save, first..end)?))?;
            first = end;
            if first == self.num_particles() {
                return Ok(());
            }
        }
    }

    fn block(&self, save: usize, slots: Range<usize>) -> Result<Save> {
        let n = slots.len();
        let codes = self.of_slots(layout::STATUS, save, slots.clone())?;
        let codes = statuses(self.folder(), codes)?.into_iter().map(Status::code).collect();
        let image = self.optional(layout::IMAGE);
        let image = image.map(|spec| self.of_slots(spec, save, slots.clone())).transpose()?;
        let velocity = self.optional(layout::VELOCITY);
        let generation = self.optional(layout::GENERATION);
        let generation = generation.map(|spec| self.of_slots(spec, save, slots.clone()));
        Ok(Save {
            index: save,
            time: self.times()[save],
            first: slots.start,
            position: self.vectors(layout::POSITION, save, &slots)?,
            status: ints(codes, [n]),
            image: ints(image.unwrap_or_else(|| vec![0; 3 * n]), [n, 3]),
            velocity: velocity.map(|spec| self.vectors(spec, save, &slots)).transpose()?,
            generation: generation.transpose()?.map(|numbers| ints(numbers, [n])),
        })
    }

    /// Rows `[n, 3]` in the precision of the store.
    fn vectors(&self, spec: Spec, save: usize, slots: &Range<usize>) -> Result<Tensor<2>> {
        Ok(match self.precision() {
            Precision::F32 => floats(self.of_slots::<f32>(spec, save, slots.clone())?),
            Precision::F64 => floats(self.of_slots::<f64>(spec, save, slots.clone())?),
        })
    }

    /// Gives lives from the table for as long as they are asked for.
    fn play_lives(
        &self,
        lives: Option<&mut Peekable<Lives<'_>>>,
        is_asked_for: impl Fn(&ParticleInstance) -> bool,
        sink: &mut dyn TrackSink,
    ) -> Result<()> {
        let Some(lives) = lives else { return Ok(()) };
        loop {
            let mut block = Vec::new();
            while block.len() < LIVES {
                let wanted =
                    |life: &Result<ParticleInstance>| life.as_ref().map_or(true, &is_asked_for);
                match lives.next_if(wanted) {
                    Some(life) => block.push(life?),
                    None => break,
                }
            }
            if block.is_empty() {
                return Ok(());
            }
            sunk(sink.instances(&block))?;
        }
    }
}

fn floats<T: Element>(numbers: Vec<T>) -> Tensor<2> {
    let (rows, dtype) = (numbers.len() / 3, T::dtype());
    Tensor::from_data(TensorData::new(numbers, [rows, 3]), (&Device::flex(), dtype))
}

fn ints<const D: usize>(numbers: Vec<i32>, shape: [usize; D]) -> Tensor<D, Int> {
    Tensor::from_data(TensorData::new(numbers, shape), (&Device::flex(), DType::I32))
}

fn sunk<T>(result: std::result::Result<T, SinkError>) -> Result<T> {
    result.map_err(Error::Sink)
}
