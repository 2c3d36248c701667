//! The nodes of a density in a region.

use super::super::{
    domain::{DensityDomain, Edge},
    globe::{CellSizes, square_degree},
    lattice::Lattice,
    region::Region,
};
use super::MAX_NODES;
use crate::{Error, Result};
use rayon::prelude::*;

/// Nodes in a bandwidth, where they are not those of a lattice.
const NODES_IN_WIDTH: f64 = 3.0;
/// Slack of a node on a face, in node spacings.
const SLACK: f64 = 1e-6;

/// The bandwidth of a Gaussian along each axis.
pub(super) struct Widths {
    /// In the data's unit of length; on a sphere in metres.
    pub lengths: [f64; 3],
    /// In the unit of the nodes; on a sphere in degrees of latitude.
    pub units: [f64; 3],
    /// Standard deviations from the centre that are not neglected.
    pub truncation: f64,
}

/// Nodes along an axis.
#[derive(Clone, Debug)]
pub(super) struct NodesAlong {
    pub first: f64,
    /// 0 along inactive axes.
    pub pitch: f64,
    pub count: usize,
    /// Whether the last node is next to the first one.
    pub is_ring: bool,
    /// Index of the first node of the lattice that is evaluated.
    pub offset: usize,
    /// A node whose coordinate is known without rounding, and that coordinate.
    exact: (usize, f64),
    /// Sizes of the cells around nodes in node spacings, on a sphere with the metric.
    pub sizes: Vec<f64>,
    /// The metric between a node and the next one.
    pub between: Vec<f64>,
}

impl NodesAlong {
    fn new(first: f64, pitch: f64, count: usize) -> Self {
        let (sizes, between) = (vec![1.0; count], vec![1.0; count]);
        let exact = (0, first);
        NodesAlong { first, pitch, count, is_ring: false, offset: 0, exact, sizes, between }
    }

    fn ring(first: f64, pitch: f64, count: usize) -> Self {
        NodesAlong { is_ring: true, ..NodesAlong::new(first, pitch, count) }
    }

    /// The nodes of a lattice, and those around it within reach and in the box.
    fn of_lattice(lattice: &Lattice, domain: &DensityDomain, d: usize, reach: f64) -> Self {
        let (low, high, pitch) = (lattice.low[d], lattice.high[d], lattice.pitch(d));
        let [from, to] = [domain.low[d], domain.high[d]];
        let is_periodic = domain.edges[d][0] == Edge::Periodic;
        if is_periodic && ((high - low) - (to - from)).abs() < SLACK * pitch {
            return NodesAlong::ring(low, pitch, lattice.counts[d] - 1);
        }
        let wanted = (reach / pitch).ceil();
        let within = |edge: Edge, distance: f64| match edge {
            Edge::Reflecting => wanted.min((distance / pitch - SLACK).ceil()).max(0.0),
            Edge::Open | Edge::Periodic => wanted,
        };
        let [before, after] =
            [within(domain.edges[d][0], low - from), within(domain.edges[d][1], to - high)];
        let count = lattice.counts[d] as f64 + before + after;
        let offset = before as usize;
        // A rounded coordinate could be beyond a face, or on the other side of a coast.
        let exact = (offset + lattice.counts[d] - 1, high);
        NodesAlong { offset, exact, ..NodesAlong::new(low - before * pitch, pitch, count as usize) }
    }

    /// Nodes around an interval within reach and in the box, for a bandwidth.
    fn around(
        [low, high]: [f64; 2],
        domain: &DensityDomain,
        d: usize,
        [width, reach]: [f64; 2],
    ) -> Self {
        let pitch = width / NODES_IN_WIDTH;
        let [from, to] = [domain.low[d], domain.high[d]];
        let [first, last] = [low - reach, high + reach];
        let cells = |length: f64| (length / pitch).ceil().max(1.0);
        if domain.edges[d][0] == Edge::Periodic {
            let width = to - from;
            if last - first >= width {
                let count = cells(width);
                return NodesAlong::ring(from, width / count, count as usize);
            }
        }
        let [starts, ends] = [0, 1].map(|end| domain.edges[d][end] == Edge::Reflecting);
        let (starts, ends) = (starts && first <= from, ends && last >= to);
        let first = if starts { from } else { first };
        let last = if ends { to } else { last };
        let count = cells(last - first);
        match (starts, ends) {
            (true, true) => NodesAlong::new(first, (last - first) / count, count as usize + 1),
            (false, true) => NodesAlong::new(last - count * pitch, pitch, count as usize + 1),
            _ => NodesAlong::new(first, pitch, count as usize + 1),
        }
    }

    /// Halves the cells of nodes on reflecting faces.
    fn halve_at_faces(&mut self, domain: &DensityDomain, d: usize) {
        for (end, face) in [domain.low[d], domain.high[d]].into_iter().enumerate() {
            let at = ((face - self.first) / self.pitch).round();
            let is_node = (face - self.first - at * self.pitch).abs() < SLACK * self.pitch;
            let is_in = at >= 0.0 && at < self.count as f64;
            if domain.edges[d][end] == Edge::Reflecting && is_node && is_in {
                self.sizes[at as usize] = 0.5;
            }
        }
    }

    /// Halves the cells of the first and the last node.
    fn halve_ends(&mut self) {
        let last = self.count - 1;
        self.sizes[0] = 0.5;
        self.sizes[last] = 0.5;
    }

    pub fn position(&self, index: usize) -> f64 {
        match self.exact {
            (exact, position) if exact == index => position,
            _ => self.first + index as f64 * self.pitch,
        }
    }
}

/// Nodes in a region, x fastest.
pub(super) struct WalledNodes {
    pub along: [NodesAlong; 3],
    /// 1 for nodes in the region, 0 for others.
    pub open: Vec<f64>,
    /// Whether there are nodes in the box outside of the region.
    pub has_walls: bool,
    /// Whether x and y are longitude and latitude.
    pub is_on_sphere: bool,
}

impl WalledNodes {
    /// The nodes of a lattice and, for a Gaussian, those around it within its reach.
    pub fn of_lattice(
        lattice: &Lattice,
        domain: &DensityDomain,
        radius: Option<f64>,
        widths: Option<&Widths>,
    ) -> Result<Self> {
        let active = domain.axes.active();
        let reach = |d: usize| {
            widths.map_or(0.0, |widths| widths.reach(d, &[lattice.low, lattice.high], radius))
        };
        let mut along = [0, 1, 2].map(|d| match active[d] {
            true => NodesAlong::of_lattice(lattice, domain, d, reach(d)),
            false => NodesAlong::new(0.0, 0.0, 1),
        });
        for d in domain.axes.indices() {
            along[d].halve_at_faces(domain, d);
            if widths.is_none() && domain.edges[d][0] != Edge::Periodic {
                along[d].halve_ends();
            }
        }
        WalledNodes::new(along, domain, radius)
    }

    /// Nodes around points, for a Gaussian.
    pub fn around(
        points: &[[f64; 3]],
        domain: &DensityDomain,
        radius: Option<f64>,
        widths: &Widths,
    ) -> Result<Self> {
        let known = || points.iter().filter_map(|point| domain.wrap(*point));
        let end = |from: f64, of: fn(f64, f64) -> f64| {
            [0, 1, 2].map(|d| known().map(|point| point[d]).fold(from, of))
        };
        let [low, high] = [end(f64::INFINITY, f64::min), end(f64::NEG_INFINITY, f64::max)];
        // All points may be beyond the box or NaN.
        let [low, high] = if low[0] <= high[0] { [low, high] } else { [domain.low; 2] };
        let active = domain.axes.active();
        let mut along = [0, 1, 2].map(|d| match active[d] {
            true => {
                let width = [widths.units[d], widths.reach(d, &[low, high], radius)];
                NodesAlong::around([low[d], high[d]], domain, d, width)
            }
            false => NodesAlong::new(0.0, 0.0, 1),
        });
        domain.axes.indices().for_each(|d| along[d].halve_at_faces(domain, d));
        WalledNodes::new(along, domain, radius)
    }

    fn new(along: [NodesAlong; 3], domain: &DensityDomain, radius: Option<f64>) -> Result<Self> {
        let count: f64 = along.iter().map(|along| along.count as f64).product();
        if count > MAX_NODES {
            return Err(Error::Bandwidth(format!(
                "in a region with walls it needs a lattice of {count:.1e} nodes, more than {MAX_NODES:.1e}; give a \
                 wider one, or a smaller part of the domain"
            )));
        }
        let (open, is_on_sphere) = (Vec::new(), radius.is_some());
        let mut nodes = WalledNodes { along, open, has_walls: false, is_on_sphere };
        radius.into_iter().for_each(|radius| nodes.add_metric(radius, domain));
        Ok(nodes)
    }

    /// Takes x and y as longitude and latitude on a sphere, and z as height.
    fn add_metric(&mut self, radius: f64, domain: &DensityDomain) {
        let counts = self.counts();
        let low = [0, 1, 2].map(|d| self.along[d].first);
        let high = [0, 1, 2].map(|d| self.along[d].position(counts[d] - 1));
        let lattice = Lattice { counts, low, high };
        let CellSizes { rows, layers } = CellSizes::on_sphere(radius, &lattice, domain.axes, false);
        let [_, latitudes, heights] = &mut self.along;
        for j in 0..counts[1] {
            let middle = (latitudes.position(j) + 0.5 * latitudes.pitch).to_radians();
            latitudes.between[j] = square_degree(radius) * middle.cos().max(0.0);
        }
        for (along, metric) in [(latitudes, rows), (heights, layers)] {
            along.sizes.iter_mut().zip(metric).for_each(|(size, metric)| *size *= metric);
        }
    }

    /// Finds out which nodes are in a region and in the box.
    pub fn in_region(self, region: &Region, domain: &DensityDomain) -> Self {
        let [nx, ny, nz] = self.counts();
        let position = |i: usize| self.position([i % nx, i / nx % ny, i / nx / ny]);
        let is_open = |i: usize| domain.wrap(position(i)).is_some_and(|at| region.contains(at));
        let nodes = (0..nx * ny * nz).into_par_iter();
        let open: Vec<f64> = nodes.map(|i| f64::from(u8::from(is_open(i)))).collect();
        let mut closed = open.iter().enumerate().filter(|(_, open)| **open == 0.0);
        let has_walls = closed.any(|(i, _)| domain.wrap(position(i)).is_some());
        WalledNodes { open, has_walls, ..self }
    }

    pub fn counts(&self) -> [usize; 3] {
        [0, 1, 2].map(|d| self.along[d].count)
    }

    pub fn index(&self, [i, j, k]: [usize; 3]) -> usize {
        (k * self.along[1].count + j) * self.along[0].count + i
    }

    fn position(&self, index: [usize; 3]) -> [f64; 3] {
        [0, 1, 2].map(|d| self.along[d].position(index[d]))
    }

    /// The size of the cell around a node.
    pub fn size(&self, index: [usize; 3]) -> f64 {
        let along = self.along.iter().zip(index);
        along
            .map(|(along, i)| along.sizes[i] * if along.pitch > 0.0 { along.pitch } else { 1.0 })
            .product()
    }

    /// The values at the nodes of the lattice from which the nodes were made: 0 beyond the box, and NaN outside of the region.
    pub fn cropped(
        &self,
        values: &[f64],
        lattice: &Lattice,
        region: &Region,
        domain: &DensityDomain,
    ) -> Vec<f64> {
        let [nx, ny, _] = lattice.counts;
        let own = |i: usize, d: usize| (i + self.along[d].offset) % self.along[d].count;
        let value = |(i, at): (usize, [f64; 3])| {
            let index = self.index([own(i % nx, 0), own(i / nx % ny, 1), own(i / nx / ny, 2)]);
            match self.open[index] > 0.0 {
                true => values[index],
                false => value_outside(at, region, domain),
            }
        };
        lattice.node_positions().enumerate().map(value).collect()
    }

    /// The values at points, between the nodes in the region.
    pub fn interpolated(
        &self,
        values: &[f64],
        points: &[[f64; 3]],
        region: &Region,
        domain: &DensityDomain,
    ) -> Vec<f64> {
        let at = |point: &[f64; 3]| {
            let inside = domain.wrap(*point).filter(|at| region.contains(*at));
            let Some(position) = inside else { return value_outside(*point, region, domain) };
            match self.weights(position) {
                Some(weights) => weights.iter().map(|(node, weight)| weight * values[*node]).sum(),
                None => f64::NAN,
            }
        };
        points.par_iter().map(at).collect()
    }
}

/// The value at a position without a density: 0 beyond the box, where no particle counts; else NaN.
fn value_outside(position: [f64; 3], region: &Region, domain: &DensityDomain) -> f64 {
    let is_known = domain.axes.indices().all(|d| position[d].is_finite());
    match domain.wrap(position) {
        None if is_known => 0.0,
        // A node in the region that the rounding of its position puts outside.
        Some(at) if region.contains(at) => 0.0,
        _ => f64::NAN,
    }
}

impl Widths {
    /// How far a Gaussian reaches along an axis from positions between corners. Meridians on a sphere are closer together there.
    fn reach(&self, d: usize, corners: &[[f64; 3]; 2], radius: Option<f64>) -> f64 {
        let reach = self.truncation * self.units[d];
        if radius.is_none() || d != 0 {
            return reach;
        }
        let latitude = corners.iter().map(|corner| corner[1].abs()).fold(0.0, f64::max);
        let highest = (latitude + self.truncation * self.units[1]).min(90.0).to_radians();
        (reach / highest.cos().max(1e-3)).min(180.0)
    }
}
