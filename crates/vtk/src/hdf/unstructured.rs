//! Unstructured grids, in one or several pieces.

use super::data::HdfData;
use super::group::{Group, Piece, product};
use super::parts::{Cells, Parts, RowsOfSteps, total};
use super::steps::Steps;
use crate::array::{ArrayInfo, Association};
use crate::error::Error;
use crate::geometry::Geometry;
use crate::structure::Structure;

/// Reads the structure of an unstructured grid.
pub(super) fn read(
    root: &Group<'_>,
    steps: &Steps<'_>,
    data: &mut HdfData,
) -> Result<Structure, Error> {
    let parts = Parts::read(root, steps)?;
    let cells = parts.cells(root, steps, [1, 0])?;
    let topology = topology(root, data, &cells)?;
    let points = points(root, data, &parts)?;
    let mut arrays = Vec::new();
    for (name, association, of_geometry) in [
        ("PointData", Association::Point, (&parts.points[..], &parts.rows)),
        ("CellData", Association::Cell, (&cells.cells[..], &cells.rows)),
    ] {
        if let Some(group) = root.child(name) {
            arrays.extend(read_arrays(&group, steps, data, (name, association), of_geometry)?);
        }
    }
    let geometry =
        Geometry::Unstructured { points: total(&parts.points), cells: total(&cells.cells) };
    let structure = Structure::new(geometry, "VTKHDF".to_owned(), arrays);
    Ok(Structure { topology, points: Some(points), ..structure })
}

/// The arrays that define the cells.
fn topology(root: &Group<'_>, data: &mut HdfData, cells: &Cells) -> Result<Vec<ArrayInfo>, Error> {
    let mut topology = Vec::new();
    for (name, as_xml, pieces, rows) in [
        (
            "Connectivity",
            "connectivity",
            &cells.connectivity,
            Some(("ConnectivityId", &cells.corners)),
        ),
        ("Offsets", "offsets", &cells.ends, None),
        ("Types", "types", &cells.cells, Some(("Cell", &cells.rows))),
    ] {
        let dataset = root.dataset(name)?;
        if let Some((offsets, rows)) = rows {
            root.check_rows(&dataset, rows, &format!("Steps/{offsets}Offsets"))?;
        }
        let array = root.array(data, dataset, Association::Topology, 1, pieces)?;
        topology.push(ArrayInfo { name: as_xml.to_owned(), ..array });
    }
    Ok(topology)
}

/// The array of the points.
pub(super) fn points(
    root: &Group<'_>,
    data: &mut HdfData,
    parts: &Parts,
) -> Result<ArrayInfo, Error> {
    let points = root.dataset("Points")?;
    root.check_rows(&points, &parts.rows, "Steps/PointOffsets")?;
    root.array(data, points, Association::Topology, 3, &parts.points)
}

/// The arrays of points or cells, whose rows are those of the geometry unless the step has offsets.
pub(super) fn read_arrays(
    group: &Group<'_>,
    steps: &Steps<'_>,
    data: &mut HdfData,
    (name, association): (&str, Association),
    (of_geometry, rows): (&[Piece], &RowsOfSteps),
) -> Result<Vec<ArrayInfo>, Error> {
    let mut arrays = Vec::new();
    for dataset in group.datasets()? {
        let array = dataset.name().rsplit('/').next().unwrap_or_default();
        let offsets = format!("{name}Offsets");
        let starts = steps.offsets_of(&offsets, array)?;
        let mut rows = rows.clone();
        for (row, start) in rows.iter_mut().zip(starts.iter().flatten()) {
            row[0] = *start;
        }
        group.check_rows(&dataset, &rows, &format!("Steps/{offsets}/{array}"))?;
        let start = of_geometry.first().map_or(0, |piece| piece.first);
        let moved = |piece: &Piece| {
            let first = rows[steps.step()][0].saturating_add(piece.first - start);
            Piece { first, index_offset: 0, ..*piece }
        };
        let pieces: Vec<Piece> = of_geometry.iter().map(moved).collect();
        let components = dataset.shape().get(1..).and_then(product).filter(|count| *count > 0);
        let components = components.ok_or_else(|| {
            let found = format!("the array `{array}` of shape {:?}", dataset.shape());
            group.context().malformed(found, "one row for each point or cell")
        })?;
        arrays.push(group.array(data, dataset, association, components, &pieces)?);
    }
    Ok(arrays)
}
