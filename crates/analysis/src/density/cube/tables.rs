//! What is the same for all threads, packed into two small buffers: one place says where each number
//! lies, for the host that writes and the kernel that reads.

use crate::density::{
    cells::{Cells, PADDING},
    ops::NodeGrid,
    smoother::Smoother,
};
use burn::backend::DType;
use burn_cubecl::cubecl::prelude::*;
use burntrace_kernels::device::{DeviceTables, upload};

/// Places in the buffer of reals: the kernel's matrix, xx, xy, xz, yy, yz, zz.
pub(super) const MATRIX: usize = 0;
/// Where the kernel ends in those coordinates.
pub(super) const CUT: usize = 6;
pub(super) const SCALE: usize = 7;
/// The first node and the distances between nodes along each axis.
pub(super) const FIRST: usize = 8;
pub(super) const PITCH: usize = 11;
/// Cells per unit of length, and how far to look, along each axis.
pub(super) const PER_LENGTH: usize = 14;
pub(super) const REACH: usize = 17;
/// `1 / ln 2`, and `ln 2` in two parts, of which the first has few digits.
pub(super) const LOG2_E: usize = 20;
pub(super) const LN_2: usize = 21;
/// `1 / k!` from 0 on.
pub(super) const TERMS: usize = 23;
pub(super) const TERM_COUNT: usize = 14;
/// `2^-k` from 0 on.
pub(super) const POWERS: usize = TERMS + TERM_COUNT;
pub(super) const POWER_COUNT: usize = 126;

/// Places in the buffer of integers: nodes and cells along each axis, and the length of a row of
/// sources.
pub(super) const NODES: usize = 0;
pub(super) const CELLS: usize = 3;
pub(super) const ROW: usize = 6;

/// The two buffers on the host.
pub(super) struct Tables {
    floats: Vec<f64>,
    ints: Vec<i32>,
}

impl Tables {
    pub fn new(cells: &Cells, smoother: &Smoother, grid: Option<&NodeGrid>) -> Self {
        let a = &smoother.per_unit;
        let mut floats = vec![a[0][0], a[0][1], a[0][2], a[1][1], a[1][2], a[2][2]];
        floats.extend([smoother.cut, smoother.scale]);
        floats.extend(grid.map_or([0.0; 3], |grid| grid.first));
        floats.extend(grid.map_or([0.0; 3], |grid| grid.pitch));
        floats.extend(cells.per_length);
        // What rounding may add.
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

    /// Copies the buffers to a device, reals in the precision of the arithmetic.
    pub fn upload(self, client: &Client, dtype: DType) -> DeviceTables {
        upload(client, dtype, &self.floats, &self.ints)
    }
}
