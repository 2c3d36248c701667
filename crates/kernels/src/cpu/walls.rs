//! The faces of the domain box in vectors: quick tests, and periodic images of stages.

use super::{
    Real,
    lanes::{Four, Lanes, three},
    launch::Launch,
};
use crate::{
    Boundary,
    physics::{faces, prelude::host::Vec3},
};

/// The domain box.
pub(crate) struct Walls<'a, F: Real> {
    launch: Launch<'a, F>,
    low: [F; 4],
    high: [F; 4],
    /// Maximum coordinates at which a stage needs no image: below the high face of a periodic axis.
    last: [F; 4],
    any_periodic: bool,
}

impl<'a, F: Real> Walls<'a, F> {
    pub fn new(boundary: &Boundary, launch: Launch<'a, F>) -> Self {
        let low = |d: usize| F::of(boundary.low[d]).max(F::min_value());
        let high = |d: usize| F::of(boundary.high[d]).min(F::max_value());
        let last = |d: usize| if boundary.is_periodic(d) { high(d).next_down() } else { high(d) };
        Walls {
            launch,
            low: [low(0), low(1), low(2), F::zero()],
            high: [high(0), high(1), high(2), F::zero()],
            last: [last(0), last(1), last(2), F::zero()],
            any_periodic: (0..3).any(|d| boundary.is_periodic(d)),
        }
    }

    /// Whether a point is in the box; false for non-finite points.
    #[inline(always)]
    pub fn contain<L: Lanes<F>>(&self, p: L::Four) -> bool {
        self.contain_all::<L, 1>(&[p])
    }

    /// Whether all points are in the box.
    #[inline(always)]
    pub fn contain_all<L: Lanes<F>, const G: usize>(&self, points: &[L::Four; G]) -> bool {
        let (low, high) = (L::Four::new(self.low), L::Four::new(self.high));
        let mut inside = points[0].inside(low, high);
        // By index: an iterator call might not be inlined and unrolled.
        #[allow(clippy::needless_range_loop)]
        for g in 1..G {
            inside = inside.and(points[g].inside(low, high));
        }
        inside.has_three()
    }

    /// The point at which the field is sampled for a stage at `p`: its image in the box on periodic
    /// axes, itself on the others (samplers extrapolate beyond their grid).
    #[inline(always)]
    pub fn wrap<L: Lanes<F>>(&self, p: L::Four) -> L::Four {
        if !self.any_periodic {
            return p;
        }
        if p.inside(L::Four::new(self.low), L::Four::new(self.last)).has_three() {
            return p;
        }
        let [x, y, z] = self.wrap_outside(three(p.array()));
        L::Four::new([x, y, z, F::zero()])
    }

    #[cold]
    #[inline(never)]
    fn wrap_outside(&self, p: [F; 3]) -> [F; 3] {
        faces::host::wrap(&self.launch, Vec3(p)).0
    }
}
