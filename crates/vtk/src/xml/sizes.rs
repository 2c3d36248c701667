//! The sizes of the pieces and of the whole data set.

use super::document::{Document, Piece, Section};
use crate::error::Error;
use crate::file::UNIT_DIRECTION;
use crate::geometry::{Extent, Geometry, Kind, cell_dims, dims_of, product};

/// A piece and its sizes.
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

/// The pieces that hold anything; the first one if none does.
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
                return Err(tag.spot().malformed(found, "a grid that can exist"));
            };
            sized.points = product(dims).unwrap_or(0);
            sized.cells = product(cell_dims(dims)).unwrap_or(0);
        }
    }
    Ok(sized)
}

/// The data set that the pieces make up together.
///
/// A grid is taken to be as large as its pieces, not as `WholeExtent`: in a file that is itself a
/// part of a larger grid they differ.
pub(super) fn whole_geometry(
    document: &Document<'_>,
    pieces: &[SizedPiece<'_, '_>],
) -> Result<Geometry, Error> {
    let sum = |count: fn(&SizedPiece<'_, '_>) -> usize| {
        let total = pieces.iter().try_fold(0_usize, |total, piece| total.checked_add(count(piece)));
        total.ok_or_else(|| {
            document.dataset.spot().malformed("sizes that overflow", "a data set that can exist")
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

/// The extent around all pieces, and its number of nodes along each axis.
fn whole_grid(
    document: &Document<'_>,
    pieces: &[SizedPiece<'_, '_>],
) -> Result<(Extent, [usize; 3]), Error> {
    let whole = pieces.iter().map(|piece| piece.extent).reduce(around).unwrap_or_default();
    let impossible =
        |found: String, expected: &str| document.dataset.spot().malformed(found, expected);
    let dims = dims_of(whole).ok_or_else(|| {
        impossible(format!("pieces in the extent `{whole:?}`"), "a grid that can exist")
    })?;
    let is_flat = |piece: &SizedPiece<'_, '_>| {
        piece.dims().iter().zip(dims).any(|(own, all)| *own == 1 && all > 1)
    };
    if pieces.iter().any(is_flat) {
        return Err(impossible(
            "a piece of one layer of nodes".to_owned(),
            "two at least, so that it has cells",
        ));
    }
    let held = pieces.iter().fold(0_usize, |held, piece| held.saturating_add(piece.points));
    if Some(held) < product(dims) {
        let found = format!("pieces with `{held}` nodes for the extent `{whole:?}`");
        return Err(impossible(found, "pieces that cover it"));
    }
    Ok((whole, dims))
}

fn around([a0, a1, b0, b1, c0, c1]: Extent, [p0, p1, q0, q1, r0, r1]: Extent) -> Extent {
    [a0.min(p0), a1.max(p1), b0.min(q0), b1.max(q1), c0.min(r0), c1.max(r1)]
}
