//! Kernels of smoothed particle hydrodynamics.

use crate::{
    common::{Machine, machines, numbers},
    direct::w,
};
use burn::tensor::DType;
use burntrace_analysis::density::{Axes, Density, Kernel, Lattice};
use std::f64::consts::PI;

/// The integral over all space, by the midpoint rule along the radius.
fn integral(kernel: Kernel, dimension: usize) -> f64 {
    let end = kernel.support().min(8.0);
    let parts = 40_000;
    let step = end / f64::from(parts);
    (0..parts)
        .map(|i| {
            let q = (f64::from(i) + 0.5) * step;
            let shell = [2.0, 2.0 * PI * q, 4.0 * PI * q * q][dimension - 1];
            shell * kernel.value(q, dimension) * step
        })
        .sum()
}

#[test]
fn every_kernel_integrates_to_one() {
    for kernel in Kernel::ALL {
        for dimension in 1..=3 {
            let integral = integral(kernel, dimension);
            assert!((integral - 1.0).abs() < 1e-8, "{kernel:?}, {dimension}: {integral}");
        }
    }
}

#[test]
fn kernels_match_the_published_formulas() {
    for kernel in Kernel::ALL {
        for dimension in 1..=3 {
            for i in 0..400 {
                let q = 0.01 * f64::from(i);
                let (value, paper) = (kernel.value(q, dimension), w(kernel, q, dimension));
                assert!((value - paper).abs() < 1e-15, "{kernel:?}, {dimension}, {q}");
            }
        }
    }
}

/// At the particles and between them, away from the ends of the lattice.
#[test]
fn density_of_a_particle_lattice_is_its_number_density() {
    for machine in machines() {
        for (axes, side) in [(Axes::X, 31), (Axes::XY, 21), (Axes::XYZ, 15)] {
            let count = |is_active: bool| if is_active { side } else { 1 };
            let [nx, ny, nz] = axes.active().map(count);
            let pitch = 0.25;
            let at = |i: usize| [i % nx, i / nx % ny, i / nx / ny].map(|i| i as f64 * pitch);
            let particles: Vec<[f64; 3]> = (0..nx * ny * nz).map(at).collect();
            let positions = machine.tensor(&particles);
            let exact = pitch.powi(-(axes.dimension() as i32));
            let middle = (side / 2) as f64 * pitch;
            let lattice = Lattice { counts: [3; 3], low: [middle; 3], high: [middle + pitch; 3] };
            for kernel in Kernel::ALL {
                // The smoother Wendland functions need wider kernels with more neighbours.
                let h = match kernel {
                    Kernel::WendlandC4 | Kernel::WendlandC6 => 1.9 * pitch,
                    _ => 1.5 * pitch,
                };
                let density = Density::sph(kernel, h).axes(axes);
                let estimate = density.on_grid(&positions, &lattice).unwrap();
                for value in numbers(&estimate.values) {
                    let error = (value / exact - 1.0).abs();
                    assert!(
                        error < 0.01,
                        "{machine}, {kernel:?}, {axes:?}: {value}, expected {exact}"
                    );
                }
            }
        }
    }
}

#[test]
fn integral_over_a_fine_grid_is_the_sum_of_the_weights() {
    let positions = Machine::flex(DType::F64).tensor(&[[0.1, 0.2, 0.3], [0.5, 0.4, 0.3]]);
    for kernel in Kernel::ALL {
        for axes in [Axes::Y, Axes::XZ, Axes::XYZ] {
            let lattice = Lattice { counts: [101; 3], low: [-0.7; 3], high: [1.3; 3] };
            let density = Density::sph(kernel, 0.13).axes(axes).weights([2.0, 3.0]);
            let integral = density.on_grid(&positions, &lattice).unwrap().integral.unwrap();
            assert!((integral - 5.0).abs() < 1e-3, "{kernel:?}, {axes:?}: {integral}");
        }
    }
}
