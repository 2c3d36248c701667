//! The faces of convex point sets.

use super::polygon::{cross, dot, minus};

/// Maximum number of points: the time increases with their fourth power.
const MAX_POINTS: usize = 64;

/// Maximum distance of a corner from its face, relative to the size of the set.
const FLATNESS: f64 = 1e-6;

/// The polygons around points, as indices of the points. The error is the reason why there are none.
pub(super) fn hull(points: &[[f64; 3]]) -> Result<Vec<Vec<usize>>, String> {
    let count = points.len();
    if !(4..=MAX_POINTS).contains(&count) {
        return Err(format!(
            "it is a convex point set with {count} points; 4 to {MAX_POINTS} are supported"
        ));
    }
    let mut faces: Vec<Vec<usize>> = Vec::new();
    for i in 0..count {
        for j in i + 1..count {
            for k in j + 1..count {
                let is_known = |face: &Vec<usize>| [i, j, k].iter().all(|p| face.contains(p));
                if !faces.iter().any(is_known) {
                    faces.extend(face(points, [i, j, k]));
                }
            }
        }
    }
    let is_corner = |point| faces.iter().filter(|face| face.contains(&point)).count() >= 3;
    match (0..count).all(is_corner) {
        true => Ok(faces),
        false => Err("it is a convex point set with a point that is not a corner".to_owned()),
    }
}

/// The points in the plane of three of them, counterclockwise from one side, if all others are on the other side.
fn face(points: &[[f64; 3]], [i, j, k]: [usize; 3]) -> Option<Vec<usize>> {
    let origin = points[i];
    let (u, v) = (minus(points[j], origin), minus(points[k], origin));
    let normal = cross(u, v);
    let size = points.iter().map(|p| dot(minus(*p, origin), minus(*p, origin))).fold(0.0, f64::max);
    let length = dot(normal, normal).sqrt();
    // Three points in a line have no plane.
    if length <= FLATNESS * size {
        return None;
    }
    let tolerance = FLATNESS * size.sqrt() * length;
    let heights: Vec<f64> = points.iter().map(|p| dot(minus(*p, origin), normal)).collect();
    let is_above = heights.iter().any(|height| *height > tolerance);
    if is_above && heights.iter().any(|height| *height < -tolerance) {
        return None;
    }
    let mut corners: Vec<usize> =
        (0..points.len()).filter(|p| heights[*p].abs() <= tolerance).collect();
    let sum = corners.iter().fold([0.0; 3], |sum, p| [0, 1, 2].map(|d| sum[d] + points[*p][d]));
    let centre = sum.map(|x| x / corners.len() as f64);
    let w = cross(normal, u);
    let angle = |p: &usize| {
        let from = minus(points[*p], centre);
        (dot(from, w) / length).atan2(dot(from, u))
    };
    corners.sort_by(|a, b| angle(a).total_cmp(&angle(b)));
    Some(corners)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cube with these points besides its corners.
    fn cube(others: &[[f64; 3]]) -> Vec<[f64; 3]> {
        let corner = |i: u8| [0, 1, 2].map(|d| f64::from(i >> d & 1));
        (0..8).map(corner).chain(others.iter().copied()).collect()
    }

    #[test]
    fn faces_are_the_polygons_around_the_points() {
        let faces = hull(&cube(&[])).unwrap();
        assert_eq!(faces.len(), 6);
        assert!(faces.iter().all(|face| face.len() == 4));
        // Neighbours on a face differ in one coordinate.
        let next = |face: &[usize], i: usize| face[i] ^ face[(i + 1) % 4];
        assert!(faces.iter().all(|face| (0..4).all(|i| next(face, i).is_power_of_two())));
        let roof = hull(&cube(&[[0.5, 0.5, 1.5]])).unwrap();
        assert_eq!(roof.iter().filter(|face| face.len() == 3).count(), 4);
        assert_eq!(roof.len(), 9);
    }

    #[test]
    fn points_that_are_no_corners_are_refused() {
        for other in [[0.5, 0.5, 0.5], [0.5, 0.5, 1.0], [0.5, 0.0, 0.0]] {
            assert!(hull(&cube(&[other])).is_err(), "{other:?}");
        }
        assert!(hull(&[[0.0; 3], [1.0; 3], [2.0; 3], [3.0; 3]]).is_err());
    }
}
