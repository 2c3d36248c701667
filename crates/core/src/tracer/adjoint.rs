//! Gradients of the fused operation.

use super::Tracer;

/// Number of steps in a launch with gradients. The states between launches are kept, of the steps in a
/// launch only while it is reversed.
pub(super) const STEPS: usize = 64;

impl Tracer<'_> {
    /// Why gradients need the tensor engine, if they do.
    pub(super) fn without_adjoint(&self) -> Option<&'static str> {
        let field = self.field.sampled()?;
        if field.stream.is_some() {
            Some("gradients are tracked, which needs the tensor engine if frames are streamed")
        } else if self.reuses_slots() {
            Some("gradients are tracked, which needs the tensor engine if slots are re-used")
        } else if self.each_step.is_some() {
            Some(
                "gradients are tracked, which needs the tensor engine for an operation after steps",
            )
        } else {
            None
        }
    }
}
