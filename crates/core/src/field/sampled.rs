//! Sampled velocity on a device, on any kind of geometry.

use super::{
    arrays::FieldArray,
    domain::Domain,
    frames::{Frames, TimeAxis, union},
    lanes::{ArrayLanes, LANES},
    layout::{FrameTraits, ValueLayout},
    size::{FieldSize, READ_BYTES},
    stream::{InputSummary, Stream},
};
use crate::{Precision, Result, device};
use burn::tensor::{Bool, Device, Tensor, TensorData};
use burntrace_kernels::{FieldTensors, Land};
use std::{collections::BTreeMap, sync::Arc};

/// Sampled velocity on a device: the input of the fused operation.
#[derive(Clone, Debug)]
pub struct Sampled {
    /// All frames; a placeholder of one value if they are read during the run.
    pub(crate) tensors: FieldTensors,
    /// Source of the frames, if they are streamed.
    pub(crate) stream: Option<Arc<Stream>>,
    pub(crate) time: TimeAxis,
    pub(crate) domain: Domain,
    /// The point from which coordinates in the tensors are measured.
    pub(crate) origin: [f64; 3],
    pub(crate) device: Device,
    pub(crate) precision: Precision,
    pub(crate) traits: FrameTraits,
    /// The land, measured from the origin.
    pub(crate) land: Option<Arc<Land>>,
    /// Where the values of its source are.
    pub(crate) layout: ValueLayout,
    pub(crate) lanes: ArrayLanes,
}

impl Sampled {
    /// Whether the values are in a graph.
    pub(crate) fn is_tracked(&self) -> bool {
        self.tensors.velocity.is_tracked()
    }

    /// Number of fields of one shape, whose values follow one another.
    pub(crate) fn fields(&self) -> usize {
        let [rows, _] = self.tensors.velocity.dims();
        let of_one = self.time.clock().frames * self.tensors.rows_per_frame();
        if self.stream.is_some() { 1 } else { ((rows - 1) / of_one.max(1)).max(1) }
    }

    /// Bytes of the field on its device, including streamed frames that are read ahead on the host.
    pub fn bytes(&self) -> u64 {
        self.size().bytes(self.frames())
    }

    /// The same field on another device. No frame is read again.
    ///
    /// # Errors
    ///
    /// [`Error::Precision`] if the device lacks the precision, and [`Error::Execution`] if a device fails.
    pub(crate) fn to_device(&self, device: &Device) -> Result<Sampled> {
        device::check_precision(device, self.precision)?;
        let FieldTensors { velocity, coordinates, index, .. } = &self.tensors;
        let tensors = FieldTensors {
            velocity: device::moved(velocity, device)?,
            coordinates: device::moved(coordinates, device)?,
            index: device::moved(index, device)?,
            ..self.tensors.clone()
        };
        let stream = self.stream.as_ref().map(|stream| stream.to_device(device)).transpose()?;
        let stream = stream.map(Arc::new);
        Ok(Sampled { tensors, stream, device: device.clone(), ..self.clone() })
    }

    /// The radius of the sphere that it is on.
    pub fn radius(&self) -> Option<f64> {
        self.tensors.shape.radius()
    }

    /// Whether a position is on land.
    pub fn is_on_land(&self, position: [f64; 3]) -> bool {
        let position = [0, 1, 2].map(|d| position[d] - self.origin[d]);
        self.land.as_ref().is_some_and(|land| land.contains(position))
    }

    /// Velocities `[n, 4]` on a sphere at positions `[n, 3]`, towards the east, the north, and upwards; in a flat space,
    /// unchanged.
    pub(crate) fn along_axes(&self, position: &Tensor<2>, velocity: Tensor<2>) -> Tensor<2> {
        if self.radius().is_none() {
            return velocity;
        }
        let angle =
            |axis: usize| position.clone().narrow(1, axis, 1).mul_scalar(1_f64.to_radians());
        let part = |axis: usize| velocity.clone().narrow(1, axis, 1);
        let (lon, lat) = (angle(0), angle(1));
        let away = part(0) * lon.clone().cos() + part(1) * lon.clone().sin();
        let east = part(1) * lon.clone().cos() - part(0) * lon.sin();
        let north = part(2) * lat.clone().cos() - away * lat.sin();
        let (up, none) = (part(3), part(3).zeros_like());
        Tensor::cat(vec![east, north, up, none], 1)
    }

    /// The land, and the point from which its walls are measured.
    pub fn land(&self) -> Option<(&Land, [f64; 3])> {
        Some((self.land.as_ref()?, self.origin))
    }

    /// Whether it has velocities that are not finite in its source, and count as 0 ([`NotFinite::Zero`](crate::NotFinite::Zero)); `None` if
    /// it does not hold all frames.
    pub fn has_zeros(&self) -> Option<bool> {
        self.stream.is_none().then_some(self.traits.has_zeros)
    }

    /// The arrays beside the velocity.
    pub fn arrays(&self) -> &[FieldArray] {
        self.lanes.arrays()
    }

    /// Positions `[n, 3]` measured from the origin.
    pub(crate) fn measured(&self, position: Tensor<2>) -> Tensor<2> {
        match self.origin {
            [0.0, 0.0, 0.0] => position,
            origin => position.clone() - origin_row(origin, &position),
        }
    }

    /// The size of the field, for a plan.
    pub(crate) fn size(&self) -> FieldSize {
        FieldSize {
            frames: self.time.clock().frames,
            frame_bytes: self.frame_bytes() * self.fields() as u64,
            other_bytes: self.other_bytes(),
            read_bytes: (READ_BYTES * self.tensors.rows_per_frame()) as u64
                + self.stream.as_ref().map_or(0, |stream| stream.cache_bytes()),
        }
    }

    /// What the field holds of its frames at a time.
    pub(crate) fn frames(&self) -> Frames {
        self.stream.as_ref().map_or(Frames::All, |stream| Frames::Streamed(stream.held()))
    }

    /// Bytes of one frame.
    pub(crate) fn frame_bytes(&self) -> u64 {
        (self.tensors.rows_per_frame() * LANES * self.precision.bytes()) as u64
    }

    /// Bytes of everything but the frames.
    pub(crate) fn other_bytes(&self) -> u64 {
        let coordinates = self.tensors.coordinates.dims()[0] * self.precision.bytes();
        let index = self.tensors.index.dims()[0] * size_of::<i32>();
        (coordinates + index + LANES * self.precision.bytes()) as u64
    }

    /// Totals of the frames read so far; `None` if the field holds all frames.
    pub fn input(&self) -> Option<InputSummary> {
        self.stream.as_ref().map(|stream| stream.input())
    }

    /// Takes the pending error of a frame that could not be read.
    pub(crate) fn failure(&self) -> Result<()> {
        let failure = self.stream.as_ref().and_then(|stream| stream.failure());
        failure.map_or(Ok(()), Err)
    }

    /// Whether values may be NaN: in holes, and where those of arrays are missing.
    pub(crate) fn has_gaps(&self) -> bool {
        self.traits.has_holes || !self.lanes.arrays().is_empty()
    }

    /// Mask of the positions `[n, 3]`, measured from the origin, that are in the domain or beyond it by
    /// no more than rounding `[n, 1]`.
    pub(super) fn is_in_domain(&self, position: &Tensor<2>) -> Tensor<2, Bool> {
        let Domain { low, high } = self.domain.moved(self.origin.map(|x| -x));
        let position = position.clone().detach();
        let inside = (0..3).filter(|d| !self.domain.is_flat(*d)).map(|d| {
            let slack = 16.0 * self.precision.epsilon() * low[d].abs().max(high[d].abs());
            let x = position.clone().narrow(1, d, 1);
            x.clone()
                .greater_equal_elem(low[d] - slack)
                .bool_and(x.lower_equal_elem(high[d] + slack))
        });
        let all = || position.clone().narrow(1, 0, 1).is_nan().bool_not();
        inside.reduce(|a, b| a.bool_and(b)).unwrap_or_else(all)
    }

    /// Group `group` of the values `[count, 4]` at one time, or at a time for each row: velocity and padding
    /// are group 0. `read` interpolates one frame.
    pub(super) fn at_times(
        &self,
        times: &[f64],
        group: usize,
        read: impl Fn(Tensor<2>) -> Tensor<2>,
    ) -> Tensor<2> {
        let (velocity, pairs) = self.frame_pairs(times);
        let mut weights: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for (row, (time, [first, second])) in times.iter().zip(pairs).enumerate() {
            let (_, [w0, w1]) = self.time.weights(*time);
            for (frame, weight) in [(first, w0), (second, w1)] {
                if frame == first || weight != 0.0 {
                    weights.entry(frame).or_insert_with(|| vec![0.0; times.len()])[row] += weight;
                }
            }
        }
        let beside = (&self.device, self.precision.dtype());
        let (values, size) = (self.tensors.shape.values_per_frame(), self.tensors.rows_per_frame());
        let weighed = weights.into_iter().map(|(frame, weight)| {
            let first = frame * size + group * values;
            let values = velocity.clone().slice([first..first + values, 0..LANES]);
            let weight = Tensor::<2>::from_data(TensorData::new(weight, [times.len(), 1]), beside);
            let mut read = read(values);
            if self.traits.has_holes || group > 0 || !self.lanes.has_velocity {
                // A gap of a frame that is not needed: 0 times NaN is NaN.
                let is_unused = weight.clone().equal_elem(0.0).expand(read.dims());
                read = read.mask_fill(is_unused, 0.0);
            }
            read * weight
        });
        weighed.reduce(|sum, next| sum + next).unwrap_or_else(|| read(velocity))
    }

    /// The frames that are present, and the indices among them of the two frames around each time.
    fn frame_pairs(&self, times: &[f64]) -> (Tensor<2>, Vec<[usize; 2]>) {
        let Some(stream) = &self.stream else {
            let pairs = times.iter().map(|time| self.time.weights(*time).0);
            return (self.tensors.velocity.clone(), pairs.collect());
        };
        let needed = times.iter().map(|time| self.time.frames_of(*time, 0.0));
        let all = needed.clone().reduce(union).unwrap_or(0..1);
        let (velocity, start) = stream.window_or_zeros(all);
        let first = needed.map(|needed| (needed.start - start) as usize);
        (velocity, first.map(|first| [first, first + 1]).collect())
    }
}

/// An origin as a row `[1, 3]` beside positions.
pub(crate) fn origin_row(origin: [f64; 3], beside: &Tensor<2>) -> Tensor<2> {
    let row = TensorData::new(origin.to_vec(), [1, 3]);
    Tensor::from_data(row, (&beside.device(), beside.dtype()))
}
