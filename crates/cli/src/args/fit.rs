//! Arguments of `burntrace fit`.

use super::OutputArgs;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Args)]
pub struct FitArgs {
    /// Case file, with a seed for each drifter in the order of the file (measure tracks)
    pub case: PathBuf,
    /// CSV with the observed positions: columns x, y, z (z may be missing), time as in the run or as dates, and for measure tracks a
    /// number of the drifter
    #[arg(long)]
    pub data: PathBuf,
    /// A key of the case with a number to fit, as KEY=START:LOW..HIGH, such as `walk.diffusivity=0.1:0..10` or
    /// `trace.drift[0]=0:-1..1`; give it again for further keys
    #[arg(
        long = "parameter",
        value_name = "KEY=START:LOW..HIGH",
        required = true,
        allow_hyphen_values = true
    )]
    pub parameters: Vec<String>,
    /// What is compared
    #[arg(long, value_enum, default_value_t = Measure::Tracks)]
    pub measure: Measure,
    /// Column with the number of the drifter
    #[arg(long, default_value = "id")]
    pub id: String,
    /// Maximum number of runs of the search
    #[arg(long, default_value_t = 500)]
    pub runs: usize,
    /// Folder of the results; `run` in it is the run with the fitted values
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Set or remove a key of the case, such as `trace.dt=0.01`; can be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Device; overrides the case
    #[arg(long)]
    pub device: Option<String>,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// What a fit compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Measure {
    /// The distance of each drifter from its particle
    Tracks,
    /// Mean and standard deviation of all positions at each time, along each axis
    Cloud,
}
