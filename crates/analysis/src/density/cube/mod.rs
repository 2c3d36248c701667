//! Kernel sums on a CubeCL device: one thread per node or point searches for the particles within reach.
//! The arithmetic is the same as in `cpu`.

mod gather;
mod radial;
mod tables;

use super::{
    ops::{NodeGrid, Sources},
    profile::Profile,
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

/// Compile-time parameters of a device kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct KernelVariant {
    profile: Profile,
    /// Whether the profile is truncated in each coordinate instead of at a distance.
    is_box: bool,
    /// Whether the evaluation points are nodes of a lattice instead of a list of points.
    is_lattice: bool,
}

impl KernelVariant {
    fn is_gaussian(self) -> bool {
        matches!(self.profile, Profile::Gaussian | Profile::RoundGaussian)
    }
}

/// The nominal number of evaluation points, which determines the cube size. A kernel is compiled for
/// one cube size, so the size must not depend on the actual number.
const NOMINAL_POINTS: usize = 1 << 20;

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
    let unused = client.create_from_slice(bytemuck::bytes_of(&0.0_f64));
    // SAFETY: the buffer has eight bytes, enough for one number.
    let unused = unsafe { BufferArg::from_raw_parts(unused, 1) };
    launch(unused, count, Some(grid), sources)
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
    let variant = KernelVariant { profile, is_box, is_lattice: grid.is_some() };
    let tables = Tables::new(&cells, &smoother, grid).upload(&client, dtype);
    let sums = empty_device_dtype(client.clone(), rows.device.clone(), [count].into(), dtype);
    let dim = CubeDim::new(&client, NOMINAL_POINTS);
    gather::density_kernel::launch(
        &client,
        calculate_cube_count_elemwise(&client, count, dim),
        dim,
        points,
        sums.clone().into_buffer_arg(),
        gather::ParticlesLaunch::new(
            rows.into_buffer_arg(),
            into_contiguous(starts).into_buffer_arg(),
            tables.floats,
            tables.ints,
        ),
        variant,
        dtype_to_storage_type(dtype),
    );
    sums
}
