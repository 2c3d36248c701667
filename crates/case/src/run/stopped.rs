//! That a run was asked to stop.

/// A run that was stopped before its end.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub struct Stopped {
    /// The exit code of a program.
    pub code: u8,
    /// How to resume it.
    pub text: String,
}
