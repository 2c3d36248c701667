//! Time spans: any two of end, step length and number of steps define the third.

use super::{SaveAt, Schedule};
use crate::{Error, Result, error::short};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Fraction of a step that is attributed to rounding.
pub(super) const SLACK: f64 = 1e-9;

/// A time span as requested: any two of `t1`, `dt` and `steps` define the third.
///
/// Omitted values come from the field: `t0` is its first time (the last one if `dt` is negative),
/// `t1` its last (first) one. Times are in the data's unit.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Span {
    /// Start time.
    pub t0: Option<f64>,
    /// End time.
    pub t1: Option<f64>,
    /// Step length; negative for backward runs.
    pub dt: Option<f64>,
    /// Number of steps.
    pub steps: Option<u64>,
}

/// A time span with steps of `dt` from `t0`; the last step is shortened to end at `t1`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeSpan {
    /// Start time.
    pub t0: f64,
    /// End time.
    pub t1: f64,
    /// Step length; negative for backward runs.
    pub dt: f64,
    /// Number of steps.
    pub steps: u64,
}

impl TimeSpan {
    /// Number of saves of a run, including the one at its start.
    ///
    /// # Errors
    ///
    /// [`Error::Saves`](crate::Error::Saves) if they do not fit the span.
    pub fn saves(self, at: SaveAt) -> Result<usize> {
        Schedule::new(self, at).map(|schedule| schedule.saves())
    }
}

impl From<RangeInclusive<f64>> for Span {
    fn from(times: RangeInclusive<f64>) -> Self {
        Span { t0: Some(*times.start()), t1: Some(*times.end()), ..Span::default() }
    }
}

impl Span {
    /// Completes the omitted values, given the first and last time of the field.
    ///
    /// # Errors
    ///
    /// [`Error::Span`] if values are inconsistent, insufficient or not finite.
    pub fn resolve(&self, field: [f64; 2]) -> Result<TimeSpan> {
        for (name, value) in [("t0", self.t0), ("t1", self.t1), ("dt", self.dt)] {
            if let Some(value) = value.filter(|v| !v.is_finite()) {
                return Err(Error::Span(format!(
                    "{name} = {value} is not finite; give a finite number"
                )));
            }
        }
        if self.dt == Some(0.0) || self.steps == Some(0) {
            return Err(Error::Span("dt or steps is 0; give another number".into()));
        }
        let backward = self.dt.is_some_and(|dt| dt < 0.0);
        let [first, last] = if backward { [field[1], field[0]] } else { field };
        let t0 = self.t0.unwrap_or(first);
        let span = match (self.t1, self.dt, self.steps) {
            (None, Some(dt), Some(steps)) => TimeSpan { t0, t1: t0 + dt * steps as f64, dt, steps },
            (t1, None, Some(steps)) => {
                let t1 = t1.unwrap_or(last);
                TimeSpan { t0, t1, dt: (t1 - t0) / steps as f64, steps }
            }
            (t1, Some(dt), steps) => with_steps(t0, t1.unwrap_or(last), dt, steps)?,
            (None, None, None) if first == last => {
                return Err(Error::Span(format!(
                    "t1, dt and steps are missing, and the field has no end, as it has the same velocities at \
                     all times; give two of them, such as t1 = {} and dt = 0.01",
                    short(t0 + 1.0)
                )));
            }
            (_, None, None) => {
                return Err(Error::Span(
                    "dt and steps are missing; give two of t1, dt and steps".into(),
                ));
            }
        };
        check_span(&span)?;
        Ok(span)
    }
}

/// Refuses a span without a length, or with steps that times cannot count.
fn check_span(span: &TimeSpan) -> Result<()> {
    if span.t0 == span.t1 {
        return Err(Error::Span(format!(
            "it starts and ends at t = {}; give t1, or dt and steps",
            short(span.t0)
        )));
    }
    if !span.t1.is_finite() || !span.dt.is_finite() {
        return Err(Error::Span(format!(
            "{} steps of {} from t = {} end at {}; give fewer or shorter steps",
            span.steps,
            short(span.dt),
            short(span.t0),
            short(span.t1)
        )));
    }
    let resolution = resolution(span);
    if span.dt.abs() < resolution {
        return Err(Error::Span(format!(
            "a step of {} is shorter than times between {} and {} can be apart ({resolution:.1e}); give \
             longer steps, or times closer to 0",
            short(span.dt),
            short(span.t0),
            short(span.t1)
        )));
    }
    if span.steps > i32::MAX as u64 / 2 {
        return Err(Error::Span(format!(
            "it has {} steps, more than {}; use a longer step",
            span.steps,
            i32::MAX / 2
        )));
    }
    Ok(())
}

/// The minimum distance of times in a span that tells them apart.
pub(super) fn resolution(span: &TimeSpan) -> f64 {
    4.0 * f64::EPSILON * span.t0.abs().max(span.t1.abs())
}

/// A span with a step length and an end, and optionally a number of steps that must agree.
fn with_steps(t0: f64, t1: f64, dt: f64, steps: Option<u64>) -> Result<TimeSpan> {
    let needed = (t1 - t0) / dt;
    if needed < 0.0 {
        return Err(Error::Span(format!(
            "dt = {} does not lead from t0 = {} to t1 = {}; change its sign",
            short(dt),
            short(t0),
            short(t1)
        )));
    }
    let count = (needed - SLACK).ceil().max(1.0) as u64;
    match steps {
        Some(steps) if steps != count => Err(Error::Span(format!(
            "{steps} steps of {} do not lead from {} to {}, which takes {count}; omit one of t1, dt and \
             steps",
            short(dt),
            short(t0),
            short(t1)
        ))),
        _ => Ok(TimeSpan { t0, t1, dt, steps: count }),
    }
}

impl TimeSpan {
    /// The time after `i` steps.
    pub fn time(&self, i: u64) -> f64 {
        if i >= self.steps { self.t1 } else { self.t0 + i as f64 * self.dt }
    }

    /// Completed fraction of the span at a time.
    pub fn fraction(&self, t: f64) -> f64 {
        ((t - self.t0) / (self.t1 - self.t0)).clamp(0.0, 1.0)
    }

    /// Whether time `a` is before time `b` by more than rounding, in the direction of the span.
    pub(super) fn is_before(&self, a: f64, b: f64) -> bool {
        (b - a) / self.dt > SLACK
    }
}
