//! Adaptive step sizes: the tolerances, and the controller of the tensor engine.

use super::{
    Tracer,
    rows::on_host,
    runge_kutta::StepResult,
    trial::{StepCursor, Trial},
};
use crate::{Error, Result, Span, Tolerance};
use burn::tensor::Tensor;
use burntrace_kernels::{Adaptive, TrialOutcome};

/// Number of maximum steps in a run that sets neither `dt` nor `steps`.
const PARTS: u64 = 100;

/// The requested time span of a run, with a number of maximum steps if the run has a tolerance and sets
/// neither `dt` nor `steps`.
pub(super) fn with_default_steps(tracer: &Tracer) -> Result<Span> {
    let asked = tracer.span;
    if tracer.solver.tolerance.is_none() || asked.dt.is_some() || asked.steps.is_some() {
        return Ok(asked);
    }
    let parts = Span { steps: Some(PARTS), ..asked };
    let Some(sampled) = tracer.field.sampled() else { return Ok(parts) };
    let span = parts.resolve(tracer.field.span())?;
    if sampled.time.check_step(span.dt).is_ok() {
        return Ok(parts);
    }
    let periods = (span.t1 - span.t0).abs() / sampled.time.period();
    Ok(Span { steps: Some(periods.ceil() as u64), ..asked })
}

/// The step-size control of a tracer, validated.
pub(super) fn adaptive(tracer: &Tracer) -> Result<Option<Adaptive>> {
    let Some(Tolerance { relative, absolute, min_step, max_step }) = tracer.solver.tolerance else {
        return Ok(None);
    };
    let fail = |reason: String| Err(Error::Tolerance(reason));
    let is_length = |x: f64| x.is_finite() && x >= 0.0;
    // Finite in single precision too, times a coordinate.
    let is_tolerance = |x: f64| (0.0..=1e15).contains(&x);
    if !is_tolerance(relative) || !is_tolerance(absolute) || relative + absolute == 0.0 {
        return fail(format!(
            "they are {relative} (relative) and {absolute} (absolute); both must be from 0 to 1e15, \
             and at least one positive"
        ));
    }
    if !is_length(min_step) || max_step.is_nan() || max_step <= 0.0 || min_step > max_step {
        return fail(format!(
            "the step limits are {min_step} and {max_step}; give a minimum of 0 or more and a \
             larger maximum"
        ));
    }
    // Finite in single precision too.
    Ok(Some(Adaptive { relative, absolute, min_step, max_step: max_step.min(1e30) }))
}

/// Checks that a step of the run has room for its adaptive steps.
pub(super) fn check_max_step(tracer: &Tracer, dt: f64) -> Result<()> {
    let Some(Tolerance { max_step, .. }) = tracer.solver.tolerance else { return Ok(()) };
    let shortest = dt.abs() / Adaptive::MAX_TRIALS as f64;
    let is_too_short = max_step > 0.0 && max_step < shortest;
    if !is_too_short {
        return Ok(());
    }
    Err(Error::Tolerance(format!(
        "the maximum step is {max_step}, of which a step of the run, {}, has room for {}; give {shortest} or more, or \
         a smaller step of the run",
        dt.abs(),
        Adaptive::MAX_TRIALS
    )))
}

/// Which trials are accepted; the cursors get the lengths suggested for the next ones. `from` are the positions before
/// the steps, and trials as short as the rounding of the step of the run are not divided.
pub(super) fn judge(
    control: &Adaptive,
    (trials, rounding): (&[Trial], f64),
    (from, result): (Tensor<2>, &StepResult),
    cursors: &mut [StepCursor],
) -> Result<Vec<bool>> {
    let slack = Adaptive::ROUNDINGS * rounding;
    let to = from.clone() + result.displacement.clone();
    let [from, to] = [on_host(&from)?, on_host(&to)?];
    let error = result.error.as_ref().map_or(Ok(vec![[0.0; 3]; to.len()]), on_host)?;
    let verdict = |(i, trial): (usize, &Trial)| {
        let (cursor, positions) = (&mut cursors[trial.row], [from[i], to[i], error[i]]);
        let lengths = (cursor.next_dt, trial.h);
        let (outcome, next_dt) = control.judge(positions, lengths, trial.until == 1.0, slack);
        cursor.next_dt = next_dt;
        if outcome == TrialOutcome::Hopeless {
            // The next round ends it.
            cursor.trials = Adaptive::MAX_TRIALS;
        }
        outcome == TrialOutcome::Accepted
    };
    Ok(trials.iter().enumerate().map(verdict).collect())
}
