//! Lattices of nodes, and the particles seeded for their exponents.

use crate::{Error, Result};
use burntrace_core::{GridPlacement, Seeds};

/// Equidistant nodes in a box, ordered with x fastest, as in [`Seeds::grid`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lattice {
    low: [f64; 3],
    high: [f64; 3],
    counts: [usize; 3],
    points: GridPlacement,
}

/// The finite-difference stencil for the gradient of the flow map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stencil {
    /// One particle for each node. Central differences of neighbouring nodes; one-sided differences at
    /// the edges of the lattice and beside a node without a final position. Axes with one node are
    /// ignored.
    Neighbours,
    /// Auxiliary particles at this distance from each node (in the data's unit of length), on both sides
    /// along each axis on which the box is not flat. The accuracy is independent of the lattice spacing.
    /// Auxiliary particles of nodes on the boundary of the box are outside the box; nodes at cell centres
    /// avoid that.
    Auxiliary(f64),
}

impl Lattice {
    /// `counts[0] x counts[1] x counts[2]` nodes in a box, at the corners or centres of its cells. A
    /// planar flow has one node along z, in a box that is flat along z.
    ///
    /// # Errors
    ///
    /// [`Error::Ftle`] if [`Seeds::grid`] rejects the box or the counts.
    pub fn new(
        low: [f64; 3],
        high: [f64; 3],
        counts: [usize; 3],
        points: GridPlacement,
    ) -> Result<Self> {
        let lattice = Lattice { low, high, counts, points };
        lattice.nodes().map(|_| lattice)
    }

    /// Number of nodes along each axis.
    pub fn counts(&self) -> [usize; 3] {
        self.counts
    }

    /// Low corner of the box.
    pub fn low(&self) -> [f64; 3] {
        self.low
    }

    /// High corner of the box.
    pub fn high(&self) -> [f64; 3] {
        self.high
    }

    /// Placement of the nodes: corners or centres of the box's cells.
    pub fn points(&self) -> GridPlacement {
        self.points
    }

    /// Total number of nodes.
    pub fn len(&self) -> usize {
        self.counts.iter().product()
    }

    /// Whether the lattice has no nodes; never true, as [`new`](Lattice::new) rejects such lattices.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Node spacing along each axis; 0 along axes with one node.
    pub fn spacing(&self) -> [f64; 3] {
        std::array::from_fn(|d| {
            let cells = match self.points {
                GridPlacement::Corners => self.counts[d].saturating_sub(1).max(1),
                GridPlacement::Centres => self.counts[d],
            };
            if self.counts[d] > 1 { (self.high[d] - self.low[d]) / cells as f64 } else { 0.0 }
        })
    }

    /// The seeds to trace. For [`Stencil::Neighbours`], one at each node in the order of the nodes. For
    /// [`Stencil::Auxiliary`], those on the high side of all nodes along the first axis, then those on
    /// the low side, and so on for each axis that is not flat.
    ///
    /// # Errors
    ///
    /// [`Error::Ftle`] if the distance is not greater than 0 or below the resolution of f64 coordinates,
    /// if all axes are flat, or if there are too many seeds.
    pub fn seeds(&self, stencil: Stencil) -> Result<Seeds> {
        let nodes = self.nodes()?;
        let Stencil::Auxiliary(distance) = stencil else { return Ok(nodes) };
        let axes = self.axes(stencil)?;
        let mut positions = Vec::with_capacity(2 * axes.len() * self.len());
        for (axis, side) in axes.iter().flat_map(|axis| [(*axis, distance), (*axis, -distance)]) {
            for node in nodes.positions() {
                let mut position = *node;
                position[axis] += side;
                if position[axis] == node[axis] {
                    return Err(Error::Ftle(format!(
                        "{} + {distance} is {} in f64; give a greater distance",
                        node[axis], position[axis]
                    )));
                }
                positions.push(position);
            }
        }
        Seeds::list(positions).map_err(|error| Error::Ftle(error.to_string()))
    }

    /// The axes of the differences.
    pub(super) fn axes(&self, stencil: Stencil) -> Result<Vec<usize>> {
        let axes: Vec<usize> = match stencil {
            Stencil::Neighbours => (0..3).filter(|d| self.counts[*d] > 1).collect(),
            Stencil::Auxiliary(distance) if distance > 0.0 && distance.is_finite() => {
                self.extents()
            }
            Stencil::Auxiliary(distance) => {
                return Err(Error::Ftle(format!(
                    "the distance of auxiliary particles from their node is {distance}; give a \
                     distance above 0, for example 1e-5 of the box"
                )));
            }
        };
        self.some_axes(axes)
    }

    /// The axes on which the box is not flat.
    pub(super) fn extents(&self) -> Vec<usize> {
        (0..3).filter(|d| self.high[*d] > self.low[*d]).collect()
    }

    /// Refuses a lattice without an axis.
    pub(super) fn some_axes(&self, axes: Vec<usize>) -> Result<Vec<usize>> {
        match axes.is_empty() {
            false => Ok(axes),
            true => Err(Error::Ftle(format!(
                "a lattice of {:?} nodes from {:?} to {:?} has no axis for differences; give at least \
                 two nodes along an axis, or auxiliary particles in a box that is not flat",
                self.counts, self.low, self.high
            ))),
        }
    }

    /// Number of particles of a stencil.
    pub(super) fn particles(&self, stencil: Stencil) -> Result<usize> {
        Ok(match stencil {
            Stencil::Neighbours => self.len(),
            Stencil::Auxiliary(_) => 2 * self.axes(stencil)?.len() * self.len(),
        })
    }

    fn nodes(&self) -> Result<Seeds> {
        Seeds::grid(self.low, self.high, self.counts, self.points)
            .map_err(|error| Error::Ftle(error.to_string()))
    }
}
