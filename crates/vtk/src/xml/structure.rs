//! From elements to the structure of a data set.

use super::array::{Format, components, scalar_type, tuples};
use super::document::{Document, Piece, RawArray, Section};
use super::tag::Tag;
use crate::array::{ArrayInfo, Association, Attribute, GridBox, Part, Placement};
use crate::error::Error;
use crate::file::{Structure, UNIT_DIRECTION};
use crate::geometry::{Extent, Geometry, Kind, cell_dims, dims_of};
use crate::source::Source;

/// Puts the structure together.
pub(super) fn build(source: &Source, document: &Document<'_>) -> Result<Structure, Error> {
    let format = Format::read(source, &document.file, document.appended)?;
    let pieces = sized_pieces(document)?;
    let geometry = whole_geometry(document, &pieces)?;
    let joiner = Joiner { format: &format, pieces: &pieces, geometry: &geometry };
    let mut arrays = field_arrays(&format, &document.fields)?;
    arrays.extend(joiner.arrays(&[Section::PointData, Section::CellData])?);
    let coordinates = joiner.arrays(&[Section::Coordinates])?;
    let points = joiner.arrays(&[Section::Points])?.into_iter().next();
    let topology = joiner.arrays(&[Section::Cells, Section::Verts, Section::Lines, Section::Strips, Section::Polys])?;
    check_shape(document, &geometry, points.as_ref(), &coordinates)?;
    let encoding = encoding(&format, document)?;
    Ok(Structure { geometry, encoding, arrays, topology, coordinates, points })
}
