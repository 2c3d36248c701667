//! A few parameters at which a model is nearest to data, with standard errors.
//!
//! The model is a function from parameters to the differences of what it computes from what was observed, such as of a run from
//! drifters; see [`fit`].

mod errors;
mod newton;
mod simplex;

use std::cell::RefCell;

/// A parameter between two bounds, and where its search starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// The value at the start.
    pub start: f64,
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

impl Parameter {
    /// The value at a fraction of the way between the bounds.
    pub fn at(&self, fraction: f64) -> f64 {
        self.low + fraction * (self.high - self.low)
    }

    /// The fraction of a value.
    pub fn fraction(&self, value: f64) -> f64 {
        (value - self.low) / (self.high - self.low)
    }
}

/// Differences of a model from data, whose squares a fit makes small. Groups are independent of each other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Residuals {
    /// The differences of each group.
    pub groups: Vec<Vec<f64>>,
    /// The variance of differences that all have the same error in a group; `None` if it follows from the differences.
    pub variance: Option<f64>,
    /// Independent differences, which may be fewer.
    pub count: f64,
}

impl Residuals {
    /// Differences that are independent of each other, of an unknown variance.
    pub fn independent(differences: Vec<f64>) -> Self {
        let count = differences.len() as f64;
        Residuals { groups: vec![differences], variance: None, count }
    }

    /// The sum of their squares.
    pub fn sum_of_squares(&self) -> f64 {
        self.all().map(|x| x * x).sum()
    }

    fn all(&self) -> impl Iterator<Item = f64> {
        self.groups.iter().flatten().copied()
    }
}

/// An evaluation of the model in a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// The values of the parameters.
    pub values: Vec<f64>,
    /// The sum of the squares of the differences.
    pub sum_of_squares: f64,
}

/// What a fit found.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// The values of the parameters.
    pub values: Vec<f64>,
    /// Their standard errors; NaN where the data do not determine a value.
    pub errors: Vec<f64>,
    /// The differences that are left.
    pub residuals: Residuals,
    /// The evaluations of the search, in order; the first is that of the start. After them are those for the errors, the last of
    /// which is that of the values.
    pub trials: Vec<Trial>,
    /// Whether the search ended by itself.
    pub has_converged: bool,
}

/// Finds the parameters within their bounds at which the sum of squares of a model's differences is least, with at most some `runs` of the model, and
/// some more for standard errors.
///
/// Derivatives are differences of runs. Damped Newton steps for sums of squares (Levenberg 1944, Marquardt 1963) take few runs where the differences change
/// smoothly; where they do not, a simplex (Nelder and Mead 1965) goes on from there. Both find a minimum near the start.
///
/// ```
/// use burntrace_analysis::fit::{Parameter, Residuals, fit};
///
/// let observed = [(0.0, 1.1), (1.0, 2.9), (2.0, 5.0), (3.0, 7.1)];
/// let line = [Parameter { start: 0.0, low: -9.0, high: 9.0 }; 2];
/// let found = fit(&line, 100, |values| {
///     let off = observed.map(|(x, y)| values[0] + values[1] * x - y);
///     Ok::<_, std::convert::Infallible>(Residuals::independent(off.to_vec()))
/// });
/// let Ok(found) = found;
/// assert!((found.values[0] - 1.01).abs() < 1e-6 && (found.values[1] - 2.01).abs() < 1e-6);
/// assert!(found.has_converged && (found.errors[1] - 0.05196).abs() < 1e-4);
/// ```
///
/// # Errors
///
/// Those of the model.
pub fn fit<E>(
    parameters: &[Parameter],
    runs: usize,
    mut model: impl FnMut(&[f64]) -> Result<Residuals, E>,
) -> Result<Fit, E> {
    let state = RefCell::new((&mut model as &mut Model<E>, Vec::new()));
    let problem = Problem { parameters, runs, state };
    let start: Vec<f64> = parameters.iter().map(|of| of.fraction(of.start)).collect();
    let mut found = newton::search(&problem, start)?;
    if !found.has_converged {
        found = simplex::search(&problem, found.at)?;
    }
    let trials = problem.state.borrow().1.clone();
    let derivatives = problem.derivatives(&found.at)?;
    let residuals = problem.residuals(&found.at)?;
    let errors = errors::standard_errors(&derivatives, &residuals);
    let values = problem.values(&found.at);
    Ok(Fit { values, errors, residuals, trials, has_converged: found.has_converged })
}

type Model<'a, E> = dyn FnMut(&[f64]) -> Result<Residuals, E> + 'a;

/// The step of differences, in parts of the ranges of the parameters.
const STEP: f64 = 1e-3;

/// Where a search ended, in fractions of the ranges of the parameters.
struct Found {
    at: Vec<f64>,
    has_converged: bool,
}

/// A model, the parameters of which are fractions of their ranges.
struct Problem<'a, 'b, E> {
    parameters: &'a [Parameter],
    runs: usize,
    state: RefCell<(&'a mut Model<'b, E>, Vec<Trial>)>,
}

impl<E> Problem<'_, '_, E> {
    fn values(&self, at: &[f64]) -> Vec<f64> {
        self.parameters.iter().zip(at).map(|(of, part)| of.at(*part)).collect()
    }

    fn residuals(&self, at: &[f64]) -> Result<Residuals, E> {
        let values = self.values(at);
        let (model, trials) = &mut *self.state.borrow_mut();
        let residuals = model(&values)?;
        trials.push(Trial { values, sum_of_squares: residuals.sum_of_squares() });
        Ok(residuals)
    }

    /// Runs that are left.
    fn left(&self) -> usize {
        self.runs.saturating_sub(self.state.borrow().1.len())
    }

    /// The derivative of each residual by each parameter, by central differences, one-sided at a bound.
    fn derivatives(&self, at: &[f64]) -> Result<Vec<Vec<f64>>, E> {
        let derivative = |i: usize| -> Result<Vec<f64>, E> {
            let [mut low, mut high] = [at.to_vec(), at.to_vec()];
            low[i] = (at[i] - STEP).max(0.0);
            high[i] = (at[i] + STEP).min(1.0);
            let width = self.parameters[i].at(high[i]) - self.parameters[i].at(low[i]);
            let [low, high] = [self.residuals(&low)?, self.residuals(&high)?];
            Ok(high.all().zip(low.all()).map(|(b, a)| (b - a) / width).collect())
        };
        (0..at.len()).map(derivative).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(start: f64, low: f64, high: f64) -> Parameter {
        Parameter { start, low, high }
    }

    fn sound(residuals: Residuals) -> Result<Residuals, std::convert::Infallible> {
        Ok(residuals)
    }

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
        let parameters = [between(0.0, -5.0, 5.0); 2];
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
        let mut evaluate = |values: &[f64]| sound(line(&noise, 1, values));
        let found = fit(&parameters, 400, &mut evaluate).unwrap();
        assert!(found.has_converged);
        assert!((found.values[1] - 2.0 - slope).abs() < 1e-3, "{:?}", found.values);
        assert!((found.errors[1] / error - 1.0).abs() < 1e-3, "{:?} {error}", found.errors);
        // Groups of independent residuals have about the same errors.
        let mut evaluate = |values: &[f64]| sound(line(&noise, 400, values));
        let grouped = fit(&parameters, 400, &mut evaluate).unwrap();
        assert!((grouped.errors[1] / error - 1.0).abs() < 0.15, "{:?} {error}", grouped.errors);
    }

    #[test]
    fn corners_of_equal_values_do_not_end_the_search() {
        let parameters = [between(0.0, 0.0, 1.0)];
        // The start and the corner at 0.2 are equally far.
        let mut evaluate = |values: &[f64]| {
            let groups = vec![vec![values[0] - 0.1]];
            sound(Residuals { groups, count: 1.0, ..Residuals::default() })
        };
        let found = fit(&parameters, 200, &mut evaluate).unwrap();
        assert!((found.values[0] - 0.1).abs() < 1e-4 && found.has_converged, "{:?}", found.values);
    }

    #[test]
    fn data_without_errors_take_few_runs() {
        let parameters = [between(0.2, -1.0, 1.0), between(0.5, 0.1, 2.0)];
        // As rounded as positions in single precision.
        let rounded = |x: f64| f64::from(x as f32);
        let decay = |[a, k]: [f64; 2], i: u32| rounded(a * (-0.1 * k * f64::from(i)).exp());
        let found = fit(&parameters, 200, |values| {
            let off = (0..40).map(|i| decay([values[0], values[1]], i) - decay([0.7, 1.3], i));
            sound(Residuals::independent(off.collect()))
        });
        let Ok(found) = found;
        assert!(found.has_converged && found.trials.len() < 30, "{}", found.trials.len());
        assert!((found.values[0] - 0.7).abs() < 1e-6 && (found.values[1] - 1.3).abs() < 1e-5);
    }

    #[test]
    fn values_stay_within_their_bounds() {
        let parameters = [between(0.5, 0.0, 1.0)];
        let mut evaluate = |values: &[f64]| {
            assert!((0.0..=1.0).contains(&values[0]));
            sound(Residuals {
                groups: vec![vec![values[0] - 3.0]],
                count: 1.0,
                ..Residuals::default()
            })
        };
        let found = fit(&parameters, 200, &mut evaluate).unwrap();
        assert!((found.values[0] - 1.0).abs() < 1e-6, "{:?}", found.values);
        assert!(found.errors[0].is_nan());
    }
}
