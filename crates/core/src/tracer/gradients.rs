//! How gradients go back through a run.

use super::{Tracer, adjoint, tape};
use crate::{Engine, Error, Result, Sampled, Seeds, Tracks};
use burn::tensor::{Gradients, Tensor};

/// How gradients go back through a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Adjoint {
    /// The adjoint of the fused operation where there is one. For other runs the tensor engine: in segments in
    /// [`Tracer::value_and_grad`], with the graph of all steps in [`Tracer::trace`].
    #[default]
    Auto,
    /// The adjoint of the fused operation, which keeps the states of the particles every `every` steps (64 by
    /// default) and at saves. Fewer steps need more memory, more steps leave the cache of the processor.
    Fused {
        /// Steps between states.
        every: usize,
    },
    /// The tensor engine in segments, in [`Tracer::value_and_grad`] only. It keeps the states of the particles
    /// between segments, and takes one segment at a time again with its graph.
    Segments {
        /// Steps of a segment.
        steps: usize,
    },
    /// The tensor engine, with the graph of all steps.
    Graph,
}

impl Tracer<'_> {
    /// Sets how gradients go back through the run, and what is kept for it. [`plan`](Tracer::plan) counts it.
    /// Without tracked gradients it has no effect.
    ///
    /// [`prepare`](Tracer::prepare) refuses it with [`Error::Adjoint`] where it is not possible.
    pub fn adjoint(mut self, adjoint: Adjoint) -> Self {
        self.adjoint = adjoint;
        self
    }

    /// Traces seeds, and returns a loss on the tracks with its gradients by all leaf tensors that require them: the
    /// weights of a network in the field or in an operation after each step, seeds, values of a field, drift
    /// and diffusivity, and whatever else `loss` depends on.
    ///
    /// The gradients are those of `loss(&self.trace(seeds)?).backward()`. For a field of your own the memory is
    /// that of a [segment](Adjoint::Segments) and of the states between segments, O(sqrt(steps)) by default,
    /// instead of that of the graph of all steps, and the time is proportional to the number of steps. The field
    /// and the operation after each step are evaluated twice for each step, and must return the same values.
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

    /// The engine that was requested directly or by the adjoint.
    pub(super) fn requested_engine(&self, is_tracked: bool) -> Result<Option<Engine>> {
        let (engine, name) = match self.adjoint {
            Adjoint::Auto => return Ok(self.engine),
            Adjoint::Fused { every: 0 } => {
                return refuse("it keeps states every 0 steps; give 1 or more");
            }
            Adjoint::Segments { steps: 0 } => {
                return refuse("its segments have 0 steps; give 1 or more");
            }
            Adjoint::Fused { .. } => (Engine::Fused, "fused"),
            Adjoint::Segments { .. } | Adjoint::Graph => (Engine::Tensor, "tensor"),
        };
        match self.engine {
            Some(other) if other != engine => refuse(format!(
                "{:?} needs the {name} engine, but another one is required; omit one of them",
                self.adjoint
            )),
            requested => Ok(if is_tracked { Some(engine) } else { requested }),
        }
    }

    /// The adjoint of a run with gradients, without [`Adjoint::Auto`]; `in_segments` if it can have segments.
    pub(super) fn resolved(&self, engine: Engine, in_segments: bool) -> Result<Adjoint> {
        Ok(match (self.adjoint, engine) {
            (Adjoint::Auto, Engine::Fused) => Adjoint::Fused { every: adjoint::STEPS },
            (Adjoint::Auto, Engine::Tensor) if in_segments && !self.has_tracked_values() => {
                Adjoint::Segments { steps: default_segment(self.schedule()?.span.steps) }
            }
            (Adjoint::Auto, Engine::Tensor) => Adjoint::Graph,
            (Adjoint::Fused { .. }, Engine::Tensor) => {
                return refuse(
                    "the fused engine cannot trace the field; use another one, or `Adjoint::Auto`",
                );
            }
            (given, _) => given,
        })
    }

    /// Refuses segments where they are not possible.
    pub(super) fn check_segments(&self, in_segments: bool) -> Result<()> {
        match self.adjoint {
            Adjoint::Segments { .. } if !in_segments => refuse(
                "a backward pass through tracks cannot take segments again: Burn does not see the parameters in a \
                 closure; use `value_and_grad`, or `Adjoint::Graph`",
            ),
            Adjoint::Segments { .. } if self.has_tracked_values() => refuse(
                "the values of the field have a graph, which segments would consume more than once; use \
                 `Adjoint::Fused` or `Adjoint::Graph`",
            ),
            _ => Ok(()),
        }
    }

    /// Whether the field is sampled, and its values are in a graph.
    fn has_tracked_values(&self) -> bool {
        self.field.sampled().is_some_and(Sampled::is_tracked)
    }
}

/// Steps of a segment that need the least memory: a step of a graph takes about 64 times the memory of the state
/// before it.
fn default_segment(steps: u64) -> usize {
    (steps as f64 / 64.0).sqrt().ceil().max(4.0) as usize
}

/// Refuses a loss without a graph.
pub(super) fn check_tracked(loss: &Tensor<1>) -> Result<()> {
    match loss.is_tracked() {
        true => Ok(()),
        false => refuse(
            "the loss depends on no tensor that requires gradients; call `require_grad` on one",
        ),
    }
}

fn refuse<T>(reason: impl Into<String>) -> Result<T> {
    Err(Error::Adjoint(reason.into()))
}
