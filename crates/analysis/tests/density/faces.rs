//! Faces of the box: mass is preserved at faces that are not open.

use crate::common::{Machine, Random, numbers};
use burn::tensor::DType;
use burntrace_analysis::density::{Axes, Bandwidth, Density, Edge, Kernel, Lattice};

const LOW: [f64; 3] = [-1.0, 0.0, 2.0];
const HIGH: [f64; 3] = [1.0, 1.5, 3.0];

fn densities() -> Vec<Density> {
    let kernels = Kernel::ALL.map(|kernel| Density::sph(kernel, 0.2));
    let covariance = [[0.02, 0.005, 0.0], [0.005, 0.03, -0.004], [0.0, -0.004, 0.02]];
    let gaussians = [Bandwidth::Fixed(0.1), Bandwidth::Scott, Bandwidth::Covariance(covariance)];
    kernels.into_iter().chain(gaussians.map(Density::kde)).collect()
}

/// Including particles on faces, edges and corners.
#[test]
fn reflecting_and_periodic_boxes_preserve_the_integral() {
    let machine = Machine::flex(DType::F64);
    let mut particles = Random(2).uniforms(40, LOW, HIGH);
    particles.extend([LOW, HIGH, [LOW[0], HIGH[1], 2.2], [-0.3, 0.0, 2.5]]);
    let positions = machine.tensor(&particles);
    for axes in [Axes::X, Axes::YZ, Axes::XYZ] {
        for edges in [[[Edge::Reflecting; 2]; 3], [[Edge::Periodic; 2]; 3]] {
            for density in densities() {
                let density = density.axes(axes).within(LOW, HIGH, edges);
                let lattice = Lattice { counts: [61; 3], low: LOW, high: HIGH };
                let estimate = density.on_grid(&positions, &lattice).unwrap();
                let whole = if estimate.covariance.is_some() { 1.0 } else { estimate.total };
                let error = estimate.integral.unwrap() / whole - 1.0;
                // Kernels with compact support are less smooth than Gaussians.
                let bound = if estimate.neglected > 0.0 { 1e-7 } else { 2e-4 };
                assert!(error.abs() < bound, "{axes:?}, {edges:?}, {density:?}: {error}");
            }
        }
    }
}

#[test]
fn open_face_loses_the_mass_beyond_it() {
    let positions = Machine::flex(DType::F64).tensor(&[[-1.0, 0.0, 0.0]]);
    let density = Density::kde(Bandwidth::Fixed(0.1)).axes(Axes::X);
    let lattice = Lattice { counts: [201, 1, 1], low: LOW, high: HIGH };
    let open = [[Edge::Open; 2]; 3];
    let integral = density.within(LOW, HIGH, open).on_grid(&positions, &lattice).unwrap().integral;
    assert!((integral.unwrap() - 0.5).abs() < 1e-8);
}

#[test]
fn density_is_zero_beyond_mirrors_and_periodic_across_periodic_faces() {
    let machine = Machine::flex(DType::F64);
    let particles = Random(3).uniforms(30, LOW, HIGH);
    let positions = machine.tensor(&particles);
    let points = [[0.99, 0.7, 2.4], [1.01, 0.7, 2.4], [-1.0, 0.7, 2.4], [3.0, 0.7, 2.4]];
    for density in densities() {
        let at = |edge: Edge| {
            let density = density.clone().within(LOW, HIGH, [[edge; 2]; 3]);
            numbers(&density.at(&positions, &machine.tensor(&points)).unwrap().values)
        };
        let mirrored = at(Edge::Reflecting);
        assert!(mirrored[0] > 0.0 && mirrored[1] == 0.0 && mirrored[3] == 0.0);
        let periodic = at(Edge::Periodic);
        assert!((periodic[2] / periodic[3] - 1.0).abs() < 1e-12);
        // A lattice that extends beyond the box.
        let density = density.clone().within(LOW, HIGH, [[Edge::Periodic; 2]; 3]);
        let low = [-1.5, 0.7, 2.4];
        let lattice = Lattice { counts: [9, 1, 1], low, high: [2.5, 0.7, 2.4] };
        let values = numbers(&density.on_grid(&positions, &lattice).unwrap().values);
        for i in 0..5 {
            assert!((values[i] / values[i + 4] - 1.0).abs() < 1e-12);
        }
    }
}

/// Faces rounded to single precision may be slightly outside the box.
#[test]
fn particles_on_rounded_faces_are_inside_the_box() {
    let machine = Machine::flex(DType::F32);
    let (low, high) = ([0.1, 0.3, 0.0], [0.7, 0.9, 1.0]);
    let positions = machine.tensor(&[low, high, [0.7, 0.3, 0.5]]);
    let density = Density::kde(Bandwidth::Fixed(0.1)).axes(Axes::XY);
    let density = density.within(low, high, [[Edge::Reflecting; 2]; 3]);
    let estimate = density.at(&positions, &machine.tensor(&[low, high])).unwrap();
    assert_eq!((estimate.used, estimate.left_out), (3, 0));
    assert!(numbers(&estimate.values).iter().all(|&value| value > 1.0));
    let lattice = Lattice { counts: [7, 7, 1], low, high };
    let histogram = Density::histogram().axes(Axes::XY).on_grid(&positions, &lattice).unwrap();
    assert_eq!((histogram.used, histogram.left_out), (3, 0));
}
