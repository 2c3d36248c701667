//! How gradients go back through a run.

use super::{Prepared, Tracer, adjoint, tape};
use crate::{
    Adjoint, Engine, Error, Result, Sampled, Seeds, Tracks,
    combinations::{self, Feature, refusal},
};
use burn::tensor::{Gradients, Tensor};

/// Maximum size of a run whose graph is kept as a whole. Burn takes longer for each step of longer graphs.
const MAX_GRAPH_STEPS: u64 = 256;
/// A network with two layers of 64 units needs 1 kB for each.
const MAX_GRAPH_EVALUATIONS: u64 = 1 << 18;

/// The graphs that forward runs keep for the backward pass.
pub(super) enum GraphRoom {
    /// None of them.
    None,
    /// That of the last segment, which takes no more memory than when it is taken again.
    LastSegment,
    /// Those of whole runs, up to a number of evaluations of the field.
    Whole(u64),
}

impl GraphRoom {
    /// The room of a number of runs.
    pub fn of(runs: usize) -> Self {
        if runs == 1 { GraphRoom::LastSegment } else { GraphRoom::Whole(MAX_GRAPH_EVALUATIONS) }
    }

    /// The first step of a run whose graph is kept; takes up the room.
    pub fn keeps_from(&mut self, prepared: &Prepared) -> u64 {
        let Some(Adjoint::Segments { steps: segment }) = prepared.adjoint else { return u64::MAX };
        let steps = prepared.schedule.span.steps;
        let first = steps.saturating_sub(segment as u64);
        match self {
            GraphRoom::None => u64::MAX,
            GraphRoom::LastSegment => first,
            GraphRoom::Whole(room) => {
                let needed = prepared.tracer.evaluations(steps, prepared.all);
                match room.checked_sub(needed) {
                    Some(left) if first == 0 => {
                        *room = left;
                        first
                    }
                    _ => u64::MAX,
                }
            }
        }
    }
}

impl Tracer<'_> {
    /// Traces seeds, and returns a loss on the tracks with its gradients by all leaf tensors that require them: the
    /// weights of a network in the field or in an operation after each step, seeds, values of a field, drift
    /// and diffusivity, and whatever else `loss` depends on.
    ///
    /// The gradients are those of `loss(&self.trace(seeds)?).backward()`. For a field of your own the memory is
    /// that of a [segment](Adjoint::Segments) and of the states between segments, O(sqrt(steps)) by default,
    /// instead of that of the graph of all steps, and the time is proportional to the number of steps. The field
    /// and the operation after each step are evaluated twice for each step before the last segment, and must return the
    /// same values. A small run is one segment: up to 256 steps, of up to 262,144 evaluations of the field at a particle.
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use burntrace_core::{Domain, FieldFn, Precision, Seeds, Span, Tracer};
    ///
    /// # fn main() -> Result<(), burntrace_core::Error> {
    /// let device = Device::flex().autodiff();
    /// let rate = Tensor::<2>::from_floats([[-1.0, -1.0, 0.0]], &device).require_grad();
    /// let velocity = |position: Tensor<2>, _time: f64| position * rate.clone();
    /// let field = FieldFn::new(Domain::unbounded(), &device, Precision::F32, velocity);
    /// let tracer = Tracer::new(&field).span(Span { t1: Some(1.0), steps: Some(20), ..Span::default() });
    /// let seeds = Seeds::list(vec![[1.0, 2.0, 0.0]])?;
    /// let (loss, gradients) = tracer.value_and_grad(&seeds, |tracks| tracks.positions().sum())?;
    /// let by_rate = rate.grad(&gradients).expect("the loss depends on it");
    /// # let by_rate: Vec<f64> = by_rate.into_data().iter::<f64>().collect();
    /// # assert!((by_rate[1] - 2.0 * (-1f64).exp()).abs() < 1e-5, "{by_rate:?}");
    /// # assert!((loss.into_scalar::<f64>() - 3.0 * (-1f64).exp()).abs() < 1e-5);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`trace`](Tracer::trace), and [`Error::Adjoint`] if the loss depends on no tensor that requires
    /// gradients.
    ///
    /// # Panics
    ///
    /// As [`Tensor::backward`], if field, operation or loss use results of operations on tensors that require
    /// gradients, computed outside of them: a graph can be consumed only once. Compute such results in the
    /// closure, or use [`Adjoint::Graph`].
    pub fn value_and_grad(
        &self,
        seeds: &Seeds,
        loss: impl FnOnce(&Tracks) -> Tensor<1>,
    ) -> Result<(Tensor<1>, Gradients)> {
        tape::value_and_grad(&[(self, seeds)], |tracks| loss(&tracks[0]))
    }

    /// Traces seeds, and returns a loss on the tracks: that of [`value_and_grad`](Tracer::value_and_grad), without
    /// gradients. Use it to validate while you train.
    ///
    /// Nothing of it stays. Burn keeps the graph of a tensor that nobody needs any more until the next backward pass over the
    /// same parameters, which then takes as much longer: after a loss from [`trace`](Tracer::trace) without `backward`, too.
    ///
    /// # Errors
    ///
    /// As [`trace`](Tracer::trace).
    pub fn evaluate(
        &self,
        seeds: &Seeds,
        loss: impl FnOnce(&Tracks) -> Tensor<1>,
    ) -> Result<Tensor<1>> {
        tape::evaluate(&[(self, seeds)], |tracks| loss(&tracks[0]))
    }

    /// The engine that the adjoint needs, or that a test requests.
    pub(super) fn requested_engine(&self, is_tracked: bool) -> Result<Option<Engine>> {
        let engine = match self.execution.adjoint {
            Adjoint::Fused { every: 0 } => {
                return refuse("it keeps states every 0 steps; give 1 or more");
            }
            Adjoint::Segments { steps: 0 } => {
                return refuse("its segments have 0 steps; give 1 or more");
            }
            Adjoint::Auto => None,
            Adjoint::Fused { .. } => Some(Engine::Fused),
            Adjoint::Segments { .. } | Adjoint::Graph => Some(Engine::Tensor),
        };
        Ok(engine.filter(|_| is_tracked).or(self.execution.engine))
    }

    /// The adjoint of a run with gradients, without [`Adjoint::Auto`]; `in_segments` if it can have segments.
    pub(super) fn resolved(
        &self,
        engine: Engine,
        in_segments: bool,
        particles: usize,
    ) -> Result<Adjoint> {
        Ok(match (self.execution.adjoint, engine) {
            (Adjoint::Auto, Engine::Fused) => Adjoint::Fused { every: adjoint::STEPS },
            (Adjoint::Auto, Engine::Tensor) if in_segments && !self.has_tracked_values() => {
                Adjoint::Segments { steps: self.default_segment(particles)? }
            }
            (Adjoint::Auto, Engine::Tensor) => Adjoint::Graph,
            (Adjoint::Fused { .. }, Engine::Tensor) => {
                return Err(refusal(Feature::FusedEngine, Feature::OwnField));
            }
            (given, _) => given,
        })
    }

    /// Steps of a segment: all of them in a small run, else those that need the least memory.
    fn default_segment(&self, particles: usize) -> Result<usize> {
        let steps = self.schedule()?.span.steps;
        let is_small = steps <= MAX_GRAPH_STEPS
            && self.evaluations(steps, particles) <= MAX_GRAPH_EVALUATIONS
            && self.execution.memory.is_none();
        Ok(if is_small { steps as usize } else { smallest_segment(steps) })
    }

    /// Evaluations of the field at a particle in some steps.
    fn evaluations(&self, steps: u64, particles: usize) -> u64 {
        steps.saturating_mul((self.solver.scheme.tableau().stages * particles) as u64)
    }

    /// Refuses segments where they are not possible.
    pub(super) fn check_segments(&self, in_segments: bool) -> Result<()> {
        let has = |feature| match feature {
            Feature::Segments => matches!(self.execution.adjoint, Adjoint::Segments { .. }),
            Feature::Tracks => !in_segments,
            Feature::TrackedValues => self.has_tracked_values(),
            _ => false,
        };
        combinations::check(has, |_| None)
    }

    /// Whether the field is sampled, and its values are in a graph.
    fn has_tracked_values(&self) -> bool {
        self.field.sampled().is_some_and(Sampled::is_tracked)
    }
}

/// Steps of a segment that need the least memory: a step of a graph takes about 64 times the memory of the state
/// before it.
fn smallest_segment(steps: u64) -> usize {
    (steps as f64 / 64.0).sqrt().ceil().max(4.0) as usize
}

fn refuse<T>(reason: impl Into<String>) -> Result<T> {
    Err(Error::Adjoint(reason.into()))
}
