//! Fields of Python.

use crate::{
    case::{GivenSeeds, of_dict, put_seeds},
    console::PythonConsole,
    data::{GivenVariable, data_set},
    errors,
    function::Function,
    gradients::{Pullback, by_names},
    tracks,
};
use burntrace::{
    Domain,
    case::{Case, DeviceField, Error},
    io::{series::DataSet, tracks::ArrayTracks},
};
use pyo3::{prelude::*, types::PyDict};
use std::sync::{Arc, Mutex, PoisonError};

/// A field that is loaded when it is first needed, and kept for further calls.
#[pyclass(frozen, module = "burntrace._burntrace")]
pub struct Field {
    data: Option<DataSet>,
    function: Option<Function>,
    loaded: Mutex<Option<Arc<DeviceField>>>,
}

#[pymethods]
impl Field {
    /// A field of files or formulas, of variables in memory, or of a function with its domain.
    #[new]
    #[pyo3(signature = (variables=None, function=None))]
    fn new(
        py: Python<'_>,
        variables: Option<(String, Vec<GivenVariable>)>,
        function: Option<(Py<PyAny>, [f64; 3], [f64; 3], bool)>,
    ) -> PyResult<Self> {
        let data = variables.map(|(name, variables)| data_set(&name, variables));
        let function = function.map(|(velocity, low, high, is_steady)| {
            let domain = Domain::new(low, high);
            let domain = domain.map_err(|error| errors::invalid(py, error.to_string()))?;
            Ok::<_, PyErr>(Function { velocity, domain, is_steady })
        });
        Ok(Field { data, function: function.transpose()?, loaded: Mutex::default() })
    }

    /// The name that stands for the variables in memory where files are named.
    #[getter]
    fn path(&self) -> Option<String> {
        self.data.as_ref().map(|data| data.path().display().to_string())
    }

    /// Loads the field for a case, and describes it.
    fn describe<'py>(
        &self,
        py: Python<'py>,
        sections: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (case, console) = (of_dict(sections)?, Arc::new(PythonConsole::default()));
        let field = py.detach(|| self.load(&case, &console));
        let field = field.map_err(|error| errors::raised(py, error))?;
        Ok(pythonize::pythonize(py, field.description())?)
    }

    /// Traces a case in the field. Returns the arrays of the tracks, the periods, a summary, warnings, and the exception that
    /// stopped the run, if one did.
    #[pyo3(signature = (sections, seeds, piece, progress))]
    #[allow(clippy::type_complexity)]
    fn trace<'py>(
        &self,
        py: Python<'py>,
        sections: &Bound<'py, PyDict>,
        seeds: Vec<GivenSeeds>,
        piece: Option<(usize, usize)>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Bound<'py, PyDict>, [f64; 3], Bound<'py, PyAny>, Vec<String>, Option<PyErr>)>
    {
        let mut case = of_dict(sections)?;
        put_seeds(&mut case, seeds)?;
        let console = Arc::new(PythonConsole::new(progress));
        let traced = py.detach(|| {
            let field = self.load(&case, &console)?;
            let mut tracks = ArrayTracks::new(field.units(&case));
            let slots = piece.map(|(start, end)| start..end);
            let summary = field.trace_piece(&case, slots, &mut tracks, &*console)?;
            Ok((tracks, summary))
        });
        let exception = console.take_exception();
        let (tracks, summary) = match (traced, exception.is_some()) {
            (Ok(traced), _) => traced,
            (Err(_), true) => return Err(exception.unwrap_or_else(|| errors::invalid(py, ""))),
            (Err(error), false) => return Err(errors::raised(py, error)),
        };
        let periods = tracks.periods();
        let arrays = tracks::arrays(py, tracks)?;
        Ok((
            arrays,
            periods,
            pythonize::pythonize(py, &summary)?,
            console.take_warnings(),
            exception,
        ))
    }

    /// Traces a case on a device that tracks gradients by some quantities. Returns the arrays of the tracks, the periods, a
    /// summary, warnings, and what computes the gradients.
    #[allow(clippy::type_complexity)]
    fn pullback<'py>(
        &self,
        py: Python<'py>,
        sections: &Bound<'py, PyDict>,
        seeds: Vec<GivenSeeds>,
        by: Vec<String>,
    ) -> PyResult<(Bound<'py, PyDict>, [f64; 3], Bound<'py, PyAny>, Vec<String>, Pullback)> {
        if self.function.is_some() {
            let text = "a function of Python has no gradients; give formulas (burntrace.flow) or values on a grid (burntrace.grid)";
            return Err(errors::invalid(py, text));
        }
        let mut case = of_dict(sections)?;
        put_seeds(&mut case, seeds)?;
        let by = by_names(py, &by)?;
        let console = Arc::new(PythonConsole::default());
        let traced = py.detach(|| {
            let field = self.load(&case, &console)?;
            let run = field.trace_tracked(&case, &by, &*console)?;
            let tracks = ArrayTracks::of((&run.tracks, &run.seeds), &run.plan, field.units(&case));
            let tracks = tracks.map_err(|error| Error::Failed(error.to_string()))?;
            Ok((tracks, run))
        });
        let (tracks, run) = traced.map_err(|error| errors::raised(py, error))?;
        let periods = tracks.periods();
        let summary = pythonize::pythonize(py, &run.tracks.summary())?;
        let arrays = tracks::arrays(py, tracks)?;
        Ok((arrays, periods, summary, console.take_warnings(), Pullback(Mutex::new(Some(run)))))
    }
}

impl Field {
    /// The field on the device of a case, as it is held, or loaded now.
    fn load(&self, case: &Case, console: &Arc<PythonConsole>) -> Result<Arc<DeviceField>, Error> {
        let mut held = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(field) = &*held
            && self.function.is_none()
            && field.suits(case)?
        {
            return Ok(field.clone());
        }
        // Two fields need not be in memory.
        *held = None;
        let field = match &self.function {
            None => case.load(&**console)?,
            Some(function) => {
                let device = case.open_device(&**console)?;
                let own = function.field(&device.device, case.run.precision, console.clone());
                DeviceField::own(case, "a function", own, device)?
            }
        };
        Ok(held.insert(Arc::new(field)).clone())
    }
}
