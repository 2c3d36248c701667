//! Numbers in files, always in little-endian order.

use std::borrow::Cow;
use std::io::{Error, ErrorKind, Read, Result};

/// A type of numbers that stores and checkpoints keep.
pub trait Number: bytemuck::Pod + private::Sealed {
    /// Its name, that of Zarr and NumPy: `float32`.
    const NAME: &'static str;
    /// The number that stands where there is none: NaN, or 0 for integers.
    const FILL: Self;

    /// The number with its bytes in little-endian order, or back.
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

/// The bytes of numbers as files have them; most machines have them so in memory.
pub(crate) fn bytes_of<T: Number>(numbers: &[T]) -> Cow<'_, [u8]> {
    match cfg!(target_endian = "little") {
        true => Cow::Borrowed(bytemuck::cast_slice(numbers)),
        false => {
            let turned: Vec<T> = numbers.iter().map(|number| number.little_endian()).collect();
            Cow::Owned(bytemuck::cast_slice(&turned).to_vec())
        }
    }
}

/// Reads so many numbers and adds them to others.
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
    fn numbers_come_back_with_all_their_bits() {
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
