//! Domain faces in tensor operations: the reference for the kernels.

use burn::tensor::{Bool, Int, Tensor};
use burntrace_kernels::{Boundary, Condition};

/// The ends of paths.
pub(super) struct Landing {
    /// Positions `[n, 3]`.
    pub position: Tensor<2>,
    /// Periods crossed through periodic faces `[n, 3]`.
    pub image: Tensor<2, Int>,
    /// The face of each exit `[n, 1]`; meaningful where `fraction <= 1`.
    pub face: Tensor<2, Int>,
    /// The fraction of the path at the exit `[n, 1]`; 2 without an exit.
    pub fraction: Tensor<2>,
}

/// A fraction beyond every path.
const NEVER: f64 = 2.0;

/// The positions at which stages at `p` sample the field: wrapped into the box on periodic axes.
pub(super) fn wrap(boundary: &Boundary, p: Tensor<2>) -> Tensor<2> {
    if !(0..3).any(|d| boundary.is_periodic(d)) {
        return p;
    }
    let columns = [0, 1, 2].map(|d| {
        let x = column(&p, d);
        if !boundary.is_periodic(d) {
            return x;
        }
        // A non-finite stage cannot be wrapped; beyond all bounds it samples the grid's edge.
        let is_finite = x.clone().detach().is_finite();
        x.clone().mask_where(is_finite, fold(boundary, d, x).0)
    });
    Tensor::cat(columns.to_vec(), 1)
}

/// Applies the face conditions to paths `from -> to`.
pub(super) fn land(boundary: &Boundary, from: &Tensor<2>, to: &Tensor<2>) -> Landing {
    let (fraction, face) = first_exit(boundary, from, to);
    let exits = fraction.clone().lower_equal_elem(1.0);
    let part = fraction.clone().clamp(0.0, 1.0);
    let on_path = from.clone() + part * (to.clone() - from.clone());
    let reached = to.clone().mask_where(exits.clone().expand(to.dims()), on_path);
    let mut columns = Vec::new();
    let mut images = Vec::new();
    for d in 0..3 {
        let (mut x, image) = fold(boundary, d, column(&reached, d));
        for (side, at) in [boundary.low[d], boundary.high[d]].into_iter().enumerate() {
            let is_here = face.clone().equal_elem(2 * d as i32 + side as i32);
            if boundary.faces[d][side] == Condition::Exit && at.is_finite() {
                x = x.mask_fill(exits.clone().bool_and(is_here), at);
            }
        }
        columns.push(x);
        images.push(image);
    }
    Landing { position: Tensor::cat(columns, 1), image: Tensor::cat(images, 1), face, fraction }
}

/// The fraction of each path at its first exit, and the face.
fn first_exit(
    boundary: &Boundary,
    from: &Tensor<2>,
    to: &Tensor<2>,
) -> (Tensor<2>, Tensor<2, Int>) {
    let mut fraction = column(from, 0).zeros_like().add_scalar(NEVER).detach();
    let mut face = fraction.zeros_like().int();
    for d in 0..3 {
        for side in 0..2 {
            let Some(reached) = exit(boundary, d, side, column(from, d), column(to, d)) else {
                continue;
            };
            let is_first = reached.clone().lower(fraction.clone());
            fraction = fraction.mask_where(is_first.clone(), reached);
            face = face.mask_fill(is_first, 2 * d as i32 + side as i32);
        }
    }
    (fraction, face)
}

/// The fraction of each path at which it exits through one face, directly or after one reflection
/// at the opposite face; `None` if that face is no exit.
fn exit(
    boundary: &Boundary,
    d: usize,
    side: usize,
    x0: Tensor<2>,
    x1: Tensor<2>,
) -> Option<Tensor<2>> {
    let (low, high) = (boundary.low[d], boundary.high[d]);
    let is_open = ![low, high][side].is_finite();
    if is_open || boundary.faces[d][side] != Condition::Exit {
        return None;
    }
    let length = (x1.clone() - x0.clone()).abs();
    let never = x0.zeros_like().add_scalar(NEVER);
    // Distance to a face, and whether the path crosses it.
    let beyond = |side: usize| -> (Tensor<2>, Tensor<2, Bool>) {
        if side == 0 {
            (x0.clone().sub_scalar(low), x1.clone().lower_elem(low))
        } else {
            (x0.clone().neg().add_scalar(high), x1.clone().greater_elem(high))
        }
    };
    // Without an exit the length may be zero: dividing by it would make the gradient NaN.
    let part = |distance: Tensor<2>, goes_out: &Tensor<2, Bool>| {
        distance / length.clone().mask_fill(goes_out.clone().bool_not(), 1.0)
    };
    let (reach, goes_out) = beyond(side);
    let mut fraction = never.mask_where(goes_out.clone(), part(reach, &goes_out));
    if boundary.faces[d][1 - side] == Condition::Reflect {
        let (reach, goes_back) = beyond(1 - side);
        let bounced = reach.add_scalar(high - low);
        let goes_out = goes_back.bool_and(length.clone().greater(bounced.clone()));
        fraction = fraction.mask_where(goes_out.clone(), part(bounced, &goes_out));
    }
    Some(fraction)
}

/// Wraps or reflects coordinates `[n, 1]` into the box; returns also the periods crossed.
fn fold(boundary: &Boundary, d: usize, x: Tensor<2>) -> (Tensor<2>, Tensor<2, Int>) {
    let (low, high) = (boundary.low[d], boundary.high[d]);
    let width = high - low;
    let none = x.zeros_like().int();
    let (folded, image) = match boundary.faces[d] {
        [Condition::Periodic, _] => {
            let boxes = x.clone().detach().sub_scalar(low).div_scalar(width).floor();
            // Backends refuse to convert non-finite numbers to integers.
            let countable = boxes.clone().mask_fill(boxes.clone().is_finite().bool_not(), 0.0);
            (x - boxes.mul_scalar(width), countable.clamp(-MAX_BOXES, MAX_BOXES).int())
        }
        [Condition::Reflect, Condition::Reflect] => {
            let y = x.sub_scalar(low);
            let rounds = y.clone().detach().div_scalar(2.0 * width).floor();
            let y = y - rounds.mul_scalar(2.0 * width);
            (y.sub_scalar(width).abs().neg().add_scalar(width + low), none)
        }
        [Condition::Reflect, _] => {
            let mirrored = x.clone().neg().add_scalar(2.0 * low);
            (x.clone().mask_where(x.lower_elem(low), mirrored), none)
        }
        [_, Condition::Reflect] => {
            let mirrored = x.clone().neg().add_scalar(2.0 * high);
            (x.clone().mask_where(x.greater_elem(high), mirrored), none)
        }
        _ => (x, none),
    };
    (folded.clamp(low.max(-LIMIT), high.min(LIMIT)), image)
}

/// The counter of periods is clamped here.
const MAX_BOXES: f64 = 1e9;

/// Replaces an infinite side; finite in single precision.
const LIMIT: f64 = 3e38;

/// One column `[n, 1]` of a tensor.
pub(super) fn column(p: &Tensor<2>, d: usize) -> Tensor<2> {
    let [n, _] = p.dims();
    p.clone().slice([0..n, d..d + 1])
}
