//! Numbers in files, in little-endian byte order.

use std::borrow::Cow;
use std::io::{Error, ErrorKind, Read, Result};

/// A number type that track stores and checkpoints can hold.
pub trait Number: bytemuck::Pod + private::Sealed {
    /// The name of the type in Zarr and NumPy: `float32`.
    const NAME: &'static str;
    /// The fill value of missing items: NaN, or 0 for integers.
    const FILL: Self;

    /// Converts between native and little-endian byte order.
    #[doc(hidden)]
    fn little_endian(self) -> Self;
}

mod private {
    pub trait Sealed {}
}

macro_rules! implement_number {
    ($($type:ty: $name:literal, $fill:expr;)*) => {$(
        impl private::Sealed for $type {}

        impl Number for $type {
            const NAME: &'static str = $name;
            const FILL: Self = $fill;

            fn little_endian(self) -> Self {
                <$type>::from_ne_bytes(self.to_le_bytes())
            }
        }
    )*};
}

implement_number! {
    f32: "float32", f32::NAN;
    f64: "float64", f64::NAN;
    i32: "int32", 0;
    i64: "int64", 0;
    u8: "uint8", 0;
    u32: "uint32", 0;
    u64: "uint64", 0;
}

/// The little-endian bytes of numbers; borrowed on little-endian machines.
pub(crate) fn bytes_of<T: Number>(numbers: &[T]) -> Cow<'_, [u8]> {
    match cfg!(target_endian = "little") {
        true => Cow::Borrowed(bytemuck::cast_slice(numbers)),
        false => {
            let swapped: Vec<T> = numbers.iter().map(|number| number.little_endian()).collect();
            Cow::Owned(bytemuck::cast_slice(&swapped).to_vec())
        }
    }
}

/// Reads `count` numbers and appends them to `numbers`.
pub(crate) fn read_into<T: Number>(
    file: &mut impl Read,
    count: usize,
    numbers: &mut Vec<T>,
) -> Result<()> {
    let start = numbers.len();
    let end = start.checked_add(count).ok_or(ErrorKind::OutOfMemory)?;
    numbers.try_reserve(count).map_err(|e| Error::new(ErrorKind::OutOfMemory, e))?;
    numbers.resize(end, T::FILL);
    file.read_exact(bytemuck::cast_slice_mut(&mut numbers[start..]))?;
    if cfg!(target_endian = "big") {
        numbers[start..].iter_mut().for_each(|number| *number = number.little_endian());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_and_read_bit_by_bit() {
        let numbers = [1.5_f64, f64::from_bits(0x7ff8_0000_0000_0123), -0.0];
        let bytes = bytes_of(&numbers);
        assert_eq!(bytes[..8], 1.5_f64.to_le_bytes());
        let mut back = vec![7.0_f64];
        read_into(&mut bytes.as_ref(), 3, &mut back).unwrap();
        assert_eq!(back[0], 7.0);
        assert_eq!(
            back[1..].iter().map(|x| x.to_bits()).collect::<Vec<_>>(),
            numbers.map(f64::to_bits)
        );
        assert!(read_into(&mut [0_u8; 7].as_slice(), 1, &mut back).is_err());
        assert!(read_into::<u64>(&mut [0_u8; 7].as_slice(), usize::MAX, &mut vec![1]).is_err());
    }
}
