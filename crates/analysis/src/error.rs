//! Errors of this crate.

/// The result of an operation of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// An unusable argument or a failed device. Messages say what was given, why it is wrong, and what to give
/// instead.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Positions are not `[n, 3]`.
    #[error("positions of shape {found:?} cannot be used; give `[n, 3]`: x, y, z of each particle")]
    Positions {
        /// The shape that was given.
        found: [usize; 2],
    },

    /// The number of weights or flags differs from the number of particles.
    #[error("there are {found} {what} for {expected} particles; give one for each")]
    Count {
        /// `weights` or `selection flags`.
        what: &'static str,
        /// The number of values given.
        found: usize,
        /// The number of particles.
        expected: usize,
    },

    /// A weight is negative or not finite.
    #[error("the weight of particle {index} is {value}; give a finite number, 0 or more")]
    Weight {
        /// Index of the particle, from 0.
        index: usize,
        /// Its weight.
        value: f64,
    },

    /// A probability density without particles.
    #[error(
        "no particle has a weight above 0: {left_out} of {given} have no position, are not selected or \
         are beyond the box; a probability density needs at least one (a number density does not)"
    )]
    NoParticles {
        /// The number of particles given.
        given: usize,
        /// The number of omitted particles.
        left_out: usize,
    },

    /// Pairs of particles cannot be followed.
    #[error("invalid pairs: {0}")]
    Pairs(String),

    /// Invalid input of the statistics of velocities.
    #[error("the statistics of velocities cannot be computed: {0}")]
    Spectrum(String),

    /// Voxels that cannot be used.
    #[error("residence times cannot be computed: {0}")]
    Residence(String),

    /// The particles have no spread along an axis, so they do not determine a bandwidth.
    #[error("the particles do not determine a bandwidth: {0}; give a bandwidth as a length")]
    NoSpread(String),

    /// An invalid bandwidth, smoothing length or truncation.
    #[error("invalid bandwidth: {0}")]
    Bandwidth(String),

    /// Invalid evaluation points: a lattice, a plane or a list of points.
    #[error("invalid evaluation points: {0}")]
    Lattice(String),

    /// An invalid box around the particles.
    #[error("invalid box: {0}")]
    Domain(String),

    /// An unknown name of axes.
    #[error("unknown axes `{0}`; use x, y, z, xy, xz, yz or xyz")]
    Axes(String),

    /// Invalid options or input of track statistics.
    #[error("the statistics cannot be computed: {0}")]
    Statistics(String),

    /// Invalid input for finite-time Lyapunov exponents.
    #[error("the finite-time Lyapunov exponents cannot be computed: {0}")]
    Ftle(String),

    /// Positions are of an unsupported type, or the device failed to return values.
    #[error("the device failed: {0}")]
    Execution(String),
}
