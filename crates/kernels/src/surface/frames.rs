//! Local frames of a surface's triangles, and the sides of points near its edges and corners.

use super::{
    SurfaceError,
    closing::Closed,
    facet::{BY_PLANE, CORNERS, Facet, INSIDE, OUTSIDE, SIDES, Sides, cross, dot, minus},
};
use rayon::prelude::*;

/// The rows of the triangles, and the sides of their edges and corners.
pub(super) struct Frames {
    pub rows: Vec<[f64; 3]>,
    pub sides: Vec<Sides>,
}

/// At edges with an angle below 45 degrees between the planes, the plane decides on which side a
/// point is. Both sides then leave a margin that rounding does not bridge.
const FLAT: f64 = std::f64::consts::FRAC_1_SQRT_2;
/// The same for a plane and the mean normal at a corner (22.5 degrees).
const FLAT_CORNER: f64 = 0.923_879_532_511_286_7;

impl Frames {
    pub fn new(closed: &mut Closed) -> Result<Self, SurfaceError> {
        closed.start_with_longest_sides();
        let count = closed.triangles.len();
        let closed = &*closed;
        let facets: Vec<_> =
            (0..count).into_par_iter().map(|i| facet(&closed.corners(i))).collect();
        let mut flat = (0..count).filter(|i| !has_area(&facets[*i], &closed.corners(*i)));
        if let Some(triangle) = flat.next() {
            let [position, ..] = closed.corners(triangle);
            return Err(SurfaceError::NoArea { triangle, position, others: flat.count() });
        }
        let corners = corner_sides(closed, &facets);
        let of_triangle = |triangle: usize| {
            let mut sides = Sides::default();
            for k in 0..3 {
                let other = &facets[closed.neighbours[triangle][k] as usize];
                let [start, end] = closed.side(triangle, k);
                let along = minus(&end, &start);
                sides.put(SIDES + k, edge_side(&facets[triangle], other, &along));
                sides.put(CORNERS + k, corners[closed.triangles[triangle][k] as usize]);
            }
            sides
        };
        let sides = (0..count).into_par_iter().map(of_triangle).collect();
        Ok(Frames { rows: facets.iter().flat_map(Facet::rows).collect(), sides })
    }
}

impl Closed {
    fn side(&self, triangle: usize, k: usize) -> [[f64; 3]; 2] {
        let corners = self.corners(triangle);
        [corners[k], corners[(k + 1) % 3]]
    }

    fn start_with_longest_sides(&mut self) {
        let Closed { points, triangles, neighbours } = self;
        let each = triangles.par_iter_mut().zip(neighbours);
        each.for_each(|(triangle, neighbours)| {
            let [a, b, c] = triangle.map(|i| points[i as usize]);
            let longest = longest_side(&[a, b, c]);
            triangle.rotate_left(longest);
            neighbours.rotate_left(longest);
        });
    }
}

/// The number of the longest side.
pub(super) fn longest_side([a, b, c]: &[[f64; 3]; 3]) -> usize {
    let [first, second, third] =
        [(a, b), (b, c), (c, a)].map(|(start, end)| norm(&minus(end, start)));
    if first >= second && first >= third { 0 } else { 1 + usize::from(third > second) }
}

fn norm(v: &[f64; 3]) -> f64 {
    v[0].hypot(v[1]).hypot(v[2])
}

fn unit(v: &[f64; 3]) -> [f64; 3] {
    let length = norm(v);
    v.map(|x| x / length)
}

/// A triangle that starts with its longest side, with its frame; NaN if it has no area.
pub(super) fn facet([a, b, c]: &[[f64; 3]; 3]) -> Facet {
    let (side, other) = (minus(b, a), minus(c, a));
    let along = unit(&side);
    // Uses unit vectors, so that the squares of small triangles do not underflow.
    let normal = unit(&cross(&along, &unit(&other)));
    let up = cross(&normal, &along);
    let third = [norm(&side), dot(&other, &along), dot(&other, &up)];
    Facet { corner: *a, along, normal, third }
}

/// Whether a triangle has an area beyond the rounding of its corners.
pub(super) fn has_area(facet: &Facet, corners: &[[f64; 3]; 3]) -> bool {
    let size = corners.iter().flatten().fold(0.0_f64, |size, x| size.max(x.abs()));
    facet.third[2] > 8.0 * f64::EPSILON * size
}

fn edge_side(facet: &Facet, other: &Facet, along: &[f64; 3]) -> i32 {
    if dot(&facet.normal, &other.normal) > FLAT {
        BY_PLANE
    } else if dot(&cross(&facet.normal, &other.normal), along) >= 0.0 {
        OUTSIDE
    } else {
        INSIDE
    }
}

/// Geometry of the surface at a corner.
#[derive(Clone, Copy)]
struct Corner {
    normal: [f64; 3],
    /// Minimum cosine between a plane's normal and the mean normal.
    flatness: f64,
    /// Maximum component of a side along the mean normal, upward and downward.
    up: f64,
    down: f64,
}

/// For each point, the side of the surface on which points have it as their nearest feature.
fn corner_sides(closed: &Closed, facets: &[Facet]) -> Vec<i32> {
    let none = Corner { normal: [0.0; 3], flatness: 1.0, up: -1.0, down: -1.0 };
    let mut corners = vec![none; closed.points.len()];
    // At each corner of each triangle, in their order: a function of the corner's point and the next two.
    fn each<T: Send>(closed: &Closed, of: impl Fn([u32; 3], usize) -> T + Sync) -> Vec<[T; 3]> {
        let triangles = closed.triangles.par_iter().enumerate();
        triangles
            .map(|(triangle, [a, b, c])| {
                [[*a, *b, *c], [*b, *c, *a], [*c, *a, *b]].map(|points| of(points, triangle))
            })
            .collect()
    }
    let side = |from: u32, to: u32| {
        unit(&minus(&closed.points[to as usize], &closed.points[from as usize]))
    };
    // The mean of the normals, weighted by angles: Baerentzen, Aanaes, "Signed distance computation
    // using the angle weighted pseudonormal", IEEE TVCG 11 (2005).
    let angles = each(closed, |[corner, next, last], _| {
        let (a, b) = (side(corner, next), side(corner, last));
        norm(&cross(&a, &b)).atan2(dot(&a, &b))
    });
    for ((points, angles), Facet { normal, .. }) in closed.triangles.iter().zip(angles).zip(facets)
    {
        for (corner, angle) in points.iter().zip(angles) {
            let sum = &mut corners[*corner as usize].normal;
            *sum = [0, 1, 2].map(|d| sum[d] + angle * normal[d]);
        }
    }
    corners.par_iter_mut().for_each(|corner| corner.normal = unit(&corner.normal));
    let parts = each(closed, |[corner, next, _], triangle| {
        let mean = &corners[corner as usize].normal;
        (dot(&facets[triangle].normal, mean), dot(&side(corner, next), mean))
    });
    for (points, parts) in closed.triangles.iter().zip(parts) {
        for (corner, (flatness, component)) in points.iter().zip(parts) {
            let corner = &mut corners[*corner as usize];
            corner.flatness = corner.flatness.min(flatness);
            corner.up = corner.up.max(component);
            corner.down = corner.down.max(-component);
        }
    }
    corners.par_iter().map(corner_side).collect()
}

fn corner_side(corner: &Corner) -> i32 {
    if corner.flatness > FLAT_CORNER {
        BY_PLANE
    } else if corner.up <= corner.down {
        OUTSIDE
    } else {
        INSIDE
    }
}
