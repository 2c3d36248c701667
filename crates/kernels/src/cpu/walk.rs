//! A random walk beside the steps of the field.
//!
//! It is a function of its own, and not part of the loop that is compiled for every kind of vectors:
//! most of its time goes into three normal numbers, which are no faster in vectors of one particle.

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

/// Who takes which step: slot, generation, and the number of the step in the run.
pub(super) type Address = [u32; 3];

/// The diffusivity of each axis, and its derivative along that axis.
struct Spread<F> {
    k: [F; 3],
    slope: [F; 3],
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

    /// Where a particle is after its walk in a step of length `h` that began at `from`, the field
    /// having taken it to `to`.
    #[inline(never)]
    pub fn stray<S: Sampler<F>>(
        &self,
        (from, to): ([F; 3], [F; 3]),
        [slot, generation, step]: Address,
        (h, moment): (F, &FramePair<F>),
        field: (&Walls<F>, &S, &S::Hint),
    ) -> [F; 3] {
        let normal = normals::<F>(bits(self.seed, slot, generation, step, WALK));
        let mut spread = Spread { k: self.diffusivity, slope: [F::zero(); 3] };
        if self.varies {
            spread = self.spread(from, moment, field);
        }
        let dt = h.abs();
        [0, 1, 2].map(|d| {
            let dw = dt.sqrt() * normal[d];
            let squares = if self.is_milstein { F::of(0.5) * (dw * dw + dt) } else { dt };
            to[d] + (spread.slope[d] * squares + (spread.k[d] + spread.k[d]).sqrt() * dw)
        })
    }

    /// The field's diffusivity around a place, by central differences.
    fn spread<S: Sampler<F>>(
        &self,
        at: [F; 3],
        moment: &FramePair<F>,
        (walls, sampler, hint): (&Walls<F>, &S, &S::Hint),
    ) -> Spread<F> {
        let mut hint = *hint;
        let mut diffusivity = |at: [F; 3]| {
            let at = walls.wrap::<Portable>(four::<F, Portable>(&at));
            sampler.sample::<Portable>(at, moment, &mut hint).array()[3]
        };
        let here = diffusivity(at).max(F::zero());
        let mut spread = Spread { k: self.diffusivity.map(|k| k * here), slope: [F::zero(); 3] };
        for d in (0..3).filter(|d| self.diffusivity[*d] > F::zero()) {
            let (mut above, mut below) = (at, at);
            above[d] = at[d] + self.reach[d];
            below[d] = at[d] - self.reach[d];
            let difference = diffusivity(above) - diffusivity(below);
            spread.slope[d] = self.diffusivity[d] * difference / (self.reach[d] + self.reach[d]);
        }
        spread
    }
}
