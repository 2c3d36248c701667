//! How long the reading of frames takes.

use burntrace::{
    FrameSource, GridSource, MeshSource, Placement, PointSource, Velocity, mesh::Cells,
};
use std::time::Instant;

/// A source that is timed.
pub struct Timed<'a, S: ?Sized> {
    pub source: &'a mut S,
    /// Seconds spent in reading frames.
    pub seconds: f64,
}

impl<S: GridSource + ?Sized> GridSource for Timed<'_, S> {
    fn axes(&self) -> &[Vec<f64>; 3] {
        self.source.axes()
    }

    fn placement(&self) -> Placement {
        self.source.placement()
    }
}

impl<S: PointSource + ?Sized> PointSource for Timed<'_, S> {
    fn positions(&self) -> &[[f64; 3]] {
        self.source.positions()
    }
}

impl<S: MeshSource + ?Sized> MeshSource for Timed<'_, S> {
    fn points(&self) -> &[[f64; 3]] {
        self.source.points()
    }

    fn cells(&self) -> &Cells {
        self.source.cells()
    }

    fn placement(&self) -> Placement {
        self.source.placement()
    }
}

impl<S: FrameSource + ?Sized> FrameSource for Timed<'_, S> {
    fn times(&self) -> &[f64] {
        self.source.times()
    }

    fn read(&mut self, frame: usize) -> Result<Velocity, Box<dyn std::error::Error + Send + Sync>> {
        let begin = Instant::now();
        let velocity = self.source.read(frame);
        self.seconds += begin.elapsed().as_secs_f64();
        velocity
    }

    fn diffusivity(
        &mut self,
        frame: usize,
    ) -> Result<Option<Vec<f64>>, Box<dyn std::error::Error + Send + Sync>> {
        let begin = Instant::now();
        let diffusivity = self.source.diffusivity(frame);
        self.seconds += begin.elapsed().as_secs_f64();
        diffusivity
    }
}
