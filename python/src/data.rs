//! Arrays of Python as the variables of a data set.

use crate::errors::{self, Slot};
use burntrace::io::series::{
    Attribute, DataSet, Dimension, Numbers, ScalarType, Span, Values, Variable,
};
use numpy::{PyArrayDyn, PyArrayMethods};
use pyo3::{
    IntoPyObjectExt,
    prelude::*,
    types::{PySlice, PyTuple},
};

/// A variable as Python passes it: its name, the names and lengths of its dimensions, the name of its type, attributes, and what
/// gives its numbers: an object that is indexed by slices as a NumPy array, and then is one or can be made one.
pub type GivenVariable =
    (String, Vec<(String, usize)>, String, Vec<(String, GivenAttribute)>, Py<PyAny>);

/// The value of an attribute.
#[derive(FromPyObject)]
pub enum GivenAttribute {
    /// Text.
    Text(String),
    /// The name of a type, and numbers of it.
    Numbers(String, Vec<f64>),
}

/// A data set of variables.
pub fn data_set(name: &str, variables: Vec<GivenVariable>, slot: &Slot) -> DataSet {
    let made = variables.into_iter().map(|(name, dimensions, dtype, attributes, values)| {
        let scalar = scalar(&dtype);
        let dimensions =
            dimensions.into_iter().map(|(name, len)| Dimension { name, len }).collect();
        let attributes = attributes.into_iter().map(|(name, value)| (name, value.into())).collect();
        let variable = Variable { name, dimensions, scalar, attributes };
        let is_single = scalar.is_some_and(ScalarType::fits_f32);
        let numbers: Box<dyn Numbers> = Box::new(Array { values, is_single, slot: slot.clone() });
        (variable, numbers)
    });
    DataSet::new(name, made.collect())
}

/// The type of a name of NumPy; `None` if its values are not numbers.
fn scalar(name: &str) -> Option<ScalarType> {
    use ScalarType::*;
    [I8, U8, I16, U16, I32, U32, I64, U64, F32, F64].into_iter().find(|of| of.to_string() == name)
}

impl From<GivenAttribute> for Attribute {
    fn from(given: GivenAttribute) -> Self {
        match given {
            GivenAttribute::Text(text) => Attribute::Text(text),
            GivenAttribute::Numbers(dtype, numbers) => {
                Attribute::Numbers(scalar(&dtype).unwrap_or(ScalarType::F64), numbers)
            }
        }
    }
}

/// What gives the numbers of a variable.
#[derive(Debug)]
struct Array {
    values: Py<PyAny>,
    /// Whether single precision holds its numbers.
    is_single: bool,
    slot: Slot,
}

impl Numbers for Array {
    fn read(&self, slab: &[Span]) -> Result<Values, String> {
        Python::attach(|py| {
            self.part(py, slab).map_err(|error| errors::keep(&self.slot, py, error))
        })
    }
}

impl Array {
    fn part(&self, py: Python<'_>, slab: &[Span]) -> PyResult<Values> {
        let index = slab.iter().map(|Span { start, count, step }| {
            let stop = start + count.saturating_sub(1) * step + 1;
            PySlice::new(py, *start as isize, stop as isize, *step as isize)
        });
        let part = self.values.bind(py).get_item(PyTuple::new(py, index)?)?;
        Ok(match self.is_single {
            true => Values::F32(numbers(&part)?),
            false => Values::F64(numbers(&part)?),
        })
    }
}

/// The numbers of an object that NumPy makes an array of, in the order of C; missing ones are NaN.
pub fn numbers<T: numpy::Element + Copy>(object: &Bound<'_, PyAny>) -> PyResult<Vec<T>> {
    let py = object.py();
    let dtype = numpy::dtype::<T>(py).into_py_any(py)?;
    let array = py.import("burntrace._plain")?.call_method1("contiguous", (object, dtype))?;
    let array = array.cast_into::<PyArrayDyn<T>>()?;
    Ok(array.readonly().as_slice()?.to_vec())
}
