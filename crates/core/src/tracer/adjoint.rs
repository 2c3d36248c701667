//! Derivatives of the fused operation: gradients, and those of the flow map.

use super::{Tracer, inflow};
use crate::{Engine, Error, Result, device};

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

    /// Refuses points of inlets that track gradients where these are not passed on.
    pub(super) fn check_tracked_inlets(&self, engine: Engine) -> Result<()> {
        let reason = match engine {
            Engine::Tensor => "the tensor engine does not pass on",
            Engine::Fused if self.each_step.is_some() => {
                "an operation after each step does not pass on"
            }
            Engine::Fused => return Ok(()),
        };
        match inflow::is_tracked(self) {
            false => Ok(()),
            true => Err(Error::Inlet(format!(
                "its points track gradients, which {reason}; detach them, or run on the fused engine without \
                 such an operation"
            ))),
        }
    }

    /// Why gradients need the tensor engine, if they do.
    pub(super) fn without_adjoint(&self) -> Option<&'static str> {
        let is_card = device::compiles_kernels(&self.field.device());
        (self.reuses_slots() && is_card).then_some(
            "gradients are tracked, which needs the tensor engine if a graphics card re-uses slots",
        )
    }
}
