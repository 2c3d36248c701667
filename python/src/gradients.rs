//! Gradients of positions.

use crate::errors;
use burntrace::{
    burn::tensor::{Gradients, Tensor, TensorData},
    case::{GradientBy, TrackedRun},
};
use numpy::{IntoPyArray, PyArrayMethods, PyReadonlyArrayDyn};
use pyo3::{prelude::*, types::PyDict};
use std::sync::{Mutex, PoisonError};

/// The quantities by which positions are differentiated, by their names.
pub fn by_names(py: Python<'_>, names: &[String]) -> PyResult<Vec<GradientBy>> {
    let all = [
        ("seeds", GradientBy::Seeds),
        ("values", GradientBy::Values),
        ("drift", GradientBy::Drift),
        ("diffusivity", GradientBy::Diffusivity),
    ];
    let found = |name: &String| {
        let known = all.iter().find(|(known, _)| known == name).map(|(_, by)| *by);
        known.ok_or_else(|| {
            let known = all.map(|(known, _)| format!("{known:?}")).join(", ");
            errors::invalid(py, format!("`wrt` has {name:?}; give some of {known}"))
        })
    };
    names.iter().map(found).collect()
}

/// A run whose positions wait for their gradients.
#[pyclass(frozen, module = "burntrace._burntrace")]
pub struct Pullback(pub Mutex<Option<TrackedRun>>);

#[pymethods]
impl Pullback {
    /// The gradients of a function of the positions by its derivatives `[saves, n, 3]` with respect to them.
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        derivatives: PyReadonlyArrayDyn<'py, f64>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let run = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(TrackedRun { tracks, leaves, .. }) = run else {
            return Err(errors::invalid(
                py,
                "the gradients of this run were computed; trace again",
            ));
        };
        let numbers = derivatives.as_slice()?.to_vec();
        let gradients = py.detach(|| {
            let positions = tracks.positions();
            let data = TensorData::new(numbers, positions.dims());
            let beside = (&positions.device(), positions.dtype());
            (positions * Tensor::from_data(data, beside)).sum().backward()
        });
        let all = PyDict::new(py);
        put(&all, "seeds", leaves.seeds, &gradients)?;
        put(&all, "values", leaves.values, &gradients)?;
        put(&all, "drift", leaves.drift, &gradients)?;
        put(&all, "diffusivity", leaves.diffusivity, &gradients)?;
        Ok(all)
    }
}

/// Adds the gradient by a leaf; zeros if the positions do not depend on it.
fn put<const D: usize>(
    all: &Bound<'_, PyDict>,
    name: &str,
    leaf: Option<Tensor<D>>,
    gradients: &Gradients,
) -> PyResult<()> {
    let Some(leaf) = leaf else { return Ok(()) };
    let shape = leaf.dims().to_vec();
    let gradient = leaf.grad(gradients).unwrap_or_else(|| leaf.inner().zeros_like());
    let numbers: Vec<f64> = gradient.into_data().iter::<f64>().collect();
    all.set_item(name, numbers.into_pyarray(all.py()).reshape(shape)?)
}
