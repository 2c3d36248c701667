//! Steps whose lengths follow from their errors: what is asked for, and the tensor engine's way.

use super::{
    Tracer,
    stepper::Stepper,
    tensor::{State, arrive, rk_step},
};
use crate::{Error, Result, Scheme, Status, field::to_host};
use burn::tensor::{Bool, Tensor};
use burntrace_kernels::Adaptive;

/// How accurate steps are whose lengths follow from an estimate of their error.
///
/// Each particle has steps of its own, of [`Scheme::DormandPrince`]. The greatest component of the
/// estimate is kept below `absolute + relative |x|`, step by step; errors of steps add up. No step
/// goes beyond the end of a step of the run's [`Span`](crate::Span) or beyond a save, which it comes
/// to exactly: give `dt` as the longest step that makes sense, such as the time between frames.
/// Without `dt` and `steps` that is a hundredth of the run.
///
/// The tensor engine takes the same steps for all particles, as short as the most demanding of them
/// asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    relative: f64,
    absolute: f64,
    least: f64,
    most: f64,
}

impl Tolerance {
    /// Tolerances relative to the coordinates, and absolute, in the data's unit of length.
    pub fn new(relative: f64, absolute: f64) -> Self {
        Tolerance { relative, absolute, least: 0.0, most: f64::INFINITY }
    }

    /// Lengths of steps, in the data's unit of time: one of `least` or less is accepted whatever its
    /// error is, and none is longer than `most`.
    pub fn steps_between(mut self, least: f64, most: f64) -> Self {
        (self.least, self.most) = (least, most);
        self
    }
}

impl Tracer<'_> {
    /// Has the lengths of steps follow from their errors; the scheme must be
    /// [`Scheme::DormandPrince`].
    pub fn tolerance(mut self, tolerance: Tolerance) -> Self {
        self.tolerance = Some(tolerance);
        self
    }
}

/// Steps of a run that says nothing of its steps: none of a particle goes beyond one of these.
pub(super) const PARTS: u64 = 100;

/// The control of a tracer's steps, checked.
pub(super) fn adaptive(tracer: &Tracer) -> Result<Option<Adaptive>> {
    let Some(Tolerance { relative, absolute, least, most }) = tracer.tolerance else {
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
        return fail("a random walk has steps of a given length; leave out one of them".into());
    }
    let is_length = |x: f64| x.is_finite() && x >= 0.0;
    if !is_length(relative) || !is_length(absolute) || relative + absolute == 0.0 {
        return fail(format!(
            "they are {relative} (relative) and {absolute} (absolute); both must be finite and not \
             negative, and one positive"
        ));
    }
    if !is_length(least) || most.is_nan() || most <= 0.0 || least > most {
        return fail(format!(
            "steps are to be between {least} and {most} long; give a least length from 0 on and a \
             greater one"
        ));
    }
    // Finite in single precision too.
    Ok(Some(Adaptive { relative, absolute, least, most: most.min(1e30) }))
}

/// Takes some of the particles from the fraction `start` of a step to its end, in steps that all of
/// them take.
pub(super) fn steps_of(
    stepper: &Stepper,
    control: &Adaptive,
    mut state: State,
    who: &Tensor<2, Bool>,
    (index, start): (u64, f64),
    [t, end]: [f64; 2],
) -> State {
    if start >= 1.0 {
        // Nothing is left of the step: it is released where it is.
        let (here, nobody) = (state.position.clone(), who.clone().bool_and(who.clone().bool_not()));
        return arrive(stepper, state, who, (index, 1.0, 1.0), (here, nobody));
    }
    let whole = end - t;
    let is_released = start > 0.0;
    let mut pace = if is_released { f64::INFINITY } else { stepper.pace.get() };
    let mut begun = start;
    let mut who = who.clone();
    while begun < 1.0 {
        let left = (1.0 - begun) * whole;
        let size = pace.min(control.most).min(left.abs());
        let size = if size * 1.001 >= left.abs() { left.abs() } else { size };
        let h = size * whole.signum();
        let until = if size == left.abs() { 1.0 } else { begun + h / whole };
        let from = state.position.clone();
        let leap = rk_step(stepper, &from, t + begun * whole, h);
        let norm = norm(control, &who, [&from, &leap.to, &leap.error]);
        let factor = if norm == 0.0 { Adaptive::GROW } else { Adaptive::SAFETY * norm.powf(-0.2) };
        let factor = factor.clamp(Adaptive::SHRINK, Adaptive::GROW);
        let next = size * factor;
        let rounding = Adaptive::ROUNDINGS * f64::EPSILON * whole.abs();
        let is_accepted = norm <= 1.0 || size <= control.least || size <= rounding;
        // A step that was cut short by the end of the segment's says little about the next one.
        let is_cut = until == 1.0 && pace > next && pace.is_finite();
        pace = if is_accepted && is_cut { pace } else { next };
        let counted = who.clone().int().cast(state.tries.dtype());
        state.count(is_accepted, counted);
        if is_accepted {
            state = arrive(stepper, state, &who, (index, begun, until), (leap.to, leap.slow));
            who = who.bool_and(state.is(Status::Active));
            begun = until;
        }
    }
    stepper.pace.set(if is_released { pace.min(stepper.pace.get()) } else { pace });
    state
}

/// The greatest part of what is tolerated that an error of some particles is.
fn norm(control: &Adaptive, who: &Tensor<2, Bool>, [from, to, error]: [&Tensor<2>; 3]) -> f64 {
    let is_counted: Vec<i32> =
        who.clone().int().try_into_data().map(|d| d.iter::<i32>().collect()).unwrap_or_default();
    let rows = to_host(&from.clone().detach()).into_iter().zip(to_host(&to.clone().detach()));
    let rows = rows.zip(to_host(&error.clone().detach())).zip(is_counted);
    let mut norm: f64 = 0.0;
    for (((from, to), error), counted) in rows {
        for d in (0..3).filter(|_| counted != 0) {
            let size = control.absolute + control.relative * from[d].abs().max(to[d].abs());
            let part = error[d].abs() / size;
            // What is no number is lost anyway.
            norm = if part > norm { part } else { norm };
        }
    }
    norm
}
