//! Why the steps of a run are slow.

use super::{Prepared, Tracer};
use crate::{Engine, combinations::Feature};

impl Prepared<'_> {
    /// Why steps will be slow: the reason for which they are tensor operations, and what would make them fast. `None` for the fused
    /// engine, and where the tensor engine was asked for. A run says it as a warning of `tracing`, too.
    ///
    /// ```
    /// # use burntrace_core::{Domain, FieldFn, Precision, Seeds, Span, Tracer};
    /// # use burn::tensor::Device;
    /// # fn main() -> burntrace_core::Result<()> {
    /// let rest = |position: burn::tensor::Tensor<2>, _time| position.zeros_like();
    /// let field = FieldFn::new(Domain::new([0.0; 3], [1.0; 3])?, &Device::flex(), Precision::F32, rest);
    /// let tracer = Tracer::new(&field).span(Span { t1: Some(1.0), dt: Some(0.1), ..Span::default() });
    /// let seeds = Seeds::list(vec![[0.5; 3]])?;
    /// assert!(tracer.prepare(&seeds)?.slow_steps().unwrap().starts_with("a field of one's own"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn slow_steps(&self) -> Option<String> {
        let is_asked_for = self.tracer.execution.engine == Some(Engine::Tensor);
        let is_slow = self.engine() == Engine::Tensor && !is_asked_for;
        is_slow.then(|| why_tensor_steps(self.tracer))
    }

    pub(super) fn say_slow_steps(&self) {
        if let Some(reason) = self.slow_steps() {
            tracing::warn!("{reason}");
        }
    }
}

/// Why the steps of a run are tensor operations, and what would make them fast.
fn why_tensor_steps(tracer: &Tracer) -> String {
    let is_own = tracer.field.sampled().is_none() && tracer.field.formula_start(0.0).is_none();
    let (reason, remedy) = if is_own {
        ("a field of one's own", "evaluate it at the nodes of a grid, or give formulas")
    } else if tracer.motion.inertia.is_some() {
        (Feature::InertiaInTensors.name(), "give a CPU device")
    } else {
        (Feature::CardGradients.name(), "give a CPU device")
    };
    format!(
        "{reason}: steps are tensor operations, much slower than the fused steps of grids, meshes, points and \
         formulas; {remedy}"
    )
}
