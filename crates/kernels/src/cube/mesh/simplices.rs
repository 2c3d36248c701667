//! Triangles and tetrahedra; see `cpu/mesh/simplices.rs`.

use super::{
    super::{
        Form, Vec4, cubecl,
        frame_pair::{FramePair, blend},
        vec4,
    },
    BORDER, CellQuery, INSIDE, MeshKind, OUTSIDE,
};
use burn_cubecl::cubecl::prelude::*;

/// The barycentric weights of a cell's nodes at a position.
#[cube]
fn weights<F: Float>(coords: &[Vec4<F>], cell: usize, p: Vec4<F>) -> Vec4<F> {
    let d = p - coords[4 * cell];
    vec4::<F>(F::new(1.0_f32), F::new(0.0_f32), F::new(0.0_f32))
        + coords[4 * cell + 1] * Vec4::<F>::new(d.extract(0usize))
        + coords[4 * cell + 2] * Vec4::<F>::new(d.extract(1usize))
        + coords[4 * cell + 3] * Vec4::<F>::new(d.extract(2usize))
}

/// A position relative to a cell.
#[cube]
pub(super) fn query<F: Float>(
    coords: &[Vec4<F>],
    cell: usize,
    p: Vec4<F>,
    #[comptime] mesh: MeshKind,
) -> CellQuery<F> {
    let tolerance = -coords[4 * cell].extract(3usize);
    let at = weights::<F>(coords, cell, p);
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
    index: &[i32],
    cell: usize,
    at: Vec4<F>,
    #[comptime] mesh: MeshKind,
) -> i32 {
    let mut smallest = F::new(0.0_f32);
    let mut wall = i32::new(-1);
    #[unroll]
    for k in 0..comptime!(mesh.corners()) {
        if at.extract(k) < smallest && index[8 * cell + 4 + k] < 0 {
            smallest = at.extract(k);
            wall = comptime!(k as i32).runtime();
        }
    }
    wall
}

/// The weighted mean of the values at the nodes of a cell.
#[cube]
pub(super) fn mean<F: Float>(
    velocity: &[Vec4<F>],
    index: &[i32],
    cell: usize,
    at: Vec4<F>,
    pair: &FramePair<F>,
    #[comptime] form: Form,
) -> Vec4<F> {
    let mut sum = Vec4::<F>::new(F::new(0.0_f32));
    #[unroll]
    for k in 0..comptime!(form.kind.mesh().corners()) {
        let node = index[8 * cell + k] as usize;
        sum += Vec4::<F>::new(at.extract(k)) * blend::<F>(velocity, node, pair, form);
    }
    sum
}

/// Gradient of the weight that is 0 on a face.
#[cube]
pub(super) fn gradient<F: Float>(coords: &[Vec4<F>], cell: usize, face: i32) -> Vec4<F> {
    let mut gradient = Vec4::<F>::new(F::new(0.0_f32));
    #[unroll]
    for d in 0..3usize {
        let gradients = coords[4 * cell + 1 + d];
        #[unroll]
        for k in 0..4usize {
            if face == comptime!(k as i32) {
                gradient.insert(d, gradients.extract(k));
            }
        }
    }
    gradient
}
