//! Densities on a sphere against its area, direct sums and rotations.

use crate::common::{Machine, Random, numbers};
use burn::tensor::DType;
use burntrace_analysis::density::{Axes, Bandwidth, Density, Edge, Kernel, Lattice};
use burntrace_core::{EARTH_RADIUS, sphere};

const LOW: [f64; 3] = [-180.0, -90.0, -100.0];
const HIGH: [f64; 3] = [180.0, 90.0, 0.0];

/// Longitudes, latitudes and heights, uniform on the sphere.
fn uniform(n: usize) -> Vec<[f64; 3]> {
    let mut random = Random(3);
    let mut point = || {
        let [lon, sin, z] = [0, 1, 2].map(|_| random.uniform());
        [360.0 * lon - 180.0, (2.0 * sin - 1.0).asin().to_degrees(), -100.0 * z]
    };
    (0..n).map(|_| point()).collect()
}

fn around(density: Density, axes: Axes) -> Density {
    let edges = [[Edge::Periodic; 2], [Edge::Reflecting; 2], [Edge::Reflecting; 2]];
    density.axes(axes).within(LOW, HIGH, edges).on_sphere(EARTH_RADIUS)
}

/// The distance along the chord between two positions.
fn chord(a: [f64; 3], b: [f64; 3]) -> f64 {
    let [a, b] = [a, b].map(|[lon, lat, _]| sphere::in_space(EARTH_RADIUS, [lon, lat, 0.0]));
    (0..3).map(|d| (a[d] - b[d]).powi(2)).sum::<f64>().sqrt()
}

#[test]
fn densities_around_the_earth_integrate_to_the_number_of_particles() {
    let positions = uniform(1000);
    let area = 4.0 * std::f64::consts::PI * (EARTH_RADIUS / 1e3).powi(2);
    for dtype in [DType::F32, DType::F64] {
        let machine = Machine::flex(dtype);
        let tensor = machine.tensor(&positions);
        let of = |density: Density, axes: Axes, counts: [usize; 3]| {
            let lattice = Lattice { counts, low: LOW, high: HIGH };
            let estimate = around(density, axes).on_grid(&tensor, &lattice).unwrap();
            (estimate.integral.unwrap(), numbers(&estimate.values), estimate.bandwidth)
        };
        for axes in [Axes::XY, Axes::XYZ] {
            for density in [Density::histogram(), Density::cloud_in_cell()] {
                let (integral, ..) = of(density, axes, [24, 13, 4]);
                assert!((integral - 1000.0).abs() < 1e-3, "{axes:?}: {integral}");
            }
        }
        // Four bins of equal area.
        let (_, values, width) = of(Density::histogram(), Axes::XY, [2, 2, 1]);
        let total: f64 = values.iter().map(|value| value * area / 4.0).sum();
        assert!((total - 1000.0).abs() < 1e-3 && width == [0.0; 3], "{total}");
        let kernels = [
            Density::kde(Bandwidth::Fixed(8e5)),
            Density::sph(Kernel::WendlandC2, 1e6),
            Density::sph(Kernel::Gaussian, 1e6),
        ];
        for density in kernels {
            let (integral, ..) = of(density.clone(), Axes::XY, [181, 91, 1]);
            let expected = if integral < 2.0 { 1.0 } else { 1000.0 };
            assert!((integral / expected - 1.0).abs() < 1e-3, "{density:?}: {integral}");
        }
        let (integral, _, [h, ..]) = of(Density::kde(Bandwidth::Scott), Axes::XY, [181, 91, 1]);
        let scott = EARTH_RADIUS / 2f64.sqrt() * 1000f64.powf(-1.0 / 6.0);
        assert!((h / scott - 1.0).abs() < 0.02 && (integral - 1.0).abs() < 1e-3, "{h} {integral}");
    }
}

#[test]
fn kernels_are_round_at_the_poles_and_across_the_seam() {
    let machine = Machine::flex(DType::F64);
    let positions = [[170.0, 89.5, 0.0], [-179.9, 10.0, -50.0], [179.9, 10.0, 0.0]];
    let points = [[-10.0, 89.5, 0.0], [0.0, 90.0, 0.0], [-179.5, 10.2, 0.0], [0.0, 0.0, 0.0]];
    let h = 5e4;
    let density = around(Density::kde(Bandwidth::Fixed(h)), Axes::XY);
    let found = density.at(&machine.tensor(&positions), &machine.tensor(&points)).unwrap();
    for (point, value) in points.iter().zip(numbers(&found.values)) {
        let terms = positions.iter().map(|of| (-0.5 * (chord(*of, *point) / h).powi(2)).exp());
        let expected = 1e6 * terms.sum::<f64>() / (3.0 * std::f64::consts::TAU * h * h);
        assert!((value - expected).abs() < 1e-12, "{point:?}: {value} {expected}");
    }
    assert_eq!((found.bandwidth, found.covariance), ([h, h, 0.0], None));
}

#[test]
fn what_has_no_meaning_on_a_sphere_is_refused() {
    let machine = Machine::flex(DType::F64);
    let tensor = machine.tensor(&uniform(10));
    let lattice = Lattice { counts: [4; 3], low: LOW, high: HIGH };
    let error = |density: Density, axes: Axes| {
        around(density, axes).on_grid(&tensor, &lattice).unwrap_err().to_string()
    };
    assert!(error(Density::histogram(), Axes::X).contains("give the axes xy or xyz"));
    assert!(error(Density::kde(Bandwidth::Scott), Axes::XYZ).contains("for heights a histogram"));
    let wide = Bandwidth::PerAxis([1.0; 3]);
    assert!(error(Density::kde(wide), Axes::XY).contains("give one length in metres"));
}
