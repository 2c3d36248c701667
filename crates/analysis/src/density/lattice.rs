//! Axes, lattices and planes on which a density is evaluated.

use super::globe::CellSizes;
use crate::{Error, Result};

/// The active axes of a density: distances are taken along them, and particles are projected along the
/// others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // self-explanatory
pub enum Axes {
    X,
    Y,
    Z,
    XY,
    XZ,
    YZ,
    #[default]
    XYZ,
}

impl Axes {
    /// Whether x, y and z are active.
    pub fn active(self) -> [bool; 3] {
        match self {
            Axes::X => [true, false, false],
            Axes::Y => [false, true, false],
            Axes::Z => [false, false, true],
            Axes::XY => [true, true, false],
            Axes::XZ => [true, false, true],
            Axes::YZ => [false, true, true],
            Axes::XYZ => [true; 3],
        }
    }

    /// The number of active axes: 1, 2 or 3.
    pub fn dimension(self) -> usize {
        self.active().into_iter().filter(|is_active| *is_active).count()
    }

    /// The indices of the active axes, in order.
    pub(super) fn indices(self) -> impl Iterator<Item = usize> {
        let active = self.active();
        (0..3).filter(move |&d| active[d])
    }
}

impl std::str::FromStr for Axes {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Ok(match name {
            "x" => Axes::X,
            "y" => Axes::Y,
            "z" => Axes::Z,
            "xy" => Axes::XY,
            "xz" => Axes::XZ,
            "yz" => Axes::YZ,
            "xyz" => Axes::XYZ,
            _ => return Err(Error::Axes(name.into())),
        })
    }
}

/// The name of an axis.
pub(super) fn axis_name(d: usize) -> char {
    ['x', 'y', 'z'][d]
}

/// Equidistant nodes along x, y and z from `low` to `high`, both included; for a
/// [`histogram`](super::Density::histogram), equal bins from `low` to `high`.
///
/// Inactive axes are ignored. A single node along an axis is at `low`: a slice. Values are ordered with
/// x fastest, as in VTK image data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lattice {
    /// Number of nodes, or bins, along each axis.
    pub counts: [usize; 3],
    /// Low corner, in the data's unit of length.
    pub low: [f64; 3],
    /// High corner, in the data's unit of length.
    pub high: [f64; 3],
}

impl Lattice {
    /// Node spacing along an axis; 0 for a single node.
    pub fn pitch(&self, axis: usize) -> f64 {
        match self.counts[axis] {
            0 | 1 => 0.0,
            n => (self.high[axis] - self.low[axis]) / (n - 1) as f64,
        }
    }

    /// The ends of a bin along an axis, or of the part of the lattice that is nearest to a node.
    pub(super) fn cell(&self, axis: usize, index: usize, is_bins: bool) -> [f64; 2] {
        let (low, high, i) = (self.low[axis], self.high[axis], index as f64);
        let (width, first) = match is_bins {
            true => ((high - low) / self.counts[axis] as f64, low),
            false => (self.pitch(axis), low - 0.5 * self.pitch(axis)),
        };
        [first + i * width, first + (i + 1.0) * width].map(|x| x.clamp(low, high))
    }

    /// Total number of nodes, or bins.
    pub fn nodes(&self) -> usize {
        self.counts.iter().product()
    }

    /// Positions of the nodes, in the order of values. The last node along an axis never exceeds the high
    /// corner by a rounding error.
    pub(super) fn node_positions(&self) -> impl Iterator<Item = [f64; 3]> + '_ {
        let [nx, ny, _] = self.counts;
        let pitch = [0, 1, 2].map(|d| self.pitch(d));
        (0..self.nodes()).map(move |i| {
            let index = [i % nx, i / nx % ny, i / nx / ny];
            [0, 1, 2].map(|d| (self.low[d] + index[d] as f64 * pitch[d]).min(self.high[d]))
        })
    }

    /// Middles of the bins, in the order of values.
    pub(super) fn middles_of_bins(&self) -> impl Iterator<Item = [f64; 3]> + use<> {
        let Lattice { counts, low, high } = *self;
        let middle = move |d: usize, i: usize| {
            low[d] + (i as f64 + 0.5) * (high[d] - low[d]) / counts[d] as f64
        };
        let [nx, ny, _] = counts;
        (0..self.nodes())
            .map(move |i| [middle(0, i % nx), middle(1, i / nx % ny), middle(2, i / nx / ny)])
    }

    /// The lattice with a single node at 0 along inactive axes.
    ///
    /// # Errors
    ///
    /// [`Error::Lattice`] for a lattice without nodes, with corners that are not finite or in the wrong
    /// order, or with more than 2^31 - 1 nodes.
    pub(super) fn restricted_to(mut self, axes: Axes) -> Result<Self> {
        for (d, is_active) in axes.active().into_iter().enumerate() {
            if !is_active {
                (self.counts[d], self.low[d], self.high[d]) = (1, 0.0, 0.0);
                continue;
            }
            let (low, high, name) = (self.low[d], self.high[d], axis_name(d));
            let is_one = self.counts[d] == 1;
            if self.counts[d] == 0 {
                return Err(Error::Lattice(format!(
                    "there are 0 nodes along {name}; give 1 or more"
                )));
            }
            if !low.is_finite() || !high.is_finite() || (!is_one && low >= high) || low > high {
                return Err(Error::Lattice(format!(
                    "the nodes extend from {low} to {high} along {name}; give finite numbers, the \
                     second one greater"
                )));
            }
        }
        let count = self.counts.iter().try_fold(1_usize, |all, &n| all.checked_mul(n));
        match count {
            Some(count) if count <= i32::MAX as usize => Ok(self),
            _ => Err(Error::Lattice(format!(
                "{} x {} x {} nodes exceed the maximum of {} (2^31 - 1); give fewer nodes",
                self.counts[0],
                self.counts[1],
                self.counts[2],
                i32::MAX
            ))),
        }
    }

    /// The integral of values over the axes with more than one node, by the trapezoidal rule, with the
    /// sizes of the cells around nodes. Nodes without a value do not count.
    pub(super) fn integral(&self, values: &[f64], sizes: &CellSizes) -> f64 {
        let [nx, ny, nz] = self.counts;
        let end = |d: usize, i: usize| {
            let n = self.counts[d];
            if n > 1 && (i == 0 || i == n - 1) { 0.5 } else { 1.0 }
        };
        let mut sum = 0.0;
        for k in 0..nz {
            for j in 0..ny {
                let row = &values[(k * ny + j) * nx..][..nx];
                let known = |value: f64| if value.is_nan() { 0.0 } else { value };
                let inner: f64 = row.iter().map(|value| known(*value)).sum();
                let ends = if nx > 1 { 0.5 * (known(row[0]) + known(row[nx - 1])) } else { 0.0 };
                sum += end(2, k) * sizes.layers[k] * end(1, j) * sizes.rows[j] * (inner - ends);
            }
        }
        let pitches = (0..3).map(|d| self.pitch(d)).filter(|&pitch| pitch > 0.0);
        sum * pitches.product::<f64>()
    }
}

/// A parallelogram of nodes in any orientation: `origin + i/(n-1) u + j/(m-1) v`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    /// The corner with the first node, in the data's unit of length.
    pub origin: [f64; 3],
    /// The edge vectors u and v, in the data's unit of length.
    pub edges: [[f64; 3]; 2],
    /// Number of nodes along u and along v.
    pub counts: [usize; 2],
}

impl Plane {
    /// Positions of the nodes, with u fastest.
    ///
    /// # Errors
    ///
    /// [`Error::Lattice`] for a plane without nodes, or with numbers that are not finite.
    pub fn nodes(&self) -> Result<Vec<[f64; 3]>> {
        let Plane { origin, edges: [u, v], counts: [n, m] } = *self;
        let is_finite = [origin, u, v].as_flattened().iter().all(|x| x.is_finite());
        if n == 0 || m == 0 || !is_finite {
            return Err(Error::Lattice(format!(
                "the plane at {origin:?} with edges {u:?} and {v:?} has {n} x {m} nodes; give finite \
                 numbers, and 1 node or more along each edge"
            )));
        }
        let part = |i: usize, n: usize| i as f64 / (n.max(2) - 1) as f64;
        let node = |i, j| [0, 1, 2].map(|d| origin[d] + part(i, n) * u[d] + part(j, m) * v[d]);
        Ok((0..m).flat_map(|j| (0..n).map(move |i| node(i, j))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_do_not_exceed_the_high_corner() {
        for n in 2..2000 {
            let high = [0.1 * f64::from(n), 1.0 / f64::from(n), 1.0 / 3.0];
            let counts = [n as usize, 3, 2];
            let lattice = Lattice { counts, low: [-0.3, 0.0, 0.1], high };
            let last = lattice.node_positions().last().unwrap();
            assert!((0..3).all(|d| last[d] <= high[d] && high[d] - last[d] < 1e-12 * high[d]));
        }
    }
}
