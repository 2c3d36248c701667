//! Where a density is evaluated: axes, lattices of nodes, planes.

use crate::{Error, Result};

/// The axes along which distances count. Along the others the particles are projected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the names say it
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
    /// Whether x, y and z count.
    pub fn counts(self) -> [bool; 3] {
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

    /// How many axes count: 1, 2 or 3.
    pub fn dimension(self) -> usize {
        self.counts().into_iter().filter(|counts| *counts).count()
    }

    /// The numbers of the axes that count, in order.
    pub(super) fn numbers(self) -> impl Iterator<Item = usize> {
        let counts = self.counts();
        (0..3).filter(move |&d| counts[d])
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

/// Nodes at even distances along x, y and z, the first one at `low` and the last one at `high`; for
/// [`histogram`](super::Density::histogram) as many bins from `low` to `high`.
///
/// Axes that do not count are not looked at. Along an axis with a single node it lies at `low`: a
/// slice. Values go with x fastest, as in VTK's image data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lattice {
    /// Nodes, or bins, along each axis.
    pub counts: [usize; 3],
    /// Least corner, in the data's unit of length.
    pub low: [f64; 3],
    /// Greatest corner, likewise.
    pub high: [f64; 3],
}

impl Lattice {
    /// Distance between nodes along an axis; 0 for a single one.
    pub fn pitch(&self, axis: usize) -> f64 {
        match self.counts[axis] {
            0 | 1 => 0.0,
            n => (self.high[axis] - self.low[axis]) / (n - 1) as f64,
        }
    }

    /// How many nodes, or bins, there are.
    pub fn nodes(&self) -> usize {
        self.counts.iter().product()
    }

    /// The nodes' places, in the order of values. The last one along an axis is at the greatest
    /// corner, and not a rounding error beyond it.
    pub(super) fn places(&self) -> impl Iterator<Item = [f64; 3]> + '_ {
        let [nx, ny, _] = self.counts;
        let pitch = [0, 1, 2].map(|d| self.pitch(d));
        (0..self.nodes()).map(move |i| {
            let index = [i % nx, i / nx % ny, i / nx / ny];
            [0, 1, 2].map(|d| (self.low[d] + index[d] as f64 * pitch[d]).min(self.high[d]))
        })
    }

    /// The same with a single node at 0 along axes that do not count.
    ///
    /// # Errors
    ///
    /// [`Error::Lattice`] without nodes, with corners that are not finite or in the wrong order, and
    /// with more nodes than can be numbered.
    pub(super) fn along(mut self, axes: Axes) -> Result<Self> {
        for (d, counts) in axes.counts().into_iter().enumerate() {
            if !counts {
                (self.counts[d], self.low[d], self.high[d]) = (1, 0.0, 0.0);
                continue;
            }
            let (low, high, name) = (self.low[d], self.high[d], axis_name(d));
            let is_one = self.counts[d] == 1;
            if self.counts[d] == 0 {
                return Err(Error::Lattice(format!(
                    "there are no nodes along {name}; give 1 or more"
                )));
            }
            if !low.is_finite() || !high.is_finite() || (!is_one && low >= high) || low > high {
                return Err(Error::Lattice(format!(
                    "along {name} the nodes go from {low} to {high}; give finite numbers, the second \
                     one greater"
                )));
            }
        }
        let count = self.counts.iter().try_fold(1_usize, |all, &n| all.checked_mul(n));
        match count {
            Some(count) if count <= i32::MAX as usize => Ok(self),
            _ => Err(Error::Lattice(format!(
                "{} x {} x {} nodes are more than {} (2^31 - 1)",
                self.counts[0],
                self.counts[1],
                self.counts[2],
                i32::MAX
            ))),
        }
    }

    /// The sum that integrates values over the axes of more than one node: the trapezoidal rule.
    pub(super) fn integral(&self, values: &[f64]) -> f64 {
        let [nx, ny, nz] = self.counts;
        let end = |d: usize, i: usize| {
            let n = self.counts[d];
            if n > 1 && (i == 0 || i == n - 1) { 0.5 } else { 1.0 }
        };
        let mut sum = 0.0;
        for k in 0..nz {
            for j in 0..ny {
                let row = &values[(k * ny + j) * nx..][..nx];
                let inner: f64 = row.iter().sum();
                let ends = if nx > 1 { 0.5 * (row[0] + row[nx - 1]) } else { 0.0 };
                sum += end(2, k) * end(1, j) * (inner - ends);
            }
        }
        let pitches = (0..3).map(|d| self.pitch(d)).filter(|&pitch| pitch > 0.0);
        sum * pitches.product::<f64>()
    }
}

/// A parallelogram of nodes in any direction: `origin + i/(n-1) u + j/(m-1) v`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    /// The corner with the first node, in the data's unit of length.
    pub origin: [f64; 3],
    /// The edges from there, u and v.
    pub edges: [[f64; 3]; 2],
    /// Nodes along u and along v.
    pub counts: [usize; 2],
}

impl Plane {
    /// The nodes, along u fastest.
    ///
    /// # Errors
    ///
    /// [`Error::Lattice`] without nodes, and with numbers that are not finite.
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
    fn no_node_lies_beyond_the_greatest_corner() {
        for n in 2..2000 {
            let high = [0.1 * f64::from(n), 1.0 / f64::from(n), 1.0 / 3.0];
            let counts = [n as usize, 3, 2];
            let lattice = Lattice { counts, low: [-0.3, 0.0, 0.1], high };
            let last = lattice.places().last().unwrap();
            assert!((0..3).all(|d| last[d] <= high[d] && high[d] - last[d] < 1e-12 * high[d]));
        }
    }
}
