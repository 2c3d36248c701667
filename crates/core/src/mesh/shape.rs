//! The map of one cell between parametric coordinates and positions, and back.

use super::Bounds;
use crate::Precision;
use burntrace_kernels::{CellKind, MAX_CELL_NODES};

/// How far beyond a side a position still belongs to a cell, in the cell's size.
const SLACK: f64 = 1e-10;
/// The same for the rounding of coordinates, in the greatest coordinate.
const ROUNDING: f64 = 4.0 * f64::EPSILON;
/// The most of both together, in parametric coordinates.
const MAX_SLACK: f64 = 1e-3;
/// Newton's steps; inside a cell that is not folded four or five are usual.
const STEPS: usize = 25;
/// A step so short, in parametric coordinates, is the last one: its square is nothing.
const SHORT: f64 = 1e-12;
/// Beyond here nothing is looked for.
const FAR: f64 = 1e3;

/// A cell's position as a polynomial of its parametric coordinates, relative to its first node and
/// in units of its size: numbers are near 1, whatever the data's unit of length.
pub(super) struct Shape {
    kind: CellKind,
    origin: [f64; 3],
    size: f64,
    /// Distance from a side within which a position is inside, in units of the size.
    slack: f64,
    /// The vector that goes with each term.
    terms: [[f64; 3]; MAX_CELL_NODES],
}

/// A position in a cell's parametric coordinates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    pub at: [f64; 3],
    /// Whether Newton's method came to an end.
    pub is_sound: bool,
    /// Whether it is in the cell, or so near that rounding could have moved it out.
    pub is_inside: bool,
    /// The face to go through towards it.
    pub face: usize,
}

pub(super) type Matrix = [[f64; 3]; 3];

impl Shape {
    /// Nothing where the nodes are all in one place, or too far apart for a float.
    /// Positions are rounded to a precision.
    pub fn new(kind: CellKind, nodes: &[[f64; 3]], precision: Precision) -> Option<Self> {
        let mut bounds = Bounds::EMPTY;
        nodes.iter().for_each(|node| bounds.add(*node));
        let size = bounds.size();
        if !(f64::MIN_POSITIVE..f64::INFINITY).contains(&size) {
            return None;
        }
        let origin = nodes[0];
        let mut terms = [[0.0; 3]; MAX_CELL_NODES];
        let table = kind.table();
        for (node, row) in nodes.iter().zip(&table.coefficients) {
            // Nothing depends on z in two dimensions.
            let place: [f64; 3] = std::array::from_fn(|d| {
                if d < table.dimension { (node[d] - origin[d]) / size } else { 0.0 }
            });
            for (term, c) in terms.iter_mut().zip(&row[..table.exponents.len()]) {
                for d in 0..3 {
                    term[d] += c * place[d];
                }
            }
        }
        let rounding = ROUNDING * precision.epsilon() / f64::EPSILON;
        let slack = SLACK + rounding * (1.0 + bounds.magnitude() / size);
        Some(Shape { kind, origin, size, slack, terms })
    }

    /// Where a position is, by Newton's method from the cell's centre.
    pub fn locate(&self, point: [f64; 3]) -> Answer {
        self.locate_from(point, self.kind.centre())
    }

    /// The same from several starts, for cells so distorted that one may miss.
    pub fn locate_patiently(&self, point: [f64; 3]) -> Answer {
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
                // A pyramid's apex, where r and s say nothing.
                return self.without_slopes(at, &target, first);
            };
            let place = self.position(at);
            let step = apply(&inverse, [0, 1, 2].map(|d| target[d] - place[d]));
            at = [0, 1, 2].map(|d| at[d] + step[d]);
            first = first.or(Some(at));
            let length = greatest(&step);
            if self.kind.is_affine() || length <= SHORT.max(ROUNDING * norm(&inverse)) {
                return self.judge(at, &inverse);
            }
            if !greatest(&at).is_finite() || greatest(&at) > FAR {
                break;
            }
        }
        Answer { is_sound: false, is_inside: false, ..self.judge(first.unwrap_or(start), &UNIT) }
    }

    fn without_slopes(&self, at: [f64; 3], target: &[f64; 3], first: Option<[f64; 3]>) -> Answer {
        let place = self.position(at);
        let rest = [0, 1, 2].map(|d| target[d] - place[d]);
        if greatest(&rest) <= self.slack {
            return self.judge(at, &UNIT);
        }
        Answer { is_sound: false, is_inside: false, ..self.judge(first.unwrap_or(at), &UNIT) }
    }

    /// Holds parametric coordinates against the sides. A distance from a side in space becomes one
    /// in parametric coordinates through the side's gradient, so that thin cells and the apex of a
    /// pyramid get the allowance that they need.
    fn judge(&self, at: [f64; 3], inverse: &Matrix) -> Answer {
        let mut answer = Answer { at, is_sound: true, is_inside: true, face: 0 };
        let mut least = f64::INFINITY;
        for side in self.kind.table().sides {
            let value = side.value(at);
            let gradient: f64 = (0..3)
                .map(|d| (0..3).map(|k| side.plane[k + 1] * inverse[k][d]).sum::<f64>().abs())
                .sum();
            // What is no number is outside.
            answer.is_inside &= value >= -self.allowance(gradient);
            if value < least {
                (least, answer.face) = (value, side.face);
            }
        }
        answer
    }

    /// How far beyond a side with this gradient a position may be, in parametric coordinates.
    fn allowance(&self, gradient: f64) -> f64 {
        let allowance = SLACK + self.slack * gradient;
        // A cell thinner than that must not claim what lies far beyond its side. Near a pyramid's
        // apex r and s may be anything, for their weights are next to nothing.
        if self.kind == CellKind::Pyramid { allowance } else { allowance.min(MAX_SLACK) }
    }

    /// A way into the cell from near one of its faces: normal to it, and as long as twice what a
    /// position may be beyond it.
    pub fn inward(&self, at: [f64; 3], face: usize) -> [f64; 3] {
        let sides = self.kind.table().sides;
        let side = sides.iter().find(|side| side.face == face).unwrap_or(&sides[0]);
        let Some(inverse) = inverse(&self.jacobian(at)) else { return [0.0; 3] };
        let axes = self.kind.dimension();
        let slope: [f64; 3] = std::array::from_fn(|d| {
            let along = (0..3).map(|k| side.plane[k + 1] * inverse[k][d]).sum();
            if d < axes { along } else { 0.0 }
        });
        let square: f64 = slope.iter().map(|x| x * x).sum();
        let gradient = slope.iter().map(|x| x.abs()).sum();
        slope.map(|x| 2.0 * self.allowance(gradient) * self.size * x / square)
    }

    /// Derivatives of the parametric coordinates by x, y and z, a row for each coordinate; nothing
    /// where the cell has no extent.
    pub fn slopes(&self, at: [f64; 3]) -> Option<Matrix> {
        Some(inverse(&self.jacobian(at))?.map(|row| row.map(|x| x / self.size)))
    }

    /// Determinants of the Jacobian at the centre and at all nodes, in units of the size.
    pub fn determinants(&self) -> impl Iterator<Item = f64> {
        let nodes = self.kind.table().nodes;
        // It is the same everywhere where the map is linear.
        let count = if self.kind.is_affine() { 0 } else { nodes.len() };
        std::iter::once(self.kind.centre())
            .chain(nodes[..count].iter().copied())
            .map(|at| determinant(&self.jacobian(at)))
    }

    /// What rounding can make of a determinant that should be zero.
    pub fn determinant_slack(&self) -> f64 {
        self.slack - SLACK + 12.0 * f64::EPSILON
    }

    fn relative(&self, point: [f64; 3]) -> [f64; 3] {
        let axes = self.kind.dimension();
        std::array::from_fn(
            |d| {
                if d < axes { (point[d] - self.origin[d]) / self.size } else { 0.0 }
            },
        )
    }

    fn position(&self, at: [f64; 3]) -> [f64; 3] {
        let mut place = [0.0; 3];
        for (term, factor) in self.terms.iter().zip(self.kind.terms(at)) {
            place = [0, 1, 2].map(|d| place[d] + factor * term[d]);
        }
        place
    }

    /// Derivatives of the position, a row for each of its coordinates. In two dimensions the third
    /// axis is t, so that the same inverse serves.
    fn jacobian(&self, at: [f64; 3]) -> Matrix {
        let mut jacobian = [[0.0; 3]; 3];
        for (term, slope) in self.terms.iter().zip(self.kind.term_gradients(at)) {
            for d in 0..3 {
                for k in 0..3 {
                    jacobian[d][k] += slope[k] * term[d];
                }
            }
        }
        if self.kind.dimension() == 2 {
            jacobian[2][2] = 1.0;
        }
        jacobian
    }
}

const UNIT: Matrix = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

fn greatest(v: &[f64; 3]) -> f64 {
    v.iter().map(|x| x.abs()).fold(0.0, |a, b| if b > a || b.is_nan() { b } else { a })
}

/// The greatest sum of a row.
fn norm(m: &Matrix) -> f64 {
    m.iter().map(|row| row.iter().map(|x| x.abs()).sum()).fold(0.0, f64::max)
}

pub(super) fn apply(m: &Matrix, v: [f64; 3]) -> [f64; 3] {
    [0, 1, 2].map(|k| m[k][0] * v[0] + m[k][1] * v[1] + m[k][2] * v[2])
}

fn cross(a: &[f64; 3], b: &[f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn determinant(m: &Matrix) -> f64 {
    let c = cross(&m[1], &m[2]);
    m[0][0] * c[0] + m[0][1] * c[1] + m[0][2] * c[2]
}

/// The columns of an inverse are products of the rows, divided by the determinant.
fn inverse(m: &Matrix) -> Option<Matrix> {
    let columns = [cross(&m[1], &m[2]), cross(&m[2], &m[0]), cross(&m[0], &m[1])];
    let per = 1.0 / determinant(m);
    let inverse = [0, 1, 2].map(|k| [0, 1, 2].map(|d| columns[d][k] * per));
    inverse.iter().flatten().all(|x| x.is_finite()).then_some(inverse)
}
