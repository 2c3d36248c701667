//! The command line of what looks at finished runs.

use burntrace::analysis::density::Kernel;
use burntrace_plot::{
    color::ColorMap,
    picture::{Background, Range, Scale, Style, View},
};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Args)]
pub struct Render {
    /// The folder of a run
    pub run: PathBuf,
    /// Write a page for a browser, to turn and to play: page.html
    #[arg(long)]
    pub html: bool,
    /// Write an animation: tracks.gif
    #[arg(long)]
    pub gif: bool,
    /// Write an animation: tracks.mp4; needs ffmpeg
    #[arg(long)]
    pub mp4: bool,
    /// SVG files in place of PNG files
    #[arg(long)]
    pub svg: bool,
    /// Views of the tracks: xy, xz, yz, 3d; left out: what suits the domain
    #[arg(long, value_delimiter = ',')]
    pub view: Vec<View>,
    /// The most particles whose tracks are shown; left out: 1000 in pictures, as many as there is
    /// room for on a page
    #[arg(long)]
    pub particles: Option<usize>,
    /// Seconds that an animation takes
    #[arg(long, default_value_t = 8.0)]
    pub seconds: f64,
    /// The most bytes of a page
    #[arg(long, default_value_t = burntrace_plot::page::BUDGET)]
    pub page_bytes: usize,
    /// The folder to write to; left out: that of the run
    #[arg(long)]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub look: Look,
}

/// How pictures look.
#[derive(Args, Clone, Default)]
pub struct Look {
    /// What the tracks are coloured by: speed, age, time, seed
    #[arg(long)]
    pub color: Option<String>,
    /// The colour map: viridis, magma, inferno, plasma, cividis, coolwarm
    #[arg(long, default_value = "viridis")]
    pub colors: ColorMap,
    /// The values of the first and of the last colour, as 0,2.5
    #[arg(long, value_parser = range, allow_hyphen_values = true)]
    pub range: Option<[f64; 2]>,
    /// Logarithmic colours
    #[arg(long)]
    pub log: bool,
    /// Dark pictures
    #[arg(long)]
    pub dark: bool,
    /// Width and height in pixels
    #[arg(long, value_parser = size)]
    pub size: Option<[u32; 2]>,
}

impl Look {
    /// The same for the library.
    pub fn style(&self) -> Style {
        Style {
            size: self.size.unwrap_or(Style::default().size),
            background: if self.dark { Background::Dark } else { Background::Light },
            color_by: self.color.clone(),
            colors: self.colors,
            range: self.range.map_or_else(Range::default, Range::Given),
            scale: if self.log { Scale::Log } else { Scale::Linear },
            ..Style::default()
        }
    }
}

#[derive(Args)]
pub struct Report {
    /// The folder of a run
    pub run: PathBuf,
    /// Statistics of groups of slots, too: ranges without their ends, as 0..500,500..1000. Left out:
    /// of the seeds and of the sources, where there are both
    #[arg(long, value_delimiter = ',')]
    pub groups: Vec<String>,
    /// Write particles.csv, too: a row for each particle, or for each life
    #[arg(long)]
    pub particles: bool,
    /// Print the report as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct Density {
    /// The folder of a run
    pub run: PathBuf,
    /// Saves: numbers, `last`, `all`, times as t=2.5; several with commas between them
    #[arg(long, value_delimiter = ',', default_value = "last")]
    pub save: Vec<String>,
    /// How particles are spread
    #[arg(long, value_enum, default_value_t = Method::Kde)]
    pub method: Method,
    /// Of kde: scott, silverman, covariance, a length, or one for each axis as 0.1,0.2,0.1; of sph: a
    /// length
    #[arg(long)]
    pub bandwidth: Option<String>,
    /// Of sph; left out: cubic-spline
    #[arg(long, value_enum)]
    pub kernel: Option<SphKernel>,
    /// Which axes count, as xy: the other ones are summed over. Left out: those of the domain
    #[arg(long)]
    pub axes: Option<String>,
    /// Nodes along the axes, as 128 or 128,64,64
    #[arg(long, value_delimiter = ',')]
    pub nodes: Vec<usize>,
    /// The low corner of the grid, x,y,z; left out: that of the domain
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true)]
    pub low: Vec<f64>,
    /// The high corner of the grid, x,y,z; left out: that of the domain
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true)]
    pub high: Vec<f64>,
    /// A slice of a density in space, as z=0.5
    #[arg(long, conflicts_with = "plane")]
    pub slice: Option<String>,
    /// A slice askew: origin and two edges, nine numbers with commas between them
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true)]
    pub plane: Vec<f64>,
    /// At the points of a CSV or VTK file, in place of a grid; the answer is a CSV file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["slice", "plane", "nodes"])]
    pub points: Option<PathBuf>,
    /// What the faces of the domain do to the density: as the run's boundary (periodic faces wrap,
    /// others mirror), or open
    #[arg(long, value_enum, default_value_t = Edges::Run)]
    pub edges: Edges,
    /// Particles in place of a share of all of them: the integral is their number
    #[arg(long)]
    pub number: bool,
    /// Count particles that have ended, too
    #[arg(long)]
    pub ended: bool,
    /// Device, in place of the run's
    #[arg(long)]
    pub device: Option<String>,
    /// The folder to write to; left out: `density` in that of the run
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Write no pictures
    #[arg(long)]
    pub no_pictures: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub look: Look,
}

/// How particles become a density.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Method {
    /// Gaussian kernel density estimate
    Kde,
    /// Smoothed particles
    Sph,
    /// Counts in cells
    Histogram,
    /// Shares of the nodes of a cell
    CloudInCell,
}

/// The kernels of smoothed particles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)] // the names say it
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

/// What the faces of the domain do to a density.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Edges {
    /// As the boundary of the run
    Run,
    /// Nothing
    Open,
}

#[derive(Args)]
pub struct Ftle {
    /// The folder of a run whose seeds are a grid
    pub run: PathBuf,
    /// The save up to which the flow map goes: a number, `last`, or a time as t=2.5
    #[arg(long, default_value = "last")]
    pub save: String,
    /// The folder to write to; left out: `ftle` in that of the run
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Device, in place of the run's
    #[arg(long)]
    pub device: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub look: Look,
}

/// Two numbers with a comma between them.
fn range(text: &str) -> Result<[f64; 2], String> {
    let numbers: Result<Vec<f64>, _> = text.split(',').map(|part| part.trim().parse()).collect();
    numbers
        .ok()
        .and_then(|numbers| numbers.try_into().ok())
        .ok_or_else(|| "give two numbers, as 0,2.5".into())
}

/// A width and a height.
fn size(text: &str) -> Result<[u32; 2], String> {
    let sides = text.split_once('x').map(|(width, height)| (width.parse(), height.parse()));
    match sides {
        Some((Ok(width), Ok(height))) => Ok([width, height]),
        _ => Err("give width and height in pixels, as 1600x1000".into()),
    }
}
