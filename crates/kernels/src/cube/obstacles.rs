//! Obstacles in the domain box: whether a straight path meets any, and the response of a particle
//! that follows it. See `cpu/obstacles.rs`.
//!
//! A kernel contains a copy of each function for each call site. Therefore one round of [`pass`]
//! moves a particle to a contact and also finds the next one.

mod body;
mod cursor;
mod facet;
mod facets;
#[cfg(test)]
mod tests;

use super::{
    Vec4, cubecl,
    edge::Passage,
    tables::{HIGH, LOW},
};
use crate::{
    MAX_EVENTS, Obstacle, Shape, functions::surfaces, obstacle::FACETED, status::ACTIVE,
    surface::facet::FACET_ROWS,
};
use body::{FLOATS, INTS, allows, is_clear, load, projected};
use burn_cubecl::cubecl::prelude::*;
use cursor::{meet, start, turn};
use facets::NODES;

/// Maximum number of corrections to move a point out of all obstacles.
const MAX_ROUNDS: i32 = 8;

/// The obstacles' numbers for the two buffers. Floats: nine per obstacle. Integers: the number of
/// obstacles, then nine per obstacle. `row` is the first row of triangles.
pub(super) fn packed(obstacles: &[Obstacle], row: usize) -> (Vec<f64>, Vec<i32>) {
    let (mut floats, mut ints) = (Vec::new(), vec![obstacles.len() as i32]);
    let (mut row, mut number) = (row, 0);
    for Obstacle { shape, allowed, surface } in obstacles {
        floats.extend(shape.numbers());
        ints.extend([shape.code(), allowed.code(), surface.code()]);
        if let Shape::Surface(surface) = shape {
            let triangles = surface.triangles().len();
            ints.extend(surface.nodes.map(|n| n as i32));
            ints.extend([row, number, triangles].map(|n| n as i32));
            row += FACET_ROWS * triangles;
            number += surface.numbers.len();
        } else {
            ints.extend([0; INTS - NODES]);
        }
    }
    (floats, ints)
}

/// Number of rows of the surfaces' triangles.
pub(super) fn rows(obstacles: &[Obstacle]) -> usize {
    surfaces(obstacles).map(|surface| FACET_ROWS * surface.triangles().len()).sum()
}

/// A point, and whether a particle may be there.
#[derive(CubeType)]
struct AllowedPoint<F: Float> {
    point: Vec4<F>,
    is_allowed: bool,
}

/// Whether the straight path between two points certainly meets no obstacle and ends at an allowed
/// point. `floats_at` and `ints_at` are the offsets of the obstacles' numbers; `rows` and `numbers`
/// come from [`GeometryTensors`](crate::GeometryTensors).
#[cube]
pub(super) fn is_clear_of_all<F: Float>(
    rows: &[F],
    numbers: &[i32],
    floats: &[F],
    ints: &[i32],
    from: Vec4<F>,
    to: Vec4<F>,
    floats_at: usize,
    ints_at: usize,
    #[comptime] surfaces: bool,
) -> bool {
    let mut is_clear_of_all = true;
    for k in 0..ints[ints_at] as usize {
        let (float_at, int_at) = (floats_at + k * FLOATS, ints_at + 1 + k * INTS);
        let body = load::<F>(floats, ints, float_at, int_at);
        let mut is_convex = true;
        if comptime!(surfaces) {
            is_convex = body.code != FACETED;
            if is_clear_of_all && !is_convex {
                let facets = facets::load::<F>(floats, ints, float_at, int_at);
                is_clear_of_all = facets::is_clear::<F>(rows, numbers, &facets, from, to);
            }
        }
        if is_convex {
            is_clear_of_all = is_clear_of_all && is_clear::<F>(&body, from, to);
        }
    }
    is_clear_of_all
}

/// Follows the straight path `from -> to`, with `from` in the domain box, through all contacts. The
/// `face` of the result is the index of the obstacle at which the particle ended, or -1.
#[cube]
pub(super) fn pass<F: Float>(
    rows: &[F],
    numbers: &[i32],
    floats: &[F],
    ints: &[i32],
    from: Vec4<F>,
    to: Vec4<F>,
    floats_at: usize,
    ints_at: usize,
    #[comptime] surfaces: bool,
) -> Passage<F> {
    let displacement = to - from;
    let mut passage = Passage::<F> {
        position: from,
        image_x: 0i32,
        image_y: 0i32,
        image_z: 0i32,
        status: ACTIVE,
        fraction: F::new(0.0_f32),
        face: i32::new(-1),
    };
    let mut cursor = start::<F>(from, to);
    let mut events = 0i32;
    let mut continues = true;
    while continues {
        let nearest_allowed = nearest_allowed::<F>(
            rows,
            numbers,
            floats,
            ints,
            cursor.next,
            floats_at,
            ints_at,
            surfaces,
        );
        if nearest_allowed.is_allowed {
            passage.position = nearest_allowed.point;
            count::<F>(&mut passage, cursor.crossed);
        }
        continues = nearest_allowed.is_allowed || events == 0;
        // A correction of the start does not change the displacement.
        if events == 0 && !is_same::<F>(passage.position, from) {
            cursor.to = passage.position + displacement;
        }
        events += 1;
        let is_over = cursor.is_last || passage.status != ACTIVE;
        continues = continues && !is_over && events <= comptime!(MAX_EVENTS as i32);
        if continues && events == 1 {
            continues = is_finite_length::<F>(displacement);
        }
        if continues {
            turn::<F>(floats, ints, &mut cursor, passage.position, floats_at, ints_at);
            meet::<F>(
                rows,
                numbers,
                floats,
                ints,
                &mut cursor,
                &mut passage,
                floats_at,
                ints_at,
                surfaces,
            );
        }
    }
    passage
}

/// Whether a displacement is short enough not to overflow.
#[cube]
fn is_finite_length<F: Float>(displacement: Vec4<F>) -> bool {
    let longest = F::max_value() / F::new(16.0_f32);
    displacement.extract(0usize).abs() <= longest
        && displacement.extract(1usize).abs() <= longest
        && displacement.extract(2usize).abs() <= longest
}

#[cube]
fn is_same<F: Float>(a: Vec4<F>, b: Vec4<F>) -> bool {
    a.extract(0usize) == b.extract(0usize)
        && a.extract(1usize) == b.extract(1usize)
        && a.extract(2usize) == b.extract(2usize)
}

/// Counts the crossing of a periodic face, if any.
#[cube]
fn count<F: Float>(passage: &mut Passage<F>, face: i32) {
    passage.image_x += select(face == 0, -1i32, select(face == 1, 1i32, 0i32));
    passage.image_y += select(face == 2, -1i32, select(face == 3, 1i32, 0i32));
    passage.image_z += select(face == 4, -1i32, select(face == 5, 1i32, 0i32));
}

/// The nearest allowed point: the given one, or a corrected one.
#[cube]
fn nearest_allowed<F: Float>(
    rows: &[F],
    numbers: &[i32],
    floats: &[F],
    ints: &[i32],
    point: Vec4<F>,
    floats_at: usize,
    ints_at: usize,
    #[comptime] surfaces: bool,
) -> AllowedPoint<F> {
    let mut point = point;
    let mut is_allowed = false;
    let mut rounds = 0i32;
    while !is_allowed && rounds < MAX_ROUNDS {
        #[unroll]
        for d in 0..3usize {
            point.insert(d, clamp(point.extract(d), floats[LOW + d], floats[HIGH + d]));
        }
        is_allowed = true;
        let mut moved = point;
        for k in 0..ints[ints_at] as usize {
            // If the previous obstacles allow the point, it is not moved yet.
            let (float_at, int_at) = (floats_at + k * FLOATS, ints_at + 1 + k * INTS);
            let body = load::<F>(floats, ints, float_at, int_at);
            let mut is_convex = true;
            if comptime!(surfaces) {
                is_convex = body.code != FACETED;
                if !is_convex {
                    let facets = facets::load::<F>(floats, ints, float_at, int_at);
                    let probe = facets::probe::<F>(rows, numbers, &facets, moved);
                    let is_fine = probe.clearance > F::new(0.5_f32) * facets.skin;
                    if !is_fine {
                        is_allowed = false;
                        moved = probe.off;
                    }
                }
            }
            if is_convex && !allows::<F>(&body, moved) {
                is_allowed = false;
                moved = projected::<F>(&body, moved);
            }
        }
        if !is_allowed {
            point = moved;
        }
        rounds += 1;
    }
    AllowedPoint::<F> { point, is_allowed }
}
