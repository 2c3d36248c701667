//! The compressors BloscLZ and Snappy of Blosc: literal bytes, and copies of bytes before them.

use super::compressors::Reason;

/// Distances above this one have two more bytes in BloscLZ.
const MAX_NEAR: usize = 8191;

/// Bytes that are being decoded, at most `size`.
struct Output {
    bytes: Vec<u8>,
    size: usize,
}

impl Output {
    fn new(size: usize) -> Result<Self, Reason> {
        let mut bytes = Vec::new();
        let reserved = bytes.try_reserve_exact(size);
        reserved.map_err(|_| format!("{size} bytes do not fit into memory"))?;
        Ok(Output { bytes, size })
    }

    fn literal(&mut self, bytes: &[u8]) -> Option<()> {
        (bytes.len() <= self.size - self.bytes.len()).then(|| self.bytes.extend(bytes))
    }

    /// Repeats bytes from a distance before the end; they may overlap the copy.
    fn copy(&mut self, distance: usize, count: usize) -> Option<()> {
        let start = self.bytes.len().checked_sub(distance).filter(|_| distance > 0)?;
        if count > self.size - self.bytes.len() {
            return None;
        }
        if distance >= count {
            self.bytes.extend_from_within(start..start + count);
        } else {
            (start..start + count).for_each(|from| self.bytes.push(self.bytes[from]));
        }
        Some(())
    }

    fn finish(self, is_read: Option<()>, name: &str) -> Result<Vec<u8>, Reason> {
        let damaged = || format!("its bytes of {name} are cut off or damaged");
        is_read.ok_or_else(damaged).map(|()| self.bytes)
    }
}

/// The compressed bytes that are left.
struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn byte(&mut self) -> Option<usize> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(usize::from(*first))
    }

    fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// A number of `count` bytes, the lowest first.
    fn number(&mut self, count: usize) -> Option<usize> {
        let bytes = self.bytes(count)?;
        Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte)))
    }
}

/// Decodes BloscLZ (`blosclz.c` of c-blosc 1.21) to at most `size` bytes.
pub(super) fn blosclz(bytes: &[u8], size: usize) -> Result<Vec<u8>, Reason> {
    let mut output = Output::new(size)?;
    let is_read = read_blosclz(Input(bytes), &mut output);
    output.finish(is_read, "BloscLZ")
}

fn read_blosclz(mut input: Input<'_>, output: &mut Output) -> Option<()> {
    // The upper bits of the first byte are a version.
    let mut control = input.byte()? & 31;
    loop {
        if control < 32 {
            output.literal(input.bytes(control + 1)?)?;
        } else {
            let mut count = (control >> 5) + 2;
            if control >> 5 == 7 {
                loop {
                    let more = input.byte()?;
                    count += more;
                    if more < 255 {
                        break;
                    }
                }
            }
            let (high, low) = (control & 31, input.byte()?);
            let distance = match (high, low) {
                (31, 255) => (input.byte()? << 8 | input.byte()?) + MAX_NEAR + 1,
                _ => (high << 8) + low + 1,
            };
            output.copy(distance, count)?;
        }
        match input.byte() {
            Some(next) => control = next,
            None => return Some(()),
        }
    }
}

/// Decodes raw Snappy (`format_description.txt` of google/snappy) to at most `size` bytes.
pub(super) fn snappy(bytes: &[u8], size: usize) -> Result<Vec<u8>, Reason> {
    let mut output = Output::new(size)?;
    let is_read = read_snappy(Input(bytes), &mut output);
    output.finish(is_read, "Snappy")
}

fn read_snappy(mut input: Input<'_>, output: &mut Output) -> Option<()> {
    // The length when decoded, in groups of seven bits, which the size of the block repeats.
    while input.byte()? & 128 != 0 {}
    while let Some(tag) = input.byte() {
        let upper = tag >> 2;
        match tag & 3 {
            0 => {
                let count = if upper < 60 { upper } else { input.number(upper - 59)? };
                output.literal(input.bytes(count.checked_add(1)?)?)?;
            }
            1 => output.copy((tag >> 5) << 8 | input.byte()?, (upper & 7) + 4)?,
            2 => output.copy(input.number(2)?, upper + 1)?,
            _ => output.copy(input.number(4)?, upper + 1)?,
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_reach_back_and_overlap() {
        // Three literals, a copy of five bytes from two before, and one literal.
        assert_eq!(
            blosclz(&[2, 1, 2, 3, 3 << 5, 1, 0, 9], 9).unwrap(),
            [1, 2, 3, 2, 3, 2, 3, 2, 9]
        );
        assert_eq!(
            snappy(&[9, 2 << 2, 1, 2, 3, 1 << 2 | 1, 2, 0, 9], 9).unwrap(),
            [1, 2, 3, 2, 3, 2, 3, 2, 9]
        );
    }

    #[test]
    fn damaged_bytes_are_refused() {
        for bytes in [&[][..], &[2, 1], &[0, 1, 1 << 5, 9], &[0, 1, 7 << 5, 255, 255], &[31, 1, 2]]
        {
            let error = blosclz(bytes, 1000).unwrap_err();
            assert!(error.contains("BloscLZ are cut off or damaged"), "{bytes:?}: {error}");
        }
        // More than the size, and distances of 0 and before the start.
        assert!(blosclz(&[3, 1, 2, 3, 4], 3).is_err());
        for bytes in
            [&[][..], &[255], &[4, 3 << 2, 1], &[4, 0, 1, 1, 0], &[4, 0, 1, 2, 9, 0], &[4, 255]]
        {
            assert!(snappy(bytes, 1000).is_err(), "{bytes:?}");
        }
        assert!(snappy(&[3, 3 << 2, 1, 2, 3, 4], 3).is_err());
    }
}
