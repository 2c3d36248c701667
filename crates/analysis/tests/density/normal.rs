//! Estimates from samples of a known distribution.
//!
//! A Gaussian kernel of standard deviation `h` over samples of a normal distribution of standard deviation
//! `s` estimates a normal distribution of variance `s^2 + h^2`. At a point, the estimate from `n` samples
//! has the variance `(E K^2 - (E K)^2) / n`, with `E K^2 = (4 pi h^2)^(-d/2) N(x; s^2 + h^2 / 2)`.

use crate::common::{Machine, Random, machines, numbers};
use burn::tensor::DType;
use burntrace_analysis::density::{Axes, Bandwidth, Density, Edge, Estimate, Lattice};
use std::f64::consts::PI;

const S: f64 = 0.7;
const H: f64 = 0.2;
const COUNT: usize = 20_000;

fn normal(square: f64, variance: f64, dimension: usize) -> f64 {
    (-0.5 * square / variance).exp() / (2.0 * PI * variance).powf(0.5 * dimension as f64)
}

/// Nodes at a spacing of `h` that cover the reach of all kernels.
fn covering(axes: Axes) -> Lattice {
    let count = |is_active: bool| if is_active { 55 } else { 1 };
    Lattice { counts: axes.active().map(count), low: [-27.0 * H; 3], high: [27.0 * H; 3] }
}

fn node(lattice: &Lattice, i: usize) -> [f64; 3] {
    let [nx, ny, _] = lattice.counts;
    let index = [i % nx, i / nx % ny, i / nx / ny];
    [0, 1, 2].map(|d| lattice.low[d] + index[d] as f64 * lattice.pitch(d))
}

/// Compares an estimate with `(E K, E K^2)` at each node: no error exceeds six standard deviations, and
/// the mean squared error is about one variance.
fn compare(estimate: &Estimate, expected: impl Fn([f64; 3]) -> (f64, f64), what: &str) {
    let lattice = estimate.lattice.unwrap();
    let (mut sum, mut count) = (0.0, 0);
    for (i, value) in numbers(&estimate.values).into_iter().enumerate() {
        let (mean, square) = expected(node(&lattice, i));
        let deviation = ((square - mean * mean) / COUNT as f64).sqrt();
        // With few samples within reach, the error is not normal.
        if mean * COUNT as f64 > 20.0 * square / mean {
            let score = (value - mean) / deviation;
            assert!(
                score.abs() < 6.0,
                "{what}: {value}, expected {mean} at node {i}, {score} deviations"
            );
            sum += score * score;
            count += 1;
        }
    }
    let mean = sum / f64::from(count);
    assert!(count > 5 && (0.3..2.5).contains(&mean), "{what}: {mean} over {count} nodes");
}

fn samples(axes: Axes, folded: bool) -> Vec<[f64; 3]> {
    let mut samples = Random(11).normals(COUNT, [0.0; 3], [S; 3]);
    for sample in &mut samples {
        for (x, is_active) in sample.iter_mut().zip(axes.active()) {
            *x = if folded && is_active { x.abs() } else { *x };
        }
    }
    samples
}

fn squared_distance(point: [f64; 3], axes: Axes) -> f64 {
    (0..3).filter(|&d| axes.active()[d]).map(|d| point[d] * point[d]).sum()
}

#[test]
fn estimate_of_normal_samples_is_the_widened_distribution() {
    for machine in machines() {
        for axes in [Axes::X, Axes::YZ, Axes::XYZ] {
            if machine.name.starts_with("vulkan") && axes == Axes::XYZ {
                continue; // slow on software Vulkan
            }
            let d = axes.dimension();
            let positions = machine.tensor(&samples(axes, false));
            let estimate = Density::kde(Bandwidth::Fixed(H))
                .axes(axes)
                .on_grid(&positions, &covering(axes))
                .unwrap();
            let expected = |point| {
                let square = squared_distance(point, axes);
                let norm = (4.0 * PI * H * H).powf(-0.5 * d as f64);
                (normal(square, S * S + H * H, d), norm * normal(square, S * S + 0.5 * H * H, d))
            };
            let what = format!("{machine}, {axes:?}");
            compare(&estimate, expected, &what);
            let integral = estimate.integral.unwrap();
            assert!((integral - 1.0).abs() < 1e-6, "{what}: {integral}");
            assert!(estimate.neglected < 1e-8);
        }
    }
}

/// Normal samples folded at 0 and mirrored there: twice the normal distribution on one side.
#[test]
fn estimate_with_a_mirror_is_the_folded_distribution() {
    let machine = Machine::flex(DType::F64);
    for axes in [Axes::X, Axes::XY, Axes::XYZ] {
        let d = axes.dimension();
        let positions = machine.tensor(&samples(axes, true));
        let mut lattice = covering(axes);
        lattice.low = [0.0; 3];
        let estimate = Density::kde(Bandwidth::Fixed(H))
            .axes(axes)
            .within([0.0; 3], [9.0; 3], [[Edge::Reflecting, Edge::Open]; 3])
            .on_grid(&positions, &lattice)
            .unwrap();
        let integral = estimate.integral.unwrap();
        assert!((integral - 1.0).abs() < 1e-6, "{axes:?}: {integral}");
        let expected = |point: [f64; 3]| {
            let factor = 2.0_f64.powi(d as i32);
            let mean = factor * normal(squared_distance(point, axes), S * S + H * H, d);
            // (K(x - y) + K(x + y))^2 over y > 0, axis by axis.
            let square = (0..d).map(|e| {
                let x = point[e];
                let own = normal(x * x, S * S + 0.5 * H * H, 1);
                // K(x - y) K(x + y) = exp(-(x^2 + y^2) / h^2) / (2 pi h^2).
                let norm = (4.0 * PI * H * H).sqrt();
                let cross = (-x * x / (H * H)).exp() * normal(0.0, S * S + 0.5 * H * H, 1);
                2.0 * (own + cross) / norm
            });
            (mean, square.product())
        };
        compare(&estimate, expected, &format!("{axes:?}"));
    }
}

/// Normal samples in a periodic box narrower than their spread.
#[test]
fn estimate_in_a_periodic_box_is_the_wrapped_distribution() {
    let machine = Machine::flex(DType::F64);
    let width = 1.5;
    for axes in [Axes::X, Axes::XY, Axes::XYZ] {
        let d = axes.dimension();
        let count = |is_active: bool| if is_active { 16 } else { 1 };
        let lattice =
            Lattice { counts: axes.active().map(count), low: [-0.5; 3], high: [width - 0.5; 3] };
        let estimate = Density::kde(Bandwidth::Fixed(H))
            .axes(axes)
            .within([-0.5; 3], [width - 0.5; 3], [[Edge::Periodic; 2]; 3])
            .on_grid(&machine.tensor(&samples(axes, false)), &lattice)
            .unwrap();
        let integral = estimate.integral.unwrap();
        assert!((integral - 1.0).abs() < 1e-6, "{axes:?}: {integral}");
        let wrapped = |x: f64, variance| -> f64 {
            (-5..=5).map(|k| normal((x + f64::from(k) * width).powi(2), variance, 1)).sum()
        };
        let expected = |point: [f64; 3]| {
            let each = |variance: f64| (0..d).map(|e| wrapped(point[e], variance)).product::<f64>();
            let norm = (4.0 * PI * H * H).powf(-0.5 * d as f64);
            // The kernel's periodic images hardly overlap: the box is about seven kernel widths wide.
            (each(S * S + H * H), norm * each(S * S + 0.5 * H * H))
        };
        compare(&estimate, expected, &format!("{axes:?}"));
    }
}

#[test]
fn every_bandwidth_integrates_to_one() {
    use burntrace_analysis::density::Factor;
    let positions = Random(4).normals(500, [3.0, -20.0, 1e3], [0.1, 2.0, 30.0]);
    for bandwidth in [
        Bandwidth::Scott,
        Bandwidth::Silverman,
        Bandwidth::Full(Factor::Scott),
        Bandwidth::Full(Factor::Given(0.5)),
    ] {
        let machine = Machine::flex(DType::F32);
        let lattice =
            Lattice { counts: [61; 3], low: [2.2, -36.0, 760.0], high: [3.8, -4.0, 1240.0] };
        let density = Density::kde(bandwidth);
        let estimate = density.on_grid(&machine.tensor(&positions), &lattice).unwrap();
        let integral = estimate.integral.unwrap();
        assert!((integral - 1.0).abs() < 1e-5, "{bandwidth:?}: {integral}");
    }
}
