//! Regular places on an inlet.
//!
//! Rows one above the other; each takes its share of the places, rounded so that the total is
//! what was asked for and neighbouring rows differ by one at most where they are equally long.
//! In a row the places lie in the middle of equal cells, so none is on the rim. A disc has a
//! spiral instead.

use super::patch::{Outline, Patch};
use super::polygon::Polygon;
use super::room;
use crate::{Error, Result};

/// As many places as asked for, in order.
pub(super) fn places(patch: &Patch, count: usize) -> Result<Vec<[f64; 3]>> {
    let mut places = room(count)?;
    match &patch.rim {
        Outline::Whole => rows(patch, count, |p| places.push(patch.place(p))),
        Outline::Circle(radius) => spiral(*radius, count, |p| places.push(patch.place(p))),
        Outline::Corners(polygon) => pieces(polygon, count, |p| places.push(patch.place(p))),
    }
    match places.len() == count {
        true => Ok(places),
        false => Err(Error::Inlet(format!(
            "the polygon is too narrow for a lattice of {count} places; divide it into several, \
             or give the uniform pattern"
        ))),
    }
}

/// Rows along the first edge of a parallelogram, as far from each other as the places in them.
fn rows(patch: &Patch, count: usize, mut push: impl FnMut([f64; 2])) {
    let [width, height] = patch.edges.map(|[a, b]| a.hypot(b));
    let rows = match patch.dims {
        2 => row_count(count, width * height, height),
        _ => 1,
    };
    for row in 0..rows {
        let share = share(count, row + 1, rows) - share(count, row, rows);
        let t = (row as f64 + 0.5) / rows as f64;
        for i in 0..share {
            push(patch.at([(i as f64 + 0.5) / share as f64, t]));
        }
    }
}

/// How many of `count` places lie in the first rows.
fn share(count: usize, rows: usize, of: usize) -> usize {
    // The product of two counts of particles fits into 64 bits.
    (count as u64 * rows as u64 / of as u64) as usize
}

/// How many rows give cells as wide as high.
fn row_count(count: usize, area: f64, height: f64) -> usize {
    let rows = height / (area / count as f64).sqrt();
    (rows.round() as usize).clamp(1, count)
}

/// The spiral of a sunflower, in which each place stands for the same area (H. Vogel, *A better
/// way to construct the sunflower head*, 1979).
fn spiral(radius: f64, count: usize, mut push: impl FnMut([f64; 2])) {
    let golden_angle = std::f64::consts::PI * (3.0 - 5.0_f64.sqrt());
    for i in 0..count {
        let r = radius * ((i as f64 + 0.5) / count as f64).sqrt();
        let (sin, cos) = (golden_angle * i as f64).sin_cos();
        push([r * cos, r * sin]);
    }
}

/// Rows across a polygon, cut into pieces by its rim; each piece takes its share by length.
fn pieces(polygon: &Polygon, count: usize, mut push: impl FnMut([f64; 2])) {
    let [low, high] = polygon.bounds();
    let rows = row_count(count, polygon.area(), high[1] - low[1]);
    let step = (high[1] - low[1]) / rows as f64;
    let row = |i: usize| {
        let y = clear(polygon, low[1] + step * i as f64, step);
        polygon.row(y).into_iter().map(move |[a, b]| (y, a, b - a))
    };
    let total: f64 = (0..rows).flat_map(row).map(|(.., length)| length).sum();
    let (mut before, mut placed) = (0.0, 0);
    for (y, a, length) in (0..rows).flat_map(row) {
        before += length;
        // The same sum as the total, so the last piece ends at exactly one.
        let due = (before / total * count as f64).round() as usize;
        let share = due - placed;
        for i in 0..share {
            push([a + length * ((i as f64 + 0.5) / share as f64), y]);
        }
        placed = due;
    }
}

/// Where between `y` and `y + step` a row goes: in the middle, unless a side or a corner lies there.
fn clear(polygon: &Polygon, y: f64, step: f64) -> f64 {
    let met = |at: f64| polygon.corners().iter().any(|p| (p[1] - at).abs() < 1e-3 * step);
    let rows = [0.5, 0.375, 0.625, 0.25, 0.75].map(|f| y + f * step);
    rows.into_iter().find(|at| !met(*at)).unwrap_or(rows[0])
}

#[cfg(test)]
mod tests {
    use super::super::tests::{all_distinct, disc, inside, rectangle, star};
    use super::*;

    #[test]
    fn a_rectangle_has_square_cells_and_all_of_its_places() {
        let p = places(&rectangle(), 6).unwrap();
        // The rectangle is 3 x 2: cells of 1 x 1.
        let expected = [[0.5, 0.5], [1.5, 0.5], [2.5, 0.5], [0.5, 1.5], [1.5, 1.5], [2.5, 1.5]];
        assert_eq!(p, expected.map(|[x, y]| [x, y, 7.0]));
        for count in [1, 2, 7, 100, 1009] {
            let p = places(&rectangle(), count).unwrap();
            assert_eq!(p.len(), count);
            all_distinct(&p);
            assert!(p.iter().all(|p| 0.0 < p[0] && p[0] < 3.0 && 0.0 < p[1] && p[1] < 2.0));
        }
        // Rows of 38 or 39: the mean of each coordinate stays in the middle.
        let p = places(&rectangle(), 1009).unwrap();
        let mean: f64 = p.iter().map(|p| p[1]).sum::<f64>() / 1009.0;
        assert!((mean - 1.0).abs() < 0.01, "{mean}");
    }

    #[test]
    fn a_disc_and_a_polygon_have_all_places_inside_and_apart() {
        for patch in [disc(), star()] {
            for count in [1, 10, 1000] {
                let p = places(&patch, count).unwrap();
                assert_eq!(p.len(), count);
                assert!(p.iter().all(|p| inside(&patch, *p, 1.0)));
                // Equal areas: no two places nearer than a third of a cell's side.
                let cell = (patch.area() / count as f64).sqrt();
                for (i, a) in p.iter().enumerate() {
                    let near = |b: &[f64; 3]| (a[0] - b[0]).hypot(a[1] - b[1]) < cell / 3.0;
                    assert!(!p[..i].iter().any(near));
                }
            }
        }
    }

    #[test]
    fn rows_keep_off_sides_that_lie_along_them() {
        let corners = [[0.0, 0.0], [1.0, 0.0], [1.0, 0.5], [0.5, 0.5], [0.5, 1.0], [0.0, 1.0]];
        let ell = Polygon::new(corners.to_vec(), 1.0).unwrap();
        let mut inside = Vec::new();
        // Three rows: the middle one would run along the side at one half.
        pieces(&ell, 7, |p| inside.push(p));
        assert_eq!(inside.len(), 7);
        assert!(inside.iter().all(|p| ell.contains(*p)));
    }
}
