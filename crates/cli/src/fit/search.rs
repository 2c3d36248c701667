//! The search for the values at which a run is nearest to the data, and their standard errors.

use super::parameter::Parameter;
use crate::args::Measure;
use crate::fit::measure::Residuals;
use anyhow::{Result, anyhow};
use argmin::{
    core::{CostFunction, Error, Executor, State},
    solver::neldermead::NelderMead,
};
use argmin_math::{ArgminAdd, ArgminMul, ArgminSub};
use std::cell::RefCell;

/// A run of the search.
#[derive(Clone, Debug)]
pub struct Trial {
    pub values: Vec<f64>,
    pub rms: f64,
}

/// What a search found.
pub struct Found {
    pub values: Vec<f64>,
    /// Standard errors; NaN where the data do not determine a value.
    pub errors: Vec<f64>,
    pub residuals: Residuals,
    /// The runs of the search, in order; the first is that of the start.
    pub trials: Vec<Trial>,
    /// Whether the search ended by itself.
    pub has_converged: bool,
}

/// Evaluates the run with some values.
pub type Evaluate<'a> = dyn FnMut(&[f64]) -> Result<Residuals> + 'a;

/// The edges of the simplex at the start and when it starts again from the values that it found, in parts of the ranges of the parameters. A simplex
/// whose corners happen to have equal values ends, and one of another size does not.
const EDGES: [f64; 5] = [0.2, 0.05, 0.017, 0.11, 0.03];
/// The step of differences, in parts of the ranges of the parameters.
const STEP: f64 = 1e-3;
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

/// Searches within the bounds with a simplex (J. A. Nelder and R. Mead, 1965), which needs no derivatives, with at most a number of runs.
pub fn search(
    parameters: &[Parameter],
    (measure, runs): (Measure, usize),
    evaluate: &mut Evaluate,
) -> Result<Found> {
    let start: Vec<f64> = parameters.iter().map(|of| of.fraction(of.start)).collect();
    let problem = Problem {
        parameters,
        measure,
        state: RefCell::new((evaluate, Vec::new())),
        scale: RefCell::new(0.0),
    };
    let first = problem.residuals(&start)?;
    problem.scale.replace(first.sum_of_squares().max(f64::MIN_POSITIVE));
    let (mut best, mut least, mut has_converged) = (start, f64::INFINITY, false);
    for edge in EDGES {
        // A step of the simplex takes some two runs.
        let left = runs.saturating_sub(problem.state.borrow().1.len()) as u64 / 2;
        let solver = NelderMead::new(simplex(&best, edge)).with_sd_tolerance(TOLERANCE);
        let executor = Executor::new(&problem, solver.map_err(own)?);
        let found = executor.configure(|state| state.max_iters(left.max(1))).run().map_err(own)?;
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
    let trials = problem.state.borrow().1.clone();
    let derivatives = derivatives(&problem, &best)?;
    // The last run, which stays, is that of the values.
    let residuals = problem.residuals(&best)?;
    let errors = standard_errors(&derivatives, &residuals);
    let values = parameters.iter().zip(&best).map(|(of, part)| of.at(*part)).collect();
    Ok(Found { values, errors, residuals, trials, has_converged })
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

fn own(error: Error) -> anyhow::Error {
    anyhow!("{error}")
}

/// The sum of squares of a run, over that of the start.
struct Problem<'a, 'b> {
    parameters: &'a [Parameter],
    measure: Measure,
    state: RefCell<(&'a mut Evaluate<'b>, Vec<Trial>)>,
    scale: RefCell<f64>,
}

impl Problem<'_, '_> {
    /// The residuals at fractions of the ranges.
    fn residuals(&self, at: &[f64]) -> Result<Residuals> {
        let values: Vec<f64> =
            self.parameters.iter().zip(at).map(|(of, part)| of.at(*part)).collect();
        let (evaluate, trials) = &mut *self.state.borrow_mut();
        let residuals = evaluate(&values)?;
        trials.push(Trial { values, rms: residuals.rms(self.measure) });
        Ok(residuals)
    }
}

impl CostFunction for &Problem<'_, '_> {
    type Param = Point;
    type Output = f64;

    fn cost(&self, Point(at): &Point) -> Result<f64, Error> {
        let within: Vec<f64> = at.iter().map(|x| x.clamp(0.0, 1.0)).collect();
        let beyond: f64 = at.iter().zip(&within).map(|(a, b)| (a - b).abs()).sum();
        let residuals = self.residuals(&within)?;
        Ok(residuals.sum_of_squares() / *self.scale.borrow() + BEYOND * beyond)
    }
}

/// The derivative of each residual by each parameter, by central differences, one-sided at a bound.
fn derivatives(problem: &Problem, best: &[f64]) -> Result<Vec<Vec<f64>>> {
    let derivative = |i: usize| -> Result<Vec<f64>> {
        let [mut low, mut high] = [best.to_vec(), best.to_vec()];
        low[i] = (best[i] - STEP).max(0.0);
        high[i] = (best[i] + STEP).min(1.0);
        let width = problem.parameters[i].at(high[i]) - problem.parameters[i].at(low[i]);
        let [low, high] = [problem.residuals(&low)?, problem.residuals(&high)?];
        let both = high.groups.iter().flatten().zip(low.groups.iter().flatten());
        Ok(both.map(|(b, a)| (b - a) / width).collect())
    };
    (0..best.len()).map(derivative).collect()
}

/// Standard errors from the derivatives of the residuals, whose groups are independent of each other. Residuals of a known variance have the same
/// error in all of a group, which is the least that they can tell; else three or more groups tell how dependent the residuals of
/// a group are (K.-Y. Liang and S. L. Zeger, 1986), and residuals of fewer are taken as independent.
fn standard_errors(derivatives: &[Vec<f64>], residuals: &Residuals) -> Vec<f64> {
    let count = derivatives.len();
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let normal: Vec<Vec<f64>> =
        derivatives.iter().map(|a| derivatives.iter().map(|b| product(a, b)).collect()).collect();
    let Some(inverse) = inverse(normal) else { return vec![f64::NAN; count] };
    let freedom = residuals.count - count as f64;
    let misfit = residuals.sum_of_squares() / freedom;
    let groups = residuals.groups.len();
    let scores = |of: &dyn Fn(&[f64], &[f64]) -> f64| {
        let mut middle = vec![vec![0.0; count]; count];
        let mut first = 0;
        for group in &residuals.groups {
            let range = first..first + group.len();
            first = range.end;
            let score: Vec<f64> =
                derivatives.iter().map(|all| of(&all[range.clone()], group)).collect();
            for (row, a) in middle.iter_mut().zip(&score) {
                row.iter_mut().zip(&score).for_each(|(cell, b)| *cell += a * b);
            }
        }
        times(&times(&inverse, &middle), &inverse)
    };
    let diagonal = |matrix: &[Vec<f64>], factor: f64| -> Vec<f64> {
        (0..count).map(|i| factor * matrix[i][i]).collect()
    };
    let covariance = match residuals.variance {
        _ if freedom <= 0.0 => vec![f64::NAN; count],
        Some(variance) => diagonal(&scores(&|of, _| of.iter().sum()), variance.max(misfit)),
        None if groups >= 3 => diagonal(&scores(&product), groups as f64 / (groups as f64 - 1.0)),
        None => diagonal(&inverse, misfit),
    };
    covariance.into_iter().map(f64::sqrt).collect()
}

fn times(a: &[Vec<f64>], b: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let cell = |row: &Vec<f64>, j: usize| row.iter().zip(b).map(|(x, of)| x * of[j]).sum();
    a.iter().map(|row| (0..b.len()).map(|j| cell(row, j)).collect()).collect()
}

/// The inverse of a symmetric matrix, by elimination; `None` if it has none.
fn inverse(mut matrix: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    let count = matrix.len();
    // By its diagonal, as parameters have different units.
    let scales: Vec<f64> = (0..count).map(|i| matrix[i][i].sqrt()).collect();
    if !scales.iter().all(|scale| *scale > 0.0) {
        return None;
    }
    for (i, row) in matrix.iter_mut().enumerate() {
        row.iter_mut().enumerate().for_each(|(j, cell)| *cell /= scales[i] * scales[j]);
        row.extend((0..count).map(|j| f64::from(u8::from(i == j))));
    }
    for i in 0..count {
        let pivot =
            (i..count).max_by(|a, b| matrix[*a][i].abs().total_cmp(&matrix[*b][i].abs()))?;
        matrix.swap(i, pivot);
        let divisor = matrix[i][i];
        if divisor.abs() < 1e-12 {
            return None;
        }
        matrix[i].iter_mut().for_each(|cell| *cell /= divisor);
        let own = matrix[i].clone();
        for (j, row) in matrix.iter_mut().enumerate().filter(|(j, _)| *j != i) {
            let factor = row[i];
            debug_assert!(j < count);
            row.iter_mut().zip(&own).for_each(|(cell, of)| *cell -= factor * of);
        }
    }
    let unscaled = |(i, row): (usize, Vec<f64>)| {
        row[count..].iter().enumerate().map(|(j, cell)| cell / (scales[i] * scales[j])).collect()
    };
    Some(matrix.into_iter().enumerate().map(unscaled).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line through noisy points: residuals of the intercept and the slope.
    fn line(noise: &[f64], groups: usize, values: &[f64]) -> Residuals {
        let count = noise.len();
        let point = |i: usize| {
            let x = i as f64 / count as f64;
            values[0] + values[1] * x - (1.0 + 2.0 * x + noise[i])
        };
        let all: Vec<f64> = (0..count).map(point).collect();
        let groups = all.chunks(count.div_ceil(groups)).map(<[f64]>::to_vec).collect();
        Residuals { groups, count: count as f64, ..Residuals::default() }
    }

    #[test]
    fn fitted_line_is_that_of_least_squares_with_its_errors() {
        let noise: Vec<f64> =
            (0..400).map(|i| 0.1 * ((i * 7919 % 1000) as f64 / 500.0 - 1.0)).collect();
        let parameters = ["a.b=0:-5..5", "a.c=0:-5..5"].map(String::from);
        let parameters = Parameter::all(&parameters).unwrap();
        // Least squares in closed form.
        let count = noise.len() as f64;
        let x = |i: usize| i as f64 / count;
        let mean_x = (0..noise.len()).map(x).sum::<f64>() / count;
        let spread: f64 = (0..noise.len()).map(|i| (x(i) - mean_x).powi(2)).sum();
        let mean = noise.iter().sum::<f64>() / count;
        let slope = (0..noise.len()).map(|i| (x(i) - mean_x) * noise[i]).sum::<f64>() / spread;
        let left: f64 =
            (0..noise.len()).map(|i| (noise[i] - mean - slope * (x(i) - mean_x)).powi(2)).sum();
        let error = (left / (count - 2.0) / spread).sqrt();
        let mut evaluate = |values: &[f64]| Ok(line(&noise, 1, values));
        let found = search(&parameters, (Measure::Cloud, 400), &mut evaluate).unwrap();
        assert!(found.has_converged);
        assert!((found.values[1] - 2.0 - slope).abs() < 1e-3, "{:?}", found.values);
        assert!((found.errors[1] / error - 1.0).abs() < 1e-3, "{:?} {error}", found.errors);
        // Groups of independent residuals have about the same errors.
        let mut evaluate = |values: &[f64]| Ok(line(&noise, 400, values));
        let grouped = search(&parameters, (Measure::Cloud, 400), &mut evaluate).unwrap();
        assert!((grouped.errors[1] / error - 1.0).abs() < 0.15, "{:?} {error}", grouped.errors);
    }

    #[test]
    fn corners_of_equal_values_do_not_end_the_search() {
        let parameters = Parameter::all(&["a.b=0:0..1".into()]).unwrap();
        // The start and the corner at 0.2 are equally far.
        let mut evaluate = |values: &[f64]| {
            let groups = vec![vec![values[0] - 0.1]];
            Ok(Residuals { groups, count: 1.0, ..Residuals::default() })
        };
        let found = search(&parameters, (Measure::Cloud, 200), &mut evaluate).unwrap();
        assert!((found.values[0] - 0.1).abs() < 1e-4 && found.has_converged, "{:?}", found.values);
    }

    #[test]
    fn values_stay_within_their_bounds() {
        let parameters = Parameter::all(&["a.b=0.5:0..1".into()]).unwrap();
        let mut evaluate = |values: &[f64]| {
            assert!((0.0..=1.0).contains(&values[0]));
            Ok(Residuals {
                groups: vec![vec![values[0] - 3.0]],
                count: 1.0,
                ..Residuals::default()
            })
        };
        let found = search(&parameters, (Measure::Cloud, 200), &mut evaluate).unwrap();
        assert!((found.values[0] - 1.0).abs() < 1e-6, "{:?}", found.values);
        assert!(found.errors[0].is_nan());
    }
}
