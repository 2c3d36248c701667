//! The explicit cells of an unstructured grid, in the layouts of XML and legacy files.

use super::cell_array::{CellArray, check_count};
use super::indices::IndexArray;
use super::polyhedron::{POLYHEDRON, faces_in, wrong_faces};
use crate::error::Error;
use crate::source::ErrorContext;
use crate::sources::Sources;
use crate::structure::Structure;

/// The dimension of a cell of a VTK type: 3 for volumes, 2 for surfaces, 1 for lines; 0 for vertices, and
/// if the type is unknown.
pub fn cell_dimension(kind: u8) -> usize {
    match kind {
        3 | 4 | 21 | 35 | 68 | 75 => 1,
        5..=9 | 22 | 23 | 28 | 30 | 34 | 69 | 70 | 76 | 77 => 2,
        10..=16 | 24..=27 | 29 | 31..=33 | 37 | 41 | 42 | 71..=74 | 78..=81 => 3,
        _ => 0,
    }
}

/// The highest dimension of the cells of an unstructured grid, by their types.
pub(crate) fn highest_dimension(sources: &Sources, structure: &Structure) -> Result<usize, Error> {
    Ok(types(sources, structure)?.into_iter().map(cell_dimension).max().unwrap_or(0))
}

/// The types of the cells of an unstructured grid.
pub(super) fn types(sources: &Sources, structure: &Structure) -> Result<Vec<u8>, Error> {
    let mut cells = CellArray::empty();
    if let Some(info) = structure.topology.iter().find(|array| array.name == "types") {
        let types = IndexArray::new(sources, info)?;
        for piece in 0..types.pieces() {
            read_types(&types, piece, &mut cells)?;
        }
    }
    Ok(cells.types)
}

/// The number of points of a cell of a VTK type, if it is fixed.
fn points_per_cell(kind: u8) -> Option<usize> {
    Some(match kind {
        1 => 1,       // vertex
        3 => 2,       // line
        5 => 3,       // triangle
        8..=10 => 4,  // pixel, quad, tetrahedron
        11 | 12 => 8, // voxel, hexahedron
        13 => 6,      // wedge
        14 => 5,      // pyramid
        15 => 10,     // pentagonal prism
        16 => 12,     // hexagonal prism
        21 => 3,      // quadratic edge
        22 => 6,      // quadratic triangle
        23 => 8,      // quadratic quad
        24 => 10,     // quadratic tetrahedron
        25 => 20,     // quadratic hexahedron
        26 => 15,     // quadratic wedge
        27 => 13,     // quadratic pyramid
        28 => 9,      // biquadratic quad
        29 => 27,     // triquadratic hexahedron
        30 => 6,      // quadratic linear quad
        31 => 12,     // quadratic linear wedge
        32 => 18,     // biquadratic quadratic wedge
        33 => 24,     // biquadratic quadratic hexahedron
        34 => 7,      // biquadratic triangle
        35 => 4,      // cubic line
        37 => 19,     // triquadratic pyramid
        _ => return None,
    })
}

/// Reads the cells.
pub(super) fn read(sources: &Sources, structure: &Structure) -> Result<CellArray, Error> {
    let mut cells = read_stored(sources, structure)?;
    if structure.has_old_order {
        cells.reorder_hexahedra();
    }
    Ok(cells)
}

/// Reads the cells with their nodes in the order of the file.
fn read_stored(sources: &Sources, structure: &Structure) -> Result<CellArray, Error> {
    let (points, count) = (structure.geometry.num_points(), structure.geometry.num_cells());
    let find = |name: &str| structure.topology.iter().find(|array| array.name == name);
    if count == 0 && find("types").is_none_or(|types| types.tuples == 0) {
        // Writers differ in the other arrays of an empty data set.
        return Ok(CellArray::empty());
    }
    let source = sources.of_structure(structure);
    let array = |name: &str| match find(name) {
        Some(info) => {
            check_count(source, info.tuples, "corners of cells")?;
            IndexArray::new(sources, info)
        }
        None => {
            let found = format!("`{count}` cells without the array `{name}`");
            Err(source.context(0, "the cells").malformed(found, "one"))
        }
    };
    let types = array("types")?;
    types.expect_count(count)?;
    if find("cells").is_some() {
        let cells = array("cells")?;
        let raw = read_legacy_cells(&types, &cells, points)?;
        return without_faces(raw, points, cells.context(0));
    }
    let (offsets, connectivity) = (array("offsets")?, array("connectivity")?);
    // In legacy files, the first offset is the start of the first cell; in XML files, its end.
    let is_legacy = offsets.len() > count;
    offsets.expect_count(count + usize::from(is_legacy))?;
    if is_legacy {
        let raw = read_pieces(&types, &offsets, &connectivity, points, 1)?;
        return without_faces(raw, points, connectivity.context(0));
    }
    read_pieces(&types, &offsets, &connectivity, points, 0)
}

/// Reads the cells of a legacy file as they are stored: a polyhedron as its number of faces, then for each
/// face its number of points and the points. `None` in other files.
pub(super) fn read_legacy(
    sources: &Sources,
    structure: &Structure,
) -> Result<Option<CellArray>, Error> {
    let (points, count) = (structure.geometry.num_points(), structure.geometry.num_cells());
    let find = |name: &str| {
        let found = structure.topology.iter().find(|array| array.name == name);
        found.map(|info| IndexArray::new(sources, info)).transpose()
    };
    let (types, cells) = (find("types")?, find("cells")?);
    Ok(match (types, cells, find("offsets")?, find("connectivity")?) {
        (Some(types), Some(cells), ..) => Some(read_legacy_cells(&types, &cells, points)?),
        (Some(types), _, Some(offsets), Some(connectivity)) if offsets.len() > count => {
            Some(read_pieces(&types, &offsets, &connectivity, points, 1)?)
        }
        _ => None,
    })
}

/// Reads cells piece by piece. The data set has `points` points; the offsets have `leading` zeros
/// before the end of the first cell, in legacy files, where polyhedra are their faces.
fn read_pieces(
    types: &IndexArray<'_>,
    offsets: &IndexArray<'_>,
    connectivity: &IndexArray<'_>,
    points: usize,
    leading: usize,
) -> Result<CellArray, Error> {
    let mut cells = CellArray::empty();
    for piece in 0..types.pieces() {
        let first = cells.types.len();
        read_types(types, piece, &mut cells)?;
        let has_faces = leading > 0 && cells.types.contains(&POLYHEDRON);
        let points = if has_faces { usize::MAX } else { points };
        let next = connectivity.index_offset(piece + 1).unwrap_or(points);
        read_connectivity(connectivity, piece, next, &mut cells)?;
        read_offsets(offsets, piece, leading, &mut cells)?;
        check_sizes(offsets.context(piece), &cells, first)?;
    }
    Ok(cells)
}

/// Reads the size-prefixed cells of old legacy files, polyhedra as their faces.
fn read_legacy_cells(
    types: &IndexArray<'_>,
    array: &IndexArray<'_>,
    points: usize,
) -> Result<CellArray, Error> {
    let mut cells = CellArray::empty();
    read_types(types, 0, &mut cells)?;
    let points = if cells.types.contains(&POLYHEDRON) { usize::MAX } else { points };
    let count = cells.len();
    read_size_prefixed(&mut cells, count, array, points)?;
    check_sizes(array.context(0), &cells, 0)?;
    Ok(cells)
}

/// Reads the connectivity of `count` cells, each stored as its number of points, then the points.
pub(super) fn read_size_prefixed(
    cells: &mut CellArray,
    count: usize,
    array: &IndexArray<'_>,
    points: usize,
) -> Result<(), Error> {
    let mut numbers = Vec::new();
    array.read(0, &mut numbers, |number| u32::try_from(number).ok(), "a size or an index")?;
    let context = array.context(0);
    cells.reserve(numbers.len(), context)?;
    let mut rest = numbers.as_slice();
    for cell in 0..count {
        let split = rest.split_first().and_then(|(n, rest)| rest.split_at_checked(*n as usize));
        let Some((corners, after)) = split else {
            let found = format!("`{}` numbers from cell `{cell}` on", rest.len());
            return Err(context.malformed(found, "the number of its points, then the points"));
        };
        if let Some(point) = corners.iter().find(|point| **point as usize >= points) {
            let found = format!("point `{point}` in cell `{cell}`");
            return Err(context.malformed(found, valid_indices(points)));
        }
        cells.connectivity.extend_from_slice(corners);
        cells.offsets.push(cells.connectivity.len() as u32);
        rest = after;
    }
    if !rest.is_empty() {
        return Err(
            context.malformed(format!("`{}` numbers after the last cell", rest.len()), "none")
        );
    }
    Ok(())
}

fn read_types(array: &IndexArray<'_>, piece: usize, cells: &mut CellArray) -> Result<(), Error> {
    array.read(piece, &mut cells.types, |kind| u8::try_from(kind).ok(), "a cell type")
}

/// Reads the connectivity of a piece; the points of the next piece start at `next`.
pub(super) fn read_connectivity(
    array: &IndexArray<'_>,
    piece: usize,
    next: usize,
    cells: &mut CellArray,
) -> Result<(), Error> {
    let before = array.index_offset(piece).unwrap_or(0);
    let own = next.saturating_sub(before);
    let index = |point| if point < own { u32::try_from(before + point).ok() } else { None };
    array.read(piece, &mut cells.connectivity, index, &valid_indices(own))
}

/// Reads the offsets of the cells whose connectivity was read last, after `leading` zeros.
pub(super) fn read_offsets(
    array: &IndexArray<'_>,
    piece: usize,
    leading: usize,
    cells: &mut CellArray,
) -> Result<(), Error> {
    let known = cells.offsets.len();
    let before = cells.offsets.last().copied().unwrap_or(0);
    let end = |end| u32::try_from(end).ok()?.checked_add(before);
    array.read(piece, &mut cells.offsets, end, "the end of a cell")?;
    let context = array.context(piece);
    let zeros = known..(known + leading).min(cells.offsets.len());
    if let Some(start) = cells.offsets.drain(zeros).find(|start| *start != 0) {
        return Err(context.malformed(format!("a first cell that starts at `{start}`"), "`0`"));
    }
    let mut bounds = cells.offsets.get(known - 1..).unwrap_or_default().array_windows().enumerate();
    if let Some((cell, [start, end])) = bounds.find(|(_, [start, end])| end < start) {
        let found = format!("an end of cell `{cell}` at `{}`", end - before);
        return Err(context.malformed(found, format!("`{}` or more, its start", start - before)));
    }
    let (end, len) = (cells.offsets.last().copied().unwrap_or(0), cells.connectivity.len() as u32);
    if end != len {
        let found = format!("an end of the last cell at `{}`", end - before);
        let expected = format!("`{}`, the length of the connectivity", len - before);
        return Err(context.malformed(found, expected));
    }
    Ok(())
}

/// The cells of a legacy file with the points of polyhedra, each once, instead of their faces.
fn without_faces(
    raw: CellArray,
    points: usize,
    context: ErrorContext<'_>,
) -> Result<CellArray, Error> {
    if !raw.types.contains(&POLYHEDRON) {
        return Ok(raw);
    }
    let mut cells = CellArray::empty();
    for (cell, (kind, numbers)) in raw.iter().enumerate() {
        if kind == POLYHEDRON {
            let faces = faces_in(numbers, points);
            let faces = faces.ok_or_else(|| wrong_faces(context, cell, points))?;
            let mut corners: Vec<u32> = faces.into_iter().flatten().copied().collect();
            corners.sort_unstable();
            corners.dedup();
            cells.push(kind, corners);
        } else if let Some(point) = numbers.iter().find(|point| **point as usize >= points) {
            let found = format!("point `{point}` in cell `{cell}`");
            return Err(context.malformed(found, valid_indices(points)));
        } else {
            cells.push(kind, numbers.iter().copied());
        }
    }
    Ok(cells)
}

/// Checks the number of points of the cells from `first` on, if their type fixes it. Messages count
/// cells from there, as the piece does.
fn check_sizes(context: ErrorContext<'_>, cells: &CellArray, first: usize) -> Result<(), Error> {
    let types = cells.types.get(first..).unwrap_or_default();
    let bounds = cells.offsets.get(first..).unwrap_or_default().array_windows();
    for (cell, (kind, [start, end])) in types.iter().zip(bounds).enumerate() {
        let points = (end - start) as usize;
        if let Some(expected) = points_per_cell(*kind).filter(|expected| *expected != points) {
            let found = format!("cell `{cell}` of type `{kind}` with `{points}` points");
            return Err(context.malformed(found, format!("`{expected}` for this type")));
        }
    }
    Ok(())
}

/// The valid point indices, for messages.
fn valid_indices(points: usize) -> String {
    match points.checked_sub(1) {
        Some(last) => format!("a point from `0` to `{last}`"),
        None => "no index, as there are no points".to_owned(),
    }
}
