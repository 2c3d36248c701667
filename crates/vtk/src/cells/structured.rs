//! The implicit cells of a structured grid.

use super::cell_array::{CellArray, check_count};
use crate::array::{ArrayInfo, Association};
use crate::block::Encoding;
use crate::error::Error;
use crate::geometry::{cell_dims, product};
use crate::sources::Sources;
use crate::structure::Structure;

/// The VTK type of a quad.
const QUAD: u8 = 9;

/// The VTK type of a hexahedron.
const HEXAHEDRON: u8 = 12;

/// Computes the cells: hexahedra, or quads if one axis has a single node. The first index varies
/// fastest, as in cell arrays.
pub(super) fn read(
    sources: &Sources,
    structure: &Structure,
    dims: [usize; 3],
) -> Result<CellArray, Error> {
    if dims.contains(&0) {
        return Ok(CellArray::empty());
    }
    let source = sources.of_structure(structure);
    let absent = |what| {
        let path = source.path().to_path_buf();
        let remedy = "use a grid with more nodes along at least two axes";
        Err(Error::Absent { path, kind: structure.geometry.kind(), what, remedy })
    };
    let [x, y, _] = dims;
    let steps = [1, x, x.saturating_mul(y)];
    let along: Vec<usize> =
        steps.into_iter().zip(dims).filter(|(_, nodes)| *nodes > 1).map(|(step, _)| step).collect();
    let count = product(cell_dims(dims)).unwrap_or(usize::MAX);
    check_count(source, count.saturating_mul(1 << along.len()), "corners of cells")?;
    check_file(sources, structure)?;
    let cells = match *along {
        [a, b, c] => between(dims, HEXAHEDRON, [0, a, a + b, b, c, a + c, a + b + c, b + c]),
        [a, b] => between(dims, QUAD, [0, a, a + b, b]),
        [_] => return absent("2-D or 3-D cells: only one axis has more than one node"),
        _ => return absent("2-D or 3-D cells: each axis has a single node"),
    };
    cells.ok_or_else(|| source.context(0, "the cells").out_of_memory(count))
}

/// The cells of one type between the nodes, from the corners of the first cell. `None` if there is
/// not enough memory.
fn between<const N: usize>(dims: [usize; 3], kind: u8, corners: [usize; N]) -> Option<CellArray> {
    let layers = cell_dims(dims);
    let count = product(layers)?;
    let mut cells = CellArray::empty();
    cells.types.try_reserve_exact(count).ok()?;
    cells.types.resize(count, kind);
    cells.offsets.try_reserve_exact(count).ok()?;
    cells.offsets.extend((1..=count).map(|cell| (N * cell) as u32));
    cells.connectivity.try_reserve_exact(count.checked_mul(N)?).ok()?;
    let ([nodes_x, nodes_y, _], [x, y, z]) = (dims, layers);
    for row in (0..z).flat_map(|k| (0..y).map(move |j| (k * nodes_y + j) * nodes_x)) {
        for first in row..row + x {
            cells.connectivity.extend(corners.map(|corner| (first + corner) as u32));
        }
    }
    Some(cells)
}

/// Checks that the file contains the nodes, or the values of an array at them or in the cells, before
/// memory for the cells is allocated.
fn check_file(sources: &Sources, structure: &Structure) -> Result<(), Error> {
    let is_of_nodes = |array: &&ArrayInfo| {
        matches!(array.association, Association::Point | Association::Cell)
            && !array.parts.iter().any(|part| part.block.encoding == Encoding::Zeros)
    };
    let Some(array) = structure.points.as_ref().or(structure.arrays.iter().find(is_of_nodes))
    else {
        let context = sources.of_structure(structure).context(0, "the data set");
        return Err(context.malformed("no array of its points or cells", "at least one"));
    };
    let element = array.element();
    for part in &array.parts {
        let context = sources.of(part).context(part.block.start, &element);
        let found = part.block.count_values(context, array.scalar)?;
        let expected = part.tuples.saturating_mul(array.components);
        if found < expected {
            return Err(context.malformed(format!("`{found}` numbers"), format!("`{expected}`")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_are_in_vtk_order() {
        let cells = between([3, 3, 3], HEXAHEDRON, [0, 1, 4, 3, 9, 10, 13, 12]).unwrap();
        assert_eq!(cells.len(), 8);
        assert_eq!(cells.iter().nth(2), Some((12, &[3, 4, 7, 6, 12, 13, 16, 15][..])));
        let cells = between([3, 1, 4], QUAD, [0, 1, 4, 3]).unwrap();
        assert_eq!(cells.iter().nth(3), Some((9, &[4, 5, 8, 7][..])));
        assert_eq!(cells.offsets(), [0, 4, 8, 12, 16, 20, 24]);
    }
}
