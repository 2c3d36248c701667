//! The values of an array, and their decoding from bytes or text.

use std::collections::TryReserveError;

use crate::scalar::{ByteOrder, Scalar, ScalarType};

/// The values of an array in the type of the file, tuple by tuple.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Signed 8 bit integers.
    I8(Vec<i8>),
    /// Unsigned 8 bit integers, and bits as 0 or 1.
    U8(Vec<u8>),
    /// Signed 16 bit integers.
    I16(Vec<i16>),
    /// Unsigned 16 bit integers.
    U16(Vec<u16>),
    /// Signed 32 bit integers.
    I32(Vec<i32>),
    /// Unsigned 32 bit integers.
    U32(Vec<u32>),
    /// Signed 64 bit integers.
    I64(Vec<i64>),
    /// Unsigned 64 bit integers.
    U64(Vec<u64>),
    /// 32 bit floating point numbers.
    F32(Vec<f32>),
    /// 64 bit floating point numbers.
    F64(Vec<f64>),
}

/// Evaluates `$body` with `$vector` bound to the vector inside, whatever its type.
macro_rules! with_vector {
    ($values:expr, $vector:ident => $body:expr) => {
        match $values {
            Values::I8($vector) => $body,
            Values::U8($vector) => $body,
            Values::I16($vector) => $body,
            Values::U16($vector) => $body,
            Values::I32($vector) => $body,
            Values::U32($vector) => $body,
            Values::I64($vector) => $body,
            Values::U64($vector) => $body,
            Values::F32($vector) => $body,
            Values::F64($vector) => $body,
        }
    };
}

impl Values {
    /// An empty vector of the type that `scalar` decodes to.
    pub(crate) fn empty(scalar: ScalarType) -> Self {
        match scalar {
            ScalarType::I8 => Self::I8(Vec::new()),
            ScalarType::Bit | ScalarType::U8 => Self::U8(Vec::new()),
            ScalarType::I16 => Self::I16(Vec::new()),
            ScalarType::U16 => Self::U16(Vec::new()),
            ScalarType::I32 => Self::I32(Vec::new()),
            ScalarType::U32 => Self::U32(Vec::new()),
            ScalarType::I64 => Self::I64(Vec::new()),
            ScalarType::U64 => Self::U64(Vec::new()),
            ScalarType::F32 => Self::F32(Vec::new()),
            ScalarType::F64 => Self::F64(Vec::new()),
        }
    }

    /// Number of values: tuples times components.
    pub fn len(&self) -> usize {
        with_vector!(self, v => v.len())
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The values as `f32`, rounded to nearest.
    pub fn to_f32(&self) -> Vec<f32> {
        with_vector!(self, v => v.iter().map(|x| x.to_f32()).collect())
    }

    /// The values as `f64`, rounded to nearest.
    pub fn to_f64(&self) -> Vec<f64> {
        with_vector!(self, v => v.iter().map(|x| x.to_f64()).collect())
    }

    /// The values as `f32`, without a copy if they have this type.
    pub fn into_f32(self) -> Vec<f32> {
        match self {
            Self::F32(v) => v,
            other => other.to_f32(),
        }
    }

    /// The values as `f64`, without a copy if they have this type.
    pub fn into_f64(self) -> Vec<f64> {
        match self {
            Self::F64(v) => v,
            other => other.to_f64(),
        }
    }

    /// Reserves memory for `additional` values.
    pub(crate) fn try_reserve(&mut self, additional: usize) -> Result<(), TryReserveError> {
        with_vector!(self, v => v.try_reserve_exact(additional))
    }

    /// Appends zeros up to `len` values.
    pub(crate) fn resize(&mut self, len: usize) {
        with_vector!(self, v => v.resize(len, Default::default()));
    }

    /// Adds an index offset to every value; `None` on overflow or for floating point values.
    pub(crate) fn offset_by(&mut self, by: i64) -> Option<()> {
        with_vector!(self, v => v.iter_mut().try_for_each(|x| {
            *x = x.offset_by(by)?;
            Some(())
        }))
    }

    /// Converts the values to indices and appends the results of `convert`. The error is the
    /// position and the value of the first one that is not an index or that `convert` rejects.
    pub(crate) fn append_indices<T>(
        &self,
        out: &mut Vec<T>,
        convert: impl Fn(usize) -> Option<T>,
    ) -> Result<(), (usize, String)> {
        with_vector!(self, v => for (position, value) in v.iter().enumerate() {
            let index = value.to_index().and_then(&convert);
            out.push(index.ok_or_else(|| (position, value.to_string()))?);
        });
        Ok(())
    }

    /// Copies `count` values from the index `from` of `other` to the index `to`. Copies nothing and
    /// gives `None` if the types differ or a range is out of bounds.
    pub(crate) fn copy_run(
        &mut self,
        to: usize,
        other: &Self,
        from: usize,
        count: usize,
    ) -> Option<()> {
        fn copy<T: Copy>(
            to: &mut [T],
            start: usize,
            from: &[T],
            first: usize,
            count: usize,
        ) -> Option<()> {
            let run = from.get(first..first.checked_add(count)?)?;
            to.get_mut(start..start.checked_add(count)?)?.copy_from_slice(run);
            Some(())
        }
        match (self, other) {
            (Self::I8(a), Self::I8(b)) => copy(a, to, b, from, count),
            (Self::U8(a), Self::U8(b)) => copy(a, to, b, from, count),
            (Self::I16(a), Self::I16(b)) => copy(a, to, b, from, count),
            (Self::U16(a), Self::U16(b)) => copy(a, to, b, from, count),
            (Self::I32(a), Self::I32(b)) => copy(a, to, b, from, count),
            (Self::U32(a), Self::U32(b)) => copy(a, to, b, from, count),
            (Self::I64(a), Self::I64(b)) => copy(a, to, b, from, count),
            (Self::U64(a), Self::U64(b)) => copy(a, to, b, from, count),
            (Self::F32(a), Self::F32(b)) => copy(a, to, b, from, count),
            (Self::F64(a), Self::F64(b)) => copy(a, to, b, from, count),
            _ => None,
        }
    }

    /// The value at an index, rounded to the nearest `f64`.
    pub(crate) fn get(&self, index: usize) -> Option<f64> {
        with_vector!(self, v => v.get(index).map(|x| x.to_f64()))
    }

    /// The largest absolute value, without those that are not finite.
    pub(crate) fn magnitude(&self) -> f64 {
        let larger = |max: f64, x: f64| if x.is_finite() { max.max(x.abs()) } else { max };
        with_vector!(self, v => v.iter().fold(0.0, |max, x| larger(max, x.to_f64())))
    }

    fn extend_from_bytes(&mut self, bytes: &[u8], order: ByteOrder) {
        with_vector!(self, v => Scalar::extend(v, bytes, order));
    }

    fn push_text(&mut self, text: &str) -> Option<()> {
        with_vector!(self, v => v.push(Scalar::parse(text)?));
        Some(())
    }
}

/// Incremental decoder of bytes or text to the `count` values of an array.
#[derive(Debug)]
pub(crate) struct Decoder {
    scalar: ScalarType,
    order: ByteOrder,
    count: usize,
    values: Values,
    /// The first bytes of a value that is not complete yet.
    incomplete: Vec<u8>,
}

impl Decoder {
    /// Reserves memory for `count` values. The caller must have validated `count` against the file.
    pub(crate) fn new(
        scalar: ScalarType,
        order: ByteOrder,
        count: usize,
    ) -> Result<Self, TryReserveError> {
        let mut values = Values::empty(scalar);
        values.try_reserve(count)?;
        Ok(Self { scalar, order, count, values, incomplete: Vec::new() })
    }

    /// Decodes the next bytes of a binary array; a value may be split across two calls.
    pub(crate) fn push_bytes(&mut self, mut bytes: &[u8]) {
        if self.scalar == ScalarType::Bit {
            return self.push_bits(bytes);
        }
        let size = self.scalar.size();
        if !self.incomplete.is_empty() {
            let missing = size - self.incomplete.len();
            let (first, rest) = bytes.split_at(bytes.len().min(missing));
            self.incomplete.extend_from_slice(first);
            if self.incomplete.len() < size {
                return;
            }
            self.values.extend_from_bytes(&self.incomplete, self.order);
            self.incomplete.clear();
            bytes = rest;
        }
        let (complete, rest) = bytes.split_at(bytes.len() - bytes.len() % size);
        self.values.extend_from_bytes(complete, self.order);
        self.incomplete.extend_from_slice(rest);
    }

    fn push_bits(&mut self, bytes: &[u8]) {
        if let Values::U8(out) = &mut self.values {
            let bits = bytes.iter().flat_map(|byte| (0..8).map(move |bit| (byte >> (7 - bit)) & 1));
            out.extend(bits.take(self.count.saturating_sub(out.len())));
        }
    }

    /// Parses the next word of an ASCII array; `None` if it is not a value of the type.
    pub(crate) fn push_text(&mut self, text: &str) -> Option<()> {
        self.values.push_text(text)
    }

    /// Number of values decoded so far.
    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    pub(crate) fn finish(self) -> Values {
        self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_split_across_chunks_is_decoded() {
        let bytes: Vec<u8> = [1_i32, -2, 3].iter().flat_map(|x| x.to_be_bytes()).collect();
        for size in 1..=bytes.len() {
            let mut decoder = Decoder::new(ScalarType::I32, ByteOrder::Big, 3).unwrap();
            bytes.chunks(size).for_each(|chunk| decoder.push_bytes(chunk));
            assert_eq!(decoder.finish(), Values::I32(vec![1, -2, 3]), "chunks of {size}");
        }
    }

    #[test]
    fn bits_are_decoded_from_the_highest() {
        let mut decoder = Decoder::new(ScalarType::Bit, ByteOrder::Big, 10).unwrap();
        decoder.push_bytes(&[0b1010_0000, 0b0111_1111]);
        assert_eq!(decoder.finish(), Values::U8(vec![1, 0, 1, 0, 0, 0, 0, 0, 0, 1]));
    }

    #[test]
    fn copy_out_of_bounds_is_refused() {
        let mut to = Values::U8(vec![0; 4]);
        assert_eq!(to.copy_run(3, &Values::U8(vec![1, 2]), 0, 2), None);
        assert_eq!(to.copy_run(0, &Values::I8(vec![1, 2]), 0, 2), None);
        assert_eq!(to.copy_run(1, &Values::U8(vec![1, 2]), 0, 2), Some(()));
        assert_eq!(to, Values::U8(vec![0, 1, 2, 0]));
    }
}
