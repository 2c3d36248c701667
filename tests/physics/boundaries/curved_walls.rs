//! Particles that slide along walls of meshes that are curved, or warped between their corners, against the motion on
//! the exact surface.

use crate::{
    common::*,
    meshes::{Made, MeshFrames, machines_for},
};
use burntrace::{BoundaryCondition, CellKind, Engine, Seeds, Tracer};

type Point = [f64; 3];

const VELOCITY: Point = [0.5, -0.6, 0.35];
const END: f64 = 1.0;

/// A height of the wall over x and z, and its derivatives.
type Height = fn(f64, f64) -> [f64; 3];

/// Straight along x and along z, and hollow in the direction of the velocity.
fn saddle(x: f64, z: f64) -> [f64; 3] {
    [0.5 * (x - 0.2) * (z + 0.3), 0.5 * (z + 0.3), 0.5 * (x - 0.2)]
}

fn bowl(x: f64, z: f64) -> [f64; 3] {
    [0.4 * x * x + 0.3 * z * z, 0.8 * x, 0.6 * z]
}

/// The velocity without its component into the wall.
fn along_wall(height: Height, [x, _, z]: Point) -> Point {
    let [_, by_x, by_z] = height(x, z);
    let normal = [-by_x, 1.0, -by_z];
    let dot = |a: Point, b: Point| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let part = dot(VELOCITY, normal) / dot(normal, normal);
    [0, 1, 2].map(|d| VELOCITY[d] - part * normal[d])
}

/// The end of a particle that stays on the wall, by small steps of the midpoint rule.
fn exact(height: Height, start: Point) -> Point {
    let steps = 4000;
    let dt = END / f64::from(steps);
    let moved = |p: Point, by: Point, h: f64| [0, 1, 2].map(|d| p[d] + h * by[d]);
    (0..steps).fold(start, |p, _| {
        let middle = moved(p, along_wall(height, p), 0.5 * dt);
        moved(p, along_wall(height, middle), dt)
    })
}

/// Each step loses what the wall turns within it: errors are of first order.
#[test]
fn sliding_particles_follow_curved_walls_of_meshes() {
    let walls: [(CellKind, Height); 3] = [
        (CellKind::Hexahedron, saddle),
        (CellKind::QuadraticHexahedron, saddle),
        (CellKind::QuadraticHexahedron, bowl),
    ];
    for (kind, height) in walls {
        let made =
            Made::of(2, 0.0, kind).mapped(|[x, y, z]| [x, y + (1.0 - y) * height(x, z)[0], z]);
        let frames = MeshFrames::new(&made, &[0.0, END], |_, _| VELOCITY);
        // Out of the planes between cells.
        let feet = [[0.1, 0.15], [0.3, 0.05], [0.05, 0.4], [0.21, 0.33]];
        let starts = feet.map(|[x, z]| [x, height(x, z)[0], z]);
        let seeds = Seeds::list(starts.map(|[x, y, z]| [x, y + 1e-5, z]).to_vec()).unwrap();
        let expected = starts.map(|p| exact(height, p));
        for machine in machines_for(kind) {
            let field = frames.field(&machine);
            for engine in [Engine::Fused, Engine::Tensor] {
                let off = |count: u64| {
                    let tracer = Tracer::new(&field)
                        .engine(engine)
                        .mesh_wall(BoundaryCondition::Slide)
                        .span(steps(0.0, END, count));
                    let run = trace(&tracer, &seeds);
                    distance(run.saves.last().unwrap(), &expected)
                };
                let what = format!("{machine}, {kind:?}, {engine:?}");
                let errors = [1, 8, 16, 32].map(off);
                assert_below(&what, errors[0], 0.12);
                for pair in errors[1..].windows(2) {
                    assert_below(&what, pair[1] / pair[0], 0.55);
                }
                assert_below(&what, errors[3], 0.005);
            }
        }
    }
}
