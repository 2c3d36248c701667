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

/// The shares of a cell's nodes at a position.
#[cube]
fn shares<F: Float>(places: &[Vec4<F>], cell: usize, p: Vec4<F>) -> Vec4<F> {
    let d = p - places[4 * cell];
    vec4::<F>(F::new(1.0_f32), F::new(0.0_f32), F::new(0.0_f32))
        + places[4 * cell + 1] * Vec4::<F>::new(d.extract(0usize))
        + places[4 * cell + 2] * Vec4::<F>::new(d.extract(1usize))
        + places[4 * cell + 3] * Vec4::<F>::new(d.extract(2usize))
}

/// What a cell says about a position.
#[cube]
pub(super) fn look<F: Float>(
    places: &[Vec4<F>],
    cell: usize,
    p: Vec4<F>,
    #[comptime] mesh: MeshKind,
) -> CellQuery<F> {
    let border = -places[4 * cell].extract(3usize);
    let at = shares::<F>(places, cell, p);
    let mut least = at.extract(0usize);
    let mut face = 0i32;
    // What is no number is in no cell: every share is asked for itself.
    let mut is_inside = least >= border;
    let mut is_near = least >= -border;
    #[unroll]
    for k in 1..comptime!(mesh.corners()) {
        let share = at.extract(k);
        is_inside = is_inside && share >= border;
        is_near = is_near && share >= -border;
        if share < least {
            least = share;
            face = comptime!(k as i32).runtime();
        }
    }
    let standing = select(is_inside, INSIDE, select(is_near, BORDER, OUTSIDE));
    CellQuery::<F> { at, standing, face }
}

/// The open face of a cell that a place is farthest beyond, or -1.
#[cube]
pub(super) fn wall<F: Float>(
    index: &[i32],
    cell: usize,
    at: Vec4<F>,
    #[comptime] mesh: MeshKind,
) -> i32 {
    let mut least = F::new(0.0_f32);
    let mut wall = i32::new(-1);
    #[unroll]
    for k in 0..comptime!(mesh.corners()) {
        if at.extract(k) < least && index[8 * cell + 4 + k] < 0 {
            least = at.extract(k);
            wall = comptime!(k as i32).runtime();
        }
    }
    wall
}

/// The mean of the values at the nodes of a cell.
#[cube]
pub(super) fn mean<F: Float>(
    velocity: &[Vec4<F>],
    index: &[i32],
    cell: usize,
    at: Vec4<F>,
    moment: &FramePair<F>,
    #[comptime] form: Form,
) -> Vec4<F> {
    let mut sum = Vec4::<F>::new(F::new(0.0_f32));
    #[unroll]
    for k in 0..comptime!(form.kind.mesh().corners()) {
        let node = index[8 * cell + k] as usize;
        sum += Vec4::<F>::new(at.extract(k)) * blend::<F>(velocity, node, moment, form);
    }
    sum
}

/// The slope of the share that is 0 on a face.
#[cube]
pub(super) fn slope<F: Float>(places: &[Vec4<F>], cell: usize, face: i32) -> Vec4<F> {
    let mut slope = Vec4::<F>::new(F::new(0.0_f32));
    #[unroll]
    for d in 0..3usize {
        let slopes = places[4 * cell + 1 + d];
        #[unroll]
        for k in 0..4usize {
            if face == comptime!(k as i32) {
                slope.insert(d, slopes.extract(k));
            }
        }
    }
    slope
}
