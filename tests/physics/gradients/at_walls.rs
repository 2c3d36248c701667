//! Gradients of tracks through every condition at faces, bodies and mesh walls, against central differences of
//! the independent oracle.

use crate::{
    boundaries::against_oracle_walls::{
        is_in_l, mesh_case, mesh_frames, mesh_seeds, part_of_box, turning,
    },
    boundaries::surfaces::star,
    cloud::tracer,
    common::*,
    oracle::{Case, HELD, Point, Space},
};
use burn::tensor::{Device, Tensor, TensorData};
use burntrace::{
    Allowed,
    BoundaryCondition::{self, Clamp, Exit, Periodic, Reflect},
    CellKind, Domain, Engine, Face, FieldFn, Obstacle, OutsideTime, Precision, SaveAt, Scheme,
    Seeds, Shape, Status, TimeInterpolation, Tracer,
};
use std::collections::HashSet;

const SCHEMES: [Scheme; 3] = [Scheme::Heun, Scheme::Rk4, Scheme::DormandPrince];
const STEPS: usize = 6;
/// Steps between saves.
const EVERY: usize = 2;

/// CPU devices in double precision, with autodiff.
fn autodiff_machines() -> Vec<Machine> {
    let machines = double_machines().into_iter().filter(Machine::is_cpu);
    machines
        .map(|machine| Machine { device: machine.device.clone().autodiff(), ..machine })
        .collect()
}

/// The weight of a coordinate of a save in the loss; no two are equal.
fn weight(save: usize, d: usize) -> f64 {
    1.0 + 0.3 * save as f64 - 0.7 * d as f64
}

/// The loss of one particle in the oracle: a weighted sum of its coordinates over all saves.
fn loss<S: Space + Clone>(case: &Case<S>, start: Point) -> f64 {
    let of_save = |save: usize| {
        let times = case.times[..=EVERY * save].to_vec();
        let p = Case { times, ..case.clone() }.follow(start, case.times[0]).position;
        (0..3).map(|d| weight(save, d) * p[d]).sum::<f64>()
    };
    (0..=STEPS / EVERY).map(of_save).sum()
}

/// Central differences of the loss over `2 step` along each axis.
fn difference<S: Space + Clone>(case: &Case<S>, start: Point, step: f64) -> Point {
    std::array::from_fn(|d| {
        // A flat axis has no width.
        if case.low()[d] == case.high()[d] {
            return (0..=STEPS / EVERY).map(|save| weight(save, d)).sum();
        }
        let at = |sign: f64| {
            let mut p = start;
            p[d] += sign * step;
            loss(case, p)
        };
        (at(1.0) - at(-1.0)) / (2.0 * step)
    })
}

/// The gradient of the loss in an engine, for each particle.
fn gradients(tracer: &Tracer, device: &Device, seeds: &[Point], engine: Engine) -> Vec<Point> {
    let dtype = Precision::F64.dtype();
    let data = TensorData::new(seeds.as_flattened().to_vec(), [seeds.len(), 3]);
    let start = Tensor::<2>::from_data(data, (device, dtype)).require_grad();
    let tracer = tracer.clone().engine(engine);
    let tracks = tracer.trace(&Seeds::from_tensor(start.clone()).unwrap()).unwrap();
    assert_eq!(tracks.summary().unwrap().engine, engine);
    assert_eq!(tracks.saves().len(), STEPS / EVERY + 1);
    let of_save = |save: usize| {
        let weights: Vec<f64> = (0..3).map(|d| weight(save, d)).collect();
        let weights = Tensor::<2>::from_data(TensorData::new(weights, [1, 3]), (device, dtype));
        (tracks.saves()[save].position.clone() * weights).sum()
    };
    let all = (0..=STEPS / EVERY).map(of_save).reduce(|sum, loss| sum + loss).unwrap();
    rows(start.grad(&all.backward()).unwrap())
}

/// The gradients of the fused engine, from which those of the tensor engine differ by no more than `bound`,
/// or central differences of the fused engine.
fn slopes(
    tracer: Tracer,
    machine: &Machine,
    seeds: &[Point],
    (engine, bound): (Engine, f64),
) -> Vec<Point> {
    let tracer = tracer.save(SaveAt::EverySteps(EVERY as u64));
    match engine {
        Engine::Tensor => {
            let [tensor, fused] = [Engine::Tensor, Engine::Fused]
                .map(|engine| gradients(&tracer, &machine.device, seeds, engine));
            for (a, b) in tensor.iter().zip(&fused) {
                let size = a.iter().fold(1.0_f64, |size, x| size.max(x.abs()));
                assert_below(
                    &format!("{machine}: {a:?}, {b:?}"),
                    distance(&[*a], &[*b]),
                    bound * size,
                );
            }
            fused
        }
        Engine::Fused => fused_differences(&tracer.engine(Engine::Fused), seeds),
    }
}

/// The machines on which an engine is differentiated.
fn machines_of(engine: Engine) -> Vec<Machine> {
    match engine {
        Engine::Tensor => autodiff_machines(),
        Engine::Fused => double_machines().into_iter().filter(Machine::is_cpu).collect(),
    }
}

/// Central differences of the loss in the fused engine.
fn fused_differences(tracer: &Tracer, seeds: &[Point]) -> Vec<Point> {
    let step = 1e-6;
    let losses = |d: usize, sign: f64| -> Vec<f64> {
        let moved =
            |p: &Point| std::array::from_fn(|k| p[k] + if k == d { sign * step } else { 0.0 });
        let run = trace(tracer, &Seeds::list(seeds.iter().map(moved).collect::<Vec<_>>()).unwrap());
        let of_save = |(save, points): (usize, &Vec<Point>), i: usize| {
            (0..3).map(|d| weight(save, d) * points[i][d]).sum::<f64>()
        };
        let of_one = |i: usize| run.saves.iter().enumerate().map(|save| of_save(save, i)).sum();
        (0..seeds.len()).map(of_one).collect()
    };
    let columns = [0, 1, 2].map(|d| {
        let (high, low) = (losses(d, 1.0), losses(d, -1.0));
        high.iter().zip(low).map(|(high, low)| (high - low) / (2.0 * step)).collect::<Vec<_>>()
    });
    (0..seeds.len()).map(|i| std::array::from_fn(|d| columns[d][i])).collect()
}

/// Compares the gradients of the particles of a case with central differences. The rounding of a position
/// over a step of 2e-6 is about 1e-9. A particle within a step of an event, where the two differences do not
/// agree, is left out. Returns the numbers of all particles and of those that were compared.
fn check<S: Space + Clone>(
    what: &str,
    (case, seeds): (&Case<S>, &[Point]),
    machines: &[Machine],
    run: impl Fn(&Machine) -> Vec<Point>,
) -> [usize; 2] {
    let expected: Vec<[Point; 2]> =
        seeds.iter().map(|p| [1e-6, 2e-6].map(|step| difference(case, *p, step))).collect();
    let size = |g: &Point| g.iter().fold(1.0, |max: f64, x| max.max(x.abs()));
    let mut counts = [0, 0];
    for machine in machines {
        let found = run(machine);
        for (i, [expected, other]) in expected.iter().enumerate() {
            counts[0] += 1;
            if distance(&[*expected], &[*other]) > 1e-7 * size(expected) {
                continue;
            }
            counts[1] += 1;
            let deviation = distance(&[found[i]], &[*expected]) / size(expected);
            assert!(
                deviation < 1e-6,
                "{machine}, {what}, from {:?}: {:?}, not {expected:?}",
                seeds[i],
                found[i]
            );
        }
    }
    counts
}

#[track_caller]
fn assert_most_are_compared(counts: [usize; 2]) {
    assert!(counts[1] * 10 >= counts[0] * 9, "{} of {} are compared", counts[1], counts[0]);
}

/// The final statuses of the particles of a case, to check that its condition takes effect.
fn statuses<S: Space>(case: &Case<S>, seeds: &[Point]) -> HashSet<Status> {
    seeds.iter().map(|p| case.follow(*p, case.times[0]).status).collect()
}

// ---- faces and bodies ----

fn case(scheme: Scheme, faces: [[BoundaryCondition; 2]; 3], obstacles: Vec<Obstacle>) -> Case {
    Case {
        frames: turning(),
        in_time: TimeInterpolation::Linear,
        outside: OutsideTime::Error,
        scheme,
        faces,
        obstacles,
        held: HELD,
        times: even_axis(0.0, 1.2, STEPS),
        stagnant_speed: 0.0,
    }
}

fn check_on_grid(what: &str, case: &Case, seeds: &[Point], engine: Engine) -> [usize; 2] {
    check(what, (case, seeds), &machines_of(engine), |machine| {
        let field = machine.field(&case.frames);
        let tracer = tracer(case, &field).obstacles(case.obstacles.clone());
        slopes(tracer, machine, seeds, (engine, 1e-11))
    })
}

#[test]
fn gradients_through_faces_match_central_differences() {
    let seeds = Dice(61).points([0.05; 3], [1.95, 0.95, 0.95], 10);
    let mixed = [[Periodic; 2], [Reflect, Exit], [Clamp, Reflect]];
    let mut counts = [0, 0];
    for scheme in SCHEMES {
        let all = BoundaryCondition::ALL.map(|condition| [[condition; 2]; 3]);
        for faces in all.into_iter().chain([mixed]) {
            let case = case(scheme, faces, vec![]);
            let what = format!("{scheme:?}, {faces:?}");
            let of_one = check_on_grid(&what, &case, &seeds, Engine::Tensor);
            counts = [0, 1].map(|k| counts[k] + of_one[k]);
        }
    }
    assert_most_are_compared(counts);
}

/// Checks a shape as a body or vessel with each surface.
fn check_bodies(shapes: &[(Shape, Allowed)], engine: Engine) {
    let mut counts = [0, 0];
    for (shape, allowed) in shapes {
        for (number, surface) in [
            BoundaryCondition::Reflect,
            BoundaryCondition::Slide,
            BoundaryCondition::Stick,
            BoundaryCondition::Exit,
        ]
        .into_iter()
        .enumerate()
        {
            let obstacle = Obstacle { shape: shape.clone(), allowed: *allowed, surface };
            // Each surface with another scheme, and each shape with all schemes.
            let scheme = SCHEMES[number % SCHEMES.len()];
            let faces = [[Periodic; 2], [Reflect; 2], [Reflect; 2]];
            let case = case(scheme, faces, vec![obstacle]);
            let points = Dice(62).points([0.05; 3], [1.95, 0.95, 0.95], 100);
            let is_free = |p: &Point| case.is_allowed(*p);
            let seeds: Vec<Point> = points.into_iter().filter(is_free).take(16).collect();
            let what = format!("{shape:?}, {allowed:?}, {surface:?}, {scheme:?}");
            let ends = statuses(&case, &seeds);
            match surface {
                BoundaryCondition::Stick => {
                    assert!(ends.contains(&Status::Stuck), "{what}: {ends:?}")
                }
                BoundaryCondition::Exit => {
                    assert!(ends.contains(&Status::HitObstacle), "{what}: {ends:?}")
                }
                _ => {}
            }
            let of_one = check_on_grid(&what, &case, &seeds, engine);
            counts = [0, 1].map(|k| counts[k] + of_one[k]);
        }
    }
    assert_most_are_compared(counts);
}

const CENTRE: Point = [1.0, 0.5, 0.5];

fn spheres() -> Vec<(Shape, Allowed)> {
    let ball = |radius| Shape::Sphere { centre: CENTRE, radius };
    vec![(ball(0.35), Allowed::Outside), (ball(0.6), Allowed::Inside)]
}

fn cylinders() -> Vec<(Shape, Allowed)> {
    let pipe = |base, axis, radius, capped| Shape::Cylinder { base, axis, radius, capped };
    vec![
        (pipe([1.0, 0.5, 0.0], [0.2, 0.1, 1.0], 0.3, false), Allowed::Outside),
        (pipe([0.6, 0.4, 0.3], [0.8, 0.2, 0.4], 0.35, true), Allowed::Outside),
        (pipe([0.0, 0.5, 0.5], [1.0, 0.05, 0.02], 0.4, false), Allowed::Inside),
        (pipe([0.3, 0.5, 0.5], [1.4, 0.05, 0.0], 0.4, true), Allowed::Inside),
    ]
}

fn boxes() -> Vec<(Shape, Allowed)> {
    vec![
        (Shape::Box { low: [0.6, 0.2, 0.2], high: [1.3, 0.8, 0.8] }, Allowed::Outside),
        (Shape::Box { low: [0.3, 0.1, 0.1], high: [1.7, 0.9, 0.9] }, Allowed::Inside),
    ]
}

/// A body. In a vessel with reentrant edges a sliding particle meets edges, where the oracle and the library
/// have different slopes.
fn triangulated() -> Vec<(Shape, Allowed)> {
    vec![(star(CENTRE, 0.7, 0.45), Allowed::Outside)]
}

/// The expected gradients themselves.
#[test]
fn central_differences_of_the_fused_engine_at_walls_match_those_of_the_oracle() {
    check_bodies(&[spheres(), cylinders(), boxes(), triangulated()].concat(), Engine::Fused);
    for wall in [Exit, Reflect, BoundaryCondition::Slide, BoundaryCondition::Stick] {
        check_mesh_wall(wall, Engine::Fused);
    }
}

#[test]
fn gradients_through_spheres_match_central_differences() {
    check_bodies(&spheres(), Engine::Tensor);
}

#[test]
fn gradients_through_cylinders_match_central_differences() {
    check_bodies(&cylinders(), Engine::Tensor);
}

#[test]
fn gradients_through_boxes_match_central_differences() {
    check_bodies(&boxes(), Engine::Tensor);
}

#[test]
fn gradients_through_triangles_match_central_differences() {
    check_bodies(&triangulated(), Engine::Tensor);
}

// ---- mesh walls ----

fn check_mesh_wall(wall: BoundaryCondition, engine: Engine) {
    let mut counts = [0, 0];
    for (kind, scheme) in [CellKind::Tetra, CellKind::Hexahedron, CellKind::Triangle]
        .into_iter()
        .flat_map(|kind| SCHEMES.map(|scheme| (kind, scheme)))
    {
        let case = mesh_case(mesh_frames(kind), wall, scheme);
        let seeds = mesh_seeds(kind, 63, 8);
        let ends = statuses(&case, &seeds);
        assert!(wall != BoundaryCondition::Exit || ends.contains(&Status::LeftMesh), "{ends:?}");
        let what = format!("{kind:?}, {scheme:?}, {wall:?}");
        let of_one = check(&what, (&case, &seeds), &machines_of(engine), |machine| {
            let field = case.frames.frames.field(machine);
            // Outside the mesh, stages of the tensor engine sample it up to 1e-10 of a cell farther out, in each
            // of the steps along a wall. Those of the fused engine agree with the oracle to 1e-9.
            let tracer = tracer(&case, &field).mesh_wall(wall);
            slopes(tracer, machine, &seeds, (engine, 1e-6))
        });
        counts = [0, 1].map(|k| counts[k] + of_one[k]);
    }
    assert_most_are_compared(counts);
}

#[test]
fn gradients_of_particles_that_leave_a_mesh_match_central_differences() {
    check_mesh_wall(BoundaryCondition::Exit, Engine::Tensor);
}

#[test]
fn gradients_through_reflecting_mesh_walls_match_central_differences() {
    check_mesh_wall(BoundaryCondition::Reflect, Engine::Tensor);
}

#[test]
fn gradients_along_mesh_walls_match_central_differences() {
    check_mesh_wall(BoundaryCondition::Slide, Engine::Tensor);
}

/// Each particle sticks to the wall in its first step, behind which it would be in the mesh again.
#[test]
fn gradients_at_a_reentrant_edge_match_central_differences() {
    let frames = part_of_box(is_in_l, |_, _| [-2.0, 0.5, 0.0]);
    let case = mesh_case(frames, BoundaryCondition::Stick, Scheme::Rk4);
    let seeds = [[0.8, 0.45, 0.3], [0.83, 0.44, 0.6], [0.78, 0.42, 0.1]];
    assert_eq!(statuses(&case, &seeds), HashSet::from([Status::Stuck]));
    let machines = machines_of(Engine::Tensor);
    let counts = check("reentrant edge", (&case, &seeds), &machines, |machine| {
        let field = case.frames.frames.field(machine);
        let tracer = tracer(&case, &field).mesh_wall(BoundaryCondition::Stick);
        slopes(tracer, machine, &seeds, (Engine::Tensor, 1e-6))
    });
    assert_eq!(counts[0], counts[1]);
}

#[test]
fn gradients_of_particles_that_stick_to_mesh_walls_match_central_differences() {
    check_mesh_wall(BoundaryCondition::Stick, Engine::Tensor);
}

// ---- a lost particle ----

/// A velocity by its components along x and y, of the coordinates x and y.
type Planar = fn(Tensor<2>, Tensor<2>) -> [Tensor<2>; 2];

/// The final positions in `k` times a velocity, and the status of the last particle.
fn with_factor(
    (machine, k): (&Machine, Tensor<1>),
    seeds: &[Point],
    scheme: Scheme,
    velocity: Planar,
) -> (Tensor<2>, Status) {
    let device = k.device();
    let velocity = move |p: Tensor<2>, _| {
        let [u, v] = velocity(p.clone().narrow(1, 0, 1), p.narrow(1, 1, 1));
        Tensor::cat(vec![u.clone(), v, u.zeros_like()], 1) * k.clone().reshape([1, 1])
    };
    let domain = Domain::new([-1.0; 3], [1.5, 9.0, 1.0]).unwrap();
    let field = FieldFn::new(domain, &device, machine.precision, velocity);
    let tracer = Tracer::new(&field).scheme(scheme).span(steps(0.0, 0.5, 5)).allow_non_finite(true);
    let tracks = tracer.trace(&Seeds::list(seeds.to_vec()).unwrap()).unwrap();
    let position = tracks.saves().last().unwrap().position.clone();
    (position, *tracks.ends().status.last().unwrap())
}

const FACTOR: f64 = 0.7;

fn factor(k: f64, machine: &Machine) -> Tensor<1> {
    let data = TensorData::new(vec![k], [1]);
    Tensor::from_data(data, (&machine.device, machine.precision.dtype()))
}

/// The gradient of the sum of all final coordinates with respect to the factor of the velocity, and the status
/// of the last particle.
fn factor_gradient(
    machine: &Machine,
    seeds: &[Point],
    scheme: Scheme,
    velocity: Planar,
) -> (f64, Status) {
    let k = factor(FACTOR, machine).require_grad();
    let (position, status) = with_factor((machine, k.clone()), seeds, scheme, velocity);
    (floats(k.grad(&position.sum().backward()).unwrap())[0], status)
}

fn others() -> Vec<Point> {
    Dice(64).points([0.2, 0.2, 0.0], [0.5, 0.6, 0.0], 99)
}

/// The gradient of 100 particles, the last of which is lost in its first step at a position that does not
/// depend on the parameter, must be that of the other 99, with the rounding of a sum of about 100.
fn check_lost(scheme: Scheme, lost: Point, status: Status, velocity: Planar) {
    let all = [others(), vec![lost]].concat();
    for machine in autodiff_machines() {
        let (expected, _) = factor_gradient(&machine, &others(), scheme, velocity);
        let (found, end) = factor_gradient(&machine, &all, scheme, velocity);
        assert_eq!(end, status, "{machine}, {scheme:?}");
        assert!(expected.abs() > 1.0, "{expected}");
        let deviation = (found - expected).abs() / expected.abs();
        assert!(deviation < 1e-12, "{machine}, {scheme:?}: {found}, not {expected}");
    }
}

#[test]
fn gradient_of_a_factor_is_finite_with_a_particle_of_non_finite_velocity() {
    for scheme in SCHEMES {
        // The root of a negative number is NaN.
        check_lost(scheme, [-0.5, 0.5, 0.0], Status::NonFinite, |x, y| [x.sqrt() * 0.3, y * 0.2]);
    }
}

/// On the face where the particle ended, the derivative of the velocity is infinite.
#[test]
fn gradient_of_a_factor_is_finite_with_a_particle_that_left() {
    check_lost(Scheme::Euler, [1.45, 0.5, 0.0], Status::Exited(Face::XHigh), |x, y| {
        [x.ones_like() + y, (x.neg() + 1.5).sqrt()]
    });
}

/// The particle is lost after some steps, where it has come by the parameter.
#[test]
fn gradient_of_a_factor_includes_the_path_of_a_particle_before_it_was_lost() {
    let velocity: Planar = |x, y| [x.ones_like() + y.clone() * 0.1, (x.neg() + 1.0).sqrt() + y];
    let all = [others(), vec![[0.85, 0.5, 0.0]]].concat();
    let step = 1e-6;
    for machine in autodiff_machines() {
        for scheme in SCHEMES {
            let (found, status) = factor_gradient(&machine, &all, scheme, velocity);
            assert_eq!(status, Status::NonFinite, "{machine}, {scheme:?}");
            let sum = |k: f64| -> f64 {
                let end = with_factor((&machine, factor(k, &machine)), &all, scheme, velocity).0;
                floats(end).iter().sum()
            };
            let expected = (sum(FACTOR + step) - sum(FACTOR - step)) / (2.0 * step);
            // The rounding of a sum of about 100 over a step of 2e-6 is about 1e-8.
            let deviation = (found - expected).abs() / expected.abs();
            assert!(deviation < 1e-6, "{machine}, {scheme:?}: {found}, not {expected}");
        }
    }
}
