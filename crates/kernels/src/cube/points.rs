//! Reading a velocity from scattered points: the search of `cpu/points.rs`, node after node.

use super::{
    Form, Vec4, cubecl,
    frame_pair::{FramePair, blend},
    rounding,
    tables::{FRAME_SIZE, HALF_POWER, NODES, ORIGIN, PER_LENGTH, REACH, STRIDES},
    vec4,
};
use crate::NODE_PADDING;
use burn_cubecl::cubecl::prelude::*;

/// The last search of a particle.
#[derive(CubeType)]
pub(super) struct Hint<F: Float> {
    place: Vec4<F>,
    node: i32,
    /// Distance of the farthest node that was needed; 0 before the first search.
    far: F,
    /// Square of the way within which the nearest node remains the nearest.
    safe: F,
}

/// The hint of a particle that has not searched.
#[cube]
pub(super) fn no_hint<F: Float>() -> Hint<F> {
    let zero = F::new(0.0_f32);
    Hint::<F> { place: Vec4::<F>::new(zero), node: 0i32, far: zero, safe: zero }
}

/// Forgets the last search, as that was for a particle elsewhere.
#[cube]
pub(super) fn forget<F: Float>(hint: &mut Hint<F>) {
    hint.far = F::new(0.0_f32);
    hint.safe = F::new(0.0_f32);
}

/// Velocity at a position and a moment.
#[cube]
pub(super) fn sample<F: Float>(
    velocity: &[Vec4<F>],
    places: &[F],
    index: &[i32],
    floats: &[F],
    ints: &[i32],
    position: Vec4<F>,
    moment: &FramePair<F>,
    hint: &mut Hint<F>,
    #[comptime] form: Form,
) -> Vec4<F> {
    let place = place::<F>(floats, position);
    if comptime!(form.kind.is_nearest()) {
        nearest::<F>(places, index, floats, ints, place, hint);
        blend::<F>(velocity, hint.node as usize, moment, form)
    } else {
        mean::<F>(velocity, places, index, floats, ints, place, moment, hint, form)
    }
}

/// A position without its coordinates on flat axes, and without what is no number.
#[cube]
fn place<F: Float>(floats: &[F], position: Vec4<F>) -> Vec4<F> {
    let mut place = vec4::<F>(F::new(0.0_f32), F::new(0.0_f32), F::new(0.0_f32));
    #[unroll]
    for d in 0..3usize {
        let x = position.extract(d);
        let is_number = x.abs() <= F::max_value();
        if floats[PER_LENGTH + d] > F::new(0.0_f32) && is_number {
            place.insert(d, x);
        }
    }
    place
}

/// The cell of a coordinate, or the one next to it where it lies outside.
#[cube]
fn cell<F: Float>(floats: &[F], ints: &[i32], x: F, #[comptime] axis: usize) -> i32 {
    let last = ints[NODES + axis] - 1;
    let g = (x - floats[ORIGIN + axis]) * floats[PER_LENGTH + axis];
    // Clamped as a float: an integer may not hold what is far outside.
    i32::cast_from(clamp(g, F::new(0.0_f32), F::cast_from(last)))
}

/// The cells that a ball reaches, along an axis.
#[derive(CubeType)]
struct Reached {
    low: i32,
    high: i32,
    is_all: bool,
}

#[cube]
fn reached<F: Float>(
    floats: &[F],
    ints: &[i32],
    place: Vec4<F>,
    reach: F,
    #[comptime] axis: usize,
) -> Reached {
    let x = place.extract(axis);
    let low = cell::<F>(floats, ints, x - reach, axis);
    let high = cell::<F>(floats, ints, x + reach, axis);
    Reached { low, high, is_all: low == 0 && high == ints[NODES + axis] - 1 }
}

/// Square of the distance of a node.
#[cube]
fn square_distance<F: Float>(places: &[F], ints: &[i32], place: Vec4<F>, node: usize) -> F {
    let axis = ints[FRAME_SIZE] as usize + NODE_PADDING;
    let x = places[node] - place.extract(0usize);
    let y = places[axis + node] - place.extract(1usize);
    let z = places[2 * axis + node] - place.extract(2usize);
    x * x + y * y + z * z
}

/// A distance, and what rounding may have taken from it.
#[cube]
fn roundly<F: Float>(distance: F) -> F {
    distance * (F::new(1.0_f32) + F::new(8.0_f32) * rounding::<F>())
}

/// How far a search looks first: as `Cloud::reach_after` of `cpu/points.rs`.
#[cube]
fn reach_after<F: Float>(floats: &[F], far: F, moved: F) -> F {
    select(moved < far, roundly::<F>(far + moved), floats[REACH])
}

/// How far a search looks that comes after one within `reach` in which the farthest node that is
/// needed has this square distance.
#[cube]
fn farther<F: Float>(square: F, reach: F) -> F {
    let grown = reach + max(reach, F::new(1.0_f32));
    select(square < F::max_value(), roundly::<F>(square.sqrt()), grown)
}

/// The way from the place of the last search.
#[cube]
fn moved<F: Float>(from: Vec4<F>, place: Vec4<F>) -> F {
    let way = place - from;
    let (x, y, z) = (way.extract(0usize), way.extract(1usize), way.extract(2usize));
    x * x + y * y + z * z
}

/// Makes a hint that of the nearest node.
#[cube]
fn nearest<F: Float>(
    places: &[F],
    index: &[i32],
    floats: &[F],
    ints: &[i32],
    place: Vec4<F>,
    hint: &mut Hint<F>,
) {
    let moved = moved::<F>(hint.place, place);
    if moved >= hint.safe {
        let zero = F::new(0.0_f32);
        let mut reach = reach_after::<F>(floats, hint.far, moved.sqrt());
        let mut first = F::max_value();
        let mut second = F::max_value();
        let mut node = 0i32;
        let mut goes_on = true;
        while goes_on {
            first = F::max_value();
            second = F::max_value();
            let x = reached::<F>(floats, ints, place, reach, 0usize);
            let y = reached::<F>(floats, ints, place, reach, 1usize);
            let z = reached::<F>(floats, ints, place, reach, 2usize);
            for k in z.low..z.high + 1 {
                for j in y.low..y.high + 1 {
                    let row = k * ints[STRIDES + 2] + j * ints[STRIDES + 1];
                    for n in index[(row + x.low) as usize]..index[(row + x.high + 1) as usize] {
                        let square = square_distance::<F>(places, ints, place, n as usize);
                        if square < first {
                            second = first;
                            first = square;
                            node = n;
                        } else if square < second {
                            second = square;
                        }
                    }
                }
            }
            goes_on = second > reach * reach && !(x.is_all && y.is_all && z.is_all);
            reach = farther::<F>(second, reach);
        }
        let far = second.sqrt();
        let slack = F::new(32.0_f32) * rounding::<F>() * far;
        let half = max(F::new(0.5_f32) * (far - first.sqrt()) - slack, zero);
        hint.place = place;
        hint.node = node;
        hint.far = far;
        hint.safe = half * half;
    }
}

/// The mean velocity of the nearest nodes, weighted by a power of the inverse distance.
#[cube]
fn mean<F: Float>(
    velocity: &[Vec4<F>],
    places: &[F],
    index: &[i32],
    floats: &[F],
    ints: &[i32],
    place: Vec4<F>,
    moment: &FramePair<F>,
    hint: &mut Hint<F>,
    #[comptime] form: Form,
) -> Vec4<F> {
    let needed = comptime!(form.kind.neighbours());
    let mut squares = Array::<F>::new(needed);
    let mut nodes = Array::<i32>::new(needed);
    let mut reach = reach_after::<F>(floats, hint.far, moved::<F>(hint.place, place).sqrt());
    let mut goes_on = true;
    while goes_on {
        #[unroll]
        for n in 0..needed {
            squares[n] = F::max_value();
            nodes[n] = 0i32;
        }
        let x = reached::<F>(floats, ints, place, reach, 0usize);
        let y = reached::<F>(floats, ints, place, reach, 1usize);
        let z = reached::<F>(floats, ints, place, reach, 2usize);
        for k in z.low..z.high + 1 {
            for j in y.low..y.high + 1 {
                let row = k * ints[STRIDES + 2] + j * ints[STRIDES + 1];
                for n in index[(row + x.low) as usize]..index[(row + x.high + 1) as usize] {
                    let square = square_distance::<F>(places, ints, place, n as usize);
                    insert::<F>(&mut squares, &mut nodes, square, n, needed);
                }
            }
        }
        let bound = squares[needed - 1];
        goes_on = bound > reach * reach && !(x.is_all && y.is_all && z.is_all);
        hint.far = bound.sqrt();
        reach = farther::<F>(bound, reach);
    }
    hint.place = place;
    let mut sum = Vec4::<F>::new(F::new(0.0_f32));
    let mut weights = F::new(0.0_f32);
    #[unroll]
    for n in 0..needed {
        let weight = weight::<F>(floats, squares[0usize], squares[n], form);
        let v = blend::<F>(velocity, nodes[n] as usize, moment, form);
        sum += Vec4::<F>::new(weight) * v;
        weights += weight;
    }
    sum / Vec4::<F>::new(weights)
}

/// Takes a node into the order of the nearest ones, from the nearest on: whatever is farther than
/// it moves down, and the last one is dropped.
#[cube]
fn insert<F: Float>(
    squares: &mut Array<F>,
    nodes: &mut Array<i32>,
    square: F,
    node: i32,
    #[comptime] needed: usize,
) {
    if square < squares[needed - 1] {
        let mut square = square;
        let mut node = node;
        let mut is_in = false;
        #[unroll]
        for n in 0..needed {
            // What has moved down comes before those that are as far.
            is_in = is_in || square < squares[n];
            if is_in {
                let (other_square, other_node) = (squares[n], nodes[n]);
                squares[n] = square;
                nodes[n] = node;
                square = other_square;
                node = other_node;
            }
        }
    }
}

/// The weight of a node, relative to that of the nearest one.
#[cube]
fn weight<F: Float>(floats: &[F], nearest: F, square: F, #[comptime] form: Form) -> F {
    let mut weight = F::new(1.0_f32);
    if square > nearest {
        let ratio = nearest / square;
        if comptime!(form.kind.is_square()) {
            weight = ratio;
        } else if F::size_bits().comptime() <= 32 {
            weight = ratio.powf(floats[HALF_POWER]);
        } else {
            weight = power_by_roots::<F>(ratio, floats[HALF_POWER]);
        }
    }
    weight
}

/// A number from 0 to 1 to a power above 0. Vulkan has no powers in double precision, but roots.
#[cube]
fn power_by_roots<F: Float>(base: F, exponent: F) -> F {
    let one = F::new(1.0_f32);
    let whole = min(exponent.floor(), F::new(1e9_f32));
    let mut power = one;
    let mut square = base;
    let mut left = i32::cast_from(whole);
    while left > 0 {
        if left % 2 == 1 {
            power *= square;
        }
        square *= square;
        left /= 2;
    }
    // A root for each binary digit after the point.
    let mut root = base;
    let mut part = exponent - whole;
    while part > F::new(0.0_f32) && root < one {
        root = root.sqrt();
        part += part;
        if part >= one {
            power *= root;
            part -= one;
        }
    }
    power
}
