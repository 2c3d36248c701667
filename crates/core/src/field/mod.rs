//! Velocity as a function of position and time.

mod analytic;
mod domain;
pub(crate) mod evaluate;
mod flows;
pub(crate) mod frames;
mod function;
mod grid;
mod interface;
mod layout;
mod load;
mod mesh;
mod options;
mod periodic;
mod points;
mod sampled;
mod source;
mod stream;

pub use analytic::{Analytic, FlowFrames};
pub use domain::Domain;
pub(crate) use domain::{AXES, bounding_box, measured, measured_from, plain};
pub use flows::Flow;
pub use frames::{Frames, OutsideTime};
pub use function::FieldFn;
pub use grid::GridField;
pub(crate) use interface::origin;
pub use interface::{Field, FromOrigin};
pub use mesh::{CellVelocity, MeshField};
pub use options::{FieldOptions, NotFinite};
pub use periodic::{PeriodicAxis, PeriodicGrid};
pub use points::PointField;
pub use sampled::Sampled;
pub(crate) use sampled::{FrameWindow, origin_row};
pub use source::{FrameData, FrameSource, GridSource, MeshSource, PointSource, SourceError};
pub use stream::InputSummary;
