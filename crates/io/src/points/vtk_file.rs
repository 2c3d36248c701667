//! Seeds from the points of a VTK file.

use super::{SeedPoints, is_time};
use crate::listing::list;
use crate::{Error, Result};
use burntrace_vtk::{ArrayInfo, Association, Geometry, VtkFile};
use std::path::Path;

pub(super) fn read(path: &Path, names: &[&str]) -> Result<SeedPoints> {
    let file = burntrace_vtk::open(path)?;
    let position = positions(&file)?;
    let time = times(&file, position.len())?;
    let columns = names.iter().map(|name| column(&file, position.len(), name));
    let columns = columns.collect::<Result<_>>()?;
    Ok(SeedPoints { position, time, columns })
}

/// The points of any data set, or the nodes of a grid.
///
/// # Errors
///
/// If there are none, or a coordinate is not finite.
pub(crate) fn positions(file: &VtkFile) -> Result<Vec<[f64; 3]>> {
    let wrong = |location: &str, reason: &str| wrong(file.path(), location, reason);
    let (count, mut positions) = (file.geometry().num_points(), Vec::new());
    let bytes = (count as u64).saturating_mul(24);
    if !burntrace_vtk::fits_memory(bytes) || positions.try_reserve_exact(count).is_err() {
        let reason = format!("there are {count}, which do not fit into memory");
        return Err(wrong("its points", &reason));
    }
    match file.geometry() {
        Geometry::Image { .. } | Geometry::Rectilinear { .. } => {
            let [x, y, z] = &file.coordinates()?;
            let rows = z.iter().flat_map(|z| y.iter().map(move |y| (*y, *z)));
            positions.extend(rows.flat_map(|(y, z)| x.iter().map(move |x| [*x, y, z])));
        }
        _ => positions.extend(file.points()?.values.into_f64().as_chunks::<3>().0),
    }
    if positions.is_empty() {
        return Err(wrong("its points", "there are none; give a file with at least one"));
    }
    if let Some(point) = positions.iter().position(|p| p.iter().any(|x| !x.is_finite())) {
        return Err(wrong(&format!("point {point}"), "a coordinate is not a finite number"));
    }
    Ok(positions)
}

fn times(file: &VtkFile, points: usize) -> Result<Option<Vec<f64>>> {
    let array = scalars(file).find(|array| is_time(&array.name));
    array.map(|array| numbers(file, array, (points, "time"))).transpose()
}

fn column(file: &VtkFile, points: usize, name: &str) -> Result<Vec<f64>> {
    if let Some(array) = scalars(file).find(|array| array.name == name) {
        return numbers(file, array, (points, "value"));
    }
    let known: Vec<&str> = scalars(file).map(|array| array.name.as_str()).collect();
    let reason = format!("there is no such point array with one component, but {}", list(&known));
    Err(wrong(file.path(), &format!("array `{name}`"), &reason))
}

/// The point arrays with one component.
fn scalars(file: &VtkFile) -> impl Iterator<Item = &ArrayInfo> {
    let is_scalar = |of: &&ArrayInfo| of.association == Association::Point && of.components == 1;
    file.arrays().iter().filter(is_scalar)
}

/// The numbers of a scalar array of the points.
fn numbers(file: &VtkFile, array: &ArrayInfo, (points, what): (usize, &str)) -> Result<Vec<f64>> {
    let numbers = file.read(array)?.values.into_f64();
    let location = format!("array `{}`", array.name);
    if numbers.len() != points {
        let reason = format!("it has {} values for {points} points", numbers.len());
        return Err(wrong(file.path(), &location, &reason));
    }
    match numbers.iter().position(|number| !number.is_finite()) {
        None => Ok(numbers),
        Some(point) => {
            let reason = format!("the {what} of point {point} is not a finite number");
            Err(wrong(file.path(), &location, &reason))
        }
    }
}

fn wrong(path: &Path, location: &str, reason: &str) -> Error {
    Error::Points { path: path.into(), location: location.into(), reason: reason.into() }
}
