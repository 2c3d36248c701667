//! Reference densities: plain sums over all particles and images in double precision. This shares no code
//! with the library: kernels are implemented independently and never truncated.

use burntrace_analysis::density::{Edge, Kernel};
use std::f64::consts::PI;

/// A kernel and a box for direct sums.
pub struct Direct {
    /// The kernel as a function of the offset from a particle.
    pub kernel: Box<dyn Fn([f64; 3]) -> f64>,
    pub axes: [bool; 3],
    pub low: [f64; 3],
    pub high: [f64; 3],
    pub edges: [[Edge; 2]; 3],
}

impl Direct {
    /// `sum w_j K(x - x_j)` over all images.
    pub fn at(&self, point: [f64; 3], particles: &[[f64; 3]], weights: &[f64]) -> f64 {
        // Neumaier's compensated sum.
        let (mut sum, mut lost) = (0.0_f64, 0.0);
        for (particle, weight) in particles.iter().zip(weights) {
            let [xs, ys, zs] = [0, 1, 2].map(|d| self.images(d, particle[d]));
            for x in &xs {
                for y in &ys {
                    for z in &zs {
                        let image = [x, y, z];
                        let offset = [0, 1, 2].map(|d| image[d].1 * (point[d] - image[d].0));
                        let offset = [0, 1, 2].map(|d| if self.axes[d] { offset[d] } else { 0.0 });
                        let term = weight * (self.kernel)(offset);
                        let next = sum + term;
                        lost += if sum > term { (sum - next) + term } else { (term - next) + sum };
                        sum = next;
                    }
                }
            }
        }
        sum + lost
    }

    /// Images of a coordinate, mirrored repeatedly at both faces or shifted by periods, each with the sign
    /// of its kernel's orientation: -1 if mirrored.
    fn images(&self, d: usize, x: f64) -> Vec<(f64, f64)> {
        let (low, high) = (self.low[d], self.high[d]);
        if !self.axes[d] {
            return vec![(x, 1.0)];
        }
        match self.edges[d] {
            [Edge::Open, Edge::Open] => vec![(x, 1.0)],
            [Edge::Periodic, _] => {
                (-2..=2).map(|k| (x + f64::from(k) * (high - low), 1.0)).collect()
            }
            [Edge::Reflecting, Edge::Open] => vec![(x, 1.0), (2.0 * low - x, -1.0)],
            [Edge::Open, _] => vec![(x, 1.0), (2.0 * high - x, -1.0)],
            _ => {
                let mut images = vec![(x, 1.0)];
                for first in [low, high] {
                    let (mut image, mut face) = ((x, 1.0), first);
                    for _ in 0..3 {
                        image = (2.0 * face - image.0, -image.1);
                        images.push(image);
                        face = low + high - face;
                    }
                }
                images
            }
        }
    }
}

/// A normal distribution with a covariance matrix, over the active axes.
pub fn gaussian(matrix: [[f64; 3]; 3], axes: [bool; 3]) -> Box<dyn Fn([f64; 3]) -> f64> {
    // Inactive axes are independent with variance 1 and offset 0; the norm omits them.
    let mut c = [[0.0; 3]; 3];
    for d in 0..3 {
        for e in 0..3 {
            let both = axes[d] && axes[e];
            c[d][e] = if both { matrix[d][e] } else { f64::from(u8::from(d == e)) };
        }
    }
    let minor = |d: usize, e: usize| {
        let ([a, b], [p, q]) = ([(d + 1) % 3, (d + 2) % 3], [(e + 1) % 3, (e + 2) % 3]);
        c[a][p] * c[b][q] - c[a][q] * c[b][p]
    };
    let determinant: f64 = (0..3).map(|e| c[0][e] * minor(0, e)).sum();
    let inverse = [0, 1, 2].map(|d| [0, 1, 2].map(|e| minor(e, d) / determinant));
    let dimension = axes.iter().filter(|is_active| **is_active).count() as i32;
    let norm = ((2.0 * PI).powi(dimension) * determinant).sqrt();
    Box::new(move |offset| {
        let mut square = 0.0;
        for d in 0..3 {
            for e in 0..3 {
                square += offset[d] * inverse[d][e] * offset[e];
            }
        }
        (-0.5 * square).exp() / norm
    })
}

/// An SPH kernel in 1, 2 or 3 dimensions.
pub fn sph(kernel: Kernel, h: f64, dimension: usize) -> Box<dyn Fn([f64; 3]) -> f64> {
    Box::new(move |offset| {
        let r = offset.iter().map(|x| x * x).sum::<f64>().sqrt();
        w(kernel, r / h, dimension) / h.powi(dimension as i32)
    })
}

/// `W` for `h = 1`, piecewise as published.
pub fn w(kernel: Kernel, q: f64, dimension: usize) -> f64 {
    let norm_of = |norms: [f64; 3]| norms[dimension - 1];
    let s = q / 2.0;
    let t = (1.0 - s).max(0.0);
    // The norms of Wendland's functions are given for H = 2 h.
    let wide = |norms: [f64; 3]| norms[dimension - 1] / 2.0_f64.powi(dimension as i32);
    match kernel {
        Kernel::CubicSpline => {
            let norm = norm_of([2.0 / 3.0, 10.0 / (7.0 * PI), 1.0 / PI]);
            norm * match q {
                q if q < 1.0 => 1.0 - 1.5 * q * q + 0.75 * q.powi(3),
                q if q < 2.0 => 0.25 * (2.0 - q).powi(3),
                _ => 0.0,
            }
        }
        Kernel::QuinticSpline => {
            let norm = norm_of([1.0 / 120.0, 7.0 / (478.0 * PI), 1.0 / (120.0 * PI)]);
            let [three, two, one] = [3.0, 2.0, 1.0].map(|end: f64| (end - q).powi(5));
            norm * match q {
                q if q < 1.0 => three - 6.0 * two + 15.0 * one,
                q if q < 2.0 => three - 6.0 * two,
                q if q < 3.0 => three,
                _ => 0.0,
            }
        }
        Kernel::WendlandC2 if dimension == 1 => 5.0 / 8.0 * t.powi(3) * (1.0 + 3.0 * s),
        Kernel::WendlandC4 if dimension == 1 => {
            3.0 / 4.0 * t.powi(5) * (1.0 + 5.0 * s + 8.0 * s * s)
        }
        Kernel::WendlandC6 if dimension == 1 => {
            55.0 / 64.0 * t.powi(7) * (1.0 + 7.0 * s + 19.0 * s * s + 21.0 * s.powi(3))
        }
        Kernel::WendlandC2 => {
            wide([0.0, 7.0 / PI, 21.0 / (2.0 * PI)]) * t.powi(4) * (1.0 + 4.0 * s)
        }
        Kernel::WendlandC4 => {
            let polynomial = 1.0 + 6.0 * s + 35.0 / 3.0 * s * s;
            wide([0.0, 9.0 / PI, 495.0 / (32.0 * PI)]) * t.powi(6) * polynomial
        }
        Kernel::WendlandC6 => {
            let polynomial = 1.0 + 8.0 * s + 25.0 * s * s + 32.0 * s.powi(3);
            wide([0.0, 78.0 / (7.0 * PI), 1365.0 / (64.0 * PI)]) * t.powi(8) * polynomial
        }
        Kernel::Gaussian => (-q * q).exp() / PI.sqrt().powi(dimension as i32),
    }
}
