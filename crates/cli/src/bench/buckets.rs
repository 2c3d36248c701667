//! The nearest of many points, exactly: the unit cube is cut into buckets, which are searched ring
//! by ring around a place until no further ring can hold a nearer point.

/// Points of the unit cube by bucket.
pub struct Buckets {
    /// Buckets along an axis.
    side: usize,
    /// Where the points of each bucket begin in `points`.
    starts: Vec<usize>,
    /// Each point with its number.
    points: Vec<([f64; 3], usize)>,
}

/// Points in a bucket, on average: a ring or two of such buckets has the nearest one.
const PER_BUCKET: f64 = 2.0;

impl Buckets {
    /// Sorts points into buckets.
    pub fn new(points: &[[f64; 3]]) -> Self {
        let side = ((points.len() as f64 / PER_BUCKET).cbrt() as usize).max(1);
        let key = |place: [f64; 3]| {
            let [i, j, k] = place.map(|x| bucket(x, side));
            (k * side + j) * side + i
        };
        let mut sorted: Vec<_> = points.iter().copied().zip(0..).collect();
        sorted.sort_by_key(|&(place, _)| key(place));
        let starts = (0..=side.pow(3)).map(|b| sorted.partition_point(|&(p, _)| key(p) < b));
        Buckets { side, starts: starts.collect(), points: sorted }
    }

    /// The number of the point nearest to a place, which may lie outside the cube.
    pub fn nearest(&self, place: [f64; 3]) -> usize {
        // All points lie in the cube, so they are no nearer to the place than to the point of the
        // cube that is nearest to it.
        let inside = place.map(|x| x.clamp(0.0, 1.0));
        let centre = inside.map(|x| bucket(x, self.side) as isize);
        let mut best = (f64::INFINITY, usize::MAX);
        for ring in 0..self.side as isize {
            self.search_ring(place, centre, ring, &mut best);
            let clear = self.clearance(inside, centre, ring);
            if best.0 <= clear * clear {
                break;
            }
        }
        best.1
    }

    /// Looks into every bucket that is `ring` buckets away from the centre along some axis, and no
    /// more along the others.
    fn search_ring(
        &self,
        place: [f64; 3],
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
                    within(0).for_each(|i| self.search([i, j, k], place, best));
                    continue;
                }
                for i in [centre[0] - ring, centre[0] + ring] {
                    if (0..side).contains(&i) {
                        self.search([i, j, k], place, best);
                    }
                }
            }
        }
    }

    fn search(&self, [i, j, k]: [isize; 3], place: [f64; 3], best: &mut (f64, usize)) {
        let side = self.side as isize;
        let bucket = ((k * side + j) * side + i) as usize;
        for &(point, number) in &self.points[self.starts[bucket]..self.starts[bucket + 1]] {
            let square = (0..3).map(|d| (point[d] - place[d]).powi(2)).sum();
            if square < best.0 {
                *best = (square, number);
            }
        }
    }

    /// How far it is at least to what lies beyond a ring; infinite where nothing does.
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

    fn by_trying_all(points: &[[f64; 3]], place: [f64; 3]) -> usize {
        let square = |p: &[f64; 3]| (0..3).map(|d| (p[d] - place[d]).powi(2)).sum::<f64>();
        let nearest =
            (0..points.len()).min_by(|&a, &b| square(&points[a]).total_cmp(&square(&points[b])));
        nearest.unwrap()
    }

    #[test]
    fn the_nearest_is_that_of_trying_all() {
        // Many in one half and a few in the other, so that many rings are empty.
        let mut points = random::points(1, 2000, 0.0, 0.5);
        points.extend(random::points(2, 20, 0.0, 1.0));
        for points in [&points[..], &points[..1]] {
            let buckets = Buckets::new(points);
            for place in random::points(3, 500, -0.2, 1.2) {
                assert_eq!(buckets.nearest(place), by_trying_all(points, place), "{place:?}");
            }
        }
    }
}
