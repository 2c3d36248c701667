//! A random walk added to the steps of the field.
//!
//! It is not inlined into the loop that is compiled for every vector family: most of its time goes
//! into three normal variates, which vectors do not speed up for one particle.

use super::{
    Real, Sampler, four,
    frame_pair::FramePair,
    lanes::{Four, Portable},
    random::normals,
    walls::Walls,
};
use crate::{
    Walk, WalkScheme,
    random::{WALK, bits},
};

/// A random walk in the kernel's precision.
pub(super) struct Walker<F> {
    seed: u64,
    diffusivity: [F; 3],
    varies: bool,
    reach: [F; 3],
    is_milstein: bool,
}

/// Slot, generation and step number of a random draw.
pub(super) type Address = [u32; 3];

/// The diffusivity along each axis, and its derivative along that axis.
struct Spread<F> {
    k: [F; 3],
    gradient: [F; 3],
}

impl<F: Real> Walker<F> {
    pub fn new(walk: &Walk) -> Self {
        Walker {
            seed: walk.seed,
            diffusivity: walk.diffusivity.map(F::of),
            varies: walk.varies,
            reach: walk.reach.map(F::of),
            is_milstein: walk.scheme == WalkScheme::Milstein,
        }
    }

    /// The position after the random walk of a step of length `h` from `from`, which the field
    /// moved to `to`.
    #[inline(never)]
    pub fn diffuse<S: Sampler<F>>(
        &self,
        (from, to): ([F; 3], [F; 3]),
        [slot, generation, step]: Address,
        (h, pair): (F, &FramePair<F>),
        field: (&Walls<F>, &S, &S::Hint),
    ) -> [F; 3] {
        let normal = normals::<F>(bits(self.seed, slot, generation, step, WALK));
        let mut spread = Spread { k: self.diffusivity, gradient: [F::zero(); 3] };
        if self.varies {
            spread = self.spread(from, pair, field);
        }
        let dt = h.abs();
        [0, 1, 2].map(|d| {
            let dw = dt.sqrt() * normal[d];
            let squares = if self.is_milstein { F::of(0.5) * (dw * dw + dt) } else { dt };
            to[d] + (spread.gradient[d] * squares + (spread.k[d] + spread.k[d]).sqrt() * dw)
        })
    }

    /// The field's diffusivity around a position, with central differences.
    fn spread<S: Sampler<F>>(
        &self,
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
        let mut spread = Spread { k: self.diffusivity.map(|k| k * here), gradient: [F::zero(); 3] };
        for d in (0..3).filter(|d| self.diffusivity[*d] > F::zero()) {
            let (mut above, mut below) = (at, at);
            above[d] = at[d] + self.reach[d];
            below[d] = at[d] - self.reach[d];
            let difference = diffusivity(above) - diffusivity(below);
            spread.gradient[d] = self.diffusivity[d] * difference / (self.reach[d] + self.reach[d]);
        }
        spread
    }
}
