//! Every CubeCL device: WGPU, Vulkan, CUDA, Metal, ROCm.

use crate::{
    Segment, TraceBackend, cube,
    ops::{Advanced, Placed, Sampled, State},
};
use burn::backend::tensor::{FloatTensor, IntTensor};
use burn_cubecl::CubeBackend;

impl TraceBackend for CubeBackend {
    fn advance(
        state: State<Self>,
        field: Sampled<Self>,
        placed: Placed<Self>,
        segment: Segment,
    ) -> Advanced<Self> {
        cube::advance(state, field, placed, &segment)
    }

    fn sample(
        position: FloatTensor<Self>,
        field: Sampled<Self>,
        segment: Segment,
    ) -> FloatTensor<Self> {
        cube::sample(position, field, &segment)
    }

    fn locate(position: FloatTensor<Self>, field: Sampled<Self>) -> IntTensor<Self> {
        cube::locate(position, field)
    }
}
