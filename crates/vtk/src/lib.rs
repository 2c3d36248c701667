//! Reads VTK files: legacy `.vtk`, XML `.vti`, `.vtr`, `.vts`, `.vtu` and `.vtp`, and parallel
//! `.pvtu` and `.pvtp`.
//!
//! [`open`] reads the structure of a file: the kind of data set, its size, and the list of its
//! arrays. The numbers stay in the file until [`VtkFile::read`] asks for one array, which then
//! reads that array's bytes only. Files may be damaged or hostile: the result is an [`Error`] that
//! names the place, never a panic, and no memory is taken on the word of a number in the file.
//! [`VtkFile::cells`] reads the cells of a mesh, [`VtkFile::faces`] the polygons of poly data.
//!
//! ```no_run
//! let file = burntrace_vtk::open("flow.vti")?;
//! for array in file.arrays() {
//!     let values = file.read(array)?.values.into_f32();
//!     assert_eq!(values.len(), array.tuples * array.components);
//! }
//! # Ok::<(), burntrace_vtk::Error>(())
//! ```

mod array;
mod base64;
mod block;
mod cells;
mod error;
mod file;
mod geometry;
mod legacy;
mod packed;
mod parallel;
mod pieces;
mod scalar;
mod source;
mod text;
mod values;
mod xml;

pub use array::{Array, ArrayInfo, Association, Attribute};
pub use cells::Cells;
pub use error::{Error, Place};
pub use file::{VtkFile, open};
pub use geometry::{Geometry, Kind};
pub use scalar::ScalarType;
pub use values::Values;
