//! The rows that a step moves.

use super::rows::ints;
use crate::{Result, field::evaluate::select_rows};
use burn::tensor::{Bool, Tensor, kind::Basic};

/// Some of the rows of tensors with one row for each particle.
///
/// A field is asked only at the rows that move. What it gives elsewhere, for example NaN at a
/// particle that has ended, then reaches neither the other rows nor the gradient of a parameter
/// that all rows share: in a backward pass, zero times NaN is NaN.
#[derive(Clone, Debug)]
pub(super) struct RowSelection {
    rows: Vec<usize>,
    /// Number of rows to select from.
    count: usize,
}

impl RowSelection {
    /// The rows where a mask `[n, 1]` is set.
    pub fn of(mask: &Tensor<2, Bool>) -> Result<Self> {
        let mask = ints(&mask.clone().int())?;
        Ok(RowSelection::where_true(mask.iter().map(|is_set| *is_set != 0)))
    }

    /// The rows for which an iterator over all rows gives `true`.
    pub fn where_true(mask: impl ExactSizeIterator<Item = bool>) -> Self {
        let count = mask.len();
        let rows = mask.enumerate().filter_map(|(row, is_set)| is_set.then_some(row));
        RowSelection { rows: rows.collect(), count }
    }

    /// The rows of increasing indices, of `count`.
    pub fn of_rows(rows: Vec<usize>, count: usize) -> Self {
        RowSelection { rows, count }
    }

    /// The rows that are selected of these.
    pub fn of_selected(&self, part: &RowSelection) -> Self {
        let rows = part.rows.iter().map(|i| self.rows[*i]).collect();
        RowSelection { rows, count: self.count }
    }

    /// Indices of the selected rows, increasing.
    pub fn rows(&self) -> &[usize] {
        &self.rows
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub fn is_all(&self) -> bool {
        self.rows.len() == self.count
    }

    /// The selected rows of a tensor.
    pub fn take<const D: usize, K: Basic>(&self, all: &Tensor<D, K>) -> Tensor<D, K> {
        match self.is_all() {
            true => all.clone(),
            false => select_rows(all.clone(), &self.rows),
        }
    }

    /// A tensor with the selected rows replaced by those of `part`.
    pub fn put<const D: usize, K: Basic>(
        &self,
        all: Tensor<D, K>,
        part: Tensor<D, K>,
    ) -> Tensor<D, K> {
        if self.is_all() {
            return part;
        }
        let mut order: Vec<usize> = (0..self.count).collect();
        for (number, row) in self.rows.iter().enumerate() {
            order[*row] = self.count + number;
        }
        select_rows(Tensor::cat(vec![all, part], 0), &order)
    }
}

/// Mask of finite vectors `[n, 1]`.
pub(super) fn finite(p: &Tensor<2>) -> Tensor<2, Bool> {
    let p = p.clone().detach();
    let axis = |d: usize| p.clone().narrow(1, d, 1).is_finite();
    axis(0).bool_and(axis(1)).bool_and(axis(2))
}
