//! Land: the cells of a grid that no particle enters.

/// Number of cells to the nearest land that is stored at most.
const FARTHEST: u8 = u8::MAX;

/// Numbers before the lists of a lattice: the start of the list of each axis, and of the distances.
pub(crate) const LAND_STARTS: usize = 4;

/// Cells of a rectilinear lattice, each of which is land or water: a [shape](crate::Shape) of obstacles. A position belongs to
/// a cell up to, and without, its upper wall; the outermost cells have no outer wall.
#[derive(Clone, Debug, PartialEq)]
pub struct Land {
    /// Cells along each axis, x first.
    cells: [usize; 3],
    /// Number of cells that are land.
    count: usize,
    /// The walls of the cells: row `i` has the lower wall of cell `i` along each axis.
    pub(crate) rows: Vec<[f64; 3]>,
    /// [`LAND_STARTS`] numbers. Then for each axis, which is divided into equal parts from its first to its last inner wall,
    /// a cell at or below the start of each part. Then for each cell the number of cells to the nearest land, diagonals
    /// included, in 8 bits.
    pub(crate) numbers: Vec<i32>,
    /// The first inner wall of each axis, and parts per unit of length.
    low: [f64; 3],
    per_part: [f64; 3],
}

impl Land {
    /// Land by the inner walls of the cells along each axis, increasing, in the data's unit of length, and whether each cell is
    /// land, x fastest.
    ///
    /// # Panics
    ///
    /// If there are not as many cells as the walls bound, or more than an `i32` counts.
    pub fn new(walls: &[Vec<f64>; 3], is_land: &[bool]) -> Self {
        let cells = walls.each_ref().map(|walls| walls.len() + 1);
        assert_eq!(
            is_land.len(),
            cells.iter().product::<usize>(),
            "wrong number of cells of the land"
        );
        assert!(i32::try_from(is_land.len()).is_ok(), "too many cells of the land");
        let most = cells.into_iter().max().unwrap_or(1);
        let wall = |d: usize, i: usize| match i {
            0 => f64::from(f32::MIN),
            _ => walls[d].get(i - 1).copied().unwrap_or(f64::from(f32::MAX)),
        };
        let rows = (0..=most).map(|i| [0, 1, 2].map(|d| wall(d, i))).collect();
        let parts = walls.each_ref().map(|walls| parts(walls));
        let mut numbers = vec![LAND_STARTS as i32];
        for (_, list) in &parts {
            numbers.push(numbers[numbers.len() - 1] + list.len() as i32);
        }
        numbers.extend(parts.iter().flat_map(|(_, list)| list));
        let distances = distances(cells, is_land);
        let packed =
            |four: &[u8]| four.iter().rev().fold(0_u32, |word, x| word << 8 | u32::from(*x));
        numbers.extend(distances.chunks(4).map(|four| packed(four) as i32));
        Land {
            cells,
            count: is_land.iter().filter(|is_land| **is_land).count(),
            rows,
            numbers,
            low: walls.each_ref().map(|walls| walls.first().copied().unwrap_or(0.0)),
            per_part: parts.map(|(per_length, _)| per_length),
        }
    }

    /// Number of cells that are land.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Cells along each axis, x first.
    pub fn cells(&self) -> [usize; 3] {
        self.cells
    }

    /// The inner walls of the cells along an axis, increasing.
    pub fn walls(&self, axis: usize) -> impl Iterator<Item = f64> {
        self.rows[1..self.cells[axis]].iter().map(move |wall| wall[axis])
    }

    /// Whether a cell is land, by its indices.
    pub fn is_land(&self, [i, j, k]: [usize; 3]) -> bool {
        let [nx, ny, _] = self.cells;
        let cell = i + nx * (j + ny * k);
        let word = self.numbers[self.numbers[LAND_STARTS - 1] as usize + cell / 4];
        word.to_le_bytes()[cell % 4] == 0
    }

    /// Whether a position is on land.
    pub fn contains(&self, position: [f64; 3]) -> bool {
        let walls = |d: usize| &self.rows[1..self.cells[d]];
        let along = |d: usize| walls(d).partition_point(|wall| wall[d] <= position[d]);
        self.is_land([0, 1, 2].map(along))
    }

    /// The first inner wall and the parts per unit of length of each axis, and the size of the coordinates, which sets the scale
    /// of rounding errors.
    pub(crate) fn lattice(&self) -> ([f64; 3], [f64; 3], f64) {
        let walls = (0..3).flat_map(|axis| self.walls(axis));
        (self.low, self.per_part, walls.map(f64::abs).fold(0.0, f64::max))
    }

    /// The land moved by an offset.
    pub(crate) fn moved(&self, by: [f64; 3]) -> Self {
        let moved = |p: &[f64; 3]| [0, 1, 2].map(|d| p[d] + by[d]);
        Land { rows: self.rows.iter().map(moved).collect(), low: moved(&self.low), ..self.clone() }
    }
}

/// Parts of an axis per unit of length, and for each part the last cell that starts at or before it, with a margin for
/// rounding.
fn parts(walls: &[f64]) -> (f64, Vec<i32>) {
    let gap = walls.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
    let [first, .., last] = walls else { return (0.0, vec![0]) };
    let most = (8 * walls.len()).min(1 << 14) as f64;
    let count = (1.01 * (last - first) / gap).ceil().clamp(1.0, most);
    let start = |part: usize| first + (last - first) * (part as f64 - 0.01) / count;
    let cell = |part: usize| walls.partition_point(|wall| *wall <= start(part)) as i32;
    (count / (last - first), (0..=count as usize).map(cell).collect())
}

/// The number of cells from each cell to the nearest land, in two passes over the cells (Rosenfeld and Pfaltz, "Distance
/// functions on digital pictures", Pattern Recognition 1, 1968: their distance d2).
fn distances(cells: [usize; 3], is_land: &[bool]) -> Vec<u8> {
    let start = |is_land: &bool| if *is_land { 0 } else { FARTHEST };
    let mut distances: Vec<u8> = is_land.iter().map(start).collect();
    let [nx, ny, _] = cells;
    let count = distances.len();
    for sign in [1, -1] {
        for step in 0..count {
            let at = if sign > 0 { step } else { count - 1 - step };
            let here = [at % nx, at / nx % ny, at / (nx * ny)];
            // The cells beside it that the pass has come to already.
            for neighbour in 0..13 {
                let offset = [neighbour % 3 - 1, neighbour / 3 % 3 - 1, neighbour / 9 - 1];
                let next = [0, 1, 2].map(|d| here[d].wrapping_add_signed(sign * offset[d]));
                if (0..3).all(|d| next[d] < cells[d]) {
                    let other = distances[next[0] + nx * (next[1] + ny * next[2])];
                    distances[at] = distances[at].min(other.saturating_add(1));
                }
            }
        }
    }
    distances
}
