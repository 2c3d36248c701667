//! Kinds and sizes of data sets.

use std::fmt;

/// Kind of a data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A grid with constant spacing along its axes; `STRUCTURED_POINTS` in legacy files.
    ImageData,
    /// A grid with node coordinates along each axis.
    RectilinearGrid,
    /// A curvilinear grid with explicit positions of its nodes.
    StructuredGrid,
    /// Cells of any type.
    UnstructuredGrid,
    /// Vertices, lines, polygons and triangle strips.
    PolyData,
}

/// Each kind with its element name in XML files, its name after `DATASET` in legacy files, and its name in words.
const NAMES: [(Kind, &str, &str, &str); 5] = [
    (Kind::ImageData, "ImageData", "structured_points", "image data"),
    (Kind::RectilinearGrid, "RectilinearGrid", "rectilinear_grid", "rectilinear grid"),
    (Kind::StructuredGrid, "StructuredGrid", "structured_grid", "structured grid"),
    (Kind::UnstructuredGrid, "UnstructuredGrid", "unstructured_grid", "unstructured grid"),
    (Kind::PolyData, "PolyData", "polydata", "poly data"),
];

impl Kind {
    /// The kind with this element name in XML files, e.g. `ImageData`.
    pub(crate) fn from_xml(name: &str) -> Option<Self> {
        NAMES.iter().find(|(_, xml, ..)| *xml == name).map(|(kind, ..)| *kind)
    }

    /// The kind with this name after `DATASET` in legacy files, in lower case.
    pub(crate) fn from_legacy(name: &str) -> Option<Self> {
        NAMES.iter().find(|(_, _, legacy, _)| *legacy == name).map(|(kind, ..)| *kind)
    }
}

/// Writes the kind in words, e.g. `image data`.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = NAMES.iter().find(|(kind, ..)| kind == self).map_or("", |(.., words)| words);
        f.write_str(words)
    }
}

/// First and last node index along x, y and z. An axis whose last index is one less than its first
/// has no nodes.
pub(crate) type Extent = [i64; 6];

/// No rotation: the `direction` of most images.
pub(crate) const UNIT_DIRECTION: [f64; 9] = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];

/// Size and position of a data set, without the coordinates that are stored as arrays.
#[derive(Debug, Clone, PartialEq)]
pub enum Geometry {
    /// Image data.
    Image {
        /// First and last node index along x, y and z.
        extent: [i64; 6],
        /// Position of the node with the index (0, 0, 0), in the units of the file.
        origin: [f64; 3],
        /// Distance between nodes along each axis, in the units of the file.
        spacing: [f64; 3],
        /// Rotation matrix of the axes, row by row; the identity for most files.
        direction: [f64; 9],
    },
    /// A rectilinear grid.
    Rectilinear {
        /// Number of nodes along each axis.
        dims: [usize; 3],
        /// First and last node index along x, y and z.
        extent: [i64; 6],
    },
    /// A structured grid.
    Structured {
        /// Number of nodes along each axis.
        dims: [usize; 3],
        /// First and last node index along x, y and z.
        extent: [i64; 6],
    },
    /// An unstructured grid.
    Unstructured {
        /// Number of points.
        points: usize,
        /// Number of cells.
        cells: usize,
    },
    /// Poly data.
    PolyData {
        /// Number of points.
        points: usize,
        /// Number of vertex cells.
        verts: usize,
        /// Number of lines.
        lines: usize,
        /// Number of triangle strips.
        strips: usize,
        /// Number of polygons.
        polys: usize,
    },
}

impl Geometry {
    /// The kind of data set.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Image { .. } => Kind::ImageData,
            Self::Rectilinear { .. } => Kind::RectilinearGrid,
            Self::Structured { .. } => Kind::StructuredGrid,
            Self::Unstructured { .. } => Kind::UnstructuredGrid,
            Self::PolyData { .. } => Kind::PolyData,
        }
    }

    /// Number of nodes along each axis; `None` for unstructured grids and poly data.
    pub fn dims(&self) -> Option<[usize; 3]> {
        match self {
            Self::Image { extent, .. } => dims_of(*extent),
            Self::Rectilinear { dims, .. } | Self::Structured { dims, .. } => Some(*dims),
            Self::Unstructured { .. } | Self::PolyData { .. } => None,
        }
    }

    /// First and last node index along each axis; `None` for unstructured grids and poly data.
    pub(crate) fn extent(&self) -> Option<Extent> {
        match self {
            Self::Image { extent, .. }
            | Self::Rectilinear { extent, .. }
            | Self::Structured { extent, .. } => Some(*extent),
            Self::Unstructured { .. } | Self::PolyData { .. } => None,
        }
    }

    /// Whether there is more than one kind of cells. Cell arrays are ordered by kind, so the
    /// arrays of several pieces cannot be joined by concatenation.
    pub(crate) fn has_cells_of_several_kinds(&self) -> bool {
        match self {
            Self::PolyData { verts, lines, strips, polys, .. } => {
                [verts, lines, strips, polys].into_iter().filter(|cells| **cells > 0).count() > 1
            }
            _ => false,
        }
    }

    /// Number of points (nodes).
    pub fn num_points(&self) -> usize {
        match self {
            Self::Unstructured { points, .. } | Self::PolyData { points, .. } => *points,
            _ => self.dims().and_then(product).unwrap_or(0),
        }
    }

    /// Number of cells. As in VTK, an axis with a single node counts as one layer of cells.
    pub fn num_cells(&self) -> usize {
        match self {
            Self::Unstructured { cells, .. } => *cells,
            Self::PolyData { verts, lines, strips, polys, .. } => [verts, lines, strips, polys]
                .into_iter()
                .fold(0, |sum: usize, cells| sum.saturating_add(*cells)),
            _ => self.dims().map(cell_dims).and_then(product).unwrap_or(0),
        }
    }
}

/// Number of nodes along each axis; `None` if the extent runs backwards or overflows.
pub(crate) fn dims_of(extent: Extent) -> Option<[usize; 3]> {
    let [x0, x1, y0, y1, z0, z1] = extent;
    let nodes =
        |first: i64, last: i64| usize::try_from(last.checked_sub(first)?.checked_add(1)?).ok();
    let dims = [nodes(x0, x1)?, nodes(y0, y1)?, nodes(z0, z1)?];
    product(dims).map(|_| dims)
}

/// Number of cells along each axis of a grid with `dims` nodes.
pub(crate) fn cell_dims(dims: [usize; 3]) -> [usize; 3] {
    if dims.contains(&0) { [0; 3] } else { dims.map(|nodes| (nodes - 1).max(1)) }
}

/// Product of three counts; `None` if it overflows.
pub(crate) fn product([x, y, z]: [usize; 3]) -> Option<usize> {
    if x == 0 || y == 0 || z == 0 {
        return Some(0);
    }
    x.checked_mul(y)?.checked_mul(z)
}

/// The extent of the grid that pieces form, and its number of nodes along each axis. The error says what
/// was found and what was expected.
pub(crate) fn whole_extent(
    pieces: &[Extent],
) -> Result<(Extent, [usize; 3]), (String, &'static str)> {
    let whole = pieces.iter().copied().reduce(union).unwrap_or_default();
    let dims =
        dims_of(whole).ok_or((format!("pieces in the extent `{whole:?}`"), "a valid extent"))?;
    let dims_of_piece = |piece: &Extent| dims_of(*piece).unwrap_or_default();
    let is_flat = |piece: &Extent| {
        dims_of_piece(piece).iter().zip(dims).any(|(own, all)| *own == 1 && all > 1)
    };
    if pieces.iter().any(is_flat) {
        let found = "a piece with a single layer of nodes".to_owned();
        return Err((found, "at least two layers, so that it has cells"));
    }
    let nodes = |piece: &Extent| product(dims_of_piece(piece)).unwrap_or(0);
    let nodes = pieces.iter().fold(0_usize, |sum, piece| sum.saturating_add(nodes(piece)));
    if Some(nodes) < product(dims) {
        let found = format!("pieces with `{nodes}` nodes for the extent `{whole:?}`");
        return Err((found, "pieces that cover it"));
    }
    Ok((whole, dims))
}

/// The smallest extent that contains two extents.
fn union([a0, a1, b0, b1, c0, c1]: Extent, [p0, p1, q0, q1, r0, r1]: Extent) -> Extent {
    [a0.min(p0), a1.max(p1), b0.min(q0), b1.max(q1), c0.min(r0), c1.max(r1)]
}

/// Numbers as an attribute has them.
pub(crate) fn words<T: ToString>(numbers: impl AsRef<[T]>) -> String {
    numbers.as_ref().iter().map(T::to_string).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extent_gives_the_number_of_nodes() {
        assert_eq!(dims_of([2, 5, 0, 2, -1, 0]), Some([4, 3, 2]));
        assert_eq!(dims_of([0, -1, 0, -1, 0, -1]), Some([0; 3]));
        assert_eq!(dims_of([0, -2, 0, 0, 0, 0]), None);
        assert_eq!(dims_of([i64::MIN, i64::MAX, 0, 0, 0, 0]), None);
        assert_eq!(dims_of([0, i64::MAX - 1, 0, i64::MAX - 1, 0, 0]), None);
    }

    #[test]
    fn flat_axis_counts_as_one_layer_of_cells() {
        assert_eq!(cell_dims([4, 3, 1]), [3, 2, 1]);
        assert_eq!(cell_dims([4, 0, 1]), [0, 0, 0]);
        let flat = Geometry::Rectilinear { dims: [4, 3, 1], extent: [0, 3, 0, 2, 0, 0] };
        assert_eq!((flat.num_points(), flat.num_cells()), (12, 6));
    }
}
