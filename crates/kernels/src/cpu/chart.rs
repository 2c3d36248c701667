//! How displacements change positions: in a flat space, and on a sphere.

mod flow;
mod series;

pub(crate) use flow::Flow;

use super::{
    Real,
    lanes::{Four, Lanes, Vector},
    launch::Launch,
};
use crate::physics::{
    prelude::host::Vec3,
    sphere::host::{Place, change, local},
    tables::RADIUS,
};
use series::{arc, excess, number, turn};
use std::f64::consts::PI;

/// Fours of particles in the largest group.
const FOURS: usize = 2;

/// Work on particles in groups.
pub(crate) trait InGroups {
    /// Takes groups of `G`.
    fn run<const G: usize>(self);
}

/// A space in which particles move.
pub(crate) trait Chart<F: Real> {
    /// Whether displacements are changes of position.
    const IS_FLAT: bool = false;

    /// The surroundings of a few positions, each in a lane.
    type Around<V: Four<F>>: Copy;

    /// Those of positions, of which there are [`FOURS`] times four at most.
    fn around<L: Lanes<F>, const G: usize>(
        launch: &Launch<F>,
        positions: &[L::Four; G],
    ) -> Self::Around<L::Four>;

    /// Takes particles in groups of the size that suits the space.
    fn in_groups(work: impl InGroups);

    /// What displacements of a stage are added to.
    fn start<L: Lanes<F>>(around: &Self::Around<L::Four>, position: L::Four) -> L::Four;

    /// The positions of a stage, from what was added.
    fn stage<L: Lanes<F>, const G: usize>(
        around: &Self::Around<L::Four>,
        positions: &[L::Four; G],
        sums: [L::Four; G],
    ) -> [L::Four; G];

    /// The changes of positions by mean velocities over a time, and their rests.
    fn step<L: Lanes<F>, const G: usize>(
        around: &Self::Around<L::Four>,
        velocities: [L::Four; G],
        h: L::Four,
        rests: &[L::Four; G],
    ) -> [L::Four; G];

    /// The components of velocities along the axes.
    fn along_axes<L: Lanes<F>, const G: usize>(
        around: &Self::Around<L::Four>,
        velocities: [L::Four; G],
    ) -> [L::Four; G];
}

/// A flat space.
pub(crate) struct Flat;

impl<F: Real> Chart<F> for Flat {
    const IS_FLAT: bool = true;
    type Around<V: Four<F>> = ();

    #[inline(always)]
    fn around<L: Lanes<F>, const G: usize>(_: &Launch<F>, _: &[L::Four; G]) {}

    #[inline(always)]
    fn in_groups(work: impl InGroups) {
        work.run::<4>();
    }

    #[inline(always)]
    fn start<L: Lanes<F>>(_: &(), position: L::Four) -> L::Four {
        position
    }

    #[inline(always)]
    fn stage<L: Lanes<F>, const G: usize>(
        _: &(),
        _: &[L::Four; G],
        sums: [L::Four; G],
    ) -> [L::Four; G] {
        sums
    }

    #[inline(always)]
    fn step<L: Lanes<F>, const G: usize>(
        _: &(),
        velocities: [L::Four; G],
        h: L::Four,
        rests: &[L::Four; G],
    ) -> [L::Four; G] {
        let mut displacements = velocities;
        // By index: an iterator call might not be inlined.
        for g in 0..G {
            displacements[g] = velocities[g].fma(h, rests[g]);
        }
        displacements
    }

    #[inline(always)]
    fn along_axes<L: Lanes<F>, const G: usize>(_: &(), velocities: [L::Four; G]) -> [L::Four; G] {
        velocities
    }
}

/// A sphere, as [`sphere`](crate::physics::sphere) has it, for four particles at once. While the series of four are computed, one
/// after the other, those of the next four fill the processor.
pub(crate) struct Sphere;

/// Sines and cosines of longitudes and latitudes, and distances from the centre.
#[derive(Clone, Copy)]
pub(crate) struct Places<V> {
    sin_lon: V,
    cos_lon: V,
    sin_lat: V,
    cos_lat: V,
    radius: V,
}

impl<V> Places<V> {
    /// Components towards the east, the north and upwards of vectors in space.
    #[inline(always)]
    fn local<F: Real>(&self, [x, y, z]: [V; 3]) -> [V; 3]
    where
        V: Four<F>,
    {
        let away = x * self.cos_lon + y * self.sin_lon;
        let east = y * self.cos_lon - x * self.sin_lon;
        let north = z * self.cos_lat - away * self.sin_lat;
        [east, north, away * self.cos_lat + z * self.sin_lat]
    }

    /// The place in a lane.
    #[inline(always)]
    fn place<F: Real>(&self, g: usize) -> Place<F>
    where
        V: Four<F>,
    {
        let [sin_lon, cos_lon] = [self.sin_lon.array()[g], self.cos_lon.array()[g]];
        let [sin_lat, cos_lat] = [self.sin_lat.array()[g], self.cos_lat.array()[g]];
        Place {
            east: Vec3([-sin_lon, cos_lon, F::zero()]),
            north: Vec3([-sin_lat * cos_lon, -sin_lat * sin_lon, cos_lat]),
            up: Vec3([cos_lat * cos_lon, cos_lat * sin_lon, sin_lat]),
            radius: self.radius.array()[g],
        }
    }
}

impl<F: Real> Chart<F> for Sphere {
    type Around<V: Four<F>> = [Places<V>; FOURS];

    #[inline(always)]
    fn around<L: Lanes<F>, const G: usize>(
        launch: &Launch<F>,
        positions: &[L::Four; G],
    ) -> [Places<L::Four>; FOURS] {
        const { assert!(G <= 4 * FOURS) };
        let zero = L::Four::splat(F::zero());
        let mut around =
            [Places { sin_lon: zero, cos_lon: zero, sin_lat: zero, cos_lat: zero, radius: zero };
                FOURS];
        // By index: an iterator call might not be inlined.
        #[allow(clippy::needless_range_loop)]
        for four in 0..G.div_ceil(4) {
            let [lon, lat, height, _] = L::Four::transposed(rows::<F, L, G>(positions, four));
            let ([sin_lon, cos_lon], [sin_lat, cos_lat]) = (turn::<F, L>(lon), turn::<F, L>(lat));
            let radius = L::Four::splat(launch.float(RADIUS)) + height;
            around[four] = Places { sin_lon, cos_lon, sin_lat, cos_lat, radius };
        }
        around
    }

    #[inline(always)]
    fn in_groups(work: impl InGroups) {
        work.run::<{ 4 * FOURS }>();
    }

    #[inline(always)]
    fn start<L: Lanes<F>>(_: &[Places<L::Four>; FOURS], _: L::Four) -> L::Four {
        L::Four::splat(F::zero())
    }

    #[inline(always)]
    fn stage<L: Lanes<F>, const G: usize>(
        around: &[Places<L::Four>; FOURS],
        positions: &[L::Four; G],
        sums: [L::Four; G],
    ) -> [L::Four; G] {
        let mut stage = changes::<F, L, G>(around, &sums);
        for g in 0..G {
            stage[g] = positions[g] + stage[g];
        }
        stage
    }

    #[inline(always)]
    fn step<L: Lanes<F>, const G: usize>(
        around: &[Places<L::Four>; FOURS],
        velocities: [L::Four; G],
        h: L::Four,
        rests: &[L::Four; G],
    ) -> [L::Four; G] {
        let mut displacements = velocities;
        for g in 0..G {
            displacements[g] = velocities[g] * h;
        }
        Sphere::stage::<L, G>(around, rests, displacements)
    }

    #[inline(always)]
    fn along_axes<L: Lanes<F>, const G: usize>(
        around: &[Places<L::Four>; FOURS],
        velocities: [L::Four; G],
    ) -> [L::Four; G] {
        let mut components = velocities;
        for four in 0..G.div_ceil(4) {
            let [x, y, z, up] = L::Four::transposed(rows::<F, L, G>(&velocities, four));
            let [east, north, _] = around[four].local([x, y, z]);
            let all = L::Four::transposed([east, north, up, L::Four::splat(F::zero())]);
            // By index: a copy of slices might not be inlined.
            #[allow(clippy::manual_memcpy)]
            for g in 4 * four..G.min(4 * four + 4) {
                components[g] = all[g - 4 * four];
            }
        }
        components
    }
}

/// One of both, known at run time.
pub(crate) struct Either;

impl<F: Real> Chart<F> for Either {
    type Around<V: Four<F>> = Option<[Places<V>; FOURS]>;

    #[inline(always)]
    fn around<L: Lanes<F>, const G: usize>(
        launch: &Launch<F>,
        positions: &[L::Four; G],
    ) -> Option<[Places<L::Four>; FOURS]> {
        launch.features.sphere.then(|| Sphere::around::<L, G>(launch, positions))
    }

    #[inline(always)]
    fn in_groups(work: impl InGroups) {
        work.run::<1>();
    }

    #[inline(always)]
    fn start<L: Lanes<F>>(around: &Option<[Places<L::Four>; FOURS]>, position: L::Four) -> L::Four {
        match around {
            Some(places) => Sphere::start::<L>(places, position),
            None => position,
        }
    }

    #[inline(always)]
    fn stage<L: Lanes<F>, const G: usize>(
        around: &Option<[Places<L::Four>; FOURS]>,
        positions: &[L::Four; G],
        sums: [L::Four; G],
    ) -> [L::Four; G] {
        match around {
            Some(places) => Sphere::stage::<L, G>(places, positions, sums),
            None => sums,
        }
    }

    #[inline(always)]
    fn step<L: Lanes<F>, const G: usize>(
        around: &Option<[Places<L::Four>; FOURS]>,
        velocities: [L::Four; G],
        h: L::Four,
        rests: &[L::Four; G],
    ) -> [L::Four; G] {
        match around {
            Some(places) => Sphere::step::<L, G>(places, velocities, h, rests),
            None => Flat::step::<L, G>(&(), velocities, h, rests),
        }
    }

    #[inline(always)]
    fn along_axes<L: Lanes<F>, const G: usize>(
        around: &Option<[Places<L::Four>; FOURS]>,
        velocities: [L::Four; G],
    ) -> [L::Four; G] {
        match around {
            Some(places) => Sphere::along_axes::<L, G>(places, velocities),
            None => velocities,
        }
    }
}

/// Four vectors of some, the last ones zero.
#[inline(always)]
fn rows<F: Real, L: Lanes<F>, const G: usize>(vectors: &[L::Four; G], four: usize) -> [L::Four; 4] {
    let mut rows = [L::Four::splat(F::zero()); 4];
    // By index: a copy of slices might not be inlined.
    #[allow(clippy::manual_memcpy)]
    for g in 4 * four..G.min(4 * four + 4) {
        rows[g - 4 * four] = vectors[g];
    }
    rows
}

/// The changes of positions on a sphere by displacements.
#[inline(always)]
fn changes<F: Real, L: Lanes<F>, const G: usize>(
    around: &[Places<L::Four>; FOURS],
    displacements: &[L::Four; G],
) -> [L::Four; G] {
    let mut changes = *displacements;
    // By index: an iterator call might not be inlined.
    #[allow(clippy::needless_range_loop)]
    for four in 0..G.div_ceil(4) {
        let (all, small) = changes_of_four::<F, L>(
            &around[four],
            L::Four::transposed(rows::<F, L, G>(displacements, four)),
        );
        for g in 4 * four..G.min(4 * four + 4) {
            let lane = g - 4 * four;
            changes[g] = all[lane];
            if small >> lane & 1 == 0 {
                let place = around[four].place::<F>(lane);
                changes[g] =
                    super::lanes::four::<F, L>(&large_change(&place, displacements[g].array()));
            }
        }
    }
    changes
}

/// The changes of four positions, each in a lane of a displacement's components, and the bits of those that are small enough.
#[inline(always)]
fn changes_of_four<F: Real, L: Lanes<F>>(
    around: &Places<L::Four>,
    [x, y, z, height]: [L::Four; 4],
) -> ([L::Four; 4], u32) {
    let [east, north, up] = around.local([x, y, z]);
    let upwards = height.fma(number::<F, L>(0.5), around.radius + up);
    let along = upwards * around.cos_lat - north * around.sin_lat;
    let limit = along * number::<F, L>(0.0625);
    let negative = number::<F, L>(0.0) - limit;
    let small = east.less(limit) & negative.less(east) & north.less(limit) & negative.less(north);
    let tangent = east.per(along);
    let more = along * excess::<F, L>(tangent * tangent);
    let slope = (north - around.sin_lat * more).per(upwards + around.cos_lat * more);
    let degrees = number::<F, L>(180.0 / PI);
    let (lon, lat) = (degrees * arc::<F, L>(tangent), degrees * arc::<F, L>(slope));
    (L::Four::transposed([lon, lat, height, L::Four::splat(F::zero())]), small)
}

/// The change of a position by a displacement that is not small beside the distance from the axis.
#[cold]
#[inline(never)]
fn large_change<F: Real>(place: &Place<F>, [x, y, z, height]: [F; 4]) -> [F; 3] {
    change(place, local(place, Vec3([x, y, z])), height).0
}
