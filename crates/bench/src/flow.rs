//! The flows of the workloads, evaluated on the host.

use std::f64::consts::{PI, TAU};

/// Velocity of a divergence-free flow in the unit cube with impermeable walls, periodic in time,
/// and mirrored beyond the walls:
///
/// ```text
/// u =  a(t) sin(pi x) cos(pi y)  - c(t) sin(pi x) cos(pi z)
/// v = -a(t) cos(pi x) sin(pi y)  + b(t) sin(2 pi y) cos(2 pi z)
/// w =  c(t) cos(pi x) sin(pi z)  - b(t) cos(2 pi y) sin(2 pi z)
/// ```
pub fn velocity(point: [f64; 3], t: f64) -> [f64; 3] {
    let a = 0.5 * (1.0 + 0.3 * (TAU * t / 4.0).sin());
    let b = 0.25 * (1.0 + 0.5 * (TAU * t / 2.0).cos());
    let c = 0.4 * (1.0 + 0.4 * (TAU * t / 3.0 + 1.0).sin());
    let [(sx, cx), (sy, cy), (sz, cz)] = point.map(|x| (PI * x).sin_cos());
    let (s2y, c2y) = (TAU * point[1]).sin_cos();
    let (s2z, c2z) = (TAU * point[2]).sin_cos();
    let v = [a * sx * cy - c * sx * cz, b * s2y * c2z - a * cx * sy, c * cx * sz - b * c2y * s2z];
    // The sine of pi is not quite zero in floating point.
    std::array::from_fn(|d| if point[d].fract() == 0.0 { 0.0 } else { v[d] })
}

/// The definitions and the components of [`velocity`] as formulas.
pub const DEFINITIONS: [(&str, &str); 3] = [
    ("a", "0.5*(1 + 0.3*sin(2*pi*t/4))"),
    ("b", "0.25*(1 + 0.5*cos(2*pi*t/2))"),
    ("c", "0.4*(1 + 0.4*sin(2*pi*t/3 + 1))"),
];
pub const COMPONENTS: [&str; 3] = [
    "a*sin(pi*x)*cos(pi*y) - c*sin(pi*x)*cos(pi*z)",
    "b*sin(2*pi*y)*cos(2*pi*z) - a*cos(pi*x)*sin(pi*y)",
    "c*cos(pi*x)*sin(pi*z) - b*cos(2*pi*y)*sin(2*pi*z)",
];

/// Velocity of the double gyre with its usual parameters.
pub fn double_gyre([x, y, _]: [f64; 3], t: f64) -> [f64; 3] {
    let (amplitude, a) = (0.1, 0.25 * (TAU * t / 10.0).sin());
    let (phi, slope) = (a * x * x + (1.0 - 2.0 * a) * x, 2.0 * a * x + 1.0 - 2.0 * a);
    let u = -PI * amplitude * (PI * phi).sin() * (PI * y).cos();
    [u, PI * amplitude * (PI * phi).cos() * (PI * y).sin() * slope, 0.0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walls_are_impermeable_and_divergence_is_zero() {
        let h = 1e-4;
        for t in [0.0, 0.7, 1.9] {
            assert_eq!(velocity([1.0, 0.3, 0.6], t)[0], 0.0);
            assert_eq!(velocity([0.2, 0.0, 0.6], t)[1], 0.0);
            assert_eq!(velocity([0.2, 0.3, 1.0], t)[2], 0.0);
            assert_eq!(velocity([2.0, 0.3, 0.6], t)[0], 0.0);
            let p = [0.2, 0.3, 0.6];
            let derivative = |d: usize| {
                let at = |sign: f64| {
                    let mut q = p;
                    q[d] += sign * h;
                    velocity(q, t)[d]
                };
                (at(1.0) - at(-1.0)) / (2.0 * h)
            };
            assert!((derivative(0) + derivative(1) + derivative(2)).abs() < 1e-6);
        }
    }
}
