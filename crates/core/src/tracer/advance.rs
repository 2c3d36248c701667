//! The choice between the fused operation and tensor operations.

use super::{
    fused, hook,
    reinjection::{End, Reinjection},
    stepper::Stepper,
    tensor,
};
use crate::{Engine, Result, schedule::Chunk};
use burntrace_kernels::Particles;

impl Stepper<'_> {
    /// Advances particles, the first of which is number `first` of the run, by a chunk. Also
    /// returns the ends that are followed by a re-injection.
    pub fn advance(
        &self,
        (first, particles): (usize, Particles),
        chunk: &Chunk,
        following: Option<&Reinjection>,
    ) -> Result<(Particles, Vec<End>)> {
        let particles = (first as u32, particles);
        match (self.engine, self.field.sampled()) {
            (Engine::Fused, Some(sampled)) if self.takes_steps_alone() => {
                hook::advance(self, sampled, particles, chunk, following)
            }
            (Engine::Fused, Some(sampled)) => {
                fused::advance(self, sampled, particles, chunk, following)
            }
            _ => tensor::advance(self, particles, chunk, following),
        }
    }
}
