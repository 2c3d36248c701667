//! Trees of the nodes in crowded lattice cells.

use crate::mesh::Bounds;
use burntrace_kernels::{BRANCH_NUMBERS, BRANCHES, CROWDED, branch_part, tree_levels};

/// The trees of a cloud, in the layout of the kernels.
#[derive(Default)]
pub(super) struct Trees {
    /// For each cell, its first branch, or -1; empty without crowded cells.
    pub roots: Vec<i32>,
    /// Corners of boxes, branch by branch.
    pub boxes: Vec<f64>,
}

impl Trees {
    /// Sorts the nodes of crowded cells into trees. Coincident nodes keep their order.
    pub fn new(positions: &[[f64; 3]], starts: &[i32], order: &mut [usize]) -> Self {
        let cells = || starts.windows(2).map(|ends| ends[0] as usize..ends[1] as usize);
        let mut trees = Trees::default();
        if cells().all(|nodes| nodes.len() <= CROWDED) {
            return trees;
        }
        let mut branches = 0;
        for nodes in cells() {
            if nodes.len() <= CROWDED {
                trees.roots.push(-1);
                continue;
            }
            let levels = tree_levels(nodes.len());
            trees.roots.push(branches as i32);
            let root = branches;
            branches += (BRANCHES.pow(levels as u32) - 1) / (BRANCHES - 1);
            trees.boxes.resize(branches * BRANCH_NUMBERS, 0.0);
            let boxes = &mut trees.boxes[root * BRANCH_NUMBERS..];
            Tree { positions, boxes, levels }.divide(&mut order[nodes], 0, 0);
        }
        trees
    }
}

/// A tree that is being made.
struct Tree<'a> {
    positions: &'a [[f64; 3]],
    boxes: &'a mut [f64],
    levels: usize,
}

impl Tree<'_> {
    /// Sorts the nodes of a branch into its children, and records their boxes.
    fn divide(&mut self, order: &mut [usize], number: usize, level: usize) {
        let part = |child| branch_part(0..order.len(), child);
        let cuts: [usize; BRANCHES + 1] =
            std::array::from_fn(
                |child| if child < BRANCHES { part(child).start } else { order.len() },
            );
        self.halve(order, &cuts);
        for child in 0..BRANCHES {
            let nodes = &mut order[cuts[child]..cuts[child + 1]];
            let Bounds { low, high } = self.bounds(nodes);
            for d in 0..3 {
                let at = number * BRANCH_NUMBERS + d * BRANCHES + child;
                self.boxes[at] = low[d];
                self.boxes[at + 3 * BRANCHES] = high[d];
            }
            if level + 1 == self.levels {
                nodes.sort_unstable();
            } else {
                self.divide(nodes, number * BRANCHES + 1 + child, level + 1);
            }
        }
    }

    /// Divides nodes at the middle one of the cuts, along the longest edge of their box, and then both parts
    /// at the other cuts.
    fn halve(&self, order: &mut [usize], cuts: &[usize]) {
        let middle = cuts.len() / 2;
        if middle == 0 || cuts.len() < 3 {
            return;
        }
        let Bounds { low, high } = self.bounds(order);
        let longest = |a: &usize, b: &usize| (high[*a] - low[*a]).total_cmp(&(high[*b] - low[*b]));
        let axis = (0..3).max_by(longest).unwrap_or(0);
        let key = |node: &usize| (self.positions[*node][axis], *node);
        let cut = cuts[middle] - cuts[0];
        order.select_nth_unstable_by(cut, |a, b| {
            let ((x, a), (y, b)) = (key(a), key(b));
            x.total_cmp(&y).then(a.cmp(&b))
        });
        let (first, second) = order.split_at_mut(cut);
        self.halve(first, &cuts[..=middle]);
        self.halve(second, &cuts[middle..]);
    }

    /// The box of nodes.
    fn bounds(&self, order: &[usize]) -> Bounds {
        Bounds::of(order.iter().map(|node| self.positions[*node]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers between 0 and 1, some of which coincide.
    fn positions(count: usize) -> Vec<[f64; 3]> {
        let position = |i: usize| [0.618, 0.414, 0.732].map(|s| ((i / 2) as f64 * s).fract());
        (0..count).map(position).collect()
    }

    /// Checks that the boxes of a branch, and of all below, are those of its nodes.
    fn check(trees: &Trees, positions: &[[f64; 3]], order: &[usize], number: usize, level: usize) {
        for child in 0..BRANCHES {
            let nodes = &order[branch_part(0..order.len(), child)];
            let boxes = &trees.boxes[number * BRANCH_NUMBERS..][..BRANCH_NUMBERS];
            for d in 0..3 {
                let x = || nodes.iter().map(|node| positions[*node][d]);
                assert_eq!(boxes[d * BRANCHES + child], x().fold(f64::INFINITY, f64::min));
                let high = boxes[(3 + d) * BRANCHES + child];
                assert_eq!(high, x().fold(f64::NEG_INFINITY, f64::max));
            }
            if level > 1 {
                check(trees, positions, nodes, number * BRANCHES + 1 + child, level - 1);
            }
        }
    }

    #[test]
    fn trees_contain_the_nodes_of_crowded_cells() {
        for count in [CROWDED + 1, 500, 3001] {
            let positions = positions(3 + count);
            let mut order: Vec<usize> = (0..positions.len()).collect();
            let starts = [0, 3, 3 + count as i32];
            let trees = Trees::new(&positions, &starts, &mut order);
            assert_eq!(trees.roots, [-1, 0]);
            assert_eq!(order[..3], [0, 1, 2]);
            check(&trees, &positions, &order[3..], 0, tree_levels(count));
            let mut place = vec![0; positions.len()];
            order.iter().enumerate().for_each(|(at, node)| place[*node] = at);
            let twins = (4..positions.len() - 1).step_by(2);
            assert!(twins.into_iter().all(|i| place[i] < place[i + 1]), "coincident nodes");
            order.sort_unstable();
            assert!(order.into_iter().eq(0..positions.len()));
        }
    }

    #[test]
    fn cells_that_are_not_crowded_have_no_trees() {
        let mut order: Vec<usize> = (0..CROWDED).collect();
        let trees = Trees::new(&positions(CROWDED), &[0, CROWDED as i32], &mut order);
        assert!(trees.roots.is_empty() && trees.boxes.is_empty());
    }
}
