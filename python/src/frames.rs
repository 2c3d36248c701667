//! Frames on points and cells that are arrays of Python.

use crate::{
    data::numbers,
    errors::{self, Slot},
};
use burntrace::{
    CellKind, FieldArray, Floats, FrameData, FrameSource, MeshSource, Placement, PointSource,
    SourceError, mesh::Cells,
};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use std::sync::Arc;

/// Frames as Python passes them: times, positions of points `[n, 3]`, velocities `[times, values, 3]`, whether single precision holds
/// them, the names, components and values of arrays, and the cells of a mesh.
pub type GivenFrames<'py> = (
    Vec<f64>,
    PyReadonlyArray2<'py, f64>,
    (Py<PyAny>, bool),
    Vec<(String, usize, Py<PyAny>)>,
    Option<GivenCells<'py>>,
);

/// Cells as Python passes them: points of all cells, the start of each cell in them, its type in VTK, and whether values are in cells.
type GivenCells<'py> =
    (PyReadonlyArray1<'py, u32>, PyReadonlyArray1<'py, u32>, PyReadonlyArray1<'py, u8>, bool);

/// Frames on points, or on the cells of a mesh.
pub struct Frames {
    times: Vec<f64>,
    points: Vec<[f64; 3]>,
    velocity: Py<PyAny>,
    is_single: bool,
    arrays: Vec<(FieldArray, Py<PyAny>)>,
    cells: Cells,
    placement: Placement,
    slot: Slot,
}

impl Frames {
    /// Frames that Python passed.
    pub fn new(py: Python<'_>, given: GivenFrames<'_>, slot: &Slot) -> PyResult<Self> {
        let (times, points, (velocity, is_single), arrays, cells) = given;
        let arrays = arrays.into_iter();
        let arrays = arrays.map(|(name, components, of)| (FieldArray::new(name, components), of));
        let (cells, placement) = match cells {
            None => (Cells::default(), Placement::Nodes),
            Some((connectivity, offsets, types, is_in_cells)) => {
                let kinds = types.as_slice()?.iter().map(|code| kind(py, *code));
                let cells = Cells {
                    kinds: kinds.collect::<PyResult<_>>()?,
                    offsets: offsets.as_slice()?.to_vec(),
                    connectivity: connectivity.as_slice()?.to_vec(),
                };
                (cells, if is_in_cells { Placement::Cells } else { Placement::Nodes })
            }
        };
        let points = points.as_slice()?.as_chunks::<3>().0.to_vec();
        let (arrays, slot) = (arrays.collect(), slot.clone());
        Ok(Frames { times, points, velocity, is_single, arrays, cells, placement, slot })
    }

    /// Whether they are on cells.
    pub fn has_cells(&self) -> bool {
        !self.cells.is_empty()
    }

    /// The numbers of a frame of an array.
    fn frame(&self, py: Python<'_>, values: &Py<PyAny>, frame: usize) -> PyResult<Floats> {
        let values = values.bind(py).get_item(frame)?;
        Ok(match self.is_single {
            true => Floats::F32(numbers(&values)?),
            false => Floats::F64(numbers(&values)?),
        })
    }
}

/// The kind of a cell of VTK.
fn kind(py: Python<'_>, code: u8) -> PyResult<CellKind> {
    CellKind::from_vtk(code).ok_or_else(|| {
        let known = CellKind::ALL.iter().map(|kind| kind.table());
        let known: Vec<String> = known.map(|of| format!("{} ({})", of.vtk, of.name)).collect();
        let text = format!(
            "a cell has the type {code}, which is not supported; give one of {}",
            known.join(", ")
        );
        errors::invalid(py, text)
    })
}

/// A source of some of the arrays of frames.
pub struct Source {
    frames: Arc<Frames>,
    /// The arrays, and their places among those of the frames.
    arrays: (Vec<FieldArray>, Vec<usize>),
}

impl Source {
    /// The frames with those of the arrays that they have.
    pub fn of(frames: &Arc<Frames>, names: &[String]) -> Self {
        let place = |name: &String| frames.arrays.iter().position(|(array, _)| array.name == *name);
        let places: Vec<usize> = names.iter().filter_map(place).collect();
        let arrays = places.iter().map(|place| frames.arrays[*place].0.clone()).collect();
        Source { frames: frames.clone(), arrays: (arrays, places) }
    }
}

impl FrameSource for Source {
    fn times(&self) -> &[f64] {
        &self.frames.times
    }

    fn arrays(&self) -> &[FieldArray] {
        &self.arrays.0
    }

    fn read(&mut self, frame: usize) -> Result<FrameData, SourceError> {
        let frames = &self.frames;
        let read = Python::attach(|py| {
            let of = |values| frames.frame(py, values, frame);
            let arrays = self.arrays.1.iter().map(|place| of(&frames.arrays[*place].1));
            let velocity = of(&frames.velocity)?;
            Ok(FrameData::new(velocity).with_arrays(arrays.collect::<PyResult<_>>()?))
        });
        read.map_err(|error: PyErr| {
            Python::attach(|py| errors::keep(&frames.slot, py, error)).into()
        })
    }
}

impl PointSource for Source {
    fn positions(&self) -> &[[f64; 3]] {
        &self.frames.points
    }
}

impl MeshSource for Source {
    fn points(&self) -> &[[f64; 3]] {
        &self.frames.points
    }

    fn cells(&self) -> &Cells {
        &self.frames.cells
    }

    fn placement(&self) -> Placement {
        self.frames.placement
    }
}
