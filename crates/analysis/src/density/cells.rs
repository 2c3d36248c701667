//! Particles and their images in the order of the cells of a lattice.

use super::{
    domain::{Edge, Within},
    lattice::Lattice,
    sample::Sample,
    smoother::{Smoother, Tilt},
};
use crate::{Error, Result};

/// Rows at the end of the sorted particles that hold none, so that eight can be read from any one on.
pub(super) const PADDING: usize = 8;

/// Cells that are always allowed, however few particles there are.
const FEW_CELLS: f64 = 32_768.0;

/// The cells of a lattice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cells {
    /// The corner from which coordinates are counted.
    pub(super) origin: [f64; 3],
    /// Cells per unit of length; 0 along axes with one cell.
    pub(super) per_length: [f64; 3],
    /// Cells along each axis.
    pub(super) counts: [usize; 3],
    /// Particles and images.
    pub(super) sources: usize,
}

/// The places at which a density is asked for.
pub(super) struct Targets {
    /// Those that are no lattice; what is no number is not looked at.
    pub points: Option<Vec<[f64; 3]>>,
    /// Nodes of a lattice along each axis.
    pub counts: [usize; 3],
    /// Corners of a box around them all.
    pub low: [f64; 3],
    pub high: [f64; 3],
    /// Distance between nodes along each axis; 0 for single ones and for points.
    pub pitch: [f64; 3],
}

impl Targets {
    pub fn lattice(lattice: &Lattice) -> Self {
        let pitch = [0, 1, 2].map(|d| lattice.pitch(d));
        let last = |d: usize| if pitch[d] > 0.0 { lattice.high[d] } else { lattice.low[d] };
        let high = [0, 1, 2].map(last);
        Targets { points: None, counts: lattice.counts, low: lattice.low, high, pitch }
    }

    pub fn points(points: Vec<[f64; 3]>) -> Self {
        let numbers = || points.iter().filter(|place| !place[0].is_nan());
        let low = [0, 1, 2].map(|d| numbers().map(|place| place[d]).fold(f64::INFINITY, f64::min));
        let high =
            [0, 1, 2].map(|d| numbers().map(|place| place[d]).fold(-f64::INFINITY, f64::max));
        let [low, high] = if low[0] <= high[0] { [low, high] } else { [[0.0; 3]; 2] };
        Targets { points: Some(points), counts: [0; 3], low, high, pitch: [0.0; 3] }
    }
}

/// Particles and images whose kernels reach some places, cell by cell, x fastest.
pub(super) struct Sorted {
    pub cells: Cells,
    /// All x, padded, all y, all z, all weights, from the cells' origin: `[4, sources + PADDING]`.
    pub rows: Vec<f64>,
    /// Where the particles of each cell begin, and the end `[cells + 1]`.
    pub starts: Vec<i32>,
}

impl Sorted {
    /// Those images that are mirrored in the way of a tilt, where one is given.
    pub fn new(
        sample: &Sample,
        within: &Within,
        smoother: &Smoother,
        targets: &Targets,
        tilt: Option<Tilt>,
        epsilon: f64,
    ) -> Result<Self> {
        let [from, to] = searched(sample, within, smoother, targets, epsilon);
        let (places, weights) = with_images(sample, within, tilt, [from, to])?;
        let cells = Cells::new(from, to, smoother, targets, places.len());
        let numbers: Vec<u32> = places.iter().map(|place| cells.number(*place) as u32).collect();
        let mut starts = vec![0_i32; cells.counts.iter().product::<usize>() + 1];
        for &cell in &numbers {
            starts[cell as usize + 1] += 1;
        }
        for cell in 1..starts.len() {
            starts[cell] += starts[cell - 1];
        }
        let mut next = starts.clone();
        let row = places.len() + PADDING;
        let mut rows = vec![0.0; 4 * row];
        for ((place, weight), &cell) in places.iter().zip(weights).zip(&numbers) {
            let at = next[cell as usize] as usize;
            next[cell as usize] += 1;
            for d in 0..3 {
                rows[d * row + at] = place[d] - from[d];
            }
            rows[3 * row + at] = weight;
        }
        Ok(Sorted { cells, rows, starts })
    }
}

/// The corners between which particles and images reach targets. Coordinates are counted from there, so
/// targets that no particle reaches must not move them away.
fn searched(
    sample: &Sample,
    within: &Within,
    smoother: &Smoother,
    targets: &Targets,
    epsilon: f64,
) -> [[f64; 3]; 2] {
    let (mut low, mut high) = (targets.low, targets.high);
    for d in within.axes.numbers() {
        let reach = smoother.reach[d];
        let places = || sample.positions.iter().map(|place| place[d]);
        // A mirror image is farther from what is in the box than its particle; a repetition is not.
        if within.edges[d][0] != Edge::Periodic && !sample.positions.is_empty() {
            let least = places().fold(f64::INFINITY, f64::min) - reach;
            let most = places().fold(f64::NEG_INFINITY, f64::max) + reach;
            low[d] = low[d].clamp(least, most);
            high[d] = high[d].clamp(least, most);
        }
        // What rounding of coordinates may hide is looked for as well.
        let slack = 16.0 * epsilon * (high[d] - low[d] + 2.0 * reach);
        low[d] -= reach + slack;
        high[d] += reach + slack;
    }
    [low, high]
}

/// All particles and images between two corners, of those tilted in a way.
fn with_images(
    sample: &Sample,
    within: &Within,
    tilt: Option<Tilt>,
    [from, to]: [[f64; 3]; 2],
) -> Result<(Vec<[f64; 3]>, Vec<f64>)> {
    for d in within.axes.numbers() {
        within.check_images(d, from[d], to[d])?;
    }
    let counts = within.axes.counts();
    let mut images = [vec![(0.0, false)], vec![(0.0, false)], vec![(0.0, false)]];
    let (mut places, mut weights) = (Vec::new(), Vec::new());
    for (place, &weight) in sample.positions.iter().zip(&sample.weights) {
        if weight == 0.0 {
            continue;
        }
        for d in 0..3 {
            if counts[d] {
                within.images(d, place[d], from[d], to[d], &mut images[d]);
            }
        }
        let [xs, ys, zs] = &images;
        for &(z, in_z) in zs {
            for &(y, in_y) in ys {
                let is_asked =
                    |in_x: bool| tilt.is_none_or(|tilt| tilt == [in_x ^ in_y, in_x ^ in_z]);
                let row = xs.iter().filter(|(_, in_x)| is_asked(*in_x));
                places.extend(row.map(|&(x, _)| [x, y, z]));
            }
        }
        weights.resize(places.len(), weight);
    }
    if places.len() + PADDING > (i32::MAX / 4) as usize {
        return Err(Error::Bandwidth(format!(
            "particles and their images beyond the faces are {}; {} are the most",
            places.len(),
            i32::MAX / 4
        )));
    }
    Ok((places, weights))
}

impl Cells {
    /// Cells a quarter as wide as kernels reach, or four nodes, and not many more than particles.
    fn new(
        from: [f64; 3],
        to: [f64; 3],
        smoother: &Smoother,
        targets: &Targets,
        sources: usize,
    ) -> Self {
        let span = [0, 1, 2].map(|d| to[d] - from[d]);
        let mut width =
            [0, 1, 2].map(|d: usize| (0.25 * smoother.reach[d]).max(4.0 * targets.pitch[d]));
        let count = |d: usize, width: f64| {
            if smoother.reach[d] > 0.0 { (span[d] / width).ceil().max(1.0) } else { 1.0 }
        };
        let most = (sources as f64).max(FEW_CELLS);
        while (0..3).map(|d| count(d, width[d])).product::<f64>() > most {
            width = width.map(|width| 1.25 * width);
        }
        let counts = [0, 1, 2].map(|d| count(d, width[d]));
        Cells {
            origin: from,
            per_length: [0, 1, 2].map(|d| if counts[d] > 1.0 { 1.0 / width[d] } else { 0.0 }),
            counts: counts.map(|count| count as usize),
            sources,
        }
    }

    fn number(&self, place: [f64; 3]) -> usize {
        let [i, j, k] = [0, 1, 2].map(|d| self.along(d, place[d] - self.origin[d]));
        (k * self.counts[1] + j) * self.counts[0] + i
    }

    /// The cell of a coordinate that is counted from the origin, or the nearest one.
    pub fn along(&self, axis: usize, x: f64) -> usize {
        ((x * self.per_length[axis]).max(0.0) as usize).min(self.counts[axis] - 1)
    }
}
