//! Fields on scattered points: node search and both weightings, against the tensor engine, which visits all
//! nodes, and against an independent oracle.
//!
//! The velocity jumps where another node becomes the nearest, or where the set of neighbours of a mean
//! changes. The outcome of a particle within rounding of such a position is undecided. The oracle detects
//! these particles by perturbation. All others must agree to rounding, and they must be the great majority.

use crate::{
    cloud::{Cloud, OracleCheck, mean, single, tracer},
    common::*,
    oracle::{Case, HELD, Point, Space, perturbation},
};
use burn::tensor::{Tensor, TensorData};
use burntrace::{
    BoundaryCondition::{self, Clamp, Exit, Periodic, Reflect},
    Domain, Engine, Error, Face, Field, FieldOptions, Floats, FrameData, FrameSource, NotFinite,
    OutsideTime, PointField, PointSource, Precision, SaveAt, Scheme, Seeds, SourceError, Status,
    TimeInterpolation, Tracer, Weighting,
};
use std::{sync::mpsc, time::Duration};

/// Random points in a box, rounded to single precision.
fn points(seed: u64, low: Point, high: Point, count: usize) -> Vec<Point> {
    single(Dice(seed).points(low, high, count))
}

// ---- both engines ----

const WEIGHTINGS: [(usize, f64); 7] =
    [(0, 0.0), (1, 2.0), (1, 3.5), (4, 2.0), (4, 3.5), (8, 2.0), (8, 3.5)];

fn weighting((neighbours, power): (usize, f64)) -> Weighting {
    if neighbours == 0 { Weighting::Nearest } else { mean(neighbours, power) }
}

/// A cloud in a box of 2 x 1 x 1 that carries particles through it in several steps along one axis. No step
/// ends on a frame.
fn case(weighting: Weighting, scheme: Scheme, faces: BoundaryCondition) -> Case<Cloud> {
    let mut dice = Dice(31 + scheme as u64);
    let fast = (scheme as usize + faces as usize) % 3;
    let nodes = points(5, [0.1, 0.0, 0.0], [2.0, 1.0, 0.9], 50);
    let mut cloud = Cloud::new(nodes, &[0.0, 0.35, 1.0], weighting, |_, _| {
        let mut v: Point = std::array::from_fn(|_| dice.between(-1.0, 1.0));
        v[fast] += 4.0;
        v
    });
    cloud.corners = [[0.0; 3], [2.0, 1.0, 1.0]];
    Case {
        frames: cloud,
        in_time: TimeInterpolation::Linear,
        outside: OutsideTime::Error,
        scheme,
        faces: [[faces; 2]; 3],
        obstacles: vec![],
        held: HELD,
        times: even_axis(0.0, 0.9, 5),
        stagnant_speed: 0.0,
    }
}

fn case_seeds() -> Seeds {
    let release = (0..14).map(|i| [0.0, 0.0, 0.0, 0.07, 0.18, 0.59][i % 6]).collect();
    let seeds = Seeds::list(points(77, [0.0; 3], [2.0, 1.0, 1.0], 14)).unwrap();
    seeds.with_release(release).unwrap()
}

/// Kernels are compiled for each weighting, scheme, and periodic or other faces: a software GPU tests a few
/// of them, with few stages.
fn is_tested(machine: &Machine, which: usize, case: &Case<Cloud>) -> bool {
    let is_periodic = case.faces[0][0] == Periodic;
    let is_double = machine.is_double();
    machine.is_cpu()
        || match (WEIGHTINGS[which], case.scheme) {
            ((0, _), Scheme::Rk4) => !is_periodic || !is_double,
            ((1, 2.0), Scheme::Euler) | ((4, 2.0), Scheme::Rk4) => !is_periodic && !is_double,
            ((8, 3.5), Scheme::Euler) => is_periodic,
            _ => false,
        }
}

#[test]
fn tracks_of_both_engines_agree_in_point_fields() {
    let (machines, seeds) = (machines(), case_seeds());
    let (mut compared, mut undecided) = (0, 0);
    let mut statuses = std::collections::HashSet::new();
    for (which, kind) in WEIGHTINGS.into_iter().enumerate() {
        for scheme in Scheme::ALL {
            for condition in [Exit, Clamp, Reflect, Periodic] {
                let case = case(weighting(kind), scheme, condition);
                for precision in [Precision::F32, Precision::F64] {
                    let of_it = machines.iter().filter(|m| m.precision == precision);
                    let mut reference: Option<(OracleCheck, Run)> = None;
                    for machine in of_it.filter(|m| is_tested(m, which, &case)) {
                        let field = case.frames.load(machine);
                        let run = |engine| trace(&tracer(&case, &field).engine(engine), &seeds);
                        // The first machine is Flex, whose tensor engine is the reference.
                        let (oracle_check, tensor) = reference.get_or_insert_with(|| {
                            (
                                OracleCheck::new(&case, &seeds, perturbation(machine.eps())),
                                run(Engine::Tensor),
                            )
                        });
                        let fused = run(Engine::Fused);
                        let what = format!("{machine}, {kind:?}, {scheme:?}, {condition:?}");
                        undecided += oracle_check.check_both(&what, &fused, tensor);
                        compared += seeds.len();
                        statuses.extend(fused.status);
                    }
                }
            }
        }
    }
    assert!(undecided * 50 < compared, "{undecided} of {compared} are undecided");
    assert!(statuses.contains(&Status::Active), "{statuses:?}");
    let exits = Face::ALL.into_iter().filter(|face| statuses.contains(&Status::Exited(*face)));
    assert!(exits.count() >= 3, "{statuses:?}");
}

/// The tensor engines of the CPU devices, and of a GPU for some cases.
#[test]
fn tensor_engine_matches_the_oracle_on_every_device() {
    let seeds = case_seeds();
    for (kind, scheme, faces) in [
        ((0, 0.0), Scheme::Midpoint, Reflect),
        ((4, 3.5), Scheme::Euler, Exit),
        ((8, 2.0), Scheme::Euler, Periodic),
    ] {
        let mut case = case(weighting(kind), scheme, faces);
        case.times.truncate(3);
        for machine in machines() {
            if !machine.is_cpu() && (machine.is_double() || kind.0 != 4) {
                continue;
            }
            let field = case.frames.load(&machine);
            let oracle_check = OracleCheck::new(&case, &seeds, perturbation(machine.eps()));
            let run = trace(&tracer(&case, &field).engine(Engine::Tensor), &seeds);
            let undecided = oracle_check.check(&format!("{machine}, {kind:?}, {scheme:?}"), &run);
            assert!(undecided <= 1, "{machine}, {kind:?}: {undecided} are undecided");
        }
    }
}

// ---- the oracle ----

/// Nodes, the box of the particles, and the unit of the coordinates.
struct Shape {
    name: &'static str,
    nodes: Vec<Point>,
    corners: [Point; 2],
    /// The maximum coordinate, the scale of rounding errors.
    size: f64,
    faces: BoundaryCondition,
    is_single: bool,
}

impl Shape {
    fn new(name: &'static str, nodes: Vec<Point>, low: Point, high: Point) -> Self {
        let size = [low, high].as_flattened().iter().fold(0.0, |a, b| f64::max(a, b.abs()));
        Shape { name, nodes, corners: [low, high], size, faces: Reflect, is_single: true }
    }

    /// Random nodes throughout the box.
    fn full(name: &'static str, low: Point, high: Point, count: usize) -> Self {
        Shape::new(name, points(count as u64, low, high, count), low, high)
    }
}

const UNIT: [Point; 2] = [[0.0; 3], [1.0; 3]];

/// Half of the nodes are in a millionth of the volume.
fn clustered(count: usize) -> Vec<Point> {
    let mut nodes = points(8, [0.0; 3], [1.0; 3], count / 2);
    nodes.extend(points(9, [0.4; 3], [0.41; 3], count / 2));
    nodes
}

/// A line through the box, not parallel to an axis.
fn collinear(count: usize) -> Vec<Point> {
    let at = |i: usize| (i * i) as f64 / (count * count) as f64;
    single((0..count).map(|i| [at(i), 0.25 + 0.5 * at(i), 1.0 - at(i)]).collect())
}

fn shapes() -> Vec<Shape> {
    let [low, high] = UNIT;
    let few = |name, count| Shape::new(name, points(40, low, high, count), low, high);
    let flat = |z| [[0.0, 0.0, z], [1.0, 1.0, z]];
    let [flat_low, flat_high] = flat(0.375);
    let duplicated: Vec<Point> = points(3, low, high, 30).repeat(3);
    let offset = |p: Point| p.map(|x| 1e6 + x);
    let mut shapes = vec![
        Shape { faces: Exit, ..Shape::full("3-D", low, high, 200) },
        Shape::full("flat", flat_low, flat_high, 100),
        Shape::new("flat in a thick box", points(6, flat_low, flat_high, 100), low, high),
        Shape::full("a line along y", [0.5, 0.0, 0.5], [0.5, 1.0, 0.5], 30),
        Shape::new("clustered", clustered(300), low, high),
        Shape::new("duplicated", duplicated, low, high),
        few("1 node", 1),
        few("2 nodes", 2),
        few("3 nodes", 3),
        Shape::new("collinear", collinear(40), low, high),
        Shape::new("around the nodes", points(4, low, high, 60), [-1.0; 3], [3.0; 3]),
        Shape::full("elongated", low, [1000.0, 1.0, 1.0], 200),
        Shape::full("millimetres in metres", [-1e-3; 3], [2e-3, 1e-3, 1e-3], 100),
        Shape::full("kilometres in metres", [-1e6; 3], [2e6, 1e6, 5e5], 100),
    ];
    let nodes = Dice(10).points(offset(low), offset(high), 100);
    // Single precision cannot resolve the distances of these nodes.
    for shape in [
        Shape::new("far from the origin", nodes, offset(low), offset(high)),
        Shape::new("far outside", points(4, [0.5; 3], [0.51; 3], 60), [-20.0; 3], [30.0; 3]),
    ] {
        shapes.push(Shape { is_single: false, ..shape });
    }
    shapes
}

/// Velocities that carry particles through a large part of the box, and differ more between distant nodes.
fn unsteady(shape: &Shape, weighting: Weighting) -> Case<Cloud> {
    let [low, high] = shape.corners;
    let size: Point = std::array::from_fn(|d| high[d] - low[d]);
    let mut dice = Dice(shape.nodes.len() as u64);
    let mut cloud = Cloud::new(shape.nodes.clone(), &[0.0, 0.4, 1.0], weighting, |p, t| {
        let x: Point = std::array::from_fn(|d| (p[d] - low[d]) / size[d].max(1e-300));
        let wave = |d: usize| (7.0 * x[d] + 3.0 * x[(d + 1) % 3] + t).sin();
        std::array::from_fn(|d| size[d] * (wave(d) + 0.05 * dice.between(-1.0, 1.0)))
    });
    cloud.corners = shape.corners;
    Case {
        frames: cloud,
        in_time: TimeInterpolation::Linear,
        outside: OutsideTime::Error,
        scheme: Scheme::Rk4,
        faces: [[shape.faces; 2]; 3],
        obstacles: vec![],
        held: HELD,
        times: even_axis(0.0, 0.875, 5),
        stagnant_speed: 0.0,
    }
}

/// Particles throughout the box, and a few close to nodes.
fn seeds_in(shape: &Shape) -> Seeds {
    let [low, high] = shape.corners;
    let mut seeds = Dice(17).points(low, high, 14);
    let nodes = shape.nodes.iter().step_by(shape.nodes.len().div_ceil(6));
    let near = |(node, other): (&Point, &Point)| -> Point {
        std::array::from_fn(|d| node[d] + 1e-3 * (other[d] - node[d]))
    };
    seeds.extend(nodes.zip(&seeds.clone()).map(near));
    let seeds = if shape.is_single { single(seeds) } else { seeds };
    // Rounding may have moved a seed out of the box.
    let inside = |p: Point| std::array::from_fn(|d| p[d].clamp(low[d], high[d]));
    Seeds::list(seeds.into_iter().map(inside).collect()).unwrap()
}

#[test]
fn fused_tracks_in_clouds_of_all_shapes_match_the_oracle() {
    let (mut compared, mut undecided) = (0, 0);
    for shape in shapes() {
        let seeds = seeds_in(&shape);
        let count = shape.nodes.len();
        for weighting in [Weighting::Nearest, mean(count.min(4), 2.0), mean(count.min(8), 3.5)] {
            let case = unsteady(&shape, weighting);
            // A software GPU compiles few kernels, which cover most of the shapes.
            let is_compiled = |machine: &&Machine| {
                let is_common = weighting == mean(4, 2.0) && !machine.is_double();
                machine.is_cpu() || is_common || weighting == Weighting::Nearest
            };
            for precision in [Precision::F32, Precision::F64] {
                if precision == Precision::F32 && !shape.is_single {
                    continue;
                }
                let mut oracle_check = None;
                let of_it = machines().into_iter().filter(|m| m.precision == precision);
                for machine in of_it.filter(|machine| is_compiled(&machine)) {
                    let delta = perturbation(machine.eps()) * shape.size / 5.0;
                    let oracle_check =
                        oracle_check.get_or_insert_with(|| OracleCheck::new(&case, &seeds, delta));
                    let field = case.frames.load(&machine);
                    let run = trace(&tracer(&case, &field).engine(Engine::Fused), &seeds);
                    let what = format!("{machine}, {}, {weighting:?}", shape.name);
                    undecided += oracle_check.check(&what, &run);
                    compared += seeds.len();
                }
            }
        }
    }
    assert!(undecided * 20 < compared, "{undecided} of {compared} are undecided");
}

// ---- ties ----

/// Nodes on a lattice whose distances are exact in every precision.
fn lattice() -> Vec<Point> {
    let mut nodes = Vec::new();
    for k in 0..5 {
        for j in 0..6 {
            for i in 0..7 {
                nodes.push([i, j, k].map(|n| f64::from(n) * 0.25));
            }
        }
    }
    nodes
}

/// Midpoints between two, four and eight nodes of the lattice, and points outside it.
fn midpoints() -> Vec<Point> {
    let mut targets = Vec::new();
    for k in -1..10 {
        for j in -1..12 {
            for i in -1..14 {
                targets.push([i, j, k].map(|n| f64::from(n) * 0.125));
            }
        }
    }
    targets
}

/// Velocities sampled with tensor operations.
fn tensor_sample(cloud: &Cloud, machine: &Machine, points: &[Point]) -> Vec<Point> {
    let dtype = machine.precision.dtype();
    let data = TensorData::new(points.as_flattened().to_vec(), [points.len(), 3]);
    let position = Tensor::<2>::from_data(data.convert_dtype(dtype), (&machine.device, dtype));
    rows(cloud.load(machine).velocity(position, cloud.times[0]))
}

#[test]
fn equidistant_nearest_nodes_are_chosen_identically() {
    let cloud = Cloud::numbered(lattice(), Weighting::Nearest);
    let targets = midpoints();
    let mut all: Vec<Vec<Point>> = Vec::new();
    for machine in machines().into_iter().filter(|m| m.is_cpu() || !m.is_double()) {
        let found = cloud.sample(&machine, &targets);
        for (p, v) in targets.iter().zip(&found) {
            let node = v[0] as usize;
            let min = cloud.nearest(*p, 1)[0].0;
            assert_eq!(v[1..], [-v[0], 2.0 * v[0]], "{machine}, {p:?}");
            assert_eq!(cloud.distance(*p, node), min, "{machine}, {p:?}");
        }
        if machine.is_cpu() {
            all.push(tensor_sample(&cloud, &machine, &targets));
            all.push(found);
        }
    }
    assert!(all.iter().all(|found| *found == all[0]));
}

#[test]
fn equidistant_neighbours_are_chosen_identically() {
    // Cubes have eight corners, squares four, and each corner six neighbours.
    for neighbours in [2, 3, 5] {
        let cloud = Cloud::numbered(lattice(), mean(neighbours, 2.0));
        let targets = midpoints();
        let mut all: Vec<(Machine, Vec<Point>)> = Vec::new();
        for machine in machines().into_iter().filter(Machine::is_cpu) {
            all.push((machine.clone(), tensor_sample(&cloud, &machine, &targets)));
            let found = cloud.sample(&machine, &targets);
            all.push((machine, found));
        }
        for (machine, found) in &all {
            // A mean of numbers up to 2 x 210, with single-precision rounding.
            let deviation = distance(found, &all[0].1);
            let what = format!("{machine}, {neighbours} neighbours");
            assert_below(&what, deviation, 10.0 * 420.0 * f64::from(f32::EPSILON));
        }
    }
}

// ---- samples ----

#[test]
fn sample_at_a_node_is_its_velocity() {
    let nodes = points(50, [-1.0; 3], [2.0, 1.0, 1.0], 200);
    let linear = |[x, y, z]: Point, _| [1.0 + 2.0 * x - y, 3.0 * z, x + y + z];
    for weighting in [Weighting::Nearest, mean(1, 1.0), mean(4, 2.0), mean(8, 3.5), mean(16, 0.5)] {
        let cloud = Cloud::new(nodes.clone(), &[0.0], weighting, linear);
        for machine in machines() {
            // One kernel is enough for a software GPU.
            if !machine.is_cpu() && (weighting != mean(4, 2.0) || machine.is_double()) {
                continue;
            }
            let expected: Vec<Point> = nodes.iter().map(|p| linear(*p, 0.0)).collect();
            let expected = if machine.is_double() { expected } else { single(expected) };
            let found = cloud.sample(&machine, &nodes);
            assert_eq!(found, expected, "{machine}, {weighting:?}");
        }
    }
}

/// A search starts at the result of the previous one, which must not change the choice of nodes, not even of
/// equidistant ones.
#[test]
fn samples_do_not_depend_on_the_previous_sample() {
    let mut targets = midpoints();
    targets.extend(points(65, [-0.2; 3], [1.7; 3], 1000));
    targets.extend((0..2000).map(|i| [f64::from(i) * 5e-4, 0.405, 0.405]));
    let targets = single(targets);
    let mut dice = Dice(66);
    let mut shuffled: Vec<usize> = (0..targets.len()).collect();
    shuffled.sort_by_cached_key(|_| dice.bits());
    let others: Vec<Point> = shuffled.iter().map(|i| targets[*i]).collect();
    let uniform = points(67, [0.0; 3], [1.5; 3], 300);
    for nodes in [lattice(), clustered(300), clustered(5000), collinear(100), uniform] {
        for weighting in [Weighting::Nearest, mean(3, 2.0), mean(5, 1.0), mean(16, 2.0)] {
            let cloud = Cloud::numbered(nodes.clone(), weighting);
            for machine in machines().iter().filter(|machine| machine.name == "flex") {
                let found = cloud.sample(machine, &targets);
                let again = cloud.sample(machine, &others);
                for (i, v) in shuffled.iter().zip(again) {
                    assert_eq!(found[*i], v, "{machine}, {weighting:?}, {:?}", targets[*i]);
                }
            }
        }
    }
}

/// Evaluates a function at many points on two threads.
fn for_each<'a, T: Send>(points: &'a [Point], find: impl Fn(Point) -> T + Sync) -> Vec<T> {
    let halves: Vec<&'a [Point]> = points.chunks(points.len().div_ceil(2)).collect();
    std::thread::scope(|scope| {
        let find = &find;
        let work = |half: &'a [Point]| move || half.iter().map(|p| find(*p)).collect::<Vec<T>>();
        let threads: Vec<_> = halves.into_iter().map(|half| scope.spawn(work(half))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    })
}

/// Squared distance of the nearest node in a cloud without flat axes.
fn min_square(nodes: &[Point], p: Point) -> f64 {
    let square = |node: &Point| {
        let [x, y, z] = [node[0] - p[0], node[1] - p[1], node[2] - p[2]];
        x * x + y * y + z * z
    };
    nodes.iter().map(square).fold(f64::INFINITY, f64::min)
}

#[test]
fn nearest_node_search_matches_an_exhaustive_search() {
    let targets = points(60, [-0.2; 3], [1.2; 3], 100_000);
    for nodes in [points(61, [0.0; 3], [1.0; 3], 2000), clustered(2000)] {
        let min = for_each(&targets, |p| min_square(&nodes, p));
        let cloud = Cloud::numbered(nodes.clone(), Weighting::Nearest);
        for machine in machines().iter().filter(|machine| machine.name == "flex") {
            let found = cloud.sample(machine, &targets);
            // A margin for the rounding of squared distances.
            let slack = 1.0 + 8.0 * machine.eps();
            for ((p, min), v) in targets.iter().zip(&min).zip(&found) {
                let square = min_square(&nodes[v[0] as usize..][..1], *p);
                assert!(square <= min * slack, "{machine}, {p:?}: {square}, expected {min}");
            }
        }
    }
}

#[test]
fn inverse_distance_means_match_an_exhaustive_search() {
    let targets = points(62, [-0.2; 3], [1.2; 3], 5000);
    for nodes in [points(63, [0.0; 3], [1.0; 3], 1000), clustered(1000)] {
        for weighting in [mean(1, 2.0), mean(4, 2.0), mean(16, 3.5)] {
            let mut dice = Dice(64);
            let cloud = Cloud::new(nodes.clone(), &[0.0], weighting, |_, _| {
                std::array::from_fn(|_| dice.between(-1.0, 1.0))
            });
            let compared = for_each(&targets, |p| ExpectedSample::new(&cloud, p));
            for machine in machines().iter().filter(|machine| machine.is_cpu()) {
                let found = cloud.sample(machine, &targets);
                for (expected, v) in compared.iter().zip(&found) {
                    expected.check(&format!("{machine}, {weighting:?}"), *v, machine.eps());
                }
            }
        }
    }
}

/// The expected sample at a point.
struct ExpectedSample<'a> {
    cloud: &'a Cloud,
    point: Point,
    velocity: Point,
    /// The maximum velocity component of the nodes.
    max: f64,
}

impl<'a> ExpectedSample<'a> {
    fn new(cloud: &'a Cloud, point: Point) -> Self {
        let max = cloud.values[0].iter().fold(0.0, |a, b| f64::max(a, b.abs()));
        ExpectedSample { cloud, point, velocity: cloud.in_frame(0, point), max }
    }

    /// The number of nodes in the mean, and the power of their distances.
    fn weighting(&self) -> (usize, f64) {
        match self.cloud.weighting {
            Weighting::Nearest => (1, 0.0),
            Weighting::InverseDistance { neighbours, power } => (neighbours, power),
        }
    }

    /// Whether rounding decides which nodes are in the mean: if nodes at different positions are as far away as
    /// the last one, and not all of them are included. Coincident nodes are taken by index.
    fn is_undecided(&self, eps: f64) -> bool {
        let (neighbours, _) = self.weighting();
        let nodes = self.cloud.nearest(self.point, usize::MAX);
        let (last, node) = nodes[neighbours - 1];
        let slack = 8.0 * eps * last;
        let is_cut = nodes.get(neighbours).is_some_and(|(next, _)| *next <= last + slack);
        let spot = |node: usize| self.cloud.positions[node];
        let is_elsewhere =
            |(d, other): &(f64, usize)| (d - last).abs() <= slack && spot(*other) != spot(node);
        is_cut && nodes.iter().any(is_elsewhere)
    }

    /// The bound accounts for the roundings of squared distances, amplified by the power, and of the sums.
    fn check(&self, what: &str, found: Point, eps: f64) {
        let what = format!("{what}, at {:?}", self.point);
        let is_mean = found.iter().all(|v| v.abs() <= self.max * (1.0 + 40.0 * eps));
        assert!(is_mean, "{what}: {found:?}");
        let bound = self.max * eps * (40.0 + 10.0 * self.weighting().1);
        let deviation = distance(&[found], &[self.velocity]);
        let is_right = deviation <= bound || self.is_undecided(eps);
        assert!(is_right, "{what}: {found:?}, {deviation:e} above {bound:e}, {:?}", self.velocity);
    }
}

// ---- degenerate clouds ----

/// A random cloud of up to 300 nodes with any kind of degeneracy.
fn random_cloud(dice: &mut Dice) -> Cloud {
    let count = 1 + (dice.bits() % dice.pick(&[3, 20, 300])) as usize;
    // Squared distances must be finite in single precision.
    let scale = 10f64.powf(dice.between(-4.0, 9.0));
    let kind = dice.bits() % 6;
    let stretch: Point = std::array::from_fn(|_| scale * dice.pick(&[1.0, 1.0, 1e-3, 0.0]));
    let origin: Point = std::array::from_fn(|_| dice.pick(&[0.0, 0.0, 3.0]) * scale);
    let mut nodes = Vec::new();
    for _ in 0..count {
        let x = dice.between(0.0, 1.0);
        let at: Point = match kind {
            0 => [x; 3],
            1 => std::array::from_fn(|_| (4.0 * dice.between(0.0, 1.0)).floor()),
            2 => std::array::from_fn(|_| dice.between(0.0, 1.0).powi(4)),
            3 => [x, dice.between(0.0, 1.0), x],
            _ => std::array::from_fn(|_| dice.between(0.0, 1.0)),
        };
        nodes.push(std::array::from_fn(|d| origin[d] + stretch[d] * at[d]));
    }
    let neighbours = 1 + (dice.bits() % count.min(16) as u64) as usize;
    let power = dice.pick(&[0.5, 1.0, 2.0, 3.5, 8.0]);
    let weighting =
        if dice.bits().is_multiple_of(3) { Weighting::Nearest } else { mean(neighbours, power) };
    let mut velocities = Dice(dice.bits());
    Cloud::new(single(nodes), &[0.0], weighting, |_, _| {
        std::array::from_fn(|_| velocities.between(-1.0, 1.0))
    })
}

/// Points in and around a cloud's box, and on its nodes.
fn targets_of(cloud: &Cloud, dice: &mut Dice) -> Vec<Point> {
    let [low, high] = cloud.corners;
    let size: Point = std::array::from_fn(|d| high[d] - low[d]);
    let mut targets = Vec::new();
    for reach in [0.0, 0.5, 10.0] {
        let low = std::array::from_fn(|d| low[d] - reach * size[d]);
        let high = std::array::from_fn(|d| high[d] + reach * size[d]);
        targets.extend(dice.points(low, high, 15));
    }
    targets.extend(cloud.positions.iter().take(10));
    single(targets)
}

/// Checks samples against the exhaustive search, and that a run stays finite.
fn check_random_cloud(machine: &Machine, cloud: &Cloud, targets: &[Point]) {
    let found = cloud.sample(machine, targets);
    for (p, v) in targets.iter().zip(found) {
        let what = format!("{machine}, {} nodes, {:?}", cloud.positions.len(), cloud.weighting);
        ExpectedSample::new(cloud, *p).check(&what, v, machine.eps());
    }
    let seeds = Seeds::list(targets.to_vec()).unwrap();
    let field = cloud.load(machine);
    let tracer = Tracer::new(&field).domain(Domain::unbounded()).span(steps(0.0, 1.0, 3));
    let run = trace(&tracer, &seeds);
    assert!(run.last().as_flattened().iter().all(|x| x.is_finite()), "{machine}");
}

#[test]
fn degenerate_clouds_are_sampled_exactly_and_traced() {
    let (done, is_done) = mpsc::channel();
    let work = std::thread::spawn(move || {
        let mut dice = Dice(2024);
        for number in 0..150 {
            let cloud = random_cloud(&mut dice);
            let targets = targets_of(&cloud, &mut dice);
            for machine in machines().iter().filter(|machine| machine.is_cpu()) {
                check_random_cloud(machine, &cloud, &targets);
            }
            // Fails only if the receiver has timed out.
            let _ = done.send(number);
        }
    });
    // A time limit detects endless searches.
    let mut last = None;
    loop {
        match is_done.recv_timeout(Duration::from_secs(60)) {
            Ok(number) => last = Some(number),
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
            Err(mpsc::RecvTimeoutError::Timeout) => panic!("no progress after cloud {last:?}"),
        }
    }
    work.join().unwrap();
}

/// Boxes whose volume underflows or overflows must not get too many cells.
#[test]
fn nearest_nodes_are_exact_for_volumes_that_underflow_or_overflow() {
    for machine in double_machines().iter().filter(|machine| machine.is_cpu()) {
        for scale in [1e-120, 1e120] {
            let nodes: Vec<Point> = Dice(3).points([0.0; 3], [scale; 3], 100);
            let cloud = Cloud::numbered(nodes, Weighting::Nearest);
            let targets = Dice(4).points([0.0; 3], [scale; 3], 50);
            for (p, v) in targets.iter().zip(cloud.sample(machine, &targets)) {
                assert_eq!(v[0] as usize, cloud.nearest(*p, 1)[0].1, "{machine}, {scale:e}");
            }
        }
    }
}

// ---- errors ----

/// Nodes with one frame of given numbers.
struct Listed {
    positions: Vec<Point>,
    velocity: Floats,
}

impl PointSource for Listed {
    fn positions(&self) -> &[Point] {
        &self.positions
    }
}

impl FrameSource for Listed {
    fn times(&self) -> &[f64] {
        &[0.0]
    }

    fn read(&mut self, _: usize) -> Result<FrameData, SourceError> {
        Ok(self.velocity.clone().into())
    }
}

fn load(
    positions: &[Point],
    velocity: &[f32],
    weighting: Weighting,
    not_finite: NotFinite,
) -> Result<PointField, Error> {
    let velocity = Floats::F32(velocity.to_vec());
    let mut source = Listed { positions: positions.to_vec(), velocity };
    let options = FieldOptions { not_finite, ..FieldOptions::default() };
    PointField::load(&mut source, &machines()[0].device, &options, weighting)
}

/// The error message for two nodes with an invalid weighting.
fn error_message(weighting: Weighting) -> String {
    let result = load(&UNIT, &[0.0; 6], weighting, NotFinite::Error);
    match result {
        Err(Error::Points(message)) => message,
        other => panic!("{other:?}"),
    }
}

#[test]
fn invalid_clouds_are_rejected() {
    let empty = load(&[], &[], Weighting::Nearest, NotFinite::Error);
    assert!(matches!(empty, Err(Error::Empty(what)) if what.contains("points")));
    for invalid in [f64::NAN, f64::INFINITY] {
        let targets = [[0.0; 3], [0.0, invalid, 0.0]];
        let result = load(&targets, &[0.0; 6], Weighting::Nearest, NotFinite::Error);
        assert!(
            matches!(&result, Err(Error::Points(what)) if what.contains("point 1")),
            "{result:?}"
        );
    }
    let result = load(&UNIT, &[0.0; 5], Weighting::Nearest, NotFinite::Error);
    match result {
        Err(Error::FrameSize { frame, found, expected, placement }) => {
            assert_eq!((frame, found, expected), (0, 5, 6));
            assert_eq!(placement, "2 points");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn invalid_weightings_are_rejected() {
    for neighbours in [0, 3, 17] {
        let message = error_message(mean(neighbours, 2.0));
        let says = format!("{neighbours} neighbours");
        assert!(message.contains(&says) && message.contains("1 to 2"), "{message}");
    }
    for power in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let message = error_message(mean(2, power));
        assert!(message.contains(&format!("power {power}")), "{message}");
    }
    // The maximum is 16 neighbours.
    let nodes = points(1, [0.0; 3], [1.0; 3], 20);
    let result = load(&nodes, &[0.0; 60], mean(17, 2.0), NotFinite::Error);
    assert!(matches!(&result, Err(Error::Points(what)) if what.contains("1 to 16")), "{result:?}");
    assert!(load(&nodes, &[0.0; 60], mean(16, 2.0), NotFinite::Error).is_ok());
}

/// Nodes are sorted on upload; errors report the index in the source.
#[test]
fn non_finite_velocities_are_an_error_or_zero() {
    let nodes = points(2, [0.0; 3], [1.0; 3], 100);
    let mut velocity = [1.0_f32; 300];
    for bad in [91, 37, 60] {
        velocity[3 * bad + 1] = f32::NAN;
    }
    velocity[3 * 60] = f32::INFINITY;
    match load(&nodes, &velocity, Weighting::Nearest, NotFinite::Error) {
        Err(Error::NotFinite { frame, count, first, position }) => {
            assert_eq!((frame, count, first), (0, 3, 37));
            assert_eq!(position, nodes[37]);
        }
        other => panic!("{other:?}"),
    }
    let field = load(&nodes, &velocity, Weighting::Nearest, NotFinite::Zero).unwrap();
    assert_eq!(field.nodes(), 100);
    let tracer = Tracer::new(&field)
        .span(steps(0.0, 1.0, 1))
        .save(SaveAt::EverySteps(1))
        .save_velocity(true);
    let run = trace(&tracer, &Seeds::list(nodes).unwrap());
    let velocities = run.velocities.unwrap();
    for (i, v) in velocities[..300].as_chunks().0.iter().enumerate() {
        let expected = if [91, 37, 60].contains(&i) { [0.0; 3] } else { [1.0; 3] };
        assert_eq!(*v, expected, "node {i}");
    }
}
