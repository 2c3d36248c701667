//! The inertia of particles: checks, and what steps need of it.

use super::{
    Tracer,
    response::{Column, Inertial, OnDevice},
    rows::floats,
    walk,
};
use crate::{
    Drag, Error, Field, Inertia, InitialVelocity, Lift, PerParticle, Result,
    error::short,
    field::AXES,
    inertia::{Body, Sphere},
};
use burn::tensor::{Device, Tensor, TensorData};
use burntrace_kernels::{INERTIAL, InertialLaunch, POSITION};
use std::ops::Range;

impl PerParticle {
    /// One number, or those of all slots; of a distribution those of some slots.
    pub(super) fn numbers(&self, slots: Range<usize>) -> Result<Vec<f64>> {
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
    pub(super) fn of_slots(&self, slots: &Range<usize>) -> Result<Vec<f64>> {
        let numbers = self.numbers(slots.clone())?;
        let is_one_for_each = !matches!(self, PerParticle::Drawn(..)) && numbers.len() > 1;
        Ok(if is_one_for_each { numbers[slots.clone()].to_vec() } else { numbers })
    }

    /// Whether it has gradients.
    pub(super) fn is_tracked(&self) -> bool {
        matches!(self, PerParticle::Tensor(tensor) if tensor.device().is_autodiff())
    }

    /// On a device, in its graph.
    pub(super) fn on_device(&self, tracer: &Tracer, device: &Device) -> Result<Column> {
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
        let count = match numbers {
            // One for each slot, once the distribution is checked.
            PerParticle::Drawn(..) => 1,
            _ => numbers.numbers(0..1)?.len(),
        };
        counts.push((name, count));
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
        reach: walk::moving(&tracer.domain_box(), walk::reach(tracer)),
        launch: InertialLaunch {
            gravity: inertia.gravity,
            initial_velocity: match &inertia.initial_velocity {
                InitialVelocity::Uniform(velocity) => Some(*velocity),
                // Of each one's own, rows have them from the start.
                InitialVelocity::Fluid | InitialVelocity::Each(_) => None,
            },
            restitution: inertia.restitution,
            drag: inertia.drag.law(),
            lift: match &inertia.body {
                Body::Response { .. } => 0.0,
                Body::Sphere(of) => inertia.lift.coefficient(of.fluid_density, of.viscosity),
            },
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
    let has_fluid = matches!(&inertia.body, Body::Sphere(of) if of.fluid_density > 0.0);
    if inertia.drag.law().is_some() && !has_fluid {
        return fail(
            "the drag depends on the Reynolds number, which is 0 in a fluid of the density 0; give a fluid density above 0, or Stokes drag"
                .into(),
        );
    }
    if inertia.lift != Lift::None && !has_fluid {
        return fail(
            "the lift depends on the sizes of particles and on the density of the fluid; give spheres (diameter, density, fluid density, viscosity) \
             in a fluid of a density above 0, or no lift"
                .into(),
        );
    }
    if let Drag::Coefficient(number) | Drag::Cunningham(number) = inertia.drag
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
