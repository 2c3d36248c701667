//! Gates: surfaces and regions that particles pass through, and whose crossings are logged.

use std::sync::Arc;

use crate::{
    Shape,
    obstacle::{PATCH, PLANE, SHAPE_NUMBERS},
};

/// A surface or a region whose crossings are logged. It does not change the tracks.
#[derive(Clone, Debug, PartialEq)]
pub enum GateShape {
    /// A part of a plane: that within a radius of a point of it, and between two corners. Forward is along the normal.
    Plane {
        /// A point on it.
        origin: [f64; 3],
        /// Its normal, of any length.
        normal: [f64; 3],
        /// The largest distance from that point; infinite for no limit.
        radius: f64,
        /// The lowest coordinates of the part; infinite for no limit.
        low: [f64; 3],
        /// The highest ones.
        high: [f64; 3],
    },
    /// A polygon in a plane, by its corners in order. Forward is to the side from which they are counter-clockwise.
    Polygon(Arc<[[f64; 3]]>),
    /// The inside of a sphere, a cylinder, a box or a closed surface. Forward is into it.
    Region(Shape),
    /// A patch of the mesh boundary, by its place among those of the run: particles cross it when they leave through it, forward.
    Patch(usize),
}

impl GateShape {
    /// A plane without limits.
    pub fn plane(origin: [f64; 3], normal: [f64; 3]) -> Self {
        GateShape::disc(origin, normal, f64::INFINITY)
    }

    /// The part of a plane within a radius of a point of it.
    pub fn disc(centre: [f64; 3], normal: [f64; 3], radius: f64) -> Self {
        let (low, high) = ([f64::NEG_INFINITY; 3], [f64::INFINITY; 3]);
        GateShape::Plane { origin: centre, normal, radius, low, high }
    }

    /// The shape moved by an offset.
    pub fn moved(&self, by: [f64; 3]) -> Self {
        let moved = |p: [f64; 3]| std::array::from_fn(|d| p[d] + by[d]);
        match *self {
            GateShape::Region(ref shape) => GateShape::Region(shape.moved(by)),
            GateShape::Patch(number) => GateShape::Patch(number),
            GateShape::Polygon(ref corners) => {
                GateShape::Polygon(corners.iter().map(|corner| moved(*corner)).collect())
            }
            GateShape::Plane { origin, normal, radius, low, high } => {
                let (low, high) = (moved(low), moved(high));
                GateShape::Plane { origin: moved(origin), normal, radius, low, high }
            }
        }
    }

    /// The code of its shape for kernels.
    pub(crate) fn code(&self) -> i32 {
        match self {
            GateShape::Plane { .. } | GateShape::Polygon(_) => PLANE,
            GateShape::Region(shape) => shape.code(),
            GateShape::Patch(_) => PATCH,
        }
    }

    /// The numbers of its shape, as [`Shape::numbers`].
    pub(crate) fn numbers(&self) -> [f64; SHAPE_NUMBERS] {
        match *self {
            GateShape::Region(ref shape) => shape.numbers(),
            GateShape::Patch(_) => [0.0; SHAPE_NUMBERS],
            GateShape::Plane { origin, normal, radius, .. } => plane(origin, normal, radius),
            GateShape::Polygon(ref corners) => plane(corners[0], normal(corners), f64::MAX),
        }
    }

    /// The corners of a polygon; nothing of other shapes.
    pub(crate) fn corners(&self) -> &[[f64; 3]] {
        if let GateShape::Polygon(corners) = self { corners } else { &[] }
    }

    /// The corners that limit it: of a plane along an axis, not along that.
    pub(crate) fn limits(&self) -> [[f64; 3]; 2] {
        let (normal, low, high) = match self {
            GateShape::Plane { normal, low, high, .. } => (normal, low, high),
            GateShape::Polygon(_) => return EVERYWHERE,
            GateShape::Region(_) | GateShape::Patch(_) => return self.bounds(),
        };
        let is_free = |d: usize| (0..3).all(|other| other == d || normal[other] == 0.0);
        let limit = |bound: &[f64; 3], open: f64| {
            std::array::from_fn(|d| if is_free(d) { open } else { bound[d] })
        };
        [limit(low, f64::NEG_INFINITY), limit(high, f64::INFINITY)]
    }

    /// The box that contains it; of a patch all space.
    pub fn bounds(&self) -> [[f64; 3]; 2] {
        match self {
            GateShape::Plane { origin, normal, radius, low, high } => {
                let length = normal.iter().fold(0.0_f64, |sum, x| sum.hypot(*x));
                // A disc reaches as far along an axis as the normal is turned away from it.
                let reach = |d: usize| match normal[d] / length {
                    along if along.abs() == 1.0 => 0.0,
                    along => radius * (1.0 - along * along).max(0.0).sqrt(),
                };
                let corner = |sign: f64, bound: &[f64; 3]| {
                    std::array::from_fn(|d| match sign < 0.0 {
                        true => bound[d].max(origin[d] - reach(d)),
                        false => bound[d].min(origin[d] + reach(d)),
                    })
                };
                [corner(-1.0, low), corner(1.0, high)]
            }
            GateShape::Region(shape) => shape.bounds(),
            GateShape::Patch(_) => EVERYWHERE,
            GateShape::Polygon(corners) => {
                let bound = |d: usize, choose: fn(f64, f64) -> f64, open: f64| {
                    corners.iter().map(|corner| corner[d]).fold(open, choose)
                };
                let low = |d| bound(d, f64::min, f64::INFINITY);
                let high = |d| bound(d, f64::max, f64::NEG_INFINITY);
                [[0, 1, 2].map(low), [0, 1, 2].map(high)]
            }
        }
    }

    /// The defect that makes it invalid, if any.
    pub fn flaw(&self) -> Option<&'static str> {
        let are_finite = |numbers: &[f64; 3]| numbers.iter().all(|x| x.is_finite());
        match self {
            GateShape::Region(Shape::Land(_)) => {
                Some("it is neither a sphere, a cylinder, a box nor a closed surface")
            }
            GateShape::Region(shape) => shape.flaw(),
            GateShape::Patch(_) => None,
            GateShape::Polygon(corners) => polygon_flaw(corners),
            GateShape::Plane { origin, .. } if !are_finite(origin) => {
                Some("its origin is not finite")
            }
            GateShape::Plane { normal, .. }
                if !are_finite(normal) || normal.iter().all(|x| *x == 0.0) =>
            {
                Some("its normal has no direction")
            }
            GateShape::Plane { radius, .. } if radius.is_nan() || *radius <= 0.0 => {
                Some("its radius is not a positive number")
            }
            GateShape::Plane { low, high, .. } if !(0..3).all(|d| low[d] <= high[d]) => {
                Some("its low corner is not below its high corner")
            }
            GateShape::Plane { .. } => {
                let [low, high] = self.bounds();
                let is_empty = (0..3).any(|d| low[d] > high[d]);
                is_empty.then_some("no part of it is between its corners")
            }
        }
    }
}

/// The corners of all space.
const EVERYWHERE: [[f64; 3]; 2] = [[f64::NEG_INFINITY; 3], [f64::INFINITY; 3]];

/// The numbers of a plane through a point, within a radius of it.
fn plane(origin: [f64; 3], normal: [f64; 3], radius: f64) -> [f64; SHAPE_NUMBERS] {
    let length = normal.into_iter().fold(0.0, f64::hypot);
    let [x, y, z] = normal.map(|x| x / length);
    let [a, b, c] = origin;
    let size = origin.iter().map(|x| x.abs()).sum();
    [a, b, c, x, y, z, radius.min(f64::MAX), 0.0, size]
}

/// The normal of a polygon, as long as twice its area (M. Newell; see F. Tampieri, 1992, *Graphics Gems III*, 231).
fn normal(corners: &[[f64; 3]]) -> [f64; 3] {
    let mut normal = [0.0; 3];
    for (a, b) in corners.iter().zip(corners.iter().cycle().skip(1)) {
        for (d, of_axis) in normal.iter_mut().enumerate() {
            let (e, f) = ((d + 1) % 3, (d + 2) % 3);
            let [from, to] = [a, b].map(|p| [p[e] - corners[0][e], p[f] - corners[0][f]]);
            *of_axis += from[0] * to[1] - from[1] * to[0];
        }
    }
    normal
}

/// The defect that makes a polygon invalid, if any.
fn polygon_flaw(corners: &[[f64; 3]]) -> Option<&'static str> {
    if corners.len() < 3 {
        return Some("it has fewer than three corners");
    }
    if corners.as_flattened().iter().any(|x| !x.is_finite()) {
        return Some("a corner of it is not finite");
    }
    let length = |v: [f64; 3]| v.into_iter().fold(0.0, f64::hypot);
    let from_first = |p: &[f64; 3]| [0, 1, 2].map(|d| p[d] - corners[0][d]);
    let (normal, size) =
        (normal(corners), corners.iter().map(|p| length(from_first(p))).fold(0.0, f64::max));
    if length(normal) <= 1e-12 * size * size {
        return Some("it has no area");
    }
    let height = |p: &[f64; 3]| {
        let arm = from_first(p);
        (0..3).map(|d| arm[d] * normal[d]).sum::<f64>() / length(normal)
    };
    let is_plane = corners.iter().all(|p| height(p).abs() <= 1e-6 * size);
    (!is_plane).then_some("its corners are not in a plane")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::obstacle::ROUND;

    #[test]
    fn polygons_have_a_normal_and_a_plane() {
        let square = [[0.0, 0.0, 1.0], [2.0, 0.0, 1.0], [2.0, 2.0, 1.0], [0.0, 2.0, 1.0]];
        let shape = |corners: &[[f64; 3]]| GateShape::Polygon(corners.into());
        let gate = shape(&square);
        assert_eq!(gate.numbers()[..6], [0.0, 0.0, 1.0, 0.0, 0.0, 1.0]);
        assert_eq!((gate.flaw(), gate.bounds()), (None, [square[0], square[2]]));
        assert_eq!(gate.moved([1.0, 0.0, 0.0]).corners()[0], [1.0, 0.0, 1.0]);
        let flaw = |corners: &[[f64; 3]]| shape(corners).flaw().unwrap_or_default();
        assert_eq!(flaw(&square[..2]), "it has fewer than three corners");
        assert_eq!(flaw(&[square[0], square[1], square[1]]), "it has no area");
        let mut bent = square;
        bent[2][2] = 1.1;
        assert_eq!(flaw(&bent), "its corners are not in a plane");
        bent[2][2] = f64::NAN;
        assert_eq!(flaw(&bent), "a corner of it is not finite");
    }

    const OPEN: [f64; 3] = [f64::INFINITY; 3];

    #[test]
    fn bounds_contain_discs_and_tilted_cylinders() {
        let disc = |normal| GateShape::Plane {
            origin: [1.0, 2.0, 3.0],
            normal,
            radius: 2.0,
            low: OPEN.map(|x| -x),
            high: [OPEN[0], 3.0, OPEN[2]],
        };
        assert_eq!(disc([0.0, 0.0, 7.0]).bounds(), [[-1.0, 0.0, 3.0], [3.0, 3.0, 3.0]]);
        let [low, high] = disc([1.0, 0.0, 1.0]).bounds();
        let reach = 2.0_f64.sqrt();
        let expected = [[1.0 - reach, 0.0, 3.0 - reach], [1.0 + reach, 3.0, 3.0 + reach]];
        for (found, expected) in low.iter().chain(&high).zip(expected.iter().flatten()) {
            assert!((found - expected).abs() < 1e-12, "{low:?} {high:?}");
        }
        let plane = GateShape::Plane {
            origin: [1.0, 0.0, 0.0],
            normal: [1.0, 0.0, 0.0],
            radius: f64::INFINITY,
            low: OPEN.map(|x| -x),
            high: OPEN,
        };
        let open = f64::INFINITY;
        assert_eq!(plane.bounds(), [[1.0, -open, -open], [1.0, open, open]]);
        assert_eq!(plane.limits(), [[-open; 3], [open; 3]]);
        assert_eq!((plane.code(), plane.flaw()), (PLANE, None));
        let cylinder =
            Shape::Cylinder { base: [0.0; 3], axis: [0.0, 3.0, 4.0], radius: 1.0, capped: true };
        let [low, high] = cylinder.bounds();
        let expected = [[-1.0, -0.8, -0.6], [1.0, 3.8, 4.6]];
        for (found, expected) in low.iter().chain(&high).zip(expected.iter().flatten()) {
            assert!((found - expected).abs() < 1e-12, "{low:?} {high:?}");
        }
        assert_eq!(
            GateShape::Region(Shape::Sphere { centre: [0.0; 3], radius: 1.0 }).code(),
            ROUND
        );
    }
}
