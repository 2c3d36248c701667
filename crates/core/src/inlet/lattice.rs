//! Regular release positions on an inlet.
//!
//! Rectangles and polygons have parallel rows. The number of positions in a row is proportional to
//! its length, rounded so that the total is exact. In a row, positions are at the centres of equal
//! cells, never on the boundary. A disc has a sunflower spiral.

use super::patch::{Outline, Patch};
use super::polygon::Polygon;
use super::positions::reserve;
use crate::{Error, Result};

/// `count` positions, in order.
pub(super) fn positions(patch: &Patch, count: usize) -> Result<Vec<[f64; 3]>> {
    let mut positions = reserve(count)?;
    match &patch.outline {
        Outline::Whole => rows(patch, count, |p| positions.push(patch.position(p))),
        Outline::Circle(radius) => spiral(*radius, count, |p| positions.push(patch.position(p))),
        Outline::Corners(polygon) => pieces(polygon, count, |p| positions.push(patch.position(p))),
    }
    match positions.len() == count {
        true => Ok(positions),
        false => Err(Error::Inlet(format!(
            "the polygon is too narrow for a lattice of {count} positions; split it into several \
             polygons, or use the uniform pattern"
        ))),
    }
}

/// Rows along the first edge of a parallelogram, as far apart as the positions in them.
fn rows(patch: &Patch, count: usize, mut push: impl FnMut([f64; 2])) {
    let [width, height] = patch.edges.map(|[a, b]| a.hypot(b));
    let rows = match patch.dims {
        2 => row_count(count, width * height, height),
        _ => 1,
    };
    for row in 0..rows {
        let in_row = first(count, row + 1, rows) - first(count, row, rows);
        let t = (row as f64 + 0.5) / rows as f64;
        for i in 0..in_row {
            push(patch.at([(i as f64 + 0.5) / in_row as f64, t]));
        }
    }
}

/// Number of positions in the first `rows` of all rows.
fn first(count: usize, rows: usize, of: usize) -> usize {
    // The product of two counts fits 64 bits.
    (count as u64 * rows as u64 / of as u64) as usize
}

/// Number of rows that gives square cells.
fn row_count(count: usize, area: f64, height: f64) -> usize {
    let rows = height / (area / count as f64).sqrt();
    (rows.round() as usize).clamp(1, count)
}

/// Vogel's sunflower spiral, which has equal area for each point (H. Vogel, *A better way to
/// construct the sunflower head*, 1979).
fn spiral(radius: f64, count: usize, mut push: impl FnMut([f64; 2])) {
    let golden_angle = std::f64::consts::PI * (3.0 - 5.0_f64.sqrt());
    for i in 0..count {
        let r = radius * ((i as f64 + 0.5) / count as f64).sqrt();
        let (sin, cos) = (golden_angle * i as f64).sin_cos();
        push([r * cos, r * sin]);
    }
}

/// Rows across a polygon, cut at its boundary into pieces with positions in proportion to length.
fn pieces(polygon: &Polygon, count: usize, mut push: impl FnMut([f64; 2])) {
    let [low, high] = polygon.bounds();
    let rows = row_count(count, polygon.area(), high[1] - low[1]);
    let step = (high[1] - low[1]) / rows as f64;
    let row = |i: usize| {
        let y = row_height(polygon, low[1] + step * i as f64, step);
        polygon.row(y).into_iter().map(move |[a, b]| (y, a, b - a))
    };
    let total: f64 = (0..rows).flat_map(row).map(|(.., length)| length).sum();
    let (mut before, mut placed) = (0.0, 0);
    for (y, a, length) in (0..rows).flat_map(row) {
        before += length;
        // Same sum as `total`, so the last piece ends at exactly one.
        let due = (before / total * count as f64).round() as usize;
        let in_piece = due - placed;
        for i in 0..in_piece {
            push([a + length * ((i as f64 + 0.5) / in_piece as f64), y]);
        }
        placed = due;
    }
}

/// Height of a row between `y` and `y + step`: the middle, unless a side or a corner is there.
fn row_height(polygon: &Polygon, y: f64, step: f64) -> f64 {
    let met = |at: f64| polygon.corners().iter().any(|p| (p[1] - at).abs() < 1e-3 * step);
    let rows = [0.5, 0.375, 0.625, 0.25, 0.75].map(|f| y + f * step);
    rows.into_iter().find(|at| !met(*at)).unwrap_or(rows[0])
}

#[cfg(test)]
mod tests {
    use super::super::tests::{all_distinct, disc, from_centre, inside, rectangle, star};
    use super::*;

    #[test]
    fn rectangle_has_square_cells_and_the_exact_count() {
        let p = positions(&rectangle(), 6).unwrap();
        // The rectangle is 3 x 2: cells of 1 x 1.
        let expected = [[0.5, 0.5], [1.5, 0.5], [2.5, 0.5], [0.5, 1.5], [1.5, 1.5], [2.5, 1.5]];
        assert_eq!(p, expected.map(|[x, y]| [x, y, 7.0]));
        for count in [1, 2, 7, 100, 1009] {
            let p = positions(&rectangle(), count).unwrap();
            assert_eq!(p.len(), count);
            all_distinct(&p);
            assert!(p.iter().all(|p| 0.0 < p[0] && p[0] < 3.0 && 0.0 < p[1] && p[1] < 2.0));
        }
        // Rows of 38 or 39 positions: the mean of each coordinate stays in the middle.
        let p = positions(&rectangle(), 1009).unwrap();
        let mean: f64 = p.iter().map(|p| p[1]).sum::<f64>() / 1009.0;
        assert!((mean - 1.0).abs() < 0.01, "{mean}");
    }

    #[test]
    fn positions_of_disc_and_polygon_are_inside_and_apart() {
        for patch in [disc(), star()] {
            for count in [1, 10, 1000] {
                let p = positions(&patch, count).unwrap();
                assert_eq!(p.len(), count);
                assert!(p.iter().all(|p| inside(&patch, *p, 1.0)));
                // Equal areas: no two positions closer than a third of a cell's side.
                let cell = (patch.area() / count as f64).sqrt();
                for (i, a) in p.iter().enumerate() {
                    let near = |b: &[f64; 3]| (a[0] - b[0]).hypot(a[1] - b[1]) < cell / 3.0;
                    assert!(!p[..i].iter().any(near));
                }
            }
        }
    }

    #[test]
    fn rows_avoid_parallel_sides() {
        let corners = [[0.0, 0.0], [1.0, 0.0], [1.0, 0.5], [0.5, 0.5], [0.5, 1.0], [0.0, 1.0]];
        let ell = Polygon::new(corners.to_vec(), 1.0).unwrap();
        let mut inside = Vec::new();
        // Three rows: the middle one would coincide with the side at one half.
        pieces(&ell, 7, |p| inside.push(p));
        assert_eq!(inside.len(), 7);
        assert!(inside.iter().all(|p| ell.contains(*p)));
    }

    #[test]
    fn positions_of_a_spiral_are_in_the_middle_of_rings_of_equal_area() {
        let disc = disc();
        let of_area = |p: [f64; 3]| {
            let [a, b] = from_centre(&disc, p);
            std::f64::consts::PI * (a * a + b * b) / disc.area()
        };
        let found: Vec<f64> = positions(&disc, 4).unwrap().into_iter().map(of_area).collect();
        for (area, expected) in found.iter().zip([0.125, 0.375, 0.625, 0.875]) {
            assert!((area - expected).abs() < 1e-12, "{found:?}");
        }
    }
}
