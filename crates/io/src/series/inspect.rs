//! Inspection of series, including files that cannot be traced.

use super::cf;
use super::compare::check_grids;
use super::distinct_points::DistinctPoints;
use super::entries::ArrayEntry;
use super::find::{find, is_cf, select_frames};
use super::ghosts::has_flags;
use super::grid::Grid;
use super::info::SeriesInfo;
use super::mesh::{cells::MeshCells, info::MeshInfo};
use super::names::Files;
use super::options::SeriesOptions;
use super::times::{Timeline, TimesFrom};
use super::values::Selection;
use super::velocity::{Association, VelocityInfo};
use crate::{Error, Result, points::positions};
use burntrace_vtk::{Kind, VtkFile};
use std::path::PathBuf;

/// The first file of a series.
#[derive(Clone, Debug, PartialEq)]
pub struct FileContents {
    /// Its path.
    pub path: PathBuf,
    /// The kind of its data set.
    pub kind: Kind,
    /// Its arrays.
    pub arrays: Vec<ArrayEntry>,
}

/// Describes the files of a series. If they cannot be traced, [`problems`](SeriesInfo::problems) has
/// the reasons.
///
/// # Errors
///
/// If no file is found, or the first one cannot be read.
pub fn inspect(files: impl Into<Files>, options: &SeriesOptions) -> Result<SeriesInfo> {
    let files = files.into();
    if is_cf(&files)? {
        return cf::inspect(&files, options);
    }
    let (selected, problem) = match select_frames(&files, options) {
        Ok(selected) => (Some(selected), None),
        Err(problem) => (None, Some(problem)),
    };
    let (timeline, found) = match selected {
        Some(selected) => selected,
        // The files without times, of which the first one is described.
        None => {
            let frames = find(&files)?.0;
            let found = frames.len();
            (Timeline::new(frames, Vec::new(), TimesFrom::SingleFrame), found)
        }
    };
    let file = timeline.open(0)?;
    let mut info = SeriesInfo::of(&file);
    info.set_times(&timeline, found);
    if problem.is_some() {
        info.times_from = None;
    }
    let is_selected = problem.is_none();
    info.problems.extend(problem.map(|problem| problem.to_string()));
    let none = Timeline::empty();
    let checked = if is_selected { &timeline } else { &none };
    match Grid::read(&file) {
        Ok(grid) => describe_grid(&mut info, &file, &grid, checked, options),
        Err(_) => describe_points(&mut info, &file, checked, options),
    }
    check_later(&mut info, &timeline);
    Ok(info)
}

/// Reads the last frame and that of the shortest file, which a simulation that was stopped may have left incomplete.
fn check_later(info: &mut SeriesInfo, timeline: &Timeline) {
    let length =
        |frame: &usize| std::fs::metadata(&timeline.paths[*frame]).map_or(0, |of| of.len());
    let last = timeline.frames.len() - 1;
    let shortest = (0..=last).min_by_key(length).unwrap_or(last);
    let mut frames = vec![shortest, last];
    frames.dedup();
    for frame in frames.into_iter().filter(|frame| *frame > 0) {
        let read = timeline.open(frame).and_then(|file| match &info.velocity {
            Some(velocity) => velocity.read_selected(&file, all(&file, velocity), false).map(drop),
            None => positions(&file).map(drop),
        });
        let problem = read.err().map(|problem| problem.to_string());
        info.problems.extend(problem.filter(|problem| !info.problems.contains(problem)));
    }
}

/// All values of a velocity, and their number.
fn all<'a>(file: &VtkFile, velocity: &VelocityInfo) -> (usize, Selection<'a>) {
    let geometry = file.geometry();
    let count = match velocity.association {
        Association::Point => geometry.num_points(),
        Association::Cell => geometry.num_cells(),
    };
    (count, Selection::All)
}

/// Reads the kind and the arrays of the first file of a series.
///
/// # Errors
///
/// If no file is found, or the first one cannot be read.
pub fn contents(files: &Files) -> Result<FileContents> {
    let frame = find(files)?.0.swap_remove(0);
    if burntrace_cf::is_cf(&frame.path) {
        return cf::contents(frame);
    }
    let file = frame.open()?;
    Ok(FileContents { path: frame.path, kind: file.kind(), arrays: SeriesInfo::of(&file).arrays })
}

/// Describes a grid with axes.
fn describe_grid(
    info: &mut SeriesInfo,
    file: &VtkFile,
    grid: &Grid,
    timeline: &Timeline,
    options: &SeriesOptions,
) {
    let on_points = VelocityInfo::choose_on_points(file, &options.velocity, options.prefer).is_ok();
    let mut add_problem = |problem: Error| info.problems.push(problem.to_string());
    let velocity = VelocityInfo::choose(file, &options.velocity, options.prefer);
    let velocity = velocity.map_err(&mut add_problem).ok();
    let mut frame = None;
    if let Some(velocity) = &velocity {
        let _ = check_grids(timeline, grid, velocity).map_err(&mut add_problem);
        frame = velocity.read(file, grid, has_flags(file)).map_err(&mut add_problem).ok();
    }
    if let Some(frame) = &frame {
        info.add_frame(frame);
    }
    info.add_grid(grid, velocity.as_ref(), on_points);
}

/// Describes the points of a data set without axes, and its cells.
fn describe_points(
    info: &mut SeriesInfo,
    file: &VtkFile,
    timeline: &Timeline,
    options: &SeriesOptions,
) {
    let on_points = VelocityInfo::choose_on_points(file, &options.velocity, options.prefer);
    let positions = match positions(file) {
        Ok(positions) => positions,
        Err(problem) => {
            let problems = [Some(problem), on_points.err()];
            return info.problems.extend(problems.iter().flatten().map(Error::to_string));
        }
    };
    let cells = MeshInfo::of(file, &positions, options.other_cells);
    let (cells, mesh) = cells.map_or((None, None), |(cells, mesh)| (Some(cells), mesh));
    info.mesh = cells;
    if let Some(mesh) = &mesh {
        describe_mesh(info, file, mesh, &positions, timeline, options);
    }
    let nodes = DistinctPoints::of(positions);
    info.set_points(&nodes);
    let mut add_problem = |problem: Error| info.problems.push(problem.to_string());
    match on_points {
        Ok(velocity) => {
            // With the same velocity, the check of the mesh has included the points.
            if info.velocity.as_ref() != Some(&velocity) {
                let _ = nodes.check_frames(timeline, &velocity).map_err(&mut add_problem);
            }
            info.add_points(&nodes, &velocity);
            add_frame(info, file, &velocity, has_flags(file));
        }
        // The problem is listed for the mesh.
        Err(_) if mesh.is_some() => {}
        Err(problem) => add_problem(problem),
    }
}

/// Describes a velocity on a mesh.
fn describe_mesh(
    info: &mut SeriesInfo,
    file: &VtkFile,
    mesh: &MeshCells,
    points: &[[f64; 3]],
    timeline: &Timeline,
    options: &SeriesOptions,
) {
    let mut add_problem = |problem: Error| info.problems.push(problem.to_string());
    let velocity = VelocityInfo::choose(file, &options.velocity, options.prefer);
    let Ok(velocity) = velocity.map_err(&mut add_problem) else { return };
    let _ = mesh.check_frames(timeline, &velocity, points).map_err(&mut add_problem);
    info.add_mesh(points, mesh, &velocity);
    // Hidden cells are not in the mesh.
    add_frame(info, file, &velocity, false);
}

/// Counts the velocities of a file that are not finite; `hides`: and those at hidden points.
fn add_frame(info: &mut SeriesInfo, file: &VtkFile, velocity: &VelocityInfo, hides: bool) {
    match velocity.read_selected(file, all(file, velocity), hides) {
        Ok(frame) => info.add_frame(&frame),
        Err(problem) => info.problems.push(problem.to_string()),
    }
}
