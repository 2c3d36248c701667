//! Voxels along an axis.

use super::Voxels;
use crate::{Error, Result};

/// Rounding of a period, relative to its length.
const ROUNDING: f64 = 1e-9;

/// The voxels along an axis. Cells are numbered upwards, from 0 for the first voxel: along a periodic axis the voxels of all periods, with a
/// gap after them where they do not fill the period; along others, the voxels and what is below and above them.
#[derive(Clone, Copy, Debug)]
pub(super) struct VoxelAxis {
    count: i64,
    low: f64,
    high: f64,
    /// Length of a voxel; 0 along a flat axis.
    size: f64,
    /// 0 along an axis that is not periodic.
    period: f64,
    /// Number of cells of a period.
    cells: i64,
}

impl VoxelAxis {
    /// Axis `d` of some voxels.
    pub fn new(voxels: &Voxels, d: usize, period: f64) -> Result<Self> {
        let (name, count) = (["x", "y", "z"][d], voxels.counts[d]);
        let (low, high) = (voxels.low[d], voxels.high[d]);
        let problem = |text: String| Err(Error::Residence(text));
        if count == 0 {
            return problem(format!("the number of voxels along {name} is 0; give 1 or more"));
        }
        if !(low <= high && low.is_finite() && high.is_finite()) {
            return problem(format!(
                "the voxels extend from {low} to {high} along {name}; give finite corners, the lower one first"
            ));
        }
        if low == high && count > 1 {
            return problem(format!(
                "{count} voxels along {name} have no extent, from {low} to {high}; give 1 there"
            ));
        }
        if period > 0.0 && high - low > period * (1.0 + ROUNDING) {
            return problem(format!(
                "the voxels extend from {low} to {high} along {name}, farther than the period {period}; give corners \
                 that are closer"
            ));
        }
        let has_gap = high - low < period * (1.0 - ROUNDING);
        let count = count as i64;
        Ok(VoxelAxis {
            count,
            low,
            high,
            size: (high - low) / count as f64,
            period,
            cells: count + i64::from(has_gap),
        })
    }

    /// The cell of a coordinate. A low face belongs to the voxel above it, and the high face of the box to the last voxel, if the axis is
    /// not periodic.
    pub fn cell(&self, x: f64) -> i64 {
        if self.size == 0.0 {
            return 0;
        }
        if self.period > 0.0 {
            // No tracer counts more periods.
            let turn = ((x - self.low) / self.period).floor().clamp(-2e9, 2e9);
            let within = x - self.low - turn * self.period;
            let cell = (within / self.size).floor() as i64;
            return turn as i64 * self.cells + cell.clamp(0, self.cells - 1);
        }
        match x {
            x if x < self.low => -1,
            x if x > self.high => self.count,
            x => (((x - self.low) / self.size) as i64).min(self.count - 1),
        }
    }

    /// The voxel of a cell; `None` outside.
    pub fn voxel(&self, cell: i64) -> Option<usize> {
        let cell = if self.period > 0.0 { cell.rem_euclid(self.cells) } else { cell };
        (0..self.count).contains(&cell).then_some(cell as usize)
    }

    /// The part of a leg, from 0 to 1 up to rounding, at which it leaves a cell towards another one; infinite if it stays there.
    pub fn crossing(&self, [from, to]: [f64; 2], cell: i64, target: i64) -> f64 {
        if cell == target {
            return f64::INFINITY;
        }
        (self.face(cell + i64::from(target > cell)) - from) / (to - from)
    }

    /// The low face of a cell.
    fn face(&self, cell: i64) -> f64 {
        let (turn, cell) = match self.period > 0.0 {
            true => (cell.div_euclid(self.cells), cell.rem_euclid(self.cells)),
            false => (0, cell),
        };
        let face = if cell == self.count { self.high } else { self.low + cell as f64 * self.size };
        face + turn as f64 * self.period
    }
}
