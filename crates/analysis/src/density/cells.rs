//! Particles and their images, sorted by the cells of a search lattice.

use super::{
    domain::{DensityDomain, Edge},
    lattice::Lattice,
    sample::Sample,
    smoother::{MirrorParity, Smoother},
};
use crate::{Error, Result};

/// Unused entries at the end of each row of sources, so that a vector of eight may start at any source.
pub(super) const PADDING: usize = 8;

/// Number of cells allowed regardless of the number of particles.
const ALLOWED_CELLS: f64 = 32_768.0;

/// The search lattice of the sources.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SourceCells {
    /// The low corner, origin of the sources' coordinates.
    pub(super) origin: [f64; 3],
    /// Cells per unit of length; 0 along axes with a single cell.
    pub(super) per_length: [f64; 3],
    /// Cells along each axis.
    pub(super) counts: [usize; 3],
    /// Number of sources: particles and their images.
    pub(super) sources: usize,
}

/// The evaluation points of a density.
pub(super) struct Targets {
    /// A list of points, unless the points form a lattice; points with NaN are ignored.
    pub points: Option<Vec<[f64; 3]>>,
    /// Nodes of a lattice along each axis.
    pub counts: [usize; 3],
    /// Corners of the bounding box.
    pub low: [f64; 3],
    pub high: [f64; 3],
    /// Node spacing along each axis; 0 for a single node and for a list of points.
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
        let valid = || points.iter().filter(|point| !point[0].is_nan());
        let low = [0, 1, 2].map(|d| valid().map(|point| point[d]).fold(f64::INFINITY, f64::min));
        let high = [0, 1, 2].map(|d| valid().map(|point| point[d]).fold(-f64::INFINITY, f64::max));
        let [low, high] = if low[0] <= high[0] { [low, high] } else { [[0.0; 3]; 2] };
        Targets { points: Some(points), counts: [0; 3], low, high, pitch: [0.0; 3] }
    }
}

/// Particles and images whose kernels reach the evaluation points, sorted by cell with x fastest.
pub(super) struct SortedSources {
    pub cells: SourceCells,
    /// All x, all y, all z and all weights, each padded `[4, sources + PADDING]`; coordinates are
    /// relative to the origin of the cells.
    pub rows: Vec<f64>,
    /// Index of the first source of each cell, and the number of sources `[cells + 1]`.
    pub starts: Vec<i32>,
}

impl SortedSources {
    /// Sorts the particles and their images; with a parity, only images of that mirror parity.
    pub fn new(
        sample: &Sample,
        domain: &DensityDomain,
        smoother: &Smoother,
        targets: &Targets,
        parity: Option<MirrorParity>,
        epsilon: f64,
    ) -> Result<Self> {
        let [from, to] = search_box(sample, domain, smoother, targets, epsilon);
        let (positions, weights) = with_images(sample, domain, parity, [from, to])?;
        let cells = SourceCells::new(from, to, smoother, targets, positions.len());
        let cell_ids: Vec<u32> = positions.iter().map(|p| cells.index(*p) as u32).collect();
        let mut starts = vec![0_i32; cells.counts.iter().product::<usize>() + 1];
        for &cell in &cell_ids {
            starts[cell as usize + 1] += 1;
        }
        for cell in 1..starts.len() {
            starts[cell] += starts[cell - 1];
        }
        let mut next = starts.clone();
        let row = positions.len() + PADDING;
        let mut rows = vec![0.0; 4 * row];
        for ((position, weight), &cell) in positions.iter().zip(weights).zip(&cell_ids) {
            let at = next[cell as usize] as usize;
            next[cell as usize] += 1;
            for d in 0..3 {
                rows[d * row + at] = position[d] - from[d];
            }
            rows[3 * row + at] = weight;
        }
        Ok(SortedSources { cells, rows, starts })
    }
}

/// The corners of the box in which particles and images reach targets. The low corner is the origin of
/// coordinates, so targets out of every particle's reach must not shift it.
fn search_box(
    sample: &Sample,
    domain: &DensityDomain,
    smoother: &Smoother,
    targets: &Targets,
    epsilon: f64,
) -> [[f64; 3]; 2] {
    let (mut low, mut high) = (targets.low, targets.high);
    for d in domain.axes.indices() {
        let reach = smoother.reach[d];
        let coordinates = || sample.positions.iter().map(|position| position[d]);
        // Inside the box, a mirror image is farther away than its particle; a periodic image may not be, and none is beyond a
        // reflecting face.
        let is_beyond = domain.edges[d][0] == Edge::Reflecting && low[d] < domain.low[d]
            || domain.edges[d][1] == Edge::Reflecting && high[d] > domain.high[d];
        let is_periodic = domain.edges[d][0] == Edge::Periodic;
        if !is_periodic && !is_beyond && !sample.positions.is_empty() {
            let min = coordinates().fold(f64::INFINITY, f64::min) - reach;
            let max = coordinates().fold(f64::NEG_INFINITY, f64::max) + reach;
            low[d] = low[d].clamp(min, max);
            high[d] = high[d].clamp(min, max);
        }
        // A margin for the rounding of coordinates.
        let slack = 16.0 * epsilon * (high[d] - low[d] + 2.0 * reach);
        low[d] -= reach + slack;
        high[d] += reach + slack;
    }
    [low, high]
}

/// All particles and images in a box; with a parity, only images of that mirror parity.
fn with_images(
    sample: &Sample,
    domain: &DensityDomain,
    parity: Option<MirrorParity>,
    [from, to]: [[f64; 3]; 2],
) -> Result<(Vec<[f64; 3]>, Vec<f64>)> {
    for d in domain.axes.indices() {
        domain.check_images(d, from[d], to[d])?;
    }
    let active = domain.axes.active();
    let mut images = [vec![(0.0, false)], vec![(0.0, false)], vec![(0.0, false)]];
    let (mut positions, mut weights) = (Vec::new(), Vec::new());
    for (position, &weight) in sample.positions.iter().zip(&sample.weights) {
        if weight == 0.0 {
            continue;
        }
        for d in 0..3 {
            if active[d] {
                domain.images(d, position[d], from[d], to[d], &mut images[d]);
            }
        }
        let [xs, ys, zs] = &images;
        for &(z, in_z) in zs {
            for &(y, in_y) in ys {
                let matches =
                    |in_x: bool| parity.is_none_or(|parity| parity == [in_x ^ in_y, in_x ^ in_z]);
                let row = xs.iter().filter(|(_, in_x)| matches(*in_x));
                positions.extend(row.map(|&(x, _)| [x, y, z]));
            }
        }
        weights.resize(positions.len(), weight);
    }
    if positions.len() + PADDING > (i32::MAX / 4) as usize {
        return Err(Error::Bandwidth(format!(
            "it gives {} particles and images beyond the faces, more than the maximum of {}; give a \
             smaller bandwidth",
            positions.len(),
            i32::MAX / 4
        )));
    }
    Ok((positions, weights))
}

impl SourceCells {
    /// Cells as wide as a quarter of the kernel's reach or four node spacings, whichever is greater, and
    /// wider if there would be more cells than particles (or [`ALLOWED_CELLS`]).
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
        let max_cells = (sources as f64).max(ALLOWED_CELLS);
        while (0..3).map(|d| count(d, width[d])).product::<f64>() > max_cells {
            width = width.map(|width| 1.25 * width);
        }
        let counts = [0, 1, 2].map(|d| count(d, width[d]));
        SourceCells {
            origin: from,
            per_length: [0, 1, 2].map(|d| if counts[d] > 1.0 { 1.0 / width[d] } else { 0.0 }),
            counts: counts.map(|count| count as usize),
            sources,
        }
    }

    fn index(&self, position: [f64; 3]) -> usize {
        let [i, j, k] = [0, 1, 2].map(|d| self.cell_along(d, position[d] - self.origin[d]));
        (k * self.counts[1] + j) * self.counts[0] + i
    }

    /// The cell along an axis of a coordinate relative to the origin, clamped to the lattice.
    pub fn cell_along(&self, axis: usize, x: f64) -> usize {
        ((x * self.per_length[axis]).max(0.0) as usize).min(self.counts[axis] - 1)
    }
}
