//! Fields, seeds, schemes, boundaries, the tracer and its tracks.
//!
//! This crate opens no file and prints nothing. `burntrace` re-exports it together with the
//! readers and writers of `burntrace-io`.

mod bits;
mod control_group;
pub mod device;
mod error;
mod field;
mod floats;
mod inlet;
pub mod mesh;
mod phase;
mod plan;
mod precision;
mod random;
mod schedule;
mod seeds;
mod sink;
mod source;
mod summary;
mod tracer;
mod tracks;

pub use burntrace_kernels::{
    Allowed, BoundaryCondition, CellKind, ClosedSurface, Face, MAX_NEIGHBOURS, Obstacle, Placement,
    Scheme, Shape, Status, SurfaceError, TimeInterpolation, WalkScheme, Weighting,
};
pub use control_group::ControlGroup;
pub use error::{Error, Result};
pub use field::{
    Analytic, CellVelocity, Domain, Expression, Field, FieldArray, FieldFn, FieldOptions,
    FieldSize, Flow, FlowFrames, Formula, FrameData, FrameSource, Frames, GridBlock, GridField,
    GridSource, InputSummary, MeshField, MeshSource, NotFinite, OutsideTime, PeriodicAxis,
    PeriodicGrid, PointField, PointSource, Sampled, Samples, SourceError,
};
pub use floats::Floats;
pub use inlet::{Inlet, InletShape, Pattern};
pub use phase::PHASE;
#[doc(hidden)]
pub use phase::tracing;
pub use plan::{Memory, MemoryRequest, Phase, Plan, PlanItem, RunSize, Strategy};
pub use precision::Precision;
pub use schedule::{SaveAt, Span, TimeSpan};
pub use seeds::{GridPlacement, Seeds};
pub use sink::{DurablePosition, SinkError, TrackSink};
pub use source::{Rate, Source};
pub use summary::{Engine, Summary};
pub use tracer::{
    Adjoint, BatchSummary, CheckpointEvery, Control, FLOW_MAP_GRADIENT, MAX_PATCHES, Observer,
    Patch, PerAxis, Prepared, Progress, RandomWalk, RunNumbers, RunState, SeedsOutside, Step,
    Tolerance, Tracer, value_and_grad,
};
pub use tracks::{Ends, MeshFace, ParticleInstance, Save, SavePlan, Tracks};
