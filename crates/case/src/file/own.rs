//! Fields that a program makes.

use burn::tensor::Device;
use burntrace_core::{Field, MeshSource, PointSource, Precision};
use std::{fmt, sync::Arc};

/// Makes a field on a device, in a precision.
pub type MakeField = Arc<dyn Fn(&Device, Precision) -> Box<dyn Field> + Send + Sync>;

type Make<T> = Arc<dyn Fn(&[String]) -> Box<T> + Send + Sync>;

/// A field that a program makes, instead of files or a flow. Frames are asked for with the names of the arrays that the case
/// samples, which they have if they can. On a grid, files can be a [data set in memory](burntrace_io::series::DataSet).
///
/// Two are equal if one is a clone of the other.
#[derive(Clone)]
pub enum OwnField {
    /// Frames on a mesh.
    Mesh(Make<dyn MeshSource + Send>),
    /// Frames on scattered points.
    Points(Make<dyn PointSource + Send>),
    /// A field on a device, in a precision.
    Velocity(MakeField),
}

impl OwnField {
    /// Times of the first and the last frame.
    pub fn ends(&self) -> [f64; 2] {
        let ends = |times: &[f64]| [times.first(), times.last()].map(|time| *time.unwrap_or(&0.0));
        match self {
            OwnField::Mesh(make) => ends(make(&[]).times()),
            OwnField::Points(make) => ends(make(&[]).times()),
            OwnField::Velocity(_) => [0.0; 2],
        }
    }

    fn address(&self) -> *const () {
        match self {
            OwnField::Mesh(make) => Arc::as_ptr(make).cast(),
            OwnField::Points(make) => Arc::as_ptr(make).cast(),
            OwnField::Velocity(make) => Arc::as_ptr(make).cast(),
        }
    }
}

impl PartialEq for OwnField {
    fn eq(&self, other: &Self) -> bool {
        self.address() == other.address()
    }
}

/// What it is, and which one.
impl fmt::Debug for OwnField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self} at {:p}", self.address())
    }
}

impl fmt::Display for OwnField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OwnField::Mesh(_) => "frames on a mesh",
            OwnField::Points(_) => "frames on points",
            OwnField::Velocity(_) => "a function",
        })
    }
}
