//! Tracks as arrays over saves and particles.

use super::column::{Kind, Values};
use super::finals::{Final, Finals};
use super::{GROUP, Selection, check_names, parts};
use crate::Result;
use crate::tracks::{SaveBlock, Tracks};
use std::ops::Range;

/// An array; the numbers of its last dimension follow one another.
pub(super) struct Array {
    pub name: String,
    pub kind: Kind,
    pub shape: Vec<usize>,
    source: Source,
}

/// Where the values of an array come from.
#[derive(Clone, Copy)]
enum Source {
    Time,
    /// Over the particles.
    Particle,
    /// Over the particles, or the particle instances.
    End(OfEnd),
    /// Over saves and particles.
    Save(OfSave),
}

#[derive(Clone, Copy)]
enum OfEnd {
    Slot,
    Generation,
    ReleaseTime,
    EndTime,
    Status,
}

#[derive(Clone, Copy)]
enum OfSave {
    Position,
    Unwrapped,
    Velocity,
    Status,
    Generation,
    /// An array along the tracks, by its index.
    Sampled(usize),
}

/// The arrays of the selected tracks.
pub(super) struct Arrays<'a> {
    pub all: Vec<Array>,
    store: &'a Tracks,
    selection: &'a Selection,
    saves: Vec<usize>,
    slots: Vec<usize>,
    finals: Option<Finals>,
}

impl<'a> Arrays<'a> {
    /// # Errors
    ///
    /// If no save is selected, two arrays have the same name, or the ends cannot be read.
    pub fn new(store: &'a Tracks, selection: &'a Selection) -> Result<Self> {
        let (saves, finals) = (selection.saves(store)?, selection.finals(store)?);
        let slots = selection.slots(store, finals.as_ref());
        let mut arrays = Arrays { all: Vec::new(), store, selection, saves, slots, finals };
        arrays.all = arrays.list();
        check_names(arrays.all.iter().map(|array| &*array.name))?;
        Ok(arrays)
    }

    /// Number of particles, or slots.
    pub fn num_particles(&self) -> usize {
        self.slots.len()
    }

    fn list(&self) -> Vec<Array> {
        let [saves, slots] = [self.saves.len(), self.slots.len()];
        let array = |name: &str, kind, shape: &[usize], source| Array {
            name: name.into(),
            kind,
            shape: shape.into(),
            source,
        };
        let mut all = vec![
            array("time", Kind::F64, &[saves], Source::Time),
            array("particle", Kind::I32, &[slots], Source::Particle),
        ];
        for (name, kind, width, of) in self.of_saves() {
            let shape = [saves, slots, width];
            let shape = if width == 1 { &shape[..2] } else { &shape[..] };
            all.push(array(&name, kind, shape, Source::Save(of)));
        }
        if self.finals.is_some() {
            let count = self.ends().count();
            let of_end = self.of_ends().iter();
            all.extend(
                of_end.map(|&(name, kind, of)| array(name, kind, &[count], Source::End(of))),
            );
        }
        all
    }

    /// The arrays over saves and particles: names, types, numbers for each particle.
    fn of_saves(&self) -> Vec<(String, Kind, usize, OfSave)> {
        let store = self.store;
        let (run, position) =
            (Kind::float(store.precision()), Kind::float(store.position_precision()));
        let mut all = vec![("position".into(), position, 3, OfSave::Position)];
        if store.periods().iter().any(|period| *period != 0.0) {
            all.push(("unwrapped".into(), Kind::F64, 3, OfSave::Unwrapped));
        }
        if store.has_velocity() {
            all.push(("velocity".into(), run, 3, OfSave::Velocity));
        }
        all.push(("status".into(), Kind::Name, 1, OfSave::Status));
        if store.num_instances().is_some() {
            all.push(("generation".into(), Kind::I32, 1, OfSave::Generation));
        }
        let sampled = store.arrays().into_iter().enumerate();
        all.extend(
            sampled.map(|(i, array)| (array.name, run, array.components, OfSave::Sampled(i))),
        );
        all
    }

    /// The arrays of releases and ends: of particles, or of the particle instances in re-used slots, with the names of the store.
    fn of_ends(&self) -> &'static [(&'static str, Kind, OfEnd)] {
        match self.store.num_instances() {
            None => &[
                ("release_time", Kind::F64, OfEnd::ReleaseTime),
                ("end_time", Kind::F64, OfEnd::EndTime),
                ("end_status", Kind::Name, OfEnd::Status),
            ],
            Some(_) => &[
                ("instance_slot", Kind::I32, OfEnd::Slot),
                ("instance_generation", Kind::I32, OfEnd::Generation),
                ("instance_release_time", Kind::F64, OfEnd::ReleaseTime),
                ("instance_end_time", Kind::F64, OfEnd::EndTime),
                ("instance_status", Kind::Name, OfEnd::Status),
            ],
        }
    }

    /// The slot, the generation and the end of each particle in the selected slots.
    fn ends(&self) -> impl Iterator<Item = (usize, usize, Final)> {
        self.finals.iter().flat_map(|finals| {
            let of_slot = |&slot: &usize| {
                let ends = finals.of_slot(slot).iter().enumerate();
                ends.map(move |(generation, end)| (slot, generation, *end))
            };
            self.slots.iter().flat_map(of_slot)
        })
    }

    /// Reads the tracks save by save, and passes the bytes of each array to a function, with its index, one part after the other.
    pub fn write(&self, mut write: impl FnMut(usize, &[u8]) -> Result<()>) -> Result<()> {
        for (index, array) in self.all.iter().enumerate() {
            let mut values = array.kind.empty();
            match array.source {
                Source::Time => {
                    self.saves.iter().for_each(|save| values.push_float(self.store.times()[*save]));
                }
                Source::Particle => {
                    self.slots.iter().for_each(|slot| values.push_int(*slot as i32))
                }
                Source::End(of) => self.ends().for_each(|end| push_end(&mut values, of, end)),
                Source::Save(_) => continue,
            }
            write(index, &values.bytes())?;
        }
        for &save in &self.saves {
            for range in parts(self.store.num_particles(), GROUP) {
                self.write_block(save, range, &mut write)?;
            }
        }
        Ok(())
    }

    /// Passes on the values of a range of slots at a save.
    fn write_block(
        &self,
        save: usize,
        range: Range<usize>,
        write: &mut impl FnMut(usize, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let [first, end] =
            [range.start, range.end].map(|slot| self.slots.partition_point(|s| *s < slot));
        if first == end {
            return Ok(());
        }
        let block = SaveBlock::read(self.store, save, range.clone())?;
        let widths: Vec<usize> = self.store.arrays().iter().map(|array| array.components).collect();
        for (index, array) in self.all.iter().enumerate() {
            let Source::Save(of) = array.source else { continue };
            let mut values = array.kind.empty();
            for slot in &self.slots[first..end] {
                let at = slot - range.start;
                let is_selected =
                    self.selection.accepts(&block.states.state(at), self.finals.as_ref());
                push(&mut values, of, (&block, at, is_selected), &widths);
            }
            write(index, &values.bytes())?;
        }
        Ok(())
    }
}

/// Appends the values of a slot of a block: NaN if it is not selected.
fn push(
    values: &mut Values,
    of: OfSave,
    (block, slot, is_selected): (&SaveBlock, usize, bool),
    widths: &[usize],
) {
    let vector = |rows: Option<&[[f64; 3]]>| rows.map_or([f64::NAN; 3], |rows| rows[slot]);
    let mut push_all = |numbers: &[f64]| {
        numbers.iter().for_each(|x| values.push_float(if is_selected { *x } else { f64::NAN }));
    };
    match of {
        OfSave::Position => push_all(&block.states.position[slot]),
        OfSave::Unwrapped => push_all(&vector(block.unwrapped.as_deref())),
        OfSave::Velocity => push_all(&vector(block.velocity.as_deref())),
        OfSave::Sampled(index) => {
            let width = widths[index];
            (0..width).for_each(|i| push_all(&[block.arrays[index].get(width * slot + i)]));
        }
        OfSave::Status => values.push_int(block.states.status[slot].code()),
        OfSave::Generation => values.push_int(block.states.state(slot).generation),
    }
}

/// Appends a value of a particle.
fn push_end(values: &mut Values, of: OfEnd, (slot, generation, end): (usize, usize, Final)) {
    match of {
        OfEnd::Slot => values.push_int(slot as i32),
        OfEnd::Generation => values.push_int(generation as i32),
        OfEnd::ReleaseTime => values.push_float(end.release_time),
        OfEnd::EndTime => values.push_float(end.end_time),
        OfEnd::Status => values.push_int(end.status.code()),
    }
}
