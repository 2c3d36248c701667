//! Triangulated surfaces. See `cpu/obstacles/facets.rs`.

use super::{
    super::{Vec4, cubecl, dot, rounding, vec4},
    body::Line,
    facet::{FLOATS, facet, nearest, three},
};
use crate::surface::{
    CUTS, MAX_CUTS, QUANTA,
    facet::{BY_PLANE, OUTSIDE},
};
use burn_cubecl::cubecl::prelude::*;

/// Offsets of a surface's numbers among the integers of an obstacle, after the codes: lattice cells
/// along each axis, the first row, the offset of its numbers, and the number of triangles.
pub(super) const NODES: usize = 3;
pub(super) const ROW: usize = 6;
pub(super) const NUMBERS: usize = 7;
pub(super) const TRIANGLES: usize = 8;

/// A surface in registers.
#[derive(CubeType)]
pub(super) struct Facets<F: Float> {
    low: Vec4<F>,
    high: Vec4<F>,
    pitch: F,
    /// Cells of the lattice along each axis.
    nodes: Vec4<F>,
    /// The lattice's strides.
    row: i32,
    layer: i32,
    floats_at: usize,
    numbers_at: usize,
    cells_at: usize,
    pub skin: F,
    /// 1 for a body and -1 for a vessel.
    pub sign: F,
}

/// An undivided cell.
#[derive(CubeType)]
struct Leaf<F: Float> {
    low: Vec4<F>,
    width: F,
    first: usize,
    count: usize,
    distance: F,
}

/// The triangle nearest to a point: its nearest feature, and the vector from there to the point.
#[derive(CubeType)]
struct Closest<F: Float> {
    which: i32,
    part: i32,
    a: F,
    b: F,
    z: F,
    square: F,
}

/// A point relative to a surface.
#[derive(CubeType)]
pub(super) struct Probe<F: Float> {
    /// Lower bound of the distance inside the allowed side; negative on the forbidden side.
    pub clearance: F,
    /// A point on the allowed side next to the nearest feature of the surface.
    pub off: Vec4<F>,
}

/// A line's crossing of a surface.
#[derive(CubeType)]
pub(super) struct Crossing<F: Float> {
    pub distance: F,
    /// Index of the triangle, or -1 if there is no crossing.
    pub which: i32,
}

/// Loads the surface whose numbers start at the given offsets.
#[cube]
pub(super) fn load<F: Float>(
    floats: &[F],
    ints: &[i32],
    floats_at: usize,
    ints_at: usize,
) -> Facets<F> {
    let one = F::new(1.0_f32);
    let (nx, ny, nz) =
        (ints[ints_at + NODES], ints[ints_at + NODES + 1], ints[ints_at + NODES + 2]);
    let numbers_at = ints[ints_at + NUMBERS] as usize;
    Facets::<F> {
        low: vec4::<F>(floats[floats_at], floats[floats_at + 1], floats[floats_at + 2]),
        high: vec4::<F>(floats[floats_at + 3], floats[floats_at + 4], floats[floats_at + 5]),
        pitch: floats[floats_at + 6],
        nodes: vec4::<F>(F::cast_from(nx), F::cast_from(ny), F::cast_from(nz)),
        row: nx,
        layer: nx * ny,
        floats_at: 3 * ints[ints_at + ROW] as usize,
        numbers_at,
        cells_at: numbers_at + ints[ints_at + TRIANGLES] as usize,
        skin: F::new(16.0_f32) * rounding::<F>() * floats[floats_at + 8],
        sign: select(ints[ints_at + 1] == 1i32, -one, one),
    }
}

/// Lattice coordinates of a point; the lattice starts one cell before the surface's box.
#[cube]
fn in_lattice<F: Float>(facets: &Facets<F>, p: Vec4<F>) -> Vec4<F> {
    (p - facets.low) / Vec4::<F>::new(facets.pitch) + Vec4::<F>::new(F::new(1.0_f32))
}

#[cube]
fn floors<F: Float>(p: Vec4<F>, last: Vec4<F>) -> Vec4<F> {
    let zero = F::new(0.0_f32);
    vec4::<F>(
        clamp(p.extract(0usize), zero, last.extract(0usize)).floor(),
        clamp(p.extract(1usize), zero, last.extract(1usize)).floor(),
        clamp(p.extract(2usize), zero, last.extract(2usize)).floor(),
    )
}

/// The cell at lattice coordinates, or the nearest one.
#[cube]
fn leaf<F: Float>(numbers: &[i32], facets: &Facets<F>, at: Vec4<F>) -> Leaf<F> {
    let cuts = F::new(comptime!(CUTS as f32));
    let last = Vec4::<F>::new(cuts - F::new(1.0_f32));
    let cell = floors::<F>(at, facets.nodes - Vec4::<F>::new(F::new(1.0_f32)));
    let mut low = cell;
    let mut width = F::new(1.0_f32);
    let number = i32::cast_from(cell.extract(0usize))
        + facets.row * i32::cast_from(cell.extract(1usize))
        + facets.layer * i32::cast_from(cell.extract(2usize));
    let mut here = facets.cells_at + 2 * number as usize;
    let mut first = numbers[here];
    let mut quanta = numbers[here + 1];
    let mut rounds = 0i32;
    while quanta == 0 && first < 0 && rounds < comptime!(MAX_CUTS as i32) {
        width /= cuts;
        let cell = floors::<F>((at - low) / Vec4::<F>::new(width), last);
        low += cell * Vec4::<F>::new(width);
        let many = comptime!(CUTS as i32);
        let number = i32::cast_from(cell.extract(0usize))
            + many * i32::cast_from(cell.extract(1usize))
            + many * many * i32::cast_from(cell.extract(2usize));
        here = facets.numbers_at + (2 * number - first) as usize;
        first = numbers[here];
        quanta = numbers[here + 1];
        rounds += 1;
    }
    let mut count = 1usize;
    if quanta == 0 {
        here = facets.numbers_at + first as usize + 1;
        count = numbers[here - 1] as usize;
    }
    let distance = F::cast_from(quanta) * facets.pitch / F::new(comptime!(QUANTA as f32));
    Leaf::<F> { low, width, first: here, count, distance }
}

/// The normal of a triangle, towards the allowed side.
#[cube]
pub(super) fn normal<F: Float>(rows: &[F], facets: &Facets<F>, which: i32) -> Vec4<F> {
    let at = facets.floats_at + which as usize * FLOATS;
    Vec4::<F>::new(facets.sign) * three::<F>(rows, at + 6)
}

/// The triangle of a cell nearest to a point.
#[cube]
fn closest<F: Float>(
    rows: &[F],
    numbers: &[i32],
    facets: &Facets<F>,
    leaf: &Leaf<F>,
    p: Vec4<F>,
) -> Closest<F> {
    let zero = F::new(0.0_f32);
    let mut square = F::max_value();
    let mut which = i32::new(0);
    let mut part = i32::new(0);
    let mut a = zero;
    let mut b = zero;
    let mut z = zero;
    for i in 0..leaf.count {
        let other = numbers[leaf.first + i];
        let facet = facet::<F>(rows, facets.floats_at + other as usize * FLOATS);
        let from = p - facet.corner;
        let height = dot::<F>(from, facet.normal);
        if height * height < square {
            let (x, y) = (dot::<F>(from, facet.along), dot::<F>(from, facet.up));
            let near = nearest::<F>(&facet, x, y);
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
#[cube]
fn is_outside<F: Float>(numbers: &[i32], facets: &Facets<F>, closest: &Closest<F>) -> bool {
    let mut side = i32::new(comptime!(BY_PLANE as i64));
    if closest.part > 0 {
        let sides = numbers[facets.numbers_at + closest.which as usize];
        side = (sides >> (2 * (closest.part - 1))) & 3i32;
    }
    let mut is_outside = side == OUTSIDE;
    if side == BY_PLANE {
        is_outside = closest.z > F::new(0.0_f32);
    }
    is_outside
}

/// The distance of a point inside the allowed side, and the corrected point if it is not allowed.
#[cube]
pub(super) fn probe<F: Float>(
    rows: &[F],
    numbers: &[i32],
    facets: &Facets<F>,
    p: Vec4<F>,
) -> Probe<F> {
    let zero = F::new(0.0_f32);
    let one = F::new(1.0_f32);
    let at = in_lattice::<F>(facets, p);
    let leaf = leaf::<F>(numbers, facets, at);
    let closest = closest::<F>(rows, numbers, facets, &leaf, p);
    let apart = closest.square.sqrt();
    let mut is_outside = is_outside::<F>(numbers, facets, &closest);
    let mut value = select(is_outside, apart, -apart);
    if leaf.distance != zero {
        value = leaf.distance;
        is_outside = value > zero;
    }
    let mut beyond = Vec4::<F>::new(zero);
    let mut is_in = true;
    #[unroll]
    for d in 0..3usize {
        let x = at.extract(d);
        is_in = is_in && x >= zero && x < facets.nodes.extract(d);
        let (low, high) = (facets.low.extract(d), facets.high.extract(d));
        beyond.insert(d, max(max(low - p.extract(d), p.extract(d) - high), zero));
    }
    if !is_in {
        value = dot::<F>(beyond, beyond).sqrt();
        is_outside = true;
    }
    let facet = facet::<F>(rows, facets.floats_at + closest.which as usize * FLOATS);
    let goal = facets.sign * facets.skin;
    let mut off = p + Vec4::<F>::new(goal - closest.z) * facet.normal;
    if closest.part > 0 && apart >= facets.skin {
        let sign = select(is_outside, one, -one);
        let away = Vec4::<F>::new(closest.a) * facet.along
            + Vec4::<F>::new(closest.b) * facet.up
            + Vec4::<F>::new(closest.z) * facet.normal;
        off = p + Vec4::<F>::new((goal - sign * apart) * sign / apart) * away;
    }
    Probe::<F> { clearance: facets.sign * value, off }
}

/// Conservative test that the straight path between two points stays on the allowed side.
#[cube]
pub(super) fn is_clear<F: Float>(
    rows: &[F],
    numbers: &[i32],
    facets: &Facets<F>,
    from: Vec4<F>,
    to: Vec4<F>,
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
        let clearance = probe::<F>(rows, numbers, facets, from).clearance;
        let safe = F::new(1.0_f32) - F::new(16.0_f32) * rounding::<F>();
        is_clear = clearance * safe > length + reach && length <= F::max_value();
    }
    is_clear
}

/// The first crossing of a line through a triangle to its forbidden side.
#[cube]
pub(super) fn crossing<F: Float>(
    rows: &[F],
    numbers: &[i32],
    facets: &Facets<F>,
    start: Vec4<F>,
    line: &Line<F>,
) -> Crossing<F> {
    let zero = F::new(0.0_f32);
    let speed = line.direction / Vec4::<F>::new(facets.pitch);
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
    let from = start + Vec4::<F>::new(max(enter, zero)) * line.direction;
    let origin = in_lattice::<F>(facets, from);
    let length = leave - enter;
    let mut first = F::max_value();
    let mut which = i32::new(-1);
    let mut reached = zero;
    let mut continues = enter <= leave;
    while continues {
        let leaf = leaf::<F>(numbers, facets, origin + Vec4::<F>::new(reached) * speed);
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
                let other = numbers[leaf.first + i];
                let distance = meet::<F>(rows, facets, from, line.direction, other);
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
    let distance = max(enter, zero) + first;
    Crossing::<F> { distance, which: select(distance <= line.length, which, -1i32) }
}

/// The distance along a ray at which it crosses a triangle, slightly extended beyond its sides; the
/// largest float if it does not.
#[cube]
fn meet<F: Float>(
    rows: &[F],
    facets: &Facets<F>,
    from: Vec4<F>,
    direction: Vec4<F>,
    which: i32,
) -> F {
    let zero = F::new(0.0_f32);
    let facet = facet::<F>(rows, facets.floats_at + which as usize * FLOATS);
    let height = facets.sign * dot::<F>(from - facet.corner, facet.normal);
    let approach = -facets.sign * dot::<F>(direction, facet.normal);
    let mut found = F::max_value();
    if approach > zero && height >= -F::new(0.25_f32) * facets.skin {
        let distance = max(height, zero) / approach;
        let on = from + Vec4::<F>::new(distance) * direction - facet.corner;
        let near = nearest::<F>(&facet, dot::<F>(on, facet.along), dot::<F>(on, facet.up));
        let beyond = facets.skin + facets.skin;
        if near.a * near.a + near.b * near.b <= beyond * beyond {
            found = distance;
        }
    }
    found
}
