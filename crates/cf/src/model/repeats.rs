//! Cells at the position of others, of halos and folds.

use crate::mesh::NONE;
use std::collections::HashMap;

/// The direction of a longitude and a latitude.
pub(super) fn unit(degrees: [f64; 2]) -> [f64; 3] {
    let [lon, lat] = degrees.map(f64::to_radians);
    [lat.cos() * lon.cos(), lat.cos() * lon.sin(), lat.sin()]
}

pub(super) fn middle(of: &[[f64; 3]]) -> [f64; 3] {
    [0, 1, 2].map(|d| of.iter().map(|at| at[d]).sum::<f64>() / of.len() as f64)
}

pub(super) fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    [0, 1, 2].map(|d| (a[d] - b[d]).powi(2)).iter().sum::<f64>().sqrt()
}

/// The middles of cells that were seen, in bins.
pub(super) struct Seen {
    /// The distance within which a cell repeats another one.
    reach: Vec<f64>,
    bin: f64,
    /// The last cell of each bin, and that before each cell.
    last: HashMap<[i64; 3], u32>,
    before: Vec<u32>,
}

/// The distance within which cells repeat each other: the rounding of degrees in single precision, about 10 m, in radii of
/// the earth.
const REACH: f64 = 1.6e-6;
/// The same as a part of the width of a cell.
const PART: f64 = 0.1;

impl Seen {
    pub fn new(widths: Vec<f64>) -> Seen {
        let mut positive: Vec<f64> = widths.iter().copied().filter(|width| *width > 0.0).collect();
        positive.sort_unstable_by(f64::total_cmp);
        let median = positive.get(positive.len() / 2).copied().unwrap_or(f64::INFINITY);
        let most = REACH.min(PART * median);
        let reach: Vec<f64> = widths.into_iter().map(|width| most.min(PART * width)).collect();
        let before = vec![NONE; reach.len()];
        Seen { reach, bin: 8.0 * most.max(1e-3 * REACH), last: HashMap::new(), before }
    }

    /// Whether a cell repeats an earlier one; else adds it. `of` are the corners of an earlier cell.
    pub fn repeats_or_add(
        &mut self,
        cell: usize,
        corners: [[f64; 3]; 4],
        of: impl Fn(usize) -> Option<[[f64; 3]; 4]>,
    ) -> bool {
        let (center, reach) = (middle(&corners), self.reach[cell]);
        let bin = |sign: f64| center.map(|x| ((x + sign * reach) / self.bin).floor() as i64);
        let (low, high) = (bin(-1.0), bin(1.0));
        for x in low[0]..=high[0] {
            for y in low[1]..=high[1] {
                for z in low[2]..=high[2] {
                    let mut other = self.last.get(&[x, y, z]).copied().unwrap_or(NONE);
                    while other != NONE {
                        let at = other as usize;
                        if of(at).is_some_and(|of| distance(middle(&of), center) <= reach) {
                            return true;
                        }
                        other = self.before[at];
                    }
                }
            }
        }
        let last = self.last.insert(bin(0.0), cell as u32);
        self.before[cell] = last.unwrap_or(NONE);
        false
    }
}
