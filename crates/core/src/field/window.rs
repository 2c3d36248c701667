//! The frames of a launch.

use super::{frames::union, sampled::Sampled};
use crate::Result;
use burn::tensor::Tensor;
use burntrace_kernels::{Clock, FieldTensors, Particles, Segment, Step};
use std::sync::Arc;

/// Frames, clock and steps of one launch.
pub(crate) struct FrameWindow {
    pub tensors: FieldTensors,
    pub clock: Arc<Clock>,
    pub steps: Vec<Step>,
}

impl Sampled {
    /// Loads the frames that steps need, and returns them with their clock. Steps are given by
    /// start time and length.
    pub(crate) fn during(&self, steps: &[(f64, f64)]) -> Result<FrameWindow> {
        let backward = steps.iter().find(|(_, h)| *h != 0.0).map(|(_, h)| *h < 0.0);
        self.window(steps, backward)
    }

    /// As [`during`](Sampled::during). `backward` is the direction of the next frames, if known.
    pub(super) fn window(
        &self,
        steps: &[(f64, f64)],
        backward: Option<bool>,
    ) -> Result<FrameWindow> {
        let Some(stream) = &self.stream else {
            return Ok(FrameWindow {
                tensors: self.tensors.clone(),
                clock: self.time.clock().clone(),
                steps: steps.iter().map(|(t, h)| self.time.step_at(*t, *h)).collect(),
            });
        };
        let frames = steps.iter().map(|(t, h)| self.time.frames_of(*t, *h));
        let needed = frames.reduce(union).unwrap_or(0..1);
        let (velocity, first) = stream.window(needed, backward)?;
        let rows = (velocity.dims()[0] - 1) as i64 / self.tensors.rows_per_frame() as i64;
        Ok(FrameWindow {
            clock: self.time.clock_of(first..first + rows).into(),
            steps: self.time.steps_from(first, steps),
            tensors: FieldTensors { velocity, ..self.tensors.clone() },
        })
    }

    /// The number of leading steps that the window of frames can hold at once, at least 1. Steps
    /// are given by start time and length.
    pub(crate) fn at_once(&self, steps: &[(f64, f64)]) -> usize {
        let Some(stream) = &self.stream else { return steps.len() };
        let mut needed = None;
        let mut fits = |(t, h): &(f64, f64)| {
            let frames = self.time.frames_of(*t, *h);
            let all = needed.clone().map_or(frames.clone(), |needed| union(needed, frames));
            let fits = all.end - all.start <= stream.capacity() as i64;
            needed = Some(all);
            fits
        };
        steps.iter().take_while(|step| fits(step)).count().max(1)
    }

    /// The groups of values from a first one on `[n, (groups - first_group) x 4]` at the positions of
    /// particles, measured from the origin, by the fused operation. `segment` makes the segment for a clock and a step.
    pub(crate) fn values(
        &self,
        particles: Particles,
        first_group: usize,
        time: f64,
        segment: impl FnOnce(Arc<Clock>, Vec<Step>) -> Segment,
    ) -> Result<Tensor<2>> {
        let FrameWindow { tensors, clock, steps } = self.during(&[(time, 0.0)])?;
        Ok(burntrace_kernels::sample(particles, &tensors, first_group, segment(clock, steps)))
    }
}
