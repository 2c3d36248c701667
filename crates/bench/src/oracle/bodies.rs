//! Obstacles of the oracle. The contact of a straight path with a convex shape is bracketed by a golden-section
//! search for the minimum of the signed distance, and bisected. A path meets a surface of triangles where it
//! crosses the plane of a triangle within its edges.

use super::{
    Point,
    events::{Contact, Response},
    vectors::*,
};
use burntrace::{Allowed, ClosedSurface, Obstacle, Shape, Status};

/// A part of a path within this distance of a wall may be on either side of it.
const ROUNDING: f64 = 1e-14;

/// Signed distance from a bound of a convex shape, negative inside, and its outward normal.
type Bound = (f64, Point);

/// The bounds of a convex shape; it is the set where all of them are negative.
fn bounds(shape: &Shape, p: Point) -> Vec<Bound> {
    match *shape {
        Shape::Sphere { centre, radius } => {
            let from_centre = minus(p, centre);
            vec![(length(from_centre) - radius, unit(from_centre))]
        }
        Shape::Cylinder { base, axis, radius, capped } => {
            let (from_base, along) = (minus(p, base), unit(axis));
            // The part across the axis as a double cross product.
            let across = cross(cross(along, from_base), along);
            let mut bounds = vec![(length(across) - radius, unit(across))];
            if capped {
                let top = dot(minus(from_base, axis), along);
                bounds.extend([(top, along), (-dot(from_base, along), scaled(along, -1.0))]);
            }
            bounds
        }
        Shape::Box { low, high } => {
            let side = |i: usize| {
                let mut normal = [0.0; 3];
                normal[i / 2] = [-1.0, 1.0][i % 2];
                ([low[i / 2] - p[i / 2], p[i / 2] - high[i / 2]][i % 2], normal)
            };
            (0..6).map(side).collect()
        }
        Shape::Surface(_) | Shape::Land(_) => {
            unreachable!("a surface of triangles, or land, need not be convex")
        }
    }
}

/// The bound with the maximum signed distance.
fn outermost(shape: &Shape, p: Point) -> Bound {
    bounds(shape, p).into_iter().max_by(|a, b| a.0.total_cmp(&b.0)).expect("a shape has bounds")
}

/// Sign of the signed distance on the allowed side.
fn sign(obstacle: &Obstacle) -> f64 {
    if obstacle.allowed == Allowed::Outside { 1.0 } else { -1.0 }
}

/// Whether a point is on the allowed side.
pub fn allows(obstacle: &Obstacle, p: Point) -> bool {
    match &obstacle.shape {
        Shape::Surface(surface) => {
            (winding_number(surface, p) < 0.5) == (obstacle.allowed == Allowed::Outside)
        }
        shape => sign(obstacle) * outermost(shape, p).0 > 0.0,
    }
}

pub fn response(obstacle: &Obstacle) -> Response {
    Response::of(obstacle.surface, Status::HitObstacle)
}

/// The first contact of a straight path that starts on the allowed side.
pub fn first_contact(obstacle: &Obstacle, from: Point, to: Point) -> Option<Contact> {
    let (fraction, normal) = match &obstacle.shape {
        Shape::Surface(surface) => cross_triangles(surface, sign(obstacle), from, to)?,
        shape => {
            let clearance = |part| sign(obstacle) * outermost(shape, between(from, to, part)).0;
            let forbidden = forbidden_part(obstacle.allowed, length(minus(to, from)), &clearance)?;
            let fraction = bisect(forbidden, &clearance);
            let (_, outward) = outermost(shape, between(from, to, fraction));
            (fraction, scaled(outward, sign(obstacle)))
        }
    };
    Some(Contact { fraction, normal, response: response(obstacle) })
}

/// A fraction of a path at which its clearance is negative, if any. The clearance changes by at most the
/// length of the path; it is convex around a body, and concave in a vessel.
fn forbidden_part(allowed: Allowed, length: f64, clearance: &dyn Fn(f64) -> f64) -> Option<f64> {
    if clearance(1.0) < 0.0 {
        return Some(1.0);
    }
    if allowed == Allowed::Inside {
        return None;
    }
    let ratio = 0.5 * (5.0_f64.sqrt() - 1.0);
    let (mut low, mut high) = (0.0, 1.0);
    // 0.618^80 is below machine epsilon.
    for _ in 0..80 {
        let (a, b) = (high - ratio * (high - low), low + ratio * (high - low));
        let (at_a, at_b) = (clearance(a), clearance(b));
        if at_a < 0.0 || at_b < 0.0 {
            return Some(if at_a < 0.0 { a } else { b });
        }
        if at_a.min(at_b) > length * (high - low) {
            return None;
        }
        if at_a < at_b { high = b } else { low = a }
    }
    None
}

/// The last fraction before a negative one at which a function is positive.
fn bisect(negative: f64, clearance: &dyn Fn(f64) -> f64) -> f64 {
    let (mut positive, mut negative) = (0.0, negative);
    loop {
        let middle = 0.5 * (positive + negative);
        if middle <= positive || middle >= negative {
            return positive;
        }
        if clearance(middle) > 0.0 { positive = middle } else { negative = middle }
    }
}

/// The nearest point of a convex vessel, held off its surface: where a displacement along a curved or
/// bounded wall ends. Other surfaces return the point itself.
pub fn nearest_in_vessel(obstacle: &Obstacle, p: Point, held: f64) -> Point {
    let Obstacle { shape, allowed: Allowed::Inside, .. } = obstacle else { return p };
    if matches!(shape, Shape::Surface(_)) {
        return p;
    }
    // The bounds of each shape are at right angles to each other: one after the other gives the nearest point.
    (0..bounds(shape, p).len()).fold(p, |p, i| {
        let (beyond, outward) = bounds(shape, p)[i];
        if beyond > -held { plus(p, scaled(outward, -held - beyond)) } else { p }
    })
}

fn corners(surface: &ClosedSurface) -> impl Iterator<Item = [Point; 3]> + '_ {
    let corner = |k: u32| surface.points()[k as usize];
    surface.triangles().iter().map(move |triangle| triangle.map(corner))
}

/// How often a surface winds around a point: the sum of the solid angles of its triangles (van Oosterom &
/// Strackee, 1983) over the full one, so 1 inside and 0 outside.
fn winding_number(surface: &ClosedSurface, p: Point) -> f64 {
    let solid_angle = |triangle: [Point; 3]| {
        let [a, b, c] = triangle.map(|corner| minus(corner, p));
        let [x, y, z] = [a, b, c].map(length);
        let below = x * y * z + dot(a, b) * z + dot(b, c) * x + dot(c, a) * y;
        2.0 * dot(a, cross(b, c)).atan2(below)
    };
    (corners(surface).map(solid_angle).sum::<f64>() / (4.0 * std::f64::consts::PI)).abs()
}

/// Volume times six; negative if the triangles run clockwise as seen from outside.
fn signed_volume(surface: &ClosedSurface) -> f64 {
    corners(surface).map(|[a, b, c]| dot(a, cross(b, c))).sum()
}

/// The first crossing towards the forbidden side of any triangle.
fn cross_triangles(
    surface: &ClosedSurface,
    sign: f64,
    from: Point,
    to: Point,
) -> Option<(f64, Point)> {
    let sign = sign * signed_volume(surface).signum();
    let crossing = |[a, b, c]: [Point; 3]| {
        let normal = unit(scaled(cross(minus(b, a), minus(c, a)), sign));
        Some((cross_polygon(&[a, b, c], normal, from, to)?, normal))
    };
    corners(surface).filter_map(crossing).min_by(|a, b| a.0.total_cmp(&b.0))
}

/// The fraction of a path at which it crosses a plane convex polygon against a normal of it, if it does.
pub fn cross_polygon(corners: &[Point], normal: Point, from: Point, to: Point) -> Option<f64> {
    let height = |p: Point| dot(normal, minus(p, corners[0]));
    let (above, below) = (height(from), height(to));
    // A start on the plane, within rounding, counts as above it.
    if above < -ROUNDING || below >= 0.0 || below >= above {
        return None;
    }
    let fraction = (above / (above - below)).max(0.0);
    let p = between(from, to, fraction);
    let centre =
        scaled(corners.iter().fold([0.0; 3], |sum, c| plus(sum, *c)), 1.0 / corners.len() as f64);
    let is_within = |i: usize| {
        let (a, b) = (corners[i], corners[(i + 1) % corners.len()]);
        let inward = cross(normal, minus(b, a));
        let side = dot(inward, minus(centre, a)).signum();
        // An edge belongs to both of its polygons, so that no path passes between them.
        side * dot(unit(inward), minus(p, a)) >= -ROUNDING
    };
    (0..corners.len()).all(is_within).then_some(fraction)
}
