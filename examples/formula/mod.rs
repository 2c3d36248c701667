//! A steady flow defined by functions of position, as a source of frames on a grid.

use burntrace::{Floats, FrameData, FrameSource, GridSource, Placement, SourceError};

/// A steady flow in a box.
pub struct Formula {
    /// Corners of the box; equal along a flat axis.
    pub corners: [[f64; 3]; 2],
    /// Nodes along x, y and z; one along a flat axis.
    pub nodes: [usize; 3],
    /// The velocity at a position.
    pub velocity: fn([f64; 3]) -> [f64; 3],
    /// The diffusivity at a position, for random walks.
    pub diffusivity: Option<fn([f64; 3]) -> f64>,
}

impl Formula {
    /// Converts into a source of frames.
    pub fn frames(self) -> Frames {
        let [low, high] = self.corners;
        let at = |d: usize, i: usize| i as f64 / (self.nodes[d] - 1).max(1) as f64;
        let node = |d: usize, i: usize| low[d] + at(d, i) * (high[d] - low[d]);
        let axes = [0, 1, 2].map(|d| (0..self.nodes[d]).map(|i| node(d, i)).collect());
        Frames { formula: self, axes }
    }
}

/// A steady flow as a single frame.
pub struct Frames {
    formula: Formula,
    axes: [Vec<f64>; 3],
}

impl Frames {
    /// Positions of the nodes, x varying fastest.
    fn node_positions(&self) -> impl Iterator<Item = [f64; 3]> {
        let [x, y, z] = &self.axes;
        let row = move |y, z| x.iter().map(move |x| [*x, y, z]);
        z.iter().flat_map(move |z| y.iter().flat_map(move |y| row(*y, *z)))
    }
}

impl FrameSource for Frames {
    fn times(&self) -> &[f64] {
        &[0.0]
    }

    fn read(&mut self, _: usize) -> Result<FrameData, SourceError> {
        let velocity = self.node_positions().flat_map(self.formula.velocity).collect();
        let diffusivity = self.formula.diffusivity;
        let diffusivity =
            diffusivity.map(|diffusivity| self.node_positions().map(diffusivity).collect());
        let frame = FrameData::new(Floats::F64(velocity));
        Ok(frame.with_diffusivity(diffusivity.map(Floats::F64)))
    }
}

impl GridSource for Frames {
    fn axes(&self) -> &[Vec<f64>; 3] {
        &self.axes
    }

    fn placement(&self) -> Placement {
        Placement::Nodes
    }
}
