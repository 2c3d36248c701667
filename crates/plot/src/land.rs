//! Land on maps.

use serde::{Deserialize, Serialize};

/// Land on a map: cells of a rectilinear lattice, each of which is land or water.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Land {
    /// Walls of the cells along the horizontal axis, increasing: one more than cells.
    x: Vec<f64>,
    /// Walls of the cells along the vertical axis, increasing.
    y: Vec<f64>,
    /// The distance along the horizontal axis after which everything repeats: 360 degrees on a sphere.
    period: Option<f64>,
    /// For each row of cells, the lowest first, its parts that are land: the first cell, and the first one after it.
    rows: Vec<Vec<[usize; 2]>>,
}

impl Land {
    /// Land by the walls of the cells along each axis, increasing, and whether the cell in a column and a row is land.
    pub fn new([x, y]: [Vec<f64>; 2], is_land: impl Fn(usize, usize) -> bool) -> Self {
        let row = |j: usize| parts(x.len().saturating_sub(1), |i| is_land(i, j));
        let rows = (0..y.len().saturating_sub(1)).map(row).collect();
        Land { x, y, period: None, rows }
    }

    /// The same land, repeated along the horizontal axis.
    #[must_use]
    pub fn repeated(self, period: Option<f64>) -> Self {
        Land { period: period.filter(|period| *period > 0.0), ..self }
    }

    /// Whether walls and rows of a file belong together.
    pub fn is_valid(&self) -> bool {
        let is_part = |[first, end]: &[usize; 2]| first < end && *end < self.x.len();
        [&self.x, &self.y].iter().all(|walls| walls.is_sorted_by(|a, b| a < b))
            && self.rows.len() + 1 == self.y.len()
            && self.rows.iter().flatten().all(is_part)
            && self.period.is_none_or(|period| period > 0.0)
    }

    /// Whether a position is on land. The last walls belong to the last cells.
    pub fn contains(&self, [x, y]: [f64; 2]) -> bool {
        let low = self.x.first().copied().unwrap_or(0.0);
        let x = self.period.map_or(x, |period| low + (x - low).rem_euclid(period));
        let cell = |walls: &[f64], x: f64| {
            let is_last = usize::from(walls.last() == Some(&x));
            walls.partition_point(|wall| *wall <= x).checked_sub(1 + is_last)
        };
        let found = cell(&self.x, x).zip(cell(&self.y, y).and_then(|row| self.rows.get(row)));
        found.is_some_and(|(i, parts)| parts.iter().any(|[first, end]| (*first..*end).contains(&i)))
    }

    /// The low and the high corner of its parts, row by row.
    pub(crate) fn rectangles(&self) -> impl Iterator<Item = [[f64; 2]; 2]> {
        self.rows.iter().zip(self.y.windows(2)).flat_map(|(parts, ends)| {
            parts.iter().map(|part| [0, 1].map(|end| [self.x[part[end]], ends[end]]))
        })
    }

    /// The walls between land and water.
    pub(crate) fn coast(&self) -> Vec<[[f64; 2]; 2]> {
        let (columns, rows) = (self.x.len().saturating_sub(1), self.rows.len());
        let mut cells = vec![false; columns * rows];
        for (row, parts) in cells.chunks_mut(columns.max(1)).zip(&self.rows) {
            parts.iter().for_each(|[first, end]| row[*first..*end].fill(true));
        }
        let is_land = |i: usize, j: usize| cells[i + columns * j];
        let mut coast = Vec::new();
        for j in 1..rows {
            let along = parts(columns, |i| is_land(i, j - 1) != is_land(i, j));
            coast.extend(along.iter().map(|ends| ends.map(|i| [self.x[i], self.y[j]])));
        }
        for i in 1..columns {
            let along = parts(rows, |j| is_land(i - 1, j) != is_land(i, j));
            coast.extend(along.iter().map(|ends| ends.map(|j| [self.x[i], self.y[j]])));
        }
        coast
    }

    /// The distances along the horizontal axis by which it is moved to cover a range.
    pub(crate) fn shifts(&self, [low, high]: [f64; 2]) -> Vec<f64> {
        let ([first, .., last], Some(period)) = (&self.x[..], self.period) else {
            return vec![0.0];
        };
        let turn = |distance: f64| (distance / period).floor() as i32;
        // The turns that end above the low end, and begin below the high one.
        (turn(low - last) + 1..=turn(high - first)).map(|turn| period * f64::from(turn)).collect()
    }
}

/// The parts of a row of cells that have a property.
fn parts(cells: usize, has: impl Fn(usize) -> bool) -> Vec<[usize; 2]> {
    let mut parts: Vec<[usize; 2]> = Vec::new();
    for i in (0..cells).filter(|i| has(*i)) {
        match parts.last_mut() {
            Some([_, end]) if *end == i => *end += 1,
            _ => parts.push([i, i + 1]),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An island of three cells in 4 x 3.
    fn island() -> Land {
        let walls = [vec![0.0, 1.0, 2.0, 3.0, 4.0], vec![0.0, 10.0, 20.0, 30.0]];
        Land::new(walls, |i, j| (j == 1 && (1..3).contains(&i)) || (i, j) == (1, 2))
    }

    #[test]
    fn positions_belong_to_the_cells_around_them() {
        let land = island();
        let on_land = [[1.0, 10.0], [2.9, 19.0], [1.5, 20.0], [1.5, 30.0]];
        let in_water =
            [[0.9, 15.0], [3.0, 15.0], [2.5, 20.0], [-1.0, 15.0], [1.5, 31.0], [1.5, f64::NAN]];
        assert!(on_land.iter().all(|at| land.contains(*at)));
        assert!(!in_water.iter().any(|at| land.contains(*at)));
        let around = land.repeated(Some(6.0));
        assert!(
            around.contains([7.0, 10.0])
                && around.contains([-4.5, 19.0])
                && !around.contains([5.5, 15.0])
        );
        assert_eq!(around.shifts([-4.0, 7.0]), [-6.0, 0.0, 6.0]);
        assert_eq!(around.shifts([1.0, 3.0]), [0.0]);
    }

    #[test]
    fn coasts_are_the_walls_between_land_and_water() {
        let lines = |from: [f64; 2], to: [f64; 2]| [from, to];
        let mut expected = vec![
            lines([1.0, 10.0], [3.0, 10.0]),
            lines([2.0, 20.0], [3.0, 20.0]),
            lines([1.0, 10.0], [1.0, 30.0]),
            lines([2.0, 20.0], [2.0, 30.0]),
            lines([3.0, 10.0], [3.0, 20.0]),
        ];
        let mut coast = island().coast();
        let order = |a: &[[f64; 2]; 2], b: &[[f64; 2]; 2]| a.partial_cmp(b).unwrap();
        coast.sort_by(order);
        expected.sort_by(order);
        assert_eq!(coast, expected);
        assert_eq!(island().rectangles().count(), 2);
        assert!(Land::default().coast().is_empty());
    }

    #[test]
    fn files_with_parts_beyond_the_walls_are_invalid() {
        let text = serde_json::to_string(&island()).unwrap();
        let read: Land = serde_json::from_str(&text).unwrap();
        assert!(read.is_valid() && read == island());
        for (from, to) in
            [("[1,3]", "[1,5]"), ("[[[1,2]]", "[[[2,2]]"), ("20.0,", "5.0,"), ("30.0", "30.0,40.0")]
        {
            let other = text.replacen(from, to, 1);
            let land: Land = serde_json::from_str(&other).unwrap_or_default();
            assert!(other == text || !land.is_valid(), "{other}");
        }
        assert!(!Land::default().is_valid());
    }
}
