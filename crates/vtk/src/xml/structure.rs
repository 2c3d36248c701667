//! Builds the structure of a data set from the elements.

use super::array::{Format, components, scalar_type, tuples};
use super::document::{Document, RawArray, RawBlock, Section};
use super::join::Joiner;
use super::sizes::{SizedPiece, image_geometry, sized_pieces, whole_geometry};
use super::tag::Tag;
use crate::array::{ArrayInfo, Association};
use crate::error::Error;
use crate::geometry::{Geometry, Kind};
use crate::source::Source;
use crate::structure::{BlockFile, BlockIndex, FACES, Index, IndexGrid, Structure};
use std::collections::HashSet;
use std::path::Path;

/// Builds the structure of a data set, and those of its pieces if there are several with the faces of
/// polyhedra, which cannot be joined.
pub(super) fn build(
    source: &Source,
    document: &Document<'_>,
) -> Result<(Structure, Vec<Structure>), Error> {
    let format = Format::read(source, &document.file, document.appended)?;
    let pieces = sized_pieces(document)?;
    let whole = structure(document, &format, &pieces)?;
    let has_faces = |piece: &SizedPiece<'_, '_>| piece.piece.arrays.iter().any(is_faces);
    let members = pieces.chunks(1).filter(|_| pieces.len() > 1 && pieces.iter().any(has_faces));
    let members = members.map(|piece| structure(document, &format, piece));
    Ok((whole, members.collect::<Result<_, _>>()?))
}

/// Whether an array has the faces of polyhedra.
fn is_faces(array: &RawArray<'_>) -> bool {
    array.section == Section::Cells && FACES.contains(&array.name())
}

/// The structure of a data set with these pieces.
fn structure<'d>(
    document: &Document<'_>,
    format: &'d Format,
    pieces: &'d [SizedPiece<'_, 'd>],
) -> Result<Structure, Error> {
    let geometry = whole_geometry(document, pieces)?;
    let joiner = Joiner { format, pieces, geometry: &geometry };
    let mut arrays = field_arrays(format, &document.fields)?;
    arrays.extend(joiner.arrays(&[Section::PointData, Section::CellData])?);
    let coordinates = joiner.arrays(&[Section::Coordinates])?;
    let points = joiner.arrays(&[Section::Points])?.into_iter().next();
    let topology = joiner.arrays(&Section::OF_CELLS)?;
    check_geometry(document, &geometry, points.as_ref(), &coordinates)?;
    let encoding = encoding(format, document)?;
    let has_old_order = has_old_order(document);
    Ok(Structure {
        file: 0,
        geometry,
        encoding,
        arrays,
        topology,
        coordinates,
        points,
        has_old_order,
    })
}

/// Whether a file is of a version before 2.1, in which Lagrange hexahedra have another order of nodes.
fn has_old_order(document: &Document<'_>) -> bool {
    let version = document.file.text("version").unwrap_or_default();
    let mut numbers = version.split('.').map(|number| number.trim().parse::<u32>().ok());
    let mut next = || numbers.next().flatten().unwrap_or(0);
    [next(), next()] < [2, 1]
}

/// Builds the index of a parallel data set. File names are relative to its folder.
pub(super) fn index(source: &Source, document: &Document<'_>) -> Result<Index, Error> {
    let format = Format::read(source, &document.file, document.appended)?;
    let folder = source.path().parent().unwrap_or(Path::new(""));
    let (mut files, mut listed) = (Vec::new(), HashSet::new());
    for piece in &document.pieces {
        let file = folder.join(piece.tag.required("Source", piece.tag.text("Source"))?);
        if !listed.insert(file.clone()) {
            return Err(listed_twice(&piece.tag, &file));
        }
        files.push(file);
    }
    let (kind, grid) = (document.kind, index_grid(document)?);
    Ok(Index { kind, files, fields: field_arrays(&format, &document.fields)?, grid })
}

/// Lists the files of a data set of several blocks. A block without a file is empty.
pub(super) fn block_index(
    source: &Source,
    document: &Document<'_>,
    blocks: &[RawBlock<'_>],
) -> Result<BlockIndex, Error> {
    let format = Format::read(source, &document.file, document.appended)?;
    let folder = source.path().parent().unwrap_or(Path::new(""));
    check_blocks(folder, blocks)?;
    let with_file = |block: &RawBlock<'_>| {
        let path = folder.join(block.tag.text("file")?);
        Some(BlockFile { name: block.name.clone(), path, group: None })
    };
    let files: Vec<BlockFile> = blocks.iter().filter_map(with_file).collect();
    if files.is_empty() {
        let context = document.dataset.context();
        return Err(context.malformed("no element `DataSet` with a `file`", "at least one"));
    }
    Ok(BlockIndex { files, fields: field_arrays(&format, &document.fields)? })
}

/// Checks that no file and no index is listed twice. Blocks without an index are in the order of the file.
fn check_blocks(folder: &Path, blocks: &[RawBlock<'_>]) -> Result<(), Error> {
    let (mut files, mut indices) = (HashSet::new(), HashSet::new());
    for block in blocks {
        let Some(file) = block.tag.text("file") else { continue };
        if !files.insert(file) {
            return Err(listed_twice(&block.tag, &folder.join(file)));
        }
        if block.indices.iter().all(Option::is_some) && !indices.insert(&block.indices) {
            let found = format!("a second block with the index of `{}`", block.name);
            return Err(block.tag.context().malformed(found, "an index of its own for each block"));
        }
    }
    Ok(())
}

fn listed_twice(tag: &Tag<'_>, file: &Path) -> Error {
    let found = format!("the file `{}` for a second time", file.display());
    tag.context().malformed(found, "each file once")
}

/// The grid that the files of an index form; `None` for other kinds.
fn index_grid(document: &Document<'_>) -> Result<Option<IndexGrid>, Error> {
    if matches!(document.kind, Kind::UnstructuredGrid | Kind::PolyData) {
        return Ok(None);
    }
    let tag = &document.dataset;
    let whole = tag.required("WholeExtent", tag.numbers("WholeExtent")?)?;
    let extents = document.pieces.iter().map(|piece| piece.tag.numbers("Extent"));
    let extents = extents.collect::<Result<_, _>>()?;
    let image = match document.kind {
        Kind::ImageData => Some(image_geometry(tag, whole)?),
        _ => None,
    };
    Ok(Some(IndexGrid { whole, extents, image }))
}

fn field_arrays(format: &Format, fields: &[RawArray<'_>]) -> Result<Vec<ArrayInfo>, Error> {
    let mut arrays = Vec::new();
    for array in fields {
        let components = components(&array.tag)?;
        let Some(scalar) = scalar_type(&array.tag)?.filter(|_| components > 0) else {
            continue;
        };
        let block = format.block(array)?;
        let sizes = [tuples(array, &block, scalar, components)?, components];
        arrays
            .push(ArrayInfo::new(array.name(), Association::Field, sizes, scalar).in_block(block));
    }
    Ok(arrays)
}

/// Checks that the arrays that define the geometry exist.
fn check_geometry(
    document: &Document<'_>,
    geometry: &Geometry,
    points: Option<&ArrayInfo>,
    coordinates: &[ArrayInfo],
) -> Result<(), Error> {
    let complete = match document.kind {
        Kind::ImageData => true,
        Kind::RectilinearGrid => {
            coordinates.len() == 3 && coordinates.iter().all(|axis| axis.components == 1)
        }
        _ => geometry.num_points() == 0 || points.is_some_and(|points| points.components == 3),
    };
    if complete {
        return Ok(());
    }
    let expected = match document.kind {
        Kind::RectilinearGrid => "an element `Coordinates` with three arrays of one component",
        _ => "an element `Points` with an array of three components",
    };
    Err(document.dataset.context().malformed("a data set without its geometry", expected))
}

/// A description of all encodings in the file.
fn encoding(format: &Format, document: &Document<'_>) -> Result<String, Error> {
    let mut encodings: Vec<String> = Vec::new();
    let in_pieces = document.pieces.iter().flat_map(|piece| &piece.arrays);
    for array in document.fields.iter().chain(in_pieces) {
        let encoding = format.describe(array)?;
        if !encodings.contains(&encoding) {
            encodings.push(encoding);
        }
    }
    Ok(format!("XML, {}", encodings.join(" and ")))
}
