//! The Burn backend extension for densities.

#![allow(deprecated)] // the NdArray backend, still available by name

use super::{cells::SourceCells, smoother::Smoother};
use burn::backend::{
    Backend, ExtensionType, backend_extension,
    tensor::{FloatTensor, IntTensor},
};

/// Particles and their images on a backend, sorted by cell. Coordinates are relative to the low corner of
/// the cells.
#[derive(ExtensionType)]
pub struct Sources<B: Backend> {
    /// All x, all y, all z and all weights, each padded `[4, sources + PADDING]`.
    pub rows: FloatTensor<B>,
    /// Index of the first source of each cell, and the number of sources `[cells + 1]`.
    pub starts: IntTensor<B>,
    /// The cells.
    pub cells: SourceCells,
    /// The kernel; its scale includes the unit of the weights.
    pub smoother: Smoother,
}

/// Nodes of a lattice relative to the low corner of the cells, ordered with x fastest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NodeGrid {
    /// Number of nodes along each axis.
    pub counts: [usize; 3],
    /// Position of the first node.
    pub first: [f64; 3],
    /// Node spacing; 0 for a single node.
    pub pitch: [f64; 3],
}

/// Density operations of a Burn backend.
#[backend_extension(Flex, NdArray, Cube: cfg(feature = "cube"))]
pub trait DensityBackend: Backend {
    /// The sum of the sources' kernels at points `[m, 3]`.
    fn density_at(
        points: FloatTensor<Self>,
        #[extension_type] sources: Sources<Self>,
    ) -> FloatTensor<Self>;

    /// The sum of the sources' kernels at the nodes of a lattice, `[m]` in their order.
    fn density_on_nodes(
        #[extension_type] sources: Sources<Self>,
        grid: NodeGrid,
    ) -> FloatTensor<Self>;
}
