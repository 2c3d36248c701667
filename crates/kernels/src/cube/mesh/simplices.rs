//! Triangles and tetrahedra; see `cpu/mesh/simplices.rs`.

use super::{
    super::{
        Vec4, cubecl,
        frame_pair::{FramePair, blend},
        vec4,
    },
    CellQuery, MeshKind,
};
use crate::cube::launch::Launch;
use crate::physics::cells::device::{BORDER, INSIDE, OUTSIDE};
use burn_cubecl::cubecl::prelude::*;

/// The barycentric weights of a cell's nodes at a position.
#[cube]
fn weights<F: Float>(launch: &Launch<F>, cell: usize, p: Vec4<F>) -> Vec4<F> {
    let d = p - launch.records[4 * cell];
    vec4::<F>(F::new(1.0_f32), F::new(0.0_f32), F::new(0.0_f32))
        + launch.records[4 * cell + 1] * Vec4::<F>::new(d.extract(0usize))
        + launch.records[4 * cell + 2] * Vec4::<F>::new(d.extract(1usize))
        + launch.records[4 * cell + 3] * Vec4::<F>::new(d.extract(2usize))
}

/// A position relative to a cell.
#[cube]
pub(super) fn query<F: Float>(
    launch: &Launch<F>,
    cell: usize,
    p: Vec4<F>,
    #[comptime] mesh: MeshKind,
) -> CellQuery<F> {
    let tolerance = -launch.records[4 * cell].extract(3usize);
    let at = weights::<F>(launch, cell, p);
    let mut smallest = at.extract(0usize);
    let mut face = 0i32;
    // Each weight is compared separately, so that NaN is in no cell.
    let mut is_inside = smallest >= tolerance;
    let mut is_near = smallest >= -tolerance;
    #[unroll]
    for k in 1..comptime!(mesh.corners()) {
        let weight = at.extract(k);
        is_inside = is_inside && weight >= tolerance;
        is_near = is_near && weight >= -tolerance;
        if weight < smallest {
            smallest = weight;
            face = comptime!(k as i32).runtime();
        }
    }
    let containment = select(is_inside, INSIDE, select(is_near, BORDER, OUTSIDE));
    CellQuery::<F> { at, containment, face }
}

/// The boundary face of a cell that a point is farthest beyond, or -1.
#[cube]
pub(super) fn wall<F: Float>(
    launch: &Launch<F>,
    cell: usize,
    at: Vec4<F>,
    #[comptime] mesh: MeshKind,
) -> i32 {
    let mut smallest = F::new(0.0_f32);
    let mut wall = i32::new(-1);
    #[unroll]
    for k in 0..comptime!(mesh.corners()) {
        if at.extract(k) < smallest && launch.index[8 * cell + 4 + k] < 0 {
            smallest = at.extract(k);
            wall = comptime!(k as i32).runtime();
        }
    }
    wall
}

/// The weighted mean of the values at the nodes of a cell.
#[cube]
pub(super) fn mean<F: Float>(
    launch: &Launch<F>,
    cell: usize,
    at: Vec4<F>,
    pair: &FramePair<F>,
) -> Vec4<F> {
    let mut sum = Vec4::<F>::new(F::new(0.0_f32));
    #[unroll]
    for k in 0..comptime!(launch.form.kind.mesh().corners()) {
        let node = launch.index[8 * cell + k] as usize;
        sum += Vec4::<F>::new(at.extract(k)) * blend::<F>(launch, node, pair);
    }
    sum
}

/// Gradient of the weight that is 0 on a face.
#[cube]
pub(super) fn gradient<F: Float>(launch: &Launch<F>, cell: usize, face: i32) -> Vec4<F> {
    let mut gradient = Vec4::<F>::new(F::new(0.0_f32));
    #[unroll]
    for d in 0..3usize {
        let gradients = launch.records[4 * cell + 1 + d];
        #[unroll]
        for k in 0..4usize {
            if face == comptime!(k as i32) {
                gradient.insert(d, gradients.extract(k));
            }
        }
    }
    gradient
}
