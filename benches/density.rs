//! Density estimation in particles per second (`items/s` below): `cargo bench --bench density`.
//!
//! Times are for whole calls, from positions on the device to values on the host. The particles are
//! normally distributed with variance 1. Grids extend five standard deviations from the centre, boxes
//! 1.5. `tests/peers/density.py --time` times SciPy.

use burntrace::{
    analysis::density::{Axes, Bandwidth, Density, Edge, Factor, Kernel, Lattice, Plane},
    burn::tensor::{DType, Device, Distribution, Tensor},
};
use divan::{Bencher, counter::ItemsCount};

fn main() {
    divan::main();
}

fn particles(count: usize, dtype: DType) -> Tensor<2> {
    let device = Device::flex();
    device.seed(1);
    Tensor::random([count, 3], Distribution::Normal(0.0, 1.0), (&device, dtype))
}

fn lattice(side: usize, end: f64) -> Lattice {
    Lattice { counts: [side; 3], low: [-end; 3], high: [end; 3] }
}

fn measure(bencher: Bencher, density: &Density, positions: &Tensor<2>, lattice: Lattice) {
    let run = || {
        let estimate = density.on_grid(positions, &lattice).expect("a density");
        (estimate.integral, estimate.values.into_data())
    };
    bencher.counter(ItemsCount::new(positions.dims()[0])).bench_local(run);
}

fn density(name: &str) -> Density {
    let mirrors = [[Edge::Reflecting; 2]; 3];
    let periodic = [[Edge::Periodic; 2]; 3];
    let scott = Density::kde(Bandwidth::Scott);
    match name {
        "Scott" => scott,
        "Scott, mirrored" => scott.within([-1.5; 3], [1.5; 3], mirrors),
        "Scott, periodic" => scott.within([-1.5; 3], [1.5; 3], periodic),
        "Scott, truncated at 5" => scott.truncation(5.0),
        "Scott, xy" => scott.axes(Axes::XY),
        "full covariance" => Density::kde(Bandwidth::Full(Factor::Scott)),
        "fixed, narrow" => Density::kde(Bandwidth::Fixed(0.05)),
        "cubic spline" => Density::sph(Kernel::CubicSpline, 0.2),
        "quintic spline" => Density::sph(Kernel::QuinticSpline, 0.2),
        "Wendland C6" => Density::sph(Kernel::WendlandC6, 0.2),
        "histogram" => Density::histogram(),
        _ => Density::cloud_in_cell(),
    }
}

/// One million particles on 128^3 nodes.
#[divan::bench(args = ["Scott", "Scott, truncated at 5", "Scott, mirrored", "Scott, periodic", "Scott, xy", "full covariance",
    "fixed, narrow", "cubic spline", "quintic spline", "Wendland C6", "histogram", "cloud in cell"],
    sample_count = 3, sample_size = 1)]
fn million(bencher: Bencher, name: &str) {
    let end = if name.ends_with("mirrored") || name.ends_with("periodic") { 1.5 } else { 5.0 };
    measure(bencher, &density(name), &particles(1_000_000, DType::F32), lattice(128, end));
}

/// The same in double precision.
#[divan::bench(args = ["Scott", "full covariance", "Wendland C6"], sample_count = 3, sample_size = 1)]
fn million_double(bencher: Bencher, name: &str) {
    measure(bencher, &density(name), &particles(1_000_000, DType::F64), lattice(128, 5.0));
}

/// SciPy's estimate in double precision, with numbers of particles and nodes that SciPy can handle.
#[divan::bench(args = [(10_000, 32), (20_000, 32), (10_000, 48)], sample_count = 5, sample_size = 1)]
fn as_scipy(bencher: Bencher, (count, side): (usize, usize)) {
    measure(
        bencher,
        &density("full covariance"),
        &particles(count, DType::F64),
        lattice(side, 5.0),
    );
}

/// A million particles at the nodes of a plane, each of which searches for particles within reach.
#[divan::bench(args = ["Scott", "cubic spline"], sample_count = 3, sample_size = 1)]
fn plane(bencher: Bencher, name: &str) {
    let positions = particles(1_000_000, DType::F32);
    let edges = [[6.0, 6.0, 0.0], [0.0, 0.0, 8.0]];
    let plane = Plane { origin: [-3.0, -3.0, -4.0], edges, counts: [128; 2] };
    let density = density(name);
    let run = || density.on_plane(&positions, &plane).expect("a density").values.into_data();
    bencher.counter(ItemsCount::new(plane.counts.iter().product::<usize>())).bench_local(run);
}
