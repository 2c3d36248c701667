//! The backend extension.

#![allow(deprecated)] // the NdArray backend, which people ask for by name

use super::{cells::Cells, smoother::Smoother};
use burn::backend::{
    Backend, ExtensionType, backend_extension,
    tensor::{FloatTensor, IntTensor},
};

/// Particles and their images in the order of cells, on a backend. Coordinates are counted from the
/// corner of the cells.
#[derive(ExtensionType)]
pub struct Sources<B: Backend> {
    /// All x, padded, all y, all z, all weights `[4, sources + PADDING]`.
    pub rows: FloatTensor<B>,
    /// Where the particles of each cell begin, and the end `[cells + 1]`.
    pub starts: IntTensor<B>,
    /// The cells.
    pub cells: Cells,
    /// The kernel, its scale with the unit of the weights in it.
    pub smoother: Smoother,
}

/// Nodes of a lattice, counted from the corner of the cells; x goes fastest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NodeGrid {
    /// How many there are along each axis.
    pub counts: [usize; 3],
    /// The first one.
    pub first: [f64; 3],
    /// The distance between two; 0 where there is one.
    pub pitch: [f64; 3],
}

/// The operations that densities add to a Burn backend.
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
