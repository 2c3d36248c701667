//! Reading a velocity from scattered points.
//!
//! A search looks at the nodes in all cells that a ball around the position reaches. It knows that
//! it has found the nearest nodes when the farthest that it needs lies within the ball; otherwise
//! the ball grows to that node. A particle that has searched before knows a ball that will do: no
//! distance to the n-th nearest node grows by more than the particle has moved.

use super::{
    FieldArrays, Real, Sampler,
    lanes::{Eight, Four, Lanes, Vector},
    moment::{Moment, blend},
    three,
};
use crate::{MAX_NEIGHBOURS, NODE_PADDING, PointShape};
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

    /// Looks at the nodes in all cells that a ball reaches, row by row; returns whether those are
    /// all cells.
    #[inline(always)]
    fn look<T: Finder<F>>(&self, place: &[F; 3], reach: F, finder: &mut T) -> bool {
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
    fn find<T: Finder<F>>(&self, place: &[F; 3], mut reach: F, nothing: T) -> T::Found {
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
trait Finder<F>: Copy {
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

/// The nearest node and the distance of the second, apart for each lane of the vectors by which
/// nodes are looked at.
struct NearestTwo<F, L: Lanes<F>> {
    first: L::Eight,
    second: L::Eight,
    /// Where the vector with the nearest node begins, as bits.
    start: L::Eight,
}

impl<F, L: Lanes<F>> Clone for NearestTwo<F, L> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<F, L: Lanes<F>> Copy for NearestTwo<F, L> {}

/// The nearest node, the square of its distance and that of the second.
type Nearer<F> = (u32, F, F);

impl<F: Real, L: Lanes<F>> NearestTwo<F, L> {
    #[inline(always)]
    fn nothing() -> Self {
        let far = L::Eight::splat(F::infinity());
        NearestTwo { first: far, second: far, start: L::Eight::splat(F::zero()) }
    }
}

impl<F: Real, L: Lanes<F>> Finder<F> for NearestTwo<F, L> {
    type Found = Nearer<F>;

    #[inline(always)]
    fn look(&mut self, cloud: &Cloud<F>, place: &[F; 3], nodes: Range<usize>) {
        let lane = L::Eight::new(&[0, 1, 2, 3, 4, 5, 6, 7].map(F::of_whole));
        let far = L::Eight::splat(F::infinity());
        let mut start = nodes.start;
        while start < nodes.end {
            let mut square = L::Eight::splat(F::zero());
            // By index: an iterator might be called where it should be inlined and unrolled.
            #[allow(clippy::needless_range_loop)]
            for d in 0..3 {
                let way = cloud.eight::<L>(d, start) - L::Eight::splat(place[d]);
                square = way.fma(way, square);
            }
            let rest = (nodes.end - start).min(WIDTH) as i32;
            let square = lane.where_less(L::Eight::splat(F::of_whole(rest)), square, far);
            let here = L::Eight::splat(F::of_bits(start as u32));
            self.start = square.where_less(self.first, here, self.start);
            self.second = self.second.min(square.max(self.first));
            self.first = self.first.min(square);
            start += WIDTH;
        }
    }

    #[inline(always)]
    fn found(&self) -> (Nearer<F>, F) {
        let (first, second, start) = (self.first.array(), self.second.array(), self.start.array());
        let node = |l: usize| start[l].bits() + l as u32;
        let mut best = 0;
        for l in 1..WIDTH {
            let is_tie = first[l] == first[best] && node(l) < node(best);
            if first[l] < first[best] || is_tie {
                best = l;
            }
        }
        let mut next = second[best];
        // By index: an iterator might be called where it should be inlined and unrolled.
        #[allow(clippy::needless_range_loop)]
        for l in 0..WIDTH {
            if l != best && first[l] < next {
                next = first[l];
            }
        }
        ((node(best), first[best], next), next)
    }
}

/// The velocity of the nearest node.
pub(super) struct Nearest<'a, F> {
    cloud: Cloud<'a, F>,
    velocity: &'a [[F; 4]],
}

/// The last search of a particle.
#[derive(Clone, Copy, Default)]
pub(super) struct LastSearch<F> {
    place: [F; 3],
    node: u32,
    /// Distance of the second node; 0 before the first search.
    second: F,
    /// Square of the way within which the nearest node remains the nearest: half of what the
    /// second one is farther away.
    safe: F,
}

impl<'a, F: Real> Nearest<'a, F> {
    pub fn new(field: &FieldArrays<'a, F>, shape: &PointShape, frames: usize) -> Self {
        Nearest { cloud: Cloud::new(field, shape, frames), velocity: field.velocity }
    }

    #[inline(always)]
    fn node<L: Lanes<F>>(&self, place: [F; 3], last: &mut LastSearch<F>) -> usize {
        let moved = square_distance(&last.place, &place);
        if moved < last.safe {
            return last.node as usize;
        }
        let known = roundly(last.second + moved.sqrt());
        let reach = if last.second > F::zero() { known } else { self.cloud.first_reach };
        let (node, first, second) = self.cloud.find(&place, reach, NearestTwo::<F, L>::nothing());
        let (first, second) = (first.sqrt(), second.sqrt());
        let slack = F::of(32.0) * F::epsilon() * second;
        let half = (F::of(0.5) * (second - first) - slack).max(F::zero());
        *last = LastSearch { place, node, second, safe: half * half };
        node as usize
    }
}

impl<F: Real> Sampler<F> for Nearest<'_, F> {
    type Hint = LastSearch<F>;

    #[inline(always)]
    fn sample<L: Lanes<F>>(
        &self,
        position: L::Four,
        moment: &Moment<F>,
        hint: &mut LastSearch<F>,
    ) -> L::Four {
        let place = self.cloud.place(three(position.array()));
        let node = self.node::<L>(place, hint);
        blend::<F, L>(self.velocity, node, moment)
    }
}

/// The nearest nodes, in order of distance.
#[derive(Clone, Copy)]
struct Neighbours<F> {
    needed: usize,
    square: [F; MAX_NEIGHBOURS],
    node: [u32; MAX_NEIGHBOURS],
}

impl<F: Real> Neighbours<F> {
    #[inline(always)]
    fn nothing(needed: usize) -> Self {
        let far = [F::infinity(); MAX_NEIGHBOURS];
        Neighbours { needed, square: far, node: [0; MAX_NEIGHBOURS] }
    }

    /// Takes a node into the order, and drops the one that is now too far down.
    #[inline(always)]
    fn insert(&mut self, square: F, node: u32) {
        let mut at = self.needed - 1;
        while at > 0 && square < self.square[at - 1] {
            self.square[at] = self.square[at - 1];
            self.node[at] = self.node[at - 1];
            at -= 1;
        }
        self.square[at] = square;
        self.node[at] = node;
    }
}

impl<F: Real> Finder<F> for Neighbours<F> {
    type Found = Self;

    #[inline(always)]
    fn look(&mut self, cloud: &Cloud<F>, place: &[F; 3], nodes: Range<usize>) {
        for node in nodes {
            let square = square_distance(place, &cloud.axes.map(|axis| axis[node]));
            if square < self.square[self.needed - 1] {
                self.insert(square, node as u32);
            }
        }
    }

    #[inline(always)]
    fn found(&self) -> (Self, F) {
        (*self, self.square[self.needed - 1])
    }
}

/// The mean of the nearest nodes, weighted by a power of the inverse distance.
pub(super) struct InverseDistance<'a, F> {
    cloud: Cloud<'a, F>,
    velocity: &'a [[F; 4]],
    neighbours: usize,
    /// Half the power of the distance: the power of its square.
    half_power: F,
}

/// The place of a particle's last search and the distance of the farthest neighbour there; 0
/// before the first one.
#[derive(Clone, Copy, Default)]
pub(super) struct LastReach<F> {
    place: [F; 3],
    reach: F,
}

impl<'a, F: Real> InverseDistance<'a, F> {
    /// # Panics
    ///
    /// Where the neighbours are none, more than [`MAX_NEIGHBOURS`] or more than the nodes.
    pub fn new(
        field: &FieldArrays<'a, F>,
        shape: &PointShape,
        frames: usize,
        neighbours: usize,
        power: f64,
    ) -> Self {
        let most = MAX_NEIGHBOURS.min(shape.count);
        assert!((1..=most).contains(&neighbours), "{neighbours} neighbours; 1 to {most} can be");
        InverseDistance {
            cloud: Cloud::new(field, shape, frames),
            velocity: field.velocity,
            neighbours,
            half_power: F::of(0.5 * power),
        }
    }

    #[inline(always)]
    fn neighbours(&self, place: [F; 3], last: &mut LastReach<F>) -> Neighbours<F> {
        let moved = square_distance(&last.place, &place).sqrt();
        let is_first = last.reach == F::zero();
        let reach = if is_first { self.cloud.first_reach } else { roundly(last.reach + moved) };
        let found = self.cloud.find(&place, reach, Neighbours::nothing(self.neighbours));
        *last = LastReach { place, reach: found.square[self.neighbours - 1].sqrt() };
        found
    }

    /// The weight of a node, relative to that of the nearest one, so that no distance is too
    /// small for it.
    #[inline(always)]
    fn weight(&self, nearest: F, square: F) -> F {
        if square == nearest {
            return F::one();
        }
        let ratio = nearest / square;
        if self.half_power == F::one() { ratio } else { ratio.powf(self.half_power) }
    }
}

impl<F: Real> Sampler<F> for InverseDistance<'_, F> {
    type Hint = LastReach<F>;

    #[inline(always)]
    fn sample<L: Lanes<F>>(
        &self,
        position: L::Four,
        moment: &Moment<F>,
        hint: &mut LastReach<F>,
    ) -> L::Four {
        let place = self.cloud.place(three(position.array()));
        let found = self.neighbours(place, hint);
        let mut sum = L::Four::splat(F::zero());
        let mut weights = F::zero();
        for n in 0..self.neighbours {
            let weight = self.weight(found.square[0], found.square[n]);
            let node = found.node[n] as usize;
            let velocity = blend::<F, L>(self.velocity, node, moment);
            sum = velocity.fma(L::Four::splat(weight), sum);
            weights = weights + weight;
        }
        sum * L::Four::splat(F::one() / weights)
    }
}
