//! The walls of a run, and how far away the nearest one is.

use crate::{
    BoundaryCondition, Domain, Error, Precision, Result, Shape, Surroundings, field::bounding_box,
    mesh::Mesh, patch, tracer::outline, vectors::length,
};
use burntrace_kernels::{MeshPatch, Triangles};

/// What holds particles in their surroundings: the boundary of a mesh, faces of the domain and obstacles, but where the condition is an
/// exit or a periodic face.
///
/// ```
/// use burntrace_core::{BoundaryCondition, Domain, Face, Surroundings, Walls};
///
/// # fn main() -> Result<(), burntrace_core::Error> {
/// let channel = Surroundings::default()
///     .face(Face::YLow, BoundaryCondition::Reflect)
///     .face(Face::YHigh, BoundaryCondition::Slide);
/// let domain = Domain::new([0.0; 3], [9.0, 1.0, 0.0])?;
/// let walls = Walls::new(&channel, &domain, None)?;
/// assert_eq!(walls.distance([0.5, 0.75, 0.0]), 0.25);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Walls {
    /// Faces of the domain: their axis and their coordinate.
    faces: Vec<(usize, f64)>,
    bodies: Vec<Shape>,
    /// Of the mesh and of surfaces.
    triangles: Option<Triangles>,
}

impl Walls {
    /// The walls of surroundings in a domain, with those of a mesh. A patch of the mesh applies to a face whose middle is in it. Warped and
    /// curved faces are divided into 16 parts.
    ///
    /// # Errors
    ///
    /// [`Error::Patch`] and [`Error::Obstacle`] for those that cannot be in this domain, and [`Error::Arrays`] if there is no wall.
    pub fn new(surroundings: &Surroundings, domain: &Domain, mesh: Option<&Mesh>) -> Result<Self> {
        let mut triangles = Vec::new();
        if let Some(mesh) = mesh {
            add_mesh(surroundings, mesh, &mut triangles)?;
        }
        let mut bodies = Vec::new();
        for obstacle in surroundings.obstacles.iter().filter(|of| is_wall(of.surface)) {
            match outline(obstacle.shape.clone(), domain).map_err(Error::Obstacle)? {
                Shape::Surface(surface) => {
                    let corner = |i: u32| surface.points()[i as usize];
                    triangles.extend(surface.triangles().iter().map(|of| of.map(corner)));
                }
                shape => bodies.push(shape),
            }
        }
        let mut faces = Vec::new();
        for (d, [low, high]) in surroundings.faces.into_iter().enumerate() {
            for (condition, at) in [(low, domain.low[d]), (high, domain.high[d])] {
                if !domain.is_flat(d) && at.is_finite() && is_wall(condition) {
                    faces.push((d, at));
                }
            }
        }
        let walls = Walls { faces, bodies, triangles: Triangles::new(triangles) };
        match walls.faces.is_empty() && walls.bodies.is_empty() && walls.triangles.is_none() {
            false => Ok(walls),
            true => Err(Error::Arrays(
                "there is no wall to be near to: all that surrounds the particles are exits and periodic faces; give a condition such as \
                 `reflect` or `slide` where the walls are"
                    .into(),
            )),
        }
    }

    /// The distance of a position from the nearest wall, on either side of it. Walls behind periodic faces do not count.
    pub fn distance(&self, position: [f64; 3]) -> f64 {
        let of_faces = self.faces.iter().map(|(d, at)| (position[*d] - at).abs());
        let of_bodies = self.bodies.iter().map(|shape| distance(shape, position));
        let of_triangles = self.triangles.iter().map(|all| all.distance(&position));
        of_faces.chain(of_bodies).chain(of_triangles).fold(f64::INFINITY, f64::min)
    }
}

/// Whether a condition makes a wall.
fn is_wall(condition: BoundaryCondition) -> bool {
    !matches!(condition, BoundaryCondition::Exit | BoundaryCondition::Periodic)
}

/// Adds the triangles of the boundary of a mesh.
fn add_mesh(
    surroundings: &Surroundings,
    mesh: &Mesh,
    triangles: &mut Vec<[[f64; 3]; 3]>,
) -> Result<()> {
    for patch in &surroundings.patches {
        patch.check(mesh)?;
    }
    let patches: Vec<MeshPatch> = patch::boxes(&surroundings.patches, mesh, Precision::F64);
    let size = bounding_box(mesh.points_from_origin().iter().copied())?.size();
    let reach = size.into_iter().fold(0.0, f64::max);
    for (cell, face) in mesh.open_faces() {
        let corners = mesh.corner_bounds(cell, face);
        let middle = [0, 1, 2].map(|d| 0.5 * (corners.low[d] + corners.high[d]));
        let patch = MeshPatch::at(&patches, middle, mesh.face_tag(cell, face));
        let condition = patch.map_or(surroundings.mesh_wall, |patch| patches[patch].wall);
        if is_wall(condition) {
            triangles.extend(mesh.face_triangles(cell, face, reach));
        }
    }
    Ok(())
}

/// The distance of a point from the surface of a body.
fn distance(shape: &Shape, p: [f64; 3]) -> f64 {
    match *shape {
        Shape::Sphere { centre, radius } => {
            (length([0, 1, 2].map(|d| p[d] - centre[d])) - radius).abs()
        }
        Shape::Box { low, high } => beside([0, 1, 2].map(|d| (low[d] - p[d]).max(p[d] - high[d]))),
        Shape::Cylinder { base, axis, radius, capped } => {
            let (arm, height) = ([0, 1, 2].map(|d| p[d] - base[d]), length(axis));
            let along = (0..3).map(|d| arm[d] * axis[d] / height).sum::<f64>();
            let across = length([0, 1, 2].map(|d| arm[d] - along * axis[d] / height)) - radius;
            if capped { beside([across, (-along).max(along - height)]) } else { across.abs() }
        }
        // Made of triangles, or not known.
        Shape::Surface(_) | Shape::Land(_) => f64::INFINITY,
    }
}

/// The distance from the surface of a body that is bounded along axes at right angles, by how far a point is beyond the bounds of each.
fn beside<const N: usize>(beyond: [f64; N]) -> f64 {
    let outside = beyond.iter().fold(0.0, |sum: f64, x| sum.hypot(x.max(0.0)));
    let nearest = beyond.iter().fold(f64::NEG_INFINITY, |most, x| most.max(*x));
    if nearest > 0.0 { outside } else { -nearest }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Allowed, CellKind, ClosedSurface, Face, Obstacle, Patch, mesh::Cells};

    const OPEN: [f64; 3] = [f64::INFINITY; 3];

    fn body(shape: Shape, surface: BoundaryCondition) -> Surroundings {
        let obstacle = Obstacle { shape, allowed: Allowed::Outside, surface };
        Surroundings { obstacles: vec![obstacle], ..Surroundings::default() }
    }

    fn of_shape(shape: Shape, p: [f64; 3]) -> f64 {
        let domain = Domain::new([-9.0; 3], [9.0; 3]).unwrap();
        Walls::new(&body(shape, BoundaryCondition::Stick), &domain, None).unwrap().distance(p)
    }

    #[test]
    fn bodies_are_as_far_away_as_their_nearest_points() {
        let ball = || Shape::Sphere { centre: [1.0, 0.0, 0.0], radius: 2.0 };
        assert_eq!([4.0, 1.5].map(|x| of_shape(ball(), [x, 0.0, 0.0])), [1.0, 1.5]);
        let block = || Shape::Box { low: [0.0; 3], high: [1.0, 2.0, f64::INFINITY] };
        assert_eq!(of_shape(block(), [4.0, 6.0, 1.0]), 5.0);
        assert_eq!([-3.0, 3.0].map(|z| of_shape(block(), [0.4, 1.0, z])), [3.0, 0.4]);
        let pipe =
            |capped| Shape::Cylinder { base: [0.0; 3], axis: [0.0, 0.0, 2.0], radius: 1.0, capped };
        assert_eq!(of_shape(pipe(true), [4.0, 0.0, 6.0]), 5.0);
        assert_eq!(of_shape(pipe(true), [0.5, 0.0, 0.25]), 0.25);
        assert_eq!(of_shape(pipe(false), [0.5, 0.0, 0.25]), 0.5);
        let points = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let sides = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
        let tetrahedron = Shape::surface(ClosedSurface::new(&points, &sides).unwrap());
        let third = 1.0 / 3.0_f64.sqrt();
        for (p, expected) in
            [([0.1, 0.2, 0.3], 0.1), ([0.0, 5.0, 3.0], 5.0), ([2.0 / 3.0; 3], third)]
        {
            let found = of_shape(tetrahedron.clone(), p);
            assert!((found - expected).abs() < 1e-15, "{p:?}: {found}");
        }
    }

    #[test]
    fn exits_and_flat_axes_are_no_walls() {
        let domain = Domain::new([0.0; 3], [2.0, 1.0, 0.0]).unwrap();
        let none = body(Shape::Sphere { centre: [1.0; 3], radius: 0.1 }, BoundaryCondition::Exit)
            .face(Face::ZLow, BoundaryCondition::Reflect)
            .face(Face::XLow, BoundaryCondition::Periodic);
        let refused = Walls::new(&none, &domain, None).unwrap_err().to_string();
        assert!(refused.contains("there is no wall"), "{refused}");
        // In a flat domain a ball is a circle.
        let circle =
            body(Shape::Sphere { centre: [1.0; 3], radius: 0.1 }, BoundaryCondition::Slide);
        let walls = Walls::new(&circle, &domain, None).unwrap();
        assert!((walls.distance([1.0, 0.5, 0.0]) - 0.4).abs() < 1e-15);
    }

    /// A quadrilateral from (0, 0) to (2, 1), whose end is a patch.
    #[test]
    fn patches_of_a_mesh_may_be_open() {
        let points = [[0.0, 0.0, 3.0], [2.0, 0.0, 3.0], [2.0, 1.0, 3.0], [0.0, 1.0, 3.0]];
        let cells = Cells {
            kinds: vec![CellKind::Quad],
            offsets: vec![0, 4],
            connectivity: (0..4).collect(),
        };
        let mesh = Mesh::new(&points, cells).unwrap();
        let domain = Domain::new([0.0, 0.0, 3.0], [2.0, 1.0, 3.0]).unwrap();
        let mut surroundings =
            Surroundings { mesh_wall: BoundaryCondition::Slide, ..Surroundings::default() };
        let at = |surroundings: &Surroundings, p: [f64; 3]| {
            Walls::new(surroundings, &domain, Some(&mesh)).unwrap().distance(p)
        };
        assert_eq!(at(&surroundings, [1.875, 0.5, 3.0]), 0.125);
        surroundings.patches.push(Patch::new("end", [2.0, -OPEN[0], -OPEN[0]], OPEN));
        assert_eq!(at(&surroundings, [1.875, 0.5, 3.0]), 0.5);
        assert_eq!(at(&surroundings, [5.0, -4.0, 3.0]), 5.0);
    }

    /// A face that is a quarter of a pipe, of quadratic cells: the distance is that of its parts.
    #[test]
    fn curved_faces_are_divided() {
        let arc = |part: f64, r: f64| {
            let (y, x) = (part * std::f64::consts::FRAC_PI_8).sin_cos();
            [r * x, r * y, 0.0]
        };
        // A quadratic triangle from the centre.
        let points =
            [[0.0; 3], arc(0.0, 1.0), arc(2.0, 1.0), arc(0.0, 0.5), arc(1.0, 1.0), arc(2.0, 0.5)];
        let cells = Cells {
            kinds: vec![CellKind::QuadraticTriangle],
            offsets: vec![0, 6],
            connectivity: (0..6).collect(),
        };
        let mesh = Mesh::new(&points, cells).unwrap();
        let domain = Domain::new([0.0; 3], [1.0, 1.0, 0.0]).unwrap();
        let surroundings =
            Surroundings { mesh_wall: BoundaryCondition::Stick, ..Surroundings::default() };
        let walls = Walls::new(&surroundings, &domain, Some(&mesh)).unwrap();
        for part in [0.3, 0.5, 1.0, 1.4, 1.9] {
            // The chord of a sixteenth of a right angle is 4.8e-3 within the circle, and a parabola 3e-4.
            let found = walls.distance(arc(part, 1.5));
            assert!((found - 0.5).abs() < 5.2e-3, "{part}: {found}");
        }
    }
}
