//! Random seeds.

use super::boxes::{check_box, within};
use super::{Seeds, check_finite, check_length};
use crate::Result;
use crate::random::{normals, uniform};

/// Seeds are the first generation of particles.
const GENERATION: u32 = 0;

impl Seeds {
    /// Uniformly distributed seeds in a box, without its high faces; on a flat axis, at its
    /// coordinate.
    ///
    /// # Errors
    ///
    /// [`Error::Seeds`](crate::Error::Seeds) if the box is not finite or its corners are swapped,
    /// or if the count is 0 or too large.
    pub fn uniform(low: [f64; 3], high: [f64; 3], count: usize, seed: u64) -> Result<Self> {
        check_box(low, high)?;
        Seeds::generate(count, |i| within(low, high, triple(seed, i)))
    }

    /// Normally distributed seeds with a standard deviation along each axis.
    ///
    /// The distribution is not truncated.
    ///
    /// # Errors
    ///
    /// [`Error::Seeds`](crate::Error::Seeds) if a number is not finite or a deviation is negative,
    /// or if the count is 0 or too large.
    pub fn gaussian(
        centre: [f64; 3],
        deviation: [f64; 3],
        count: usize,
        seed: u64,
    ) -> Result<Self> {
        check_finite("the centre", &centre)?;
        check_length("the deviation", &deviation)?;
        Seeds::generate(count, |i| {
            let [x, y] = normals(seed, i as u64, GENERATION, 0);
            let [z, _] = normals(seed, i as u64, GENERATION, 1);
            let normal = [x, y, z];
            std::array::from_fn(|d| centre[d] + deviation[d] * normal[d])
        })
    }

    /// Uniformly distributed seeds in a ball.
    ///
    /// # Errors
    ///
    /// [`Error::Seeds`](crate::Error::Seeds) if a number is not finite or the radius is negative,
    /// or if the count is 0 or too large.
    pub fn ball(centre: [f64; 3], radius: f64, count: usize, seed: u64) -> Result<Self> {
        check_finite("the centre", &centre)?;
        check_length("the radius", &[radius])?;
        Seeds::generate(count, |i| {
            let [shell, height, turn] = triple(seed, i);
            // Volume is proportional to the cube of the radius, and the area of a sphere is uniform
            // in height (Archimedes).
            let r = radius * shell.cbrt();
            let z = 2.0 * height - 1.0;
            let across = (1.0 - z * z).sqrt();
            let (sin, cos) = (std::f64::consts::TAU * turn).sin_cos();
            let direction = [across * cos, across * sin, z];
            std::array::from_fn(|d| centre[d] + r * direction[d])
        })
    }
}

/// Three uniform numbers in [0, 1).
fn triple(seed: u64, i: usize) -> [f64; 3] {
    [0, 1, 2].map(|draw| uniform(seed, i as u64, GENERATION, draw))
}

#[cfg(test)]
mod tests {
    use super::super::tests::message;
    use super::*;

    const COUNT: usize = 20_000;

    /// Mean and variance of a function of the seeds.
    fn mean_and_variance(seeds: &Seeds, number: impl Fn(&[f64; 3]) -> f64) -> (f64, f64) {
        let n = seeds.len() as f64;
        let mean = seeds.positions().iter().map(&number).sum::<f64>() / n;
        let square = seeds.positions().iter().map(|p| (number(p) - mean).powi(2)).sum::<f64>();
        (mean, square / n)
    }

    #[test]
    fn uniform_seeds_have_the_moments_of_the_box() {
        let (low, high) = ([-1.0, 2.0, 0.3], [1.0, 5.0, 0.3]);
        let seeds = Seeds::uniform(low, high, COUNT, 1).unwrap();
        let inside = |p: &[f64; 3]| (0..2).all(|d| low[d] <= p[d] && p[d] < high[d]) && p[2] == 0.3;
        assert!(seeds.positions().iter().all(inside));
        for d in 0..2 {
            let width = high[d] - low[d];
            let (mean, variance) = mean_and_variance(&seeds, |p| p[d]);
            let error = width / (12.0 * COUNT as f64).sqrt();
            assert!((mean - 0.5 * (low[d] + high[d])).abs() < 5.0 * error);
            assert!((variance / (width * width / 12.0) - 1.0).abs() < 0.05);
        }
    }

    #[test]
    fn gaussian_seeds_have_the_requested_deviation() {
        let (centre, deviation) = ([1.0, -2.0, 0.5], [0.1, 3.0, 0.0]);
        let seeds = Seeds::gaussian(centre, deviation, COUNT, 2).unwrap();
        assert!(seeds.positions().iter().all(|p| p[2] == 0.5));
        let n = COUNT as f64;
        for d in 0..2 {
            let (mean, variance) = mean_and_variance(&seeds, |p| p[d]);
            assert!((mean - centre[d]).abs() < 5.0 * deviation[d] / n.sqrt());
            // The relative error of a sample's deviation is 1/sqrt(2 (n - 1)).
            let ratio = variance.sqrt() / deviation[d];
            assert!((ratio - 1.0).abs() < 5.0 / (2.0 * (n - 1.0)).sqrt());
        }
        let (mean, _) = mean_and_variance(&seeds, |p| (p[0] - centre[0]) * (p[1] - centre[1]));
        assert!(mean.abs() < 5.0 * 0.3 / n.sqrt());
    }

    #[test]
    fn ball_seeds_have_the_moments_of_the_ball() {
        let centre = [1.0, 2.0, 3.0];
        let seeds = Seeds::ball(centre, 2.0, COUNT, 3).unwrap();
        let squared = |p: &[f64; 3]| (0..3).map(|d| (p[d] - centre[d]).powi(2)).sum::<f64>();
        assert!(seeds.positions().iter().all(|p| squared(p) <= 4.0 + 1e-12));
        // E r^2 = 3/5 R^2, var r^2 = (3/7 - 9/25) R^4; along an axis, var = R^2/5.
        let (mean, _) = mean_and_variance(&seeds, squared);
        let error = (16.0 * (3.0 / 7.0 - 9.0 / 25.0) / COUNT as f64).sqrt();
        assert!((mean - 2.4).abs() < 5.0 * error);
        for d in 0..3 {
            let (mean, variance) = mean_and_variance(&seeds, |p| p[d]);
            assert!((mean - centre[d]).abs() < 5.0 * (0.8 / COUNT as f64).sqrt());
            assert!((variance / 0.8 - 1.0).abs() < 0.05);
        }
    }

    #[test]
    fn seed_depends_on_its_index_only() {
        let kinds: [fn(usize, u64) -> Seeds; 3] = [
            |n, seed| Seeds::uniform([0.0; 3], [1.0; 3], n, seed).unwrap(),
            |n, seed| Seeds::gaussian([0.0; 3], [1.0; 3], n, seed).unwrap(),
            |n, seed| Seeds::ball([0.0; 3], 1.0, n, seed).unwrap(),
        ];
        for kind in kinds {
            assert_eq!(kind(10, 7).positions(), &kind(1000, 7).positions()[..10]);
            assert_ne!(kind(10, 7).positions(), kind(10, 8).positions());
        }
    }

    #[test]
    fn seeds_are_reproducible_to_the_bit() {
        // Resumed runs and comparisons with old runs depend on this.
        let seeds = Seeds::uniform([0.0; 3], [1.0; 3], 1, 0).unwrap();
        let word = 0x6627_e8d5_e169_c58d_u64;
        assert_eq!(seeds.positions()[0][0], (word >> 11) as f64 / (1_u64 << 53) as f64);
    }

    #[test]
    fn errors_name_the_given_values() {
        let unbounded = Seeds::uniform([f64::NEG_INFINITY; 3], [0.0; 3], 5, 0);
        assert!(message(unbounded).contains("low corner [-inf"));
        assert!(message(Seeds::gaussian([0.0; 3], [-1.0; 3], 5, 0)).contains("-1"));
        assert!(message(Seeds::ball([0.0; 3], f64::NAN, 5, 0)).contains("radius is NaN"));
        assert!(message(Seeds::ball([0.0; 3], -2.0, 5, 0)).contains("radius is -2"));
        assert!(message(Seeds::ball([0.0; 3], 1.0, 0, 0)).contains("none"));
        assert!(message(Seeds::ball([1e308; 3], 1e308, 5, 0)).contains("give finite coordinates"));
    }
}
