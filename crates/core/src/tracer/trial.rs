//! Steps of single particles.

use burntrace_kernels::Adaptive;

/// Progress of a particle through a step.
#[derive(Clone, Copy, Default)]
pub(super) struct StepCursor {
    /// The fraction of the step that it has taken.
    pub start: f64,
    /// Length suggested for the next trial, with the sign of the step; 0 for none.
    pub next_dt: f64,
    /// Number of trials of the instance in the step.
    pub trials: usize,
    /// Number of instances that have started in its slot in the step.
    pub instances: usize,
}

/// A step of a particle: all that remains of a step of the run, or a trial with a tolerance.
#[derive(Clone, Copy)]
pub(super) struct Trial {
    /// The row of the particle.
    pub row: usize,
    pub time: f64,
    pub h: f64,
    /// The fractions of the step of the run between which it moves.
    pub start: f64,
    pub until: f64,
}

impl StepCursor {
    /// Whether the instance ends, as it takes too many steps.
    pub fn gives_up(&self) -> bool {
        self.trials > Adaptive::MAX_TRIALS
    }

    /// The next step of a particle within a step of the run.
    pub fn trial(&self, row: usize, control: Option<&Adaptive>, [t, end]: [f64; 2]) -> Trial {
        let (start, whole) = (self.start, end - t);
        let left = (1.0 - start) * whole;
        let h = control.map_or(left, |control| control.length(self.next_dt, left));
        let until = if h == left { 1.0 } else { start + h / whole };
        Trial { row, time: t + start * whole, h, start, until }
    }
}
