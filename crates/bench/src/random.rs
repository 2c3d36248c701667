//! Random numbers of workloads and tests: SplitMix64 (G. L. Steele, D. Lea, C. H. Flood: *Fast splittable pseudorandom
//! number generators*, OOPSLA 2014).

/// A source of random numbers, by its state.
pub struct Dice(pub u64);

impl Dice {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A uniform number in [`low`, `high`).
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A random element.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[(self.bits() % from.len() as u64) as usize]
    }

    /// Uniform random points in a box.
    pub fn points(&mut self, low: [f64; 3], high: [f64; 3], count: usize) -> Vec<[f64; 3]> {
        let mut point = || std::array::from_fn(|d| self.between(low[d], high[d]));
        (0..count).map(|_| point()).collect()
    }
}

/// Uniform points in the cube from `low` to `high`, rounded to single precision, so that runs in
/// every precision start from the same positions.
pub fn points(seed: u64, count: usize, low: f64, high: f64) -> Vec<[f64; 3]> {
    single(Dice(seed).points([low; 3], [high; 3], count))
}

/// Points rounded to single precision, so that all devices compute with the same numbers.
pub fn single(points: Vec<[f64; 3]>) -> Vec<[f64; 3]> {
    points.into_iter().map(|p| p.map(|x| f64::from(x as f32))).collect()
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
