//! Tables whose number of rows is not known in advance, one array for each column: particle instances of runs that re-use slots, and
//! crossings of gates.

use super::array::ArrayWriter;
use super::arrays::StoreArrays;
use super::decode::{statuses, triples};
use super::host_array::{Row, with_vector};
use super::layout::{self, ArraySpec};
use crate::{Error, Result};
use burntrace_core::ParticleInstance;
use std::path::Path;

/// Number of instances read at a time.
const BLOCK: usize = 1 << 12;

/// Appends rows to a table.
#[derive(Debug)]
pub(super) struct TableWriter(Vec<ArrayWriter>);

impl TableWriter {
    /// Makes each column with `open`, which must give all columns the same number of rows.
    pub fn new<R: Row>(open: impl Fn(&ArraySpec) -> ArrayWriter) -> Self {
        TableWriter(R::COLUMNS.iter().map(|spec| open(spec)).collect())
    }

    /// Appends rows.
    pub fn append<R: Row>(&mut self, rows: &[R]) -> Result<()> {
        let columns = self.0.iter_mut().zip(R::columns(rows));
        columns
            .into_iter()
            .try_for_each(|(array, values)| with_vector!(&values, numbers => array.append(numbers)))
    }

    /// Number of rows.
    pub fn count(&self) -> usize {
        self.0[0].items()
    }

    /// The columns.
    pub fn columns(&mut self) -> &mut [ArrayWriter] {
        &mut self.0
    }
}

/// Number of ended instances among the first `count` of the table.
pub(super) fn count_ended(arrays: &StoreArrays, folder: &Path, count: usize) -> Result<usize> {
    let mut ended = 0;
    for first in (0..count).step_by(BLOCK) {
        let rows = first..count.min(first + BLOCK);
        let codes = arrays.read(&layout::INSTANCE_STATUS, rows, 0..1)?;
        ended += statuses(folder, codes)?.iter().filter(|status| status.has_ended()).count();
    }
    Ok(ended)
}

/// Iterator over the particle instances of a store; see [`Tracks::instances`](super::Tracks::instances).
///
/// It reads blocks of instances, so memory does not grow with their number. It ends after an error.
#[derive(Debug)]
pub struct Instances<'a> {
    arrays: &'a StoreArrays,
    folder: &'a Path,
    /// Number of instances in the table.
    count: usize,
    /// Number of slots.
    slots: usize,
    next: usize,
    block: std::vec::IntoIter<ParticleInstance>,
}

impl<'a> Instances<'a> {
    pub(super) fn new(
        arrays: &'a StoreArrays,
        folder: &'a Path,
        count: usize,
        slots: usize,
    ) -> Self {
        Instances { arrays, folder, count, slots, next: 0, block: Vec::new().into_iter() }
    }

    fn read(&self, first: usize, count: usize) -> Result<Vec<ParticleInstance>> {
        let rows = first..first + count;
        let slots: Vec<i32> = self.arrays.read(&layout::INSTANCE_SLOT, rows.clone(), 0..1)?;
        let generations: Vec<i32> =
            self.arrays.read(&layout::INSTANCE_GENERATION, rows.clone(), 0..1)?;
        let codes = self.arrays.read(&layout::INSTANCE_STATUS, rows.clone(), 0..1)?;
        let statuses = statuses(self.folder, codes)?;
        let times = |spec: &ArraySpec| self.arrays.read::<f64>(spec, rows.clone(), 0..1);
        let positions =
            |spec: &ArraySpec| self.arrays.read::<f64>(spec, rows.clone(), 0..1).map(triples);
        let (release_times, end_times) =
            (times(&layout::INSTANCE_RELEASE_TIME)?, times(&layout::INSTANCE_END_TIME)?);
        let release_positions = positions(&layout::INSTANCE_RELEASE_POSITION)?;
        let end_positions = positions(&layout::INSTANCE_END_POSITION)?;
        let instance = |i: usize| {
            let (slot, generation) = self.checked(slots[i], generations[i])?;
            Ok(ParticleInstance {
                slot,
                generation,
                status: statuses[i],
                release_time: release_times[i],
                release_position: release_positions[i],
                end_time: end_times[i],
                end_position: end_positions[i],
            })
        };
        (0..count).map(instance).collect()
    }

    /// The slot and generation of an instance, if they are valid.
    fn checked(&self, slot: i32, generation: i32) -> Result<(usize, u32)> {
        let known_slot = usize::try_from(slot).ok().filter(|slot| *slot < self.slots);
        match (known_slot, u32::try_from(generation)) {
            (Some(slot), Ok(generation)) => Ok((slot, generation)),
            _ => Err(Error::Store {
                path: self.folder.into(),
                found: format!("found generation {generation} of slot {slot}"),
                expected: format!("generations from 0, and slots from 0 below {}", self.slots),
            }),
        }
    }
}

impl Iterator for Instances<'_> {
    type Item = Result<ParticleInstance>;

    fn next(&mut self) -> Option<Result<ParticleInstance>> {
        if let Some(instance) = self.block.next() {
            return Some(Ok(instance));
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
