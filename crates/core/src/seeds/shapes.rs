//! Seeds on regular patterns on lines and surfaces.

use super::{Seeds, check_finite, check_length};
use crate::{Error, Result};

impl Seeds {
    /// Equally spaced seeds from one point to another, both included. A single seed is in the
    /// middle.
    ///
    /// # Errors
    ///
    /// [`Error::Seeds`] if a number is not finite, or if the count is 0 or too large.
    pub fn line(from: [f64; 3], to: [f64; 3], count: usize) -> Result<Self> {
        check_finite("the line's first point", &from)?;
        check_finite("the line's last point", &to)?;
        Seeds::generate(count, |i| {
            let f = fraction(i, count);
            // Exact at both ends, and for coordinates that both points share.
            std::array::from_fn(|d| if f == 1.0 { to[d] } else { from[d] + (to[d] - from[d]) * f })
        })
    }

    /// A grid of `counts[0] x counts[1]` seeds on a parallelogram, including its sides, varying
    /// fastest along the first edge. A single seed along an edge is in its middle.
    ///
    /// # Errors
    ///
    /// [`Error::Seeds`] if a number is not finite, a count is 0, or the total is too large.
    pub fn plane(
        origin: [f64; 3],
        edge1: [f64; 3],
        edge2: [f64; 3],
        counts: [usize; 2],
    ) -> Result<Self> {
        check_finite("the plane's origin", &origin)?;
        check_finite("the plane's first edge", &edge1)?;
        check_finite("the plane's second edge", &edge2)?;
        let count = counts[0].saturating_mul(counts[1]);
        Seeds::generate(count, |i| {
            let a = fraction(i % counts[0], counts[0]);
            let b = fraction(i / counts[0], counts[1]);
            std::array::from_fn(|d| origin[d] + a * edge1[d] + b * edge2[d])
        })
    }

    /// Seeds on a disc with equal areas: a sunflower spiral (H. Vogel, *A better way to construct
    /// the sunflower head*, 1979).
    ///
    /// # Errors
    ///
    /// [`Error::Seeds`] if a number is not finite, the normal is zero, the radius is negative, or
    /// the count is 0 or too large.
    pub fn disc(centre: [f64; 3], normal: [f64; 3], radius: f64, count: usize) -> Result<Self> {
        check_finite("the centre", &centre)?;
        check_length("the radius", &[radius])?;
        let [a, b] = across(normal)?;
        Seeds::generate(count, |i| {
            let r = radius * ((i as f64 + 0.5) / count as f64).sqrt();
            let (sin, cos) = (golden_angle() * i as f64).sin_cos();
            std::array::from_fn(|d| centre[d] + r * (cos * a[d] + sin * b[d]))
        })
    }

    /// Seeds on a sphere with equal areas: a Fibonacci lattice (A. Gonzalez, *Measurement of areas
    /// on a sphere using Fibonacci and latitude-longitude lattices*, 2010).
    ///
    /// # Errors
    ///
    /// [`Error::Seeds`] if a number is not finite, the radius is negative, or the count is 0 or too
    /// large.
    pub fn sphere(centre: [f64; 3], radius: f64, count: usize) -> Result<Self> {
        check_finite("the centre", &centre)?;
        check_length("the radius", &[radius])?;
        Seeds::generate(count, |i| {
            let z = 1.0 - (2 * i + 1) as f64 / count as f64;
            let r = (1.0 - z * z).sqrt();
            let (sin, cos) = (golden_angle() * i as f64).sin_cos();
            let direction = [r * cos, r * sin, z];
            std::array::from_fn(|d| centre[d] + radius * direction[d])
        })
    }
}

/// Relative position of point `i` of `count` between the ends, from 0 to 1.
fn fraction(i: usize, count: usize) -> f64 {
    match count {
        1 => 0.5,
        _ => i as f64 / (count - 1) as f64,
    }
}

/// The golden angle in radians.
fn golden_angle() -> f64 {
    std::f64::consts::PI * (3.0 - 5.0_f64.sqrt())
}

/// Two unit vectors orthogonal to a third and to each other (T. Duff et al., *Building an
/// orthonormal basis, revisited*, 2017).
fn across(normal: [f64; 3]) -> Result<[[f64; 3]; 2]> {
    check_finite("the normal", &normal)?;
    let largest = normal.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    if largest == 0.0 {
        return Err(Error::Seeds(
            "the normal (0, 0, 0) has no direction; give a vector across the disc".into(),
        ));
    }
    // Scaled first: squares may overflow or underflow.
    let scaled = normal.map(|x| x / largest);
    let length = scaled.iter().map(|x| x * x).sum::<f64>().sqrt();
    let [x, y, z] = scaled.map(|x| x / length);
    let sign = 1.0_f64.copysign(z);
    let a = -1.0 / (sign + z);
    let b = x * y * a;
    Ok([[1.0 + sign * x * x * a, sign * b, -sign * x], [b, sign + y * y * a, -y]])
}

#[cfg(test)]
mod tests {
    use super::super::tests::message;
    use super::*;

    fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
        (0..3).map(|d| a[d] * b[d]).sum()
    }

    fn minus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
        std::array::from_fn(|d| a[d] - b[d])
    }

    #[test]
    fn line_includes_its_ends() {
        let (a, b) = ([0.1, 0.2, 7.3], [0.7, -1.0, 7.3]);
        let seeds = Seeds::line(a, b, 7).unwrap();
        let p = seeds.positions();
        assert_eq!((p.len(), p[0], p[6]), (7, a, b));
        assert!(p.iter().all(|p| p[2] == 7.3));
        let step = minus(p[1], p[0]);
        for pair in p.windows(2) {
            assert!(minus(minus(pair[1], pair[0]), step).iter().all(|x| x.abs() < 1e-15));
        }
        let middle = Seeds::line([0.0; 3], [2.0, 4.0, 0.0], 1).unwrap();
        assert_eq!(middle.positions(), [[1.0, 2.0, 0.0]]);
    }

    #[test]
    fn plane_includes_its_corners() {
        let seeds = Seeds::plane([1.0; 3], [2.0, 0.0, 0.0], [0.0, 1.0, 1.0], [3, 2]).unwrap();
        let expected = [
            [1.0, 1.0, 1.0],
            [2.0, 1.0, 1.0],
            [3.0, 1.0, 1.0],
            [1.0, 2.0, 2.0],
            [2.0, 2.0, 2.0],
            [3.0, 2.0, 2.0],
        ];
        assert_eq!(seeds.positions(), expected);
    }

    #[test]
    fn disc_is_orthogonal_to_its_normal_and_has_equal_areas() {
        let centre = [1.0, -2.0, 0.5];
        for normal in [[1.0, 2.0, -3.0], [0.0, 0.0, -1.0], [1e200, 0.0, 1e200], [0.0, 1e-200, 0.0]]
        {
            let count = 400;
            let seeds = Seeds::disc(centre, normal, 2.0, count).unwrap();
            let scale = normal.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
            let unit = normal.map(|x| x / scale);
            let mut inner = 0;
            let mut mean = [0.0; 3];
            for p in seeds.positions() {
                let r = minus(*p, centre);
                assert!(dot(r, unit).abs() < 1e-14);
                assert!(dot(r, r).sqrt() < 2.0);
                inner += usize::from(dot(r, r) < 1.0);
                mean = std::array::from_fn(|d| mean[d] + r[d] / count as f64);
            }
            // Half the radius encloses a quarter of the area.
            assert_eq!(inner, count / 4);
            assert!(dot(mean, mean).sqrt() < 0.02);
        }
    }

    #[test]
    fn disc_in_a_flat_domain_is_in_its_plane() {
        let seeds = Seeds::disc([1.0, 2.0, 0.3], [0.0, 0.0, 4.0], 1.0, 50).unwrap();
        assert!(seeds.positions().iter().all(|p| p[2] == 0.3));
    }

    #[test]
    fn sphere_has_equal_areas() {
        let (centre, count) = ([1.0, 2.0, 3.0], 1000);
        let seeds = Seeds::sphere(centre, 0.5, count).unwrap();
        let mut mean = [0.0; 3];
        let mut caps = [0; 3];
        for p in seeds.positions() {
            let r = minus(*p, centre);
            assert!((dot(r, r).sqrt() - 0.5).abs() < 1e-15);
            mean = std::array::from_fn(|d| mean[d] + r[d] / count as f64);
            caps = std::array::from_fn(|d| caps[d] + i32::from(r[d] > 0.25));
        }
        assert!(dot(mean, mean).sqrt() < 1e-3);
        // A cap beyond half the radius is a quarter of the sphere.
        assert!(caps.iter().all(|n| (n - 250).abs() <= 5), "{caps:?}");
    }

    #[test]
    fn errors_name_the_given_values() {
        assert!(message(Seeds::line([f64::NAN; 3], [0.0; 3], 2)).contains("first point"));
        assert!(message(Seeds::line([0.0; 3], [1.0; 3], 0)).contains("none"));
        assert!(message(Seeds::disc([0.0; 3], [0.0; 3], 1.0, 5)).contains("normal (0, 0, 0)"));
        let plane = Seeds::plane([0.0; 3], [1.0; 3], [1.0; 3], [usize::MAX, 2]);
        assert!(message(plane).contains("too many"));
        assert!(message(Seeds::sphere([0.0; 3], -1.0, 5)).contains("radius is -1"));
    }
}
