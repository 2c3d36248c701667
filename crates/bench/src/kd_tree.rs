//! Exact search of nearest points in a k-d tree, for points of any density.

/// A k-d tree of points. The middle of each range of `order` splits it: the points before the middle are
/// lower along an axis, and those after it higher.
pub struct KdTree<'a> {
    points: &'a [[f64; 3]],
    order: Vec<usize>,
}

impl<'a> KdTree<'a> {
    pub fn new(points: &'a [[f64; 3]]) -> Self {
        let mut order: Vec<usize> = (0..points.len()).collect();
        sort(points, &mut order, 0);
        KdTree { points, order }
    }

    /// The points nearest to a query point, with their squared distances, nearest first.
    pub fn nearest(&self, query: [f64; 3], count: usize) -> Vec<(f64, usize)> {
        let mut best = Vec::with_capacity(count + 1);
        self.search(&self.order, 0, query, count, &mut best);
        best
    }

    fn search(
        &self,
        order: &[usize],
        depth: usize,
        query: [f64; 3],
        count: usize,
        best: &mut Vec<(f64, usize)>,
    ) {
        let middle = order.len() / 2;
        let Some(&point) = order.get(middle) else { return };
        let axis = depth % 3;
        let beyond = query[axis] - self.points[point][axis];
        let (low, high) = (&order[..middle], &order[middle + 1..]);
        let (near, far) = if beyond < 0.0 { (low, high) } else { (high, low) };
        self.search(near, depth + 1, query, count, best);
        let square = (0..3).map(|d| (self.points[point][d] - query[d]).powi(2)).sum();
        best.insert(best.partition_point(|found| *found < (square, point)), (square, point));
        best.truncate(count);
        if best.len() < count || beyond * beyond <= best[best.len() - 1].0 {
            self.search(far, depth + 1, query, count, best);
        }
    }
}

fn sort(points: &[[f64; 3]], order: &mut [usize], depth: usize) {
    let middle = order.len() / 2;
    if middle == 0 {
        return;
    }
    let axis = depth % 3;
    order.select_nth_unstable_by(middle, |&a, &b| points[a][axis].total_cmp(&points[b][axis]));
    sort(points, &mut order[..middle], depth + 1);
    sort(points, &mut order[middle + 1..], depth + 1);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random;

    #[test]
    fn nearest_match_brute_force() {
        // Dense in one corner and sparse elsewhere.
        let mut points = random::points(1, 500, 0.0, 0.01);
        points.extend(random::points(2, 300, 0.0, 1.0));
        for points in [&points[..], &points[..3]] {
            let tree = KdTree::new(points);
            for query in random::points(3, 200, -0.2, 1.2) {
                let square = |i: usize| (0..3).map(|d| (points[i][d] - query[d]).powi(2)).sum();
                let mut all: Vec<(f64, usize)> =
                    (0..points.len()).map(|i| (square(i), i)).collect();
                all.sort_by(|a, b| a.partial_cmp(b).unwrap());
                for count in [1, 3, 8] {
                    let expected = &all[..count.min(points.len())];
                    assert_eq!(tree.nearest(query, count), expected, "{query:?}, {count}");
                }
            }
        }
    }
}
