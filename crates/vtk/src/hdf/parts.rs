//! The pieces of a data set with points and cells, at one time step.

use super::group::{Group, Piece};
use super::steps::Steps;
use crate::error::Error;
use std::ops::Range;

/// The pieces of one step.
pub(super) struct Parts {
    /// Index of the first one among the pieces of all steps.
    first: u64,
    range: Range<usize>,
    /// Number of points of each.
    counts: Vec<u64>,
    pub(super) points: Vec<Piece>,
}

/// The cells of the pieces of one step.
pub(super) struct Cells {
    pub(super) cells: Vec<Piece>,
    /// The ends of the cells; the offsets of a piece have a leading 0, which is left out.
    pub(super) ends: Vec<Piece>,
    pub(super) connectivity: Vec<Piece>,
}

impl Parts {
    pub(super) fn read(root: &Group<'_>, steps: &Steps<'_>) -> Result<Parts, Error> {
        let counts = root.required_sizes("NumberOfPoints")?;
        let first = steps.offset("PartOffsets", [1, 0])?;
        let count = match steps.offset("NumberOfParts", [1, 0])? {
            0 if steps.has_steps() => 1,
            0 => counts.len() as u64,
            parts => parts,
        };
        let range = first
            .checked_add(count)
            .and_then(|end| Some(usize::try_from(first).ok()?..usize::try_from(end).ok()?));
        let own = range.and_then(|range| Some((counts.get(range.clone())?.to_vec(), range)));
        let (counts, range) = own.ok_or_else(|| lacks(root, counts.len(), [first, count]))?;
        let points =
            pieces(steps.offset("PointOffsets", [1, 0])?, &counts, 0, &vec![0; counts.len()]);
        let points = points.ok_or_else(|| overflow(root))?;
        Ok(Parts { first, range, counts, points })
    }

    /// Number of pieces.
    pub(super) fn len(&self) -> usize {
        self.points.len()
    }

    /// The cells that a group has, whose offsets in the steps are in this column, of this number of columns.
    pub(super) fn cells(
        &self,
        group: &Group<'_>,
        steps: &Steps<'_>,
        column: [usize; 2],
    ) -> Result<Cells, Error> {
        let of_step = |name: &str| -> Result<Vec<u64>, Error> {
            let all = group.required_sizes(name)?;
            let own = all.get(self.range.clone()).map(<[u64]>::to_vec);
            own.ok_or_else(|| lacks(group, all.len(), [self.first, self.len() as u64]))
        };
        let (cells, corners) = (of_step("NumberOfCells")?, of_step("NumberOfConnectivityIds")?);
        let first = steps.offset("CellOffsets", column)?;
        let of_corners = steps.offset("ConnectivityIdOffsets", column)?;
        let found = (|| {
            Some(Cells {
                cells: pieces(first, &cells, 0, &vec![0; cells.len()])?,
                ends: pieces(first.checked_add(self.first)?, &cells, 1, &corners)?,
                connectivity: pieces(of_corners, &corners, 0, &self.counts)?,
            })
        })();
        found.ok_or_else(|| overflow(group))
    }
}

fn lacks(group: &Group<'_>, found: usize, [first, count]: [u64; 2]) -> Error {
    let found = format!("sizes of `{found}` pieces");
    group.context().malformed(found, format!("`{count}` pieces from `{first}` on"))
}

pub(super) fn overflow(group: &Group<'_>) -> Error {
    group.context().malformed("sizes that overflow", "sizes of a valid data set")
}

/// Number of tuples of all pieces, which do not overflow.
pub(super) fn total(pieces: &[Piece]) -> usize {
    pieces.iter().map(|piece| piece.tuples).sum()
}

/// The rows of pieces of the given sizes, one after the other, each after `leading` other rows. Their index
/// offset grows by the numbers `by`.
pub(super) fn pieces(first: u64, sizes: &[u64], leading: u64, by: &[u64]) -> Option<Vec<Piece>> {
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
