//! Surfaces compared with a search over all triangles, and with analytic shapes.

use super::{
    shapes::{OPEN, SURFACES},
    *,
};
use crate::surface::models::{self, Model, all, ball, block, distance};
use fastrand::Rng;
use std::sync::Arc;

fn random_point(rng: &mut Rng, low: f64, high: f64) -> [f64; 3] {
    [(); 3].map(|()| low + (high - low) * rng.f64())
}

/// A random point: anywhere, near the surface, or near one of its vertices.
fn somewhere(rng: &mut Rng, surface: &ClosedSurface) -> [f64; 3] {
    let [low, high] = surface.bounds();
    let width = (0..3).map(|d| high[d] - low[d]).fold(0.0, f64::max);
    if rng.u8(0..3) == 0 {
        let off = random_point(rng, -0.7, 0.7);
        return [0, 1, 2].map(|d| 0.5 * (low[d] + high[d]) + width * off[d]);
    }
    let corners = surface.triangles()[rng.usize(0..surface.triangles().len())];
    let corners = corners.map(|i| surface.points()[i as usize]);
    let weights = if rng.bool() { random_point(rng, 0.0, 1.0) } else { [1.0, 0.0, 0.0] };
    let sum: f64 = weights.iter().sum();
    let off = random_point(rng, -1.0, 1.0);
    let reach = width * 10.0_f64.powi(rng.i32(-5..0));
    [0, 1, 2].map(|d| {
        let on = (0..3).map(|k| weights[k] / sum * corners[k][d]).sum::<f64>();
        on + reach * off[d]
    })
}

/// The models at several scales and positions.
fn everywhere() -> Vec<(String, Arc<ClosedSurface>)> {
    let mut surfaces = Vec::new();
    for (scale, shift) in [(1.0, [0.0; 3]), (1e-5, [3e-5, -2e-5, 0.0]), (1e4, [1e5, 0.0, -2e4])] {
        for (name, model) in all() {
            let model = model.moved(scale, shift);
            surfaces.push((format!("{name} x {scale}"), Arc::new(model.build())));
        }
    }
    surfaces
}

fn check_values<F: Real>() {
    let mut rng = Rng::with_seed(21);
    for (name, surface) in everywhere() {
        let unit = surface.size() * number(F::epsilon());
        let facets = Facets::<F>::new(&surface);
        let (mut near, mut far) = (0, 0);
        for _ in 0..3000 {
            let p = somewhere(&mut rng, &surface).map(F::of);
            let truth = distance(&surface, p.map(number));
            let (value, projected) = facets.probe(&p);
            let value = number(value);
            let is_doubtful = truth.abs() < 8.0 * unit;
            assert!(is_doubtful || value * truth > 0.0, "{name}: {value} {truth} {p:?}");
            assert!(value.abs() <= truth.abs() + 8.0 * unit, "{name}: {value} {truth} {p:?}");
            if (value.abs() - truth.abs()).abs() <= 8.0 * unit {
                near += 1;
            } else {
                far += 1;
                assert!(truth.abs() > 0.2 * surface.pitch / 1024.0, "{name}: {value} {truth}");
            }
            // Projected to a distance from the nearest feature, where the latter is exact.
            let skin = 16.0 * unit;
            let projected = projected.map(number);
            let after = distance(&surface, projected);
            let gone = minus(&projected, &p.map(number));
            if truth > 1e3 * unit && truth < 0.01 * surface.pitch {
                assert!((dot(&gone, &gone).sqrt() - truth).abs() < 40.0 * unit, "{name} {p:?}");
                assert!((after - skin).abs() < 16.0 * unit, "{name}: {after} {skin} {p:?}");
            }
        }
        assert!(near > 200 && far > 200, "{name}: {near} {far}");
    }
}

#[test]
fn distances_match_brute_force_in_double_precision() {
    check_values::<f64>();
}

#[test]
fn distances_match_brute_force_in_single_precision() {
    check_values::<f32>();
}

fn faceted(
    surface: &Arc<ClosedSurface>,
    allowed: Allowed,
    surface_does: BoundaryCondition,
) -> Obstacle {
    Obstacle { shape: Shape::Surface(surface.clone()), allowed, surface: surface_does }
}

fn is_allowed(surface: &ClosedSurface, allowed: Allowed, p: [f64; 3]) -> bool {
    (distance(surface, p) > 0.0) == (allowed == Allowed::Outside)
}

/// First hits match those over all triangles.
fn check_hits<F: Real>() {
    let mut rng = Rng::with_seed(22);
    for (name, surface) in everywhere() {
        let unit = surface.size() * number(F::epsilon());
        let (mut hits, mut misses) = (0, 0);
        for allowed in [Allowed::Outside, Allowed::Inside] {
            let set =
                Obstacles::<F>::new(&[faceted(&surface, allowed, BoundaryCondition::Stick)], &OPEN);
            for _ in 0..1500 {
                let [from, to] = [(); 2].map(|()| somewhere(&mut rng, &surface).map(F::of));
                let path = [from, to].map(|p| p.map(number));
                let clearance = distance(&surface, path[0]).abs();
                if clearance < 64.0 * unit || !is_allowed(&surface, allowed, path[0]) {
                    continue;
                }
                let truth = models::first_hit(&surface, path);
                let hit = set.first_hit(&from, &to);
                let case = format!("{name} {allowed:?} {path:?}: {truth:?} {hit:?}");
                let along = minus(&path[1], &path[0]);
                let length = dot(&along, &along).sqrt();
                assert!(!set.is_clear(&from, &to) || truth.is_none(), "{case}");
                // A path that only touches the surface may count as hit or miss.
                let at = |f: f64| plus(&path[0], &along, f);
                match (truth, hit) {
                    (Some(truth), Some(hit)) => {
                        hits += 1;
                        let slope = number(dot(&hit.normal, &along.map(F::of))).abs() / length;
                        let off = (number(hit.fraction) - truth).abs() * length;
                        let is_near =
                            distance(&surface, at(number(hit.fraction))).abs() < 64.0 * unit;
                        assert!(
                            off <= 64.0 * unit / slope || is_near && hit.fraction < F::of(truth),
                            "{case}"
                        );
                    }
                    (None, None) => misses += 1,
                    (None, Some(hit)) => {
                        let off = distance(&surface, at(number(hit.fraction))).abs();
                        assert!(off < 64.0 * unit, "{case}");
                    }
                    (Some(truth), None) => {
                        let within = distance(&surface, at((truth + 1e-3).min(1.0)));
                        assert!(within.abs() < 64.0 * unit, "{case} {within}");
                    }
                }
            }
        }
        assert!(hits > 100 && misses > 50, "{name}: {hits} {misses}");
    }
}

#[test]
fn hits_match_brute_force_in_double_precision() {
    check_hits::<f64>();
}

#[test]
fn hits_match_brute_force_in_single_precision() {
    check_hits::<f32>();
}

/// Successive steps of particles never end on the forbidden side.
fn check_steps<F: Real>() {
    let mut rng = Rng::with_seed(23);
    let mut ends = [0; 3];
    for (name, surface) in everywhere() {
        for allowed in [Allowed::Outside, Allowed::Inside] {
            for does in SURFACES {
                let set = Obstacles::<F>::new(&[faceted(&surface, allowed, does)], &OPEN);
                for _ in 0..60 {
                    let start = somewhere(&mut rng, &surface).map(F::of);
                    let Some(mut from) = set.nearest_allowed(start) else { continue };
                    let reach = surface.pitch * [0.01, 0.5, 5.0, 40.0][rng.usize(0..4)];
                    let path = random_point(&mut rng, -reach, reach).map(F::of);
                    for _ in 0..4 {
                        let to = plus(&from, &path, F::one());
                        let passage = set.pass(&from, &to);
                        let exact = passage.position.map(number);
                        let case = format!("{name} {allowed:?} {does:?} {from:?} {to:?} {exact:?}");
                        assert!(is_allowed(&surface, allowed, exact), "{case}");
                        if set.is_clear(&from, &to) {
                            assert!(passage.position == to && passage.end.is_none(), "{case}");
                            ends[0] += 1;
                        }
                        from = passage.position;
                        ends[1] += usize::from(passage.position != to);
                        if passage.end.is_some() {
                            ends[2] += 1;
                            break;
                        }
                    }
                }
            }
        }
    }
    assert!(ends.iter().all(|count| *count > 1000), "{ends:?}");
}

#[test]
fn steps_never_enter_a_surface_in_double_precision() {
    check_steps::<f64>();
}

#[test]
fn steps_never_enter_a_surface_in_single_precision() {
    check_steps::<f32>();
}

/// A particle pressed against a surface repeatedly slides along it, and never through it.
#[test]
fn slide_follows_a_surface() {
    for (name, model) in all() {
        let surface = Arc::new(model.build());
        let set = Obstacles::<f32>::new(
            &[faceted(&surface, Allowed::Outside, BoundaryCondition::Slide)],
            &OPEN,
        );
        let mut rng = Rng::with_seed(24);
        for _ in 0..20 {
            let mut p = random_point(&mut rng, -1.5, 1.5).map(|x| x as f32);
            let Some(start) = set.nearest_allowed(p) else { panic!("{name} {p:?}") };
            p = start;
            for _ in 0..200 {
                // Around z, and inward.
                let to = [
                    p[0] - 0.05 * p[1] - 0.02 * p[0],
                    p[1] + 0.05 * p[0] - 0.02 * p[1],
                    p[2] * 0.98,
                ];
                p = set.pass(&p, &to).position;
                let off = distance(&surface, p.map(f64::from));
                assert!(off > 0.0, "{name} {p:?} {off}");
            }
        }
    }
}

/// A box and its triangulation give the same results for the same paths.
#[test]
fn triangulated_box_matches_analytic_box() {
    let (low, high) = ([-0.5, -0.3, 0.0], [0.5, 0.8, 0.6]);
    let surface = Arc::new(block(low, high).build());
    let mut rng = Rng::with_seed(25);
    for (dtype, rounding) in [(DType::F32, f64::from(f32::EPSILON)), (DType::F64, f64::EPSILON)] {
        for allowed in [Allowed::Outside, Allowed::Inside] {
            for does in SURFACES {
                let plain = Obstacle { shape: Shape::Box { low, high }, allowed, surface: does };
                let other = faceted(&surface, allowed, does);
                let (mut from, mut to) = (Vec::new(), Vec::new());
                while from.len() < 2000 {
                    let [start, path] =
                        [random_point(&mut rng, -1.0, 1.0), random_point(&mut rng, -1.2, 1.2)];
                    // Neither nearly parallel to a face, where rounding is amplified, nor from the
                    // forbidden side.
                    if plain.allows(start, -1e-4) && path.iter().all(|x| x.abs() > 0.05) {
                        from.push(start.map(|x| f64::from(x as f32)));
                        to.push(
                            plus(&from[from.len() - 1], &path, 1.0).map(|x| f64::from(x as f32)),
                        );
                    }
                }
                let found = [plain, other].map(|o| obstacle_passages_of(&o, dtype, &from, &to));
                let mut ended = 0;
                for i in 0..from.len() {
                    let (a, b) = (found[0][i], found[1][i]);
                    let case =
                        format!("{allowed:?} {does:?} {:?} {:?}: {a:?} {b:?}", from[i], to[i]);
                    for d in 0..3 {
                        assert!((a.position[d] - b.position[d]).abs() < 1e3 * rounding, "{case}");
                    }
                    assert_eq!(a.end.map(|end| end.0), b.end.map(|end| end.0), "{case}");
                    let fraction = |end: Option<(Status, f64)>| end.map_or(0.0, |end| end.1);
                    assert!((fraction(a.end) - fraction(b.end)).abs() < 1e3 * rounding, "{case}");
                    ended += usize::from(a.position != to[i]);
                }
                assert!(ended > 200, "{allowed:?} {does:?} {ended}");
            }
        }
    }
}

fn obstacle_passages_of(
    obstacle: &Obstacle,
    dtype: DType,
    from: &[[f64; 3]],
    to: &[[f64; 3]],
) -> Vec<ObstaclePassage> {
    obstacle_passages(std::slice::from_ref(obstacle), &OPEN, dtype, from, to)
}

/// A triangulated ball matches the sphere within the discretisation error.
#[test]
fn triangulated_ball_approximates_a_sphere() {
    let sphere = Shape::Sphere { centre: [0.0; 3], radius: 1.0 };
    let mut rng = Rng::with_seed(26);
    let mut last = f64::INFINITY;
    for times in [3, 5] {
        let Model { triangles, .. } = ball(times);
        let surface = Arc::new(ball(times).build());
        // The sagitta of the arc, for sides that are a fraction of a right angle.
        let bound = 0.75 * (std::f64::consts::FRAC_PI_2 / f64::from(1 << times)).powi(2);
        let (mut from, mut to) = (Vec::new(), Vec::new());
        for _ in 0..2000 {
            // Towards a point well inside.
            let start = random_point(&mut rng, -1.0, 1.0);
            let norm = dot(&start, &start).sqrt();
            from.push(start.map(|x| 2.0 * x / norm));
            to.push(random_point(&mut rng, -0.3, 0.3));
        }
        let stick = Obstacle {
            shape: sphere.clone(),
            allowed: Allowed::Outside,
            surface: BoundaryCondition::Stick,
        };
        let exact = obstacle_passages_of(&stick, DType::F64, &from, &to);
        let other = faceted(&surface, Allowed::Outside, BoundaryCondition::Stick);
        let found = obstacle_passages_of(&other, DType::F64, &from, &to);
        let mut limit = 0.0_f64;
        for (a, b) in exact.iter().zip(&found) {
            assert_eq!((a.end.unwrap().0, b.end.unwrap().0), (Status::Stuck, Status::Stuck));
            let off = minus(&a.position, &b.position);
            limit = limit.max(dot(&off, &off).sqrt());
        }
        assert!(
            limit < bound && limit > 1e-3 * bound,
            "{} triangles: {limit} {bound}",
            triangles.len()
        );
        assert!(limit < last);
        last = limit;
    }
}

#[test]
fn start_inside_a_surface_is_moved_out() {
    let surface = Arc::new(block([-1.0; 3], [1.0, 1.0, 2.0]).build());
    for (allowed, inside, expected) in [
        (Allowed::Outside, [0.5, 0.9, 1.0], [0.5, 1.0, 1.0]),
        (Allowed::Outside, [0.98, 0.1, -0.3], [1.0, 0.1, -0.3]),
        (Allowed::Inside, [0.5, 1.1, 1.0], [0.5, 1.0, 1.0]),
        (Allowed::Inside, [30.0, 30.0, 30.0], [1.0, 1.0, 2.0]),
        (Allowed::Inside, [-5.0, 0.3, 0.2], [-1.0, 0.3, 0.2]),
    ] {
        let obstacle = faceted(&surface, allowed, BoundaryCondition::Slide);
        for dtype in [DType::F32, DType::F64] {
            let found = obstacle_passages_of(&obstacle, dtype, &[inside], &[inside])[0];
            let off = minus(&found.position, &expected);
            assert!(dot(&off, &off).sqrt() < 1e-4, "{inside:?} {found:?}");
            assert!(is_allowed(&surface, allowed, found.position), "{found:?}");
        }
    }
}

/// Paths from far away, and of every length.
#[test]
fn very_long_paths_end_on_the_allowed_side() {
    let mut rng = Rng::with_seed(27);
    let surface = Arc::new(models::torus(24, 12).build());
    for allowed in [Allowed::Outside, Allowed::Inside] {
        for does in SURFACES {
            let set = Obstacles::<f32>::new(&[faceted(&surface, allowed, does)], &OPEN);
            for _ in 0..2000 {
                let reach = 10.0_f64.powi(rng.i32(-6..37));
                let from = somewhere(&mut rng, &surface).map(|x| x as f32);
                let Some(from) = set.nearest_allowed(from) else { continue };
                let to = random_point(&mut rng, -reach, reach).map(|x| x as f32);
                let position = set.pass(&from, &to).position.map(f64::from);
                assert!(is_allowed(&surface, allowed, position), "{from:?} {to:?} {position:?}");
                let back = set.pass(&position.map(|x| x as f32), &from).position.map(f64::from);
                assert!(is_allowed(&surface, allowed, back), "{position:?} {from:?} {back:?}");
            }
        }
    }
}
