//! The weights of steps of particles with inertia.

use crate::cpu::Real;

/// The exact motion over a part of a step towards a polynomial in time: the weights of the velocity at the start and of the
/// polynomial's coefficients, for the displacement and for the change of the velocity.
#[derive(Clone, Copy)]
pub(super) struct Weights<F> {
    pub of_velocity: [F; 2],
    pub of_targets: [[F; 2]; 3],
}

impl<F: Real> Weights<F> {
    /// Of half a step, and of a whole one.
    #[cold]
    #[inline(never)]
    pub fn of_step(h: f64, tau: f64) -> [Self; 2] {
        [0.5, 1.0].map(|part| Weights::new(h, tau, part))
    }

    fn new(h: f64, tau: f64, part: f64) -> Self {
        let time = part * h;
        let z = time / tau;
        let phis = phi(z);
        let scales = [z, z * part, z * 2.0 * part * part];
        let of_target = |k: usize| [scales[k] * time * phis[k + 1], scales[k] * phis[k]].map(F::of);
        Weights {
            of_velocity: [time * phis[0], -z * phis[0]].map(F::of),
            of_targets: [of_target(0), of_target(1), of_target(2)],
        }
    }
}

/// phi_1 to phi_4 at -z, for z of 0 or more: phi_0 = exp, phi_k(y) = y phi_(k+1)(y) + 1/k!.
fn phi(z: f64) -> [f64; 4] {
    if z >= 1.0 {
        let one = (1.0 - (-z).exp()) / z;
        let two = (1.0 - one) / z;
        let three = (0.5 - two) / z;
        return [one, two, three, (1.0 / 6.0 - three) / z];
    }
    // By its series, as the recurrence loses digits.
    let four = (0..TERMS).rev().fold(0.0, |sum, n| INVERSE_FACTORIALS[n + 4] - z * sum);
    let three = 1.0 / 6.0 - z * four;
    let two = 0.5 - z * three;
    [1.0 - z * two, two, three, four]
}

/// Terms of a series for numbers up to 1 in double precision.
const TERMS: usize = 16;

const INVERSE_FACTORIALS: [f64; TERMS + 4] = {
    let mut inverse = [1.0; TERMS + 4];
    let mut n = 1;
    while n < inverse.len() {
        inverse[n] = inverse[n - 1] / n as f64;
        n += 1;
    }
    inverse
};
