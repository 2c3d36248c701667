//! Velocity from a grid.

use super::{
    Form, Vec4, cubecl,
    frame_pair::FramePair,
    tables::{NODES, ORIGIN, PER_LENGTH, STRIDES},
};
use burn_cubecl::cubecl::prelude::*;

/// A cell of an axis and the fractional coordinate within it.
#[derive(CubeType)]
struct AxisCell<F: Float> {
    cell: usize,
    fraction: F,
}

/// Velocity at a position and time.
#[cube]
pub(super) fn sample<F: Float>(
    velocity: &[Vec4<F>],
    coords: &[F],
    floats: &[F],
    ints: &[i32],
    position: Vec4<F>,
    pair: &FramePair<F>,
    #[comptime] form: Form,
) -> Vec4<F> {
    let x = locate::<F>(coords, floats, ints, position.extract(0usize), 0usize, form);
    let y = locate::<F>(coords, floats, ints, position.extract(1usize), 1usize, form);
    let z = locate::<F>(coords, floats, ints, position.extract(2usize), 2usize, form);
    let sx = ints[STRIDES] as usize;
    let sy = ints[STRIDES + 1] as usize;
    let sz = ints[STRIDES + 2] as usize;
    let base = x.cell * sx + y.cell * sy + z.cell * sz;
    let mut v = Vec4::<F>::new(pair.first_weight)
        * in_space::<F>(velocity, pair.first + base, sx, sy, sz, &x, &y, &z, form);
    if comptime!(!form.steady) {
        v += Vec4::<F>::new(pair.second_weight)
            * in_space::<F>(velocity, pair.second + base, sx, sy, sz, &x, &y, &z, form);
    }
    v
}

/// Velocity of one frame: trilinear between nodes, or constant in the cell.
#[cube]
fn in_space<F: Float>(
    velocity: &[Vec4<F>],
    base: usize,
    sx: usize,
    sy: usize,
    sz: usize,
    x: &AxisCell<F>,
    y: &AxisCell<F>,
    z: &AxisCell<F>,
    #[comptime] form: Form,
) -> Vec4<F> {
    if comptime!(form.kind.is_cells()) {
        velocity[base]
    } else {
        let near = bilinear::<F>(velocity, base, sx, sy, x.fraction, y.fraction);
        let far = bilinear::<F>(velocity, base + sz, sx, sy, x.fraction, y.fraction);
        lerp::<F>(near, far, z.fraction)
    }
}

#[cube]
fn bilinear<F: Float>(
    velocity: &[Vec4<F>],
    base: usize,
    sx: usize,
    sy: usize,
    wx: F,
    wy: F,
) -> Vec4<F> {
    let near = lerp::<F>(velocity[base], velocity[base + sx], wx);
    let far = lerp::<F>(velocity[base + sy], velocity[base + sy + sx], wx);
    lerp::<F>(near, far, wy)
}

#[cube]
fn lerp<F: Float>(a: Vec4<F>, b: Vec4<F>, w: F) -> Vec4<F> {
    a + Vec4::<F>::new(w) * (b - a)
}

/// Locates a coordinate on an axis; beyond the axis it is clamped to its ends.
#[cube]
fn locate<F: Float>(
    coords: &[F],
    floats: &[F],
    ints: &[i32],
    x: F,
    #[comptime] axis: usize,
    #[comptime] form: Form,
) -> AxisCell<F> {
    if comptime!(form.kind.is_uniform()) {
        locate_uniform::<F>(floats, ints, x, axis)
    } else {
        locate_in_table::<F>(coords, ints, x, axis)
    }
}

#[cube]
fn locate_uniform<F: Float>(
    floats: &[F],
    ints: &[i32],
    x: F,
    #[comptime] axis: usize,
) -> AxisCell<F> {
    let last_node = ints[NODES + axis] - 1;
    let last_cell = max(last_node - 1, 0);
    let g = clamp(
        (x - floats[ORIGIN + axis]) * floats[PER_LENGTH + axis],
        F::new(0.0_f32),
        F::cast_from(last_node),
    );
    let cell = clamp(i32::cast_from(g), 0, last_cell);
    AxisCell::<F> { cell: cell as usize, fraction: g - F::cast_from(cell) }
}

#[cube]
fn locate_in_table<F: Float>(
    coords: &[F],
    ints: &[i32],
    x: F,
    #[comptime] axis: usize,
) -> AxisCell<F> {
    let mut start = 0usize;
    #[unroll]
    for d in 0..axis {
        start += ints[NODES + d] as usize;
    }
    let count = ints[NODES + axis] as usize;
    let mut low = 0usize;
    let mut high = select(count > 1, count - 1, 1usize);
    while high - low > 1 {
        let middle = (low + high) / 2;
        if coords[start + middle] <= x {
            low = middle;
        } else {
            high = middle;
        }
    }
    let a = coords[start + low];
    let mut fraction = F::new(0.0_f32);
    if count > 1 {
        let t = (x - a) / (coords[start + low + 1] - a);
        fraction = clamp(t, F::new(0.0_f32), F::new(1.0_f32));
    }
    AxisCell::<F> { cell: low, fraction }
}
