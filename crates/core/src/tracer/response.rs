//! How particles with inertia respond to the fluid, on the device of a run.

use super::selection::RowSelection;
use crate::{Distribution, Result, Sphere};
use burn::tensor::{DType, Device, Tensor, TensorData};
use burntrace_kernels::{InertialLaunch, Particles, inertia::MIN_FACTOR};
use std::ops::Range;

/// Smallest square of a speed with a derivative of its power.
const TINY: f64 = 1e-30;

/// The inertia of a run's particles, validated, on its device.
pub(super) struct Inertial {
    pub body: OnDevice,
    /// Of the slip of Cunningham, or 0.
    pub mean_free_path: f64,
    /// Half the distances of central differences of the field, 0 along flat axes.
    pub reach: [f64; 3],
    pub launch: InertialLaunch,
}

pub(super) enum OnDevice {
    /// The relaxation times and the ratios of densities.
    Response([Column; 2]),
    /// The diameters and the densities.
    Sphere([Column; 2], Sphere),
}

/// A quantity of particles on a device.
pub(super) enum Column {
    /// `[1]`, or one for each slot.
    Tensor(Box<Tensor<1>>),
    Drawn(Distribution, u64, Device, DType),
}

/// What moves particles with inertia, a row for each or one for all.
pub(super) struct Response {
    pub tau: Tensor<2>,
    pub beta: Tensor<2>,
    /// The Reynolds number of a unit of speed, for spheres.
    reynolds: Option<Tensor<2>>,
    /// Fluctuations of the fluid's velocity `[n, 3]`.
    pub fluctuation: Option<Tensor<2>>,
}

impl Column {
    /// The numbers of some rows of the particles in `slots`, or one for all, as a column.
    pub fn of(&self, slots: &Range<usize>, rows: &RowSelection) -> Tensor<2> {
        match self {
            Column::Tensor(numbers) if numbers.dims() == [1] => {
                numbers.as_ref().clone().reshape([1, 1])
            }
            Column::Tensor(numbers) => {
                let all = numbers.as_ref().clone().reshape([-1, 1]);
                rows.take(&all.narrow(0, slots.start, slots.len()))
            }
            Column::Drawn(distribution, seed, device, dtype) => {
                let slot = |row: &usize| (slots.start + row) as u64;
                let sizes = rows.rows().iter().map(|row| distribution.size(*seed, slot(row)));
                let data = TensorData::new(sizes.collect::<Vec<_>>(), [rows.rows().len(), 1]);
                Tensor::from_data(data, (device, *dtype))
            }
        }
    }
}

impl Inertial {
    /// The diameters and the masses `[n, 2]` of spheres, of which the first has the slot `first`, in the order of the rows.
    pub fn sizes(&self, first: usize, particles: &Particles) -> Result<Tensor<2>> {
        let [count, _] = particles.position.dims();
        let slots = first..first + count;
        let [diameter, density] = match &self.body {
            OnDevice::Sphere(_, of) => {
                [of.diameter.of_slots(&slots)?, of.density.of_slots(&slots)?]
            }
            OnDevice::Response(_) => [vec![f64::NAN], vec![f64::NAN]],
        };
        let row = |row: usize| {
            let slot = particles.slots.as_ref().map_or(row, |slots| slots[row] as usize);
            let [d, rho] = [&diameter, &density].map(|all| all[slot.min(all.len() - 1)]);
            [d, rho * std::f64::consts::PI / 6.0 * d.powi(3)]
        };
        let data = TensorData::new((0..count).flat_map(row).collect::<Vec<_>>(), [count, 2]);
        Ok(Tensor::from_data(data, (&particles.position.device(), particles.position.dtype())))
    }

    /// What moves some rows of the particles in the slots from `first` on.
    pub fn response(&self, first: usize, particles: &Particles, rows: &RowSelection) -> Response {
        let [count, _] = particles.position.dims();
        let slots = first..first + count;
        let fluctuation = particles.fluctuation().filter(|_| self.launch.fluctuates);
        let fluctuation = fluctuation.map(|all| {
            let of_rows = rows.take(&all);
            let is_unknown = of_rows.clone().detach().is_nan();
            of_rows.mask_fill(is_unknown, 0.0)
        });
        let column = |numbers: &Column| numbers.of(&slots, rows);
        match &self.body {
            OnDevice::Response([tau, beta]) => {
                Response { tau: column(tau), beta: column(beta), reynolds: None, fluctuation }
            }
            OnDevice::Sphere([diameter, density], Sphere { fluid_density, viscosity, .. }) => {
                let (diameter, density) = (column(diameter), column(density));
                let total = density.mul_scalar(2.0).add_scalar(*fluid_density);
                let mut tau = diameter.clone().powi_scalar(2) * total.clone();
                if self.mean_free_path > 0.0 {
                    let knudsen = diameter.clone().recip().mul_scalar(2.0 * self.mean_free_path);
                    let near = knudsen.clone().recip().mul_scalar(-1.1).exp();
                    let slip = knudsen * near.mul_scalar(0.4).add_scalar(1.257);
                    tau = tau * slip.add_scalar(1.0);
                }
                Response {
                    tau: tau.div_scalar(36.0 * viscosity),
                    beta: total.recip().mul_scalar(3.0 * fluid_density),
                    reynolds: Some(diameter.mul_scalar(fluid_density / viscosity)),
                    fluctuation,
                }
            }
        }
    }

    /// The factor of the drag `[n, 1]` by the slip velocity; `None` for 1.
    pub fn factor(&self, response: &Response, slip: &Tensor<2>) -> Option<Tensor<2>> {
        Some(factor(self.launch.drag?, response.reynolds.as_ref()?, square(slip)))
    }

    /// The factor of the drag `[n, 1]` that a step is linearised with: that of the slip velocity at its start and of the one at which the
    /// drag would balance the pull, a velocity at which that of Stokes does. `None` for 1.
    pub fn first_factor(
        &self,
        response: &Response,
        slip: &Tensor<2>,
        pull: &Tensor<2>,
    ) -> Option<Tensor<2>> {
        let (law, reynolds) = (self.launch.drag?, response.reynolds.as_ref()?);
        let pull = square(pull);
        let at_pull = factor(law, reynolds, pull.clone());
        let terminal = pull * power(at_pull, -2.0 / (1.0 + law[2]));
        let factor = factor(law, reynolds, square(slip) + terminal);
        Some(factor.clamp_min(MIN_FACTOR))
    }

    /// The acceleration by lift over beta `[n, 3]`; `None` of particles without sizes.
    pub fn lift(
        &self,
        response: &Response,
        slip: &Tensor<2>,
        vorticity: &Tensor<2>,
    ) -> Option<Tensor<2>> {
        let reynolds = response.reynolds.clone()?;
        let part = |of: &Tensor<2>, d: usize| of.clone().narrow(1, d % 3, 1);
        let across = [0, 1, 2].map(|d| {
            part(slip, d + 1) * part(vorticity, d + 2) - part(slip, d + 2) * part(vorticity, d + 1)
        });
        let root = power(square(vorticity), -0.25);
        let scale = (root / reynolds).mul_scalar(self.launch.lift);
        Some(Tensor::cat(across.to_vec(), 1) * scale)
    }
}

/// The factor of the drag by a law and the square of the speed of the slip, of which it has a derivative at 0.
fn factor([a, b, p]: [f64; 3], reynolds: &Tensor<2>, speed: Tensor<2>) -> Tensor<2> {
    let number = reynolds.clone().powi_scalar(2) * speed;
    power(number, p / 2.0).mul_scalar(b).add_scalar(a)
}

/// A power of numbers of 0 or more. Burn's powers round their exponents to single precision.
fn power(base: Tensor<2>, exponent: f64) -> Tensor<2> {
    base.add_scalar(TINY).log().mul_scalar(exponent).exp()
}

/// The squares of the lengths of vectors `[n, 1]`.
fn square(vectors: &Tensor<2>) -> Tensor<2> {
    vectors.clone().powi_scalar(2).sum_dim(1)
}
