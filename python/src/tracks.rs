//! Tracks as arrays of NumPy.

use burntrace::io::tracks::{ArrayTracks, HostArray, TrackArray};
use numpy::{IntoPyArray, PyArrayMethods};
use pyo3::{prelude::*, types::PyDict};

/// The arrays of tracks by their names, each with the names of its dimensions and its attributes. Nothing is copied.
pub fn arrays(py: Python<'_>, tracks: ArrayTracks) -> PyResult<Bound<'_, PyDict>> {
    let all = PyDict::new(py);
    for TrackArray { name, dimensions, shape, values, attributes } in tracks.into_arrays() {
        let attributes = pythonize::pythonize(py, &attributes)?;
        all.set_item(name, (dimensions, shaped(py, values, shape)?, attributes))?;
    }
    Ok(all)
}

fn shaped(py: Python<'_>, values: HostArray, shape: Vec<usize>) -> PyResult<Bound<'_, PyAny>> {
    macro_rules! shaped {
        ($($variant:ident),*) => {
            match values {
                $(HostArray::$variant(of) => of.into_pyarray(py).reshape(shape)?.into_any(),)*
            }
        };
    }
    Ok(shaped!(F32, F64, I32, I64, U8))
}
