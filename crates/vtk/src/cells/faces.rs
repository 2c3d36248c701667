//! The polygons, triangle strips and lines of poly data.

use super::cell_array::{CellArray, check_count};
use super::explicit::{read_connectivity, read_offsets, read_size_prefixed};
use super::indices::IndexArray;
use crate::error::Error;
use crate::sources::Sources;
use crate::structure::Structure;

/// The VTK types of polygons, of triangle strips and of lines.
const POLYGON: u8 = 7;
const STRIP: u8 = 6;
const POLY_LINE: u8 = 4;

/// Reads the given numbers of polygons and of strips.
pub(super) fn read(
    sources: &Sources,
    structure: &Structure,
    [polys, strips]: [usize; 2],
) -> Result<CellArray, Error> {
    read_sections(sources, structure, &[(POLYGON, "polys", polys), (STRIP, "strips", strips)])
}

/// Reads the given number of lines.
pub(super) fn read_lines(
    sources: &Sources,
    structure: &Structure,
    lines: usize,
) -> Result<CellArray, Error> {
    read_sections(sources, structure, &[(POLY_LINE, "lines", lines)])
}

/// Reads sections: a type of cells, the name, and the number of cells.
fn read_sections(
    sources: &Sources,
    structure: &Structure,
    sections: &[(u8, &str, usize)],
) -> Result<CellArray, Error> {
    let mut all = CellArray::empty();
    for &(kind, section, count) in sections {
        let cells = read_section(sources, structure, (section, count))?;
        let before = all.connectivity.len();
        check_count(
            sources.of_structure(structure),
            before + cells.connectivity.len(),
            "corners of cells",
        )?;
        all.types.resize(all.types.len() + cells.offsets.len() - 1, kind);
        all.offsets.extend(cells.offsets.iter().skip(1).map(|end| end + before as u32));
        all.connectivity.extend(cells.connectivity);
    }
    Ok(all)
}

/// The cells of a section, without their types.
fn read_section(
    sources: &Sources,
    structure: &Structure,
    (section, count): (&str, usize),
) -> Result<CellArray, Error> {
    let points = structure.geometry.num_points();
    let mut cells = CellArray::empty();
    if count == 0 {
        return Ok(cells);
    }
    let find = |name: &str| {
        let name = format!("{section}/{name}");
        structure.topology.iter().find(|array| array.name == name)
    };
    if let Some(info) = find("cells") {
        let array = IndexArray::new(sources, info)?;
        check_count(sources.of_structure(structure), info.tuples, "corners of cells")?;
        read_size_prefixed(&mut cells, count, &array, points)?;
        return Ok(cells);
    }
    let (Some(offsets), Some(connectivity)) = (find("offsets"), find("connectivity")) else {
        let found = format!("`{count}` cells without `offsets` or `connectivity` of `{section}`");
        return Err(sources
            .of_structure(structure)
            .context(0, "the cells")
            .malformed(found, "both arrays"));
    };
    check_count(
        sources.of_structure(structure),
        offsets.tuples.max(connectivity.tuples),
        "corners of cells",
    )?;
    let offsets = IndexArray::new(sources, offsets)?;
    let connectivity = IndexArray::new(sources, connectivity)?;
    // In legacy files, the first offset is the start of the first cell; in XML files, its end.
    let leading = usize::from(offsets.len() > count);
    offsets.expect_count(count + leading)?;
    for piece in 0..offsets.pieces() {
        let next = connectivity.index_offset(piece + 1).unwrap_or(points);
        read_connectivity(&connectivity, piece, next, &mut cells)?;
        read_offsets(&offsets, piece, leading, &mut cells)?;
    }
    Ok(cells)
}
