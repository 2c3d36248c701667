//! Discrete Fourier transform.

use std::f64::consts::TAU;

/// A complex number: real and imaginary part.
pub(super) type Complex = [f64; 2];

/// The transform X_k = sum of x_j exp(-2 pi i j k / n) of n = 2^m numbers, by the radix-2 algorithm of J. W. Cooley and J. W. Tukey,
/// 1965, *Math. Comput.* 19:297.
#[derive(Clone, Debug)]
pub(super) struct Transform {
    /// exp(-2 pi i k / n) for k < n / 2.
    roots: Vec<Complex>,
}

impl Transform {
    /// The transform of at least this many numbers, of 2 or more.
    pub fn of_at_least(count: usize) -> Self {
        let size = count.max(2).next_power_of_two();
        let root = |k: usize| {
            let (sin, cos) = (TAU * k as f64 / size as f64).sin_cos();
            [cos, -sin]
        };
        Transform { roots: (0..size / 2).map(root).collect() }
    }

    /// Number of values.
    pub fn size(&self) -> usize {
        2 * self.roots.len()
    }

    /// Transforms [`size`](Transform::size) numbers in place.
    pub fn apply(&self, values: &mut [Complex]) {
        let size = self.size();
        let unused = usize::BITS - size.trailing_zeros();
        for i in 0..size {
            let j = i.reverse_bits() >> unused;
            if i < j {
                values.swap(i, j);
            }
        }
        let mut half = 1;
        while half < size {
            let stride = self.roots.len() / half;
            for block in values.chunks_exact_mut(2 * half) {
                let (even, odd) = block.split_at_mut(half);
                let roots = self.roots.iter().step_by(stride);
                for ((a, b), root) in even.iter_mut().zip(odd).zip(roots) {
                    let [p, q] = product(*b, *root);
                    (*a, *b) = ([a[0] + p, a[1] + q], [a[0] - p, a[1] - q]);
                }
            }
            half *= 2;
        }
    }
}

fn product(a: Complex, b: Complex) -> Complex {
    [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]
}

/// The square of the absolute value.
pub(super) fn square([p, q]: Complex) -> f64 {
    p * p + q * q
}

/// The transforms of two real series at a frequency, from that of the first one + i times the second one.
pub(super) fn of_both(transformed: &[Complex], k: usize) -> [Complex; 2] {
    let size = transformed.len();
    let (a, b) = (transformed[k], transformed[(size - k) % size]);
    [[0.5 * (a[0] + b[0]), 0.5 * (a[1] - b[1])], [0.5 * (a[1] + b[1]), 0.5 * (b[0] - a[0])]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transforms_are_the_sums_of_their_definition() {
        for size in [2, 4, 32] {
            let values: Vec<Complex> =
                (0..size).map(|j| [(0.7 * j as f64).sin(), 1.0 / (j + 1) as f64]).collect();
            let transform = Transform::of_at_least(size - 1);
            assert_eq!(transform.size(), size);
            let mut found = values.clone();
            transform.apply(&mut found);
            for k in 0..size {
                let mut sums = [[0.0; 2]; 3];
                for (j, value) in values.iter().enumerate() {
                    let (sin, cos) = (TAU * (j * k) as f64 / size as f64).sin_cos();
                    let terms = [*value, [value[0], 0.0], [value[1], 0.0]];
                    for (sum, term) in sums.iter_mut().zip(terms) {
                        let [p, q] = product(term, [cos, -sin]);
                        *sum = [sum[0] + p, sum[1] + q];
                    }
                }
                let [first, second] = of_both(&found, k);
                for (found, expected) in [found[k], first, second].iter().zip(sums) {
                    let error = (found[0] - expected[0]).hypot(found[1] - expected[1]);
                    assert!(error < 1e-12, "{size}, {k}: {found:?}, {expected:?}");
                }
            }
        }
    }
}
