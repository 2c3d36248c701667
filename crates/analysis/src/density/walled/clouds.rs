//! Particles distributed to the nodes in a region.

use super::super::{
    domain::{DensityDomain, Edge, clamp_rounded},
    sample::Sample,
};
use super::nodes::WalledNodes;

/// Maximum distance in nodes from a particle to a node in the region, if no corner of its cell is in it.
const MAX_DISTANCE: isize = 4;

/// Nodes and their weights, with the sum 1.
pub(super) type NodeWeights = Vec<(usize, f64)>;

/// Particles at nodes.
pub(super) struct Clouds {
    /// The weight of the particles at each node, divided by the size of its cell.
    pub densities: Vec<f64>,
    /// Number of particles at the nodes, and their weight.
    pub used: usize,
    pub weight: f64,
    /// Number of particles that are not near to any node in the region, and their weight.
    pub lost: usize,
    pub lost_weight: f64,
}

impl WalledNodes {
    /// Distributes each particle linearly to those corners of its cell that are in the region, and are connected in it.
    pub fn clouds(&self, sample: &Sample, domain: &DensityDomain) -> Clouds {
        let mut densities = vec![0.0; self.open.len()];
        let (mut used, mut lost, mut weight_used, mut lost_weight) = (0, 0, 0.0, 0.0);
        let mut images = [vec![0.0], vec![0.0], vec![0.0]];
        for (position, weight) in sample.positions.iter().zip(&sample.weights) {
            for d in domain.axes.indices() {
                self.images(d, position[d], domain, &mut images[d]);
            }
            let [xs, ys, zs] = &images;
            let all = zs.iter().flat_map(|z| ys.iter().map(move |y| (z, y)));
            let all = all.flat_map(|(z, y)| xs.iter().map(move |x| [*x, *y, *z]));
            let (mut is_used, mut is_lost) = (false, false);
            for image in all {
                match self.weights(image) {
                    Some(weights) => {
                        is_used = true;
                        weights.iter().for_each(|(node, part)| densities[*node] += weight * part);
                    }
                    None => is_lost = true,
                }
            }
            if is_used {
                used += 1;
                weight_used += weight;
            } else if is_lost {
                lost += 1;
                lost_weight += weight;
            }
        }
        let [nx, ny, _] = self.counts();
        for (i, density) in densities.iter_mut().enumerate() {
            *density /= self.size([i % nx, i / nx % ny, i / nx / ny]);
        }
        Clouds { densities, used, weight: weight_used, lost, lost_weight }
    }

    /// The coordinates of a particle and its periodic images between the first and the last node.
    fn images(&self, d: usize, x: f64, domain: &DensityDomain, images: &mut Vec<f64>) {
        images.clear();
        let along = &self.along[d];
        let [first, last] = [along.first, along.position(along.count - 1)];
        if along.is_ring {
            images.push(x);
        } else if domain.edges[d][0] == Edge::Periodic {
            let mut all = Vec::new();
            domain.images(d, x, first, last, &mut all);
            images.extend(all.iter().map(|(x, _)| x));
        } else {
            images.extend(clamp_rounded(x, [first, last], domain.origin[d]));
        }
    }

    /// The nodes between which a position is, and their weights in a linear interpolation: corners of its cell that are in the
    /// region and connected by edges in it, or else the nearest node in the region. `None` if there is none near to it.
    pub fn weights(&self, position: [f64; 3]) -> Option<NodeWeights> {
        let at = [0, 1, 2].map(|d| {
            let along = &self.along[d];
            if along.pitch > 0.0 { (position[d] - along.first) / along.pitch } else { 0.0 }
        });
        let base = at.map(|at| at.floor() as isize);
        let corners: [(Option<usize>, f64); 8] = std::array::from_fn(|corner| {
            let bit = |d: usize| (corner >> d & 1) as isize;
            let part = |d: usize| {
                let above = at[d] - base[d] as f64;
                if bit(d) == 1 { above } else { 1.0 - above }
            };
            let node = self.open_node([0, 1, 2].map(|d| base[d] + bit(d)));
            (node, part(0) * part(1) * part(2))
        });
        let is_open = |corner: usize| corners[corner].0.is_some();
        let nearest = (0..8)
            .filter(|corner| is_open(*corner) && corners[*corner].1 > 0.0)
            .max_by(|a, b| corners[*a].1.total_cmp(&corners[*b].1));
        let Some(nearest) = nearest else { return self.nearest(at).map(|node| vec![(node, 1.0)]) };
        let mut is_connected = [false; 8];
        is_connected[nearest] = true;
        for _ in 0..3 {
            for corner in (0..8).filter(|corner| is_open(*corner)) {
                is_connected[corner] |= (0..3).any(|d| is_connected[corner ^ 1 << d]);
            }
        }
        let connected = (0..8).filter(|corner| is_connected[*corner]);
        let weights = connected.filter_map(|corner| Some((corners[corner].0?, corners[corner].1)));
        let weights: NodeWeights = weights.filter(|(_, weight)| *weight > 0.0).collect();
        let sum: f64 = weights.iter().map(|(_, weight)| weight).sum();
        Some(weights.into_iter().map(|(node, weight)| (node, weight / sum)).collect())
    }

    /// The index of a node that is in the region.
    fn open_node(&self, index: [isize; 3]) -> Option<usize> {
        let mut inside = [0; 3];
        for d in 0..3 {
            let count = self.along[d].count as isize;
            let i = if self.along[d].is_ring { index[d].rem_euclid(count) } else { index[d] };
            inside[d] = usize::try_from(i).ok().filter(|i| *i < self.along[d].count)?;
        }
        Some(self.index(inside)).filter(|node| self.open[*node] > 0.0)
    }

    /// The node in the region that is nearest to a position in node spacings.
    fn nearest(&self, at: [f64; 3]) -> Option<usize> {
        let middle = at.map(|at| at.round() as isize);
        let around = |d: usize| if self.along[d].count > 1 { MAX_DISTANCE } else { 0 };
        let mut nearest: Option<(f64, usize)> = None;
        for k in -around(2)..=around(2) {
            for j in -around(1)..=around(1) {
                for i in -around(0)..=around(0) {
                    let index = [middle[0] + i, middle[1] + j, middle[2] + k];
                    let distance: f64 = (0..3).map(|d| (index[d] as f64 - at[d]).powi(2)).sum();
                    if nearest.is_none_or(|(least, _)| distance < least) {
                        nearest = self.open_node(index).map(|node| (distance, node)).or(nearest);
                    }
                }
            }
        }
        nearest.map(|(_, node)| node)
    }
}
