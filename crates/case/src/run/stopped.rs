//! That a run was asked to stop.

/// A run that was stopped before its end.
#[derive(Debug)]
pub struct Stopped {
    /// The exit code of a program.
    pub code: u8,
    /// How to resume it.
    pub text: String,
}

impl std::fmt::Display for Stopped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Stopped {}
