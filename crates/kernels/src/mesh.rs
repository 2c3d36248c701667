//! The shape of a field on a mesh.

use crate::Placement;

/// What the cells of a mesh are, and so how a place in one of them is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MeshForm {
    /// Triangles only, or tetrahedra only: the shares of a cell's nodes are linear in the position.
    Simplices,
    /// Cells of any kinds.
    General,
}

/// What happens to a particle at the edge of a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Wall {
    /// It ends there, at the time of the crossing.
    #[default]
    Leave,
    /// Its path is mirrored, any number of times up to [`MAX_BOUNCES`] in a step.
    Reflect,
    /// What of its way is normal to the wall is dropped; it goes on along the wall.
    Slide,
}

impl Wall {
    /// The integer that device kernels read.
    pub const fn code(self) -> i32 {
        match self {
            Wall::Leave => 0,
            Wall::Reflect => 1,
            Wall::Slide => 2,
        }
    }

    /// The name used in case files.
    pub const fn name(self) -> &'static str {
        match self {
            Wall::Leave => "leave",
            Wall::Reflect => "reflect",
            Wall::Slide => "slide",
        }
    }
}

/// A part of the edge of a mesh with a wall of its own: where ways cross the edge in a box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeshPatch {
    /// Least corner of the box, in the data's unit of length, as the precision of positions can
    /// hold it; -infinity on an axis that is open.
    pub low: [f64; 3],
    /// Greatest corner of the box, as the least one.
    pub high: [f64; 3],
    /// What happens to a particle there.
    pub wall: Wall,
}

impl MeshPatch {
    /// The number of the first of some patches in which a way crosses the edge, if it does so in
    /// one; `place` is the last place of the way in the mesh.
    pub fn at(patches: &[MeshPatch], place: [f64; 3]) -> Option<usize> {
        let is_in = |patch: &MeshPatch| {
            (0..3).all(|d| patch.low[d] <= place[d] && place[d] <= patch.high[d])
        };
        patches.iter().position(is_in)
    }
}

/// Walls that a particle can meet in one step; where it meets more, as in a narrow wedge, it stays
/// at the last one until the next step.
pub const MAX_BOUNCES: usize = 16;

/// The shape of a field on a mesh: what a kernel must know beside the tensors.
///
/// Each cell has a record of 16 numbers among the field's places. The first three are its origin,
/// the fourth its negated border: how far, in parametric coordinates, a position may be on either
/// side of a face and count as on it. Then come three vectors of four numbers, one for each axis:
/// the sum of their products with the position relative to the origin
///
/// * in a simplex is the shares of its nodes, less one at the first of them, which is its origin;
/// * in another cell is the parametric coordinates relative to the cell's centre (the origin), as
///   far as they are linear. Where that is not all, the cell has terms, four numbers each (the last
///   one zero), in the order of its kind's table, after all records: the polynomial of the
///   parametric coordinates whose value at the true ones is these linear coordinates.
///
/// Among the index come, for simplices, eight numbers for each cell: its nodes, each opposite the
/// face of its number in the order of their kind's table, and the cells beyond these faces or -1
/// (padded in triangles). For other cells there are
/// four: the kind, where its nodes begin, where its neighbours begin, and where its terms begin
/// among the places (0 where it has none); then the nodes of all cells, then the neighbours in the
/// order of the faces of a kind's table. After either come the beginnings of the locator's bins
/// among its entries, with their end, and the entries: numbers of cells, increasing in each bin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeshShape {
    /// What the cells are.
    pub form: MeshForm,
    /// The kinds of cells that occur: a bit for each, by its number in
    /// [`CellKind::ALL`](crate::CellKind::ALL).
    pub kinds: u32,
    /// 2 or 3. In two dimensions positions keep their z, and w is ignored.
    pub dimension: usize,
    /// How many cells there are.
    pub cells: usize,
    /// Velocities of a frame: nodes or cells.
    pub values: usize,
    /// Where the velocity is given.
    pub placement: Placement,
    /// Nodes of all cells together, among the index; 0 for simplices.
    pub connectivity: usize,
    /// Neighbours of all cells together, among the index; 0 for simplices.
    pub neighbours: usize,
    /// Bins of the locator per axis, x first.
    pub bins: [usize; 3],
    /// The locator's least corner, in the data's unit of length.
    pub origin: [f64; 3],
    /// Bins per unit of length; 0 where there is one bin.
    pub per_length: [f64; 3],
}

/// Numbers of a cell's record.
pub const CELL_RECORD: usize = 16;

impl MeshShape {
    /// Numbers of each cell among the index.
    pub fn head(&self) -> usize {
        match self.form {
            MeshForm::Simplices => 8,
            MeshForm::General => 4,
        }
    }

    /// Where the nodes of all cells begin among the index.
    pub fn connectivity_at(&self) -> usize {
        self.cells * self.head()
    }

    /// Where the neighbours of all cells begin among the index.
    pub fn neighbours_at(&self) -> usize {
        self.connectivity_at() + self.connectivity
    }

    /// Where the beginnings of bins begin among the index.
    pub fn bins_at(&self) -> usize {
        self.neighbours_at() + self.neighbours
    }

    /// Where the entries of bins begin among the index.
    pub fn entries_at(&self) -> usize {
        self.bins_at() + self.bins.iter().product::<usize>() + 1
    }
}
