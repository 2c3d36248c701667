//! Gradients by the times between which steps are taken.

use super::{replay::Timed, shared::Shared};
use crate::{
    cpu::{
        Real,
        frame_pair::rate_pair,
        lanes::{Four, Lanes, Portable},
        probe::{Probe, Width},
    },
    scheme::MAX_STAGES,
};

/// A step of a particle, after its reversal.
pub(super) struct TimedStep<'a, F: Real> {
    pub shared: &'a Shared<'a, F>,
    pub j: usize,
    /// The fraction of the step at which it starts, and the length, if it is not all of it.
    pub part: Option<(F, F)>,
    pub timed: Timed<'a, F>,
    /// Where the stages sampled the field, and the gradients by their velocities.
    pub sampled: [([F; 4], [F; 4]); MAX_STAGES],
    /// Whether the particle is released in the step.
    pub is_release: bool,
}

impl<F: Real> TimedStep<'_, F> {
    /// The gradient by the fraction of the step at which the particle starts. Adds those by the start and the end of the run to
    /// `span`, if they are wanted.
    #[inline(never)]
    pub fn pull(&self, span: &mut [F; 2], probe: &mut dyn Probe<F>) -> F {
        let segment = self.shared.context.segment;
        let [by_start, by_length] = self.by_interval(probe);
        if let Some(parts) = &segment.span_parts {
            let (from, until) = (F::of(parts[self.j]), F::of(parts[self.j + 1]));
            // A release is at a time of its own.
            let by_from = if self.is_release { F::zero() } else { by_start - by_length };
            span[0] += by_from * (F::one() - from) + by_length * (F::one() - until);
            span[1] += by_from * from + by_length * until;
        }
        F::of(segment.steps[self.j].h) * (by_start - by_length)
    }

    /// The gradients by the time at which the step starts and by its length.
    fn by_interval(&self, probe: &mut dyn Probe<F>) -> [F; 2] {
        let context = self.shared.context;
        let full_dt = F::of(context.segment.steps[self.j].h);
        let (h, pairs) = self.timed;
        let start = self.part.map_or(F::zero(), |(start, _)| start * full_dt);
        let width = if context.launch.features.sphere { 4 } else { 3 };
        let along =
            |by: &[F; 4], v: [F; 4]| (0..width).fold(F::zero(), |sum, d| sum + by[d] * v[d]);
        let [mut by_start, mut by_length] = [F::zero(); 2];
        for (s, (at, by)) in self.sampled[..context.coefficients.stages].iter().enumerate() {
            let c = F::of(context.tableau.c[s].value());
            let mut velocity =
                [<Portable as Lanes<F>>::Four::new(probe.sample(*at, &pairs[s], Width::Portable))];
            if context.adds {
                velocity = context.add(velocity);
            }
            let rate = rate_pair(&context.launch, self.j, start + c * h, context.segment);
            let by_time = along(by, probe.sample(*at, &rate, Width::Portable));
            by_start += by_time;
            by_length += c * by_time + along(by, velocity[0].array()) / h;
        }
        [by_start, by_length]
    }
}
