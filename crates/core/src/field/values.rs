//! Fields made from tensors and functions, and the exchange of a field's values.

use super::{
    GridField, MeshField, PointField, evaluate,
    lanes::LANES,
    layout::ValueLayout,
    mesh::CellVelocity,
    options::FieldOptions,
    sampled::Sampled,
    source::{FrameData, FrameSource, GridSource, MeshSource, PointSource, SourceError},
};
use crate::{Error, Floats, Precision, Result, mesh::Cells};
use burn::tensor::{DType, Device, Tensor};
use burntrace_kernels::{Placement, Weighting};

impl Sampled {
    /// The field with other velocities `[frames, values, 3]`, in the order of its source.
    ///
    /// # Errors
    ///
    /// [`Error::Arrays`] for another shape, precision or device, and for a field that streams its frames,
    /// averages them, or has arrays or diffusivities beside the velocity.
    pub(crate) fn with_values(&self, values: Tensor<3>) -> Result<Sampled> {
        self.check_values(&values, [self.time.clock().frames, self.layout.given, 3])?;
        Ok(self.with_rows(values))
    }

    /// Fields with these velocities `[fields, frames, values, 3]`, one after another.
    ///
    /// # Errors
    ///
    /// As [`with_values`](Self::with_values), and for a field with holes.
    pub(crate) fn with_fields(&self, values: Tensor<4>) -> Result<Sampled> {
        let [fields, frames, given, components] = values.dims();
        let expected = [self.time.clock().frames, self.layout.given, 3];
        if fields == 0 || [frames, given, components] != expected {
            let [frames, count, _] = expected;
            return Err(Error::Arrays(format!(
                "the velocities are {:?}; give [fields, frames, values, 3] = [.., {frames}, {count}, 3]",
                values.dims()
            )));
        }
        if self.traits.has_holes {
            let problem =
                "the field has holes, and others of its shape would have other ones; fill them";
            return Err(Error::Arrays(problem.into()));
        }
        let all = [fields * frames, given, 3];
        let values = values.reshape(all);
        self.check_values(&values, all)?;
        Ok(self.with_rows(values))
    }

    /// The field with other diffusivities `[frames, values]`, in the order of its source.
    ///
    /// # Errors
    ///
    /// [`Error::Arrays`] for another shape, precision or device, for negative numbers, and for a field that streams its
    /// frames, averages them, has arrays or has no place for diffusivities.
    pub(crate) fn with_diffusivity(&self, diffusivity: Tensor<2>) -> Result<Sampled> {
        self.check_diffusivity(&diffusivity)?;
        let [frames, _] = diffusivity.dims();
        let diffusivity = match &self.layout.order {
            Some(order) => diffusivity.select(1, evaluate::indices(order.order(), &self.device)),
            None => diffusivity,
        };
        let size = self.tensors.rows_per_frame();
        let count = self.tensors.shape.values_per_frame();
        let first = self.lanes.diffusivity_group() * count;
        let velocity = &self.tensors.velocity;
        let rows = velocity.clone().narrow(0, 0, frames * size).reshape([frames, size, LANES]);
        let group = rows.clone().narrow(1, first, count).narrow(2, 0, LANES - 1);
        let group = Tensor::cat(vec![group, diffusivity.reshape([frames, count, 1])], 2);
        let mut groups = vec![rows.clone().narrow(1, 0, first.max(1)), group];
        if first == 0 {
            groups.remove(0);
        }
        let after = size - first - count;
        if after > 0 {
            groups.push(rows.narrow(1, first + count, after));
        }
        let rows = Tensor::cat(groups, 1).reshape([frames * size, LANES]);
        let padding = velocity.clone().narrow(0, frames * size, 1);
        let mut sampled = self.clone();
        sampled.tensors.velocity = Tensor::cat(vec![rows, padding], 0);
        sampled.traits.has_diffusivity = true;
        Ok(sampled)
    }

    /// The field with velocities `[frames, values, 3]` of one field or of several.
    fn with_rows(&self, values: Tensor<3>) -> Sampled {
        let [frames, given, _] = values.dims();
        let beside = (&values.device(), values.dtype());
        let ValueLayout { order, flat, stored, coast, .. } = &self.layout;
        let values = match coast {
            Some(coast) => coast.filled_tensor(values),
            None => values,
        };
        let mut values = match order {
            Some(order) => values.select(1, evaluate::indices(order.order(), beside.0)),
            None => values,
        };
        if flat.contains(&true) {
            let kept = flat.map(|is_flat| if is_flat { 0.0 } else { 1.0 });
            values = values * Tensor::<3>::from_data([[kept]], beside);
        }
        let count = order.as_ref().map_or(given, |order| order.order().len());
        let rows = match stored {
            Some(stored) => stored.rows(values),
            None => {
                let padding = Tensor::zeros([frames, count, 1], beside);
                Tensor::cat(vec![values, padding], 2)
            }
        };
        let rows = rows.reshape([frames * count, LANES]);
        let velocity = Tensor::cat(vec![rows, Tensor::zeros([1, LANES], beside)], 0);
        let mut sampled = self.clone();
        sampled.device = velocity.device();
        sampled.tensors.velocity = velocity;
        sampled
    }

    /// Velocities `[frames, values, 3]` in the order of the source.
    fn source_values(&self) -> Result<Tensor<3>> {
        self.check_plain()?;
        let frames = self.time.clock().frames;
        let count = self.tensors.rows_per_frame();
        let rows = self.tensors.velocity.clone().narrow(0, 0, frames * count);
        let rows = rows.reshape([frames, count, LANES]);
        let values = match &self.layout.stored {
            Some(stored) => stored.velocities(rows),
            None => rows.narrow(2, 0, 3),
        };
        let Some(order) = &self.layout.order else { return Ok(values) };
        // A last row for values that the field does not have.
        let beside = (&values.device(), values.dtype());
        let values = Tensor::cat(vec![values, Tensor::zeros([frames, 1, 3], beside)], 1);
        let mut places = vec![count; self.layout.given];
        let is_added = self.layout.stored.as_ref().and_then(|stored| stored.is_added());
        for (place, source) in order.order().iter().enumerate() {
            if !is_added.as_ref().is_some_and(|is_added| is_added(place)) {
                places[*source] = place;
            }
        }
        Ok(values.select(1, evaluate::indices(&places, beside.0)))
    }

    fn check_plain(&self) -> Result<()> {
        let problem = if self.stream.is_some() {
            "its frames are streamed; load all of them (`Frames::All`)"
        } else if self.fields() > 1 {
            "it is several fields; use the one from which they were made"
        } else if !self.layout.is_plain {
            "its velocities are averages of cells; give velocities at the points"
        } else if !self.lanes.arrays().is_empty()
            || self.traits.has_diffusivity
            || self.lanes.scaled_group().is_some()
            || !self.lanes.has_velocity
        {
            "it has other quantities than a velocity; load it from a source without them"
        } else {
            return Ok(());
        };
        Err(Error::Arrays(format!("the field has no velocities to exchange: {problem}")))
    }

    fn check_diffusivity(&self, diffusivity: &Tensor<2>) -> Result<()> {
        // On a sphere and on faces velocities fill their group.
        let has_place = self.traits.has_diffusivity || self.layout.stored.is_none();
        let problem = if self.stream.is_some() {
            "its frames are streamed; load all of them (`Frames::All`)"
        } else if self.fields() > 1 {
            "it is several fields; use the one from which they were made"
        } else if !self.lanes.arrays().is_empty() || !self.lanes.has_velocity {
            "it has arrays; load it from a source without them"
        } else if self.layout.given != self.tensors.shape.values_per_frame()
            && self.layout.order.is_none()
        {
            "its velocities are averages of cells; give velocities at the points"
        } else if !has_place {
            "its velocities have four numbers; load it from a source with a diffusivity, which is then exchanged"
        } else {
            let expected = [self.time.clock().frames, self.layout.given];
            let (dtype, found) = (self.precision.dtype(), diffusivity.dims());
            let is_here = diffusivity.device() == self.device;
            if found == expected && diffusivity.dtype() == dtype && is_here {
                return Ok(());
            }
            return Err(Error::Arrays(format!(
                "the diffusivities are {found:?} in {:?} on {:?}; give [frames, values] = {expected:?} in {dtype:?} \
                 on {:?}",
                diffusivity.dtype(),
                diffusivity.device(),
                self.device
            )));
        };
        Err(Error::Arrays(format!("the field has no diffusivities to exchange: {problem}")))
    }

    fn check_values(&self, values: &Tensor<3>, expected: [usize; 3]) -> Result<()> {
        self.check_plain()?;
        let (dtype, found) = (self.precision.dtype(), values.dims());
        let is_here = values.device() == self.device;
        if found == expected && values.dtype() == dtype && is_here {
            return Ok(());
        }
        Err(Error::Arrays(format!(
            "the velocities are {found:?} in {:?} on {:?}; give [frames, values, 3] = {expected:?} in \
             {dtype:?} on {:?}",
            values.dtype(),
            values.device(),
            self.device
        )))
    }
}

/// Frames on the host.
pub(super) struct HostFrames {
    pub times: Vec<f64>,
    pub velocity: Vec<Floats>,
}

impl HostFrames {
    /// The frames of velocities `[frames, values, 3]`.
    fn of_tensor(times: Vec<f64>, values: &Tensor<3>) -> Result<Self> {
        let [frames, count, components] = values.dims();
        if [frames, components] != [times.len(), 3] {
            return Err(Error::Arrays(format!(
                "the velocities are [{frames}, {count}, {components}]; give [{}, values, 3], with a \
                 frame for each time",
                times.len()
            )));
        }
        let frame = |k: usize| {
            let frame = values.clone().detach().slice([k..k + 1, 0..count, 0..3]);
            Floats::from_tensor(frame)
        };
        let velocity = (0..frames).map(frame).collect::<Result<_>>()?;
        Ok(HostFrames { times, velocity })
    }

    /// The values of a function at positions.
    fn of_function(
        times: Vec<f64>,
        positions: &[[f64; 3]],
        precision: Precision,
        function: impl Fn([f64; 3], f64) -> [f64; 3],
    ) -> Self {
        let frame = |time: &f64| {
            let velocity = positions.iter().flat_map(|position| function(*position, *time));
            Floats::from_f64(precision, velocity)
        };
        HostFrames { velocity: times.iter().map(frame).collect(), times }
    }
}

/// Frames on the host, with the places of their values.
pub(super) struct Placed<P> {
    pub frames: HostFrames,
    pub places: P,
}

type GridPlaces = ([Vec<f64>; 3], Placement);
type MeshPlaces = (Vec<[f64; 3]>, Cells, Placement);

impl<P> FrameSource for Placed<P> {
    fn times(&self) -> &[f64] {
        &self.frames.times
    }

    fn read(&mut self, frame: usize) -> std::result::Result<FrameData, SourceError> {
        Ok(FrameData::new(self.frames.velocity[frame].clone()))
    }
}

impl GridSource for Placed<GridPlaces> {
    fn axes(&self) -> &[Vec<f64>; 3] {
        &self.places.0
    }

    fn placement(&self) -> Placement {
        self.places.1
    }
}

impl PointSource for Placed<Vec<[f64; 3]>> {
    fn positions(&self) -> &[[f64; 3]] {
        &self.places
    }
}

impl MeshSource for Placed<MeshPlaces> {
    fn points(&self) -> &[[f64; 3]] {
        &self.places.0
    }

    fn cells(&self) -> &Cells {
        &self.places.1
    }

    fn placement(&self) -> Placement {
        self.places.2
    }
}

/// The precision of a tensor of velocities must be that of the field.
fn options_of(values: &Tensor<3>, options: &FieldOptions) -> FieldOptions {
    let precision = match values.dtype() {
        DType::F64 => Precision::F64,
        _ => Precision::F32,
    };
    FieldOptions { precision, ..*options }
}

impl GridField {
    /// A field with the velocities `values` `[frames, values, 3]`, in the data's length per time: at the
    /// nodes or in the cells of a grid with these node coordinates, x varying fastest. If the tensor
    /// tracks gradients, the field stays in its graph. The field has its device and its precision.
    ///
    /// ```
    /// use burntrace_core::{GridField, FieldOptions, Placement, Seeds, Span, Tracer};
    /// use burn::tensor::{Device, Tensor};
    ///
    /// # fn main() -> Result<(), burntrace_core::Error> {
    /// let device = Device::flex().autodiff();
    /// let values = Tensor::<3>::full([1, 8, 3], 0.1, &device).require_grad();
    /// let axes = [vec![0.0, 1.0], vec![0.0, 1.0], vec![0.0, 1.0]];
    /// let options = FieldOptions::default();
    /// let field =
    ///     GridField::from_tensor(axes, vec![0.0], Placement::Nodes, values.clone(), &options)?;
    /// let tracer = Tracer::new(&field).span(Span { t1: Some(1.0), steps: Some(5), ..Span::default() });
    /// let tracks = tracer.trace(&Seeds::list(vec![[0.5, 0.5, 0.5]])?)?;
    /// let gradients = tracks.positions().sum().backward();
    /// assert_eq!(values.grad(&gradients).unwrap().dims(), [1, 8, 3]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`load`](GridField::load), and [`Error::Arrays`] if there is not a frame for each time.
    pub fn from_tensor(
        axes: [Vec<f64>; 3],
        times: Vec<f64>,
        placement: Placement,
        values: Tensor<3>,
        options: &FieldOptions,
    ) -> Result<Self> {
        let frames = HostFrames::of_tensor(times, &values)?;
        let mut source = Placed { frames, places: (axes, placement) };
        let options = options_of(&values, options);
        GridField::load(&mut source, &values.device(), &options)?.with_values(values)
    }

    /// A field with the velocities that a function of position and time has at the nodes of a grid.
    ///
    /// # Errors
    ///
    /// As [`load`](GridField::load).
    pub fn from_fn(
        axes: [Vec<f64>; 3],
        times: Vec<f64>,
        device: &Device,
        options: &FieldOptions,
        velocity: impl Fn([f64; 3], f64) -> [f64; 3],
    ) -> Result<Self> {
        let [xs, ys, zs] = &axes;
        let row = |y: f64, z: f64| xs.iter().map(move |x| [*x, y, z]);
        let layer = |z: f64| ys.iter().flat_map(move |y| row(*y, z));
        let nodes: Vec<[f64; 3]> = zs.iter().flat_map(|z| layer(*z)).collect();
        let frames = HostFrames::of_function(times, &nodes, options.precision, velocity);
        let mut source = Placed { frames, places: (axes, Placement::Nodes) };
        GridField::load(&mut source, device, options)
    }
}

impl MeshField {
    /// A field with the velocities `values` `[frames, values, 3]`, in the data's length per time, at the
    /// points or in the cells of a mesh; see [`GridField::from_tensor`].
    ///
    /// # Errors
    ///
    /// As [`load`](MeshField::load), and [`Error::Arrays`] if there is not a frame for each time.
    pub fn from_tensor(
        (points, cells): (Vec<[f64; 3]>, Cells),
        times: Vec<f64>,
        placement: Placement,
        values: Tensor<3>,
        options: &FieldOptions,
    ) -> Result<Self> {
        let frames = HostFrames::of_tensor(times, &values)?;
        let mut source = Placed { frames, places: (points, cells, placement) };
        let options = options_of(&values, options);
        let in_cells = CellVelocity::Constant;
        MeshField::load(&mut source, &values.device(), &options, in_cells)?.with_values(values)
    }

    /// A field with the velocities that a function of position and time has at the points of a mesh.
    ///
    /// # Errors
    ///
    /// As [`load`](MeshField::load).
    pub fn from_fn(
        (points, cells): (Vec<[f64; 3]>, Cells),
        times: Vec<f64>,
        device: &Device,
        options: &FieldOptions,
        velocity: impl Fn([f64; 3], f64) -> [f64; 3],
    ) -> Result<Self> {
        let frames = HostFrames::of_function(times, &points, options.precision, velocity);
        let mut source = Placed { frames, places: (points, cells, Placement::Nodes) };
        MeshField::load(&mut source, device, options, CellVelocity::Constant)
    }
}

impl PointField {
    /// A field with the velocities `values` `[frames, nodes, 3]`, in the data's length per time, at
    /// scattered nodes; see [`GridField::from_tensor`].
    ///
    /// # Errors
    ///
    /// As [`load`](PointField::load), and [`Error::Arrays`] if there is not a frame for each time.
    pub fn from_tensor(
        positions: Vec<[f64; 3]>,
        times: Vec<f64>,
        values: Tensor<3>,
        options: &FieldOptions,
        weighting: Weighting,
    ) -> Result<Self> {
        let frames = HostFrames::of_tensor(times, &values)?;
        let mut source = Placed { frames, places: positions };
        let options = options_of(&values, options);
        PointField::load(&mut source, &values.device(), &options, weighting)?.with_values(values)
    }

    /// A field with the velocities that a function of position and time has at scattered nodes.
    ///
    /// # Errors
    ///
    /// As [`load`](PointField::load).
    pub fn from_fn(
        positions: Vec<[f64; 3]>,
        times: Vec<f64>,
        device: &Device,
        options: &FieldOptions,
        weighting: Weighting,
        velocity: impl Fn([f64; 3], f64) -> [f64; 3],
    ) -> Result<Self> {
        let frames = HostFrames::of_function(times, &positions, options.precision, velocity);
        let mut source = Placed { frames, places: positions };
        PointField::load(&mut source, device, options, weighting)
    }
}

macro_rules! exchange {
    ($($field:ident)*) => {$(
        impl $field {
            /// The field with other velocities `[frames, values, 3]`, for example those of the next
            /// iteration; see [`GridField::from_tensor`]. Unlike there, velocities are not checked: a
            /// particle that comes to one that is not finite is lost.
            ///
            /// # Errors
            ///
            /// [`Error::Arrays`] for another shape, precision or device, and for a field with streamed
            /// frames, with other quantities than a velocity, or with velocities that are averages of cells.
            pub fn with_values(&self, values: Tensor<3>) -> Result<Self> {
                let mut field = self.clone();
                field.sampled = self.sampled.with_values(values)?;
                Ok(field)
            }

            /// Several fields of this one's shape and times, with the velocities `[fields, frames, values, 3]`: the members of an
            /// ensemble, or a batch of training data. A run in them is one run of as many seeds in each field: those of the first field,
            /// then those of the second, and so on.
            ///
            /// ```
            /// use burntrace_core::{FieldOptions, GridField, Seeds, Tracer};
            /// use burn::tensor::{Device, Tensor};
            ///
            /// # fn main() -> Result<(), burntrace_core::Error> {
            /// let axes = [vec![0.0, 4.0], vec![0.0, 1.0], vec![0.0]];
            /// let (device, options) = (Device::flex(), FieldOptions::default());
            /// let rest = GridField::from_fn(axes, vec![0.0], &device, &options, |_, _| [0.0; 3])?;
            /// let speeds = Tensor::<4>::from_floats([[[[1.0, 0.0, 0.0]; 4]], [[[2.0, 0.0, 0.0]; 4]]], &device);
            /// let both = rest.with_fields(speeds)?;
            /// let seeds = Seeds::list(vec![[0.0, 0.5, 0.0], [0.0, 0.5, 0.0]])?;
            /// let tracks = Tracer::new(&both).span(0.0..=1.5).steps(10).trace(&seeds)?;
            /// let ends: Vec<f64> = tracks.positions().narrow(2, 0, 1).into_data().iter::<f64>().collect();
            /// assert!((ends[0] - 1.5).abs() < 1e-5 && (ends[1] - 3.0).abs() < 1e-5);
            /// # Ok(())
            /// # }
            /// ```
            ///
            /// # Errors
            ///
            /// As [`with_values`](Self::with_values), and for a field with holes.
            pub fn with_fields(&self, values: Tensor<4>) -> Result<Self> {
                let mut field = self.clone();
                field.sampled = self.sampled.with_fields(values)?;
                Ok(field)
            }

            /// The field with other diffusivities `[frames, values]`, in the data's length squared per time, for
            /// [walks](crate::RandomWalk::of_field) that vary. If the tensor tracks gradients, positions depend on it. Negative
            /// diffusivities count as 0. Call it after [`with_values`](Self::with_values), which takes velocities alone.
            ///
            /// # Errors
            ///
            /// [`Error::Arrays`] for another shape, precision or device, and for a field with streamed frames, with arrays, with
            /// velocities that are averages of cells, or whose velocities leave no place for a diffusivity.
            pub fn with_diffusivity(&self, diffusivity: Tensor<2>) -> Result<Self> {
                let mut field = self.clone();
                field.sampled = self.sampled.with_diffusivity(diffusivity)?;
                Ok(field)
            }

            /// The velocities `[frames, values, 3]`, in the order of the source. Those that the field does
            /// not use are zero: components along flat axes, and velocities of points of a mesh that are in
            /// no cell or at the place of another.
            ///
            /// # Errors
            ///
            /// As [`with_values`](Self::with_values).
            pub fn values(&self) -> Result<Tensor<3>> {
                self.sampled.source_values()
            }
        }
    )*};
}
exchange!(GridField MeshField PointField);
