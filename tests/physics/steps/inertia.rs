//! Particles with inertia: exact answers, orders, walls, and runs as those of other particles.

use crate::{
    common::*,
    meshes::{Made, MeshFrames, shake},
};
use burn::tensor::{Device, Tensor, TensorData};
use burntrace::{
    Allowed, Analytic, BoundaryCondition, CellKind, CellVelocity, Distribution, Domain, Drag,
    Engine, Error, Face, Field, FieldFn, FieldOptions, Flow, Formula, Inertia, InitialVelocity,
    Inlet, InletShape, Lift, MeshField, Obstacle, Pattern, PerParticle, Placement, Precision,
    SaveAt, Scheme, Seeds, SeedsOutside, Shape, Solver, Sphere, Status, Tolerance, Tracer,
};

pub fn formula(velocity: [&str; 3], machine: &Machine, domain: Domain) -> Analytic {
    let flow = Flow::Formula(Formula::parse(velocity, &[]).unwrap());
    Analytic::new(flow, &machine.device, machine.precision).with_domain(domain)
}

pub const CELLS: [&str; 3] = ["sin(x) * cos(y)", "-cos(x) * sin(y)", "0"];

/// tau, beta, the gravity along y, and the position at t = 10 from (1, 2) (DOP853 with a tolerance of 1e-13).
const IN_CELLS: [([f64; 3], [f64; 2]); 4] = [
    ([0.5, 0.0, 0.0], [3.3614749255, 3.1927716937]),
    ([0.1, 1.5, 0.0], [1.8856620240, 1.2148778837]),
    ([0.1, 1.0, 0.0], [1.7824026292, 0.8988371270]),
    ([0.2, 0.0, -0.5], [0.8094222227, 2.8100098576]),
];

pub fn plane(size: f64) -> Domain {
    Domain::new([-size, -size, 0.0], [size, size, 0.0]).unwrap()
}

pub fn one(position: [f64; 3]) -> Seeds {
    Seeds::list(vec![position]).unwrap()
}

/// The error of a run among cells, in steps of a length.
fn error_in_cells(field: &dyn Field, case: ([f64; 3], [f64; 2]), dt: f64) -> f64 {
    let ([tau, beta, gravity], [x, y]) = case;
    let inertia = Inertia::new(tau, beta).gravity([0.0, gravity, 0.0]);
    let tracer = Tracer::new(field).span(span(0.0, 10.0, dt)).inertia(inertia);
    let run = trace(&tracer, &one([1.0, 2.0, 0.0]));
    distance(run.last(), &[[x, y, 0.0]])
}

#[test]
fn paths_among_cells_are_exact() {
    for machine in exact_machines() {
        let field = formula(CELLS, &machine, plane(20.0));
        for case in IN_CELLS {
            let [coarse, fine] = [0.05, 0.025].map(|dt| error_in_cells(&field, case, dt));
            assert_below(&format!("{machine}, {case:?}"), fine, 1e-6);
            assert!(coarse / fine > 10.0, "{machine} {case:?}: {coarse:e} {fine:e}");
        }
    }
}

#[test]
fn own_fields_and_formulas_have_the_same_paths() {
    for machine in exact_machines() {
        let field = formula(CELLS, &machine, plane(20.0));
        let own = FieldFn::new(plane(20.0), &machine.device, machine.precision, |p, _| {
            let [x, y] = [0, 1].map(|d| p.clone().narrow(1, d, 1));
            let [u, v] = [x.clone().sin() * y.clone().cos(), -(x.cos() * y.sin())];
            Tensor::cat(vec![u.clone(), v, u.zeros_like()], 1)
        });
        let inertia = Inertia::new(0.3, 1.2).gravity([0.1, -0.2, 0.0]);
        let run = |field: &dyn Field| {
            let tracer = Tracer::new(field).span(span(0.0, 2.0, 0.05)).inertia(inertia.clone());
            trace(&tracer, &one([1.0, 2.0, 0.0])).last().to_vec()
        };
        assert_below(&machine.to_string(), distance(&run(&field), &run(&own)), 1e-10);
    }
}

/// The position and the velocity after a time in solid rotation, from z = 1 with a velocity; `None` for the fluid's.
fn rotated(tau: f64, beta: f64, own: Option<[f64; 2]>, t: f64) -> [f64; 2] {
    // Roots of s^2 + s/tau + beta - i/tau = 0.
    let mul = |a: [f64; 2], b: [f64; 2]| [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]];
    let root = |z: [f64; 2]| {
        let r = z[0].hypot(z[1]);
        [((r + z[0]) / 2.0).sqrt(), ((r - z[0]) / 2.0).sqrt() * z[1].signum()]
    };
    let discriminant = root([1.0 / (tau * tau) - 4.0 * beta, 4.0 / tau]);
    let s = [1.0, -1.0]
        .map(|sign| [(-1.0 / tau + sign * discriminant[0]) / 2.0, sign * discriminant[1] / 2.0]);
    let own = own.unwrap_or([0.0, 1.0]);
    // z = a exp(s0 t) + (1 - a) exp(s1 t) with the velocity at the start.
    let above = [own[0] - s[1][0], own[1] - s[1][1]];
    let below = [s[0][0] - s[1][0], s[0][1] - s[1][1]];
    let size = below[0].powi(2) + below[1].powi(2);
    let a = mul(above, [below[0] / size, -below[1] / size]);
    let exp =
        |s: [f64; 2]| [(s[0] * t).exp() * (s[1] * t).cos(), (s[0] * t).exp() * (s[1] * t).sin()];
    let [first, second] = [mul(a, exp(s[0])), mul([1.0 - a[0], -a[1]], exp(s[1]))];
    [first[0] + second[0], first[1] + second[1]]
}

#[test]
fn solid_rotation_has_its_exact_answer_in_order_4() {
    let [x, y] = rotated(1.0, 0.0, None, 2.0 * std::f64::consts::PI);
    assert_below("the survey's number", (x + 3.5540254056).hypot(y + 5.7503608771), 1e-9);
    for machine in exact_machines() {
        let field = formula(["-y", "x", "0"], &machine, plane(50.0));
        for (tau, beta) in [(1.0, 0.0), (1.0, 1.0), (1.0, 1.5), (0.01, 0.5), (100.0, 2.0)] {
            let error = |count: u64| {
                let t = 2.0;
                let tracer = Tracer::new(&field).span(steps(0.0, t, count));
                let run = trace(&tracer.inertia(Inertia::new(tau, beta)), &one([1.0, 0.0, 0.0]));
                let [x, y] = rotated(tau, beta, None, t);
                distance(run.last(), &[[x, y, 0.0]])
            };
            let [coarse, fine] = [20, 40].map(error);
            assert_below(&format!("{machine}, {tau}, {beta}"), fine, 1e-6);
            let is_of_order_4 = coarse / fine > 12.0 || fine < 1e-7;
            assert!(is_of_order_4, "{tau} {beta}: {coarse:e} {fine:e}");
        }
    }
}

#[test]
fn order_does_not_depend_on_the_relaxation_time() {
    let machine = &exact_machines()[0];
    let field = formula(
        ["sin(x + t) * cos(y)", "-cos(x + t) * sin(y) + 0.3 * sin(2 * t)", "0"],
        machine,
        plane(20.0),
    );
    let taus = [1e-9, 1e-6, 1e-4, 1e-3, 1e-2, 0.03, 0.1, 1.0, 1e2, 1e3];
    for (tau, beta) in taus.into_iter().flat_map(|tau| [0.0, 0.6, 1.4].map(|beta| (tau, beta))) {
        let end = |count: u64| {
            let inertia = Inertia::new(tau, beta).gravity([0.0, -0.2, 0.0]);
            let tracer = Tracer::new(&field).span(steps(0.0, 2.0, count)).inertia(inertia);
            trace(&tracer, &one([1.0, 2.0, 0.0])).last().to_vec()
        };
        let exact = end(640);
        let [coarse, fine] = [20, 40].map(|count| distance(&end(count), &exact));
        let order = (coarse / fine).log2();
        // Where tau is some tenths of a step, an error of tau^2 dt is as large.
        let is_between = (3e-3..0.05).contains(&tau);
        let least = if is_between { 2.0 } else { 3.9 };
        assert!(order > least && fine < 1e-7, "tau {tau}: {coarse:e} {fine:e}, order {order}");
    }
}

#[test]
fn without_inertia_paths_are_those_of_rk4() {
    for machine in exact_machines() {
        let field = formula(CELLS, &machine, plane(20.0));
        let end = |inertia: Option<Inertia>| {
            let tracer = Tracer::new(&field).span(steps(0.0, 2.0, 20));
            let tracer = inertia.into_iter().fold(tracer, Tracer::inertia);
            trace(&tracer, &one([1.0, 2.0, 0.0])).last().to_vec()
        };
        let difference = distance(&end(None), &end(Some(Inertia::new(1e-14, 0.0))));
        assert_below(&machine.to_string(), difference, 1e-5);
    }
}

#[test]
fn stagnation_is_crossed_by_particles_with_much_inertia_only() {
    for machine in exact_machines() {
        let field = formula(["-x", "y", "0"], &machine, plane(1e6));
        for (tau, crosses) in [(0.24, false), (0.26, true)] {
            let tracer = Tracer::new(&field).span(steps(0.0, 12.0, 480));
            let run = trace(&tracer.inertia(Inertia::new(tau, 0.0)), &one([1.0, 0.0, 0.0]));
            assert_eq!(run.last()[0][0] < 0.0, crosses, "{tau}: {:?}", run.last());
        }
    }
}

#[test]
fn spheres_settle_at_their_terminal_velocities() {
    // Diameters in um, and velocities in mm/s of Schiller and Naumann.
    let known = [
        (50.0, 2.17696),
        (100.0, 7.96964),
        (200.0, 24.79582),
        (500.0, 78.44739),
        (1000.0, 155.10134),
    ];
    let diameters: Vec<f64> = known.iter().map(|(d, _)| d * 1e-6).collect();
    for machine in exact_machines() {
        let domain = Domain::new([-1.0; 3], [1.0; 3]).unwrap();
        let field = formula(["0", "0", "0"], &machine, domain);
        let sphere = Sphere {
            diameter: diameters.clone().into(),
            density: 2650.0.into(),
            fluid_density: 1000.0,
            viscosity: 1e-3,
        };
        let inertia = Inertia::of_spheres(sphere)
            .gravity([0.0, 0.0, -9.81])
            .drag(Drag::SchillerNaumann)
            .initial_velocity(InitialVelocity::Uniform([0.0; 3]));
        let seeds = Seeds::list(vec![[0.0; 3]; known.len()]).unwrap();
        let tracer = Tracer::new(&field).span(steps(0.0, 2.0, 400)).inertia(inertia);
        let run = trace(&tracer.save_velocity(true), &seeds);
        let velocities = run.velocities.as_ref().unwrap();
        for (i, (diameter, speed)) in known.into_iter().enumerate() {
            let found = -1e3 * velocities[3 * i + 2];
            assert_below(&format!("{machine}, {diameter} um"), (found - speed).abs(), 6e-6);
        }
    }
}

#[test]
fn falling_particles_bounce_as_high_as_they_came_from() {
    for machine in exact_machines() {
        let domain = Domain::new([0.0; 3], [1.0, 1.0, 10.0]).unwrap();
        let field = formula(["0", "0", "0"], &machine, domain);
        let seeds = one([0.5, 0.5, 0.8]);
        let inertia = Inertia::new(1e9, 0.0)
            .gravity([0.0, 0.0, -2.0])
            .initial_velocity(InitialVelocity::Uniform([0.3, 0.0, 0.0]));
        let fall = 0.8_f64.sqrt();
        let run = |count: u64| {
            let tracer = Tracer::new(&field)
                .span(steps(0.0, 2.0 * fall, count))
                .all_faces(BoundaryCondition::Reflect)
                .save_velocity(true);
            trace(&tracer.inertia(inertia.clone()), &seeds)
        };
        let error = |count: u64| {
            let run = run(count);
            let [u, _, w] = run.velocities.as_ref().unwrap()[..] else { panic!() };
            assert!((u.abs() - 0.3).abs() < 1e-7, "{u}");
            assert_eq!(run.status, [Status::Active]);
            (run.last()[0][2] - 0.8).abs() + w.abs()
        };
        // The path within the step of the bounce is straight: order 2.
        assert_below("a bounce", error(101), 1e-3);
        assert_below("a bounce", error(1001), 1e-5);
    }
}

#[test]
fn inelastic_bounces_keep_a_part_of_the_velocity() {
    let [across, along] = [0.5, 0.8];
    for machine in some_machines() {
        let box_of = |low: f64| Domain::new([-5.0, -5.0, low], [5.0, 5.0, 10.0]).unwrap();
        let still = |low: f64| formula(["0", "0", "0"], &machine, box_of(low));
        let floor = Shape::Box { low: [-9.0, -9.0, -9.0], high: [9.0, 9.0, 0.0] };
        let floor = Obstacle {
            shape: floor,
            allowed: Allowed::Outside,
            surface: BoundaryCondition::Reflect,
        };
        let made = Made::new(3, shake(CellKind::Tetra), |_| CellKind::Tetra);
        let options = FieldOptions { precision: machine.precision, ..FieldOptions::default() };
        let mut frames = MeshFrames::new(&made, &[0.0], |_, _| [0.0; 3]);
        let constant = CellVelocity::Constant;
        let mesh = MeshField::load(&mut frames, &machine.device, &options, constant).unwrap();
        let (face, above) = (still(0.0), still(-10.0));
        let inertia = Inertia::new(1e9, 0.0)
            .gravity([0.0, 0.0, -2.0])
            .restitution(across, along)
            .initial_velocity(InitialVelocity::Uniform([0.3, 0.0, 0.0]));
        // From 0.8 it reaches the floor with a speed of 2 g h, and rises to a part of the height.
        let (fall, speed) = (0.8_f64.sqrt(), 2.0 * 0.8_f64.sqrt());
        let end = fall + across * speed / 2.0;
        let count = if machine.is_cpu() { 2001 } else { 41 };
        let fields = [("face", &face as &dyn Field), ("box", &above), ("mesh", &mesh)];
        // On a card the kernels of a mesh take long to compile, and turn velocities in the test of walls, too.
        for (what, field) in
            fields.into_iter().filter(|(what, _)| *what != "mesh" || machine.is_cpu())
        {
            let tracer = Tracer::new(field)
                .span(steps(0.0, end, count))
                .domain(box_of(if what == "face" { 0.0 } else { -10.0 }))
                .all_faces(BoundaryCondition::Reflect)
                .mesh_wall(BoundaryCondition::Reflect)
                .save_velocity(true)
                .inertia(inertia.clone());
            let tracer = if what == "box" { tracer.obstacle(floor.clone()) } else { tracer };
            let run = trace(&tracer, &one([0.1, 0.5, 0.8]));
            let [u, _, w] = run.velocities.as_ref().unwrap()[..] else { panic!() };
            let name = format!("{machine}, {what}: {run:?}");
            let bound = 10.0 / count as f64 * if machine.is_double() { 1.0 } else { 2.0 };
            assert_below(&name, (u - along * 0.3).abs(), 1e-9 + 1e3 * machine.eps());
            assert_below(&name, w.abs(), bound);
            assert_below(&name, (run.last()[0][2] - across * across * 0.8).abs(), bound);
        }
    }
}

#[test]
fn particles_that_do_not_bounce_stay_on_the_floor() {
    for machine in exact_machines() {
        let domain = Domain::new([0.0; 3], [9.0, 9.0, 9.0]).unwrap();
        let field = formula(["1", "0", "0"], &machine, domain);
        let inertia = Inertia::new(0.1, 0.0).gravity([0.0, 0.0, -2.0]).restitution(0.0, 1.0);
        let tracer = Tracer::new(&field)
            .span(steps(0.0, 4.0, 80))
            .all_faces(BoundaryCondition::Reflect)
            .save_velocity(true)
            .inertia(inertia);
        for engine in machine.engines() {
            let run = trace(&tracer.clone().engine(*engine), &one([1.0, 5.0, 0.1]));
            let [u, v, w] = run.velocities.as_ref().unwrap()[..] else { panic!() };
            assert!(run.last()[0][2] == 0.0 && run.status == [Status::Active], "{run:?}");
            assert!((u - 1.0).abs() < 1e-9 && v == 0.0 && w == 0.0, "{u} {v} {w}");
        }
    }
}

#[test]
fn walls_of_all_kinds_turn_the_velocity() {
    let (low, high) = ([0.0; 3], [1.0; 3]);
    for machine in some_machines() {
        let domain = Domain::new(low, high).unwrap();
        let still = formula(["0", "0", "0"], &machine, domain);
        let made = Made::new(3, shake(CellKind::Tetra), |_| CellKind::Tetra);
        let options = FieldOptions { precision: machine.precision, ..FieldOptions::default() };
        let mut frames = MeshFrames::new(&made, &[0.0], |_, _| [0.0; 3]);
        let mesh = MeshField::load(&mut frames, &machine.device, &options, CellVelocity::Constant)
            .unwrap();
        let inertia =
            Inertia::new(1e9, 0.0).initial_velocity(InitialVelocity::Uniform([1.0, 0.5, 0.25]));
        let tracer = |field| {
            Tracer::new(field).span(steps(0.0, 0.6, 3)).inertia(inertia.clone()).save_velocity(true)
        };
        let wide = Domain::new([-1.0; 3], [2.0; 3]).unwrap();
        let shape = Shape::Box { low: [0.8, -1.0, -1.0], high: [2.0; 3] };
        let block =
            Obstacle { shape, allowed: Allowed::Outside, surface: BoundaryCondition::Reflect };
        let reflected = [0.7, 0.7, 0.45, -1.0, 0.5, 0.25];
        let reflect = BoundaryCondition::Reflect;
        let runs = [
            ("face", tracer(&still).all_faces(reflect), 0.7, reflected),
            (
                "face",
                tracer(&still).all_faces(BoundaryCondition::Slide),
                0.7,
                [1.0, 0.7, 0.45, 0.0, 0.5, 0.25],
            ),
            (
                "face",
                tracer(&still).all_faces(BoundaryCondition::Periodic),
                0.7,
                [0.3, 0.7, 0.45, 1.0, 0.5, 0.25],
            ),
            ("mesh", tracer(&mesh).domain(wide).mesh_wall(reflect), 0.7, reflected),
            (
                "mesh",
                tracer(&mesh).domain(wide).mesh_wall(BoundaryCondition::Slide),
                0.7,
                [1.0, 0.7, 0.45, 0.0, 0.5, 0.25],
            ),
            ("box", tracer(&still).obstacle(block), 0.5, [0.5, 0.7, 0.45, -1.0, 0.5, 0.25]),
        ];
        for (what, tracer, x, expected) in runs {
            let run = trace(&tracer, &one([x, 0.4, 0.3]));
            let found: Vec<f64> =
                run.last()[0].iter().chain(run.velocities.as_ref().unwrap()).copied().collect();
            for (found, expected) in found.iter().zip(expected) {
                // A mesh is left slightly inside of its walls.
                assert_below(
                    &format!("{machine}, {what}: {run:?}"),
                    (found - expected).abs(),
                    2e-5,
                );
            }
        }
    }
}

#[test]
fn fields_of_all_kinds_have_the_rotation_of_a_formula() {
    let velocity = |[x, y, _]: [f64; 3], _: f64| [0.5 - y, x - 0.5, 0.0];
    for machine in some_machines() {
        let grid = machine.field(&Frames::new(
            [0, 1, 2].map(|_| even_axis(0.0, 1.0, 4)),
            Placement::Nodes,
            &[0.0],
            velocity,
        ));
        let made = Made::new(3, shake(CellKind::Hexahedron), |_| CellKind::Hexahedron);
        let options = FieldOptions { precision: machine.precision, ..FieldOptions::default() };
        let mut frames = MeshFrames::new(&made, &[0.0], velocity);
        let mesh = MeshField::load(&mut frames, &machine.device, &options, CellVelocity::Constant)
            .unwrap();
        for (what, field) in [("grid", &grid as &dyn Field), ("mesh", &mesh)] {
            let tracer =
                Tracer::new(field).span(steps(0.0, 0.5, 4)).inertia(Inertia::new(0.5, 1.5));
            let run = trace(&tracer, &one([0.7, 0.5, 0.5]));
            let [x, y] = rotated(0.5, 1.5, None, 0.5).map(|z| 0.5 + 0.2 * z);
            let bound = 5e-6 + 1e3 * machine.eps();
            assert_below(
                &format!("{machine}, {what}"),
                distance(run.last(), &[[x, y, 0.5]]),
                bound,
            );
        }
    }
}

#[test]
fn late_releases_and_re_used_slots_start_with_the_velocity_of_the_fluid() {
    for machine in exact_machines() {
        let domain = Domain::new([0.0; 3], [1.0, 1.0, 0.0]).unwrap();
        let field = formula(["1 + x", "0", "0"], &machine, domain);
        let inlet = Inlet::new(InletShape::Face(Face::XLow), Pattern::Uniform).unwrap();
        let tracer = Tracer::new(&field)
            .span(steps(0.0, 1.5, 30))
            .outlet(Face::XHigh, inlet)
            .save(SaveAt::EverySteps(10))
            .save_velocity(true)
            .inertia(Inertia::new(1e9, 0.0));
        let seeds = Seeds::list(vec![[0.5, 0.5, 0.0], [0.25, 0.5, 0.0]]).unwrap();
        let seeds = seeds.with_release(vec![0.0, 0.33]).unwrap();
        let run = trace(&tracer, &seeds);
        assert_eq!(run.status, [Status::Active; 2]);
        // Ballistic: 1.5 for a third of a time unit, then 1 from the inlet on.
        let velocities = run.velocities.as_ref().unwrap();
        let last: Vec<f64> =
            velocities[velocities.len() - 6..].iter().step_by(3).copied().collect();
        assert_below("of the next particle", (last[0] - 1.0).abs(), 1e-6);
        let ([first, second], end) = ([1.0 / 3.0, 0.33 + 0.6], 1.5);
        let x = end - first - 1.0;
        assert_below(
            "the next ones",
            (run.last()[0][0] - x).abs().min((run.last()[0][0] - x - 1.0).abs()),
            1e-6,
        );
        assert_below("a late one", (run.last()[1][0] - (end - second)).abs(), 1e-6);
    }
}

#[test]
fn drawn_sizes_have_their_distribution_on_both_engines_and_in_pieces() {
    let machine = &exact_machines()[0];
    let domain = Domain::new([-9.0; 3], [9.0; 3]).unwrap();
    let field = formula(["0", "0", "0"], machine, domain);
    let count = 20_000;
    let seeds = Seeds::list(vec![[0.0; 3]; count]).unwrap();
    let (gravity, t) = (1e-3, 50.0);
    let spheres = |distribution| {
        Inertia::of_spheres(Sphere {
            diameter: PerParticle::Drawn(distribution, 7),
            density: 1000.0.into(),
            fluid_density: 0.0,
            viscosity: 1e-3,
        })
    };
    // By Stokes v = rho d^2 g / 18 mu.
    let diameter = |z: f64| (-z / t * 18.0 * 1e-3 / (1000.0 * gravity)).sqrt();
    let log_normal = Distribution::LogNormal { median: 1e-3, deviation: 1.5 };
    let (sizes, smaller) = ([5e-4, 1e-3, 2e-3], [0.0, 0.5, 1.0]);
    let table = Distribution::Table { sizes: sizes.into(), smaller: smaller.into() };
    let rosin_rammler = Distribution::RosinRammler { scale: 1e-3, spread: 3.0 };
    for (distribution, [median, upper]) in [
        (log_normal, [1e-3, 1.5e-3]),
        (rosin_rammler, [1e-3 * 2_f64.ln().cbrt(), 1e-3 * 0.158_655_f64.ln().abs().cbrt()]),
        (table, [1e-3, 1e-3 * (1.0 + 0.341_345 / 0.5)]),
    ] {
        let inertia = spheres(distribution.clone()).gravity([0.0, 0.0, -gravity]);
        let terminal = inertia.initial_velocity(InitialVelocity::Fluid);
        let tracer = Tracer::new(&field).span(steps(0.0, t, 20)).inertia(terminal);
        let ends = |engine| trace(&tracer.clone().engine(engine), &seeds).last().to_vec();
        let (fused, tensor) = (ends(Engine::Fused), ends(Engine::Tensor));
        assert_below("engines", distance(&fused, &tensor), 1e-10);
        let batched = trace(&tracer.clone().batch(999), &seeds);
        assert_eq!(fused, batched.last());
        let mut sizes: Vec<f64> = fused.iter().map(|p| diameter(p[2])).collect();
        sizes.sort_by(f64::total_cmp);
        // The transient of a few milliseconds is small.
        let found = [0.5, 0.841_345].map(|part| sizes[(part * count as f64) as usize]);
        for (found, expected) in found.into_iter().zip([median, upper]) {
            assert!((found / expected - 1.0).abs() < 0.02, "{distribution:?}: {found} {expected}");
        }
        let piece = |slots: std::ops::Range<usize>| {
            let prepared = tracer.prepare(&seeds).unwrap();
            rows(prepared.piece(slots).unwrap().run().unwrap().saves()[0].position.clone())
        };
        assert_eq!(piece(500..700), fused[500..700]);
    }
}

#[test]
fn batches_and_resumed_runs_have_the_same_bits() {
    let machine = &exact_machines()[0];
    let field = formula(CELLS, machine, plane(20.0));
    let seeds = Seeds::uniform([-3.0, -3.0, 0.0], [3.0, 3.0, 0.0], 30, 5).unwrap();
    let times: Vec<f64> = (0..30).map(|i| 0.1 + 0.01 * f64::from(i)).collect();
    let tracer = Tracer::new(&field)
        .span(steps(0.0, 2.0, 40))
        .save(SaveAt::EverySteps(5))
        .save_velocity(true)
        .inertia(Inertia::new(times, 0.5).gravity([0.0, -0.3, 0.0]));
    let whole = trace(&tracer, &seeds);
    let parts = trace(&tracer.clone().batch(7), &seeds);
    assert_eq!((whole.saves, whole.velocities), (parts.saves, parts.velocities));
    crate::runs::resume::assert_resumes("inertia", &tracer, &seeds);
}

/// A flow that is linear in space and time, so that all differences are exact.
fn linear([x, y, z]: [f64; 3], t: f64) -> [f64; 3] {
    [1.0 - y + 0.3 * t, x - 0.5 - 0.2 * z, 0.4 * y - 0.3 * t]
}

#[test]
fn both_engines_have_the_same_paths() {
    let heavy = Inertia::new(0.2, 0.0).gravity([0.1, 0.2, -0.6]);
    let light = Inertia::new(0.1, 1.4).gravity([0.0, 0.0, -0.5]);
    let sphere =
        Sphere { diameter: 0.02.into(), density: 3.0.into(), fluid_density: 1.0, viscosity: 1e-3 };
    let sphere = Inertia::of_spheres(sphere).drag(Drag::SchillerNaumann);
    let fast = sphere.initial_velocity(InitialVelocity::Uniform([0.5, -0.5, 0.2]));
    let lifted = fast.clone().lift(Lift::Saffman);
    let obstacle = |shape: Shape| Obstacle {
        shape,
        allowed: Allowed::Outside,
        surface: BoundaryCondition::Reflect,
    };
    let ball = Shape::Sphere { centre: [0.5; 3], radius: 0.15 };
    let block = Shape::Box { low: [0.7, 0.6, -1.0], high: [2.0, 0.8, 2.0] };
    let seeds = Seeds::uniform([0.05; 3], [0.95; 3], 40, 3).unwrap();
    let seeds = seeds.with_release((0..40).map(|i| 0.005 * f64::from(i)).collect()).unwrap();
    let inner = Seeds::uniform([0.4; 3], [0.6; 3], 20, 3).unwrap();
    for machine in exact_machines() {
        let axes = || [0, 1, 2].map(|d| stretched_axis(0.0, 1.0, 3 + d));
        let grid = machine.field(&Frames::new(axes(), Placement::Nodes, &[0.0, 0.8], linear));
        let options = || FieldOptions { precision: machine.precision, ..FieldOptions::default() };
        let mesh = |kind: CellKind| {
            let made = Made::new(3, shake(kind), |_| kind);
            let mut frames = MeshFrames::new(&made, &[0.0, 0.8], linear);
            let constant = CellVelocity::Constant;
            MeshField::load(&mut frames, &machine.device, &options(), constant).unwrap()
        };
        let (tetrahedra, hexahedra) = (mesh(CellKind::Tetra), mesh(CellKind::Hexahedron));
        let domain = Domain::new([0.0; 3], [1.0; 3]).unwrap();
        let formula = formula(
            ["1 - y + 0.3 * t", "x - 0.5 - 0.2 * z", "0.4 * y - 0.3 * t"],
            &machine,
            domain,
        );
        let fields: [(&str, &dyn Field); 4] = [
            ("grid", &grid),
            ("tetrahedra", &tetrahedra),
            ("hexahedra", &hexahedra),
            ("formula", &formula),
        ];
        for (name, field) in fields {
            for (what, inertia, condition) in [
                ("heavy", &heavy, BoundaryCondition::Reflect),
                ("heavy", &heavy, BoundaryCondition::Slide),
                ("heavy", &heavy, BoundaryCondition::Exit),
                // Differences and gradients of the field are the same away from walls.
                ("light", &light, BoundaryCondition::Exit),
                ("fast", &fast, BoundaryCondition::Exit),
                ("lifted", &lifted, BoundaryCondition::Exit),
            ] {
                let tracer = Tracer::new(field)
                    .save(SaveAt::EverySteps(2))
                    .save_velocity(true)
                    .all_faces(condition)
                    .mesh_wall(condition)
                    .inertia(inertia.clone());
                let (tracer, seeds) = match what {
                    "heavy" => {
                        let tracer = tracer
                            .span(steps(0.0, 0.8, 16))
                            .obstacle(obstacle(block.clone()))
                            .obstacle(obstacle(ball.clone()))
                            .seeds_outside(SeedsOutside::NotLocated);
                        (tracer, &seeds)
                    }
                    _ => (tracer.span(steps(0.0, 0.3, 6)), &inner),
                };
                {
                    let run = |engine| trace(&tracer.clone().engine(engine), seeds);
                    let (fused, tensor) = (run(Engine::Fused), run(Engine::Tensor));
                    let name = format!("{machine}, {name}, {what}, {condition:?}");
                    assert_eq!(fused.status, tensor.status, "{name}");
                    let [a, b] = [&fused, &tensor].map(|run| run.saves.concat());
                    let alike: Vec<_> = a.iter().zip(&b).filter(|(a, _)| !a[0].is_nan()).collect();
                    let [a, b] = [0, 1].map(|which| {
                        let of = |pair: &(&[f64; 3], &[f64; 3])| [*pair.0, *pair.1][which];
                        alike.iter().map(of).collect::<Vec<_>>()
                    });
                    assert_below(&name, distance(&a, &b), 1e-10);
                    let pairs =
                        fused.velocities.iter().flatten().zip(tensor.velocities.iter().flatten());
                    let largest = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                    assert_below(&format!("{name}, velocities"), largest, 1e-9);
                }
            }
        }
    }
}

#[test]
fn adaptive_steps_meet_their_tolerance_on_both_engines() {
    for machine in exact_machines() {
        let field = formula(CELLS, &machine, plane(20.0));
        let ([tau, beta, gravity], [x, y]) = IN_CELLS[0];
        for engine in machine.engines() {
            let error = |tolerance: f64| {
                let tracer = Tracer::new(&field)
                    .span(span(0.0, 10.0, 10.0))
                    .solver(Solver::adaptive(Tolerance::new(0.0, tolerance)))
                    .inertia(Inertia::new(tau, beta).gravity([0.0, gravity, 0.0]));
                let run = trace(&tracer.engine(*engine), &one([1.0, 2.0, 0.0]));
                let steps = run.summary.tries.unwrap()[0];
                (distance(run.last(), &[[x, y, 0.0]]), steps)
            };
            let [(coarse, few), (fine, many)] = [1e-5, 1e-8].map(error);
            assert!(few < 80 && many > 2 * few, "{engine:?}: {few} and {many} steps");
            assert_below(&format!("{machine}, {engine:?}"), coarse, 1e-3);
            assert_below(&format!("{machine}, {engine:?}"), fine, 1e-5);
        }
    }
}

/// A weighted sum of the last positions of a run by tau, beta and the seed.
fn loss(field: &dyn Field, body: Option<&Obstacle>, parameters: &Tensor<1>) -> Tensor<1> {
    let part = |at: usize, count: usize| parameters.clone().narrow(0, at, count);
    let seeds = Seeds::from_tensor(part(2, 3).reshape([1, 3])).unwrap();
    let tracer = Tracer::new(field)
        .span(steps(0.0, 1.0, 10))
        .all_faces(BoundaryCondition::Reflect)
        .obstacles(body.cloned())
        .inertia(
            Inertia::new(part(0, 1), part(1, 1)).gravity([0.4, -0.3, 0.0]).restitution(0.8, 0.9),
        );
    let last = tracer.trace(&seeds).unwrap().saves().last().unwrap().position.clone();
    let weights = Tensor::<2>::from_data([[0.7, -1.3, 0.0]], (&last.device(), last.dtype()));
    (last * weights).sum()
}

#[test]
fn gradients_are_those_of_differences_through_bounces_too() {
    let machine = &exact_machines()[0];
    let device = machine.device.clone();
    let numbers = [0.3, 0.8, 1.0, 2.0, 0.0];
    let tensor = |numbers: [f64; 5], device: &Device| {
        Tensor::<1>::from_data(numbers, (device, Precision::F64.dtype()))
    };
    let circle = Shape::Cylinder {
        base: [0.75, 1.2, 0.0],
        axis: [0.0, 0.0, 1.0],
        radius: 0.3,
        capped: false,
    };
    let circle =
        Obstacle { shape: circle, allowed: Allowed::Outside, surface: BoundaryCondition::Reflect };
    let mut values = Vec::new();
    for (low, body) in [(-20.0, None), (1.7, None), (-20.0, Some(&circle))] {
        let domain = Domain::new([-20.0, low, 0.0], [20.0, 20.0, 0.0]).unwrap();
        let field = formula(CELLS, machine, domain);
        values.push(floats(loss(&field, body, &tensor(numbers, &device)))[0]);
        let leaf = tensor(numbers, &device.clone().autodiff()).require_grad();
        let gradients = loss(&field, body, &leaf).backward();
        let found = floats(leaf.grad(&gradients).unwrap());
        for (k, found) in found.iter().take(4).enumerate() {
            let at = |change: f64| {
                let mut numbers = numbers;
                numbers[k] += change;
                floats(loss(&field, body, &tensor(numbers, &device)))[0]
            };
            let difference = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert_below(&format!("{k}: {found} {difference}"), (found - difference).abs(), 1e-6);
        }
    }
    // The wall and the circle are met.
    let [free, wall, circle] = values[..] else { panic!() };
    assert!((wall - free).abs() > 1e-3 && (circle - free).abs() > 1e-3, "{values:?}");
}

#[test]
fn gradients_by_spheres_and_by_the_field_are_those_of_differences() {
    let machine = &exact_machines()[0];
    let numbers = [0.02, 3.0, 0.7];
    let loss = |parameters: Tensor<1>| {
        let part = |at: usize| parameters.clone().narrow(0, at, 1);
        let speed = part(2).reshape([1, 1]);
        let flow = |p: Tensor<2>, t: f64| {
            let [x, y] = [0, 1].map(|d| p.clone().narrow(1, d, 1));
            let [u, v] = [(x + t).sin() * y.clone().cos(), y.sin() + 0.2 * t];
            Tensor::cat(vec![u.clone(), v, u.zeros_like()], 1) * speed.clone()
        };
        let device = parameters.device();
        let field = FieldFn::new(plane(20.0), &device, machine.precision, flow);
        let (diameter, density) = (part(0).into(), part(1).into());
        let sphere = Sphere { diameter, density, fluid_density: 1.0, viscosity: 1e-3 };
        let inertia = Inertia::of_spheres(sphere)
            .drag(Drag::SchillerNaumann)
            .gravity([0.2, -0.5, 0.0])
            .initial_velocity(InitialVelocity::Uniform([0.4, 0.1, 0.0]));
        let tracer = Tracer::new(&field).span(steps(0.0, 1.0, 10)).inertia(inertia);
        let seeds = Seeds::list(vec![[1.0, 2.0, 0.0], [-0.5, 0.3, 0.0]]).unwrap();
        let position = tracer.trace(&seeds).unwrap().saves().last().unwrap().position.clone();
        (position.clone() * position).sum()
    };
    let tensor = |numbers: [f64; 3], device: &Device| {
        Tensor::<1>::from_data(numbers, (device, Precision::F64.dtype()))
    };
    let leaf = tensor(numbers, &machine.device.clone().autodiff()).require_grad();
    let gradients = loss(leaf.clone()).backward();
    for (k, found) in floats(leaf.grad(&gradients).unwrap()).into_iter().enumerate() {
        let at = |change: f64| {
            let mut numbers = numbers;
            numbers[k] *= 1.0 + change;
            floats(loss(tensor(numbers, &machine.device)))[0]
        };
        let difference = (at(1e-5) - at(-1e-5)) / (2e-5 * numbers[k]);
        let error = (found - difference).abs() / found.abs();
        assert_below(&format!("{k}: {found} {difference}"), error, 1e-6);
    }
}

#[test]
fn gradients_by_the_values_of_a_grid_are_those_of_differences() {
    let machine = &exact_machines()[0];
    let axes = || [0, 1, 2].map(|_| even_axis(0.0, 1.0, 3));
    let grid = machine.field(&Frames::new(axes(), Placement::Nodes, &[0.0, 0.8], linear));
    let values = floats(grid.values().unwrap());
    let shape = [2, 64, 3];
    let tensor = |values: &[f64], device: &Device| {
        let data = TensorData::new(values.to_vec(), shape);
        Tensor::<3>::from_data(data, (device, Precision::F64.dtype()))
    };
    let loss = |values: Tensor<3>| {
        let field = grid.with_values(values).unwrap();
        let tracer = Tracer::new(&field)
            .span(steps(0.0, 0.5, 5))
            .all_faces(BoundaryCondition::Reflect)
            .inertia(Inertia::new(0.2, 0.7).gravity([0.0, 0.0, -0.4]));
        let seeds = Seeds::list(vec![[0.5, 0.4, 0.6]]).unwrap();
        let position = tracer.trace(&seeds).unwrap().saves().last().unwrap().position.clone();
        (position.clone() * position).sum()
    };
    let leaf = tensor(&values, &machine.device.clone().autodiff()).require_grad();
    let gradients = loss(leaf.clone()).backward();
    let found = floats(leaf.grad(&gradients).unwrap());
    let mut largest: Vec<usize> = (0..values.len()).collect();
    largest.sort_by(|a, b| found[*b].abs().total_cmp(&found[*a].abs()));
    for k in largest.into_iter().take(12) {
        // In the same steps as with a graph: those of tensor operations.
        let at = |change: f64| {
            let mut values = values.clone();
            values[k] += change;
            let tracked = tensor(&values, &machine.device.clone().autodiff());
            floats(loss(tracked.require_grad()).inner())[0]
        };
        let difference = (at(1e-5) - at(-1e-5)) / 2e-5;
        let error = (found[k] - difference).abs();
        assert_below(&format!("{k}: {} {difference}", found[k]), error, 1e-6);
        assert!(found[k] != 0.0);
    }
}

#[test]
fn what_inertia_cannot_be_combined_with_is_refused() {
    let machine = &exact_machines()[0];
    let field = formula(CELLS, machine, plane(20.0));
    let seeds = one([1.0, 2.0, 0.0]);
    let tracer = || Tracer::new(&field).span(steps(0.0, 1.0, 10));
    let refused = |tracer: Tracer| tracer.trace(&seeds).err().unwrap();
    let inertia = || Inertia::new(0.1, 0.5);
    let table = |sizes: &[f64], smaller: &[f64]| {
        let (sizes, smaller) = (sizes.into(), smaller.into());
        PerParticle::Drawn(Distribution::Table { sizes, smaller }, 1)
    };
    let spheres = |diameter: PerParticle, fluid_density: f64| {
        let density = 1000.0.into();
        Inertia::of_spheres(Sphere { diameter, density, fluid_density, viscosity: 1e-3 })
    };
    let combined = [
        tracer().inertia(inertia()).drift([1.0, 0.0, 0.0]),
        tracer().inertia(inertia()).scheme(Scheme::Heun),
        Tracer::new(&field).span(steps(1.0, 0.0, 10)).inertia(inertia()),
    ];
    for tracer in combined {
        let error = refused(tracer);
        assert!(matches!(error, Error::Combination { .. }), "{error}");
    }
    let bad = [
        (Inertia::new(0.0, 0.5), "the relaxation time of particle 0 is 0; give a number above 0"),
        (Inertia::new(0.1, 3.5), "the beta of particle 0 is 3.5; give a number from 0 to 3"),
        (
            Inertia::new(vec![0.1, 0.2], 0.5),
            "there are 2 numbers of the relaxation time for 1 particles",
        ),
        (inertia().drag(Drag::SchillerNaumann), "depends on the sizes of particles"),
        (inertia().drag(Drag::Coefficient(0.4)), "depends on the sizes of particles"),
        (spheres(table(&[1e-4], &[0.0, 1.0]), 1.0), "the 1 sizes [0.0001] and the 2 parts"),
        (spheres(table(&[], &[]), 1.0), "the 0 sizes [] and the 0 parts []"),
        (spheres(table(&[2e-4, 1e-4], &[0.0, 1.0]), 1.0), "sizes above 0 and parts from 0 to 1"),
        (
            spheres(1e-4.into(), 0.0).drag(Drag::SchillerNaumann),
            "the Reynolds number, which is 0 in a fluid of the density 0",
        ),
        (
            inertia().gravity([0.0, 0.0, 1.0]),
            "the gravity has the component 1 along z; the domain is flat along z; give 0 along it",
        ),
        (
            inertia().initial_velocity(InitialVelocity::Each(vec![[1.0, 0.0, 0.5]].into())),
            "an initial velocity has the component 0.5 along z; the domain is flat along z",
        ),
        (
            inertia().initial_velocity(InitialVelocity::Uniform([f64::NAN, 0.0, 0.0])),
            "an initial velocity has the component NaN along x; give finite numbers",
        ),
    ];
    for (inertia, text) in bad {
        let error = refused(tracer().inertia(inertia)).to_string();
        assert!(error.contains(text), "{error}");
    }
}
