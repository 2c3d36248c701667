//! Image data.

use super::data::HdfData;
use super::group::{Group, Piece, product};
use super::steps::Steps;
use crate::array::{ArrayInfo, Association};
use crate::error::Error;
use crate::geometry::{Geometry, UNIT_DIRECTION, cell_dims, dims_of};
use crate::structure::Structure;
use hdf5_reader::Dataset;

/// Reads the structure of image data.
pub(super) fn read(
    root: &Group<'_>,
    steps: &Steps<'_>,
    data: &mut HdfData,
) -> Result<Structure, Error> {
    let extent: [f64; 6] =
        root.numbers("WholeExtent")?.ok_or_else(|| root.lacks("the attribute `WholeExtent`"))?;
    let extent = extent.map(|index| index as i64);
    let dims = dims_of(extent).ok_or_else(|| {
        root.context()
            .malformed(format!("the extent `{extent:?}`"), "a first and last index along x, y, z")
    })?;
    let origin = root.numbers("Origin")?.unwrap_or([0.0; 3]);
    let spacing = root.numbers("Spacing")?.unwrap_or([1.0; 3]);
    let direction = root.numbers("Direction")?.unwrap_or(UNIT_DIRECTION);
    let mut arrays = Vec::new();
    for (name, association, dims) in
        [("PointData", Association::Point, dims), ("CellData", Association::Cell, cell_dims(dims))]
    {
        if let Some(group) = root.child(name) {
            for dataset in group.datasets()? {
                arrays.push(array(&group, steps, data, dataset, (name, association, dims))?);
            }
        }
    }
    let geometry = Geometry::Image { extent, origin, spacing, direction };
    Ok(Structure::new(geometry, "VTKHDF".to_owned(), arrays))
}

/// An array on the grid: z, y, x and components, of each step one after the other.
fn array(
    group: &Group<'_>,
    steps: &Steps<'_>,
    data: &mut HdfData,
    dataset: Dataset,
    (name, association, dims): (&str, Association, [usize; 3]),
) -> Result<ArrayInfo, Error> {
    let shape = dataset.shape().to_vec();
    let (first, rows, of_step) = match (steps.has_steps(), shape.split_first()) {
        (true, Some((_, of_step))) => {
            let array = dataset.name().rsplit('/').next().unwrap_or_default();
            let offsets = format!("{name}Offsets");
            let starts = steps.offsets_of(&offsets, array)?;
            let starts = starts.unwrap_or_else(|| (0..steps.count() as u64).collect());
            let rows: Vec<[u64; 2]> = starts.iter().map(|start| [*start, 1]).collect();
            group.check_rows(&dataset, &rows, &format!("Steps/{offsets}/{array}"))?;
            (starts[steps.step()], 1, of_step)
        }
        _ => (0, shape.first().copied().unwrap_or(0), shape.as_slice()),
    };
    let components = components(of_step, dims).ok_or_else(|| {
        let found = format!("the array `{}` of shape {shape:?}", dataset.name());
        let [x, y, z] = dims;
        group.context().malformed(found, format!("`{z} x {y} x {x}` values, z first"))
    })?;
    let piece = Piece { first, rows, tuples: dims.iter().product(), index_offset: 0 };
    group.array(data, dataset, association, components, &[piece])
}

/// Number of components of an array with the shape of a grid, whose flat axes VTK leaves out.
fn components(shape: &[u64], [x, y, z]: [usize; 3]) -> Option<u64> {
    let full = [z, y, x].map(|len| len as u64);
    let reduced: Vec<u64> = full.into_iter().filter(|len| *len > 1).collect();
    let rest = shape.strip_prefix(&full).or_else(|| shape.strip_prefix(reduced.as_slice()))?;
    product(rest).filter(|components| *components > 0)
}

#[cfg(test)]
mod tests {
    use super::components;

    #[test]
    fn flat_axes_may_be_left_out() {
        assert_eq!(components(&[3, 4, 5], [5, 4, 3]), Some(1));
        assert_eq!(components(&[3, 4, 5, 3], [5, 4, 3]), Some(3));
        assert_eq!(components(&[4, 5, 3], [5, 4, 1]), Some(3));
        assert_eq!(components(&[1, 4, 5, 3], [5, 4, 1]), Some(3));
        assert_eq!(components(&[3, 3, 4, 5], [5, 4, 3]), None);
        assert_eq!(components(&[5, 4, 3], [5, 4, 3]), None);
        assert_eq!(components(&[3, 4, 5, 0], [5, 4, 3]), None);
    }
}
