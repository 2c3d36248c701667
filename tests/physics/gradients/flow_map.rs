//! The gradient of the flow map, carried along with the particles.

use super::{
    adjoint::{
        Make, Set, kinds, some_seeds, tensor, tracer_is_on_mesh, values_of, weighted, weights,
    },
    seeds_and_parameters::{STEPS, exact, rotation},
};
use crate::{
    common::*,
    recorded::{assert_same, run, swirl},
    runs::resume::assert_resumes,
};
use burn::tensor::Tensor;
use burntrace::{
    Allowed, BoundaryCondition, Domain, Engine, Error, FLOW_MAP_GRADIENT, Face, FieldFn,
    FieldOptions, Frames as Held, GridField, Inlet, InletShape, Obstacle, Pattern, Precision,
    RandomWalk, SaveAt, Scheme, Seeds, SeedsOutside, Shape, Status, Tolerance, Tracer,
};

/// The gradients of all saves, a row of nine for each particle.
fn gradients(tracer: &Tracer, seeds: &Seeds) -> Vec<f64> {
    let tracks = tracer.clone().flow_map_gradient(true).trace(seeds).unwrap();
    assert_eq!(tracks.summary().unwrap().engine, Engine::Fused);
    floats(tracks.array(FLOW_MAP_GRADIENT).unwrap())
}

/// Compares the gradients of the flow map with those of a loss by the seeds: the sum of all coordinates of all
/// saves, each with a weight of its own.
pub fn check(what: &str, make: &Make, count: usize, seeds: &Seeds, set: &Set) {
    for machine in exact_machines() {
        let values = values_of(count);
        let shape = [values.len() / count / 3, count, 3];
        let field = make(tensor(values, shape, &machine.device));
        let tracer = Tracer::new(&*field).span(steps(0.1, 1.3, 9)).save(SaveAt::EverySteps(3));
        let tracer = set(tracer);
        let found = gradients(&tracer, seeds);

        let (n, device) = (seeds.len(), machine.device.clone().autodiff());
        let start = tensor(seeds.positions().to_vec().into_flattened(), [n, 3], &device);
        let start = start.require_grad();
        let mut tracked = Seeds::from_tensor(start.clone()).unwrap();
        if let Some(release) = seeds.release() {
            tracked = tracked.with_release(release.to_vec()).unwrap();
        }
        let tracks = tracer.trace(&tracked).unwrap();
        let expected = weighted(tracks.positions()).backward();
        let expected = floats(start.grad(&expected).unwrap());

        let mut by_seeds = vec![0.0; 3 * n];
        // The weight of each coordinate, with its derivatives by the three coordinates of the seed.
        let rows = weights(found.len() / 3).into_iter().zip(found.chunks_exact(3));
        for (i, (weight, row)) in rows.enumerate() {
            let particle = i / 3 % n;
            for (d, slope) in row.iter().enumerate() {
                by_seeds[3 * particle + d] += weight * slope;
            }
        }
        let size = expected.iter().fold(1.0, |size: f64, x| size.max(x.abs()));
        let off = by_seeds.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert_below(&format!("{what}, {machine}"), off / size, 1e-12);
    }
}

#[test]
fn flow_map_gradients_of_all_schemes_are_those_of_the_adjoint() {
    for (name, count, make) in kinds() {
        for scheme in Scheme::ALL {
            let what = format!("{name}, {scheme:?}");
            check(&what, &*make, count, &some_seeds(), &move |tracer| tracer.scheme(scheme));
        }
    }
}

#[test]
fn flow_map_gradients_at_all_conditions_are_those_of_the_adjoint() {
    use BoundaryCondition::*;
    for (name, count, make) in kinds() {
        for condition in [Exit, Reflect, Slide, Stick, Periodic] {
            let set: &Set = &move |tracer| {
                // Fast enough to reach the faces.
                let tracer = tracer.drift([0.9, -0.4, 0.3]);
                match tracer_is_on_mesh(name) && condition != Periodic {
                    true => tracer.mesh_wall(condition),
                    false => tracer.all_faces(condition),
                }
            };
            check(&format!("{name}, {condition:?}"), &*make, count, &some_seeds(), set);
        }
    }
}

/// Releases during steps, a random walk, an obstacle, a threshold of speed, and adaptive steps.
#[test]
fn flow_map_gradients_with_everything_else_are_those_of_the_adjoint() {
    let ball = Obstacle {
        shape: Shape::Sphere { centre: [1.1, 0.5, 0.5], radius: 0.25 },
        allowed: Allowed::Outside,
        surface: BoundaryCondition::Reflect,
    };
    let positions = Dice(3).points([0.3, 0.3, 0.3], [0.7, 0.7, 0.7], 11);
    let release: Vec<f64> = (0..11).map(|i| 0.1 + 0.07 * f64::from(i)).collect();
    let seeds = Seeds::list(positions).unwrap().with_release(release).unwrap();
    let obstructed: &Set = &move |tracer| {
        tracer
            .random_walk(RandomWalk::isotropic(0.004, 3))
            .obstacle(ball.clone())
            .stagnant_speed(0.02)
            .all_faces(BoundaryCondition::Reflect)
    };
    for (name, count, make) in kinds() {
        check(name, &*make, count, &seeds, obstructed);
        let adaptive: &Set = &move |tracer| {
            let tracer = tracer.scheme(Scheme::DormandPrince).drift([0.9, -0.4, 0.3]);
            let tracer = tracer.tolerance(Tolerance::new(1e-6, 1e-6));
            match tracer_is_on_mesh(name) {
                true => tracer.mesh_wall(BoundaryCondition::Reflect),
                false => tracer.all_faces(BoundaryCondition::Reflect),
            }
        };
        check(&format!("{name}, adaptive"), &*make, count, &seeds, adaptive);
    }
}

/// A solid rotation is linear, so that the gradient is a power of the scheme's stability function.
#[test]
fn flow_map_gradient_of_a_rotation_is_exact_on_every_machine() {
    let seeds = Seeds::list(Dice(31).points([-2.0, -2.0, 0.5], [2.0, 2.0, 0.5], 9)).unwrap();
    for machine in machines() {
        for z in [vec![0.5], even_axis(0.0, 1.0, 2)] {
            let field = rotation(&machine.device, machine.precision, z);
            // The host computes the gradients of cards, which compile a kernel for each scheme.
            let is_tested = |scheme: &Scheme| machine.is_cpu() || *scheme == Scheme::Rk4;
            for scheme in Scheme::ALL.into_iter().filter(is_tested) {
                let tracer =
                    Tracer::new(&field).scheme(scheme).span(steps(0.0, STEPS as f64, STEPS));
                let [a, b] = exact(scheme, STEPS);
                let expected = [a, -b, 0.0, b, a, 0.0, 0.0, 0.0, 1.0];
                for (i, x) in gradients(&tracer, &seeds).into_iter().enumerate() {
                    let what = format!("{machine}, {scheme:?}, element {i}: {x}");
                    assert_below(&what, (x - expected[i % 9]).abs(), 60.0 * machine.eps());
                }
            }
        }
    }
}

fn reflected(field: &GridField, count: u64) -> Tracer<'_> {
    Tracer::new(field)
        .all_faces(BoundaryCondition::Reflect)
        .span(steps(0.0, 1.0, count))
        .save(SaveAt::EverySteps(3))
        .flow_map_gradient(true)
}

/// Enough particles to be sorted: derivatives stay with their particles.
#[test]
fn batches_resumes_and_streams_give_the_same_bits() {
    for machine in some_machines() {
        let field = machine.field(&swirl());
        let (count, steps) = if machine.is_cpu() { (3000, 24) } else { (40, 9) };
        let seeds = Seeds::list(Dice(5).points([0.2; 3], [0.8; 3], count)).unwrap();
        let tracer = reflected(&field, steps);
        let whole = run(&tracer, &seeds);
        assert_same(
            &format!("{machine}, batches"),
            &whole,
            &run(&tracer.clone().batch(count / 2 - 7), &seeds),
        );
        assert_resumes(&format!("{machine}, resumed"), &tracer, &seeds);
        let options = FieldOptions {
            precision: machine.precision,
            frames: Held::Streamed(4),
            ..FieldOptions::default()
        };
        let streamed = GridField::open(Box::new(swirl()), &machine.device, &options).unwrap();
        assert_same(
            &format!("{machine}, streamed"),
            &whole,
            &run(&reflected(&streamed, steps), &seeds),
        );
    }
}

/// A particle that ends keeps the derivatives of its end; one that waits has the identity, and one that was not
/// released has none.
#[test]
fn ended_waiting_and_not_located_particles_have_known_gradients() {
    let identity = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    for machine in exact_machines() {
        let field = rotation(&machine.device, Precision::F64, vec![0.5]);
        let positions = vec![[0.0, 7.9, 0.5], [1.0, 1.0, 0.5], [100.0, 0.0, 0.5], [7.0, 7.0, 0.5]];
        let seeds = Seeds::list(positions).unwrap();
        let seeds = seeds.with_release(vec![0.0, 5.5, 0.0, 0.0]).unwrap();
        let tracer = Tracer::new(&field)
            .seeds_outside(SeedsOutside::NotLocated)
            .span(steps(0.0, STEPS as f64, STEPS))
            .save(SaveAt::EverySteps(1));
        let tracks = tracer.clone().flow_map_gradient(true).trace(&seeds).unwrap();
        let status = integers(tracks.status());
        assert_eq!(status[1], i64::from(Status::Active.code()));
        assert_ne!(status[3], i64::from(Status::Active.code()));
        let all = floats(tracks.array(FLOW_MAP_GRADIENT).unwrap());
        let saves: Vec<&[f64]> = all.chunks_exact(4 * 9).collect();
        for (k, save) in saves.iter().enumerate() {
            let of = |i: usize| &save[9 * i..9 * (i + 1)];
            assert_eq!(of(1) == identity, k <= 5, "save {k}");
            assert!(of(2).iter().all(|x| x.is_nan()));
        }
        // The particle leaves through a face, where its end moves along the face only.
        let end = &saves[STEPS as usize][27..36];
        assert_ne!(end, identity);
        assert_eq!(end, &saves[STEPS as usize - 1][27..36]);
        assert!(
            end[..3].iter().all(|x| x.abs() < 1e-12) || end[3..6].iter().all(|x| x.abs() < 1e-12)
        );
    }
}

#[test]
fn flow_map_gradients_are_refused_where_they_are_not_known() {
    let machine = &machines()[0];
    let field = rotation(&machine.device, machine.precision, vec![0.5]);
    let seeds = Seeds::list(vec![[1.0, 1.0, 0.5]]).unwrap();
    let tracer = Tracer::new(&field).span(steps(0.0, 1.0, 2)).flow_map_gradient(true);
    let reason = |tracer: Tracer, seeds: &Seeds| match tracer.prepare(seeds).map(drop) {
        Err(error @ Error::Combination { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    };
    assert!(reason(tracer.clone().engine(Engine::Tensor), &seeds).contains("tensor operations"));
    let inlet = Inlet::new(InletShape::Face(Face::XLow), Pattern::Uniform).unwrap();
    assert!(reason(tracer.clone().outlet(Face::XHigh, inlet), &seeds).contains("re-used"));
    let moved = tracer.clone().each_step(|step| step.after);
    assert!(reason(moved, &seeds).contains("operation"));
    let start: Tensor<2> = tensor(vec![1.0, 1.0, 0.5], [1, 3], &machine.device.clone().autodiff());
    let tracked = Seeds::from_tensor(start.require_grad()).unwrap();
    assert!(reason(tracer.clone(), &tracked).contains("tracked"));
    let own = FieldFn::new(Domain::unbounded(), &machine.device, machine.precision, |p, _| p);
    let own = Tracer::new(&own).span(steps(0.0, 1.0, 2)).flow_map_gradient(true);
    assert!(reason(own, &seeds).contains("auxiliary"));
}
