//! Histograms and cloud-in-cell densities.

use crate::common::{Machine, Random, machines, numbers};
use burn::tensor::DType;
use burntrace_analysis::density::{Axes, Density, Edge, Lattice, Normalization};
use burntrace_core::Placement;

#[test]
fn histogram_matches_numpy() {
    // numpy.histogram([0, 0.1, 0.25, 0.3, 0.5, 1, 1, 1.2, -0.1], bins=4, range=(0, 1))[0]: [2 2 1 2]
    let points = [0.0, 0.1, 0.25, 0.3, 0.5, 1.0, 1.0, 1.2, -0.1].map(|x| [x, 7.0, f64::NAN]);
    for machine in machines() {
        let positions = machine.tensor(&points);
        let lattice = Lattice { counts: [4, 1, 1], low: [0.0; 3], high: [1.0, 0.0, 0.0] };
        let histogram = Density::histogram().axes(Axes::X);
        let estimate = histogram.on_grid(&positions, &lattice).unwrap();
        assert_eq!(numbers(&estimate.values), [8.0, 8.0, 4.0, 8.0]);
        assert_eq!((estimate.used, estimate.left_out, estimate.total), (7, 2, 7.0));
        assert_eq!((estimate.placement, estimate.integral), (Placement::Cells, Some(7.0)));
        assert_eq!(estimate.bandwidth, [0.25, 0.0, 0.0]);
        let probability = histogram.normalization(Normalization::Probability);
        let estimate = probability.on_grid(&positions, &lattice).unwrap();
        assert!((estimate.integral.unwrap() - 1.0).abs() < 1e-15);
    }
}

/// Including particles on bin faces that are not exact binary numbers.
#[test]
fn every_particle_is_in_the_bin_that_contains_it() {
    let machine = Machine::flex(DType::F64);
    let lattice = Lattice { counts: [7, 10, 3], low: [-0.3, 0.1, 2.0], high: [0.4, 1.1, 2.3] };
    let width = [0.1, 0.1, 0.1];
    let mut random = Random(6);
    let mut points = random.uniforms(2000, lattice.low, lattice.high);
    // The first 300 on faces.
    for point in points.iter_mut().take(300) {
        for (d, x) in point.iter_mut().enumerate() {
            let bin = (random.uniform() * lattice.counts[d] as f64).floor();
            let size = (lattice.high[d] - lattice.low[d]) / lattice.counts[d] as f64;
            *x = lattice.low[d] + bin * size;
        }
    }
    let weights: Vec<f64> = points.iter().map(|_| random.uniform()).collect();
    let mut expected = vec![0.0; 210];
    for (point, weight) in points.iter().zip(&weights) {
        let bin = |d: usize| {
            let size = (lattice.high[d] - lattice.low[d]) / lattice.counts[d] as f64;
            (0..lattice.counts[d])
                .rfind(|&bin| point[d] >= lattice.low[d] + bin as f64 * size)
                .unwrap()
        };
        expected[(bin(2) * 10 + bin(1)) * 7 + bin(0)] += weight;
    }
    let density = Density::histogram().weights(weights);
    let estimate = density.on_grid(&machine.tensor(&points), &lattice).unwrap();
    let volume: f64 = width.iter().product();
    for (value, expected) in numbers(&estimate.values).iter().zip(&expected) {
        assert!((value * volume - expected).abs() < 1e-10, "{value} {expected}");
    }
}

#[test]
fn cloud_in_cell_preserves_mass_and_centre() {
    for machine in machines() {
        let lattice = Lattice { counts: [5, 4, 6], low: [0.0; 3], high: [2.0, 3.0, 5.0] };
        for point in [[0.7, 1.2, 3.9], [0.0, 3.0, 2.5], [2.0, 0.0, 5.0], [1.0, 1.0, 1.0]] {
            let density = Density::cloud_in_cell().weights([3.0]);
            let estimate = density.on_grid(&machine.tensor(&[point]), &lattice).unwrap();
            let point = machine.rounded(&[point])[0];
            let mut centre = [0.0; 3];
            for (i, value) in numbers(&estimate.values).into_iter().enumerate() {
                let index = [i % 5, i / 5 % 4, i / 20];
                let is_end = |d: usize| index[d] == 0 || index[d] + 1 == lattice.counts[d];
                let volume: f64 =
                    (0..3).map(|d| lattice.pitch(d) * if is_end(d) { 0.5 } else { 1.0 }).product();
                for d in 0..3 {
                    centre[d] += value * volume * index[d] as f64 * lattice.pitch(d);
                }
            }
            for d in 0..3 {
                let error = (centre[d] / 3.0 - point[d]).abs();
                assert!(error < 4.0 * machine.epsilon() * 5.0, "{machine}: {centre:?} {point:?}");
            }
            assert!((estimate.integral.unwrap() - 3.0).abs() < 1e-14);
        }
    }
}

#[test]
fn clouds_wrap_around_periodic_faces() {
    let machine = Machine::flex(DType::F64);
    let lattice = Lattice { counts: [5, 1, 1], low: [0.0; 3], high: [4.0; 3] };
    let density = Density::cloud_in_cell().axes(Axes::X);
    let periodic = [[Edge::Periodic; 2]; 3];
    let at = |x: f64, density: &Density| {
        let estimate = density.on_grid(&machine.tensor(&[[x, 0.0, 0.0]]), &lattice).unwrap();
        assert!((estimate.integral.unwrap() - 1.0).abs() < 1e-15);
        numbers(&estimate.values)
    };
    assert_eq!(at(3.75, &density), [0.0, 0.0, 0.0, 0.25, 1.5]);
    let density = density.within([0.0; 3], [4.0; 3], periodic);
    for x in [3.75, -0.25, 7.75] {
        assert_eq!(at(x, &density), [0.75, 0.0, 0.0, 0.25, 0.75]);
    }
    assert_eq!(at(0.0, &density), [1.0, 0.0, 0.0, 0.0, 1.0]);
    assert_eq!(at(4.0, &density), [1.0, 0.0, 0.0, 0.0, 1.0]);
    let bins = Density::histogram().axes(Axes::X).within([0.0; 3], [4.0; 3], periodic);
    for (x, bin) in [(4.0, 0), (0.0, 0), (-0.5, 4), (8.1, 0)] {
        let estimate = bins.on_grid(&machine.tensor(&[[x, 0.0, 0.0]]), &lattice).unwrap();
        assert_eq!(numbers(&estimate.values).iter().position(|&v| v > 0.0), Some(bin), "{x}");
        assert!((estimate.integral.unwrap() - 1.0).abs() < 1e-15);
    }
}
