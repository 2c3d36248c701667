//! What each cell is like: its box, and whether it can be used.

use super::{Bounds, Cells, Shape, locator::padded, threads::in_parts};
use crate::Precision;
use burntrace_kernels::{CellKind, MAX_CELL_NODES};

/// Boxes of all cells, and how many cells there are of which nature.
pub(super) struct Survey {
    /// Nothing where a cell has no volume.
    pub boxes: Vec<Bounds>,
    pub degenerate: usize,
    pub inverted: usize,
    pub folded: usize,
}

/// How a cell is turned.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Orientation {
    Degenerate,
    /// Its Jacobian determinant has one sign.
    Sound {
        is_negative: bool,
    },
    /// It has both.
    Folded {
        is_negative: bool,
    },
}

/// Looks at all cells.
pub(super) fn survey(points: &[[f64; 3]], cells: &Cells, precision: Precision) -> Survey {
    let parts = in_parts(cells.len(), |range| {
        let looks = range.map(|cell| {
            let mut buffer = [[0.0; 3]; MAX_CELL_NODES];
            let nodes = nodes(points, cells, cell, &mut buffer);
            look(cells.kinds[cell], nodes, precision)
        });
        looks.collect::<Vec<_>>()
    });
    let mut survey =
        Survey { boxes: Vec::with_capacity(cells.len()), degenerate: 0, inverted: 0, folded: 0 };
    let mut turned = vec![[0_usize; 2]; CellKind::ALL.len()];
    for (cell, (bounds, nature)) in parts.into_iter().flatten().enumerate() {
        survey.boxes.push(bounds);
        match nature {
            Orientation::Degenerate => survey.degenerate += 1,
            Orientation::Sound { is_negative } | Orientation::Folded { is_negative } => {
                turned[cells.kinds[cell] as usize][usize::from(is_negative)] += 1;
                survey.folded += usize::from(matches!(nature, Orientation::Folded { .. }));
            }
        }
    }
    survey.inverted = turned.iter().map(|ways| ways[0].min(ways[1])).sum();
    survey
}

/// Where the nodes of a cell are.
pub(super) fn nodes<'a>(
    points: &[[f64; 3]],
    cells: &Cells,
    cell: usize,
    buffer: &'a mut [[f64; 3]; MAX_CELL_NODES],
) -> &'a [[f64; 3]] {
    let numbers = cells.nodes(cell);
    for (place, number) in buffer.iter_mut().zip(numbers) {
        *place = points[*number as usize];
    }
    &buffer[..numbers.len()]
}

fn look(kind: CellKind, nodes: &[[f64; 3]], precision: Precision) -> (Bounds, Orientation) {
    match nature(kind, nodes) {
        Orientation::Degenerate => (Bounds::EMPTY, Orientation::Degenerate),
        nature => (padded(&Bounds::of_cell(kind, nodes), precision), nature),
    }
}

fn nature(kind: CellKind, nodes: &[[f64; 3]]) -> Orientation {
    let Some(shape) = Shape::new(kind, nodes, Precision::F64) else {
        return Orientation::Degenerate;
    };
    let (mut low, mut high, mut sum) = (0.0, 0.0, 0.0);
    for determinant in shape.determinants() {
        low = determinant.min(low);
        high = determinant.max(high);
        sum += determinant;
    }
    let slack = shape.determinant_slack();
    if low >= -slack && high <= slack {
        return Orientation::Degenerate;
    }
    let is_negative = sum < 0.0;
    if low < -slack && high > slack {
        Orientation::Folded { is_negative }
    } else {
        Orientation::Sound { is_negative }
    }
}
