//! A velocity field sampled on a grid, on a device.

use super::{AXES, Domain, Field, GridSource, OutsideTime, Velocity, frames::TimeAxis};
use crate::{Error, Precision, Result};
use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burntrace_kernels::{FieldTensors, GridShape, InTime, Placement, Spacing};

/// How a grid field is read and continued.
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

/// Velocity on image data or a rectilinear grid at one or more times.
///
/// Trilinear between nodes, or constant in each cell; linear (or nearest) between frames.
/// Positions beyond the grid have the velocity of the nearest point on it. An axis with a single
/// node is flat: nothing moves along it.
#[derive(Clone, Debug)]
pub struct GridField {
    tensors: FieldTensors,
    time: TimeAxis,
    domain: Domain,
    device: Device,
    precision: Precision,
}

impl GridField {
    /// Reads all frames of a source and puts them on a device.
    ///
    /// # Errors
    ///
    /// Where axes or times do not increase, a frame has a wrong size, velocities that are not
    /// finite or cannot be read, the field does not fit into `options.memory`, or the device
    /// lacks the precision.
    pub fn load(
        source: &mut dyn GridSource,
        device: &Device,
        options: &FieldOptions,
    ) -> Result<Self> {
        let axes = source.axes().clone();
        let shape = grid_shape(&axes, source.placement())?;
        let time = TimeAxis::new(source.times().to_vec(), options.outside_time, options.in_time)?;
        let frames = time.clock().frames;
        check_memory(&shape, frames, options)?;
        crate::device::check_precision(device, options.precision)?;
        let data = match options.precision {
            Precision::F32 => {
                let values = read_frames(source, &shape, &axes, &time, options, |x| x as f32)?;
                TensorData::new(values, [frames, shape.values_per_frame(), LANES])
            }
            Precision::F64 => {
                let values = read_frames(source, &shape, &axes, &time, options, |x| x)?;
                TensorData::new(values, [frames, shape.values_per_frame(), LANES])
            }
        };
        let dtype = options.precision.dtype();
        let nodes = axes.concat();
        let count = nodes.len();
        let nodes = TensorData::new(nodes, [count]);
        Ok(GridField {
            tensors: FieldTensors {
                velocity: Tensor::from_data(data, (device, dtype)),
                nodes: Tensor::from_data(nodes.convert_dtype(dtype), (device, dtype)),
                shape,
            },
            domain: Domain::new(
                axes.each_ref().map(|axis| axis[0]),
                axes.each_ref().map(|axis| axis[axis.len() - 1]),
            )?,
            time,
            device: device.clone(),
            precision: options.precision,
        })
    }

    /// Bytes that the field takes on its device.
    pub fn bytes(&self) -> u64 {
        bytes(&self.tensors.shape, self.time.clock().frames, self.precision)
    }

    /// Nodes per axis, x first.
    pub fn nodes(&self) -> [usize; 3] {
        self.tensors.shape.nodes
    }

    pub(crate) fn tensors(&self) -> &FieldTensors {
        &self.tensors
    }

    pub(crate) fn time(&self) -> &TimeAxis {
        &self.time
    }

    /// Cells `[n, 1]` of a coordinate `[n, 1]` along an axis, and the fractions of them.
    fn locate(&self, x: Tensor<2>, axis: usize) -> (Tensor<2, Int>, Tensor<2>) {
        let shape = &self.tensors.shape;
        if shape.is_flat(axis) {
            return (x.zeros_like().int().cast(DType::I32), x.zeros_like());
        }
        match shape.spacing {
            Spacing::Uniform => self.locate_uniform(x, axis),
            Spacing::Table => self.locate_in_table(x, axis),
        }
    }

    fn locate_uniform(&self, x: Tensor<2>, axis: usize) -> (Tensor<2, Int>, Tensor<2>) {
        let shape = &self.tensors.shape;
        let last = (shape.nodes[axis] - 1) as f64;
        let g = x.sub_scalar(shape.origin[axis]).mul_scalar(1.0 / shape.pitch[axis]);
        // What is no number belongs to the low end, as in the kernels.
        let g = g.clone().mask_fill(g.is_nan(), 0.0).clamp(0.0, last);
        let cell = g.clone().detach().floor().clamp(0.0, last - 1.0);
        (cell.clone().int().cast(DType::I32), g - cell)
    }

    /// Bisection of all coordinates at once.
    fn locate_in_table(&self, x: Tensor<2>, axis: usize) -> (Tensor<2, Int>, Tensor<2>) {
        let nodes = self.tensors.shape.nodes;
        let start: usize = nodes[..axis].iter().sum();
        let table = self.tensors.nodes.clone().slice(start..start + nodes[axis]);
        let node = |index: &Tensor<2, Int>| {
            let [n, _] = index.dims();
            table.clone().select(0, index.clone().reshape([n])).reshape([n, 1])
        };
        let fixed = x.clone().detach();
        let mut low = fixed.zeros_like().int().cast(DType::I32);
        let mut high = low.clone().add_scalar(nodes[axis] as i32 - 1);
        for _ in 0..nodes[axis].next_power_of_two().trailing_zeros() {
            let middle = (low.clone() + high.clone()).div_scalar(2);
            let is_right = node(&middle).lower_equal(fixed.clone());
            let apart = high.clone().sub(low.clone()).greater_elem(1);
            low = low.mask_where(is_right.clone().bool_and(apart.clone()), middle.clone());
            high = high.mask_where(is_right.bool_not().bool_and(apart), middle);
        }
        let a = node(&low);
        let b = node(&low.clone().add_scalar(1));
        let fraction = (x - a.clone()) / (b - a);
        (low, fraction.clamp(0.0, 1.0))
    }

    /// Velocity `[n, 4]` of one frame.
    fn in_space(&self, frame: usize, places: &[(Tensor<2, Int>, Tensor<2>); 3]) -> Tensor<2> {
        let shape = &self.tensors.shape;
        let strides = shape.strides();
        let values = shape.values_per_frame();
        let velocity = self.tensors.velocity.clone();
        let velocity =
            velocity.slice([frame..frame + 1, 0..values, 0..LANES]).reshape([values, LANES]);
        let [n, _] = places[0].0.dims();
        let base = (0..3).map(|d| places[d].0.clone().mul_scalar(strides[d] as i32));
        let base = base.reduce(|a, b| a + b).unwrap_or_else(|| places[0].0.clone()).reshape([n]);
        let read =
            |offset: usize| velocity.clone().select(0, base.clone().add_scalar(offset as i32));
        if shape.placement == Placement::Cells {
            return read(0);
        }
        let lerp = |a: Tensor<2>, b: Tensor<2>, d: usize| a.clone() + places[d].1.clone() * (b - a);
        let [sx, sy, sz] = strides;
        let along_x = |o: usize| lerp(read(o), read(o + sx), 0);
        let along_y = |o: usize| lerp(along_x(o), along_x(o + sy), 1);
        lerp(along_y(0), along_y(sz), 2)
    }
}

impl Field for GridField {
    fn velocity(&self, position: Tensor<2>, time: f64) -> Tensor<2> {
        let [n, _] = position.dims();
        let places = [0, 1, 2].map(|d| self.locate(position.clone().slice([0..n, d..d + 1]), d));
        let ([first, second], [w0, w1]) = self.time.weights(time);
        let mut v = self.in_space(first, &places).mul_scalar(w0);
        if w1 != 0.0 {
            v = v + self.in_space(second, &places).mul_scalar(w1);
        }
        let moving = [0, 1, 2].map(|d| if self.tensors.shape.is_flat(d) { 0.0 } else { 1.0 });
        let moving = TensorData::new(moving.to_vec(), [1, 3]).convert_dtype(self.precision.dtype());
        let moving = Tensor::<2>::from_data(moving, (&v.device(), self.precision.dtype()));
        v.slice([0..n, 0..3]) * moving
    }

    fn domain(&self) -> Domain {
        self.domain
    }

    fn device(&self) -> Device {
        self.device.clone()
    }

    fn precision(&self) -> Precision {
        self.precision
    }

    fn times(&self) -> Option<[f64; 2]> {
        self.time.range()
    }

    fn span(&self) -> [f64; 2] {
        self.time.ends()
    }

    fn grid(&self) -> Option<&GridField> {
        Some(self)
    }
}

/// Components of a velocity and the number that pads them.
const LANES: usize = 4;

/// The shape of a grid with these axes.
fn grid_shape(axes: &[Vec<f64>; 3], placement: Placement) -> Result<GridShape> {
    for (d, axis) in axes.iter().enumerate() {
        if axis.is_empty() {
            return Err(Error::Empty("its grid has an axis without nodes"));
        }
        for (i, pair) in axis.windows(2).enumerate() {
            // Written so that a coordinate that is not a number is refused too.
            if pair[0].partial_cmp(&pair[1]) != Some(std::cmp::Ordering::Less) {
                return Err(Error::Axis {
                    axis: AXES[d],
                    node: i + 1,
                    before: pair[0],
                    after: pair[1],
                });
            }
        }
    }
    let uniform = axes.iter().all(|axis| is_uniform(axis));
    Ok(GridShape {
        nodes: axes.each_ref().map(Vec::len),
        origin: axes.each_ref().map(|axis| axis[0]),
        pitch: axes.each_ref().map(|axis| pitch(axis)),
        spacing: if uniform { Spacing::Uniform } else { Spacing::Table },
        placement,
    })
}

/// Mean distance between the nodes of an axis.
fn pitch(axis: &[f64]) -> f64 {
    let cells = axis.len().saturating_sub(1).max(1);
    (axis[axis.len() - 1] - axis[0]) / cells as f64
}

/// Whether an axis is evenly spaced, to what single precision can resolve within a cell.
fn is_uniform(axis: &[f64]) -> bool {
    let pitch = pitch(axis);
    let strays = |(i, x): (usize, &f64)| (x - axis[0] - i as f64 * pitch).abs() > 1e-6 * pitch;
    !axis.iter().enumerate().any(strays)
}

fn bytes(shape: &GridShape, frames: usize, precision: Precision) -> u64 {
    (frames * shape.values_per_frame() * LANES * precision.bytes()) as u64
}

fn check_memory(shape: &GridShape, frames: usize, options: &FieldOptions) -> Result<()> {
    let needed = bytes(shape, frames, options.precision);
    match options.memory {
        Some(available) if needed > available => Err(Error::Memory {
            what: format!("a field of {frames} frames x {} velocities", shape.values_per_frame()),
            needed,
            available,
            remedy: "select fewer frames (`field.frames`), or f32".into(),
        }),
        _ => Ok(()),
    }
}

/// Reads all frames into one array `[frames, values, 4]`.
fn read_frames<T: Copy + PartialEq + Default>(
    source: &mut dyn GridSource,
    shape: &GridShape,
    axes: &[Vec<f64>; 3],
    time: &TimeAxis,
    options: &FieldOptions,
    cast: impl Fn(f64) -> T + Copy,
) -> Result<Vec<T>> {
    let frames = time.clock().frames;
    let size = shape.values_per_frame();
    let mut all = Vec::with_capacity(frames * size * LANES);
    for frame in 0..frames {
        tracing::debug!(frame, frames, "reading");
        let velocity = source.read(frame).map_err(|source| Error::Source { frame, source })?;
        if velocity.len() != 3 * size {
            return Err(wrong_size(frame, velocity.len(), shape));
        }
        let bad = match velocity {
            Velocity::F32(v) => pack(v.into_iter().map(f64::from), &mut all, cast),
            Velocity::F64(v) => pack(v.into_iter(), &mut all, cast),
        };
        if let (Some((first, count)), NotFinite::Error) = (bad, options.not_finite) {
            let position = value_position(first, shape, axes);
            return Err(Error::NotFinite { frame, count, first, position });
        }
    }
    if time.ends_meet() && all[..size * LANES] != all[(frames - 1) * size * LANES..] {
        return Err(Error::Period {
            period: time.ends()[1] - time.ends()[0],
            reason: "the first and the last frame differ; give the period if it is longer than \
                     the frames"
                .into(),
        });
    }
    Ok(all)
}

/// Appends padded velocities, with zero for those that are not finite; returns the index of the
/// first of those and their number.
fn pack<T: Default>(
    mut numbers: impl Iterator<Item = f64>,
    all: &mut Vec<T>,
    cast: impl Fn(f64) -> T,
) -> Option<(usize, usize)> {
    let mut bad = None;
    let mut index = 0;
    while let (Some(u), Some(v), Some(w)) = (numbers.next(), numbers.next(), numbers.next()) {
        if u.is_finite() && v.is_finite() && w.is_finite() {
            all.extend([cast(u), cast(v), cast(w), T::default()]);
        } else {
            let (_, count) = bad.get_or_insert((index, 0));
            *count += 1;
            all.extend([T::default(), T::default(), T::default(), T::default()]);
        }
        index += 1;
    }
    bad
}

fn wrong_size(frame: usize, found: usize, shape: &GridShape) -> Error {
    let [nx, ny, nz] = shape.values();
    let what = match shape.placement {
        Placement::Nodes => "nodes",
        Placement::Cells => "cells",
    };
    Error::FrameSize {
        frame,
        found,
        expected: 3 * shape.values_per_frame(),
        placement: format!("{nx} x {ny} x {nz} {what}"),
    }
}

/// Where the value of an index is: its node, or its cell's first node.
fn value_position(index: usize, shape: &GridShape, axes: &[Vec<f64>; 3]) -> [f64; 3] {
    let [nx, ny, _] = shape.values();
    let ijk = [index % nx, index / nx % ny, index / (nx * ny)];
    std::array::from_fn(|d| axes[d][ijk[d]])
}
