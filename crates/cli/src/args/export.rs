//! Arguments of `burntrace export`.

use super::OutputArgs;
use crate::file::GivenTime;
use burntrace::{Status, io::Rows};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Args)]
pub struct ExportArgs {
    /// Folder of a run
    pub run: PathBuf,
    /// Format of the file
    #[arg(long, value_enum)]
    pub to: ExportFormat,
    /// Rows of a Parquet file, or features of a map; default: saves, on maps particles (lines)
    #[arg(long, value_enum)]
    pub rows: Option<ExportRows>,
    /// Statuses at the save, separated by commas, such as active,exited; default: all of released
    /// particles
    #[arg(long, value_name = "STATUS", value_delimiter = ',', value_parser = statuses)]
    pub status: Vec<Statuses>,
    /// Statuses at the end of the run, separated by commas
    #[arg(long, value_name = "STATUS", value_delimiter = ',', value_parser = statuses)]
    pub end_status: Vec<Statuses>,
    /// Only the last state of each particle: one row each
    #[arg(long = "final", conflicts_with_all = ["rows", "end_status", "from_time", "to_time", "every_save"])]
    pub is_final: bool,
    /// Earliest time: a number, a duration such as "10 d", or a date such as 2024-02-01T12:00
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub from_time: Option<GivenTime>,
    /// Latest time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub to_time: Option<GivenTime>,
    /// Every nth save
    #[arg(long, value_name = "N", default_value = "1", value_parser = positive)]
    pub every_save: usize,
    /// Every nth particle
    #[arg(long, value_name = "N", default_value = "1", value_parser = positive)]
    pub every_particle: usize,
    /// Output file; default: tracks.parquet, tracks.csv, ... in the folder of the run
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Formats of exported tracks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// Parquet, for pandas, Polars, R and databases
    Parquet,
    /// Text with commas
    Csv,
    /// Lines for ParaView
    Vtp,
    /// CF trajectories in a Zarr group, for xarray
    Zarr,
    /// Arrays over saves and particles, a file for each in a new folder, for NumPy
    Npy,
    /// The same arrays in one file, for Burn, PyTorch and JAX
    Safetensors,
    /// Lines or points in degrees, for QGIS and web maps
    Geojson,
    /// The same with a spatial index (FlatGeobuf)
    Flatgeobuf,
}

/// Rows of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportRows {
    /// A particle at a save
    Saves,
    /// A particle, with lists of its saves or as a line
    Particles,
}

impl From<ExportRows> for Rows {
    fn from(rows: ExportRows) -> Rows {
        match rows {
            ExportRows::Saves => Rows::Saves,
            ExportRows::Particles => Rows::Particles,
        }
    }
}

/// The statuses that a name stands for.
#[derive(Clone, Debug)]
pub struct Statuses(pub Vec<Status>);

/// Parses the name of a status, with spaces, hyphens or underscores, or of several: `exited`, `ended`.
fn statuses(text: &str) -> Result<Statuses, String> {
    let plain = |name: &str| name.trim().to_lowercase().replace(['-', '_'], " ");
    let given = plain(text);
    let is_meant = |status: &Status| match given.as_str() {
        "exited" => matches!(status, Status::Exited(_)),
        "ended" => status.has_ended(),
        _ => plain(&status.to_string()) == given,
    };
    let found: Vec<Status> = Status::ALL.into_iter().filter(is_meant).collect();
    match found.is_empty() {
        false => Ok(Statuses(found)),
        true => {
            let names = Status::ALL.map(|status| status.to_string()).join(", ");
            Err(format!("there is no such status; give one of: {names}, exited, ended"))
        }
    }
}

/// Parses a number of 1 or more.
fn positive(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|n| *n > 0).ok_or_else(|| "give a whole number of 1 or more".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_known_by_name_and_group() {
        for name in ["left the mesh", "left-the-mesh", "Left_The_Mesh"] {
            assert_eq!(statuses(name).unwrap().0, [Status::LeftMesh]);
        }
        assert_eq!(statuses("exited x-low").unwrap().0.len(), 1);
        assert_eq!(statuses("exited").unwrap().0.len(), 6);
        assert!(!statuses("ended").unwrap().0.contains(&Status::Active));
        let error = statuses("gone").unwrap_err();
        assert!(error.contains("one of: waiting, active") && error.contains("ended"), "{error}");
        assert!(positive("0").is_err() && positive("x").is_err() && positive("3") == Ok(3));
    }
}
