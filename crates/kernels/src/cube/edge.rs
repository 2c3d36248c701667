//! A way that may lead out of a mesh within its box: where it ends, and what then. See
//! `cpu/edge.rs`.

use super::{
    Vec4, cubecl, dot,
    mesh::{CellHint, MeshKind, edge, inward, is_between, seek},
    tables::{PATCH_BOXES_AT, PATCH_COLUMNS, PATCHES, PATCHES_AT, WALL},
    walls::{Landing, land},
};
use crate::{
    MAX_BOUNCES, Wall,
    status::{ACTIVE, EXITED, LEFT_MESH},
};
use burn_cubecl::cubecl::prelude::*;

/// Places in a step at which a walk may break off and go on.
const MAX_BREAKS: i32 = 20;

/// What became of a particle on a way.
#[derive(CubeType)]
pub(super) struct Passage<F: Float> {
    pub position: Vec4<F>,
    /// Boxes crossed through periodic faces.
    pub image_x: i32,
    pub image_y: i32,
    pub image_z: i32,
    /// The status after it, and the fraction of the way at which it has ended, if it has.
    pub status: i32,
    pub fraction: F,
    /// The face of the mesh at which it has ended.
    pub face: i32,
}

/// How far a way goes in the field, as a part of its length.
#[derive(CubeType)]
struct Found<F: Float> {
    reached: F,
    /// Whether the whole way is in the field.
    is_whole: bool,
    /// A part that is right behind the edge of the field, if it is not.
    beyond: F,
    /// Breaks of the step so far.
    breaks: i32,
}

/// Follows a way from a position in the field, wall by wall.
#[cube]
pub(super) fn pass<F: Float>(
    places: &[Vec4<F>],
    index: &[i32],
    floats: &[F],
    ints: &[i32],
    from: Vec4<F>,
    to: Vec4<F>,
    hint: &mut CellHint<F>,
    #[comptime] mesh: MeshKind,
) -> Passage<F> {
    let zero = F::new(0.0_f32);
    let one = F::new(1.0_f32);
    hint.cell = hint.base;
    hint.has_strayed = false;
    let mut from = from;
    let mut to = to;
    let mut begun = zero;
    let mut passage = Passage::<F> {
        position: from,
        image_x: 0i32,
        image_y: 0i32,
        image_z: 0i32,
        status: ACTIVE,
        fraction: zero,
        face: 0i32,
    };
    let mut ways = 0i32;
    let mut breaks = 0i32;
    let mut goes_on = true;
    while goes_on {
        let whole = land::<F>(floats, ints, from, to);
        let length = select(whole.face >= 0, whole.fraction, one);
        let found =
            follow::<F>(places, index, floats, ints, from, to, &whole, length, breaks, hint, mesh);
        breaks = found.breaks;
        let end = land_at::<F>(floats, ints, from, to, &whole, length, found.reached);
        passage.position = end.position;
        passage.image_x += end.image_x;
        passage.image_y += end.image_y;
        passage.image_z += end.image_z;
        let left = one - begun;
        ways += 1;
        goes_on = !found.is_whole && ways <= comptime!(MAX_BOUNCES as i32);
        if found.is_whole {
            if whole.face >= 0 {
                passage.status = EXITED + whole.face;
                passage.fraction = begun + whole.fraction * left;
            }
        } else {
            let behind = land_at::<F>(floats, ints, from, to, &whole, length, found.beyond);
            let edge = edge::<F>(places, index, ints, behind.position, hint.base, mesh);
            let inward = inward::<F>(places, index, &edge, mesh);
            let fraction = found.reached * length;
            begun += fraction * left;
            let wall = wall_at::<F>(floats, ints, passage.position);
            if wall == comptime!(Wall::Leave.code()) {
                passage.status = LEFT_MESH;
                passage.fraction = begun;
                passage.face = 8 * max(edge.cell - 1, 0i32) + edge.face;
                goes_on = false;
            }
            let rest = Vec4::<F>::new(one - fraction) * (to - from);
            // Not on the wall, where rounding would have it leave again.
            from = passage.position + inward;
            to = from + turned::<F>(wall, rest, inward);
        }
    }
    passage
}

/// What happens to a particle that crosses the edge of the mesh at a place.
#[cube]
fn wall_at<F: Float>(floats: &[F], ints: &[i32], place: Vec4<F>) -> i32 {
    let patch = patch_at::<F>(floats, ints, place);
    let mut wall = ints[WALL];
    if patch >= 0 {
        wall = ints[(ints[PATCHES_AT] + patch * comptime!(PATCH_COLUMNS as i32)) as usize];
    }
    wall
}

/// The first patch of the mesh's edge in which a place is, or -1.
#[cube]
pub(super) fn patch_at<F: Float>(floats: &[F], ints: &[i32], place: Vec4<F>) -> i32 {
    let mut found = i32::new(-1);
    for patch in 0..ints[PATCHES] {
        let at = (ints[PATCH_BOXES_AT] + 6 * patch) as usize;
        let mut is_in = true;
        #[unroll]
        for d in 0..3usize {
            let x = place.extract(d);
            is_in = is_in && floats[at + d] <= x && x <= floats[at + d + 3];
        }
        if is_in && found < 0 {
            found = patch;
        }
    }
    found
}

/// What remains of a way at a wall.
#[cube]
fn turned<F: Float>(wall: i32, rest: Vec4<F>, inward: Vec4<F>) -> Vec4<F> {
    let zero = F::new(0.0_f32);
    let (x, y, z) = (inward.extract(0usize), inward.extract(1usize), inward.extract(2usize));
    let size = max(x.abs(), max(y.abs(), z.abs()));
    let mut turned = Vec4::<F>::new(zero);
    if size > zero {
        let normal = inward / Vec4::<F>::new(size);
        let share = min(dot::<F>(rest, normal) / dot::<F>(normal, normal), zero);
        let reflects = wall == comptime!(Wall::Reflect.code());
        let factor = select(reflects, share + share, share);
        turned = rest - Vec4::<F>::new(factor) * normal;
    }
    turned
}

/// Where a part of a way ends; `whole` is where all of it does, at the fraction `length` of the
/// straight line.
#[cube]
fn land_at<F: Float>(
    floats: &[F],
    ints: &[i32],
    from: Vec4<F>,
    to: Vec4<F>,
    whole: &Landing<F>,
    length: F,
    part: F,
) -> Landing<F> {
    let middle = from + Vec4::<F>::new(part * length) * (to - from);
    let landing = land::<F>(floats, ints, from, middle);
    let is_all = part == F::new(1.0_f32);
    let mut position = landing.position;
    if is_all {
        position = whole.position;
    }
    Landing::<F> {
        position,
        image_x: select(is_all, whole.image_x, landing.image_x),
        image_y: select(is_all, whole.image_y, landing.image_y),
        image_z: select(is_all, whole.image_z, landing.image_z),
        face: landing.face,
        fraction: landing.fraction,
    }
}

/// What a round of [`follow`] asks for.
const ALL: i32 = 0;
const MIDDLE: i32 = 1;
const CELL: i32 = 2;

/// Goes along a way. A walk may end where the way goes on: around a corner that points inwards,
/// and where faces of neighbours do not match. There the way goes on where some cell does.
///
/// Each round asks for one part of the way: for all of it; for the middle between what has been
/// reached and what lies beyond; and when these have met, for a cell that goes on there.
#[cube]
fn follow<F: Float>(
    places: &[Vec4<F>],
    index: &[i32],
    floats: &[F],
    ints: &[i32],
    from: Vec4<F>,
    to: Vec4<F>,
    whole: &Landing<F>,
    length: F,
    breaks: i32,
    hint: &mut CellHint<F>,
    #[comptime] mesh: MeshKind,
) -> Found<F> {
    let one = F::new(1.0_f32);
    let mut reached = F::new(0.0_f32);
    let mut beyond = one;
    let mut part = one;
    let mut asks = i32::new(0);
    let mut is_whole = false;
    let mut breaks = breaks;
    let mut goes_on = true;
    while goes_on {
        let position = land_at::<F>(floats, ints, from, to, whole, length, part).position;
        let cell = select(asks == CELL, 0i32, hint.base);
        let next = seek::<F>(places, index, floats, ints, position, cell, false, mesh);
        let is_there = next.is_there && (asks == CELL || cell > 0);
        if is_there {
            hint.cell = next.cell;
            hint.base = next.cell;
            hint.from = position;
            reached = part;
            if asks == ALL {
                is_whole = true;
                goes_on = false;
            } else if asks == CELL {
                breaks += 1;
                goes_on = breaks < MAX_BREAKS;
                beyond = select(goes_on, one, reached);
            }
        } else {
            beyond = part;
            goes_on = asks != CELL;
        }
        let middle = F::new(0.5_f32) * (reached + beyond);
        if asks == CELL {
            asks = i32::new(0);
        } else {
            asks = select(is_between::<F>(middle, reached, beyond), MIDDLE, CELL);
        }
        part = select(asks == MIDDLE, middle, beyond);
    }
    Found::<F> { reached, is_whole, beyond, breaks }
}
