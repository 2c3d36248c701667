//! End and residence times as tensors, with their gradients.

use super::adjoint::{kinds, tensor, tracer_is_on_mesh, values_of, weights};
use crate::common::*;
use burn::tensor::{Device, Tensor};
use burntrace::{
    Allowed, BoundaryCondition, Engine, Field, Obstacle, RandomWalk, Scheme, Seeds, Shape, Status,
    Tolerance, Tracer, Tracks,
};

const COUNT: usize = 14;

fn points() -> Vec<f64> {
    Dice(3).points([0.3, 0.3, 0.3], [1.7, 0.7, 0.7], COUNT).into_flattened()
}

/// Settings of a tracer, on a mesh or not.
type Set = dyn for<'a> Fn(Tracer<'a>, bool) -> Tracer<'a>;

/// A condition at all faces, or at the walls of a mesh.
fn everywhere(tracer: Tracer, on_mesh: bool, condition: BoundaryCondition) -> Tracer {
    if on_mesh { tracer.mesh_wall(condition) } else { tracer.all_faces(condition) }
}

fn run(
    field: &dyn Field,
    start: Tensor<2>,
    (set, on_mesh, engine): (&Set, bool, Engine),
) -> Tracks {
    let release = (0..COUNT).map(|i| 0.1 + 0.013 * i as f64).collect();
    let seeds = Seeds::from_tensor(start).unwrap().with_release(release).unwrap();
    let tracer = Tracer::new(field).drift([1.3, -0.6, 0.4]).span(steps(0.1, 1.4, 11));
    set(tracer.engine(engine), on_mesh).trace(&seeds).unwrap()
}

/// The sum of the times of those that have ended, each with a weight of its own.
fn loss(times: Tensor<1>) -> Tensor<1> {
    let is_active = times.clone().is_nan();
    let weights = tensor(weights(COUNT), [COUNT], &times.device());
    (times.mask_fill(is_active, 0.0) * weights).sum()
}

/// Compares the gradients of residence times by seeds and by values with central differences.
fn check(what: &str, ends: &[Status], set: &Set, engine: Engine) {
    for machine in exact_machines() {
        let tracking = machine.device.clone().autodiff();
        for (name, count, make) in kinds() {
            if engine == Engine::Tensor && name != "nodes" && name != "tetrahedra" {
                continue;
            }
            let inputs = |step: [f64; 2], device: &Device| {
                let moved = |numbers: Vec<f64>, step: f64| {
                    let along = Dice(90).points([-1.0; 3], [1.0; 3], numbers.len() / 3);
                    let both = numbers.iter().zip(along.as_flattened());
                    both.map(|(x, d)| x + step * d).collect::<Vec<_>>()
                };
                let start = tensor(moved(points(), step[0]), [COUNT, 3], device);
                (start, tensor(moved(values_of(count), step[1]), [3, count, 3], device))
            };
            let (start, values) = inputs([0.0; 2], &tracking);
            let (start, values) = (start.require_grad(), values.require_grad());
            let set = (set, tracer_is_on_mesh(name), engine);
            let field = make(values.clone());
            let tracks = run(&*field, start.clone(), set);
            let ended = tracks
                .ends()
                .status
                .iter()
                .filter(|status| ends.contains(status) || **status == Status::LeftMesh);
            let ended = ended.count();
            assert!(ended >= 3, "{what}, {name}: {ended} have ended, {:?}", tracks.ends().status);
            let gradients = loss(tracks.residence_times().unwrap()).backward();
            let by =
                [floats(start.grad(&gradients).unwrap()), floats(values.grad(&gradients).unwrap())];
            for (which, by) in by.iter().enumerate() {
                let at = |sign: f64| {
                    let mut step = [0.0; 2];
                    step[which] = sign * 1e-6;
                    let (start, values) = inputs(step, &machine.device);
                    let tracks = run(&*make(values), start, set);
                    floats(loss(tracks.residence_times().unwrap()))[0]
                };
                let difference = (at(1.0) - at(-1.0)) / 2e-6;
                let along = Dice(90).points([-1.0; 3], [1.0; 3], by.len() / 3);
                let found: f64 = by.iter().zip(along.as_flattened()).map(|(g, d)| g * d).sum();
                let what = format!("{machine}, {what}, {name}, {which}: {found}, {difference}");
                let bound = if engine == Engine::Tensor { 1e-6 } else { 1e-7 };
                assert_below(&what, (found - difference).abs() / difference.abs().max(1.0), bound);
            }
        }
    }
}

fn exits() -> Vec<Status> {
    Status::ALL.into_iter().filter(|status| matches!(status, Status::Exited(_))).collect()
}

#[test]
fn gradients_of_exit_times_match_central_differences() {
    for scheme in Scheme::ALL {
        let set: &Set = &move |tracer, on_mesh| {
            everywhere(tracer.scheme(scheme), on_mesh, BoundaryCondition::Exit)
        };
        check(&format!("{scheme:?}"), &exits(), set, Engine::Fused);
    }
}

#[test]
fn tensor_engine_has_the_gradients_of_exit_times() {
    let set: &Set = &|tracer, on_mesh| everywhere(tracer, on_mesh, BoundaryCondition::Exit);
    check("tensor engine", &exits(), set, Engine::Tensor);
}

#[test]
fn gradients_of_times_at_which_particles_stick_match_central_differences() {
    let set: &Set = &|tracer, on_mesh| {
        let tracer = tracer.random_walk(RandomWalk::isotropic(0.002, 3));
        match on_mesh {
            // Some meshes fill their domain, whose faces then come first.
            true => tracer.all_faces(BoundaryCondition::Stick).mesh_wall(BoundaryCondition::Stick),
            false => tracer
                .all_faces(BoundaryCondition::Reflect)
                .face(burntrace::Face::XHigh, BoundaryCondition::Stick),
        }
    };
    check("walk", &[Status::Stuck], set, Engine::Fused);
}

#[test]
fn gradients_of_times_at_obstacles_match_central_differences() {
    let ball = Shape::Sphere { centre: [1.5, 0.3, 0.7], radius: 0.45 };
    let block = Shape::Box { low: [1.4, -1.0, -1.0], high: [3.0, 2.0, 2.0] };
    for shape in [ball, block] {
        let what = format!("{shape:?}");
        let set: &Set = &move |tracer, on_mesh| {
            let obstacle = Obstacle {
                shape: shape.clone(),
                allowed: Allowed::Outside,
                surface: BoundaryCondition::Exit,
            };
            let tracer = tracer.obstacle(obstacle);
            everywhere(tracer, on_mesh, BoundaryCondition::Reflect)
                .seeds_outside(burntrace::SeedsOutside::NotLocated)
        };
        check(&what, &[Status::HitObstacle], set, Engine::Fused);
    }
}

/// The flow is uniform: an end is at (2 - x) / u, for adaptive steps as well.
#[test]
fn end_times_and_their_gradients_are_exact_in_uniform_flow() {
    for machine in machines() {
        let source = Frames::uniform([0.0; 3], [2.0, 1.0, 1.0], &[0.0], |_| [0.5, 0.0, 0.0]);
        let field = machine.field(&source);
        let device = machine.device.clone().autodiff();
        let start = tensor_of(&[[1.25, 0.5, 0.5], [0.25, 0.5, 0.5]], &device, &machine);
        let start = start.require_grad();
        let seeds = Seeds::from_tensor(start.clone()).unwrap().release_at(0.25).unwrap();
        let tracer = Tracer::new(&field)
            .span(steps(0.0, 3.0, 6))
            .scheme(Scheme::DormandPrince)
            .tolerance(Tolerance::new(1e-3, 1e-3));
        let tracks = tracer.trace(&seeds).unwrap();
        let times = floats(tracks.end_times().unwrap());
        assert_below(&machine.to_string(), (times[0] - 1.75).abs(), 8.0 * machine.eps());
        assert!(times[1].is_nan(), "{machine}: {times:?}");
        let residence = tracks.residence_times().unwrap().narrow(0, 0, 1);
        let by = rows(start.grad(&residence.sum_dim(0).backward()).unwrap());
        let expected = [[-2.0, 0.0, 0.0], [0.0; 3]];
        assert_below(&machine.to_string(), distance(&by, &expected), 8.0 * machine.eps());
        // Without gradients they are the same numbers.
        let plain = tracer.trace(&Seeds::list(seeds.positions().to_vec()).unwrap());
        let plain = plain.unwrap();
        let host = plain.ends().end_time[0];
        let found = floats(plain.end_times().unwrap())[0];
        assert_below(&machine.to_string(), (host - found).abs(), 2.0 * machine.eps());
    }
}

fn tensor_of(points: &[[f64; 3]], device: &Device, machine: &Machine) -> Tensor<2> {
    let data = burn::tensor::TensorData::new(points.as_flattened().to_vec(), [points.len(), 3]);
    Tensor::from_data(data, (device, machine.precision.dtype()))
}
