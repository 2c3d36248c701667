//! Reading a velocity from scattered points.
//!
//! A search looks at the nodes in all cells that a ball around the position reaches. It knows that
//! it has found the nearest nodes when the farthest that it needs lies within the ball; otherwise
//! the ball grows to that node. A particle that has searched before knows a ball that will do: no
//! distance to the n-th nearest node grows by more than the particle has moved.

mod inverse_distance;
mod nearest;

pub(super) use inverse_distance::InverseDistance;
pub(super) use nearest::Nearest;

use super::{
    FieldArrays, Real,
    lanes::{Eight, Lanes, Vector},
};
use crate::{NODE_PADDING, PointShape};
use std::ops::Range;

/// The nodes and the lattice that they are sorted by.
struct Cloud<'a, F> {
    axes: [&'a [F]; 3],
    starts: &'a [i32],
    count: usize,
    cells: [usize; 3],
    origin: [F; 3],
    per_length: [F; 3],
    /// 1 on an axis along which distances count, 0 on a flat one.
    counts: [F; 3],
    first_reach: F,
}

impl<'a, F: Real> Cloud<'a, F> {
    /// # Panics
    ///
    /// Where the arrays are not of the shape's size.
    fn new(field: &FieldArrays<'a, F>, shape: &PointShape, frames: usize) -> Self {
        let cells: usize = shape.cells.iter().product();
        assert_eq!(field.velocity.len(), frames * shape.count + 1, "velocities of points");
        assert_eq!(field.places.len(), shape.axis(3), "coordinates of points");
        assert_eq!(field.index.len(), cells + 1, "cells of points");
        let axis = |d: usize| &field.places[shape.axis(d)..shape.axis(d + 1)];
        Cloud {
            axes: [axis(0), axis(1), axis(2)],
            starts: field.index,
            count: shape.count,
            cells: shape.cells,
            origin: shape.origin.map(F::of),
            per_length: shape.per_length.map(F::of),
            counts: [0, 1, 2].map(|d| F::of(if shape.is_flat(d) { 0.0 } else { 1.0 })),
            first_reach: F::of(shape.reach()),
        }
    }

    /// A position without its coordinates on flat axes, and without what is no number.
    #[inline(always)]
    fn place(&self, position: [F; 3]) -> [F; 3] {
        let mut place = position;
        for d in 0..3 {
            place[d] = position[d].max(F::min_value()).min(F::max_value()) * self.counts[d];
        }
        place
    }

    /// The cell of a coordinate, or the one next to it where it lies outside.
    #[inline(always)]
    fn cell(&self, d: usize, x: F) -> usize {
        let cell = ((x - self.origin[d]) * self.per_length[d]).max(F::zero());
        (cell.whole() as usize).min(self.cells[d] - 1)
    }

    /// Coordinates of eight nodes on an axis, from one on; the last ones of all are padded.
    #[inline(always)]
    fn eight<L: Lanes<F>>(&self, d: usize, start: usize) -> L::Eight {
        let axis = &self.axes[d][start..start + WIDTH];
        // SAFETY: so many numbers are in the slice.
        unsafe { L::Eight::read(axis.as_ptr().cast()) }
    }

    /// Squares of the distances of eight nodes from a place; of those that are not in the range,
    /// infinity.
    #[inline(always)]
    fn squares<L: Lanes<F>>(&self, place: &[F; 3], nodes: Range<usize>) -> L::Eight {
        let mut square = L::Eight::splat(F::zero());
        // By index: an iterator might be called where it should be inlined and unrolled.
        #[allow(clippy::needless_range_loop)]
        for d in 0..3 {
            let way = self.eight::<L>(d, nodes.start) - L::Eight::splat(place[d]);
            square = way.fma(way, square);
        }
        let lane = L::Eight::new(&[0, 1, 2, 3, 4, 5, 6, 7].map(F::of_whole));
        let rest = nodes.len().min(WIDTH) as i32;
        let far = L::Eight::splat(F::infinity());
        lane.where_less(L::Eight::splat(F::of_whole(rest)), square, far)
    }

    /// The radius of a ball that probably holds the nodes that are needed, after a search that had
    /// to go so `far` (0 where there was none) and a way since: surely, where the way is short. What
    /// has gone farther begins anew, as its ball would hold much of the cloud.
    #[inline(always)]
    fn reach_after(&self, far: F, moved: F) -> F {
        if moved < far { roundly(far + moved) } else { self.first_reach }
    }

    /// Looks at the nodes in all cells that a ball reaches, row by row; returns whether those are
    /// all cells.
    #[inline(always)]
    fn look<L: Lanes<F>, T: Finder<F, L>>(&self, place: &[F; 3], reach: F, finder: &mut T) -> bool {
        let mut low = [0; 3];
        let mut high = [0; 3];
        let mut is_all = true;
        for d in 0..3 {
            low[d] = self.cell(d, place[d] - reach);
            high[d] = self.cell(d, place[d] + reach);
            is_all &= low[d] == 0 && high[d] + 1 == self.cells[d];
        }
        for k in low[2]..=high[2] {
            for j in low[1]..=high[1] {
                let row = (k * self.cells[1] + j) * self.cells[0];
                let first = self.starts[row + low[0]] as usize;
                let end = self.starts[row + high[0] + 1] as usize;
                finder.look(self, place, first..end.min(self.count));
            }
        }
        is_all
    }

    /// Finds the nodes nearest to a place, given the radius of a ball that probably holds them.
    #[inline(always)]
    fn find<L: Lanes<F>, T: Finder<F, L>>(
        &self,
        place: &[F; 3],
        mut reach: F,
        nothing: T,
    ) -> T::Found {
        loop {
            let mut finder = nothing;
            let is_all = self.look(place, reach, &mut finder);
            let (found, bound) = finder.found();
            if bound <= reach * reach || is_all {
                return found;
            }
            reach =
                if bound.is_finite() { roundly(bound.sqrt()) } else { reach + reach.max(F::one()) };
        }
    }
}

/// A distance, and what rounding may have taken from it.
#[inline(always)]
fn roundly<F: Real>(distance: F) -> F {
    distance * (F::one() + F::of(8.0) * F::epsilon())
}

#[inline(always)]
fn square_distance<F: Real>(a: &[F; 3], b: &[F; 3]) -> F {
    let [x, y, z] = [b[0] - a[0], b[1] - a[1], b[2] - a[2]];
    x * x + y * y + z * z
}

/// What a search looks for.
trait Finder<F, L>: Copy {
    /// What it finds.
    type Found;
    /// Looks at a run of nodes.
    fn look(&mut self, cloud: &Cloud<F>, place: &[F; 3], nodes: Range<usize>);
    /// What it has found, and the square of the distance of the farthest node that is needed;
    /// infinite until enough are found.
    fn found(&self) -> (Self::Found, F);
}

/// Nodes that are looked at together.
const WIDTH: usize = NODE_PADDING;
