//! The inertia of particles: checks, and what steps need of it.

use super::{Tracer, rows::floats, selection::RowSelection, walk};
use crate::{
    Distribution, Drag, Error, Field, Inertia, InitialVelocity, PerParticle, Result,
    error::short,
    field::AXES,
    inertia::{Body, Sphere},
};
use burn::tensor::{DType, Device, Tensor, TensorData};
use burntrace_kernels::{INERTIAL, InertialLaunch, POSITION};
use std::ops::Range;

/// Smallest square of a speed with a derivative of its power.
const TINY: f64 = 1e-30;

/// The inertia of a run's particles, validated, on its device.
pub(super) struct Inertial {
    body: OnDevice,
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
                Column::Drawn(*distribution, *seed, device.clone(), dtype)
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
        launch: InertialLaunch {
            gravity: inertia.gravity,
            initial_velocity: match &inertia.initial_velocity {
                InitialVelocity::Uniform(velocity) => Some(*velocity),
                // Of each one's own, rows have them from the start.
                InitialVelocity::Fluid | InitialVelocity::Each(_) => None,
            },
            restitution: inertia.restitution,
            has_reynolds: inertia.drag == Drag::SchillerNaumann,
            is_heavy: match &inertia.body {
                Body::Response { beta, .. } => *beta == PerParticle::Number(0.0),
                Body::Sphere(sphere) => sphere.fluid_density == 0.0,
            },
            is_steady: is_steady(tracer.field),
        },
    }))
}

/// What the particles in some slots have beside their positions, before the first step: a velocity, NaN if it is not known before the
/// release, and the relaxation time, beta and the Reynolds number of a unit of speed.
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
                [tau, 3.0 * fluid_density / total, first * fluid_density / viscosity]
            }
        };
        [u, v, w, tau, beta, reynolds]
    };
    Ok(slots.map(row).collect())
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
                "the drag of Schiller and Naumann depends on the sizes of particles, and a relaxation time is given; give spheres \
                 (diameter, density, fluid density, viscosity), or Stokes drag"
                    .into(),
            );
        }
        Body::Response { .. } => {}
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
    /// The response of some rows of the particles in `slots`.
    pub fn response(&self, slots: Range<usize>, rows: &RowSelection) -> Response {
        let column = |numbers: &Column| numbers.of(&slots, rows);
        match &self.body {
            OnDevice::Response([tau, beta]) => {
                Response { tau: column(tau), beta: column(beta), reynolds: None }
            }
            OnDevice::Sphere([diameter, density], Sphere { fluid_density, viscosity, .. }) => {
                let (diameter, density) = (column(diameter), column(density));
                let total = density.mul_scalar(2.0).add_scalar(*fluid_density);
                let tau = diameter.clone().powi_scalar(2) * total.clone();
                Response {
                    tau: tau.div_scalar(36.0 * viscosity),
                    beta: total.recip().mul_scalar(3.0 * fluid_density),
                    reynolds: Some(diameter.mul_scalar(fluid_density / viscosity)),
                }
            }
        }
    }

    /// The factor of the drag `[n, 1]` by the slip velocity; `None` for 1.
    pub fn factor(&self, response: &Response, slip: &Tensor<2>) -> Option<Tensor<2>> {
        let reynolds = response.reynolds.clone().filter(|_| self.launch.has_reynolds)?;
        // The square, so that there is a derivative at 0.
        let square = reynolds.powi_scalar(2) * slip.clone().powi_scalar(2).sum_dim(1);
        // Burn's powers round their exponents to single precision.
        let power = square.add_scalar(TINY).log().mul_scalar(0.687 / 2.0).exp();
        Some(power.mul_scalar(0.15).add_scalar(1.0))
    }
}
