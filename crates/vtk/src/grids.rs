//! Grids in several files.

use crate::error::Error;
use crate::geometry::{
    Extent, Geometry, UNIT_DIRECTION, cell_dims, dims_of, product, whole_extent, words,
};
use crate::join::Piece;
use crate::pieces::GHOSTS;
use crate::source::Source;
use crate::structure::IndexGrid;

/// Maximum deviation of the distance of two origins from a multiple of the spacing, in nodes.
const SHIFT_TOLERANCE: f64 = 1e-6;

/// Maximum distance of two origins, in nodes.
const MAX_SHIFT: f64 = 1e12;

/// Checks that a piece is at the place that its index says.
pub(crate) fn check_piece(piece: &Piece<'_>, grid: &IndexGrid, number: usize) -> Result<(), Error> {
    let geometry = &piece.structure.geometry;
    let expected = grid.extents.get(number).copied().flatten();
    let context = piece.source.context(0, "the elements");
    if let (Some(found), Some(expected)) = (geometry.extent(), expected)
        && found != expected
        && piece.num_points() > 0
    {
        let found = format!("a piece with the extent `{}`", words(found));
        return Err(context.malformed(found, format!("`{}`, as in the index", words(expected))));
    }
    match &grid.image {
        Some(image) if piece.num_points() > 0 => check_image(piece, image, "in the index"),
        _ => Ok(()),
    }
}

/// Checks that a piece has the axes of another image.
fn check_image(piece: &Piece<'_>, image: &Geometry, of: &str) -> Result<(), Error> {
    let (
        Geometry::Image { origin, spacing, direction, .. },
        Geometry::Image { origin: origin0, spacing: spacing0, direction: direction0, .. },
    ) = (&piece.structure.geometry, image)
    else {
        return Ok(());
    };
    let pairs: [(&str, &[f64], &[f64]); 3] = [
        ("Origin", origin, origin0),
        ("Spacing", spacing, spacing0),
        ("Direction", direction, direction0),
    ];
    match pairs.into_iter().find(|(_, found, expected)| found != expected) {
        None => Ok(()),
        Some((name, found, expected)) => {
            let found = format!("a piece with {name} `{}`", words(found));
            let expected = format!("`{}`, as {of}", words(expected));
            Err(piece.source.context(0, "the elements").malformed(found, expected))
        }
    }
}

/// The geometry of the grid that the pieces of an index form.
pub(crate) fn joined_geometry(
    source: &Source,
    grid: &IndexGrid,
    pieces: &[Piece<'_>],
) -> Result<Geometry, Error> {
    let extents: Vec<Extent> =
        pieces.iter().filter_map(|piece| piece.structure.geometry.extent()).collect();
    let malformed = |found, expected: &str| {
        source.context(0, "the elements").malformed(found, expected.to_owned())
    };
    let (extent, dims) =
        whole_extent(&extents).map_err(|(found, expected)| malformed(found, expected))?;
    if extent != grid.whole {
        let found = format!("pieces that cover the extent `{}`", words(extent));
        return Err(malformed(found, &format!("`{}`, its `WholeExtent`", words(grid.whole))));
    }
    Ok(match (&grid.image, pieces.first().map(|piece| &piece.structure.geometry)) {
        (Some(image), _) => image.clone(),
        (None, Some(Geometry::Rectilinear { .. })) => Geometry::Rectilinear { dims, extent },
        _ => Geometry::Structured { dims, extent },
    })
}

/// The grid that blocks form if they are its pieces, or why they are not; `None` if they are not grids of
/// one kind. Images get the origin of the first one.
pub(crate) fn of_blocks(pieces: &mut [Piece<'_>]) -> Option<Result<Geometry, String>> {
    let first = pieces.first()?.structure.geometry.clone();
    let kind = first.kind();
    let is_grid = first.extent().is_some();
    if !is_grid || pieces.iter().any(|piece| piece.structure.geometry.kind() != kind) {
        return None;
    }
    Some(joined_blocks(pieces, &first))
}

fn joined_blocks(pieces: &mut [Piece<'_>], first: &Geometry) -> Result<Geometry, String> {
    for piece in &mut *pieces {
        align(&mut piece.structure.geometry, first)?;
    }
    let extents: Vec<Extent> =
        pieces.iter().filter_map(|piece| piece.structure.geometry.extent()).collect();
    let (extent, dims) = whole_extent(&extents).map_err(|(found, _)| found)?;
    let cells = |extent: &Extent| dims_of(*extent).map(cell_dims).and_then(product).unwrap_or(0);
    let sum = extents.iter().fold(0_usize, |sum, extent| sum.saturating_add(cells(extent)));
    if sum < cells(&extent) {
        return Err(format!("they leave gaps in the extent `{}`", words(extent)));
    }
    let has_ghosts = pieces.iter().all(|piece| {
        let mut arrays = piece.structure.arrays.iter();
        arrays.any(|array| GHOSTS.iter().any(|(name, _)| array.name == *name))
    });
    if sum > cells(&extent) && !has_ghosts {
        return Err(format!("they overlap in the extent `{}`", words(extent)));
    }
    Ok(match first {
        Geometry::Image { origin, spacing, direction, .. } => {
            Geometry::Image { extent, origin: *origin, spacing: *spacing, direction: *direction }
        }
        Geometry::Rectilinear { .. } => Geometry::Rectilinear { dims, extent },
        _ => Geometry::Structured { dims, extent },
    })
}

/// Moves the origin of an image to that of the first one, and its extent accordingly. The error says why
/// this is not possible.
fn align(image: &mut Geometry, first: &Geometry) -> Result<(), String> {
    let (
        Geometry::Image { extent, origin, spacing, direction },
        Geometry::Image { origin: origin0, spacing: spacing0, direction: direction0, .. },
    ) = (image, first)
    else {
        return Ok(());
    };
    if *spacing != *spacing0 || *direction != *direction0 {
        return Err("their `Spacing` or `Direction` differs".to_owned());
    }
    if origin == origin0 {
        return Ok(());
    }
    if *direction != UNIT_DIRECTION {
        return Err("they are rotated and have different origins".to_owned());
    }
    let ends = extent.as_chunks_mut::<2>().0.iter_mut();
    for (((end, origin), origin0), spacing) in ends.zip(&*origin).zip(origin0).zip(&*spacing) {
        let nodes = (origin - origin0) / spacing;
        // The negation also refuses NaN. An extent of more nodes does not fit into memory.
        let is_shift = nodes.abs() < MAX_SHIFT && (nodes - nodes.round()).abs() <= SHIFT_TOLERANCE;
        let shift = if origin == origin0 { 0 } else { nodes.round() as i64 };
        if origin != origin0 && !is_shift {
            return Err(format!("their origins differ by {nodes} nodes, not a whole number"));
        }
        for node in end {
            *node = node.checked_add(shift).ok_or("their extents overflow")?;
        }
    }
    *origin = *origin0;
    Ok(())
}
