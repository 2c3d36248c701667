//! Velocity from scattered points.
//!
//! A search visits the nodes in all lattice cells that intersect a ball around the position. It has
//! found the nearest nodes if the farthest of them is within the ball; otherwise the ball grows to
//! that node. Most samples need no search: a particle keeps a list of candidates (`candidates.rs`).
//! Crowded cells are searched by trees (`trees.rs`).

mod ball;
mod candidates;
mod inverse_distance;
mod nearest;
mod sorted;
#[cfg(test)]
mod tests;
mod trees;

pub(super) use inverse_distance::InverseDistance;
pub(super) use nearest::Nearest;

use super::{
    Real,
    field::FieldArrays,
    lanes::{Eight, Lanes, Vector},
};
use crate::{BRANCH_NUMBERS, CROWDED, NODE_PADDING, PointShape};
use std::ops::Range;
use trees::Trees;

/// The nodes, and the lattice that sorts them.
struct Cloud<'a, F> {
    axes: [&'a [F]; 3],
    starts: &'a [i32],
    trees: Option<Trees<'a, F>>,
    /// Maximum number of nodes of a row of cells to be visited without their trees.
    plain: usize,
    count: usize,
    cells: [usize; 3],
    origin: [F; 3],
    per_length: [F; 3],
    /// 1 on an axis that contributes to distances, 0 on a flat one.
    counts: [F; 3],
    first_reach: F,
}

impl<'a, F: Real> Cloud<'a, F> {
    /// # Panics
    ///
    /// If the arrays do not have the shape's size.
    fn new(field: &FieldArrays<'a, F>, shape: &PointShape, frames: usize) -> Self {
        let cells: usize = shape.cells.iter().product();
        assert_eq!(
            field.velocity.len(),
            frames * shape.count + 1,
            "wrong number of velocities for the points"
        );
        let (coordinates, boxes) = field.coordinates.split_at(shape.axis(3));
        assert_eq!(boxes.len() % BRANCH_NUMBERS, 0, "wrong number of point coordinates");
        let (starts, roots) = field.index.split_at(cells + 1);
        let axis = |d: usize| &coordinates[shape.axis(d)..shape.axis(d + 1)];
        let trees = Trees::new(boxes, roots, cells);
        Cloud {
            axes: [axis(0), axis(1), axis(2)],
            starts,
            plain: if trees.is_some() { CROWDED } else { usize::MAX },
            trees,
            count: shape.count,
            cells: shape.cells,
            origin: shape.origin.map(F::of),
            per_length: shape.per_length.map(F::of),
            counts: [0, 1, 2].map(|d| F::of(if shape.is_flat(d) { 0.0 } else { 1.0 })),
            first_reach: F::of(shape.reach()),
        }
    }

    /// The search position: 0 on flat axes, and with finite coordinates.
    #[inline(always)]
    fn search_position(&self, position: [F; 3]) -> [F; 3] {
        // By index: a closure might not be inlined.
        let mut finite = position;
        for d in 0..3 {
            finite[d] = position[d].max(F::min_value()).min(F::max_value()) * self.counts[d];
        }
        finite
    }

    /// The cell of a coordinate, or the nearest one if it is outside.
    #[inline(always)]
    fn cell(&self, d: usize, x: F) -> usize {
        let cell = ((x - self.origin[d]) * self.per_length[d]).max(F::zero());
        (cell.as_i32() as usize).min(self.cells[d] - 1)
    }

    /// Coordinates of eight consecutive nodes on an axis; the last ones are padded.
    #[inline(always)]
    fn eight<L: Lanes<F>>(&self, d: usize, start: usize) -> L::Eight {
        let axis = &self.axes[d][start..start + WIDTH];
        // SAFETY: the slice has eight numbers.
        unsafe { L::Eight::read(axis.as_ptr().cast()) }
    }

    /// Squared distances of eight nodes from a position; infinity for those beyond the range.
    #[inline(always)]
    fn squares<L: Lanes<F>>(&self, position: &[F; 3], nodes: Range<usize>) -> L::Eight {
        let mut square = L::Eight::splat(F::zero());
        // By index: an iterator call might not be inlined and unrolled.
        #[allow(clippy::needless_range_loop)]
        for d in 0..3 {
            let offset = self.eight::<L>(d, nodes.start) - L::Eight::splat(position[d]);
            square = offset.fma(offset, square);
        }
        let lane = L::Eight::new(&[0, 1, 2, 3, 4, 5, 6, 7].map(F::from_i32));
        let rest = nodes.len().min(WIDTH) as i32;
        let far = L::Eight::splat(F::infinity());
        lane.where_less(L::Eight::splat(F::from_i32(rest)), square, far)
    }

    /// Visits the nodes in all cells, and branches of crowded cells, that intersect a ball, row by row and in
    /// their order; returns whether those are all nodes.
    #[inline(always)]
    fn visit<L: Lanes<F>, T: Visitor<F, L>>(
        &self,
        position: &[F; 3],
        reach: F,
        visitor: &mut T,
    ) -> bool {
        let mut low = [0; 3];
        let mut high = [0; 3];
        let mut is_all = true;
        for d in 0..3 {
            low[d] = self.cell(d, position[d] - reach);
            high[d] = self.cell(d, position[d] + reach);
            is_all &= low[d] == 0 && high[d] + 1 == self.cells[d];
        }
        for k in low[2]..=high[2] {
            for j in low[1]..=high[1] {
                let row = (k * self.cells[1] + j) * self.cells[0];
                let cells = row + low[0]..row + high[0] + 1;
                let first = self.starts[cells.start] as usize;
                let end = self.starts[cells.end] as usize;
                let nodes = first..end.min(self.count);
                if nodes.len() <= self.plain {
                    visitor.visit(self, position, nodes);
                } else {
                    is_all &= self.visit_cells::<L, T>(cells, position, reach * reach, visitor);
                }
            }
        }
        is_all
    }

    /// Finds the nodes nearest to a position, given an initial search radius.
    #[inline(always)]
    fn find<L: Lanes<F>, T: Finder<F, L>>(
        &self,
        position: &[F; 3],
        mut reach: F,
        nothing: T,
    ) -> T::Found {
        loop {
            let mut finder = nothing;
            let is_all = self.visit(position, reach, &mut finder);
            let (found, bound) = finder.found();
            if bound <= reach * reach || is_all {
                return found;
            }
            reach = if bound.is_finite() {
                with_rounding_margin(bound.sqrt())
            } else {
                reach + reach.max(F::of(f64::from(f32::MIN_POSITIVE)))
            };
        }
    }
}

/// A distance increased by a margin for rounding.
#[inline(always)]
fn with_rounding_margin<F: Real>(distance: F) -> F {
    distance * (F::one() + F::of(8.0) * F::epsilon())
}

#[inline(always)]
fn square_distance<F: Real>(a: &[F; 3], b: &[F; 3]) -> F {
    let [x, y, z] = [b[0] - a[0], b[1] - a[1], b[2] - a[2]];
    x * x + y * y + z * z
}

/// What is done with the nodes near a position.
trait Visitor<F, L> {
    /// Visits a range of nodes.
    fn visit(&mut self, cloud: &Cloud<F>, position: &[F; 3], nodes: Range<usize>);
    /// The squared distance beyond which nodes need not be visited.
    fn bound(&self) -> F;
}

/// The result of a search in progress.
trait Finder<F, L>: Visitor<F, L> + Copy {
    /// The final result.
    type Found;
    /// The result so far, and the squared distance of the farthest needed node, infinite until
    /// enough nodes are found.
    fn found(&self) -> (Self::Found, F);
}

/// Number of nodes visited together.
const WIDTH: usize = NODE_PADDING;
