//! Land compared with a list of all walls that a path crosses.

use super::{shapes::OPEN, *};
use crate::{
    Land,
    physics::{body::host::line, land::host as land},
};
use fastrand::Rng;
use std::sync::Arc;

/// Random land, the walls of its cells, and which of them are land.
struct Made {
    walls: [Vec<f64>; 3],
    is_land: Vec<bool>,
    land: Arc<Land>,
}

fn made(rng: &mut Rng, part: f64) -> Made {
    let walls: [Vec<f64>; 3] = [12, 7, rng.usize(0..4)].map(|count| {
        let mut at = -3.0;
        let gap = if rng.bool() { 0.0 } else { 0.8 };
        let walls = (0..count).map(|_| {
            at += 0.3 + gap * rng.f64();
            f64::from(at as f32)
        });
        walls.collect()
    });
    let count = walls.iter().map(|walls| walls.len() + 1).product();
    let is_land: Vec<bool> = (0..count).map(|_| rng.f64() < part).collect();
    let land = Arc::new(Land::new(&walls, &is_land));
    Made { walls, is_land, land }
}

impl Made {
    fn cell(&self, p: [f64; 3]) -> [usize; 3] {
        [0, 1, 2].map(|d| self.walls[d].partition_point(|wall| *wall <= p[d]))
    }

    fn is_on_land(&self, p: [f64; 3]) -> bool {
        let ([i, j, k], [nx, ny, _]) = (self.cell(p), self.land.cells());
        self.is_land[i + nx * (j + ny * k)]
    }

    /// The fraction of a path from the water at which it first enters land, by the middles between all its crossings.
    fn first_land(&self, from: [f64; 3], to: [f64; 3]) -> Option<f64> {
        let mut parts = vec![0.0, 1.0];
        for d in 0..3 {
            let across = self.walls[d].iter().map(|wall| (wall - from[d]) / (to[d] - from[d]));
            parts.extend(across.filter(|part| (0.0..1.0).contains(part)));
        }
        parts.sort_by(f64::total_cmp);
        let at = |part: f64| [0, 1, 2].map(|d| from[d] + part * (to[d] - from[d]));
        let is_entry = |pair: &&[f64]| {
            pair[1] - pair[0] > 1e-9 && self.is_on_land(at(0.5 * (pair[0] + pair[1])))
        };
        parts.windows(2).find(is_entry).map(|pair| pair[0])
    }

    fn obstacle(&self, surface: BoundaryCondition) -> Obstacle {
        let shape = Shape::Land(self.land.clone());
        Obstacle { shape, allowed: Allowed::Outside, surface }
    }
}

fn random_point(rng: &mut Rng) -> [f64; 3] {
    [-4.0, -4.0, -4.0].map(|low| f64::from((low + 9.0 * rng.f64()) as f32))
}

/// Random paths from the water.
fn paths(rng: &mut Rng, made: &Made, count: usize) -> Vec<[[f64; 3]; 2]> {
    let path = |_| {
        let from = std::iter::repeat_with(|| random_point(rng)).find(|p| !made.is_on_land(*p));
        let from = from.unwrap_or_default();
        let reach = [0.1, 1.0, 20.0][rng.usize(0..3)];
        let mut to = random_point(rng);
        (0..3).for_each(|d| to[d] = from[d] + reach * to[d] / 4.0);
        if rng.u8(0..4) == 0 {
            to[rng.usize(0..3)] = from[0];
        }
        [from, to]
    };
    (0..count).map(path).collect()
}

fn check_crossings<F: Real>() {
    let mut rng = Rng::with_seed(3);
    let (mut hits, mut clear) = (0, 0);
    for part in [0.02, 0.2, 0.5] {
        for _ in 0..20 {
            let made = made(&mut rng, part);
            let obstacles = Obstacles::<F>::new(&[made.obstacle(BoundaryCondition::Stick)], &OPEN);
            for [from, to] in paths(&mut rng, &made, 100) {
                let [a, b] = [from, to].map(|p| p.map(F::of));
                let [from, to] = [a, b].map(|p| p.map(number));
                let (expected, found) = (made.first_land(from, to), obstacles.first_hit(&a, &b));
                let found = found.map(|hit| number(hit.fraction));
                let unit = number(F::epsilon()) * 100.0;
                match (expected, found) {
                    (None, None) => {}
                    (Some(expected), Some(found)) => {
                        assert!((expected - found).abs() < unit, "{expected} {found}")
                    }
                    // At an edge, or at the end, within rounding.
                    _ => assert!(
                        is_doubtful(&made, [from, to], unit),
                        "{expected:?} {found:?} {from:?} {to:?}"
                    ),
                }
                hits += usize::from(found.is_some());
                if obstacles.is_clear(&a, &b) {
                    assert_eq!(expected, None);
                    clear += 1;
                }
            }
        }
    }
    assert!(hits > 1000 && clear > 500, "{hits} {clear}");
}

/// Whether a path with the ends moved by rounding has another answer.
fn is_doubtful(made: &Made, [from, to]: [[f64; 3]; 2], unit: f64) -> bool {
    let answers = (0..27).map(|n| {
        let shift = [n % 3, n / 3 % 3, n / 9].map(|x| (f64::from(x) - 1.0) * unit * 10.0);
        made.first_land(from, [0, 1, 2].map(|d| to[d] + shift[d])).is_some()
    });
    answers.collect::<std::collections::HashSet<_>>().len() > 1
}

#[test]
fn paths_enter_land_at_the_first_wall() {
    check_crossings::<f32>();
    check_crossings::<f64>();
}

fn check_ends<F: Real>() {
    let mut rng = Rng::with_seed(4);
    let mut met = 0;
    for condition in ["stick", "slide", "reflect", "exit"] {
        let condition = BoundaryCondition::ALL.into_iter().find(|of| of.name() == condition);
        for _ in 0..20 {
            let made = made(&mut rng, 0.3);
            let obstacles =
                Obstacles::<F>::new(&[made.obstacle(condition.unwrap_or_default())], &OPEN);
            for [from, to] in paths(&mut rng, &made, 100) {
                let [from, to] = [from, to].map(|p| p.map(F::of));
                let end = obstacles.pass(&from, &to);
                let position = end.position.map(number);
                assert!(
                    !made.is_on_land(position),
                    "{condition:?}: {position:?} from {from:?} to {to:?}"
                );
                let status = end.end.map(|(status, _)| Status::from_code(status));
                let expected = match condition {
                    Some(BoundaryCondition::Stick) => Some(Status::Beached),
                    Some(BoundaryCondition::Exit) => Some(Status::LeftField),
                    _ => None,
                };
                if let Some(status) = status {
                    assert_eq!(status, expected, "{condition:?}");
                }
                met += usize::from(position != to.map(number));
            }
        }
    }
    assert!(met > 2000, "{met}");
}

#[test]
fn paths_never_end_on_land() {
    check_ends::<f32>();
    check_ends::<f64>();
}

#[test]
fn points_on_land_are_moved_to_the_water_beside_it() {
    let walls = [vec![1.0, 2.0], vec![1.0], vec![]];
    let land = Arc::new(Land::new(&walls, &[true, true, false, true, true, true]));
    let made = Made { walls, is_land: Vec::new(), land };
    let obstacles = Obstacles::<f32>::new(&[made.obstacle(BoundaryCondition::Slide)], &OPEN);
    let moved = obstacles.nearest_allowed([1.9, 0.5, 7.0]).unwrap();
    assert!(moved[0] > 2.0 && moved[0] < 2.00001 && moved[1..] == [0.5, 7.0], "{moved:?}");
    let moved = obstacles.nearest_allowed([2.5, 1.1, 7.0]).unwrap();
    assert!(moved[1] < 1.0 && moved[1] > 0.99999 && moved[0] == 2.5, "{moved:?}");
    assert_eq!(obstacles.nearest_allowed([0.5, 1.5, 0.0]), None);
    assert_eq!(obstacles.nearest_allowed([2.0, 0.9, 0.0]), Some([2.0, 0.9, 0.0]));
}

#[test]
fn a_line_that_starts_on_land_meets_it_at_once() {
    let walls = [vec![1.0], vec![], vec![]];
    let land = Arc::new(Land::new(&walls, &[true, false]));
    let made = Made { walls, is_land: Vec::new(), land };
    let obstacles = Obstacles::<f64>::new(&[made.obstacle(BoundaryCondition::Stick)], &OPEN);
    let data = obstacles.data();
    let launch = data.launch(None);
    let lattice = land::load(&launch, 0);
    let (from, to) = (Vec3([0.5, 0.0, 0.0]), Vec3([1.5, 0.1, 0.0]));
    let met = land::crossing(&launch, &lattice, from, to, &line(from, to));
    assert_eq!((met.distance, met.bound, met.normal.0), (0.0, 1, [-1.0, 0.0, 0.0]));
}
