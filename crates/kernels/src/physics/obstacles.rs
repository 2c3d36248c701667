//! All obstacles: where a path first meets one, and which points they allow.

use burntrace_macros::host_device;

/// Maximum number of corrections to move a point out of all obstacles.
const MAX_ROUNDS: i32 = 8;

#[host_device]
pub(crate) mod obstacles {
    use super::MAX_ROUNDS;
    use crate::obstacle::{FACETED, LAND};
    use crate::physics::{
        body::both::{
            Line, allows, clearance, intersection, is_clear, line, load, normal, projected,
        },
        cursor::both::in_box,
        facets::both as facets,
        land::both as land,
        tables::OBSTACLES_AT,
    };

    /// A point, and whether a particle may be there.
    pub(crate) struct AllowedPoint<F: Float> {
        pub point: Vec3<F>,
        pub is_allowed: bool,
    }

    /// The first crossing to the forbidden side of an obstacle.
    pub(crate) struct Hit<F: Float> {
        /// Index of the obstacle; -1 if there is none.
        pub which: i32,
        pub fraction: F,
        /// The point there.
        pub point: Vec3<F>,
        /// The unit normal towards the allowed side.
        pub normal: Vec3<F>,
    }

    /// A crossing of a line to the forbidden side of one obstacle.
    pub(crate) struct Contact<F: Float> {
        pub distance: F,
        /// The bound, triangle or wall that is met, or -1.
        pub bound: i32,
        /// The point on the allowed side there, and the unit normal towards it.
        pub point: Vec3<F>,
        pub normal: Vec3<F>,
    }

    #[inline(always)]
    pub(crate) fn count<F: Float>(launch: &Launch<F>) -> usize {
        launch.int(launch.int(OBSTACLES_AT) as usize) as usize
    }

    /// Whether the straight path between two points certainly meets no obstacle and ends at an
    /// allowed point.
    pub(crate) fn is_clear_of_all<F: Float>(
        launch: &Launch<F>,
        from: Vec3<F>,
        to: Vec3<F>,
    ) -> bool {
        let mut is_clear_of_all = true;
        for k in 0..count::<F>(launch) {
            if is_clear_of_all {
                is_clear_of_all = is_clear_of::<F>(launch, k, from, to);
            }
        }
        is_clear_of_all
    }

    /// As [`is_clear_of_all`], for obstacle `k`.
    fn is_clear_of<F: Float>(launch: &Launch<F>, k: usize, from: Vec3<F>, to: Vec3<F>) -> bool {
        let body = load::<F>(launch, k);
        let mut clear = true;
        let mut is_convex = true;
        if comptime!(launch.features.surfaces) {
            let is_faceted = body.code == FACETED;
            is_convex = is_convex && !is_faceted;
            if is_faceted {
                let facets = facets::load::<F>(launch, k);
                clear = facets::is_clear::<F>(launch, &facets, from, to);
            }
        }
        if comptime!(launch.features.land) {
            let is_land = body.code == LAND;
            is_convex = is_convex && !is_land;
            if is_land {
                let lattice = land::load::<F>(launch, k);
                clear = land::is_clear::<F>(launch, &lattice, from, to);
            }
        }
        if is_convex {
            clear = is_clear::<F>(&body, from, to);
        }
        clear
    }

    /// The nearest allowed point: the given one, or a corrected one.
    pub(crate) fn nearest_allowed<F: Float>(launch: &Launch<F>, point: Vec3<F>) -> AllowedPoint<F> {
        let mut point = point;
        let mut is_allowed = false;
        let mut rounds = 0i32;
        while !is_allowed && rounds < MAX_ROUNDS {
            point = in_box::<F>(launch, point);
            is_allowed = true;
            let mut moved = point;
            for k in 0..count::<F>(launch) {
                // If the previous obstacles allow the point, it is not moved yet.
                let off = moved_off::<F>(launch, k, moved);
                if !off.is_allowed {
                    launch.meet(k as i32, -1i32);
                    is_allowed = false;
                    moved = off.point;
                }
            }
            if !is_allowed {
                point = moved;
            }
            rounds += 1;
        }
        AllowedPoint::<F> { point, is_allowed }
    }

    /// A point, or a corrected one if obstacle `k` does not allow it.
    fn moved_off<F: Float>(launch: &Launch<F>, k: usize, from: Vec3<F>) -> AllowedPoint<F> {
        let body = load::<F>(launch, k);
        let mut point = from;
        let mut is_allowed = true;
        let mut is_convex = true;
        if comptime!(launch.features.surfaces) {
            let is_faceted = body.code == FACETED;
            is_convex = is_convex && !is_faceted;
            if is_faceted {
                let facets = facets::load::<F>(launch, k);
                let probe = facets::probe::<F>(launch, &facets, from, true);
                is_allowed = probe.clearance > F::new(0.5_f32) * facets.skin;
                point = probe.off;
            }
        }
        if comptime!(launch.features.land) {
            let is_land = body.code == LAND;
            is_convex = is_convex && !is_land;
            if is_land {
                let lattice = land::load::<F>(launch, k);
                let off = land::moved_off::<F>(launch, &lattice, from);
                is_allowed = off.is_allowed;
                point = off.point;
            }
        }
        if is_convex && !allows::<F>(&body, from) {
            is_allowed = false;
            point = projected::<F>(&body, from);
        }
        AllowedPoint::<F> { point, is_allowed }
    }

    /// The first obstacle with a point on its forbidden side, or -1.
    pub(crate) fn behind<F: Float>(launch: &Launch<F>, point: Vec3<F>) -> i32 {
        let mut which = i32::new(-1);
        for k in 0..count::<F>(launch) {
            let distance = clearance_of::<F>(launch, k, point);
            if which < 0 && distance <= F::new(0.0_f32) {
                which = k as i32;
            }
        }
        which
    }

    /// Lower bound of the distance of a point inside the allowed side of obstacle `k`; negative on
    /// the forbidden side.
    pub(crate) fn clearance_of<F: Float>(launch: &Launch<F>, k: usize, point: Vec3<F>) -> F {
        let body = load::<F>(launch, k);
        let mut distance = F::new(0.0_f32);
        let mut is_convex = true;
        if comptime!(launch.features.surfaces) {
            let is_faceted = body.code == FACETED;
            is_convex = is_convex && !is_faceted;
            if is_faceted {
                let facets = facets::load::<F>(launch, k);
                distance = facets::probe::<F>(launch, &facets, point, false).clearance;
            }
        }
        if comptime!(launch.features.land) {
            let is_land = body.code == LAND;
            is_convex = is_convex && !is_land;
            if is_land {
                let lattice = land::load::<F>(launch, k);
                distance = land::clearance::<F>(launch, &lattice, point);
            }
        }
        if is_convex {
            distance = clearance::<F>(&body, point);
        }
        distance
    }

    /// The first crossing from the allowed to the forbidden side of an obstacle.
    pub(crate) fn first_hit<F: Float>(launch: &Launch<F>, from: Vec3<F>, to: Vec3<F>) -> Hit<F> {
        let mut which = i32::new(-1);
        let mut bound = i32::new(-1);
        let mut fraction = F::new(1.0_f32);
        let mut towards = Vec3::<F>::new(F::new(0.0_f32));
        let mut at = to;
        if comptime!(launch.features.bodies) {
            let line = line::<F>(from, to);
            let mut distance = line.length;
            if line.is_any {
                for k in 0..count::<F>(launch) {
                    let met = contact::<F>(launch, k, from, to, &line);
                    if met.bound >= 0 && (which < 0 || met.distance < distance) {
                        which = k as i32;
                        bound = met.bound;
                        distance = met.distance;
                        at = met.point;
                        towards = met.normal;
                    }
                }
            }
            if which >= 0 {
                fraction = distance / line.length;
                launch.meet(which, bound);
            }
        }
        Hit::<F> { which, fraction, point: at, normal: towards }
    }

    /// The first crossing of a line to the forbidden side of obstacle `k`.
    fn contact<F: Float>(
        launch: &Launch<F>,
        k: usize,
        from: Vec3<F>,
        to: Vec3<F>,
        line: &Line<F>,
    ) -> Contact<F> {
        let body = load::<F>(launch, k);
        let mut bound = i32::new(-1);
        let mut distance = line.length;
        let mut point = to;
        let mut towards = Vec3::<F>::new(F::new(0.0_f32));
        let mut is_land = false;
        let mut is_convex = true;
        if comptime!(launch.features.surfaces) {
            let is_faceted = body.code == FACETED;
            is_convex = is_convex && !is_faceted;
            if is_faceted {
                let facets = facets::load::<F>(launch, k);
                let crossing = facets::crossing::<F>(launch, &facets, from, line);
                bound = crossing.bound;
                distance = crossing.distance;
                if bound >= 0 {
                    towards = facets::normal::<F>(launch, &facets, bound);
                }
            }
        }
        if comptime!(launch.features.land) {
            is_land = body.code == LAND;
            is_convex = is_convex && !is_land;
            if is_land {
                let lattice = land::load::<F>(launch, k);
                let crossing = land::crossing::<F>(launch, &lattice, from, to, line);
                bound = crossing.bound;
                distance = crossing.distance;
                point = crossing.point;
                towards = crossing.normal;
            }
        }
        if is_convex {
            let intersection = intersection::<F>(&body, from, line);
            bound = intersection.bound;
            distance = intersection.distance;
            if bound >= 0 {
                let at = from + Vec3::<F>::new(distance) * line.direction;
                towards = normal::<F>(&body, at, bound);
            }
        }
        if !is_land {
            point = from + Vec3::<F>::new(distance / line.length) * (to - from);
        }
        Contact::<F> { distance, bound, point, normal: towards }
    }
}
