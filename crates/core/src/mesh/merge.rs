//! Points that coincide become one.

use super::Cells;
use super::threads::in_parts;

/// Points without repetition.
pub(super) struct Merged {
    pub points: Vec<[f64; 3]>,
    /// The number among `points` of each point that was given.
    pub map: Vec<u32>,
    /// The first of the given points that each of `points` stands for.
    pub first: Vec<u32>,
}

/// How near points are one, as a fraction of the middle length of edges.
const OF_MIDDLE: f64 = 1e-5;
/// And at most so much of the shortest edge,
const OF_SHORTEST: f64 = 0.1;
/// where an edge shorter than this fraction of the middle one has no length at all.
const NO_LENGTH: f64 = 1e-9;
/// Cells whose edges are looked at for the middle length.
const SAMPLE: usize = 1 << 14;

/// Distance within which points are one. Lengths are the greatest differences of coordinates.
pub(super) fn tolerance(points: &[[f64; 3]], cells: &Cells) -> f64 {
    let step = cells.len().div_ceil(SAMPLE).max(1);
    let mut lengths = Vec::new();
    for cell in (0..cells.len()).step_by(step) {
        edges(points, cells, cell, |length| lengths.push(length));
    }
    lengths.retain(|length| *length > 0.0);
    if lengths.is_empty() {
        return 0.0;
    }
    let half = lengths.len() / 2;
    let (_, middle, _) = lengths.select_nth_unstable_by(half, f64::total_cmp);
    let none = *middle * NO_LENGTH;
    let shortest = in_parts(cells.len(), |range| {
        let mut shortest = f64::INFINITY;
        for cell in range {
            edges(points, cells, cell, |length| {
                if length > none {
                    shortest = shortest.min(length);
                }
            });
        }
        shortest
    });
    let shortest = shortest.into_iter().fold(f64::INFINITY, f64::min);
    (*middle * OF_MIDDLE).min(shortest * OF_SHORTEST)
}

/// Calls with the length of each edge around each face.
fn edges(points: &[[f64; 3]], cells: &Cells, cell: usize, mut call: impl FnMut(f64)) {
    let nodes = cells.nodes(cell);
    for face in cells.kinds[cell].table().faces {
        for i in 0..face.len() {
            let [a, b] = [face[i], face[(i + 1) % face.len()]].map(|k| points[nodes[k] as usize]);
            call(distance(&a, &b));
        }
    }
}

fn distance(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    (0..3).map(|d| (a[d] - b[d]).abs()).fold(0.0, f64::max)
}

/// Edge of a hash cell, in tolerances: most points then have their whole neighbourhood in one, and
/// so few different points are in one that looking at all of them is nothing.
const HASH_CELL: f64 = 16.0;
/// Round coordinates, which are usual, are not where hash cells meet.
const SHIFT: f64 = 0.381_966;
const NONE: u32 = u32::MAX;

/// A point within `tolerance` of an earlier one becomes that one.
pub(super) fn merge(points: &[[f64; 3]], tolerance: f64) -> Merged {
    let greatest = points.iter().flatten().fold(0.0, |most: f64, x| most.max(x.abs()));
    let edge = (HASH_CELL * tolerance).max(greatest * 1e-290);
    let mut table = Table {
        heads: vec![NONE; (2 * points.len()).next_power_of_two()],
        next: Vec::with_capacity(points.len()),
        // A tolerance of nothing: points are one where their coordinates are the same numbers.
        edge: if tolerance > 0.0 { edge } else { 0.0 },
        tolerance,
    };
    let mut merged = Merged { points: Vec::new(), map: Vec::new(), first: Vec::new() };
    merged.map.reserve(points.len());
    for (i, point) in points.iter().enumerate() {
        let number = table.find(point, &merged.points).unwrap_or_else(|| {
            table.insert(point);
            merged.points.push(*point);
            merged.first.push(i as u32);
            merged.points.len() as u32 - 1
        });
        merged.map.push(number);
    }
    merged
}

/// Points by the cells of a lattice: chains through a hash table. Cells that share a chain cost
/// time, and nothing else, since distances decide.
struct Table {
    heads: Vec<u32>,
    next: Vec<u32>,
    edge: f64,
    tolerance: f64,
}

impl Table {
    fn insert(&mut self, point: &[f64; 3]) {
        let head = self.head(point.map(|x| self.cell(x)));
        self.next.push(self.heads[head]);
        self.heads[head] = self.next.len() as u32 - 1;
    }

    /// The least number of a point within the tolerance.
    fn find(&self, point: &[f64; 3], points: &[[f64; 3]]) -> Option<u32> {
        let low = point.map(|x| self.cell(x - self.tolerance));
        let high = point.map(|x| self.cell(x + self.tolerance));
        let mut found = NONE;
        for corner in 0..8 {
            let is_high = [0, 1, 2].map(|d| corner >> d & 1 == 1);
            // The same cell is not looked at twice.
            if (0..3).any(|d| is_high[d] && high[d] == low[d]) {
                continue;
            }
            let cell = [0, 1, 2].map(|d| if is_high[d] { high[d] } else { low[d] });
            let mut at = self.heads[self.head(cell)];
            while at != NONE {
                if distance(point, &points[at as usize]) <= self.tolerance {
                    found = found.min(at);
                }
                at = self.next[at as usize];
            }
        }
        (found != NONE).then_some(found)
    }

    /// A cell of the lattice along an axis, as a whole float: it cannot overflow.
    fn cell(&self, x: f64) -> f64 {
        // Zero has two signs, which would be two cells.
        if self.edge > 0.0 { (x / self.edge + SHIFT).floor() + 0.0 } else { x + 0.0 }
    }

    fn head(&self, cell: [f64; 3]) -> usize {
        let mut hash = 0_u64;
        for x in cell {
            hash = (hash ^ x.to_bits()).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            hash ^= hash >> 29;
        }
        (hash ^ hash >> 32) as usize & (self.heads.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burntrace_kernels::CellKind;

    #[test]
    fn points_within_the_tolerance_become_the_first_of_them() {
        let points = [[0.0; 3], [1.0, 0.0, 0.0], [1e-7, 0.0, -1e-7], [1.0, 0.0, 2e-6]];
        let merged = merge(&points, 1e-6);
        assert_eq!(merged.map, [0, 1, 0, 2]);
        assert_eq!(merged.first, [0, 1, 3]);
        assert_eq!(merged.points, [points[0], points[1], points[3]]);
        assert_eq!(merge(&[[0.0; 3], [-0.0; 3], [1e-300; 3]], 0.0).map, [0, 0, 1]);
    }

    #[test]
    fn points_on_both_sides_of_a_hash_cell_meet() {
        for k in -40..40 {
            let x = f64::from(k) * 1e-6;
            let merged = merge(&[[x; 3], [x + 0.9e-6, x - 0.9e-6, x]], 1e-6);
            assert_eq!(merged.map, [0, 0], "{k}");
            let merged = merge(&[[x; 3], [x + 1.1e-6, x, x]], 1e-6);
            assert_eq!(merged.map, [0, 1], "{k}");
        }
    }

    #[test]
    fn no_edge_is_merged_away_however_thin_cells_are() {
        let points = [[0.0; 3], [1e-6, 0.0, 0.0], [1e-6, 1.0, 0.0], [0.0, 1.0, 0.0]];
        let cells = Cells {
            kinds: vec![CellKind::Quad],
            offsets: vec![0, 4],
            connectivity: vec![0, 1, 2, 3],
        };
        let tolerance = tolerance(&points, &cells);
        assert!((tolerance - 1e-7).abs() < 1e-20, "{tolerance}");
    }
}
