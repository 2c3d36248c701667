//! `--quiet` and `--json`.

use anyhow::Result;
use clap::Args;
use serde_json::Value;
use std::io::Write;
use std::path::PathBuf;

/// What a command prints.
#[derive(Args, Clone, Copy)]
pub struct OutputArgs {
    /// Print only errors
    #[arg(long, short)]
    pub quiet: bool,
    /// Print the results as one JSON document
    #[arg(long)]
    pub json: bool,
}

impl OutputArgs {
    /// Prints the results on standard output: as JSON, as text, or not at all.
    pub fn print(self, json: impl FnOnce() -> Value, text: impl FnOnce() -> String) -> Result<()> {
        let mut out = std::io::stdout().lock();
        if self.json {
            writeln!(out, "{:#}", json())?;
        } else if !self.quiet {
            out.write_all(text().as_bytes())?;
        }
        Ok(())
    }
}

/// The paths of files, one in a line.
pub fn lines_of(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| format!("{}\n", path.display())).collect()
}
