//! User operations after each step (`each_step`).

use crate::common::*;
use burn::tensor::{Device, Tensor, TensorData};
use burntrace::{
    Allowed, BoundaryCondition, Engine, Error, Face, FieldOptions, GridField, Inlet, InletShape,
    Obstacle, ParticleInstance, Pattern, Placement, Precision, RandomWalk, SaveAt, Scheme, Seeds,
    Shape, Source, Status, Step, Tolerance, Tracer, Tracks,
};
use std::{f64::consts::PI, sync::Mutex};

const LOW: [f64; 3] = [0.0; 3];
const HIGH: [f64; 3] = [2.0, 1.0, 1.0];
const DT: f64 = 0.11;

/// A row `[1, 3]` on the device and in the precision of a tensor.
fn row(numbers: [f64; 3], beside: &Tensor<2>) -> Tensor<2> {
    let data = TensorData::new(numbers.to_vec(), [1, 3]);
    Tensor::from_data(data, (&beside.device(), beside.dtype()))
}

/// Moves at a constant velocity.
fn at_velocity(velocity: [f64; 3]) -> impl Fn(Step) -> Tensor<2> {
    move |step| {
        let displacement = row(velocity, &step.after) * step.dt;
        step.after + displacement
    }
}

/// Moves by a displacement in each step.
fn by(displacement: [f64; 3]) -> impl Fn(Step) -> Tensor<2> {
    move |step| step.after.clone() + row(displacement, &step.after)
}

fn uniform(machine: &Machine, velocity: [f64; 3]) -> GridField {
    machine.field(&Frames::uniform(LOW, HIGH, &[0.0], |_| velocity))
}

fn inlet(pattern: Pattern) -> Inlet {
    Inlet::new(InletShape::Face(Face::XLow), pattern).unwrap()
}

/// A number of steps, reduced for software GPUs, where tensor operations are slow.
fn step_count(machine: &Machine, on_cpu: u64) -> u64 {
    if machine.is_cpu() { on_cpu } else { 5 }
}

fn walking(tracer: Tracer) -> Tracer {
    tracer.random_walk(RandomWalk::isotropic(1e-4, 3))
}

fn adaptive(tracer: Tracer) -> Tracer {
    tracer.scheme(Scheme::DormandPrince).tolerance(Tolerance::new(1e-3, 1e-3))
}

type Variant = for<'a> fn(Tracer<'a>) -> Tracer<'a>;

const VARIANTS: [(&str, Variant); 3] =
    [("plain", |t| t), ("walk", walking), ("adaptive", adaptive)];

/// Seeds, half of them released within steps.
fn late_seeds(count: usize, end: f64) -> Seeds {
    let seeds = Seeds::list(Dice(1).points([0.1, 0.3, 0.3], [1.0, 0.6, 0.6], count)).unwrap();
    let late = (0..count).map(|i| if i % 2 == 0 { 0.0 } else { 0.13 * end * (i % 7) as f64 });
    seeds.with_release(late.collect()).unwrap()
}

/// Including particles that are released within a step.
/// An operation on particles of their own numbers: the same in batches.
#[test]
fn steps_name_their_slots_in_batches_too() {
    for machine in machines().into_iter().filter(Machine::is_cpu) {
        let field = uniform(&machine, [0.1, 0.0, 0.0]);
        let by_slot = |step: Step| {
            let [n, _] = step.after.dims();
            let numbers = (step.first_slot..step.first_slot + n).map(|slot| slot as f64 * 1e-3);
            let data = TensorData::new(numbers.collect::<Vec<_>>(), [n, 1]);
            let up = Tensor::<2>::from_data(data, (&step.after.device(), step.after.dtype()));
            let zero = up.zeros_like();
            step.after + Tensor::cat(vec![zero.clone(), up, zero], 1)
        };
        let seeds = Seeds::list(vec![[0.1, 0.1, 0.5]; 30]).unwrap();
        for &engine in machine.engines() {
            let tracer = Tracer::new(&field).engine(engine).span(steps(0.0, 1.0, 8));
            let all = trace(&tracer.clone().each_step(by_slot), &seeds);
            let parts = trace(&tracer.each_step(by_slot).batch(7), &seeds);
            assert_eq!(all.last(), parts.last(), "{machine} {engine}");
            let y = all.last()[29][1];
            assert_below("y", (y - (0.1 + 8.0 * 29e-3)).abs(), 20.0 * machine.eps());
        }
    }
}

/// Enough particles and steps for several sorts; those in batches are not sorted. The displacement depends on the
/// slot, and leads to walls and to a ball.
#[test]
fn operations_do_not_depend_on_the_order_of_particles() {
    for machine in machines().into_iter().filter(Machine::is_cpu) {
        let field = uniform(&machine, [0.3, 0.1, -0.05]);
        let by_slot = |step: Step| {
            let [n, _] = step.after.dims();
            let slots = step.first_slot..step.first_slot + n;
            let numbers = slots.flat_map(|slot| [0.7, 1.3, 2.9].map(|x| (x * slot as f64).sin()));
            let data = TensorData::new(numbers.collect::<Vec<_>>(), [n, 3]);
            let off = Tensor::<2>::from_data(data, (&step.after.device(), step.after.dtype()));
            step.before * 0.01 + step.after * 0.99 + off * step.dt * 0.3
        };
        let ball = Obstacle {
            shape: Shape::Sphere { centre: [1.0, 0.5, 0.5], radius: 0.2 },
            allowed: Allowed::Outside,
            surface: BoundaryCondition::Reflect,
        };
        let seeds = Seeds::list(Dice(3).points([0.1; 3], [0.7, 0.9, 0.9], 3000)).unwrap();
        let late = (0..3000).map(|i| if i % 3 == 0 { 0.0 } else { 0.01 * (i % 7) as f64 });
        let seeds = seeds.with_release(late.collect()).unwrap();
        let tracer = Tracer::new(&field)
            .obstacle(ball)
            .all_faces(BoundaryCondition::Reflect)
            .face(Face::XHigh, BoundaryCondition::Exit)
            .span(steps(0.0, 7.0, 140))
            .save(SaveAt::EverySteps(35))
            .each_step(by_slot);
        let whole = trace(&tracer, &seeds);
        let parts = trace(&tracer.batch(700), &seeds);
        assert_eq!(whole.saves, parts.saves, "{machine}");
        assert_eq!(whole.status, parts.status, "{machine}");
        let exited = Status::Exited(Face::XHigh);
        let left = whole.status.iter().filter(|status| **status == exited).count();
        assert!((100..2900).contains(&left), "{machine}: {left}");
    }
}

#[test]
fn operation_with_constant_velocity_equals_a_drift() {
    let drift = [0.05, -0.1, 0.2];
    for machine in machines() {
        let field = uniform(&machine, [0.3, 0.1, -0.2]);
        for (name, change) in VARIANTS {
            let n = step_count(&machine, 10);
            let seeds = late_seeds(20, DT * n as f64);
            for &engine in machine.engines() {
                let tracer = Tracer::new(&field).span(steps(0.0, DT * n as f64, n)).engine(engine);
                let tracer = change(tracer.save(SaveAt::EveryTime(2.5 * DT)));
                let expected = trace(&tracer.clone().drift(drift), &seeds);
                let found = trace(&tracer.each_step(at_velocity(drift)), &seeds);
                let what = format!("{machine}, {engine}, {name}");
                assert_eq!(found.status, vec![Status::Active; 20], "{what}");
                for (a, b) in found.saves.iter().zip(&expected.saves) {
                    assert_below(&what, distance(a, b), 8.0 * n as f64 * machine.eps());
                }
            }
        }
    }
}

/// Plug flow from outlet to inlet, with a source: positions depend on the fraction of the first step after a
/// release.
#[test]
fn operation_applies_to_the_fraction_of_a_step_after_a_release() {
    let drift = [0.0, 0.02, -0.03];
    let n = 30;
    let seeds = Seeds::list(Dice(2).points([0.1, 0.4, 0.4], [1.9, 0.6, 0.6], 10)).unwrap();
    for machine in machines().into_iter().filter(Machine::is_cpu) {
        let field = uniform(&machine, [1.7, 0.0, 0.0]);
        for (name, change) in [VARIANTS[0], VARIANTS[2]] {
            for &engine in machine.engines() {
                let disc = InletShape::Points(vec![[1.2, 0.5, 0.5], [1.4, 0.4, 0.6]]);
                let drops = Inlet::new(disc, Pattern::Lattice).unwrap();
                let tracer = Tracer::new(&field)
                    .face(Face::XLow, BoundaryCondition::Clamp)
                    .outlet(Face::XHigh, inlet(Pattern::Lattice))
                    .source(Source::constant(drops, 3.1, 4).unwrap())
                    .span(steps(0.0, DT * n as f64, n))
                    .save(SaveAt::EverySteps(1))
                    .engine(engine);
                let tracer = change(tracer);
                let expected = tracer.clone().drift(drift).trace(&seeds).unwrap();
                let found = tracer.each_step(at_velocity(drift)).trace(&seeds).unwrap();
                let what = format!("{machine}, {engine}, {name}");
                assert!(found.instances().len() > 30, "{what}: {}", found.instances().len());
                assert_eq!(found.instances().len(), expected.instances().len(), "{what}");
                let bound = 1e3 * machine.eps();
                for (a, b) in found.saves().iter().zip(expected.saves()) {
                    let [p, q] = [a, b].map(|save| rows(save.position.clone()));
                    let there = p.iter().zip(&q).filter(|(p, _)| !p[0].is_nan());
                    let (p, q): (Vec<_>, Vec<_>) = there.map(|(p, q)| (*p, *q)).unzip();
                    assert_below(&format!("{what}, at {}", a.time), distance(&p, &q), bound);
                }
            }
        }
    }
}

/// A rotating flow that reaches all faces and a ball.
fn turning(machine: &Machine) -> GridField {
    let axes = [even_axis(0.0, 2.0, 9), even_axis(0.0, 1.0, 5), even_axis(0.0, 1.0, 6)];
    let frames = Frames::new(axes, Placement::Nodes, &[0.0, 0.6, 1.2], |[x, y, z], t| {
        let (sine, cosine) = (PI * x).sin_cos();
        [1.5 * (0.3 + y - z + t), 1.2 * sine - 0.4 * z, 0.3 - 1.1 * cosine * t + y]
    });
    machine.field(&frames)
}

/// A tracer with all conditions, an obstacle, an outlet and a source.
fn everything(field: &GridField) -> Tracer<'_> {
    let shape = Shape::Sphere { centre: [1.0, 0.5, 0.5], radius: 0.2 };
    let ball = Obstacle { shape, allowed: Allowed::Outside, surface: BoundaryCondition::Slide };
    Tracer::new(field)
        .face(Face::XLow, BoundaryCondition::Clamp)
        .face(Face::YLow, BoundaryCondition::Reflect)
        .face(Face::YHigh, BoundaryCondition::Reflect)
        .face(Face::ZLow, BoundaryCondition::Periodic)
        .face(Face::ZHigh, BoundaryCondition::Periodic)
        .obstacle(ball)
        .outlet(Face::XHigh, inlet(Pattern::Uniform))
        .source(Source::constant(inlet(Pattern::Lattice), 23.0, 7).unwrap())
        .engine(Engine::Fused)
}

/// A particle instance: slot, generation, and the bits of its times.
type InstanceBits = (usize, u32, [u64; 2]);

/// The bits of all saves and particle instances.
fn bits(tracks: &Tracks) -> (Vec<u64>, Vec<i64>, Vec<InstanceBits>) {
    let position = |p: &Tensor<2>| floats(p.clone()).into_iter().map(f64::to_bits).collect();
    let positions: Vec<Vec<u64>> = tracks.saves().iter().map(|s| position(&s.position)).collect();
    let image = |s: &burntrace::Save| integers(s.image.clone());
    let instance = |l: &ParticleInstance| {
        (l.slot, l.generation, [l.release_time, l.end_time].map(f64::to_bits))
    };
    let mut instances: Vec<_> = tracks.instances().iter().map(instance).collect();
    instances.sort_unstable();
    (positions.concat(), tracks.saves().iter().flat_map(image).collect(), instances)
}

#[test]
fn identity_operation_gives_bit_identical_tracks() {
    // Each variant compiles kernels of a device, whose source does not depend on the precision.
    for machine in machines().into_iter().filter(|machine| machine.is_cpu() || !machine.is_double())
    {
        let field = turning(&machine);
        let points = Dice(3).points(LOW, HIGH, 40).into_iter();
        let is_free = |p: &[f64; 3]| (p[0] - 1.0).hypot(p[1] - 0.5).hypot(p[2] - 0.5) > 0.21;
        let seeds = Seeds::list(points.filter(is_free).collect()).unwrap();
        let n = step_count(&machine, 14);
        for (name, change) in VARIANTS {
            let tracer = everything(&field).span(steps(0.0, 1.2 / 14.0 * n as f64, n));
            let tracer = change(tracer.save(SaveAt::EverySteps(4)));
            let expected = tracer.trace(&seeds).unwrap();
            let found = tracer.each_step(|step| step.after).trace(&seeds).unwrap();
            let what = format!("{machine}, {name}");
            assert_eq!(found.summary().unwrap().launches, n, "{what}");
            assert!(bits(&found) == bits(&expected), "{what}");
            let [a, b] = [&found, &expected].map(|tracks| tracks.summary().unwrap());
            assert_eq!((&a.counts, a.released, a.tries), (&b.counts, b.released, b.tries));
            assert_eq!(a.particle_steps, b.particle_steps, "{what}");
        }
    }
}

#[test]
fn displacements_by_an_operation_obey_faces_and_obstacles() {
    let points = vec![[0.5, 0.5, 0.5], [1.9, 0.9, 0.9], [1.9, 0.5, 0.5]];
    let seeds = Seeds::list(points).unwrap();
    for machine in machines() {
        let field = uniform(&machine, [0.0; 3]);
        let bound = 8.0 * machine.eps();
        for &engine in machine.engines() {
            let tracer = Tracer::new(&field).span(steps(0.0, 0.5, 1)).engine(engine);
            let what = format!("{machine}, {engine}");
            let faces = tracer
                .clone()
                .face(Face::YHigh, BoundaryCondition::Reflect)
                .face(Face::ZLow, BoundaryCondition::Periodic)
                .face(Face::ZHigh, BoundaryCondition::Periodic)
                .each_step(by([0.4, 0.2, 0.3]));
            let run = trace(&faces, &seeds);
            // The second particle exits after a quarter of its displacement.
            let expected = [[0.9, 0.7, 0.8], [2.0, 0.95, 0.975], [2.0, 0.55, 0.575]];
            assert_below(&what, distance(run.last(), &expected), bound);
            let out = Status::Exited(Face::XHigh);
            assert_eq!(run.status, [Status::Active, out, out], "{what}");
            assert_eq!(run.end_time[1..], [0.5, 0.5], "{what}");
            let run = trace(
                &tracer.clone().all_faces(BoundaryCondition::Reflect).each_step(by([0.4; 3])),
                &seeds,
            );
            let expected = [[0.9; 3], [1.7, 0.7, 0.7], [1.7, 0.9, 0.9]];
            assert_below(&what, distance(run.last(), &expected), bound);
            let periodic = tracer.clone().all_faces(BoundaryCondition::Periodic);
            let run = trace(&periodic.each_step(by([2.3, 0.0, -1.7])), &seeds);
            let expected = [[0.8, 0.5, 0.8], [0.2, 0.9, 0.2], [0.2, 0.5, 0.8]];
            assert_below(&what, distance(run.last(), &expected), bound);
            assert_eq!(run.image, [[1, 0, -2], [2, 0, -1], [2, 0, -2]], "{what}");
            let shape = Shape::Sphere { centre: [1.0, 0.5, 0.5], radius: 0.25 };
            let ball =
                Obstacle { shape, allowed: Allowed::Outside, surface: BoundaryCondition::Stick };
            let tracks = tracer.obstacle(ball).each_step(by([-1.4, 0.0, 0.0])).trace(&seeds);
            let tracks = tracks.unwrap();
            let run = read(&tracks);
            let exited = Status::Exited(Face::XLow);
            assert_eq!(run.status, [exited, Status::Active, Status::Stuck], "{what}");
            assert_eq!(tracks.ends().obstacle, [None, None, Some(0)], "{what}");
            let expected = [[0.0, 0.5, 0.5], [0.5, 0.9, 0.9], [1.25, 0.5, 0.5]];
            assert_below(&what, distance(run.last(), &expected), 40.0 * machine.eps());
        }
    }
}

/// Fluid at rest: the operation alone moves particles through the box, and particles end at the ends of
/// steps.
#[test]
fn reinjection_by_an_operation_is_at_the_end_of_a_step() {
    let speed = 0.3;
    for machine in machines() {
        let field = uniform(&machine, [0.0; 3]);
        let n = if machine.is_cpu() { 150 } else { 8 };
        // A step size for which rounding does not change the number of steps in single precision.
        let dt = if machine.is_cpu() { 0.111 } else { 2.511 };
        let displacement = speed * dt;
        for (name, change) in [VARIANTS[0], VARIANTS[2]] {
            for &engine in machine.engines() {
                let tracer = Tracer::new(&field)
                    .face(Face::XLow, BoundaryCondition::Clamp)
                    .outlet(Face::XHigh, inlet(Pattern::Lattice))
                    .span(steps(0.0, dt * n as f64, n))
                    .each_step(at_velocity([speed, 0.0, 0.0]))
                    .engine(engine);
                let seeds = Seeds::list(vec![[0.5, 0.25, 0.5], [1.0, 0.5, 0.25]]).unwrap();
                let tracks = change(tracer).trace(&seeds).unwrap();
                let what = format!("{machine}, {engine}, {name}");
                let run = read(&tracks);
                assert_eq!(run.status, [Status::Active; 2], "{what}");
                for slot in 0..2 {
                    let instances =
                        tracks.instances().iter().filter(|instance| instance.slot == slot);
                    let mut instances: Vec<_> = instances.collect();
                    instances.sort_by_key(|instance| instance.generation);
                    let x = seeds.positions()[slot][0];
                    let first = ((2.0 - x) / displacement).ceil() as u64;
                    let whole = (2.0 / displacement).ceil() as u64;
                    let mut end = first;
                    for pair in instances.windows(2) {
                        let deviation = (pair[0].end_time - end as f64 * dt).abs();
                        assert_below(&what, deviation, 4.0 * dt * n as f64 * f64::EPSILON);
                        assert_eq!(pair[0].end_time, pair[1].release_time, "{what}");
                        assert_eq!(pair[0].end_position[0], 2.0, "{what}");
                        end += whole;
                    }
                    assert_eq!(instances.len() as u64, 1 + (n - first) / whole + 1, "{what}");
                    let now = (n - (end - whole)) as f64 * displacement;
                    let deviation = (run.last()[slot][0] - now).abs();
                    assert_below(&what, deviation, 4.0 * n as f64 * machine.eps());
                }
            }
        }
    }
}

/// In a flow without an error, it takes each step at once.
#[test]
fn particle_reinjected_by_an_operation_starts_without_a_suggested_step() {
    for machine in machines() {
        let field = uniform(&machine, [0.01, 0.0, 0.0]);
        for &engine in machine.engines() {
            let tracer = Tracer::new(&field)
                .face(Face::XLow, BoundaryCondition::Clamp)
                .outlet(Face::XHigh, inlet(Pattern::Lattice))
                .span(steps(0.0, 20.0, 5))
                .each_step(by([1.5, 0.0, 0.0]))
                .engine(engine);
            let seeds = Seeds::list(vec![[0.75, 0.5, 0.5]]).unwrap();
            let run = trace(&adaptive(tracer), &seeds);
            // Three times, after the first, the third and the last step.
            assert_eq!(run.summary.released, 4, "{machine}, {engine}");
            assert_eq!(run.summary.tries, Some([5, 0]), "{machine}, {engine}");
        }
    }
}

#[test]
fn operation_is_called_once_per_step_with_its_times_and_positions() {
    let machine = &machines()[0];
    let field = uniform(machine, [0.3, 0.1, -0.2]);
    let seeds = late_seeds(9, 1.0);
    for (name, change) in VARIANTS {
        for &engine in machine.engines() {
            let calls = Mutex::new(Vec::new());
            let tracer = change(Tracer::new(&field).span(steps(0.0, 1.0, 8)).engine(engine));
            let tracer = tracer.save(SaveAt::Times(vec![0.3, 1.0])).each_step(|step| {
                let displacement = step.after.clone() - step.before.clone();
                calls.lock().unwrap().push((
                    step.index,
                    step.times,
                    floats(step.dt),
                    rows(displacement),
                ));
                step.after
            });
            trace(&tracer, &seeds);
            drop(tracer);
            let calls = calls.into_inner().unwrap();
            let what = format!("{engine}, {name}");
            assert_eq!(calls.len(), 9, "{what}");
            let mut sums = [0.0; 9];
            for (i, (index, times, dt, displacement)) in calls.iter().enumerate() {
                assert_eq!(*index, i as u64, "{what}");
                assert_eq!(times[0], if i == 0 { 0.0 } else { calls[i - 1].1[1] }, "{what}");
                for ((sum, dt), displacement) in sums.iter_mut().zip(dt).zip(displacement) {
                    *sum += dt;
                    if name == "plain" {
                        assert_below(
                            &what,
                            (displacement[0] - 0.3 * dt).abs(),
                            8.0 * machine.eps(),
                        );
                    }
                }
            }
            for (sum, release) in sums.iter().zip(seeds.release().unwrap()) {
                assert_below(&what, (sum - (1.0 - release)).abs(), 8.0 * machine.eps());
            }
        }
    }
}

/// Gradients with respect to a parameter of the operation, at zero too, and to the seeds.
#[test]
fn gradients_flow_through_the_operation() {
    let device = Device::flex().autodiff();
    let options = FieldOptions { precision: Precision::F64, ..FieldOptions::default() };
    let mut frames = Frames::uniform(LOW, HIGH, &[0.0], |_| [0.5, 0.0, 0.0]);
    let field = GridField::load(&mut frames, &device, &options).unwrap();
    let beside = (&device, Precision::F64.dtype());
    let all = [Engine::Fused, Engine::Tensor].into_iter();
    for (engine, speed) in all.flat_map(|engine| [(engine, 0.0), (engine, 0.3)]) {
        let leaf = |numbers: Vec<f64>| {
            let count = numbers.len() / 3;
            Tensor::<2>::from_data(TensorData::new(numbers, [count, 3]), beside).require_grad()
        };
        let velocity = leaf(vec![0.0, speed, 0.0]);
        let start = leaf(vec![0.5, 0.5, 0.5, 0.7, 0.2, 0.4]);
        let tracer = Tracer::new(&field)
            .span(steps(0.0, 1.0, 4))
            .engine(engine)
            .each_step(|step| step.after + velocity.clone() * step.before.square() * step.dt);
        let tracks = tracer.trace(&Seeds::from_tensor(start.clone()).unwrap()).unwrap();
        assert_eq!(tracks.summary().unwrap().engine, engine);
        let last = tracks.saves().last().unwrap().position.clone();
        let gradients = last.narrow(1, 1, 1).sum_dim(0).backward();
        // y' = y + v y^2 / 4, four times.
        let (mut by_speed, mut by_start) = (0.0, Vec::new());
        for y in [0.5, 0.2] {
            let (mut y, mut dv, mut dy): (f64, f64, f64) = (y, 0.0, 1.0);
            for _ in 0..4 {
                let factor = 1.0 + 0.5 * speed * y;
                (y, dv, dy) = (y + 0.25 * speed * y * y, dv * factor + 0.25 * y * y, dy * factor);
            }
            by_speed += dv;
            by_start.push([0.0, dy, 0.0]);
        }
        let found = rows(velocity.grad(&gradients).unwrap());
        assert_below("gradient by the speed", (found[0][1] - by_speed).abs(), 1e-14);
        let found = rows(start.grad(&gradients).unwrap());
        assert_below("gradient by the start", distance(&found, &by_start), 1e-14);
    }
}

#[test]
fn non_finite_result_ends_the_particle_at_its_last_position() {
    let points = vec![[0.5, 0.5, 0.5], [1.0, 0.25, 0.5], [1.9, 0.5, 0.5], [0.5, 0.25, 0.5]];
    let seeds = Seeds::list(points).unwrap();
    for machine in machines() {
        let field = uniform(&machine, [0.25, 0.0, 0.0]);
        for &engine in machine.engines() {
            for bad in [f64::NAN, f64::INFINITY] {
                let tracer = Tracer::new(&field).span(steps(0.0, 1.0, 4)).engine(engine);
                let tracer = tracer.each_step(|step| {
                    let is_second = step.times[0] >= 0.25;
                    // The third particle exits in this step, so its shift is ignored.
                    let shift = if is_second { [0.0, bad, bad, 0.0] } else { [0.0; 4] };
                    let shift = TensorData::new(shift.to_vec(), [4, 1]);
                    let beside = (&step.after.device(), step.after.dtype());
                    step.after + Tensor::<2>::from_data(shift, beside)
                });
                let run = trace(&tracer.save(SaveAt::EverySteps(1)), &seeds);
                let out = Status::Exited(Face::XHigh);
                let what = format!("{machine}, {engine}, {bad}");
                let expected = [Status::Active, Status::NonFinite, out, Status::Active];
                assert_eq!(run.status, expected, "{what}");
                let last =
                    [[0.75, 0.5, 0.5], [1.125, 0.25, 0.5], [2.0, 0.5, 0.5], [0.75, 0.25, 0.5]];
                assert_below(&what, distance(run.last(), &last), 8.0 * machine.eps());
                assert_eq!(run.end_time[1], 0.5, "{what}");
            }
        }
    }
}

#[test]
fn results_of_the_wrong_shape_or_type_are_rejected() {
    let machine = &machines()[0];
    let field = uniform(machine, [0.25, 0.0, 0.0]);
    let seeds = Seeds::list(vec![[0.5; 3]; 2]).unwrap();
    let reject = |operation: fn(Step) -> Tensor<2>, expected: &str| {
        for engine in [Engine::Fused, Engine::Tensor] {
            let tracer = Tracer::new(&field).span(steps(0.0, 1.0, 2)).engine(engine);
            let error = tracer.each_step(operation).trace(&seeds).unwrap_err();
            assert!(matches!(error, Error::EachStep(_)), "{error}");
            assert!(error.to_string().contains(expected), "{error}");
        }
    };
    reject(|step| step.after.narrow(1, 0, 2), "it returned [2, 2] in F32 on");
    reject(|step| step.after.narrow(0, 0, 1), "return [2, 3] in F32 on");
    reject(|step| step.after.cast(burn::tensor::DType::F64), "[2, 3] in F64 on");
}
