//! Merging of coincident points.

use super::input::{Cells, check_points};
use crate::Result;
use crate::threads::in_parts;

/// Points without repetition.
pub(super) struct Merged {
    pub points: Vec<[f64; 3]>,
    /// The index in `points` of each given point.
    pub map: Vec<u32>,
    /// The index of the first given point merged into each of `points`.
    pub first: Vec<u32>,
}

/// Merging distance as a fraction of the median edge length.
const OF_MEDIAN: f64 = 1e-5;
/// Maximum merging distance as a fraction of the shortest edge.
const OF_SHORTEST: f64 = 0.1;
/// Edges shorter than this fraction of the median do not count as the shortest.
const NEGLIGIBLE: f64 = 1e-9;
/// Number of cells that are sampled for the median.
const SAMPLE: usize = 1 << 14;

/// Merging distance. Lengths are maximum differences of coordinates.
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
    let (_, median, _) = lengths.select_nth_unstable_by(half, f64::total_cmp);
    let none = *median * NEGLIGIBLE;
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
    (*median * OF_MEDIAN).min(shortest * OF_SHORTEST)
}

/// Calls a function with the length of each edge of each face.
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

/// Edge of a hash cell in tolerances, large enough that a point's neighbourhood is usually in one
/// cell, and small enough that a linear search is cheap.
const HASH_CELL: f64 = 16.0;
/// Offset that keeps round coordinates away from the boundaries of hash cells.
const SHIFT: f64 = 0.381_966;
const NONE: u32 = u32::MAX;

impl Merged {
    /// Points of which none are merged.
    pub fn none(points: &[[f64; 3]]) -> Self {
        let all: Vec<u32> = (0..points.len() as u32).collect();
        Merged { points: points.to_vec(), map: all.clone(), first: all }
    }
}

/// Merges each point with the first earlier point within `tolerance`.
pub(super) fn merge(points: &[[f64; 3]], tolerance: f64) -> Merged {
    let mut table = PointTable::new(points, tolerance);
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

/// The number of each point, the same for those that a mesh merges.
///
/// # Errors
///
/// If the mesh is not valid.
pub(crate) fn coincident(points: &[[f64; 3]], cells: &Cells) -> Result<Vec<u32>> {
    check_points(points)?;
    cells.check(points.len())?;
    Ok(merge(points, tolerance(points, cells)).map)
}

/// Points in the cells of a lattice, as chains in a hash table. Collisions only cost time, because
/// distances decide.
pub(super) struct PointTable {
    heads: Vec<u32>,
    next: Vec<u32>,
    edge: f64,
    tolerance: f64,
}

impl PointTable {
    /// An empty table for points like these.
    fn new(points: &[[f64; 3]], tolerance: f64) -> Self {
        let largest = points.iter().flatten().fold(0.0, |max: f64, x| max.max(x.abs()));
        let edge = (HASH_CELL * tolerance).max(largest * 1e-290);
        PointTable {
            heads: vec![NONE; (2 * points.len()).next_power_of_two()],
            next: Vec::with_capacity(points.len()),
            // With a tolerance of zero, only identical coordinates are merged.
            edge: if tolerance > 0.0 { edge } else { 0.0 },
            tolerance,
        }
    }

    /// The table of these points.
    pub fn of(points: &[[f64; 3]], tolerance: f64) -> Self {
        let mut table = PointTable::new(points, tolerance);
        points.iter().for_each(|point| table.insert(point));
        table
    }

    fn insert(&mut self, point: &[f64; 3]) {
        let head = self.head(point.map(|x| self.cell(x)));
        self.next.push(self.heads[head]);
        self.heads[head] = self.next.len() as u32 - 1;
    }

    /// The lowest index of a point within the tolerance.
    fn find(&self, point: &[f64; 3], points: &[[f64; 3]]) -> Option<u32> {
        let mut found = NONE;
        self.within(point, points, |at, _| found = found.min(at));
        (found != NONE).then_some(found)
    }

    /// The index of the nearest point within the tolerance, the lowest one of several.
    pub fn nearest(&self, point: &[f64; 3], points: &[[f64; 3]]) -> Option<u32> {
        let mut found = (f64::INFINITY, NONE);
        self.within(point, points, |at, distance| {
            if distance < found.0 || distance == found.0 && at < found.1 {
                found = (distance, at);
            }
        });
        (found.1 != NONE).then_some(found.1)
    }

    /// Calls a function with the index of each point within the tolerance, and its distance.
    fn within(&self, point: &[f64; 3], points: &[[f64; 3]], mut call: impl FnMut(u32, f64)) {
        let low = point.map(|x| self.cell(x - self.tolerance));
        let high = point.map(|x| self.cell(x + self.tolerance));
        for corner in 0..8 {
            let is_high = [0, 1, 2].map(|d| corner >> d & 1 == 1);
            // Search each cell once.
            if (0..3).any(|d| is_high[d] && high[d] == low[d]) {
                continue;
            }
            let cell = [0, 1, 2].map(|d| if is_high[d] { high[d] } else { low[d] });
            let mut at = self.heads[self.head(cell)];
            while at != NONE {
                let distance = distance(point, &points[at as usize]);
                if distance <= self.tolerance {
                    call(at, distance);
                }
                at = self.next[at as usize];
            }
        }
    }

    /// Index of a lattice cell along an axis, as an integral float that cannot overflow.
    fn cell(&self, x: f64) -> f64 {
        // Adding 0 removes the sign of zero, which would give two cells.
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
    fn points_within_the_tolerance_are_merged_with_the_first() {
        let points = [[0.0; 3], [1.0, 0.0, 0.0], [1e-7, 0.0, -1e-7], [1.0, 0.0, 2e-6]];
        let merged = merge(&points, 1e-6);
        assert_eq!(merged.map, [0, 1, 0, 2]);
        assert_eq!(merged.first, [0, 1, 3]);
        assert_eq!(merged.points, [points[0], points[1], points[3]]);
        assert_eq!(merge(&[[0.0; 3], [-0.0; 3], [1e-300; 3]], 0.0).map, [0, 0, 1]);
    }

    #[test]
    fn points_in_adjacent_hash_cells_are_merged() {
        for k in -40..40 {
            let x = f64::from(k) * 1e-6;
            let merged = merge(&[[x; 3], [x + 0.9e-6, x - 0.9e-6, x]], 1e-6);
            assert_eq!(merged.map, [0, 0], "{k}");
            let merged = merge(&[[x; 3], [x + 1.1e-6, x, x]], 1e-6);
            assert_eq!(merged.map, [0, 1], "{k}");
        }
    }

    #[test]
    fn edges_of_thin_cells_are_preserved() {
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
