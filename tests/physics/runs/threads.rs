//! Any number of threads and any batch size give bit-identical tracks, with all features of the fused engine.

use super::groups::{assert_same_bits, part};
use crate::{
    common::*,
    meshes::{MeshFrames, mixed},
};
use burntrace::{
    Allowed, BoundaryCondition, Engine, Face, Field, Inlet, InletShape, Obstacle, ParticleInstance,
    Pattern, Placement, RandomWalk, SaveAt, Scheme, Seeds, Shape, Tolerance, Tracer,
};
use rayon::{ThreadPool, ThreadPoolBuilder};

const LOW: [f64; 3] = [0.0; 3];
const HIGH: [f64; 3] = [2.0, 1.0, 1.0];
const THREADS: [usize; 4] = [1, 2, 3, 7];
const MANY: usize = 4000;
/// Batch sizes: one particle, less than a group, and more than the part of one thread.
const BATCHES: [usize; 4] = [1, 3, 333, 2049];

fn pools() -> Vec<ThreadPool> {
    THREADS.map(|n| ThreadPoolBuilder::new().num_threads(n).build().unwrap()).into()
}

/// Random velocities with a mean along x.
fn stirred(machine: &Machine) -> impl Field + use<> {
    let axes = [even_axis(0.0, 2.0, 9), even_axis(0.0, 1.0, 5), even_axis(0.0, 1.0, 4)];
    let mut dice = Dice(51);
    let velocity = |_, _| [1.0, 0.0, 0.0].map(|mean: f64| mean + dice.between(-0.8, 0.8));
    machine.field(&Frames::new(axes, Placement::Nodes, &[0.0, 0.4, 1.0], velocity))
}

/// Several launches in a box with reflecting faces.
fn within(field: &dyn Field) -> Tracer<'_> {
    Tracer::new(field)
        .all_faces(BoundaryCondition::Reflect)
        .span(steps(0.0, 0.96, 60))
        .save(SaveAt::EverySteps(25))
        .engine(Engine::Fused)
}

/// Re-injection from outlet to inlet, at a fixed position for each slot, with a random walk.
fn walking_with_reinjection(field: &dyn Field) -> Tracer<'_> {
    let inlet = Inlet::new(InletShape::Face(Face::XLow), Pattern::Lattice).unwrap();
    within(field)
        .scheme(Scheme::Rk4)
        .face(Face::XLow, BoundaryCondition::Clamp)
        .face(Face::XHigh, BoundaryCondition::Exit)
        .outlet(Face::XHigh, inlet)
        .random_walk(RandomWalk::isotropic(0.003, 11))
}

/// Adaptive steps.
fn adaptive(field: &dyn Field) -> Tracer<'_> {
    within(field).scheme(Scheme::DormandPrince).tolerance(Tolerance::new(1e-4, 1e-4))
}

/// A ball with sliding, and a reflecting pillar.
fn among_obstacles(field: &dyn Field) -> Tracer<'_> {
    let body = |shape, surface| Obstacle { shape, allowed: Allowed::Outside, surface };
    let ball = Shape::Sphere { centre: [0.6, 0.5, 0.5], radius: 0.2 };
    let pillar = Shape::Cylinder {
        base: [1.4, 0.5, 0.0],
        axis: [0.0, 0.1, 1.0],
        radius: 0.2,
        capped: false,
    };
    within(field)
        .obstacle(body(ball, BoundaryCondition::Slide))
        .obstacle(body(pillar, BoundaryCondition::Reflect))
        .seeds_outside(burntrace::SeedsOutside::NotLocated)
}

/// Sliding along mesh walls.
fn along_walls(field: &dyn Field) -> Tracer<'_> {
    within(field).mesh_wall(BoundaryCondition::Slide)
}

/// All particle instances, with the bits of their times and positions.
fn instance_bits(instances: &[ParticleInstance]) -> Vec<(usize, u32, i32, [u64; 8])> {
    let bits = |instance: &ParticleInstance| {
        let [a, b] = [instance.release_position, instance.end_position];
        let numbers =
            [instance.release_time, instance.end_time, a[0], a[1], a[2], b[0], b[1], b[2]];
        (instance.slot, instance.generation, instance.status.code(), numbers.map(f64::to_bits))
    };
    let mut instances: Vec<_> = instances.iter().map(bits).collect();
    instances.sort_unstable();
    instances
}

/// Traces seeds on different numbers of threads, and batches of the first seeds.
fn check(what: &str, seeds: &Seeds, run: &(dyn Fn(&Seeds) -> (Run, Vec<ParticleInstance>) + Sync)) {
    let runs: Vec<_> = pools().iter().map(|pool| pool.install(|| run(seeds))).collect();
    let (first, first_instances) = &runs[0];
    for (threads, (run, of_run)) in THREADS.iter().zip(&runs).skip(1) {
        let what = format!("{what}, {threads} threads");
        assert_same_bits(&what, first, 0, run);
        assert!(instance_bits(first_instances) == instance_bits(of_run), "{what}: instances");
        assert_eq!(first.summary.particle_steps, run.summary.particle_steps, "{what}");
        assert_eq!(first.summary.tries, run.summary.tries, "{what}");
    }
    for count in BATCHES {
        let what = format!("{what}, batch of {count}");
        let (run, of_run) = run(&part(seeds, 0..count));
        assert_same_bits(&what, first, 0, &run);
        let expected: Vec<ParticleInstance> =
            first_instances.iter().filter(|instance| instance.slot < count).copied().collect();
        assert!(instance_bits(&expected) == instance_bits(&of_run), "{what}: instances");
    }
}

/// Checks a tracer of a field on CPUs, in both precisions.
fn check_on(
    name: &str,
    field: impl Fn(&Machine) -> Box<dyn Field + Sync>,
    tracer: for<'a> fn(&'a dyn Field) -> Tracer<'a>,
    seeds: &Seeds,
    min_instances: usize,
) {
    for machine in machines().into_iter().filter(Machine::is_cpu) {
        let what = format!("{machine}, {name}");
        let field = field(&machine);
        let field = field.as_ref();
        let run = |seeds: &Seeds| {
            let tracks = tracer(field).trace(seeds).unwrap();
            (read(&tracks), tracks.instances().to_vec())
        };
        check(&what, seeds, &run);
        let (all, instances) = run(seeds);
        assert!(instances.len() >= min_instances, "{what}: {} particle instances", instances.len());
        assert!(all.summary.active() > MANY / 2, "{what}: {:?}", all.summary.counts);
    }
}

/// Seeds, some of them released late.
fn seeds() -> Seeds {
    let mut dice = Dice(52);
    let points = dice.points(LOW, HIGH, MANY).into_iter().map(|p| p.map(|x| f64::from(x as f32)));
    let late = |i: usize| if i.is_multiple_of(4) { dice.between(0.0, 0.5) } else { 0.0 };
    let seeds = Seeds::list(points.collect()).unwrap();
    seeds.with_release((0..MANY).map(late).collect()).unwrap()
}

#[test]
fn reinjection_and_random_walks_do_not_depend_on_threads_or_batches() {
    let field = |machine: &Machine| -> Box<dyn Field + Sync> { Box::new(stirred(machine)) };
    check_on("re-injection", field, walking_with_reinjection, &seeds(), MANY + MANY / 4);
}

#[test]
fn adaptive_steps_do_not_depend_on_threads_or_batches() {
    let field = |machine: &Machine| -> Box<dyn Field + Sync> { Box::new(stirred(machine)) };
    check_on("tolerance", field, adaptive, &seeds(), 0);
}

#[test]
fn obstacles_do_not_depend_on_threads_or_batches() {
    let field = |machine: &Machine| -> Box<dyn Field + Sync> { Box::new(stirred(machine)) };
    check_on("obstacles", field, among_obstacles, &seeds(), 0);
}

#[test]
fn meshes_do_not_depend_on_threads_or_batches() {
    let made = mixed(6);
    let mut dice = Dice(53);
    let frames =
        MeshFrames::new(&made, &[0.0, 0.5, 1.0], |_, _| [(); 3].map(|_| dice.between(-0.8, 0.8)));
    let bounds = |d: usize| {
        let along = made.points.iter().map(|p| p[d]);
        along.fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], x| [a.min(x), b.max(x)])
    };
    let [low, high] = [0, 1].map(|side| [0, 1, 2].map(|d| bounds(d)[side]));
    let inner = |d: usize, part: f64| low[d] + part * (high[d] - low[d]);
    let points =
        Dice(54).points([0, 1, 2].map(|d| inner(d, 0.05)), [0, 1, 2].map(|d| inner(d, 0.95)), MANY);
    let seeds = Seeds::list(points).unwrap();
    check_on("mesh", |machine| Box::new(frames.field(machine)), along_walls, &seeds, 0);
}
