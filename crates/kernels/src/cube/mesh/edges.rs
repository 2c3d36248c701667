//! Open faces: where a mesh ends.

use super::{
    super::{Vec4, cubecl, dot, tables::NEIGHBOURS_AT},
    HOPS, MeshKind, beyond, general, look, sides, simplices,
};
use burn_cubecl::cubecl::prelude::*;

/// A face at the edge of a mesh.
#[derive(CubeType)]
pub(in crate::cube) struct Edge<F: Float> {
    /// The number of its cell, one more than it is.
    pub cell: i32,
    pub face: i32,
    /// The place near it, as seen from the cell.
    at: Vec4<F>,
}

/// The open face that a walk towards a position beyond the mesh leads to.
#[cube]
pub(in crate::cube) fn edge<F: Float>(
    places: &[Vec4<F>],
    index: &[i32],
    ints: &[i32],
    p: Vec4<F>,
    from: i32,
    #[comptime] mesh: MeshKind,
) -> Edge<F> {
    let mut edge = Edge::<F> { cell: from, face: 0i32, at: Vec4::<F>::new(F::new(0.0_f32)) };
    let mut hops = i32::new(HOPS);
    while hops > 0 && edge.cell > 0 {
        hops -= 1;
        let cell = (edge.cell - 1) as usize;
        let look = look::<F>(places, index, cell, p, mesh);
        edge.at = look.at;
        // In a corner the face that a position is farthest beyond may be that of a neighbour.
        edge.face = wall::<F>(index, ints, cell, look.at, mesh);
        let is_wall = edge.face >= 0;
        if !is_wall {
            edge.face = look.face;
        }
        let next = beyond(index, ints, cell, look.face, mesh);
        if is_wall || next < 0 {
            hops = 0i32;
        } else {
            edge.cell = next + 1;
        }
    }
    edge
}

/// The open face of a cell that a place is farthest beyond, or -1.
#[cube]
fn wall<F: Float>(
    index: &[i32],
    ints: &[i32],
    cell: usize,
    at: Vec4<F>,
    #[comptime] mesh: MeshKind,
) -> i32 {
    if comptime!(mesh.is_simple()) {
        simplices::wall::<F>(index, cell, at, mesh)
    } else {
        let kind = index[4 * cell];
        let first = (ints[NEIGHBOURS_AT] + index[4 * cell + 2]) as usize;
        sides::wall::<F>(index, kind, first, at, mesh)
    }
}

/// A way from a face of a cell into it, normal to the face and twice the border in length,
/// which is next to nothing.
#[cube]
pub(in crate::cube) fn inward<F: Float>(
    places: &[Vec4<F>],
    index: &[i32],
    edge: &Edge<F>,
    #[comptime] mesh: MeshKind,
) -> Vec4<F> {
    let zero = F::new(0.0_f32);
    let mut inward = Vec4::<F>::new(zero);
    if edge.cell > 0 {
        let cell = (edge.cell - 1) as usize;
        let slope = slope::<F>(places, index, cell, edge, mesh);
        let (x, y, z) = (slope.extract(0usize), slope.extract(1usize), slope.extract(2usize));
        let size = max(x.abs(), max(y.abs(), z.abs()));
        if size > zero {
            // A square may be beyond all numbers, where cells are small.
            let normal = slope / Vec4::<F>::new(size);
            let border = -places[4 * cell].extract(3usize);
            let length = (border + border) / (size * dot::<F>(normal, normal));
            inward = Vec4::<F>::new(length) * normal;
        }
    }
    inward
}

/// The slope of the coordinate that is 0 on a face of a cell and grows into it.
#[cube]
fn slope<F: Float>(
    places: &[Vec4<F>],
    index: &[i32],
    cell: usize,
    edge: &Edge<F>,
    #[comptime] mesh: MeshKind,
) -> Vec4<F> {
    if comptime!(mesh.is_simple()) {
        simplices::slope::<F>(places, cell, edge.face)
    } else {
        general::slope::<F>(places, index, cell, edge.at, edge.face, mesh)
    }
}
