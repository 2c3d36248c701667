//! Seeds from files.

mod csv_file;
mod npy_file;
mod vtk_file;

pub(crate) use vtk_file::positions;

use crate::{Result, tracks::TimeOrigin};
use std::path::Path;

/// Seed positions and optional release times, in the units of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeedPoints {
    /// Positions.
    pub position: Vec<[f64; 3]>,
    /// Release times, one per position, if the file has them.
    pub time: Option<Vec<f64>>,
    /// The columns that were asked for, a number per position.
    pub columns: Vec<Vec<f64>>,
}

/// Reads seeds from a file: CSV if its name ends in `.csv` or `.txt`, an array of NumPy if it ends in `.npy`, else VTK.
///
/// CSV: columns x, y, z and time, by their names in a header (`x`, `y`, `z`; `time`, `t` or
/// `release_time`; also `Points:0` and so on), or in this order without a header. Without a z column
/// z is 0. Lines that start with `#` are ignored.
///
/// NumPy: numbers `[n, 3]` for x, y and z, `[n, 2]` without z, or `[n, 4]` with release times.
///
/// VTK: the points of any data set, including the nodes of image data and rectilinear grids, and the
/// point array `time`, `t` or `release_time` if there is one.
///
/// # Errors
///
/// If the file cannot be read, has no points, or has a value that is not a finite number; messages
/// name the line.
pub fn read_points(path: impl AsRef<Path>) -> Result<SeedPoints> {
    read_seeds(path, None, &[])
}

/// As [`read_points`], where the times in CSV may be dates, as `2024-02-01T12:00`, if that of time 0 is known. Also reads further columns: those of
/// CSV by their names in the header, or point arrays of VTK with one component.
///
/// # Errors
///
/// As [`read_points`], if the calendar has no such date, and if the file has no such column.
pub fn read_seeds(
    path: impl AsRef<Path>,
    origin: Option<&TimeOrigin>,
    columns: &[&str],
) -> Result<SeedPoints> {
    let path = path.as_ref();
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    match extension.as_str() {
        "csv" | "txt" => csv_file::read(path, origin, columns),
        "npy" => npy_file::read(path, columns),
        _ => vtk_file::read(path, columns),
    }
}

/// Whether this is the name of a column or array of release times.
fn is_time(name: &str) -> bool {
    ["time", "t", "release_time"].iter().any(|time| name.eq_ignore_ascii_case(time))
}
