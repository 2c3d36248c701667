//! Small numbers in runs and groups of bits (`RLE` of Parquet): levels, and indices of a dictionary.
//!
//! <https://parquet.apache.org/docs/file-format/data-pages/encodings/>

use super::thrift::varint;

/// Encodes numbers below 2^width: as a run where a number comes 8 times or more, otherwise in groups
/// of 8 packed numbers.
pub(super) fn encode(numbers: &[u32], width: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut packed: Vec<u32> = Vec::new();
    let mut rest = numbers;
    while let Some(&first) = rest.first() {
        let run = rest.iter().take_while(|number| **number == first).count();
        if run >= 8 {
            flush(&mut packed, width, &mut bytes);
            bytes.extend(varint((run as u64) << 1));
            bytes.extend(&first.to_le_bytes()[..width.div_ceil(8) as usize]);
            rest = &rest[run..];
        } else {
            // Only the last group may have fewer numbers; the reader knows how many there are.
            let count = rest.len().min(8);
            packed.extend(&rest[..count]);
            packed.resize(packed.len().next_multiple_of(8), 0);
            rest = &rest[count..];
        }
    }
    flush(&mut packed, width, &mut bytes);
    bytes
}

/// Writes the packed groups, the lowest bits first.
fn flush(packed: &mut Vec<u32>, width: u32, bytes: &mut Vec<u8>) {
    if packed.is_empty() {
        return;
    }
    bytes.extend(varint((packed.len() as u64 / 8) << 1 | 1));
    for group in packed.chunks(8) {
        let mut bits = [0_u8; 32];
        for (index, number) in group.iter().enumerate() {
            for bit in (0..width as usize).filter(|bit| number >> bit & 1 == 1) {
                let at = index * width as usize + bit;
                bits[at / 8] |= 1 << (at % 8);
            }
        }
        bytes.extend(&bits[..width as usize]);
    }
    packed.clear();
}

/// Bits that a number up to `max` needs, at least one.
pub(super) fn width(max: usize) -> u32 {
    (usize::BITS - max.leading_zeros()).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_and_groups_have_the_bytes_of_the_specification() {
        // The example of the specification: 0 to 7 in 3 bits.
        assert_eq!(encode(&[0, 1, 2, 3, 4, 5, 6, 7], 3), [3, 0x88, 0xc6, 0xfa]);
        assert_eq!(encode(&[1; 300], 1), [0xd8, 0x04, 1]);
        assert_eq!(encode(&[1, 0, 1], 1), [3, 0b101]);
        let mixed = [vec![2, 1], vec![3; 20]].concat();
        assert_eq!(encode(&mixed, 2), [3, 0b1111_0110, 0xff, 14 << 1, 3]);
        assert_eq!([0, 1, 2, 14, 255].map(width), [1, 1, 2, 4, 8]);
        assert!(encode(&[], 1).is_empty());
    }
}
