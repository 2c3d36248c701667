//! CubeCL devices: WGPU, Vulkan, CUDA, Metal, ROCm.

use crate::density::{
    cube,
    ops::{DensityBackend, NodeGrid, Sources},
};
use burn::backend::tensor::FloatTensor;
use burn_cubecl::CubeBackend;

impl DensityBackend for CubeBackend {
    fn density_at(points: FloatTensor<Self>, sources: Sources<Self>) -> FloatTensor<Self> {
        cube::at(points, sources)
    }

    fn density_on_nodes(sources: Sources<Self>, grid: NodeGrid) -> FloatTensor<Self> {
        cube::on_nodes(sources, &grid)
    }
}
