//! The fused sums against direct sums, for every kernel, dimension and type of face, on every device.

use crate::{
    common::{Machine, Random, machines, numbers},
    direct::{Direct, gaussian, sph},
};
use burntrace_analysis::density::{
    Axes, Bandwidth, Density, Edge, Kernel, Lattice, Normalization, Plane,
};

const LOW: [f64; 3] = [-0.3, 0.1, 2.0];
const HIGH: [f64; 3] = [0.9, 1.0, 3.1];
/// Smoothing length, and the approximate standard deviation of Gaussians.
const H: f64 = 0.11;
const COVARIANCE: [[f64; 3]; 3] =
    [[0.012, 0.004, -0.003], [0.004, 0.009, 0.002], [-0.003, 0.002, 0.015]];
const PER_AXIS: [f64; 3] = [0.09, 0.11, 0.13];

/// A density and its reference.
type Case = (Density, Direct);

fn cases(axes: Axes, edges: [[Edge; 2]; 3]) -> Vec<Case> {
    let active = axes.active();
    let direct = |kernel| Direct { kernel, axes: active, low: LOW, high: HIGH, edges };
    let mut cases: Vec<Case> = Kernel::ALL
        .into_iter()
        .map(|kernel| (Density::sph(kernel, H), direct(sph(kernel, H, axes.dimension()))))
        .collect();
    let mut diagonal = [[0.0; 3]; 3];
    (0..3).for_each(|d| diagonal[d][d] = PER_AXIS[d].powi(2));
    let gaussians =
        [(Bandwidth::PerAxis(PER_AXIS), diagonal), (Bandwidth::Covariance(COVARIANCE), COVARIANCE)];
    cases
        .extend(gaussians.map(|(bandwidth, matrix)| {
            (Density::kde(bandwidth), direct(gaussian(matrix, active)))
        }));
    // A truncation below the rounding of double precision.
    let finish = |density: Density| {
        let density = density.axes(axes).within(LOW, HIGH, edges).truncation(8.5);
        density.normalization(Normalization::Number)
    };
    cases.into_iter().map(|(density, direct)| (finish(density), direct)).collect()
}

fn faces() -> [[[Edge; 2]; 3]; 4] {
    let (open, mirror, periodic) = (Edge::Open, Edge::Reflecting, Edge::Periodic);
    [
        [[open; 2]; 3],
        [[mirror; 2]; 3],
        [[periodic; 2]; 3],
        [[mirror, open], [periodic; 2], [open, mirror]],
    ]
}

/// Compares values up to rounding. The dominant error is that of coordinates, relative to the origin of
/// the search lattice, over the width of a kernel.
fn compare(machine: &Machine, values: &[f64], expected: &[f64], what: &str) {
    let max = expected.iter().copied().fold(0.0, f64::max);
    let span = HIGH[0] - LOW[0] + 2.0 * 8.5 * H;
    let bound = machine.epsilon() * span / H * max;
    for (i, (value, expected)) in values.iter().zip(expected).enumerate() {
        let error = (value - expected).abs();
        assert!(
            error <= bound,
            "{machine}, {what}, {i}: {value}, expected {expected}, error {error} > {bound}"
        );
    }
    assert_eq!(values.len(), expected.len());
}

fn check(machine: &Machine, axes: Axes, edges: [[Edge; 2]; 3]) {
    let mut random = Random(3);
    let particles = machine.rounded(&random.uniforms(50, LOW, HIGH));
    let weights: Vec<f64> = particles.iter().map(|_| random.uniform()).collect();
    let points = machine.rounded(&random.uniforms(20, LOW, HIGH));
    let lattice = Lattice { counts: [11, 6, 5], low: LOW, high: HIGH };
    let [nx, ny, nz] = axes.active();
    let count = |is_active: bool, n: usize| if is_active { n } else { 1 };
    let counts = [count(nx, 11), count(ny, 6), count(nz, 5)];
    let nodes = |i: usize| {
        let index = [i % counts[0], i / counts[0] % counts[1], i / counts[0] / counts[1]];
        [0, 1, 2].map(|d| {
            let part = index[d] as f64 / (lattice.counts[d] - 1) as f64;
            LOW[d] + part * (HIGH[d] - LOW[d])
        })
    };
    let positions = machine.tensor(&particles);
    for (number, (density, direct)) in cases(axes, edges).into_iter().enumerate() {
        let what = format!("{axes:?}, {edges:?}, kernel {number}");
        let density = density.weights(weights.clone());
        let estimate = density.on_grid(&positions, &lattice).unwrap();
        let expected: Vec<f64> = (0..counts.iter().product())
            .map(|i| direct.at(nodes(i), &particles, &weights))
            .collect();
        compare(machine, &numbers(&estimate.values), &expected, &what);

        let estimate = density.at(&positions, &machine.tensor(&points)).unwrap();
        let expected: Vec<f64> =
            points.iter().map(|point| direct.at(*point, &particles, &weights)).collect();
        compare(machine, &numbers(&estimate.values), &expected, &what);
        assert_eq!((estimate.used, estimate.left_out), (50, 0));
    }
}

fn check_all(axes: Axes) {
    for machine in machines() {
        for edges in faces() {
            check(&machine, axes, edges);
        }
    }
}

#[test]
fn densities_on_one_axis_match_direct_sums() {
    check_all(Axes::X);
    check_all(Axes::Z);
}

#[test]
fn densities_on_two_axes_match_direct_sums() {
    check_all(Axes::XY);
    check_all(Axes::YZ);
}

#[test]
fn densities_on_three_axes_match_direct_sums() {
    check_all(Axes::XYZ);
}

/// With more particles than a block holds.
#[test]
fn slices_and_planes_match_direct_sums() {
    let edges = [[Edge::Reflecting; 2], [Edge::Open; 2], [Edge::Periodic; 2]];
    for machine in machines() {
        let mut random = Random(5);
        let particles = machine.rounded(&random.uniforms(1000, LOW, HIGH));
        let weights = vec![1.0; particles.len()];
        let positions = machine.tensor(&particles);
        let middle = [0, 1, 2].map(|d| 0.5 * (LOW[d] + HIGH[d]));
        let slice = Lattice { counts: [7, 1, 9], low: [LOW[0], middle[1], LOW[2]], high: HIGH };
        let plane = Plane {
            origin: [-0.1, 0.2, 2.2],
            edges: [[0.5, 0.3, 0.1], [-0.1, 0.4, 0.6]],
            counts: [4, 5],
        };
        let nodes = machine.rounded(&plane.nodes().unwrap());
        for (number, (density, direct)) in cases(Axes::XYZ, edges).into_iter().enumerate() {
            let what = format!("slice, kernel {number}");
            let estimate = density.on_grid(&positions, &slice).unwrap();
            let expected: Vec<f64> = (0..63)
                .map(|i| {
                    let [x, z] = [(i % 7) as f64 / 6.0, (i / 7) as f64 / 8.0];
                    let x = LOW[0] + x * (HIGH[0] - LOW[0]);
                    let z = LOW[2] + z * (HIGH[2] - LOW[2]);
                    direct.at([x, middle[1], z], &particles, &weights)
                })
                .collect();
            compare(&machine, &numbers(&estimate.values), &expected, &what);

            let estimate = density.on_plane(&positions, &plane).unwrap();
            let expected: Vec<f64> =
                nodes.iter().map(|node| direct.at(*node, &particles, &weights)).collect();
            compare(&machine, &numbers(&estimate.values), &expected, &format!("plane, {number}"));
        }
    }
}

#[test]
fn thread_count_gives_bit_identical_sums() {
    let machine = Machine::flex(burn::tensor::DType::F32);
    let particles = Random(8).uniforms(4000, LOW, HIGH);
    let lattice = Lattice { counts: [24; 3], low: LOW, high: HIGH };
    for (density, _) in cases(Axes::XYZ, faces()[3]) {
        let values = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let estimate = density.on_grid(&machine.tensor(&particles), &lattice).unwrap();
                numbers(&estimate.values)
            })
        };
        assert_eq!(values(1), values(3));
    }
}
