//! The inertia of particles: checks, and what steps need of it.

use super::{Tracer, rows::floats, selection::RowSelection, turbulence, walk};
use crate::{
    Distribution, Drag, Error, Field, Inertia, InitialVelocity, PerParticle, Result,
    error::short,
    field::AXES,
    inertia::{Body, Sphere},
};
use burn::tensor::{DType, Device, Tensor, TensorData};
use burntrace_kernels::{INERTIAL, InertialLaunch, POSITION, Particles, inertia::LEAST_FACTOR};
use std::ops::Range;

/// Smallest square of a speed with a derivative of its power.
const TINY: f64 = 1e-30;

/// The inertia of a run's particles, validated, on its device.
pub(super) struct Inertial {
    body: OnDevice,
    /// Of the slip of Cunningham, or 0.
    mean_free_path: f64,
    /// The diameters and the densities of spheres.
    sizes: Option<[PerParticle; 2]>,
    pub launch: InertialLaunch,
}

enum OnDevice {
    /// The relaxation times and the ratios of densities.
    Response([Column; 2]),
    /// The diameters and the densities.
    Sphere([Column; 2], Sphere),
}

/// A quantity of particles on a device.
enum Column {
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

impl PerParticle {
    /// One number, or those of all slots; of a distribution those of some slots.
    fn numbers(&self, slots: Range<usize>) -> Result<Vec<f64>> {
        Ok(match self {
            PerParticle::Number(number) => vec![*number],
            PerParticle::Numbers(numbers) => numbers.to_vec(),
            PerParticle::Tensor(tensor) => {
                floats(&tensor.as_ref().clone().detach().reshape([-1, 1]))?
            }
            PerParticle::Drawn(distribution, seed) => {
                slots.map(|slot| distribution.size(*seed, slot as u64)).collect()
            }
        })
    }

    /// The numbers of some slots, or one for all.
    fn of_slots(&self, slots: &Range<usize>) -> Result<Vec<f64>> {
        let numbers = self.numbers(slots.clone())?;
        let is_one_for_each = !matches!(self, PerParticle::Drawn(..)) && numbers.len() > 1;
        Ok(if is_one_for_each { numbers[slots.clone()].to_vec() } else { numbers })
    }

    fn is_tracked(&self) -> bool {
        matches!(self, PerParticle::Tensor(tensor) if tensor.device().is_autodiff())
    }

    /// On a device, in its graph.
    fn on_device(&self, tracer: &Tracer, device: &Device) -> Result<Column> {
        let dtype = tracer.field.precision().dtype();
        Ok(match self {
            PerParticle::Tensor(tensor) if tensor.device() == *device => {
                Column::Tensor(Box::new(tensor.as_ref().clone().cast(dtype)))
            }
            PerParticle::Tensor(tensor) => {
                Column::Tensor(Box::new(tensor.as_ref().clone().to_device(device).cast(dtype)))
            }
            PerParticle::Drawn(distribution, seed) => {
                Column::Drawn(distribution.clone(), *seed, device.clone(), dtype)
            }
            PerParticle::Number(_) | PerParticle::Numbers(_) => {
                let numbers = self.numbers(0..0)?;
                let count = numbers.len();
                let data = TensorData::new(numbers, [count]);
                Column::Tensor(Box::new(Tensor::from_data(data, (device, dtype))))
            }
        })
    }
}

impl Column {
    /// The numbers of some rows of the particles in `slots`, or one for all, as a column.
    fn of(&self, slots: &Range<usize>, rows: &RowSelection) -> Tensor<2> {
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

/// The quantities of particles, their names and their limits.
fn quantities(inertia: &Inertia) -> [(&'static str, &PerParticle, [f64; 2]); 2] {
    let positive = [f64::MIN_POSITIVE, 1e30];
    match &inertia.body {
        Body::Response { relaxation_time, beta } => {
            [("relaxation time", relaxation_time, positive), ("beta", beta, [0.0, 3.0])]
        }
        Body::Sphere(sphere) => {
            [("diameter", &sphere.diameter, positive), ("density", &sphere.density, positive)]
        }
    }
}

/// Whether relaxation times, diameters or densities have gradients.
pub(super) fn is_tracked(tracer: &Tracer) -> bool {
    let inertia = tracer.motion.inertia.as_ref();
    inertia.is_some_and(|of| quantities(of).iter().any(|(_, numbers, _)| numbers.is_tracked()))
}

/// Refuses quantities that are neither one number nor one for each of `slots`.
pub(super) fn check_counts(tracer: &Tracer, slots: usize) -> Result<()> {
    let Some(inertia) = &tracer.motion.inertia else { return Ok(()) };
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for (name, numbers, _) in quantities(inertia) {
        counts.push((name, numbers.numbers(0..1)?.len()));
    }
    if let InitialVelocity::Each(each) = &inertia.initial_velocity {
        counts.push(("initial velocity", each.len()));
    }
    match counts.into_iter().find(|(_, count)| ![1, slots].contains(count)) {
        None => Ok(()),
        Some((name, count)) => Err(Error::Inertia(format!(
            "there are {count} numbers of the {name} for {slots} particles (seeds, then slots of sources); give one for each, or one \
             for all"
        ))),
    }
}

/// Refuses to save the sizes of particles that have none.
pub(super) fn check_sizes(tracer: &Tracer) -> Result<()> {
    match tracer.motion.inertia.as_ref().map(|inertia| &inertia.body) {
        Some(Body::Sphere(_)) => Ok(()),
        _ => Err(Error::Arrays(
            "only spheres (particles with a diameter and a density) have sizes to save; omit the sizes, or give the particles inertia as \
             spheres"
                .into(),
        )),
    }
}

/// The inertia of a tracer's particles.
pub(super) fn inertial(tracer: &Tracer) -> Result<Option<Inertial>> {
    let Some(inertia) = &tracer.motion.inertia else { return Ok(None) };
    check(tracer, inertia)?;
    let device = walk::device(tracer, is_tracked(tracer));
    let [(_, first, _), (_, second, _)] = quantities(inertia);
    let both = [first.on_device(tracer, &device)?, second.on_device(tracer, &device)?];
    Ok(Some(Inertial {
        body: match &inertia.body {
            Body::Response { .. } => OnDevice::Response(both),
            Body::Sphere(sphere) => OnDevice::Sphere(both, sphere.clone()),
        },
        mean_free_path: inertia.drag.mean_free_path(),
        sizes: match &inertia.body {
            Body::Response { .. } => None,
            Body::Sphere(of) => Some([of.diameter.clone(), of.density.clone()]),
        },
        launch: InertialLaunch {
            gravity: inertia.gravity,
            initial_velocity: match &inertia.initial_velocity {
                InitialVelocity::Uniform(velocity) => Some(*velocity),
                // Of each one's own, rows have them from the start.
                InitialVelocity::Fluid | InitialVelocity::Each(_) => None,
            },
            restitution: inertia.restitution,
            drag: inertia.drag.law(),
            fluctuates: inertia.turbulence.is_some(),
            is_heavy: match &inertia.body {
                Body::Response { beta, .. } => *beta == PerParticle::Number(0.0),
                Body::Sphere(sphere) => sphere.fluid_density == 0.0,
            },
            is_steady: is_steady(tracer.field),
        },
    }))
}

/// What the particles in some slots have beside their positions, before the first step: a velocity, NaN if it is not known before the
/// release, the relaxation time, beta and the Reynolds number of a unit of speed, and a fluctuation, which is not known yet.
pub(super) fn rows(
    tracer: &Tracer,
    slots: Range<usize>,
) -> Result<Vec<[f64; INERTIAL - POSITION]>> {
    let Some(inertia) = &tracer.motion.inertia else { return Ok(Vec::new()) };
    let [(_, first, _), (_, second, _)] = quantities(inertia);
    let both = [first.of_slots(&slots)?, second.of_slots(&slots)?];
    let first_slot = slots.start;
    let row = |slot: usize| {
        let [u, v, w] = match &inertia.initial_velocity {
            InitialVelocity::Each(each) => each[slot.min(each.len() - 1)],
            _ => [f64::NAN; 3],
        };
        let [first, second] =
            both.each_ref().map(|all| all[(slot - first_slot).min(all.len() - 1)]);
        let [tau, beta, reynolds] = match &inertia.body {
            Body::Response { .. } => [first, second, 0.0],
            Body::Sphere(Sphere { fluid_density, viscosity, .. }) => {
                let total = 2.0 * second + fluid_density;
                let tau = first * first * total / (36.0 * viscosity);
                let tau = tau * slip(inertia.drag.mean_free_path(), first);
                [tau, 3.0 * fluid_density / total, first * fluid_density / viscosity]
            }
        };
        [u, v, w, tau, beta, reynolds, f64::NAN, f64::NAN, f64::NAN]
    };
    Ok(slots.map(row).collect())
}

/// The factor of the relaxation time by the slip of Cunningham; 1 for a mean free path of 0.
fn slip(mean_free_path: f64, diameter: f64) -> f64 {
    let knudsen = 2.0 * mean_free_path / diameter;
    1.0 + knudsen * (1.257 + 0.4 * (-1.1 / knudsen).exp())
}

fn is_steady(field: &dyn Field) -> bool {
    match field.internals(crate::field::Sealed).formula {
        Some(formula) => formula.is_steady(),
        None => field.sampled().is_some_and(|sampled| sampled.time.is_steady()),
    }
}

/// Refuses numbers that are out of range.
fn check(tracer: &Tracer, inertia: &Inertia) -> Result<()> {
    let fail = |text: String| Err(Error::Inertia(text));
    turbulence::check(tracer, inertia)?;
    for (name, numbers, [low, high]) in quantities(inertia) {
        let range = if low > 0.0 { "a number above 0" } else { "a number from 0 to 3" };
        if let PerParticle::Drawn(distribution, _) = numbers
            && let Some(flaw) = distribution.flaw()
        {
            return fail(format!("the distribution of the {name} has {flaw}"));
        }
        for (slot, number) in numbers.numbers(0..1)?.into_iter().enumerate() {
            if !(low..=high).contains(&number) {
                return fail(format!(
                    "the {name} of particle {slot} is {}; give {range}",
                    short(number)
                ));
            }
        }
    }
    match &inertia.body {
        Body::Sphere(Sphere { fluid_density, viscosity, .. }) => {
            let is_fluid = (0.0..=1e30).contains(fluid_density)
                && (f64::MIN_POSITIVE..=1e30).contains(viscosity);
            if !is_fluid {
                return fail(format!(
                    "the fluid has the density {} and the viscosity {}; give a density of 0 or more and a viscosity above 0",
                    short(*fluid_density),
                    short(*viscosity)
                ));
            }
        }
        Body::Response { .. } if inertia.drag != Drag::Stokes => {
            return fail(
                "the drag depends on the sizes of particles, and a relaxation time is given; give spheres \
                 (diameter, density, fluid density, viscosity), or Stokes drag"
                    .into(),
            );
        }
        Body::Response { .. } => {}
    }
    if let Drag::Coefficient(number) | Drag::Cunningham { mean_free_path: number } = inertia.drag
        && !(f64::MIN_POSITIVE..=1e30).contains(&number)
    {
        return fail(format!(
            "the drag has the coefficient or the mean free path {}; give a number above 0",
            short(number)
        ));
    }
    if let Some(bad) = inertia.restitution.iter().find(|part| !(0.0..=1.0).contains(*part)) {
        return fail(format!(
            "a coefficient of restitution is {}; give numbers from 0 to 1",
            short(*bad)
        ));
    }
    check_vectors(tracer, inertia)
}

/// Refuses gravities and initial velocities that are not finite, or are along a flat axis.
fn check_vectors(tracer: &Tracer, inertia: &Inertia) -> Result<()> {
    let domain = tracer.domain_box();
    let initial = match &inertia.initial_velocity {
        InitialVelocity::Fluid => &[],
        InitialVelocity::Uniform(velocity) => std::slice::from_ref(velocity),
        InitialVelocity::Each(each) => &each[..],
    };
    let gravity = std::slice::from_ref(&inertia.gravity);
    for (name, vectors) in [("the gravity", gravity), ("an initial velocity", initial)] {
        for (d, x) in vectors.iter().flat_map(|vector| vector.iter().enumerate()) {
            let flaw = match *x {
                x if !x.is_finite() => "give finite numbers".to_string(),
                x if x != 0.0 && domain.is_flat(d) => {
                    format!("the domain is flat along {}; give 0 along it", AXES[d])
                }
                _ => continue,
            };
            return Err(Error::Inertia(format!(
                "{name} has the component {} along {}; {flaw}",
                short(*x),
                AXES[d]
            )));
        }
    }
    Ok(())
}

impl Inertial {
    /// The diameters and the masses `[n, 2]` of spheres, of which the first has the slot `first`, in the order of the rows.
    pub fn sizes(&self, first: usize, particles: &Particles) -> Result<Tensor<2>> {
        let [count, _] = particles.position.dims();
        let slots = first..first + count;
        let [diameter, density] = match &self.sizes {
            Some([diameter, density]) => [diameter.of_slots(&slots)?, density.of_slots(&slots)?],
            None => [vec![f64::NAN], vec![f64::NAN]],
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
        Some(factor.clamp_min(LEAST_FACTOR))
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
