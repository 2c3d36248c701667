//! Bytes read and time spent reading frames.

use burntrace::{
    FieldArray, FrameData, FrameSource, GridBlock, GridSource, MeshSource, Placement, PointSource,
    SourceError,
    mesh::{BoundaryCells, Cells},
};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};
use std::time::Instant;

/// Bytes read so far, and the time it took.
#[derive(Debug, Default)]
pub struct Tally {
    bytes: AtomicU64,
    nanoseconds: AtomicU64,
}

impl Tally {
    /// Bytes of velocities, diffusivities and arrays, in the precision of the source.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Seconds spent reading.
    pub fn seconds(&self) -> f64 {
        self.nanoseconds.load(Ordering::Relaxed) as f64 / 1e9
    }

    fn add(&self, bytes: usize, start: Instant) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        self.nanoseconds.fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
    }
}

/// A source that counts the bytes read and the time spent.
pub struct Timed<S: ?Sized> {
    tally: Arc<Tally>,
    source: Box<S>,
}

impl<S: ?Sized> Timed<S> {
    /// A source whose reading a tally counts.
    pub fn boxed(source: Box<S>, tally: &Arc<Tally>) -> Box<Self> {
        Box::new(Timed { tally: Arc::clone(tally), source })
    }
}

impl<S: GridSource + ?Sized> GridSource for Timed<S> {
    fn axes(&self) -> &[Vec<f64>; 3] {
        self.source.axes()
    }

    fn placement(&self) -> Placement {
        self.source.placement()
    }

    fn read_block(&mut self, frame: usize, block: &GridBlock) -> Result<FrameData, SourceError> {
        let start = Instant::now();
        let data = self.source.read_block(frame, block);
        self.tally.add(data.as_ref().map_or(0, FrameData::num_bytes), start);
        data
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

    fn boundary(&self) -> Option<&BoundaryCells> {
        self.source.boundary()
    }
}

impl<S: FrameSource + ?Sized> FrameSource for Timed<S> {
    fn times(&self) -> &[f64] {
        self.source.times()
    }

    fn arrays(&self) -> &[FieldArray] {
        self.source.arrays()
    }

    fn has_velocity(&self) -> bool {
        self.source.has_velocity()
    }

    fn cache_bytes(&self) -> u64 {
        self.source.cache_bytes()
    }

    fn read(&mut self, frame: usize) -> Result<FrameData, SourceError> {
        let start = Instant::now();
        let data = self.source.read(frame);
        self.tally.add(data.as_ref().map_or(0, FrameData::num_bytes), start);
        data
    }

    fn read_many(&mut self, frames: &[usize]) -> Vec<Result<FrameData, SourceError>> {
        let start = Instant::now();
        let data = self.source.read_many(frames);
        self.tally.add(data.iter().flatten().map(FrameData::num_bytes).sum(), start);
        data
    }
}
