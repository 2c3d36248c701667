//! Comparison of files with the first one of their series.

use super::{ghosts::has_flags, grid::Grid, times::Timeline, velocity::VelocityInfo};
use crate::{Result, listing::counted};
use burntrace_vtk::VtkFile;

/// Checks that all frames have the velocity and the grid of the first one. Returns whether any of them,
/// except for the first, has flags of hidden points or cells.
pub(super) fn check_grids(
    timeline: &Timeline,
    grid: &Grid,
    velocity: &VelocityInfo,
) -> Result<bool> {
    check_frames(timeline, velocity, "grid", |file| Ok(grid.difference(&Grid::read(file)?)))
}

/// Checks that all frames have the velocity, and the grid, mesh or points (`on`) of the first one:
/// `difference` describes how a file differs. Returns whether any of them, except for the first, has
/// flags of hidden points or cells.
pub(super) fn check_frames(
    timeline: &Timeline,
    velocity: &VelocityInfo,
    on: &'static str,
    difference: impl Fn(&VtkFile) -> Result<Option<String>>,
) -> Result<bool> {
    let mut hides = false;
    for frame in 1..timeline.frames.len() {
        let file = timeline.open(frame)?;
        velocity.locate(&file)?;
        if let Some(difference) = difference(&file)? {
            return Err(timeline.frame_differs(frame, on, difference));
        }
        hides |= has_flags(&file);
    }
    Ok(hides)
}

/// How a number of points or cells differs from the first file, if it does.
pub(super) fn count_difference(found: usize, expected: usize, noun: &str) -> Option<String> {
    (found != expected).then(|| format!("it has {}, not {expected}", counted(found, noun)))
}

/// The message for the first point that has moved. Items are the index of a point, and its
/// coordinates in the first file and in another one.
pub(super) fn first_moved(
    mut points: impl Iterator<Item = (usize, [f64; 3], [f64; 3])>,
) -> Option<String> {
    let (point, here, there) = points.find(|(_, here, there)| here != there)?;
    let [there, here] = [there, here].map(|[x, y, z]| format!("({x}, {y}, {z})"));
    Some(format!("its point {point} is at {there}, not at {here}"))
}
