//! Longitudes that begin with another column, or in another turn.

use crate::degrees::CIRCLE;
use crate::grid::CfFrame;
use crate::store::Span;
use crate::values::Values;

/// Columns around the earth from another one on, and longitudes moved by whole turns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turn {
    /// The column of the file that becomes the first one.
    pub first: usize,
    /// Number of columns in a full turn; all, of longitudes that are not around the earth.
    pub columns: usize,
    /// Degrees that are added to the longitude of the first column.
    pub degrees: f64,
}

impl Turn {
    /// The longitudes of a file in the new order.
    pub fn axis(&self, axis: &[f64]) -> Vec<f64> {
        let is_decreasing = matches!(axis, [a, .., b] if a > b);
        let turn = if is_decreasing { -CIRCLE } else { CIRCLE };
        let at = |i: usize| match (self.first + i).checked_sub(self.columns) {
            Some(next) => axis[next] + self.degrees + turn,
            None => axis[self.first + i] + self.degrees,
        };
        (0..axis.len()).map(at).collect()
    }

    /// The columns of the file of a range, which are up to two ranges.
    pub(crate) fn in_file(&self, Span { start, count, step }: Span) -> Vec<Span> {
        let start = start + self.first;
        let before = self.columns.saturating_sub(start).div_ceil(step).min(count);
        let next = (start + before * step).saturating_sub(self.columns);
        let parts = [(start, before), (next, count - before)];
        let parts = parts.into_iter().filter(|(_, count)| *count > 0);
        parts.map(|(start, count)| Span { start, count, step }).collect()
    }
}

impl CfFrame {
    /// This part of a grid with another one on its right; both have this number of rows of nodes.
    pub(crate) fn beside(self, right: CfFrame, rows: usize) -> CfFrame {
        let both = |left: Option<Values>, right: Option<Values>| {
            left.zip(right).map(|(left, right)| values_beside(left, right, rows))
        };
        // Missing values are known where a part has any.
        let all = |frame: &CfFrame| vec![false; frame.velocity.len() / 3];
        let missing = match (&self.missing, &right.missing) {
            (None, None) => None,
            (left, other) => {
                let left = left.clone().unwrap_or_else(|| all(&self));
                Some(beside(&left, &other.clone().unwrap_or_else(|| all(&right)), rows))
            }
        };
        let arrays = self.arrays.into_iter().zip(right.arrays);
        CfFrame {
            missing,
            velocity: values_beside(self.velocity, right.velocity, rows),
            diffusivity: both(self.diffusivity, right.diffusivity),
            arrays: arrays.map(|(left, right)| values_beside(left, right, rows)).collect(),
        }
    }
}

fn values_beside(left: Values, right: Values, rows: usize) -> Values {
    match (left, right) {
        (Values::F32(left), Values::F32(right)) => Values::F32(beside(&left, &right, rows)),
        (left, right) => Values::F64(beside(&left.into_f64(), &right.into_f64(), rows)),
    }
}

fn beside<T: Copy>(left: &[T], right: &[T], rows: usize) -> Vec<T> {
    let rows_of = |part: &[T]| (part.len() / rows.max(1)).max(1);
    let pairs = left.chunks(rows_of(left)).zip(right.chunks(rows_of(right)));
    pairs.flat_map(|(left, right)| [left, right]).flatten().copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: usize, count: usize, step: usize) -> Span {
        Span { start, count, step }
    }

    #[test]
    fn columns_go_on_with_the_first_one() {
        let turn = Turn { first: 3, columns: 4, degrees: -360.0 };
        assert_eq!(turn.axis(&[0.0, 90.0, 180.0, 270.0]), [-90.0, 0.0, 90.0, 180.0]);
        assert_eq!(turn.axis(&[0.0, 90.0, 180.0, 270.0, 360.0]), [-90.0, 0.0, 90.0, 180.0, 270.0]);
        assert_eq!(turn.in_file(span(0, 5, 1)), [span(3, 1, 1), span(0, 4, 1)]);
        assert_eq!(turn.in_file(span(0, 1, 1)), [span(3, 1, 1)]);
        assert_eq!(turn.in_file(span(1, 2, 2)), [span(0, 2, 2)]);
        let turn = Turn { first: 1, columns: 4, degrees: 0.0 };
        assert_eq!(turn.in_file(span(0, 2, 2)), [span(1, 2, 2)]);
        assert_eq!(turn.in_file(span(0, 4, 1)), [span(1, 3, 1), span(0, 1, 1)]);
        assert_eq!(turn.in_file(span(1, 2, 2)), [span(2, 1, 2), span(0, 1, 2)]);
        let west = Turn { first: 1, columns: 3, degrees: 360.0 };
        assert_eq!(west.axis(&[240.0, 120.0, 0.0]), [480.0, 360.0, 240.0]);
        assert_eq!(beside(&[1, 2, 5, 6], &[3, 7], 2), [1, 2, 3, 5, 6, 7]);
        assert_eq!(beside::<i32>(&[], &[], 2), [0; 0]);
    }
}
