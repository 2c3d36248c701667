//! Boundary conditions on the faces of the domain box, for straight paths from a point inside.

use super::{
    Form, Vec4, cubecl,
    tables::{FACES, HIGH, LOW},
};
use crate::boundary::{EXIT, PERIODIC, REFLECT};
use burn_cubecl::cubecl::prelude::*;

/// The end of a path.
#[derive(CubeType)]
pub(super) struct Landing<F: Float> {
    pub position: Vec4<F>,
    /// Boxes crossed through periodic faces.
    pub image_x: i32,
    pub image_y: i32,
    pub image_z: i32,
    /// The exit face, or -1.
    pub face: i32,
    /// The fraction of the path at which it is reached.
    pub fraction: F,
}

/// A face and the fraction of the path at which it is reached; face -1 if none is.
#[derive(CubeType)]
struct Crossing<F: Float> {
    face: i32,
    fraction: F,
}

/// A coordinate in the box, and the boxes crossed to get there.
#[derive(CubeType)]
struct Folded<F: Float> {
    x: F,
    image: i32,
}

/// Whether a point is in the box; false for NaN.
#[cube]
pub(super) fn contains<F: Float>(floats: &[F], p: Vec4<F>) -> bool {
    let mut inside = true;
    #[unroll]
    for d in 0..3usize {
        let x = p.extract(d);
        inside = inside && floats[LOW + d] <= x && x <= floats[HIGH + d];
    }
    inside
}

/// The point at which the field is sampled for a stage at `p`: its image in the box on periodic
/// axes.
#[cube]
pub(super) fn wrap<F: Float>(
    floats: &[F],
    ints: &[i32],
    p: Vec4<F>,
    #[comptime] form: Form,
) -> Vec4<F> {
    let mut wrapped = p;
    if comptime!(form.periodic) {
        #[unroll]
        for d in 0..3usize {
            // A stage that has overflowed has no image.
            let x = p.extract(d);
            if ints[FACES + 2 * d] == PERIODIC && x.abs() <= F::max_value() {
                wrapped.insert(d, fold::<F>(floats, ints, x, d).x);
            }
        }
    }
    wrapped
}

/// Applies the faces' conditions to the path from `from`, inside, to `to`, outside.
#[cube]
pub(super) fn land<F: Float>(floats: &[F], ints: &[i32], from: Vec4<F>, to: Vec4<F>) -> Landing<F> {
    let mut face = i32::new(-1);
    let mut fraction = F::new(1.0_f32);
    #[unroll]
    for d in 0..3usize {
        let crossing = exit::<F>(floats, ints, from.extract(d), to.extract(d), d);
        if crossing.face >= 0 && (face < 0 || crossing.fraction < fraction) {
            face = crossing.face;
            fraction = crossing.fraction;
        }
    }
    let mut position = to;
    if face >= 0 {
        position = from + Vec4::<F>::new(fraction) * (to - from);
    }
    let x = fold::<F>(floats, ints, position.extract(0usize), 0usize);
    let y = fold::<F>(floats, ints, position.extract(1usize), 1usize);
    let z = fold::<F>(floats, ints, position.extract(2usize), 2usize);
    position.insert(0usize, x.x);
    position.insert(1usize, y.x);
    position.insert(2usize, z.x);
    #[unroll]
    for d in 0..3usize {
        if face == comptime!(2 * d as i32) {
            position.insert(d, floats[LOW + d]);
        }
        if face == comptime!(2 * d as i32 + 1) {
            position.insert(d, floats[HIGH + d]);
        }
    }
    Landing::<F> { position, image_x: x.image, image_y: y.image, image_z: z.image, face, fraction }
}

/// The face and the fraction of the path at which `x0 -> x1` leaves through an exit face, after at
/// most one reflection.
#[cube]
fn exit<F: Float>(
    floats: &[F],
    ints: &[i32],
    x0: F,
    x1: F,
    #[comptime] axis: usize,
) -> Crossing<F> {
    let low = floats[LOW + axis];
    let high = floats[HIGH + axis];
    let below = x1 < low;
    let length = (x1 - x0).abs();
    let reach = select(below, x0 - low, high - x0);
    let first = select(below, 0i32, 1i32);
    let second = 1i32 - first;
    let base = comptime!(2 * axis as i32);
    let here = ints[FACES + (base + first) as usize];
    let there = ints[FACES + (base + second) as usize];
    let mut face = i32::new(-1);
    let mut fraction = F::new(1.0_f32);
    if below || x1 > high {
        if here == EXIT {
            face = base + first;
            fraction = reach / length;
        }
        let bounced = reach + (high - low);
        if here == REFLECT && there == EXIT && length > bounced {
            face = base + second;
            fraction = bounced / length;
        }
    }
    Crossing::<F> { face, fraction }
}

/// The coordinate in the box that corresponds to an unbounded one, and the boxes crossed.
#[cube]
fn fold<F: Float>(floats: &[F], ints: &[i32], x: F, #[comptime] axis: usize) -> Folded<F> {
    let low = floats[LOW + axis];
    let high = floats[HIGH + axis];
    let width = high - low;
    let below = ints[FACES + 2 * axis];
    let above = ints[FACES + 2 * axis + 1];
    let mut folded = x;
    let mut image = 0i32;
    if below == PERIODIC {
        let boxes = ((x - low) / width).floor();
        folded = x - boxes * width;
        image = i32::cast_from(boxes);
    } else if below == REFLECT && above == REFLECT {
        let two = width + width;
        let y = (x - low) - ((x - low) / two).floor() * two;
        folded = low + (width - (y - width).abs());
    } else if below == REFLECT && x < low {
        folded = low + (low - x);
    } else if above == REFLECT && x > high {
        folded = high - (x - high);
    }
    Folded::<F> { x: clamp(folded, low, high), image }
}
