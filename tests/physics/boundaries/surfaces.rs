//! Closed surfaces of triangles as obstacles.

use crate::common::*;
use burntrace::{
    Allowed, BoundaryCondition, ClosedSurface, Engine, GridField, Obstacle, SaveAt, Seeds, Shape,
    Status, SurfaceError, Tracer,
};
use std::f64::consts::TAU;

const SURFACES: [BoundaryCondition; 4] = [
    BoundaryCondition::Reflect,
    BoundaryCondition::Slide,
    BoundaryCondition::Stick,
    BoundaryCondition::Exit,
];

/// A box of twelve triangles.
pub fn crate_of_triangles(low: [f64; 3], high: [f64; 3]) -> Shape {
    let corner = |i: usize| [0, 1, 2].map(|d| if i >> d & 1 == 1 { high[d] } else { low[d] });
    let points: Vec<_> = (0..8).map(corner).collect();
    let sides =
        [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles: Vec<_> =
        sides.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]).collect();
    Shape::surface(ClosedSurface::new(&points, &triangles).unwrap())
}

/// A star of five spikes around a centre, up to a height above and below it, with convex and concave edges.
pub fn star(centre: [f64; 3], radius: f64, height: f64) -> Shape {
    let mut points = vec![[0.0, 0.0, height], [0.0, 0.0, -height]];
    for i in 0..10 {
        let (sine, cosine) = (TAU * f64::from(i) / 10.0).sin_cos();
        let reach = if i % 2 == 0 { 1.0 } else { 0.4 };
        points.push([radius * reach * cosine, radius * reach * sine, 0.0]);
    }
    for p in &mut points {
        *p = [0, 1, 2].map(|d| centre[d] + p[d]);
    }
    let around = |i: usize| (2 + i, 2 + (i + 1) % 10);
    let triangles: Vec<_> = (0..10).map(around).flat_map(|(a, b)| [[0, a, b], [1, b, a]]).collect();
    Shape::surface(ClosedSurface::new(&points, &triangles).unwrap())
}

/// A torus around x.
pub fn ring(centre: [f64; 3], around: usize, across: usize) -> Shape {
    let mut points = Vec::new();
    for i in 0..around * across {
        let (sine, cosine) = (TAU * (i / across) as f64 / around as f64).sin_cos();
        let (up, out) = (TAU * (i % across) as f64 / across as f64).sin_cos();
        let radius = 0.28 + 0.1 * out;
        let deviation = [0.1 * up, radius * cosine, radius * sine];
        points.push([0, 1, 2].map(|d| centre[d] + deviation[d]));
    }
    let at = |i: usize, j: usize| i % around * across + j % across;
    let side = |k: usize| {
        let (i, j) = (k / across, k % across);
        let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
        [[a, b, c], [a, c, d]]
    };
    let triangles: Vec<_> = (0..around * across).flat_map(side).collect();
    Shape::surface(ClosedSurface::new(&points, &triangles).unwrap())
}

/// A rotating flow through the box from 0 to (2, 1, 1).
fn turning(machine: &Machine) -> GridField {
    let axes = [even_axis(0.0, 2.0, 9), even_axis(0.0, 1.0, 5), even_axis(0.0, 1.0, 6)];
    let frames = Frames::new(axes, burntrace::Placement::Nodes, &[0.0], |[x, y, z], _| {
        [0.9 + 0.3 * y, 0.5 * (3.0 * x).sin() - 0.2 * z, 0.4 * (2.0 * x + y).cos()]
    });
    machine.field(&frames)
}

fn points(count: usize, obstacle: &Obstacle) -> Vec<[f64; 3]> {
    let points = Dice(23).points([0.0; 3], [2.0, 1.0, 1.0], 4 * count);
    points.into_iter().filter(|p| obstacle.allows(*p, -1e-3)).take(count).collect()
}

fn around<'a>(field: &'a GridField, obstacle: &Obstacle, engine: Engine) -> Tracer<'a> {
    Tracer::new(field)
        .all_faces(BoundaryCondition::Reflect)
        .obstacle(obstacle.clone())
        .span(steps(0.0, 1.5, 30))
        .save(SaveAt::EverySteps(5))
        .engine(engine)
}

#[test]
fn box_of_triangles_acts_like_a_box() {
    let (low, high) = ([0.7, 0.2, 0.3], [1.2, 0.7, 0.8]);
    let shapes = [Shape::Box { low, high }, crate_of_triangles(low, high)];
    for machine in machines() {
        let field = turning(&machine);
        for allowed in [Allowed::Outside, Allowed::Inside] {
            for surface in SURFACES {
                let [plain, faceted] =
                    shapes.clone().map(|shape| Obstacle { shape, allowed, surface });
                let seeds = Seeds::list(points(60, &plain)).unwrap();
                let run =
                    |obstacle: &Obstacle| trace(&around(&field, obstacle, Engine::Fused), &seeds);
                let (expected, found) = (run(&plain), run(&faceted));
                let what = format!("{machine}, {allowed:?}, {surface:?}");
                let same = (0..seeds.len()).filter(|i| {
                    let deviation = distance(&[found.last()[*i]], &[expected.last()[*i]]);
                    found.status[*i] == expected.status[*i] && deviation < 1e4 * machine.eps()
                });
                // One particle may graze an edge.
                let same = same.count();
                assert!(same + 1 >= seeds.len(), "{what}: {same} of {}", seeds.len());
                let met = found.status.iter().any(|status| *status != Status::Active);
                assert!(
                    met == matches!(surface, BoundaryCondition::Stick | BoundaryCondition::Exit),
                    "{what}"
                );
            }
        }
    }
}

/// A surface of many triangles that particles hit repeatedly.
#[test]
fn no_particle_crosses_a_ring_surface() {
    for machine in some_machines() {
        let field = turning(&machine);
        let is_reference = machine.name == "flex";
        let count = if is_reference { 2000 } else { 200 };
        for allowed in [Allowed::Outside, Allowed::Inside] {
            let shape = ring([1.0, 0.5, 0.5], 48, 24);
            for surface in SURFACES {
                let obstacle = Obstacle { shape: shape.clone(), allowed, surface };
                let seeds = Seeds::list(points(count, &obstacle)).unwrap();
                let run = trace(&around(&field, &obstacle, Engine::Fused), &seeds);
                let what = format!("{machine}, {allowed:?}, {surface:?}");
                for p in run.saves.iter().skip(1).flatten() {
                    assert!(obstacle.allows(*p, 0.0), "{what}: {p:?}");
                }
                if surface == BoundaryCondition::Exit {
                    let hit = run.status.iter().filter(|s| **s == Status::HitObstacle).count();
                    assert!(hit > seeds.len() / 20, "{what}: {hit} of {}", seeds.len());
                }
            }
        }
    }
}

#[test]
fn invalid_surfaces_are_rejected() {
    let machine = &machines()[0];
    let flat = Frames::uniform([0.0; 3], [2.0, 1.0, 0.0], &[0.0], |_| [1.0, 0.0, 0.0]);
    let field = machine.field(&flat);
    let shape = star([1.0, 0.5, 0.0], 0.3, 0.1);
    let obstacle = Obstacle { shape, allowed: Allowed::Outside, surface: BoundaryCondition::Slide };
    let seeds = Seeds::list(vec![[0.1, 0.5, 0.0]]).unwrap();
    let tracer = Tracer::new(&field).obstacle(obstacle).span(steps(0.0, 1.0, 2));
    let error = tracer.trace(&seeds).unwrap_err().to_string();
    assert!(error.contains("number 0, a surface: the domain is flat along z"), "{error}");
    let corners = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let error = ClosedSurface::from_corners(&[corners]).unwrap_err();
    assert!(matches!(error, SurfaceError::Open { count: 3, .. }), "{error}");
}
