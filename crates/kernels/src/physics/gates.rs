//! Gates: where a straight path crosses a surface, or enters and leaves a region, without any effect on it.
//!
//! On which side of a gate a point is depends on the point alone, and a path starts where the last one ended, so that crossings forward
//! and backward alternate whatever the steps are. Through a periodic face a path goes on elsewhere: the two points are compared.

use burntrace_macros::host_device;

#[host_device]
pub(crate) mod gates {
    use crate::obstacle::PLANE;
    use crate::physics::{
        body::both::{Body, line, load, outermost, part_inside},
        obstacles::both::count,
        tables::{BODY_INTS, GATE_CORNERS, GATES, OBSTACLES_AT},
        vector::both::dot,
    };

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

    /// Logs the crossings of a straight part of a path, between two fractions of the path.
    pub(crate) fn note<F: Float>(
        launch: &Launch<F>,
        from: Vec3<F>,
        to: Vec3<F>,
        start: F,
        end: F,
        noting: &mut Noting<F>,
        log: &mut GateLog<F>,
    ) {
        for gate in 0..launch.int(GATES) {
            let crossed = crossed::<F>(launch, gate as usize, from, to);
            let mut k = 0i32;
            while k < crossed.count {
                let part = select(k == 0, crossed.first, crossed.second);
                let of_path = start + part * (end - start);
                let fraction = noting.start + of_path * (noting.until - noting.start);
                let point = from + Vec3::<F>::new(part) * (to - from);
                let direction = select(k == 0, crossed.direction, -crossed.direction);
                log_crossing::<F>(launch, log, noting, gate, direction, fraction, point);
                k += 1;
            }
        }
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
        let zero = F::new(0.0_f32);
        for gate in 0..launch.int(GATES) {
            let body = load::<F>(launch, count::<F>(launch) + 2 * gate as usize);
            if body.code != PLANE {
                let starts = select(outermost::<F>(&body, from).value <= zero, 1i32, 0i32);
                let ends = select(outermost::<F>(&body, to).value <= zero, 1i32, 0i32);
                if starts != ends {
                    let fraction = noting.start + at * (noting.until - noting.start);
                    log_crossing::<F>(launch, log, noting, gate, ends - starts, fraction, to);
                }
            }
        }
    }

    /// Where a straight path crosses a gate.
    fn crossed<F: Float>(
        launch: &Launch<F>,
        gate: usize,
        from: Vec3<F>,
        to: Vec3<F>,
    ) -> Crossed<F> {
        let at = count::<F>(launch) + 2 * gate;
        let body = load::<F>(launch, at);
        let bounds = load::<F>(launch, at + 1);
        let plane = through_plane::<F>(&body, &bounds, from, to);
        let point = from + Vec3::<F>::new(plane.first) * (to - from);
        let mut count =
            select(is_in_polygon::<F>(launch, at + 1, body.second, point), plane.count, 0i32);
        let mut first = plane.first;
        let mut second = plane.second;
        let mut direction = plane.direction;
        if body.code != PLANE {
            let region = through_region::<F>(&body, from, to);
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
