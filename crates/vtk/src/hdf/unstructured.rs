//! Unstructured grids, in one or several pieces.

use super::data::HdfData;
use super::group::{Group, Piece, product};
use super::steps::Steps;
use crate::array::{ArrayInfo, Association};
use crate::error::Error;
use crate::geometry::Geometry;
use crate::structure::Structure;

/// Sizes of the pieces of one step, and the first rows of their data.
struct Pieces {
    points: Vec<Piece>,
    cells: Vec<Piece>,
    /// The ends of the cells; the offsets of a piece have a leading 0, which is left out.
    ends: Vec<Piece>,
    connectivity: Vec<Piece>,
}

/// Reads the structure of an unstructured grid.
pub(super) fn read(
    root: &Group<'_>,
    steps: &Steps<'_>,
    data: &mut HdfData,
) -> Result<Structure, Error> {
    let pieces = Pieces::read(root, steps)?;
    let total = |pieces: &[Piece]| pieces.iter().map(|piece| piece.tuples).sum::<usize>();
    let mut topology = Vec::new();
    for (name, as_xml, pieces) in [
        ("Connectivity", "connectivity", &pieces.connectivity),
        ("Offsets", "offsets", &pieces.ends),
        ("Types", "types", &pieces.cells),
    ] {
        let dataset = root.dataset(name)?;
        let array = root.array(data, dataset, Association::Topology, 1, pieces)?;
        topology.push(ArrayInfo { name: as_xml.to_owned(), ..array });
    }
    let points =
        root.array(data, root.dataset("Points")?, Association::Topology, 3, &pieces.points)?;
    let mut arrays = Vec::new();
    for (name, association, of_geometry) in [
        ("PointData", Association::Point, &pieces.points),
        ("CellData", Association::Cell, &pieces.cells),
    ] {
        if let Some(group) = root.child(name) {
            arrays.extend(read_arrays(&group, steps, data, (name, association), of_geometry)?);
        }
    }
    Ok(Structure {
        file: 0,
        geometry: Geometry::Unstructured {
            points: total(&pieces.points),
            cells: total(&pieces.cells),
        },
        encoding: "VTKHDF".to_owned(),
        arrays,
        topology,
        coordinates: Vec::new(),
        points: Some(points),
    })
}

/// The arrays of points or cells, whose rows are those of the geometry unless the step has offsets.
fn read_arrays(
    group: &Group<'_>,
    steps: &Steps<'_>,
    data: &mut HdfData,
    (name, association): (&str, Association),
    of_geometry: &[Piece],
) -> Result<Vec<ArrayInfo>, Error> {
    let mut arrays = Vec::new();
    for dataset in group.datasets()? {
        let array = dataset.name().rsplit('/').next().unwrap_or_default();
        let first = steps.offset_of(&format!("{name}Offsets"), array)?;
        let start = of_geometry.first().map_or(0, |piece| piece.first);
        let moved = |piece: &Piece| {
            let first = first.unwrap_or(start).saturating_add(piece.first - start);
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

impl Pieces {
    fn read(root: &Group<'_>, steps: &Steps<'_>) -> Result<Pieces, Error> {
        let [points, cells, connectivity] =
            ["NumberOfPoints", "NumberOfCells", "NumberOfConnectivityIds"]
                .map(|name| root.required_sizes(name));
        let sizes = [points?, cells?, connectivity?];
        let first = steps.offset("PartOffsets")?;
        let count = match steps.offset("NumberOfParts")? {
            0 if steps.has_steps() => 1,
            0 => sizes[0].len() as u64,
            parts => parts,
        };
        let lacks = || {
            let found = format!("sizes of `{}` pieces", sizes[0].len());
            root.context().malformed(found, format!("`{count}` pieces from `{first}` on"))
        };
        let range = first
            .checked_add(count)
            .and_then(|end| Some(usize::try_from(first).ok()?..usize::try_from(end).ok()?));
        let range = range.ok_or_else(lacks)?;
        let of_step = sizes.each_ref().map(|all| all.get(range.clone()));
        let [Some(points), Some(cells), Some(corners)] = of_step else { return Err(lacks()) };
        let none = || vec![0; points.len()];
        let starts = |name: &str| steps.offset(name);
        let ends_first = starts("CellOffsets")?.saturating_add(first);
        let overflow =
            || root.context().malformed("sizes that overflow", "sizes of a valid data set");
        let found = (|| {
            Some(Pieces {
                points: pieces(starts("PointOffsets").ok()?, points, 0, &none())?,
                cells: pieces(starts("CellOffsets").ok()?, cells, 0, &none())?,
                ends: pieces(ends_first, cells, 1, corners)?,
                connectivity: pieces(starts("ConnectivityIdOffsets").ok()?, corners, 0, points)?,
            })
        })();
        found.ok_or_else(overflow)
    }
}

/// The rows of pieces of the given sizes, one after the other, each after `leading` other rows. Their index
/// offset grows by the numbers `by`.
fn pieces(first: u64, sizes: &[u64], leading: u64, by: &[u64]) -> Option<Vec<Piece>> {
    let (mut first, mut index_offset) = (first, 0_i64);
    let mut pieces = Vec::with_capacity(sizes.len());
    for (rows, by) in sizes.iter().zip(by) {
        first = first.checked_add(leading)?;
        let tuples = usize::try_from(*rows).ok()?;
        pieces.push(Piece { first, rows: *rows, tuples, index_offset });
        first = first.checked_add(*rows)?;
        index_offset = index_offset.checked_add(i64::try_from(*by).ok()?)?;
    }
    let all = pieces.iter().try_fold(0_usize, |sum, piece| sum.checked_add(piece.tuples));
    all.map(|_| pieces)
}
