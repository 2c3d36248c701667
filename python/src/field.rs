//! Fields of Python.

use crate::{
    case::{GivenSeeds, of_dict, put_seeds},
    console::PythonConsole,
    data::{GivenVariable, data_set},
    errors::{self, Slot},
    frames::{Frames, GivenFrames, Source},
    function::Function,
    gradients::{Pullback, by_names},
    tracks,
};
use burntrace::{
    Domain,
    case::{Case, DeviceField, Error, OwnField},
    io::{series::DataSet, tracks::ArrayTracks},
};
use pyo3::{PyTraverseError, PyVisit, prelude::*, types::PyDict};
use std::sync::{Arc, Mutex, PoisonError};

/// The arrays of tracks, the periods of the domain, the summary of their run, and its warnings.
type GivenTracks<'py> = (Bound<'py, PyDict>, [f64; 3], Bound<'py, PyAny>, Vec<String>);

/// A function of positions and a time, the corners of its domain, and whether it does not depend on the time.
type GivenFunction = (Py<PyAny>, [f64; 3], [f64; 3], bool);

/// A field that is loaded when it is first needed, and kept for further calls.
#[pyclass(frozen, module = "burntrace._burntrace")]
pub struct Field {
    data: Option<DataSet>,
    frames: Option<OwnField>,
    function: Option<Arc<Function>>,
    loaded: Mutex<Option<Arc<DeviceField>>>,
    slot: Slot,
}

#[pymethods]
impl Field {
    /// A field of files or formulas, of variables in memory, of frames on points or cells, or of a function with its domain.
    #[new]
    #[pyo3(signature = (variables=None, frames=None, function=None))]
    fn new(
        py: Python<'_>,
        variables: Option<(String, Vec<GivenVariable>)>,
        frames: Option<GivenFrames<'_>>,
        function: Option<GivenFunction>,
    ) -> PyResult<Self> {
        let slot = Slot::default();
        let data = variables.map(|(name, variables)| data_set(&name, variables, &slot));
        let frames = frames.map(|given| Frames::new(py, given, &slot)).transpose()?.map(own);
        let function = function.map(|(velocity, low, high, is_steady)| {
            let domain = Domain::new(low, high);
            let domain = domain.map_err(|error| errors::invalid(py, error.to_string()))?;
            Ok::<_, PyErr>(Arc::new(Function { velocity, domain, is_steady }))
        });
        let (function, loaded) = (function.transpose()?, Mutex::default());
        Ok(Field { data, frames, function, loaded, slot })
    }

    /// Shows the garbage collector the function, which may be a method of an object that has the field.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.function.as_ref().map_or(Ok(()), |function| visit.call(&function.velocity))
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
        let console = Arc::new(PythonConsole::default());
        let case = of_dict(sections, self.own(&console))?;
        let field = py.detach(|| self.load(&case, &console));
        let field = field.map_err(|error| errors::raised_after(py, error, &self.slot))?;
        Ok(pythonize::pythonize(py, field.description())?)
    }

    /// Traces a case in the field. Returns the tracks, and the exception that stopped the run, if one did.
    #[pyo3(signature = (sections, seeds, piece, progress))]
    fn trace<'py>(
        &self,
        py: Python<'py>,
        sections: &Bound<'py, PyDict>,
        seeds: Vec<GivenSeeds>,
        piece: Option<(usize, usize)>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(GivenTracks<'py>, Option<PyErr>)> {
        let console = Arc::new(PythonConsole::new(progress));
        let mut case = of_dict(sections, self.own(&console))?;
        put_seeds(&mut case, seeds)?;
        let traced = py.detach(|| {
            case.check()?;
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
            (Err(error), false) => return Err(errors::raised_after(py, error, &self.slot)),
        };
        Ok((given(py, tracks, &summary, &console)?, exception))
    }

    /// Traces a case on a device that tracks gradients by some quantities. Returns the tracks, and what computes the gradients.
    fn pullback<'py>(
        &self,
        py: Python<'py>,
        sections: &Bound<'py, PyDict>,
        seeds: Vec<GivenSeeds>,
        by: Vec<String>,
    ) -> PyResult<(GivenTracks<'py>, Pullback)> {
        if self.function.is_some() {
            let text = "a function of Python has no gradients; give formulas (burntrace.flow) or values on a grid (burntrace.grid)";
            return Err(errors::invalid(py, text));
        }
        let console = Arc::new(PythonConsole::default());
        let mut case = of_dict(sections, self.own(&console))?;
        put_seeds(&mut case, seeds)?;
        let by = by_names(py, &by)?;
        let traced = py.detach(|| {
            case.check()?;
            let field = self.load(&case, &console)?;
            let run = field.trace_tracked(&case, &by, &*console)?;
            let tracks = ArrayTracks::of((&run.tracks, &run.seeds), &run.plan, field.units(&case));
            let tracks = tracks.map_err(|error| Error::Failed(error.to_string()))?;
            Ok((tracks, run))
        });
        let stopped = console.take_exception();
        let (tracks, run) = match (traced, stopped) {
            (_, Some(exception)) => return Err(exception),
            (Err(error), None) => return Err(errors::raised_after(py, error, &self.slot)),
            (Ok(traced), None) => traced,
        };
        let given = given(py, tracks, &run.summary, &console)?;
        Ok((given, Pullback(Mutex::new(Some(run)))))
    }
}

/// The tracks of a run as Python receives them.
fn given<'py>(
    py: Python<'py>,
    tracks: ArrayTracks,
    summary: &impl serde::Serialize,
    console: &PythonConsole,
) -> PyResult<GivenTracks<'py>> {
    let (periods, summary) = (tracks.periods(), pythonize::pythonize(py, summary)?);
    Ok((tracks::arrays(py, tracks)?, periods, summary, console.take_warnings()))
}

/// Frames as a field of a case.
fn own(frames: Frames) -> OwnField {
    let frames = Arc::new(frames);
    match frames.has_cells() {
        true => OwnField::Mesh(Arc::new(move |names| Box::new(Source::of(&frames, names)))),
        false => OwnField::Points(Arc::new(move |names| Box::new(Source::of(&frames, names)))),
    }
}

impl Field {
    /// The field of a case that is neither of files nor of formulas. An exception of a function stops the run of a console.
    fn own(&self, console: &Arc<PythonConsole>) -> Option<OwnField> {
        let Some(function) = self.function.clone() else { return self.frames.clone() };
        let console = console.clone();
        Some(OwnField::Velocity(Arc::new(move |device, precision| {
            function.field(device, precision, console.clone())
        })))
    }

    /// The field on the device of a case, as it is held, or loaded now.
    fn load(&self, case: &Case, console: &PythonConsole) -> Result<Arc<DeviceField>, Error> {
        if self.function.is_some() {
            // It holds the function, and has the console of one call.
            return Ok(Arc::new(case.load(console)?));
        }
        let mut held = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(field) = &*held
            && field.suits(case)
        {
            return Ok(field.clone());
        }
        // Two fields need not be in memory.
        *held = None;
        Ok(held.insert(Arc::new(case.load(console)?)).clone())
    }
}
