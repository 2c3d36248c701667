//! How displacements change positions: in a flat space, and on a sphere.

use super::{
    Real,
    lanes::{Four, Lanes, Vector, four, three},
    launch::Launch,
};
use crate::physics::{
    prelude::host::Vec3,
    sphere::host::{Place, change, local, place},
};

/// The surroundings of a position.
pub(crate) trait Chart<F: Real>: Copy {
    /// Whether it does nothing.
    const IS_FLAT: bool = false;

    /// Those of a position.
    fn at<L: Lanes<F>>(launch: &Launch<F>, position: L::Four) -> Self;
    /// What displacements are added to, before [`sum`](Self::sum).
    fn start<L: Lanes<F>>(&self, position: L::Four) -> L::Four;
    /// The position after a displacement from its start.
    fn sum<L: Lanes<F>>(&self, position: L::Four, sum: L::Four) -> L::Four;
    /// The change of position by a mean velocity over a time, and a rest.
    fn change<L: Lanes<F>>(&self, velocity: L::Four, h: L::Four, rest: L::Four) -> L::Four;
    /// The components of a velocity along the axes, and the coordinates that a tolerance is relative to.
    fn scale<L: Lanes<F>>(&self, velocity: L::Four, ends: [L::Four; 2]) -> (L::Four, [L::Four; 2]);
}

/// A flat space.
#[derive(Clone, Copy)]
pub(crate) struct Flat;

impl<F: Real> Chart<F> for Flat {
    const IS_FLAT: bool = true;

    #[inline(always)]
    fn at<L: Lanes<F>>(_: &Launch<F>, _: L::Four) -> Self {
        Flat
    }

    #[inline(always)]
    fn start<L: Lanes<F>>(&self, position: L::Four) -> L::Four {
        position
    }

    #[inline(always)]
    fn sum<L: Lanes<F>>(&self, _: L::Four, sum: L::Four) -> L::Four {
        sum
    }

    #[inline(always)]
    fn change<L: Lanes<F>>(&self, velocity: L::Four, h: L::Four, rest: L::Four) -> L::Four {
        velocity.fma(h, rest)
    }

    #[inline(always)]
    fn scale<L: Lanes<F>>(&self, velocity: L::Four, ends: [L::Four; 2]) -> (L::Four, [L::Four; 2]) {
        (velocity, ends)
    }
}

/// A sphere.
impl<F: Real> Chart<F> for Place<F> {
    #[inline(always)]
    fn at<L: Lanes<F>>(launch: &Launch<F>, position: L::Four) -> Self {
        place(launch, Vec3(three(position.array())))
    }

    #[inline(always)]
    fn start<L: Lanes<F>>(&self, _: L::Four) -> L::Four {
        L::Four::splat(F::zero())
    }

    #[inline(always)]
    fn sum<L: Lanes<F>>(&self, position: L::Four, sum: L::Four) -> L::Four {
        let [x, y, z, height] = sum.array();
        position + four::<F, L>(&change(self, local(self, Vec3([x, y, z])), height).0)
    }

    #[inline(always)]
    fn change<L: Lanes<F>>(&self, velocity: L::Four, h: L::Four, rest: L::Four) -> L::Four {
        self.sum::<L>(rest, velocity * h)
    }

    /// Towards the east, the north, and upwards, relative to the distance from the centre.
    #[inline(always)]
    fn scale<L: Lanes<F>>(&self, velocity: L::Four, _: [L::Four; 2]) -> (L::Four, [L::Four; 2]) {
        let [x, y, z, height] = velocity.array();
        let [east, north, _] = local(self, Vec3([x, y, z])).0;
        (four::<F, L>(&[east, north, height]), [L::Four::splat(self.radius); 2])
    }
}

/// One of both, known at run time.
impl<F: Real> Chart<F> for Option<Place<F>> {
    #[inline(always)]
    fn at<L: Lanes<F>>(launch: &Launch<F>, position: L::Four) -> Self {
        launch.features.sphere.then(|| Place::at::<L>(launch, position))
    }

    #[inline(always)]
    fn start<L: Lanes<F>>(&self, position: L::Four) -> L::Four {
        match self {
            Some(place) => place.start::<L>(position),
            None => position,
        }
    }

    #[inline(always)]
    fn sum<L: Lanes<F>>(&self, position: L::Four, sum: L::Four) -> L::Four {
        match self {
            Some(place) => place.sum::<L>(position, sum),
            None => sum,
        }
    }

    #[inline(always)]
    fn change<L: Lanes<F>>(&self, velocity: L::Four, h: L::Four, rest: L::Four) -> L::Four {
        match self {
            Some(place) => place.change::<L>(velocity, h, rest),
            None => Flat.change::<L>(velocity, h, rest),
        }
    }

    #[inline(always)]
    fn scale<L: Lanes<F>>(&self, velocity: L::Four, ends: [L::Four; 2]) -> (L::Four, [L::Four; 2]) {
        match self {
            Some(place) => place.scale::<L>(velocity, ends),
            None => (velocity, ends),
        }
    }
}
