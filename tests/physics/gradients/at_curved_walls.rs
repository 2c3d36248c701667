//! Gradients through walls that are curved, or warped between their corners, against central differences: the
//! normal changes along such a wall.

use super::adjoint::tensor;
use crate::{
    common::*,
    meshes::{Made, MeshFrames},
};
use burntrace::{
    Allowed, BoundaryCondition, CellKind, FLOW_MAP_GRADIENT, Field, Obstacle, Seeds, Shape, Status,
    Tracer,
};
use std::collections::HashSet;

type Point = [f64; 3];

const WALLS: [BoundaryCondition; 4] = [
    BoundaryCondition::Exit,
    BoundaryCondition::Stick,
    BoundaryCondition::Slide,
    BoundaryCondition::Reflect,
];

/// The cell types whose images of the reference cell have other than plane faces, and those in two dimensions.
const KINDS: [CellKind; 7] = [
    CellKind::Hexahedron,
    CellKind::Wedge,
    CellKind::Pyramid,
    CellKind::Quad,
    CellKind::QuadraticTriangle,
    CellKind::QuadraticTetra,
    CellKind::QuadraticHexahedron,
];

/// No face of a box stays plane.
fn warped([x, y, z]: Point) -> Point {
    [
        x + 0.3 * (y - 0.4) * z + 0.12 * (2.1 * y).sin() - 0.1 * z * z,
        y - 0.35 * (x - 0.3) * (z - 0.2) + 0.1 * (1.9 * x).cos(),
        z + 0.3 * x * (y - 0.5) + 0.1 * y * y,
    ]
}

fn warped_in_plane([x, y, _]: Point) -> Point {
    [x + 0.2 * y * y - 0.1 * x * y, y + 0.15 * (2.0 * x).sin(), 0.0]
}

fn swirling([x, y, z]: Point, t: f64) -> Point {
    [1.1 * (2.0 * y).cos() + 0.5 * t, 1.2 * (3.0 * x + z).sin() - t, 0.9 - 2.0 * x + y]
}

/// The final positions from seeds moved along an axis.
fn ends(tracer: &Tracer, seeds: &[Point], d: usize, by: f64) -> Vec<Point> {
    let moved = |p: &Point| std::array::from_fn(|k| p[k] + if k == d { by } else { 0.0 });
    let seeds = Seeds::list(seeds.iter().map(moved).collect::<Vec<_>>()).unwrap();
    trace(tracer, &seeds).saves.pop().unwrap()
}

/// The derivatives of the final positions along an axis, by differences of fourth order.
fn differences(tracer: &Tracer, seeds: &[Point], d: usize, step: f64) -> Vec<Point> {
    let [a, b, c, e] = [-2.0, -1.0, 1.0, 2.0].map(|k| ends(tracer, seeds, d, k * step));
    let of = |i: usize, k: usize| (8.0 * (c[i][k] - b[i][k]) - (e[i][k] - a[i][k])) / (12.0 * step);
    (0..seeds.len()).map(|i| std::array::from_fn(|k| of(i, k))).collect()
}

/// Compares the gradients of the flow map with differences, and those of a sum of final coordinates with the
/// former. A particle for which differences over other steps do not agree has a kink between them, and is left
/// out. Returns how many of how many derivatives were compared, and the final statuses.
fn check(
    what: &str,
    machine: &Machine,
    tracer: &Tracer,
    (seeds, axes): (&[Point], usize),
) -> ([usize; 2], Vec<Status>) {
    let list = Seeds::list(seeds.to_vec()).unwrap();
    let tracks = tracer.clone().flow_map_gradient(true).trace(&list).unwrap();
    let found = floats(tracks.array(FLOW_MAP_GRADIENT).unwrap());
    let mut counts = [0, 0];
    for d in 0..axes {
        let [near, far] = [1e-4, 2e-4].map(|step| differences(tracer, seeds, d, step));
        for (i, (near, far)) in near.iter().zip(&far).enumerate() {
            counts[1] += 1;
            if distance(&[*near], &[*far]) > 1e-8 {
                continue;
            }
            counts[0] += 1;
            let of_one: Point = std::array::from_fn(|c| found[9 * i + 3 * c + d]);
            let off = distance(&[of_one], &[*near]);
            assert!(
                off < 1e-7,
                "{machine}, {what}, axis {d} from {:?}: {of_one:?}, not {near:?}",
                seeds[i]
            );
        }
    }
    let device = machine.device.clone().autodiff();
    let start = tensor(seeds.as_flattened().to_vec(), [seeds.len(), 3], &device).require_grad();
    let tracked = tracer.trace(&Seeds::from_tensor(start.clone()).unwrap()).unwrap();
    let sum = tracked.saves().last().unwrap().position.clone().sum();
    let back = rows(start.grad(&sum.backward()).unwrap());
    for (i, back) in back.iter().enumerate() {
        let forward = std::array::from_fn(|d| (0..3).map(|c| found[9 * i + 3 * c + d]).sum());
        assert_below(&format!("{machine}, {what}"), distance(&[*back], &[forward]), 1e-11);
    }
    (counts, tracks.ends().status.clone())
}

/// Checks every condition on each exact machine; `make` builds a field, and `set` a condition.
fn check_walls(
    what: &str,
    seeds: (&[Point], usize),
    make: impl Fn(&Machine) -> Box<dyn Field>,
    set: impl for<'a> Fn(Tracer<'a>, BoundaryCondition) -> Tracer<'a>,
) {
    for machine in exact_machines() {
        let field = make(&machine);
        for wall in WALLS {
            let what = format!("{what}, {wall:?}");
            for count in [1, 4] {
                let tracer = set(Tracer::new(&*field).span(steps(0.0, 0.5, count)), wall);
                let ([compared, all], statuses) = check(&what, &machine, &tracer, seeds);
                let part = 10 * compared;
                assert!(part >= 7 * all, "{machine}, {what}: {compared} of {all} compared");
                let statuses: HashSet<Status> = statuses.into_iter().collect();
                let ends = matches!(wall, BoundaryCondition::Exit | BoundaryCondition::Stick);
                assert!(!ends || statuses.len() > 1, "{what}: {statuses:?}");
            }
        }
    }
}

#[test]
fn gradients_at_walls_of_warped_and_curved_cells_match_differences() {
    for kind in KINDS {
        let is_flat = kind.dimension() == 2;
        let map = if is_flat { warped_in_plane } else { warped };
        let made = Made::of(2, 0.1, kind).mapped(map);
        let frames = MeshFrames::new(&made, &[0.0, 1.0], swirling);
        let points = Dice(811).points([0.1; 3], [0.9; 3], 16);
        let seeds: Vec<Point> = points.into_iter().map(map).collect();
        let make = |machine: &Machine| -> Box<dyn Field> { Box::new(frames.field(machine)) };
        let axes = if is_flat { 2 } else { 3 };
        check_walls(&format!("{kind:?}"), (&seeds, axes), make, |tracer, wall| {
            tracer.mesh_wall(wall)
        });
    }
}

fn distance_from_centre(p: Point) -> f64 {
    p.iter().map(|x| (x - 0.5).powi(2)).sum::<f64>().sqrt()
}

#[test]
fn gradients_at_curved_bodies_match_differences() {
    let axes = || [even_axis(0.0, 1.0, 1), even_axis(0.0, 1.0, 1), even_axis(0.0, 1.0, 1)];
    let make = |machine: &Machine| -> Box<dyn Field> {
        let frames = Frames::new(axes(), burntrace::Placement::Nodes, &[0.0, 1.0], swirling);
        Box::new(machine.field(&frames))
    };
    let ball = |radius| Shape::Sphere { centre: [0.5; 3], radius };
    let pipe = Shape::Cylinder {
        base: [0.5, 0.5, 0.1],
        axis: [0.03, 0.05, 0.7],
        radius: 0.3,
        capped: false,
    };
    for (shape, allowed) in
        [(ball(0.25), Allowed::Outside), (ball(0.45), Allowed::Inside), (pipe, Allowed::Inside)]
    {
        let points = Dice(812).points([0.05; 3], [0.95; 3], 200);
        let is_free = |p: &Point| {
            let far = distance_from_centre(*p);
            if allowed == Allowed::Inside { far < 0.25 } else { far > 0.27 }
        };
        let obstacle = |surface| Obstacle { shape: shape.clone(), allowed, surface };
        let seeds: Vec<Point> = points.into_iter().filter(is_free).take(16).collect();
        check_walls(&format!("{shape:?}, {allowed:?}"), (&seeds, 3), make, |tracer, surface| {
            tracer.all_faces(BoundaryCondition::Exit).obstacles(vec![obstacle(surface)])
        });
    }
}
