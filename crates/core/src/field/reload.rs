//! Streamed frames for a backward pass: read once more, the last ones first.

use super::{sampled::Sampled, window::FrameWindow};
use crate::{Error, Result};
use burntrace_kernels::{Reload, ReloadedFrames};
use std::sync::Arc;

/// The frames of a launch.
#[derive(Debug)]
struct LaunchFrames {
    field: Sampled,
    /// Start times and lengths of the steps.
    steps: Vec<(f64, f64)>,
}

impl Sampled {
    /// How a backward pass loads the frames that steps need, if they are streamed. Steps are given by start time
    /// and length.
    pub(crate) fn reload(&self, steps: &[(f64, f64)]) -> Option<Arc<dyn Reload>> {
        self.stream.as_ref()?;
        Some(Arc::new(LaunchFrames { field: self.clone(), steps: steps.to_vec() }))
    }
}

impl LaunchFrames {
    fn frames(&self) -> Result<ReloadedFrames> {
        // The launch before is the next one.
        let backward = self.steps.iter().find(|(_, h)| *h != 0.0).map(|(_, h)| *h > 0.0);
        let FrameWindow { tensors, clock, steps } = self.field.window(&self.steps, backward)?;
        let values = tensors.velocity.try_into_data();
        let values = values.map_err(|error| Error::Execution(format!("{error:?}")))?;
        Ok(ReloadedFrames { values, clock, steps })
    }
}

impl Reload for LaunchFrames {
    /// A frame that cannot be read is the error of the next run in the field: Burn's backward pass has none.
    fn reload(&self) -> Option<ReloadedFrames> {
        let frames = self.frames();
        frames
            .map_err(|error| {
                tracing::error!(%error, "gradients are NaN: a frame could not be read once more");
                if let Some(stream) = &self.field.stream {
                    stream.fail(error);
                }
            })
            .ok()
    }
}
