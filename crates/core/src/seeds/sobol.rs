//! Quasi-random seeds from a Sobol sequence.

use super::Seeds;
use super::boxes::{check_box, within};
use crate::{Result, random};

const BITS: usize = 32;

/// Direction numbers of the first three dimensions: degree `s` of the primitive polynomial, its
/// inner coefficients `a`, and the first `s` odd numbers `m` (S. Joe and F. Y. Kuo, *Constructing
/// Sobol sequences with better two-dimensional projections*, 2008, table `new-joe-kuo-6.21201`).
/// The first dimension has no polynomial: all its `m` are 1.
const TABLE: [(usize, u32, &[u32]); 3] = [(0, 0, &[]), (1, 0, &[1]), (2, 1, &[1, 3])];

impl Seeds {
    /// Seeds with low discrepancy in a box: the first three dimensions of the Sobol sequence,
    /// unscrambled, from its first point, which is the low corner of the box. Works best with a
    /// power of two.
    ///
    /// # Errors
    ///
    /// [`Error::Seeds`](crate::Error::Seeds) if the box is not finite or its corners are swapped,
    /// or if the count is 0 or too large.
    pub fn sobol(low: [f64; 3], high: [f64; 3], count: usize) -> Result<Self> {
        check_box(low, high)?;
        let sobol = Sobol::new();
        Seeds::generate(count, |i| within(low, high, sobol.point(i)))
    }
}

/// The first three dimensions of the sequence.
pub(crate) struct Sobol {
    directions: [[u32; BITS]; 3],
    /// The key of the order of the points; `None` for that of the sequence.
    order: Option<u32>,
}

impl Sobol {
    pub(crate) fn new() -> Self {
        Sobol::independent(0)
    }

    /// One of several orders of the sequence that are independent of each other; number 0 is its own.
    pub(crate) fn independent(number: u64) -> Self {
        let order = (number > 0).then(|| random::bits(number, 0, 0, 0)[0]);
        Sobol { directions: TABLE.map(|(s, a, m)| directions(s, a, m)), order }
    }

    /// Point `i` in the unit cube. Point 0 in the order of the sequence is the low corner; no other point has a
    /// coordinate of 0.
    pub(crate) fn point(&self, i: usize) -> [f64; 3] {
        match self.order {
            None => self.directions.each_ref().map(|v| point(i, v)),
            Some(key) => {
                let half = 0.5 / (1_u64 << BITS) as f64;
                let i = reordered(i as u32, key) as usize;
                self.directions.each_ref().map(|v| point(i, v) + half)
            }
        }
    }
}

/// The place of point `i` in a random order in which the first points, a power of two of them, are still a part of
/// the sequence with its low discrepancy (B. Burley, *Practical hash-based Owen scrambling*, 2020; the hash is of S.
/// Laine and T. Karras, 2011).
fn reordered(i: u32, key: u32) -> u32 {
    let start = i.reverse_bits().wrapping_add(key);
    let factors = [0x6c50_b47c_u32, 0xb82f_1e52, 0xc7af_e638, 0x8d22_f6e6];
    factors.into_iter().fold(start, |x, factor| x ^ x.wrapping_mul(factor)).reverse_bits()
}

/// Direction numbers of the bits of an index, in units of 2^-32.
fn directions(s: usize, a: u32, m: &[u32]) -> [u32; BITS] {
    let mut v = [0; BITS];
    for k in 0..BITS {
        v[k] = match m.get(k) {
            Some(m) => m << (BITS - 1 - k),
            None if s == 0 => 1 << (BITS - 1 - k),
            None => (1..s)
                .filter(|j| a >> (s - 1 - j) & 1 == 1)
                .fold(v[k - s] ^ v[k - s] >> s, |sum, j| sum ^ v[k - j]),
        };
    }
    v
}

/// Coordinate `i` of a dimension in [0, 1), in Gray code order (Antonov and Saleev).
fn point(i: usize, directions: &[u32; BITS]) -> f64 {
    let gray = i ^ i >> 1;
    let bits = (0..BITS).filter(|k| gray >> k & 1 == 1);
    let sum = bits.fold(0, |sum, k| sum ^ directions[k]);
    f64::from(sum) / (1_u64 << BITS) as f64
}

#[cfg(test)]
mod tests {
    use super::super::tests::message;
    use super::*;

    #[test]
    fn first_points_match_the_published_sequence() {
        let seeds = Seeds::sobol([0.0; 3], [1.0; 3], 8).unwrap();
        let expected = [
            [0.0, 0.0, 0.0],
            [0.5, 0.5, 0.5],
            [0.75, 0.25, 0.25],
            [0.25, 0.75, 0.75],
            [0.375, 0.375, 0.625],
            [0.875, 0.875, 0.125],
            [0.625, 0.125, 0.875],
            [0.125, 0.625, 0.375],
        ];
        assert_eq!(seeds.positions(), expected);
    }

    #[test]
    fn coordinates_take_each_value_once() {
        let n = 1 << 12;
        let seeds = Seeds::sobol([0.0; 3], [1.0; 3], n).unwrap();
        for d in 0..3 {
            let mut values: Vec<f64> = seeds.positions().iter().map(|p| p[d] * n as f64).collect();
            values.sort_by(f64::total_cmp);
            assert!(values.iter().enumerate().all(|(i, v)| *v == i as f64));
        }
    }

    /// The squared L2 star discrepancy by Warnock's formula (1972).
    fn discrepancy(points: &[[f64; 3]]) -> f64 {
        let n = points.len() as f64;
        let single = |p: &[f64; 3]| p.iter().map(|x| 1.0 - x * x).product::<f64>();
        let both =
            |p: &[f64; 3], q: &[f64; 3]| -> f64 { (0..3).map(|d| 1.0 - p[d].max(q[d])).product() };
        let singles: f64 = points.iter().map(single).sum();
        let pairs: f64 = points.iter().flat_map(|p| points.iter().map(move |q| both(p, q))).sum();
        3.0_f64.powi(-3) - 2.0_f64.powi(-2) / n * singles + pairs / (n * n)
    }

    #[test]
    fn discrepancy_is_lower_than_that_of_random_points() {
        let n = 512;
        let sobol = Seeds::sobol([0.0; 3], [1.0; 3], n).unwrap();
        let random = Seeds::uniform([0.0; 3], [1.0; 3], n, 5).unwrap();
        let ratio = discrepancy(sobol.positions()) / discrepancy(random.positions());
        assert!(ratio < 0.1, "{ratio}");
    }

    #[test]
    fn seeds_are_in_the_box() {
        let (low, high) = ([-1.0, 5.0, 0.7], [2.0, 6.0, 0.7]);
        let seeds = Seeds::sobol(low, high, 1000).unwrap();
        assert_eq!((seeds.len(), seeds.positions()[0]), (1000, low));
        assert!(
            seeds.positions().iter().all(|p| (0..3).all(|d| low[d] <= p[d] && p[d] <= high[d]))
        );
        let unbounded = Seeds::sobol([0.0; 3], [f64::INFINITY; 3], 10);
        assert!(message(unbounded).contains("high corner [inf"));
    }
}
