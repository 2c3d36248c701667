//! The polygons and triangle strips of poly data.

use super::indices::IndexArray;
use super::listed::{read_ends, read_numbered, read_points};
use super::{Cells, check_count};
use crate::error::Error;
use crate::file::Structure;
use crate::source::Sources;

/// The types of polygons and of triangle strips.
const POLYGON: u8 = 7;
const STRIP: u8 = 6;

/// Reads the polygons, then the strips: how many there are of each is known.
pub(super) fn read(
    sources: &Sources,
    structure: &Structure,
    [polys, strips]: [usize; 2],
) -> Result<Cells, Error> {
    let mut all = Cells::none();
    for (kind, section, count) in [(POLYGON, "polys", polys), (STRIP, "strips", strips)] {
        let cells = read_section(sources, structure, (section, count))?;
        let before = all.connectivity.len();
        check_count(sources.main(), before + cells.connectivity.len(), "corners of cells")?;
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
) -> Result<Cells, Error> {
    let points = structure.geometry.num_points();
    let mut cells = Cells::none();
    if count == 0 {
        return Ok(cells);
    }
    let find = |name: &str| {
        let name = format!("{section}/{name}");
        structure.topology.iter().find(|array| array.name == name)
    };
    if let Some(info) = find("cells") {
        let array = IndexArray::new(sources, info)?;
        check_count(sources.main(), info.tuples, "corners of cells")?;
        read_numbered(&mut cells, count, &array, points)?;
        return Ok(cells);
    }
    let (Some(offsets), Some(connectivity)) = (find("offsets"), find("connectivity")) else {
        let found = format!("`{count}` cells without the arrays of `{section}`");
        return Err(sources.main().spot(0, "the cells").malformed(found, "two"));
    };
    check_count(sources.main(), offsets.tuples.max(connectivity.tuples), "corners of cells")?;
    let offsets = IndexArray::new(sources, offsets)?;
    let connectivity = IndexArray::new(sources, connectivity)?;
    // Legacy files begin with the start of the first cell, XML files with its end.
    let starts = usize::from(offsets.len() > count);
    offsets.expect_numbers(count + starts)?;
    for piece in 0..offsets.pieces() {
        let next = connectivity.index_offset(piece + 1).unwrap_or(points);
        read_points(&connectivity, piece, next, &mut cells)?;
        read_ends(&offsets, piece, starts, &mut cells)?;
    }
    Ok(cells)
}
