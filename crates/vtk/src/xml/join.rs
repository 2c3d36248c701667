//! Joins the arrays of all pieces.

use super::array::{Format, components, scalar_type, tuples};
use super::document::{RawArray, Section};
use super::sizes::SizedPiece;
use crate::array::{
    ArrayInfo, Association, Attribute, GridBox, Part, Placement, Tuples, is_joinable_topology,
};
use crate::block::Block;
use crate::error::Error;
use crate::geometry::{Geometry, product};
use crate::scalar::ScalarType;

/// Sections whose arrays are matched by their order, not by their names.
const BY_ORDER: [Section; 2] = [Section::Points, Section::Coordinates];

/// Lists the arrays of a data set, each with its parts in all pieces.
pub(super) struct Joiner<'a, 'd> {
    pub(super) format: &'d Format,
    pub(super) pieces: &'d [SizedPiece<'a, 'd>],
    pub(super) geometry: &'d Geometry,
}

/// An array of the first piece, to be matched in the others.
struct Template<'a, 'd> {
    array: &'d RawArray<'a>,
    /// Its index among the arrays of its section.
    order: usize,
    scalar: ScalarType,
    components: usize,
}

impl<'a, 'd> Joiner<'a, 'd> {
    /// The arrays of some sections, in the order of the first piece.
    pub(super) fn arrays(&self, sections: &[Section]) -> Result<Vec<ArrayInfo>, Error> {
        let first = self.pieces.first().map_or(&[][..], |first| &first.piece.arrays);
        let mut arrays = Vec::new();
        for (index, array) in first.iter().enumerate() {
            if !sections.contains(&array.section) || !self.is_joinable(array) {
                continue;
            }
            let order =
                first.iter().take(index).filter(|other| other.section == array.section).count();
            let components = components(&array.tag)?;
            if let Some(scalar) = scalar_type(&array.tag)?.filter(|_| components > 0) {
                arrays.push(self.array(&Template { array, order, scalar, components })?);
            }
        }
        Ok(arrays)
    }

    fn is_joinable(&self, array: &RawArray<'_>) -> bool {
        self.pieces.len() == 1
            || match array.section {
                section if Section::OF_CELLS.contains(&section) => {
                    is_joinable_topology(array.name())
                }
                Section::CellData => !self.geometry.has_cells_of_several_kinds(),
                _ => true,
            }
    }

    fn array(&self, template: &Template<'a, 'd>) -> Result<ArrayInfo, Error> {
        let Template { array, scalar, components, .. } = *template;
        let association = match array.section {
            Section::PointData => Association::Point,
            Section::CellData => Association::Cell,
            _ => Association::Topology,
        };
        let name = array.section.prefix().to_owned() + array.name();
        let mut info = ArrayInfo::new(name, association, [0, components], scalar);
        info.attribute = self.attribute(array);
        info.parts = self.parts(template)?;
        let sum = info.parts.iter().try_fold(0_usize, |sum, part| sum.checked_add(part.tuples));
        info.tuples = match info.parts.first().map(|part| part.placement) {
            Some(Placement::Box(target)) => product(target.grid_size),
            _ => sum,
        }
        .ok_or_else(|| array.tag.context().out_of_memory(usize::MAX))?;
        info.count().ok_or_else(|| array.tag.context().out_of_memory(usize::MAX))?;
        Ok(info)
    }

    fn attribute(&self, array: &RawArray<'_>) -> Option<Attribute> {
        let sections = &self.pieces.first()?.piece.sections;
        let (_, tag) = sections.iter().find(|(section, _)| *section == array.section)?;
        let name = Some(array.name()).filter(|name| !name.is_empty());
        let named = Attribute::XML
            .iter()
            .find(|(attribute, _)| name.is_some() && tag.text(attribute) == name);
        named.map(|(_, attribute)| *attribute)
    }

    fn parts(&self, template: &Template<'a, 'd>) -> Result<Vec<Part>, Error> {
        let mut parts = Vec::new();
        let mut index_offset = 0_usize;
        for piece in self.pieces {
            let array = find(piece, template)?;
            let block = self.format.block(array)?;
            let tuples = part_tuples(piece, template, array, &block)?;
            let placement = match self.grid_box(piece, template) {
                Some(target) => Placement::Box(target),
                None => Placement::Append { index_offset: index_offset as i64 },
            };
            parts.push(Part { file: 0, block, tuples, placement });
            index_offset = index_offset.saturating_add(self.next_index_offset(piece, template)?);
        }
        Ok(parts)
    }

    /// The increase of the index offset after a piece: 0 except for arrays of indices.
    fn next_index_offset(
        &self,
        piece: &SizedPiece<'a, 'd>,
        template: &Template<'a, 'd>,
    ) -> Result<usize, Error> {
        let section = template.array.section;
        if self.pieces.len() == 1 || !Section::OF_CELLS.contains(&section) {
            return Ok(0);
        }
        match template.array.name() {
            "connectivity" => Ok(piece.points),
            "offsets" => {
                let mut arrays = piece.piece.arrays.iter();
                let Some(array) =
                    arrays.find(|a| a.section == section && a.name() == "connectivity")
                else {
                    return Ok(0);
                };
                let Some(scalar) = scalar_type(&array.tag)? else {
                    return Ok(0);
                };
                self.format.block(array)?.count_values(array.tag.context(), scalar)
            }
            _ => Ok(0),
        }
    }

    /// The box of the tuples of a piece in the grid; `None` for a single piece or if there is no
    /// grid.
    fn grid_box(&self, piece: &SizedPiece<'a, 'd>, template: &Template<'a, 'd>) -> Option<GridBox> {
        if self.pieces.len() == 1 {
            return None;
        }
        let tuples = match template.array.section {
            Section::CellData => Tuples::Cells,
            Section::Coordinates => Tuples::Axis(template.order),
            _ => Tuples::Nodes,
        };
        GridBox::of_piece(piece.extent, self.geometry.extent()?, tuples)
    }
}

/// The array of a piece that matches one of the first piece.
fn find<'a, 'd>(
    piece: &SizedPiece<'a, 'd>,
    template: &Template<'a, 'd>,
) -> Result<&'d RawArray<'a>, Error> {
    let section = template.array.section;
    let mut arrays = piece.piece.arrays.iter().filter(|array| array.section == section);
    let found = if BY_ORDER.contains(&section) {
        arrays.nth(template.order)
    } else {
        arrays.find(|array| array.name() == template.array.name())
    };
    let expected = || format!("one like that of the first piece: `{}`", template.array.name());
    let array = found.ok_or_else(|| {
        piece.piece.tag.context().malformed("a piece without an array", expected())
    })?;
    let same = scalar_type(&array.tag)? == Some(template.scalar)
        && components(&array.tag)? == template.components;
    if same {
        Ok(array)
    } else {
        Err(array.tag.context().malformed("an array of another type", expected()))
    }
}

/// Number of tuples of an array in one piece.
fn part_tuples(
    piece: &SizedPiece<'_, '_>,
    template: &Template<'_, '_>,
    array: &RawArray<'_>,
    block: &Block,
) -> Result<usize, Error> {
    match (array.section, array.name()) {
        (Section::PointData | Section::Points, _) => Ok(piece.points),
        (Section::CellData, _) => Ok(piece.cells),
        (Section::Coordinates, _) => Ok(piece.dims().get(template.order).copied().unwrap_or(0)),
        (section, "offsets" | "types") => Ok(piece.cells_of(section)),
        _ => tuples(array, block, template.scalar, template.components),
    }
}
