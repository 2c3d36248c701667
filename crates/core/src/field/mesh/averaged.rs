//! Cell velocities averaged at the points of a mesh.

use crate::{
    Floats, FrameData, FrameSource, MeshSource, SourceError,
    field::source::describe_as,
    mesh::{CellsAtPoints, Mesh, Origins},
};

/// A source of velocities at the points of a mesh: the means of the adjacent cells.
pub(super) struct Averaged<S> {
    source: S,
    around: CellsAtPoints,
    /// Index of each cell in the source.
    origins: Vec<usize>,
}

impl<S> Averaged<S> {
    pub fn new(source: S, mesh: &Mesh, origins: &Origins) -> Self {
        let around = CellsAtPoints::new(mesh.points().len(), mesh.cells());
        Averaged { source, around, origins: origins.cells.clone() }
    }

    /// The means at each point of an array with a number of components in each cell.
    fn means(&self, components: usize, number: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut means = Vec::new();
        for around in self.around.each() {
            means.extend((0..components).map(|d| {
                let origins = around.iter().map(|cell| self.origins[*cell as usize]);
                let sum: f64 = origins.map(|cell| number(components * cell + d)).sum();
                sum / around.len() as f64
            }));
        }
        means
    }
}

impl<S: MeshSource> Averaged<S> {
    /// Averages the velocity and the arrays of a frame. Diffusivities are not changed: the layout
    /// refuses them.
    fn averaged(&self, mut frame: FrameData) -> FrameData {
        frame.velocity = self.at_points(frame.velocity, 3);
        frame.scaled_velocity = frame.scaled_velocity.map(|velocity| self.at_points(velocity, 3));
        let components = self.source.arrays().iter().map(|array| array.components);
        let arrays = frame.arrays.into_iter().zip(components);
        frame.arrays =
            arrays.map(|(array, components)| self.at_points(array, components)).collect();
        frame
    }

    /// An array averaged at the points; unchanged if it has a wrong number of values, which the layout
    /// reports.
    fn at_points(&self, array: Floats, components: usize) -> Floats {
        if array.len() != components * self.source.cells().len() {
            return array;
        }
        Floats::F64(match array {
            Floats::F32(numbers) => self.means(components, |i| f64::from(numbers[i])),
            Floats::F64(numbers) => self.means(components, |i| numbers[i]),
        })
    }
}

impl<S: MeshSource> FrameSource for Averaged<S> {
    describe_as!(self => self.source);

    fn read(&mut self, frame: usize) -> std::result::Result<FrameData, SourceError> {
        let frame = self.source.read(frame)?;
        Ok(self.averaged(frame))
    }

    fn read_many(&mut self, frames: &[usize]) -> Vec<std::result::Result<FrameData, SourceError>> {
        let frames = self.source.read_many(frames).into_iter();
        frames.map(|frame| Ok(self.averaged(frame?))).collect()
    }
}
