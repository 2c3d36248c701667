//! Finds the files of the frames of a series, and their times.

use super::info::SeriesInfo;
use super::names::Files;
use super::options::SeriesOptions;
use super::times::{self, FrameFiles, SourcedTimes, Timeline, TimesFrom};
use super::{file_series, pvd};
use crate::{Error, Result};
use burntrace_vtk::VtkFile;
use std::path::Path;

/// The selected frames with their files and times, and the number of frames before the selection.
pub(super) fn select_frames(files: &Files, options: &SeriesOptions) -> Result<(Timeline, usize)> {
    let (frames, listed) = find(files)?;
    let all = times::resolve(frames, listed, options)?;
    if all.from == TimesFrom::Case {
        files.check_order()?;
    }
    let selected = options.frames.select(&all.times)?;
    Ok((all.select(&selected), all.frames.len()))
}

/// The frames, at least one, with their times in a `.pvd` or `.series` file.
pub(super) fn find(files: &Files) -> Result<(Vec<FrameFiles>, Option<SourcedTimes>)> {
    if let Files::Components(components) = files {
        return Ok((components.frames()?, None));
    }
    let paths = files.paths()?;
    let collection = paths.iter().find_map(|path| Some((path, collection_times(path)?)));
    let Some((path, from)) = collection else {
        return Ok((paths.into_iter().map(FrameFiles::from).collect(), None));
    };
    if paths.len() > 1 {
        return Err(Error::Files(format!(
            "`{}` is a collection among other files; give either the collection or the files",
            path.display()
        )));
    }
    let frames = match from {
        TimesFrom::Series => file_series::read(path)?,
        _ => pvd::read(path)?,
    };
    let (frames, times) = frames.into_iter().unzip();
    Ok((frames, Some((times, from))))
}

/// Where the times of a collection of files are from; `None` if a file is not a collection.
fn collection_times(path: &Path) -> Option<TimesFrom> {
    let extension = path.extension()?;
    let kinds = [("pvd", TimesFrom::Pvd), ("series", TimesFrom::Series)];
    let kind = kinds.into_iter().find(|(name, _)| extension.eq_ignore_ascii_case(name));
    kind.map(|(_, from)| from)
}

/// The selected files with their times, the first file, and the description so far.
pub(super) fn open_first(
    files: &Files,
    options: &SeriesOptions,
) -> Result<(Timeline, VtkFile, SeriesInfo)> {
    if is_cf(files)? {
        let path = find(files)?.0.swap_remove(0).path;
        let reason = "it holds a grid with axes, and no list of points or cells; set \
                      `field.interpolation = \"grid\"`";
        return Err(file_error(&path, reason));
    }
    let (timeline, found) = select_frames(files, options)?;
    let file = timeline.open(0)?;
    let mut info = SeriesInfo::of(&file);
    info.set_times(&timeline, found);
    Ok((timeline, file, info))
}

/// Whether the first of the files is a NetCDF file or a Zarr group.
pub(super) fn is_cf(files: &Files) -> Result<bool> {
    Ok(burntrace_cf::is_cf(&find(files)?.0[0].path))
}

/// The error of a NetCDF file or a Zarr group.
pub(super) fn file_error(path: &Path, reason: impl Into<String>) -> Error {
    Error::Cf(burntrace_cf::Error::File { path: path.into(), reason: reason.into() })
}
