//! Everything that can be wrong with what a caller asks for.

/// The result of an operation of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// What is wrong: what was given, why it cannot be used, and what can.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
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
