//! Paths that may leave a mesh within the domain box: their end positions and events. See
//! `cpu/edge.rs`.

use super::{
    Vec4, cubecl, dot,
    mesh::{CellHint, MeshKind, edge, find_cell, inward, is_between},
    tables::{PATCH_BOXES_AT, PATCH_COLUMNS, PATCHES, PATCHES_AT, WALL},
    walls::{Landing, land},
};
use crate::{
    MAX_BOUNCES, Wall,
    status::{ACTIVE, EXITED, LEFT_MESH},
};
use burn_cubecl::cubecl::prelude::*;

/// Maximum number of times in a step that an interrupted path is resumed.
const MAX_INTERRUPTIONS: i32 = 20;

/// Result of following a path.
#[derive(CubeType)]
pub(super) struct Passage<F: Float> {
    pub position: Vec4<F>,
    /// Boxes crossed through periodic faces.
    pub image_x: i32,
    pub image_y: i32,
    pub image_z: i32,
    /// The final status, and the fraction of the path at which the particle ended, if it did.
    pub status: i32,
    pub fraction: F,
    /// The face of the mesh at which it ended.
    pub face: i32,
}

/// The part of a path in the field, as fractions of its length.
#[derive(CubeType)]
struct Found<F: Float> {
    reached: F,
    /// Whether the whole path is in the field.
    is_whole: bool,
    /// A fraction just beyond the boundary of the field, if it is not.
    beyond: F,
    /// Interruptions of the step so far.
    interruptions: i32,
}

/// Follows a path from a position in the field, wall by wall.
#[cube]
pub(super) fn pass<F: Float>(
    coords: &[Vec4<F>],
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
    hint.walk_failed = false;
    let mut from = from;
    let mut to = to;
    let mut covered = zero;
    let mut passage = Passage::<F> {
        position: from,
        image_x: 0i32,
        image_y: 0i32,
        image_z: 0i32,
        status: ACTIVE,
        fraction: zero,
        face: 0i32,
    };
    let mut contacts = 0i32;
    let mut interruptions = 0i32;
    let mut continues = true;
    while continues {
        let full = land::<F>(floats, ints, from, to);
        let length = select(full.face >= 0, full.fraction, one);
        let found = follow::<F>(
            coords,
            index,
            floats,
            ints,
            from,
            to,
            &full,
            length,
            interruptions,
            hint,
            mesh,
        );
        interruptions = found.interruptions;
        let end = land_at::<F>(floats, ints, from, to, &full, length, found.reached);
        passage.position = end.position;
        passage.image_x += end.image_x;
        passage.image_y += end.image_y;
        passage.image_z += end.image_z;
        let left = one - covered;
        contacts += 1;
        continues = !found.is_whole && contacts <= comptime!(MAX_BOUNCES as i32);
        if found.is_whole {
            if full.face >= 0 {
                passage.status = EXITED + full.face;
                passage.fraction = covered + full.fraction * left;
            }
        } else {
            let behind = land_at::<F>(floats, ints, from, to, &full, length, found.beyond);
            let edge = edge::<F>(coords, index, ints, behind.position, hint.base, mesh);
            let inward = inward::<F>(coords, index, &edge, mesh);
            let fraction = found.reached * length;
            covered += fraction * left;
            let wall = wall_at::<F>(floats, ints, passage.position);
            if wall == comptime!(Wall::Leave.code()) {
                passage.status = LEFT_MESH;
                passage.fraction = covered;
                passage.face = 8 * max(edge.cell - 1, 0i32) + edge.face;
                continues = false;
            }
            let rest = Vec4::<F>::new(one - fraction) * (to - from);
            // Slightly off the wall, so that rounding does not make it leave again.
            from = passage.position + inward;
            to = from + redirected::<F>(wall, rest, inward);
        }
    }
    passage
}

/// The condition for a particle that crosses the mesh boundary at a position.
#[cube]
fn wall_at<F: Float>(floats: &[F], ints: &[i32], position: Vec4<F>) -> i32 {
    let patch = patch_at::<F>(floats, ints, position);
    let mut wall = ints[WALL];
    if patch >= 0 {
        wall = ints[(ints[PATCHES_AT] + patch * comptime!(PATCH_COLUMNS as i32)) as usize];
    }
    wall
}

/// The first patch of the mesh boundary that contains a position, or -1.
#[cube]
pub(super) fn patch_at<F: Float>(floats: &[F], ints: &[i32], position: Vec4<F>) -> i32 {
    let mut found = i32::new(-1);
    for patch in 0..ints[PATCHES] {
        let at = (ints[PATCH_BOXES_AT] + 6 * patch) as usize;
        let mut is_in = true;
        #[unroll]
        for d in 0..3usize {
            let x = position.extract(d);
            is_in = is_in && floats[at + d] <= x && x <= floats[at + d + 3];
        }
        if is_in && found < 0 {
            found = patch;
        }
    }
    found
}

/// The remaining displacement after a wall.
#[cube]
fn redirected<F: Float>(wall: i32, rest: Vec4<F>, inward: Vec4<F>) -> Vec4<F> {
    let zero = F::new(0.0_f32);
    let (x, y, z) = (inward.extract(0usize), inward.extract(1usize), inward.extract(2usize));
    let size = max(x.abs(), max(y.abs(), z.abs()));
    let mut redirected = Vec4::<F>::new(zero);
    if size > zero {
        let normal = inward / Vec4::<F>::new(size);
        let normal_part = min(dot::<F>(rest, normal) / dot::<F>(normal, normal), zero);
        let reflects = wall == comptime!(Wall::Reflect.code());
        let factor = select(reflects, normal_part + normal_part, normal_part);
        redirected = rest - Vec4::<F>::new(factor) * normal;
    }
    redirected
}

/// The end of a part of a path; `full` is the end of all of it, at the fraction `length` of the
/// straight line.
#[cube]
fn land_at<F: Float>(
    floats: &[F],
    ints: &[i32],
    from: Vec4<F>,
    to: Vec4<F>,
    full: &Landing<F>,
    length: F,
    part: F,
) -> Landing<F> {
    let middle = from + Vec4::<F>::new(part * length) * (to - from);
    let landing = land::<F>(floats, ints, from, middle);
    let is_all = part == F::new(1.0_f32);
    let mut position = landing.position;
    if is_all {
        position = full.position;
    }
    Landing::<F> {
        position,
        image_x: select(is_all, full.image_x, landing.image_x),
        image_y: select(is_all, full.image_y, landing.image_y),
        image_z: select(is_all, full.image_z, landing.image_z),
        face: landing.face,
        fraction: landing.fraction,
    }
}

/// The targets of a round of [`follow`].
const ALL: i32 = 0;
const MIDDLE: i32 = 1;
const CELL: i32 = 2;

/// Follows a path to its last point in the field. A walk may fail where the path continues: around
/// a reentrant corner, and between neighbours with faces that do not match. The path resumes there
/// if some cell contains it.
///
/// Each round targets one point of the path: its end; the midpoint of the bisection between the
/// fractions inside and outside; and when these have met, a cell in which the path resumes.
#[cube]
fn follow<F: Float>(
    coords: &[Vec4<F>],
    index: &[i32],
    floats: &[F],
    ints: &[i32],
    from: Vec4<F>,
    to: Vec4<F>,
    full: &Landing<F>,
    length: F,
    interruptions: i32,
    hint: &mut CellHint<F>,
    #[comptime] mesh: MeshKind,
) -> Found<F> {
    let one = F::new(1.0_f32);
    let mut reached = F::new(0.0_f32);
    let mut beyond = one;
    let mut part = one;
    let mut target = i32::new(0);
    let mut is_whole = false;
    let mut interruptions = interruptions;
    let mut continues = true;
    while continues {
        let position = land_at::<F>(floats, ints, from, to, full, length, part).position;
        let cell = select(target == CELL, 0i32, hint.base);
        let next = find_cell::<F>(coords, index, floats, ints, position, cell, false, mesh);
        let is_found = next.is_found && (target == CELL || cell > 0);
        if is_found {
            hint.cell = next.cell;
            hint.base = next.cell;
            hint.from = position;
            reached = part;
            if target == ALL {
                is_whole = true;
                continues = false;
            } else if target == CELL {
                interruptions += 1;
                continues = interruptions < MAX_INTERRUPTIONS;
                beyond = select(continues, one, reached);
            }
        } else {
            beyond = part;
            continues = target != CELL;
        }
        let middle = F::new(0.5_f32) * (reached + beyond);
        if target == CELL {
            target = i32::new(0);
        } else {
            target = select(is_between::<F>(middle, reached, beyond), MIDDLE, CELL);
        }
        part = select(target == MIDDLE, middle, beyond);
    }
    Found::<F> { reached, is_whole, beyond, interruptions }
}
