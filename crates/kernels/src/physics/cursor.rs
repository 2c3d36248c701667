//! The progress of a particle along a straight path.

use burntrace_macros::host_device;

#[host_device]
pub(crate) mod cursor {
    use crate::physics::tables::{HIGH, LOW, RESTITUTION};
    use crate::physics::vector::both::dot;

    /// Progress of a particle along its path.
    pub(crate) struct Cursor<F: Float> {
        /// The point to move to.
        pub next: Vec3<F>,
        /// The periodic face that is crossed on arrival there, or -1.
        pub crossed: i32,
        /// The periodic face that was crossed last, directly before this path, or -1.
        pub entered: i32,
        /// Whether the path ends there.
        pub is_last: bool,
        /// End of the remaining path, if it has not been redirected.
        pub to: Vec3<F>,
        /// If it has been redirected, the remaining displacement, what is removed from it, and the
        /// obstacle along which it slides, or -1.
        pub rest: Vec3<F>,
        pub removed: Vec3<F>,
        pub is_redirected: bool,
        pub along: i32,
        /// Fraction of the whole path already covered.
        pub covered: F,
        /// Events at the boundary of the mesh, resumptions of interrupted paths, and searches for a cell.
        pub edges: i32,
        pub interruptions: i32,
        pub searches: i32,
        /// The velocity of a particle with inertia there, and its change over the whole path.
        pub velocity: Vec3<F>,
        pub change: Vec3<F>,
    }

    /// The velocity of a particle with inertia at the start of a path, and its change.
    pub(crate) struct Carried<F: Float> {
        pub velocity: Vec3<F>,
        pub change: Vec3<F>,
    }

    /// The start of a path.
    pub(crate) fn begin<F: Float>(from: Vec3<F>, to: Vec3<F>, carried: &Carried<F>) -> Cursor<F> {
        Cursor::<F> {
            next: from,
            crossed: i32::new(-1),
            is_last: false,
            to,
            rest: to - from,
            removed: Vec3::<F>::new(F::new(0.0_f32)),
            is_redirected: false,
            along: i32::new(-1),
            entered: i32::new(-1),
            covered: F::new(0.0_f32),
            edges: 0i32,
            interruptions: 0i32,
            searches: 0i32,
            velocity: carried.velocity,
            change: carried.change,
        }
    }

    /// Adds a fraction of the remaining path to the fraction covered.
    pub(crate) fn cover<F: Float>(launch: &Launch<F>, cursor: &mut Cursor<F>, fraction: F) {
        let one = F::new(1.0_f32);
        let before = cursor.covered;
        cursor.covered = min(before + fraction * (one - before), one);
        if comptime!(launch.features.carries) {
            cursor.velocity += Vec3::<F>::new(cursor.covered - before) * cursor.change;
        }
    }

    /// Turns the velocity of a particle with inertia at a contact with a wall. One that does not leave the wall keeps its contact: the
    /// change of the velocity into the wall is removed, too. A displacement along `away` moves by the part of it along `normal`.
    pub(crate) fn deflect<F: Float>(
        launch: &Launch<F>,
        cursor: &mut Cursor<F>,
        away: Vec3<F>,
        normal: Vec3<F>,
        turn: i32,
    ) {
        if comptime!(launch.features.carries) {
            let per = dot::<F>(normal, away);
            let (velocity, change) = (cursor.velocity, cursor.change);
            let into = dot::<F>(velocity, normal) / per;
            cursor.velocity = velocity - removed::<F>(launch, velocity, away, into, turn);
            let mut stays = turn == 1;
            if comptime!(launch.features.bounces) && turn == 2 {
                stays = launch.float(RESTITUTION) == F::new(0.0_f32);
            }
            if stays {
                let into = dot::<F>(change, normal) / per;
                cursor.change = change - removed::<F>(launch, change, away, into, 1i32);
            }
        }
    }

    /// What a contact removes from a displacement: `turn` times its component into a wall, whose `normal_part` is negative. A
    /// reflection that changes the speed of particles with inertia removes more.
    pub(crate) fn removed<F: Float>(
        launch: &Launch<F>,
        rest: Vec3<F>,
        normal: Vec3<F>,
        normal_part: F,
        turn: i32,
    ) -> Vec3<F> {
        let into = min(normal_part, F::new(0.0_f32));
        let mut gone = Vec3::<F>::new(F::cast_from(turn) * into) * normal;
        if comptime!(launch.features.bounces) && turn == 2 && into < F::new(0.0_f32) {
            let one = F::new(1.0_f32);
            let (across, along) =
                (launch.float(RESTITUTION), launch.float(comptime!(RESTITUTION + 1)));
            let normal_motion = Vec3::<F>::new(into) * normal;
            gone = Vec3::<F>::new(one + across) * normal_motion
                + Vec3::<F>::new(one - along) * (rest - normal_motion);
        }
        gone
    }

    /// The point itself, clamped to the domain box.
    #[inline]
    pub(crate) fn in_box<F: Float>(launch: &Launch<F>, point: Vec3<F>) -> Vec3<F> {
        let mut point = point;
        #[unroll]
        for d in 0..3usize {
            let (low, high) = (launch.float(LOW + d), launch.float(HIGH + d));
            point.insert(d, clamp(point.extract(d), low, high));
        }
        point
    }

    /// The point at a fraction of a path in the box.
    #[inline]
    pub(crate) fn along<F: Float>(
        launch: &Launch<F>,
        from: Vec3<F>,
        to: Vec3<F>,
        part: F,
    ) -> Vec3<F> {
        in_box::<F>(launch, from + Vec3::<F>::new(part) * (to - from))
    }
}
