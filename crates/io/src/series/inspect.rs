//! What a series holds, and what stands in the way of tracing it.

use super::grid::Grid;
use super::mesh::MeshInfo;
use super::points::Nodes;
use super::velocity::VelocityInfo;
use super::{Files, SeriesInfo, SeriesOptions, check_grids, describe_times, find, timeline};
use crate::{Error, Result, points::positions};
use burntrace_vtk::VtkFile;
use std::path::PathBuf;

/// Describes the files of a series, also such that cannot be traced: what stands in the way is
/// among the [`problems`](SeriesInfo::problems).
///
/// # Errors
///
/// If there are no such files, or the first one cannot be read.
pub fn inspect(files: impl Into<Files>, options: &SeriesOptions) -> Result<SeriesInfo> {
    let files = files.into();
    let (line, problem) = match timeline(&files, options) {
        Ok(line) => (Some(line), None),
        Err(problem) => (None, Some(problem)),
    };
    let first = match &line {
        Some((line, _)) => line.paths[0].clone(),
        None => find(&files)?.0.swap_remove(0),
    };
    let file = burntrace_vtk::open(&first)?;
    let mut info = SeriesInfo::of(&file);
    match &line {
        Some((line, found)) => describe_times(&mut info, line, *found),
        None => {
            info.files = find(&files)?.0;
            info.files_found = info.files.len();
        }
    }
    info.problems.extend(problem.map(|problem| problem.to_string()));
    let paths = line.map(|(line, _)| line.paths).unwrap_or_default();
    match Grid::read(&file) {
        Ok(grid) => describe_grid(&mut info, &file, &grid, &paths, options),
        // Its points may do.
        Err(_) => describe_points(&mut info, &file, &paths, options),
    }
    Ok(info)
}

fn describe_grid(
    info: &mut SeriesInfo,
    file: &VtkFile,
    grid: &Grid,
    paths: &[PathBuf],
    options: &SeriesOptions,
) {
    let on_points = VelocityInfo::choose_on_points(file, &options.velocity, options.prefer).is_ok();
    let mut keep = |problem: Error| info.problems.push(problem.to_string());
    let velocity = VelocityInfo::choose(file, &options.velocity, options.prefer);
    let velocity = velocity.map_err(&mut keep).ok();
    if let Some(velocity) = &velocity {
        let _ = check_grids(paths, grid, velocity).map_err(&mut keep);
    }
    info.settle(grid, velocity.as_ref(), on_points);
}

fn describe_points(
    info: &mut SeriesInfo,
    file: &VtkFile,
    paths: &[PathBuf],
    options: &SeriesOptions,
) {
    let mut keep = |problem: Error| info.problems.push(problem.to_string());
    let positions = positions(file).map_err(&mut keep).ok();
    info.mesh = positions.as_deref().and_then(|positions| MeshInfo::of(file, positions));
    let nodes = positions.map(Nodes::of);
    let velocity = VelocityInfo::choose_on_points(file, &options.velocity, options.prefer);
    let velocity = velocity.map_err(&mut keep).ok();
    if let (Some(nodes), Some(velocity)) = (&nodes, &velocity) {
        let _ = nodes.check_others(paths, velocity).map_err(&mut keep);
    }
    if let Some(nodes) = nodes {
        info.settle_points(&nodes, velocity.as_ref());
    }
}
