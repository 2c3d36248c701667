//! The implementation of `FrameSource`, which is the same for all series.

use crate::Result;

/// Implements the common methods of a series, and `FrameSource`, for a type with the fields
/// `timeline`, `velocity` and `info` and the method `read_frame`.
macro_rules! implement_series {
    ($series:ident) => {
        impl $series {
            /// The source of the times.
            pub fn times_from(&self) -> TimesFrom {
                self.timeline.from
            }

            /// The file of each frame; the first one, if a frame has several parts.
            pub fn paths(&self) -> &[std::path::PathBuf] {
                &self.timeline.paths
            }

            /// The arrays of the velocity and of the diffusivity.
            pub fn velocity(&self) -> &VelocityInfo {
                &self.velocity
            }

            /// Adds arrays to the frames, with the same association as the velocity.
            ///
            /// # Errors
            ///
            /// If a file lacks one, or it has other components than in the first file.
            pub fn with_arrays(mut self, arrays: &[NamedArray]) -> Result<Self> {
                if arrays.is_empty() {
                    return Ok(self);
                }
                self.add_arrays(arrays)?;
                Ok(self)
            }

            /// The description of the series.
            pub fn info(&self) -> &SeriesInfo {
                &self.info
            }
        }

        impl burntrace_core::FrameSource for $series {
            fn times(&self) -> &[f64] {
                &self.timeline.times
            }

            fn arrays(&self) -> &[burntrace_core::FieldArray] {
                &self.velocity.sampled.arrays
            }

            fn has_velocity(&self) -> bool {
                !self.velocity.arrays.is_empty()
            }

            fn has_diffusivity(&self) -> bool {
                self.velocity.diffusivity.is_some()
            }

            fn cache_bytes(&self) -> u64 {
                self.timeline.cache_bytes()
            }

            fn read(
                &mut self,
                frame: usize,
            ) -> std::result::Result<burntrace_core::FrameData, burntrace_core::SourceError> {
                Ok(self.read_frame(frame)?)
            }

            fn read_many(
                &mut self,
                frames: &[usize],
            ) -> Vec<std::result::Result<burntrace_core::FrameData, burntrace_core::SourceError>>
            {
                let found = crate::series::frame_source::read_concurrently(frames, |frame| {
                    self.read_frame(frame)
                });
                found.into_iter().map(|frame| Ok(frame?)).collect()
            }
        }
    };
}
pub(super) use implement_series;

/// Reads several frames, each in a new thread: the threads of a pool may be busy with steps.
pub(super) fn read_concurrently<T: Send>(
    frames: &[usize],
    read: impl Fn(usize) -> Result<T> + Sync,
) -> Vec<Result<T>> {
    if let [frame] = frames {
        return vec![read(*frame)];
    }
    std::thread::scope(|scope| {
        let read = &read;
        let threads: Vec<_> =
            frames.iter().map(|frame| scope.spawn(move || read(*frame))).collect();
        let found = threads.into_iter().map(|thread| thread.join());
        found.map(|found| found.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}
