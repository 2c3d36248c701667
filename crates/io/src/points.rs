//! Seeds from files.

mod csv_file;
mod vtk_file;

pub(crate) use vtk_file::positions;

use crate::Result;
use std::path::Path;

/// Places, and times where the file has them, in the units of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeedPoints {
    /// Where.
    pub position: Vec<[f64; 3]>,
    /// When: a release time for each place.
    pub time: Option<Vec<f64>>,
}

/// Reads seeds from a file: CSV if its name ends in `.csv` or `.txt`, else VTK.
///
/// CSV: columns x, y, z and time, by their names in a header (`x`, `y`, `z`; `time`, `t` or
/// `release_time`; also `Points:0` and so on), or in this order where there is no header. Without
/// a z column z is 0. Lines that begin with `#` are passed over.
///
/// VTK: the points of any data set, the nodes of image data and rectilinear grids among them, and
/// the point array `time`, `t` or `release_time` if there is one.
///
/// # Errors
///
/// If the file cannot be read, has no points, or has something that is no finite number; messages
/// name the line.
pub fn read_points(path: impl AsRef<Path>) -> Result<SeedPoints> {
    let path = path.as_ref();
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    match extension.as_str() {
        "csv" | "txt" => csv_file::read(path),
        _ => vtk_file::read(path),
    }
}

/// Whether a column or array has release times, by its name.
fn is_time(name: &str) -> bool {
    ["time", "t", "release_time"].iter().any(|time| name.eq_ignore_ascii_case(time))
}
