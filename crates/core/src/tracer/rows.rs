//! Particles on the host.

use crate::{
    Error, Result,
    floats::{BLOCK, Floats, copy_row},
};
use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burntrace_kernels::{POSITION, Particles, RECORD, Record, TANGENTS, ranks, spatial_order};
use rayon::prelude::*;
use std::{borrow::Cow, ops::Range, sync::Arc};

/// Particles on the host, one after another.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rows {
    /// [`POSITION`] numbers for each particle, and its velocity if it has inertia; empty if positions are not needed.
    pub position: Floats,
    /// [`RECORD`] numbers for each particle.
    pub record: Vec<i32>,
    /// One number for each particle.
    pub fraction: Floats,
    /// The gradient of the flow map, [`TANGENTS`] numbers for each particle, if it is wanted.
    pub tangents: Option<Floats>,
    /// What has added up along the track of each particle, if anything does.
    pub tallies: Option<Floats>,
    /// See [`Particles::slots`].
    pub slots: Option<Arc<[u32]>>,
}

impl Rows {
    /// Reads particles back; tensors with one owner are not copied.
    pub fn read(particles: Particles, with_positions: bool) -> Result<Self> {
        let record = particles.record.try_into_data().map_err(failed)?.convert::<i32>();
        Ok(Rows {
            position: match with_positions {
                true => Floats::from_tensor(particles.position)?,
                false => Floats::F32(Vec::new()),
            },
            record: record.try_into_vec::<i32>().map_err(failed)?,
            fraction: Floats::from_tensor(particles.fraction)?,
            tangents: particles.tangents.map(Floats::from_tensor).transpose()?,
            tallies: particles.tallies.map(Floats::from_tensor).transpose()?,
            slots: particles.slots,
        })
    }

    pub fn count(&self) -> usize {
        self.fraction.len()
    }

    /// Numbers of `position` for each particle.
    fn width(&self) -> usize {
        self.per_row(&self.position)
    }

    /// Numbers of a table for each particle.
    fn per_row(&self, table: &Floats) -> usize {
        table.len() / self.count().max(1)
    }

    /// The coordinates of a particle without their rests, measured from the origin of the run.
    pub fn coordinates(&self, particle: usize) -> [f64; 3] {
        let at = self.width() * particle;
        [at, at + 1, at + 2].map(|i| self.position.get(i))
    }

    /// Moves a particle.
    pub fn set_position(&mut self, particle: usize, to: [f64; 3]) {
        let at = self.width() * particle;
        for (k, number) in self.position.precision().split(to).into_iter().enumerate() {
            self.position.set(at + k, number);
        }
    }

    /// Replaces the record of a particle.
    pub fn set_record(&mut self, particle: usize, record: &Record) {
        let numbers = Record::as_numbers(std::slice::from_ref(record));
        self.record[RECORD * particle..][..RECORD].copy_from_slice(numbers);
    }

    /// [`POSITION`] numbers for each particle.
    pub fn positions(&self) -> Cow<'_, Floats> {
        let (count, width) = (self.count(), self.width());
        if width <= POSITION {
            return Cow::Borrowed(&self.position);
        }
        let mut narrow = Floats::zeros(self.position.precision(), POSITION * count);
        narrow.put_columns((0, POSITION), &self.position, (0, width), POSITION);
        Cow::Owned(narrow)
    }

    /// The position of a particle, measured from the origin of the run.
    pub fn position(&self, particle: usize) -> [f64; 3] {
        let at = self.width() * particle;
        [at, at + 1, at + 2].map(|i| self.position.get(i) + self.position.get(i + 3))
    }

    /// The rows in spatial order, so that particles that a thread advances one after another read the same part of
    /// the field; the same rows if there are too few for this to matter.
    ///
    /// Tangents stay in the order of slots, so there must be none.
    pub fn in_spatial_order(self) -> Self {
        let records = Record::from_numbers(&self.record);
        let order = match self.positions().as_ref() {
            Floats::F32(numbers) => spatial_order(numbers.as_chunks().0, records),
            Floats::F64(numbers) => spatial_order(numbers.as_chunks().0, records),
        };
        let Some(order) = order else { return self };
        let slots = match &self.slots {
            None => order.clone(),
            Some(slots) => order.par_iter().map(|row| slots[*row as usize]).collect(),
        };
        Rows { slots: Some(slots.into()), ..self.taken(&order) }
    }

    /// The rows in the order of slots.
    pub fn in_slot_order(self) -> Self {
        match self.ranks() {
            None => self,
            Some(rows) => self.taken(&rows),
        }
    }

    /// The row of each slot, if they are not in their order.
    pub fn ranks(&self) -> Option<Vec<u32>> {
        self.slots.as_deref().map(|slots| ranks(slots, slots.len()))
    }

    /// The rows of these numbers.
    pub fn taken(&self, rows: &[u32]) -> Self {
        debug_assert!(self.tangents.is_none());
        Rows {
            position: taken_rows(&self.position, self.width(), rows),
            record: taken_slices(&self.record, RECORD, rows),
            fraction: taken_rows(&self.fraction, 1, rows),
            tangents: None,
            tallies: self.tallies.as_ref().map(|all| taken_rows(all, self.per_row(all), rows)),
            slots: None,
        }
    }

    /// Number of active particles.
    pub fn active(&self) -> u64 {
        let active = |record: &&Record| record.status == crate::Status::Active.code();
        Record::from_numbers(&self.record).par_iter().filter(active).count() as u64
    }

    /// A copy of some rows.
    pub fn batch(&self, rows: Range<usize>) -> Self {
        let width = self.width();
        Rows {
            position: self.position.slice(width * rows.start..width * rows.end),
            record: self.record[RECORD * rows.start..RECORD * rows.end].to_vec(),
            fraction: self.fraction.slice(rows.clone()),
            tangents: self
                .tangents
                .as_ref()
                .map(|all| all.slice(TANGENTS * rows.start..TANGENTS * rows.end)),
            tallies: self.tallies.as_ref().map(|all| {
                let width = self.per_row(all);
                all.slice(width * rows.start..width * rows.end)
            }),
            slots: None,
        }
    }

    /// Overwrites the rows from `first` on.
    pub fn put(&mut self, first: usize, batch: &Rows) {
        self.position.put(self.width() * first, &batch.position);
        self.record[RECORD * first..][..batch.record.len()].copy_from_slice(&batch.record);
        self.fraction.put(first, &batch.fraction);
        if let (Some(all), Some(batch)) = (&mut self.tangents, &batch.tangents) {
            all.put(TANGENTS * first, batch);
        }
        let width = self.tallies.as_ref().map_or(0, |all| self.per_row(all));
        if let (Some(all), Some(batch)) = (&mut self.tallies, &batch.tallies) {
            all.put(width * first, batch);
        }
    }

    /// Uploads the rows to a device.
    pub fn into_particles(self, device: &Device) -> Particles {
        let (count, width) = (self.count(), self.width());
        let record = TensorData::new(self.record, [count, RECORD]);
        Particles {
            position: self.position.into_tensor([count, width], device),
            record: Tensor::from_data(record, (device, DType::I32)),
            fraction: self.fraction.into_tensor([count], device),
            tangents: self.tangents.map(|rows| rows.into_tensor([count, TANGENTS], device)),
            tallies: self.tallies.map(|rows| {
                let width = rows.len() / count.max(1);
                rows.into_tensor([count, width], device)
            }),
            slots: self.slots,
        }
    }
}

/// Part of each of the given rows of a table with `N` columns.
pub(super) fn taken<T: Copy + Default + Send + Sync, const N: usize, const M: usize>(
    table: &[T],
    rows: &[u32],
    part: impl Fn(&[T; N]) -> [T; M] + Sync,
) -> Vec<T> {
    let table = table.as_chunks::<N>().0;
    let mut parts = vec![T::default(); M * rows.len()];
    let blocks = parts.par_chunks_mut(M * BLOCK).zip(rows.par_chunks(BLOCK));
    blocks.for_each(|(parts, rows)| {
        for (to, row) in parts.as_chunks_mut::<M>().0.iter_mut().zip(rows) {
            *to = part(&table[*row as usize]);
        }
    });
    parts
}

/// The given rows of a table of a width.
pub(super) fn taken_rows(table: &Floats, width: usize, rows: &[u32]) -> Floats {
    match table {
        Floats::F32(table) => Floats::F32(taken_slices(table, width, rows)),
        Floats::F64(table) => Floats::F64(taken_slices(table, width, rows)),
    }
}

fn taken_slices<T>(table: &[T], width: usize, rows: &[u32]) -> Vec<T>
where
    T: Copy + Default + Send + Sync,
{
    let mut all = vec![T::default(); width * rows.len()];
    let blocks = all.par_chunks_mut(width * BLOCK).zip(rows.par_chunks(BLOCK));
    blocks.for_each(|(all, rows)| {
        for (to, row) in all.chunks_exact_mut(width).zip(rows) {
            copy_row(to, &table[width * *row as usize..][..width]);
        }
    });
    all
}

/// Integers of a tensor on the host.
pub(super) fn ints(numbers: &Tensor<2, Int>) -> Result<Vec<i32>> {
    let data = numbers.clone().try_into_data().map_err(failed)?;
    data.convert::<i32>().try_into_vec::<i32>().map_err(failed)
}

/// Numbers of a tensor on the host.
pub(super) fn floats<const D: usize>(numbers: &Tensor<D>) -> Result<Vec<f64>> {
    let data = numbers.clone().try_into_data().map_err(failed)?;
    data.convert::<f64>().try_into_vec::<f64>().map_err(failed)
}

/// Positions `[n, 3]` on the host.
pub(super) fn on_host(position: &Tensor<2>) -> Result<Vec<[f64; 3]>> {
    Ok(floats(&position.clone().detach())?.as_chunks().0.to_vec())
}

fn failed(error: impl std::fmt::Debug) -> Error {
    Error::Execution(format!("{error:?}"))
}
