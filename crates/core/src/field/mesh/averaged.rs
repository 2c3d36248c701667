//! Cell velocities averaged at the points of a mesh.

use crate::{
    Floats, FrameData, FrameSource, MeshSource, SourceError,
    mesh::{Mesh, Origins},
};

/// A source of velocities at the points of a mesh: the means of the adjacent cells.
pub(super) struct Averaged<S> {
    source: S,
    /// Start of each point's cells in `cells`, followed by the length of `cells`.
    starts: Vec<usize>,
    /// Cell indices in the source.
    cells: Vec<usize>,
}

impl<S> Averaged<S> {
    pub fn new(source: S, mesh: &Mesh, origins: &Origins) -> Self {
        let connectivity = &mesh.cells().connectivity;
        let mut starts = vec![0; mesh.points().len() + 1];
        for node in connectivity {
            starts[*node as usize + 1] += 1;
        }
        for point in 1..starts.len() {
            starts[point] += starts[point - 1];
        }
        let mut next = starts.clone();
        let mut cells = vec![0; connectivity.len()];
        for (cell, origin) in origins.cells.iter().enumerate() {
            for node in mesh.cells().nodes(cell) {
                let at = &mut next[*node as usize];
                cells[*at] = *origin;
                *at += 1;
            }
        }
        Averaged { source, starts, cells }
    }

    fn means(&self, velocity: impl Fn(usize) -> f64) -> Vec<f64> {
        let means = self.starts.windows(2).flat_map(|ends| {
            let around = &self.cells[ends[0]..ends[1]];
            let sum = |d: usize| around.iter().map(|cell| velocity(3 * cell + d)).sum::<f64>();
            [0, 1, 2].map(|d| sum(d) / around.len() as f64)
        });
        means.collect()
    }
}

impl<S: MeshSource> Averaged<S> {
    /// Averages the velocity of a frame. Diffusivities are not changed: the layout refuses them.
    fn averaged(&self, mut frame: FrameData) -> FrameData {
        // The layout reports a wrong number of velocities.
        if frame.velocity.len() == 3 * self.source.cells().len() {
            frame.velocity = Floats::F64(match frame.velocity {
                Floats::F32(v) => self.means(|i| f64::from(v[i])),
                Floats::F64(v) => self.means(|i| v[i]),
            });
        }
        frame
    }
}

impl<S: MeshSource> FrameSource for Averaged<S> {
    fn times(&self) -> &[f64] {
        self.source.times()
    }

    fn read(&mut self, frame: usize) -> std::result::Result<FrameData, SourceError> {
        let frame = self.source.read(frame)?;
        Ok(self.averaged(frame))
    }

    fn read_many(&mut self, frames: &[usize]) -> Vec<std::result::Result<FrameData, SourceError>> {
        let frames = self.source.read_many(frames).into_iter();
        frames.map(|frame| Ok(self.averaged(frame?))).collect()
    }
}
