//! Tests with random obstacles, domain boxes and paths.

use super::{
    shapes::{OPEN, SURFACES, is_allowed},
    *,
};
use crate::surface::models;
use fastrand::Rng;

const CONDITIONS: [BoundaryCondition; 4] = [
    BoundaryCondition::Periodic,
    BoundaryCondition::Reflect,
    BoundaryCondition::Clamp,
    BoundaryCondition::Exit,
];

/// A random test case.
pub(crate) struct Case {
    pub obstacles: Vec<Obstacle>,
    pub boundary: Boundary,
    from: [f64; 3],
    to: [f64; 3],
}

pub(crate) fn random_point(rng: &mut Rng, low: f64, high: f64) -> [f64; 3] {
    [(); 3].map(|()| low + (high - low) * rng.f64())
}

fn obstacle(rng: &mut Rng, low: f64, high: f64) -> Obstacle {
    let width = high - low;
    let centre = random_point(rng, low, high);
    let allowed = if rng.u8(0..4) == 0 { Allowed::Inside } else { Allowed::Outside };
    let solid = width * (0.05 + 0.2 * rng.f64());
    let radius = if allowed == Allowed::Inside { width * (0.3 + 0.7 * rng.f64()) } else { solid };
    let shape = match rng.u8(0..4) {
        0 => Shape::Sphere { centre, radius },
        1 => {
            let half = random_point(rng, 0.5 * radius, radius);
            let (mut low, mut high) = (minus(&centre, &half), plus(&centre, &half, 1.0));
            if rng.bool() {
                (low[2], high[2]) = (f64::NEG_INFINITY, f64::INFINITY);
            }
            Shape::Box { low, high }
        }
        kind => {
            let mut axis = random_point(rng, -radius, radius);
            if rng.bool() {
                axis = [0.0, 0.0, radius];
            }
            Shape::Cylinder { base: centre, axis, radius, capped: kind == 2 }
        }
    };
    Obstacle { shape, allowed, surface: SURFACES[rng.usize(0..4)] }
}

pub(crate) fn case(rng: &mut Rng) -> Case {
    let width = 10.0_f64.powi(rng.i32(-6..=6));
    let low = width * [0.0, 0.0, -3.7, 20.0][rng.usize(0..4)];
    let high = low + width;
    let mut boundary = Boundary { low: [low; 3], high: [high; 3], ..OPEN };
    for faces in &mut boundary.faces {
        *faces = [CONDITIONS[rng.usize(0..4)], CONDITIONS[rng.usize(0..4)]];
        if faces.contains(&BoundaryCondition::Periodic) {
            *faces = [BoundaryCondition::Periodic; 2];
        }
    }
    let obstacles = (0..rng.usize(1..4)).map(|_| obstacle(rng, low, high)).collect();
    let from = random_point(rng, low, high);
    let reach = width * [0.01, 0.3, 1.0, 30.0][rng.usize(0..4)];
    let to = plus(&from, &random_point(rng, -reach, reach), 1.0);
    Case { obstacles, boundary, from, to }
}

/// Surfaces in the box from 0 to 1, for [`among`].
pub(crate) fn surfaces(rng: &mut Rng) -> Vec<Shape> {
    let mut shapes = Vec::new();
    for (_, model) in models::all().into_iter().chain(models::all()) {
        let scale = 0.15 + 0.25 * rng.f64();
        let shift = random_point(rng, 0.2, 0.7);
        shapes.push(Shape::surface(model.moved(scale, shift).build()));
    }
    shapes
}

/// A path among surfaces, and sometimes a ball, in the box from 0 to 1.
pub(crate) fn among(rng: &mut Rng, surfaces: &[Shape]) -> Case {
    let mut case = case(rng);
    (case.boundary.low, case.boundary.high) = ([0.0; 3], [1.0; 3]);
    case.obstacles.clear();
    for _ in 0..rng.usize(1..3).min(surfaces.len()) {
        let allowed = if rng.u8(0..3) == 0 { Allowed::Inside } else { Allowed::Outside };
        let shape = surfaces[rng.usize(0..surfaces.len())].clone();
        case.obstacles.push(Obstacle { shape, allowed, surface: SURFACES[rng.usize(0..4)] });
    }
    if rng.bool() {
        case.obstacles.push(obstacle(rng, 0.0, 1.0));
    }
    case.from = random_point(rng, 0.0, 1.0);
    let reach = [0.01, 0.3, 1.0, 30.0][rng.usize(0..4)];
    case.to = plus(&case.from, &random_point(rng, -reach, reach), 1.0);
    case
}

/// A path among land, and sometimes a ball, in the box from 0 to 1.
pub(crate) fn ashore(rng: &mut Rng) -> Case {
    let mut case = among(rng, &[]);
    let cells = [rng.usize(1..9), rng.usize(1..9), rng.usize(1..4)];
    let walls = cells.map(|count| {
        (1..count)
            .map(|i| (i as f64 + 0.5 * rng.f64()) / count as f64)
            .map(|x| f64::from(x as f32))
            .collect()
    });
    let is_land: Vec<bool> = (0..cells.iter().product()).map(|_| rng.u8(0..3) == 0).collect();
    let shape = Shape::Land(std::sync::Arc::new(crate::Land::new(&walls, &is_land)));
    let surface = SURFACES[rng.usize(0..4)];
    case.obstacles.push(Obstacle { shape, allowed: Allowed::Outside, surface });
    case
}

/// Several steps with the same displacement, as a tracer takes them.
fn check_case<F: Real>(case: &Case, seen: &mut Seen) {
    let Case { obstacles, boundary, .. } = case;
    let set = Obstacles::<F>::new(obstacles, boundary);
    let Some(mut from) = set.nearest_allowed(case.from.map(F::of)) else { return };
    let path = minus(&case.to.map(F::of), &case.from.map(F::of));
    for _ in 0..3 {
        let to = plus(&from, &path, F::one());
        let passage = set.pass(&from, &to);
        let exact = passage.position.map(number);
        for obstacle in obstacles {
            assert!(is_allowed(obstacle, exact), "{exact:?} {obstacle:?} {from:?} {to:?}");
        }
        for d in 0..3 {
            let (low, high) = (F::of(boundary.low[d]), F::of(boundary.high[d]));
            assert!(low <= passage.position[d] && passage.position[d] <= high);
            assert!(passage.image[d] == 0 || boundary.is_periodic(d));
        }
        check_clear(&set, (&from, &to), &passage, seen);
        if let Some((status, fraction)) = passage.end {
            assert!(F::zero() <= fraction && fraction <= F::one(), "{fraction:?}");
            seen.ends[status as usize] += 1;
            return;
        }
        assert_eq!(passage.face, None);
        from = passage.position;
    }
    seen.followed += 1;
}

/// A clear path has no hit, and ends at its end if that is in the box.
fn check_clear<F: Real>(
    set: &Obstacles<F>,
    (from, to): (&[F; 3], &[F; 3]),
    passage: &Ended<F>,
    seen: &mut Seen,
) {
    if !set.is_clear(from, to) {
        return;
    }
    assert!(set.first_hit(from, to).is_none());
    let inside = (0..3).all(|d| set.low[d] <= to[d] && to[d] <= set.high[d]);
    if inside {
        seen.clear += 1;
        assert!(passage.position == *to && passage.end.is_none() && passage.image == [0; 3]);
    }
}

#[derive(Default, Debug)]
struct Seen {
    clear: usize,
    followed: usize,
    ends: [usize; 14],
}

fn check_random<F: Real>() {
    let (mut rng, mut seen) = (Rng::with_seed(7), Seen::default());
    for _ in 0..100_000 {
        check_case::<F>(&case(&mut rng), &mut seen);
    }
    // All outcomes must have occurred.
    assert!(seen.clear > 5_000 && seen.followed > 10_000, "{seen:?}");
    assert!(seen.ends[STUCK as usize..].iter().all(|count| *count > 1_000), "{seen:?}");
}

#[test]
fn steps_never_end_on_the_forbidden_side_among_surfaces() {
    let (mut rng, mut seen) = (Rng::with_seed(8), Seen::default());
    let surfaces = surfaces(&mut rng);
    for _ in 0..20_000 {
        let case = among(&mut rng, &surfaces);
        check_case::<f32>(&case, &mut seen);
        check_case::<f64>(&case, &mut seen);
    }
    assert!(seen.clear > 5_000 && seen.followed > 5_000, "{seen:?}");
    assert!(seen.ends[STUCK as usize..].iter().all(|count| *count > 500), "{seen:?}");
}

#[test]
fn steps_never_end_on_the_forbidden_side_in_single_precision() {
    check_random::<f32>();
}

#[test]
fn steps_never_end_on_the_forbidden_side_in_double_precision() {
    check_random::<f64>();
}

/// Without an obstacle on the path, only the box matters.
#[test]
fn distant_obstacles_change_nothing() {
    let mut rng = Rng::with_seed(3);
    let centre = [500.0; 3];
    let shape = Shape::Sphere { centre, radius: 1.0 };
    let far = Obstacle { shape, allowed: Allowed::Outside, surface: BoundaryCondition::Stick };
    for _ in 0..20_000 {
        let Case { boundary, from, to, .. } = case(&mut rng);
        // Within the maximum number of events of a step.
        let to = plus(&from, &minus(&to, &from), 0.5);
        let width = boundary.high[0] - boundary.low[0];
        let passage = Obstacles::<f64>::new(std::slice::from_ref(&far), &boundary).pass(&from, &to);
        let landing = Obstacles::<f64>::new(&[], &boundary).pass(&from, &to);
        assert_eq!(passage.image, landing.image);
        assert_eq!(passage.end.map(|end| end.0), landing.end.map(|end| end.0));
        let of = |end: Option<(i32, f64)>| end.map_or(0.0, |end| end.1);
        assert!((of(passage.end) - of(landing.end)).abs() < 1e-11);
        for d in 0..3 {
            let off = (passage.position[d] - landing.position[d]).abs();
            assert!(off < 1e-11 * width, "{from:?} {to:?} {boundary:?}");
        }
    }
}

/// A particle pressed against a vessel slides around it, and never leaves it.
#[test]
fn slide_follows_a_vessel() {
    let shape = Shape::Sphere { centre: [0.3, 0.1, 0.0], radius: 1.1 };
    let vessel = Obstacle { shape, allowed: Allowed::Inside, surface: BoundaryCondition::Slide };
    let set = Obstacles::<f32>::new(std::slice::from_ref(&vessel), &OPEN);
    let mut p = [0.3_f32, -1.0, 0.0];
    for _ in 0..10_000 {
        let (x, y) = (p[0] - 0.3, p[1] - 0.1);
        let to = [p[0] - 0.01 * y + 0.01 * x, p[1] + 0.01 * x + 0.01 * y, 0.0];
        let next = set.pass(&p, &to).position;
        assert!(is_allowed(&vessel, next.map(f64::from)));
        let gone = minus(&next, &p);
        assert!((dot(&gone, &gone).sqrt() - 0.011).abs() < 2e-4, "{gone:?}");
        p = next;
    }
}

/// In a domain of zero thickness particles stay in its plane.
#[test]
fn particles_stay_in_a_flat_domain() {
    let mut rng = Rng::with_seed(5);
    for _ in 0..20_000 {
        let mut case = case(&mut rng);
        let z = case.boundary.low[2];
        case.boundary.high[2] = z;
        (case.from[2], case.to[2]) = (z, z);
        for obstacle in &mut case.obstacles {
            let (base, radius) = match obstacle.shape {
                Shape::Sphere { centre, radius } => (centre, radius),
                Shape::Cylinder { base, radius, .. } => (base, radius),
                Shape::Box { low, high } => (low, high[0] - low[0]),
                Shape::Surface(_) | Shape::Land(_) => unreachable!("the case has no tables"),
            };
            let axis = [0.0, 0.0, radius];
            obstacle.shape = Shape::Cylinder { base, axis, radius, capped: false };
        }
        check_case::<f32>(&case, &mut Seen::default());
    }
}

/// Displacements up to the largest floats.
#[test]
fn huge_displacements_end_at_allowed_points() {
    let mut rng = Rng::with_seed(9);
    for _ in 0..20_000 {
        let mut case = case(&mut rng);
        let power = rng.i32(6..39);
        let reach = 10.0_f64.powi(power);
        case.to = random_point(&mut rng, -reach, reach);
        if power < 37 && rng.bool() {
            case.boundary = OPEN;
        }
        check_case::<f32>(&case, &mut Seen::default());
    }
}
