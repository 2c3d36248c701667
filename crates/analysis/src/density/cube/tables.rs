//! Parameters shared by all threads, packed into two small buffers. The offsets defined here serve the
//! host, which writes the buffers, and the kernels, which read them.

use crate::density::{
    cells::{PADDING, SourceCells},
    ops::NodeGrid,
    smoother::Smoother,
};
use burn::backend::DType;
use burn_cubecl::cubecl::prelude::*;
use burntrace_kernels::device::{DeviceTables, upload};

/// Offset in the float buffer: the whitening matrix xx, xy, xz, yy, yz, zz.
pub(super) const MATRIX: usize = 0;
/// Truncation of the kernel in whitened coordinates.
pub(super) const CUT: usize = 6;
pub(super) const SCALE: usize = 7;
/// The first node and the node spacing along each axis.
pub(super) const FIRST: usize = 8;
pub(super) const PITCH: usize = 11;
/// Cells per unit of length and the search radius along each axis.
pub(super) const PER_LENGTH: usize = 14;
pub(super) const REACH: usize = 17;
/// `1 / ln 2`, and `ln 2` as a sum of a number with few digits and a correction.
pub(super) const LOG2_E: usize = 20;
pub(super) const LN_2: usize = 21;
/// `1 / k!` from k = 0.
pub(super) const TERMS: usize = 23;
pub(super) const TERM_COUNT: usize = 14;
/// `2^-k` from k = 0.
pub(super) const POWERS: usize = TERMS + TERM_COUNT;
pub(super) const POWER_COUNT: usize = 126;

/// Offsets in the integer buffer: nodes and cells along each axis, and the row length of the sources.
pub(super) const NODES: usize = 0;
pub(super) const CELLS: usize = 3;
pub(super) const ROW: usize = 6;

/// The two buffers on the host.
pub(super) struct Tables {
    floats: Vec<f64>,
    ints: Vec<i32>,
}

impl Tables {
    pub fn new(cells: &SourceCells, smoother: &Smoother, grid: Option<&NodeGrid>) -> Self {
        let a = &smoother.whitening;
        let mut floats = vec![a[0][0], a[0][1], a[0][2], a[1][1], a[1][2], a[2][2]];
        floats.extend([smoother.cutoff, smoother.scale]);
        floats.extend(grid.map_or([0.0; 3], |grid| grid.first));
        floats.extend(grid.map_or([0.0; 3], |grid| grid.pitch));
        floats.extend(cells.per_length);
        // A margin for rounding.
        floats.extend(smoother.reach.map(|reach| 1.001 * reach));
        floats.extend([std::f64::consts::LOG2_E, 0.693_359_375, -2.121_944_400_546_905_8e-4]);
        let mut term = 1.0;
        for k in 1..=TERM_COUNT {
            floats.push(term);
            term /= k as f64;
        }
        floats.extend((0..POWER_COUNT).map(|k| 2.0_f64.powi(-(k as i32))));
        let nodes = grid.map_or([1; 3], |grid| grid.counts);
        let row = cells.sources + PADDING;
        let ints = nodes.iter().chain(&cells.counts).chain([&row]).map(|&n| n as i32).collect();
        Tables { floats, ints }
    }

    /// Copies the buffers to a device, floats in the precision of the arithmetic.
    pub fn upload(self, client: &Client, dtype: DType) -> DeviceTables {
        upload(client, dtype, &self.floats, &self.ints)
    }
}
