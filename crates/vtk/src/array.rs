//! Descriptions of arrays.

use crate::block::Block;
use crate::geometry::{Extent, cell_dims, dims_of};
use crate::scalar::ScalarType;
use crate::values::Values;

/// The association of the tuples of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Association {
    /// One tuple for each point.
    Point,
    /// One tuple for each cell.
    Cell,
    /// Field data of the data set as a whole.
    Field,
    /// Points, coordinates or cells: the geometry and topology of the data set.
    Topology,
}

/// The role of an array among the point or cell data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Attribute {
    /// The scalars.
    Scalars,
    /// The vectors.
    Vectors,
    /// The unit normals.
    Normals,
    /// The texture coordinates.
    TextureCoordinates,
    /// The tensors, with 9 components or, if symmetric, 6.
    Tensors,
    /// Identifiers that are unique over all pieces of a data set.
    GlobalIds,
    /// Identifiers that a point or cell keeps through filters.
    PedigreeIds,
    /// Flags of the edges to draw.
    EdgeFlags,
}

impl Attribute {
    /// All attributes with their names in XML files.
    pub(crate) const XML: [(&str, Self); 8] = [
        ("Scalars", Self::Scalars),
        ("Vectors", Self::Vectors),
        ("Normals", Self::Normals),
        ("TCoords", Self::TextureCoordinates),
        ("Tensors", Self::Tensors),
        ("GlobalIds", Self::GlobalIds),
        ("PedigreeIds", Self::PedigreeIds),
        ("EdgeFlag", Self::EdgeFlags),
    ];
}

/// The description of an array in a file. [`VtkFile::read`](crate::VtkFile::read) reads its values.
#[derive(Debug, Clone, PartialEq)]
pub struct ArrayInfo {
    /// Name, decoded; empty if missing in the file.
    pub name: String,
    /// The association of its tuples.
    pub association: Association,
    /// Number of components of a tuple, at least 1.
    pub components: usize,
    /// Number of tuples.
    pub tuples: usize,
    /// Type of the values in the file.
    pub scalar: ScalarType,
    /// Its role among the point or cell data, if any.
    pub attribute: Option<Attribute>,
    /// Its parts, one per piece of the data set.
    pub(crate) parts: Vec<Part>,
}

/// The tuples of an array in one piece of the data set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    /// Index of its file: 0 is the opened one, followed by the files that it lists.
    pub(crate) file: usize,
    pub(crate) block: Block,
    pub(crate) tuples: usize,
    pub(crate) placement: Placement,
}

/// The placement of the tuples of a part in the joined array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placement {
    /// After those of the previous piece, with this offset added to each value: 0, except for the
    /// cell indices of later pieces.
    Append { index_offset: i64 },
    /// In a box of a grid.
    Box(GridBox),
}

impl Placement {
    /// The placement in a whole where `offset` is added to the indices of this piece.
    pub(crate) fn after(self, offset: i64) -> Self {
        match self {
            Self::Append { index_offset } => {
                Self::Append { index_offset: index_offset.saturating_add(offset) }
            }
            Self::Box(target) => Self::Box(target),
        }
    }

    /// The box in a grid of a part of a piece, which has this box itself.
    pub(crate) fn within(self, piece: GridBox) -> GridBox {
        match self {
            Self::Append { .. } => piece,
            Self::Box(GridBox { start: [x, y, z], size, .. }) => {
                let [piece_x, piece_y, piece_z] = piece.start;
                let start = [
                    piece_x.saturating_add(x),
                    piece_y.saturating_add(y),
                    piece_z.saturating_add(z),
                ];
                GridBox { start, size, grid_size: piece.grid_size }
            }
        }
    }

    /// The offset added to each value.
    pub(crate) fn index_offset(self) -> usize {
        match self {
            Self::Append { index_offset } => usize::try_from(index_offset).unwrap_or(0),
            Self::Box(_) => 0,
        }
    }
}

/// A box inside a larger grid of tuples, in tuples along x, y and z.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GridBox {
    pub(crate) start: [usize; 3],
    pub(crate) size: [usize; 3],
    /// Size of the larger grid.
    pub(crate) grid_size: [usize; 3],
}

/// The tuples of an array on a grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tuples {
    /// One for each node.
    Nodes,
    /// One for each cell.
    Cells,
    /// One for each node along an axis: its coordinates.
    Axis(usize),
}

impl GridBox {
    /// The tuples of a piece in a whole grid; `None` if the piece is not inside it.
    pub(crate) fn of_piece(piece: Extent, whole: Extent, tuples: Tuples) -> Option<Self> {
        let ([x, _, y, _, z, _], [x0, _, y0, _, z0, _]) = (piece, whole);
        let start = |own: i64, all: i64| usize::try_from(own.checked_sub(all)?).ok();
        let start = [start(x, x0)?, start(y, y0)?, start(z, z0)?];
        let (size, grid_size) = (dims_of(piece)?, dims_of(whole)?);
        let along = |values: [usize; 3], axis: usize, rest| {
            values.get(axis).map(|value| [*value, rest, rest])
        };
        Some(match tuples {
            Tuples::Nodes => Self { start, size, grid_size },
            Tuples::Cells => Self { start, size: cell_dims(size), grid_size: cell_dims(grid_size) },
            Tuples::Axis(axis) => Self {
                start: along(start, axis, 0)?,
                size: along(size, axis, 1)?,
                grid_size: along(grid_size, axis, 1)?,
            },
        })
    }
}

/// Whether an array of [`Association::Topology`] can be joined over several pieces, by its name
/// without the prefix for the kind of cells. Arrays of polyhedra are excluded: they mix indices of
/// several kinds.
pub(crate) fn is_joinable_topology(name: &str) -> bool {
    ["connectivity", "offsets", "types"].contains(&name)
}

impl ArrayInfo {
    /// An array without parts.
    pub(crate) fn new(
        name: impl Into<String>,
        association: Association,
        [tuples, components]: [usize; 2],
        scalar: ScalarType,
    ) -> Self {
        let (name, attribute, parts) = (name.into(), None, Vec::new());
        Self { name, association, components, tuples, scalar, attribute, parts }
    }

    /// The array with all its tuples in one block of the file.
    pub(crate) fn in_block(mut self, block: Block) -> Self {
        let placement = Placement::Append { index_offset: 0 };
        self.parts = vec![Part { file: 0, block, tuples: self.tuples, placement }];
        self
    }

    /// The array in a list of files in which the first file of its piece has the index `number`.
    pub(crate) fn shifted(&self, number: usize) -> Self {
        let part = |part: &Part| Part { file: part.file + number, ..part.clone() };
        Self { parts: self.parts.iter().map(part).collect(), ..self.clone() }
    }

    /// Number of values: tuples times components; `None` on overflow.
    pub(crate) fn count(&self) -> Option<usize> {
        self.tuples.checked_mul(self.components)
    }

    /// The name of the array in messages.
    pub(crate) fn element(&self) -> String {
        format!("array `{}`", self.name)
    }
}

/// A decoded array.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// Name, decoded; empty if missing in the file.
    pub name: String,
    /// Number of components of a tuple.
    pub components: usize,
    /// The values, tuple by tuple; on a grid, x varies fastest.
    pub values: Values,
}
