//! Closed triangulated surfaces.

mod cells;
mod closing;
mod error;
pub(crate) mod facet;
mod frames;
#[cfg(test)]
pub(crate) mod models;
mod nearest;
mod rivals;
#[cfg(test)]
mod tests;
mod tree;

pub(crate) use cells::{CUTS, MAX_CUTS, QUANTA};
pub use error::SurfaceError;
pub use nearest::Triangles;

use crate::physics::facet::FACET_ROWS;
use closing::close;
use facet::dot;
use frames::Frames;
use rayon::prelude::*;
use std::fmt;
use tree::Tree;

/// A closed triangulated surface, which bounds a body or a vessel: a [shape](crate::Shape) of
/// obstacles.
///
/// It may have several parts. A point inside an odd number of them is inside: a shell has an outer
/// and an inner part. The order of corners and repeated points do not matter. Parts must not
/// intersect each other, which is not checked: points in an overlap might count as outside. Give
/// such bodies as separate obstacles.
///
/// The surface is stored in double precision, together with a search structure for the nearest
/// triangles.
pub struct ClosedSurface {
    points: Vec<[f64; 3]>,
    triangles: Vec<[u32; 3]>,
    /// Numbers of the triangles: see `facet.rs`.
    pub(crate) rows: Vec<[f64; 3]>,
    /// The [`Sides`] of each triangle, then the cells: see `cells.rs`.
    pub(crate) numbers: Vec<i32>,
    pub(crate) low: [f64; 3],
    pub(crate) high: [f64; 3],
    /// Cell width of the lattice, which starts one cell before the low corner.
    pub(crate) pitch: f64,
    pub(crate) nodes: [usize; 3],
}

impl ClosedSurface {
    /// Builds a surface from triangles, each given by three point indices. Coordinates are in the
    /// data's unit of length. Coincident points are merged; triangles with two coincident corners
    /// are omitted.
    ///
    /// # Errors
    ///
    /// If there are no triangles, a triangle has no area, or a coordinate is not finite (or beyond
    /// 1e17); if the surface is not closed, that is, an edge does not belong to exactly two
    /// triangles; and if it is one-sided.
    pub fn new(points: &[[f64; 3]], triangles: &[[usize; 3]]) -> Result<Self, SurfaceError> {
        let mut closed = close(points, triangles)?;
        let Frames { rows, sides } = Frames::new(&mut closed)?;
        let count = closed.triangles.len();
        let boxes: Vec<_> =
            (0..count).into_par_iter().map(|i| bounding_box(&closed.corners(i))).collect();
        let [low, high] = bounding_box(boxes.as_flattened());
        let tree = Tree::new(&rows[..], &boxes);
        let cells = cells::cells((&rows, &sides), &tree, [low, high], size(&low, &high));
        let cells = cells.ok_or(SurfaceError::TooMany { triangles: count })?;
        Ok(ClosedSurface {
            points: closed.points,
            triangles: closed.triangles,
            rows,
            numbers: cells.numbers,
            low,
            high,
            pitch: cells.pitch,
            nodes: cells.nodes,
        })
    }

    /// Builds a surface from triangles given by their corner coordinates, as in STL files.
    ///
    /// # Errors
    ///
    /// As [`new`](ClosedSurface::new).
    pub fn from_corners(triangles: &[[[f64; 3]; 3]]) -> Result<Self, SurfaceError> {
        let numbers: Vec<_> = (0..triangles.len()).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
        ClosedSurface::new(triangles.as_flattened(), &numbers)
    }

    /// Its points, without duplicates.
    pub fn points(&self) -> &[[f64; 3]] {
        &self.points
    }

    /// The point indices of its triangles, counter-clockwise as seen from outside.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Minimum and maximum coordinates of its points.
    pub fn bounds(&self) -> [[f64; 3]; 2] {
        [self.low, self.high]
    }

    /// The enclosed volume.
    pub fn volume(&self) -> f64 {
        let corner = |i: u32| facet::minus(&self.points[i as usize], &self.low);
        let six = self.triangles.iter().map(|corners| {
            let [a, b, c] = corners.map(corner);
            dot(&a, &facet::cross(&b, &c))
        });
        six.sum::<f64>() / 6.0
    }

    /// The surface moved by an offset.
    pub(crate) fn moved(&self, by: [f64; 3]) -> Self {
        let moved = |p: &[f64; 3]| [0, 1, 2].map(|d| p[d] + by[d]);
        let row = |(i, row): (usize, &[f64; 3])| {
            // Of a triangle's rows, the first is a position.
            if i % FACET_ROWS == 0 { moved(row) } else { *row }
        };
        ClosedSurface {
            points: self.points.iter().map(moved).collect(),
            triangles: self.triangles.clone(),
            rows: self.rows.iter().enumerate().map(row).collect(),
            numbers: self.numbers.clone(),
            low: moved(&self.low),
            high: moved(&self.high),
            ..*self
        }
    }

    /// The sum of the absolute coordinates of its box, the scale of rounding errors.
    pub(crate) fn size(&self) -> f64 {
        size(&self.low, &self.high)
    }
}

impl PartialEq for ClosedSurface {
    fn eq(&self, other: &Self) -> bool {
        self.points == other.points && self.triangles == other.triangles
    }
}

impl fmt::Debug for ClosedSurface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClosedSurface")
            .field("triangles", &self.triangles.len())
            .field("low", &self.low)
            .field("high", &self.high)
            .finish()
    }
}

fn size(low: &[f64; 3], high: &[f64; 3]) -> f64 {
    low.iter().chain(high).map(|x| x.abs()).sum()
}

/// The bounding box of points.
fn bounding_box(points: &[[f64; 3]]) -> [[f64; 3]; 2] {
    let (mut low, mut high) = ([f64::MAX; 3], [f64::MIN; 3]);
    for position in points {
        for d in 0..3 {
            low[d] = low[d].min(position[d]);
            high[d] = high[d].max(position[d]);
        }
    }
    [low, high]
}
