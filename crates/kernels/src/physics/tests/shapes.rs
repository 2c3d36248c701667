//! Single obstacles: hits, and the responses of their surfaces.

use super::*;
use crate::{BoundaryCondition, Face};
use std::borrow::Borrow;

pub(crate) const OPEN: Boundary = Boundary {
    low: [f64::NEG_INFINITY; 3],
    high: [f64::INFINITY; 3],
    faces: [[BoundaryCondition::Exit; 2]; 3],
    wall: BoundaryCondition::Exit,
    patches: Vec::new(),
};

pub(crate) const SURFACES: [BoundaryCondition; 4] = [
    BoundaryCondition::Reflect,
    BoundaryCondition::Slide,
    BoundaryCondition::Stick,
    BoundaryCondition::Exit,
];
fn sphere(centre: [f64; 3], radius: f64) -> Obstacle {
    solid(Shape::Sphere { centre, radius })
}

fn solid(shape: impl Borrow<Shape>) -> Obstacle {
    let shape = shape.borrow().clone();
    Obstacle { shape, allowed: Allowed::Outside, surface: BoundaryCondition::Reflect }
}

fn vessel(shape: impl Borrow<Shape>) -> Obstacle {
    Obstacle { allowed: Allowed::Inside, ..solid(shape) }
}

fn with(surface: BoundaryCondition, obstacle: Obstacle) -> Obstacle {
    Obstacle { surface, ..obstacle }
}

/// A box with the same condition on all faces.
fn uniform_box(low: f64, high: f64, condition: BoundaryCondition) -> Boundary {
    Boundary { low: [low; 3], high: [high; 3], faces: [[condition; 2]; 3], ..OPEN }
}

fn pass(obstacles: &[Obstacle], boundary: &Boundary, path: [[f64; 3]; 2]) -> ObstaclePassage {
    obstacle_passages(obstacles, boundary, DType::F64, &path[..1], &path[1..])[0]
}

/// Signed distance of a point from the exact shape, by definition: negative inside.
fn value(shape: &Shape, p: [f64; 3]) -> f64 {
    let norm = |v: [f64; 3]| dot(&v, &v).sqrt();
    match *shape {
        Shape::Sphere { centre, radius } => norm(minus(&p, &centre)) - radius,
        Shape::Cylinder { base, axis, radius, capped } => {
            let (m, height) = (minus(&p, &base), norm(axis));
            let along = dot(&m, &axis) / height;
            let round = norm(plus(&m, &axis, -along / height)) - radius;
            if capped { round.max(-along).max(along - height) } else { round }
        }
        Shape::Box { low, high } => {
            (0..3).map(|d| (low[d] - p[d]).max(p[d] - high[d])).fold(f64::NEG_INFINITY, f64::max)
        }
        Shape::Surface(ref surface) => crate::surface::models::distance(surface, p),
        Shape::Land(_) => {
            let (shape, allowed) = (shape.clone(), Allowed::Outside);
            let land = Obstacle { shape, allowed, surface: BoundaryCondition::Stick };
            if land.allows(p, 0.0) { 1.0 } else { -1.0 }
        }
    }
}

pub(crate) fn is_allowed(obstacle: &Obstacle, p: [f64; 3]) -> bool {
    let value = value(&obstacle.shape, p);
    if obstacle.allowed == Allowed::Inside { value < 0.0 } else { value > 0.0 }
}

/// Checks the fraction and normal of a first hit at several scales and positions.
fn check_hit<F: Real>(obstacle: Obstacle, path: [[f64; 3]; 2], expected: Option<(f64, [f64; 3])>) {
    let rounding = number(F::epsilon());
    for scale in [1e-6, 1.0, 1e6] {
        for offset in [0.0, 10.0] {
            let moved = |p: [f64; 3]| [p[0] + offset, p[1] - offset, p[2] + offset];
            let transformed = |p: [f64; 3]| moved(p).map(|x| x * scale);
            let shape = match obstacle.shape {
                Shape::Sphere { centre, radius } => {
                    Shape::Sphere { centre: transformed(centre), radius: radius * scale }
                }
                Shape::Cylinder { base, axis, radius, capped } => {
                    let axis = axis.map(|x| x * scale);
                    Shape::Cylinder {
                        base: transformed(base),
                        axis,
                        radius: radius * scale,
                        capped,
                    }
                }
                Shape::Box { low, high } => {
                    Shape::Box { low: transformed(low), high: transformed(high) }
                }
                Shape::Surface(_) | Shape::Land(_) => {
                    unreachable!("tables are tested in facets.rs and land.rs")
                }
            };
            let obstacles = Obstacles::<F>::new(&[Obstacle { shape, ..obstacle.clone() }], &OPEN);
            let [from, to] = path.map(|p| transformed(p).map(F::of));
            let hit = obstacles.first_hit(&from, &to);
            let case = format!("{obstacle:?} {path:?} x {scale} + {offset}: {hit:?}");
            assert_eq!(hit.is_some(), expected.is_some(), "{case}");
            let (Some(hit), Some((fraction, normal))) = (hit, expected) else { continue };
            let tolerance = 40.0 * rounding * (1.0 + offset);
            assert!((number(hit.fraction) - fraction).abs() <= tolerance, "{case}");
            for (found, expected) in hit.normal.into_iter().zip(normal) {
                assert!((number(found) - expected).abs() <= 2.0 * tolerance, "{case}");
            }
            assert!(!obstacles.is_clear(&from, &to), "{case}");
        }
    }
}

fn check(obstacle: Obstacle, path: [[f64; 3]; 2], expected: Option<(f64, [f64; 3])>) {
    check_hit::<f32>(obstacle.clone(), path, expected);
    check_hit::<f64>(obstacle, path, expected);
}

const BALL: Shape = Shape::Sphere { centre: [0.0; 3], radius: 1.0 };
const PIPE: Shape =
    Shape::Cylinder { base: [0.0; 3], axis: [0.0, 0.0, 2.0], radius: 1.0, capped: false };
const DRUM: Shape =
    Shape::Cylinder { base: [0.0; 3], axis: [0.0, 0.0, 2.0], radius: 1.0, capped: true };
const CRATE: Shape = Shape::Box { low: [-1.0, -1.0, 0.0], high: [1.0, 1.0, 2.0] };

#[test]
fn first_hits_on_analytic_shapes() {
    let left = Some((0.25, [-1.0, 0.0, 0.0]));
    for shape in [BALL, PIPE] {
        check(solid(&shape), [[-2.0, 0.0, 0.0], [2.0, 0.0, 0.0]], left);
    }
    for shape in [PIPE, DRUM, CRATE] {
        check(solid(&shape), [[-2.0, 0.0, 1.0], [2.0, 0.0, 1.0]], left);
        check(vessel(&shape), [[0.0, 0.0, 1.0], [4.0, 0.0, 1.0]], left);
        // Too short to reach it, and past it.
        check(solid(&shape), [[-2.0, 0.0, 1.0], [-1.1, 0.0, 1.0]], None);
        check(solid(&shape), [[-2.0, 1.5, 1.0], [2.0, 1.5, 1.0]], None);
    }
    check(vessel(BALL), [[0.0; 3], [4.0, 0.0, 0.0]], left);
    // 3-4-5 triangle: at y = 0.6 the ball starts at x = -0.8.
    check(solid(BALL), [[-1.8, 0.6, 0.0], [2.2, 0.6, 0.0]], Some((0.25, [-0.8, 0.6, 0.0])));
    for shape in [DRUM, CRATE] {
        let (down, up) = ([0.0, 0.0, -1.0], [0.0, 0.0, 1.0]);
        check(solid(&shape), [[0.5, 0.5, 6.0], [0.5, 0.5, -2.0]], Some((0.5, up)));
        check(solid(&shape), [[0.5, 0.5, -1.0], [0.5, 0.5, 3.0]], Some((0.25, down)));
        check(vessel(&shape), [[0.5, 0.5, 1.0], [0.5, 0.5, 5.0]], Some((0.25, down)));
        // Above it, level with its round side.
        check(solid(&shape), [[-2.0, 0.0, 2.5], [2.0, 0.0, 2.5]], None);
    }
    check(solid(PIPE), [[0.5, 1.5, 6.0], [0.5, 1.5, -2.0]], None);
}

#[test]
fn first_hit_on_a_slanted_cylinder() {
    let axis = [1.0, 1.0, 0.0];
    let shape = Shape::Cylinder { base: [0.0; 3], axis, radius: 0.5, capped: false };
    let half = 0.5_f64.sqrt();
    // Across the axis, along z, and towards it along x.
    check(solid(&shape), [[3.0, 3.0, 2.5], [3.0, 3.0, -1.5]], Some((0.5, [0.0, 0.0, 1.0])));
    let fraction = (4.0 - 0.5 / half) / 8.0;
    check(solid(&shape), [[-4.0, 0.0, 0.0], [4.0, 0.0, 0.0]], Some((fraction, [-half, half, 0.0])));
}

#[test]
fn paths_that_graze_or_start_on_a_surface() {
    let path = |y: f64| [[-2.0, y, 0.0], [2.0, y, 0.0]];
    let first = |obstacle, path: [[f64; 3]; 2]| {
        Obstacles::<f64>::new(&[obstacle], &OPEN).first_hit(&path[0], &path[1])
    };
    assert!(first(solid(BALL), path(1.0)).is_none());
    assert!(first(solid(BALL), path(1.0 + 1e-12)).is_none());
    let hit = first(solid(BALL), path(1.0 - 1e-12)).unwrap();
    assert!((hit.fraction - 0.5).abs() < 1e-6 && (hit.normal[1] - 1.0).abs() < 1e-6);
    for shape in [BALL, PIPE, CRATE] {
        let top = [0.0, 1.0, if shape == CRATE { 0.5 } else { 0.0 }];
        let to = |dy: f64| [top[0] + 0.1, top[1] + dy, top[2]];
        assert!(first(solid(&shape), [top, to(0.5)]).is_none(), "{shape:?}");
        assert_eq!(first(solid(&shape), [top, to(-0.5)]).unwrap().fraction, 0.0, "{shape:?}");
        assert_eq!(first(vessel(&shape), [top, to(0.5)]).unwrap().fraction, 0.0, "{shape:?}");
        assert!(first(vessel(&shape), [top, to(-0.5)]).is_none(), "{shape:?}");
        assert!(first(solid(&shape), [top, top]).is_none());
    }
}

fn assert_near(found: [f64; 3], expected: [f64; 3]) {
    for d in 0..3 {
        assert!((found[d] - expected[d]).abs() < 1e-12, "{found:?}, not {expected:?}");
    }
}

#[test]
fn reflection_mirrors_the_displacement() {
    let path = [[-1.8, 0.6, 0.2], [-0.3, 0.6, 0.2]];
    let found = pass(&[sphere([0.0, 0.0, 0.2], 1.0)], &OPEN, path);
    // The remainder at (-0.8, 0.6) is 0.5 along x, with a normal component of -0.4.
    assert_near(found.position, [-0.8 + 0.5 - 0.64, 0.6 + 0.48, 0.2]);
    assert_eq!(found.end, None);
}

#[test]
fn reflections_between_obstacles_and_faces() {
    let (left, right) = (sphere([-2.0, 0.0, 0.0], 1.0), sphere([2.0, 0.0, 0.0], 1.0));
    let path = [[0.0; 3], [4.5, 0.0, 0.0]];
    let expected = [0.5, 0.0, 0.0];
    assert_near(pass(&[left, right.clone()], &OPEN, path).position, expected);
    let walled = Boundary { low: [-1.0; 3], ..uniform_box(-1.0, 4.0, BoundaryCondition::Reflect) };
    assert_near(pass(std::slice::from_ref(&right), &walled, path).position, expected);
    let clamped = uniform_box(-1.0, 4.0, BoundaryCondition::Clamp);
    assert_near(pass(std::slice::from_ref(&right), &clamped, path).position, [-1.0, 0.0, 0.0]);
    let found = pass(&[right], &uniform_box(-1.0, 4.0, BoundaryCondition::Exit), path);
    let (status, fraction) = found.end.unwrap();
    assert_eq!((status, found.obstacle), (Status::Exited(Face::XLow), None));
    assert!((fraction - 3.0 / 4.5).abs() < 1e-12);
    assert_eq!(found.position[0], -1.0);
}

#[test]
fn obstacles_beyond_periodic_faces() {
    let boundary = uniform_box(0.0, 1.0, BoundaryCondition::Periodic);
    let path = [[0.8, 0.5, 0.5], [1.4, 0.5, 0.5]];
    let ball = with(BoundaryCondition::Stick, sphere([0.3, 0.5, 0.5], 0.1));
    let found = pass(&[ball], &boundary, path);
    assert_near(found.position, [0.2, 0.5, 0.5]);
    assert_eq!((found.image, found.obstacle), ([1, 0, 0], Some(0)));
    let (status, fraction) = found.end.unwrap();
    assert_eq!(status, Status::Stuck);
    assert!((fraction - 2.0 / 3.0).abs() < 1e-12);
    let back = [[0.8, 0.5, 0.5], [-0.3, 0.5, 0.5]];
    let far = sphere([0.3, 0.5, 0.9], 0.1);
    let found = pass(&[far], &boundary, back);
    assert_near(found.position, [0.7, 0.5, 0.5]);
    assert_eq!((found.image, found.end), ([-1, 0, 0], None));
    // Directly behind the face: acts as a wall there.
    let slab = Shape::Box { low: [0.0; 3], high: [0.2, 1.0, 1.0] };
    let found = pass(&[with(BoundaryCondition::Exit, solid(&slab))], &boundary, path);
    assert_near(found.position, [1.0, 0.5, 0.5]);
    assert_eq!((found.image, found.obstacle), ([0; 3], Some(0)));
    let (status, fraction) = found.end.unwrap();
    assert_eq!(status, Status::HitObstacle);
    assert!((fraction - 1.0 / 3.0).abs() < 1e-12);
    let found = pass(&[solid(&slab)], &boundary, path);
    assert_near(found.position, [0.6, 0.5, 0.5]);
}

#[test]
fn sliding_along_bodies_and_vessels() {
    // The remainder at (-0.8, 0.6) is 0.5 along x, with a tangential component of 0.3.
    let path = [[-1.8, 0.6, 0.2], [-0.3, 0.6, 0.2]];
    let found = pass(&[with(BoundaryCondition::Slide, solid(PIPE))], &OPEN, path);
    assert_near(found.position, [-0.8 + 0.18, 0.6 + 0.24, 0.2]);
    // In a vessel the end of the tangent is projected back onto the surface.
    let path = [[0.2, 0.6, 0.2], [1.3, 0.6, 0.2]];
    let found = pass(&[with(BoundaryCondition::Slide, vessel(PIPE))], &OPEN, path);
    let (x, y) = (0.8 + 0.18, 0.6 - 0.24);
    let distance = f64::hypot(x, y);
    assert_near(found.position, [x / distance, y / distance, 0.2]);
    // Into the corner of a box, and along the edge.
    let path = [[0.5, 0.5, 1.0], [1.5, 1.5, 1.5]];
    let found = pass(&[with(BoundaryCondition::Slide, vessel(CRATE))], &OPEN, path);
    assert_near(found.position, [1.0, 1.0, 1.5]);
}

#[test]
fn start_on_the_forbidden_side_is_moved_out() {
    for (obstacle, inside, expected) in [
        (solid(BALL), [0.0, 0.5, 0.0], [0.0, 1.0, 0.0]),
        (solid(BALL), [0.0; 3], [1.0, 0.0, 0.0]),
        (solid(PIPE), [0.0, 0.5, 7.0], [0.0, 1.0, 7.0]),
        (solid(DRUM), [0.0, 0.5, 0.1], [0.0, 0.5, 0.0]),
        (solid(CRATE), [0.5, 0.9, 1.0], [0.5, 1.0, 1.0]),
        (vessel(BALL), [0.0, 5.0, 0.0], [0.0, 1.0, 0.0]),
        (vessel(CRATE), [3.0, 3.0, 3.0], [1.0, 1.0, 2.0]),
        (vessel(DRUM), [0.0, 3.0, 3.0], [0.0, 1.0, 2.0]),
    ] {
        for surface in SURFACES {
            let obstacle = with(surface, obstacle.clone());
            let found = pass(std::slice::from_ref(&obstacle), &OPEN, [inside, inside]);
            assert_near(found.position, expected);
            assert!(is_allowed(&obstacle, found.position), "{obstacle:?}");
            assert_eq!(found.end, None);
        }
    }
    // A point that cannot be corrected is kept.
    let found = pass(&[solid(BALL), vessel(BALL)], &OPEN, [[3.0; 3], [4.0; 3]]);
    assert_eq!(found.position, [3.0; 3]);
}
