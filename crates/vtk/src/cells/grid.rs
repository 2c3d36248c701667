//! The cells that lie between the nodes of a structured grid.

use super::{Cells, check_count};
use crate::error::Error;
use crate::file::Structure;
use crate::geometry::{cell_dims, product};
use crate::source::Sources;

/// The type of a cell with four corners in a plane.
const QUAD: u8 = 9;

/// The type of a cell with eight corners.
const HEXAHEDRON: u8 = 12;

/// Makes the cells: hexahedra, or quads where one axis has a single node. The first index runs
/// fastest, as in arrays on the cells.
pub(super) fn read(
    sources: &Sources,
    structure: &Structure,
    dims: [usize; 3],
) -> Result<Cells, Error> {
    if dims.contains(&0) {
        return Ok(Cells::none());
    }
    let absent = |what| {
        let path = sources.main().path().to_path_buf();
        let remedy = "two of its axes at least need more";
        Err(Error::Absent { path, kind: structure.geometry.kind(), what, remedy })
    };
    let [x, y, _] = dims;
    let steps = [1, x, x.saturating_mul(y)];
    let along: Vec<usize> =
        steps.into_iter().zip(dims).filter(|(_, nodes)| *nodes > 1).map(|(step, _)| step).collect();
    let count = product(cell_dims(dims)).unwrap_or(usize::MAX);
    check_count(sources.main(), count.saturating_mul(1 << along.len()), "corners of cells")?;
    check_file(sources, structure)?;
    let cells = match *along {
        [a, b, c] => between(dims, HEXAHEDRON, [0, a, a + b, b, c, a + c, a + b + c, b + c]),
        [a, b] => between(dims, QUAD, [0, a, a + b, b]),
        [_] => return absent("cells but lines, as only one of its axes has more than one node"),
        _ => return absent("cells but a vertex, as its axes have one node each"),
    };
    cells.ok_or_else(|| sources.main().spot(0, "the cells").out_of_memory(count))
}

/// Cells of one type between nodes: the corners of the first, moved to the others. `None` if there
/// is no memory for them.
fn between<const N: usize>(dims: [usize; 3], kind: u8, corners: [usize; N]) -> Option<Cells> {
    let layers = cell_dims(dims);
    let count = product(layers)?;
    let mut cells = Cells::none();
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

/// Checks that the file holds the nodes, before memory is taken for what lies between them.
fn check_file(sources: &Sources, structure: &Structure) -> Result<(), Error> {
    let Some(points) = &structure.points else {
        return Ok(());
    };
    let element = points.element();
    for part in &points.parts {
        let spot = sources.of(part).spot(part.block.start, &element);
        let found = part.block.measure(spot, points.scalar)?;
        let expected = part.tuples.saturating_mul(points.components);
        if found < expected {
            return Err(spot.malformed(format!("`{found}` numbers"), format!("`{expected}`")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_are_in_the_order_of_vtk() {
        let cells = between([3, 3, 3], HEXAHEDRON, [0, 1, 4, 3, 9, 10, 13, 12]).unwrap();
        assert_eq!(cells.len(), 8);
        assert_eq!(cells.iter().nth(2), Some((12, &[3, 4, 7, 6, 12, 13, 16, 15][..])));
        let cells = between([3, 1, 4], QUAD, [0, 1, 4, 3]).unwrap();
        assert_eq!(cells.iter().nth(3), Some((9, &[4, 5, 8, 7][..])));
        assert_eq!(cells.offsets(), [0, 4, 8, 12, 16, 20, 24]);
    }
}
