//! The sides of cells, by type.

use super::{
    super::{Vec4, cubecl, stages::ratio},
    MeshKind,
};
use crate::cells::Outline;
use crate::cube::launch::Launch;
use crate::physics::{
    cells::device::{distance, scale},
    prelude::device::is_of,
};
use crate::{CellKind, Ratio};
use burn_cubecl::cubecl::prelude::*;

/// The centre of a cell type, in parametric coordinates.
#[cube]
pub(super) fn centre<F: Float>(kind: i32, #[comptime] mesh: MeshKind) -> Vec4<F> {
    let mut centre = Vec4::<F>::new(F::new(0.0_f32));
    #[unroll]
    for k in 0..comptime!(mesh.outlines().len()) {
        let outline = comptime!(mesh.outlines()[k]);
        if is_of(kind, comptime!(outline.kinds), comptime!(mesh.kinds())) {
            #[unroll]
            for d in 0..3usize {
                centre.insert(d, ratio::<F>(comptime!(centre_of(&outline, d))));
            }
        }
    }
    centre
}

/// A coordinate of the centre of cell types with the same sides: a multiple of 1/2, 1/3, 1/4 or 1/5.
fn centre_of(outline: &Outline, d: usize) -> Ratio {
    let kind = CellKind::ALL[outline.kinds.trailing_zeros() as usize];
    Ratio((60.0 * kind.centre()[d]).round() as i32, 60)
}

/// The boundary face that a point is farthest beyond, or -1; the cell's neighbours start at
/// `first`.
#[cube]
pub(super) fn wall<F: Float>(
    launch: &Launch<F>,
    kind: i32,
    first: usize,
    at: Vec4<F>,
    #[comptime] mesh: MeshKind,
) -> i32 {
    let scale = scale::<F>(kind, at, mesh);
    let mut wall = i32::new(-1);
    let mut smallest = F::new(0.0_f32);
    #[unroll]
    for k in 0..comptime!(mesh.outlines().len()) {
        let outline = comptime!(mesh.outlines()[k]);
        if is_of(kind, comptime!(outline.kinds), comptime!(mesh.kinds())) {
            #[unroll]
            for j in 0..comptime!(outline.sides.len()) {
                let side = comptime!(outline.sides[j]);
                let distance =
                    distance::<F>(at, scale, comptime!(side), comptime!(outline.narrows));
                if distance < smallest && launch.index[first + comptime!(side.face)] < 0 {
                    wall = comptime!(side.face as i32).runtime();
                    smallest = distance;
                }
            }
        }
    }
    wall
}
