//! NdArray, Burn's deprecated CPU backend, still available by name.
#![allow(deprecated)]

use super::host;
use crate::density::ops::{DensityBackend, NodeGrid, Sources};
use burn::backend::tensor::FloatTensor;
use burn_ndarray::NdArray;

impl DensityBackend for NdArray {
    fn density_at(points: FloatTensor<Self>, sources: Sources<Self>) -> FloatTensor<Self> {
        host::at(points, sources)
    }

    fn density_on_nodes(sources: Sources<Self>, grid: NodeGrid) -> FloatTensor<Self> {
        host::on_nodes(sources, &grid)
    }
}
