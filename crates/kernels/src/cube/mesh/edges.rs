//! Boundary faces of a mesh.

use super::{
    super::{Vec4, cubecl, launch::Launch},
    MeshKind, beyond, general, query, sides, simplices,
};
use crate::physics::{
    cells::{HOPS, device::inward},
    region::device::{Surface, no_surface},
    tables::NEIGHBOURS_AT,
};
use burn_cubecl::cubecl::prelude::*;

/// A face on the mesh boundary.
#[derive(CubeType)]
pub(in crate::cube) struct Edge<F: Float> {
    /// Its cell, incremented by one.
    pub cell: i32,
    pub face: i32,
    /// The nearby position in coordinates of the cell.
    at: Vec4<F>,
}

/// The boundary face reached by a walk towards a position outside the mesh.
#[cube]
pub(in crate::cube) fn edge<F: Float>(
    launch: &Launch<F>,
    p: Vec4<F>,
    from: i32,
    #[comptime] mesh: MeshKind,
) -> Edge<F> {
    let mut edge = Edge::<F> { cell: from, face: 0i32, at: Vec4::<F>::new(F::new(0.0_f32)) };
    let mut hops = i32::new(HOPS);
    while hops > 0 && edge.cell > 0 {
        hops -= 1;
        let cell = (edge.cell - 1) as usize;
        let query = query::<F>(launch, cell, p, mesh);
        edge.at = query.at;
        // In a corner, the face that a position is farthest beyond may belong to a neighbour.
        edge.face = wall::<F>(launch, cell, query.at, mesh);
        let is_wall = edge.face >= 0;
        if !is_wall {
            edge.face = query.face;
        }
        let next = beyond::<F>(launch, cell, query.face, mesh);
        if is_wall || next < 0 {
            hops = 0i32;
        } else {
            edge.cell = next + 1;
        }
    }
    edge
}

/// The boundary face of a cell that a point is farthest beyond, or -1.
#[cube]
fn wall<F: Float>(launch: &Launch<F>, cell: usize, at: Vec4<F>, #[comptime] mesh: MeshKind) -> i32 {
    if comptime!(mesh.is_simple()) {
        simplices::wall::<F>(launch, cell, at, mesh)
    } else {
        let kind = launch.index[4 * cell];
        let first = (launch.int(NEIGHBOURS_AT) + launch.index[4 * cell + 2]) as usize;
        sides::wall::<F>(launch, kind, first, at, mesh)
    }
}

/// The vector [`inward`] at a face.
#[cube]
pub(in crate::cube) fn inward_at<F: Float>(
    launch: &Launch<F>,
    edge: &Edge<F>,
    #[comptime] mesh: MeshKind,
) -> Vec4<F> {
    let mut vector = Vec4::<F>::new(F::new(0.0_f32));
    if edge.cell > 0 {
        let cell = (edge.cell - 1) as usize;
        let gradient = gradient::<F>(launch, cell, edge, mesh);
        vector = inward::<F>(gradient, -launch.records[4 * cell].extract(3usize));
    }
    vector
}

/// The boundary face with a number near a position; see [`Surface`].
#[cube]
pub(in crate::cube) fn surface<F: Float>(
    launch: &Launch<F>,
    p: Vec4<F>,
    face: i32,
    #[comptime] mesh: MeshKind,
) -> Surface<F> {
    if comptime!(mesh.curved() != 0) {
        general::surface::<F>(launch, p, face, mesh)
    } else {
        no_surface::<F>()
    }
}

/// Gradient of the coordinate that is 0 on a face of a cell and grows into it.
#[cube]
fn gradient<F: Float>(
    launch: &Launch<F>,
    cell: usize,
    edge: &Edge<F>,
    #[comptime] mesh: MeshKind,
) -> Vec4<F> {
    if comptime!(mesh.is_simple()) {
        simplices::gradient::<F>(launch, cell, edge.face)
    } else {
        general::gradient::<F>(launch, cell, edge.at, edge.face, mesh)
    }
}
