//! Fits of a few parameters.

use burntrace::analysis::fit::{self as search, Parameter, Residuals};
use pyo3::prelude::*;

/// Values and sums of squares of the runs of a search.
type Trials = Vec<(Vec<f64>, f64)>;

/// Fitted values, standard errors, the runs of the search, the last differences, and whether the search ended by itself. `model` returns the
/// differences of each group for a list of values.
#[pyfunction]
#[allow(clippy::type_complexity)]
pub fn fit(
    py: Python<'_>,
    model: Py<PyAny>,
    ranges: Vec<[f64; 3]>,
    runs: usize,
) -> PyResult<(Vec<f64>, Vec<f64>, Trials, Vec<Vec<f64>>, bool)> {
    let range = |[start, low, high]: [f64; 3]| Parameter { start, low, high };
    let parameters: Vec<Parameter> = ranges.into_iter().map(range).collect();
    let found = search::fit(&parameters, runs, |values| -> PyResult<Residuals> {
        let groups: Vec<Vec<f64>> = model.call1(py, (values.to_vec(),))?.extract(py)?;
        let count = groups.iter().map(Vec::len).sum::<usize>() as f64;
        Ok(Residuals { groups, variance: None, count })
    })?;
    let trials = found.trials.into_iter().map(|of| (of.values, of.sum_of_squares)).collect();
    Ok((found.values, found.errors, trials, found.residuals.groups, found.has_converged))
}
