//! Arguments of `burntrace residence`.

use super::{
    OutputArgs, StyleArgs,
    results::{Nodes, nodes, of_maps},
};
use clap::Args;
use std::path::PathBuf;

#[derive(Args)]
#[command(mut_arg("color", of_maps))]
pub struct ResidenceArgs {
    /// Folder of a run; its particles move straight between saves
    pub run: PathBuf,
    /// Number of voxels along each axis, such as 40x20 or 64x64x16; default: cubes, 64 along the longest side
    #[arg(long, value_parser = nodes, default_value = "", hide_default_value = true)]
    pub cells: Nodes,
    /// Low corner of the voxels as x,y,z; default: the low corner of the domain
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true)]
    pub low: Vec<f64>,
    /// High corner of the voxels as x,y,z; default: the high corner of the domain
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true)]
    pub high: Vec<f64>,
    /// Output folder; default: `residence` in the folder of the run
    #[arg(long)]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    pub style: StyleArgs,
}
