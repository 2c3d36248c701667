//! Velocity from a grid.

use super::{Vec4, cubecl, frame_pair::FramePair, launch::Launch};
use crate::physics::tables::{NODES, ORIGIN, PER_LENGTH, STRIDES};
use burn_cubecl::cubecl::prelude::*;

/// A cell of an axis, the distance in memory of its two nodes, and the fractional coordinate
/// between them.
#[derive(CubeType)]
struct AxisCell<F: Float> {
    cell: usize,
    stride: usize,
    fraction: F,
}

/// Velocity at a position and time.
#[cube]
pub(super) fn sample<F: Float>(
    launch: &Launch<F>,
    position: Vec4<F>,
    pair: &FramePair<F>,
) -> Vec4<F> {
    let x = locate::<F>(launch, position.extract(0usize), 0usize);
    let y = locate::<F>(launch, position.extract(1usize), 1usize);
    let z = locate::<F>(launch, position.extract(2usize), 2usize);
    let base = x.cell * x.stride + y.cell * y.stride + z.cell * z.stride;
    let mut v =
        Vec4::<F>::new(pair.first_weight) * in_space::<F>(launch, pair.first + base, &x, &y, &z);
    if comptime!(!launch.features.steady) {
        // A hole must not matter where its weight is 0.
        if comptime!(!launch.features.holes) || pair.second_weight != F::new(0.0_f32) {
            v += Vec4::<F>::new(pair.second_weight)
                * in_space::<F>(launch, pair.second + base, &x, &y, &z);
        }
    }
    v
}

/// Velocity of one frame: trilinear between nodes, or constant in the cell.
#[cube]
fn in_space<F: Float>(
    launch: &Launch<F>,
    base: usize,
    x: &AxisCell<F>,
    y: &AxisCell<F>,
    z: &AxisCell<F>,
) -> Vec4<F> {
    if comptime!(launch.form.kind.is_cells()) {
        launch.velocity[base]
    } else {
        let near = bilinear::<F>(launch, base, x, y);
        let far = bilinear::<F>(launch, base + z.stride, x, y);
        lerp::<F>(near, far, z.fraction)
    }
}

#[cube]
fn bilinear<F: Float>(
    launch: &Launch<F>,
    base: usize,
    x: &AxisCell<F>,
    y: &AxisCell<F>,
) -> Vec4<F> {
    let low = base;
    let high = base + y.stride;
    let near = lerp::<F>(launch.velocity[low], launch.velocity[low + x.stride], x.fraction);
    let far = lerp::<F>(launch.velocity[high], launch.velocity[high + x.stride], x.fraction);
    lerp::<F>(near, far, y.fraction)
}

#[cube]
fn lerp<F: Float>(a: Vec4<F>, b: Vec4<F>, w: F) -> Vec4<F> {
    a + Vec4::<F>::new(w) * (b - a)
}

/// Locates a coordinate on an axis; beyond the axis it is clamped to its ends.
#[cube]
fn locate<F: Float>(launch: &Launch<F>, x: F, #[comptime] axis: usize) -> AxisCell<F> {
    if comptime!(launch.form.kind.is_uniform()) {
        locate_uniform::<F>(launch, x, axis)
    } else {
        locate_in_table::<F>(launch, x, axis)
    }
}

#[cube]
fn locate_uniform<F: Float>(launch: &Launch<F>, x: F, #[comptime] axis: usize) -> AxisCell<F> {
    let stride = launch.int(STRIDES + axis) as usize;
    let last_node = launch.int(NODES + axis) - 1;
    let g = (x - launch.float(ORIGIN + axis)) * launch.float(PER_LENGTH + axis);
    let last_cell = max(last_node - 1, 0);
    let g = clamp(g, F::new(0.0_f32), F::cast_from(last_node));
    let cell = clamp(i32::cast_from(g), 0, last_cell);
    AxisCell::<F> { cell: cell as usize, stride, fraction: g - F::cast_from(cell) }
}

#[cube]
fn locate_in_table<F: Float>(launch: &Launch<F>, x: F, #[comptime] axis: usize) -> AxisCell<F> {
    let mut start = 0usize;
    #[unroll]
    for d in 0..axis {
        start += launch.int(NODES + d) as usize;
    }
    let count = launch.int(NODES + axis) as usize;
    let mut low = 0usize;
    let mut high = select(count > 1, count - 1, 1usize);
    while high - low > 1 {
        let middle = (low + high) / 2;
        if launch.coords[start + middle] <= x {
            low = middle;
        } else {
            high = middle;
        }
    }
    let a = launch.coords[start + low];
    let mut fraction = F::new(0.0_f32);
    if count > 1 {
        let t = (x - a) / (launch.coords[start + low + 1] - a);
        fraction = clamp(t, F::new(0.0_f32), F::new(1.0_f32));
    }
    let stride = launch.int(STRIDES + axis) as usize;
    AxisCell::<F> { cell: low, stride, fraction }
}
