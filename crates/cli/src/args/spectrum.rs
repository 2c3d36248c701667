//! Arguments of `burntrace spectrum`.

use super::{OutputArgs, StyleArgs, results::of_maps};
use burntrace::analysis::spectrum::Mean;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Args)]
#[command(mut_arg("color", of_maps))]
pub struct SpectrumArgs {
    /// Folder of a run with saves at even intervals
    pub run: PathBuf,
    /// Mean velocity to subtract
    #[arg(long, value_enum, default_value_t = SubtractedMean::Ensemble)]
    pub mean: SubtractedMean,
    /// Output folder; default: `spectrum` in the folder of the run
    #[arg(long)]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    pub style: StyleArgs,
}

/// Mean velocities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SubtractedMean {
    /// Over all particles and times
    Ensemble,
    /// Of each particle over its times
    Particle,
    /// Subtract nothing
    None,
}

impl SubtractedMean {
    /// The mean of the library.
    pub fn mean(self) -> Mean {
        match self {
            SubtractedMean::Ensemble => Mean::Ensemble,
            SubtractedMean::Particle => Mean::Particle,
            SubtractedMean::None => Mean::None,
        }
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            SubtractedMean::Ensemble => "ensemble",
            SubtractedMean::Particle => "particle",
            SubtractedMean::None => "none",
        }
    }
}
