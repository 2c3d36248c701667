//! Frames of velocity on a device, whatever they are given on.

use super::{
    Domain, Frames, OutsideTime,
    frames::TimeAxis,
    layout::LANES,
    stream::{InputSummary, Stream},
};
use crate::{FieldSize, Precision, Result, plan::READ_BYTES};
use burn::tensor::{Device, Tensor};
use burntrace_kernels::{Clock, FieldShape, FieldTensors, Step, TimeInterpolation};
use std::sync::Arc;

/// How a field is read and continued.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FieldOptions {
    /// Precision on the device.
    pub precision: Precision,
    /// What lies before the first and after the last frame.
    pub outside_time: OutsideTime,
    /// What lies between two frames.
    pub in_time: TimeInterpolation,
    /// What to do with velocities that are not finite.
    pub not_finite: NotFinite,
    /// How many frames are held at a time.
    pub frames: Frames,
    /// The most bytes that the field may take on the device; `None` for no limit.
    pub memory: Option<u64>,
}

/// What to do with velocities that are not finite numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NotFinite {
    /// Refuse the field, and say where they are.
    #[default]
    Error,
    /// Read them as zero, as is usual for land in ocean data.
    Zero,
}

/// Frames of velocity on a device: what the fused operation reads.
#[derive(Clone, Debug)]
pub struct Sampled {
    /// All frames; of streamed ones a single value that does not count.
    pub(crate) tensors: FieldTensors,
    /// Where frames come from, if they are not all there.
    pub(crate) stream: Option<Arc<Stream>>,
    pub(crate) time: TimeAxis,
    pub(crate) domain: Domain,
    pub(crate) device: Device,
    pub(crate) precision: Precision,
    /// Whether the number that pads velocities is a diffusivity.
    pub(crate) has_diffusivity: bool,
}

/// What the fused operation needs to know for some steps.
pub(crate) struct FrameWindow {
    pub tensors: FieldTensors,
    pub clock: Arc<Clock>,
    pub steps: Vec<Step>,
}

impl Sampled {
    /// Bytes that the field takes on its device; with streamed frames those that are read ahead, on
    /// the host, among them.
    pub fn bytes(&self) -> u64 {
        let frames = match &self.stream {
            Some(stream) => stream.held(),
            None => self.time.clock().frames,
        };
        self.frame_bytes() * frames as u64 + self.other_bytes()
    }

    /// Its size, for a plan.
    pub(crate) fn size(&self) -> FieldSize {
        FieldSize {
            frames: self.time.clock().frames,
            frame_bytes: self.frame_bytes(),
            other_bytes: self.other_bytes(),
            read_bytes: (READ_BYTES * self.tensors.shape.values_per_frame()) as u64,
        }
    }

    /// How many frames are held at a time.
    pub(crate) fn frames(&self) -> Frames {
        self.stream.as_ref().map_or(Frames::All, |stream| Frames::Streamed(stream.held()))
    }

    /// Bytes of a frame.
    pub(crate) fn frame_bytes(&self) -> u64 {
        (self.tensors.shape.values_per_frame() * LANES * self.precision.bytes()) as u64
    }

    /// Bytes beside the frames.
    pub(crate) fn other_bytes(&self) -> u64 {
        let places = self.tensors.coordinates.dims()[0] * self.precision.bytes();
        let index = self.tensors.index.dims()[0] * size_of::<i32>();
        (places + index + LANES * self.precision.bytes()) as u64
    }

    /// What was read so far of frames that are read in the course of a run; `None` where all of them
    /// are there.
    pub fn input(&self) -> Option<InputSummary> {
        self.stream.as_ref().map(|stream| stream.input())
    }

    /// What went wrong with frames where nobody could be told, once.
    pub(crate) fn failure(&self) -> Result<()> {
        self.stream.as_ref().and_then(|stream| stream.failure()).map_or(Ok(()), Err)
    }

    /// The frames and the clock for steps, given by their begins and lengths; those frames are on
    /// the device then.
    pub(crate) fn during(&self, steps: &[(f64, f64)]) -> Result<FrameWindow> {
        let Some(stream) = &self.stream else {
            return Ok(FrameWindow {
                tensors: self.tensors.clone(),
                clock: self.time.clock().clone(),
                steps: steps.iter().map(|(t, h)| self.time.place(*t, *h)).collect(),
            });
        };
        let frames = steps.iter().map(|(t, h)| self.time.frames_of(*t, *h));
        let needed = frames.reduce(union).unwrap_or(0..1);
        let turns = steps.iter().find(|(_, h)| *h != 0.0).map(|(_, h)| *h < 0.0);
        let (velocity, first) = stream.window(needed, turns)?;
        let rows = (velocity.dims()[0] - 1) as i64 / self.tensors.shape.values_per_frame() as i64;
        let place = |(t, h): &(f64, f64)| {
            let (interval, step) = self.time.place_unrolled(*t, *h);
            Step { interval: (interval - first).max(0) as usize, ..step }
        };
        Ok(FrameWindow {
            clock: self.time.clock_of(first..first + rows).into(),
            steps: steps.iter().map(place).collect(),
            tensors: FieldTensors { velocity, ..self.tensors.clone() },
        })
    }

    /// How many of some steps, given by their begins and lengths, can be taken without another
    /// frame: at least one.
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

    /// Velocity and what pads it `[n, 4]` at a time, from what `read` gives `[n, 4]` of a frame.
    pub(super) fn at_time(&self, time: f64, read: impl Fn(Tensor<2>) -> Tensor<2>) -> Tensor<2> {
        let ([first, second], [w0, w1]) = self.time.weights(time);
        let (velocity, [first, second]) = match &self.stream {
            None => (self.tensors.velocity.clone(), [first, second]),
            Some(stream) => {
                let needed = self.time.frames_of(time, 0.0);
                let (velocity, begin) = stream.window_or_zeros(needed.clone());
                let first = (needed.start - begin) as usize;
                (velocity, [first, first + 1])
            }
        };
        let size = self.tensors.shape.values_per_frame();
        let frame = |k: usize| velocity.clone().slice([k * size..(k + 1) * size, 0..LANES]);
        let mut v = read(frame(first)).mul_scalar(w0);
        if w1 != 0.0 {
            v = v + read(frame(second)).mul_scalar(w1);
        }
        v
    }
}

/// The least range that holds two others.
fn union(a: std::ops::Range<i64>, b: std::ops::Range<i64>) -> std::ops::Range<i64> {
    a.start.min(b.start)..a.end.max(b.end)
}

/// Implements [`Field`](super::Field) for a type that holds a `sampled`, given how it is read in
/// tensor operations.
macro_rules! sampled_field {
    ($field:ty $(, $more:item)*) => {
        impl $crate::Field for $field {
            fn velocity(&self, position: Tensor<2>, time: f64) -> Tensor<2> {
                let places = self.locate_all(position);
                self.sampled.at_time(time, |frame| self.read(frame, &places)).narrow(1, 0, 3)
            }

            fn diffusivity(&self, position: Tensor<2>, time: f64) -> Option<Tensor<2>> {
                if !self.sampled.has_diffusivity {
                    return None;
                }
                let places = self.locate_all(position);
                let read = self.sampled.at_time(time, |frame| self.read(frame, &places));
                Some(read.narrow(1, 3, 1))
            }

            fn has_diffusivity(&self) -> bool {
                self.sampled.has_diffusivity
            }

            fn domain(&self) -> $crate::Domain {
                self.sampled.domain
            }

            fn device(&self) -> burn::tensor::Device {
                self.sampled.device.clone()
            }

            fn precision(&self) -> $crate::Precision {
                self.sampled.precision
            }

            fn times(&self) -> Option<[f64; 2]> {
                self.sampled.time.range()
            }

            fn span(&self) -> [f64; 2] {
                self.sampled.time.ends()
            }

            fn sampled(&self) -> Option<&$crate::Sampled> {
                Some(&self.sampled)
            }

            $($more)*
        }
    };
}
pub(super) use sampled_field;

pub(super) fn velocity_bytes(shape: &FieldShape, frames: usize, precision: Precision) -> u64 {
    ((frames * shape.values_per_frame() + 1) * LANES * precision.bytes()) as u64
}
