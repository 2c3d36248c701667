//! The sides of cells, by type.

use super::{
    super::{Vec4, cubecl, rounding, stages::ratio},
    MeshKind,
    kind::bit,
};
use crate::cube::launch::Launch;
use crate::{CellKind, Side};
use burn_cubecl::cubecl::prelude::*;

/// Whether a cell type belongs to a group, given that it is one of `all`.
#[cube]
pub(super) fn is_of(kind: i32, #[comptime] group: u32, #[comptime] all: u32) -> bool {
    let mut is_one = true;
    if comptime!(group != all) {
        let bits = comptime!(group as i32).runtime();
        is_one = ((bits >> kind) & 1i32) == 1i32;
    }
    is_one
}

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
                centre.insert(d, ratio::<F>(comptime!(outline.centre(d))));
            }
        }
    }
    centre
}

/// Inverse of the scale of changes in r and s near the apex of a pyramid, where they hardly change
/// the position.
#[cube]
pub(super) fn inverse_scale<F: Float>(kind: i32, at: Vec4<F>, #[comptime] mesh: MeshKind) -> F {
    let mut inverse_scale = F::new(1.0_f32);
    if comptime!(mesh.narrows()) {
        let narrows = comptime!(bit(CellKind::Pyramid));
        if is_of(kind, narrows, comptime!(mesh.kinds())) {
            let one = F::new(1.0_f32);
            inverse_scale = max((one - at.extract(2usize)).abs(), rounding::<F>());
        }
    }
    inverse_scale
}

/// Value of a side's plane at a point; near the apex of a pyramid, scaled to space.
#[cube]
fn value<F: Float>(
    at: Vec4<F>,
    inverse_scale: F,
    #[comptime] plane: [f64; 4],
    #[comptime] is_scaled: bool,
) -> F {
    let mut value = F::new(comptime!(plane[0] as f32));
    #[unroll]
    for d in 0..3usize {
        if comptime!(plane[d + 1] != 0.0) {
            value += F::new(comptime!(plane[d + 1] as f32)) * at.extract(d);
        }
    }
    if is_scaled {
        value *= inverse_scale;
    }
    value
}

/// The face that a point is farthest beyond, or nearest to, and the distance inside it.
#[derive(CubeType)]
pub(super) struct Margin<F: Float> {
    pub face: i32,
    pub smallest: F,
}

#[cube]
pub(super) fn nearest_side<F: Float>(
    kind: i32,
    at: Vec4<F>,
    #[comptime] mesh: MeshKind,
) -> Margin<F> {
    let inverse_scale = inverse_scale::<F>(kind, at, mesh);
    let mut face = 0i32;
    let mut smallest = F::max_value();
    #[unroll]
    for k in 0..comptime!(mesh.outlines().len()) {
        let outline = comptime!(mesh.outlines()[k]);
        if is_of(kind, comptime!(outline.kinds), comptime!(mesh.kinds())) {
            #[unroll]
            for j in 0..comptime!(outline.sides.len()) {
                let side = comptime!(outline.sides[j]);
                let is_scaled = comptime!(outline.narrows && leans(&side));
                let value = value::<F>(at, inverse_scale, comptime!(side.plane), is_scaled);
                if value < smallest {
                    face = comptime!(side.face as i32).runtime();
                    smallest = value;
                }
            }
        }
    }
    Margin::<F> { face, smallest }
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
    let inverse_scale = inverse_scale::<F>(kind, at, mesh);
    let mut wall = i32::new(-1);
    let mut smallest = F::new(0.0_f32);
    #[unroll]
    for k in 0..comptime!(mesh.outlines().len()) {
        let outline = comptime!(mesh.outlines()[k]);
        if is_of(kind, comptime!(outline.kinds), comptime!(mesh.kinds())) {
            #[unroll]
            for j in 0..comptime!(outline.sides.len()) {
                let side = comptime!(outline.sides[j]);
                let is_scaled = comptime!(outline.narrows && leans(&side));
                let value = value::<F>(at, inverse_scale, comptime!(side.plane), is_scaled);
                if value < smallest && launch.index[first + comptime!(side.face)] < 0 {
                    wall = comptime!(side.face as i32).runtime();
                    smallest = value;
                }
            }
        }
    }
    wall
}

/// Gradient of the distance from a face with respect to r, s and t.
#[cube]
pub(super) fn gradient_of<F: Float>(kind: i32, face: i32, #[comptime] mesh: MeshKind) -> Vec4<F> {
    let mut gradient = Vec4::<F>::new(F::new(0.0_f32));
    #[unroll]
    for k in 0..comptime!(mesh.outlines().len()) {
        let outline = comptime!(mesh.outlines()[k]);
        if is_of(kind, comptime!(outline.kinds), comptime!(mesh.kinds())) {
            #[unroll]
            for j in 0..comptime!(outline.sides.len()) {
                let side = comptime!(outline.sides[j]);
                // Of two sides of a face, the first one applies.
                let is_first = comptime!(first_of(outline.sides, side.face) == j);
                let of = comptime!(if is_first { side.face as i32 } else { -1 });
                if face == of {
                    #[unroll]
                    for d in 0..3usize {
                        gradient.insert(d, F::new(comptime!(side.plane[d + 1] as f32)));
                    }
                }
            }
        }
    }
    gradient
}

/// Whether a side depends on r and s.
fn leans(side: &Side) -> bool {
    side.plane[1] != 0.0 || side.plane[2] != 0.0
}

/// The first side of a face.
fn first_of(sides: &[Side], face: usize) -> usize {
    sides.iter().position(|side| side.face == face).unwrap_or(0)
}
