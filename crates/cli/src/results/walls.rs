//! Bodies of a case and walls of its mesh, for pictures.

use super::run_results::Results;
use crate::{
    file::{Case, Obstacle, ObstacleShape},
    format::count,
    job, notes,
};
use anyhow::Result;
use burntrace::{Allowed, MeshSource, io, mesh::Mesh};
use burntrace_plot::{Surface, Trajectories};
use std::{cell::OnceCell, f64::consts::TAU, sync::Arc};

/// Maximum number of cells of a mesh whose walls are drawn.
const MAX_CELLS: usize = 1_000_000;
/// Number of sides of round bodies.
const SIDES: usize = 64;

type Triangle = [[f64; 3]; 3];

/// What surrounds the particles of a run.
#[derive(Default)]
pub struct Walls {
    surfaces: Vec<Surface>,
    /// Lines of the boundary of a flat mesh.
    outline: Vec<[[f64; 3]; 2]>,
}

/// Adds the bodies of the case and the walls of its mesh to trajectories. What cannot be drawn is said in a note, once.
pub fn add(results: &Results, trajectories: &mut Trajectories) {
    let walls = results.walls.get_or_init(|| Walls::of(results));
    trajectories.surfaces.extend_from_slice(&walls.surfaces);
    trajectories.outline.extend_from_slice(&walls.outline);
}

impl Walls {
    fn of(results: &Results) -> Walls {
        let mut walls = Walls::default();
        let bodies = results.case.iter().flat_map(|case| &case.obstacle);
        for (number, obstacle) in bodies.enumerate() {
            match body(obstacle, results) {
                Ok(triangles) => {
                    let is_wall = obstacle.allowed == Allowed::Inside;
                    walls.surfaces.push(Surface { triangles, is_wall });
                }
                Err(error) => {
                    notes::note(format!("obstacle {} is not drawn: {error:#}", number + 1));
                }
            }
        }
        match results.mesh() {
            Ok(Some(mesh)) => walls.add_mesh(&mesh, results.domain),
            Ok(None) => {}
            Err(error) => notes::note(format!("the walls of the mesh are not drawn: {error:#}")),
        }
        walls
    }

    /// Adds the boundary of a mesh, without its parts on the faces of the domain: surfaces in 3D, lines in 2D.
    fn add_mesh(&mut self, mesh: &Mesh, [low, high]: [[f64; 3]; 2]) {
        let points: Vec<[f64; 3]> = mesh.points().collect();
        let slack = (0..3).map(|d| high[d] - low[d]).fold(0.0, f64::max) * 1e-6;
        let is_on_face = |corners: &[[f64; 3]]| {
            (0..3).any(|d| {
                let at = |face: f64| corners.iter().all(|corner| (corner[d] - face).abs() <= slack);
                high[d] > low[d] && (at(low[d]) || at(high[d]))
            })
        };
        let mut triangles = Vec::new();
        for cell in 0..mesh.cells().len() {
            let (nodes, kind) = (mesh.cells().nodes(cell), mesh.cells().kinds[cell]);
            let faces = kind.table().faces.iter().zip(mesh.neighbours(cell));
            for (face, _) in faces.filter(|(_, neighbour)| **neighbour < 0) {
                let corners: Vec<[f64; 3]> =
                    face.iter().map(|corner| points[nodes[*corner] as usize]).collect();
                match corners[..] {
                    _ if is_on_face(&corners) => {}
                    [from, to] => self.outline.push([from, to]),
                    [first, ref others @ ..] => {
                        triangles.extend(others.windows(2).map(|pair| [first, pair[0], pair[1]]));
                    }
                    [] => {}
                }
            }
        }
        if !triangles.is_empty() {
            self.surfaces.push(Surface { triangles, is_wall: true });
        }
    }
}

impl Results {
    /// With the mesh of the field, which is then not read again. On a sphere it measures coordinates from elsewhere, and is read.
    pub fn with_mesh(mut self, mesh: Option<&Arc<Mesh>>) -> Results {
        let mesh = mesh.filter(|_| self.radius().is_none());
        let checked = |mesh: &Arc<Mesh>| match check_size(mesh.cells().len()) {
            Ok(()) => Ok(Some(mesh.clone())),
            Err(error) => Err(format!("{error:#}")),
        };
        self.mesh = mesh.map(checked).map_or_else(OnceCell::new, OnceCell::from);
        self
    }

    /// The mesh of the case, which is read from its files once. `None` if the field is not on a mesh.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or has too many cells.
    pub fn mesh(&self) -> Result<Option<Arc<Mesh>>> {
        let read = || self.case.as_ref().map_or(Ok(None), read_mesh);
        let mesh = self.mesh.get_or_init(|| read().map_err(|error| format!("{error:#}")));
        mesh.clone().map_err(anyhow::Error::msg)
    }
}

fn read_mesh(case: &Case) -> Result<Option<Arc<Mesh>>> {
    // The case of a run has absolute paths.
    let Some(series) = job::mesh(case)? else { return Ok(None) };
    check_size(series.cells().len())?;
    // As the field of the run has it.
    let (mesh, _) = Mesh::in_order(series.points(), series.cells(), case.run.precision)?;
    Ok(Some(Arc::new(mesh)))
}

fn check_size(cells: usize) -> Result<()> {
    if cells > MAX_CELLS {
        anyhow::bail!("it has {} cells, more than {}", count(cells), count(MAX_CELLS));
    }
    Ok(())
}

/// The surface of a body, in triangles counterclockwise from outside. Unbounded bodies end at the domain.
fn body(obstacle: &Obstacle, results: &Results) -> Result<Vec<Triangle>> {
    let [low, high] = results.domain;
    Ok(match obstacle.shape {
        ObstacleShape::Sphere { centre, radius } => sphere(centre, radius),
        ObstacleShape::Cylinder { base, axis, radius, capped } => {
            let ends = match capped.unwrap_or(true) {
                true => [0.0, 1.0],
                false => along(base, axis, [low, high]),
            };
            cylinder(base, axis, radius, ends)
        }
        ObstacleShape::Box { low: from, high: to } => {
            let inside = |x: f64, d: usize| x.max(low[d]).min(high[d]);
            cuboid([0, 1, 2].map(|d| inside(from[d], d)), [0, 1, 2].map(|d| inside(to[d], d)))
        }
        ObstacleShape::Surface { ref path, scale, shift, .. } => {
            let surface = io::read_triangles(path)?;
            let surface = surface.moved(scale.unwrap_or(1.0), shift.unwrap_or_default());
            let corner = |index: usize| surface.points[index];
            surface.triangles.iter().map(|triangle| triangle.map(corner)).collect()
        }
    })
}

/// The range of an unbounded axis in a domain, in lengths of the axis from its base.
fn along(base: [f64; 3], axis: [f64; 3], domain: [[f64; 3]; 2]) -> [f64; 2] {
    let square: f64 = axis.iter().map(|x| x * x).sum();
    let corners = (0..8).map(|bits| [0, 1, 2].map(|d| domain[bits >> d & 1][d] - base[d]));
    let parts = corners.map(|x| (0..3).map(|d| x[d] * axis[d]).sum::<f64>() / square);
    parts.fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], part| [a.min(part), b.max(part)])
}

/// Two triangles of a quadrilateral.
fn quad([a, b, c, d]: [[f64; 3]; 4]) -> [Triangle; 2] {
    [[a, b, c], [a, c, d]]
}

fn sphere(centre: [f64; 3], radius: f64) -> Vec<Triangle> {
    let point = |i: usize, j: usize| {
        let (around, up) =
            (TAU * i as f64 / SIDES as f64, TAU / 2.0 * j as f64 / (SIDES / 2) as f64);
        let unit = [up.sin() * around.cos(), up.sin() * around.sin(), -up.cos()];
        [0, 1, 2].map(|d| centre[d] + radius * unit[d])
    };
    let cells = (0..SIDES).flat_map(|i| (0..SIDES / 2).map(move |j| (i, j)));
    cells
        .flat_map(|(i, j)| {
            quad([point(i, j), point(i + 1, j), point(i + 1, j + 1), point(i, j + 1)])
        })
        .collect()
}

fn cylinder(base: [f64; 3], axis: [f64; 3], radius: f64, [from, to]: [f64; 2]) -> Vec<Triangle> {
    let length = axis.iter().map(|x| x * x).sum::<f64>().sqrt();
    let w = axis.map(|x| x / length);
    // The axis of coordinates that is farthest from it spans the normal plane.
    let least = (0..3).min_by(|a, b| w[*a].abs().total_cmp(&w[*b].abs())).unwrap_or(0);
    let other = [0, 1, 2].map(|d| f64::from(u8::from(d == least)));
    let u = cross(w, other);
    let size = u.iter().map(|x| x * x).sum::<f64>().sqrt();
    let u = u.map(|x| x / size);
    let v = cross(w, u);
    let point = |i: usize, part: f64, r: f64| {
        let (sin, cos) = (TAU * i as f64 / SIDES as f64).sin_cos();
        [0, 1, 2].map(|d| base[d] + part * axis[d] + r * (cos * u[d] + sin * v[d]))
    };
    let side = |i: usize| {
        quad([
            point(i, from, radius),
            point(i + 1, from, radius),
            point(i + 1, to, radius),
            point(i, to, radius),
        ])
    };
    let caps = |i: usize| {
        [
            [point(i, to, 0.0), point(i, to, radius), point(i + 1, to, radius)],
            [point(i, from, 0.0), point(i + 1, from, radius), point(i, from, radius)],
        ]
    };
    (0..SIDES).flat_map(|i| side(i).into_iter().chain(caps(i))).collect()
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn cuboid(low: [f64; 3], high: [f64; 3]) -> Vec<Triangle> {
    let corner = |bits: usize| [0, 1, 2].map(|d| if bits >> d & 1 == 1 { high[d] } else { low[d] });
    let faces =
        [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    faces.into_iter().flat_map(|face| quad(face.map(corner))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The volume in a closed surface whose triangles are counterclockwise from outside.
    fn volume(triangles: &[Triangle]) -> f64 {
        let dot = |a: [f64; 3], b: [f64; 3]| (0..3).map(|d| a[d] * b[d]).sum::<f64>();
        triangles.iter().map(|[a, b, c]| dot(*a, cross(*b, *c)) / 6.0).sum()
    }

    #[test]
    fn surfaces_of_bodies_are_closed_and_point_outwards() {
        assert!((volume(&cuboid([1.0, 2.0, 3.0], [2.0, 4.0, 6.0])) - 6.0).abs() < 1e-12);
        let sphere = volume(&sphere([1.0, -1.0, 2.0], 2.0));
        assert!((sphere / (TAU / 1.5 * 8.0) - 1.0).abs() < 0.01, "{sphere}");
        for axis in [[0.0, 0.0, 3.0], [1.0, 2.0, -2.0], [-3.0, 0.0, 0.0]] {
            let cylinder = volume(&cylinder([5.0, 1.0, 1.0], axis, 0.5, [0.0, 1.0]));
            assert!(
                (cylinder / (TAU / 2.0 * 0.25 * 3.0) - 1.0).abs() < 0.01,
                "{axis:?}: {cylinder}"
            );
        }
    }

    #[test]
    fn unbounded_cylinders_reach_through_the_domain() {
        let domain = [[-1.0, 0.0, -2.0], [1.0, 1.0, 6.0]];
        assert_eq!(along([0.0, 0.0, 2.0], [0.0, 0.0, 2.0], domain), [-2.0, 2.0]);
    }
}
