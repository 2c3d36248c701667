//! How fast particles are traced, in particle-steps a second (`items/s` below): `cargo bench`.
//!
//! Every time is that of a whole call of [`Tracer::trace`] and of reading the positions back, so
//! that the device has finished. The harness is divan because it adds no feature to a crate that
//! Burn uses: a benchmark does not build Burn again.

use burntrace::{
    Condition, Domain, FieldOptions, FrameSource, GridField, GridSource, Path, Placement, SaveAt,
    Scheme, Seeds, Span, Tracer, Velocity, burn::tensor::Device, device,
};
use divan::{Bencher, counter::ItemsCount};
use std::f64::consts::{PI, TAU};

const NODES: usize = 64;
const FRAMES: usize = 10;
const SPAN: f64 = 2.0;
const PARTICLES: usize = 100_000;
const DT: f64 = 0.01;

fn main() {
    divan::main();
}

/// A divergence-free flow in the unit cube that no wall lets through, periodic in time:
///
/// ```text
/// u =  a(t) sin(pi x) cos(pi y)  - c(t) sin(pi x) cos(pi z)
/// v = -a(t) cos(pi x) sin(pi y)  + b(t) sin(2 pi y) cos(2 pi z)
/// w =  c(t) cos(pi x) sin(pi z)  - b(t) cos(2 pi y) sin(2 pi z)
/// ```
struct Cube {
    axes: [Vec<f64>; 3],
    times: Vec<f64>,
}

impl Cube {
    fn new() -> Self {
        let even = |n: usize, end: f64| -> Vec<f64> {
            (0..n).map(|i| end * i as f64 / (n - 1) as f64).collect()
        };
        Cube { axes: std::array::from_fn(|_| even(NODES, 1.0)), times: even(FRAMES, SPAN) }
    }
}

fn velocity([x, y, z]: [f64; 3], t: f64) -> [f64; 3] {
    let a = 0.5 * (1.0 + 0.3 * (TAU * t / 4.0).sin());
    let b = 0.25 * (1.0 + 0.5 * (TAU * t / 2.0).cos());
    let c = 0.4 * (1.0 + 0.4 * (TAU * t / 3.0 + 1.0).sin());
    let ((sx, cx), (sy, cy), (sz, cz)) =
        ((PI * x).sin_cos(), (PI * y).sin_cos(), (PI * z).sin_cos());
    let ((s2y, c2y), (s2z, c2z)) = ((TAU * y).sin_cos(), (TAU * z).sin_cos());
    [a * sx * cy - c * sx * cz, b * s2y * c2z - a * cx * sy, c * cx * sz - b * c2y * s2z]
}

impl GridSource for Cube {
    fn axes(&self) -> &[Vec<f64>; 3] {
        &self.axes
    }

    fn placement(&self) -> Placement {
        Placement::Nodes
    }
}

impl FrameSource for Cube {
    fn times(&self) -> &[f64] {
        &self.times
    }

    fn read(&mut self, frame: usize) -> Result<Velocity, Box<dyn std::error::Error + Send + Sync>> {
        let [xs, ys, zs] = &self.axes;
        let mut values = Vec::with_capacity(3 * NODES.pow(3));
        for &z in zs {
            for &y in ys {
                for &x in xs {
                    values.extend(velocity([x, y, z], self.times[frame]).map(|u| u as f32));
                }
            }
        }
        Ok(Velocity::F32(values))
    }
}

fn field(device: &Device) -> GridField {
    GridField::load(&mut Cube::new(), device, &FieldOptions::default()).expect("a field")
}

fn box_of(low: f64, high: f64) -> Domain {
    Domain::new([low; 3], [high; 3]).expect("a box")
}

/// A tracer of so many steps from the first frame on.
fn tracer(field: &GridField, steps: u64) -> Tracer<'_> {
    Tracer::new(field).span(Span { dt: Some(DT), steps: Some(steps), ..Span::default() })
}

/// Times a tracer, once it has run, so that kernels are compiled.
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

/// The headline: RK4, linear in time, 200 steps over the ten frames.
#[divan::bench(args = ["flex", "ndarray"], sample_count = 5, sample_size = 1)]
fn rk4_200_steps(bencher: Bencher, name: &str) {
    let field = field(&device::open(name).expect("a device").device);
    measure(bencher, &tracer(&field, 200), PARTICLES, EVERYWHERE);
}

#[divan::bench(args = Scheme::ALL, sample_count = 5, sample_size = 1)]
fn scheme(bencher: Bencher, scheme: Scheme) {
    let field = field(&Device::flex());
    measure(bencher, &tracer(&field, 40).scheme(scheme), PARTICLES, EVERYWHERE);
}

/// What faces cost: none within reach, and those of the flow's own box, which few paths meet.
#[divan::bench(args = ["off", "exit", "clamp", "reflect", "periodic"], sample_count = 9, sample_size = 1)]
fn faces(bencher: Bencher, name: &str) {
    let field = field(&Device::flex());
    let domain = if name == "off" { box_of(-1e6, 1e6) } else { box_of(0.0, 1.0) };
    let tracer = tracer(&field, 40).domain(domain).all_faces(condition(name));
    measure(bencher, &tracer, PARTICLES, EVERYWHERE);
}

/// The same in a box through whose faces the flow goes, so that many paths meet them.
#[divan::bench(args = ["clamp", "reflect", "periodic"], sample_count = 9, sample_size = 1)]
fn faces_met_often(bencher: Bencher, name: &str) {
    let field = field(&Device::flex());
    let tracer = tracer(&field, 40).domain(box_of(0.3, 0.7)).all_faces(condition(name));
    measure(bencher, &tracer, PARTICLES, [0.3, 0.7]);
}

fn condition(name: &str) -> Condition {
    match name {
        "clamp" => Condition::Clamp,
        "reflect" => Condition::Reflect,
        "periodic" => Condition::Periodic,
        _ => Condition::Exit,
    }
}

/// What saves cost: the end only, or every step kept.
#[divan::bench(args = ["end", "every step"], sample_count = 5, sample_size = 1)]
fn saves(bencher: Bencher, name: &str) {
    let field = field(&Device::flex());
    let save = if name == "end" { SaveAt::End } else { SaveAt::EverySteps(1) };
    measure(bencher, &tracer(&field, 40).save(save), PARTICLES, EVERYWHERE);
}

/// The same step in tensor operations.
#[divan::bench(args = ["flex", "ndarray"], sample_count = 3, sample_size = 1)]
fn tensor_path(bencher: Bencher, name: &str) {
    let field = field(&device::open(name).expect("a device").device);
    measure(bencher, &tracer(&field, 4).path(Path::Tensor), PARTICLES / 100, EVERYWHERE);
}
