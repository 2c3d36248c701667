//! What a series holds, and what stands in the way of tracing it.

use super::grid::Grid;
use super::mesh::{MeshInfo, Selection};
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
        describe_mesh(info, file, mesh, &positions, paths, options);
    }
    let nodes = Nodes::of(positions);
    info.settle_points(&nodes);
    let mut keep = |problem: Error| info.problems.push(problem.to_string());
    match on_points {
        Ok(velocity) => {
            // A mesh with the same velocity has been held against all files, points included.
            if info.velocity.as_ref() != Some(&velocity) {
                let _ = nodes.check_others(paths, &velocity).map_err(&mut keep);
            }
            info.settle_on_points(&nodes, &velocity);
        }
        // What is wrong with the velocity of the mesh has been said.
        Err(_) if mesh.is_some() => {}
        Err(problem) => keep(problem),
    }
}

/// Adds what there is to say about a velocity on a mesh.
fn describe_mesh(
    info: &mut SeriesInfo,
    file: &VtkFile,
    mesh: &Selection,
    points: &[[f64; 3]],
    paths: &[PathBuf],
    options: &SeriesOptions,
) {
    let mut keep = |problem: Error| info.problems.push(problem.to_string());
    let velocity = VelocityInfo::choose(file, &options.velocity, options.prefer);
    let Ok(velocity) = velocity.map_err(&mut keep) else { return };
    let _ = mesh.check_others(paths, &velocity, points).map_err(&mut keep);
    info.settle_mesh(points, mesh, &velocity);
}
