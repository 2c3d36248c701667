//! The command line.

mod export;
mod fit;
mod output;
mod program;
mod residence;
mod results;
mod spectrum;
mod style;
mod sweep;

pub use export::{ExportArgs, ExportFormat};
pub use fit::{FitArgs, Measure};
pub use output::{OutputArgs, lines_of};
pub use program::{CompletionsArgs, InitArgs, ManArgs, Seconds, Template, ViewArgs};
pub use residence::ResidenceArgs;
pub use results::{
    DensityArgs, DensityEdges, DensityMethod, FtleArgs, GatesArgs, PairsArgs, RenderArgs,
    ReportArgs, SkillArgs,
};
pub use spectrum::SpectrumArgs;
pub use style::StyleArgs;
pub use sweep::SweepArgs;

use crate::file::{self, Case, DeviceNames, GivenTime};
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use std::path::PathBuf;

/// Trace particles through velocity fields.
#[derive(Parser)]
#[command(
    name = "burntrace",
    bin_name = "burntrace",
    version,
    about,
    arg_required_else_help = true
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

impl Cli {
    /// Parses the command line. Also returns whether to print only errors.
    pub fn read() -> (Cli, bool) {
        let mut matches = Cli::command().try_get_matches().unwrap_or_else(|error| refuse(error));
        let is_quiet = |of: &ArgMatches| matches!(of.try_get_one("quiet"), Ok(Some(true)));
        let quiet = matches.subcommand().is_some_and(|(_, of)| is_quiet(of));
        (Cli::from_arg_matches_mut(&mut matches).unwrap_or_else(|error| error.exit()), quiet)
    }
}

/// What the parsers of numbers say, and the same in plain words.
const NUMBERS: [(&str, &str); 6] = [
    ("invalid digit found in string", "give a whole number, 0 or more"),
    ("cannot parse integer from empty string", "give a whole number, 0 or more"),
    ("number too large to fit in target type", "give a smaller number"),
    ("number too small to fit in target type", "give a larger number"),
    ("invalid float literal", "give a number"),
    ("cannot parse float from empty string", "give a number"),
];

/// Prints why a command line is not valid, and ends the program.
fn refuse(error: clap::Error) -> ! {
    if error.kind() != clap::error::ErrorKind::ValueValidation {
        error.exit();
    }
    let text = error.render().to_string();
    eprint!("{}", NUMBERS.iter().fold(text, |text, (given, plain)| text.replace(given, plain)));
    std::process::exit(crate::MISUSED.into())
}

#[derive(Subcommand)]
pub enum Command {
    /// Trace 10,000 particles through a built-in flow, to check the installation
    Demo(DemoArgs),
    /// Write a commented case file: every key with its default, or the usual keys for a kind of field
    Init(InitArgs),
    /// Describe a field (a file, a file pattern, a .pvd or a .series), or the folder of a run
    Info(InfoArgs),
    /// Trace the particles of a case file, resume a stopped run, or extend a finished one
    Run(RunArgs),
    /// Trace a case for all values of some of its keys, and evaluate the runs together
    Sweep(SweepArgs),
    /// Estimate the memory of a case, and choose batches and frames, without running it
    Plan(PlanArgs),
    /// Check the steps of a case: halve them, and compare the ends of a sample of its particles
    Check(CheckArgs),
    /// Interpolate the arrays of files at given positions and times
    Probe(ProbeArgs),
    /// Estimate the particle density (KDE, SPH, histogram) as image data and pictures
    Density(Box<DensityArgs>),
    /// Compute finite-time Lyapunov exponents (FTLE) from the tracks of a run
    Ftle(FtleArgs),
    /// Show who crossed the gates of a run: counts, first passages, residence, and where particles went from where
    Gates(GatesArgs),
    /// Show how pairs of particles separate: dispersion by initial distance, and finite-size Lyapunov exponents (FSLE)
    Pairs(PairsArgs),
    /// Show how long particles stay in each cell of a lattice, how often they visit it, and when first
    Residence(ResidenceArgs),
    /// Compare the tracks of a run with those of observed drifters (skill score)
    Skill(SkillArgs),
    /// Find the numbers of a case at which its run is nearest to observed positions, with standard errors
    Fit(FitArgs),
    /// Compute the autocorrelation, the integral time scale and the spectrum of velocities along the tracks
    Spectrum(SpectrumArgs),
    /// Render the tracks of a run as pictures, as an animation or as a web page
    Render(RenderArgs),
    /// Open the tracks of a run as an interactive page in the browser
    View(ViewArgs),
    /// Write the report of a run: statistics, pictures and costs, as report.md, report.html and report.json
    Report(ReportArgs),
    /// Export the tracks of a run as a table (Parquet, CSV), as lines for ParaView or maps, as arrays, or for xarray
    Export(ExportArgs),
    /// Compare two runs: keys of their cases, ends and positions
    Compare(CompareArgs),
    /// Compare the tracks of a run with their checksums
    Verify(VerifyArgs),
    /// List usable devices, and the reasons why others are not usable
    Devices(DevicesArgs),
    /// Check this machine: devices with a known answer, limits, speeds, and what to install
    Doctor(DoctorArgs),
    /// Benchmark devices, and check their results against a reference
    Bench(BenchArgs),
    /// Print a script that completes commands and options in a shell
    Completions(CompletionsArgs),
    /// Print the manual page, or write one for each command
    Man(ManArgs),
}

#[derive(Args)]
pub struct DemoArgs {
    /// Device: auto, flex, ndarray, vulkan:0, wgpu:0, cuda:0, metal:0, rocm:0
    #[arg(long)]
    pub device: Option<String>,
    /// Output folder; an earlier demo in it is replaced
    #[arg(long, default_value = "results/demo")]
    pub out: PathBuf,
    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Args)]
pub struct InfoArgs {
    /// A VTK or NetCDF file, a Zarr group, a pattern such as `run/u_*.vti`, several files, a .pvd or .series, or
    /// the folder of a run
    #[arg(required = true)]
    pub files: Vec<String>,
    /// Name of the velocity array, or of its component arrays: `u,v,w` or `u,v`
    #[arg(long)]
    pub velocity: Option<String>,
    /// Time between files without a time, a number or a duration such as "1 h"; multiplies the numbers in their names
    #[arg(long, value_parser = file::length)]
    pub file_dt: Option<f64>,
    /// Unsupported cells of a mesh: refuse the file, or ignore the cells
    #[arg(long, default_value = "error", value_parser = ["error", "skip"])]
    pub other_cells: String,
    /// List the parts of the boundary with what flows through them in the first frame, and the keys of a case that select them
    #[arg(long)]
    pub boundary: bool,
    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Args)]
pub struct RunArgs {
    /// Case file
    #[arg(required_unless_present_any = ["resume", "extend"])]
    pub case: Option<PathBuf>,
    /// Resume the run in this folder from its last checkpoint
    #[arg(long, value_name = "DIR", conflicts_with_all = ["out", "overwrite"])]
    pub resume: Option<PathBuf>,
    /// Continue the finished run in this folder to a later end, in the folder --out: for example `--set
    /// trace.t1=20 --out longer`
    #[arg(long, value_name = "DIR", conflicts_with_all = ["case", "resume"])]
    pub extend: Option<PathBuf>,
    /// With --resume and --extend: accept changed input files
    #[arg(long)]
    pub accept_changes: bool,
    /// Device, or several as `cuda:0,cuda:1` or `cuda:*`; overrides the case
    #[arg(long, value_delimiter = ',')]
    pub device: Vec<String>,
    /// Output folder; overrides the case
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Set a key of the case, such as `trace.dt=0.01`, `source[0].rate=5` or `patch.inlet.wall=slide`, or
    /// remove it, as `trace.t1=`; can be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Number of CPU threads; overrides the case
    #[arg(long)]
    pub threads: Option<usize>,
    /// Replace an earlier run in the output folder
    #[arg(long)]
    pub overwrite: bool,
    /// Share the run with other processes: this is rank I (from 0) of N; by default that of SLURM or MPI
    #[arg(long, value_name = "I/N", allow_hyphen_values = true)]
    pub rank: Option<String>,
    /// Write a trace of the phases of the run to this file, to open in https://ui.perfetto.dev
    #[arg(long, value_name = "FILE")]
    pub profile: Option<PathBuf>,
    #[command(flatten)]
    pub output: OutputArgs,
}

impl RunArgs {
    /// Overrides the keys of a case that have options of their own.
    pub fn apply_to(&self, case: &mut Case) {
        if let Some(devices) = DeviceNames::given(&self.device) {
            case.run.device = devices;
        }
        if let Some(out) = &self.out {
            case.run.out = out.clone();
        }
        if let Some(threads) = self.threads {
            case.run.threads = threads;
        }
    }

    /// Whether `--set` sets a key.
    pub fn sets(&self, key: &str) -> bool {
        let name = |set: &String| set.split('=').next().is_some_and(|name| name.trim() == key);
        self.set.iter().any(name)
    }
}

#[derive(Args)]
pub struct PlanArgs {
    /// Case file
    pub case: PathBuf,
    /// Device, or several as `cuda:0,cuda:1` or `cuda:*`; overrides the case
    #[arg(long, value_delimiter = ',')]
    pub device: Vec<String>,
    /// Set a key of the case, such as `run.memory=3GiB`; can be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Args)]
pub struct CheckArgs {
    /// Case file
    pub case: PathBuf,
    /// Number of particles, at equal distances in the list of seeds
    #[arg(long, default_value_t = 1000)]
    pub particles: usize,
    /// Device; overrides the case
    #[arg(long)]
    pub device: Option<String>,
    /// Set a key of the case, such as `trace.dt=0.01`; can be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Args)]
pub struct ProbeArgs {
    /// A file, a pattern such as `run/u_*.vti`, several files, a .pvd or a .series
    #[arg(required = true)]
    pub files: Vec<String>,
    /// Positions: a CSV file with columns x, y, z and optionally time, or the points of a VTK file
    #[arg(long, value_name = "FILE")]
    pub at: PathBuf,
    /// Times: numbers, durations such as "12 h", or dates such as 2024-02-01T12:00; by default those of the file of
    /// positions, or of a single frame
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true)]
    pub time: Vec<GivenTime>,
    /// Arrays, such as `p,T`; by default all
    #[arg(long, value_delimiter = ',')]
    pub fields: Vec<String>,
    /// Interpolation in space; by default that of the kind of file
    #[arg(long, value_parser = ["grid", "mesh", "nearest"])]
    pub interpolation: Option<String>,
    /// Time between files without a time, a number or a duration such as "1 h"; multiplies the numbers in their names
    #[arg(long, value_parser = file::length)]
    pub file_dt: Option<f64>,
    /// Device: auto, flex, ndarray, vulkan:0, wgpu:0, cuda:0, metal:0, rocm:0
    #[arg(long, default_value = "flex")]
    pub device: String,
    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Args)]
pub struct CompareArgs {
    /// Folder of a run
    pub a: PathBuf,
    /// Folder of the other run
    pub b: PathBuf,
    /// Fail if ends differ, or positions by more than this length; 0 for identical runs
    #[arg(long, value_name = "LENGTH")]
    pub tolerance: Option<f64>,
    /// Write a row for each particle to this CSV file
    #[arg(long, value_name = "FILE")]
    pub particles: Option<PathBuf>,
    /// Write pictures into this folder: distances over time, and where particles end that end differently
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Args)]
pub struct VerifyArgs {
    /// Folder of a run; it may be unfinished
    pub run: PathBuf,
    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Args)]
pub struct DevicesArgs {
    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Args)]
pub struct DoctorArgs {
    /// Folder in which to measure the speed of the disk; default: the working directory
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    #[command(flatten)]
    pub output: OutputArgs,
    /// Print the answer of one device as JSON; `doctor` calls itself with it for each device
    #[arg(long, value_name = "DEVICE", hide = true)]
    pub check: Option<String>,
}

#[derive(Args)]
pub struct BenchArgs {
    /// Devices, or `all`; speeds are relative to the first one
    #[arg(long, value_delimiter = ',', default_value = "all")]
    pub devices: Vec<String>,
    /// Measure a case of your own instead of workloads, without writing its results
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["workload", "particles", "steps", "precision", "batch", "compare", "markdown"]
    )]
    pub case: Option<PathBuf>,
    /// With --case: set or remove a key, such as `seeds.count=1000`; can be repeated
    #[arg(long = "set", value_name = "KEY=VALUE", requires = "case")]
    pub set: Vec<String>,
    /// Workloads, such as w1,w3, or `all`; the message about an unknown name lists them
    #[arg(long, value_delimiter = ',', default_value = "w1,w2")]
    pub workload: Vec<String>,
    /// Particle counts, such as `1e4,1e6`; override the workload's own
    #[arg(long, value_delimiter = ',')]
    pub particles: Vec<f64>,
    /// Number of steps; overrides the workload's own
    #[arg(long)]
    pub steps: Option<u64>,
    /// Precision on the devices
    #[arg(long, default_value = "f32", value_parser = ["f32", "f64"])]
    pub precision: String,
    /// Number of timed calls after the first one; their median gives the speed
    #[arg(long, default_value_t = 5)]
    pub repeats: usize,
    /// Particles per call: a number, `whole` for all, or `auto` for the fastest
    #[arg(long, default_value = "whole")]
    pub batch: String,
    /// Write the measurements to this file, as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write the tables to this file, in Markdown
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Compare with earlier JSON files, such as `a.json,b.json`; fail if a speed fell by more than their spread
    #[arg(long, value_name = "OLD.json", value_delimiter = ',')]
    pub compare: Vec<PathBuf>,
    /// With --compare: fail only if a speed fell, or the memory rose, by more than this factor
    #[arg(long, value_name = "FACTOR", requires = "compare")]
    pub bound: Option<f64>,
    /// With --compare: compare speeds relative to that of this workload, also on different machines
    #[arg(long, value_name = "WORKLOAD", requires = "compare")]
    pub relative_to: Option<String>,
    /// Print only errors
    #[arg(long, short)]
    pub quiet: bool,
}
