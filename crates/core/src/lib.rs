//! Fields, seeds, schemes, boundaries, the tracer and its tracks.
//!
//! This crate opens no file and prints nothing. `burntrace` re-exports it together with the
//! readers and writers of `burntrace-io`.

pub mod device;
mod error;
mod field;
mod inlet;
pub mod mesh;
mod observer;
mod plan;
mod precision;
mod random;
mod reals;
mod schedule;
mod seeds;
mod source;
mod tracer;
mod tracks;

pub use burntrace_kernels::{
    Allowed, CellKind, ClosedSurface, Condition, Face, InTime, MAX_NEIGHBOURS, Obstacle, Placement,
    Scheme, Shape, Status, Surface, SurfaceError, WalkScheme, Wall, Weighting,
};
pub use error::{Error, Result};
pub use field::{
    Analytic, CellVelocity, Domain, Field, FieldFn, FieldOptions, Flow, FlowFrames, FrameSource,
    Frames, GridField, GridSource, InputSummary, MeshField, MeshSource, NotFinite, OutsideTime,
    PointField, PointSource, Sampled, Velocity,
};
pub use inlet::{Inlet, InletShape, Pattern};
pub use observer::{Control, KeepEvery, Observer, Progress};
pub use plan::{Asked, FieldSize, Load, Memory, Phase, Plan, PlanItem, Strategy};
pub use precision::Precision;
pub use schedule::{SaveAt, Span, TimeSpan};
pub use seeds::{BoxPoints, Seeds};
pub use source::{Rate, Source};
pub use tracer::{
    BatchSummary, MOST_PATCHES, Patch, RandomWalk, RunNumbers, RunState, SeedsOutside, Step,
    Tolerance, Tracer,
};
pub use tracks::{
    Ends, Life, Mark, MeshFace, Path, Save, SavePlan, SinkError, Summary, TrackSink, Tracks,
};
