//! What a file says about its arrays.

use crate::block::Block;
use crate::scalar::ScalarType;
use crate::values::Values;

/// What the tuples of an array belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Association {
    /// One tuple for each point.
    Point,
    /// One tuple for each cell.
    Cell,
    /// Tuples that belong to the data set as a whole.
    Field,
    /// The shape of the data set itself: its points, coordinates and cells.
    Topology,
}

/// The part that the file gives an array among those of the points or cells.
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
    /// Numbers that are unique over all pieces of a data set.
    GlobalIds,
    /// Numbers that a point or cell keeps when the data set is changed.
    PedigreeIds,
    /// Marks of the edges to be drawn.
    EdgeFlags,
}

impl Attribute {
    /// All attributes with their name in XML files.
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

/// An array of a file as its header describes it. Its numbers are read with
/// [`VtkFile::read`](crate::VtkFile::read).
#[derive(Debug, Clone, PartialEq)]
pub struct ArrayInfo {
    /// Name, decoded; empty if the file gives none.
    pub name: String,
    /// What its tuples belong to.
    pub association: Association,
    /// Numbers in a tuple, at least 1.
    pub components: usize,
    /// Number of tuples.
    pub tuples: usize,
    /// Type of the numbers in the file.
    pub scalar: ScalarType,
    /// Its part among the arrays of the points or cells, if it has one.
    pub attribute: Option<Attribute>,
    /// Where its tuples lie, piece by piece.
    pub(crate) parts: Vec<Part>,
}

/// The tuples of an array that belong to one piece of the data set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    /// Number of the file that it lies in: 0 for the one that was opened, then those it lists.
    pub(crate) file: usize,
    pub(crate) block: Block,
    pub(crate) tuples: usize,
    pub(crate) placement: Placement,
}

/// Where the tuples of a part go in the whole array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placement {
    /// After those of the piece before, with this number added to each value: 0, but for the
    /// indices of the cells of later pieces.
    Append { index_offset: i64 },
    /// Into a box of a grid.
    Box(GridBox),
}

impl Placement {
    /// What is added to each value.
    pub(crate) fn index_offset(self) -> usize {
        match self {
            Self::Append { index_offset } => usize::try_from(index_offset).unwrap_or(0),
            Self::Box(_) => 0,
        }
    }
}

/// A box inside a larger grid of tuples, in numbers of tuples along x, y and z.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GridBox {
    pub(crate) start: [usize; 3],
    pub(crate) size: [usize; 3],
    pub(crate) whole: [usize; 3],
}

/// Whether an array of [`Association::Topology`] can be joined over several pieces, by its name
/// without what tells the kinds of cells apart. Arrays of polyhedra hold several kinds of indices,
/// which are not told apart here.
pub(crate) fn is_joinable_topology(name: &str) -> bool {
    ["connectivity", "offsets", "types"].contains(&name)
}

impl ArrayInfo {
    /// An array of which no data is known yet.
    pub(crate) fn new(
        name: impl Into<String>,
        association: Association,
        [tuples, components]: [usize; 2],
        scalar: ScalarType,
    ) -> Self {
        let (name, attribute, parts) = (name.into(), None, Vec::new());
        Self { name, association, components, tuples, scalar, attribute, parts }
    }

    /// The array with all its tuples in one place of the file.
    pub(crate) fn in_block(mut self, block: Block) -> Self {
        let placement = Placement::Append { index_offset: 0 };
        self.parts = vec![Part { file: 0, block, tuples: self.tuples, placement }];
        self
    }

    /// Number of numbers: tuples times components; `None` if it is beyond all bounds.
    pub(crate) fn count(&self) -> Option<usize> {
        self.tuples.checked_mul(self.components)
    }

    /// How messages call the array.
    pub(crate) fn element(&self) -> String {
        format!("array `{}`", self.name)
    }
}

/// A decoded array.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// Name, decoded; empty if the file gives none.
    pub name: String,
    /// Numbers in a tuple.
    pub components: usize,
    /// The numbers, tuple by tuple; x runs fastest on a grid.
    pub values: Values,
}
