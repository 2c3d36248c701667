//! The sizes of the pieces and of the whole data set.

use super::document::{Document, Piece, Section};
use super::tag::Tag;
use crate::error::Error;
use crate::geometry::{
    Extent, Geometry, Kind, UNIT_DIRECTION, cell_dims, dims_of, product, whole_extent,
};

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
        Kind::ImageData => image_geometry(&document.dataset, whole_grid(document, pieces)?.0),
        Kind::RectilinearGrid => whole_grid(document, pieces)
            .map(|(extent, dims)| Geometry::Rectilinear { dims, extent }),
        Kind::StructuredGrid => {
            whole_grid(document, pieces).map(|(extent, dims)| Geometry::Structured { dims, extent })
        }
    }
}

/// The geometry of an image, from its element.
pub(super) fn image_geometry(tag: &Tag<'_>, extent: Extent) -> Result<Geometry, Error> {
    Ok(Geometry::Image {
        extent,
        origin: tag.numbers("Origin")?.unwrap_or([0.0; 3]),
        spacing: tag.numbers("Spacing")?.unwrap_or([1.0; 3]),
        direction: tag.numbers("Direction")?.unwrap_or(UNIT_DIRECTION),
    })
}

/// The bounding extent of all pieces, and its number of nodes along each axis.
fn whole_grid(
    document: &Document<'_>,
    pieces: &[SizedPiece<'_, '_>],
) -> Result<(Extent, [usize; 3]), Error> {
    let extents: Vec<Extent> = pieces.iter().map(|piece| piece.extent).collect();
    whole_extent(&extents)
        .map_err(|(found, expected)| document.dataset.context().malformed(found, expected))
}
