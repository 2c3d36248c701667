//! The command line.

mod results;

pub use results::{Density, Edges, Ftle, Look, Method, Render, Report};

use clap::{Args as ClapArgs, Parser, Subcommand};
use std::path::PathBuf;

/// Follows particles through velocity fields.
#[derive(Parser)]
#[command(version, about, arg_required_else_help = true)]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Trace 10,000 particles through a built-in flow, to see that all is well
    Demo(Demo),
    /// Print a commented case file with every key and its default
    Init,
    /// Say what a file, a pattern of files or a .pvd series holds
    Info(Info),
    /// Trace the particles of a case file, or go on with a run that was stopped
    Run(Run),
    /// Say how much memory a case needs and how its run will lie in it, without running it
    Plan(Plan),
    /// Say how dense the particles of a run are, where: a file for ParaView and a picture
    Density(Box<Density>),
    /// Say how much the flow has stretched what lay between the particles of a run
    Ftle(Ftle),
    /// Make pictures of a run, an animation, or a page for a browser
    Render(Render),
    /// Write report.md and report.json of a run: statistics, pictures and what it took
    Report(Report),
    /// List the devices that can be used, and why others cannot
    Devices(Devices),
    /// Measure how fast and how right every device is
    Bench(Bench),
}

#[derive(ClapArgs)]
pub struct Demo {
    /// Device: auto, flex, ndarray, vulkan:0, wgpu:0, cuda:0, metal:0, rocm:0
    #[arg(long)]
    pub device: Option<String>,
    /// The folder to write to; an earlier demo in it is replaced
    #[arg(long, default_value = "results/demo")]
    pub out: PathBuf,
    #[command(flatten)]
    pub output: Output,
}

#[derive(ClapArgs)]
pub struct Info {
    /// A file, a pattern such as `run/u_*.vti`, several files, or a .pvd
    #[arg(required = true)]
    pub files: Vec<String>,
    /// Name of the velocity array, or three names `u,v,w`
    #[arg(long)]
    pub velocity: Option<String>,
    /// Time between files that carry no time, times the numbers in their names
    #[arg(long)]
    pub file_dt: Option<f64>,
    /// Cells of which no mesh can be made: an error, or passed over
    #[arg(long, default_value = "error", value_parser = ["error", "skip"])]
    pub other_cells: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(ClapArgs)]
pub struct Run {
    /// The case file
    #[arg(required_unless_present = "resume")]
    pub case: Option<PathBuf>,
    /// Go on with the run in this folder from its last checkpoint
    #[arg(long, value_name = "DIR", conflicts_with_all = ["out", "overwrite"])]
    pub resume: Option<PathBuf>,
    /// With --resume: go on although files of the field have changed
    #[arg(long, requires = "resume")]
    pub accept_changes: bool,
    /// Device, in place of the case's
    #[arg(long)]
    pub device: Option<String>,
    /// The folder to write to, in place of the case's
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Set a key of the case, as `trace.dt=0.01`; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// CPU threads, in place of the case's
    #[arg(long)]
    pub threads: Option<usize>,
    /// Replace an earlier run in the folder
    #[arg(long)]
    pub overwrite: bool,
    #[command(flatten)]
    pub output: Output,
}

#[derive(ClapArgs)]
pub struct Plan {
    /// The case file
    pub case: PathBuf,
    /// Device, in place of the case's
    #[arg(long)]
    pub device: Option<String>,
    /// Set a key of the case, as `run.memory=3GiB`; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// What is printed.
#[derive(ClapArgs, Clone, Copy)]
pub struct Output {
    /// Print nothing but errors
    #[arg(long, short)]
    pub quiet: bool,
    /// Print the summary as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(ClapArgs)]
pub struct Devices {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(ClapArgs)]
pub struct Bench {
    /// Devices, or `all`; the first is what the others are compared with
    #[arg(long, value_delimiter = ',', default_value = "all")]
    pub devices: Vec<String>,
    /// Workloads: w1, w2, w2-sorted, w2-steady, w3, w3-double
    #[arg(long, value_delimiter = ',', default_value = "w1,w2")]
    pub workload: Vec<String>,
    /// Numbers of particles, as `1e4,1e6`, in place of each workload's own
    #[arg(long, value_delimiter = ',')]
    pub particles: Vec<f64>,
    /// Steps, in place of each workload's own
    #[arg(long)]
    pub steps: Option<u64>,
    /// Precision on the devices
    #[arg(long, default_value = "f32", value_parser = ["f32", "f64"])]
    pub precision: String,
    /// Calls whose median is the speed, after the first one
    #[arg(long, default_value_t = 5)]
    pub repeats: usize,
    /// Particles in one call: a number, `whole`, or `auto` for the fastest
    #[arg(long, default_value = "whole")]
    pub batch: String,
    /// Read the fields and seeds that the peers' scripts wrote from this folder
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Write what was measured to this file, as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write the tables to this file, in Markdown
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Compare with an earlier JSON file, and fail where a speed fell by more than its spread
    #[arg(long, value_name = "OLD.json")]
    pub compare: Option<PathBuf>,
}
