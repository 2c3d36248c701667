//! A closed triangulated surface: signed distances, and the first crossing of a line.

use burntrace_macros::host_device;

#[host_device]
pub(crate) mod facets {
    use crate::physics::{
        body::both::{Intersection, Line},
        facet::{
            FACET_ROWS,
            both::{Facet, facet, local, nearest},
        },
        tables::{BODY_FLOATS, BODY_INTS, OBSTACLES_AT, SHAPES_AT},
        vector::both::{dot, vec3},
    };
    use crate::surface::{
        CUTS, MAX_CUTS, QUANTA,
        facet::{BY_PLANE, OUTSIDE},
    };

    /// A surface. Lattice coordinates count cells from the lattice's first corner.
    pub(crate) struct Facets<F: Float> {
        low: Vec3<F>,
        high: Vec3<F>,
        pitch: F,
        /// Cells of the lattice along each axis, and its strides.
        nodes: Vec3<F>,
        stride: i32,
        layer: i32,
        /// The first row of its triangles.
        rows_at: usize,
        /// The offset of its numbers, and of its cells among them.
        numbers_at: usize,
        cells_at: usize,
        /// Distance of particles from the surface.
        pub skin: F,
        /// 1 for a body and -1 for a vessel.
        pub sign: F,
    }

    /// An undivided cell.
    struct Leaf<F: Float> {
        low: Vec3<F>,
        width: F,
        /// Offset and length of its list of triangles.
        first: usize,
        count: usize,
        /// Signed lower bound of the distance from the surface; 0 if the list decides.
        distance: F,
    }

    /// The triangle nearest to a point: its nearest feature, and the vector from there to the
    /// point, in its frame.
    struct Closest<F: Float> {
        which: i32,
        part: i32,
        a: F,
        b: F,
        z: F,
        square: F,
    }

    /// A point relative to a surface.
    pub(crate) struct Probe<F: Float> {
        /// Lower bound of the distance inside the allowed side; negative on the forbidden side;
        /// exact near the surface.
        pub clearance: F,
        /// A point on the allowed side next to the nearest feature of the surface, or to a feature
        /// near it if the surface is far away.
        pub off: Vec3<F>,
    }

    /// Loads the surface of obstacle `k`.
    pub(crate) fn load<F: Float>(launch: &Launch<F>, k: usize) -> Facets<F> {
        let one = F::new(1.0_f32);
        let floats = launch.int(SHAPES_AT) as usize + k * BODY_FLOATS;
        let ints = launch.int(OBSTACLES_AT) as usize + 1 + k * BODY_INTS;
        let (nx, ny, nz) = (launch.int(ints + 4), launch.int(ints + 5), launch.int(ints + 6));
        let numbers_at = launch.int(ints + 8) as usize;
        Facets::<F> {
            low: launch.vec3(floats),
            high: launch.vec3(floats + 3),
            pitch: launch.float(floats + 6),
            nodes: vec3::<F>(F::cast_from(nx), F::cast_from(ny), F::cast_from(nz)),
            stride: nx,
            layer: nx * ny,
            rows_at: launch.int(ints + 7) as usize,
            numbers_at,
            cells_at: numbers_at + launch.int(ints + 9) as usize,
            skin: F::new(16.0_f32) * rounding::<F>() * launch.float(floats + 8),
            sign: select(launch.int(ints + 1) == 1i32, -one, one),
        }
    }

    /// Lattice coordinates of a point; the lattice starts one cell before the surface's box.
    fn in_lattice<F: Float>(facets: &Facets<F>, p: Vec3<F>) -> Vec3<F> {
        (p - facets.low) / Vec3::<F>::new(facets.pitch) + Vec3::<F>::new(F::new(1.0_f32))
    }

    fn floors<F: Float>(p: Vec3<F>, last: Vec3<F>) -> Vec3<F> {
        let zero = F::new(0.0_f32);
        vec3::<F>(
            clamp(p.extract(0usize), zero, last.extract(0usize)).floor(),
            clamp(p.extract(1usize), zero, last.extract(1usize)).floor(),
            clamp(p.extract(2usize), zero, last.extract(2usize)).floor(),
        )
    }

    /// The cell at lattice coordinates, or the nearest one.
    fn leaf<F: Float>(launch: &Launch<F>, facets: &Facets<F>, at: Vec3<F>) -> Leaf<F> {
        let cuts = F::new(comptime!(CUTS as f32));
        let last = Vec3::<F>::new(cuts - F::new(1.0_f32));
        let cell = floors::<F>(at, facets.nodes - Vec3::<F>::new(F::new(1.0_f32)));
        let mut low = cell;
        let mut width = F::new(1.0_f32);
        let number = i32::cast_from(cell.extract(0usize))
            + facets.stride * i32::cast_from(cell.extract(1usize))
            + facets.layer * i32::cast_from(cell.extract(2usize));
        let mut here = facets.cells_at + 2 * number as usize;
        let mut first = launch.number(here);
        let mut quanta = launch.number(here + 1);
        let mut rounds = 0i32;
        while quanta == 0 && first < 0 && rounds < comptime!(MAX_CUTS as i32) {
            width /= cuts;
            let cell = floors::<F>((at - low) / Vec3::<F>::new(width), last);
            low += cell * Vec3::<F>::new(width);
            let many = comptime!(CUTS as i32);
            let number = i32::cast_from(cell.extract(0usize))
                + many * i32::cast_from(cell.extract(1usize))
                + many * many * i32::cast_from(cell.extract(2usize));
            here = facets.numbers_at + (2 * number - first) as usize;
            first = launch.number(here);
            quanta = launch.number(here + 1);
            rounds += 1;
        }
        let mut count = 1usize;
        if quanta == 0 {
            here = facets.numbers_at + first as usize + 1;
            count = launch.number(here - 1) as usize;
        }
        let distance = F::cast_from(quanta) * facets.pitch / F::new(comptime!(QUANTA as f32));
        Leaf::<F> { low, width, first: here, count, distance }
    }

    /// The triangle with an index in the surface.
    fn triangle<F: Float>(launch: &Launch<F>, facets: &Facets<F>, which: i32) -> Facet<F> {
        facet::<F>(launch, facets.rows_at + which as usize * comptime!(FACET_ROWS))
    }

    /// The normal of a triangle, towards the allowed side.
    pub(crate) fn normal<F: Float>(launch: &Launch<F>, facets: &Facets<F>, which: i32) -> Vec3<F> {
        let row = facets.rows_at + which as usize * comptime!(FACET_ROWS) + 2;
        Vec3::<F>::new(facets.sign) * launch.row(row)
    }

    /// The triangle of a cell nearest to a point.
    fn closest<F: Float>(
        launch: &Launch<F>,
        facets: &Facets<F>,
        leaf: &Leaf<F>,
        p: Vec3<F>,
    ) -> Closest<F> {
        let zero = F::new(0.0_f32);
        let mut square = F::max_value();
        let mut which = i32::new(0);
        let mut part = i32::new(0);
        let mut a = zero;
        let mut b = zero;
        let mut z = zero;
        for i in 0..leaf.count {
            let other = launch.number(leaf.first + i);
            let triangle = triangle::<F>(launch, facets, other);
            let at = local::<F>(&triangle, p);
            let height = at.extract(2usize);
            if height * height < square {
                let near = nearest::<F>(&triangle, at.extract(0usize), at.extract(1usize));
                let found = near.a * near.a + near.b * near.b + height * height;
                if found < square {
                    square = found;
                    which = other;
                    part = near.part;
                    a = near.a;
                    b = near.b;
                    z = height;
                }
            }
        }
        Closest::<F> { which, part, a, b, z, square }
    }

    /// Whether a point is outside, by the triangle nearest to it.
    fn is_outside<F: Float>(launch: &Launch<F>, facets: &Facets<F>, closest: &Closest<F>) -> bool {
        let mut side = i32::new(comptime!(BY_PLANE as i64));
        if closest.part > 0 {
            let sides = launch.number(facets.numbers_at + closest.which as usize);
            side = (sides >> (2 * (closest.part - 1))) & 3i32;
        }
        let mut is_outside = side == OUTSIDE;
        if side == BY_PLANE {
            is_outside = closest.z > F::new(0.0_f32);
        }
        is_outside
    }

    /// The distance of a point inside the allowed side, and if `corrects` is set, the corrected
    /// point of one that is less than a skin inside.
    pub(crate) fn probe<F: Float>(
        launch: &Launch<F>,
        facets: &Facets<F>,
        p: Vec3<F>,
        #[comptime] corrects: bool,
    ) -> Probe<F> {
        let zero = F::new(0.0_f32);
        let at = in_lattice::<F>(facets, p);
        let mut beyond = Vec3::<F>::new(zero);
        let mut is_in = true;
        #[unroll]
        for d in 0..3usize {
            let x = at.extract(d);
            is_in = is_in && x >= zero && x < facets.nodes.extract(d);
            let (low, high) = (facets.low.extract(d), facets.high.extract(d));
            beyond.insert(d, max(max(low - p.extract(d), p.extract(d) - high), zero));
        }
        let mut value = dot::<F>(beyond, beyond).sqrt();
        let mut off = p;
        if is_in || comptime!(corrects) {
            let leaf = leaf::<F>(launch, facets, at);
            if is_in {
                value = leaf.distance;
            }
            let mut needs_closest = value == zero;
            if comptime!(corrects) {
                needs_closest = needs_closest || facets.sign * value <= facets.skin;
            }
            if needs_closest {
                let closest = closest::<F>(launch, facets, &leaf, p);
                let apart = closest.square.sqrt();
                if value == zero {
                    let is_outside = is_outside::<F>(launch, facets, &closest);
                    value = select(is_outside, apart, -apart);
                }
                if comptime!(corrects) {
                    off = moved_off::<F>(launch, facets, p, &closest, value > zero);
                }
            }
        }
        Probe::<F> { clearance: facets.sign * value, off }
    }

    /// A point on the allowed side of the feature nearest to `p`.
    fn moved_off<F: Float>(
        launch: &Launch<F>,
        facets: &Facets<F>,
        p: Vec3<F>,
        closest: &Closest<F>,
        is_outside: bool,
    ) -> Vec3<F> {
        let one = F::new(1.0_f32);
        let triangle = triangle::<F>(launch, facets, closest.which);
        let apart = closest.square.sqrt();
        let goal = facets.sign * facets.skin;
        let mut off = p + Vec3::<F>::new(goal - closest.z) * triangle.normal;
        if closest.part > 0 && apart >= facets.skin {
            let sign = select(is_outside, one, -one);
            let away = triangle.normal * Vec3::<F>::new(closest.z * sign / apart)
                + Vec3::<F>::new(closest.a * sign / apart) * triangle.along
                + Vec3::<F>::new(closest.b * sign / apart) * triangle.up;
            off = p + Vec3::<F>::new(goal - sign * apart) * away;
        }
        off
    }

    /// Quick, conservative test that the straight path between two points stays on the allowed
    /// side.
    pub(crate) fn is_clear<F: Float>(
        launch: &Launch<F>,
        facets: &Facets<F>,
        from: Vec3<F>,
        to: Vec3<F>,
    ) -> bool {
        // Triangles extend two skins beyond their sides.
        let reach = F::new(4.0_f32) * facets.skin;
        let mut is_beyond = false;
        #[unroll]
        for d in 0..3usize {
            let (a, b) = (from.extract(d), to.extract(d));
            let is_below = max(a, b) < facets.low.extract(d) - reach;
            let is_above = min(a, b) > facets.high.extract(d) + reach;
            is_beyond = is_beyond || is_below || is_above;
        }
        let mut is_clear = is_beyond && facets.sign > F::new(0.0_f32);
        if !is_clear {
            let displacement = to - from;
            let length = dot::<F>(displacement, displacement).sqrt();
            let clearance = probe::<F>(launch, facets, from, false).clearance;
            let safe = F::new(1.0_f32) - F::new(16.0_f32) * rounding::<F>();
            is_clear = clearance * safe > length + reach && length <= F::max_value();
        }
        is_clear
    }

    /// The first crossing of a line through a triangle to its forbidden side.
    pub(crate) fn crossing<F: Float>(
        launch: &Launch<F>,
        facets: &Facets<F>,
        start: Vec3<F>,
        line: &Line<F>,
    ) -> Intersection<F> {
        let zero = F::new(0.0_f32);
        let speed = line.direction / Vec3::<F>::new(facets.pitch);
        let before = in_lattice::<F>(facets, start);
        let mut enter = zero;
        let mut leave = line.length;
        #[unroll]
        for d in 0..3usize {
            let (at, along, end) = (before.extract(d), speed.extract(d), facets.nodes.extract(d));
            if along == zero {
                if at < zero || at >= end {
                    leave = -F::max_value();
                }
            } else {
                let (a, b) = (-at / along, (end - at) / along);
                enter = max(enter, min(a, b));
                leave = min(leave, max(a, b));
            }
        }
        // Starts where the line enters the lattice, to reduce rounding.
        let from = start + Vec3::<F>::new(enter) * line.direction;
        let origin = in_lattice::<F>(facets, from);
        let length = leave - enter;
        let mut first = F::max_value();
        let mut which = i32::new(-1);
        let mut reached = zero;
        let mut continues = enter <= leave;
        while continues {
            let leaf = leaf::<F>(launch, facets, origin + speed * Vec3::<F>::new(reached));
            let mut next = F::max_value();
            #[unroll]
            for d in 0..3usize {
                let (low, along) = (leaf.low.extract(d), speed.extract(d));
                if along != zero {
                    let side = select(along > zero, low + leaf.width, low);
                    next = min(next, (side - origin.extract(d)) / along);
                }
            }
            // A step past the side of the cell, within its margin.
            let step = F::new(0.005_f32) * leaf.width * facets.pitch;
            let step = max(step, F::new(4.0_f32) * rounding::<F>() * reached);
            if leaf.distance == zero {
                for i in 0..leaf.count {
                    let other = launch.number(leaf.first + i);
                    let distance = meet::<F>(launch, facets, from, line.direction, other);
                    if distance < first && distance <= length {
                        first = distance;
                        which = other;
                    }
                }
            } else {
                next = max(next, reached + leaf.distance.abs());
            }
            continues = first > next + step;
            reached = max(next, reached) + step;
            continues = continues && reached <= length;
        }
        let distance = enter + first;
        Intersection::<F> { distance, bound: select(distance <= line.length, which, -1i32) }
    }

    /// The distance along a ray at which it crosses a triangle, slightly extended beyond its sides;
    /// the largest float if it does not.
    fn meet<F: Float>(
        launch: &Launch<F>,
        facets: &Facets<F>,
        from: Vec3<F>,
        direction: Vec3<F>,
        which: i32,
    ) -> F {
        let zero = F::new(0.0_f32);
        let triangle = triangle::<F>(launch, facets, which);
        let height = facets.sign * dot::<F>(from - triangle.corner, triangle.normal);
        let approach = -facets.sign * dot::<F>(direction, triangle.normal);
        let mut found = F::max_value();
        if approach > zero && height >= -F::new(0.25_f32) * facets.skin {
            let distance = max(height, zero) / approach;
            let at = local::<F>(&triangle, from + Vec3::<F>::new(distance) * direction);
            let near = nearest::<F>(&triangle, at.extract(0usize), at.extract(1usize));
            let beyond = facets.skin + facets.skin;
            if near.a * near.a + near.b * near.b <= beyond * beyond {
                found = distance;
            }
        }
        found
    }
}
