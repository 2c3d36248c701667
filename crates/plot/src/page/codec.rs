//! Compression of rows of 16-bit codes.
//!
//! A code is predicted from those before it in its column, by a linear combination of the last four differences with
//! weights that fit the array (least squares). What is stored is the error of the prediction, as two planes of bytes that are
//! compressed by deflate. Predictions are of integers, so that decoding gives the exact codes. `js/unpack.js` decodes.

use super::quantize::Quantizer;
use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::deflate::core::{
    CompressionStrategy, CompressorOxide, TDEFLFlush, compress_to_output,
    create_comp_flags_from_zip_params,
};

/// Number of differences that a prediction takes.
const ORDER: usize = 4;
/// Weights are multiples of 1/256.
const UNIT: i32 = 256;
/// The weights of the first rows: the last difference.
const FIRST: [i32; ORDER] = [UNIT, 0, 0, 0];
/// Maximum number of positions from which the weights are fitted.
const FITTED: usize = 200_000;

/// A compressed array.
pub(super) struct Packed {
    pub(super) bits: u32,
    pub(super) row: usize,
    pub(super) weights: [i32; ORDER],
    /// Deflated bytes.
    pub(super) bytes: Vec<u8>,
}

/// Compresses rows of codes below 2^`bits`, with `bits` from 4 to 16. [`Quantizer::missing`] is the highest one.
pub(super) fn pack(codes: &[u16], row: usize, bits: u32) -> Packed {
    let row = row.max(1);
    let coder = Coder { bits, row };
    let changes = coder.changes(codes);
    let weights = coder.fitted_weights(&changes);
    let folded = coder.errors(&changes, weights);
    let mut planes: Vec<u8> = folded.iter().map(|&error| error as u8).collect();
    if bits > 8 {
        planes.extend(folded.iter().map(|&error| (error >> 8) as u8));
    }
    Packed { bits, row, weights, bytes: deflate_runs(&planes) }
}

/// Values as codes, compressed.
pub(super) fn pack_values(values: &[f32], row: usize, quantizer: Quantizer) -> Packed {
    let codes: Vec<u16> = values.iter().map(|&value| quantizer.code(value.into())).collect();
    pack(&codes, row, quantizer.bits())
}

/// The level of deflate.
const LEVEL: u8 = 6;

/// Compresses bytes by deflate, without a header.
pub(super) fn deflate(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, LEVEL)
}

/// The same of bytes that repeat themselves in runs only, if at all. That is ten times as fast for errors of predictions, and
/// a tenth smaller than with matches at a distance, which are found by chance.
fn deflate_runs(bytes: &[u8]) -> Vec<u8> {
    let strategy = CompressionStrategy::RLE as i32;
    let flags = create_comp_flags_from_zip_params(LEVEL.into(), 0, strategy);
    let mut deflated = Vec::new();
    compress_to_output(&mut CompressorOxide::new(flags), bytes, TDEFLFlush::Finish, |part| {
        deflated.extend_from_slice(part);
        true
    });
    deflated
}

struct Coder {
    bits: u32,
    row: usize,
}

impl Coder {
    /// A number modulo 2^bits, from -2^(bits-1) on.
    fn wrapped(&self, number: i32) -> i32 {
        let shift = 32 - self.bits;
        (number << shift) >> shift
    }

    /// The differences of each code from the one before it in its column.
    fn changes(&self, codes: &[u16]) -> Vec<i32> {
        let before = |at: usize| at.checked_sub(self.row).map_or(0, |before| codes[before]);
        let change =
            |(at, &code): (usize, &u16)| self.wrapped(i32::from(code) - i32::from(before(at)));
        codes.iter().enumerate().map(change).collect()
    }

    /// The difference `back` rows before a position as predictions take it: 0 in the first row and where it is a jump.
    fn past(&self, changes: &[i32], at: usize, back: usize) -> i32 {
        let limit = 1 << (self.bits - 3);
        match at.checked_sub(back * self.row) {
            Some(before) if before >= self.row && (-limit..limit).contains(&changes[before]) => {
                changes[before]
            }
            _ => 0,
        }
    }

    /// The errors of the predictions, with the sign in the lowest bit.
    fn errors(&self, changes: &[i32], weights: [i32; ORDER]) -> Vec<u16> {
        let folded = |(at, &change): (usize, &i32)| {
            let weights = if at / self.row > ORDER { weights } else { FIRST };
            let terms =
                weights.iter().zip(1..).map(|(weight, back)| weight * self.past(changes, at, back));
            let error = self.wrapped(change - ((terms.sum::<i32>() + UNIT / 2) >> 8));
            ((error << 1) ^ (error >> 31)) as u16
        };
        changes.iter().enumerate().map(folded).collect()
    }

    /// The weights that minimise the squares of the errors.
    fn fitted_weights(&self, changes: &[i32]) -> [i32; ORDER] {
        let start = (ORDER + 1) * self.row;
        let step = (changes.len().saturating_sub(start) / FITTED).max(1);
        // A small diagonal keeps the equations regular.
        let mut matrix = [[0.0; ORDER + 1]; ORDER];
        (0..ORDER).for_each(|k| matrix[k][k] = 1.0);
        for at in (start..changes.len()).step_by(step) {
            let target = f64::from(self.past(changes, at, 0));
            let past: [f64; ORDER] =
                std::array::from_fn(|k| f64::from(self.past(changes, at, k + 1)));
            for (row, factor) in matrix.iter_mut().zip(past) {
                row.iter_mut().zip(past).for_each(|(sum, term)| *sum += factor * term);
                row[ORDER] += factor * target;
            }
        }
        // Predictions must fit into 32 bits.
        solved(matrix).map(|weight| (weight * f64::from(UNIT)).round().clamp(-4e4, 4e4) as i32)
    }
}

/// The solution of linear equations with a positive definite matrix, whose last column is the right side.
fn solved(mut matrix: [[f64; ORDER + 1]; ORDER]) -> [f64; ORDER] {
    for pivot in 0..ORDER {
        let row = matrix[pivot];
        for k in (0..ORDER).filter(|&k| k != pivot) {
            let factor = matrix[k][pivot] / row[pivot];
            matrix[k].iter_mut().zip(row).for_each(|(value, term)| *value -= factor * term);
        }
    }
    std::array::from_fn(|k| matrix[k][ORDER] / matrix[k][k])
}

#[cfg(test)]
mod tests {
    use super::*;
    use miniz_oxide::inflate::decompress_to_vec;

    /// As `js/unpack.js`.
    fn unpacked(packed: &Packed) -> Vec<u16> {
        let planes = decompress_to_vec(&packed.bytes).unwrap();
        let coder = Coder { bits: packed.bits, row: packed.row };
        let count = planes.len() / if packed.bits > 8 { 2 } else { 1 };
        let (mut codes, mut changes) = (Vec::new(), Vec::new());
        for at in 0..count {
            let high = planes.get(at + count).map_or(0, |&byte| i32::from(byte) << 8);
            let folded = i32::from(planes[at]) | high;
            let error = (folded >> 1) ^ -(folded & 1);
            let weights = if at / packed.row > ORDER { packed.weights } else { FIRST };
            let guess: i32 =
                weights.iter().zip(1..).map(|(w, back)| w * coder.past(&changes, at, back)).sum();
            let change = coder.wrapped(((guess + UNIT / 2) >> 8) + error);
            let before = at.checked_sub(packed.row).map_or(0, |before| i32::from(codes[before]));
            codes.push(((before + change) & ((1 << packed.bits) - 1)) as u16);
            changes.push(change);
        }
        codes
    }

    fn waves(rows: usize, row: usize, bits: u32) -> Vec<u16> {
        let top = f64::from((1_u32 << bits) - 2);
        let wave = |s: usize, i: usize| 0.5 + 0.5 * (0.1 * s as f64 + i as f64).sin();
        (0..rows * row).map(|at| (top * wave(at / row, at % row)).round() as u16).collect()
    }

    #[test]
    fn codes_are_restored_exactly() {
        for bits in [16, 14, 12, 8] {
            let mut codes = waves(40, 7, bits);
            // Jumps, missing values, and the lowest code.
            let missing = ((1_u32 << bits) - 1) as u16;
            for (at, code) in [(100, missing), (107, missing), (108, 0), (200, 1), (207, missing)] {
                codes[at] = code;
            }
            assert_eq!(unpacked(&pack(&codes, 7, bits)), codes, "{bits} bits");
        }
        let noise: Vec<u16> =
            (0_u32..999).map(|i| (i.wrapping_mul(2_654_435_761) >> 16) as u16).collect();
        assert_eq!(unpacked(&pack(&noise, 9, 16)), noise);
        assert!(unpacked(&pack(&[], 0, 16)).is_empty());
        assert_eq!(unpacked(&pack(&[5, 6], 2, 16)), [5, 6]);
    }

    #[test]
    fn smooth_codes_take_two_fifths_of_their_bytes() {
        let codes = waves(100, 1000, 16);
        let size = pack(&codes, 1000, 16).bytes.len();
        assert!(size < 4 * codes.len() / 5, "{size} of {}", 2 * codes.len());
        assert!(pack(&[7; 100_000], 1000, 16).bytes.len() < 1000);
    }
}
