//! Few or no particles, and invalid arguments.

use crate::common::{Machine, machines, numbers};
use burn::tensor::{DType, Tensor};
use burntrace_analysis::{
    Error,
    density::{Axes, Bandwidth, Density, Edge, Factor, Kernel, Lattice, Normalization, Plane},
};

const LATTICE: Lattice = Lattice { counts: [9; 3], low: [-1.0; 3], high: [1.0; 3] };
const NAN: [f64; 3] = [f64::NAN; 3];

fn flex() -> Machine {
    Machine::flex(DType::F64)
}

fn methods() -> Vec<Density> {
    vec![
        Density::kde(Bandwidth::Fixed(0.3)),
        Density::kde(Bandwidth::Covariance([[0.1, 0.05, 0.0], [0.05, 0.1, 0.0], [0.0, 0.0, 0.1]])),
        Density::sph(Kernel::WendlandC2, 0.4),
        Density::histogram(),
        Density::cloud_in_cell(),
    ]
}

#[test]
fn no_particles_give_zero_number_density_and_a_probability_error() {
    for machine in machines() {
        for given in [vec![], vec![NAN, NAN]] {
            let positions = match given.len() {
                0 => Tensor::<2>::empty([0, 3], (&machine.device, machine.dtype)),
                _ => machine.tensor(&given),
            };
            for density in methods() {
                let number = density.clone().normalization(Normalization::Number);
                let estimate = number.on_grid(&positions, &LATTICE).unwrap();
                assert!(numbers(&estimate.values).iter().all(|&value| value == 0.0));
                assert_eq!(numbers(&estimate.values).len(), 729);
                assert_eq!((estimate.used, estimate.left_out), (0, given.len()));
                assert_eq!((estimate.integral, estimate.total), (Some(0.0), 0.0));
                let probability = density.normalization(Normalization::Probability);
                let error = probability.on_grid(&positions, &LATTICE).unwrap_err();
                assert!(matches!(error, Error::NoParticles { .. }), "{error}");
            }
            let error = Density::kde(Bandwidth::Scott).on_grid(&positions, &LATTICE).unwrap_err();
            assert!(matches!(error, Error::NoParticles { .. }), "{error}");
        }
    }
}

#[test]
fn one_particle_needs_a_fixed_bandwidth() {
    let one = flex().tensor(&[[0.1, 0.2, 0.3]]);
    for bandwidth in [Bandwidth::Scott, Bandwidth::Silverman, Bandwidth::Full(Factor::Given(1.0))] {
        let error = Density::kde(bandwidth).on_grid(&one, &LATTICE).unwrap_err();
        assert!(matches!(error, Error::NoSpread(_)), "{error}");
    }
    let peak = Density::kde(Bandwidth::Fixed(0.1)).at(&one, &one).unwrap();
    let exact = (std::f64::consts::TAU * 0.01).powf(-1.5);
    assert!((numbers(&peak.values)[0] / exact - 1.0).abs() < 1e-14);
}

#[test]
fn coincident_or_collinear_particles_determine_no_bandwidth() {
    let machine = flex();
    let all = machine.tensor(&[[0.1, 0.2, 0.3]; 5]);
    let error = Density::kde(Bandwidth::Scott).on_grid(&all, &LATTICE).unwrap_err().to_string();
    assert!(
        error.contains("all particles are at x = 0.1")
            && error.contains("give a bandwidth as a length"),
        "{error}"
    );
    // The covariance matrix of particles on a line is singular in three dimensions.
    let line = machine.tensor(&[[0.1, 0.2, 0.3], [0.2, 0.4, 0.6], [0.3, 0.6, 0.9]]);
    let full = Density::kde(Bandwidth::Full(Factor::Scott));
    let error = full.on_grid(&line, &LATTICE).unwrap_err();
    assert!(matches!(error, Error::NoSpread(_)), "{error}");
    assert!(Density::kde(Bandwidth::Scott).on_grid(&line, &LATTICE).is_ok());
    for density in methods() {
        let density = density.normalization(Normalization::Number);
        let many = numbers(&density.on_grid(&all, &LATTICE).unwrap().values);
        let one = machine.tensor(&[[0.1, 0.2, 0.3]]);
        let one = numbers(&density.on_grid(&one, &LATTICE).unwrap().values);
        for (many, one) in many.iter().zip(&one) {
            assert!((many - 5.0 * one).abs() <= 1e-14 * many, "{density:?}");
        }
    }
}

#[test]
fn scott_bandwidth_of_two_particles_matches_the_formula() {
    let two = flex().tensor(&[[0.0; 3], [1.0, 2.0, 4.0]]);
    let estimate = Density::kde(Bandwidth::Scott).axes(Axes::XY).on_grid(&two, &LATTICE).unwrap();
    let factor = 2.0_f64.powf(-1.0 / 6.0);
    let expected = [0.5_f64.sqrt() * factor, 2.0_f64.sqrt() * factor, 0.0];
    for (h, expected) in estimate.bandwidth.iter().zip(expected) {
        assert!((h - expected).abs() < 1e-14, "{h} {expected}");
    }
}

#[test]
fn omitted_and_weightless_particles_do_not_change_the_density() {
    let inside = [[0.1, 0.2, 0.3], [-0.5, 0.6, -0.2], [0.4, -0.9, 0.0]];
    let mirror = [[Edge::Reflecting; 2]; 3];
    for machine in machines() {
        let mut all = inside.to_vec();
        all.splice(1..1, [NAN, [0.0, 0.0, 0.5], [0.3, 0.3, 0.4], [0.0, 1.5, 0.0]]);
        let weights = [1.0, 1.0, 1.0, 0.0, 1.0, 2.0, 3.0];
        let flags = [true, true, false, true, true, true, true];
        for density in methods() {
            let density = density.within([-1.0; 3], [1.0; 3], mirror);
            let few = density.clone().weights([1.0, 2.0, 3.0]);
            let few = few.on_grid(&machine.tensor(&inside), &LATTICE).unwrap();
            let many = density.weights(weights).select(flags);
            let many = many.on_grid(&machine.tensor(&all), &LATTICE).unwrap();
            assert_eq!(numbers(&few.values), numbers(&many.values), "{machine}");
            assert_eq!((many.used, many.left_out, many.total), (4, 3, 6.0));
        }
        // Nor Scott's bandwidth.
        let scott = Density::kde(Bandwidth::Scott).within([-1.0; 3], [1.0; 3], mirror);
        let many = scott.clone().weights(weights).select(flags);
        let many = many.on_grid(&machine.tensor(&all), &LATTICE).unwrap();
        let few = scott.weights([1.0, 2.0, 3.0]).on_grid(&machine.tensor(&inside), &LATTICE);
        assert_eq!(few.unwrap().bandwidth, many.bandwidth);
    }
}

#[test]
fn density_is_zero_at_distant_points_and_nan_at_nan_points() {
    for machine in machines() {
        let positions = machine.tensor(&[[0.1, 0.2, 0.3], [0.4, 0.2, 0.1]]);
        let points = machine.tensor(&[[1e6, 0.0, 0.0], NAN, [0.2; 3], [-1e30, 0.0, 1e30]]);
        let density = Density::kde(Bandwidth::Fixed(0.1));
        let values = numbers(&density.at(&positions, &points).unwrap().values);
        assert!(values[0] == 0.0 && values[1].is_nan() && values[2] > 0.1 && values[3] == 0.0);
    }
}

#[test]
fn errors_name_the_invalid_argument() {
    let machine = flex();
    let positions = machine.tensor(&[[0.0; 3], [0.5; 3]]);
    let kde = Density::kde(Bandwidth::Fixed(0.1));
    let grid = |density: Density, lattice: Lattice| {
        density.on_grid(&positions, &lattice).unwrap_err().to_string()
    };
    for (density, expected) in [
        (kde.clone().weights([1.0]), "1 weights for 2"),
        (kde.clone().weights([1.0, -1.0]), "weight of particle 1 is -1"),
        (kde.clone().weights([0.0, 0.0]), "no particle has a weight above 0"),
        (kde.clone().select([true; 3]), "3 selection flags for 2"),
        (kde.clone().truncation(0.0), "0 standard deviations"),
        (Density::kde(Bandwidth::Fixed(0.0)), "it is 0"),
        (Density::kde(Bandwidth::PerAxis([1.0, f64::NAN, 1.0])), "along y"),
        (Density::kde(Bandwidth::Covariance([[1.0, 2.0, 0.0]; 3])), "symmetric"),
        (Density::kde(Bandwidth::Full(Factor::Given(-1.0))), "factor is -1"),
        (Density::sph(Kernel::CubicSpline, -1.0), "smoothing length is -1"),
        (kde.clone().within([0.0; 3], [0.0; 3], [[Edge::Reflecting; 2]; 3]), "along x"),
        (
            kde.clone().within([0.0; 3], [1.0; 3], [[Edge::Periodic, Edge::Open]; 3]),
            "make both faces periodic, or neither",
        ),
        (
            Density::kde(Bandwidth::Fixed(1e3)).within(
                [0.0; 3],
                [1.0; 3],
                [[Edge::Periodic; 2]; 3],
            ),
            "widths of the box",
        ),
    ] {
        let error = grid(density, LATTICE);
        assert!(error.contains(expected), "{error}");
    }
    for (lattice, expected) in [
        (Lattice { counts: [0, 1, 1], ..LATTICE }, "0 nodes along x"),
        (Lattice { high: [-1.0; 3], ..LATTICE }, "along x"),
        (Lattice { counts: [2000; 3], ..LATTICE }, "2^31"),
    ] {
        let error = grid(kde.clone(), lattice);
        assert!(error.contains(expected), "{error}");
    }
    let one = Lattice { counts: [1, 4, 4], ..LATTICE };
    assert!(grid(Density::cloud_in_cell(), one).contains("give 2 or more"));
    let plane = Plane { origin: [0.0; 3], edges: [[1.0; 3]; 2], counts: [0, 3] };
    assert!(matches!(kde.on_plane(&positions, &plane), Err(Error::Lattice(_))));
    assert!(matches!(Density::histogram().at(&positions, &positions), Err(Error::Lattice(_))));
    let wide = Tensor::<2>::zeros([4, 2], &machine.device);
    assert!(matches!(kde.at(&wide, &positions), Err(Error::Positions { found: [4, 2] })));
    assert!(matches!("zx".parse::<Axes>(), Err(Error::Axes(_))));
    assert_eq!("xz".parse::<Axes>().unwrap(), Axes::XZ);
}
