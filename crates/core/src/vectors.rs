//! Vector algebra.

pub(crate) fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(crate) fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub(crate) fn minus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|d| a[d] - b[d])
}

pub(crate) fn length(a: [f64; 3]) -> f64 {
    dot(a, a).sqrt()
}

/// The unit vector in the same direction; `None` for a zero or infinite vector.
pub(crate) fn unit(a: [f64; 3]) -> Option<[f64; 3]> {
    let largest = a.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    if largest == 0.0 || !largest.is_finite() {
        return None;
    }
    // Scaled first: squares may overflow or underflow.
    let scaled = a.map(|x| x / largest);
    let length = length(scaled);
    Some(scaled.map(|x| x / length))
}

/// Two unit vectors orthogonal to a unit vector and to each other, right-handed in the order
/// (first, second, given). A normal along an axis gives exact zeros.
pub(crate) fn across(normal: [f64; 3]) -> [[f64; 3]; 2] {
    // The axis farthest from the normal gives the longest cross product.
    let far = (0..3).fold(0, |d, e| if normal[e].abs() < normal[d].abs() { e } else { d });
    let axis = std::array::from_fn(|d| f64::from(u8::from(d == far)));
    let first = cross(axis, normal);
    let size = length(first);
    let first = first.map(|x| x / size);
    [first, cross(normal, first)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_vectors_are_orthonormal_and_right_handed() {
        for v in [[1.0, 2.0, -3.0], [0.0, 0.0, -4.0], [1e200, 0.0, 1e200], [0.0, 1e-200, 0.0]] {
            let n = unit(v).unwrap();
            let [a, b] = across(n);
            for (p, q, expected) in
                [(n, n, 1.0), (a, a, 1.0), (b, b, 1.0), (a, b, 0.0), (a, n, 0.0), (b, n, 0.0)]
            {
                assert!((dot(p, q) - expected).abs() < 1e-15);
            }
            assert!((dot(cross(a, b), n) - 1.0).abs() < 1e-15);
        }
        assert_eq!(unit([0.0; 3]), None);
        assert_eq!(unit([f64::INFINITY, 0.0, 0.0]), None);
    }
}
