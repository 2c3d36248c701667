//! Derivatives at the points or in the cells of a mesh.

mod cells;

use crate::{Floats, MeshSource};
use burntrace_kernels::{CellKind, Placement};

/// The derivatives by x, y and z of each component at each point or in each cell, or `None` for a wrong number of values. Values that are
/// missing leave their cells out.
pub(super) fn gradients(
    source: &impl MeshSource,
    values: &Floats,
    components: usize,
) -> Option<Vec<f64>> {
    let (points, cells) = (source.points(), source.cells());
    let in_cells = source.placement() == Placement::Cells;
    let count = if in_cells { cells.len() } else { points.len() };
    if values.len() != count * components {
        return None;
    }
    let width = 3 * components;
    if in_cells {
        return Some(cells::gradients((points, cells), values, components));
    }
    let at_points: Vec<f64> = (0..values.len()).map(|i| values.get(i)).collect();
    let (mut sums, mut weights) = (vec![0.0; width * count], vec![0.0; count]);
    for (cell, kind) in cells.kinds.iter().enumerate() {
        let nodes = cells.nodes(cell);
        for (node, at) in nodes.iter().zip(kind.table().nodes) {
            let at = if is_apex(*kind, at) { kind.centre() } else { *at };
            if let Some((weight, slopes)) =
                slopes((*kind, nodes), at, points, (&at_points, components))
            {
                let i = *node as usize;
                weights[i] += weight;
                let sum = &mut sums[width * i..width * (i + 1)];
                sum.iter_mut().zip(slopes).for_each(|(sum, slope)| *sum += weight * slope);
            }
        }
    }
    for (slopes, weight) in sums.chunks_exact_mut(width).zip(&weights) {
        slopes.iter_mut().for_each(|slope| *slope /= weight);
    }
    Some(sums)
}

/// Whether a node is the apex of a pyramid, where two directions are one.
fn is_apex(kind: CellKind, at: &[f64; 3]) -> bool {
    kind == CellKind::Pyramid && at[2] == 1.0
}

/// The derivatives at parametric coordinates of a cell, and the size of the cell there; `None` if it is flat, or values are missing.
fn slopes(
    (kind, nodes): (CellKind, &[u32]),
    at: [f64; 3],
    points: &[[f64; 3]],
    (values, components): (&[f64], usize),
) -> Option<(f64, Vec<f64>)> {
    let by = kind.gradients(at);
    // The derivatives of the position by r, s and t.
    let mut axes = [[0.0; 3]; 3];
    for (node, by) in nodes.iter().zip(&by) {
        let point = points[*node as usize];
        for (axis, by) in axes.iter_mut().zip(by) {
            (0..3).for_each(|d| axis[d] += by * point[d]);
        }
    }
    if kind.dimension() == 2 {
        // Nothing changes across the plane.
        axes[2] = cross(axes[0], axes[1]);
        let length = axes[2].iter().map(|x| x * x).sum::<f64>().sqrt();
        axes[2] = axes[2].map(|x| x / length);
    }
    let across = [cross(axes[1], axes[2]), cross(axes[2], axes[0]), cross(axes[0], axes[1])];
    let size: f64 = (0..3).map(|d| axes[0][d] * across[0][d]).sum();
    if !(size.is_finite() && size != 0.0) {
        return None;
    }
    let mut slopes = vec![0.0; 3 * components];
    for (node, by) in nodes.iter().zip(&by) {
        let gradient = [0, 1, 2].map(|d| (0..3).map(|k| across[k][d] * by[k]).sum::<f64>() / size);
        for c in 0..components {
            let value = values[components * *node as usize + c];
            (0..3).for_each(|d| slopes[3 * c + d] += gradient[d] * value);
        }
    }
    slopes.iter().all(|slope| slope.is_finite()).then_some((size.abs(), slopes))
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}
