//! Adaptive step sizes: the tolerances, and the controller of the tensor engine.

use super::{
    Tracer, reinjection,
    replay::on_host,
    runge_kutta::{StepResult, StepTimes, column_of, rk_step},
    selection::RowSelection,
    stepper::Stepper,
    tensor::{FreeEnd, State, arrive, finite, lost_status, pinned_below, without_lost},
};
use crate::{Error, Result, Span, Status, Tolerance};
use burn::tensor::Tensor;
use burntrace_kernels::Adaptive;

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

/// Advances particles from the fraction `start` of a step to its end, each in steps of its own. As
/// on the fused engine, the `fraction` of an active particle is the length suggested for its next
/// step, or 0.
pub(super) fn steps_of(
    stepper: &Stepper,
    control: &Adaptive,
    mut state: State,
    (index, start): (u64, f64),
    [t, end]: [f64; 2],
) -> Result<State> {
    let whole = end - t;
    let is_new = state.is(Status::Active).bool_not();
    let suggested = reinjection::floats(&state.fraction.clone().mask_fill(is_new, 0.0))?;
    let cursor = |next_dt| StepCursor { start_fraction: start, next_dt };
    let mut cursors: Vec<StepCursor> = suggested.into_iter().map(cursor).collect();
    let slack = Adaptive::ROUNDINGS * stepper.field.precision().epsilon() * whole.abs();
    state.status = state.status.zeros_like().add_scalar(Status::Active.code());
    let mut rows = RowSelection::where_true(cursors.iter().map(|_| true));
    while !rows.is_empty() {
        let part = state.select(&rows);
        let trials = rows.rows().iter().map(|row| cursors[*row].trial(control, [t, whole]));
        let trials: Vec<Trial> = trials.collect();
        let result = rk_step(stepper, &part, &StepTimes::of_each(&trials, &part))?;
        let [from, to] = [on_host(&part.position)?, on_host(&result.to)?];
        let error = result.error.as_ref().map_or(Ok(vec![[0.0; 3]; to.len()]), on_host)?;
        let of_row = rows.rows().iter().zip(&trials).enumerate();
        let verdicts = of_row.map(|(i, (row, trial))| {
            cursors[*row].judge(control, trial, [from[i], to[i], error[i]], slack)
        });
        let accepted = RowSelection::where_true(verdicts);
        let part = accept(stepper, part, (index, start, &trials), (result, &accepted), whole)?;
        state = state.put(&rows, part);
        let status = reinjection::ints(&state.status)?;
        let going = cursors.iter().zip(status);
        rows = RowSelection::where_true(going.map(|(cursor, status)| {
            status == Status::Active.code() && cursor.start_fraction < 1.0
        }));
    }
    let next_dt = column_of(cursors.iter().map(|cursor| cursor.next_dt), &state.fraction);
    let is_active = state.is(Status::Active);
    state.fraction = state.fraction.mask_where(is_active, next_dt);
    Ok(state)
}

/// Applies the accepted steps, and counts all of them.
fn accept(
    stepper: &Stepper,
    mut part: State,
    (index, first_start, trials): (u64, f64, &[Trial]),
    (result, accepted): (StepResult, &RowSelection),
    whole: f64,
) -> Result<State> {
    part.count_tries(accepted);
    if accepted.is_empty() {
        return Ok(part);
    }
    let moved = part.select(accepted);
    let trials: Vec<Trial> = accepted.rows().iter().map(|row| trials[*row]).collect();
    let again = |rows: &RowSelection| -> Result<Tensor<2>> {
        let trials: Vec<Trial> = rows.rows().iter().map(|row| trials[*row]).collect();
        let moved = moved.select(rows);
        Ok(rk_step(stepper, &moved, &StepTimes::of_each(&trials, &moved))?.to)
    };
    // A graph holds accepted steps only: a rejected one need not be finite.
    let to = match result.to.device().is_autodiff() && !accepted.is_all() {
        true => again(&RowSelection::where_true(trials.iter().map(|_| true)))?,
        false => accepted.take(&result.to),
    };
    let to = without_lost(to, again)?;
    let rest = accepted.take(&result.rest);
    let start = column_of(trials.iter().map(|trial| trial.start_fraction), &moved.fraction);
    let until = column_of(trials.iter().map(|trial| trial.until), &moved.fraction);
    let slow = result.slow.map(|slow| accepted.take(&slow));
    let lost = lost_status(stepper, &moved, index, || {
        let is_start = start.clone().equal_elem(first_start);
        finite(&accepted.take(&result.velocity)).bool_not().bool_and(is_start)
    });
    let pinned_below = pinned_below(stepper, [&start, &until], whole);
    let end = FreeEnd { to, rest, slow, lost, pinned_below, ends: None };
    let moved = arrive(stepper, moved, (index, [start, until]), end)?;
    Ok(part.put(accepted, moved))
}

/// Progress of a particle through a step.
struct StepCursor {
    start_fraction: f64,
    /// Length suggested for the next trial, with the sign of the step; 0 for none.
    next_dt: f64,
}

/// A trial step of a particle.
#[derive(Clone, Copy)]
pub(super) struct Trial {
    pub time: f64,
    pub h: f64,
    start_fraction: f64,
    until: f64,
}

impl StepCursor {
    /// The next trial within a step of length `whole` from time `t` on.
    fn trial(&self, control: &Adaptive, [t, whole]: [f64; 2]) -> Trial {
        let start_fraction = self.start_fraction;
        let left = (1.0 - start_fraction) * whole;
        let h = control.length(self.next_dt, left);
        let until = if h == left { 1.0 } else { start_fraction + h / whole };
        Trial { time: t + start_fraction * whole, h, start_fraction, until }
    }

    /// Whether a trial is accepted; continues after it.
    fn judge(
        &mut self,
        control: &Adaptive,
        trial: &Trial,
        positions: [[f64; 3]; 3],
        slack: f64,
    ) -> bool {
        let lengths = (self.next_dt, trial.h);
        let (is_accepted, next_dt) = control.judge(positions, lengths, trial.until == 1.0, slack);
        self.next_dt = next_dt;
        if is_accepted {
            self.start_fraction = trial.until;
        }
        is_accepted
    }
}
