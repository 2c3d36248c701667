//! Arguments of the commands that write case files, pages, completions and manual pages.

use super::OutputArgs;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Args)]
pub struct InitArgs {
    /// File to write, such as case.toml; an existing file is not replaced. Default: standard output
    pub file: Option<PathBuf>,
    /// Field of the case
    #[arg(long = "for", value_enum, value_name = "FIELD", default_value_t = Template::All)]
    pub template: Template,
    /// Write the JSON Schema of case files instead, with which editors complete and check keys
    #[arg(long, conflicts_with = "template")]
    pub schema: bool,
}

/// Templates of case files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Template {
    /// Every key with its default, and a built-in flow that runs unchanged
    All,
    /// Files with an unstructured or structured mesh
    Mesh,
    /// Files with image data or a rectilinear grid; NetCDF, Zarr
    Grid,
    /// Files with scattered points
    Points,
}

/// A time in seconds, from 0.1 to 1e6.
#[derive(Clone, Copy, Debug)]
pub struct Seconds(f64);

impl Seconds {
    pub fn get(self) -> f64 {
        self.0
    }
}

impl std::str::FromStr for Seconds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = text.parse().ok().filter(|seconds| (0.1..=1e6).contains(seconds));
        number.map(Seconds).ok_or_else(|| "give seconds, from 0.1 to 1e6".into())
    }
}

#[derive(Args)]
pub struct ViewArgs {
    /// Folder of a run; it may be unfinished
    pub run: PathBuf,
    /// Write the page without opening it
    #[arg(long)]
    pub no_open: bool,
    /// Update the page during the run, at most once in a number of seconds, and reload it in the browser
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "5")]
    pub follow: Option<Seconds>,
    /// Maximum number of tracks; default: as many as fit the size limit
    #[arg(long)]
    pub particles: Option<usize>,
    /// Maximum size of the page in bytes
    #[arg(long, default_value_t = burntrace_plot::page::BUDGET)]
    pub page_bytes: usize,
    /// Output folder; default: the folder of the run
    #[arg(long)]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Args)]
pub struct CompletionsArgs {
    /// Shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

#[derive(Args)]
pub struct ManArgs {
    /// Folder in which to write burntrace.1, burntrace-run.1 and so on
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}
