//! The fused step on a CubeCL device: one particle a thread, all steps of a segment in one
//! launch, the particle's state in registers.

mod adapt;
mod edge;
mod frame_pair;
mod grid;
mod lives;
mod mesh;
mod obstacles;
mod particle;
mod points;
mod random;
mod settle;
mod stages;
mod step;
mod tables;
pub mod upload;
mod walk;
mod walls;

use crate::{
    FieldShape, LOG_INDEX, LOG_PLACE, Outside, Placement, Scheme, Segment, Spacing,
    TimeInterpolation, Walk, WalkScheme, Weighting,
    functions::surfaces,
    ops::{Advanced, Placed, Sampled, State},
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

/// Position or velocity in a register; the fourth lane is not used.
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

/// The distance from 1 to the next number. `F::EPSILON` is that of half precision, whatever `F` is.
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

/// The number of particles for which a cube's size is chosen, whatever their number: a kernel is
/// compiled for a size, and a smaller batch should compile nothing new.
const MANY: usize = 1 << 20;

/// What a kernel is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Form {
    scheme: Scheme,
    kind: Kind,
    outside: Outside,
    in_time: TimeInterpolation,
    /// One frame only: time does not matter.
    steady: bool,
    /// Whether any axis is periodic, so that stages are wrapped.
    periodic: bool,
    /// Whether anything follows the ends of lives.
    lives: bool,
    /// Whether there are obstacles, and whether any is a surface of triangles.
    obstacles: bool,
    surfaces: bool,
    /// Whether the lengths of steps follow from their errors.
    adaptive: bool,
    /// The random walk.
    walk: WalkForm,
}

/// What of a random walk is known when a kernel is compiled.
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

/// A kind of field, and what of it is known when a kernel is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Grid(Spacing, Placement),
    Nearest,
    /// The mean of so many nodes, weighted by the inverse square of the distance or by another
    /// power.
    InverseDistance {
        neighbours: usize,
        is_square: bool,
    },
    Mesh(MeshKind),
}

impl Kind {
    fn of(shape: &FieldShape) -> Self {
        match shape {
            FieldShape::Grid(grid) => Kind::Grid(grid.spacing, grid.placement),
            FieldShape::Points(points) => match points.weighting {
                Weighting::Nearest => Kind::Nearest,
                Weighting::InverseDistance { neighbours, power } => {
                    Kind::InverseDistance { neighbours, is_square: power == 2.0 }
                }
            },
            FieldShape::Mesh(mesh) => Kind::Mesh(MeshKind::of(mesh)),
        }
    }

    fn is_grid(self) -> bool {
        matches!(self, Kind::Grid(..))
    }

    fn is_uniform(self) -> bool {
        matches!(self, Kind::Grid(Spacing::Uniform, _))
    }

    fn is_cells(self) -> bool {
        matches!(self, Kind::Grid(_, Placement::Cells))
    }

    fn is_mesh(self) -> bool {
        matches!(self, Kind::Mesh(_))
    }

    /// What is known of a mesh; of another field, what a mesh without cells would be.
    fn mesh(self) -> MeshKind {
        match self {
            Kind::Mesh(mesh) => mesh,
            _ => MeshKind::NONE,
        }
    }

    /// Places that are read at once: those of a mesh come in fours.
    fn places_at_once(self) -> usize {
        if self.is_mesh() { 4 } else { 1 }
    }

    fn is_nearest(self) -> bool {
        self == Kind::Nearest
    }

    fn is_square(self) -> bool {
        matches!(self, Kind::InverseDistance { is_square: true, .. })
    }

    /// Nodes that a velocity is the mean of.
    fn neighbours(self) -> usize {
        match self {
            Kind::InverseDistance { neighbours, .. } => neighbours,
            _ => 1,
        }
    }
}

impl Form {
    fn new(field: &Sampled<CubeBackend>, segment: &Segment) -> Self {
        Form {
            scheme: segment.scheme,
            kind: Kind::of(&field.shape),
            outside: segment.clock.outside,
            in_time: segment.clock.in_time,
            steady: segment.clock.gaps.is_empty(),
            periodic: (0..3).any(|axis| segment.boundary.is_periodic(axis)),
            lives: segment.reinjection.is_some(),
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
    placed: Placed<CubeBackend>,
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
    let rows = placed.rows.meta.shape()[0];
    let row = rows - obstacles::rows(&segment.obstacles);
    let tables = Tables::new(&field.shape, segment, row).upload(&client, dtype);
    let room = segment.reinjection.as_ref().map(|reinjection| reinjection.room);
    let rows = room.map_or(1, |room| room * count);
    let empty = |shape: &[usize], like: &CubeTensor| {
        empty_device_dtype(client.clone(), like.device.clone(), shape.into(), like.dtype)
    };
    let log_index = empty(&[rows, LOG_INDEX], &state.record);
    let log_place = empty(&[rows, LOG_PLACE], &state.position);
    let log_count = empty(&[room.map_or(1, |_| count)], &state.record);
    let dim = CubeDim::new(&client, MANY);
    step::advance_kernel::launch(
        &client,
        calculate_cube_count_elemwise(&client, count, dim),
        dim,
        form.kind.places_at_once(),
        state.position.clone().into_buffer_arg(),
        state.record.clone().into_buffer_arg(),
        state.fraction.clone().into_buffer_arg(),
        log_index.clone().into_buffer_arg(),
        log_place.clone().into_buffer_arg(),
        log_count.clone().into_buffer_arg(),
        into_contiguous(placed.rows).into_buffer_arg(),
        into_contiguous(placed.numbers).into_buffer_arg(),
        into_contiguous(field.velocity).into_buffer_arg(),
        into_contiguous(field.places).into_buffer_arg(),
        into_contiguous(field.index).into_buffer_arg(),
        tables.floats,
        tables.ints,
        form,
        dtype_to_storage_type(dtype),
    );
    let State { position, record, fraction } = state;
    Advanced { position, record, fraction, log_index, log_place, log_count }
}

/// `TraceBackend::locate` on a CubeCL device.
///
/// # Panics
///
/// On a field that is not on a mesh.
pub(crate) fn locate(position: CubeTensor, field: Sampled<CubeBackend>) -> CubeTensor {
    let Kind::Mesh(mesh) = Kind::of(&field.shape) else {
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
        into_contiguous(field.places).into_buffer_arg(),
        index.into_buffer_arg(),
        tables.floats,
        tables.ints,
        mesh,
        dtype_to_storage_type(dtype),
    );
    cells
}

/// A tensor that nothing else refers to, so that the kernel may write to it.
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
        form.kind.places_at_once(),
        position.into_buffer_arg(),
        velocity.clone().into_buffer_arg(),
        into_contiguous(field.velocity).into_buffer_arg(),
        into_contiguous(field.places).into_buffer_arg(),
        into_contiguous(field.index).into_buffer_arg(),
        tables.floats,
        tables.ints,
        form,
        dtype_to_storage_type(dtype),
    );
    velocity
}
