//! The fused step on a CubeCL device: one thread per particle, all steps of a segment in one
//! launch, the particle's state in registers.

mod adapt;
mod edge;
mod frame_pair;
mod grid;
mod mesh;
mod obstacles;
mod particle;
mod points;
mod progress;
mod random;
mod reinjection;
mod settle;
mod stages;
mod step;
mod tables;
pub mod upload;
mod walk;
mod walls;

use crate::{
    FieldShape, LOG_INDEX, LOG_POSITION, Outside, Placement, Scheme, Segment, Spacing,
    TimeInterpolation, Walk, WalkScheme, Weighting,
    functions::surfaces,
    ops::{Advanced, Geometry, Sampled, State},
};
use burn::backend::cubecl::dtype_to_storage_type;
use burn_cubecl::{
    CubeBackend,
    cubecl::{self, calculate_cube_count_elemwise, prelude::*},
    kernel::into_contiguous,
    ops::numeric::empty_device_dtype,
    tensor::CubeTensor,
};
use mesh::MeshKind;
use tables::Tables;

/// Position or velocity in registers; the fourth lane is unused.
type Vec4<F> = Vector<F, Const<4>>;

#[cube]
fn vec4<F: Float>(x: F, y: F, z: F) -> Vec4<F> {
    let mut v = Vec4::<F>::new(F::new(0.0_f32));
    v.insert(0usize, x);
    v.insert(1usize, y);
    v.insert(2usize, z);
    v
}

#[cube]
fn dot<F: Float>(a: Vec4<F>, b: Vec4<F>) -> F {
    a.extract(0usize) * b.extract(0usize)
        + a.extract(1usize) * b.extract(1usize)
        + a.extract(2usize) * b.extract(2usize)
}

/// Machine epsilon of `F`. (`F::EPSILON` is the half-precision value for every `F`.)
#[cube]
fn rounding<F: Float>() -> F {
    let single = F::new(f32::EPSILON);
    if F::size_bits().comptime() <= 32 {
        single
    } else {
        let root = single / F::new(8.0_f32);
        root * root
    }
}

/// Nominal number of particles, for the choice of the cube size. It is independent of the actual
/// number: a kernel is compiled for a cube size, and a smaller batch should not compile another.
const MANY: usize = 1 << 20;

/// Compile-time parameters of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Form {
    scheme: Scheme,
    kind: FieldKind,
    outside: Outside,
    in_time: TimeInterpolation,
    /// Whether the field has a single frame.
    steady: bool,
    /// Whether any axis is periodic, so that stages are wrapped.
    periodic: bool,
    /// Whether slots are re-used.
    reuses_slots: bool,
    /// Whether there are obstacles, and whether any is a triangulated surface.
    obstacles: bool,
    surfaces: bool,
    /// Whether steps are adaptive.
    adaptive: bool,
    /// The random walk.
    walk: WalkForm,
}

/// Compile-time parameters of a random walk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct WalkForm {
    is_on: bool,
    varies: bool,
    is_milstein: bool,
}

impl WalkForm {
    fn new(walk: Option<&Walk>) -> Self {
        walk.map_or_else(WalkForm::default, |walk| WalkForm {
            is_on: true,
            varies: walk.varies,
            is_milstein: walk.scheme == WalkScheme::Milstein,
        })
    }
}

/// Compile-time parameters of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum FieldKind {
    Grid(Spacing, Placement),
    Nearest,
    /// The mean of `neighbours` nodes, weighted by the inverse square of the distance or by another
    /// power.
    InverseDistance {
        neighbours: usize,
        is_square: bool,
    },
    Mesh(MeshKind),
}

impl FieldKind {
    fn of(shape: &FieldShape) -> Self {
        match shape {
            FieldShape::Grid(grid) => FieldKind::Grid(grid.spacing, grid.placement),
            FieldShape::Points(points) => match points.weighting {
                Weighting::Nearest => FieldKind::Nearest,
                Weighting::InverseDistance { neighbours, power } => {
                    FieldKind::InverseDistance { neighbours, is_square: power == 2.0 }
                }
            },
            FieldShape::Mesh(mesh) => FieldKind::Mesh(MeshKind::of(mesh)),
        }
    }

    fn is_grid(self) -> bool {
        matches!(self, FieldKind::Grid(..))
    }

    fn is_uniform(self) -> bool {
        matches!(self, FieldKind::Grid(Spacing::Uniform, _))
    }

    fn is_cells(self) -> bool {
        matches!(self, FieldKind::Grid(_, Placement::Cells))
    }

    fn is_mesh(self) -> bool {
        matches!(self, FieldKind::Mesh(_))
    }

    /// The mesh parameters; [`MeshKind::NONE`] for other fields.
    fn mesh(self) -> MeshKind {
        match self {
            FieldKind::Mesh(mesh) => mesh,
            _ => MeshKind::NONE,
        }
    }

    /// Vector width of the coordinate tensor: 4 for a mesh, because records are read in fours.
    fn coords_at_once(self) -> usize {
        if self.is_mesh() { 4 } else { 1 }
    }

    fn is_nearest(self) -> bool {
        self == FieldKind::Nearest
    }

    fn is_square(self) -> bool {
        matches!(self, FieldKind::InverseDistance { is_square: true, .. })
    }

    /// Number of nodes in the weighted mean.
    fn neighbours(self) -> usize {
        match self {
            FieldKind::InverseDistance { neighbours, .. } => neighbours,
            _ => 1,
        }
    }
}

impl Form {
    fn new(field: &Sampled<CubeBackend>, segment: &Segment) -> Self {
        Form {
            scheme: segment.scheme,
            kind: FieldKind::of(&field.shape),
            outside: segment.clock.outside,
            in_time: segment.clock.in_time,
            steady: segment.clock.frame_intervals.is_empty(),
            periodic: (0..3).any(|axis| segment.boundary.is_periodic(axis)),
            reuses_slots: segment.reinjection.is_some(),
            obstacles: !segment.obstacles.is_empty(),
            surfaces: surfaces(&segment.obstacles).next().is_some(),
            adaptive: segment.adaptive.is_some(),
            walk: WalkForm::new(segment.walk.as_ref()),
        }
    }
}

/// `TraceBackend::advance` on a CubeCL device.
pub(crate) fn advance(
    state: State<CubeBackend>,
    field: Sampled<CubeBackend>,
    geometry: Geometry<CubeBackend>,
    segment: &Segment,
) -> Advanced<CubeBackend> {
    let form = Form::new(&field, segment);
    let state = State::<CubeBackend> {
        position: own(state.position),
        record: own(state.record),
        fraction: own(state.fraction),
    };
    let client = state.position.client.clone();
    let count = state.fraction.meta.shape()[0];
    let dtype = state.position.dtype;
    let rows = geometry.rows.meta.shape()[0];
    let row = rows - obstacles::rows(&segment.obstacles);
    let tables = Tables::new(&field.shape, segment, row).upload(&client, dtype);
    let log_rows = segment.reinjection.as_ref().map(|reinjection| reinjection.log_rows);
    let rows = log_rows.map_or(1, |log_rows| log_rows * count);
    let empty = |shape: &[usize], like: &CubeTensor| {
        empty_device_dtype(client.clone(), like.device.clone(), shape.into(), like.dtype)
    };
    let log_index = empty(&[rows, LOG_INDEX], &state.record);
    let log_position = empty(&[rows, LOG_POSITION], &state.position);
    let log_count = empty(&[log_rows.map_or(1, |_| count)], &state.record);
    let dim = CubeDim::new(&client, MANY);
    step::advance_kernel::launch(
        &client,
        calculate_cube_count_elemwise(&client, count, dim),
        dim,
        form.kind.coords_at_once(),
        state.position.clone().into_buffer_arg(),
        state.record.clone().into_buffer_arg(),
        state.fraction.clone().into_buffer_arg(),
        log_index.clone().into_buffer_arg(),
        log_position.clone().into_buffer_arg(),
        log_count.clone().into_buffer_arg(),
        into_contiguous(geometry.rows).into_buffer_arg(),
        into_contiguous(geometry.numbers).into_buffer_arg(),
        into_contiguous(field.velocity).into_buffer_arg(),
        into_contiguous(field.coordinates).into_buffer_arg(),
        into_contiguous(field.index).into_buffer_arg(),
        tables.floats,
        tables.ints,
        form,
        dtype_to_storage_type(dtype),
    );
    let State { position, record, fraction } = state;
    Advanced { position, record, fraction, log_index, log_position, log_count }
}

/// `TraceBackend::locate` on a CubeCL device.
///
/// # Panics
///
/// If the field is not on a mesh.
pub(crate) fn locate(position: CubeTensor, field: Sampled<CubeBackend>) -> CubeTensor {
    let FieldKind::Mesh(mesh) = FieldKind::of(&field.shape) else {
        panic!("locate: the field is not on a mesh");
    };
    let position = into_contiguous(position);
    let client = position.client.clone();
    let count = position.meta.shape()[0];
    let dtype = position.dtype;
    let tables = Tables::of_field(&field.shape).upload(&client, dtype);
    let index = into_contiguous(field.index);
    let device = position.device.clone();
    let cells = empty_device_dtype(client.clone(), device, [count].into(), index.dtype);
    let dim = CubeDim::new(&client, MANY);
    mesh::locate_kernel::launch(
        &client,
        calculate_cube_count_elemwise(&client, count, dim),
        dim,
        position.into_buffer_arg(),
        cells.clone().into_buffer_arg(),
        into_contiguous(field.coordinates).into_buffer_arg(),
        index.into_buffer_arg(),
        tables.floats,
        tables.ints,
        mesh,
        dtype_to_storage_type(dtype),
    );
    cells
}

/// A contiguous tensor without other references, so that the kernel may write to it.
fn own(tensor: CubeTensor) -> CubeTensor {
    let tensor = into_contiguous(tensor);
    if tensor.can_mut() { tensor } else { tensor.copy() }
}

/// `TraceBackend::sample` on a CubeCL device.
pub(crate) fn sample(
    position: CubeTensor,
    field: Sampled<CubeBackend>,
    segment: &Segment,
) -> CubeTensor {
    let form = Form::new(&field, segment);
    let position = into_contiguous(position);
    let client = position.client.clone();
    let shape = position.meta.shape().clone();
    let count = shape[0];
    let dtype = position.dtype;
    let tables = Tables::new(&field.shape, segment, 0).upload(&client, dtype);
    let velocity = empty_device_dtype(client.clone(), position.device.clone(), shape, dtype);
    let dim = CubeDim::new(&client, MANY);
    step::sample_kernel::launch(
        &client,
        calculate_cube_count_elemwise(&client, count, dim),
        dim,
        form.kind.coords_at_once(),
        position.into_buffer_arg(),
        velocity.clone().into_buffer_arg(),
        into_contiguous(field.velocity).into_buffer_arg(),
        into_contiguous(field.coordinates).into_buffer_arg(),
        into_contiguous(field.index).into_buffer_arg(),
        tables.floats,
        tables.ints,
        form,
        dtype_to_storage_type(dtype),
    );
    velocity
}
