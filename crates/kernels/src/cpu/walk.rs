//! A random walk added to the steps of the field.
//!
//! It is not inlined into the loop that is compiled for every vector family: most of its time goes
//! into three normal variates, which vectors do not speed up for one particle.

use super::{
    Real, Sampler, four,
    frame_pair::FramePair,
    lanes::{Four, Portable},
    launch::Launch,
    walls::Walls,
};
use crate::physics::{
    diffusion::host::{Address, Spread, displacement},
    prelude::host::Vec3,
    tables::{DIFFUSIVITY, REACHES},
};

/// The displacement of a random walk in a step of length `h` from `from`.
#[inline(never)]
pub(super) fn diffuse<F: Real, S: Sampler<F>>(
    launch: &Launch<F>,
    from: [F; 3],
    address: Address,
    (h, pair): (F, &FramePair<F>),
    field: (&Walls<F>, &S, &S::Hint),
) -> [F; 3] {
    let spread = match launch.features.walk.varies {
        true => spread(launch, from, pair, field),
        false => Spread { here: F::one(), gradient: Vec3([F::zero(); 3]) },
    };
    displacement(launch, &address, &spread, h).0
}

/// The field's diffusivity around a position, with central differences.
fn spread<F: Real, S: Sampler<F>>(
    launch: &Launch<F>,
    at: [F; 3],
    pair: &FramePair<F>,
    (walls, sampler, hint): (&Walls<F>, &S, &S::Hint),
) -> Spread<F> {
    let mut hint = *hint;
    let mut diffusivity = |at: [F; 3]| {
        let at = walls.wrap::<Portable>(four::<F, Portable>(&at));
        sampler.sample::<Portable>(at, pair, &mut hint).array()[3]
    };
    let here = diffusivity(at).max(F::zero());
    let mut gradient = [F::zero(); 3];
    for d in 0..3 {
        let (factor, reach) = (launch.float(DIFFUSIVITY + d), launch.float(REACHES + d));
        if factor > F::zero() {
            let (mut above, mut below) = (at, at);
            above[d] = at[d] + reach;
            below[d] = at[d] - reach;
            let difference = diffusivity(above) - diffusivity(below);
            gradient[d] = factor * difference / (reach + reach);
        }
    }
    Spread { here, gradient: Vec3(gradient) }
}
