//! Fields made from tensors and functions.

use super::{
    GridField, MeshField, PointField,
    mesh::CellVelocity,
    options::FieldOptions,
    source::{FrameData, FrameSource, GridSource, MeshSource, PointSource, SourceError},
};
use crate::{Error, Floats, Precision, Result, mesh::Cells};
use burn::tensor::{DType, Device, Tensor};
use burntrace_kernels::{Placement, Weighting};

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
