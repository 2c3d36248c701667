//! The sums on a CubeCL device: a thread for each node or point looks for the particles that reach it.
//! What the kernels compute is what `cpu` does.

mod course;
mod gather;
mod tables;

use super::{
    kernel::Profile,
    ops::{NodeGrid, Sources},
};
use burn::backend::cubecl::dtype_to_storage_type;
use burn_cubecl::{
    CubeBackend,
    cubecl::{self, calculate_cube_count_elemwise, prelude::*},
    kernel::into_contiguous,
    ops::numeric::empty_device_dtype,
    tensor::CubeTensor,
};
use tables::Tables;

/// What a kernel is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Form {
    profile: Profile,
    /// Whether it is cut off where a coordinate, and not the distance, is too great.
    is_box: bool,
    /// Whether the places are nodes of a lattice, or points one by one.
    is_lattice: bool,
}

impl Form {
    fn is_gaussian(self) -> bool {
        matches!(self.profile, Profile::Gaussian | Profile::RoundGaussian)
    }
}

/// The number of places for which a cube's size is chosen, whatever their number: a kernel is compiled
/// for a size, and another number should compile nothing new.
const MANY: usize = 1 << 20;

/// `DensityBackend::density_at` on a CubeCL device.
pub(super) fn at(points: CubeTensor, sources: Sources<CubeBackend>) -> CubeTensor {
    let count = points.meta.shape()[0];
    let points = into_contiguous(points).into_buffer_arg();
    launch(points, count, None, sources)
}

/// `DensityBackend::density_on_nodes` on a CubeCL device.
pub(super) fn on_nodes(sources: Sources<CubeBackend>, grid: &NodeGrid) -> CubeTensor {
    let count = grid.counts.iter().product();
    let client = &sources.rows.client;
    let none = client.create_from_slice(bytemuck::bytes_of(&0.0_f64));
    // SAFETY: the buffer has eight bytes, which is one number at least.
    let none = unsafe { BufferArg::from_raw_parts(none, 1) };
    launch(none, count, Some(grid), sources)
}

fn launch(
    points: BufferArg,
    count: usize,
    grid: Option<&NodeGrid>,
    sources: Sources<CubeBackend>,
) -> CubeTensor {
    let Sources { rows, starts, cells, smoother } = sources;
    let rows = into_contiguous(rows);
    let (client, dtype) = (rows.client.clone(), rows.dtype);
    let profile = smoother.profile;
    let is_box = profile == Profile::Gaussian;
    let form = Form { profile, is_box, is_lattice: grid.is_some() };
    let tables = Tables::new(&cells, &smoother, grid).upload(&client, dtype);
    let sums = empty_device_dtype(client.clone(), rows.device.clone(), [count].into(), dtype);
    let dim = CubeDim::new(&client, MANY);
    gather::density_kernel::launch(
        &client,
        calculate_cube_count_elemwise(&client, count, dim),
        dim,
        points,
        sums.clone().into_buffer_arg(),
        rows.into_buffer_arg(),
        into_contiguous(starts).into_buffer_arg(),
        tables.floats,
        tables.ints,
        form,
        dtype_to_storage_type(dtype),
    );
    sums
}
