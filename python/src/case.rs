//! Cases from dictionaries, and their runs in folders.

use crate::{console::PythonConsole, errors};
use burntrace::case::{Case, OwnField, SeedShape};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::{prelude::*, types::PyDict};
use std::path::PathBuf;

/// The number of a block of seeds, its positions `[n, 3]`, and a release time for each of them.
pub type GivenSeeds<'py> = (usize, PyReadonlyArray2<'py, f64>, Option<PyReadonlyArray1<'py, f64>>);

/// The case of a dictionary, with a field that it does not have itself.
pub fn of_dict(sections: &Bound<'_, PyDict>, own: Option<OwnField>) -> PyResult<Case> {
    let py = sections.py();
    let table = pythonize::depythonize(sections);
    let table = table.map_err(|error| {
        errors::invalid(py, format!("an argument cannot be a value of a case: {error}"))
    })?;
    let case = match own {
        Some(own) => Case::with_own_field(table, own),
        None => Case::from_table(table),
    };
    case.map_err(|error| errors::raised(py, error))
}

/// Puts positions into the blocks of seeds of a case.
pub fn put_seeds(case: &mut Case, seeds: Vec<GivenSeeds>) -> PyResult<()> {
    for (block, points, times) in seeds {
        let points = points.as_slice()?.as_chunks::<3>().0.to_vec();
        let times = times.map(|times| times.as_slice().map(<[f64]>::to_vec)).transpose()?;
        if let Some(of) = case.seeds.get_mut(block) {
            // Dates were read with the case.
            let SeedShape::List { times: dates, .. } = &of.shape else { continue };
            let times = times.or_else(|| dates.clone());
            of.shape = SeedShape::List { points, times };
        }
    }
    Ok(())
}

/// A case file, or a case of a dictionary, with some keys set.
fn given(case: &Bound<'_, PyAny>, keys: &[String]) -> PyResult<Case> {
    let py = case.py();
    let case = match case.cast::<PyDict>() {
        Ok(sections) => of_dict(sections, None)?,
        Err(_) => {
            let path: PathBuf = case.extract()?;
            Case::from_path(path).map_err(|error| errors::raised(py, error))?
        }
    };
    let set = keys.iter().try_fold(case, |case, key| case.with(key));
    set.map_err(|error| errors::raised(py, error))
}

/// Compares the ends of a sample of a case's particles with other steps, precision and frames.
#[pyfunction]
pub fn check<'py>(
    py: Python<'py>,
    case: &Bound<'py, PyAny>,
    keys: Vec<String>,
    particles: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let case = given(case, &keys)?;
    let console = PythonConsole::default();
    let check = py.detach(|| case.check_steps(particles, &console));
    Ok(pythonize::pythonize(py, &check.map_err(|error| errors::raised(py, error))?)?)
}

/// Runs a case file, or a case of a dictionary, in a folder, and returns its summary and its warnings.
#[pyfunction]
#[pyo3(signature = (case, keys, out, overwrite, progress))]
pub fn run<'py>(
    py: Python<'py>,
    case: &Bound<'py, PyAny>,
    keys: Vec<String>,
    out: PathBuf,
    overwrite: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Bound<'py, PyAny>, Vec<String>)> {
    let case = given(case, &keys)?;
    let console = PythonConsole::new(progress);
    let done = py.detach(|| case.run_over(out, overwrite, &console));
    let done = done.map_err(|error| {
        let error = errors::raised(py, error);
        match console.take_exception() {
            Some(stopping) => {
                stopping.set_cause(py, Some(error));
                stopping
            }
            None => error,
        }
    })?;
    Ok((pythonize::pythonize(py, &done.json)?, console.take_warnings()))
}
