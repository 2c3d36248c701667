//! The horizontal cells of a grid: their corners with longitudes that are continuous in each cell, once around the
//! earth.

use super::levels::Levels;
use super::positions::Positions;
use super::repeats::{Seen, distance, middle, unit};
use crate::degrees::{CIRCLE, ROUNDING, meet, step, turn_start};
use crate::store::{Span, Store};
use crate::{Error, Result};

/// What is known of the columns of a grid.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Turn {
    /// Whether the last column is followed by the first one.
    pub closes: bool,
    /// Where a turn of longitudes begins.
    pub west: Option<f64>,
}

/// A cell between two rows and two columns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    /// Its row and column.
    pub cell: [usize; 2],
    /// Its corners in counter-clockwise order: point, and whole turns added to its longitude.
    pub corners: [(usize, i8); 4],
}

/// Cells of a grid, counter-clockwise seen from above.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    /// Number of rows and columns of cells.
    pub size: [usize; 2],
    /// Whether rows are in the opposite order, so that the first corner is in the next row of the file.
    pub is_flipped: bool,
    pub columns: Vec<Column>,
    /// Whether each cell, row by row, is left out: it repeats another one, or contains a pole.
    pub is_dropped: Vec<bool>,
    /// x of each point: in degrees within one turn.
    pub x: Vec<f64>,
    /// The start of the turn, of cells around the earth.
    pub global: Option<f64>,
    pub notes: Vec<String>,
}

impl Columns {
    /// The cells of a grid.
    pub fn of(positions: &Positions, Turn { closes, west }: Turn) -> Columns {
        let size = [positions.rows - 1, positions.columns - usize::from(!closes)];
        let mut columns = Columns {
            size,
            is_flipped: false,
            columns: Vec::with_capacity(size[0] * size[1]),
            is_dropped: vec![false; size[0] * size[1]],
            x: positions.xy.iter().map(|[x, _]| *x).collect(),
            global: None,
            notes: Vec::new(),
        };
        columns.is_flipped = columns.area(positions) < 0.0;
        let start = match positions.is_in_degrees {
            true => columns.turn_to_window(positions, west),
            false => None,
        };
        columns.find_dropped(positions);
        for cell in 0..size[0] * size[1] {
            if !columns.is_dropped[cell] {
                columns.add([cell / size[1], cell % size[1]], positions, start);
            }
        }
        columns
    }

    /// The points of a cell, counter-clockwise unless rows are flipped.
    fn nodes(&self, [row, column]: [usize; 2], width: usize) -> [usize; 4] {
        let next = if column + 1 == width { 0 } else { column + 1 };
        let (low, high) = match self.is_flipped {
            true => (row + 1, row),
            false => (row, row + 1),
        };
        [low * width + column, low * width + next, high * width + next, high * width + column]
    }

    /// x of the corners of a cell, continuous from the first one, and the winding around it.
    fn corners(&self, cell: [usize; 2], positions: &Positions) -> ([usize; 4], [f64; 4], f64) {
        let nodes = self.nodes(cell, positions.columns);
        if !positions.is_in_degrees {
            return (nodes, nodes.map(|node| self.x[node]), 0.0);
        }
        let mut x = nodes.map(|node| self.x[node]);
        for corner in 1..4 {
            x[corner] = x[corner - 1] + step(x[corner - 1], x[corner]);
        }
        let winding = x[3] + step(x[3], x[0]) - x[0];
        (nodes, x, winding)
    }

    /// Twice the sum of the signed areas of the cells that contain no pole.
    fn area(&self, positions: &Positions) -> f64 {
        let all = 0..self.size[0] * self.size[1];
        let area = |cell: usize| {
            let cell = [cell / self.size[1], cell % self.size[1]];
            let (nodes, x, winding) = self.corners(cell, positions);
            let y = nodes.map(|node| positions.xy[node][1]);
            let area = (x[2] - x[0]) * (y[3] - y[1]) - (x[3] - x[1]) * (y[2] - y[0]);
            if winding.abs() > 180.0 { 0.0 } else { area }
        };
        all.map(area).sum()
    }

    /// Moves the longitudes of the points into one turn, and returns its start if cells cross it.
    fn turn_to_window(&mut self, positions: &Positions, west: Option<f64>) -> Option<f64> {
        let cells = (0..self.size[0] * self.size[1]).map(|cell| {
            let (_, x, winding) =
                self.corners([cell / self.size[1], cell % self.size[1]], positions);
            let is_around_pole = winding.abs() > 180.0;
            if is_around_pole { [f64::NEG_INFINITY, f64::INFINITY] } else { ends(x) }
        });
        let (start, is_around) = turn_start(&self.x, cells, west);
        let within = |x: f64| x - CIRCLE * ((x - start + ROUNDING) / CIRCLE).floor();
        self.x.iter_mut().for_each(|x| *x = within(*x));
        self.global = is_around.then_some(start);
        self.global
    }

    /// Finds the cells that contain a pole, and those at the position of an earlier one.
    fn find_dropped(&mut self, positions: &Positions) {
        if !positions.is_in_degrees {
            return;
        }
        let mut seen = Seen::new(self.widths(positions));
        let (mut poles, mut repeated) = (0, 0);
        for cell in 0..self.is_dropped.len() {
            let Some(corners) = self.directions(cell, positions) else {
                (self.is_dropped[cell], poles) = (true, poles + 1);
                continue;
            };
            let of = |other: usize| self.directions(other, positions);
            if seen.repeats_or_add(cell, corners, of) {
                (self.is_dropped[cell], repeated) = (true, repeated + 1);
            }
        }
        let of = |count: usize, what: &str| {
            (count > 0).then(|| format!("{count} columns of cells {what} are left out"))
        };
        self.notes.extend(of(repeated, "that repeat others (halos, folds)"));
        self.notes.extend(of(poles, "around a pole"));
    }

    /// The directions of the corners of a cell from the middle of the earth; `None` of one that contains a pole.
    fn directions(&self, cell: usize, positions: &Positions) -> Option<[[f64; 3]; 4]> {
        let at = [cell / self.size[1], cell % self.size[1]];
        let (nodes, x, winding) = self.corners(at, positions);
        let direction = |corner: usize| unit([x[corner], positions.xy[nodes[corner]][1]]);
        (winding.abs() <= 180.0).then(|| [0, 1, 2, 3].map(direction))
    }

    /// The smaller distance of the middles of opposite sides of each cell, in radii of the earth.
    fn widths(&self, positions: &Positions) -> Vec<f64> {
        let width = |[a, b, c, d]: [[f64; 3]; 4]| {
            let [ab, bc, cd, da] = [[a, b], [b, c], [c, d], [d, a]].map(|of| middle(&of));
            distance(ab, cd).min(distance(bc, da))
        };
        let all = 0..self.is_dropped.len();
        all.map(|cell| self.directions(cell, positions).map_or(0.0, width)).collect()
    }

    /// Adds a cell, twice where the turn ends in it.
    fn add(&mut self, cell: [usize; 2], positions: &Positions, start: Option<f64>) {
        let (nodes, x, _) = self.corners(cell, positions);
        let turns = [0, 1, 2, 3].map(|corner| match positions.is_in_degrees {
            true => ((x[corner] - self.x[nodes[corner]]) / CIRCLE).round() as i8,
            false => 0,
        });
        let Some(start) = start else {
            let corners = [0, 1, 2, 3].map(|corner| (nodes[corner], turns[corner]));
            return self.columns.push(Column { cell, corners });
        };
        for more in [-1_i8, 0, 1] {
            let at = x.map(|x| x + CIRCLE * f64::from(more));
            let is_inside = at.iter().any(|x| *x > start + ROUNDING)
                && at.iter().any(|x| *x < start + CIRCLE - ROUNDING);
            if is_inside {
                let corners = [0, 1, 2, 3].map(|corner| (nodes[corner], turns[corner] + more));
                self.columns.push(Column { cell, corners });
            }
        }
    }
}

/// Whether the last column of points is one step before the first one around the earth.
pub(super) fn closes(positions: &Positions) -> bool {
    let width = positions.columns;
    if !positions.is_in_degrees || width < 3 {
        return false;
    }
    let row_closes = |row: &[[f64; 2]]| {
        let step = |a: usize, b: usize| step(row[a][0], row[b][0]);
        let (closing, last) = (step(width - 1, 0), step(width - 2, width - 1));
        let sum: f64 = (1..width).map(|i| step(i - 1, i)).sum();
        let is_step =
            closing * last > 0.0 && closing.abs() < 1.5 * last.abs().max(step(0, 1).abs());
        is_step && (sum + closing).abs() > CIRCLE - ROUNDING
    };
    let count = positions.xy.chunks(width).filter(|row| row_closes(row)).count();
    2 * count > positions.rows
}

/// The rows and columns of the points of the cells that a box touches: all columns if one is between the last and the first
/// of those that [close](closes).
///
/// # Errors
///
/// If it touches none.
pub(super) fn cropped(
    positions: &Positions,
    closes: bool,
    [low, high]: [Option<[f64; 3]>; 2],
    store: &dyn Store,
) -> Result<[Span; 2]> {
    let (rows, columns) = (positions.rows, positions.columns);
    if rows < 2 || columns < 2 {
        let reason = format!(
            "its grid has {rows} x {columns} points, and a cell needs two in both directions"
        );
        return Err(Error::file(store.path(), reason));
    }
    let low = low.map_or([f64::NEG_INFINITY; 2], |low| [low[0], low[1]]);
    let high = high.map_or([f64::INFINITY; 2], |high| [high[0], high[1]]);
    let (mut first, mut last) = ([usize::MAX; 2], [0; 2]);
    let width = columns - usize::from(!closes);
    for at in (0..(rows - 1) * width).map(|cell| [cell / width, cell % width]) {
        if positions.touches(at, low, high) {
            first = [0, 1].map(|d| first[d].min(at[d]));
            last = [0, 1].map(|d| last[d].max(at[d]));
            if at[1] + 1 == columns {
                (first[1], last[1]) = (0, columns - 2);
            }
        }
    }
    if first[0] == usize::MAX {
        return Err(Error::file(
            store.path(),
            format!(
                "`crop` from {low:?} to {high:?} touches none of its cells; give a box that does"
            ),
        ));
    }
    last[1] = last[1].min(columns - 2);
    Ok([0, 1].map(|d| Span::range(first[d], last[d] - first[d] + 2)))
}

impl Positions {
    /// Whether a cell touches a box, of longitudes at any whole turn.
    fn touches(&self, [row, column]: [usize; 2], low: [f64; 2], high: [f64; 2]) -> bool {
        let next = if column + 1 == self.columns { 0 } else { column + 1 };
        let at = |row: usize, column: usize| self.xy[row * self.columns + column];
        let corners = [at(row, column), at(row, next), at(row + 1, next), at(row + 1, column)];
        let (mut x, y) = (corners.map(|[x, _]| x), ends(corners.map(|[_, y]| y)));
        for corner in 1..4 {
            if self.is_in_degrees {
                x[corner] = x[corner - 1] + step(x[corner - 1], x[corner]);
            }
        }
        let (x, [west, east]) = (ends(x), [low[0], high[0]]);
        let touches_x = match self.is_in_degrees && west.is_finite() && east.is_finite() {
            true => meet(x, [west, east]),
            false => x[1] >= west && x[0] <= east,
        };
        touches_x && y[1] >= low[1] && y[0] <= high[1]
    }
}

/// Minimum and maximum.
fn ends(of: [f64; 4]) -> [f64; 2] {
    of.into_iter()
        .fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x| [low.min(x), high.max(x)])
}

/// The levels of the layers that a box touches; all of levels that follow the bottom.
///
/// # Errors
///
/// If it touches none.
pub(super) fn cropped_levels(
    levels: &Levels,
    [low, high]: [Option<[f64; 3]>; 2],
    store: &dyn Store,
) -> Result<Span> {
    let Levels::Axis(heights) = levels else { return Ok(Span::all(levels.len())) };
    let is_increasing = heights.windows(2).all(|pair| pair[0] < pair[1]);
    if !is_increasing && !heights.windows(2).all(|pair| pair[0] > pair[1]) {
        let reason = format!("its levels {heights:?} neither increase nor decrease; correct them");
        return Err(Error::file(store.path(), reason));
    }
    let low = low.map_or(f64::NEG_INFINITY, |low| low[2]);
    let high = high.map_or(f64::INFINITY, |high| high[2]);
    let touches = |layer: &usize| {
        let ends = [heights[*layer], heights[layer + 1]];
        ends[0].max(ends[1]) >= low && ends[0].min(ends[1]) <= high
    };
    let layers = 0..heights.len() - 1;
    match (layers.clone().find(touches), layers.rev().find(touches)) {
        (Some(first), Some(last)) => Ok(Span::range(first, last - first + 2)),
        _ => Err(Error::file(
            store.path(),
            format!(
                "`crop` is from z = {low} to {high}, and the levels are {heights:?}; give a box inside them"
            ),
        )),
    }
}
