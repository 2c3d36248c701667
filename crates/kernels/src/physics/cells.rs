//! Cells of a mesh: their sides, Newton's method for coordinates in them, and the walk from one to
//! the next. A device reads the tables of cell types as constants, and has a branch for each group of
//! types; the host reads those of one type.

use burntrace_macros::host_device;

/// Maximum number of cells of a walk.
pub(crate) const HOPS: i64 = 64;
/// Maximum number of Newton steps; two or three are usual.
const STEPS: i32 = 16;
/// Newton's method stops beyond this distance, in parametric coordinates.
const FAR: f32 = 64.0;

#[host_device]
pub(crate) mod cells {
    use super::{FAR, HOPS, STEPS};
    use crate::physics::{
        region::both::Surface,
        vector::both::{cross, dot, is_within, largest, vec3},
    };

    /// The position is inside this cell only.
    pub(crate) const INSIDE: i32 = 0;
    /// The position is on a face of the cell, within rounding.
    pub(crate) const BORDER: i32 = 1;
    /// The position is beyond a face.
    pub(crate) const OUTSIDE: i32 = 2;

    /// A walk from cell to cell. Cell numbers are incremented by one; 0 means none.
    pub(crate) struct Walk {
        pub cell: i32,
        pub before: i32,
        /// Number of cells that it may still enter.
        pub hops: i32,
    }

    #[inline(always)]
    pub(crate) fn walk_from(cell: i32) -> Walk {
        Walk { cell, before: 0i32, hops: i32::new(HOPS) }
    }

    /// Moves a walk into cell `next`, or -1 at the boundary. Returns whether it moves.
    #[inline(always)]
    pub(crate) fn hop(walk: &mut Walk, next: i32) -> bool {
        // Two cells that send a walk back and forth are inverted, or too distorted.
        let moves = next >= 0 && walk.hops > 0 && next + 1 != walk.before;
        if moves {
            walk.hops -= 1;
            walk.before = walk.cell;
            walk.cell = next + 1;
        }
        moves
    }

    /// Scale of changes in r and s near the apex of a pyramid, where they hardly change the position.
    #[inline(always)]
    #[allow(clippy::collapsible_if)]
    pub(crate) fn scale<F: Float>(kind: i32, at: Vec3<F>, #[comptime] mesh: MeshKind) -> F {
        let mut scale = F::new(1.0_f32);
        #[unroll]
        for k in 0..comptime!(mesh.outlines().len()) {
            let outline = comptime!(mesh.outlines()[k]);
            if comptime!(outline.narrows) {
                if is_of(kind, comptime!(outline.kinds), comptime!(mesh.kinds())) {
                    let one = F::new(1.0_f32);
                    scale = one / max((one - at.extract(2usize)).abs(), rounding::<F>());
                }
            }
        }
        scale
    }

    /// Distance of a point inside a side; near the apex of a pyramid, scaled to space.
    #[inline(always)]
    pub(crate) fn distance<F: Float>(
        at: Vec3<F>,
        scale: F,
        #[comptime] side: Side,
        #[comptime] narrows: bool,
    ) -> F {
        let mut distance = F::new(comptime!(side.plane[0]));
        #[unroll]
        for d in 0..3usize {
            if comptime!(occurs(side.plane[d + 1])) {
                distance += F::new(comptime!(side.plane[d + 1])) * at.extract(d);
            }
        }
        if comptime!(narrows && side.leans()) {
            distance /= scale;
        }
        distance
    }

    /// The face that a point is farthest beyond, or nearest to, and the distance inside it.
    pub(crate) struct Margin<F: Float> {
        pub face: i32,
        pub smallest: F,
    }

    /// The sides of a cell around a point.
    #[inline(always)]
    pub(crate) fn nearest_side<F: Float>(
        kind: i32,
        at: Vec3<F>,
        #[comptime] mesh: MeshKind,
    ) -> Margin<F> {
        let scale = scale::<F>(kind, at, mesh);
        let mut face = 0i32;
        let mut smallest = F::max_value();
        #[unroll]
        for k in 0..comptime!(mesh.outlines().len()) {
            let outline = comptime!(mesh.outlines()[k]);
            if is_of(kind, comptime!(outline.kinds), comptime!(mesh.kinds())) {
                #[unroll]
                for j in 0..comptime!(outline.sides.len()) {
                    let side = comptime!(outline.sides[j]);
                    let distance =
                        distance::<F>(at, scale, comptime!(side), comptime!(outline.narrows));
                    if distance < smallest {
                        face = i32::new(comptime!(side.face as i64));
                        smallest = distance;
                    }
                }
            }
        }
        Margin::<F> { face, smallest }
    }

    /// The distance of a point inside a face, divided by `scale` on sides that lean.
    pub(crate) fn depth_inside<F: Float>(
        kind: i32,
        face: i32,
        at: Vec3<F>,
        scale: F,
        #[comptime] mesh: MeshKind,
    ) -> F {
        let mut depth = F::max_value();
        #[unroll]
        for k in 0..comptime!(mesh.outlines().len()) {
            let outline = comptime!(mesh.outlines()[k]);
            if is_of(kind, comptime!(outline.kinds), comptime!(mesh.kinds())) {
                #[unroll]
                for j in 0..comptime!(outline.sides.len()) {
                    let side = comptime!(outline.sides[j]);
                    if face == comptime!(side.face as i32) {
                        let distance =
                            distance::<F>(at, scale, comptime!(side), comptime!(outline.narrows));
                        depth = min(depth, distance);
                    }
                }
            }
        }
        depth
    }

    /// Gradient of the distance from a face with respect to r, s and t.
    pub(crate) fn gradient_of<F: Float>(
        kind: i32,
        face: i32,
        #[comptime] mesh: MeshKind,
    ) -> Vec3<F> {
        let mut gradient = Vec3::<F>::new(F::new(0.0_f32));
        #[unroll]
        for k in 0..comptime!(mesh.outlines().len()) {
            let outline = comptime!(mesh.outlines()[k]);
            if is_of(kind, comptime!(outline.kinds), comptime!(mesh.kinds())) {
                #[unroll]
                for j in 0..comptime!(outline.sides.len()) {
                    // Backwards: of two sides of a face, the first one applies.
                    let side = comptime!(outline.sides[outline.sides.len() - 1 - j]);
                    if face == comptime!(side.face as i32) {
                        #[unroll]
                        for d in 0..3usize {
                            gradient.insert(d, F::new(comptime!(side.plane[d + 1])));
                        }
                    }
                }
            }
        }
        gradient
    }

    /// Containment of a position in a cell, from its coordinates there.
    #[inline(always)]
    pub(crate) fn containment<F: Float>(newton: &Newton<F>, margin: F) -> i32 {
        // NaN compares false with every side.
        let is_sound = newton.is_sound && is_within::<F>(newton.at, F::max_value());
        let tolerance = newton.tolerance * newton.stretch;
        let is_inside = is_sound && margin >= tolerance;
        let is_near = is_sound && margin >= -tolerance;
        select(is_inside, INSIDE, select(is_near, BORDER, OUTSIDE))
    }

    /// A cell's polynomial and its derivatives with respect to r, s and t.
    pub(crate) struct Jet<F: Float> {
        pub value: Vec3<F>,
        pub by_r: Vec3<F>,
        pub by_s: Vec3<F>,
        pub by_t: Vec3<F>,
    }

    /// The rows of the inverse of a Jacobian, not yet divided by its determinant.
    struct Inverse<F: Float> {
        pub r: Vec3<F>,
        pub s: Vec3<F>,
        pub t: Vec3<F>,
        pub per_determinant: F,
    }

    #[inline(always)]
    fn inverse<F: Float>(jet: &Jet<F>) -> Inverse<F> {
        let st = cross::<F>(jet.by_s, jet.by_t);
        let tr = cross::<F>(jet.by_t, jet.by_r);
        let rs = cross::<F>(jet.by_r, jet.by_s);
        let per_determinant = F::new(1.0_f32) / dot::<F>(jet.by_r, st);
        Inverse::<F> { r: st, s: tr, t: rs, per_determinant }
    }

    /// A gradient with respect to r, s and t as one with respect to the linear coordinates.
    pub(crate) fn to_linear<F: Float>(gradient: Vec3<F>, jet: &Jet<F>) -> Vec3<F> {
        let inverse = inverse::<F>(jet);
        let (a, b, c) =
            (gradient.extract(0usize), gradient.extract(1usize), gradient.extract(2usize));
        let sum = Vec3::<F>::new(a) * inverse.r
            + Vec3::<F>::new(b) * inverse.s
            + Vec3::<F>::new(c) * inverse.t;
        sum * Vec3::<F>::new(inverse.per_determinant)
    }

    /// The values of a cell on whose faces a field is given: at r = 0 and 1, s = 0 and 1, and the bottom and the top.
    pub(crate) struct FaceValues<F: Float> {
        pub low: Vec3<F>,
        pub high: Vec3<F>,
    }

    /// The velocity at a point of such a cell, from its derivatives there and the columns of its linear map for x and y; see
    /// [`MeshShape`](crate::MeshShape).
    #[inline(always)]
    pub(crate) fn flow_through<F: Float>(
        values: &FaceValues<F>,
        at: Vec3<F>,
        by_r: Vec3<F>,
        by_s: Vec3<F>,
        x: Vec3<F>,
        y: Vec3<F>,
    ) -> Vec3<F> {
        let flux = values.low + at * (values.high - values.low);
        let along = Vec3::<F>::new(flux.extract(0usize)) * by_r
            + Vec3::<F>::new(flux.extract(1usize)) * by_s;
        let (r, s) = (along.extract(0usize), along.extract(1usize));
        let determinant = by_r.extract(0usize) * by_s.extract(1usize)
            - by_r.extract(1usize) * by_s.extract(0usize);
        let u = y.extract(1usize) * r - y.extract(0usize) * s;
        let v = x.extract(0usize) * s - x.extract(1usize) * r;
        vec3::<F>(u / determinant, v / determinant, flux.extract(2usize))
    }

    /// Newton's method for the parametric coordinates of a position.
    pub(crate) struct Newton<F: Float> {
        /// Its linear coordinates, and the tolerance of the cell.
        pub linear: Vec3<F>,
        pub tolerance: F,
        /// The coordinates before the first step, and now.
        pub guess: Vec3<F>,
        pub at: Vec3<F>,
        /// Whether they were found.
        pub is_sound: bool,
        /// What a rounding of the position counts as in the coordinates, if that is more than usual: where a cell tapers.
        pub stretch: F,
        pub continues: bool,
        pub steps: i32,
    }

    /// The linear coordinates from the centre are final unless the cell is curved.
    #[inline(always)]
    pub(crate) fn newton<F: Float>(
        linear: Vec3<F>,
        tolerance: F,
        centre: Vec3<F>,
        is_curved: bool,
    ) -> Newton<F> {
        let guess = centre + linear;
        let (is_sound, continues, steps) = (true, is_curved, 0i32);
        let stretch = F::new(1.0_f32);
        Newton::<F> { linear, tolerance, guess, at: guess, is_sound, stretch, continues, steps }
    }

    /// A step of Newton's method, given a cell's polynomial there. Without success it ends at the
    /// first guess.
    #[inline(always)]
    pub(crate) fn improve<F: Float>(
        newton: &mut Newton<F>,
        jet: &Jet<F>,
        kind: i32,
        #[comptime] mesh: MeshKind,
    ) {
        // The remaining error is about the square of the last step.
        let short = F::new(0.25_f32) * rounding::<F>().sqrt();
        let rest = newton.linear - jet.value;
        let inverse = inverse::<F>(jet);
        let r = dot::<F>(rest, inverse.r) * inverse.per_determinant;
        let s = dot::<F>(rest, inverse.s) * inverse.per_determinant;
        let t = dot::<F>(rest, inverse.t) * inverse.per_determinant;
        newton.steps += 1;
        if r.abs() + s.abs() + t.abs() <= F::max_value() {
            newton.at += vec3::<F>(r, s, t);
            let scale = scale::<F>(kind, newton.at, mesh);
            let is_short = max(r.abs(), s.abs()) <= short * scale && t.abs() <= short;
            // Where a cell tapers, rounding alone makes long steps.
            newton.is_sound = is_short || is_within::<F>(rest, F::new(8.0_f32) * rounding::<F>());
            let (by_r, by_s) = (largest::<F>(inverse.r), largest::<F>(inverse.s));
            let size =
                max(max(by_r, by_s), largest::<F>(inverse.t)) * inverse.per_determinant.abs();
            newton.stretch = max(F::new(1.0_f32), F::new(0.125_f32) * size / scale);
            let is_near = is_within::<F>(newton.at, F::new(FAR) * scale);
            newton.continues = !newton.is_sound && newton.steps < STEPS && is_near;
            if !newton.is_sound && !newton.continues {
                newton.at = newton.guess;
            }
        } else {
            // Where r and s are undefined: the apex of a pyramid, or a collapsed cell.
            newton.is_sound = is_within::<F>(rest, newton.tolerance);
            newton.continues = false;
        }
    }

    /// The face of a cell near a position, from the depth inside and its gradient in space.
    pub(crate) fn surface_at<F: Float>(
        is_curved: bool,
        newton: &Newton<F>,
        depth: F,
        gradient: Vec3<F>,
    ) -> Surface<F> {
        let (two, half) = (F::new(2.0_f32), Vec3::<F>::new(F::new(0.5_f32)));
        // In the cell, or less than one like it away.
        let is_near = newton.is_sound && is_within::<F>(newton.at - half, F::new(1.5_f32));
        let (depth, tolerance) = (depth - two * newton.tolerance, newton.tolerance);
        Surface::<F> { is_curved, is_near, depth, tolerance, gradient }
    }

    /// A vector from a face into its cell, normal to the face, whose length is twice the tolerance of
    /// the face. Zero if it is not known.
    pub(crate) fn inward<F: Float>(gradient: Vec3<F>, tolerance: F) -> Vec3<F> {
        let zero = F::new(0.0_f32);
        let size = largest::<F>(gradient);
        let mut inward = Vec3::<F>::new(zero);
        if size > zero {
            // The square could overflow in small cells.
            let normal = gradient / Vec3::<F>::new(size);
            let length = (tolerance + tolerance) / (size * dot::<F>(normal, normal));
            inward = Vec3::<F>::new(length) * normal;
        }
        inward
    }
}
