//! Counter-based random numbers for workloads: a number depends only on its seed and its index.
//!
//! The finalizer is that of SplitMix64 (G. L. Steele, D. Lea, C. H. Flood: *Fast splittable
//! pseudorandom number generators*, OOPSLA 2014).

/// The fractional part of the golden ratio as an odd 64-bit integer, which separates the states of
/// neighbouring indices.
const STRIDE: u64 = 0x9E37_79B9_7F4A_7C15;

/// A uniform number in [0, 1).
fn uniform(seed: u64, index: u64) -> f64 {
    let mut z = seed.wrapping_add(index.wrapping_add(1).wrapping_mul(STRIDE));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^= z >> 31;
    (z >> 11) as f64 / (1_u64 << 53) as f64
}

/// Uniform points in the cube from `low` to `high`, rounded to single precision, so that runs in
/// every precision start from the same positions.
pub fn points(seed: u64, count: usize, low: f64, high: f64) -> Vec<[f64; 3]> {
    let coordinate = |index: usize| {
        let x = low + (high - low) * uniform(seed, index as u64);
        f64::from(x as f32)
    };
    (0..count).map(|i| std::array::from_fn(|d| coordinate(3 * i + d))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_uniform_in_cube() {
        let points = points(3, 20_000, 0.25, 0.75);
        for d in 0..3 {
            let mean = points.iter().map(|p| p[d]).sum::<f64>() / points.len() as f64;
            assert!((mean - 0.5).abs() < 0.01, "{mean}");
        }
        assert!(points.iter().flatten().all(|x| (0.25..=0.75).contains(x)));
        assert!(points.iter().flatten().all(|&x| f64::from(x as f32) == x));
    }
}
