//! The shape of a field on a mesh.

use crate::Placement;

/// Cells of a mesh, which determine how positions are located in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MeshForm {
    /// Triangles only, or tetrahedra only: barycentric weights are linear in the position.
    Simplices,
    /// Cells of any type.
    General,
}

/// Tags of the boundary faces of a mesh: positive numbers; all other faces have the tag 0.
///
/// The index tensor of the mesh has a tag `t` as the neighbour `-1 - t`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaceTags {
    /// Eight times the cell plus the local number of the face, increasing.
    faces: Vec<i32>,
    tags: Vec<i32>,
}

impl FaceTags {
    /// The tags of faces, each given as eight times its cell plus its local number.
    pub fn new(mut tagged: Vec<(i32, i32)>) -> Self {
        tagged.sort_unstable();
        let (faces, tags) = tagged.into_iter().unzip();
        FaceTags { faces, tags }
    }

    /// The tag of a face; 0 for a number that is no boundary face.
    pub fn of(&self, face: i32) -> i32 {
        self.faces.binary_search(&face).map_or(0, |at| self.tags[at])
    }
}

/// Shape of a mesh: the metadata that a kernel needs beside the tensors.
///
/// Each cell has a record of 16 numbers in the field's coordinate tensor. The first three are its
/// origin. The fourth is the negative of its tolerance: the maximum distance from a face, in
/// parametric coordinates, at which a position counts as on the face. Three vectors of four numbers
/// follow, one per axis. The sum of their products with the position relative to the origin is
///
/// * in a simplex, the barycentric weights of its nodes, minus one at the first node, which is the
///   origin;
/// * in any other cell, the linear approximation of the parametric coordinates relative to the
///   cell's centre (the origin). If it is not exact, the cell has terms, four numbers each (the
///   last one zero), in the order of its type's table, after all records: the polynomial of the
///   parametric coordinates whose value at the true ones equals these linear coordinates.
///
/// The index tensor starts with eight numbers per cell for simplices: its nodes, each opposite the
/// face with its number in the type's table, and the cells beyond these faces or -1 less the tag of
/// the face (padded in triangles). For other cells there are four: the type, the offset of its nodes, the offset of its
/// neighbours, and the offset of its terms in the coordinate tensor (0 if it has none); then the
/// nodes of all cells, then the neighbours in the order of faces of the type's table. Both continue
/// with a bit for each cell (32 in an integer) if the mesh has re-entrant edges or gaps: whether straight paths from
/// the cell that are shorter than a bin of the locator along each axis may leave the mesh and end in it; then
/// with the offsets of the locator's bins, including the end of the last, and the entries: cell
/// numbers, increasing in each bin.
///
/// With [`Placement::Faces`], a node has the flux through the face between it and the node after it along s, in the direction
/// of r; that through the face between it and the node after it along r, in the direction of s; and the vertical velocity at
/// the bottom of the cell that starts with it. So of a cell's values, node 0 has the first three, node 1 the flux
/// through the face r = 1, node 3 that through s = 1, and node 4 the vertical velocity at the top. A flux is a velocity times a
/// length; in the cell the velocity is `((1 - r) U0 + r U1) dx/dr + ((1 - s) V0 + s V1) dx/ds` over the determinant of both
/// derivatives of the horizontal position x (Delandmeter and van Sebille 2019, Geoscientific Model Development 12:3571). On
/// a sphere, fluxes are in units of the radius times a degree. Values of other groups are those of the nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeshShape {
    /// Cells of the mesh.
    pub form: MeshForm,
    /// The cell types that occur: one bit for each, by its position in
    /// [`CellKind::ALL`](crate::CellKind::ALL).
    pub kinds: u32,
    /// 2 or 3. In two dimensions nothing depends on the axis normal to the mesh: it has one bin, and the
    /// records of cells have zeros along it.
    pub dimension: usize,
    /// Number of cells.
    pub cells: usize,
    /// Velocities per frame: one per node or one per cell.
    pub values: usize,
    /// Where velocities are stored.
    pub placement: Placement,
    /// Radius of the sphere that it is on; see [`GridShape::radius`](crate::GridShape::radius).
    pub radius: Option<f64>,
    /// Total length of the cells' node lists; 0 for simplices.
    pub connectivity: usize,
    /// Total length of the cells' neighbour lists; 0 for simplices.
    pub neighbours: usize,
    /// Number of integers with a bit for each cell; 0 if no straight path between cells that a walk connects leaves the
    /// mesh.
    pub near_reentrant: usize,
    /// Bins of the locator per axis, x first.
    pub bins: [usize; 3],
    /// The locator's minimum corner, in the data's unit of length.
    pub origin: [f64; 3],
    /// Bins per unit of length; 0 with a single bin.
    pub per_length: [f64; 3],
}

/// Numbers in a cell's record.
pub const CELL_RECORD: usize = 16;

impl MeshShape {
    /// Integers per cell at the start of the index tensor.
    pub fn head(&self) -> usize {
        match self.form {
            MeshForm::Simplices => 8,
            MeshForm::General => 4,
        }
    }

    /// Offset of the cells' node lists in the index tensor.
    pub fn connectivity_at(&self) -> usize {
        self.cells * self.head()
    }

    /// Offset of the cells' neighbour lists in the index tensor.
    pub fn neighbours_at(&self) -> usize {
        self.connectivity_at() + self.connectivity
    }

    /// Offset of the bits of cells near re-entrant edges in the index tensor.
    pub fn near_reentrant_at(&self) -> usize {
        self.neighbours_at() + self.neighbours
    }

    /// Offset of the bins' start offsets in the index tensor.
    pub fn bins_at(&self) -> usize {
        self.near_reentrant_at() + self.near_reentrant
    }

    /// Offset of the bins' entries in the index tensor.
    pub fn entries_at(&self) -> usize {
        self.bins_at() + self.bins.iter().product::<usize>() + 1
    }
}
