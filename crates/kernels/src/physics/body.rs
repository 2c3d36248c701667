//! The surface of one convex obstacle.
//!
//! The shape is the set where one to three bounds are negative. A bound is a signed distance from a
//! round surface, or from the nearer of two parallel planes. Triangulated surfaces are in
//! `facets.rs`.

use burntrace_macros::host_device;

#[host_device]
pub(crate) mod body {
    use crate::obstacle::{BLOCK, CAPPED};
    use crate::physics::{
        tables::{BODY_FLOATS, BODY_INTS, OBSTACLES_AT, SHAPES_AT},
        vector::both::{dot, vec3},
    };

    /// An obstacle; see [`Shape::numbers`](crate::Shape).
    pub(crate) struct Body<F: Float> {
        pub code: i32,
        pub is_vessel: bool,
        pub base: Vec3<F>,
        /// Axis direction (zero for a sphere), the maximum corner of a box, or the normal of a plane.
        pub second: Vec3<F>,
        pub radius: F,
        height: F,
        pub size: F,
    }

    /// A straight line from a point.
    pub(crate) struct Line<F: Float> {
        pub direction: Vec3<F>,
        pub length: F,
        /// Whether the line is valid: not between points that coincide, or are too far apart.
        pub is_any: bool,
    }

    /// A line's intersection with a surface.
    pub(crate) struct Intersection<F: Float> {
        pub distance: F,
        /// The bound or triangle that is hit, or -1.
        pub bound: i32,
    }

    /// The part of a line that is inside: distances along it, and the bounds at its ends. There is none unless `enter < leave`.
    pub(crate) struct Inside<F: Float> {
        pub enter: F,
        pub leave: F,
        first: i32,
        last: i32,
    }

    /// Two numbers: distances from two planes, or the ends of an interval.
    struct Pair<F: Float> {
        a: F,
        b: F,
    }

    /// The bound with the largest value.
    pub(crate) struct Outermost<F: Float> {
        bound: i32,
        pub value: F,
    }

    /// Loads obstacle `k`.
    #[inline(always)]
    pub(crate) fn load<F: Float>(launch: &Launch<F>, k: usize) -> Body<F> {
        let floats = launch.int(SHAPES_AT) as usize + k * BODY_FLOATS;
        let ints = launch.int(OBSTACLES_AT) as usize + 1 + k * BODY_INTS;
        Body::<F> {
            code: launch.int(ints),
            is_vessel: launch.int(ints + 1) == 1i32,
            base: launch.vec3(floats),
            second: launch.vec3(floats + 3),
            radius: launch.float(floats + 6),
            height: launch.float(floats + 7),
            size: launch.float(floats + 8),
        }
    }

    /// The line between two points.
    pub(crate) fn line<F: Float>(from: Vec3<F>, to: Vec3<F>) -> Line<F> {
        let displacement = to - from;
        let (x, y, z) = (
            displacement.extract(0usize),
            displacement.extract(1usize),
            displacement.extract(2usize),
        );
        let size = max(max(x.abs(), y.abs()), z.abs());
        let is_any = size > F::new(0.0_f32);
        let unit = select(is_any, size, F::new(1.0_f32));
        // Scaled, so that the squares of short displacements do not underflow.
        let scaled = displacement / Vec3::<F>::new(unit);
        let norm = select(is_any, dot::<F>(scaled, scaled).sqrt(), F::new(1.0_f32));
        let length = unit * norm;
        let is_any = is_any && length <= F::max_value();
        Line::<F> { direction: scaled / Vec3::<F>::new(norm), length, is_any }
    }

    /// Distance that particles keep from the surface: a multiple of the rounding error of a bound
    /// near `p`. Half of it is enough to respect the exact shape.
    #[inline(always)]
    fn skin<F: Float>(body: &Body<F>, p: Vec3<F>) -> F {
        let mut size = body.size;
        if body.code != BLOCK {
            size += dot::<F>(p - body.base, body.second).abs();
        }
        F::new(16.0_f32) * rounding::<F>() * size
    }

    /// The component of a vector normal to the axis; for a sphere the whole vector; not for a box.
    #[inline(always)]
    fn across<F: Float>(body: &Body<F>, v: Vec3<F>) -> Vec3<F> {
        v - Vec3::<F>::new(dot::<F>(v, body.second)) * body.second
    }

    /// Signed distances from the two planes of a flat bound, positive between them.
    #[inline(always)]
    fn between<F: Float>(body: &Body<F>, p: Vec3<F>, #[comptime] bound: usize) -> Pair<F> {
        let x = p.extract(bound);
        let mut a = x - body.base.extract(bound);
        let mut b = body.second.extract(bound) - x;
        if comptime!(bound == 1) && body.code == CAPPED {
            a = dot::<F>(p - body.base, body.second);
            b = body.height - a;
        }
        Pair::<F> { a, b }
    }

    /// Whether bound `bound` is the round surface.
    #[inline(always)]
    fn is_round<F: Float>(body: &Body<F>, #[comptime] bound: usize) -> bool {
        comptime!(bound == 0) && body.code != BLOCK
    }

    /// Signed distance from a bound, negative inside.
    #[inline(always)]
    fn value<F: Float>(body: &Body<F>, p: Vec3<F>, #[comptime] bound: usize) -> F {
        let planes = between::<F>(body, p, bound);
        let mut value = -min(planes.a, planes.b);
        if is_round::<F>(body, bound) {
            let across = across::<F>(body, p - body.base);
            value = dot::<F>(across, across).sqrt() - body.radius;
        }
        value
    }

    /// The bound that is farthest outside.
    pub(crate) fn outermost<F: Float>(body: &Body<F>, p: Vec3<F>) -> Outermost<F> {
        let mut bound = i32::new(0);
        let mut largest = value::<F>(body, p, 0usize);
        #[unroll]
        for other in 1..3usize {
            if body.code >= comptime!(other as i32) {
                let value = value::<F>(body, p, other);
                if value > largest {
                    largest = value;
                    bound = i32::new(comptime!(other as i64));
                }
            }
        }
        Outermost::<F> { bound, value: largest }
    }

    /// Outward normal of a bound at the point nearest to `p`.
    fn outward<F: Float>(body: &Body<F>, p: Vec3<F>, bound: i32) -> Vec3<F> {
        let zero = F::new(0.0_f32);
        let one = F::new(1.0_f32);
        let mut normal = Vec3::<F>::new(zero);
        if body.code == BLOCK {
            #[unroll]
            for d in 0..3usize {
                if bound == comptime!(d as i32) {
                    let planes = between::<F>(body, p, d);
                    normal.insert(d, select(planes.a < planes.b, -one, one));
                }
            }
        } else if bound == 0 {
            let across = across::<F>(body, p - body.base);
            let distance = dot::<F>(across, across).sqrt();
            if distance > zero {
                normal = across / Vec3::<F>::new(distance);
            } else {
                normal = any_across::<F>(body);
            }
        } else {
            let planes = between::<F>(body, p, 1usize);
            normal = Vec3::<F>::new(select(planes.a < planes.b, -one, one)) * body.second;
        }
        normal
    }

    /// A unit vector normal to the axis.
    fn any_across<F: Float>(body: &Body<F>) -> Vec3<F> {
        let zero = F::new(0.0_f32);
        let one = F::new(1.0_f32);
        let x = body.second.extract(0usize).abs();
        let y = body.second.extract(1usize).abs();
        let z = body.second.extract(2usize).abs();
        let is_x = x <= y && x <= z;
        let is_y = !is_x && y <= z;
        let first = select(is_x, one, zero);
        let second = select(is_y, one, zero);
        let across = across::<F>(body, vec3::<F>(first, second, one - first - second));
        across / Vec3::<F>::new(dot::<F>(across, across).sqrt())
    }

    /// The normal of a bound, towards the allowed side.
    pub(crate) fn normal<F: Float>(body: &Body<F>, p: Vec3<F>, bound: i32) -> Vec3<F> {
        let one = F::new(1.0_f32);
        Vec3::<F>::new(select(body.is_vessel, -one, one)) * outward::<F>(body, p, bound)
    }

    /// Lower bound of the distance inside the allowed side; negative on the forbidden side.
    pub(crate) fn clearance<F: Float>(body: &Body<F>, p: Vec3<F>) -> F {
        let value = outermost::<F>(body, p).value;
        select(body.is_vessel, -value, value)
    }

    /// Whether a particle may be at a point, with a margin for rounding.
    pub(crate) fn allows<F: Float>(body: &Body<F>, p: Vec3<F>) -> bool {
        clearance::<F>(body, p) > F::new(0.5_f32) * skin::<F>(body, p)
    }

    /// A point at the nearest part of the surface, for a point that is not allowed.
    pub(crate) fn projected<F: Float>(body: &Body<F>, p: Vec3<F>) -> Vec3<F> {
        let mut p = p;
        if body.is_vessel {
            #[unroll]
            for bound in 0..3usize {
                if body.code >= comptime!(bound as i32) {
                    let beyond = value::<F>(body, p, bound) + skin::<F>(body, p);
                    if beyond > F::new(0.0_f32) {
                        let number = i32::new(comptime!(bound as i64));
                        p -= Vec3::<F>::new(beyond) * outward::<F>(body, p, number);
                    }
                }
            }
        } else {
            let outermost = outermost::<F>(body, p);
            let displacement = skin::<F>(body, p) - outermost.value;
            p += Vec3::<F>::new(displacement) * outward::<F>(body, p, outermost.bound);
        }
        p
    }

    /// Quick, conservative test that the straight path between two points stays on the allowed
    /// side. A vessel is convex; a path misses a body if it is apart from one of the body's bounds.
    #[inline(always)]
    pub(crate) fn is_clear<F: Float>(body: &Body<F>, from: Vec3<F>, to: Vec3<F>) -> bool {
        let skin = max(skin::<F>(body, from), skin::<F>(body, to));
        let mut clear = body.is_vessel;
        #[unroll]
        for bound in 0..3usize {
            if body.code >= comptime!(bound as i32) {
                let apart = if is_round::<F>(body, bound) {
                    is_clear_of_round::<F>(body, from, to, skin)
                } else {
                    is_clear_of_planes::<F>(body, from, to, skin, bound)
                };
                clear = select(body.is_vessel, clear && apart, clear || apart);
            }
        }
        clear
    }

    #[inline(always)]
    fn is_clear_of_planes<F: Float>(
        body: &Body<F>,
        from: Vec3<F>,
        to: Vec3<F>,
        skin: F,
        #[comptime] bound: usize,
    ) -> bool {
        let start = between::<F>(body, from, bound);
        let end = between::<F>(body, to, bound);
        let is_within = min(min(start.a, end.a), min(start.b, end.b)) > skin;
        let passes = max(start.a, end.a) < -skin || max(start.b, end.b) < -skin;
        (body.is_vessel && is_within) || (!body.is_vessel && passes)
    }

    #[inline(always)]
    fn is_clear_of_round<F: Float>(body: &Body<F>, from: Vec3<F>, to: Vec3<F>, skin: F) -> bool {
        let zero = F::new(0.0_f32);
        let one = F::new(1.0_f32);
        let start = across::<F>(body, from - body.base);
        let end = across::<F>(body, to - body.base);
        if body.is_vessel {
            let within = body.radius - skin;
            let farthest = max(dot::<F>(start, start), dot::<F>(end, end));
            within > zero && farthest < within * within
        } else {
            let displacement = end - start;
            let square = dot::<F>(displacement, displacement);
            // A displacement of length zero: any fraction will do.
            let part = -dot::<F>(start, displacement) / select(square > zero, square, one);
            let nearest = start + Vec3::<F>::new(clamp(part, zero, one)) * displacement;
            let reach = body.radius + skin;
            square <= F::max_value() && dot::<F>(nearest, nearest) > reach * reach
        }
    }

    /// The part of a line that is inside of a body; `is_closed`: a line in a plane of its surface is inside.
    pub(crate) fn part_inside<F: Float>(
        body: &Body<F>,
        from: Vec3<F>,
        line: &Line<F>,
        #[comptime] is_closed: bool,
    ) -> Inside<F> {
        let mut enter = -F::max_value();
        let mut leave = F::max_value();
        let mut first = i32::new(0);
        let mut last = i32::new(0);
        #[unroll]
        for bound in 0..3usize {
            if body.code >= comptime!(bound as i32) {
                let span = span::<F>(body, from, line.direction, bound, is_closed);
                if span.a > enter {
                    enter = span.a;
                    first = i32::new(comptime!(bound as i64));
                }
                if span.b < leave {
                    leave = span.b;
                    last = i32::new(comptime!(bound as i64));
                }
            }
        }
        Inside::<F> { enter, leave, first, last }
    }

    /// The first crossing of a line from the allowed to the forbidden side. A line that starts on
    /// the surface or beyond it crosses at its start, unless it leads to the allowed side.
    pub(crate) fn intersection<F: Float>(
        body: &Body<F>,
        from: Vec3<F>,
        line: &Line<F>,
    ) -> Intersection<F> {
        let zero = F::new(0.0_f32);
        let part = part_inside::<F>(body, from, line, false);
        let (enter, leave, first, last) = (part.enter, part.leave, part.first, part.last);
        let goes_through = enter < leave && leave >= zero;
        let start = outermost::<F>(body, from).bound;
        let mut distance = zero;
        let mut bound = start;
        if body.is_vessel {
            if goes_through {
                distance = leave;
                bound = last;
            }
        } else if !goes_through {
            bound = i32::new(-1);
        } else if enter > zero {
            distance = enter;
            bound = first;
        } else if dot::<F>(outward::<F>(body, from, start), line.direction) >= zero {
            bound = i32::new(-1);
        }
        Intersection::<F> { distance, bound: select(distance <= line.length, bound, -1i32) }
    }

    /// The interval of distances along a line in which a bound is negative; the first value exceeds
    /// the second if it is empty.
    fn span<F: Float>(
        body: &Body<F>,
        from: Vec3<F>,
        direction: Vec3<F>,
        #[comptime] bound: usize,
        #[comptime] is_closed: bool,
    ) -> Pair<F> {
        let planes = between::<F>(body, from, bound);
        let mut speed = direction.extract(bound);
        if comptime!(bound == 1) && body.code == CAPPED {
            speed = dot::<F>(direction, body.second);
        }
        let depth = min(planes.a, planes.b);
        let zero = F::new(0.0_f32);
        let is_within = depth > zero || (is_closed && depth == zero);
        let mut a = select(is_within, -F::max_value(), F::max_value());
        let mut b = -a;
        if speed != F::new(0.0_f32) {
            let (one, other) = (-planes.a / speed, planes.b / speed);
            a = min(one, other);
            b = max(one, other);
        }
        if is_round::<F>(body, bound) {
            let round = round_span::<F>(body, from, direction);
            a = round.a;
            b = round.b;
        }
        Pair::<F> { a, b }
    }

    /// The roots of a quadratic without cancellation: the discriminant from the distance at which
    /// the line passes (Haines, Günther, Akenine-Möller, "Precision improvements for ray/sphere
    /// intersection", Ray Tracing Gems, 2019, ch. 7), the smaller root from the larger (Press et
    /// al., Numerical Recipes, section 5.6).
    fn round_span<F: Float>(body: &Body<F>, from: Vec3<F>, direction: Vec3<F>) -> Pair<F> {
        let zero = F::new(0.0_f32);
        let start = across::<F>(body, from - body.base);
        let lateral = across::<F>(body, direction);
        let speed = dot::<F>(lateral, lateral).sqrt();
        let distance = dot::<F>(start, start).sqrt();
        let is_along = speed <= F::new(4.0_f32) * rounding::<F>();
        let is_within = is_along && distance < body.radius;
        let mut a = select(is_within, -F::max_value(), F::max_value());
        let mut b = -a;
        if !is_along {
            let lateral = lateral / Vec3::<F>::new(speed);
            let displacement = dot::<F>(start, lateral);
            let passing = start - Vec3::<F>::new(displacement) * lateral;
            let passing = dot::<F>(passing, passing).sqrt();
            let square = (body.radius - passing) * (body.radius + passing);
            let far = max(square, zero).sqrt() + displacement.abs();
            if square >= zero && far > zero {
                let near = (distance - body.radius) * (distance + body.radius) / far;
                a = select(displacement < zero, near, -far) / speed;
                b = select(displacement < zero, far, -near) / speed;
            }
        }
        Pair::<F> { a, b }
    }
}
