//! The maximum eigenvalue of symmetric matrices, in batches.

use burn::tensor::{DType, Tensor};

/// Jacobi sweeps that make a 3 x 3 matrix diagonal to rounding. Convergence is quadratic.
const SWEEPS: usize = 5;

/// Symmetric matrices: a tensor `[n]` for each element `i`, `j` with `i <= j`, row by row.
pub(super) struct Symmetric {
    size: usize,
    elements: Vec<Tensor<1>>,
}

impl Symmetric {
    /// The products `F^T F` of matrices `F` given by their columns, each `[n, 3]`.
    pub fn squares(columns: &[Tensor<2>]) -> Self {
        let size = columns.len();
        let product = |i: usize, j: usize| {
            let product = columns[i].clone() * columns[j].clone();
            product.sum_dim(1).squeeze_dim::<1>(1)
        };
        let pairs = (0..size).flat_map(|i| (i..size).map(move |j| (i, j)));
        Symmetric { size, elements: pairs.map(|(i, j)| product(i, j)).collect() }
    }

    /// Logarithm of the maximum eigenvalue `[n]` of positive semidefinite matrices.
    ///
    /// The matrices are first divided by their traces, so that no square overflows.
    pub fn log_max_eigenvalue(mut self) -> Tensor<1> {
        let mut trace = self.at(0, 0);
        (1..self.size).for_each(|i| trace = trace.clone() + self.at(i, i));
        self.elements = self.elements.into_iter().map(|row| row / trace.clone()).collect();
        let rotations: Vec<(usize, usize)> = match self.size {
            3 => [(0, 1), (0, 2), (1, 2)].repeat(SWEEPS),
            // One rotation is the closed form.
            2 => vec![(0, 1)],
            _ => Vec::new(),
        };
        rotations.into_iter().for_each(|(p, q)| self.rotate(p, q));
        let mut max = self.at(0, 0);
        (1..self.size).for_each(|i| max = max.clone().max_pair(self.at(i, i)));
        log(max * trace)
    }

    /// Eliminates element `p`, `q` by a Jacobi rotation (C. G. J. Jacobi, 1846). Unlike roots of the
    /// characteristic polynomial, nearly equal eigenvalues lose no digits.
    fn rotate(&mut self, p: usize, q: usize) {
        let off = self.at(p, q);
        let gap = self.at(q, q) - self.at(p, p);
        let root = (gap.clone().square() + off.clone().square().mul_scalar(4.0)).sqrt();
        let is_negative = gap.clone().lower_elem(0.0);
        let sum = (gap.clone() + root.clone()).mask_where(is_negative, gap - root);
        // Both are zero only for a diagonal block of equal elements, which needs no rotation.
        let is_zero = sum.clone().equal_elem(0.0);
        let tangent = off.clone().mul_scalar(2.0) / sum.mask_fill(is_zero, 1.0);
        let change = tangent.clone() * off.clone();
        let cosine = (tangent.clone().square() + 1.0).sqrt().recip();
        let sine = tangent * cosine.clone();
        self.put(p, p, self.at(p, p) - change.clone());
        self.put(q, q, self.at(q, q) + change);
        self.put(p, q, off.zeros_like());
        for r in (0..self.size).filter(|r| *r != p && *r != q) {
            let [with_p, with_q] = [self.at(r, p), self.at(r, q)];
            let rotated = cosine.clone() * with_p.clone() - sine.clone() * with_q.clone();
            self.put(r, p, rotated);
            self.put(r, q, sine.clone() * with_p + cosine.clone() * with_q);
        }
    }

    fn at(&self, i: usize, j: usize) -> Tensor<1> {
        self.elements[self.index(i, j)].clone()
    }

    fn put(&mut self, i: usize, j: usize, row: Tensor<1>) {
        let index = self.index(i, j);
        self.elements[index] = row;
    }

    fn index(&self, i: usize, j: usize) -> usize {
        let (i, j) = (i.min(j), i.max(j));
        i * self.size - i * (i + 1) / 2 + j
    }
}

/// Repeated square roots that map [1e-80, 1e80] into [0.48, 2.1].
const ROOTS: i32 = 8;

/// Terms of the atanh series; the truncation error in that interval is below rounding.
const TERMS: i32 = 17;

/// Natural logarithm; minus infinity for 0. SPIR-V has no double-precision logarithm, so f64 uses
/// the series of `2 atanh((x - 1) / (x + 1))`.
fn log(x: Tensor<1>) -> Tensor<1> {
    if x.dtype() != DType::F64 {
        return x.log();
    }
    let is_zero = x.clone().lower_equal_elem(0.0);
    let root = (0..ROOTS).fold(x, |x, _| x.sqrt());
    let s = (root.clone() - 1.0) / (root + 1.0);
    let square = s.clone().square();
    let coefficient = |k: i32| 1.0 / f64::from(2 * k + 1);
    let last = s.zeros_like().add_scalar(coefficient(TERMS));
    let series = |sum: Tensor<1>, k| (sum * square.clone()).add_scalar(coefficient(k));
    let sum = (0..TERMS).rev().fold(last, series);
    let log = (sum * s).mul_scalar(f64::from(1 << (ROOTS + 1)));
    log.mask_fill(is_zero, f64::NEG_INFINITY)
}
