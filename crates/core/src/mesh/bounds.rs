//! Bounding boxes.

use burntrace_kernels::{CellKind, MAX_CELL_NODES};
use std::sync::LazyLock;

/// A bounding box; that of a cell has a margin for rounding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Minimum corner.
    pub low: [f64; 3],
    /// Maximum corner.
    pub high: [f64; 3],
}

impl Bounds {
    /// The empty box.
    pub(crate) const EMPTY: Bounds =
        Bounds { low: [f64::INFINITY; 3], high: [f64::NEG_INFINITY; 3] };

    /// The bounding box of points, without those coordinates that are NaN.
    pub fn of(points: impl IntoIterator<Item = [f64; 3]>) -> Self {
        let mut bounds = Bounds::EMPTY;
        points.into_iter().for_each(|point| bounds.add(point));
        bounds
    }

    /// Whether the box is empty and contains no point.
    pub fn is_empty(&self) -> bool {
        (0..3).any(|d| self.low[d] > self.high[d])
    }

    /// Whether a position is inside, on all axes but a flat one.
    pub fn contains(&self, point: [f64; 3], flat: Option<usize>) -> bool {
        let is_within = |d: usize| self.low[d] <= point[d] && point[d] <= self.high[d];
        (0..3).all(|d| Some(d) == flat || is_within(d))
    }

    /// The bounding box of a cell with these nodes, without a margin.
    pub(super) fn of_cell(kind: CellKind, nodes: &[[f64; 3]]) -> Self {
        // Sums are rounded: include the nodes explicitly.
        let mut bounds = Bounds::of(nodes.iter().copied());
        if !kind.is_quadratic() {
            return bounds;
        }
        for weights in hull(kind) {
            let mut point = [0.0; 3];
            for (weight, node) in weights.iter().zip(nodes) {
                for d in 0..3 {
                    point[d] += weight * node[d];
                }
            }
            bounds.add(point);
        }
        bounds
    }

    pub(crate) fn add(&mut self, point: [f64; 3]) {
        for (d, x) in point.into_iter().enumerate() {
            self.low[d] = self.low[d].min(x);
            self.high[d] = self.high[d].max(x);
        }
    }

    /// Whether a box with these corners has points in common with this one.
    pub(crate) fn meets(&self, low: [f64; 3], high: [f64; 3]) -> bool {
        (0..3).all(|d| low[d] <= self.high[d] && self.low[d] <= high[d])
    }

    pub(crate) fn join(&mut self, other: &Bounds) {
        self.add(other.low);
        self.add(other.high);
    }

    /// Longest side.
    pub(super) fn size(&self) -> f64 {
        (0..3).map(|d| self.high[d] - self.low[d]).fold(0.0, f64::max)
    }

    /// Maximum absolute coordinate.
    pub(super) fn magnitude(&self) -> f64 {
        self.low.iter().chain(&self.high).fold(0.0, |max, x| max.max(x.abs()))
    }

    /// Adds a margin on all sides.
    pub(super) fn widened(&self, margin: f64) -> Self {
        Bounds { low: self.low.map(|x| x - margin), high: self.high.map(|x| x + margin) }
    }
}

type Weights = Vec<[f64; MAX_CELL_NODES]>;

/// Weights of nodes that give points whose convex hull contains the cell: the coefficients of its
/// position in Bernstein polynomials of degree 2, which are not negative and add up to 1 inside the
/// cell (G. Farin, Curves and Surfaces for CAGD, chapters 4 and 18). If sides are straight with
/// nodes in the middle, these points are in the hull of the corners, and the box is exact.
fn hull(kind: CellKind) -> &'static Weights {
    static TRIANGLE: LazyLock<Weights> = LazyLock::new(|| simplex(CellKind::QuadraticTriangle));
    static TETRA: LazyLock<Weights> = LazyLock::new(|| simplex(CellKind::QuadraticTetra));
    static HEXAHEDRON: LazyLock<Weights> = LazyLock::new(cube);
    match kind {
        CellKind::QuadraticTriangle => &TRIANGLE,
        CellKind::QuadraticTetra => &TETRA,
        _ => &HEXAHEDRON,
    }
}

/// For each pair (a, b) of corners, `2 x((a + b) / 2) - (x(a) + x(b)) / 2`, which is `x(a)` if both
/// are the same.
fn simplex(kind: CellKind) -> Weights {
    let corners = &kind.table().nodes[..kind.table().corners];
    let mut weights = Vec::new();
    for (i, a) in corners.iter().enumerate() {
        for b in &corners[i..] {
            let middle = kind.weights([0, 1, 2].map(|d| 0.5 * (a[d] + b[d])));
            weights.push(control(kind.weights(*a), middle, kind.weights(*b)));
        }
    }
    weights
}

/// The same along three axes in turn, from x at 27 points.
fn cube() -> Weights {
    let nodes = [0.0, 0.5, 1.0];
    let mut weights: Weights = (0..27)
        .map(|k| {
            let at = [nodes[k % 3], nodes[k / 3 % 3], nodes[k / 9]];
            CellKind::QuadraticHexahedron.weights(at)
        })
        .collect();
    for stride in [1, 3, 9] {
        for k in (0..27).filter(|k| k / stride % 3 == 1) {
            weights[k] = control(weights[k - stride], weights[k], weights[k + stride]);
        }
    }
    weights
}

/// Middle coefficient of a parabola from its values at 0, 1/2 and 1.
fn control(
    first: [f64; MAX_CELL_NODES],
    middle: [f64; MAX_CELL_NODES],
    last: [f64; MAX_CELL_NODES],
) -> [f64; MAX_CELL_NODES] {
    std::array::from_fn(|i| 2.0 * middle[i] - 0.5 * (first[i] + last[i]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::uniform;

    const QUADRATIC: [CellKind; 3] =
        [CellKind::QuadraticTriangle, CellKind::QuadraticTetra, CellKind::QuadraticHexahedron];

    #[test]
    fn boxes_contain_curved_cells() {
        for kind in QUADRATIC {
            for case in 0..50 {
                let shake = |i: u64| 0.6 * uniform(1, i, case, 0) - 0.3;
                let nodes: Vec<[f64; 3]> = (0..kind.nodes())
                    .map(|i| {
                        [0, 1, 2].map(|d| kind.table().nodes[i][d] + shake((3 * i + d) as u64))
                    })
                    .collect();
                let bounds = Bounds::of_cell(kind, &nodes).widened(1e-12);
                for k in 0..200 {
                    let at = [0, 1, 2].map(|d| uniform(2, k, case, d));
                    let at = if kind.dimension() == 2 { [at[0], at[1], 0.0] } else { at };
                    if kind.table().sides.iter().any(|side| side.value(at) < 0.0) {
                        continue;
                    }
                    let weights = kind.weights(at);
                    let point = [0, 1, 2].map(|d| {
                        nodes.iter().zip(&weights).map(|(node, w)| w * node[d]).sum::<f64>()
                    });
                    assert!(bounds.contains(point, None), "{kind:?} {point:?} {bounds:?}");
                }
            }
        }
    }

    #[test]
    fn boxes_of_straight_cells_are_exact() {
        for kind in QUADRATIC {
            let bounds = Bounds::of_cell(kind, kind.table().nodes);
            let z = if kind.dimension() == 2 { 0.0 } else { 1.0 };
            assert_eq!(bounds, Bounds { low: [0.0; 3], high: [1.0, 1.0, z] });
        }
    }
}
