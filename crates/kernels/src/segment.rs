//! The input of one launch.

use crate::{
    Adaptive, Boundary, Clock, FormulaStart, GateShape, InertialLaunch, Obstacle, ReinjectionRules,
    ScaledVelocity, Scheme, Step, Tallies, Walk,
};
use burn::tensor::TensorData;
use std::{fmt::Debug, sync::Arc};

/// The steps of one launch, with all parameters shared by the particles.
#[derive(Clone, Debug)]
pub struct Segment {
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// Number of the first step within the run; release and end events refer to it.
    pub first_step: i32,
    /// Slot number, within the run, of the first row of this launch. Random numbers, inlet
    /// positions, sources and the log use it.
    pub first_slot: u32,
    /// The slot of each row, counted from `first_slot`, if rows are not in the order of slots; on CPU backends
    /// only, and not with gradients. [`advance`](crate::advance) takes it from its particles.
    pub slots: Option<Arc<[u32]>>,
    /// Time integration scheme.
    pub scheme: Scheme,
    /// Frame intervals, extrapolation and interpolation in time.
    pub clock: Arc<Clock>,
    /// Of a field that is a formula, for graphics cards: without it, velocities there are not numbers.
    pub formula: Option<FormulaStart>,
    /// The domain box and its faces.
    pub boundary: Boundary,
    /// Bodies and vessels in the box.
    pub obstacles: Arc<[Obstacle]>,
    /// Whether the geometry has the numbers of their shapes, for gradients by them.
    pub tracks_shapes: bool,
    /// Surfaces and regions whose crossings are logged.
    pub gates: Arc<[GateShape]>,
    /// What adds up along the tracks, on CPU backends and without gradients.
    pub tallies: Arc<Tallies>,
    /// Rows of the log per slot, on devices that need a fixed size. A slot with more ends stops at the last of them, until a
    /// launch that [resumes](ReinjectionRules::resumes). Crossings beyond are lost; see [`Log`](crate::Log).
    pub log_rows: usize,
    /// Whether velocities that are not finite are holes of the field, where particles end as
    /// [`LeftField`](crate::Status::LeftField).
    pub has_holes: bool,
    /// Speed of a particle's motion in a step below which it ends as stagnant; 0 for no threshold.
    pub stagnant_speed: f64,
    /// Adaptive step-size control; `None` for the segment's own steps.
    pub adaptive: Option<Adaptive>,
    /// A constant velocity added to the field's, in the data's units; 0 along flat axes.
    pub drift: [f64; 3],
    /// A random walk added to the steps.
    pub walk: Option<Walk>,
    /// For particles with inertia, what they have in common.
    pub inertia: Option<InertialLaunch>,
    /// A second velocity of the field, not with gradients and not with inertia.
    pub scaled: Option<ScaledVelocity>,
    /// Rules for the re-use of slots.
    pub reinjection: Option<ReinjectionRules>,
    /// Gives the field's values again for a backward pass, which then does not keep them.
    pub reload: Option<Arc<dyn Reload>>,
    /// Number of fields of one shape, whose values follow one another. Each has as many of the particles, in order.
    pub fields: usize,
    /// Whether the particles that are active before the first step are released then, with gradients by the time of that.
    pub starts: bool,
    /// If gradients by the start and the end of the run are wanted, how much of the run is over at the start of each step and at the
    /// end of the last one, from 0 to 1.
    pub span_parts: Option<Arc<[f64]>>,
    /// With gradients, the maximum number of particles in a launch of the device. The particles are in one
    /// operation, so that the sums of their gradients do not depend on it.
    pub batch: Option<usize>,
}

/// A field's frames that can be loaded once more.
pub trait Reload: Debug + Send + Sync {
    /// Loads the frames that the steps of the launch need; `None` if that fails. The gradients of the launch are
    /// then NaN.
    fn reload(&self) -> Option<ReloadedFrames>;
}

/// Frames that were loaded once more, which may be others than at first, with the same values in those that the steps
/// need.
#[derive(Clone, Debug)]
pub struct ReloadedFrames {
    /// Values, as in [`FieldTensors::velocity`](crate::FieldTensors::velocity).
    pub values: TensorData,
    /// The clock of these frames.
    pub clock: Arc<Clock>,
    /// The steps in these frames.
    pub steps: Vec<Step>,
}

impl Segment {
    /// Steps in an unbounded box: no obstacles, no walk, and nothing else beside the field.
    pub fn new(clock: Arc<Clock>, steps: Vec<Step>) -> Self {
        Segment {
            steps,
            first_step: 0,
            first_slot: 0,
            slots: None,
            scheme: Scheme::default(),
            clock,
            formula: None,
            boundary: Boundary::open(),
            obstacles: Arc::new([]),
            tracks_shapes: false,
            gates: Arc::new([]),
            tallies: Arc::default(),
            log_rows: 1,
            has_holes: false,
            stagnant_speed: 0.0,
            adaptive: None,
            drift: [0.0; 3],
            walk: None,
            inertia: None,
            scaled: None,
            reinjection: None,
            reload: None,
            fields: 1,
            starts: false,
            span_parts: None,
            batch: None,
        }
    }
}
