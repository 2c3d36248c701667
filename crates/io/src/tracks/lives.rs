//! The table of lives in a store, a column in each array, for slots that are used again.

use super::array::ArrayWriter;
use super::files::Files;
use super::layout::{self, Spec};
use super::reader::{statuses, triples};
use crate::{Error, Result};
use burntrace_core::ParticleInstance;
use std::path::Path;

/// Lives that are read at a time.
const BLOCK: usize = 1 << 12;

/// Writes the table, lives as they come.
#[derive(Debug)]
pub(super) struct LifeWriter {
    slot: ArrayWriter,
    generation: ArrayWriter,
    status: ArrayWriter,
    release_time: ArrayWriter,
    end_time: ArrayWriter,
    release_position: ArrayWriter,
    end_position: ArrayWriter,
}

impl LifeWriter {
    /// Begins each column in the way that is given, all with as many rows.
    pub fn begin(begin: impl Fn(Spec) -> Result<ArrayWriter>) -> Result<LifeWriter> {
        Ok(LifeWriter {
            slot: begin(layout::LIFE_SLOT)?,
            generation: begin(layout::LIFE_GENERATION)?,
            status: begin(layout::LIFE_STATUS)?,
            release_time: begin(layout::LIFE_RELEASE_TIME)?,
            end_time: begin(layout::LIFE_END_TIME)?,
            release_position: begin(layout::LIFE_RELEASE_PLACE)?,
            end_position: begin(layout::LIFE_END_PLACE)?,
        })
    }

    /// Adds lives. Their slots, generations and codes are known to fit: those of tensors do.
    pub fn append(&mut self, lives: &[ParticleInstance]) -> Result<()> {
        let times = |of: fn(&ParticleInstance) -> f64| lives.iter().map(of).collect::<Vec<_>>();
        let places =
            |of: fn(&ParticleInstance) -> [f64; 3]| lives.iter().flat_map(of).collect::<Vec<_>>();
        let whole = |of: fn(&ParticleInstance) -> i32| lives.iter().map(of).collect::<Vec<_>>();
        let codes: Vec<u8> = lives.iter().map(|life| life.status.code() as u8).collect();
        self.slot.append(&whole(|life| life.slot as i32))?;
        self.generation.append(&whole(|life| life.generation as i32))?;
        self.status.append(&codes)?;
        self.release_time.append(&times(|life| life.release_time))?;
        self.end_time.append(&times(|life| life.end_time))?;
        self.release_position.append(&places(|life| life.release_position))?;
        self.end_position.append(&places(|life| life.end_position))
    }

    /// How many lives there are.
    pub fn count(&self) -> usize {
        self.slot.items()
    }

    /// The columns.
    pub fn columns(&mut self) -> [&mut ArrayWriter; 7] {
        [
            &mut self.slot,
            &mut self.generation,
            &mut self.status,
            &mut self.release_time,
            &mut self.end_time,
            &mut self.release_position,
            &mut self.end_position,
        ]
    }
}

/// The lives in a store, one by one; see [`Tracks::instances`](super::Tracks::instances).
///
/// They are read in blocks, so that memory does not grow with their number. Nothing comes after an
/// error.
#[derive(Debug)]
pub struct Lives<'a> {
    files: &'a Files,
    folder: &'a Path,
    /// Lives in the table, and slots.
    count: usize,
    slots: usize,
    next: usize,
    block: std::vec::IntoIter<ParticleInstance>,
}

impl<'a> Lives<'a> {
    pub(super) fn new(files: &'a Files, folder: &'a Path, count: usize, slots: usize) -> Self {
        Lives { files, folder, count, slots, next: 0, block: Vec::new().into_iter() }
    }

    fn read(&self, first: usize, count: usize) -> Result<Vec<ParticleInstance>> {
        let rows = first..first + count;
        let slots: Vec<i32> = self.files.read(layout::LIFE_SLOT, rows.clone(), 0..1)?;
        let generations: Vec<i32> = self.files.read(layout::LIFE_GENERATION, rows.clone(), 0..1)?;
        let codes = self.files.read(layout::LIFE_STATUS, rows.clone(), 0..1)?;
        let statuses = statuses(self.folder, codes)?;
        let times = |spec: Spec| self.files.read::<f64>(spec, rows.clone(), 0..1);
        let places = |spec: Spec| self.files.read::<f64>(spec, rows.clone(), 0..1).map(triples);
        let (release_times, end_times) =
            (times(layout::LIFE_RELEASE_TIME)?, times(layout::LIFE_END_TIME)?);
        let (release_places, end_places) =
            (places(layout::LIFE_RELEASE_PLACE)?, places(layout::LIFE_END_PLACE)?);
        let life = |i: usize| {
            let (slot, generation) = self.who(slots[i], generations[i])?;
            Ok(ParticleInstance {
                slot,
                generation,
                status: statuses[i],
                release_time: release_times[i],
                release_position: release_places[i],
                end_time: end_times[i],
                end_position: end_places[i],
            })
        };
        (0..count).map(life).collect()
    }

    /// A slot and a generation, if there can be such a life.
    fn who(&self, slot: i32, generation: i32) -> Result<(usize, u32)> {
        let whole = usize::try_from(slot).ok().filter(|slot| *slot < self.slots);
        match (whole, u32::try_from(generation)) {
            (Some(slot), Ok(generation)) => Ok((slot, generation)),
            _ => Err(Error::Store {
                path: self.folder.into(),
                found: format!("found life {generation} of slot {slot} in the table of lives"),
                expected: format!("slots and lives from 0 on, and less than {} slots", self.slots),
            }),
        }
    }
}

impl Iterator for Lives<'_> {
    type Item = Result<ParticleInstance>;

    fn next(&mut self) -> Option<Result<ParticleInstance>> {
        if let Some(life) = self.block.next() {
            return Some(Ok(life));
        }
        let count = BLOCK.min(self.count - self.next);
        if count == 0 {
            return None;
        }
        match self.read(self.next, count) {
            Ok(block) => {
                self.next += count;
                self.block = block.into_iter();
                self.block.next().map(Ok)
            }
            Err(e) => {
                self.next = self.count;
                Some(Err(e))
            }
        }
    }
}
