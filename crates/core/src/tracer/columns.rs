//! The tensors of a save, from particles in host memory.
//!
//! Tensor operations would keep the memory of all particles alive, and take much longer than these copies.

use super::{
    arrays::Values,
    origin_shift::OriginShift,
    rows::{Rows, taken, taken_rows},
};
use crate::{Floats, Result};
use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burntrace_kernels::{POSITION, RECORD, Record};
use std::ops::{Add, Sub};

/// Tensors of a save, in the order of slots; see [`Save`](crate::Save).
pub(super) struct Columns {
    pub position: Tensor<2>,
    pub rest: Option<Tensor<2>>,
    pub status: Tensor<1, Int>,
    pub image: Tensor<2, Int>,
    pub generation: Option<Tensor<1, Int>>,
}

/// The rows of particles in the order of slots, and the device of the tensors.
pub(super) struct Order<'a> {
    /// Nothing if the particles are in that order.
    pub rows: Option<&'a [u32]>,
    pub device: &'a Device,
}

impl Columns {
    /// The columns of particles, with `no_images` if it is given, and without generations unless they are wanted.
    pub fn of(
        particles: &Rows,
        order: &Order,
        (no_images, has_generation): (Option<Tensor<2, Int>>, bool),
        shift: &OriginShift,
    ) -> Self {
        let (count, device) = (particles.count(), order.device);
        let rows = order.rows(count);
        let (position, rest) = match particles.positions().as_ref() {
            Floats::F32(table) => {
                let origin = shift.origin.map(|x| x as f32);
                let (position, rest) = positions(table, &rows, origin, shift);
                (Floats::F32(position), rest.map(Floats::F32))
            }
            Floats::F64(table) => {
                let (position, rest) = positions(table, &rows, shift.origin, shift);
                (Floats::F64(position), rest.map(Floats::F64))
            }
        };
        let column = |part: fn(&Record) -> i32| {
            let column = |row: &[i32; RECORD]| [part(&Record::from_numbers(row)[0])];
            ints(taken(&particles.record, &rows, column), [count], device)
        };
        let image = |row: &[i32; RECORD]| Record::from_numbers(row)[0].image;
        Columns {
            position: position.into_tensor([count, 3], device),
            rest: rest.map(|rest| rest.into_tensor([count, 3], device)),
            status: column(|record| record.status),
            image: no_images.unwrap_or_else(|| {
                ints(taken(&particles.record, &rows, image), [count, 3], device)
            }),
            generation: has_generation.then(|| column(|record| record.generation)),
        }
    }
}

impl Order<'_> {
    fn rows(&self, count: usize) -> std::borrow::Cow<'_, [u32]> {
        match self.rows {
            Some(rows) => rows.into(),
            None => (0..count as u32).collect(),
        }
    }

    /// Values that were sampled at the rows of particles, in the order of slots.
    pub fn values(&self, Values { velocity, arrays }: Values) -> Result<Values> {
        let in_order = |values: Tensor<2>| -> Result<Tensor<2>> {
            let Some(rows) = self.rows else { return Ok(values) };
            let dims = values.dims();
            let values = taken_rows(&Floats::from_tensor(values)?, dims[1], rows);
            Ok(values.into_tensor(dims, self.device))
        };
        Ok(Values {
            velocity: velocity.map(in_order).transpose()?,
            arrays: arrays.map(in_order).transpose()?,
        })
    }
}

fn ints<const D: usize>(numbers: Vec<i32>, shape: [usize; D], device: &Device) -> Tensor<D, Int> {
    Tensor::from_data(TensorData::new(numbers, shape), (device, DType::I32))
}

/// Positions in the data's coordinates, and their rests if they need them: as
/// [`OriginShift::apply`] gives them.
fn positions<F>(
    table: &[F],
    rows: &[u32],
    origin: [F; 3],
    shift: &OriginShift,
) -> (Vec<F>, Option<Vec<F>>)
where
    F: Copy + Default + Send + Sync + Add<Output = F> + Sub<Output = F>,
{
    if shift.origin == [0.0; 3] {
        return (taken(table, rows, |[x, y, z, ..]: &[F; POSITION]| [*x, *y, *z]), None);
    }
    let moved = |p: &[F; POSITION]| [0, 1, 2].map(|d| p[d] + origin[d]);
    let rest = |p: &[F; POSITION]| {
        let moved = moved(p);
        [0, 1, 2].map(|d| p[d] - (moved[d] - origin[d]) + p[3 + d])
    };
    (taken(table, rows, moved), shift.has_rest.then(|| taken(table, rows, rest)))
}
