//! Velocity fields on structured grids.

use super::{
    coast::Coast,
    domain::{AXES, Domain},
    globe::Globe,
    layout::{Layout, grid_name, indices_of},
    load::{Input, Loaded},
    options::{FieldOptions, NotFinite},
    sampled::Sampled,
    sampled_field::sampled_field,
    source::GridSource,
    stored::Stored,
};
use crate::{Error, Result};
use burn::tensor::{Bool, DType, Device, Int, Tensor, TensorData};
use burntrace_kernels::{FieldShape, FieldTensors, GridShape, Placement, Spacing};
use std::sync::Arc;

/// Velocity on image data or a rectilinear grid, steady or in time.
///
/// Interpolation in space is trilinear between nodes, or constant in each cell; in time it is
/// linear or nearest. A position outside the grid has the velocity of the nearest point on the
/// grid. An axis with a single node is flat: particles do not move along it.
#[derive(Clone, Debug)]
pub struct GridField {
    pub(super) sampled: Sampled,
    shape: GridShape,
}

impl GridField {
    /// Reads all frames of a source into the memory of a device.
    ///
    /// # Errors
    ///
    /// If axes or times do not increase, if a frame has a wrong size, cannot be read or has
    /// velocities that are not finite, if the field does not fit into `options.memory`, or if the
    /// device lacks the precision.
    pub fn load(
        source: &mut dyn GridSource,
        device: &Device,
        options: &FieldOptions,
    ) -> Result<Self> {
        let (axes, placement) = (source.axes().clone(), source.placement());
        GridField::of(axes, placement, Input::Borrowed(source), device, options)
    }

    /// Takes ownership of a source, so that a separate thread can read its frames during the run
    /// ([`FieldOptions::frames`]). A frame that cannot be read then ends the run that needs it.
    ///
    /// # Errors
    ///
    /// Like [`load`](Self::load).
    pub fn open(
        source: Box<dyn GridSource + Send>,
        device: &Device,
        options: &FieldOptions,
    ) -> Result<Self> {
        let (axes, placement) = (source.axes().clone(), source.placement());
        GridField::of(axes, placement, Input::Owned(source), device, options)
    }

    fn of(
        axes: [Vec<f64>; 3],
        placement: Placement,
        input: Input,
        device: &Device,
        options: &FieldOptions,
    ) -> Result<Self> {
        check_axes(&axes)?;
        if placement == Placement::Faces {
            let reason = "velocities on faces are those of a mesh (`MeshField`); give them at the nodes of a grid, or in its cells";
            return Err(Error::Mesh(reason.into()));
        }
        let has_velocity = input.lanes(false)?.has_velocity;
        let radius = options.radius.filter(|_| has_velocity);
        let globe = radius.map(|radius| Globe::new(radius, &axes, placement)).transpose()?;
        let given = axes.each_ref().map(Vec::len);
        let axes = globe.as_ref().map_or(axes, |globe| globe.axes.clone());
        let ends = |at: fn(&Vec<f64>) -> f64| axes.each_ref().map(at);
        let domain = Domain::new(ends(|axis| axis[0]), ends(|axis| axis[axis.len() - 1]))?;
        let origin = if globe.is_some() { [0.0; 3] } else { domain.origin() };
        let measured = |d: usize| axes[d].iter().map(|x| x - origin[d]).collect::<Vec<_>>();
        let measured = [0, 1, 2].map(measured);
        let shape = GridShape { radius, ..grid_shape(&measured, placement) };
        let (time, lanes) = (input.time(options)?, input.lanes(globe.is_some())?.on(device));
        let nodes = measured.concat();
        let of_source = GridShape { nodes: given, ..shape };
        let coast = (options.not_finite == NotFinite::Land && has_velocity).then(|| {
            let is_closed = globe.as_ref().is_some_and(|globe| globe.is_closed);
            Arc::new(Coast::new(of_source.values(), is_closed, options))
        });
        let layout = Layout {
            shape: FieldShape::Grid(shape),
            given: of_source.values_per_frame(),
            averaged: false,
            order: globe.as_ref().and_then(Globe::order).map(|order| Arc::new(order) as _),
            flat: [0, 1, 2].map(|d| shape.is_flat(d)),
            lanes: lanes.clone(),
            name: grid_name(&shape),
            other_bytes: (shape.nodes.iter().sum::<usize>() * options.precision.bytes()) as u64,
            position: Arc::new(move |value| value_position(value, &shape, &axes)),
            stored: globe.map(|globe| Arc::new(Stored::Grid(globe))),
            coast: coast.clone(),
        };
        let Loaded { velocity, stream, traits, layout } =
            layout.load(input, &time, device, options)?;
        let order = layout.order.as_ref().map(|order| order.order());
        let land = coast.and_then(|coast| coast.land(&shape, &measured, order)).map(Arc::new);
        let dtype = options.precision.dtype();
        let count = nodes.len();
        let nodes = options.precision.data(nodes, [count]);
        let index = TensorData::new(vec![0_i32], [1]);
        let sampled = Sampled {
            tensors: FieldTensors {
                velocity,
                groups: lanes.groups(),
                coordinates: Tensor::from_data(nodes, (device, dtype)),
                index: Tensor::from_data(index, (device, DType::I32)),
                shape: FieldShape::Grid(shape),
            },
            stream,
            domain,
            origin,
            time,
            device: device.clone(),
            precision: options.precision,
            traits,
            land,
            layout,
            lanes,
        };
        Ok(GridField { sampled, shape })
    }

    /// Bytes of the field on its device.
    pub fn bytes(&self) -> u64 {
        self.sampled.bytes()
    }

    /// Nodes per axis, x first.
    pub fn nodes(&self) -> [usize; 3] {
        self.shape.nodes
    }

    /// Mask of the positions `[n, 3]` in the grid `[n, 1]`.
    fn contains(&self, position: &Tensor<2>) -> Tensor<2, Bool> {
        self.sampled.is_in_domain(position)
    }

    /// Cell indices and local coordinates of positions `[n, 3]`, for each axis.
    fn locate_all(&self, position: Tensor<2>) -> [(Tensor<2, Int>, Tensor<2>); 3] {
        let [n, _] = position.dims();
        [0, 1, 2].map(|d| self.locate(position.clone().slice([0..n, d..d + 1]), d))
    }

    /// Cell indices `[n, 1]` and local coordinates `[n, 1]` of coordinates `[n, 1]` along an axis.
    fn locate(&self, x: Tensor<2>, axis: usize) -> (Tensor<2, Int>, Tensor<2>) {
        let shape = &self.shape;
        if shape.is_flat(axis) {
            return (x.zeros_like().int().cast(DType::I32), x.zeros_like());
        }
        match shape.spacing {
            Spacing::Uniform => self.locate_uniform(x, axis),
            Spacing::Table => self.locate_in_table(x, axis),
        }
    }

    fn locate_uniform(&self, x: Tensor<2>, axis: usize) -> (Tensor<2, Int>, Tensor<2>) {
        let shape = &self.shape;
        let last = (shape.nodes[axis] - 1) as f64;
        let g = x.sub_scalar(shape.origin[axis]).mul_scalar(1.0 / shape.pitch[axis]);
        // NaN becomes the low end, as in the kernels.
        let g = g.clone().mask_fill(g.is_nan(), 0.0).clamp(0.0, last);
        let cell = g.clone().detach().floor().clamp(0.0, last - 1.0);
        (cell.clone().int().cast(DType::I32), g - cell)
    }

    /// Bisects for all coordinates at once.
    fn locate_in_table(&self, x: Tensor<2>, axis: usize) -> (Tensor<2, Int>, Tensor<2>) {
        let nodes = self.shape.nodes;
        let start: usize = nodes[..axis].iter().sum();
        let table = self.sampled.tensors.coordinates.clone().slice(start..start + nodes[axis]);
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

    /// Interpolates the values of one frame: velocity and padding `[n, 4]`.
    fn read(
        &self,
        (values, _): (Tensor<2>, usize),
        cells: &[(Tensor<2, Int>, Tensor<2>); 3],
    ) -> Tensor<2> {
        let strides = self.shape.strides();
        let [n, _] = cells[0].0.dims();
        let base = (0..3).map(|d| cells[d].0.clone().mul_scalar(strides[d] as i32));
        let base = base.reduce(|a, b| a + b).unwrap_or_else(|| cells[0].0.clone()).reshape([n]);
        let read = |offset: usize| values.clone().select(0, base.clone().add_scalar(offset as i32));
        if self.shape.placement == Placement::Cells {
            return read(0);
        }
        let lerp = |a: Tensor<2>, b: Tensor<2>, d: usize| a.clone() + cells[d].1.clone() * (b - a);
        let [sx, sy, sz] = strides;
        let along_x = |o: usize| lerp(read(o), read(o + sx), 0);
        let along_y = |o: usize| lerp(along_x(o), along_x(o + sy), 1);
        lerp(along_y(0), along_y(sz), 2)
    }
}

sampled_field!(GridField);

/// Checks that axes have nodes and increase.
pub(super) fn check_axes(axes: &[Vec<f64>; 3]) -> Result<()> {
    for (d, axis) in axes.iter().enumerate() {
        if axis.is_empty() {
            return Err(Error::Empty("an axis of the grid has no nodes"));
        }
        for (i, pair) in axis.windows(2).enumerate() {
            // Negated, to refuse NaN too.
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
    Ok(())
}

/// The shape of a grid with these axes.
fn grid_shape(axes: &[Vec<f64>; 3], placement: Placement) -> GridShape {
    let uniform = axes.iter().all(|axis| is_uniform(axis));
    GridShape {
        nodes: axes.each_ref().map(Vec::len),
        origin: axes.each_ref().map(|axis| axis[0]),
        pitch: axes.each_ref().map(|axis| if uniform { pitch(axis) } else { smallest(axis) }),
        radius: None,
        spacing: if uniform { Spacing::Uniform } else { Spacing::Table },
        placement,
    }
}

/// Mean node distance of an axis.
fn pitch(axis: &[f64]) -> f64 {
    let cells = axis.len().saturating_sub(1).max(1);
    (axis[axis.len() - 1] - axis[0]) / cells as f64
}

/// Smallest node distance of an axis.
fn smallest(axis: &[f64]) -> f64 {
    let spacings = axis.windows(2).map(|pair| pair[1] - pair[0]);
    spacings.reduce(f64::min).unwrap_or(0.0)
}

/// Whether an axis is evenly spaced to within the resolution of single precision in a cell.
fn is_uniform(axis: &[f64]) -> bool {
    let pitch = pitch(axis);
    let is_off = |(i, x): (usize, &f64)| (x - axis[0] - i as f64 * pitch).abs() > 1e-6 * pitch;
    !axis.iter().enumerate().any(is_off)
}

/// Position of a value: its node, or the first node of its cell.
fn value_position(index: usize, shape: &GridShape, axes: &[Vec<f64>; 3]) -> [f64; 3] {
    let ijk = indices_of(index, shape);
    std::array::from_fn(|d| axes[d][ijk[d]])
}
