//! The formulas of [`Flow`](super::Flow) in tensor operations. Factors that depend only on time are
//! evaluated on the host in f64.

use burn::tensor::{Tensor, TensorData};
use std::f64::consts::PI;

/// The coordinates `[n, 1]` of positions `[n, 3]`.
pub(super) fn columns(position: Tensor<2>) -> [Tensor<2>; 3] {
    [0, 1, 2].map(|d| position.clone().narrow(1, d, 1))
}

fn planar(u: Tensor<2>, v: Tensor<2>) -> Tensor<2> {
    let w = u.zeros_like();
    Tensor::cat(vec![u, v, w], 1)
}

/// Numbers as a tensor with a row for all positions, or one for each.
fn constant<const D: usize>(
    rows: impl ExactSizeIterator<Item = [f64; D]>,
    position: &Tensor<2>,
) -> Tensor<2> {
    let count = rows.len();
    let data = TensorData::new(rows.flatten().collect::<Vec<f64>>(), [count, D]);
    Tensor::from_data(data, (&position.device(), position.dtype()))
}

/// One velocity at all positions, or one at each.
pub(super) fn everywhere(
    position: &Tensor<2>,
    velocity: impl ExactSizeIterator<Item = [f64; 3]>,
) -> Tensor<2> {
    position.zeros_like() + constant(velocity, position)
}

pub(super) fn eddy(oscillation: f64, current: f64, phase: f64) -> [f64; 3] {
    let (sin, cos) = phase.sin_cos();
    [current + oscillation * cos, -oscillation * sin, 0.0]
}

pub(super) fn rotation(position: Tensor<2>, [xc, yc]: [f64; 2], rate: f64) -> Tensor<2> {
    let [x, y, _] = columns(position);
    planar((y - yc) * rate, (x - xc) * -rate)
}

pub(super) fn taylor_green(position: Tensor<2>) -> Tensor<2> {
    let [x, y, _] = columns(position);
    planar(x.clone().sin() * y.clone().cos(), -(x.cos() * y.sin()))
}

/// `walls` has the displacement a = epsilon sin(omega t) of the wall, for all positions or for each.
pub(super) fn double_gyre(
    position: Tensor<2>,
    amplitude: f64,
    walls: impl ExactSizeIterator<Item = f64> + Clone,
) -> Tensor<2> {
    let a = constant(walls.clone().map(|a| [a]), &position);
    let b = constant(walls.map(|a| [1.0 - 2.0 * a]), &position);
    let [x, y, _] = columns(position);
    let phi = (x.clone() * a.clone() + b.clone()) * x.clone() * PI;
    let dphi = x * (a * 2.0) + b;
    let y = y * PI;
    let u = phi.clone().sin() * y.clone().cos() * (-PI * amplitude);
    let v = phi.cos() * y.sin() * dphi * (PI * amplitude);
    planar(u, v)
}

pub(super) fn abc(position: Tensor<2>, a: f64, b: f64, c: f64) -> Tensor<2> {
    let [x, y, z] = columns(position);
    let u = z.clone().sin() * a + y.clone().cos() * c;
    let v = x.clone().sin() * b + z.cos() * a;
    let w = y.sin() * c + x.cos() * b;
    Tensor::cat(vec![u, v, w], 1)
}

/// One expression for inside and outside. With lengths in units of the radius and s = min(1, 1/R),
/// u_r = -1.5 U r z s^5 in both, and u_z = U (1 - s^3 + 1.5 r^2 s^5) outside. Inside, add 1.5 U
/// (R^2 - 1), which is 0 on the sphere.
pub(super) fn hill(position: Tensor<2>, radius: f64, speed: f64) -> Tensor<2> {
    let [x, y, z] = columns(position / radius);
    let across = x.clone().square() + y.clone().square();
    let square = across.clone() + z.clone().square();
    let s = square.clone().clamp_min(1.0).sqrt().recip();
    let cube = s.clone() * s.clone().square();
    let fifth = cube.clone() * s.square();
    let radial = z * fifth.clone() * (-1.5 * speed);
    let within = (square - 1.0).clamp_max(0.0) * 1.5;
    let w = (across * fifth * 1.5 + within - cube + 1.0) * speed;
    Tensor::cat(vec![x * radial.clone(), y * radial, w], 1)
}

pub(super) fn peninsula(position: Tensor<2>, speed: f64, centre: f64, radius: f64) -> Tensor<2> {
    let [x, y, _] = columns(position);
    let (x, y) = ((x - centre) / radius, y / radius);
    let (xx, yy) = (x.clone().square(), y.clone().square());
    let square = xx.clone() + yy.clone();
    let land = square.clone().lower_equal_scalar(1.0);
    // At least 1, so that the masked velocity on land is finite.
    let fourth = square.clamp_min(1.0).square();
    let u = ((yy - xx) / fourth.clone() + 1.0) * speed;
    let v = x * y / fourth * (-2.0 * speed);
    planar(u.mask_fill(land.clone(), 0.0), v.mask_fill(land, 0.0))
}

pub(super) fn stommel(position: Tensor<2>, side: f64, strength: f64, layer: f64) -> Tensor<2> {
    let [x, y, _] = columns(position);
    let y = y * (PI / side);
    let decay = (x.clone() / -layer).exp();
    let profile = (x / side + decay.clone()) * -1.0 + 1.0;
    let derivative = decay * (side / layer) - 1.0;
    let u = profile * y.clone().cos() * (-PI * PI * strength);
    let v = derivative * y.sin() * (PI * strength);
    planar(u, v)
}

pub(super) fn saddle(position: Tensor<2>, rate: f64) -> Tensor<2> {
    let [x, y, _] = columns(position);
    planar(x * rate, y * -rate)
}

pub(super) fn shear(position: Tensor<2>, rate: f64) -> Tensor<2> {
    let [_, y, _] = columns(position);
    let still = y.zeros_like();
    planar(y * rate, still)
}
