//! Bounding boxes and orientations of cells.

use super::{bounds::Bounds, input::Cells, locator::padded, shape::Shape};
use crate::Precision;
use crate::threads::filled;
use burntrace_kernels::{CellKind, MAX_CELL_NODES};

/// The boxes of all cells, and the number of irregular ones.
pub(super) struct Survey {
    /// Bounding boxes; empty for cells without volume.
    pub boxes: Vec<Bounds>,
    pub degenerate: usize,
    pub inverted: usize,
    pub folded: usize,
}

/// The orientation of a cell.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Orientation {
    Degenerate,
    /// The Jacobian determinant has one sign.
    Sound {
        is_negative: bool,
    },
    /// The Jacobian determinant has both signs.
    Folded {
        is_negative: bool,
    },
}

/// Examines all cells.
pub(super) fn survey(
    points: &[[f64; 3]],
    cells: &Cells,
    flat: Option<usize>,
    precision: Precision,
) -> Survey {
    let (boxes, parts) = filled((cells.len(), 1), Bounds::EMPTY, |range, boxes| {
        let mut counts = Counts::default();
        for (cell, bounds) in range.zip(boxes) {
            let mut buffer = [[0.0; 3]; MAX_CELL_NODES];
            let nodes = nodes(points, cells, cell, &mut buffer);
            let orientation;
            (*bounds, orientation) = examine(cells.kinds[cell], nodes, flat, precision);
            counts.add(cells.kinds[cell], orientation);
        }
        counts
    });
    let sum = |of: &dyn Fn(&Counts) -> usize| parts.iter().map(of).sum::<usize>();
    let inverted = (0..CellKind::ALL.len()).map(|kind| {
        let [positive, negative] = [0, 1].map(|sign| sum(&|part| part.signs[kind][sign]));
        positive.min(negative)
    });
    Survey {
        inverted: inverted.sum(),
        degenerate: sum(&|part| part.degenerate),
        folded: sum(&|part| part.folded),
        boxes,
    }
}

/// Numbers of cells by their orientation.
#[derive(Default)]
struct Counts {
    degenerate: usize,
    folded: usize,
    /// Cells of each kind with a positive and with a negative Jacobian determinant.
    signs: [[usize; 2]; CellKind::ALL.len()],
}

impl Counts {
    fn add(&mut self, kind: CellKind, orientation: Orientation) {
        match orientation {
            Orientation::Degenerate => self.degenerate += 1,
            Orientation::Sound { is_negative } | Orientation::Folded { is_negative } => {
                self.signs[kind as usize][usize::from(is_negative)] += 1;
                self.folded += usize::from(matches!(orientation, Orientation::Folded { .. }));
            }
        }
    }
}

/// Coordinates of the nodes of a cell.
pub(super) fn nodes<'a>(
    points: &[[f64; 3]],
    cells: &Cells,
    cell: usize,
    buffer: &'a mut [[f64; 3]; MAX_CELL_NODES],
) -> &'a [[f64; 3]] {
    let numbers = cells.nodes(cell);
    for (node, number) in buffer.iter_mut().zip(numbers) {
        *node = points[*number as usize];
    }
    &buffer[..numbers.len()]
}

fn examine(
    kind: CellKind,
    nodes: &[[f64; 3]],
    flat: Option<usize>,
    precision: Precision,
) -> (Bounds, Orientation) {
    match orientation(kind, nodes, flat) {
        Orientation::Degenerate => (Bounds::EMPTY, Orientation::Degenerate),
        orientation => (padded(&Bounds::of_cell(kind, nodes), precision), orientation),
    }
}

fn orientation(kind: CellKind, nodes: &[[f64; 3]], flat: Option<usize>) -> Orientation {
    let Some(shape) = Shape::new(kind, nodes, flat, Precision::F64) else {
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
