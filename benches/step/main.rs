//! Tracing speed in particle-steps per second (`items/s` below): `cargo bench`.
//!
//! Times include whole calls of [`Tracer::trace`] and reading the positions back, so that the device has
//! finished. The harness is divan, which adds no feature to a dependency of Burn, so benchmarks do not
//! rebuild Burn. `burntrace bench` compares devices and checks the results.

mod fields;

use burntrace::{
    Allowed, BoundaryCondition, ClosedSurface, Domain, Engine, Face, Field, FieldArray, FieldFn,
    FieldOptions, GridField, Inlet, InletShape, Obstacle, Pattern, Placement, Precision, SaveAt,
    Scheme, Seeds, SeedsOutside, Shape, Span, Tracer, Tracks, Weighting,
    burn::tensor::{Device, Tensor},
    device,
};
use divan::{Bencher, counter::ItemsCount};
use fields::{NODES, SPAN, Sampled, cloud, field, grid};
use std::f64::consts::{PI, TAU};

const PARTICLES: usize = 100_000;
const DT: f64 = 0.01;

fn main() {
    divan::main();
}

fn box_of(low: f64, high: f64) -> Domain {
    Domain::new([low; 3], [high; 3]).expect("a box")
}

/// A tracer with a number of steps from the first frame.
fn tracer(field: &dyn Field, steps: u64) -> Tracer<'_> {
    Tracer::new(field).span(Span { dt: Some(DT), steps: Some(steps), ..Span::default() })
}

/// Times a tracer, after a first run that compiles the kernels.
fn measure(bencher: Bencher, tracer: &Tracer, particles: usize, in_box: [f64; 2]) {
    let [low, high] = in_box.map(|x| [x; 3]);
    let seeds = Seeds::uniform(low, high, particles, 7).expect("seeds");
    let run = || {
        let tracks = tracer.trace(&seeds).expect("tracks");
        let data = tracks.positions().into_data();
        (tracks.summary().map_or(0, |summary| summary.particle_steps), data)
    };
    let (particle_steps, _) = run();
    bencher.counter(ItemsCount::new(particle_steps)).bench_local(run);
}

const EVERYWHERE: [f64; 2] = [0.02, 0.98];

/// The main benchmark: RK4, linear in time, 200 steps over the ten frames.
#[divan::bench(args = ["flex", "ndarray"], sample_count = 5, sample_size = 1)]
fn rk4_200_steps(bencher: Bencher, name: &str) {
    let field = field(&device::open(name).expect("a device").device);
    measure(bencher, &tracer(&field, 200), PARTICLES, EVERYWHERE);
}

/// A sampler, a scheme and a condition at all faces.
struct Kernel {
    sampler: &'static str,
    scheme: Scheme,
    faces: &'static str,
}

impl std::fmt::Display for Kernel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, {:?}, {}", self.sampler, self.scheme, self.faces)
    }
}

/// Samplers to benchmark.
const SAMPLERS: [&str; 6] =
    ["even nodes", "even cells", "table nodes", "table cells", "nearest", "8 neighbours"];

/// Conditions to benchmark; `off` is a box that no particle reaches.
const FACES: [&str; 5] = ["off", "exit", "clamp", "reflect", "periodic"];

fn kernels() -> Vec<Kernel> {
    let mut kernels = Vec::new();
    for sampler in SAMPLERS {
        for scheme in Scheme::ALL {
            kernels.extend(FACES.map(|faces| Kernel { sampler, scheme, faces }));
        }
    }
    kernels
}

fn sampled(name: &str) -> Box<dyn Field> {
    let weighting = Weighting::InverseDistance { neighbours: 8, power: 2.0 };
    let flex = Device::flex();
    match name {
        "even nodes" => Box::new(grid(&flex, true, Placement::Nodes)),
        "even cells" => Box::new(grid(&flex, true, Placement::Cells)),
        "table nodes" => Box::new(grid(&flex, false, Placement::Nodes)),
        "table cells" => Box::new(grid(&flex, false, Placement::Cells)),
        "nearest" => Box::new(cloud(NODES.pow(3), 1.0, Weighting::Nearest)),
        _ => Box::new(cloud(NODES.pow(3), 1.0, weighting)),
    }
}

/// All kernels: sampler x scheme x condition at the faces.
#[divan::bench(args = kernels(), sample_count = 3, sample_size = 1)]
fn kernel(bencher: Bencher, kernel: &Kernel) {
    let field = sampled(kernel.sampler);
    let domain = if kernel.faces == "off" { box_of(-1e6, 1e6) } else { box_of(0.0, 1.0) };
    let tracer = tracer(&*field, 20).scheme(kernel.scheme).domain(domain);
    measure(bencher, &tracer.all_faces(condition(kernel.faces)), PARTICLES, EVERYWHERE);
}

/// Cost of domain faces: none within reach, or the faces of the unit box, which few particles reach.
#[divan::bench(args = FACES, sample_count = 9, sample_size = 1)]
fn faces(bencher: Bencher, name: &str) {
    let field = field(&Device::flex());
    let domain = if name == "off" { box_of(-1e6, 1e6) } else { box_of(0.0, 1.0) };
    let tracer = tracer(&field, 40).domain(domain).all_faces(condition(name));
    measure(bencher, &tracer, PARTICLES, EVERYWHERE);
}

/// The same in a smaller box, whose faces many particles cross.
#[divan::bench(args = ["clamp", "reflect", "periodic"], sample_count = 9, sample_size = 1)]
fn faces_met_often(bencher: Bencher, name: &str) {
    let field = field(&Device::flex());
    let tracer = tracer(&field, 40).domain(box_of(0.3, 0.7)).all_faces(condition(name));
    measure(bencher, &tracer, PARTICLES, [0.3, 0.7]);
}

/// Cost of re-injection: one particle in a hundred leaves the box in each step and, for `outlet`, is
/// re-injected; for `off` and `periodic` no particle ends. Enough steps to make the set-up of the inlet
/// negligible.
#[divan::bench(args = ["off", "periodic", "outlet"], sample_count = 9, sample_size = 1)]
fn reinjection(bencher: Bencher, name: &str) {
    let field = field(&Device::flex());
    let through = tracer(&field, 200).all_faces(BoundaryCondition::Reflect).drift([1.0, 0.0, 0.0]);
    let tracer = match name {
        "off" => through.domain(box_of(-1e6, 1e6)),
        "periodic" => through
            .face(Face::XLow, BoundaryCondition::Periodic)
            .face(Face::XHigh, BoundaryCondition::Periodic),
        _ => {
            let inlet = Inlet::new(InletShape::Face(Face::XLow), Pattern::Uniform);
            let inlet = inlet.expect("a face is an inlet");
            through.face(Face::XHigh, BoundaryCondition::Exit).outlet(Face::XHigh, inlet)
        }
    };
    measure(bencher, &tracer, PARTICLES, EVERYWHERE);
}

/// A ball in the middle as 102,400 triangles: rings of points between two poles.
fn triangles() -> (Vec<[f64; 3]>, Vec<[usize; 3]>) {
    let (rings, around) = (161, 320);
    let mut points = vec![[0.5, 0.5, 0.7], [0.5, 0.5, 0.3]];
    for i in 0..rings * around {
        let (sine, cosine) = (PI * (1 + i / around) as f64 / (rings + 1) as f64).sin_cos();
        let (y, x) = (TAU * (i % around) as f64 / around as f64).sin_cos();
        points.push([0.5 + 0.2 * sine * x, 0.5 + 0.2 * sine * y, 0.5 + 0.2 * cosine]);
    }
    let at = |ring: usize, i: usize| 2 + ring * around + i % around;
    let mut triangles = Vec::new();
    for i in 0..around {
        triangles
            .extend([[0, at(0, i), at(0, i + 1)], [1, at(rings - 1, i + 1), at(rings - 1, i)]]);
        for ring in 1..rings {
            let [a, b] = [at(ring - 1, i), at(ring - 1, i + 1)];
            let [c, d] = [at(ring, i), at(ring, i + 1)];
            triangles.extend([[a, c, d], [a, d, b]]);
        }
    }
    (points, triangles)
}

fn closed() -> ClosedSurface {
    let (points, triangles) = triangles();
    ClosedSurface::new(&points, &triangles).expect("a closed surface")
}

/// Building the search structure of a surface, once per run.
#[divan::bench(sample_count = 3, sample_size = 1)]
fn surface_made(bencher: Bencher) {
    bencher.bench(closed);
}

/// A ball with sliding, as a sphere and as triangles.
#[divan::bench(args = ["none", "sphere", "surface"], sample_count = 5, sample_size = 1)]
fn obstacles(bencher: Bencher, name: &str) {
    let field = field(&Device::flex());
    let shape = match name {
        "none" => None,
        "sphere" => Some(Shape::Sphere { centre: [0.5; 3], radius: 0.2 }),
        _ => Some(Shape::surface(closed())),
    };
    let obstacle =
        |shape| Obstacle { shape, allowed: Allowed::Outside, surface: BoundaryCondition::Slide };
    let tracer =
        tracer(&field, 200).obstacles(shape.map(obstacle)).seeds_outside(SeedsOutside::NotLocated);
    measure(bencher, &tracer, PARTICLES, EVERYWHERE);
}

fn condition(name: &str) -> BoundaryCondition {
    match name {
        "clamp" => BoundaryCondition::Clamp,
        "reflect" => BoundaryCondition::Reflect,
        "periodic" => BoundaryCondition::Periodic,
        _ => BoundaryCondition::Exit,
    }
}

/// Cost of a step in short and long runs.
#[divan::bench(args = [100, 1_000, 10_000, 100_000], sample_count = 3, sample_size = 1)]
fn steps(bencher: Bencher, steps: u64) {
    let field = field(&Device::flex());
    let dt = SPAN / steps as f64;
    let span = Span { dt: Some(dt), steps: Some(steps), ..Span::default() };
    measure(bencher, &tracer(&field, steps).span(span), 2048, EVERYWHERE);
}

/// One particle: the latency of a step.
#[divan::bench(sample_count = 3, sample_size = 1)]
fn alone(bencher: Bencher) {
    let field = field(&Device::flex());
    let steps = 100_000;
    let span = Span { dt: Some(SPAN / steps as f64), steps: Some(steps), ..Span::default() };
    measure(bencher, &tracer(&field, steps).span(span), 1, EVERYWHERE);
}

/// Numbers of nodes at a constant density.
#[divan::bench(args = [65_536, 131_072, 262_144, 524_288], sample_count = 3, sample_size = 1)]
fn nearest_of_nodes(bencher: Bencher, nodes: usize) {
    let side = (nodes as f64 / 65_536.0).cbrt();
    let field = cloud(nodes, side, Weighting::Nearest);
    measure(bencher, &tracer(&field, 40), PARTICLES / 4, [0.02 * side, 0.98 * side]);
}

/// Node searches that start far from their result: across periodic faces, and at saves with velocities.
#[divan::bench(args = ["plain", "periodic", "velocity saved"], sample_count = 3, sample_size = 1)]
fn nearest_from_afar(bencher: Bencher, name: &str) {
    let field = cloud(65_536, 1.0, Weighting::Nearest);
    let tracer = match name {
        "plain" => tracer(&field, 40),
        "periodic" => {
            tracer(&field, 40).domain(box_of(0.3, 0.7)).all_faces(BoundaryCondition::Periodic)
        }
        _ => tracer(&field, 40).save(SaveAt::EverySteps(20)).save_velocity(true),
    };
    measure(bencher, &tracer, PARTICLES / 4, [0.3, 0.7]);
}

/// Cost of saves: at the end only, every tenth step, every step, with velocities, with two sampled scalars.
#[divan::bench(
    args = ["end", "every 10", "every 10, with scalars", "every step", "every step, with velocity",
        "every step, with scalars"],
    sample_count = 9,
    sample_size = 1
)]
fn saves(bencher: Bencher, name: &str) {
    let mut source = Sampled::grid(true, Placement::Nodes);
    source.arrays = vec![FieldArray::new("T", 1), FieldArray::new("S", 1)];
    let field = GridField::load(&mut source, &Device::flex(), &FieldOptions::default());
    let field = field.expect("a field");
    let save = match name {
        "end" => SaveAt::End,
        _ if name.starts_with("every 10") => SaveAt::EverySteps(10),
        _ => SaveAt::EverySteps(1),
    };
    let tracer = tracer(&field, 40).save(save).save_velocity(name.ends_with("velocity"));
    let scalars: &[&str] = if name.ends_with("scalars") { &["T", "S"] } else { &[] };
    let tracer = scalars.iter().fold(tracer, |tracer, name| tracer.sample(*name, &field));
    measure(bencher, &tracer, PARTICLES, EVERYWHERE);
}

/// A user operation after each step: one launch per step, and tensor operations.
#[divan::bench(args = ["none", "identity", "displacement"], sample_count = 5, sample_size = 1)]
fn each_step(bencher: Bencher, name: &str) {
    let field = field(&Device::flex());
    let tracer = tracer(&field, 40);
    let tracer = match name {
        "none" => tracer,
        "identity" => tracer.each_step(|step| step.after),
        _ => tracer.each_step(|step| step.after + step.dt * 0.1),
    };
    measure(bencher, &tracer, PARTICLES, EVERYWHERE);
}

/// The tensor engine.
#[divan::bench(args = ["flex", "ndarray"], sample_count = 3, sample_size = 1)]
fn tensor_engine(bencher: Bencher, name: &str) {
    let field = field(&device::open(name).expect("a device").device);
    measure(bencher, &tracer(&field, 4).engine(Engine::Tensor), PARTICLES / 100, EVERYWHERE);
}

/// Steps of the tensor engine without operations of a field: the velocity is a tensor that is there.
#[divan::bench(sample_count = 9, sample_size = 1)]
fn tensor_step(bencher: Bencher) {
    let device = Device::flex();
    let velocity = Tensor::<2>::full([1000, 3], 0.1, &device);
    let constant = move |p: Tensor<2>, _: f64| velocity.clone().narrow(0, 0, p.dims()[0]);
    let field = FieldFn::new(Domain::unbounded(), &device, Precision::F32, constant);
    let seeds = Seeds::uniform([0.0; 3], [1.0; 3], 1000, 7).expect("seeds");
    let tracer = tracer(&field, 100);
    bencher.counter(ItemsCount::new(100u64)).bench_local(|| tracer.trace(&seeds));
}

/// The loss and its gradients with a network as a field, in segments; 100 particles.
#[divan::bench(args = [200, 2000], sample_count = 1, sample_size = 1)]
fn segments(bencher: Bencher, steps: u64) {
    let device = Device::flex().autodiff();
    let layer = |n, m| Tensor::<2>::ones([n, m], &device).mul_scalar(0.01).require_grad();
    let (first, second) = (layer(3, 16), layer(16, 3));
    let network = |p: Tensor<2>, _: f64| p.matmul(first.clone()).tanh().matmul(second.clone());
    let field = FieldFn::new(Domain::unbounded(), &device, Precision::F32, network);
    let seeds = Seeds::uniform([0.0; 3], [1.0; 3], 100, 7).expect("seeds");
    let tracer = tracer(&field, steps);
    let loss = |tracks: &Tracks| tracks.positions().square().mean();
    bencher
        .counter(ItemsCount::new(steps))
        .bench_local(|| tracer.value_and_grad(&seeds, loss).expect("gradients").0);
}
