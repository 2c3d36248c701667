//! Periodic axes that a case closes.

use burntrace::{
    FieldArray, Floats, FrameData, FrameSource, GridBlock, GridSource, PeriodicAxis, Placement,
    SourceError,
};

/// Largest difference of equal layers, relative to the largest velocity component, and to the difference of the
/// first two layers.
const SLACK: [f64; 2] = [1e-5, 1e-2];

/// A grid with axes that lack their last layer. Frames that have it already are refused.
pub struct ClosedGrid<S> {
    source: S,
    /// The axes that are closed without a period in the case.
    axes: [bool; 3],
}

impl<S: GridSource> ClosedGrid<S> {
    pub fn new(source: S, known: [PeriodicAxis; 3]) -> Self {
        let is_open_ended = |d: usize| {
            let (PeriodicAxis::Closed { period }, [first, .., last]) =
                (known[d], &source.axes()[d][..])
            else {
                return false;
            };
            let length = last - first;
            let spacing = length / (source.axes()[d].len() - 1) as f64;
            period.is_none_or(|period| period < length + 0.5 * spacing)
        };
        let axes = [0, 1, 2].map(is_open_ended);
        ClosedGrid { source, axes }
    }

    fn checked(&self, data: Result<FrameData, SourceError>) -> Result<FrameData, SourceError> {
        let data = data?;
        let nodes = self.source.axes().each_ref().map(Vec::len);
        let has_all = data.velocity.len() == 3 * nodes.iter().product::<usize>();
        match (0..3).find(|d| has_all && self.axes[*d] && repeats(&data.velocity, nodes, *d)) {
            None => Ok(data),
            Some(d) => Err(self.error(d).into()),
        }
    }

    fn error(&self, d: usize) -> String {
        let (axis, nodes) = (["x", "y", "z"][d], &self.source.axes()[d]);
        let [first, last] = [nodes[0], nodes[nodes.len() - 1]];
        let end = last + (last - first) / (nodes.len() - 1) as f64;
        format!(
            "the last layer of nodes along {axis}, at {last}, repeats the first one, at {first}, but \
             field.periodic_axes has {axis:?}, which adds this layer at {end}; omit {axis:?} from \
             field.periodic_axes; if the layers are equal by chance, confirm the period by domain.low and \
             domain.high, along {axis} from {first} to {end}"
        )
    }
}

/// Whether the last layer of nodes along an axis repeats the first one, which differs from the second one.
fn repeats(velocity: &Floats, nodes: [usize; 3], d: usize) -> bool {
    let stride: usize = 3 * nodes[..d].iter().product::<usize>();
    let block = stride * nodes[d];
    let from_first = |layer: usize| {
        let starts = (0..velocity.len()).step_by(block);
        let first = starts.flat_map(|start| start..start + stride);
        let apart = |i: usize| match (velocity.get(i), velocity.get(i + stride * layer)) {
            (a, b) if a.is_nan() && b.is_nan() => 0.0,
            (a, b) if a.is_nan() || b.is_nan() => f64::INFINITY,
            (a, b) => (a - b).abs(),
        };
        first.map(apart).fold(0.0, f64::max)
    };
    let [outer, inner] = [nodes[d] - 1, 1].map(from_first);
    let numbers = (0..velocity.len()).map(|i| velocity.get(i).abs());
    let is_small = || outer <= SLACK[0] * numbers.fold(0.0, f64::max);
    inner > 0.0 && outer <= SLACK[1] * inner && is_small()
}

impl<S: GridSource> FrameSource for ClosedGrid<S> {
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
        let data = self.source.read(frame);
        self.checked(data)
    }

    fn read_many(&mut self, frames: &[usize]) -> Vec<Result<FrameData, SourceError>> {
        let all = self.source.read_many(frames);
        all.into_iter().map(|data| self.checked(data)).collect()
    }
}

impl<S: GridSource> GridSource for ClosedGrid<S> {
    fn axes(&self) -> &[Vec<f64>; 3] {
        self.source.axes()
    }

    fn placement(&self) -> Placement {
        self.source.placement()
    }

    fn read_block(&mut self, frame: usize, block: &GridBlock) -> Result<FrameData, SourceError> {
        self.source.read_block(frame, block)
    }
}
