//! Arguments of the commands that evaluate runs.

use super::{OutputArgs, StyleArgs};
use burntrace::analysis::density::Kernel;
use burntrace_plot::picture::View;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Args)]
pub struct RenderArgs {
    /// Folder of a run; of several runs, their tracks are panels of one picture
    #[arg(required = true)]
    pub runs: Vec<PathBuf>,
    /// Write an interactive web page to rotate, play and query: page.html
    #[arg(long)]
    pub html: bool,
    /// Write an animation: tracks.gif
    #[arg(long)]
    pub gif: bool,
    /// Write an animation: tracks.mp4; needs ffmpeg
    #[arg(long)]
    pub mp4: bool,
    /// Write SVG files instead of PNG files
    #[arg(long)]
    pub svg: bool,
    /// Write PDF files instead of PNG files, with live text; with --svg both
    #[arg(long)]
    pub pdf: bool,
    /// Show only what happened in this time before the last save: a number, or a duration such as "6 h"
    #[arg(long, value_name = "TIME")]
    pub last: Option<String>,
    /// Also draw streaklines at the last save: lines through the particles that were released at one position, one after another
    #[arg(long)]
    pub streaklines: bool,
    /// Quantity of the field behind the tracks, in a plane view: speed, vorticity or an array of the field, at the last save
    #[arg(long, value_name = "QUANTITY")]
    pub background: Option<String>,
    /// Number of panels in a row; default: a square of panels
    #[arg(long)]
    pub columns: Option<usize>,
    /// Views of the tracks: xy, xz, yz, 3d; default: the plane of a flat domain, else 3d
    #[arg(long, value_delimiter = ',')]
    pub view: Vec<View>,
    /// Maximum number of tracks; default: 1000 in pictures, 150 in animations, as many as fit the size
    /// limit on a page
    #[arg(long)]
    pub particles: Option<usize>,
    /// Duration of an animation in seconds
    #[arg(long, default_value_t = 8.0)]
    pub seconds: f64,
    /// Magnification of the tracks, about their middle: 1 to 10,000
    #[arg(long, default_value_t = 1.0)]
    pub zoom: f64,
    /// Angle of the 3-D view around the z axis in degrees; default: -60
    #[arg(long, allow_hyphen_values = true)]
    pub azimuth: Option<f64>,
    /// Angle of the 3-D view above the xy plane in degrees, -90 to 90; default: 25
    #[arg(long, allow_hyphen_values = true)]
    pub elevation: Option<f64>,
    /// Draw the 3-D view in perspective
    #[arg(long)]
    pub perspective: bool,
    /// Do not draw the bodies of the case and the walls of its mesh
    #[arg(long)]
    pub no_walls: bool,
    /// Maximum size of a page in bytes
    #[arg(long, default_value_t = burntrace_plot::page::BUDGET)]
    pub page_bytes: usize,
    /// Output folder; default: the folder of the run
    #[arg(long)]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    pub style: StyleArgs,
}

#[derive(Args)]
pub struct ReportArgs {
    /// Folder of a run
    pub run: PathBuf,
    /// Groups of slots with statistics of their own, as half-open ranges such as 0..500,500..1000;
    /// default: seeds and sources, if the run has both
    #[arg(long, value_delimiter = ',')]
    pub groups: Vec<String>,
    /// Also write particles.csv: one row per particle, or per particle instance where slots are
    /// re-used
    #[arg(long)]
    pub particles: bool,
    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Args)]
#[command(mut_arg("color", of_maps))]
pub struct DensityArgs {
    /// Folder of a run
    pub run: PathBuf,
    /// Saves, separated by commas: numbers, `last`, `all`, or times such as t=2.5 or t=2024-02-01T12:00
    #[arg(long, value_delimiter = ',', default_value = "last")]
    pub save: Vec<String>,
    /// Estimator
    #[arg(long, value_enum, default_value_t = DensityMethod::Kde)]
    pub method: DensityMethod,
    /// For kde: spacing, scott, silverman, covariance, a length, or one length per axis such as
    /// 0.1,0.2,0.1; default: spacing, by the distances between particles. For sph: a length. With
    /// positions in degrees, one length in metres
    #[arg(long)]
    pub bandwidth: Option<String>,
    /// Kernel for sph; default: cubic-spline
    #[arg(long, value_enum)]
    pub kernel: Option<SphKernel>,
    /// Axes of the density, such as xy; particles are projected along the others. Default: the axes
    /// of the domain
    #[arg(long)]
    pub axes: Option<String>,
    /// Number of nodes along each axis, such as 128 or 128x64x64
    #[arg(long, value_parser = nodes, default_value = "", hide_default_value = true)]
    pub nodes: Nodes,
    /// Low corner of the grid as x,y,z; default: the low corner of the domain
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true)]
    pub low: Vec<f64>,
    /// High corner of the grid as x,y,z; default: the high corner of the domain
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true)]
    pub high: Vec<f64>,
    /// Evaluate a 3D density on a slice, such as z=0.5
    #[arg(long, conflicts_with = "plane")]
    pub slice: Option<String>,
    /// Evaluate on an oblique plane: origin and two edges, nine numbers separated by commas
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true)]
    pub plane: Vec<f64>,
    /// Evaluate at the points of a CSV or VTK file instead of a grid; the result is a CSV file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["slice", "plane", "nodes"])]
    pub points: Option<PathBuf>,
    /// Treatment of the domain faces
    #[arg(long, value_enum, default_value_t = DensityEdges::Run)]
    pub edges: DensityEdges,
    /// Normalise to the number of particles instead of 1
    #[arg(long)]
    pub number: bool,
    /// Include particles that have ended
    #[arg(long)]
    pub ended: bool,
    /// Device; default: the device of the run
    #[arg(long)]
    pub device: Option<String>,
    /// Output folder; default: `density` in the folder of the run
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Do not write pictures
    #[arg(long)]
    pub no_pictures: bool,
    /// Also write an animation of several saves: density.gif
    #[arg(long)]
    pub gif: bool,
    /// Duration of the animation in seconds
    #[arg(long, default_value_t = 8.0)]
    pub seconds: f64,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    pub style: StyleArgs,
}

/// Density estimators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DensityMethod {
    /// Gaussian kernel density estimate
    Kde,
    /// Smoothed particle hydrodynamics (SPH)
    Sph,
    /// Counts per cell
    Histogram,
    /// Linear weights to the nodes of the cell (cloud-in-cell)
    CloudInCell,
}

/// SPH kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)] // The names are those of the library.
pub enum SphKernel {
    CubicSpline,
    QuinticSpline,
    #[value(name = "wendland-c2")]
    WendlandC2,
    #[value(name = "wendland-c4")]
    WendlandC4,
    #[value(name = "wendland-c6")]
    WendlandC6,
    Gaussian,
}

impl From<SphKernel> for Kernel {
    fn from(kernel: SphKernel) -> Kernel {
        match kernel {
            SphKernel::CubicSpline => Kernel::CubicSpline,
            SphKernel::QuinticSpline => Kernel::QuinticSpline,
            SphKernel::WendlandC2 => Kernel::WendlandC2,
            SphKernel::WendlandC4 => Kernel::WendlandC4,
            SphKernel::WendlandC6 => Kernel::WendlandC6,
            SphKernel::Gaussian => Kernel::Gaussian,
        }
    }
}

/// Treatment of the domain faces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DensityEdges {
    /// Periodic as in the run, otherwise reflecting
    Run,
    /// Open: kernels extend beyond all faces
    Open,
}

#[derive(Args)]
#[command(mut_arg("color", of_maps))]
pub struct GatesArgs {
    /// Folder of a run with gates
    pub run: PathBuf,
    /// Print the probability of getting to each gate, and of each way in which particles end, within a time since the release, with
    /// its interval of confidence; also for a run without gates. A number, or a duration such as "3 d"; can be repeated
    #[arg(long, value_name = "TIME")]
    pub within: Vec<String>,
    /// Also write all crossings, one in a row, as `crossings.csv`
    #[arg(long)]
    pub crossings: bool,
    /// Output folder; default: `gates` in the folder of the run
    #[arg(long)]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    pub style: StyleArgs,
}

#[derive(Args)]
#[command(mut_arg("color", of_maps))]
pub struct PairsArgs {
    /// Folder of a run
    pub run: PathBuf,
    /// Edges of the classes of distances at the first save, ascending, as lengths such as 0,100,500; default: 0, 2, 4 and 8 times the
    /// median distance to the nearest neighbour
    #[arg(long, value_delimiter = ',')]
    pub distances: Vec<f64>,
    /// Factor between the distances of the exponents
    #[arg(long, default_value_t = std::f64::consts::SQRT_2)]
    pub growth: f64,
    /// Maximum number of pairs of a class
    #[arg(long, default_value_t = 100_000)]
    pub most: usize,
    /// Output folder; default: `pairs` in the folder of the run
    #[arg(long)]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    pub style: StyleArgs,
}

#[derive(Args)]
pub struct SkillArgs {
    /// Folder of a run with a seed for each drifter, in the order of the file
    pub run: PathBuf,
    /// CSV with the observed positions: columns x, y, z (z may be missing), time as in the run or as dates, and a number of the drifter
    #[arg(long)]
    pub observed: PathBuf,
    /// Column with the number of the drifter
    #[arg(long, default_value = "id")]
    pub id: String,
    /// Output folder; default: `skill` in the folder of the run
    #[arg(long)]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Args)]
#[command(mut_arg("color", of_maps))]
pub struct FtleArgs {
    /// Folder of a run with grid seeds
    pub run: PathBuf,
    /// Save at the end of the flow map: a number, `last`, or a time such as t=2.5 or t=2024-02-01T12:00
    #[arg(long, default_value = "last")]
    pub save: String,
    /// Output folder; default: `ftle` in the folder of the run
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Device; default: the device of the run
    #[arg(long)]
    pub device: Option<String>,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    pub style: StyleArgs,
}

/// Numbers of nodes along axes; empty for the default.
#[derive(Clone, Debug, PartialEq)]
pub struct Nodes(Vec<usize>);

impl std::ops::Deref for Nodes {
    type Target = Vec<usize>;

    fn deref(&self) -> &Vec<usize> {
        &self.0
    }
}

/// Parses numbers of nodes, with `x` or a comma between those of two axes.
pub(super) fn nodes(text: &str) -> Result<Nodes, String> {
    if text.is_empty() {
        return Ok(Nodes(Vec::new()));
    }
    let counts: Result<Vec<usize>, _> =
        text.split(['x', ',']).map(|count| count.trim().parse()).collect();
    counts
        .map(Nodes)
        .map_err(|_| "give a whole number, or one for each axis, such as 400x200".into())
}

/// Changes `--color`, the attribute of tracks, for commands that draw values with a colour map.
pub(super) fn of_maps(color: clap::Arg) -> clap::Arg {
    let refuse = |_: &str| -> Result<String, String> {
        Err("it is the attribute that colours tracks; --colors gives the colour map".into())
    };
    color.hide(true).value_parser(refuse)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[test]
    fn nodes_are_written_like_sizes() {
        let parsed = |text| nodes(text).map(|nodes| nodes.0);
        for text in ["400x200", "400,200", " 400 x 200"] {
            assert_eq!(parsed(text), Ok(vec![400, 200]), "{text}");
        }
        assert_eq!(parsed("128"), Ok(vec![128]));
        assert_eq!(parsed(""), Ok(vec![]));
        for text in ["x", "400x", "-1", "1.5", "400*200"] {
            assert!(parsed(text).unwrap_err().contains("such as 400x200"), "{text}");
        }
    }

    #[test]
    fn only_tracks_are_coloured_by_an_attribute() {
        let parse = |command: &str| {
            crate::args::Cli::try_parse_from(["burntrace", command, "run", "--color", "speed"])
        };
        assert!(parse("render").is_ok());
        for command in ["density", "ftle"] {
            let message = parse(command).err().unwrap().to_string();
            assert!(message.contains("--colors gives the colour map"), "{message}");
        }
    }
}
