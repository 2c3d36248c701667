//! Notes on standard error while a run is prepared.

/// Prints notes on standard error while a run is prepared.
#[derive(Clone, Copy)]
pub struct Notes {
    pub quiet: bool,
}

impl Notes {
    /// Prints a line, unless output is quiet.
    pub fn say(self, name: &str, value: String) {
        if !self.quiet {
            eprintln!("{name:<10} {value}");
        }
    }
}
