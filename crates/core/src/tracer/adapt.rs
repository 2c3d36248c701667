//! Adaptive step sizes: the tolerances, and the controller of the tensor engine.

use super::{
    Tracer,
    selection::RowSelection,
    stepper::Stepper,
    tensor::{State, arrive, rk_step, without_lost},
};
use crate::{Error, Result, Scheme, Status, field::to_host};
use burn::tensor::Tensor;
use burntrace_kernels::Adaptive;

/// Tolerances for adaptive steps with [`Scheme::DormandPrince`].
///
/// Each particle takes steps of its own size. The largest component of a step's error estimate
/// stays below `absolute + relative |x|`; errors of successive steps add up. No step extends beyond
/// the end of a step of the run's [`Span`](crate::Span) or beyond a save, and particles reach both
/// exactly: `dt` is the maximum step, such as the time between frames. Without `dt` and `steps` it
/// is a hundredth of the run.
///
/// On the tensor engine all particles take the same steps, the smallest that any of them requires.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    relative: f64,
    absolute: f64,
    min_step: f64,
    max_step: f64,
}

impl Tolerance {
    /// Tolerances: relative to the coordinates, and absolute in the data's unit of length.
    pub fn new(relative: f64, absolute: f64) -> Self {
        Tolerance { relative, absolute, min_step: 0.0, max_step: f64::INFINITY }
    }

    /// Limits of the step size, in the data's unit of time. A step of `min_step` or shorter is
    /// accepted whatever its error; no step is longer than `max_step`.
    pub fn steps_between(mut self, min_step: f64, max_step: f64) -> Self {
        (self.min_step, self.max_step) = (min_step, max_step);
        self
    }
}

impl Tracer<'_> {
    /// Chooses step sizes by error control; the scheme must be [`Scheme::DormandPrince`].
    pub fn tolerance(mut self, tolerance: Tolerance) -> Self {
        self.tolerance = Some(tolerance);
        self
    }
}

/// Number of maximum steps in a run that sets neither `dt` nor `steps`.
pub(super) const PARTS: u64 = 100;

/// The step-size control of a tracer, validated.
pub(super) fn adaptive(tracer: &Tracer) -> Result<Option<Adaptive>> {
    let Some(Tolerance { relative, absolute, min_step, max_step }) = tracer.tolerance else {
        return Ok(None);
    };
    let fail = |reason: String| Err(Error::Tolerance(reason));
    if tracer.scheme != Scheme::DormandPrince {
        return fail(format!(
            "the scheme `{}` does not estimate its error; use `dormand-prince`",
            tracer.scheme.name()
        ));
    }
    if tracer.walk.is_some() {
        return fail("a random walk needs a fixed step; remove the walk or the tolerance".into());
    }
    let is_length = |x: f64| x.is_finite() && x >= 0.0;
    if !is_length(relative) || !is_length(absolute) || relative + absolute == 0.0 {
        return fail(format!(
            "they are {relative} (relative) and {absolute} (absolute); both must be finite and not \
             negative, and at least one positive"
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

/// Advances particles from the fraction `start` of a step to its end, with common step sizes.
pub(super) fn steps_of(
    stepper: &Stepper,
    control: &Adaptive,
    mut state: State,
    (index, start): (u64, f64),
    [t, end]: [f64; 2],
) -> Result<State> {
    if start >= 1.0 {
        // A release at the end of the step: nothing is left to integrate.
        let here = state.position.clone();
        let slow = state.status.clone().not_equal(state.status.clone());
        return Ok(arrive(stepper, state, (index, 1.0, 1.0), (here, slow)));
    }
    let whole = end - t;
    let is_released = start > 0.0;
    let mut next_dt = if is_released { f64::INFINITY } else { stepper.next_dt.get() };
    let mut start_fraction = start;
    state.status = state.status.zeros_like().add_scalar(Status::Active.code());
    let mut rows = RowSelection::where_true(vec![true; state.status.dims()[0]].into_iter());
    while start_fraction < 1.0 && !rows.is_empty() {
        let left = (1.0 - start_fraction) * whole;
        let size = next_dt.min(control.max_step).min(left.abs());
        let size = if size * 1.001 >= left.abs() { left.abs() } else { size };
        let h = size * whole.signum();
        let until = if size == left.abs() { 1.0 } else { start_fraction + h / whole };
        let mut part = state.select(&rows);
        let from = part.position.clone();
        let time = t + start_fraction * whole;
        let result = rk_step(stepper, &from, time, h)?;
        let norm = norm(control, [&from, &result.to, &result.error]);
        let factor = if norm == 0.0 { Adaptive::GROW } else { Adaptive::SAFETY * norm.powf(-0.2) };
        let factor = factor.clamp(Adaptive::SHRINK, Adaptive::GROW);
        let next = size * factor;
        let rounding = Adaptive::ROUNDINGS * f64::EPSILON * whole.abs();
        let is_accepted = norm <= 1.0 || size <= control.min_step || size <= rounding;
        // A step shortened by the end of the segment says little about the next step size.
        let is_cut = until == 1.0 && next_dt > next && next_dt.is_finite();
        next_dt = if is_accepted && is_cut { next_dt } else { next };
        part.count(is_accepted);
        if is_accepted {
            let again = |rows: &RowSelection| {
                rk_step(stepper, &rows.take(&from), time, h).map(|result| result.to)
            };
            let to = without_lost(result.to, again)?;
            part = arrive(stepper, part, (index, start_fraction, until), (to, result.slow));
            start_fraction = until;
        }
        state = state.put(&rows, part);
        rows = RowSelection::of(&state.is(Status::Active))?;
    }
    stepper.next_dt.set(if is_released { next_dt.min(stepper.next_dt.get()) } else { next_dt });
    Ok(state)
}

/// The largest ratio of error to tolerance.
fn norm(control: &Adaptive, [from, to, error]: [&Tensor<2>; 3]) -> f64 {
    let rows = to_host(&from.clone().detach()).into_iter().zip(to_host(&to.clone().detach()));
    let rows = rows.zip(to_host(&error.clone().detach()));
    let mut norm: f64 = 0.0;
    for ((from, to), error) in rows {
        for d in 0..3 {
            let size = control.absolute + control.relative * from[d].abs().max(to[d].abs());
            let part = error[d].abs() / size;
            // A non-finite position is rejected later, whatever its step.
            norm = if part > norm { part } else { norm };
        }
    }
    norm
}
