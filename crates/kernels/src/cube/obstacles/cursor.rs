//! Progress of a particle along its path: the next contact, and the remaining displacement after
//! it.

use super::{
    super::{
        Vec4, cubecl, dot,
        edge::Passage,
        tables::{FACES, HIGH, LOW},
    },
    body::{FLOATS, INTS, allows, clearance, intersection, line, load, normal, projected},
    facets,
};
use crate::{
    Surface,
    boundary::{EXIT, PERIODIC, REFLECT},
    obstacle::FACETED,
    status::{EXITED, HIT, STUCK},
};
use burn_cubecl::cubecl::prelude::*;

/// Progress of a particle along its path in one step.
#[derive(CubeType)]
pub(super) struct StepCursor<F: Float> {
    /// The point to move to.
    pub next: Vec4<F>,
    /// The periodic face that is crossed on arrival there, or -1.
    pub crossed: i32,
    /// Whether the path ends there.
    pub is_last: bool,
    /// End of the remaining path, if it has not been redirected.
    pub to: Vec4<F>,
    /// The remaining displacement, if it has been redirected, and the obstacle along which it
    /// slides, or -1.
    rest: Vec4<F>,
    is_redirected: bool,
    along: i32,
    /// Fraction of the whole path already covered.
    covered: F,
}

/// The first crossing to the forbidden side of an obstacle, or out through a domain face.
#[derive(CubeType)]
struct Hit<F: Float> {
    /// Index of the obstacle or of the face; -1 if there is none.
    which: i32,
    fraction: F,
    /// The unit normal towards the allowed side.
    normal: Vec4<F>,
}

/// The cursor of a particle that has not moved yet.
#[cube]
pub(super) fn start<F: Float>(from: Vec4<F>, to: Vec4<F>) -> StepCursor<F> {
    StepCursor::<F> {
        next: from,
        crossed: i32::new(-1),
        is_last: false,
        to,
        rest: to - from,
        is_redirected: false,
        along: i32::new(-1),
        covered: F::new(0.0_f32),
    }
}

/// Updates the end of a redirected path, which starts at a position.
#[cube]
pub(super) fn turn<F: Float>(
    floats: &[F],
    ints: &[i32],
    cursor: &mut StepCursor<F>,
    position: Vec4<F>,
    floats_at: usize,
    ints_at: usize,
) {
    if cursor.is_redirected {
        cursor.to = position + cursor.rest;
        if cursor.along >= 0 {
            // Along the tangent, then back onto a curved vessel; triangles are flat.
            let k = cursor.along as usize;
            let body = load::<F>(floats, ints, floats_at + k * FLOATS, ints_at + 1 + k * INTS);
            if body.code != FACETED && !allows::<F>(&body, cursor.to) {
                cursor.to = projected::<F>(&body, cursor.to);
            }
        }
    }
}

/// Finds the next contact on the path from the passage's position, and the displacement after it.
#[cube]
pub(super) fn meet<F: Float>(
    rows: &[F],
    numbers: &[i32],
    floats: &[F],
    ints: &[i32],
    cursor: &mut StepCursor<F>,
    passage: &mut Passage<F>,
    floats_at: usize,
    ints_at: usize,
    #[comptime] surfaces: bool,
) {
    let one = F::new(1.0_f32);
    let (from, to) = (passage.position, cursor.to);
    let hit = first_hit::<F>(rows, numbers, floats, ints, from, to, floats_at, ints_at, surfaces);
    let face = first_face::<F>(floats, from, to);
    let is_face = face.which >= 0 && (hit.which < 0 || face.fraction < hit.fraction);
    let fraction = select(is_face, face.fraction, hit.fraction);
    let point = from + Vec4::<F>::new(fraction) * (to - from);
    cursor.next = point;
    cursor.crossed = i32::new(-1);
    cursor.is_redirected = false;
    let mut which = hit.which;
    let mut normal = hit.normal;
    if which >= 0 || is_face {
        cursor.covered = min(cursor.covered + fraction * (one - cursor.covered), one);
    } else {
        cursor.next = to;
        cursor.is_last = true;
    }
    if is_face {
        which = cross::<F>(
            rows, numbers, floats, ints, cursor, passage, &face, floats_at, ints_at, surfaces,
        );
        normal = face.normal;
    }
    if which >= 0 {
        let rest = Vec4::<F>::new(one - fraction) * (to - from);
        let normal_part = min(dot::<F>(rest, normal), F::new(0.0_f32));
        let surface = ints[ints_at + 1 + which as usize * INTS + 2];
        let reflects = surface == comptime!(Surface::Reflect.code());
        let factor = select(reflects, normal_part + normal_part, normal_part);
        cursor.rest = rest - Vec4::<F>::new(factor) * normal;
        cursor.is_redirected = true;
        cursor.along = select(surface == comptime!(Surface::Slide.code()), which, -1i32);
        if surface == comptime!(Surface::Stick.code()) {
            passage.status = STUCK;
            passage.face = which;
        }
        if surface == comptime!(Surface::Exit.code()) {
            passage.status = HIT;
            passage.face = which;
        }
    }
    passage.fraction = cursor.covered;
}

/// Applies the condition of a domain face that the particle has reached. Returns the index of an
/// obstacle directly behind a periodic face, or -1.
#[cube]
fn cross<F: Float>(
    rows: &[F],
    numbers: &[i32],
    floats: &[F],
    ints: &[i32],
    cursor: &mut StepCursor<F>,
    passage: &mut Passage<F>,
    face: &Hit<F>,
    floats_at: usize,
    ints_at: usize,
    #[comptime] surfaces: bool,
) -> i32 {
    let to = cursor.to;
    let mut on_face = cursor.next;
    let mut entered = cursor.next;
    let mut mirrored = to;
    let mut clamped = to;
    let mut shifted = to;
    #[unroll]
    for d in 0..3usize {
        if face.which / 2 == comptime!(d as i32) {
            let (low, high, x) = (floats[LOW + d], floats[HIGH + d], to.extract(d));
            let is_low = face.which == comptime!(2 * d as i32);
            let at = select(is_low, low, high);
            let width = high - low;
            on_face.insert(d, at);
            entered.insert(d, select(is_low, high, low));
            mirrored.insert(d, at + (at - x));
            clamped.insert(d, at);
            shifted.insert(d, select(is_low, min(x + width, high), max(x - width, low)));
        }
    }
    let condition = ints[FACES + face.which as usize];
    let mut blocks = i32::new(-1);
    cursor.next = on_face;
    if condition == PERIODIC {
        blocks = behind::<F>(rows, numbers, floats, ints, entered, floats_at, ints_at, surfaces);
        if blocks < 0 {
            cursor.next = entered;
            cursor.to = shifted;
            cursor.crossed = face.which;
        }
    } else if condition == EXIT {
        passage.status = EXITED + face.which;
    } else if condition == REFLECT {
        cursor.to = mirrored;
    } else {
        cursor.to = clamped;
    }
    blocks
}

/// The first obstacle with a point on its forbidden side, or -1.
#[cube]
fn behind<F: Float>(
    rows: &[F],
    numbers: &[i32],
    floats: &[F],
    ints: &[i32],
    point: Vec4<F>,
    floats_at: usize,
    ints_at: usize,
    #[comptime] surfaces: bool,
) -> i32 {
    let mut which = i32::new(-1);
    for k in 0..ints[ints_at] as usize {
        let (float_at, int_at) = (floats_at + k * FLOATS, ints_at + 1 + k * INTS);
        let body = load::<F>(floats, ints, float_at, int_at);
        let mut distance = F::new(0.0_f32);
        let mut is_convex = true;
        if comptime!(surfaces) {
            is_convex = body.code != FACETED;
            if !is_convex {
                let facets = facets::load::<F>(floats, ints, float_at, int_at);
                distance = facets::probe::<F>(rows, numbers, &facets, point).clearance;
            }
        }
        if is_convex {
            distance = clearance::<F>(&body, point);
        }
        if which < 0 && distance <= F::new(0.0_f32) {
            which = k as i32;
        }
    }
    which
}

/// The first crossing from the allowed to the forbidden side of an obstacle.
#[cube]
fn first_hit<F: Float>(
    rows: &[F],
    numbers: &[i32],
    floats: &[F],
    ints: &[i32],
    from: Vec4<F>,
    to: Vec4<F>,
    floats_at: usize,
    ints_at: usize,
    #[comptime] surfaces: bool,
) -> Hit<F> {
    let line = line::<F>(from, to);
    let mut which = i32::new(-1);
    let mut bound = i32::new(-1);
    let mut distance = line.length;
    if line.is_any {
        for k in 0..ints[ints_at] as usize {
            let (float_at, int_at) = (floats_at + k * FLOATS, ints_at + 1 + k * INTS);
            let body = load::<F>(floats, ints, float_at, int_at);
            let mut met = i32::new(-1);
            let mut at = line.length;
            let mut is_convex = true;
            if comptime!(surfaces) {
                is_convex = body.code != FACETED;
                if !is_convex {
                    let facets = facets::load::<F>(floats, ints, float_at, int_at);
                    let crossing = facets::crossing::<F>(rows, numbers, &facets, from, &line);
                    met = crossing.which;
                    at = crossing.distance;
                }
            }
            if is_convex {
                let intersection = intersection::<F>(&body, from, &line);
                met = intersection.bound;
                at = intersection.distance;
            }
            if met >= 0 && (which < 0 || at < distance) {
                which = k as i32;
                bound = met;
                distance = at;
            }
        }
    }
    let mut towards = line.direction;
    if which >= 0 {
        let k = which as usize;
        let (float_at, int_at) = (floats_at + k * FLOATS, ints_at + 1 + k * INTS);
        let body = load::<F>(floats, ints, float_at, int_at);
        let mut is_convex = true;
        if comptime!(surfaces) {
            is_convex = body.code != FACETED;
            if !is_convex {
                let facets = facets::load::<F>(floats, ints, float_at, int_at);
                towards = facets::normal::<F>(rows, &facets, bound);
            }
        }
        if is_convex {
            let point = from + Vec4::<F>::new(distance) * line.direction;
            towards = normal::<F>(&body, point, bound);
        }
    }
    Hit::<F> { which, fraction: distance / line.length, normal: towards }
}

/// The domain face through which a path first leaves.
#[cube]
fn first_face<F: Float>(floats: &[F], from: Vec4<F>, to: Vec4<F>) -> Hit<F> {
    let zero = F::new(0.0_f32);
    let one = F::new(1.0_f32);
    let mut which = i32::new(-1);
    let mut fraction = one;
    let mut normal = Vec4::<F>::new(zero);
    #[unroll]
    for d in 0..3usize {
        let (low, high) = (floats[LOW + d], floats[HIGH + d]);
        let (start, end) = (from.extract(d), to.extract(d));
        let is_low = end < low;
        if is_low || end > high {
            let reach = select(is_low, start - low, high - start);
            let part = clamp(reach / (end - start).abs(), zero, one);
            if which < 0 || part < fraction {
                which = select(is_low, comptime!(2 * d as i32), comptime!(2 * d as i32 + 1));
                fraction = part;
                normal = Vec4::<F>::new(zero);
                normal.insert(d, select(is_low, one, -one));
            }
        }
    }
    Hit::<F> { which, fraction, normal }
}
