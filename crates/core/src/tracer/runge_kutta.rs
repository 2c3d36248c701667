//! Runge-Kutta steps in tensor operations.

use super::{
    sampled_at::{StepStart, sampled_at},
    stepper::Stepper,
    trial::Trial,
};
use crate::{Field, Result, field::evaluate};
use burn::tensor::{Bool, Tensor, TensorData};
use burntrace_kernels::Ratio;

/// Start times and lengths of the steps of particles.
pub(super) enum StepTimes {
    /// The same for all.
    Common { time: f64, h: f64 },
    /// Those of a trial for each particle.
    Each(Vec<Trial>),
}

impl StepTimes {
    /// The times of trials.
    pub fn of(trials: &[Trial]) -> Self {
        let Trial { time, h, .. } = trials[0];
        if trials.iter().all(|trial| trial.time == time && trial.h == h) {
            return StepTimes::Common { time, h };
        }
        StepTimes::Each(trials.to_vec())
    }

    /// Velocities times a part of each step. The factor is rounded once, so that the other particles do not change the
    /// displacement of one.
    pub fn displacement(&self, velocity: Tensor<2>, part: f64) -> Tensor<2> {
        match self {
            StepTimes::Common { h, .. } => velocity.mul_scalar(part * h),
            StepTimes::Each(trials) => {
                let factors = column_of(trials.iter().map(|trial| part * trial.h), &velocity);
                velocity * factors
            }
        }
    }

    /// The lengths of the steps, for each particle or for all `[n or 1, 1]`.
    pub fn column(&self, beside: &Tensor<2>) -> Tensor<2> {
        match self {
            StepTimes::Common { h, .. } => column_of([*h].into_iter(), beside),
            StepTimes::Each(trials) => column_of(trials.iter().map(|trial| trial.h), beside),
        }
    }

    /// Second velocities after a part of each step.
    fn second_velocity(
        &self,
        field: &dyn Field,
        position: Tensor<2>,
        part: f64,
    ) -> Result<Tensor<2>> {
        let times = match self {
            StepTimes::Common { time, h } => vec![time + part * h],
            StepTimes::Each(trials) => {
                trials.iter().map(|trial| trial.time + part * trial.h).collect()
            }
        };
        evaluate::scaled_velocity(field, position, &times)
    }

    /// Velocities after a part of each step.
    pub fn velocity(&self, field: &dyn Field, position: Tensor<2>, part: f64) -> Result<Tensor<2>> {
        match self {
            StepTimes::Common { time, h } => evaluate::velocity(field, position, time + part * h),
            StepTimes::Each(trials) => {
                let times = trials.iter().map(|trial| trial.time + part * trial.h);
                evaluate::velocity_at(field, position, &times.collect::<Vec<_>>())
            }
        }
    }
}

/// Numbers as a column `[n, 1]` on the device of `beside`.
pub(super) fn column_of(
    numbers: impl ExactSizeIterator<Item = f64>,
    beside: &Tensor<2>,
) -> Tensor<2> {
    let count = numbers.len();
    let data = TensorData::new(numbers.collect::<Vec<_>>(), [count, 1]);
    Tensor::from_data(data, (&beside.device(), beside.dtype()))
}

/// The result of a step before boundaries.
pub(super) struct StepResult {
    /// Displacements `[n, 3]`.
    pub displacement: Tensor<2>,
    /// Mask of particles slower than the threshold speed `[n, 1]`, if there is one.
    pub slow: Option<Tensor<2, Bool>>,
    /// The velocity at the start, without gradients `[n, 3]`.
    pub velocity: Tensor<2>,
    /// The difference from the scheme's embedded solution `[n, 3]`, for adaptive steps.
    pub error: Option<Tensor<2>>,
    /// The velocities of particles with inertia at the start and their changes `[n, 6]`.
    pub own_velocity: Option<Tensor<2>>,
}

/// One Runge-Kutta step, before boundaries.
pub(super) fn rk_step(
    stepper: &Stepper,
    start: &StepStart,
    times: &StepTimes,
) -> Result<StepResult> {
    let (from, tableau) = (&start.position, stepper.scheme.tableau());
    let drift = || stepper.geometry.motion.clone().narrow(0, 0, 3).reshape([1, 3]);
    let drift = stepper.drifts.then(drift);
    let stages = match stepper.adaptive {
        Some(_) => tableau.stages,
        None => tableau.solution_stages(),
    };
    let mut k: Vec<Tensor<2>> = Vec::with_capacity(stages);
    for s in 0..stages {
        let mut stage = from.clone();
        for (a, k) in tableau.a[s].iter().zip(&k).filter(|(a, _)| !a.is_zero()) {
            stage = stage + times.displacement(k.clone(), a.value());
        }
        let stage = sampled_at(stepper, start, stage)?;
        let part = tableau.c[s].value();
        let mut v = times.velocity(stepper.field, stage.clone(), part)?;
        if let Some(factors) = &start.factors {
            let second = times.second_velocity(stepper.field, stage, part)?;
            v = v + second * factors.clone();
        }
        k.push(match &drift {
            Some(drift) => v + drift.clone(),
            None => v,
        });
    }
    let mean_velocity = mean(&tableau.b, &k);
    let slow = (stepper.stagnant_speed > 0.0).then(|| {
        let speed = mean_velocity.clone().detach().powi_scalar(2).sum_dim(1);
        speed.lower_elem(stepper.stagnant_speed * stepper.stagnant_speed)
    });
    let displacement = times.displacement(mean_velocity, 1.0);
    let error = || times.displacement(mean(&tableau.error, &k), 1.0);
    let error = stepper.adaptive.is_some().then(error);
    let velocity = k.swap_remove(0).detach();
    Ok(StepResult { displacement, slow, velocity, error, own_velocity: None })
}

/// The weighted sum of stage velocities for one row of a tableau.
fn mean(weights: &[Ratio], k: &[Tensor<2>]) -> Tensor<2> {
    let weighed = weights.iter().zip(k).filter(|(weight, _)| !weight.is_zero());
    weighed
        .map(|(weight, k)| k.clone().mul_scalar(weight.value()))
        .reduce(|sum, k| sum + k)
        .unwrap_or_else(|| k[0].zeros_like())
}
