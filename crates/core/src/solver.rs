//! How a run takes its steps.

use crate::{Scheme, names};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a run takes its steps: with a scheme, in steps of the run's [`Span`](crate::Span), or within them in
/// steps of each particle's own, to a tolerance.
///
/// ```
/// use burntrace_core::{Scheme, Solver, Tolerance};
///
/// let fixed = Solver::default();
/// assert_eq!((fixed.scheme, fixed.tolerance), (Scheme::Rk4, None));
/// let adaptive = Solver::adaptive(Tolerance::new(1e-6, 1e-9));
/// assert_eq!(adaptive.scheme, Scheme::DormandPrince);
/// ```
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Solver {
    /// The time integration scheme.
    #[serde(with = "names::Scheme")]
    pub scheme: Scheme,
    /// Tolerances of adaptive steps, for the Dormand-Prince scheme.
    pub tolerance: Option<Tolerance>,
}

impl Solver {
    /// Steps of adaptive length, with [`Scheme::DormandPrince`].
    pub fn adaptive(tolerance: Tolerance) -> Self {
        Solver { scheme: Scheme::DormandPrince, tolerance: Some(tolerance) }
    }
}

/// Tolerances for adaptive steps with [`Scheme::DormandPrince`].
///
/// Each particle takes steps of its own size. The largest component of a step's error estimate
/// stays below `absolute + relative |x|`; errors of successive steps add up. No step extends beyond
/// the end of a step of the run's [`Span`](crate::Span) or beyond a save, and particles reach both
/// exactly: `dt` is the maximum step, such as the time between frames. Without `dt` and `steps` it
/// is a hundredth of the run, or the period of the field if that is more than 100 periods.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Tolerance {
    /// Error of a step relative to the coordinate, 0 or more.
    pub(crate) relative: f64,
    /// Absolute error of a step, a length, 0 or more; one of both errors may be 0.
    pub(crate) absolute: f64,
    /// Minimum step, a time; steps of this length are accepted whatever their error.
    #[serde(default)]
    pub(crate) min_step: f64,
    /// Maximum step, a time; `dt` if omitted.
    #[serde(default = "unlimited")]
    pub(crate) max_step: f64,
}

fn unlimited() -> f64 {
    f64::INFINITY
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
