//! The fused step on a CubeCL device: one thread per particle, all steps of a segment in one
//! launch, the particle's state in registers.

mod formula;
mod frame_pair;
mod grid;
pub(crate) mod launch;
pub(crate) mod mesh;
mod particle;
mod points;
mod progress;
pub(crate) mod reinjection;
mod sampler;
mod settle;
mod settling;
mod stages;
mod step;
pub mod upload;
mod walk;

use crate::{
    LOG_INDEX, LOG_POSITION, Scheme, Segment,
    geometry::table_rows,
    ops::{Advanced, Geometry, Sampled, State},
    physics::{
        features::Features,
        prelude::device::rounding,
        tables::Tables,
        vector::device::{dot, vec3 as vec4},
    },
};
use burn::backend::cubecl::dtype_to_storage_type;
use burn_cubecl::{
    CubeBackend,
    cubecl::{self, calculate_cube_count_elemwise, prelude::*},
    kernel::into_contiguous,
    ops::numeric::empty_device_contiguous_dtype,
    tensor::CubeTensor,
};
use launch::{EndLogLaunch, LaunchLaunch, RowsLaunch};
pub(crate) use sampler::FieldKind;
pub(crate) use settling::settle;
use upload::{DeviceTables, upload};

/// Position or velocity in registers; the fourth lane of a sample is a diffusivity or 0.
type Vec4<F> = Vector<F, Const<4>>;

/// Nominal number of particles, for the choice of the cube size. It is independent of the actual
/// number: a kernel is compiled for a cube size, and a smaller batch should not compile another.
const MANY: usize = 1 << 20;

/// Compile-time parameters of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Form {
    pub scheme: Scheme,
    pub kind: FieldKind,
}

impl Form {
    fn new(field: &Sampled<CubeBackend>, segment: &Segment) -> Self {
        Form { scheme: segment.scheme, kind: FieldKind::of(&field.shape) }
    }
}

/// `TraceBackend::advance` on a CubeCL device.
pub(crate) fn advance(
    state: State<CubeBackend>,
    field: Sampled<CubeBackend>,
    geometry: Geometry<CubeBackend>,
    segment: &Segment,
) -> Advanced<CubeBackend> {
    assert!(segment.slots.is_none(), "rows must be in the order of slots");
    let form = (Form::new(&field, segment), Features::new(&field.shape, segment));
    let state = State::<CubeBackend> {
        position: own(state.position),
        record: own(state.record),
        fraction: own(state.fraction),
    };
    let client = state.position.client.clone();
    let count = state.fraction.meta.shape()[0];
    let dtype = state.position.dtype;
    let first_row = geometry.rows.meta.shape()[0] - table_rows(&segment.obstacles, &segment.gates);
    let tables = Tables::new((&field.shape, field.groups), segment, first_row);
    let log = Log::new(&state, segment);
    let dim = CubeDim::new(&client, MANY);
    step::advance_kernel::launch(
        &client,
        calculate_cube_count_elemwise(&client, count, dim),
        dim,
        rows(&state),
        log.launch(),
        count,
        buffers(&client, field, Some(geometry), tables, form),
        dtype_to_storage_type(dtype),
    );
    log.with(state)
}

/// The tensors of a log of ends.
struct Log {
    index: CubeTensor,
    position: CubeTensor,
    count: CubeTensor,
}

impl Log {
    fn new(state: &State<CubeBackend>, segment: &Segment) -> Self {
        let count = state.fraction.meta.shape()[0];
        let has_rows = segment.reinjection.is_some() || !segment.gates.is_empty();
        let rows = if has_rows { segment.log_rows * count } else { 1 };
        let empty = |shape: &[usize], like: &CubeTensor| {
            let (client, device) = (like.client.clone(), like.device.clone());
            empty_device_contiguous_dtype(client, device, shape.into(), like.dtype)
        };
        Log {
            index: empty(&[rows, LOG_INDEX], &state.record),
            position: empty(&[rows, LOG_POSITION], &state.position),
            count: empty(&[if has_rows { count } else { 1 }], &state.record),
        }
    }

    fn launch<F: Float>(&self) -> EndLogLaunch<F> {
        EndLogLaunch::new(
            self.index.clone().into_buffer_arg(),
            self.position.clone().into_buffer_arg(),
            self.count.clone().into_buffer_arg(),
        )
    }

    /// The result of a launch.
    fn with(self, state: State<CubeBackend>) -> Advanced<CubeBackend> {
        Advanced {
            position: state.position,
            record: state.record,
            fraction: state.fraction,
            log_index: self.index,
            log_position: self.position,
            log_count: self.count,
        }
    }
}

/// The buffers of particles.
fn rows<F: Float>(state: &State<CubeBackend>) -> RowsLaunch<F> {
    RowsLaunch::new(
        state.position.clone().into_buffer_arg(),
        state.record.clone().into_buffer_arg(),
        state.fraction.clone().into_buffer_arg(),
    )
}

/// The buffers that a launch reads.
fn buffers<F: Float>(
    client: &Client,
    field: Sampled<CubeBackend>,
    geometry: Option<Geometry<CubeBackend>>,
    tables: Tables,
    (form, features): (Form, Features),
) -> LaunchLaunch<F> {
    let velocity = into_contiguous(field.velocity);
    let coordinates = into_contiguous(field.coordinates);
    let DeviceTables { floats, ints } =
        upload(client, velocity.dtype, &tables.floats, &tables.ints);
    let index = into_contiguous(field.index);
    let (rows, numbers) = match geometry {
        Some(geometry) => (into_contiguous(geometry.rows), into_contiguous(geometry.numbers)),
        None => (coordinates.clone(), index.clone()),
    };
    // The coordinates of a mesh are read in fours; those of other fields need not be that many.
    let records = if form.kind.is_mesh() { coordinates.clone() } else { velocity.clone() };
    LaunchLaunch::new(
        floats,
        ints,
        rows.into_buffer_arg(),
        numbers.into_buffer_arg(),
        velocity.into_buffer_arg(),
        coordinates.into_buffer_arg(),
        records.into_buffer_arg(),
        index.into_buffer_arg(),
        features,
        form,
    )
}

/// `TraceBackend::locate` on a CubeCL device.
///
/// # Panics
///
/// If the field is not on a mesh.
pub(crate) fn locate(position: CubeTensor, field: Sampled<CubeBackend>) -> CubeTensor {
    let kind = FieldKind::of(&field.shape);
    assert!(kind.is_mesh(), "locate: the field is not on a mesh");
    let form = (Form { scheme: Scheme::default(), kind }, Features::default());
    let position = into_contiguous(position);
    let client = position.client.clone();
    let count = position.meta.shape()[0];
    let dtype = position.dtype;
    let tables = Tables::of_field(&field.shape);
    let device = position.device.clone();
    let cells =
        empty_device_contiguous_dtype(client.clone(), device, [count].into(), field.index.dtype);
    let dim = CubeDim::new(&client, MANY);
    mesh::locate_kernel::launch(
        &client,
        calculate_cube_count_elemwise(&client, count, dim),
        dim,
        position.into_buffer_arg(),
        cells.clone().into_buffer_arg(),
        count,
        buffers(&client, field, None, tables, form),
        dtype_to_storage_type(dtype),
    );
    cells
}

/// `TraceBackend::sample` on a CubeCL device.
pub(crate) fn sample(
    state: State<CubeBackend>,
    field: Sampled<CubeBackend>,
    first_group: usize,
    segment: &Segment,
) -> CubeTensor {
    let form = (Form::new(&field, segment), Features::new(&field.shape, segment));
    let position = into_contiguous(state.position);
    let client = position.client.clone();
    let (count, dtype) = (position.meta.shape()[0], position.dtype);
    let tables = Tables::new((&field.shape, field.groups), segment, 0);
    let shape = [count, 4 * (field.groups - first_group)].into();
    let values =
        empty_device_contiguous_dtype(client.clone(), position.device.clone(), shape, dtype);
    let dim = CubeDim::new(&client, MANY);
    step::sample_kernel::launch(
        &client,
        calculate_cube_count_elemwise(&client, count, dim),
        dim,
        position.into_buffer_arg(),
        into_contiguous(state.record).into_buffer_arg(),
        values.clone().into_buffer_arg(),
        count,
        first_group,
        buffers(&client, field, None, tables, form),
        dtype_to_storage_type(dtype),
    );
    values
}

/// A contiguous tensor without other references, so that the kernel may write to it. Devices may pad the rows of a copy.
fn own(tensor: CubeTensor) -> CubeTensor {
    let tensor = into_contiguous(tensor);
    if tensor.can_mut() { tensor } else { into_contiguous(tensor.copy()) }
}
