//! Functions of Python as fields.

use crate::{console::PythonConsole, data};
use burntrace::{
    Domain, Field, FieldFn, Precision,
    burn::tensor::{DType, Device, Tensor, TensorData},
};
use numpy::{IntoPyArray, PyArrayMethods};
use pyo3::prelude::*;
use std::sync::Arc;

/// A velocity that a function of Python computes: of positions `[n, 3]` and a time, `[n, 3]`.
pub struct Function {
    /// The function.
    pub velocity: Py<PyAny>,
    /// Its domain.
    pub domain: Domain,
    /// Whether it does not depend on time.
    pub is_steady: bool,
}

impl Function {
    /// The function as a field. An exception stops the run of a console.
    pub fn field(
        &self,
        device: &Device,
        precision: Precision,
        console: Arc<PythonConsole>,
    ) -> Box<dyn Field> {
        let call = Python::attach(|py| self.velocity.clone_ref(py));
        let velocity = move |position: Tensor<2>, time: f64| {
            let called = Python::attach(|py| match precision {
                Precision::F32 => velocity::<f32>(py, &call, &position, time),
                Precision::F64 => velocity::<f64>(py, &call, &position, time),
            });
            called.unwrap_or_else(|error| {
                console.stop(error);
                // Another shape than that of the positions, which ends the run.
                Tensor::zeros([position.dims()[0] + 1, 3], &position.device())
            })
        };
        let field = FieldFn::new(self.domain, device, precision, velocity);
        Box::new(if self.is_steady { field.steady() } else { field })
    }
}

/// Calls a function with positions as an array of a type of numbers.
fn velocity<T: numpy::Element + burntrace::burn::tensor::Element + Copy>(
    py: Python<'_>,
    call: &Py<PyAny>,
    position: &Tensor<2>,
    time: f64,
) -> PyResult<Tensor<2>> {
    let rows = position.dims()[0];
    let failed = |error: String| crate::errors::invalid(py, error);
    let numbers = position.clone().into_data().try_into_vec::<T>();
    let numbers = numbers.map_err(|error| failed(error.to_string()))?;
    let result = call.bind(py).call1((numbers.into_pyarray(py).reshape([rows, 3])?, time))?;
    let shape: Vec<usize> = py.import("numpy")?.call_method1("shape", (&result,))?.extract()?;
    let numbers = data::numbers::<T>(&result)?;
    if shape != [rows, 3] {
        let shape = shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
        return Err(failed(format!(
            "the function of the velocity returned an array of shape ({shape}) for {rows} positions; return an array of shape ({rows}, 3)"
        )));
    }
    let dtype: DType = T::dtype();
    let data = TensorData::new(numbers, [rows, 3]);
    Ok(Tensor::from_data(data, (&position.device(), dtype)))
}
