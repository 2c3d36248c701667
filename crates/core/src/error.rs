//! Errors of this crate.

use crate::{Face, Precision};

/// The result of an operation of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// A number in the shortest form that says as much as a reader needs: 12 digits, and an exponent where it
/// is very small or large.
pub(crate) fn short(x: f64) -> String {
    let rounded: f64 = format!("{x:.11e}").parse().unwrap_or(x);
    match rounded.abs() {
        0.0 | 1e-5..1e15 => rounded.to_string(),
        _ => format!("{rounded:e}"),
    }
}

/// An error: what was given, why it is not valid, and what to give instead.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A device is not available.
    #[error("device `{name}` is not available: {reason}; available devices: {usable}")]
    Device {
        /// The requested name.
        name: String,
        /// Why it is not available.
        reason: String,
        /// Names of the available devices.
        usable: String,
    },

    /// A device does not support a precision.
    #[error(
        "device `{device}` does not support {precision}; use f32, or a device that supports it \
         (`flex`)"
    )]
    Precision {
        /// Name of the device.
        device: String,
        /// The requested precision.
        precision: Precision,
    },

    /// Coordinates of a grid axis do not increase.
    #[error(
        "the {axis} coordinates of the grid do not increase at node {node}: {after} follows \
         {before}; give increasing coordinates"
    )]
    Axis {
        /// The axis: x, y or z.
        axis: char,
        /// Index of the node.
        node: usize,
        /// Coordinate of the node before it.
        before: f64,
        /// Coordinate of the node.
        after: f64,
    },

    /// A field returned a tensor of another shape, precision or device than it should.
    #[error("the {quantity} that the field returned is not valid: {reason}")]
    Field {
        /// The quantity: velocity or diffusivity.
        quantity: &'static str,
        /// What is wrong, and what to return instead.
        reason: String,
    },

    /// A field has no frames, or a grid no nodes.
    #[error("the field is empty: {0}")]
    Empty(&'static str),

    /// A field is not one of longitudes and latitudes.
    #[error("the field on a sphere is not valid: {0}")]
    Sphere(String),

    /// A sum of fields is not valid.
    #[error("the sum of fields is not valid: {0}")]
    Sum(String),

    /// Scattered points or their weighting are not valid.
    #[error("the points of the field are not valid: {0}")]
    Points(String),

    /// A mesh or a request to it is not valid.
    #[error("the mesh is not valid: {0}")]
    Mesh(String),

    /// Arrays beside the velocity, or the request to sample them, are not valid.
    #[error("the arrays of the field are not valid: {0}")]
    Arrays(String),

    /// A frame has a wrong number of values.
    #[error("frame {frame} has {found} numbers; give {expected} ({placement} x 3 components)")]
    FrameSize {
        /// Index of the frame.
        frame: usize,
        /// Numbers found.
        found: usize,
        /// Numbers expected.
        expected: usize,
        /// The expected number and kind of values, for example `64 x 64 x 64 nodes`.
        placement: String,
    },

    /// A frame has velocities that are not finite.
    #[error(
        "frame {frame} has {count} velocities that are not finite, the first at index {first} (x, \
         y, z) = ({}, {}, {}); correct the data, read them as zero (`NotFinite::Zero`), as holes of the \
         field, where particles end (`NotFinite::Outside`), or on grids as land (`NotFinite::Land`)",
        position[0], position[1], position[2]
    )]
    NotFinite {
        /// Index of the frame.
        frame: usize,
        /// Number of such velocities in this frame.
        count: usize,
        /// Index of the first.
        first: usize,
        /// Position of the first.
        position: [f64; 3],
    },

    /// Land differs between frames.
    #[error(
        "land is the same in all frames, but in frame {frame} {count} velocities are missing that others have, or the other \
         way round, the first at index {first} (x, y, z) = ({}, {}, {}); correct the data, or read them as holes of the \
         field (`NotFinite::Outside`)",
        position[0], position[1], position[2]
    )]
    Land {
        /// Index of the frame.
        frame: usize,
        /// Number of velocities in this frame that differ.
        count: usize,
        /// Index of the first.
        first: usize,
        /// Position of the first.
        position: [f64; 3],
    },

    /// Times of the frames do not increase.
    #[error(
        "frame {frame} is at time {after}, and frame {} at {before}; give strictly increasing \
         times",
        frame - 1
    )]
    Times {
        /// Index of the frame.
        frame: usize,
        /// Time of the frame before it.
        before: f64,
        /// Time of the frame.
        after: f64,
    },

    /// The period of a field does not fit its frames.
    #[error("a period of {period} does not fit the frames: {reason}")]
    Period {
        /// The period.
        period: f64,
        /// Why it does not fit.
        reason: String,
    },

    /// The grid on which a flow is sampled is not valid.
    #[error("the sample of the flow is not valid: {0}")]
    Sample(String),

    /// A formula is not valid.
    #[error("the formula is not valid: {0}")]
    Formula(String),

    /// An axis of a grid cannot be closed to a period.
    #[error("the {axis} axis of the grid cannot be closed: {reason}")]
    PeriodicAxis {
        /// The axis: x, y or z.
        axis: char,
        /// Why.
        reason: String,
    },

    /// A run leaves the time range of the field.
    #[error(
        "the run extends from t = {} to t = {}, but the field from {} to {}; shorten \
         the run, or extend the field (`OutsideTime::Hold`, `Zero` or `Periodic`)",
        short(*t0), short(*t1), short(*first), short(*last)
    )]
    OutsideTime {
        /// Start of the run.
        t0: f64,
        /// End of the run.
        t1: f64,
        /// First time of the field.
        first: f64,
        /// Last time of the field.
        last: f64,
    },

    /// Start, end, step and number of steps are inconsistent or insufficient.
    #[error("the time span is not valid: {0}")]
    Span(String),

    /// The times of the saves are not valid.
    #[error("the times of the saves are not valid: {0}")]
    Saves(String),

    /// The boundary condition of a face is not valid.
    #[error("face {face}: {reason}")]
    Boundary {
        /// The face.
        face: Face,
        /// Why it is not valid.
        reason: String,
    },

    /// The condition of the mesh boundary is not valid.
    #[error("the boundary of the mesh: {0}")]
    MeshWall(String),

    /// A patch of the mesh boundary is not valid.
    #[error("patch `{name}` of the mesh: {reason}")]
    Patch {
        /// Name of the patch.
        name: String,
        /// Why it is not valid.
        reason: String,
    },

    /// A domain box is empty or undefined.
    #[error(
        "the domain box is not valid along {axis}, from {low} to {high}; give finite coordinates, \
         the lower one first"
    )]
    Domain {
        /// The axis: x, y or z.
        axis: char,
        /// Minimum coordinate.
        low: f64,
        /// Maximum coordinate.
        high: f64,
    },

    /// The domain of a run does not overlap that of its field.
    #[error(
        "the domain extends from {low} to {high} along {axis}, but the field from {} to {}; give a \
         domain that overlaps the field",
        field[0], field[1]
    )]
    DomainApart {
        /// The axis: x, y or z.
        axis: char,
        /// Minimum coordinate of the domain.
        low: f64,
        /// Maximum coordinate of the domain.
        high: f64,
        /// Minimum and maximum coordinate of the field.
        field: [f64; 2],
    },

    /// The speed below which particles end is not valid.
    #[error("the stagnant speed is {0}; give a finite speed of 0 or more")]
    StagnantSpeed(f64),

    /// A condition that ends particles is not valid.
    #[error("the condition `{condition}`: {reason}")]
    Stop {
        /// The condition.
        condition: String,
        /// What is wrong, and what would be right.
        reason: String,
    },

    /// Seeds are outside the region where particles can be released.
    #[error(
        "{outside} of {count} seeds are outside the {what} from ({}, {}, {}) to ({}, {}, {}), the \
         first (number {first}) at ({}, {}, {}); move them, or give them the status not located \
         (`SeedsOutside::NotLocated`)",
        low[0], low[1], low[2], high[0], high[1], high[2], position[0], position[1], position[2]
    )]
    SeedsOutside {
        /// The region: the domain, or the mesh or the allowed side of the obstacles in it.
        what: &'static str,
        /// Number of seeds outside.
        outside: usize,
        /// Number of seeds.
        count: usize,
        /// Index of the first seed outside.
        first: usize,
        /// Position of the first seed outside.
        position: [f64; 3],
        /// Minimum corner of the domain.
        low: [f64; 3],
        /// Maximum corner of the domain.
        high: [f64; 3],
    },

    /// Seeds are not valid.
    #[error("the seeds are not valid: {0}")]
    Seeds(String),

    /// An inlet is not valid, or does not fit the domain or the flow.
    #[error("the inlet is not valid: {0}")]
    Inlet(String),

    /// A random walk or a drift velocity is not valid.
    #[error("the random walk is not valid: {0}")]
    Walk(String),

    /// The factors of particles are not valid.
    #[error("the factors of particles are not valid: {0}")]
    Factors(String),

    /// The inertia of particles is not valid.
    #[error("the inertia of particles is not valid: {0}")]
    Inertia(String),

    /// Tolerances of adaptive steps are not valid.
    #[error("the tolerances are not valid: {0}")]
    Tolerance(String),

    /// A step hook returned invalid positions.
    #[error("the operation after each step is not valid: {0}")]
    EachStep(String),

    /// A source of particles is not valid.
    #[error("the source of particles is not valid: {0}")]
    Release(String),

    /// A gate is not valid, or does not fit the domain or the field.
    #[error("the gate `{name}` is not valid: {reason}")]
    Gate {
        /// Its name.
        name: String,
        /// What is wrong, and what would be right.
        reason: String,
    },

    /// Obstacles are not valid, or do not fit the domain or the field.
    #[error("the obstacles are not valid: {0}")]
    Obstacle(String),

    /// Two features of a run exclude each other (docs/guide/combinations.md).
    #[error("{this} cannot be combined with {that}: {why}; {instead}")]
    Combination {
        /// One of them, with what was given.
        this: String,
        /// The other one, with what was given.
        that: String,
        /// Why they exclude each other.
        why: &'static str,
        /// What to do instead.
        instead: &'static str,
    },

    /// Particles were lost in a run with gradients.
    #[error(
        "{count} particles were lost, the first of them particle {first} at time {time}: the velocity there, or where \
         it led, is NaN or infinite. A loss on their last positions and its gradients say nothing of it; correct the \
         values of the field, or take such particles as ended there with `Tracer::allow_non_finite(true)`"
    )]
    Lost {
        /// Number of particles.
        count: usize,
        /// Slot of the one that was lost first.
        first: usize,
        /// Its end time.
        time: f64,
    },

    /// The way in which gradients go back through a run is not valid.
    #[error("the adjoint is not valid: {0}")]
    Adjoint(String),

    /// The field and the run do not fit into memory.
    #[error("{what} needs {needed} bytes, but only {available} are available; {remedy}")]
    Memory {
        /// What needs the memory.
        what: String,
        /// Bytes needed.
        needed: u64,
        /// Bytes available.
        available: u64,
        /// How to make it fit.
        remedy: String,
    },

    /// A run cannot be planned as requested.
    #[error("the run cannot be planned: {0}")]
    Plan(String),

    /// A run cannot resume from a state.
    #[error("the run cannot resume from this state: {0}")]
    State(String),

    /// A run cannot continue a finished one.
    #[error("the run cannot continue the finished run: {0}")]
    Extend(String),

    /// The device failed during a computation.
    #[error("the device failed: {0}")]
    Execution(String),

    /// A source of frames failed.
    #[error("frame {frame} could not be read")]
    Source {
        /// Index of the frame.
        frame: usize,
        /// The source's own error.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },

    /// A track sink failed.
    #[error("the tracks could not be written")]
    Sink(#[source] Box<dyn std::error::Error + Send + Sync>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_up_to_twelve_digits_and_no_long_zeros() {
        let texts = [0.1 + 0.2, 1e300, -1e-30, 0.0, 1.0, -2.5, 1e10, f64::NAN].map(short);
        assert_eq!(texts, ["0.3", "1e300", "-1e-30", "0", "1", "-2.5", "10000000000", "NaN"]);
        assert_eq!(short(f64::INFINITY), "inf");
    }
}
