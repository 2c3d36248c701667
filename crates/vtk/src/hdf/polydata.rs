//! Poly data, in one or several pieces.

use super::data::HdfData;
use super::group::{Group, Piece};
use super::parts::{Cells, Parts, RowsOfSteps, overflow, pieces, total};
use super::steps::Steps;
use super::unstructured::{points, read_arrays};
use crate::array::{ArrayInfo, Association};
use crate::error::Error;
use crate::geometry::Geometry;
use crate::structure::Structure;

/// The groups of cells, in the order of cell arrays and of offsets, and their names in XML files.
const SECTIONS: [(&str, &str); 4] =
    [("Vertices", "verts"), ("Lines", "lines"), ("Polygons", "polys"), ("Strips", "strips")];

/// Reads the structure of poly data.
pub(super) fn read(
    root: &Group<'_>,
    steps: &Steps<'_>,
    data: &mut HdfData,
) -> Result<Structure, Error> {
    let parts = Parts::read(root, steps)?;
    let (mut topology, mut counts, mut sizes) = (Vec::new(), [0; 4], vec![0_u64; parts.len()]);
    let mut rows = vec![[0_u64; 2]; steps.count()];
    for (column, (name, as_xml)) in SECTIONS.into_iter().enumerate() {
        let group = root.child(name).ok_or_else(|| root.lacks(&format!("the group `{name}`")))?;
        let cells = parts.cells(&group, steps, [SECTIONS.len(), column])?;
        topology.extend(section(&group, data, &cells, as_xml)?);
        counts[column] = total(&cells.cells);
        for (all, own) in rows.iter_mut().zip(&cells.rows) {
            *all = [0, 1].map(|i| all[i].saturating_add(own[i]));
        }
        for (all, own) in sizes.iter_mut().zip(&cells.cells) {
            *all = all.saturating_add(own.rows);
        }
    }
    let [verts, lines, polys, strips] = counts;
    let geometry = Geometry::PolyData { points: total(&parts.points), verts, lines, strips, polys };
    let points = points(root, data, &parts)?;
    let cells = pieces(rows[steps.step()][0], &sizes, 0, &vec![0; sizes.len()]);
    let cells = cells.ok_or_else(|| overflow(root))?;
    let arrays =
        arrays(root, steps, data, &geometry, [(&parts.points, &parts.rows), (&cells, &rows)])?;
    let structure = Structure::new(geometry, "VTKHDF".to_owned(), arrays);
    Ok(Structure { topology, points: Some(points), ..structure })
}

/// The arrays that define the cells of a section.
fn section(
    group: &Group<'_>,
    data: &mut HdfData,
    cells: &Cells,
    as_xml: &str,
) -> Result<[ArrayInfo; 2], Error> {
    let mut array = |name: &str, pieces: &[Piece], rows: Option<&RowsOfSteps>| {
        let dataset = group.dataset(name)?;
        if let Some(rows) = rows {
            group.check_rows(&dataset, rows, "Steps/ConnectivityIdOffsets")?;
        }
        let array = group.array(data, dataset, Association::Topology, 1, pieces)?;
        Ok(ArrayInfo { name: format!("{as_xml}/{}", name.to_lowercase()), ..array })
    };
    Ok([
        array("Connectivity", &cells.connectivity, Some(&cells.corners))?,
        array("Offsets", &cells.ends, None)?,
    ])
}

/// The arrays of points and cells. Joining several pieces changes the order of cells of several kinds, whose
/// arrays are left out.
fn arrays(
    root: &Group<'_>,
    steps: &Steps<'_>,
    data: &mut HdfData,
    geometry: &Geometry,
    [points, cells]: [(&[Piece], &RowsOfSteps); 2],
) -> Result<Vec<ArrayInfo>, Error> {
    let mut arrays = Vec::new();
    if let Some(group) = root.child("PointData") {
        arrays.extend(read_arrays(&group, steps, data, ("PointData", Association::Point), points)?);
    }
    let is_ordered = cells.0.len() == 1 || !geometry.has_cells_of_several_kinds();
    if let Some(group) = root.child("CellData").filter(|_| is_ordered) {
        arrays.extend(read_arrays(&group, steps, data, ("CellData", Association::Cell), cells)?);
    }
    Ok(arrays)
}
