//! A simplex, which needs no derivatives (J. A. Nelder and R. Mead, 1965).

use super::{Found, Problem};
use argmin::{
    core::{CostFunction, Error, Executor, State},
    solver::neldermead::NelderMead,
};
use argmin_math::{ArgminAdd, ArgminMul, ArgminSub};
use std::cell::RefCell;

/// The edges of the simplex at the start and when it starts again from the values that it found, in parts of the ranges of the parameters. A simplex
/// whose corners happen to have equal values ends, and one of another size does not.
const EDGES: [f64; 5] = [0.2, 0.05, 0.017, 0.11, 0.03];
/// The standard deviation of the values of a simplex at which the search ends, in parts of the value at the start.
const TOLERANCE: f64 = 1e-10;
/// The weight of a distance beyond the bounds, by which the search returns to them.
const BEYOND: f64 = 10.0;

/// Fractions of the ranges of the parameters. (The vectors of `argmin-math` need random numbers, and with them another build of Burn.)
#[derive(Clone, Debug)]
struct Point(Vec<f64>);

impl Point {
    fn with(&self, other: &Self, of: impl Fn(f64, f64) -> f64) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| of(*a, *b)).collect())
    }
}

impl ArgminAdd<Self, Self> for Point {
    fn add(&self, other: &Self) -> Self {
        self.with(other, |a, b| a + b)
    }
}

impl ArgminSub<Self, Self> for Point {
    fn sub(&self, other: &Self) -> Self {
        self.with(other, |a, b| a - b)
    }
}

impl ArgminMul<f64, Self> for Point {
    fn mul(&self, factor: &f64) -> Self {
        Self(self.0.iter().map(|x| factor * x).collect())
    }
}

/// Searches from a start.
pub(super) fn search<E>(problem: &Problem<E>, start: Vec<f64>) -> Result<Found, E> {
    // Newton's steps have evaluated the model before.
    let scale = problem.state.borrow().1.first().map_or(1.0, |first| first.sum_of_squares);
    let scale = scale.max(f64::MIN_POSITIVE);
    let cost = Cost { problem, scale, error: RefCell::new(None) };
    let (mut best, mut least, mut has_converged) = (start, f64::INFINITY, false);
    for edge in EDGES {
        // A step of the simplex takes some two runs.
        let left = problem.left() as u64 / 2;
        let solver = NelderMead::new(simplex(&best, edge)).with_sd_tolerance(TOLERANCE);
        let run = solver.and_then(|solver| {
            Executor::new(&cost, solver).configure(|state| state.max_iters(left.max(1))).run()
        });
        if let Some(error) = cost.error.take() {
            return Err(error);
        }
        let Ok(found) = run else { break };
        let (steps, cost) = (found.state.get_iter(), found.state.get_best_cost());
        if let Some(Point(at)) = found.state.best_param {
            best = at.iter().map(|x| x.clamp(0.0, 1.0)).collect();
        }
        has_converged = steps < left && least - cost <= 1e-6 * cost.abs();
        least = least.min(cost);
        if has_converged || steps >= left {
            break;
        }
    }
    Ok(Found { at: best, has_converged })
}

/// A corner at some values, and one from there along each axis.
fn simplex(at: &[f64], edge: f64) -> Vec<Point> {
    let corner = |i: usize| {
        let mut corner = at.to_vec();
        corner[i] += if corner[i] > 0.5 { -edge } else { edge };
        Point(corner)
    };
    std::iter::once(Point(at.to_vec())).chain((0..at.len()).map(corner)).collect()
}

/// The sum of squares of a run, over that of the start.
struct Cost<'a, 'b, 'c, E> {
    problem: &'a Problem<'b, 'c, E>,
    scale: f64,
    /// The error of the model that ended the search.
    error: RefCell<Option<E>>,
}

impl<E> CostFunction for &Cost<'_, '_, '_, E> {
    type Param = Point;
    type Output = f64;

    fn cost(&self, Point(at): &Point) -> Result<f64, Error> {
        let within: Vec<f64> = at.iter().map(|x| x.clamp(0.0, 1.0)).collect();
        let beyond: f64 = at.iter().zip(&within).map(|(a, b)| (a - b).abs()).sum();
        match self.problem.residuals(&within) {
            Ok(residuals) => Ok(residuals.sum_of_squares() / self.scale + BEYOND * beyond),
            Err(error) => {
                self.error.replace(Some(error));
                Err(Error::msg("the model failed"))
            }
        }
    }
}
