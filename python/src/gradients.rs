//! Gradients of positions.

use crate::errors;
use burntrace::{
    Tracks,
    burn::tensor::{Gradients, Tensor, TensorData},
    case::{GradientBy, Leaves, TrackedRun},
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
    if names.is_empty() {
        return Err(errors::invalid(
            py,
            "`wrt` is empty; give what to differentiate with respect to",
        ));
    }
    names.iter().map(found).collect()
}

/// A run whose positions wait for their gradients.
#[pyclass(frozen, module = "burntrace._burntrace")]
pub struct Pullback(pub Mutex<Option<TrackedRun>>);

/// Gradients of the sum of positions times numbers.
fn backward(tracks: &Tracks, leaves: &Leaves, numbers: Vec<f64>) -> Gradients {
    let positions = tracks.positions();
    let data = TensorData::new(numbers, positions.dims());
    let beside = (&positions.device(), positions.dtype());
    let sum = total(positions * Tensor::from_data(data, beside));
    // So that there is a graph even where positions depend on no leaf.
    let of_leaves = [
        leaves.seeds.clone().map(|leaf| total(leaf) * 0.0),
        leaves.values.clone().map(|leaf| total(leaf) * 0.0),
        leaves.drift.clone().map(|leaf| total(leaf) * 0.0),
        leaves.diffusivity.clone().map(|leaf| total(leaf) * 0.0),
    ];
    of_leaves.into_iter().flatten().fold(sum, |sum, other| sum + other).backward()
}

/// The sum of a tensor, axis by axis: Burn's sum of all at once ends the process on software Vulkan.
fn total<const D: usize>(tensor: Tensor<D>) -> Tensor<1> {
    (0..D).fold(tensor, |tensor, axis| tensor.sum_dim(axis)).reshape([1])
}

/// A graph that is not pulled back would stay in memory.
impl Drop for Pullback {
    fn drop(&mut self) {
        let run = self.0.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(TrackedRun { tracks, leaves, .. }) = run {
            let count = tracks.positions().shape().num_elements();
            backward(&tracks, &leaves, vec![0.0; count]);
        }
    }
}

#[pymethods]
impl Pullback {
    /// Number of velocities by which positions are differentiated; 0 if they are not.
    #[getter]
    fn values(&self) -> usize {
        let run = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let values = run.as_ref().and_then(|run| run.leaves.values.as_ref());
        values.map_or(0, |values| values.shape().num_elements())
    }

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
        let gradients = py.detach(|| backward(&tracks, &leaves, numbers));
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
