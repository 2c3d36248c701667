//! The fused tracing operation of burntrace.
//!
//! Application code does not use this crate directly; `burntrace` wraps it.
//!
//! One trait, [`TraceBackend`], extends Burn's backends with [`advance`](TraceBackend::advance):
//! many Runge-Kutta steps of all particles in one launch. One file per backend implements it
//! (`backends/`); on CPU backends it is the loop in `cpu`, on GPUs the kernel in `cube`. Sampler,
//! scheme and boundary are small functions in both, composed and then specialised by the
//! compiler: a new scheme is a tableau in `scheme.rs` and nothing else.

mod adaptive;
mod backends;
mod boundary;
mod cells;
mod clock;
mod cpu;
#[cfg(feature = "cube")]
mod cube;
mod field;
mod functions;
mod grid;
mod lives;
mod mesh;
mod obstacle;
mod ops;
mod points;
pub mod random;
mod scheme;
mod segment;
pub mod status;
mod surface;
mod walk;

pub use adaptive::Adaptive;
pub use boundary::{Boundary, Condition, Face};
pub use cells::{CellKind, CellTable, MAX_CELL_NODES, Side};
pub use clock::{Clock, Outside, Step, TimeInterpolation};
pub use cpu::instructions;
pub use field::FieldShape;
pub use functions::{
    FieldTensors, Launched, Log, Particles, Places, RECORD, advance, locate, sample,
};
pub use grid::{GridShape, Placement, Spacing};
pub use lives::{
    InletRows, LOG_INDEX, LOG_PLACE, Lives, MAX_LIVES_A_STEP, NEVER, ReinjectionRules, Releases,
    SourceSlots,
};
pub use mesh::{CELL_RECORD, MAX_BOUNCES, MeshForm, MeshPatch, MeshShape, Wall};
pub use obstacle::{
    Allowed, MAX_EVENTS, Obstacle, ObstaclePassage, Shape, Surface, obstacle_passages,
};
pub use ops::TraceBackend;
pub use points::{MAX_NEIGHBOURS, NODE_PADDING, PointShape, Weighting};
pub use scheme::{MAX_STAGES, Ratio, Scheme, Tableau};
pub use segment::Segment;
pub use status::Status;
pub use surface::{ClosedSurface, SurfaceError};
pub use walk::{Walk, WalkScheme};

/// What other operations on CubeCL devices are made of; no part of the interface.
#[cfg(feature = "cube")]
#[doc(hidden)]
pub mod device {
    pub use crate::cube::upload::{DeviceTables, upload};
}

/// What other operations on CPU backends are made of; no part of the interface.
#[doc(hidden)]
pub mod host {
    pub use crate::backends::HostTensor;
    pub use crate::cpu::Real;
    pub use crate::cpu::lanes::{Eight, Four, Lanes, Portable, Task, Vector, dispatch};
}
