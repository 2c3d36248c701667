//! How long the reading of frames takes.

use burntrace::{
    FrameSource, GridSource, MeshSource, Placement, PointSource, Velocity, mesh::Cells,
};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};
use std::time::Instant;

/// How much has been read, and how long that has taken.
#[derive(Debug, Default)]
pub struct Tally {
    bytes: AtomicU64,
    nanoseconds: AtomicU64,
}

impl Tally {
    /// Bytes of velocities and diffusivities, as the source gives them.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Seconds spent in reading.
    pub fn seconds(&self) -> f64 {
        self.nanoseconds.load(Ordering::Relaxed) as f64 / 1e9
    }

    fn add(&self, bytes: usize, begin: Instant) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        self.nanoseconds.fetch_add(begin.elapsed().as_nanos() as u64, Ordering::Relaxed);
    }
}

/// A source whose reading is counted.
pub struct Timed<S: ?Sized> {
    pub tally: Arc<Tally>,
    pub source: Box<S>,
}

impl<S: GridSource + ?Sized> GridSource for Timed<S> {
    fn axes(&self) -> &[Vec<f64>; 3] {
        self.source.axes()
    }

    fn placement(&self) -> Placement {
        self.source.placement()
    }
}

impl<S: PointSource + ?Sized> PointSource for Timed<S> {
    fn positions(&self) -> &[[f64; 3]] {
        self.source.positions()
    }
}

impl<S: MeshSource + ?Sized> MeshSource for Timed<S> {
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

impl<S: FrameSource + ?Sized> FrameSource for Timed<S> {
    fn times(&self) -> &[f64] {
        self.source.times()
    }

    fn read(&mut self, frame: usize) -> Result<Velocity, Box<dyn std::error::Error + Send + Sync>> {
        let begin = Instant::now();
        let velocity = self.source.read(frame);
        self.tally.add(velocity.as_ref().map_or(0, bytes), begin);
        velocity
    }

    fn read_many(
        &mut self,
        frames: &[usize],
    ) -> Vec<Result<Velocity, Box<dyn std::error::Error + Send + Sync>>> {
        let begin = Instant::now();
        let velocities = self.source.read_many(frames);
        self.tally.add(velocities.iter().flatten().map(bytes).sum(), begin);
        velocities
    }

    fn diffusivity(
        &mut self,
        frame: usize,
    ) -> Result<Option<Vec<f64>>, Box<dyn std::error::Error + Send + Sync>> {
        let begin = Instant::now();
        let diffusivity = self.source.diffusivity(frame);
        let numbers = diffusivity.as_ref().ok().and_then(Option::as_ref);
        self.tally.add(numbers.map_or(0, |numbers| size_of_val(numbers.as_slice())), begin);
        diffusivity
    }
}

/// Bytes of a frame's velocities.
fn bytes(velocity: &Velocity) -> usize {
    match velocity {
        Velocity::F32(numbers) => size_of_val(numbers.as_slice()),
        Velocity::F64(numbers) => size_of_val(numbers.as_slice()),
    }
}
