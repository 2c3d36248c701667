//! Plane figures of inlets, with local coordinates.

use super::polygon::Polygon;
use crate::field::AXES;
use crate::vectors::{across, cross, dot, length, minus, unit};
use crate::{Domain, Error, Face, Result};

/// A figure in a plane, or a line segment.
///
/// Local coordinates are lengths along two orthogonal vectors.
pub(super) struct Patch {
    /// Origin of the local coordinates.
    origin: [f64; 3],
    /// Unit vectors of the local coordinates.
    axes: [[f64; 3]; 2],
    /// Unit normal, in the direction of inflow.
    pub(super) normal: [f64; 3],
    /// 2; 1 for a segment and 0 for a single point, which are faces of flat domains.
    pub(super) dims: usize,
    /// A corner and the edges of the bounding parallelogram, in local coordinates.
    corner: [f64; 2],
    pub(super) edges: [[f64; 2]; 2],
    /// The centroid, in local coordinates.
    pub(super) centre: [f64; 2],
    pub(super) outline: Outline,
}

/// The part of the bounding parallelogram that a figure fills.
pub(super) enum Outline {
    /// All of it. The corner is the origin, and the first edge is along the first axis.
    Whole,
    /// A circle of this radius about the origin.
    Circle(f64),
    Corners(Polygon),
}

impl Patch {
    /// A face of a domain: a rectangle, or a segment or point in a flat domain. On a flat axis its
    /// coordinate is the domain's, or the coordinate of `flat` if the former is not finite.
    pub(super) fn face(face: Face, domain: &Domain, flat: [f64; 3]) -> Result<Self> {
        let (axis, mut origin) = (face_axis(face), domain.low);
        origin[axis] = face_coordinate(face, domain)?;
        let across: Vec<usize> = (0..3).filter(|d| *d != axis && !domain.is_flat(*d)).collect();
        for d in (0..3).filter(|d| domain.is_flat(*d)) {
            if !origin[d].is_finite() {
                origin[d] = flat[d];
            }
        }
        let size = domain.size();
        if let Some(d) = across.iter().copied().find(|d| !size[*d].is_finite()) {
            return Err(Error::Inlet(format!(
                "the face {face} is unbounded along {}: it extends from {} to {}; bound the domain \
                 there, or give the inlet as a rectangle",
                AXES[d], domain.low[d], domain.high[d]
            )));
        }
        let along = |k: usize| across.get(k).map_or([0.0; 3], |d| axis_vector(*d));
        let extent = |k: usize| across.get(k).map_or(0.0, |d| size[*d]);
        let normal = axis_vector(axis).map(|x| if is_high(face) { 0.0 - x } else { x });
        let edges = [[extent(0), 0.0], [0.0, extent(1)]];
        Ok(Patch::parallelogram(origin, [along(0), along(1)], normal, edges, across.len()))
    }

    pub(super) fn rectangle(origin: [f64; 3], edge1: [f64; 3], edge2: [f64; 3]) -> Result<Self> {
        check_finite("the rectangle's origin", &origin)?;
        check_finite("the rectangle's first edge", &edge1)?;
        check_finite("the rectangle's second edge", &edge2)?;
        let (Some(first), Some(normal)) = (unit(edge1), unit(cross(edge1, edge2))) else {
            return Err(no_area(edge1, edge2));
        };
        // A narrower parallelogram has a normal of rounding errors.
        let height = dot(cross(normal, edge1), edge2) / length(edge1);
        if height.is_nan() || height <= 1e-12 * length(edge2) {
            return Err(no_area(edge1, edge2));
        }
        let axes = [first, cross(normal, first)];
        let edges = [[length(edge1), 0.0], axes.map(|axis| dot(edge2, axis))];
        Ok(Patch::parallelogram(origin, axes, normal, edges, 2))
    }

    fn parallelogram(
        origin: [f64; 3],
        axes: [[f64; 3]; 2],
        normal: [f64; 3],
        edges: [[f64; 2]; 2],
        dims: usize,
    ) -> Self {
        let centre = [0, 1].map(|k| 0.5 * (edges[0][k] + edges[1][k]));
        Patch {
            origin,
            axes,
            normal,
            dims,
            corner: [0.0; 2],
            edges,
            centre,
            outline: Outline::Whole,
        }
    }

    pub(super) fn disc(centre: [f64; 3], normal: [f64; 3], radius: f64) -> Result<Self> {
        check_finite("the disc's centre", &centre)?;
        check_finite("the disc's normal", &normal)?;
        check_finite("the disc's radius", &[radius])?;
        if radius <= 0.0 {
            return Err(Error::Inlet(format!(
                "the disc's radius is {radius}; give a positive number"
            )));
        }
        let normal = unit(normal).ok_or_else(|| {
            Error::Inlet(
                "the disc's normal (0, 0, 0) has no direction; give a vector across the disc"
                    .into(),
            )
        })?;
        Ok(Patch {
            origin: centre,
            axes: across(normal),
            normal,
            dims: 2,
            corner: [-radius; 2],
            edges: [[2.0 * radius, 0.0], [0.0, 2.0 * radius]],
            centre: [0.0; 2],
            outline: Outline::Circle(radius),
        })
    }

    /// A polygon with the right-hand normal, which points to the side from which the corners are
    /// counter-clockwise. Newell's method: half the sum of the cross products of successive
    /// corners, relative to the first corner, so that planes along the axes stay exact.
    pub(super) fn polygon(corners: &[[f64; 3]]) -> Result<Self> {
        let [origin, _, _, ..] = *corners else {
            return Err(Error::Inlet(format!(
                "the polygon has {} corners; give three or more",
                corners.len()
            )));
        };
        corners.iter().try_for_each(|p| check_finite("a corner of the polygon", p))?;
        let from: Vec<[f64; 3]> = corners.iter().map(|p| minus(*p, origin)).collect();
        let size = from.iter().fold(0.0, |m: f64, p| m.max(length(*p)));
        let normal = newell(&from, size)?;
        check_plane(&from, normal, size)?;
        let axes = polygon_axes(&from, normal);
        let flat = from.iter().map(|p| axes.map(|axis| dot(*p, axis))).collect();
        let polygon = Polygon::new(flat, size)?;
        let [low, high] = polygon.bounds();
        let edges = [[high[0] - low[0], 0.0], [0.0, high[1] - low[1]]];
        let fraction = polygon.area() / (edges[0][0] * edges[1][1]);
        // NaN, if the corners are too close together.
        if fraction.is_nan() || fraction < 1e-3 {
            return Err(Error::Inlet(format!(
                "the polygon fills only {fraction:e} of its bounding rectangle, which is too \
                 little to find positions on it; split it into several polygons"
            )));
        }
        let centre = polygon.centroid();
        let outline = Outline::Corners(polygon);
        Ok(Patch { origin, axes, normal, dims: 2, corner: low, edges, centre, outline })
    }

    /// Local coordinates of a point of the unit square, mapped to the bounding parallelogram.
    pub(super) fn at(&self, [s, t]: [f64; 2]) -> [f64; 2] {
        let [e, f] = self.edges;
        [0, 1].map(|k| self.corner[k] + s * e[k] + t * f[k])
    }

    /// The position of a point in local coordinates.
    pub(super) fn position(&self, [a, b]: [f64; 2]) -> [f64; 3] {
        let [e, f] = self.axes;
        std::array::from_fn(|d| self.origin[d] + a * e[d] + b * f[d])
    }

    /// Whether a point in local coordinates is inside the outline.
    pub(super) fn contains(&self, p: [f64; 2]) -> bool {
        let open = |x: f64| 0.0 < x && x < 1.0;
        match &self.outline {
            Outline::Whole => {
                let [[width, _], [shift, height]] = self.edges;
                let t = if self.dims == 2 { p[1] / height } else { 0.5 };
                let s = if self.dims > 0 { (p[0] - t * shift) / width } else { 0.5 };
                open(s) && open(t)
            }
            Outline::Circle(radius) => p[0] * p[0] + p[1] * p[1] < radius * radius,
            Outline::Corners(polygon) => polygon.contains(p),
        }
    }

    /// The axis-aligned bounding box.
    pub(super) fn bounds(&self) -> [[f64; 3]; 2] {
        let corners: Vec<[f64; 3]> = match &self.outline {
            Outline::Circle(radius) => {
                let extent = self.normal.map(|n| radius * (1.0 - n * n).max(0.0).sqrt());
                return [-1.0, 1.0]
                    .map(|side| std::array::from_fn(|d| self.origin[d] + side * extent[d]));
            }
            Outline::Whole => {
                let square = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]];
                square.map(|p| self.position(self.at(p))).to_vec()
            }
            Outline::Corners(polygon) => {
                polygon.corners().iter().map(|p| self.position(*p)).collect()
            }
        };
        let over = |start, better: fn(f64, f64) -> f64| {
            std::array::from_fn(|d| corners.iter().fold(start, |m, p| better(m, p[d])))
        };
        [over(f64::INFINITY, f64::min), over(f64::NEG_INFINITY, f64::max)]
    }

    /// Local coordinates of a position.
    #[cfg(test)]
    pub(super) fn local(&self, position: [f64; 3]) -> [f64; 2] {
        self.axes.map(|axis| dot(minus(position, self.origin), axis))
    }

    #[cfg(test)]
    pub(super) fn area(&self) -> f64 {
        match &self.outline {
            Outline::Whole => self.edges[0][0] * self.edges[1][1],
            Outline::Circle(radius) => std::f64::consts::PI * radius * radius,
            Outline::Corners(polygon) => polygon.area(),
        }
    }
}

/// The axis normal to a face.
pub(super) fn face_axis(face: Face) -> usize {
    face as usize / 2
}

fn is_high(face: Face) -> bool {
    face as usize % 2 == 1
}

/// A face's coordinate along its axis.
pub(super) fn face_coordinate(face: Face, domain: &Domain) -> Result<f64> {
    let axis = face_axis(face);
    if domain.is_flat(axis) {
        return Err(Error::Inlet(format!(
            "the domain is flat along {}, so it has no face {face}; choose a face of \
             another axis",
            AXES[axis]
        )));
    }
    let coordinate = if is_high(face) { domain.high[axis] } else { domain.low[axis] };
    if !coordinate.is_finite() {
        return Err(Error::Inlet(format!(
            "the face {face} is at {} = {coordinate}; bound the domain there, or choose another \
             face",
            AXES[axis]
        )));
    }
    Ok(coordinate)
}

/// The normal of a polygon, from its corners relative to the first.
fn newell(from: &[[f64; 3]], size: f64) -> Result<[f64; 3]> {
    let mut sum = [0.0; 3];
    for pair in from.windows(2) {
        let product = cross(pair[0], pair[1]);
        sum = std::array::from_fn(|d| sum[d] + product[d]);
    }
    // Below this, the sum consists of rounding errors.
    let is_significant = length(sum) > 1e-12 * size * size;
    unit(sum).filter(|_| is_significant).ok_or_else(|| {
        Error::Inlet(
            "the polygon's corners enclose no area: they are collinear, or its sides cross; give \
             the corners in order along the boundary"
                .into(),
        )
    })
}

fn check_plane(from: &[[f64; 3]], normal: [f64; 3], size: f64) -> Result<()> {
    let off = from.iter().map(|p| dot(*p, normal).abs());
    match off.enumerate().find(|(_, distance)| *distance > 1e-6 * size) {
        None => Ok(()),
        Some((corner, distance)) => Err(Error::Inlet(format!(
            "the polygon is not planar: corner {corner} is {distance} off the plane of its \
             corners, more than a millionth of its size; split it into triangles"
        ))),
    }
}

/// Axes in a polygon's plane, the first along its longest side.
fn polygon_axes(from: &[[f64; 3]], normal: [f64; 3]) -> [[f64; 3]; 2] {
    let next = from.iter().cycle().skip(1);
    let sides = from.iter().zip(next).map(|(a, b)| minus(*b, *a));
    let longest = sides.fold([0.0; 3], |m, s| if length(s) > length(m) { s } else { m });
    // Corners may be slightly off the plane; the axes must not.
    let second = unit(cross(normal, longest)).unwrap_or(across(normal)[1]);
    [cross(second, normal), second]
}

fn axis_vector(axis: usize) -> [f64; 3] {
    std::array::from_fn(|d| f64::from(u8::from(d == axis)))
}

fn no_area(edge1: [f64; 3], edge2: [f64; 3]) -> Error {
    Error::Inlet(format!(
        "the rectangle's edges {edge1:?} and {edge2:?} span no area; give two edges that are not \
         parallel, one of them along the flat axis where the domain has one"
    ))
}

/// Checks the numbers of an inlet. Above 1e100, areas would overflow.
pub(super) fn check_finite(what: &str, numbers: &[f64]) -> Result<()> {
    match numbers.iter().find(|x| x.is_nan() || x.abs() >= 1e100) {
        None => Ok(()),
        Some(bad) => Err(Error::Inlet(format!(
            "{what} {numbers:?} contains {bad}; give finite numbers below 1e100"
        ))),
    }
}
