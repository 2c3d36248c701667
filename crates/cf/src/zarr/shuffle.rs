//! Bytes grouped by their position in a number.

/// Groups bytes by their position in numbers of `width` bytes. Bytes after the last number keep their position.
pub(super) fn shuffle(bytes: &[u8], width: usize) -> Vec<u8> {
    let count = bytes.len().checked_div(width).unwrap_or(0);
    let mut groups = bytes.to_vec();
    for position in 0..if count == 0 { 0 } else { width } {
        let group = &mut groups[position * count..(position + 1) * count];
        for (number, byte) in group.iter_mut().enumerate() {
            *byte = bytes[number * width + position];
        }
    }
    groups
}

/// Reverses [`shuffle`].
pub(super) fn unshuffle(bytes: &[u8], width: usize) -> Vec<u8> {
    let count = bytes.len().checked_div(width).unwrap_or(0);
    let mut numbers = bytes.to_vec();
    for position in 0..if count == 0 { 0 } else { width } {
        let group = &bytes[position * count..(position + 1) * count];
        for (number, byte) in group.iter().enumerate() {
            numbers[number * width + position] = *byte;
        }
    }
    numbers
}

/// Reverses the grouping of bits by their position in numbers of `width` bytes. c-blosc groups the bits of a
/// multiple of eight numbers, and leaves other blocks as they are.
pub(super) fn bits_unshuffled(block: &[u8], width: usize) -> Vec<u8> {
    let count = block.len().checked_div(width).unwrap_or(0);
    let mut numbers = block.to_vec();
    if !count.is_multiple_of(8) {
        return numbers;
    }
    numbers[..count * width].fill(0);
    let row = count / 8;
    for bit in 0..8 * width {
        let bits = &block[bit * row..(bit + 1) * row];
        for (eight, bits) in bits.iter().enumerate() {
            for i in 0..8 {
                let to = (8 * eight + i) * width + bit / 8;
                numbers[to] |= (bits >> i & 1) << (bit % 8);
            }
        }
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffled_bytes_are_sorted_and_the_rest_kept() {
        assert_eq!(unshuffle(&[1, 3, 2, 4, 9], 2), [1, 2, 3, 4, 9]);
        assert_eq!(unshuffle(&[1, 2], 0), [1, 2]);
        assert_eq!(unshuffle(&[1, 2], 4), [1, 2]);
    }
}
