//! Axes whose nodes have coordinates of their own.

use crate::cpu::{
    Real,
    lanes::{Four, Lanes, Vector},
};

/// Indices of a cell along the axes. With tables, a search starts at the particle's last cell.
pub(super) type Cell = [usize; 3];

/// Maximum number of buckets of an axis, and that per node.
const MAX_BUCKETS: usize = 1 << 14;
const MAX_PER_NODE: usize = 8;

/// What the fast search knows in a bucket, an interval of an axis: the last inner node up to the end of the bucket (the
/// first node, if there is none) between its neighbours on the axis, and the bits of its number.
///
/// The number is that of the cell of a position in the bucket, unless the position is below the node.
type Bucket<F> = [F; 4];

/// The nodes along three axes.
///
/// Each axis is divided into buckets of equal width, most of them with one node at most. A comparison with that node gives
/// the cell, on all axes at once. As nodes have been assigned to buckets with the arithmetic of positions, which is
/// monotone, the result is that of a search by bisection.
pub(super) struct UnevenAxes<'a, F> {
    pub nodes: [&'a [F]; 3],
    /// The buckets of each axis, one after the other.
    buckets: Vec<Bucket<F>>,
    starts: [usize; 3],
    first: [F; 4],
    last: [F; 4],
    per_bucket: [F; 4],
    /// Whether some bucket has several nodes.
    is_crowded: bool,
}

impl<'a, F: Real> UnevenAxes<'a, F> {
    pub fn new(nodes: [&'a [F]; 3]) -> Self {
        let zero = [F::zero(); 4];
        let mut axes = UnevenAxes {
            nodes,
            buckets: Vec::new(),
            starts: [0; 3],
            first: zero,
            last: zero,
            per_bucket: zero,
            is_crowded: false,
        };
        for (d, nodes) in nodes.into_iter().enumerate() {
            (axes.first[d], axes.last[d]) = (nodes[0], nodes[nodes.len() - 1]);
            let count = bucket_count(nodes);
            // A flat axis has a single bucket.
            let per = F::of(count as f64 / (axes.last[d] - axes.first[d]).exact());
            axes.per_bucket[d] = if per.is_finite() { per } else { F::zero() };
            axes.starts[d] = axes.buckets.len();
            axes.append(d, count + 1);
        }
        axes
    }

    /// Appends the buckets of an axis; the last one holds the last node.
    fn append(&mut self, d: usize, count: usize) {
        let nodes = self.nodes[d];
        let inner = &nodes[1..nodes.len().max(2) - 1];
        let mut seen = 0;
        for bucket in 0..count {
            let before = seen;
            let is_here = |node: &F| self.bucket(d, *node) <= bucket;
            seen += inner[seen..].iter().take_while(|node| is_here(node)).count();
            self.is_crowded |= seen - before > 1;
            let high = nodes.get(seen + 1).copied().unwrap_or(F::max_value());
            let number = F::of_bits(seen as u32);
            self.buckets.push([nodes[seen.saturating_sub(1)], nodes[seen], high, number]);
        }
    }

    /// The bucket of a coordinate on an axis.
    fn bucket(&self, d: usize, x: F) -> usize {
        ((x - self.first[d]) * self.per_bucket[d]).as_i32() as usize
    }

    /// The cell of a position and its coordinates there. Positions beyond an axis are clamped to its ends, NaN to the first.
    #[inline(always)]
    pub fn locate<L: Lanes<F>>(&self, p: L::Four, last: &mut Cell) -> (Cell, L::Four) {
        if self.is_crowded {
            let (cell, at) = self.search(p.array(), *last);
            *last = cell;
            return (cell, L::Four::new(at));
        }
        let first = L::Four::new(self.first);
        let x = p.clamp(first, L::Four::new(self.last));
        let bucket = ((x - first) * L::Four::new(self.per_bucket)).as_i32();
        let of = |d: usize| &self.buckets[self.starts[d] + bucket[d] as usize];
        let axes = [of(0), of(1), of(2)];
        let (zero, one) = (F::zero(), F::one());
        let unused = L::Four::new([zero, zero, one, zero]);
        let [x_axis, y_axis, z_axis] = axes.map(|bucket| L::Four::new(*bucket));
        let [low, node, high, _] = L::Four::transposed([x_axis, y_axis, z_axis, unused]);
        let start = x.where_less(node, low, node);
        let end = x.where_less(node, node, high);
        let below = x.less(node);
        let cell = |d: usize| axes[d][3].bits() as usize - (below >> d & 1) as usize;
        ([cell(0), cell(1), cell(2)], (x - start).per(end - start))
    }

    /// As `locate`, by a search that starts at a guess.
    #[cold]
    #[inline(never)]
    fn search(&self, p: [F; 4], mut cell: Cell) -> (Cell, [F; 4]) {
        let mut at = [F::zero(); 4];
        for d in 0..3 {
            find(self.nodes[d], p[d], &mut cell[d]);
            at[d] = fraction(self.nodes[d], p[d], cell[d]);
        }
        (cell, at)
    }
}

/// The number of buckets of an axis: the smallest at which no two nodes share one, within limits.
fn bucket_count<F: Real>(nodes: &[F]) -> usize {
    let gap = |pair: &[F]| (pair[1] - pair[0]).exact();
    let smallest = nodes.windows(2).map(gap).fold(f64::INFINITY, f64::min);
    let length = gap(&[nodes[0], nodes[nodes.len() - 1]]);
    let most = (MAX_PER_NODE * nodes.len()).min(MAX_BUCKETS) as f64;
    // A gap as wide as a bucket may be rounded.
    (1.01 * length / smallest).ceil().clamp(1.0, most) as usize
}

/// Finds the cell of a coordinate; `cell` is the initial guess and receives the cell.
fn find<F: Real>(nodes: &[F], x: F, cell: &mut usize) {
    let Some(last) = nodes.len().checked_sub(2) else {
        *cell = 0;
        return;
    };
    let c = *cell;
    let is_found = (c == 0 || nodes[c] <= x) && (c == last || x < nodes[c + 1]);
    if !is_found {
        *cell = nodes[1..nodes.len() - 1].partition_point(|&node| node <= x);
    }
}

/// The coordinate within a cell, between 0 and 1.
fn fraction<F: Real>(nodes: &[F], x: F, cell: usize) -> F {
    let Some(end) = nodes.get(cell + 1) else {
        return F::zero();
    };
    ((x - nodes[cell]) / (*end - nodes[cell])).max(F::zero()).min(F::one())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::lanes::Portable;

    /// The cell and the coordinate on each of three axes with the same nodes, by the fast search and by bisection.
    fn both(nodes: &[f32], x: f32) -> [(usize, f32); 2] {
        let axes = UnevenAxes::new([nodes; 3]);
        let mut cell = [0; 3];
        let p = <Portable as Lanes<f32>>::Four::new([x, x, x, 0.0]);
        let (cells, at) = axes.locate::<Portable>(p, &mut cell);
        let at = at.array();
        assert!(cells == [cells[0]; 3] && at == [at[0], at[0], at[0], 0.0]);
        let mut expected = 0;
        find(nodes, x, &mut expected);
        [(cells[0], at[0]), (expected, fraction(nodes, x, expected))]
    }

    #[test]
    fn cell_does_not_depend_on_the_initial_guess() {
        let nodes = [0.0_f32, 0.5, 0.75, 2.0];
        let cells = [
            (-1.0, 0, 0.0),
            (0.0, 0, 0.0),
            (0.25, 0, 0.5),
            (0.5, 1, 0.0),
            (0.75, 2, 0.0),
            (2.0, 2, 1.0),
            (9.0, 2, 1.0),
            (f32::INFINITY, 2, 1.0),
            (f32::NAN, 0, 0.0),
        ];
        for (x, cell, at) in cells {
            assert_eq!(both(&nodes, x), [(cell, at); 2], "{x}");
            for last in 0..3 {
                let mut found = last;
                find(&nodes, x, &mut found);
                assert_eq!((fraction(&nodes, x, found), found), (at, cell), "{x}, {last}");
            }
        }
        assert_eq!(both(&[1.0], 5.0), [(0, 0.0); 2]);
    }

    #[test]
    fn fast_search_agrees_with_bisection() {
        let stretched = |ratio: f32| {
            let mut nodes = vec![-3.0_f32];
            for k in 0..40 {
                nodes.push(nodes[k] + 0.01 * ratio.powi(k as i32));
            }
            nodes
        };
        // Even, slightly uneven, and with many nodes in the first buckets.
        for nodes in [stretched(1.0), stretched(1.05), stretched(1.5), vec![2.0, 7.0]] {
            let (first, last) = (nodes[0], nodes[nodes.len() - 1]);
            let across = (0..2000).map(|i| first - 0.1 + (last - first + 0.2) * i as f32 / 2000.0);
            let near = nodes.iter().flat_map(|x| [x.next_down(), *x, x.next_up()]);
            for x in across.chain(near) {
                let [fast, exact] = both(&nodes, x);
                assert_eq!(fast, exact, "{x} of {nodes:?}");
            }
        }
    }
}
