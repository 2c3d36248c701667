//! The pieces of a data set with points and cells, at one time step.

use super::group::{Group, Piece};
use super::steps::Steps;
use crate::error::Error;
use std::ops::Range;

/// The first row of a dataset and the number of rows of each time step.
pub(super) type RowsOfSteps = Vec<[u64; 2]>;

/// The pieces of one step.
pub(super) struct Parts {
    /// The indices of the pieces of each step among those of all steps.
    ranges: Vec<Range<usize>>,
    /// The open step.
    step: usize,
    /// Number of points of each piece.
    counts: Vec<u64>,
    pub(super) points: Vec<Piece>,
    /// The points of each step.
    pub(super) rows: RowsOfSteps,
}

/// The cells of the pieces of one step.
pub(super) struct Cells {
    pub(super) cells: Vec<Piece>,
    /// The ends of the cells; the offsets of a piece have a leading 0, which is left out.
    pub(super) ends: Vec<Piece>,
    pub(super) connectivity: Vec<Piece>,
    /// The cells of each step.
    pub(super) rows: RowsOfSteps,
    /// The connectivity of each step.
    pub(super) corners: RowsOfSteps,
}

impl Parts {
    pub(super) fn read(root: &Group<'_>, steps: &Steps<'_>) -> Result<Parts, Error> {
        let counts = root.required_sizes("NumberOfPoints")?;
        let offsets = steps.offsets("PartOffsets", [1, 0])?;
        let numbers = steps.offsets("NumberOfParts", [1, 0])?;
        let range = |(first, number): (&u64, &u64)| {
            let count = match number {
                0 if steps.has_steps() => 1,
                0 => counts.len() as u64,
                parts => *parts,
            };
            let range = usize::try_from(*first).ok().zip(usize::try_from(count).ok());
            let range = range.and_then(|(first, count)| Some(first..first.checked_add(count)?));
            let range = range.filter(|range| range.end <= counts.len());
            range.ok_or_else(|| lacks(root, counts.len(), [*first, count]))
        };
        let ranges = offsets.iter().zip(&numbers).map(range).collect::<Result<Vec<_>, _>>()?;
        let (step, starts) = (steps.step(), steps.offsets("PointOffsets", [1, 0])?);
        let rows = rows_of_steps(&starts, &counts, &ranges);
        let counts = own(root, &counts, &ranges[step])?;
        let points = pieces(starts[step], &counts, 0, &vec![0; counts.len()]);
        let points = points.ok_or_else(|| overflow(root))?;
        Ok(Parts { ranges, step, counts, points, rows })
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
        let [all_cells, all_corners] = [
            group.required_sizes("NumberOfCells")?,
            group.required_sizes("NumberOfConnectivityIds")?,
        ];
        let starts = steps.offsets("CellOffsets", column)?;
        let of_corners = steps.offsets("ConnectivityIdOffsets", column)?;
        let range = &self.ranges[self.step];
        let cells = own(group, &all_cells, range)?;
        let corners = own(group, &all_corners, range)?;
        let found = (|| {
            let first = starts[self.step];
            let ends = first.checked_add(range.start as u64)?;
            Some(Cells {
                cells: pieces(first, &cells, 0, &vec![0; cells.len()])?,
                ends: pieces(ends, &cells, 1, &corners)?,
                connectivity: pieces(of_corners[self.step], &corners, 0, &self.counts)?,
                rows: rows_of_steps(&starts, &all_cells, &self.ranges),
                corners: rows_of_steps(&of_corners, &all_corners, &self.ranges),
            })
        })();
        found.ok_or_else(|| overflow(group))
    }
}

/// The sizes of the pieces of a step.
fn own(group: &Group<'_>, all: &[u64], range: &Range<usize>) -> Result<Vec<u64>, Error> {
    let own = all.get(range.clone()).map(<[u64]>::to_vec);
    own.ok_or_else(|| lacks(group, all.len(), [range.start as u64, range.len() as u64]))
}

/// The rows of each step, which start at `starts`; `sizes` are those of all pieces.
fn rows_of_steps(starts: &[u64], sizes: &[u64], ranges: &[Range<usize>]) -> RowsOfSteps {
    let count = |range: &Range<usize>| {
        let sizes = sizes.get(range.clone()).unwrap_or_default();
        sizes.iter().fold(0, |sum: u64, size| sum.saturating_add(*size))
    };
    starts.iter().zip(ranges).map(|(start, range)| [*start, count(range)]).collect()
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
