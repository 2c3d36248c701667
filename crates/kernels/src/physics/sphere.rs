//! Displacements on a sphere, whose positions are a longitude and a latitude in degrees and a height in metres.
//!
//! Velocities are horizontal vectors in space (x towards longitude 0 on the equator, y towards 90 degrees east, z
//! towards the north pole) and a fourth component, upwards. So a step is one in space: there is no pole in it.

use burntrace_macros::host_device;

#[host_device]
pub(crate) mod sphere {
    use crate::physics::{
        tables::RADIUS,
        vector::both::{dot, vec3},
    };

    /// Where a step starts.
    pub(crate) struct Place<F: Float> {
        /// Unit vectors towards the east, the north, and upwards.
        pub east: Vec3<F>,
        pub north: Vec3<F>,
        pub up: Vec3<F>,
        /// The distance from the centre of the sphere.
        pub radius: F,
    }

    /// The place of a position.
    #[inline(always)]
    pub(crate) fn place<F: Float>(launch: &Launch<F>, position: Vec3<F>) -> Place<F> {
        let lon = turn::<F>(position.extract(0usize));
        let lat = turn::<F>(position.extract(1usize));
        let zero = F::new(0.0_f32);
        Place::<F> {
            east: vec3::<F>(-lon.sin, lon.cos, zero),
            north: vec3::<F>(-lat.sin * lon.cos, -lat.sin * lon.sin, lat.cos),
            up: vec3::<F>(lat.cos * lon.cos, lat.cos * lon.sin, lat.sin),
            radius: launch.float(RADIUS) + position.extract(2usize),
        }
    }

    /// A vector in space by its components towards the east, the north, and upwards.
    #[inline(always)]
    pub(crate) fn local<F: Float>(place: &Place<F>, v: Vec3<F>) -> Vec3<F> {
        vec3::<F>(dot::<F>(place.east, v), dot::<F>(place.north, v), dot::<F>(place.up, v))
    }

    /// The changes of longitude, latitude and height by a displacement in metres: its components of [`local`], whose
    /// last one says how far the point is below or above the horizon of the place, and a change of height.
    ///
    /// They are differences, not differences of angles, so that they lose nothing by rounding. The distance from the centre is that
    /// of the middle of the change of height.
    #[inline(always)]
    pub(crate) fn change<F: Float>(place: &Place<F>, by: Vec3<F>, height: F) -> Vec3<F> {
        let east = by.extract(0usize);
        let north = by.extract(1usize);
        let sin = place.up.extract(2usize);
        let cos = place.north.extract(2usize);
        let upwards = place.radius + F::new(0.5_f32) * height + by.extract(2usize);
        // The distance from the axis along the meridian, and how much more it is in all.
        let along = upwards * cos - north * sin;
        let degrees = constant::<F>(180.0 / std::f64::consts::PI);
        if max(east.abs(), north.abs()) < F::new(0.0625_f32) * along {
            let tangent = east / along;
            let more = along * excess::<F>(tangent * tangent);
            let slope = (north - sin * more) / (upwards + cos * more);
            let lon = degrees * small_angle::<F>(tangent);
            vec3::<F>(lon, degrees * small_angle::<F>(slope), height)
        } else {
            let axis = (along * along + east * east).sqrt();
            let more = axis - along;
            let lon = degrees * angle::<F>(east, along);
            let lat = degrees * angle::<F>(north - sin * more, upwards + cos * more);
            vec3::<F>(lon, lat, height)
        }
    }

    /// A velocity towards the east and, times the cosine of the latitude, the north, at a position, as a vector in space.
    #[inline(always)]
    pub(crate) fn in_space<F: Float>(position: Vec3<F>, flow: Vec3<F>) -> Vec3<F> {
        let lon = turn::<F>(position.extract(0usize));
        let lat = turn::<F>(position.extract(1usize));
        let east = flow.extract(0usize);
        let north = flow.extract(1usize) / lat.cos;
        let away = -lat.sin * north;
        vec3::<F>(
            away * lon.cos - east * lon.sin,
            away * lon.sin + east * lon.cos,
            flow.extract(1usize),
        )
    }

    /// The normal of a surface in space, from its gradient by longitude, latitude and height at a position: a change of position
    /// at a right angle to the surface, of any length.
    #[inline(always)]
    pub(crate) fn at_right_angle<F: Float>(
        launch: &Launch<F>,
        position: Vec3<F>,
        gradient: Vec3<F>,
    ) -> Vec3<F> {
        let lat = turn::<F>(position.extract(1usize));
        let radius = launch.float(RADIUS) + position.extract(2usize);
        let degree = radius * constant::<F>(std::f64::consts::PI / 180.0);
        vec3::<F>(
            gradient.extract(0usize) / (lat.cos * lat.cos),
            gradient.extract(1usize),
            gradient.extract(2usize) * degree * degree,
        )
    }

    /// The square root of 1 + `x`, less 1, for a small `x`: its series.
    #[inline(always)]
    fn excess<F: Float>(x: F) -> F {
        let mut sum = F::new(0.0_f32);
        let terms = comptime!(if size_bits::<F>() <= 32 { 3u32 } else { 7u32 });
        #[unroll]
        for i in 0..terms {
            let n = comptime!((terms - i) as f64);
            // The quotient of a coefficient and the one before: (3/2 - n) / n.
            sum = (F::new(1.0_f32) + sum) * x * constant::<F>(comptime!((1.5 - n) / n));
        }
        sum
    }

    /// The sine and the cosine of an angle.
    pub(crate) struct Turn<F: Float> {
        pub sin: F,
        pub cos: F,
    }

    /// The sine and the cosine of an angle in degrees, by their series within an eighth of a turn.
    #[inline(always)]
    pub(crate) fn turn<F: Float>(degrees: F) -> Turn<F> {
        let quarters = (degrees / F::new(90.0_f32) + F::new(0.5_f32)).floor();
        let x =
            (degrees - quarters * F::new(90.0_f32)) * constant::<F>(std::f64::consts::PI / 180.0);
        let square = x * x;
        let mut sin = F::new(0.0_f32);
        let mut cos = F::new(0.0_f32);
        // In single precision, further terms are 0.
        let terms = comptime!(if size_bits::<F>() <= 32 { 5u32 } else { 9u32 });
        #[unroll]
        for i in 0..terms {
            let n = comptime!((2 * (terms - i)) as f64);
            sin =
                (F::new(1.0_f32) + sin) * square * constant::<F>(comptime!(-1.0 / (n * (n + 1.0))));
            cos =
                (F::new(1.0_f32) + cos) * square * constant::<F>(comptime!(-1.0 / (n * (n - 1.0))));
        }
        let one = F::new(1.0_f32);
        let sin = x + x * sin;
        let cos = one + cos;
        let quarter = quarters - F::new(4.0_f32) * (quarters / F::new(4.0_f32)).floor();
        let is_odd = quarter == F::new(1.0_f32) || quarter == F::new(3.0_f32);
        let first = select(is_odd, cos, sin);
        let second = select(is_odd, sin, cos);
        let sin_sign = select(quarter >= F::new(2.0_f32), -one, one);
        let is_left = quarter == F::new(1.0_f32) || quarter == F::new(2.0_f32);
        let cos_sign = select(is_left, -one, one);
        Turn::<F> { sin: sin_sign * first, cos: cos_sign * second }
    }

    /// The angle whose tangent is at most 1/8, in radians.
    #[inline(always)]
    fn small_angle<F: Float>(tangent: F) -> F {
        let square = tangent * tangent;
        let mut sum = F::new(0.0_f32);
        let terms = comptime!(if size_bits::<F>() <= 32 { 4u32 } else { 8u32 });
        #[unroll]
        for i in 0..terms {
            let n = comptime!((2 * (terms - i) + 1) as f64);
            let sign = comptime!(if (terms - i) % 2 == 0 { 1.0 } else { -1.0 });
            sum = sum * square + constant::<F>(comptime!(sign / n));
        }
        tangent + tangent * square * sum
    }

    /// The angle of a direction in radians, between -pi and pi, by halves.
    #[inline]
    fn angle<F: Float>(y: F, x: F) -> F {
        let mut along = x.abs();
        let across = y.abs();
        let mut times = F::new(1.0_f32);
        #[unroll]
        for _ in 0..4u32 {
            along += (along * along + across * across).sqrt();
            times *= F::new(2.0_f32);
        }
        let half = constant::<F>(std::f64::consts::PI);
        // At a pole, any direction is right.
        let zero = F::new(0.0_f32);
        let tangent = select(across == zero, zero, across / along);
        let angle = times * small_angle::<F>(tangent);
        let angle = select(x < zero, half - angle, angle);
        select(y < zero, -angle, angle)
    }
}
