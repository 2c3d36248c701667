//! Gates: where a straight path crosses a surface, or enters and leaves a region, without any effect on it.
//!
//! On which side of a gate a point is depends on the point alone, and a path starts where the last one ended, so that crossings forward
//! and backward alternate whatever the steps are. Through a periodic face a path goes on elsewhere: the two points are compared.

use burntrace_macros::host_device;

/// Maximum number of places on a straight path at which it may cross a closed surface.
const MAX_TOUCHES: i32 = 256;

#[host_device]
pub(crate) mod gates {
    use super::MAX_TOUCHES;
    use crate::obstacle::{FACETED, PATCH, PLANE};
    use crate::physics::{
        body::both::{Body, Line, line, load, outermost, part_inside},
        facets::both::{self as facets, Facets},
        mesh_path::both::patch_at,
        obstacles::both::count,
        tables::{BODY_INTS, GATE_CORNERS, GATE_PATCH, GATES, OBSTACLES_AT},
        vector::both::dot,
    };

    /// A straight part of a path, and the fractions of the path at its ends.
    pub(crate) struct Piece<F: Float> {
        pub from: Vec3<F>,
        pub to: Vec3<F>,
        pub start: F,
        pub end: F,
    }

    /// A path that is straight from its start to its end.
    pub(crate) fn whole<F: Float>(from: Vec3<F>, to: Vec3<F>) -> Piece<F> {
        Piece::<F> { from, to, start: F::new(0.0_f32), end: F::new(1.0_f32) }
    }

    /// Where a straight path crosses a gate.
    struct Crossed<F: Float> {
        /// How often: 0, 1, or 2 for a path through a region.
        pub count: i32,
        /// The fractions of the path.
        pub first: F,
        pub second: F,
        /// 1 if the first crossing is forward, -1 if it is backward.
        pub direction: i32,
    }

    /// What the log needs to know of a particle that crosses gates.
    #[allow(dead_code)] // Without devices that need it.
    pub(crate) struct Noting<F: Float> {
        pub slot: u32,
        pub generation: i32,
        /// The step of the run, and the fractions of it at the start and the end of the path.
        pub number: i32,
        pub start: F,
        pub until: F,
        /// Entries of the slot in the log, where it has rows of its own; one more than these if an end waits.
        pub logged: i32,
        /// Number of crossings for which there was no room.
        pub lost: i32,
    }

    /// Notes of a particle in a slot, before its first step.
    pub(crate) fn noting<F: Float>(slot: u32) -> Noting<F> {
        let zero = F::new(0.0_f32);
        Noting::<F> {
            slot,
            generation: 0i32,
            number: 0i32,
            start: zero,
            until: zero,
            logged: 0i32,
            lost: 0i32,
        }
    }

    /// Logs the crossings of a straight part of a path.
    pub(crate) fn note<F: Float>(
        launch: &Launch<F>,
        piece: &Piece<F>,
        noting: &mut Noting<F>,
        log: &mut GateLog<F>,
    ) {
        for gate in 0..launch.int(GATES) {
            let at = count::<F>(launch) + 2 * gate as usize;
            let body = load::<F>(launch, at);
            let mut is_bounded = body.code != PATCH;
            if comptime!(launch.features.gate_surfaces) && body.code == FACETED {
                is_bounded = false;
                note_surface::<F>(launch, gate, piece, noting, log);
            }
            if is_bounded {
                let crossed = crossed::<F>(launch, at, &body, piece.from, piece.to);
                let mut k = 0i32;
                while k < crossed.count {
                    let part = select(k == 0, crossed.first, crossed.second);
                    let direction = select(k == 0, crossed.direction, -crossed.direction);
                    note_one::<F>(launch, gate, piece, part, direction, noting, log);
                    k += 1;
                }
            }
        }
    }

    /// Logs a crossing at a part of a straight path.
    fn note_one<F: Float>(
        launch: &Launch<F>,
        gate: i32,
        piece: &Piece<F>,
        part: F,
        direction: i32,
        noting: &mut Noting<F>,
        log: &mut GateLog<F>,
    ) {
        let of_path = piece.start + part * (piece.end - piece.start);
        let fraction = noting.start + of_path * (noting.until - noting.start);
        let point = piece.from + Vec3::<F>::new(part) * (piece.to - piece.from);
        log_crossing::<F>(launch, log, noting, gate, direction, fraction, point);
    }

    /// Logs the crossings of a closed surface of triangles. Where the path meets a triangle, it crosses the surface if the middle of what
    /// follows, up to the next place, is on the other side; it might only touch an edge.
    fn note_surface<F: Float>(
        launch: &Launch<F>,
        gate: i32,
        piece: &Piece<F>,
        noting: &mut Noting<F>,
        log: &mut GateLog<F>,
    ) {
        let (zero, one, half) = (F::new(0.0_f32), F::new(1.0_f32), F::new(0.5_f32));
        let mut surface = facets::load::<F>(launch, count::<F>(launch) + 2 * gate as usize);
        let line = line::<F>(piece.from, piece.to);
        let mut side = side_of::<F>(launch, &surface, piece.from);
        let end = side_of::<F>(launch, &surface, piece.to);
        let mut at = zero;
        let mut met = -one;
        let mut rounds = 0i32;
        let mut continues = line.is_any;
        while continues {
            let has_met = met >= zero;
            let beyond = select(has_met, 1i32 - side, side);
            surface.sign = select(beyond == 1i32, -one, one);
            let rest =
                Line::<F> { direction: line.direction, length: line.length - at, is_any: true };
            let from = piece.from + Vec3::<F>::new(at) * line.direction;
            let next = facets::crossing::<F>(launch, &surface, from, &rest);
            let is_any = next.bound >= 0i32;
            let place = select(is_any, at + next.distance, line.length);
            at = place;
            continues = is_any;
            let mut is_crossed = true;
            if has_met {
                let middle = half * (met + place);
                let point = piece.from + Vec3::<F>::new(middle) * line.direction;
                is_crossed = side_of::<F>(launch, &surface, point) == beyond;
                if is_crossed {
                    side = beyond;
                    let direction = select(beyond == 1i32, 1i32, i32::new(-1));
                    note_one::<F>(launch, gate, piece, met / line.length, direction, noting, log);
                } else {
                    at = middle;
                    continues = true;
                }
            }
            met = select(is_any && is_crossed, place, -one);
            rounds += 1;
            continues = continues && rounds < MAX_TOUCHES;
        }
        if side != end {
            let direction = select(end == 1i32, 1i32, i32::new(-1));
            note_one::<F>(launch, gate, piece, one, direction, noting, log);
        }
    }

    /// 1 for a point inside a closed surface of triangles or on it, 0 for one outside.
    fn side_of<F: Float>(launch: &Launch<F>, surface: &Facets<F>, point: Vec3<F>) -> i32 {
        let probe = facets::probe::<F>(launch, surface, point, false);
        select(surface.sign * probe.clearance <= F::new(0.0_f32), 1i32, 0i32)
    }

    /// Logs the regions that a path enters or leaves as it goes from a periodic face to the opposite one, at a fraction of it.
    pub(crate) fn note_jump<F: Float>(
        launch: &Launch<F>,
        from: Vec3<F>,
        to: Vec3<F>,
        at: F,
        noting: &mut Noting<F>,
        log: &mut GateLog<F>,
    ) {
        for gate in 0..launch.int(GATES) {
            let row = count::<F>(launch) + 2 * gate as usize;
            let body = load::<F>(launch, row);
            if body.code != PLANE && body.code != PATCH {
                let starts = is_inside::<F>(launch, row, &body, from);
                let ends = is_inside::<F>(launch, row, &body, to);
                if starts != ends {
                    let fraction = noting.start + at * (noting.until - noting.start);
                    log_crossing::<F>(launch, log, noting, gate, ends - starts, fraction, to);
                }
            }
        }
    }

    /// 1 for a point in a region, 0 for one outside.
    fn is_inside<F: Float>(launch: &Launch<F>, row: usize, body: &Body<F>, point: Vec3<F>) -> i32 {
        let mut is_convex = true;
        let mut inside = 0i32;
        if comptime!(launch.features.gate_surfaces) {
            let is_faceted = body.code == FACETED;
            is_convex = !is_faceted;
            if is_faceted {
                let surface = facets::load::<F>(launch, row);
                inside = side_of::<F>(launch, &surface, point);
            }
        }
        if is_convex {
            inside = select(outermost::<F>(body, point).value <= F::new(0.0_f32), 1i32, 0i32);
        }
        inside
    }

    /// Logs the gates that are the patch through which a particle leaves a mesh, at a fraction of its path.
    pub(crate) fn note_exit<F: Float>(
        launch: &Launch<F>,
        position: Vec3<F>,
        face: i32,
        at: F,
        noting: &mut Noting<F>,
        log: &mut GateLog<F>,
    ) {
        let patch = patch_at::<F>(launch, position, face);
        for gate in 0..launch.int(GATES) {
            let row = count::<F>(launch) + 2 * gate as usize;
            let ints = launch.int(OBSTACLES_AT) as usize + 1 + row * BODY_INTS;
            if launch.int(ints) == PATCH && launch.int(ints + GATE_PATCH) == patch {
                let fraction = noting.start + at * (noting.until - noting.start);
                log_crossing::<F>(launch, log, noting, gate, 1i32, fraction, position);
            }
        }
    }

    /// Where a straight path crosses a gate.
    fn crossed<F: Float>(
        launch: &Launch<F>,
        at: usize,
        body: &Body<F>,
        from: Vec3<F>,
        to: Vec3<F>,
    ) -> Crossed<F> {
        let bounds = load::<F>(launch, at + 1);
        let plane = through_plane::<F>(body, &bounds, from, to);
        let point = from + Vec3::<F>::new(plane.first) * (to - from);
        let mut count =
            select(is_in_polygon::<F>(launch, at + 1, body.second, point), plane.count, 0i32);
        let mut first = plane.first;
        let mut second = plane.second;
        let mut direction = plane.direction;
        if body.code != PLANE {
            let region = through_region::<F>(body, from, to);
            count = region.count;
            first = region.first;
            second = region.second;
            direction = region.direction;
        }
        Crossed::<F> { count, first, second, direction }
    }

    fn through_plane<F: Float>(
        plane: &Body<F>,
        bounds: &Body<F>,
        from: Vec3<F>,
        to: Vec3<F>,
    ) -> Crossed<F> {
        let zero = F::new(0.0_f32);
        let before = dot::<F>(from - plane.base, plane.second);
        let after = dot::<F>(to - plane.base, plane.second);
        let direction = select(before < zero, 1i32, -1i32);
        let mut count = 0i32;
        let mut part = zero;
        if direction != select(after < zero, 1i32, -1i32) {
            part = clamp(before / (before - after), zero, F::new(1.0_f32));
            let point = from + Vec3::<F>::new(part) * (to - from);
            let arm = point - plane.base;
            let is_near = dot::<F>(arm, arm).sqrt() <= plane.radius;
            count = select(is_near && outermost::<F>(bounds, point).value <= zero, 1i32, 0i32);
        }
        Crossed::<F> { count, first: part, second: part, direction }
    }

    /// Whether a point of the plane of a polygon is in it, by the even-odd rule; a plane without corners has no edge.
    fn is_in_polygon<F: Float>(
        launch: &Launch<F>,
        limits: usize,
        normal: Vec3<F>,
        point: Vec3<F>,
    ) -> bool {
        let ints = launch.int(OBSTACLES_AT) as usize + 1 + limits * BODY_INTS;
        let corners = launch.int(ints + GATE_CORNERS);
        let first = launch.int(ints + GATE_CORNERS + 1);
        let p = in_plane::<F>(normal, point);
        let mut sides = select(corners == 0, 1i32, 0i32);
        for k in 0..corners {
            let next = select(k + 1 == corners, 0i32, k + 1);
            let a = in_plane::<F>(normal, launch.vec3((first + 3 * k) as usize));
            let b = in_plane::<F>(normal, launch.vec3((first + 3 * next) as usize));
            let starts = select(a.v <= p.v, 1i32, 0i32);
            let ends = select(b.v <= p.v, 1i32, 0i32);
            if starts != ends {
                let at = a.u + (p.v - a.v) / (b.v - a.v) * (b.u - a.u);
                sides += select(p.u < at, 1i32, 0i32);
            }
        }
        sides % 2 == 1
    }

    /// Coordinates along the two axes that a plane is less steep to.
    struct InPlane<F: Float> {
        pub u: F,
        pub v: F,
    }

    fn in_plane<F: Float>(normal: Vec3<F>, point: Vec3<F>) -> InPlane<F> {
        let (x, y, z) = (
            normal.extract(0usize).abs(),
            normal.extract(1usize).abs(),
            normal.extract(2usize).abs(),
        );
        let along_x = x >= y && x >= z;
        let along_z = !along_x && z >= y;
        InPlane::<F> {
            u: select(along_x, point.extract(1usize), point.extract(0usize)),
            v: select(along_z, point.extract(1usize), point.extract(2usize)),
        }
    }

    fn through_region<F: Float>(body: &Body<F>, from: Vec3<F>, to: Vec3<F>) -> Crossed<F> {
        let (zero, one) = (F::new(0.0_f32), F::new(1.0_f32));
        let starts = select(outermost::<F>(body, from).value <= zero, 1i32, 0i32);
        let ends = select(outermost::<F>(body, to).value <= zero, 1i32, 0i32);
        let line = line::<F>(from, to);
        let part = part_inside::<F>(body, from, &line, true);
        let enter = clamp(part.enter / line.length, zero, one);
        let leave = clamp(part.leave / line.length, zero, one);
        let passes = part.enter < part.leave && part.enter > zero && part.leave < line.length;
        let through = select(starts == 0 && passes, 2i32, 0i32);
        let crossings = select(starts != ends, 1i32, through);
        Crossed::<F> {
            count: select(line.is_any, crossings, 0i32),
            first: select(starts == 1, leave, enter),
            second: leave,
            direction: select(starts == 1, -1i32, 1i32),
        }
    }
}
