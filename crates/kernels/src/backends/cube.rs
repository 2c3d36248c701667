//! Every CubeCL device: WGPU, Vulkan, CUDA, Metal, ROCm.

use crate::{
    Segment, TraceBackend, cube,
    ops::{Grid, State},
};
use burn::backend::tensor::FloatTensor;
use burn_cubecl::CubeBackend;

impl TraceBackend for CubeBackend {
    fn advance(state: State<Self>, grid: Grid<Self>, segment: Segment) -> State<Self> {
        cube::advance(state, grid, &segment)
    }

    fn sample(
        position: FloatTensor<Self>,
        grid: Grid<Self>,
        segment: Segment,
    ) -> FloatTensor<Self> {
        cube::sample(position, grid, &segment)
    }
}
