//! Velocity from scattered points: the search of `cpu/points.rs`, node by node, without lists of candidates
//! and without the trees of crowded cells. A previous search of the same particle bounds the radius: the
//! distance to the n-th nearest node grows at most by the distance moved.

use super::{
    Vec4, cubecl, dot,
    frame_pair::{FramePair, blend},
    launch::Launch,
    rounding, vec4,
};
use crate::NODE_PADDING;
use crate::physics::tables::{GROUP_SIZE, HALF_POWER, NODES, ORIGIN, PER_LENGTH, REACH, STRIDES};
use burn_cubecl::cubecl::prelude::*;

/// The last search of a particle.
#[derive(CubeType)]
pub(super) struct Hint<F: Float> {
    position: Vec4<F>,
    node: i32,
    /// Distance of the farthest node needed; 0 before the first search.
    far: F,
    /// Squared displacement within which the nearest node stays the nearest.
    safe: F,
}

/// The hint of a particle that has not been searched for.
#[cube]
pub(super) fn no_hint<F: Float>() -> Hint<F> {
    let zero = F::new(0.0_f32);
    Hint::<F> { position: Vec4::<F>::new(zero), node: 0i32, far: zero, safe: zero }
}

/// Resets the hint: the slot has another instance now, at another position.
#[cube]
pub(super) fn forget<F: Float>(hint: &mut Hint<F>) {
    hint.far = F::new(0.0_f32);
    hint.safe = F::new(0.0_f32);
}

/// Velocity at a position and time.
#[cube]
pub(super) fn sample<F: Float>(
    launch: &Launch<F>,
    position: Vec4<F>,
    pair: &FramePair<F>,
    hint: &mut Hint<F>,
) -> Vec4<F> {
    let position = search_position::<F>(launch, position);
    if comptime!(launch.form.kind.is_nearest()) {
        nearest::<F>(launch, position, hint);
        blend::<F>(launch, hint.node as usize, pair)
    } else {
        mean::<F>(launch, position, pair, hint)
    }
}

/// The search position: 0 on flat axes, and with finite coordinates.
#[cube]
fn search_position<F: Float>(launch: &Launch<F>, position: Vec4<F>) -> Vec4<F> {
    let mut finite = vec4::<F>(F::new(0.0_f32), F::new(0.0_f32), F::new(0.0_f32));
    #[unroll]
    for d in 0..3usize {
        let x = position.extract(d);
        let is_number = x.abs() <= F::max_value();
        if launch.float(PER_LENGTH + d) > F::new(0.0_f32) && is_number {
            finite.insert(d, x);
        }
    }
    finite
}

/// The cell of a coordinate, or the nearest one if it is outside.
#[cube]
fn cell<F: Float>(launch: &Launch<F>, x: F, #[comptime] axis: usize) -> i32 {
    let last = launch.int(NODES + axis) - 1;
    let g = (x - launch.float(ORIGIN + axis)) * launch.float(PER_LENGTH + axis);
    // Clamped as a float, because an integer may not represent distant coordinates.
    i32::cast_from(clamp(g, F::new(0.0_f32), F::cast_from(last)))
}

/// The lattice cells that intersect a ball, along one axis.
#[derive(CubeType)]
struct Reached {
    low: i32,
    high: i32,
    is_all: bool,
}

#[cube]
fn reached<F: Float>(
    launch: &Launch<F>,
    position: Vec4<F>,
    reach: F,
    #[comptime] axis: usize,
) -> Reached {
    let x = position.extract(axis);
    let low = cell::<F>(launch, x - reach, axis);
    let high = cell::<F>(launch, x + reach, axis);
    Reached { low, high, is_all: low == 0 && high == launch.int(NODES + axis) - 1 }
}

/// Squared distance of a node.
#[cube]
fn square_distance<F: Float>(launch: &Launch<F>, position: Vec4<F>, node: usize) -> F {
    let axis = launch.int(GROUP_SIZE) as usize + NODE_PADDING;
    let x = launch.coords[node] - position.extract(0usize);
    let y = launch.coords[axis + node] - position.extract(1usize);
    let z = launch.coords[2 * axis + node] - position.extract(2usize);
    x * x + y * y + z * z
}

/// A distance increased by a margin for rounding.
#[cube]
fn with_rounding_margin<F: Float>(distance: F) -> F {
    distance * (F::new(1.0_f32) + F::new(8.0_f32) * rounding::<F>())
}

/// A search radius that probably contains the needed nodes, from the radius of the previous search (0 for
/// none) and the distance moved since. It is certain after a short move; after a longer one the search
/// restarts, since the ball would cover much of the cloud.
#[cube]
fn reach_after<F: Float>(launch: &Launch<F>, far: F, moved: F) -> F {
    select(moved < far, with_rounding_margin::<F>(far + moved), launch.float(REACH))
}

/// The radius of the next search, given the squared distance of the farthest needed node in a
/// search within `reach`.
#[cube]
fn farther<F: Float>(square: F, reach: F) -> F {
    let grown = reach + max(reach, F::new(1.0_f32));
    select(square < F::max_value(), with_rounding_margin::<F>(square.sqrt()), grown)
}

/// Squared displacement from the position of the last search.
#[cube]
fn moved<F: Float>(from: Vec4<F>, position: Vec4<F>) -> F {
    let offset = position - from;
    dot::<F>(offset, offset)
}

/// Updates the hint to the nearest node.
#[cube]
fn nearest<F: Float>(launch: &Launch<F>, position: Vec4<F>, hint: &mut Hint<F>) {
    let moved = moved::<F>(hint.position, position);
    if moved >= hint.safe {
        let zero = F::new(0.0_f32);
        let mut reach = reach_after::<F>(launch, hint.far, moved.sqrt());
        let mut first = F::max_value();
        let mut second = F::max_value();
        let mut node = 0i32;
        let mut continues = true;
        while continues {
            first = F::max_value();
            second = F::max_value();
            let x = reached::<F>(launch, position, reach, 0usize);
            let y = reached::<F>(launch, position, reach, 1usize);
            let z = reached::<F>(launch, position, reach, 2usize);
            for k in z.low..z.high + 1 {
                for j in y.low..y.high + 1 {
                    let row = k * launch.int(STRIDES + 2) + j * launch.int(STRIDES + 1);
                    for n in launch.index[(row + x.low) as usize]
                        ..launch.index[(row + x.high + 1) as usize]
                    {
                        let square = square_distance::<F>(launch, position, n as usize);
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
            continues = second > reach * reach && !(x.is_all && y.is_all && z.is_all);
            reach = farther::<F>(second, reach);
        }
        let far = second.sqrt();
        let slack = F::new(32.0_f32) * rounding::<F>() * far;
        let half = max(F::new(0.5_f32) * (far - first.sqrt()) - slack, zero);
        hint.position = position;
        hint.node = node;
        hint.far = far;
        hint.safe = half * half;
    }
}

/// The mean velocity of the nearest nodes, weighted by inverse distance to a power.
#[cube]
fn mean<F: Float>(
    launch: &Launch<F>,
    position: Vec4<F>,
    pair: &FramePair<F>,
    hint: &mut Hint<F>,
) -> Vec4<F> {
    let needed = comptime!(launch.form.kind.neighbours());
    let mut squares = Array::<F>::new(needed);
    let mut nodes = Array::<i32>::new(needed);
    let mut reach = reach_after::<F>(launch, hint.far, moved::<F>(hint.position, position).sqrt());
    let mut continues = true;
    while continues {
        #[unroll]
        for n in 0..needed {
            squares[n] = F::max_value();
            nodes[n] = 0i32;
        }
        let x = reached::<F>(launch, position, reach, 0usize);
        let y = reached::<F>(launch, position, reach, 1usize);
        let z = reached::<F>(launch, position, reach, 2usize);
        for k in z.low..z.high + 1 {
            for j in y.low..y.high + 1 {
                let row = k * launch.int(STRIDES + 2) + j * launch.int(STRIDES + 1);
                for n in
                    launch.index[(row + x.low) as usize]..launch.index[(row + x.high + 1) as usize]
                {
                    let square = square_distance::<F>(launch, position, n as usize);
                    insert::<F>(&mut squares, &mut nodes, square, n, needed);
                }
            }
        }
        let bound = squares[needed - 1];
        continues = bound > reach * reach && !(x.is_all && y.is_all && z.is_all);
        hint.far = bound.sqrt();
        reach = farther::<F>(bound, reach);
    }
    hint.position = position;
    let mut sum = Vec4::<F>::new(F::new(0.0_f32));
    let mut weights = F::new(0.0_f32);
    #[unroll]
    for n in 0..needed {
        let weight = weight::<F>(launch, squares[0usize], squares[n]);
        let v = blend::<F>(launch, nodes[n] as usize, pair);
        sum += Vec4::<F>::new(weight) * v;
        weights += weight;
    }
    sum / Vec4::<F>::new(weights)
}

/// Inserts a node into the sorted list of the nearest ones: those farther away move down, and the
/// last one is dropped.
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
            // A node that has moved down precedes equally distant ones.
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
fn weight<F: Float>(launch: &Launch<F>, nearest: F, square: F) -> F {
    let mut weight = F::new(1.0_f32);
    if square > nearest {
        let ratio = nearest / square;
        if comptime!(launch.form.kind.is_square()) {
            weight = ratio;
        } else if F::size_bits().comptime() <= 32 {
            weight = ratio.powf(launch.float(HALF_POWER));
        } else {
            weight = power_by_roots::<F>(ratio, launch.float(HALF_POWER));
        }
    }
    weight
}

/// A number between 0 and 1 to a positive power. Vulkan has roots in double precision, but no
/// powers.
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
