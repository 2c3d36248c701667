//! Steps of particles with inertia in tensor operations. The drag turns a velocity towards a target at a constant rate. For a target that
//! is a polynomial in time the motion is exact; the polynomials go through the targets at three points of the step, in
//! sweeps: exponential collocation (Hochbruck and Ostermann 2010, Acta Numerica 19:209).

use super::{
    response::{Inertial, Response},
    runge_kutta::{StepResult, StepTimes},
    sampled_at::{StepStart, sampled_at},
    stepper::Stepper,
};
use crate::Result;
use burn::tensor::{Tensor, TensorData};
use burntrace_kernels::inertia::{DIFFERENCE, difference_in_time};

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
    let tau = response.tau.clone();
    let mut stages =
        StageTargets { stepper, inertial, start, own, response, times, tau, first_factor: None };
    let met = stages.met(fluid.clone(), (from.clone(), 0.0), &stages.own)?;
    let (slip, still) =
        (met.velocity.clone() - stages.own.clone(), stages.tau.clone() * met.pull.clone());
    if let Some(factor) = inertial.first_factor(response, &slip, &still) {
        stages.tau = stages.tau / factor.clone();
        stages.first_factor = Some(factor);
    }
    let h = times.column(from);
    let [half, whole] = [0.5, 1.0].map(|part| Flight::new(&h, &stages.tau, part));
    let own = &stages.own;
    let first = stages.target_of(met, own.clone());
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

/// What particles meet at a point of a step: the fluid's velocity with its fluctuation, and the acceleration by all but the drag `[n, 3]`.
struct Met {
    velocity: Tensor<2>,
    pull: Tensor<2>,
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
    /// The relaxation times by the factors of the drag at the start.
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
        let velocity = self.own.clone() + state.change.clone();
        let met = self.met(fluid, (at, part), &velocity)?;
        Ok(self.target_of(met, velocity))
    }

    /// What particles with a velocity meet at a part of the step where the field has one.
    fn met(&self, fluid: Tensor<2>, (at, part): (Tensor<2>, f64), own: &Tensor<2>) -> Result<Met> {
        let Response { beta, fluctuation, .. } = self.response;
        let mut pull =
            (beta.clone().neg().add_scalar(1.0)) * row(self.inertial.launch.gravity, &at);
        if !self.inertial.launch.is_heavy {
            pull = pull + beta.clone() * self.acceleration(&fluid, at.clone(), part)?;
        }
        let velocity = match fluctuation {
            Some(fluctuation) => fluid + fluctuation.clone(),
            None => fluid,
        };
        if self.inertial.launch.lift != 0.0 {
            let slip = velocity.clone() - own.clone();
            let vorticity = self.vorticity(&at, part)?;
            if let Some(lift) = self.inertial.lift(self.response, &slip, &vorticity) {
                pull = pull + beta.clone() * lift;
            }
        }
        Ok(Met { velocity, pull })
    }

    /// The velocity u + (f/f0 - 1) (u - v) + tau0 (beta Du/Dt + (1 - beta) g), towards which the drag turns particles at
    /// the rate 1/tau0.
    fn target_of(&self, met: Met, velocity: Tensor<2>) -> Tensor<2> {
        let target = met.velocity.clone() + self.tau.clone() * met.pull;
        let slip = met.velocity - velocity;
        match (self.inertial.factor(self.response, &slip), &self.first_factor) {
            (Some(factor), Some(first)) => target + (factor / first.clone()).sub_scalar(1.0) * slip,
            _ => target,
        }
    }

    /// The fluid's vorticity at a part of the step, by central differences along the axes.
    fn vorticity(&self, at: &Tensor<2>, part: f64) -> Result<Tensor<2>> {
        let beside = |d: usize, side: f64| {
            let mut offset = [0.0; 3];
            offset[d] = side * self.inertial.reach[d];
            let position = sampled_at(self.stepper, self.start, at.clone() + row(offset, at))?;
            self.times.velocity(self.stepper.field, position, part)
        };
        let along = |d: usize| match self.inertial.reach[d] {
            0.0 => Ok(at.zeros_like()),
            reach => Ok((beside(d, 1.0)? - beside(d, -1.0)?).div_scalar(2.0 * reach)),
        };
        let by = [along(0)?, along(1)?, along(2)?];
        let curl = [0, 1, 2].map(|d| {
            let (e, f) = ((d + 1) % 3, (d + 2) % 3);
            by[e].clone().narrow(1, f, 1) - by[f].clone().narrow(1, e, 1)
        });
        Ok(Tensor::cat(curl.to_vec(), 1))
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
