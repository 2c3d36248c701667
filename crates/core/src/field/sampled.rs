//! Frames of velocity on a device, whatever they are given on.

use super::{Domain, FrameSource, OutsideTime, Velocity, frames::TimeAxis};
use crate::{Error, Precision, Result};
use burn::tensor::{Device, Tensor, TensorData};
use burntrace_kernels::{FieldShape, FieldTensors, InTime};

/// How a field is read and continued.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FieldOptions {
    /// Precision on the device.
    pub precision: Precision,
    /// What lies before the first and after the last frame.
    pub outside_time: OutsideTime,
    /// What lies between two frames.
    pub in_time: InTime,
    /// What to do with velocities that are not finite.
    pub not_finite: NotFinite,
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
    pub(crate) tensors: FieldTensors,
    pub(crate) time: TimeAxis,
    pub(crate) domain: Domain,
    pub(crate) device: Device,
    pub(crate) precision: Precision,
    /// Whether the number that pads velocities is a diffusivity.
    pub(crate) has_diffusivity: bool,
}

impl Sampled {
    /// Bytes that the field takes on its device.
    pub fn bytes(&self) -> u64 {
        let places = self.tensors.places.dims()[0] * self.precision.bytes();
        let index = self.tensors.index.dims()[0] * size_of::<i32>();
        let frames = self.time.clock().frames;
        velocity_bytes(&self.tensors.shape, frames, self.precision) + (places + index) as u64
    }

    /// One frame's velocities `[values, 4]`.
    pub(super) fn frame(&self, frame: usize) -> Tensor<2> {
        let values = self.tensors.shape.values_per_frame();
        self.tensors.velocity.clone().slice([frame * values..(frame + 1) * values, 0..LANES])
    }

    /// Velocity and what pads it `[n, 4]` at a time, from what `read` gives `[n, 4]` of a frame.
    pub(super) fn at_time(&self, time: f64, read: impl Fn(Tensor<2>) -> Tensor<2>) -> Tensor<2> {
        let ([first, second], [w0, w1]) = self.time.weights(time);
        let mut v = read(self.frame(first)).mul_scalar(w0);
        if w1 != 0.0 {
            v = v + read(self.frame(second)).mul_scalar(w1);
        }
        v
    }
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

/// Components of a velocity and the number that pads them.
pub(super) const LANES: usize = 4;

/// How the values of a source's frames come to lie in a field.
pub(super) struct Layout<'a> {
    pub shape: FieldShape,
    /// Values of a frame of the source.
    pub given: usize,
    /// The source's index of each value, where they are put into another order.
    pub order: Option<&'a [usize]>,
    /// Axes along which nothing moves, so that their component is dropped.
    pub flat: [bool; 3],
    /// The values that there should be, as `64 x 64 x 64 nodes`.
    pub name: String,
    /// Bytes of the places and the index beside the velocities.
    pub other_bytes: u64,
    /// Where a value is, given its index in the source.
    pub position: &'a dyn Fn(usize) -> [f64; 3],
}

impl Layout<'_> {
    /// Reads all frames of a source and puts them on a device. Also returns whether they have a
    /// diffusivity.
    pub fn load(
        &self,
        source: &mut dyn FrameSource,
        time: &TimeAxis,
        device: &Device,
        options: &FieldOptions,
    ) -> Result<(Tensor<2>, bool)> {
        let frames = time.clock().frames;
        self.check_memory(frames, options)?;
        crate::device::check_precision(device, options.precision)?;
        let rows = frames * self.shape.values_per_frame() + 1;
        let (data, has_diffusivity) = match options.precision {
            Precision::F32 => {
                let (all, has) = self.read(source, time, options, |x| x as f32)?;
                (TensorData::new(all, [rows, LANES]), has)
            }
            Precision::F64 => {
                let (all, has) = self.read(source, time, options, |x| x)?;
                (TensorData::new(all, [rows, LANES]), has)
            }
        };
        let tensor = Tensor::from_data(data, (device, options.precision.dtype()));
        Ok((tensor, has_diffusivity))
    }

    fn check_memory(&self, frames: usize, options: &FieldOptions) -> Result<()> {
        let needed = velocity_bytes(&self.shape, frames, options.precision) + self.other_bytes;
        match options.memory {
            Some(available) if needed > available => Err(Error::Memory {
                what: format!(
                    "a field of {frames} frames x {} velocities",
                    self.shape.values_per_frame()
                ),
                needed,
                available,
                remedy: "select fewer frames (`field.frames`), or f32".into(),
            }),
            _ => Ok(()),
        }
    }

    /// All frames in one array, and the value that closes it; and whether they have a diffusivity.
    fn read<T: Copy + PartialEq + Default>(
        &self,
        source: &mut dyn FrameSource,
        time: &TimeAxis,
        options: &FieldOptions,
        cast: impl Fn(f64) -> T + Copy,
    ) -> Result<(Vec<T>, bool)> {
        let frames = time.clock().frames;
        let size = self.shape.values_per_frame();
        let mut has_diffusivity = false;
        let mut all = Vec::with_capacity((frames * size + 1) * LANES);
        for frame in 0..frames {
            tracing::debug!(frame, frames, "reading");
            let velocity = source.read(frame).map_err(|source| Error::Source { frame, source })?;
            if velocity.len() != 3 * self.given {
                let (found, expected) = (velocity.len(), 3 * self.given);
                let placement = self.name.clone();
                return Err(Error::FrameSize { frame, found, expected, placement });
            }
            let bad = match velocity {
                Velocity::F32(v) => self.pack(|i| f64::from(v[i]), &mut all, cast),
                Velocity::F64(v) => self.pack(|i| v[i], &mut all, cast),
            };
            if let (Some((first, count)), NotFinite::Error) = (bad, options.not_finite) {
                let position = (self.position)(first);
                return Err(Error::NotFinite { frame, count, first, position });
            }
            let diffusivity =
                source.diffusivity(frame).map_err(|source| Error::Source { frame, source })?;
            if let Some(diffusivity) = diffusivity {
                self.pad(frame, &diffusivity, &mut all[frame * size * LANES..], cast)?;
                has_diffusivity = true;
            }
        }
        if time.ends_meet() && all[..size * LANES] != all[(frames - 1) * size * LANES..] {
            return Err(Error::Period {
                period: time.ends()[1] - time.ends()[0],
                reason:
                    "the first and the last frame differ; give the period if it is longer than \
                         the frames"
                        .into(),
            });
        }
        all.extend([T::default(); LANES]);
        Ok((all, has_diffusivity))
    }

    /// Puts diffusivities where velocities are padded.
    fn pad<T>(
        &self,
        frame: usize,
        diffusivity: &[f64],
        rows: &mut [T],
        cast: impl Fn(f64) -> T,
    ) -> Result<()> {
        let is_bad = |k: &f64| !k.is_finite() || *k < 0.0;
        if diffusivity.len() != self.given || diffusivity.iter().any(is_bad) {
            return Err(Error::Walk(format!(
                "the diffusivity of frame {frame} has {} numbers where there are {}, or some that \
                 are negative or not finite",
                diffusivity.len(),
                self.given
            )));
        }
        for (value, row) in rows.chunks_exact_mut(LANES).enumerate() {
            let i = self.order.map_or(value, |order| order[value]);
            row[LANES - 1] = cast(diffusivity[i]);
        }
        Ok(())
    }

    /// Appends padded velocities, with zero for those that are not finite; returns the least index
    /// of those in the source and their number.
    fn pack<T: Copy + Default>(
        &self,
        number: impl Fn(usize) -> f64,
        all: &mut Vec<T>,
        cast: impl Fn(f64) -> T,
    ) -> Option<(usize, usize)> {
        let mut bad: Option<(usize, usize)> = None;
        for value in 0..self.shape.values_per_frame() {
            let i = self.order.map_or(value, |order| order[value]);
            let v = [number(3 * i), number(3 * i + 1), number(3 * i + 2)];
            let mut row = [T::default(); LANES];
            if v.iter().all(|u| u.is_finite()) {
                for d in 0..3 {
                    if !self.flat[d] {
                        row[d] = cast(v[d]);
                    }
                }
            } else {
                let (first, count) = bad.unwrap_or((i, 0));
                bad = Some((first.min(i), count + 1));
            }
            all.extend(row);
        }
        bad
    }
}

fn velocity_bytes(shape: &FieldShape, frames: usize, precision: Precision) -> u64 {
    ((frames * shape.values_per_frame() + 1) * LANES * precision.bytes()) as u64
}
