//! Where exponents are computed, and from which particles.

use crate::{Error, Result};
use burntrace_core::{GridPlacement, Seeds};

/// Nodes at equal distances in a box, x varying fastest, as those of [`Seeds::grid`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lattice {
    low: [f64; 3],
    high: [f64; 3],
    counts: [usize; 3],
    points: GridPlacement,
}

/// Which particles tell the gradient of the flow map at a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stencil {
    /// Those of the neighbouring nodes: one particle for each node. Central differences; one-sided
    /// ones at the edges of the lattice, and beside a node that has none. Axes with one node are
    /// left out.
    Neighbours,
    /// Particles of its own, at this distance from the node (unit of length) on both sides along
    /// each axis on which the box is not flat. The lattice may be as coarse as one likes. They
    /// start outside the box where a node is nearer to its edge; the centres of cells are within.
    Auxiliary(f64),
}

impl Lattice {
    /// `counts[0] x counts[1] x counts[2]` nodes in a box: the corners of its cells or their
    /// centres. A planar flow has one node along z, in a box that is flat there.
    ///
    /// # Errors
    ///
    /// [`Error::Ftle`] where [`Seeds::grid`] cannot make such seeds.
    pub fn new(
        low: [f64; 3],
        high: [f64; 3],
        counts: [usize; 3],
        points: GridPlacement,
    ) -> Result<Self> {
        let lattice = Lattice { low, high, counts, points };
        lattice.nodes().map(|_| lattice)
    }

    /// How many nodes there are along each axis.
    pub fn counts(&self) -> [usize; 3] {
        self.counts
    }

    /// Least corner of its box.
    pub fn low(&self) -> [f64; 3] {
        self.low
    }

    /// Greatest corner of its box.
    pub fn high(&self) -> [f64; 3] {
        self.high
    }

    /// Which points of the box's cells are nodes.
    pub fn points(&self) -> GridPlacement {
        self.points
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.counts.iter().product()
    }

    /// Whether there are none, which [`new`](Lattice::new) refuses.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Distances of neighbouring nodes; 0 along axes with one.
    pub fn spacing(&self) -> [f64; 3] {
        std::array::from_fn(|d| {
            let cells = match self.points {
                GridPlacement::Corners => self.counts[d].saturating_sub(1).max(1),
                GridPlacement::Centres => self.counts[d],
            };
            if self.counts[d] > 1 { (self.high[d] - self.low[d]) / cells as f64 } else { 0.0 }
        })
    }

    /// The particles to trace: for [`Stencil::Neighbours`] one on each node, in their order; for
    /// [`Stencil::Auxiliary`] those on the high side of all nodes along the first axis, then those
    /// on the low side, and so on for each axis that is not flat.
    ///
    /// # Errors
    ///
    /// [`Error::Ftle`] where the distance is not greater than 0, or too small for places in f64 to
    /// differ, where all axes are flat, or where there are too many seeds.
    pub fn seeds(&self, stencil: Stencil) -> Result<Seeds> {
        let nodes = self.nodes()?;
        let Stencil::Auxiliary(distance) = stencil else { return Ok(nodes) };
        let axes = self.axes(stencil)?;
        let mut places = Vec::with_capacity(2 * axes.len() * self.len());
        for (axis, side) in axes.iter().flat_map(|axis| [(*axis, distance), (*axis, -distance)]) {
            for node in nodes.positions() {
                let mut place = *node;
                place[axis] += side;
                if place[axis] == node[axis] {
                    return Err(Error::Ftle(format!(
                        "{} + {distance} is {} in f64; give a greater distance",
                        node[axis], place[axis]
                    )));
                }
                places.push(place);
            }
        }
        Seeds::list(places).map_err(|error| Error::Ftle(error.to_string()))
    }

    /// The axes along which there are differences.
    pub(super) fn axes(&self, stencil: Stencil) -> Result<Vec<usize>> {
        let axes: Vec<usize> = match stencil {
            Stencil::Neighbours => (0..3).filter(|d| self.counts[*d] > 1).collect(),
            Stencil::Auxiliary(distance) if distance > 0.0 && distance.is_finite() => {
                (0..3).filter(|d| self.high[*d] > self.low[*d]).collect()
            }
            Stencil::Auxiliary(distance) => {
                return Err(Error::Ftle(format!(
                    "auxiliary particles cannot be {distance} from their node; give a distance \
                     above 0, as 1e-5 of the box"
                )));
            }
        };
        match axes.is_empty() {
            false => Ok(axes),
            true => Err(Error::Ftle(format!(
                "a lattice of {:?} nodes from {:?} to {:?} has no axis along which to differ; give \
                 two nodes at least, or auxiliary particles in a box that is not flat",
                self.counts, self.low, self.high
            ))),
        }
    }

    /// How many particles there are.
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
