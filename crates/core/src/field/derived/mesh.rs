//! Derivatives at the points or in the cells of a mesh.

mod cells;

use crate::{Floats, MeshSource, Result, mesh::coincident, vectors::cross};
use burntrace_kernels::{CellKind, Placement};
use cells::Around;

/// What derivatives on a mesh need to know of it in all frames.
#[derive(Clone, Debug)]
pub(super) enum Shared {
    /// The number of each point, the same for points that coincide, as in files in pieces.
    Nodes(Vec<u32>),
    Cells(Around),
}

impl Shared {
    /// # Errors
    ///
    /// If the mesh is not valid.
    pub fn of(source: &impl MeshSource) -> Result<Self> {
        let numbers = coincident(source.points(), source.cells())?;
        Ok(match source.placement() {
            Placement::Cells => {
                Shared::Cells(Around::new(source.points(), source.cells(), &numbers))
            }
            Placement::Nodes | Placement::Faces => Shared::Nodes(numbers),
        })
    }

    /// The derivatives by x, y and z of each component at each point or in each cell, or `None` for a wrong number of values. Values that are
    /// missing leave their cells out.
    pub fn gradients(
        &self,
        source: &impl MeshSource,
        values: &Floats,
        components: usize,
    ) -> Option<Vec<f64>> {
        let count = match self {
            Shared::Nodes(numbers) => numbers.len(),
            Shared::Cells(around) => around.count(),
        };
        let is_whole = values.len() == count * components;
        is_whole.then(|| match self {
            Shared::Nodes(numbers) => at_points(source, numbers, values, components),
            Shared::Cells(around) => around.gradients(values, components),
        })
    }
}

fn at_points(
    source: &impl MeshSource,
    numbers: &[u32],
    values: &Floats,
    components: usize,
) -> Vec<f64> {
    let (points, cells, width) = (source.points(), source.cells(), 3 * components);
    let values: Vec<f64> = (0..values.len()).map(|i| values.get(i)).collect();
    let (mut sums, mut weights) = (vec![0.0; width * points.len()], vec![0.0; points.len()]);
    for (cell, kind) in cells.kinds.iter().enumerate() {
        let nodes = cells.nodes(cell);
        for (node, at) in nodes.iter().zip(kind.table().nodes) {
            let at = if is_apex(*kind, at) { kind.centre() } else { *at };
            if let Some((weight, slopes)) =
                slopes((*kind, nodes), at, points, (&values, components))
            {
                let i = numbers[*node as usize] as usize;
                weights[i] += weight;
                let sum = &mut sums[width * i..width * (i + 1)];
                sum.iter_mut().zip(slopes).for_each(|(sum, slope)| *sum += weight * slope);
            }
        }
    }
    let of_point = |number: &u32| {
        let (i, sums) = (*number as usize, &sums);
        let weight = weights[i];
        (width * i..width * (i + 1)).map(move |k| sums[k] / weight)
    };
    numbers.iter().flat_map(of_point).collect()
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
