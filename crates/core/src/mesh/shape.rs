//! The map of one cell between parametric coordinates and positions, and its inverse.

use super::bounds::Bounds;
use crate::Precision;
use burntrace_kernels::{CellKind, MAX_CELL_NODES};

/// Distance from a side within which a position is inside, relative to the cell's size.
const SLACK: f64 = 1e-10;
/// Additional distance for the rounding of coordinates, relative to the maximum coordinate.
const ROUNDING: f64 = 4.0 * f64::EPSILON;
/// Maximum of both together, in parametric coordinates.
const MAX_SLACK: f64 = 1e-3;
/// Maximum number of Newton steps; in a cell that is not folded, four or five suffice.
const STEPS: usize = 25;
/// Length of the last step, in parametric coordinates: its square is negligible.
const SHORT: f64 = 1e-12;
/// Limit of the search, in parametric coordinates.
const FAR: f64 = 1e3;

/// The position in a cell as a polynomial of parametric coordinates, relative to its first node and
/// its size, which keeps numbers near 1 for any unit of length.
pub(super) struct Shape {
    pub(super) kind: CellKind,
    /// The axis normal to the plane of a two-dimensional cell.
    flat: Option<usize>,
    origin: [f64; 3],
    pub(super) size: f64,
    /// Distance from a side within which a position is inside, relative to the size.
    slack: f64,
    /// The coefficient vector of each term.
    terms: [[f64; 3]; MAX_CELL_NODES],
}

/// Parametric coordinates of a position, as found in a cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    pub at: [f64; 3],
    /// Whether Newton's method has converged.
    pub has_converged: bool,
    /// Whether the position is in the cell, up to rounding errors.
    pub is_inside: bool,
    /// The face to cross towards the position.
    pub face: usize,
}

pub(super) type Matrix = [[f64; 3]; 3];

impl Shape {
    /// The map of a cell; `None` if all nodes coincide, or if their distances overflow. Positions
    /// are rounded to `precision`.
    pub fn new(
        kind: CellKind,
        nodes: &[[f64; 3]],
        flat: Option<usize>,
        precision: Precision,
    ) -> Option<Self> {
        let mut bounds = Bounds::EMPTY;
        nodes.iter().for_each(|node| bounds.add(*node));
        let size = bounds.size();
        if !(f64::MIN_POSITIVE..f64::INFINITY).contains(&size) {
            return None;
        }
        let origin = nodes[0];
        let mut terms = [[0.0; 3]; MAX_CELL_NODES];
        let table = kind.table();
        // In two dimensions, nothing depends on the flat axis.
        let offset = |node: &[f64; 3]| {
            let along = |d: usize| if Some(d) == flat { 0.0 } else { (node[d] - origin[d]) / size };
            [along(0), along(1), along(2)]
        };
        if kind.is_affine() {
            // Adding 0 removes the sign of zero.
            let terms = terms.iter_mut().zip(nodes);
            terms.for_each(|(term, node)| *term = offset(node).map(|x| x + 0.0));
        } else {
            for (node, row) in nodes.iter().zip(&table.coefficients) {
                let offset = offset(node);
                for (term, c) in terms.iter_mut().zip(&row[..table.exponents.len()]) {
                    for d in 0..3 {
                        term[d] += c * offset[d];
                    }
                }
            }
        }
        let rounding = ROUNDING * precision.epsilon() / f64::EPSILON;
        let slack = SLACK + rounding * (1.0 + bounds.magnitude() / size);
        Some(Shape { kind, flat, origin, size, slack, terms })
    }

    /// Locates a position by Newton's method from the cell's centre.
    pub fn locate(&self, point: [f64; 3]) -> Answer {
        self.locate_from(point, self.kind.centre())
    }

    /// Locates a position from several starts, for strongly distorted cells.
    pub fn locate_from_several_starts(&self, point: [f64; 3]) -> Answer {
        let (table, centre) = (self.kind.table(), self.kind.centre());
        let half = |node: &[f64; 3]| [0, 1, 2].map(|d| 0.5 * (node[d] + centre[d]));
        let starts = table.nodes.iter().map(half);
        let mut answers = starts.map(|start| self.locate_from(point, start));
        answers.find(|answer| answer.is_inside).unwrap_or_else(|| self.locate(point))
    }

    fn locate_from(&self, point: [f64; 3], start: [f64; 3]) -> Answer {
        let target = self.relative(point);
        let (mut at, mut first) = (start, None);
        for _ in 0..STEPS {
            let jacobian = self.jacobian(at);
            let Some(inverse) = inverse(&jacobian) else {
                // At the apex of a pyramid, r and s are undefined.
                return self.at_singularity(at, &target, first);
            };
            let position = self.position(at);
            let step = apply(&inverse, [0, 1, 2].map(|d| target[d] - position[d]));
            at = [0, 1, 2].map(|d| at[d] + step[d]);
            first = first.or(Some(at));
            let length = max_abs(&step);
            if self.kind.is_affine() || length <= SHORT.max(ROUNDING * norm(&inverse)) {
                return self.classify(at, &inverse);
            }
            if !max_abs(&at).is_finite() || max_abs(&at) > FAR {
                break;
            }
        }
        Answer {
            has_converged: false,
            is_inside: false,
            ..self.classify(first.unwrap_or(start), &UNIT)
        }
    }

    fn at_singularity(&self, at: [f64; 3], target: &[f64; 3], first: Option<[f64; 3]>) -> Answer {
        let position = self.position(at);
        let rest = [0, 1, 2].map(|d| target[d] - position[d]);
        if max_abs(&rest) <= self.slack {
            return self.classify(at, &UNIT);
        }
        Answer {
            has_converged: false,
            is_inside: false,
            ..self.classify(first.unwrap_or(at), &UNIT)
        }
    }

    /// Compares parametric coordinates with the sides. The gradient of a side converts its
    /// tolerance in space to parametric coordinates, which gives thin cells and the apex of a
    /// pyramid the tolerance that they need.
    fn classify(&self, at: [f64; 3], inverse: &Matrix) -> Answer {
        let mut answer = Answer { at, has_converged: true, is_inside: true, face: 0 };
        let mut lowest = f64::INFINITY;
        for side in self.kind.table().sides {
            let value = side.value(at);
            let gradient: f64 = (0..3)
                .map(|d| {
                    (0..3).map(|k| f64::from(side.plane[k + 1]) * inverse[k][d]).sum::<f64>().abs()
                })
                .sum();
            // NaN is outside.
            answer.is_inside &= value >= -self.allowance(gradient);
            if value < lowest {
                (lowest, answer.face) = (value, side.face);
            }
        }
        answer
    }

    /// Tolerance of a side with this gradient, in parametric coordinates.
    fn allowance(&self, gradient: f64) -> f64 {
        let allowance = SLACK + self.slack * gradient;
        // A cell thinner than the tolerance must not include distant positions. Near the apex of a
        // pyramid, r and s are arbitrary because their weights vanish.
        if self.kind == CellKind::Pyramid { allowance } else { allowance.min(MAX_SLACK) }
    }

    /// Gradients of the parametric coordinates, a row for each; `None` if the Jacobian is singular.
    pub fn gradients(&self, at: [f64; 3]) -> Option<Matrix> {
        let mut inverse = inverse(&self.jacobian(at))?;
        inverse.as_flattened_mut().iter_mut().for_each(|x| *x /= self.size);
        Some(inverse)
    }

    /// Determinants of the Jacobian at the centre and at all nodes, relative to the size.
    pub fn determinants(&self) -> impl Iterator<Item = f64> {
        let nodes = self.kind.table().nodes;
        // Constant for an affine map.
        let count = if self.kind.is_affine() { 0 } else { nodes.len() };
        std::iter::once(self.kind.centre())
            .chain(nodes[..count].iter().copied())
            .map(|at| determinant(&self.jacobian(at)))
    }

    /// Rounding error of a determinant that should be zero.
    pub fn determinant_slack(&self) -> f64 {
        self.slack - SLACK + 12.0 * f64::EPSILON
    }

    fn relative(&self, point: [f64; 3]) -> [f64; 3] {
        let along = |d: usize| (point[d] - self.origin[d]) / self.size;
        std::array::from_fn(|d| if Some(d) == self.flat { 0.0 } else { along(d) })
    }

    /// The position at parametric coordinates.
    pub fn point(&self, at: [f64; 3]) -> [f64; 3] {
        let position = self.position(at);
        [0, 1, 2].map(|d| self.origin[d] + self.size * position[d])
    }

    fn position(&self, at: [f64; 3]) -> [f64; 3] {
        let mut position = [0.0; 3];
        for (term, factor) in self.terms.iter().zip(self.kind.terms(at)) {
            position = [0, 1, 2].map(|d| position[d] + factor * term[d]);
        }
        position
    }

    /// Derivatives of the position, a row for each component. In two dimensions the flat axis is
    /// t, so that the same inverse applies.
    pub(super) fn jacobian(&self, at: [f64; 3]) -> Matrix {
        let mut jacobian = [[0.0; 3]; 3];
        if self.kind.is_affine() {
            // The terms are 1 and the coordinates.
            for (k, term) in self.terms[1..=3].iter().enumerate() {
                (0..3).for_each(|d| jacobian[d][k] = term[d]);
            }
        } else {
            for (term, gradient) in self.terms.iter().zip(self.kind.term_gradients(at)) {
                for d in 0..3 {
                    for k in 0..3 {
                        jacobian[d][k] += gradient[k] * term[d];
                    }
                }
            }
        }
        if let Some(flat) = self.flat {
            jacobian[flat][2] = 1.0;
        }
        jacobian
    }
}

const UNIT: Matrix = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

fn max_abs(v: &[f64; 3]) -> f64 {
    v.iter().map(|x| x.abs()).fold(0.0, |a, b| if b > a || b.is_nan() { b } else { a })
}

/// Maximum row sum.
fn norm(m: &Matrix) -> f64 {
    m.iter().map(|row| row.iter().map(|x| x.abs()).sum()).fold(0.0, f64::max)
}

pub(super) fn apply(m: &Matrix, v: [f64; 3]) -> [f64; 3] {
    [0, 1, 2].map(|k| m[k][0] * v[0] + m[k][1] * v[1] + m[k][2] * v[2])
}

pub(super) fn cross(a: &[f64; 3], b: &[f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub(super) fn determinant(m: &Matrix) -> f64 {
    let c = cross(&m[1], &m[2]);
    m[0][0] * c[0] + m[0][1] * c[1] + m[0][2] * c[2]
}

/// The columns of the inverse are cross products of the rows, divided by the determinant.
fn inverse(m: &Matrix) -> Option<Matrix> {
    let columns = [cross(&m[1], &m[2]), cross(&m[2], &m[0]), cross(&m[0], &m[1])];
    let per = 1.0 / determinant(m);
    let row = |k: usize| [columns[0][k] * per, columns[1][k] * per, columns[2][k] * per];
    let inverse = [row(0), row(1), row(2)];
    inverse.as_flattened().iter().all(|x| x.is_finite()).then_some(inverse)
}
