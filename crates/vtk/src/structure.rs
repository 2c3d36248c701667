//! The structure of a data set: everything but the values of its arrays.

use std::path::PathBuf;

use crate::array::ArrayInfo;
use crate::geometry::{Geometry, Kind};

/// The structure of a data set.
#[derive(Debug)]
pub(crate) struct Structure {
    pub(crate) geometry: Geometry,
    /// A description of the encoding.
    pub(crate) encoding: String,
    pub(crate) arrays: Vec<ArrayInfo>,
    pub(crate) topology: Vec<ArrayInfo>,
    /// Node coordinates of a rectilinear grid: three arrays, otherwise none.
    pub(crate) coordinates: Vec<ArrayInfo>,
    pub(crate) points: Option<ArrayInfo>,
}

/// The index of a parallel data set.
pub(crate) struct Index {
    /// The kind of the data set in each of its files.
    pub(crate) kind: Kind,
    pub(crate) files: Vec<PathBuf>,
    /// Field data in the index itself.
    pub(crate) fields: Vec<ArrayInfo>,
}
