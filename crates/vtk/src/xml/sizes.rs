//! The sizes of the pieces and of the whole data set.

use super::document::{Document, Piece, Section};
use crate::error::Error;
use crate::geometry::{Extent, Geometry, Kind, UNIT_DIRECTION, cell_dims, dims_of, product};

/// A piece with its sizes.
pub(super) struct SizedPiece<'a, 'd> {
    pub(super) piece: &'d Piece<'a>,
    pub(super) points: usize,
    pub(super) cells: usize,
    /// Number of cells in `Verts`, `Lines`, `Strips` and `Polys`.
    kinds_of_cells: [usize; 4],
    pub(super) extent: Extent,
}

impl SizedPiece<'_, '_> {
    /// Number of nodes along each axis.
    pub(super) fn dims(&self) -> [usize; 3] {
        dims_of(self.extent).unwrap_or_default()
    }

    /// Number of cells of one section.
    pub(super) fn cells_of(&self, section: Section) -> usize {
        let [verts, lines, strips, polys] = self.kinds_of_cells;
        match section {
            Section::Verts => verts,
            Section::Lines => lines,
            Section::Strips => strips,
            Section::Polys => polys,
            _ => self.cells,
        }
    }
}

/// The pieces with points; the first piece if none has any.
pub(super) fn sized_pieces<'a, 'd>(
    document: &'d Document<'a>,
) -> Result<Vec<SizedPiece<'a, 'd>>, Error> {
    let mut pieces = Vec::new();
    for piece in &document.pieces {
        pieces.push(sized_piece(document, piece)?);
    }
    if pieces.iter().any(|piece| piece.points > 0) {
        pieces.retain(|piece| piece.points > 0);
    } else {
        pieces.truncate(1);
    }
    Ok(pieces)
}

fn sized_piece<'a, 'd>(
    document: &Document<'a>,
    piece: &'d Piece<'a>,
) -> Result<SizedPiece<'a, 'd>, Error> {
    let mut sized =
        SizedPiece { piece, points: 0, cells: 0, kinds_of_cells: [0; 4], extent: [0; 6] };
    let tag = &piece.tag;
    match document.kind {
        Kind::UnstructuredGrid => {
            sized.points = tag.required("NumberOfPoints", tag.number("NumberOfPoints")?)?;
            sized.cells = tag.required("NumberOfCells", tag.number("NumberOfCells")?)?;
        }
        Kind::PolyData => {
            sized.points = tag.required("NumberOfPoints", tag.number("NumberOfPoints")?)?;
            let names = ["NumberOfVerts", "NumberOfLines", "NumberOfStrips", "NumberOfPolys"];
            for (cells, name) in sized.kinds_of_cells.iter_mut().zip(names) {
                *cells = tag.number(name)?.unwrap_or(0);
                sized.cells = sized.cells.saturating_add(*cells);
            }
        }
        Kind::ImageData | Kind::RectilinearGrid | Kind::StructuredGrid => {
            let whole = document.dataset.numbers("WholeExtent")?;
            sized.extent = tag.required("Extent", tag.numbers("Extent")?.or(whole))?;
            let Some(dims) = dims_of(sized.extent) else {
                let found = format!("the extent `{:?}`", sized.extent);
                return Err(tag.context().malformed(found, "a valid extent"));
            };
            sized.points = product(dims).unwrap_or(0);
            sized.cells = product(cell_dims(dims)).unwrap_or(0);
        }
    }
    Ok(sized)
}

/// The geometry of the data set.
///
/// The extent of a grid is the union of its pieces, not `WholeExtent`: the two differ in a file that
/// is itself a piece of a larger grid.
pub(super) fn whole_geometry(
    document: &Document<'_>,
    pieces: &[SizedPiece<'_, '_>],
) -> Result<Geometry, Error> {
    let sum = |count: fn(&SizedPiece<'_, '_>) -> usize| {
        let total = pieces.iter().try_fold(0_usize, |total, piece| total.checked_add(count(piece)));
        total.ok_or_else(|| {
            document.dataset.context().malformed("sizes that overflow", "sizes of a valid data set")
        })
    };
    match document.kind {
        Kind::UnstructuredGrid => Ok(Geometry::Unstructured {
            points: sum(|piece| piece.points)?,
            cells: sum(|piece| piece.cells)?,
        }),
        Kind::PolyData => Ok(Geometry::PolyData {
            points: sum(|piece| piece.points)?,
            verts: sum(|piece| piece.cells_of(Section::Verts))?,
            lines: sum(|piece| piece.cells_of(Section::Lines))?,
            strips: sum(|piece| piece.cells_of(Section::Strips))?,
            polys: sum(|piece| piece.cells_of(Section::Polys))?,
        }),
        Kind::ImageData => Ok(Geometry::Image {
            extent: whole_grid(document, pieces)?.0,
            origin: document.dataset.numbers("Origin")?.unwrap_or([0.0; 3]),
            spacing: document.dataset.numbers("Spacing")?.unwrap_or([1.0; 3]),
            direction: document.dataset.numbers("Direction")?.unwrap_or(UNIT_DIRECTION),
        }),
        Kind::RectilinearGrid => whole_grid(document, pieces)
            .map(|(extent, dims)| Geometry::Rectilinear { dims, extent }),
        Kind::StructuredGrid => {
            whole_grid(document, pieces).map(|(extent, dims)| Geometry::Structured { dims, extent })
        }
    }
}

/// The bounding extent of all pieces, and its number of nodes along each axis.
fn whole_grid(
    document: &Document<'_>,
    pieces: &[SizedPiece<'_, '_>],
) -> Result<(Extent, [usize; 3]), Error> {
    let whole = pieces.iter().map(|piece| piece.extent).reduce(union).unwrap_or_default();
    let malformed =
        |found: String, expected: &str| document.dataset.context().malformed(found, expected);
    let dims = dims_of(whole)
        .ok_or_else(|| malformed(format!("pieces in the extent `{whole:?}`"), "a valid extent"))?;
    let is_flat = |piece: &SizedPiece<'_, '_>| {
        piece.dims().iter().zip(dims).any(|(own, all)| *own == 1 && all > 1)
    };
    if pieces.iter().any(is_flat) {
        return Err(malformed(
            "a piece with a single layer of nodes".to_owned(),
            "at least two layers, so that it has cells",
        ));
    }
    let nodes = pieces.iter().fold(0_usize, |nodes, piece| nodes.saturating_add(piece.points));
    if Some(nodes) < product(dims) {
        let found = format!("pieces with `{nodes}` nodes for the extent `{whole:?}`");
        return Err(malformed(found, "pieces that cover it"));
    }
    Ok((whole, dims))
}

/// The smallest extent that contains two extents.
fn union([a0, a1, b0, b1, c0, c1]: Extent, [p0, p1, q0, q1, r0, r1]: Extent) -> Extent {
    [a0.min(p0), a1.max(p1), b0.min(q0), b1.max(q1), c0.min(r0), c1.max(r1)]
}
