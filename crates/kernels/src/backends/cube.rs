//! CubeCL devices: WGPU, Vulkan, CUDA, Metal, ROCm.

use super::{
    fields::{self, Part},
    through_host,
};
use crate::{
    Segment, TraceBackend, cube,
    ops::{
        Advanced, Ends, Geometry, PulledBack, PulledBackEnds, Sampled, State, TraceAdjoint, Wanted,
    },
};
use burn::backend::{
    ops::FloatTensorOps,
    tensor::{FloatTensor, IntTensor},
};
use burn_cubecl::CubeBackend;

impl TraceBackend for CubeBackend {
    fn advance(
        state: State<Self>,
        field: Sampled<Self>,
        geometry: Geometry<Self>,
        segment: Segment,
    ) -> Advanced<Self> {
        if segment.fields > 1 {
            let parts = fields::each(&state, &field, &segment).into_iter();
            let of = |Part { state, field, segment, .. }| {
                Self::advance(state, field, geometry.clone(), segment)
            };
            return fields::advanced(parts.map(of).collect());
        }
        cube::advance(state, field, geometry, &segment)
    }

    /// On the host, as gradients.
    fn push_forward(
        state: State<Self>,
        field: Sampled<Self>,
        geometry: Geometry<Self>,
        tangents: FloatTensor<Self>,
        segment: Segment,
    ) -> FloatTensor<Self> {
        through_host::push_forward(state, field, geometry, tangents, segment)
    }

    fn settle(
        state: State<Self>,
        ends: Ends<Self>,
        field: Sampled<Self>,
        geometry: Geometry<Self>,
        segment: Segment,
    ) -> Advanced<Self> {
        cube::settle((state, ends), field, geometry, &segment)
    }

    /// On the host, as gradients.
    fn carry(
        state: State<Self>,
        ends: Ends<Self>,
        field: Sampled<Self>,
        geometry: Geometry<Self>,
        velocities: FloatTensor<Self>,
        segment: Segment,
    ) -> FloatTensor<Self> {
        through_host::carry((state, ends), field, geometry, velocities, segment)
    }

    fn sample(
        state: State<Self>,
        field: Sampled<Self>,
        first_group: usize,
        segment: Segment,
    ) -> FloatTensor<Self> {
        if segment.fields > 1 {
            let parts = fields::each(&state, &field, &segment).into_iter();
            let of = |Part { state, field, segment, .. }| {
                Self::sample(state, field, first_group, segment)
            };
            return Self::float_cat(parts.map(of).collect(), 0);
        }
        cube::sample(state, field, first_group, &segment)
    }

    fn locate(position: FloatTensor<Self>, field: Sampled<Self>) -> IntTensor<Self> {
        cube::locate(position, field)
    }
}

impl TraceAdjoint for CubeBackend {
    /// The host takes the steps again and reverses them: cards have no adjoint yet.
    fn pull_back(
        state: State<Self>,
        field: Sampled<Self>,
        geometry: Geometry<Self>,
        gradient: FloatTensor<Self>,
        wanted: Wanted,
        segment: Segment,
    ) -> PulledBack<Self> {
        through_host::pull_back(state, field, geometry, (gradient, wanted), segment)
    }

    /// As `pull_back`, on the host.
    fn pull_back_settling(
        state: State<Self>,
        ends: Ends<Self>,
        field: Sampled<Self>,
        geometry: Geometry<Self>,
        gradient: FloatTensor<Self>,
        segment: Segment,
    ) -> PulledBackEnds<Self> {
        through_host::pull_back_settling((state, ends), field, geometry, gradient, segment)
    }

    /// As `pull_back`, on the host.
    fn pull_back_carrying(
        state: State<Self>,
        ends: Ends<Self>,
        field: Sampled<Self>,
        geometry: Geometry<Self>,
        velocities: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        segment: Segment,
    ) -> FloatTensor<Self> {
        let launch = (state, ends);
        through_host::pull_back_carrying(launch, field, geometry, (velocities, gradient), segment)
    }
}
