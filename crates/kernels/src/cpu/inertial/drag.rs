//! The drag of particles with inertia by the Reynolds number, and their lift.

use crate::{cpu::Real, inertia::MIN_FACTOR};

/// The factor of the drag by a law and the speed of the slip.
#[inline(never)]
pub(super) fn factor<F: Real>([a, b, p]: [f64; 3], reynolds: F, speed: f64) -> f64 {
    a + b * (reynolds.exact() * speed).powf(p)
}

/// The factor that a step is linearised with: that of the slip at its start and of the one at which the drag would balance the pull, a
/// velocity at which that of Stokes does.
#[inline(never)]
pub(super) fn first_factor<F: Real>(law: [f64; 3], reynolds: F, [slip, pull]: [[F; 4]; 2]) -> f64 {
    let [slip, pull] = [slip, pull].map(length);
    let terminal =
        pull * factor(law, reynolds, pull).max(f64::MIN_POSITIVE).powf(-1.0 / (1.0 + law[2]));
    factor(law, reynolds, slip.hypot(terminal)).max(MIN_FACTOR)
}

#[inline(always)]
pub(super) fn length<F: Real>([u, v, w, _]: [F; 4]) -> f64 {
    (u * u + v * v + w * w).sqrt().exact()
}

/// The acceleration by lift over beta (Saffman 1965, J. Fluid Mech. 22:385), by its coefficient.
#[inline(never)]
pub(super) fn lift<F: Real>(
    coefficient: f64,
    reynolds: F,
    slip: [F; 4],
    vorticity: [F; 4],
) -> [F; 4] {
    let size = length(vorticity);
    if size == 0.0 {
        return [F::zero(); 4];
    }
    let by = F::of(coefficient / (reynolds.exact() * size.sqrt()));
    let across = |d: usize| {
        let (e, f) = ((d + 1) % 3, (d + 2) % 3);
        by * (slip[e] * vorticity[f] - slip[f] * vorticity[e])
    };
    [across(0), across(1), across(2), F::zero()]
}
