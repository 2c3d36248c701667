//! Divides cells into simpler ones: polyhedra, convex point sets, polygons, triangle strips, quadratic wedges and
//! pyramids, and cells with nodes in the middle of their faces.
//!
//! Neighbouring cells are divided alike where they meet, because a face is divided by the positions of its
//! corners alone. Points that are added inside cells and faces have values that are weighted sums of those
//! at other points, with weights that sum to 1, applied to the positions as well: linear fields stay exact.

mod added;
mod convex;
mod polygon;
mod polyhedron;
mod quadratic;

pub use added::AddedPoints;

use crate::cells::{CellArray, Polyhedra};
use polygon::Polygon;
use quadratic::Midpoints;

/// The VTK types of cells.
mod kind {
    pub(super) const TRIANGLE: u8 = 5;
    pub(super) const STRIP: u8 = 6;
    pub(super) const POLYGON: u8 = 7;
    pub(super) const QUAD: u8 = 9;
    pub(super) const TETRA: u8 = 10;
    pub(super) const VOXEL: u8 = 11;
    pub(super) const HEXAHEDRON: u8 = 12;
    pub(super) const WEDGE: u8 = 13;
    pub(super) const PYRAMID: u8 = 14;
    pub(super) const LINE: u8 = 3;
    pub(super) const QUADRATIC_EDGE: u8 = 21;
    pub(super) const QUADRATIC_TRIANGLE: u8 = 22;
    pub(super) const QUADRATIC_TETRA: u8 = 24;
    pub(super) const QUADRATIC_WEDGE: u8 = 26;
    pub(super) const QUADRATIC_PYRAMID: u8 = 27;
    pub(super) const BIQUADRATIC_QUAD: u8 = 28;
    pub(super) const TRIQUADRATIC_HEXAHEDRON: u8 = 29;
    pub(super) const BIQUADRATIC_WEDGE: u8 = 32;
    pub(super) const CONVEX_POINT_SET: u8 = 41;
    pub(super) const POLYHEDRON: u8 = 42;

    /// The type with the same nodes as a Lagrange cell of order 1 or 2, which this number of points has; the type
    /// of other cells.
    pub(super) fn of_order(kind: u8, points: usize) -> u8 {
        match (kind, points) {
            (68, 2) => LINE,
            (68, 3) => QUADRATIC_EDGE,
            (69, 3) => TRIANGLE,
            (69, 6) => QUADRATIC_TRIANGLE,
            (70, 4) => QUAD,
            (70, 9) => BIQUADRATIC_QUAD,
            (71, 4) => TETRA,
            (71, 10) => QUADRATIC_TETRA,
            (72, 8) => HEXAHEDRON,
            (72, 27) => TRIQUADRATIC_HEXAHEDRON,
            (73, 6) => WEDGE,
            (73, 18) => BIQUADRATIC_WEDGE,
            (74, 5) => PYRAMID,
            _ => kind,
        }
    }

    /// Whether cells of a type are never those of a mesh as they are.
    pub(super) fn is_divided(kind: u8) -> bool {
        matches!(
            kind,
            STRIP
                | POLYGON
                | QUADRATIC_WEDGE
                | QUADRATIC_PYRAMID
                | BIQUADRATIC_QUAD
                | TRIQUADRATIC_HEXAHEDRON
                | BIQUADRATIC_WEDGE
                | CONVEX_POINT_SET
                | POLYHEDRON
                | 68..=74
        )
    }
}

/// Cells, some of which replace cells of a file.
///
/// Polygons become triangles, or a quad if they have four corners and are convex; polyhedra and convex point sets
/// become tetrahedra (and pyramids, if there are cells with four-sided faces beside them) around the mean of
/// their points; quadratic wedges and pyramids, and hexahedra, wedges and quads with nodes in the middle of their
/// faces, become quadratic tetrahedra or triangles. Lagrange cells of order 1 and 2 are those with the same nodes.
/// Others are unchanged.
#[derive(Debug, Clone, PartialEq)]
pub struct SplitCells {
    /// All cells. Points beyond those of the file are the added ones.
    pub cells: CellArray,
    /// The cells of the file that they are or are part of; `None` if all cells are those of the file.
    pub parents: Option<Parents>,
    /// The added points.
    pub added: AddedPoints,
    /// Number of polyhedra that are not star-shaped around the mean of their points, so that their parts
    /// overlap.
    pub overlapping: usize,
}

/// The cells of a file, some of which are divided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parents {
    /// For each cell, the index of the cell of the file; increasing.
    pub indices: Vec<u32>,
    /// The VTK type of each cell of the file.
    pub types: Vec<u8>,
}

/// A cell that cannot be divided.
pub(crate) struct Indivisible {
    pub(crate) cell: usize,
    pub(crate) reason: String,
}

/// Divides cells with points at these positions.
pub(crate) fn split(
    cells: CellArray,
    polyhedra: &Polyhedra,
    points: &[[f64; 3]],
) -> Result<SplitCells, Indivisible> {
    if !cells.types().iter().any(|kind| kind::is_divided(*kind)) {
        let added = AddedPoints::default();
        return Ok(SplitCells { cells, parents: None, added, overlapping: 0 });
    }
    let with_quads = [kind::VOXEL, kind::HEXAHEDRON, kind::WEDGE, kind::PYRAMID];
    let mut splitter = Splitter {
        points,
        keeps_quads: cells
            .iter()
            .any(|(kind, corners)| with_quads.contains(&kind::of_order(kind, corners.len()))),
        cells: CellArray::empty(),
        parents: Vec::new(),
        added: AddedPoints::default(),
        overlapping: 0,
        midpoints: Midpoints::default(),
    };
    let mut next_polyhedron = 0;
    for (cell, (kind, corners)) in cells.iter().enumerate() {
        let faces = polyhedra.faces(next_polyhedron);
        let done = match kind::of_order(kind, corners.len()) {
            kind::STRIP => splitter.add_strip(corners),
            kind::POLYGON => splitter.add_polygon(corners),
            kind::QUADRATIC_WEDGE => splitter.add_quadratic_wedge(corners),
            kind::QUADRATIC_PYRAMID => splitter.add_quadratic_pyramid(corners),
            kind::BIQUADRATIC_QUAD => splitter.add_biquadratic_quad(corners),
            kind::TRIQUADRATIC_HEXAHEDRON => splitter.add_triquadratic_hexahedron(corners),
            kind::BIQUADRATIC_WEDGE => splitter.add_quadratic_wedge(corners),
            kind::CONVEX_POINT_SET => splitter.add_convex(corners),
            kind::POLYHEDRON => {
                next_polyhedron += 1;
                splitter.add_polyhedron(faces)
            }
            kind => {
                splitter.cells.push(kind, corners.iter().copied());
                Ok(())
            }
        };
        done.map_err(|reason| Indivisible { cell, reason })?;
        splitter.parents.resize(splitter.cells.len(), cell as u32);
        if splitter.is_too_large() {
            let reason = "its parts need more than 2^32 indices".to_owned();
            return Err(Indivisible { cell, reason });
        }
    }
    let (types, ..) = cells.into_parts();
    let Splitter { cells, parents: indices, added, overlapping, .. } = splitter;
    Ok(SplitCells { cells, parents: Some(Parents { indices, types }), added, overlapping })
}

/// The cells that have been divided so far.
struct Splitter<'a> {
    points: &'a [[f64; 3]],
    /// Whether four-sided faces of polyhedra stay whole, because there are other cells with such faces.
    keeps_quads: bool,
    cells: CellArray,
    parents: Vec<u32>,
    added: AddedPoints,
    overlapping: usize,
    midpoints: Midpoints,
}

impl Splitter<'_> {
    /// The position of a point of the file.
    fn position(&self, point: u32) -> [f64; 3] {
        self.points.get(point as usize).copied().unwrap_or([f64::NAN; 3])
    }

    /// The index of the next point that is added.
    fn next_point(&self) -> u32 {
        (self.points.len() + self.added.len()) as u32
    }

    /// Whether indices are about to exceed 32 bits; the parts of one cell are far fewer than the rest.
    fn is_too_large(&self) -> bool {
        const MAX: usize = u32::MAX as usize / 2;
        self.cells.connectivity().len() > MAX || self.points.len() + self.added.len() > MAX
    }

    fn add_strip(&mut self, corners: &[u32]) -> Result<(), String> {
        for (i, &[a, b, c]) in corners.array_windows().enumerate() {
            self.cells.push(kind::TRIANGLE, if i % 2 == 0 { [a, b, c] } else { [b, a, c] });
        }
        Ok(())
    }

    fn add_polygon(&mut self, corners: &[u32]) -> Result<(), String> {
        if let &[a, b, c] = corners {
            self.cells.push(kind::TRIANGLE, [a, b, c]);
            return Ok(());
        }
        let polygon = Polygon::new(corners, |point| self.position(point))?;
        if corners.len() == 4 && polygon.is_convex() {
            self.cells.push(kind::QUAD, corners.iter().copied());
            return Ok(());
        }
        for triangle in polygon.triangles() {
            self.cells.push(kind::TRIANGLE, triangle);
        }
        Ok(())
    }
}
