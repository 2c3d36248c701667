//! The fused tracing operation of burntrace.
//!
//! Application code does not use this crate directly; `burntrace` wraps it.
//!
//! One trait, [`TraceBackend`], extends Burn's backends with [`advance`](TraceBackend::advance):
//! many Runge-Kutta steps of all particles in one launch. Each backend implements it in one file
//! (`backends/`): the CPU backends with the loop in `cpu`, GPUs with the kernel in `cube`.
//! Samplers are small functions in both, specialised by the compiler; the physics of a step is
//! written once, in `physics`. To add a scheme, add its tableau to `scheme.rs`.

mod adaptive;
mod backends;
mod boundary;
mod cells;
mod clearance;
mod clock;
mod compilations;
mod cpu;
#[cfg(feature = "cube")]
mod cube;
mod face;
mod field;
mod formula;
mod functions;
mod gate;
mod geometry;
mod gradient_sum;
mod grid;
pub mod inertia;
mod land;
mod launches;
mod mesh;
mod obstacle;
mod ops;
mod physics;
mod points;
pub mod random;
mod record;
mod reinjection;
mod scaled;
mod scheme;
mod segment;
pub mod settling;
pub mod status;
mod surface;
mod tally;
mod walk;

#[cfg(test)]
#[path = "../../../tests/support/requirements.rs"]
mod requirements;

pub use adaptive::{Adaptive, TrialOutcome};
pub use boundary::{Boundary, BoundaryCondition, MeshPatch};
pub use cells::{CellKind, CellTable, MAX_CELL_NODES, Side};
pub use clock::{Clock, Outside, Step, TimeInterpolation};
pub use compilations::{COMPILATION, log_compilations};
pub use cpu::tallies::distance as straight_distance;
pub use cpu::{
    Real, instructions,
    order::{ranks, spatial_order},
    paths::{Jacobian, PathEnd, StageClips},
    reuse::{Instance, SlotReuse},
};
pub use face::Face;
pub use field::FieldShape;
pub use formula::{
    FormulaNumber, FormulaShape, FormulaStart, Function, Instruction, Operator, Program,
};
pub use functions::{
    FieldTensors, IDENTITY, INERTIAL, Launched, Log, POSITION, Particles, TANGENTS, advance,
    locate, sample,
};
pub use gate::GateShape;
pub use geometry::{GeometryTensors, MOTION, obstacle_rows};
pub use gradient_sum::GradientSum;
pub use grid::{GridShape, Placement, Spacing};
pub use inertia::InertialLaunch;
pub use land::Land;
pub use launches::{KernelTime, KernelWatch, card_memory};
pub use mesh::{CELL_RECORD, FaceTags, MeshForm, MeshShape};
pub use obstacle::{Allowed, Obstacle, Shape};
pub use ops::TraceBackend;
pub use physics::path::MAX_EVENTS;
pub use points::{
    BRANCH_NUMBERS, BRANCHES, CROWDED, MAX_LEVELS, MAX_NEIGHBOURS, NODE_PADDING, PointShape,
    Weighting, branch_part, tree_levels,
};
pub use record::{RECORD, Record};
pub use reinjection::{
    InletRows, LOG_INDEX, LOG_POSITION, MAX_INSTANCES_PER_STEP, NEVER, ReinjectionRules, Releases,
    SlotRules, SourceSlots,
};
pub use scaled::ScaledVelocity;
pub use scheme::{MAX_STAGES, Ratio, Scheme, Tableau};
pub use segment::{Reload, ReloadedFrames, Segment};
pub use settling::{FreeEnds, settle};
pub use status::Status;
pub use surface::{ClosedSurface, SurfaceError, Triangles};
pub use tally::{
    Condition, Followed, Stretch, TALLY, Tallies, Tally, TallyKind, TrackPoint, quantities,
};
pub use walk::{Walk, WalkScheme};

/// Building blocks for other operations on CubeCL devices; not part of the public interface.
#[cfg(feature = "cube")]
#[doc(hidden)]
pub mod device {
    pub use crate::cube::upload::{DeviceTables, upload};
}

/// Building blocks for other operations on CPU backends; not part of the public interface.
#[doc(hidden)]
pub mod host {
    pub use crate::backends::HostTensor;
    pub use crate::cpu::Real;
    pub use crate::cpu::lanes::{Eight, Four, Lanes, Portable, Task, Vector, dispatch};
}
