//! Obstacles in the domain box: whether a straight path meets any, and what becomes of a particle
//! that follows it. See `cpu/obstacles.rs`.
//!
//! A kernel holds a copy of each function for each place that calls it. So one round of [`pass`]
//! brings a particle to a place, and finds what it meets next from there.

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
use body::{REALS, WHOLES, allows, brought, is_clear, load};
use burn_cubecl::cubecl::prelude::*;
use cursor::{begin, meet, turn};
use facets::NODES;

/// Rounds in which a place is brought out of all obstacles.
const MAX_ROUNDS: i32 = 8;

/// The obstacles' numbers for the two buffers: to the reals nine for each obstacle, to the integers
/// how many obstacles there are and nine numbers for each. The rows of triangles begin at a place.
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
            ints.extend([0; WHOLES - NODES]);
        }
    }
    (floats, ints)
}

/// Rows that the triangles of surfaces take.
pub(super) fn rows(obstacles: &[Obstacle]) -> usize {
    surfaces(obstacles).map(|surface| FACET_ROWS * surface.triangles().len()).sum()
}

/// A place, and whether a particle may be there.
#[derive(CubeType)]
struct Settled<F: Float> {
    place: Vec4<F>,
    is_allowed: bool,
}

/// Whether the straight path between two places meets no obstacle for sure, and ends where a
/// particle may be. The obstacles' numbers begin at given places in the buffers; rows and numbers
/// are those of [`Places`](crate::Places).
#[cube]
pub(super) fn is_free<F: Float>(
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
    let mut is_free = true;
    for k in 0..ints[ints_at] as usize {
        let (real, whole) = (floats_at + k * REALS, ints_at + 1 + k * WHOLES);
        let body = load::<F>(floats, ints, real, whole);
        let mut is_convex = true;
        if comptime!(surfaces) {
            is_convex = body.code != FACETED;
            if is_free && !is_convex {
                let facets = facets::load::<F>(floats, ints, real, whole);
                is_free = facets::is_clear::<F>(rows, numbers, &facets, from, to);
            }
        }
        if is_convex {
            is_free = is_free && is_clear::<F>(&body, from, to);
        }
    }
    is_free
}

/// Follows the straight path `from -> to`, `from` being in the domain box, through all that it
/// meets. The face of what becomes of the particle is the number of the obstacle at which it has
/// ended, or -1.
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
    let way = to - from;
    let mut passage = Passage::<F> {
        position: from,
        image_x: 0i32,
        image_y: 0i32,
        image_z: 0i32,
        status: ACTIVE,
        fraction: F::new(0.0_f32),
        face: i32::new(-1),
    };
    let mut cursor = begin::<F>(from, to);
    let mut events = 0i32;
    let mut goes_on = true;
    while goes_on {
        let settled =
            settled::<F>(rows, numbers, floats, ints, cursor.next, floats_at, ints_at, surfaces);
        if settled.is_allowed {
            passage.position = settled.place;
            count::<F>(&mut passage, cursor.crossed);
        }
        goes_on = settled.is_allowed || events == 0;
        // Its way is the same wherever it has been brought to.
        if events == 0 && !is_same::<F>(passage.position, from) {
            cursor.to = passage.position + way;
        }
        events += 1;
        let is_over = cursor.is_last || passage.status != ACTIVE;
        goes_on = goes_on && !is_over && events <= comptime!(MAX_EVENTS as i32);
        if goes_on && events == 1 {
            goes_on = is_number::<F>(way);
        }
        if goes_on {
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

/// Whether a way is no longer than numbers allow, and so are its parts.
#[cube]
fn is_number<F: Float>(way: Vec4<F>) -> bool {
    let longest = F::max_value() / F::new(16.0_f32);
    way.extract(0usize).abs() <= longest
        && way.extract(1usize).abs() <= longest
        && way.extract(2usize).abs() <= longest
}

#[cube]
fn is_same<F: Float>(a: Vec4<F>, b: Vec4<F>) -> bool {
    a.extract(0usize) == b.extract(0usize)
        && a.extract(1usize) == b.extract(1usize)
        && a.extract(2usize) == b.extract(2usize)
}

/// Counts a crossing of a periodic face, if there was one.
#[cube]
fn count<F: Float>(passage: &mut Passage<F>, face: i32) {
    passage.image_x += select(face == 0, -1i32, select(face == 1, 1i32, 0i32));
    passage.image_y += select(face == 2, -1i32, select(face == 3, 1i32, 0i32));
    passage.image_z += select(face == 4, -1i32, select(face == 5, 1i32, 0i32));
}

/// A place where a particle may be: the given one, or one that it is brought to.
#[cube]
fn settled<F: Float>(
    rows: &[F],
    numbers: &[i32],
    floats: &[F],
    ints: &[i32],
    place: Vec4<F>,
    floats_at: usize,
    ints_at: usize,
    #[comptime] surfaces: bool,
) -> Settled<F> {
    let mut place = place;
    let mut is_allowed = false;
    let mut rounds = 0i32;
    while !is_allowed && rounds < MAX_ROUNDS {
        #[unroll]
        for d in 0..3usize {
            place.insert(d, clamp(place.extract(d), floats[LOW + d], floats[HIGH + d]));
        }
        is_allowed = true;
        let mut moved = place;
        for k in 0..ints[ints_at] as usize {
            // Where all before it allow the place, it has not been moved yet.
            let (real, whole) = (floats_at + k * REALS, ints_at + 1 + k * WHOLES);
            let body = load::<F>(floats, ints, real, whole);
            let mut is_convex = true;
            if comptime!(surfaces) {
                is_convex = body.code != FACETED;
                if !is_convex {
                    let facets = facets::load::<F>(floats, ints, real, whole);
                    let probe = facets::probe::<F>(rows, numbers, &facets, moved);
                    let is_fine = probe.gap > F::new(0.5_f32) * facets.skin;
                    if !is_fine {
                        is_allowed = false;
                        moved = probe.off;
                    }
                }
            }
            if is_convex && !allows::<F>(&body, moved) {
                is_allowed = false;
                moved = brought::<F>(&body, moved);
            }
        }
        if !is_allowed {
            place = moved;
        }
        rounds += 1;
    }
    Settled::<F> { place, is_allowed }
}
