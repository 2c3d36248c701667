//! Floating-point arrays on the host.

use crate::{Error, Precision, Result};
use burn::tensor::{DType, Device, Tensor, TensorData};
use rayon::prelude::*;
use std::ops::Range;

/// Number of rows that a thread copies at a time.
pub(crate) const BLOCK: usize = 4096;

/// Copies a row. One of a width that particles and their values have is moved with a length that is known: a call would take
/// longer.
#[inline(always)]
pub(crate) fn copy_row<T: Copy>(to: &mut [T], from: &[T]) {
    #[inline(always)]
    fn moved<T: Copy, const N: usize>(to: &mut [T], from: &[T]) {
        if let (Some(to), Some(from)) = (to.first_chunk_mut::<N>(), from.first_chunk()) {
            *to = *from;
        }
    }
    match to.len() {
        1 => moved::<T, 1>(to, from),
        2 => moved::<T, 2>(to, from),
        3 => moved::<T, 3>(to, from),
        4 => moved::<T, 4>(to, from),
        6 => moved::<T, 6>(to, from),
        9 => moved::<T, 9>(to, from),
        _ => to.copy_from_slice(from),
    }
}

/// A floating-point array on the host, in single or double precision.
///
/// Sources of frames give arrays in the precision of their files, and a field converts them to its
/// own precision.
#[derive(Clone, Debug, PartialEq)]
pub enum Floats {
    /// Single precision.
    F32(Vec<f32>),
    /// Double precision.
    F64(Vec<f64>),
}

/// Runs an expression on the vector of either precision.
macro_rules! with_numbers {
    ($floats:expr, $numbers:ident => $body:expr) => {
        match $floats {
            $crate::Floats::F32($numbers) => $body,
            $crate::Floats::F64($numbers) => $body,
        }
    };
}

impl Floats {
    /// An empty array with room for `count` numbers.
    pub fn with_capacity(precision: Precision, count: usize) -> Self {
        match precision {
            Precision::F32 => Floats::F32(Vec::with_capacity(count)),
            Precision::F64 => Floats::F64(Vec::with_capacity(count)),
        }
    }

    /// An array of `count` zeros.
    pub fn zeros(precision: Precision, count: usize) -> Self {
        match precision {
            Precision::F32 => Floats::F32(vec![0.0; count]),
            Precision::F64 => Floats::F64(vec![0.0; count]),
        }
    }

    /// Rounds numbers to a precision.
    pub fn from_f64(precision: Precision, numbers: impl Iterator<Item = f64>) -> Self {
        match precision {
            Precision::F32 => Floats::F32(numbers.map(|x| x as f32).collect()),
            Precision::F64 => Floats::F64(numbers.collect()),
        }
    }

    /// The rows of a table by a function of row and column, which threads call at the same time.
    pub(crate) fn filled(
        precision: Precision,
        (rows, width): (usize, usize),
        number: impl Fn(usize, usize) -> f64 + Sync,
    ) -> Self {
        fn fill<T: Send>(table: &mut [T], width: usize, number: impl Fn(usize, usize) -> T + Sync) {
            table.par_chunks_mut(width).enumerate().for_each(|(row, numbers)| {
                for (column, place) in numbers.iter_mut().enumerate() {
                    *place = number(row, column);
                }
            });
        }
        let mut table = Floats::zeros(precision, rows * width);
        match &mut table {
            Floats::F32(table) => fill(table, width, |row, column| number(row, column) as f32),
            Floats::F64(table) => fill(table, width, &number),
        }
        table
    }

    /// The numbers of a tensor, without a copy if the tensor has no other owner.
    pub(crate) fn from_tensor<const D: usize>(tensor: Tensor<D>) -> Result<Self> {
        let failed = |error: &dyn std::fmt::Debug| Error::Execution(format!("{error:?}"));
        let data = tensor.try_into_data().map_err(|error| failed(&error))?;
        Ok(match data.dtype() {
            DType::F64 => Floats::F64(data.try_into_vec().map_err(|error| failed(&error))?),
            _ => {
                let data = data.convert::<f32>();
                Floats::F32(data.try_into_vec().map_err(|error| failed(&error))?)
            }
        })
    }

    /// The precision of the numbers.
    pub fn precision(&self) -> Precision {
        match self {
            Floats::F32(_) => Precision::F32,
            Floats::F64(_) => Precision::F64,
        }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        with_numbers!(self, numbers => numbers.len())
    }

    /// Whether the array is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements as bytes in the machine's byte order.
    pub fn bytes(&self) -> &[u8] {
        with_numbers!(self, numbers => bytemuck::cast_slice(numbers))
    }

    /// Element `i`.
    ///
    /// # Panics
    ///
    /// Beyond the end of the array.
    pub fn get(&self, i: usize) -> f64 {
        match self {
            Floats::F32(numbers) => f64::from(numbers[i]),
            Floats::F64(numbers) => numbers[i],
        }
    }

    /// Vector `i` of an array of three-component vectors: elements `3 * i` to `3 * i + 2`.
    ///
    /// # Panics
    ///
    /// Beyond the end of the array.
    pub fn vector(&self, i: usize) -> [f64; 3] {
        [0, 1, 2].map(|d| self.get(3 * i + d))
    }

    /// Sets element `i`, rounded to the precision.
    pub(crate) fn set(&mut self, i: usize, number: f64) {
        match self {
            Floats::F32(numbers) => numbers[i] = number as f32,
            Floats::F64(numbers) => numbers[i] = number,
        }
    }

    /// Overwrites `count` columns of a table from column `at` on with those of another table with the
    /// same rows and precision. The second number of each pair is the width of its table.
    pub(crate) fn put_columns(
        &mut self,
        (at, width): (usize, usize),
        from: &Floats,
        (first, from_width): (usize, usize),
        count: usize,
    ) {
        fn copy<T: Copy + Send + Sync>(
            to: &mut [T],
            from: &[T],
            [to_width, from_width]: [usize; 2],
            [at, first]: [usize; 2],
            n: usize,
        ) {
            let blocks = to.par_chunks_mut(to_width * BLOCK);
            blocks.zip(from.par_chunks(from_width * BLOCK)).for_each(|(to, from)| {
                let rows = to.chunks_exact_mut(to_width).zip(from.chunks_exact(from_width));
                rows.for_each(|(to, from)| copy_row(&mut to[at..][..n], &from[first..][..n]));
            });
        }
        let (widths, starts) = ([width, from_width], [at, first]);
        match (self, from) {
            (Floats::F32(to), Floats::F32(from)) => copy(to, from, widths, starts, count),
            (Floats::F64(to), Floats::F64(from)) => copy(to, from, widths, starts, count),
            _ => unreachable!("a run has one precision"),
        }
    }

    /// Appends an array of the same precision.
    pub(crate) fn append(&mut self, more: Floats) {
        match (self, more) {
            (Floats::F32(all), Floats::F32(more)) => all.extend(more),
            (Floats::F64(all), Floats::F64(more)) => all.extend(more),
            _ => unreachable!("a run has one precision"),
        }
    }

    /// Sets vector `i` of an array of three-component vectors, rounded to the precision.
    ///
    /// # Panics
    ///
    /// Beyond the end of the array.
    pub fn set_vector(&mut self, i: usize, vector: [f64; 3]) {
        let range = 3 * i..3 * i + 3;
        match self {
            Floats::F32(numbers) => numbers[range].copy_from_slice(&vector.map(|x| x as f32)),
            Floats::F64(numbers) => numbers[range].copy_from_slice(&vector),
        }
    }

    /// A copy of a range of elements.
    ///
    /// # Panics
    ///
    /// Beyond the end of the array.
    pub fn slice(&self, range: Range<usize>) -> Self {
        match self {
            Floats::F32(numbers) => Floats::F32(numbers[range].to_vec()),
            Floats::F64(numbers) => Floats::F64(numbers[range].to_vec()),
        }
    }

    /// Whether a range has the elements of another one, where NaN equals NaN.
    pub(crate) fn agrees(
        &self,
        range: Range<usize>,
        (other, others): (&Floats, Range<usize>),
    ) -> bool {
        let is_same = |a: f64, b: f64| a == b || a.is_nan() && b.is_nan();
        range.len() == others.len()
            && range.zip(others).all(|(i, j)| is_same(self.get(i), other.get(j)))
    }

    /// Overwrites the elements from `at` on with an array of the same precision.
    pub(crate) fn put(&mut self, at: usize, numbers: &Floats) {
        match (self, numbers) {
            (Floats::F32(all), Floats::F32(part)) => {
                all[at..at + part.len()].copy_from_slice(part);
            }
            (Floats::F64(all), Floats::F64(part)) => {
                all[at..at + part.len()].copy_from_slice(part);
            }
            _ => unreachable!("a run has one precision"),
        }
    }

    /// Moves a range of elements to index `to` and resizes the array to `count` elements; new ones
    /// are 0.
    pub(crate) fn shift(&mut self, from: Range<usize>, to: usize, count: usize) {
        with_numbers!(self, numbers => {
            numbers.reserve_exact(count.saturating_sub(numbers.len()));
            numbers.resize(count.max(numbers.len()), Default::default());
            numbers.copy_within(from, to);
            numbers.truncate(count);
        });
    }

    pub(crate) fn into_tensor<const D: usize>(
        self,
        shape: [usize; D],
        device: &Device,
    ) -> Tensor<D> {
        let (data, dtype) = match self {
            Floats::F32(numbers) => (TensorData::new(numbers, shape), DType::F32),
            Floats::F64(numbers) => (TensorData::new(numbers, shape), DType::F64),
        };
        Tensor::from_data(data, (device, dtype))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shift_moves_a_range_and_resizes() {
        let mut floats = Floats::from_f64(Precision::F64, (0..6).map(f64::from));
        floats.shift(2..6, 0, 7);
        assert_eq!(floats, Floats::F64(vec![2.0, 3.0, 4.0, 5.0, 4.0, 5.0, 0.0]));
        floats.shift(0..3, 1, 4);
        assert_eq!(floats, Floats::F64(vec![2.0, 2.0, 3.0, 4.0]));
        floats.put(2, &Floats::F64(vec![9.0, 8.0]));
        assert_eq!(floats.slice(1..4), Floats::F64(vec![2.0, 9.0, 8.0]));
    }

    #[test]
    fn nan_agrees_with_nan() {
        let floats = Floats::F32(vec![1.0, f32::NAN, 2.0, 1.0, f32::NAN, 3.0]);
        assert!(floats.agrees(0..2, (&floats, 3..5)));
        assert!(!floats.agrees(0..3, (&floats, 3..6)));
        assert!(!floats.agrees(0..2, (&floats, 3..6)));
    }

    #[test]
    fn vectors_are_three_elements() {
        let mut floats = Floats::zeros(Precision::F32, 6);
        floats.set_vector(1, [0.1, 2.0, 3.0]);
        assert_eq!(floats, Floats::F32(vec![0.0, 0.0, 0.0, 0.1, 2.0, 3.0]));
        assert_eq!(floats.vector(1), [f64::from(0.1_f32), 2.0, 3.0]);
    }
}
