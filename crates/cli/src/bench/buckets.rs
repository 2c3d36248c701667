//! Exact nearest-point search: the unit cube is divided into buckets, which are searched ring by
//! ring around a query until no further ring can contain a nearer point.

/// A bucket grid of points in the unit cube.
pub struct Buckets {
    /// Number of buckets along each axis.
    side: usize,
    /// Start of each bucket in `points`.
    starts: Vec<usize>,
    /// Points with their indices, sorted by bucket.
    points: Vec<([f64; 3], usize)>,
}

/// Average number of points per bucket. The nearest point is then within one or two rings.
const PER_BUCKET: f64 = 2.0;

impl Buckets {
    /// Sorts points into buckets.
    pub fn new(points: &[[f64; 3]]) -> Self {
        let side = ((points.len() as f64 / PER_BUCKET).cbrt() as usize).max(1);
        let key = |point: [f64; 3]| {
            let [i, j, k] = point.map(|x| bucket(x, side));
            (k * side + j) * side + i
        };
        let mut sorted: Vec<_> = points.iter().copied().zip(0..).collect();
        sorted.sort_by_key(|&(point, _)| key(point));
        let starts = (0..=side.pow(3)).map(|b| sorted.partition_point(|&(p, _)| key(p) < b));
        Buckets { side, starts: starts.collect(), points: sorted }
    }

    /// The index of the point nearest to a query point, which may be outside the cube.
    pub fn nearest(&self, query: [f64; 3]) -> usize {
        // All points are in the cube, so none is nearer to the query than to the query's projection
        // onto the cube.
        let inside = query.map(|x| x.clamp(0.0, 1.0));
        let centre = inside.map(|x| bucket(x, self.side) as isize);
        let mut best = (f64::INFINITY, usize::MAX);
        for ring in 0..self.side as isize {
            self.search_ring(query, centre, ring, &mut best);
            let clear = self.clearance(inside, centre, ring);
            if best.0 <= clear * clear {
                break;
            }
        }
        best.1
    }

    /// Searches the buckets at Chebyshev distance `ring` from the centre.
    fn search_ring(
        &self,
        query: [f64; 3],
        centre: [isize; 3],
        ring: isize,
        best: &mut (f64, usize),
    ) {
        let side = self.side as isize;
        let within = |d: usize| (centre[d] - ring).max(0)..=(centre[d] + ring).min(side - 1);
        for k in within(2) {
            for j in within(1) {
                let is_face = (k - centre[2]).abs() == ring || (j - centre[1]).abs() == ring;
                if is_face {
                    within(0).for_each(|i| self.search([i, j, k], query, best));
                    continue;
                }
                for i in [centre[0] - ring, centre[0] + ring] {
                    if (0..side).contains(&i) {
                        self.search([i, j, k], query, best);
                    }
                }
            }
        }
    }

    fn search(&self, [i, j, k]: [isize; 3], query: [f64; 3], best: &mut (f64, usize)) {
        let side = self.side as isize;
        let bucket = ((k * side + j) * side + i) as usize;
        for &(point, number) in &self.points[self.starts[bucket]..self.starts[bucket + 1]] {
            let square = (0..3).map(|d| (point[d] - query[d]).powi(2)).sum();
            if square < best.0 {
                *best = (square, number);
            }
        }
    }

    /// The minimum distance to buckets beyond a ring. Infinite if there are none.
    fn clearance(&self, inside: [f64; 3], centre: [isize; 3], ring: isize) -> f64 {
        let side = self.side as isize;
        let mut clear = f64::INFINITY;
        for d in 0..3 {
            let (low, high) = (centre[d] - ring, centre[d] + ring + 1);
            if low > 0 {
                clear = clear.min(inside[d] - low as f64 / side as f64);
            }
            if high < side {
                clear = clear.min(high as f64 / side as f64 - inside[d]);
            }
        }
        clear
    }
}

fn bucket(x: f64, side: usize) -> usize {
    ((x * side as f64) as usize).min(side - 1)
}

#[cfg(test)]
mod tests {
    use super::{super::random, *};

    fn nearest_by_brute_force(points: &[[f64; 3]], query: [f64; 3]) -> usize {
        let square = |p: &[f64; 3]| (0..3).map(|d| (p[d] - query[d]).powi(2)).sum::<f64>();
        let nearest =
            (0..points.len()).min_by(|&a, &b| square(&points[a]).total_cmp(&square(&points[b])));
        nearest.unwrap()
    }

    #[test]
    fn nearest_matches_brute_force() {
        // Dense in one corner and sparse elsewhere, so that many rings are empty.
        let mut points = random::points(1, 2000, 0.0, 0.5);
        points.extend(random::points(2, 20, 0.0, 1.0));
        for points in [&points[..], &points[..1]] {
            let buckets = Buckets::new(points);
            for query in random::points(3, 500, -0.2, 1.2) {
                assert_eq!(
                    buckets.nearest(query),
                    nearest_by_brute_force(points, query),
                    "{query:?}"
                );
            }
        }
    }
}
