//! The faces of the domain box, for straight paths from a point inside.

use burntrace_macros::host_device;

#[host_device]
pub(crate) mod faces {
    use crate::physics::tables::{FACE_COLUMNS, FACE_END, FACE_TURN, FACE_WRAPS, FACES, HIGH, LOW};
    use crate::physics::vector::both::{dot, vec3};
    use crate::status::ACTIVE;

    /// The end of a path.
    pub(crate) struct Passage<F: Float> {
        pub position: Vec3<F>,
        /// Boxes crossed through periodic faces.
        pub image_x: i32,
        pub image_y: i32,
        pub image_z: i32,
        /// The status of the particle there.
        pub status: i32,
        /// The fraction of the path at which the particle ended, if it did.
        pub fraction: F,
        /// Length of the path, without what sliding along a surface removes. An upper bound: it includes
        /// the rounding of positions, so that a step shorter than that counts as motion.
        pub moved: F,
        /// Where it ended: the index of an obstacle, or eight times the cell of a mesh plus the
        /// local number of the face; -1 elsewhere.
        pub which: i32,
        /// The velocity of a particle with inertia there.
        pub velocity: Vec3<F>,
    }

    /// A face and the fraction of the path at which it is reached; face -1 if none is.
    pub(crate) struct Crossing<F: Float> {
        pub face: i32,
        pub fraction: F,
    }

    /// A coordinate in the box, and the boxes crossed to get there.
    struct Folded<F: Float> {
        x: F,
        image: i32,
    }

    /// A number of a face's response; see `tables.rs`.
    #[inline(always)]
    pub(crate) fn response<F: Float>(launch: &Launch<F>, face: i32, column: usize) -> i32 {
        launch.int(FACES + face as usize * FACE_COLUMNS + column)
    }

    /// Whether a point is in the box; false for NaN.
    #[inline(always)]
    pub(crate) fn contains<F: Float>(launch: &Launch<F>, p: Vec3<F>) -> bool {
        let mut inside = true;
        #[unroll]
        for d in 0..3usize {
            let x = p.extract(d);
            inside = inside && launch.float(LOW + d) <= x && x <= launch.float(HIGH + d);
        }
        inside
    }

    /// The point at which the field is sampled for a stage at `p`: its image in the box on periodic
    /// axes, itself on the others (samplers extrapolate beyond their grid).
    pub(crate) fn wrap<F: Float>(launch: &Launch<F>, p: Vec3<F>) -> Vec3<F> {
        let mut wrapped = p;
        #[unroll]
        for d in 0..3usize {
            // A stage that has overflowed has no image.
            let x = p.extract(d);
            let wraps = response::<F>(launch, comptime!(2 * d as i32), FACE_WRAPS) != 0;
            if wraps && x.abs() <= F::max_value() {
                wrapped.insert(d, fold::<F>(launch, x, d).x);
            }
        }
        wrapped
    }

    /// Applies the faces' conditions to the path from `from`, inside, to `to`, outside, where nothing
    /// else matters: all crossings at once.
    pub(crate) fn land<F: Float>(launch: &Launch<F>, from: Vec3<F>, to: Vec3<F>) -> Passage<F> {
        let mut face = i32::new(-1);
        let mut fraction = F::new(1.0_f32);
        #[unroll]
        for d in 0..3usize {
            let crossing = exit::<F>(launch, from.extract(d), to.extract(d), d);
            if crossing.face >= 0 && (face < 0 || crossing.fraction < fraction) {
                face = crossing.face;
                fraction = crossing.fraction;
            }
        }
        let mut position = to;
        if face >= 0 {
            position = from + Vec3::<F>::new(fraction) * (to - from);
        }
        let x = fold::<F>(launch, position.extract(0usize), 0usize);
        let y = fold::<F>(launch, position.extract(1usize), 1usize);
        let z = fold::<F>(launch, position.extract(2usize), 2usize);
        let mut motion = position - from;
        motion.insert(0usize, slid::<F>(launch, &x, from.extract(0usize), motion, 0usize));
        motion.insert(1usize, slid::<F>(launch, &y, from.extract(1usize), motion, 1usize));
        motion.insert(2usize, slid::<F>(launch, &z, from.extract(2usize), motion, 2usize));
        position.insert(0usize, x.x);
        position.insert(1usize, y.x);
        position.insert(2usize, z.x);
        let mut status = i32::new(ACTIVE as i64);
        if face >= 0 {
            status = response::<F>(launch, face, FACE_END);
        }
        Passage::<F> {
            position: on_face::<F>(launch, position, face),
            image_x: x.image,
            image_y: y.image,
            image_z: z.image,
            status,
            fraction,
            moved: dot::<F>(motion, motion).sqrt() + rounding_of::<F>(to),
            which: i32::new(-1),
            velocity: Vec3::<F>::new(F::new(0.0_f32)),
        }
    }

    /// The rounding of a motion to a position.
    pub(crate) fn rounding_of<F: Float>(p: Vec3<F>) -> F {
        let size = max(p.extract(0usize).abs(), p.extract(1usize).abs());
        F::new(4.0_f32) * rounding::<F>() * max(size, p.extract(2usize).abs())
    }

    /// A component of a motion from the coordinate `from`; that to the face if it slides there.
    fn slid<F: Float>(
        launch: &Launch<F>,
        folded: &Folded<F>,
        from: F,
        motion: Vec3<F>,
        #[comptime] axis: usize,
    ) -> F {
        let free = motion.extract(axis);
        let is_low = free < F::new(0.0_f32);
        let face = comptime!(2 * axis as i32) + select(is_low, 0i32, 1i32);
        let slides = response::<F>(launch, face, FACE_TURN) == 1;
        select(slides, folded.x - from, free)
    }

    /// A point with the coordinate of a face; itself for face -1.
    pub(crate) fn on_face<F: Float>(launch: &Launch<F>, p: Vec3<F>, face: i32) -> Vec3<F> {
        let mut p = p;
        #[unroll]
        for d in 0..3usize {
            if face == comptime!(2 * d as i32) {
                p.insert(d, launch.float(LOW + d));
            }
            if face == comptime!(2 * d as i32 + 1) {
                p.insert(d, launch.float(HIGH + d));
            }
        }
        p
    }

    /// The unit normal of a domain face, into the box.
    pub(crate) fn face_normal<F: Float>(face: i32) -> Vec3<F> {
        let zero = F::new(0.0_f32);
        let one = F::new(1.0_f32);
        let sign = select(face % 2 == 0, one, -one);
        let x = select(face / 2 == 0, sign, zero);
        let y = select(face / 2 == 1, sign, zero);
        let z = select(face / 2 == 2, sign, zero);
        vec3::<F>(x, y, z)
    }

    /// The face and the fraction of the path at which `x0 -> x1` ends, after at most one reflection.
    fn exit<F: Float>(launch: &Launch<F>, x0: F, x1: F, #[comptime] axis: usize) -> Crossing<F> {
        let low = launch.float(LOW + axis);
        let high = launch.float(HIGH + axis);
        let is_below = x1 < low;
        let length = (x1 - x0).abs();
        let reach = select(is_below, x0 - low, high - x0);
        let first = comptime!(2 * axis as i32) + select(is_below, 0i32, 1i32);
        let second = comptime!(2 * axis as i32) + select(is_below, 1i32, 0i32);
        let mut face = i32::new(-1);
        let mut fraction = F::new(1.0_f32);
        if is_below || x1 > high {
            if response::<F>(launch, first, FACE_END) != ACTIVE {
                face = first;
                fraction = reach / length;
            }
            let bounced = reach + (high - low);
            let reflects = response::<F>(launch, first, FACE_TURN) == 2;
            let ends = response::<F>(launch, second, FACE_END) != ACTIVE;
            if reflects && ends && length > bounced {
                face = second;
                fraction = bounced / length;
            }
        }
        Crossing::<F> { face, fraction }
    }

    /// The coordinate in the box that corresponds to an unbounded one, and the boxes crossed.
    fn fold<F: Float>(launch: &Launch<F>, x: F, #[comptime] axis: usize) -> Folded<F> {
        let low = launch.float(LOW + axis);
        let high = launch.float(HIGH + axis);
        let width = high - low;
        let below = response::<F>(launch, comptime!(2 * axis as i32), FACE_TURN) == 2;
        let above = response::<F>(launch, comptime!(2 * axis as i32 + 1), FACE_TURN) == 2;
        let mut folded = x;
        let mut image = 0i32;
        if response::<F>(launch, comptime!(2 * axis as i32), FACE_WRAPS) != 0 {
            // Rounding must not move a point just below the high face to the low one.
            let is_inside = low <= x && x < high;
            let boxes = select(is_inside, F::new(0.0_f32), ((x - low) / width).floor());
            folded = x - boxes * width;
            image = i32::cast_from(boxes);
        } else if below && above {
            let two = width + width;
            let y = (x - low) - ((x - low) / two).floor() * two;
            folded = low + (width - (y - width).abs());
        } else if below && x < low {
            folded = low + (low - x);
        } else if above && x > high {
            folded = high - (x - high);
        }
        Folded::<F> { x: clamp(folded, low, high), image }
    }

    /// The face through which a path first leaves the box.
    pub(crate) fn first_face<F: Float>(
        launch: &Launch<F>,
        from: Vec3<F>,
        to: Vec3<F>,
    ) -> Crossing<F> {
        let mut face = i32::new(-1);
        let mut fraction = F::new(1.0_f32);
        #[unroll]
        for d in 0..3usize {
            let (low, high) = (launch.float(LOW + d), launch.float(HIGH + d));
            let (start, end) = (from.extract(d), to.extract(d));
            let is_low = end < low;
            if is_low || end > high {
                let reach = select(is_low, start - low, high - start);
                let part = reach / (end - start).abs();
                let part = clamp(part, F::new(0.0_f32), F::new(1.0_f32));
                if face < 0 || part < fraction {
                    face = select(is_low, comptime!(2 * d as i32), comptime!(2 * d as i32 + 1));
                    fraction = part;
                }
            }
        }
        Crossing::<F> { face, fraction }
    }
}
