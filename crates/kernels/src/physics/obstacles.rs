//! All obstacles: where a path first meets one, and which points they allow.

use burntrace_macros::host_device;

/// Maximum number of corrections to move a point out of all obstacles.
const MAX_ROUNDS: i32 = 8;

#[host_device]
pub(crate) mod obstacles {
    use super::MAX_ROUNDS;
    use crate::obstacle::FACETED;
    use crate::physics::{
        body::both::{allows, clearance, intersection, is_clear, line, load, normal, projected},
        cursor::both::in_box,
        facets::both as facets,
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
        /// The unit normal towards the allowed side.
        pub normal: Vec3<F>,
    }

    /// Whether the straight path between two points certainly meets no obstacle and ends at an
    /// allowed point.
    pub(crate) fn is_clear_of_all<F: Float>(
        launch: &Launch<F>,
        from: Vec3<F>,
        to: Vec3<F>,
    ) -> bool {
        let mut is_clear_of_all = true;
        for k in 0..launch.int(launch.int(OBSTACLES_AT) as usize) as usize {
            let body = load::<F>(launch, k);
            let mut is_convex = true;
            if comptime!(launch.features.surfaces) {
                is_convex = body.code != FACETED;
                if is_clear_of_all && !is_convex {
                    let facets = facets::load::<F>(launch, k);
                    is_clear_of_all = facets::is_clear::<F>(launch, &facets, from, to);
                }
            }
            if is_convex {
                is_clear_of_all = is_clear_of_all && is_clear::<F>(&body, from, to);
            }
        }
        is_clear_of_all
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
            for k in 0..launch.int(launch.int(OBSTACLES_AT) as usize) as usize {
                // If the previous obstacles allow the point, it is not moved yet.
                let body = load::<F>(launch, k);
                let mut is_convex = true;
                if comptime!(launch.features.surfaces) {
                    is_convex = body.code != FACETED;
                    if !is_convex {
                        let facets = facets::load::<F>(launch, k);
                        let probe = facets::probe::<F>(launch, &facets, moved, true);
                        let is_fine = probe.clearance > F::new(0.5_f32) * facets.skin;
                        if !is_fine {
                            is_allowed = false;
                            moved = probe.off;
                        }
                    }
                }
                if is_convex && !allows::<F>(&body, moved) {
                    is_allowed = false;
                    moved = projected::<F>(&body, moved);
                }
            }
            if !is_allowed {
                point = moved;
            }
            rounds += 1;
        }
        AllowedPoint::<F> { point, is_allowed }
    }

    /// The first obstacle with a point on its forbidden side, or -1.
    pub(crate) fn behind<F: Float>(launch: &Launch<F>, point: Vec3<F>) -> i32 {
        let mut which = i32::new(-1);
        for k in 0..launch.int(launch.int(OBSTACLES_AT) as usize) as usize {
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
            is_convex = body.code != FACETED;
            if !is_convex {
                let facets = facets::load::<F>(launch, k);
                distance = facets::probe::<F>(launch, &facets, point, false).clearance;
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
        let mut fraction = F::new(1.0_f32);
        let mut towards = Vec3::<F>::new(F::new(0.0_f32));
        if comptime!(launch.features.bodies) {
            let line = line::<F>(from, to);
            let mut bound = i32::new(-1);
            let mut distance = line.length;
            if line.is_any {
                for k in 0..launch.int(launch.int(OBSTACLES_AT) as usize) as usize {
                    let body = load::<F>(launch, k);
                    let mut met = i32::new(-1);
                    let mut at = line.length;
                    let mut is_convex = true;
                    if comptime!(launch.features.surfaces) {
                        is_convex = body.code != FACETED;
                        if !is_convex {
                            let facets = facets::load::<F>(launch, k);
                            let crossing = facets::crossing::<F>(launch, &facets, from, &line);
                            met = crossing.bound;
                            at = crossing.distance;
                        }
                    }
                    if is_convex {
                        let intersection = intersection::<F>(&body, from, &line);
                        met = intersection.bound;
                        at = intersection.distance;
                    }
                    if met >= 0 && (which < 0 || at < distance) {
                        which = k as i32;
                        bound = met;
                        distance = at;
                    }
                }
            }
            if which >= 0 {
                fraction = distance / line.length;
                let body = load::<F>(launch, which as usize);
                let mut is_convex = true;
                if comptime!(launch.features.surfaces) {
                    is_convex = body.code != FACETED;
                    if !is_convex {
                        let facets = facets::load::<F>(launch, which as usize);
                        towards = facets::normal::<F>(launch, &facets, bound);
                    }
                }
                if is_convex {
                    let point = from + Vec3::<F>::new(distance) * line.direction;
                    towards = normal::<F>(&body, point, bound);
                }
            }
        }
        Hit::<F> { which, fraction, normal: towards }
    }
}
