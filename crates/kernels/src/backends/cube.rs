//! CubeCL devices: WGPU, Vulkan, CUDA, Metal, ROCm.

use crate::{
    Segment, TraceBackend, cube,
    ops::{Advanced, Geometry, Sampled, State},
};
use burn::backend::tensor::{FloatTensor, IntTensor};
use burn_cubecl::CubeBackend;

impl TraceBackend for CubeBackend {
    fn advance(
        state: State<Self>,
        field: Sampled<Self>,
        geometry: Geometry<Self>,
        segment: Segment,
    ) -> Advanced<Self> {
        cube::advance(state, field, geometry, &segment)
    }

    fn sample(state: State<Self>, field: Sampled<Self>, segment: Segment) -> FloatTensor<Self> {
        cube::sample(state, field, &segment)
    }

    fn locate(position: FloatTensor<Self>, field: Sampled<Self>) -> IntTensor<Self> {
        cube::locate(position, field)
    }
}
