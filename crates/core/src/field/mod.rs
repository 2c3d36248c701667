//! Velocity as a function of position and time.

mod analytic;
mod arrays;
mod boundary_parts;
mod coast;
mod courant;
mod derived;
mod diffused;
mod domain;
pub(crate) mod evaluate;
mod exchange;
mod faces;
mod flows;
mod formula;
pub(crate) mod frames;
mod function;
mod globe;
mod grid;
mod interface;
mod lanes;
mod layout;
mod load;
mod mesh;
mod options;
mod periodic;
mod points;
mod reader;
mod reload;
mod sampled;
mod sampled_field;
mod size;
mod source;
mod stored;
mod stream;
mod sum;
mod totals;
mod values;
mod wall_distance;
mod window;

pub use analytic::{Analytic, FlowFrames};
pub use arrays::{FieldArray, Samples};
pub use boundary_parts::{BoundaryPart, PartOf, boundary_parts};
pub use courant::Courant;
pub use derived::{Derived, WithDerived};
pub use diffused::{Diffused, Mixing};
pub use domain::Domain;
pub(crate) use domain::{AXES, bounding_box, measured, measured_from, plain};
pub use flows::Flow;
pub use formula::{Expression, Formula};
pub use frames::{Frames, OutsideTime, frames_of_steps};
pub use function::FieldFn;
pub use globe::EARTH_RADIUS;

/// Longitudes and latitudes on a sphere.
pub mod sphere {
    pub use super::globe::{CIRCLE, in_space, of_space, scales};
}
pub use grid::GridField;
pub(crate) use interface::Sealed;
pub(crate) use interface::origin;
pub use interface::{Field, FromOrigin, Internals};
pub(crate) use lanes::LANES;
pub use mesh::{CellVelocity, MeshField};
pub use options::{FieldOptions, NotFinite, Slip};
pub use periodic::{PeriodicAxis, PeriodicGrid};
pub use points::PointField;
pub use sampled::Sampled;
pub(crate) use sampled::origin_row;
pub use size::FieldSize;
pub use source::{FrameData, FrameSource, GridSource, MeshSource, PointSource, SourceError};
pub use stream::InputSummary;
pub use sum::{Addend, Difference, OutsideField, Sum};
pub use totals::ReadTotals;
pub use wall_distance::{WALL_DISTANCE, WithWallDistance};
pub(crate) use window::FrameWindow;
