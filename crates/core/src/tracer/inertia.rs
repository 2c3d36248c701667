//! Steps of particles with inertia in tensor operations. The drag turns a velocity towards a target at a constant rate. For a target that
//! is a polynomial in time the motion is exact; the polynomials go through the targets at three points of the step, in
//! sweeps: exponential collocation (Hochbruck and Ostermann 2010, Acta Numerica 19:209).

use super::{
    Tracer,
    rows::floats,
    runge_kutta::{StepResult, StepTimes},
    sampled_at::{StepStart, sampled_at},
    selection::RowSelection,
    stepper::Stepper,
    walk,
};
use crate::{
    Drag, Error, Field, Inertia, InitialVelocity, PerParticle, Result,
    error::short,
    field::AXES,
    inertia::{Body, Sphere},
};
use burn::tensor::{Device, Tensor, TensorData};
use burntrace_kernels::{
    INERTIAL, InertialLaunch, POSITION,
    inertia::{DIFFERENCE, difference_in_time},
};
use std::ops::Range;

/// Smallest square of a speed with a derivative of its power.
const TINY: f64 = 1e-30;

/// The inertia of a run's particles, validated, on its device.
pub(super) struct Inertial {
    body: OnDevice,
    launch: InertialLaunch,
}

enum OnDevice {
    /// The relaxation times and the ratios of densities.
    Response([Tensor<1>; 2]),
    /// The diameters and the densities.
    Sphere([Tensor<1>; 2], Sphere),
}

/// What moves particles with inertia, a row for each or one for all.
pub(super) struct Response {
    tau: Tensor<2>,
    beta: Tensor<2>,
    /// The Reynolds number of a unit of speed, for spheres.
    reynolds: Option<Tensor<2>>,
}

impl PerParticle {
    fn numbers(&self) -> Result<Vec<f64>> {
        Ok(match self {
            PerParticle::Number(number) => vec![*number],
            PerParticle::Numbers(numbers) => numbers.to_vec(),
            PerParticle::Tensor(tensor) => {
                floats(&tensor.as_ref().clone().detach().reshape([-1, 1]))?
            }
        })
    }

    fn is_tracked(&self) -> bool {
        matches!(self, PerParticle::Tensor(tensor) if tensor.device().is_autodiff())
    }

    /// The tensor, in its graph.
    fn on_device(&self, tracer: &Tracer, device: &Device) -> Result<Tensor<1>> {
        let dtype = tracer.field.precision().dtype();
        Ok(match self {
            PerParticle::Tensor(tensor) if tensor.device() == *device => {
                tensor.as_ref().clone().cast(dtype)
            }
            PerParticle::Tensor(tensor) => tensor.as_ref().clone().to_device(device).cast(dtype),
            _ => {
                let numbers = self.numbers()?;
                let count = numbers.len();
                Tensor::from_data(TensorData::new(numbers, [count]), (device, dtype))
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
        counts.push((name, numbers.numbers()?.len()));
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

/// What particles with inertia have beside their positions, before the first step: a velocity, NaN if it is not known before the
/// release, and the relaxation time, beta and the Reynolds number of a unit of speed.
pub(super) fn rows(tracer: &Tracer, count: usize) -> Result<Vec<[f64; INERTIAL - POSITION]>> {
    let Some(inertia) = &tracer.motion.inertia else { return Ok(Vec::new()) };
    let [(_, first, _), (_, second, _)] = quantities(inertia);
    let both = [first.numbers()?, second.numbers()?];
    let row = |slot: usize| {
        let [u, v, w] = match &inertia.initial_velocity {
            InitialVelocity::Each(each) => each[slot.min(each.len() - 1)],
            _ => [f64::NAN; 3],
        };
        let [first, second] = both.each_ref().map(|all| all[slot.min(all.len() - 1)]);
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
    Ok((0..count).map(row).collect())
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
        for (slot, number) in numbers.numbers()?.into_iter().enumerate() {
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
    let domain = tracer.domain_box();
    let flat = (0..3).find(|d| domain.is_flat(*d) && inertia.gravity[*d] != 0.0);
    match (inertia.gravity.iter().find(|g| !g.is_finite()), flat) {
        (Some(bad), _) => fail(format!("the gravity has the component {bad}; give finite numbers")),
        (_, Some(d)) => fail(format!(
            "gravity acts along {}, along which the domain is flat; give 0 along it",
            AXES[d]
        )),
        _ => Ok(()),
    }
}

impl Inertial {
    /// What the fused engine takes of it.
    pub fn launch(&self) -> InertialLaunch {
        self.launch
    }

    /// The response of some rows of the particles in `slots`.
    pub fn response(&self, slots: Range<usize>, rows: &RowSelection) -> Response {
        let of_rows = |all: Tensor<2>| match all.dims()[0] {
            1 => all,
            _ => rows.take(&all.narrow(0, slots.start, slots.len())),
        };
        let column = |numbers: &Tensor<1>| of_rows(numbers.clone().reshape([-1, 1]));
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
    fn factor(&self, response: &Response, slip: &Tensor<2>) -> Option<Tensor<2>> {
        let reynolds = response.reynolds.clone().filter(|_| self.launch.has_reynolds)?;
        // The square, so that there is a derivative at 0.
        let square = reynolds.powi_scalar(2) * slip.clone().powi_scalar(2).sum_dim(1);
        // Burn's powers round their exponents to single precision.
        let power = square.add_scalar(TINY).log().mul_scalar(0.687 / 2.0).exp();
        Some(power.mul_scalar(0.15).add_scalar(1.0))
    }
}

/// A step of particles from a start, whose velocities `[n, 3]` are NaN where they were released, before boundaries.
pub(super) fn inertial_step(
    (stepper, inertial): (&Stepper, &Inertial),
    start: &StepStart,
    own: Tensor<2>,
    response: &Response,
    times: &StepTimes,
) -> Result<StepResult> {
    let from = &start.position;
    let fluid = times.velocity(stepper.field, sampled_at(stepper, start, from.clone())?, 0.0)?;
    let initial = inertial.launch.initial_velocity.map(|velocity| row(velocity, from));
    let initial = initial.map(|row| row.expand(fluid.dims()));
    let is_new = own.clone().detach().is_nan();
    let own = own.mask_where(is_new, initial.unwrap_or_else(|| fluid.clone()));
    let first_factor = inertial.factor(response, &(fluid.clone() - own.clone()));
    let tau = match &first_factor {
        Some(factor) => response.tau.clone() / factor.clone(),
        None => response.tau.clone(),
    };
    let stages = StageTargets { stepper, inertial, start, own, response, times, tau, first_factor };
    let h = times.column(from);
    let [half, whole] = [0.5, 1.0].map(|part| Flight::new(&h, &stages.tau, part));
    let own = &stages.own;
    let first = stages.target_of(fluid.clone(), from.clone(), 0.0, own.clone())?;
    // Sweeps with polynomials of degree 0, 1 and 2 through the targets: each one adds an order.
    let middle = stages.target(0.5, &half.of(own, std::slice::from_ref(&first)))?;
    let line = [first.clone(), (middle - first.clone()).mul_scalar(2.0)];
    let mut targets = [(0.5, half.of(own, &line)), (1.0, whole.of(own, &line))];
    let mut parabola = stages.parabola(&first, &targets)?;
    let before = whole.of(own, &parabola);
    let displacement_before = before.moved.clone();
    targets = [(0.5, half.of(own, &parabola)), (1.0, before)];
    parabola = stages.parabola(&first, &targets)?;
    let end = whole.of(own, &parabola);
    Ok(StepResult {
        error: stepper.adaptive.map(|_| end.moved.clone() - displacement_before),
        displacement: end.moved,
        slow: None,
        velocity: fluid.detach(),
        own_velocity: Some(Tensor::cat(vec![own.clone(), end.change], 1)),
    })
}

/// Particles within a step: their displacements from its start, and the changes of their velocities `[n, 3]`.
struct State {
    moved: Tensor<2>,
    change: Tensor<2>,
}

/// The target velocities of the drag at the stages of a step.
struct StageTargets<'a> {
    stepper: &'a Stepper<'a>,
    inertial: &'a Inertial,
    start: &'a StepStart,
    /// The velocities at the start.
    own: Tensor<2>,
    response: &'a Response,
    times: &'a StepTimes,
    /// The relaxation times at the start of the step.
    tau: Tensor<2>,
    /// The factors of the drag at the start of the step, if they differ from 1.
    first_factor: Option<Tensor<2>>,
}

impl StageTargets<'_> {
    /// The coefficients of the parabola through the targets at the start, in the middle and at the end of the step, in powers of
    /// the part of the step.
    fn parabola(&self, first: &Tensor<2>, states: &[(f64, State); 2]) -> Result<[Tensor<2>; 3]> {
        let [(half, in_middle), (whole, at_end)] = states;
        let middle = self.target(*half, in_middle)?.mul_scalar(4.0);
        let last = self.target(*whole, at_end)?;
        let slope = middle.clone() - first.clone().mul_scalar(3.0) - last.clone();
        let bend = (first.clone() + last).mul_scalar(2.0) - middle;
        Ok([first.clone(), slope, bend])
    }

    fn target(&self, part: f64, state: &State) -> Result<Tensor<2>> {
        let stage = self.start.position.clone() + state.moved.clone();
        let at = sampled_at(self.stepper, self.start, stage)?;
        let fluid = self.times.velocity(self.stepper.field, at.clone(), part)?;
        self.target_of(fluid, at, part, self.own.clone() + state.change.clone())
    }

    /// The velocity u + (f/f0 - 1) (u - v) + tau0 (beta Du/Dt + (1 - beta) g), towards which the drag turns particles at
    /// the rate 1/tau0.
    fn target_of(
        &self,
        fluid: Tensor<2>,
        at: Tensor<2>,
        part: f64,
        velocity: Tensor<2>,
    ) -> Result<Tensor<2>> {
        let Response { beta, .. } = self.response;
        let mut pull =
            (beta.clone().neg().add_scalar(1.0)) * row(self.inertial.launch.gravity, &at);
        if !self.inertial.launch.is_heavy {
            pull = pull + beta.clone() * self.acceleration(&fluid, at, part)?;
        }
        let mut target = fluid.clone() + self.tau.clone() * pull;
        let slip = fluid - velocity;
        let factor = self.inertial.factor(self.response, &slip);
        if let (Some(factor), Some(first)) = (factor, &self.first_factor) {
            target = target + (factor / first.clone()).sub_scalar(1.0) * slip;
        }
        Ok(target)
    }

    /// The fluid's acceleration Du/Dt at a part of the step: differences of order 4 along its path and in time.
    fn acceleration(&self, fluid: &Tensor<2>, at: Tensor<2>, part: f64) -> Result<Tensor<2>> {
        let field = self.stepper.field;
        let along = |steps: f64| {
            let position = at.clone() + self.times.displacement(fluid.clone(), steps * DIFFERENCE);
            let position = sampled_at(self.stepper, self.start, position)?;
            self.times.velocity(field, position, part)
        };
        let near = along(1.0)? - along(-1.0)?;
        let far = along(2.0)? - along(-2.0)?;
        let mut difference = near.mul_scalar(8.0) - far;
        if !self.inertial.launch.is_steady {
            for (steps, weight) in difference_in_time(part) {
                let later = self.times.velocity(field, at.clone(), part + steps * DIFFERENCE)?;
                difference = difference + (later - fluid.clone()).mul_scalar(weight);
            }
        }
        let length = self.times.column(&at).mul_scalar(12.0 * DIFFERENCE);
        Ok(difference / length)
    }
}

/// A vector as a row `[1, 3]` on the device of `beside`.
fn row(vector: [f64; 3], beside: &Tensor<2>) -> Tensor<2> {
    let data = TensorData::new(vector.to_vec(), [1, 3]);
    Tensor::from_data(data, (&beside.device(), beside.dtype()))
}

/// The exact motion over a part of a step towards targets that are polynomials in time: its weights, a row for each
/// particle or one for all.
struct Flight {
    /// Of the velocity at the start, `[displacement, change of the velocity]`.
    of_velocity: [Tensor<2>; 2],
    /// Of the coefficients of a polynomial in the part of the step.
    of_targets: [[Tensor<2>; 2]; 3],
}

impl Flight {
    fn new(h: &Tensor<2>, tau: &Tensor<2>, part: f64) -> Self {
        let time = h.clone().mul_scalar(part);
        let z = time.clone() / tau.clone();
        let phis = phi(&z);
        let of_velocity = [&time, &z.clone().neg()].map(|scale| scale.clone() * phis[0].clone());
        // Integrals of exp(-(time - s) / tau) (s / h)^k / tau.
        let of_targets = [0, 1, 2].map(|k| {
            let scale = z.clone().mul_scalar(part.powi(k as i32) * factorial(k));
            [time.clone() * scale.clone() * phis[k + 1].clone(), scale * phis[k].clone()]
        });
        Flight { of_velocity, of_targets }
    }

    fn of(&self, own: &Tensor<2>, polynomial: &[Tensor<2>]) -> State {
        let [moved, change] = [0, 1].map(|which| {
            let own = own.clone() * self.of_velocity[which].clone();
            let terms = polynomial.iter().zip(&self.of_targets);
            terms.fold(own, |sum, (target, weights)| sum + target.clone() * weights[which].clone())
        });
        State { moved, change }
    }
}

/// phi_1 to phi_4 at -z, for z of 0 or more: phi_0 = exp, phi_k(y) = y phi_(k+1)(y) + 1/k!.
fn phi(z: &Tensor<2>) -> [Tensor<2>; 4] {
    // By its series up to 1, where the recurrence loses digits.
    let small = z.clone().clamp_max(1.0);
    let mut fourth = z.zeros_like();
    for n in (0..TERMS).rev() {
        fourth = (fourth * small.clone()).neg().add_scalar(1.0 / factorial(n + 4));
    }
    let mut below = [fourth.clone(), fourth.clone(), fourth.clone(), fourth];
    for k in (0..3).rev() {
        let next = below[k + 1].clone() * small.clone();
        below[k] = next.neg().add_scalar(1.0 / factorial(k + 1));
    }
    let large = z.clone().clamp_min(1.0);
    let mut above = large.clone().neg().exp();
    let is_small = z.clone().detach().lower_elem(1.0);
    let mut k = 0;
    below.map(|below| {
        above = (above.clone().neg().add_scalar(1.0 / factorial(k))) / large.clone();
        k += 1;
        above.clone().mask_where(is_small.clone(), below)
    })
}

/// Terms of a series for numbers up to 1 in double precision.
const TERMS: usize = 16;

fn factorial(n: usize) -> f64 {
    (1..=n).map(|k| k as f64).product()
}
