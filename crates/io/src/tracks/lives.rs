//! The table of lives in a store, a column in each file, for slots that are used again.

use super::npy::{NpyFile, NpyWriter};
use super::reader::{statuses, triples};
use crate::{Error, Result};
use burntrace_core::Life;
use std::path::{Path, PathBuf};

/// Names of the columns.
pub(super) const COLUMNS: [&str; 7] = [
    "life_slot",
    "life_generation",
    "life_status",
    "life_release_time",
    "life_end_time",
    "life_release_place",
    "life_end_place",
];

/// Lives that are read at a time.
const BLOCK: usize = 1 << 12;

/// Writes the table, lives as they come.
#[derive(Debug)]
pub(super) struct LifeWriter {
    count: usize,
    slot: NpyWriter,
    generation: NpyWriter,
    status: NpyWriter,
    release_time: NpyWriter,
    end_time: NpyWriter,
    release_place: NpyWriter,
    end_place: NpyWriter,
}

impl LifeWriter {
    /// Creates the files, at the paths that are given for the names of columns.
    pub fn create(path: impl Fn(&str) -> PathBuf) -> Result<LifeWriter> {
        let [slot, generation, status, release_time, end_time, release_place, end_place] =
            COLUMNS.map(path);
        // How many lives there will be, nobody knows.
        Ok(LifeWriter {
            count: 0,
            slot: NpyWriter::create::<i32>(slot, 0, &[])?,
            generation: NpyWriter::create::<i32>(generation, 0, &[])?,
            status: NpyWriter::create::<u8>(status, 0, &[])?,
            release_time: NpyWriter::create::<f64>(release_time, 0, &[])?,
            end_time: NpyWriter::create::<f64>(end_time, 0, &[])?,
            release_place: NpyWriter::create::<f64>(release_place, 0, &[3])?,
            end_place: NpyWriter::create::<f64>(end_place, 0, &[3])?,
        })
    }

    /// Adds lives. Their slots, generations and codes are known to fit: those of tensors do.
    pub fn append(&mut self, lives: &[Life]) -> Result<()> {
        let times = |of: fn(&Life) -> f64| lives.iter().map(of).collect::<Vec<_>>();
        let places = |of: fn(&Life) -> [f64; 3]| lives.iter().flat_map(of).collect::<Vec<_>>();
        let whole = |of: fn(&Life) -> i32| lives.iter().map(of).collect::<Vec<_>>();
        let codes: Vec<u8> = lives.iter().map(|life| life.status.code() as u8).collect();
        self.slot.append(&whole(|life| life.slot as i32))?;
        self.generation.append(&whole(|life| life.generation as i32))?;
        self.status.append(&codes)?;
        self.release_time.append(&times(|life| life.release_time))?;
        self.end_time.append(&times(|life| life.end_time))?;
        self.release_place.append(&places(|life| life.release_place))?;
        self.end_place.append(&places(|life| life.end_place))?;
        self.count += lives.len();
        Ok(())
    }

    /// How many lives there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The columns, to be finished as other arrays are.
    pub fn into_columns(self) -> [NpyWriter; 7] {
        [
            self.slot,
            self.generation,
            self.status,
            self.release_time,
            self.end_time,
            self.release_place,
            self.end_place,
        ]
    }
}

/// The files of the table.
#[derive(Debug, Clone)]
pub(super) struct LifeFiles {
    count: usize,
    slots: usize,
    slot: NpyFile,
    generation: NpyFile,
    status: NpyFile,
    release_time: NpyFile,
    end_time: NpyFile,
    release_place: NpyFile,
    end_place: NpyFile,
}

impl LifeFiles {
    /// Opens the table of so many lives in so many slots.
    pub fn open(path: impl Fn(&str) -> PathBuf, count: usize, slots: usize) -> Result<LifeFiles> {
        let [slot, generation, status, release_time, end_time, release_place, end_place] =
            COLUMNS.map(path);
        Ok(LifeFiles {
            count,
            slots,
            slot: NpyFile::open::<i32>(slot, &[count])?,
            generation: NpyFile::open::<i32>(generation, &[count])?,
            status: NpyFile::open::<u8>(status, &[count])?,
            release_time: NpyFile::open::<f64>(release_time, &[count])?,
            end_time: NpyFile::open::<f64>(end_time, &[count])?,
            release_place: NpyFile::open::<f64>(release_place, &[count, 3])?,
            end_place: NpyFile::open::<f64>(end_place, &[count, 3])?,
        })
    }

    /// How many lives there are.
    pub fn count(&self) -> usize {
        self.count
    }

    fn read(&self, folder: &Path, first: usize, count: usize) -> Result<Vec<Life>> {
        let slots = self.slot.read::<i32>(first, count)?;
        let generations = self.generation.read::<i32>(first, count)?;
        let statuses = statuses(folder, self.status.read(first, count)?)?;
        let release_times = self.release_time.read::<f64>(first, count)?;
        let end_times = self.end_time.read::<f64>(first, count)?;
        let release_places = triples(self.release_place.read::<f64>(3 * first, 3 * count)?);
        let end_places = triples(self.end_place.read::<f64>(3 * first, 3 * count)?);
        let life = |i: usize| {
            let (slot, generation) = self.who(folder, slots[i], generations[i])?;
            Ok(Life {
                slot,
                generation,
                status: statuses[i],
                release_time: release_times[i],
                release_place: release_places[i],
                end_time: end_times[i],
                end_place: end_places[i],
            })
        };
        (0..count).map(life).collect()
    }

    /// A slot and a generation, if there can be such a life.
    fn who(&self, folder: &Path, slot: i32, generation: i32) -> Result<(usize, u32)> {
        let whole = usize::try_from(slot).ok().filter(|slot| *slot < self.slots);
        match (whole, u32::try_from(generation)) {
            (Some(slot), Ok(generation)) => Ok((slot, generation)),
            _ => Err(Error::Store {
                path: folder.into(),
                found: format!("found life {generation} of slot {slot} in the table of lives"),
                expected: format!("slots and lives from 0 on, and less than {} slots", self.slots),
            }),
        }
    }
}

/// The lives in a store, one by one; see [`Tracks::lives`](super::Tracks::lives).
///
/// They are read in blocks, so that memory does not grow with their number. Nothing comes after an
/// error.
#[derive(Debug)]
pub struct Lives<'a> {
    files: &'a LifeFiles,
    folder: &'a Path,
    next: usize,
    block: std::vec::IntoIter<Life>,
}

impl<'a> Lives<'a> {
    pub(super) fn new(files: &'a LifeFiles, folder: &'a Path) -> Lives<'a> {
        Lives { files, folder, next: 0, block: Vec::new().into_iter() }
    }
}

impl Iterator for Lives<'_> {
    type Item = Result<Life>;

    fn next(&mut self) -> Option<Result<Life>> {
        if let Some(life) = self.block.next() {
            return Some(Ok(life));
        }
        let count = BLOCK.min(self.files.count - self.next);
        if count == 0 {
            return None;
        }
        match self.files.read(self.folder, self.next, count) {
            Ok(block) => {
                self.next += count;
                self.block = block.into_iter();
                self.block.next().map(Ok)
            }
            Err(e) => {
                self.next = self.files.count;
                Some(Err(e))
            }
        }
    }
}
