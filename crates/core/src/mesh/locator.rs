//! A lattice of bins that finds the cells near a position.

use super::bounds::Bounds;
use crate::Precision;
use crate::threads::{filled, in_parts};
use std::ops::Range;

/// Maximum number of entries for each cell, which limits memory for cells of different sizes.
const ENTRIES: f64 = 8.0;
/// Maximum number of bins for each cell.
const BINS: f64 = 2.0;
/// Maximum number of bins along an axis: f32 represents all integers up to this one.
const MAX_BINS: f64 = 1_048_576.0;
/// Initial edge of the bins, relative to the mean extent of the boxes on the axis.
const FIRST: f64 = 0.8;

/// First and last bin on each axis.
type Reach = [[u32; 2]; 3];

/// Empty ranges of bins.
const NO_BINS: Reach = [[1, 0]; 3];

/// Equal bins over the bounding box of a mesh. Every bin that overlaps the box of a cell lists the
/// cell, so the bin of a position lists every cell that can contain the position.
///
/// On an axis, a position `x` is in bin `floor((x - origin) * per_length)`, computed in the
/// locator's precision and clamped to `0 .. bins`. The ends of boxes use the same arithmetic. Each
/// of its operations is monotone, so that rounding never puts a position outside the bins of a box
/// that contains it. Boxes have a margin of a part in 10^9 of their size (10^4 in f32) plus a few
/// units in the last place of their coordinates.
///
/// Bins are as small as possible with at most 8 entries and 2 bins for each cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Locator {
    /// Bins per axis, x first; 1 on the flat axis of a two-dimensional mesh.
    pub bins: [usize; 3],
    /// Minimum corner, in the data's unit of length.
    pub origin: [f64; 3],
    /// Bins per unit of length; 0 on axes with one bin.
    pub per_length: [f64; 3],
    /// Start of each bin in `cells`, x varying fastest, followed by the length of `cells`.
    pub starts: Vec<i32>,
    /// Indices of cells, increasing in each bin.
    pub cells: Vec<i32>,
    /// Precision of the bin arithmetic.
    pub precision: Precision,
}

impl Locator {
    /// Sorts cells into bins by their boxes, on all axes but a flat one.
    pub(super) fn new(boxes: &[Bounds], flat: Option<usize>, precision: Precision) -> Self {
        let mean = mean_extent(boxes);
        let (boxes, parts) = filled((boxes.len(), 1), Bounds::EMPTY, |range, widened| {
            let full = boxes[range].iter().zip(widened).filter(|(bounds, _)| !bounds.is_empty());
            let mut all = Bounds::EMPTY;
            for (bounds, widened) in full {
                *widened = padded(bounds, precision);
                all.join(widened);
            }
            all
        });
        let mut all = Bounds::EMPTY;
        parts.iter().for_each(|part| all.join(part));
        let mut edge: [f64; 3] = std::array::from_fn(|d| FIRST * mean[d]);
        let mut locator = Locator {
            bins: [1; 3],
            origin: all.low,
            per_length: [0.0; 3],
            starts: Vec::new(),
            cells: Vec::new(),
            precision,
        };
        let dimension = if flat.is_some() { 2.0 } else { 3.0 };
        // Bins grow by at least a fifth: 8000 rounds cover the range of a float, and a few suffice
        // for cells of similar size.
        let reaches = loop {
            locator.divide(&all, &edge, flat);
            let (excess, reaches) = locator.excess(&boxes);
            if excess <= 1.0 || locator.bins == [1; 3] {
                break reaches;
            }
            let factor = excess.powf(0.5 / dimension).clamp(1.1, 1e3);
            edge = edge.map(|length| length.max(f64::MIN_POSITIVE) * factor);
        };
        drop(boxes);
        locator.fill(&reaches);
        locator
    }

    /// The cells that can contain a position, in increasing order.
    pub fn near(&self, point: [f64; 3]) -> &[i32] {
        let bin = self.number([0, 1, 2].map(|d| self.bin(point[d], d)));
        &self.cells[self.starts[bin] as usize..self.starts[bin + 1] as usize]
    }

    /// The bin of a coordinate on an axis; outside the box, the first or the last bin.
    pub fn bin(&self, x: f64, d: usize) -> usize {
        let bin = self.precision.cell(x, self.origin[d], self.per_length[d]);
        bin.min(self.bins[d] - 1)
    }

    fn number(&self, bin: [usize; 3]) -> usize {
        (bin[2] * self.bins[1] + bin[1]) * self.bins[0] + bin[0]
    }

    /// Sets bins with approximately these edges.
    fn divide(&mut self, all: &Bounds, edge: &[f64; 3], flat: Option<usize>) {
        for (d, edge) in edge.iter().enumerate().filter(|(d, _)| Some(*d) != flat) {
            let extent = all.high[d] - all.low[d];
            let count = (extent / edge).clamp(1.0, MAX_BINS).floor();
            let per_length = count / extent;
            // One bin on axes without extent, and if a float cannot represent the bins of the axis.
            let is_usable = count > 1.0 && self.can_represent(per_length);
            self.bins[d] = if is_usable { count as usize } else { 1 };
            self.per_length[d] = if is_usable { per_length } else { 0.0 };
        }
    }

    fn can_represent(&self, per: f64) -> bool {
        let per = match self.precision {
            Precision::F32 => f64::from(per as f32),
            Precision::F64 => per,
        };
        per.is_finite() && per > 0.0
    }

    /// The number of bins or entries relative to its maximum, and the bins of each padded box unless there are too many.
    fn excess(&self, boxes: &[Bounds]) -> (f64, Vec<Reach>) {
        let bins: f64 = self.bins.iter().map(|n| *n as f64).product();
        let count = boxes.len() as f64;
        let of_bins = bins / (BINS * count);
        if of_bins > 1.0 {
            return (of_bins, Vec::new());
        }
        let (reaches, entries) = filled((boxes.len(), 1), NO_BINS, |range, reaches| {
            let mut entries = 0;
            for (bounds, reach) in boxes[range].iter().zip(reaches) {
                *reach = self.reach(bounds);
                entries += size(reach);
            }
            entries
        });
        (entries.into_iter().sum::<usize>() as f64 / (ENTRIES * count), reaches)
    }

    /// First and last bin of a padded box on each axis.
    fn reach(&self, bounds: &Bounds) -> Reach {
        if bounds.is_empty() {
            return NO_BINS;
        }
        let along =
            |d: usize| [self.bin(bounds.low[d], d) as u32, self.bin(bounds.high[d], d) as u32];
        [along(0), along(1), along(2)]
    }

    /// Lists the cells of all bins, in parts of the bins.
    fn fill(&mut self, reaches: &[Reach]) {
        let count = self.bins.iter().product();
        let parts = in_parts(count, |bins| self.listed(bins, reaches));
        (self.starts, self.cells) = (Vec::with_capacity(count + 1), Vec::new());
        self.starts.push(0);
        for (ends, cells) in parts {
            let before = self.cells.len() as i32;
            self.starts.extend(ends.iter().map(|end| before + end));
            self.cells.extend(cells);
        }
    }

    /// The cells in consecutive bins, and where those of each bin end: a counting sort, which keeps the order of cells.
    fn listed(&self, bins: Range<usize>, reaches: &[Reach]) -> (Vec<i32>, Vec<i32>) {
        let mut next = vec![0_i32; bins.len() + 1];
        for reach in reaches {
            self.for_each_bin(reach, &bins, |bin| next[bin - bins.start + 1] += 1);
        }
        for bin in 1..next.len() {
            next[bin] += next[bin - 1];
        }
        let mut cells = vec![0; next[bins.len()] as usize];
        for (cell, reach) in reaches.iter().enumerate() {
            self.for_each_bin(reach, &bins, |bin| {
                let next = &mut next[bin - bins.start];
                cells[*next as usize] = cell as i32;
                *next += 1;
            });
        }
        // Each start has moved to its end.
        next.pop();
        (next, cells)
    }

    /// The same bins with other boxes.
    pub(super) fn with_boxes(&self, boxes: impl Iterator<Item = Bounds>) -> Self {
        let mut locator = Locator { starts: Vec::new(), cells: Vec::new(), ..*self };
        locator.fill(&boxes.map(|bounds| self.padded_reach(&bounds)).collect::<Vec<_>>());
        locator
    }

    /// A box that is larger by a bin on all sides, and by a margin for rounding.
    pub(super) fn widened_by_a_bin(&self, bounds: &Bounds) -> Bounds {
        let bin = self.per_length.map(|per| if per > 0.0 { 1.01 / per } else { 0.0 });
        let moved = |x: [f64; 3], sign: f64| [0, 1, 2].map(|d| x[d] + sign * bin[d]);
        Bounds { low: moved(bounds.low, -1.0), high: moved(bounds.high, 1.0) }
    }

    /// Whether any of the cells in the bins of a box, which may be listed several times, meets a condition.
    pub(super) fn any_near(&self, bounds: &Bounds, mut call: impl FnMut(usize) -> bool) -> bool {
        let mut is_any = false;
        let bins = 0..self.starts.len() - 1;
        self.for_each_bin(&self.padded_reach(bounds), &bins, |bin| {
            let cells = &self.cells[self.starts[bin] as usize..self.starts[bin + 1] as usize];
            is_any = is_any || cells.iter().any(|cell| call(*cell as usize));
        });
        is_any
    }

    fn padded_reach(&self, bounds: &Bounds) -> Reach {
        // A padded empty box is not empty.
        if bounds.is_empty() { NO_BINS } else { self.reach(&padded(bounds, self.precision)) }
    }

    /// Calls a function with each of some consecutive bins that is in reach.
    fn for_each_bin(&self, reach: &Reach, bins: &Range<usize>, mut call: impl FnMut(usize)) {
        let [x, y, z] = reach.map(|ends| ends.map(|bin| bin as usize));
        for k in z[0]..=z[1] {
            for j in y[0]..=y[1] {
                let row = self.number([0, j, k]);
                let (first, last) = (row + x[0], row + x[1] + 1);
                (first.max(bins.start)..last.min(bins.end)).for_each(&mut call);
            }
        }
    }
}

fn size(reach: &Reach) -> usize {
    reach.iter().map(|[first, last]| (*last as usize + 1).saturating_sub(*first as usize)).product()
}

/// The mean extent of boxes on each axis, summed one after the other: it does not depend on the number of threads.
fn mean_extent(boxes: &[Bounds]) -> [f64; 3] {
    let mut mean = [0.0; 3];
    for bounds in boxes.iter().filter(|bounds| !bounds.is_empty()) {
        for (d, mean) in mean.iter_mut().enumerate() {
            *mean += (bounds.high[d] - bounds.low[d]) / boxes.len() as f64;
        }
    }
    mean
}

/// Adds a margin for the rounding of nodes and positions in the precision of a kernel.
pub(super) fn padded(bounds: &Bounds, precision: Precision) -> Bounds {
    let (of_size, of_magnitude) = match precision {
        Precision::F32 => (1e-4, 4.0 * f64::from(f32::EPSILON)),
        Precision::F64 => (1e-9, 4.0 * f64::EPSILON),
    };
    bounds.widened(of_size * bounds.size() + of_magnitude * bounds.magnitude())
}
