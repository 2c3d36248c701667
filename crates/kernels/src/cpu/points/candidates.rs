//! The nodes nearest to a particle, from a list of candidates that is kept while the particle moves
//! (Verlet 1967).
//!
//! A list holds all nodes within a ball around an earlier position. Any other node is farther from the
//! present position than the radius less the distance moved. If enough candidates are closer than that,
//! the nearest ones are among them; otherwise a new list is made. A list only saves time: selected are
//! always the nearest nodes, of equally distant ones those that come first.

use super::{
    Cloud, WIDTH,
    ball::{Ball, MAX_LIST},
    sorted::{Neighbours, search},
    square_distance,
};
use crate::{
    MAX_NEIGHBOURS,
    cpu::{
        Real,
        lanes::{Eight, Lanes, Vector},
    },
};
use std::f64::consts::PI;

/// Number of balls to try for a new list.
const TRIES: usize = 12;
/// Number of samples without a list after none was possible.
const PAUSE: u32 = 32;
/// Factors by which the squared distance of the farthest neighbour grows at most between two samples:
/// most of them, almost all, any.
const GUESSES: [f64; 3] = [1.04, 1.2, f64::INFINITY];

/// The candidates of a particle: up to `V` vectors.
#[derive(Clone, Copy)]
pub(in crate::cpu) struct Candidates<F, const V: usize> {
    /// The ball that contains them; its radius is 0 without a list.
    centre: [F; 3],
    reach: F,
    /// The radius for the next list; 0 for the first one.
    next_reach: F,
    /// Squared distance of the farthest neighbour in the last sample.
    last: F,
    /// Number of samples before another list is tried.
    pause: u32,
    node: [[u32; WIDTH]; V],
    /// Coordinates, which are infinite beyond the last candidate.
    axes: [[[F; WIDTH]; V]; 3],
}

impl<F: Real, const V: usize> Default for Candidates<F, V> {
    #[inline(always)]
    fn default() -> Self {
        let zero = F::zero();
        Candidates {
            centre: [zero; 3],
            reach: zero,
            next_reach: zero,
            last: zero,
            pause: 0,
            node: [[0; WIDTH]; V],
            axes: [[[zero; WIDTH]; V]; 3],
        }
    }
}

/// How lists are made in a cloud.
pub(super) struct ListSize<F> {
    /// Number of neighbours.
    needed: usize,
    /// Number of nodes that a new list should have.
    wanted: F,
    /// The radius for a particle without a list, in cells that are not crowded.
    first: F,
    /// By the number of candidates in a ball, the factor of its radius for the wanted number.
    factors: [F; MAX_LIST + 1],
    /// The power of a number of nodes that is proportional to the radius of their ball.
    exponent: F,
}

impl<F: Real> ListSize<F> {
    pub fn new(cloud: &Cloud<F>, needed: usize, wanted: f64) -> Self {
        let thick = (0..3).filter(|d| cloud.counts[*d] == F::one());
        let dimensions = thick.clone().count();
        let exponent = 1.0 / dimensions.max(1) as f64;
        // Roots first: the volume may overflow.
        let edge = thick.map(|d| cloud.per_length[d].exact().powf(-exponent)).product::<f64>();
        let unit_ball = [1.0, 2.0, PI, 4.0 / 3.0 * PI][dimensions];
        let cells: usize = cloud.cells.iter().product();
        let wanted_cells = wanted * cells as f64 / cloud.count as f64;
        let factor = |count: usize| (wanted / count.max(1) as f64).powf(exponent).min(2.0);
        ListSize {
            needed,
            wanted: F::of(wanted),
            first: F::of(edge * (wanted_cells / unit_ball).powf(exponent)),
            factors: std::array::from_fn(|count| F::of(factor(count))),
            exponent: F::of(exponent),
        }
    }

    /// The radius for a particle without a list.
    #[inline(always)]
    fn first<L: Lanes<F>>(&self, cloud: &Cloud<F>, position: &[F; 3]) -> F {
        match cloud.start_reach::<L>(position) {
            Some(reach) => self.next(reach, 2),
            None => self.first,
        }
    }

    /// The radius after one with `count` nodes.
    #[inline(always)]
    fn next(&self, reach: F, count: usize) -> F {
        match self.factors.get(count) {
            Some(factor) => reach * *factor,
            None => {
                let part = self.wanted / F::from_i32(count as i32);
                reach * part.powf(self.exponent)
            }
        }
    }
}

impl<F: Real, const V: usize> Candidates<F, V> {
    const LIST: usize = V * WIDTH;

    /// Finds the nearest node of a position.
    #[inline(always)]
    pub(super) fn nearest<L: Lanes<F>>(
        &mut self,
        cloud: &Cloud<F>,
        size: &ListSize<F>,
        position: &[F; 3],
    ) -> usize {
        loop {
            let limit = L::Eight::splat(self.limit(position));
            let squares = self.squares::<L>(position);
            let least = L::Eight::splat(smallest::<F, L>(&squares));
            if least.less(limit) > 0 {
                let others = above::<F, L>(&squares, least);
                let at = (!others).trailing_zeros() as usize % Self::LIST;
                return self.node[at / WIDTH][at % WIDTH] as usize;
            }
            if !self.renew::<L>(cloud, size, position) {
                return search::<F, L>(cloud, 1, position).node[0] as usize;
            }
        }
    }

    /// Finds the nearest nodes of a position.
    #[inline(always)]
    pub(super) fn neighbours<L: Lanes<F>>(
        &mut self,
        cloud: &Cloud<F>,
        size: &ListSize<F>,
        position: &[F; 3],
    ) -> Neighbours<F> {
        loop {
            if let Some(found) = self.select::<L>(position, size.needed) {
                return found;
            }
            if !self.renew::<L>(cloud, size, position) {
                return search::<F, L>(cloud, size.needed, position);
            }
        }
    }

    /// The nearest nodes, if they are certainly candidates.
    #[inline(always)]
    fn select<L: Lanes<F>>(&mut self, position: &[F; 3], needed: usize) -> Option<Neighbours<F>> {
        let limit = self.limit(position);
        let squares = self.squares::<L>(position);
        let mut bound = limit;
        let mut chosen = 0;
        for guess in GUESSES {
            bound = (self.last * F::of(guess)).min(limit);
            chosen = below::<F, L>(&squares, bound);
            if chosen.count_ones() as usize >= needed {
                break;
            }
        }
        if (chosen.count_ones() as usize) < needed {
            return None;
        }
        loop {
            self.last = largest_below::<F, L>(&squares, bound);
            if chosen.count_ones() as usize == needed {
                break;
            }
            let fewer = below::<F, L>(&squares, self.last);
            let missing = needed.saturating_sub(fewer.count_ones() as usize);
            if missing > 0 {
                chosen = fewer | first_bits(chosen & !fewer, missing);
                break;
            }
            (chosen, bound) = (fewer, self.last);
        }
        Some(self.take::<L>(&squares, chosen, needed))
    }

    /// A squared distance below which there are no other nodes.
    #[inline(always)]
    fn limit(&self, position: &[F; 3]) -> F {
        let moved = square_distance(&self.centre, position).sqrt();
        let margin = F::of(32.0) * F::epsilon() * self.reach;
        let clear = (self.reach - moved - margin).max(F::zero());
        clear * clear
    }

    /// Squared distances of the candidates.
    #[inline(always)]
    fn squares<L: Lanes<F>>(&self, position: &[F; 3]) -> [L::Eight; V] {
        let mut squares = [L::Eight::splat(F::zero()); V];
        // By index: an iterator call might not be inlined and unrolled.
        #[allow(clippy::needless_range_loop)]
        for d in 0..3 {
            let from = L::Eight::splat(position[d]);
            for v in 0..V {
                let offset = L::Eight::new(&self.axes[d][v]) - from;
                squares[v] = offset.fma(offset, squares[v]);
            }
        }
        squares
    }

    /// The chosen candidates.
    #[inline(always)]
    fn take<L: Lanes<F>>(
        &self,
        squares: &[L::Eight; V],
        mut chosen: u32,
        needed: usize,
    ) -> Neighbours<F> {
        let zero = F::zero();
        let mut all = [[zero; WIDTH]; V];
        // By index: a closure might not be inlined.
        for v in 0..V {
            all[v] = squares[v].array();
        }
        let mut found = Neighbours {
            nearest: smallest::<F, L>(squares),
            square: [zero; MAX_NEIGHBOURS],
            node: [0; MAX_NEIGHBOURS],
        };
        for n in 0..needed {
            let at = chosen.trailing_zeros() as usize % Self::LIST;
            chosen &= chosen - 1;
            found.square[n] = all[at / WIDTH][at % WIDTH];
            found.node[n] = self.node[at / WIDTH][at % WIDTH];
        }
        found
    }

    /// Makes a list around a position. `false` if there was none that is worth it.
    #[inline(always)]
    fn renew<L: Lanes<F>>(
        &mut self,
        cloud: &Cloud<F>,
        size: &ListSize<F>,
        position: &[F; 3],
    ) -> bool {
        let is_new = self.reach > F::zero() && self.centre == *position;
        if is_new || self.pause > 0 {
            self.pause = self.pause.saturating_sub(1);
            return false;
        }
        let has_reach = self.next_reach > F::zero();
        let mut reach = if has_reach { self.next_reach } else { size.first::<L>(cloud, position) };
        // Radii of balls with too few and too many nodes.
        let (mut low, mut high) = (F::zero(), F::infinity());
        for _ in 0..TRIES {
            let mut ball = Ball::new(reach);
            cloud.visit::<L, _>(position, reach, &mut ball);
            let next_reach = size.next(reach, ball.count);
            if ball.count == cloud.count && ball.count <= Self::LIST {
                reach = F::max_value();
            }
            if ball.count >= cloud.count.min(size.needed + 2) && ball.count <= Self::LIST {
                self.fill(cloud, &ball);
                (self.centre, self.reach, self.next_reach) = (*position, reach, next_reach);
                // A guess: the number of nodes grows with the distance to the power of three.
                let part = F::from_i32(size.needed as i32 + 2) / F::from_i32(ball.count as i32);
                self.last =
                    ball.square * (F::of(0.25) + F::of(0.75) * part) * F::of(1.0 / GUESSES[0]);
                return true;
            }
            if ball.count <= Self::LIST {
                low = reach;
            } else {
                high = reach;
            }
            let is_between = low < next_reach && next_reach < high;
            reach = if is_between { next_reach } else { F::of(0.5) * (low + high) };
        }
        (self.reach, self.pause) = (F::zero(), PAUSE);
        false
    }

    #[inline(always)]
    fn fill(&mut self, cloud: &Cloud<F>, ball: &Ball<F>) {
        for n in 0..Self::LIST {
            let node = ball.node[n];
            self.node[n / WIDTH][n % WIDTH] = node;
            for d in 0..3 {
                let x = cloud.axes[d][node as usize];
                let x = if n < ball.count { x } else { F::infinity() };
                self.axes[d][n / WIDTH][n % WIDTH] = x;
            }
        }
    }
}

/// The numbers below a bound, as bits.
#[inline(always)]
fn below<F: Real, L: Lanes<F>>(squares: &[L::Eight], bound: F) -> u32 {
    let bound = L::Eight::splat(bound);
    let mut bits = 0;
    // By index: an iterator call might not be inlined and unrolled.
    #[allow(clippy::needless_range_loop)]
    for v in 0..squares.len() {
        bits |= squares[v].less(bound) << (WIDTH * v);
    }
    bits
}

/// The numbers above a bound, as bits.
#[inline(always)]
fn above<F: Real, L: Lanes<F>>(squares: &[L::Eight], bound: L::Eight) -> u32 {
    let mut bits = 0;
    #[allow(clippy::needless_range_loop)]
    for v in 0..squares.len() {
        bits |= bound.less(squares[v]) << (WIDTH * v);
    }
    bits
}

/// The smallest number.
#[inline(always)]
fn smallest<F: Real, L: Lanes<F>>(squares: &[L::Eight]) -> F {
    let mut least = squares[0];
    #[allow(clippy::needless_range_loop)]
    for v in 1..squares.len() {
        least = least.min(squares[v]);
    }
    least.smallest()
}

/// The largest number below a bound; 0 without one.
#[inline(always)]
fn largest_below<F: Real, L: Lanes<F>>(squares: &[L::Eight], bound: F) -> F {
    let (bound, zero) = (L::Eight::splat(bound), L::Eight::splat(F::zero()));
    let mut largest = zero;
    #[allow(clippy::needless_range_loop)]
    for v in 0..squares.len() {
        largest = largest.max(squares[v].where_less(bound, squares[v], zero));
    }
    largest.largest()
}

/// The lowest bits.
#[inline(always)]
fn first_bits(mut bits: u32, count: usize) -> u32 {
    let all = bits;
    for _ in 0..count {
        bits &= bits - 1;
    }
    all & !bits
}
