//! Search in the trees of crowded lattice cells.

use super::{Cloud, Visitor, WIDTH, with_rounding_margin};
use crate::{
    BRANCH_NUMBERS, BRANCHES, MAX_LEVELS, branch_part,
    cpu::{
        Real,
        lanes::{Eight, Lanes, Vector},
    },
    tree_levels,
};
use std::ops::Range;

/// The trees of a cloud.
pub(super) struct Trees<'a, F> {
    /// For each cell, its first branch, or -1.
    roots: &'a [i32],
    boxes: &'a [F],
}

/// A branch on the way from a root to a leaf.
#[derive(Clone, Copy, Default)]
struct Branch {
    /// Its number in the tree.
    number: usize,
    start: usize,
    end: usize,
    /// The children to be visited, as bits.
    hits: u32,
}

const ALL: u32 = (1 << BRANCHES) - 1;

impl<'a, F: Real> Trees<'a, F> {
    /// The trees after the coordinates and the offsets of the cells, if there are any.
    pub fn new(boxes: &'a [F], roots: &'a [i32], cells: usize) -> Option<Self> {
        if roots.is_empty() {
            return None;
        }
        assert_eq!(roots.len(), cells, "wrong number of trees");
        Some(Trees { roots, boxes })
    }

    /// Squared distances of a position from the boxes of a branch's children. They are rounded like those
    /// of nodes, so that no node is closer than its box.
    #[inline(always)]
    fn squares<L: Lanes<F>>(&self, branch: usize, position: &[F; 3]) -> L::Eight {
        let numbers = &self.boxes[branch * BRANCH_NUMBERS..][..BRANCH_NUMBERS];
        let zero = L::Eight::splat(F::zero());
        let mut square = zero;
        // By index: an iterator call might not be inlined and unrolled.
        #[allow(clippy::needless_range_loop)]
        for d in 0..3 {
            // SAFETY: the slice has six times eight numbers.
            let [low, high] = unsafe {
                let low = numbers.as_ptr().add(d * WIDTH);
                [L::Eight::read(low.cast()), L::Eight::read(low.add(3 * WIDTH).cast())]
            };
            let at = L::Eight::splat(position[d]);
            let offset = (low - at).max(at - high).max(zero);
            square = offset.fma(offset, square);
        }
        square
    }

    /// The children of a branch within a distance, as bits.
    #[inline(always)]
    fn hits<L: Lanes<F>>(&self, branch: usize, position: &[F; 3], limit: F) -> u32 {
        let squares = self.squares::<L>(branch, position);
        !L::Eight::splat(limit).less(squares) & ALL
    }
}

impl<F: Real> Cloud<'_, F> {
    /// Visits the nodes of cells within a distance; returns whether those are all of them.
    #[inline(always)]
    pub(super) fn visit_cells<L: Lanes<F>, T: Visitor<F, L>>(
        &self,
        cells: Range<usize>,
        position: &[F; 3],
        limit: F,
        visitor: &mut T,
    ) -> bool {
        let mut is_all = true;
        for cell in cells {
            let nodes = self.starts[cell] as usize..self.starts[cell + 1] as usize;
            match self.root(cell) {
                Some(root) => {
                    is_all &= self.visit_tree::<L, T>((root, nodes), position, limit, visitor);
                }
                None => visitor.visit(self, position, nodes),
            }
        }
        is_all
    }

    /// The first branch of a cell's tree.
    #[inline(always)]
    fn root(&self, cell: usize) -> Option<usize> {
        let trees = self.trees.as_ref()?;
        usize::try_from(trees.roots[cell]).ok()
    }

    /// Visits the nodes of a tree in their order.
    #[inline(always)]
    fn visit_tree<L: Lanes<F>, T: Visitor<F, L>>(
        &self,
        (root, nodes): (usize, Range<usize>),
        position: &[F; 3],
        limit: F,
        visitor: &mut T,
    ) -> bool {
        let Some(trees) = &self.trees else { return true };
        let levels = tree_levels(nodes.len());
        let mut path = [Branch::default(); MAX_LEVELS];
        let hits = trees.hits::<L>(root, position, limit.min(visitor.bound()));
        path[0] = Branch { number: 0, start: nodes.start, end: nodes.end, hits };
        let (mut level, mut is_all) = (0, hits == ALL);
        loop {
            let branch = &mut path[level];
            if branch.hits == 0 {
                if level == 0 {
                    return is_all;
                }
                level -= 1;
                continue;
            }
            let child = branch.hits.trailing_zeros() as usize;
            branch.hits &= branch.hits - 1;
            let nodes = branch_part(branch.start..branch.end, child);
            if level + 1 == levels {
                visitor.visit(self, position, nodes);
                continue;
            }
            let number = branch.number * BRANCHES + 1 + child;
            let hits = trees.hits::<L>(root + number, position, limit.min(visitor.bound()));
            is_all &= hits == ALL;
            level += 1;
            path[level] = Branch { number, start: nodes.start, end: nodes.end, hits };
        }
    }

    /// In a crowded cell, a radius that contains at least two nodes: those of one leaf.
    #[inline(always)]
    pub(super) fn start_reach<L: Lanes<F>>(&self, position: &[F; 3]) -> Option<F> {
        let trees = self.trees.as_ref()?;
        let [i, j, k] = [0, 1, 2].map(|d| self.cell(d, position[d]));
        let cell = (k * self.cells[1] + j) * self.cells[0] + i;
        let root = self.root(cell)?;
        let mut nodes = self.starts[cell] as usize..self.starts[cell + 1] as usize;
        let mut number = 0;
        for _ in 0..tree_levels(nodes.len()) {
            let squares = trees.squares::<L>(root + number, position);
            let child = first_smallest::<F, L>(squares);
            nodes = branch_part(nodes, child);
            number = number * BRANCHES + 1 + child;
        }
        let squares = self.squares::<L>(position, nodes);
        let least = L::Eight::splat(squares.smallest());
        let others = least.where_less(squares, squares, L::Eight::splat(F::infinity()));
        let second = others.smallest();
        second.is_finite().then(|| with_rounding_margin(second.sqrt()))
    }
}

/// The first of the smallest lanes.
#[inline(always)]
fn first_smallest<F: Real, L: Lanes<F>>(x: L::Eight) -> usize {
    let others = L::Eight::splat(x.smallest()).less(x);
    (!others & ALL).trailing_zeros() as usize % BRANCHES
}
