//! Where the boundary of a mesh is convex, so that a position beyond it is in no other cell.

use super::CellGeometry;
use crate::cpu::Real;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Number of bins to remember.
const REMEMBERED: usize = 1 << 13;

/// Whether bins of the locator are convex: found when it is first asked for, and remembered as long as no other bin takes
/// the place. Threads may find it at the same time, with the same result.
pub(super) struct ConvexBins(Vec<AtomicU32>);

impl Default for ConvexBins {
    fn default() -> Self {
        ConvexBins((0..REMEMBERED).map(|_| AtomicU32::new(0)).collect())
    }
}

impl ConvexBins {
    /// Whether a bin is convex, by `examine` if it is not known.
    pub fn is_convex(&self, bin: usize, examine: impl FnOnce() -> bool) -> bool {
        let entry = &self.0[bin % REMEMBERED];
        // Bins are numbered with `i32`; 0 is no bin.
        let key = 2 * (bin as u32 + 1);
        let known = entry.load(Relaxed);
        if known & !1 == key {
            return known & 1 == 1;
        }
        let is_convex = examine();
        entry.store(key + u32::from(is_convex), Relaxed);
        is_convex
    }
}

/// Whether some cells are all on the inner side of each of their boundary faces.
pub(super) fn is_convex<F: Real>(geometry: &impl CellGeometry<F>, cells: &[i32]) -> bool {
    let corners = |cell: &i32| geometry.corners(*cell as usize);
    let Some(corners) = cells.iter().map(corners).collect::<Option<Vec<_>>>() else {
        return false;
    };
    cells.iter().all(|cell| {
        let cell = *cell as usize;
        let allowed = -geometry.tolerance(cell);
        let mut faces = (0..geometry.faces()).filter(|face| geometry.beyond(cell, *face) < 0);
        faces.all(|face| {
            let mut all = corners.as_flattened().iter();
            all.all(|corner| geometry.depth(cell, *corner, face) >= allowed)
        })
    })
}
