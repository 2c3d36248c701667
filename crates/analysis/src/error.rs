//! Everything that can be wrong with what a caller asks for.

/// The result of an operation of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// What is wrong: what was given, why it cannot be used, and what can.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Positions are not `[n, 3]`.
    #[error("positions of shape {found:?} cannot be used; give `[n, 3]`: x, y, z of each particle")]
    Positions {
        /// The shape that was given.
        found: [usize; 2],
    },

    /// There is not one number for each particle.
    #[error("there are {found} {what} for {expected} particles; give one for each")]
    Count {
        /// `weights` or `marks of selected particles`.
        what: &'static str,
        /// How many were given.
        found: usize,
        /// How many there should be.
        expected: usize,
    },

    /// A weight is no weight.
    #[error("the weight of particle {index} is {value}; weights are finite and not below 0")]
    Weight {
        /// Number of the particle, from 0.
        index: usize,
        /// Its weight.
        value: f64,
    },

    /// There is nothing to make a distribution of.
    #[error(
        "no particle has any weight: of {given}, {left_out} have no position, are not selected or \
         lie beyond the box; a probability density needs one at least (a number density does not)"
    )]
    NoParticles {
        /// How many there are.
        given: usize,
        /// How many of them are left out.
        left_out: usize,
    },

    /// The particles do not spread, so that no bandwidth follows from them.
    #[error("the bandwidth cannot follow from the particles: {0}; give a fixed one")]
    NoSpread(String),

    /// A bandwidth, or a smoothing length, is none.
    #[error("the bandwidth cannot be used: {0}")]
    Bandwidth(String),

    /// A lattice, a plane or points at which a density is asked for cannot be used.
    #[error("the density cannot be evaluated there: {0}")]
    Lattice(String),

    /// A box around particles cannot be used.
    #[error("the box cannot be used: {0}")]
    Domain(String),

    /// No axes have this name.
    #[error("`{0}` names no axes; use x, y, z, xy, xz, yz or xyz")]
    Axes(String),

    /// Statistics cannot be made as asked for.
    #[error("the statistics cannot be made: {0}")]
    Statistics(String),

    /// Exponents cannot follow from these positions.
    #[error("the finite-time Lyapunov exponents cannot be computed: {0}")]
    Ftle(String),

    /// Positions are of a type that is not computed with, or values could not be read back.
    #[error("the device failed: {0}")]
    Execution(String),
}
