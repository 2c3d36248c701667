//! Fields, seeds, schemes, boundaries, the tracer and its tracks.
//!
//! This crate opens no file and prints nothing. `burntrace` re-exports it together with the
//! readers and writers of `burntrace-io`.

mod bits;
mod combinations;
mod control_group;
pub mod device;
mod error;
mod execution;
mod field;
mod floats;
mod free_memory;
mod gate;
mod inertia;
mod inlet;
pub mod mesh;
mod motion;
pub mod names;
mod patch;
mod phase;
mod plan;
mod precision;
mod random;
mod save;
mod save_request;
mod schedule;
mod second;
mod seeds;
mod sink;
mod slurm;
mod solver;
mod source;
mod summary;
mod surroundings;
mod tally;
mod threads;
mod tracer;
mod tracks;
mod vectors;
mod walls;

pub use burntrace_kernels::{
    Allowed, BoundaryCondition, CellKind, ClosedSurface, Face, GateShape, Land, Obstacle,
    Placement, Scheme, Shape, Status, SurfaceError, TimeInterpolation, WalkScheme, Weighting,
};
use control_group::ControlGroup;
pub use error::{Error, Result};
pub use execution::{Adjoint, Execution};
pub use field::sphere;
pub use field::{
    Addend, Analytic, BoundaryPart, CellVelocity, Courant, Derived, Difference, Diffused, Domain,
    EARTH_RADIUS, Expression, Field, FieldArray, FieldFn, FieldOptions, Flow, FlowFrames, Formula,
    FrameData, FrameSource, Frames, GridField, GridSource, MeshField, MeshSource, Mixing,
    NotFinite, OutsideField, OutsideTime, PartOf, PeriodicAxis, PeriodicGrid, PointField,
    PointSource, Samples, Slip, SourceError, Sum, WALL_DISTANCE, WithDerived, WithWallDistance,
    boundary_parts,
};
use field::{FieldSize, InputSummary, Sampled};
pub use floats::Floats;
use free_memory::FreeMemory;
pub use gate::{Crossing, Gate};
pub use inertia::{
    Contact, Distribution, Drag, Inertia, InitialVelocity, Lift, PerParticle, Quantity, Sphere,
    Turbulence, TurbulentTime,
};
pub use inlet::{Inlet, InletShape, Pattern};
pub use motion::{Motion, PerAxis, RandomWalk};
pub use patch::Patch;
#[doc(hidden)]
pub use phase::tracing;
use plan::{Memory, MemoryRequest, RunSize};
pub use plan::{Plan, Strategy};
pub use precision::Precision;
pub use save::{Ends, MeshFace, ParticleInstance, Save, SavePlan};
pub use save_request::{SampledArray, SaveRequest};
pub use schedule::{SaveAt, Span};
pub use second::hessian_product;
pub use seeds::{GridPlacement, Seeds};
pub use sink::{DurablePosition, SinkError, TrackSink};
pub use solver::{Solver, Tolerance};
pub use source::{Rate, Source};
pub use summary::{Engine, Summary};
pub use surroundings::{Outlet, OutletAt, SeedsOutside, Surroundings};
pub use tally::{SavedTally, StopCondition, Tally};
pub use tracer::{
    CheckpointEvery, Control, DIAMETER, FLOW_MAP_GRADIENT, FLUID_VELOCITY, MASS, Observer,
    Prepared, Progress, RunState, Step, Tracer, evaluate, value_and_grad,
};
pub use tracks::Tracks;
pub use walls::Walls;

/// What the program `burntrace` needs beside what other users of the library do: memory plans before a field is
/// read, parts of summaries and checkpoints, phases of profiles, limits of jobs, and those for its messages.
pub mod program {
    pub use crate::{
        control_group::ControlGroup,
        field::{FieldSize, InputSummary, ReadTotals, Sampled, frames_of_steps},
        free_memory::FreeMemory,
        patch::MAX_PATCHES,
        phase::PHASE,
        plan::{Memory, MemoryRequest, Phase, PlanItem, RunSize},
        schedule::TimeSpan,
        slurm::{Slurm, ThreadsFrom, default_threads},
        summary::BatchSummary,
        threads::note_started_threads,
        tracer::RunNumbers,
    };
    pub use burntrace_kernels::MAX_NEIGHBOURS;
}
