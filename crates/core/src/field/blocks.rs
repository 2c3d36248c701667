//! Blocks of the frames of a grid: the part that particles need, read during the run.

use super::{
    frames::{OutsideTime, TimeAxis},
    lanes::LANES,
    layout::{FrameTraits, Layout, grid_name, indices_of},
    options::{FieldOptions, NotFinite},
    source::{GridBlock, GridSource},
    stream::InputSummary,
    totals::ReadTotals,
};
use crate::{
    Error, Floats, Precision, Result,
    combinations::{Feature, refusal},
};
use burn::tensor::{DType, Device, Tensor, TensorData};
use burntrace_kernels::{FieldShape, FieldTensors, GridShape, Spacing};
use std::{
    ops::Range,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, Sender, channel},
    },
    thread::JoinHandle,
    time::Instant,
};

/// Maximum number of nodes of an axis, whose indices single precision holds.
const MAX_NODES: usize = 1 << 24;

/// The blocks of a field, and a thread that reads them.
pub(crate) struct Blocks {
    /// The whole grid.
    shape: GridShape,
    /// Node coordinates, measured from the origin of the field.
    axes: [Vec<f64>; 3],
    time: TimeAxis,
    groups: usize,
    /// Maximum bytes of a block on the device.
    bytes: u64,
    device: Device,
    precision: Precision,
    reader: Mutex<Reader>,
}

/// The frames and the nodes of a block. Frame indices continue from period to period.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BlockAt {
    pub frames: Range<i64>,
    pub nodes: GridBlock,
}

/// A block on the device.
pub(crate) struct HeldBlock {
    pub at: BlockAt,
    pub tensors: FieldTensors,
    /// For each axis the largest speeds towards its low and its high end.
    pub speeds: [[f64; 2]; 3],
    /// The steps that its first particles could take in it.
    pub steps: usize,
    /// The mean velocity of its particles, if it is known.
    pub motion: Option<[f64; 3]>,
}

/// A block as it was read.
struct ReadBlock {
    values: Floats,
    speeds: [[f64; 2]; 3],
    traits: FrameTraits,
}

/// A request for frames of a block, by their indices in the source.
struct Request {
    frames: Vec<usize>,
    nodes: GridBlock,
    to: Sender<Result<ReadBlock>>,
}

struct Reader {
    /// `None` when the thread is to end.
    requests: Option<Sender<Request>>,
    thread: Option<JoinHandle<()>>,
    /// A block that was requested and not received.
    ahead: Option<(BlockAt, Receiver<Result<ReadBlock>>)>,
    /// The last block, for the next launch.
    held: Option<HeldBlock>,
    input: InputSummary,
    /// An error that could not be returned where it happened.
    failure: Option<Error>,
}

impl std::fmt::Debug for Blocks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Blocks").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl Blocks {
    /// Starts to read blocks of up to `bytes` of a source. `axes` are measured from the field's origin.
    pub(super) fn open(
        layout: Layout,
        (source, axes): (Box<dyn GridSource + Send>, [Vec<f64>; 3]),
        time: TimeAxis,
        (device, options): (&Device, &FieldOptions),
        bytes: u64,
    ) -> Result<(Blocks, FrameTraits)> {
        crate::device::check_precision(device, options.precision)?;
        let FieldShape::Grid(shape) = layout.shape else {
            return Err(refusal(Feature::Blocks, Feature::NotOnGrid));
        };
        check(&shape, options)?;
        let groups = layout.lanes.groups();
        let source = BlockSource { layout, source, shape, options: *options };
        let blocks = Blocks {
            shape,
            axes,
            time,
            groups,
            bytes,
            device: device.clone(),
            precision: options.precision,
            reader: Mutex::new(Reader::new(source)?),
        };
        // The smallest block shows whether the source can read any.
        let nodes = GridBlock { first: [0; 3], nodes: shape.nodes.map(|nodes| nodes.min(2)) };
        let traits = blocks.receive(&BlockAt { frames: 0..1, nodes })?.traits;
        Ok((blocks, traits))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Reader> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Node coordinates of the whole grid, measured from the origin of the field.
    pub fn axes(&self) -> &[Vec<f64>; 3] {
        &self.axes
    }

    /// Maximum bytes of a block.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes of a number of frames of a block.
    pub fn bytes_of(&self, nodes: &GridBlock, frames: usize) -> u64 {
        let values = nodes.shape(&self.shape).values_per_frame();
        ((frames * self.groups * values + 1) * LANES * self.precision.bytes()) as u64
    }

    /// Totals of the frames of blocks read so far.
    pub fn input(&self) -> InputSummary {
        self.lock().input
    }

    /// Takes the pending error.
    pub fn failure(&self) -> Option<Error> {
        self.lock().failure.take()
    }

    /// Keeps an error that cannot be returned where it happened.
    pub fn fail(&self, error: Error) {
        self.lock().failure.get_or_insert(error);
    }

    /// Takes the block that was [kept](Blocks::keep).
    pub fn take_held(&self) -> Option<HeldBlock> {
        self.lock().held.take()
    }

    /// Keeps a block for the next launch.
    pub fn keep(&self, held: Option<HeldBlock>) {
        self.lock().held = held;
    }

    /// Starts to read a block, unless that has been done. A block that was to be read before is dropped.
    pub fn read_ahead(&self, at: &BlockAt) -> Result<()> {
        let mut reader = self.lock();
        if reader.ahead.as_ref().is_none_or(|(ahead, _)| ahead != at) {
            let frames = at.frames.clone().map(|frame| self.time.number(frame));
            let receiver = reader.request(frames.collect(), at.nodes)?;
            reader.ahead = Some((at.clone(), receiver));
        }
        Ok(())
    }

    /// The block that is being read ahead.
    pub fn ahead(&self) -> Option<BlockAt> {
        self.lock().ahead.as_ref().map(|(at, _)| at.clone())
    }

    /// Waits for a block, which may have been read ahead, and copies it to the device.
    ///
    /// # Errors
    ///
    /// If the source cannot read it, or it has holes.
    pub fn read(&self, at: BlockAt) -> Result<HeldBlock> {
        let _phase = crate::phase!("wait for blocks");
        let ReadBlock { values, speeds, .. } = self.receive(&at)?;
        let shape = at.nodes.shape(&self.shape);
        let nodes = (0..3).flat_map(|d| &self.axes[d][at.nodes.first[d]..][..at.nodes.nodes[d]]);
        let nodes: Vec<f64> = nodes.copied().collect();
        let count = nodes.len();
        let coordinates = self.precision.data(nodes, [count]);
        let index = TensorData::new(vec![0_i32], [1]);
        let rows = values.len() / LANES;
        let tensors = FieldTensors {
            velocity: values.into_tensor([rows, LANES], &self.device),
            groups: self.groups,
            coordinates: Tensor::from_data(coordinates, (&self.device, self.precision.dtype())),
            index: Tensor::from_data(index, (&self.device, DType::I32)),
            shape: FieldShape::Grid(shape),
        };
        Ok(HeldBlock { at, tensors, speeds, steps: 0, motion: None })
    }

    fn receive(&self, at: &BlockAt) -> Result<ReadBlock> {
        let start = Instant::now();
        self.read_ahead(at)?;
        let mut reader = self.lock();
        let (_, receiver) = reader.ahead.take().ok_or_else(ended)?;
        let found = receiver.recv().map_err(|_| ended())??;
        reader.input.blocks += 1;
        reader.input.frames += (at.frames.end - at.frames.start) as u64;
        reader.input.bytes += found.values.bytes().len() as u64;
        reader.input.wait_seconds += start.elapsed().as_secs_f64();
        Ok(found)
    }
}

impl Reader {
    fn new(mut source: BlockSource) -> Result<Self> {
        let (requests, received) = channel::<Request>();
        let work = move || {
            while let Ok(Request { frames, nodes, to }) = received.recv() {
                // Nobody may wait for the block any more.
                to.send(source.read(&frames, &nodes)).ok();
            }
        };
        let thread = std::thread::Builder::new().name("burntrace blocks".into()).spawn(work);
        let thread = thread.map_err(|error| {
            Error::Execution(format!("cannot start a thread to read blocks: {error}"))
        })?;
        Ok(Reader {
            requests: Some(requests),
            thread: Some(thread),
            ahead: None,
            held: None,
            input: InputSummary::default(),
            failure: None,
        })
    }

    fn request(&self, frames: Vec<usize>, nodes: GridBlock) -> Result<Receiver<Result<ReadBlock>>> {
        let (to, receiver) = channel();
        let requests = self.requests.as_ref().ok_or_else(ended)?;
        requests.send(Request { frames, nodes, to }).map_err(|_| ended())?;
        Ok(receiver)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.requests = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the source has already been reported to the reader of that block.
            thread.join().ok();
        }
    }
}

/// The source of the thread.
struct BlockSource {
    /// The layout of whole frames.
    layout: Layout,
    source: Box<dyn GridSource + Send>,
    shape: GridShape,
    options: FieldOptions,
}

impl BlockSource {
    fn read(&mut self, frames: &[usize], nodes: &GridBlock) -> Result<ReadBlock> {
        tracing::debug!(?frames, ?nodes, "reading");
        let _phase = crate::phase!("read");
        let layout = self.layout(nodes);
        let count = (frames.len() * layout.size() + 1) * LANES;
        let mut values = Floats::with_capacity(self.options.precision, count);
        let mut traits = FrameTraits::default();
        for frame in frames {
            let start = Instant::now();
            let data = self.source.read_block(*frame, nodes);
            ReadTotals::add(start, std::slice::from_ref(&data));
            let data = data.map_err(|source| Error::Source { frame: *frame, source })?;
            if data.hidden().is_some_and(|hidden| hidden.contains(&true)) {
                return Err(Error::Plan(format!(
                    "frame {frame} has holes (hidden or missing values) near the particles, where blocks have \
                     none; use another strategy, or values without holes"
                )));
            }
            let data = data.with_hidden(None);
            traits = layout.frame(*frame, data, self.options.not_finite, &mut values)?;
        }
        values.shift(0..0, 0, count);
        let frame = layout.size() * LANES;
        let ranges = (0..frames.len()).map(|k| k * frame..k * frame + layout.values() * LANES);
        let speeds = match &values {
            Floats::F32(values) => speeds(ranges.map(|range| &values[range]), f64::from),
            Floats::F64(values) => speeds(ranges.map(|range| &values[range]), |x| x),
        };
        Ok(ReadBlock { values, speeds, traits })
    }

    /// The layout of the frames of a block.
    fn layout(&self, nodes: &GridBlock) -> Layout {
        let shape = nodes.shape(&self.shape);
        let (whole, first) = (Arc::clone(&self.layout.position), nodes.first);
        let of_whole = self.shape;
        Layout {
            shape: FieldShape::Grid(shape),
            given: shape.values_per_frame(),
            name: grid_name(&shape),
            position: Arc::new(move |value| {
                let [i, j, k] = indices_of(value, &shape);
                let [nx, ny, _] = of_whole.values();
                whole(first[0] + i + nx * (first[1] + j + ny * (first[2] + k)))
            }),
            ..self.layout.clone()
        }
    }
}

/// For each axis the largest speeds of velocities and padding towards its low and its high end, at least 0.
fn speeds<'a, T: Copy + PartialOrd + Default + 'a>(
    frames: impl Iterator<Item = &'a [T]>,
    value: impl Fn(T) -> f64,
) -> [[f64; 2]; 3] {
    let (mut low, mut high) = ([T::default(); LANES], [T::default(); LANES]);
    for frame in frames {
        for row in frame.as_chunks::<LANES>().0 {
            for d in 0..LANES {
                low[d] = if row[d] < low[d] { row[d] } else { low[d] };
                high[d] = if row[d] > high[d] { row[d] } else { high[d] };
            }
        }
    }
    [0, 1, 2].map(|d| [-value(low[d]), value(high[d])])
}

/// Refuses what blocks cannot have.
fn check(shape: &GridShape, options: &FieldOptions) -> Result<()> {
    match options.not_finite {
        NotFinite::Outside => return Err(refusal(Feature::Blocks, Feature::Holes)),
        NotFinite::Land => return Err(refusal(Feature::Blocks, Feature::Land)),
        NotFinite::Error | NotFinite::Zero => {}
    }
    if options.outside_time == (OutsideTime::Periodic { period: None }) {
        return Err(refusal(Feature::Blocks, Feature::OpenPeriod));
    }
    match shape.nodes.iter().find(|nodes| **nodes > MAX_NODES) {
        Some(nodes) => Err(Error::Plan(format!(
            "an axis of the grid has {nodes} nodes, and blocks need at most {MAX_NODES}; use another strategy"
        ))),
        None => Ok(()),
    }
}

fn ended() -> Error {
    Error::Execution("the thread that reads blocks has ended because their source panicked".into())
}

impl GridBlock {
    /// The shape of this block of a grid.
    pub(crate) fn shape(&self, whole: &GridShape) -> GridShape {
        let first = match whole.spacing {
            Spacing::Uniform => self.first,
            Spacing::Table => [0; 3],
        };
        GridShape { nodes: self.nodes, first, ..*whole }
    }
}
