//! Closed surfaces of triangles.

mod cells;
mod closing;
mod error;
pub(crate) mod facet;
mod frames;
#[cfg(test)]
pub(crate) mod models;
#[cfg(test)]
mod tests;
mod tree;

pub(crate) use cells::{CUTS, MAX_CUTS, QUANTA};
pub use error::SurfaceError;

use closing::close;
use facet::{Sides, dot};
use frames::Frames;
use std::{
    fmt,
    sync::{Arc, OnceLock},
};
use tree::Tree;

/// A closed surface of triangles, which bounds a body or a vessel: a [shape](crate::Shape) of
/// obstacles.
///
/// It may have several parts. What is within an odd number of them is inside: a shell has an outer
/// and an inner part. In what order triangles have their corners does not matter, nor whether points
/// are repeated. Parts must not cut each other, which is not checked: places within the overlap might
/// count as outside. Give such bodies as obstacles of their own.
///
/// It is made once, in double precision, along with what finds the triangles near a place.
pub struct ClosedSurface {
    points: Vec<[f64; 3]>,
    triangles: Vec<[u32; 3]>,
    /// The triangles' numbers: see `facet.rs`.
    rows: Arc<Vec<[f64; 3]>>,
    /// The same in single precision, where that is asked for.
    single: OnceLock<Arc<Vec<[f32; 3]>>>,
    /// The [`Sides`] of each triangle, and behind them the cells: see `cells.rs`.
    pub(crate) numbers: Vec<i32>,
    pub(crate) low: [f64; 3],
    pub(crate) high: [f64; 3],
    /// Width of a cell of the lattice, which begins one cell before the low corner.
    pub(crate) pitch: f64,
    pub(crate) nodes: [usize; 3],
}

impl ClosedSurface {
    /// The surface of triangles, each of three numbers of points, in the data's unit of length.
    /// Points at the same place are made one. Triangles that have two of their corners at the same
    /// place are left out.
    ///
    /// # Errors
    ///
    /// Where there are no triangles, or such without an area; where a coordinate is not finite (or
    /// beyond 1e17); where the surface is not closed: each edge must have two triangles, no less and
    /// no more; and where it has one side only.
    pub fn new(points: &[[f64; 3]], triangles: &[[usize; 3]]) -> Result<Self, SurfaceError> {
        let mut closed = close(points, triangles)?;
        let Frames { rows, sides } = Frames::new(&mut closed)?;
        let count = closed.triangles.len();
        let boxes: Vec<_> = (0..count).map(|i| around(&closed.corners(i))).collect();
        let [low, high] = around(boxes.as_flattened());
        let tree = Tree::new(&rows, &boxes);
        let cells = cells::cells((&rows, &sides), &tree, [low, high], size(&low, &high));
        if i32::try_from(cells.numbers.len()).is_err() {
            return Err(SurfaceError::TooMany { triangles: count });
        }
        Ok(ClosedSurface {
            points: closed.points,
            triangles: closed.triangles,
            rows: Arc::new(rows),
            single: OnceLock::new(),
            numbers: cells.numbers,
            low,
            high,
            pitch: cells.pitch,
            nodes: cells.nodes,
        })
    }

    /// The surface of triangles that are given by the places of their corners, as in STL files.
    ///
    /// # Errors
    ///
    /// As [`new`](ClosedSurface::new).
    pub fn from_corners(triangles: &[[[f64; 3]; 3]]) -> Result<Self, SurfaceError> {
        let numbers: Vec<_> = (0..triangles.len()).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
        ClosedSurface::new(triangles.as_flattened(), &numbers)
    }

    /// Its points, each at a place of its own.
    pub fn points(&self) -> &[[f64; 3]] {
        &self.points
    }

    /// The points of its triangles, counter-clockwise as seen from outside.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// The least and the greatest coordinates of its points.
    pub fn bounds(&self) -> [[f64; 3]; 2] {
        [self.low, self.high]
    }

    /// The volume within.
    pub fn volume(&self) -> f64 {
        let corner = |i: u32| facet::minus(&self.points[i as usize], &self.low);
        let six = self.triangles.iter().map(|corners| {
            let [a, b, c] = corners.map(corner);
            dot(&a, &facet::cross(&b, &c))
        });
        six.sum::<f64>() / 6.0
    }

    /// The sum of the sizes of all coordinates of its box, to which rounding is relative.
    pub(crate) fn size(&self) -> f64 {
        size(&self.low, &self.high)
    }

    pub(crate) fn double(&self) -> Arc<Vec<[f64; 3]>> {
        self.rows.clone()
    }

    pub(crate) fn single(&self) -> Arc<Vec<[f32; 3]>> {
        let single = || Arc::new(self.rows.iter().map(|row| row.map(|x| x as f32)).collect());
        self.single.get_or_init(single).clone()
    }

    /// The sides of the edges and corners of a triangle.
    pub(crate) fn sides(&self, triangle: usize) -> Sides {
        Sides(self.numbers[triangle])
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

/// The box around places.
fn around(places: &[[f64; 3]]) -> [[f64; 3]; 2] {
    let (mut low, mut high) = ([f64::MAX; 3], [f64::MIN; 3]);
    for place in places {
        for d in 0..3 {
            low[d] = low[d].min(place[d]);
            high[d] = high[d].max(place[d]);
        }
    }
    [low, high]
}
