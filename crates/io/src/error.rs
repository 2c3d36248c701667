//! The error type of the crate.

use burntrace_vtk::{Kind, VtkFile};
use std::path::{Path, PathBuf};

/// The result of an operation of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// A file error. Messages say what was given, why it cannot be used, and what to give instead.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A VTK file cannot be read.
    #[error(transparent)]
    Vtk(#[from] burntrace_vtk::Error),

    /// A NetCDF file or a Zarr group cannot be read.
    #[error(transparent)]
    Cf(#[from] burntrace_cf::Error),

    /// An operation of the operating system failed.
    #[error("cannot {doing} `{}`: {source}", path.display())]
    System {
        /// The operation: `read`, `write`, `rename`.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },

    /// The disk or the user's quota is full.
    #[error(
        "cannot {doing} `{}`: no space left{}; earlier files are unchanged: free some space ({source})",
        path.display(), space(*wanted, *left)
    )]
    DiskFull {
        /// The operation: `create`, `write`.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// Bytes to be written, if known.
        wanted: Option<u64>,
        /// Bytes available on the file system, if known.
        left: Option<u64>,
        /// The error of the operating system.
        source: std::io::Error,
    },

    /// No file has this name or matches this pattern.
    #[error("no file {what} `{given}`; {there}")]
    NoFile {
        /// `is called` or `matches`.
        what: &'static str,
        /// The name or pattern.
        given: String,
        /// The files in its folder.
        there: String,
    },

    /// A file name pattern is not valid.
    #[error("`{pattern}` is not a file name pattern: {reason}; write for example `run/u_*.vti`")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// The problem.
        reason: String,
    },

    /// The files cannot form a series.
    #[error("the files are not a series: {0}")]
    Files(String),

    /// A `.pvd` or `.series` file is not valid.
    #[error("`{}`, {location}: {reason}", path.display())]
    Pvd {
        /// The file.
        path: PathBuf,
        /// The line or entry.
        location: String,
        /// The problem.
        reason: String,
    },

    /// The times of several files are unknown.
    #[error(
        "there are {files} files (`{}` and so on) without known times; give `file_dt` (time = \
         number in the file name x file_dt), `times` (a list, or start and step), a .pvd file, or \
         files with `TimeValue` field data",
        first.display()
    )]
    NoTimes {
        /// Number of files.
        files: usize,
        /// The first file.
        first: PathBuf,
    },

    /// Some files have a time, others do not.
    #[error(
        "`{}` has no `TimeValue` field data, while `{}` has; add it, or set \
         `ignore_file_times = true` and give `file_dt` or `times`",
        lacks.display(), has.display()
    )]
    TimeMissing {
        /// A file without a time.
        lacks: PathBuf,
        /// A file with a time.
        has: PathBuf,
    },

    /// The given or found times are not valid.
    #[error("the times cannot be used: {0}")]
    Times(String),

    /// The selection of frames is empty or not valid.
    #[error("no frames are selected: {0}")]
    Frames(String),

    /// The velocity or diffusivity array is missing or ambiguous.
    #[error("`{}`: {problem}; its arrays: {arrays}", path.display())]
    Velocity {
        /// The file.
        path: PathBuf,
        /// The problem.
        problem: String,
        /// The arrays of the file, with their association, number of components and type.
        arrays: String,
    },

    /// The data set is not on a grid with axes.
    #[error(
        "`{}` is not a grid with axes ({kind}{detail}); set `field.interpolation = \
         \"nearest\"` or `\"inverse-distance\"` to use its points{}, or resample it to image data or \
         a rectilinear grid", path.display(), or_cells(*kind)
    )]
    NoGrid {
        /// The file.
        path: PathBuf,
        /// The kind of its data set.
        kind: Kind,
        /// Details, where the kind alone is not the reason.
        detail: String,
    },

    /// An axis of the grid cannot be used.
    #[error("`{}`: the {axis} axis {reason}", path.display())]
    Axis {
        /// The file.
        path: PathBuf,
        /// The axis: x, y or z.
        axis: char,
        /// The problem.
        reason: String,
    },

    /// The part of a grid that is asked for cannot be read.
    #[error("`{}`: {reason}", path.display())]
    Part {
        /// The file.
        path: PathBuf,
        /// The problem, and what to give instead.
        reason: String,
    },

    /// The cells of a file cannot form a mesh.
    #[error("`{}`: {reason}", path.display())]
    Mesh {
        /// The file.
        path: PathBuf,
        /// The problem, and what to give instead.
        reason: String,
    },

    /// The grid, mesh or points of a frame differ from the first frame.
    #[error(
        "frame {frame} (`{}`) is not on the {on} of the first one (`{}`): {difference}; a series \
         needs the same {on} for all frames",
        path.display(), first.display()
    )]
    FrameDiffers {
        /// Index of the frame.
        frame: usize,
        /// Its file.
        path: PathBuf,
        /// The file of the first frame.
        first: PathBuf,
        /// `grid`, `points` or `mesh`.
        on: &'static str,
        /// The difference.
        difference: String,
    },

    /// An index is out of range.
    #[error("there is no {what} {index}; there are {count}, numbered from 0")]
    Index {
        /// `frame`, `save` or `particle`.
        what: &'static str,
        /// The index.
        index: usize,
        /// Number of frames, saves or particles.
        count: usize,
    },

    /// A `.npy` file cannot be read.
    #[error("`{}`: {reason}", path.display())]
    Npy {
        /// The file.
        path: PathBuf,
        /// The problem, and what to give instead.
        reason: String,
    },

    /// An entry of a seed file is not a point.
    #[error("`{}`, {location}: {reason}", path.display())]
    Points {
        /// The file.
        path: PathBuf,
        /// The line, point or array.
        location: String,
        /// The problem, and what to give instead.
        reason: String,
    },

    /// A file does not have a closed surface.
    #[error("the surface in `{}` cannot be used: {reason}", path.display())]
    Surface {
        /// The file.
        path: PathBuf,
        /// The problem, and what to give instead.
        reason: String,
    },

    /// The folder already has tracks.
    #[error(
        "`{}` already holds the tracks of a run; choose another folder, or allow overwriting",
        path.display()
    )]
    TracksExist {
        /// The folder.
        path: PathBuf,
    },

    /// A folder or file is not a valid part of a track store.
    #[error("`{}`: {found}, expected {expected}", path.display())]
    Store {
        /// The folder or file.
        path: PathBuf,
        /// The content found.
        found: String,
        /// The expected content.
        expected: String,
    },

    /// A checkpoint cannot be used.
    #[error("the checkpoint `{}` cannot be used: {reason}", path.display())]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// The problem.
        reason: String,
    },

    /// The store does not have an array.
    #[error("`{}` has no {what}; {remedy}", path.display())]
    NotStored {
        /// The folder.
        path: PathBuf,
        /// The missing data.
        what: &'static str,
        /// The remedy.
        remedy: &'static str,
    },

    /// No tracks are selected, or they cannot be a table.
    #[error("the tracks cannot be exported: {0}")]
    Selection(String),

    /// The store does not have a sampled array of this name.
    #[error("`{}` has no sampled array `{name}`; {}", path.display(), of_names(available))]
    NoArray {
        /// The folder.
        path: PathBuf,
        /// The name.
        name: String,
        /// The names that it has.
        available: Vec<String>,
    },

    /// An array that is sampled along the tracks cannot have this name.
    #[error("a sampled array cannot be called `{name}`: {reason}; give it another name")]
    ArrayName {
        /// The name.
        name: String,
        /// The problem.
        reason: String,
    },

    /// A save cannot be stored.
    #[error("save {save} cannot be stored in `{}`: {reason}", path.display())]
    Save {
        /// The folder.
        path: PathBuf,
        /// Index of the save.
        save: usize,
        /// The problem.
        reason: String,
    },

    /// A save could not be read from the device.
    #[error("save {save} could not be read from the device: {reason}")]
    Device {
        /// Index of the save.
        save: usize,
        /// The error of Burn.
        reason: String,
    },

    /// The sink failed while a store was played into it.
    #[error("the track sink failed")]
    Sink(#[source] burntrace_core::SinkError),

    /// Lines do not fit into memory, in which all of their points are until they are written.
    #[error(
        "cannot write `{}`: its {points} points need {:.1} GB of memory, and {:.1} GB are free; select fewer saves or particles",
        path.display(), *needed as f64 / 1e9, *free as f64 / 1e9
    )]
    LinesMemory {
        /// The file.
        path: PathBuf,
        /// Number of points.
        points: usize,
        /// Bytes that they need.
        needed: u64,
        /// Bytes that this process may still take.
        free: u64,
    },

    /// A VTK file cannot be written.
    #[error("cannot write `{}`: {reason}", path.display())]
    WriteVtk {
        /// The file.
        path: PathBuf,
        /// The problem.
        reason: String,
    },
}

impl Error {
    /// The error of a failed operation on a file.
    pub(crate) fn system(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.to_path_buf();
        move |source| Error::System { doing, path, source }
    }

    /// The error of a file of a store that is not as the run wrote it.
    pub(crate) fn damaged(path: &Path, found: impl Into<String>) -> Error {
        let expected = "the one that the run wrote: restore it from a copy".into();
        Error::Store { path: path.into(), found: found.into(), expected }
    }

    /// The error of cells that cannot form a mesh.
    pub(crate) fn mesh(file: &VtkFile, reason: String) -> Error {
        Error::Mesh { path: file.path().into(), reason }
    }
}

/// The available sampled arrays, as part of a message.
fn of_names(available: &[String]) -> String {
    match available {
        [] => "it has no sampled arrays".into(),
        names => format!("it has `{}`", names.join("`, `")),
    }
}

/// The required and available bytes, as part of a message.
fn space(wanted: Option<u64>, left: Option<u64>) -> String {
    let wanted = wanted.map_or(String::new(), |bytes| format!(" for {bytes} bytes"));
    let left = left
        .map_or(String::new(), |bytes| format!(", {bytes} bytes are available on its file system"));
    wanted + &left
}

/// The other interpolation for a data set without axes.
fn or_cells(kind: Kind) -> &'static str {
    match kind {
        Kind::PolyData => "",
        _ => ", or `\"mesh\"` to use its cells",
    }
}
