//! Obstacles in the domain box: bodies that particles stay outside of, and vessels that they stay
//! inside of.

use crate::{BoundaryCondition, ClosedSurface, Land, Status, boundary::Response};
use std::sync::Arc;

/// The shape of an obstacle, in the data's unit of length.
///
/// In two dimensions a cylinder along z is a circle, and a box unbounded in z a rectangle.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A sphere.
    Sphere {
        /// Its centre.
        centre: [f64; 3],
        /// Its radius.
        radius: f64,
    },
    /// A circular cylinder.
    Cylinder {
        /// The centre of its base; without caps, any point on its axis.
        base: [f64; 3],
        /// From the centre of the base to that of the top.
        axis: [f64; 3],
        /// Its radius.
        radius: f64,
        /// Whether it has end caps; if not, it is infinitely long.
        capped: bool,
    },
    /// An axis-aligned box. Corners may be infinite.
    Box {
        /// Its minimum coordinates.
        low: [f64; 3],
        /// Its maximum coordinates.
        high: [f64; 3],
    },
    /// A closed triangulated surface; not in two dimensions.
    Surface(Arc<ClosedSurface>),
    /// The land of a field; in fields on a sphere, too. A particle that [sticks](BoundaryCondition::Stick) to it is
    /// [`Status::Beached`], one that [exits](BoundaryCondition::Exit) there [`Status::LeftField`].
    Land(Arc<Land>),
}

/// Code of a sphere, or of a cylinder without caps, for kernels. A shape is the intersection of
/// `code + 1` bounds: here one, the round surface.
pub(crate) const ROUND: i32 = 0;
/// Code of a capped cylinder: the round surface, and the slab between two planes.
pub(crate) const CAPPED: i32 = 1;
/// Code of a box: three slabs.
pub(crate) const BLOCK: i32 = 2;
/// Code of a triangulated surface, which has no bounds.
pub(crate) const FACETED: i32 = 3;
/// Code of land, which has no bounds, either.
pub(crate) const LAND: i32 = 4;
/// Code of a plane, which is a gate.
pub(crate) const PLANE: i32 = 5;
/// Code of a patch of the mesh boundary as a gate.
pub(crate) const PATCH: i32 = 6;

/// Length of [`Shape::numbers`].
pub(crate) const SHAPE_NUMBERS: usize = 9;

impl Shape {
    /// A closed surface of triangles.
    pub fn surface(surface: ClosedSurface) -> Self {
        Shape::Surface(Arc::new(surface))
    }

    /// The name used in case files.
    pub const fn name(&self) -> &'static str {
        match self {
            Shape::Sphere { .. } => "sphere",
            Shape::Cylinder { .. } => "cylinder",
            Shape::Box { .. } => "box",
            Shape::Surface(_) => "surface",
            Shape::Land(_) => "land",
        }
    }

    /// The integer code read by kernels.
    pub(crate) const fn code(&self) -> i32 {
        match self {
            Shape::Sphere { .. } | Shape::Cylinder { capped: false, .. } => ROUND,
            Shape::Cylinder { capped: true, .. } => CAPPED,
            Shape::Box { .. } => BLOCK,
            Shape::Surface(_) => FACETED,
            Shape::Land(_) => LAND,
        }
    }

    /// The numbers that kernels compute with: centre, base or minimum corner; axis direction (zero
    /// for a sphere) or maximum corner; radius, or the cell width of a triangulated surface;
    /// height; and the sum of the absolute coordinates, which sets the scale of rounding errors.
    pub(crate) fn numbers(&self) -> [f64; SHAPE_NUMBERS] {
        let (a, b, radius, height) = match *self {
            Shape::Surface(ref surface) => {
                let [[ax, ay, az], [bx, by, bz]] = surface.bounds();
                return [ax, ay, az, bx, by, bz, surface.pitch, 0.0, surface.size()];
            }
            Shape::Land(ref land) => {
                let ([ax, ay, az], [bx, by, bz], size) = land.lattice();
                return [ax, ay, az, bx, by, bz, 0.0, 0.0, size];
            }
            Shape::Sphere { centre, radius } => (centre, [0.0; 3], radius, 0.0),
            Shape::Cylinder { base, axis, radius, capped } => {
                let length = norm(axis);
                let unit = axis.map(|x| if length > 0.0 { x / length } else { 0.0 });
                (base, unit, radius, if capped { length } else { 0.0 })
            }
            Shape::Box { low, high } => (low, high, 0.0, 0.0),
        };
        let corners = if matches!(self, Shape::Box { .. }) { b } else { [0.0; 3] };
        let sizes = a.iter().chain(&corners).map(|x| x.abs()).filter(|x| x.is_finite());
        let size = sizes.sum::<f64>() + radius + height;
        // Infinite corners become the largest finite numbers, so that differences are numbers.
        let bounded = |x: f64| x.clamp(-f64::MAX, f64::MAX);
        let ([ax, ay, az], [bx, by, bz]) = (a.map(bounded), b.map(bounded));
        [ax, ay, az, bx, by, bz, radius, height, size]
    }

    /// The box that contains it; of land all space.
    pub(crate) fn bounds(&self) -> [[f64; 3]; 2] {
        match *self {
            Shape::Sphere { centre, radius } => [-radius, radius].map(|r| centre.map(|x| x + r)),
            Shape::Box { low, high } => [low, high],
            Shape::Cylinder { base, axis, radius, capped } => {
                let length = norm(axis);
                let reach =
                    axis.map(|along| radius * (1.0 - (along / length).powi(2)).max(0.0).sqrt());
                let corner = |sign: f64| {
                    std::array::from_fn(|d| match capped {
                        true => base[d] + sign * (reach[d] + (sign * axis[d]).max(0.0)),
                        false if axis[d] == 0.0 => base[d] + sign * reach[d],
                        false => sign * f64::INFINITY,
                    })
                };
                [corner(-1.0), corner(1.0)]
            }
            Shape::Surface(ref surface) => surface.bounds(),
            Shape::Land(_) => [[-f64::INFINITY; 3], [f64::INFINITY; 3]],
        }
    }

    /// Whether a position is inside, or on the surface.
    pub fn contains(&self, position: [f64; 3]) -> bool {
        let (shape, allowed) = (self.clone(), Allowed::Inside);
        Obstacle { shape, allowed, surface: BoundaryCondition::default() }.allows(position, 0.0)
    }

    /// The rows and numbers that kernels read of a shape with a table; see
    /// [`GeometryTensors`](crate::GeometryTensors).
    pub(crate) fn table(&self) -> (&[[f64; 3]], &[i32]) {
        match self {
            Shape::Surface(surface) => (&surface.rows, &surface.numbers),
            Shape::Land(land) => (&land.rows, &land.numbers),
            Shape::Sphere { .. } | Shape::Cylinder { .. } | Shape::Box { .. } => (&[], &[]),
        }
    }

    /// The defect that makes the shape invalid, if any.
    pub fn flaw(&self) -> Option<&'static str> {
        let are_finite = |numbers: [f64; 3]| numbers.iter().all(|x| x.is_finite());
        match *self {
            Shape::Sphere { radius, .. } | Shape::Cylinder { radius, .. }
                if !(radius > 0.0 && radius.is_finite()) =>
            {
                Some("its radius is not a positive number")
            }
            Shape::Sphere { centre, .. } if !are_finite(centre) => Some("its centre is not finite"),
            Shape::Cylinder { base, .. } if !are_finite(base) => Some("its base is not finite"),
            Shape::Cylinder { axis, .. } if !(norm(axis) > 0.0 && are_finite(axis)) => {
                Some("its axis has no direction")
            }
            Shape::Box { low, high } if !(0..3).all(|d| low[d] < high[d]) => {
                Some("its low corner is not below its high corner")
            }
            _ => None,
        }
    }
}

fn norm([x, y, z]: [f64; 3]) -> f64 {
    x.hypot(y).hypot(z)
}

/// The side of an obstacle's surface on which particles move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Allowed {
    /// Outside: the obstacle is a solid body.
    #[default]
    Outside,
    /// Inside: the obstacle is a vessel.
    Inside,
}

impl Allowed {
    /// The integer code read by device kernels.
    pub const fn code(self) -> i32 {
        match self {
            Allowed::Outside => 0,
            Allowed::Inside => 1,
        }
    }

    /// The name used in case files.
    pub const fn name(self) -> &'static str {
        match self {
            Allowed::Outside => "outside",
            Allowed::Inside => "inside",
        }
    }
}

/// An obstacle in the domain box.
///
/// No particle is ever on its forbidden side, nor on its surface: particles at the surface keep a
/// distance of about 16 roundings of the obstacle's coordinates, so that the exact shape is
/// respected, too. A particle released on the surface or on the forbidden side is moved to the
/// nearest point of the surface in its first step.
///
/// Obstacles are not repeated periodically: if one crosses a periodic face, add it twice, the
/// second time shifted by the period. If a periodic face leads directly into an obstacle, particles
/// meet that obstacle's surface at the face where they would leave.
#[derive(Clone, Debug, PartialEq)]
pub struct Obstacle {
    /// Its shape.
    pub shape: Shape,
    /// The side on which particles move.
    pub allowed: Allowed,
    /// Condition at its surface.
    pub surface: BoundaryCondition,
}

impl Shape {
    /// The shape moved by an offset.
    pub fn moved(&self, by: [f64; 3]) -> Self {
        let moved = |p: [f64; 3]| [0, 1, 2].map(|d| p[d] + by[d]);
        match self.clone() {
            Shape::Sphere { centre, radius } => Shape::Sphere { centre: moved(centre), radius },
            Shape::Cylinder { base, axis, radius, capped } => {
                Shape::Cylinder { base: moved(base), axis, radius, capped }
            }
            Shape::Box { low, high } => Shape::Box { low: moved(low), high: moved(high) },
            Shape::Surface(surface) => Shape::surface(surface.moved(by)),
            Shape::Land(land) => Shape::Land(Arc::new(land.moved(by))),
        }
    }
}

impl Obstacle {
    /// The response of its surface.
    pub(crate) fn response(&self) -> Response {
        match (&self.shape, self.surface) {
            (Shape::Land(_), BoundaryCondition::Stick) => {
                BoundaryCondition::Exit.response(Status::Beached)
            }
            (Shape::Land(_), condition) => condition.response(Status::LeftField),
            (_, condition) => condition.response(Status::HitObstacle),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn degenerate_shapes_are_rejected() {
        let (centre, axis) = ([0.0; 3], [0.0, 0.0, 2.0]);
        let ball = |radius| Shape::Sphere { centre, radius };
        let pipe = |axis| Shape::Cylinder { base: centre, axis, radius: 1.0, capped: true };
        let block = |low| Shape::Box { low: [low; 3], high: [f64::INFINITY; 3] };
        for sound in [ball(1.0), pipe(axis), block(0.0), block(f64::NEG_INFINITY)] {
            assert_eq!(sound.flaw(), None, "{sound:?}");
            assert!(sound.numbers().iter().all(|x| x.is_finite()));
        }
        for flawed in [ball(0.0), ball(f64::NAN), pipe([0.0; 3]), pipe([f64::INFINITY; 3])] {
            assert!(flawed.flaw().is_some(), "{flawed:?}");
        }
        assert!(block(f64::NAN).flaw().is_some());
        assert!(Shape::Sphere { centre: [f64::NAN; 3], radius: 1.0 }.flaw().is_some());
        assert!(Shape::Box { low: [1.0; 3], high: [1.0; 3] }.flaw().is_some());
    }

    #[test]
    fn points_near_the_surface_are_allowed_within_slack() {
        let (base, axis) = ([1.0, 0.0, 0.0], [0.0, 0.0, 2.0]);
        let drum = Shape::Cylinder { base, axis, radius: 1.0, capped: true };
        let ball = Shape::Sphere { centre: base, radius: 1.0 };
        let block = Shape::Box { low: [0.0, -1.0, -f64::INFINITY], high: [2.0, 1.0, 0.5] };
        for shape in [drum.clone(), ball, block] {
            let body = Obstacle {
                shape: shape.clone(),
                allowed: Allowed::Outside,
                surface: BoundaryCondition::Stick,
            };
            let vessel = Obstacle { allowed: Allowed::Inside, ..body.clone() };
            for (x, outside) in [(-0.1, true), (1e-9, true), (1e-3, false), (1.0, false)] {
                let position = [x, 0.0, 0.1];
                // The ball is thinner at this height.
                let is_ball = matches!(shape, Shape::Sphere { .. });
                let outside = outside || is_ball && x == 1e-3;
                let is_near = x == 1e-9 && !is_ball;
                assert_eq!(body.allows(position, 1e-6), outside, "{shape:?} {x}");
                assert_eq!(vessel.allows(position, 1e-6), !outside || is_near, "{shape:?} {x}");
            }
        }
        let body =
            Obstacle { shape: drum, allowed: Allowed::Outside, surface: BoundaryCondition::Slide };
        assert!(body.allows([1.0, 0.0, -0.1], 0.0) && body.allows([1.0, 0.0, 2.1], 0.0));
        assert!(!body.allows([1.0, 0.0, 1.9], 0.0));
    }

    #[test]
    fn numbers_of_a_cylinder() {
        let (base, axis) = ([1.0, -2.0, 3.0], [0.0, 3.0, 4.0]);
        let shape = Shape::Cylinder { base, axis, radius: 0.5, capped: true };
        assert_eq!(shape.numbers(), [1.0, -2.0, 3.0, 0.0, 0.6, 0.8, 0.5, 5.0, 11.5]);
    }
}
