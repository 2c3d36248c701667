//! The one error type of the crate.

use burntrace_vtk::Kind;
use std::path::{Path, PathBuf};

/// The result of an operation of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// What is wrong with a file, or with what was asked of it: what was given, why it cannot be used,
/// and what can.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A VTK file cannot be read.
    #[error(transparent)]
    Vtk(#[from] burntrace_vtk::Error),

    /// The operating system refused something.
    #[error("cannot {doing} `{}`: {source}", path.display())]
    System {
        /// What was tried: `read`, `write`, `rename`.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },

    /// A disk, or what a user may have of it, is full.
    #[error(
        "cannot {doing} `{}`: no room{}; what was secured before is kept, and the run can be resumed \
         once there is room ({source})",
        path.display(), room(*wanted, *left)
    )]
    DiskFull {
        /// What was tried: `create`, `write`.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// How many bytes were to be written, where that is known.
        wanted: Option<u64>,
        /// How many bytes are left on the file system, where that is known.
        left: Option<u64>,
        /// What the operating system said.
        source: std::io::Error,
    },

    /// No file has this name, or matches this pattern.
    #[error("no file {what} `{given}`; {there}")]
    NoFile {
        /// `is called` or `matches`.
        what: &'static str,
        /// The name or pattern.
        given: String,
        /// What its folder has.
        there: String,
    },

    /// A pattern for file names is not one.
    #[error("`{pattern}` is no pattern for file names: {reason}; write for example `run/u_*.vti`")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },

    /// The files cannot form a series.
    #[error("the files form no series: {0}")]
    Files(String),

    /// A `.pvd` file does not say what it should.
    #[error("`{}`, {place}: {reason}", path.display())]
    Pvd {
        /// The file.
        path: PathBuf,
        /// Where in it.
        place: String,
        /// What is wrong.
        reason: String,
    },

    /// Several files, and nothing that says their times.
    #[error(
        "there are {files} files (`{}` and so on) and nothing says their times; give `file_dt` \
         (time = number in the file name x file_dt), `times` (a list, or start and step), a .pvd \
         file, or files with `TimeValue` field data",
        first.display()
    )]
    NoTimes {
        /// How many files there are.
        files: usize,
        /// The first one.
        first: PathBuf,
    },

    /// Some files say their time, others do not.
    #[error(
        "`{}` has no `TimeValue` field data, while `{}` has; add it, or set \
         `ignore_file_times = true` and give `file_dt` or `times`",
        lacks.display(), has.display()
    )]
    TimeMissing {
        /// A file that lacks it.
        lacks: PathBuf,
        /// A file that has it.
        has: PathBuf,
    },

    /// Times that were given or found cannot be used.
    #[error("the times cannot be used: {0}")]
    Times(String),

    /// A selection of frames that selects none, or is not one.
    #[error("no frames are selected: {0}")]
    Frames(String),

    /// The array of the velocity or of the diffusivity is not there, or not clearly so.
    #[error("`{}`: {problem}; its arrays: {arrays}", path.display())]
    Velocity {
        /// The file.
        path: PathBuf,
        /// What is the matter.
        problem: String,
        /// The arrays of the file with association, number of components and type.
        arrays: String,
    },

    /// The data set is not on a grid with axes.
    #[error(
        "`{}` holds {kind}{detail}, which is no grid with axes; set `field.interpolation = \
         \"nearest\"` or `\"inverse-distance\"` to use its points{}, or resample it to image data or \
         a rectilinear grid", path.display(), or_cells(*kind)
    )]
    NoGrid {
        /// The file.
        path: PathBuf,
        /// The kind of its data set.
        kind: Kind,
        /// Why it is no grid with axes, where the kind alone does not say it.
        detail: String,
    },

    /// An axis of the grid cannot be used.
    #[error("`{}`: the {axis} axis {reason}", path.display())]
    Axis {
        /// The file.
        path: PathBuf,
        /// The axis: x, y or z.
        axis: char,
        /// What is wrong with it.
        reason: String,
    },

    /// The cells of a file make no mesh.
    #[error("`{}`: {reason}", path.display())]
    Mesh {
        /// The file.
        path: PathBuf,
        /// What is wrong, and what would be right.
        reason: String,
    },

    /// A frame is on another grid or mesh, or on other points, than the first one.
    #[error(
        "frame {frame} (`{}`) is not on the {on} of the first one (`{}`): {difference}; a series \
         needs the same {on} for all frames",
        path.display(), first.display()
    )]
    FrameDiffers {
        /// Number of the frame.
        frame: usize,
        /// Its file.
        path: PathBuf,
        /// The file of the first frame.
        first: PathBuf,
        /// `grid`, `points` or `mesh`.
        on: &'static str,
        /// How it differs.
        difference: String,
    },

    /// A frame was asked for that is not there.
    #[error("there is no {what} {index}: they are numbered from 0, and there are {count}")]
    Index {
        /// `frame`, `save` or `particle`.
        what: &'static str,
        /// Its number.
        index: usize,
        /// How many there are.
        count: usize,
    },

    /// A file of points has something that is no point.
    #[error("`{}`, {place}: {reason}", path.display())]
    Points {
        /// The file.
        path: PathBuf,
        /// Where in it.
        place: String,
        /// What is wrong, and what would be right.
        reason: String,
    },

    /// A file has no closed surface.
    #[error("the surface in `{}` cannot be used: {reason}", path.display())]
    Surface {
        /// The file.
        path: PathBuf,
        /// What is wrong, and what would be right.
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

    /// A folder or file is not what the store of a run consists of.
    #[error("`{}`: {found}, expected {expected}", path.display())]
    Store {
        /// The folder or file.
        path: PathBuf,
        /// What is there.
        found: String,
        /// What should be.
        expected: String,
    },

    /// A checkpoint cannot be used.
    #[error("the checkpoint `{}` cannot be used: {reason}", path.display())]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },

    /// The store has no such array.
    #[error("`{}` has no {what}; {remedy}", path.display())]
    NotStored {
        /// The folder.
        path: PathBuf,
        /// What was asked for.
        what: &'static str,
        /// What to do.
        remedy: &'static str,
    },

    /// A save cannot be stored.
    #[error("save {save} cannot be stored in `{}`: {reason}", path.display())]
    Save {
        /// The folder.
        path: PathBuf,
        /// Number of the save.
        save: usize,
        /// Why not.
        reason: String,
    },

    /// The device did not give its values back.
    #[error("save {save} could not be read from the device: {reason}")]
    Device {
        /// Number of the save.
        save: usize,
        /// What Burn said.
        reason: String,
    },

    /// What a store was played to failed.
    #[error("the tracks could not be taken")]
    Sink(#[source] burntrace_core::SinkError),

    /// A VTK file cannot be written.
    #[error("cannot write `{}`: {reason}", path.display())]
    WriteVtk {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
}

impl Error {
    /// Says what was tried with which file when the operating system refused.
    pub(crate) fn system(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.to_path_buf();
        move |source| Error::System { doing, path, source }
    }
}

/// What was wanted of a file system, and what is left of it.
fn room(wanted: Option<u64>, left: Option<u64>) -> String {
    let wanted = wanted.map_or(String::new(), |bytes| format!(" for {bytes} bytes"));
    let left = left.map_or(String::new(), |bytes| format!(", {bytes} are left on its file system"));
    wanted + &left
}

/// What else a data set without axes can be used by.
fn or_cells(kind: Kind) -> &'static str {
    match kind {
        Kind::PolyData => "",
        _ => ", or `\"mesh\"` to use its cells",
    }
}
