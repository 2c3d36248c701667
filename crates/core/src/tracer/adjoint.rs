//! Derivatives of the fused operation: gradients, and those of the flow map.

use super::Tracer;
use crate::{Engine, Error, Result};

/// Number of steps in a launch with gradients. The states between launches are kept, of the steps in a
/// launch only while it is reversed.
pub(super) const STEPS: usize = 64;

/// The name of the array of [`Tracer::flow_map_gradient`].
pub const FLOW_MAP_GRADIENT: &str = "flow_map_gradient";

impl Tracer<'_> {
    /// Saves the gradient of the flow map with each position, too: its derivatives by the coordinates at the
    /// release, as the array [`FLOW_MAP_GRADIENT`] `[saves, n, 9]` ([`Tracks::array`](crate::Tracks::array)),
    /// those of x, then of y, then of z. It is the exact derivative of the steps taken, carried along with
    /// them; the lengths of adaptive steps count as constants. An ended particle has the derivatives of its
    /// end, a waiting one the identity, one that was not released NaN. The result has no gradients itself.
    ///
    /// [`prepare`](Tracer::prepare) refuses it with [`Error::FlowMapGradient`] unless the fused engine takes
    /// the steps, and with re-used slots, an operation after each step or tracked gradients.
    pub fn flow_map_gradient(mut self, is_saved: bool) -> Self {
        self.flow_map_gradient = is_saved;
        self
    }

    /// Refuses the gradient of the flow map where it is not known.
    pub(super) fn check_flow_map_gradient(&self, engine: Engine, is_tracked: bool) -> Result<()> {
        let refuse = |reason| Err(Error::FlowMapGradient { reason });
        match engine {
            _ if !self.flow_map_gradient => Ok(()),
            _ if is_tracked => {
                refuse("gradients are tracked; use those of the positions by the seeds")
            }
            Engine::Tensor => refuse(
                "the tensor engine has none; use a formula or a field on a grid, a mesh or points with the fused engine, \
                 or differences of auxiliary seeds",
            ),
            _ if self.reuses_slots() => refuse(
                "slots are re-used, and later particles have no seed; run without outlets and sources",
            ),
            _ if self.each_step.is_some() => refuse(
                "an operation after each step moves particles; run without it, or use differences of \
                 auxiliary seeds",
            ),
            Engine::Fused => Ok(()),
        }
    }

    /// Why gradients need the tensor engine, if they do.
    pub(super) fn without_adjoint(&self) -> Option<&'static str> {
        self.reuses_slots()
            .then_some("gradients are tracked, which needs the tensor engine if slots are re-used")
    }
}
