//! Everything that can be wrong with what a caller asks for.

use crate::{Face, Precision};

/// The result of an operation of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// What is wrong: what was given, why it cannot be used, and what can.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No device of this name can be used.
    #[error("device `{name}` cannot be used: {reason}; usable here: {usable}")]
    Device {
        /// The name that was asked for.
        name: String,
        /// Why it cannot be used.
        reason: String,
        /// The names of the devices that can.
        usable: String,
    },

    /// The device cannot compute in this precision.
    #[error("device `{device}` has no {precision}; use f32, or a device that has it (`flex`)")]
    Precision {
        /// The device's name.
        device: String,
        /// The precision that was asked for.
        precision: Precision,
    },

    /// An axis of a grid has no increasing coordinates.
    #[error(
        "the {axis} axis of the grid does not increase at node {node}: {before} is followed by {after}"
    )]
    Axis {
        /// The axis: x, y or z.
        axis: char,
        /// Index of the offending node.
        node: usize,
        /// Coordinate before it.
        before: f64,
        /// Its coordinate.
        after: f64,
    },

    /// A field has no frames, or a grid no nodes.
    #[error("the field is empty: {0}")]
    Empty(&'static str),

    /// Scattered points, or what is asked of them, cannot be used.
    #[error("the points of the field cannot be used: {0}")]
    Points(String),

    /// A mesh, or what is asked of it, cannot be used.
    #[error("the mesh cannot be used: {0}")]
    Mesh(String),

    /// A frame has a wrong number of values.
    #[error(
        "frame {frame} has {found} numbers where the field asks for {expected} ({placement} x 3 components)"
    )]
    FrameSize {
        /// Index of the frame.
        frame: usize,
        /// Numbers found.
        found: usize,
        /// Numbers expected.
        expected: usize,
        /// How the expected count comes about, as `64 x 64 x 64 nodes`.
        placement: String,
    },

    /// The field has velocities that are not numbers.
    #[error(
        "frame {frame} has {count} velocities that are not finite, the first at index {first} \
         (x, y, z) = ({}, {}, {}); mend the data, or read them as zero (`not_finite = \"zero\"`)",
        position[0], position[1], position[2]
    )]
    NotFinite {
        /// Index of the frame.
        frame: usize,
        /// How many there are in this frame.
        count: usize,
        /// Index of the first one.
        first: usize,
        /// Where the first one is.
        position: [f64; 3],
    },

    /// The frames' times do not increase.
    #[error(
        "frame {frame} is at time {after}, not after frame {} at {before}; times must increase strictly",
        frame - 1
    )]
    Times {
        /// Index of the offending frame.
        frame: usize,
        /// Time of the frame before it.
        before: f64,
        /// Its time.
        after: f64,
    },

    /// A periodic field's period does not fit its frames.
    #[error("a period of {period} does not fit the frames: {reason}")]
    Period {
        /// The period that was asked for or found.
        period: f64,
        /// What does not fit.
        reason: String,
    },

    /// The run asks for times at which the field is not known.
    #[error(
        "the run goes from t = {t0} to t = {t1}, the field from {first} to {last}; \
         shorten the run, or say what lies outside (`outside_time = \"hold\"`, `\"zero\"` or `\"periodic\"`)"
    )]
    OutsideTime {
        /// Begin of the run.
        t0: f64,
        /// End of the run.
        t1: f64,
        /// First time of the field.
        first: f64,
        /// Last time of the field.
        last: f64,
    },

    /// Begin, end, step and number of steps contradict each other, or do not suffice.
    #[error("the time span is not defined: {0}")]
    Span(String),

    /// The saves cannot be made.
    #[error("the saves cannot be made: {0}")]
    Saves(String),

    /// A face's condition does not go with the others.
    #[error("face {face}: {reason}")]
    Boundary {
        /// The face.
        face: Face,
        /// What does not fit.
        reason: String,
    },

    /// A patch of a mesh's edge is none.
    #[error("patch `{name}` of the mesh: {reason}")]
    Patch {
        /// Its name.
        name: String,
        /// What does not fit.
        reason: String,
    },

    /// The domain box is empty or not known.
    #[error("the domain box is not usable on the {axis} axis: from {low} to {high}")]
    Domain {
        /// The axis: x, y or z.
        axis: char,
        /// Its least coordinate.
        low: f64,
        /// Its greatest coordinate.
        high: f64,
    },

    /// Seeds lie where they cannot be released.
    #[error(
        "{outside} of {count} seeds lie outside the {what} within ({}, {}, {}) to ({}, {}, {}), the first \
         (number {first}) at ({}, {}, {}); move them, or let them end as not located \
         (`seeds.outside = \"not-located\"`)",
        low[0], low[1], low[2], high[0], high[1], high[2], position[0], position[1], position[2]
    )]
    SeedsOutside {
        /// What they lie outside of: the domain, or the mesh or the obstacles' allowed side in it.
        what: &'static str,
        /// How many seeds lie outside.
        outside: usize,
        /// How many there are.
        count: usize,
        /// Index of the first one outside.
        first: usize,
        /// Where it is.
        position: [f64; 3],
        /// Least corner of the domain.
        low: [f64; 3],
        /// Greatest corner of the domain.
        high: [f64; 3],
    },

    /// Seeds cannot be made as described.
    #[error("the seeds cannot be made: {0}")]
    Seeds(String),

    /// An inlet cannot be used as described, or not with this domain or flow.
    #[error("the inlet cannot be used: {0}")]
    Inlet(String),

    /// A random walk, or a constant velocity beside the field, cannot be used.
    #[error("the random walk cannot be used: {0}")]
    Walk(String),

    /// Steps cannot follow from their errors as asked for.
    #[error("the tolerances cannot be kept: {0}")]
    Tolerance(String),

    /// A function that is called after each step has returned what are no positions.
    #[error("the operation after each step cannot be used: {0}")]
    EachStep(String),

    /// A source of particles cannot be used.
    #[error("the source of particles cannot be used: {0}")]
    Release(String),

    /// Obstacles cannot be used as described, or not with this domain or field.
    #[error("the obstacles cannot be used: {0}")]
    Obstacle(String),

    /// The fused operation was required and cannot be used.
    #[error(
        "the fused engine cannot be used: {reason}; use `trace.engine = \"auto\"` or `\"tensor\"`"
    )]
    NotFused {
        /// Why not.
        reason: String,
    },

    /// The field and the run do not fit into memory.
    #[error("{what} needs {needed} bytes, and {available} are there; {remedy}")]
    Memory {
        /// What needs the memory.
        what: String,
        /// Bytes needed.
        needed: u64,
        /// Bytes available.
        available: u64,
        /// What would make it fit.
        remedy: String,
    },

    /// A run cannot be planned as asked.
    #[error("the run cannot be planned: {0}")]
    Plan(String),

    /// A run cannot go on from a state.
    #[error("the run cannot go on from this state: {0}")]
    State(String),

    /// The device failed while it computed.
    #[error("the device failed: {0}")]
    Execution(String),

    /// A source of frames failed.
    #[error("frame {frame} could not be read")]
    Source {
        /// Index of the frame.
        frame: usize,
        /// The source's own error.
        #[source]
        source: crate::SourceError,
    },

    /// A sink for tracks failed.
    #[error("the tracks could not be written")]
    Sink(#[source] Box<dyn std::error::Error + Send + Sync>),
}
