//! Flex, Burn's CPU backend.

use super::host;
use crate::density::ops::{DensityBackend, NodeGrid, Sources};
use burn::backend::{Flex, tensor::FloatTensor};

impl DensityBackend for Flex {
    fn density_at(points: FloatTensor<Self>, sources: Sources<Self>) -> FloatTensor<Self> {
        host::at(points, sources)
    }

    fn density_on_nodes(sources: Sources<Self>, grid: NodeGrid) -> FloatTensor<Self> {
        host::on_nodes(sources, &grid)
    }
}
