//! Laws of the drag, and what particles keep where they end.

use super::inertia::{CELLS, formula, one, plane};
use crate::common::*;
use burntrace::{
    Allowed, BoundaryCondition, Contact, DIAMETER, Domain, Drag, Error, Face, Inertia,
    InitialVelocity, Lift, MASS, Obstacle, PerParticle, SaveAt, Seeds, Shape, Sphere, Status,
    Tracer,
};

/// Spheres in a fluid of the density 1 and the viscosity 1e-3.
fn spheres(diameter: impl Into<PerParticle>, density: f64) -> Inertia {
    let (diameter, density) = (diameter.into(), density.into());
    Inertia::of_spheres(Sphere { diameter, density, fluid_density: 1.0, viscosity: 1e-3 })
}

#[test]
fn a_constant_coefficient_has_the_speed_and_the_path_of_a_quadratic_drag() {
    // Without added mass: heavy spheres in air.
    for machine in exact_machines() {
        let domain = Domain::new([-1e4; 3], [1e4; 3]).unwrap();
        let field = formula(["0", "0", "0"], &machine, domain);
        let (d, density, coefficient, gravity) = (0.01, 1000.0, 0.44, 9.81);
        let inertia =
            spheres(d, density).drag(Drag::Coefficient(coefficient)).gravity([0.0, 0.0, -gravity]);
        // dv/dt = g' - k v^2 with the added mass of half the fluid's: v = v_t tanh(t g' / v_t).
        let total = density + 0.5;
        let pull = gravity * (density - 1.0) / total;
        let k = 0.75 * coefficient / (d * total);
        let terminal = (pull / k).sqrt();
        let error = |t: f64, count: u64| {
            let tracer = Tracer::new(&field).span(steps(0.0, t, count)).inertia(inertia.clone());
            let run = trace(&tracer.save_velocity(true), &one([0.0; 3]));
            let fallen = terminal.powi(2) / pull * (t * pull / terminal).cosh().ln();
            let speed =
                -run.velocities.as_ref().unwrap()[2] - terminal * (t * pull / terminal).tanh();
            (run.last()[0][2] + fallen).abs().max(speed.abs())
        };
        let [coarse, fine] = [40, 80].map(|count| error(4.0, count));
        assert_below(&machine.to_string(), fine, 1e-4);
        assert!(coarse / fine > 12.0, "{machine}: {coarse:e} {fine:e}");
        // Steps of ten seconds, where the response takes two.
        assert_below(&format!("{machine}, long steps"), error(200.0, 20), 10.0);
    }
}

#[test]
fn aerosols_slip_by_cunningham() {
    // Slip corrections in air at a mean free path of 66 nm: Davies' formula.
    let path = 66e-9;
    let slip = |d: f64| {
        let number = 2.0 * path / d;
        1.0 + number * (1.257 + 0.4 * (-1.1 / number).exp())
    };
    assert_below("1 um", (slip(1e-6) - 1.165_936).abs(), 1e-5);
    let diameters = vec![1e-8, 1e-7, 1e-6, 1e-5];
    for machine in exact_machines() {
        let domain = Domain::new([-1.0; 3], [1.0; 3]).unwrap();
        let field = formula(["0", "0", "0"], &machine, domain);
        let air = Sphere {
            diameter: diameters.clone().into(),
            density: 1000.0.into(),
            fluid_density: 1.2,
            viscosity: 1.8e-5,
        };
        let inertia =
            Inertia::of_spheres(air).gravity([0.0, 0.0, -9.81]).drag(Drag::Cunningham(path));
        for engine in machine.engines() {
            let tracer = Tracer::new(&field).span(steps(0.0, 1.0, 10)).inertia(inertia.clone());
            let tracer = tracer.engine(*engine).save_velocity(true);
            let run = trace(&tracer, &Seeds::list(vec![[0.0; 3]; 4]).unwrap());
            for (i, d) in diameters.iter().enumerate() {
                let speed = d * d * 998.8 * 9.81 / (18.0 * 1.8e-5) * slip(*d);
                let found = -run.velocities.as_ref().unwrap()[3 * i + 2];
                assert_below(&format!("{machine}, {d}"), (found / speed - 1.0).abs(), 1e-9);
            }
        }
    }
}

#[test]
fn steps_longer_than_the_response_are_stable_for_all_laws() {
    // A release at rest in a fast flow, and one that is shot into fluid at rest: both must relax without overshooting.
    for machine in exact_machines() {
        let domain = Domain::new([-1e3; 3], [1e3; 3]).unwrap();
        for drag in [Drag::Stokes, Drag::SchillerNaumann, Drag::Coefficient(0.44)] {
            for (fluid, own) in [("0", 10.0), ("10", 0.0)] {
                let field = formula([fluid, "0", "0"], &machine, domain);
                let inertia = spheres(1e-3, 10.0)
                    .drag(drag)
                    .initial_velocity(InitialVelocity::Uniform([own, 0.0, 0.0]));
                let tracer = Tracer::new(&field).span(steps(0.0, 50.0, 50)).inertia(inertia);
                let run =
                    trace(&tracer.save(SaveAt::EverySteps(1)).save_velocity(true), &one([0.0; 3]));
                let slips: Vec<f64> = run
                    .velocities
                    .as_ref()
                    .unwrap()
                    .chunks(3)
                    .map(|v| (v[0] - (10.0 - own)).abs())
                    .collect();
                let name = format!("{machine}, {drag:?}, {own}: {:?}", &slips[..5]);
                assert!(slips.iter().all(|slip| *slip <= 10.0 + 1e-9), "{name}");
                assert!(slips[50] < 0.2, "{name}, {}", slips[50]);
            }
        }
    }
}

#[test]
fn a_particle_that_ends_keeps_the_velocity_of_its_impact() {
    for machine in exact_machines() {
        let domain = Domain::new([-9.0, -9.0, 0.0], [9.0, 9.0, 2.0]).unwrap();
        let field = formula(["0", "0", "0"], &machine, domain);
        let inertia = Inertia::new(1e9, 0.0)
            .gravity([0.0, 0.0, -2.0])
            .initial_velocity(InitialVelocity::Uniform([0.5, 0.0, 0.0]));
        for engine in machine.engines() {
            for condition in [BoundaryCondition::Stick, BoundaryCondition::Exit] {
                let tracer = Tracer::new(&field)
                    .span(steps(0.0, 3.0, 300))
                    .all_faces(condition)
                    .save_velocity(true)
                    .engine(*engine)
                    .inertia(inertia.clone());
                let run = trace(&tracer, &one([0.0, 0.0, 1.0]));
                assert!(run.status[0].has_ended(), "{:?}", run.status);
                let [u, v, w] = run.velocities.as_ref().unwrap()[..] else { panic!() };
                // From a height of 1 at an acceleration of 2: 2 at the floor.
                let error = (u - 0.5).abs().max(v.abs()).max((w + 2.0).abs());
                assert_below(&format!("{machine}, {engine:?}, {condition:?}"), error, 1e-3);
            }
        }
    }
}

#[test]
fn sizes_are_saved_of_each_slot() {
    let machine = &exact_machines()[0];
    let field = formula(CELLS, machine, plane(20.0));
    let seeds = Seeds::list(vec![[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [30.0, 1.0, 0.0]]).unwrap();
    let seeds = seeds.with_column("d", vec![1e-3, 2e-3, 3e-3]).unwrap();
    let diameters = seeds.column("d").unwrap().to_vec();
    let tracer = Tracer::new(&field)
        .span(steps(0.0, 1.0, 10))
        .save(SaveAt::EverySteps(5))
        .seeds_outside(burntrace::SeedsOutside::NotLocated)
        .save_sizes(true)
        .inertia(spheres(diameters, 8.0));
    for batch in [3, 2] {
        let tracks = tracer.clone().batch(batch).trace(&seeds).unwrap();
        let [diameter, mass] = [DIAMETER, MASS].map(|name| floats(tracks.array(name).unwrap()));
        for save in 0..3 {
            for (slot, d) in [1e-3, 2e-3].into_iter().enumerate() {
                let m = 8.0 * std::f64::consts::PI / 6.0 * d * d * d;
                assert_eq!(diameter[3 * save + slot], d);
                assert_below("mass", (mass[3 * save + slot] / m - 1.0).abs(), 1e-14);
            }
        }
    }
    let passive = Tracer::new(&field).span(steps(0.0, 1.0, 10)).save_sizes(true);
    for tracer in [passive.clone(), passive.inertia(Inertia::new(0.1, 0.0))] {
        let error = tracer.trace(&seeds).unwrap_err();
        assert!(matches!(&error, Error::Arrays(text) if text.contains("only spheres")), "{error}");
    }
    assert_eq!(trace(&tracer, &seeds).status[2], Status::NotLocated);
}

#[test]
fn spheres_touch_walls_one_radius_before() {
    let body =
        |shape: Shape, allowed| Obstacle { shape, allowed, surface: BoundaryCondition::Stick };
    let domain = Domain::new([0.0; 3], [4.0, 4.0, 4.0]).unwrap();
    for machine in exact_machines() {
        let end = |velocity: [f64; 3], obstacle: Option<Obstacle>, from: [f64; 3]| {
            let field = formula(["0", "0", "0"], &machine, domain);
            let inertia = spheres(0.2, 1e9)
                .initial_velocity(InitialVelocity::Uniform(velocity))
                .contact(Contact::Surface);
            let tracer = Tracer::new(&field)
                .span(steps(0.0, 4.0, 13))
                .all_faces(BoundaryCondition::Stick)
                .face(Face::YLow, BoundaryCondition::Exit)
                .inertia(inertia);
            let run = trace(&obstacle.into_iter().fold(tracer, Tracer::obstacle), &one(from));
            (run.status[0], run.last()[0])
        };
        let middle = [2.0; 3];
        let ball = || body(Shape::Sphere { centre: middle, radius: 0.5 }, Allowed::Outside);
        let vessel = || body(Shape::Sphere { centre: middle, radius: 1.5 }, Allowed::Inside);
        let rod = || Shape::Cylinder {
            base: [2.0, 2.0, 1.0],
            axis: [0.0, 0.0, 2.0],
            radius: 0.5,
            capped: true,
        };
        let block = || Shape::Box { low: [1.5; 3], high: [2.5; 3] };
        for (velocity, obstacle, from, to) in [
            ([1.0, 0.0, 0.0], None, middle, [3.9, 2.0, 2.0]),
            ([0.0, 0.0, -1.0], None, middle, [2.0, 2.0, 0.1]),
            ([0.0, -1.0, 0.0], None, middle, [2.0, 0.0, 2.0]),
            ([1.0, 0.0, 0.0], Some(ball()), [0.5, 2.0, 2.0], [1.4, 2.0, 2.0]),
            ([1.0, 0.0, 0.0], Some(vessel()), middle, [3.4, 2.0, 2.0]),
            (
                [0.0, 0.0, 1.0],
                Some(body(rod(), Allowed::Outside)),
                [2.0, 2.0, 0.3],
                [2.0, 2.0, 0.9],
            ),
            (
                [1.0, 0.0, 0.0],
                Some(body(block(), Allowed::Outside)),
                [0.5, 2.0, 2.0],
                [1.4, 2.0, 2.0],
            ),
        ] {
            let (status, found) = end(velocity, obstacle, from);
            assert!(status.has_ended(), "{velocity:?}: {status}, {found:?}");
            assert_below(&format!("{machine}, {velocity:?}"), distance(&[found], &[to]), 1e-9);
        }
        let field = formula(["0", "0", "0"], &machine, domain);
        let refused = |inertia: Inertia, seed: [f64; 3]| {
            let tracer = Tracer::new(&field).span(steps(0.0, 1.0, 2));
            let tracer = tracer.all_faces(BoundaryCondition::Reflect);
            tracer
                .inertia(inertia.contact(Contact::Surface))
                .trace(&one(seed))
                .unwrap_err()
                .to_string()
        };
        for (inertia, text) in [
            (Inertia::new(0.1, 0.0), "spheres of one diameter"),
            (spheres(vec![0.1], 1.0), "spheres of one diameter"),
            (spheres(4.5, 1.0), "do not fit between the walls along x"),
            (spheres(4.0, 1.0), "do not fit between the walls along x"),
            (spheres(40.0, 1.0), "do not fit between the walls along x"),
        ] {
            let error = refused(inertia, middle);
            assert!(error.contains(text), "{error}");
        }
        let error = refused(spheres(0.2, 1.0), [0.05, 2.0, 2.0]);
        assert!(error.contains("outside"), "{error}");
    }
}

#[test]
fn lift_pushes_spheres_across_a_shear_flow() {
    // du/dz = 2, a sphere at rest that is slower: towards the faster fluid. The answer of small steps by hand.
    let (d, density, fluid_density, viscosity, shear) = (1e-3_f64, 2.0, 1.0, 1e-3, 2.0);
    let total = 2.0 * density + fluid_density;
    let tau = d * d * total / (36.0 * viscosity);
    let mass = std::f64::consts::PI / 12.0 * d.powi(3) * total;
    let lift = 1.615 * d * d * (viscosity * fluid_density / shear).sqrt() / mass;
    let rate = |[_, z, u, w]: [f64; 4]| {
        let slip = [shear * z - u, -w];
        // Du/Dt = 0; (u - v) x omega with omega along y.
        let acceleration =
            [slip[0] / tau - lift * shear * slip[1], slip[1] / tau + lift * shear * slip[0]];
        [u, w, acceleration[0], acceleration[1]]
    };
    let (count, t) = (20_000, 5.0 * tau);
    let h = t / f64::from(count);
    let mut state = [0.0, 0.5, 0.0, 0.0];
    for _ in 0..count {
        let moved = |by: [f64; 4], part: f64| [0, 1, 2, 3].map(|k| state[k] + part * h * by[k]);
        let a = rate(state);
        let b = rate(moved(a, 0.5));
        let c = rate(moved(b, 0.5));
        let e = rate(moved(c, 1.0));
        state = [0, 1, 2, 3].map(|k| state[k] + h / 6.0 * (a[k] + 2.0 * (b[k] + c[k]) + e[k]));
    }
    assert!(state[3] > 0.0 && state[1] > 0.5, "{state:?}");
    for machine in exact_machines() {
        let domain = Domain::new([-10.0, -10.0, -10.0], [10.0, 10.0, 10.0]).unwrap();
        let field = formula(["2 * z", "0", "0"], &machine, domain);
        let inertia = spheres(d, density)
            .lift(Lift::Saffman)
            .initial_velocity(InitialVelocity::Uniform([0.0; 3]));
        for engine in machine.engines() {
            let end = |count: u64| {
                let tracer = Tracer::new(&field).span(steps(0.0, t, count)).engine(*engine);
                let run = trace(
                    &tracer.inertia(inertia.clone()).save_velocity(true),
                    &one([0.0, 0.0, 0.5]),
                );
                let ([x, _, z], velocity) = (run.last()[0], run.velocities.unwrap());
                let found = [x, z, velocity[0], velocity[2]];
                let scale = [tau, tau, 1.0, 1.0];
                (0..4).map(|k| (found[k] - state[k]).abs() / scale[k]).fold(0.0, f64::max)
            };
            let [coarse, fine] = [10, 20].map(end);
            assert_below(&format!("{machine}, {engine:?}"), fine, 1e-5);
            assert!(coarse / fine > 10.0, "{machine}, {engine:?}: {coarse:e} {fine:e}");
        }
        let heavy =
            Sphere { diameter: d.into(), density: density.into(), fluid_density: 0.0, viscosity };
        for inertia in [Inertia::new(0.1, 0.5), Inertia::of_spheres(heavy)] {
            let tracer =
                Tracer::new(&field).span(steps(0.0, t, 2)).inertia(inertia.lift(Lift::Saffman));
            let error = tracer.trace(&one([0.0; 3])).unwrap_err().to_string();
            assert!(error.contains("the lift depends on"), "{error}");
        }
    }
}
