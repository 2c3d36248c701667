//! Streamed frames: a window of consecutive frames on the device, and a thread that reads ahead.

use super::{
    frames::{Frames, TimeAxis},
    lanes::LANES,
    layout::{FrameTraits, Layout, check_ends},
    options::FieldOptions,
    reader::{FrameReader, ReadFrame, SHARED_FRAMES},
    source::FrameSource,
};
use crate::{Error, Precision, Result, device, floats::Floats};
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};
use std::{
    collections::VecDeque,
    ops::Range,
    sync::{Mutex, PoisonError},
    time::Instant,
};

/// Totals of the frames read during a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct InputSummary {
    /// Number of frames read, counting repeated reads.
    pub frames: u64,
    /// Bytes of these frames on the device.
    pub bytes: u64,
    /// Seconds for which the run waited for frames.
    pub wait_seconds: f64,
}

/// A window of frames on a device, with a reader for the next ones.
///
/// Frame indices are unbounded: in a periodic field they continue from period to period, in both
/// directions.
pub(crate) struct Stream {
    window: Mutex<Window>,
    time: TimeAxis,
    /// Values in a frame.
    size: usize,
    /// Maximum number of frames in the window, unless one step needs more.
    capacity: usize,
    /// Number of frames read ahead.
    ahead: usize,
    device: Device,
    precision: Precision,
    /// Bytes that the source keeps beside frames.
    cache_bytes: u64,
}

struct Window {
    /// Values of the frames `[frames x size + 1, 4]`.
    velocity: Option<Tensor<2>>,
    frames: Range<i64>,
    reader: FrameReader,
    /// Frames requested from the reader, in this order.
    requested: VecDeque<i64>,
    runs_backward: bool,
    input: InputSummary,
    /// An error that could not be returned where it happened.
    failure: Option<Error>,
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stream")
            .field("capacity", &self.capacity)
            .field("ahead", &self.ahead)
            .finish_non_exhaustive()
    }
}

impl Stream {
    /// Starts to stream a source with a window of `held` frames.
    pub(super) fn open(
        layout: Layout,
        source: Box<dyn FrameSource + Send>,
        time: TimeAxis,
        (device, options): (&Device, &FieldOptions),
        held: usize,
    ) -> Result<(Stream, FrameTraits)> {
        let ahead = Frames::ahead(held);
        let stream = Stream {
            size: layout.size(),
            capacity: (held - ahead).max(2),
            ahead,
            device: device.clone(),
            precision: options.precision,
            cache_bytes: source.cache_bytes(),
            window: Mutex::new(Window {
                velocity: None,
                frames: 0..0,
                reader: FrameReader::new(layout, source, (options.not_finite, options.precision))?,
                requested: VecDeque::new(),
                runs_backward: false,
                input: InputSummary::default(),
                failure: None,
            }),
            time,
        };
        let traits = stream.check_first()?;
        Ok((stream, traits))
    }

    /// Reads the first frame, and the last one if both must be equal.
    fn check_first(&self) -> Result<FrameTraits> {
        let mut window = self.lock();
        let (first, traits) = self.read(&mut window, 0)?;
        if self.time.ends_meet() {
            let (last, _) = window.reader.read(self.time.clock().frames - 1)?;
            check_ends(&self.time, last.agrees(0..last.len(), (&first, 0..first.len())))?;
        }
        let values = first.len();
        let mut all = first;
        all.shift(0..0, 0, values + LANES);
        window.velocity = Some(all.into_tensor([self.size + 1, LANES], &self.device));
        window.frames = 0..1;
        Ok(traits)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Window> {
        self.window.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same frames on another device, with a window of its own. The frames that both devices need at about
    /// the same time are read once.
    pub fn to_device(&self, device: &Device) -> Result<Stream> {
        let window = self.lock();
        let velocity = window.velocity.as_ref().map(|velocity| device::moved(velocity, device));
        let copy = Window {
            velocity: velocity.transpose()?,
            frames: window.frames.clone(),
            reader: window.reader.share(),
            requested: VecDeque::new(),
            runs_backward: window.runs_backward,
            input: InputSummary::default(),
            failure: None,
        };
        Ok(Stream {
            window: Mutex::new(copy),
            time: self.time.clone(),
            device: device.clone(),
            ..*self
        })
    }

    /// Bytes that the source and the thread that reads it keep beside the frames of this device.
    pub fn cache_bytes(&self) -> u64 {
        let kept = if self.lock().reader.is_shared() { SHARED_FRAMES } else { 0 };
        self.cache_bytes + (kept * self.size * LANES * self.precision.bytes()) as u64
    }

    /// Number of frames held at a time, including those read ahead.
    pub fn held(&self) -> usize {
        self.capacity + self.ahead
    }

    /// Maximum number of frames in a window.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Totals of the frames read so far.
    pub fn input(&self) -> InputSummary {
        self.lock().input
    }

    /// Takes the pending error.
    pub fn failure(&self) -> Option<Error> {
        self.lock().failure.take()
    }

    /// Keeps an error that cannot be returned where it happened, for the next caller who can.
    pub fn fail(&self, error: Error) {
        self.lock().failure.get_or_insert(error);
    }

    /// A window that contains the `needed` frames, and its first frame. Frames that are already in
    /// the window are not read again. `backward` is the direction of the next frames, if known.
    ///
    /// # Errors
    ///
    /// If a frame cannot be read, now or before a [pending error](Stream::failure).
    pub fn window(&self, needed: Range<i64>, backward: Option<bool>) -> Result<(Tensor<2>, i64)> {
        let mut window = self.lock();
        if let Some(error) = window.failure.take() {
            return Err(error);
        }
        window.runs_backward = backward.unwrap_or(window.runs_backward);
        let has = window.frames.clone();
        if needed.start < has.start || needed.end > has.end {
            let next = self.slid(&has, &needed);
            self.slide(&mut window, next)?;
        }
        self.read_ahead(&mut window);
        match &window.velocity {
            Some(velocity) => Ok((velocity.clone(), window.frames.start)),
            None => Err(Error::Execution("an earlier error left the field without frames".into())),
        }
    }

    /// Like [`window`](Stream::window), with zeros if a frame cannot be read;
    /// [`failure`](Stream::failure) returns the error.
    pub fn window_or_zeros(&self, needed: Range<i64>) -> (Tensor<2>, i64) {
        let (first, count) = (needed.start, (needed.end - needed.start) as usize);
        self.window(needed, None).unwrap_or_else(|error| {
            self.lock().failure.get_or_insert(error);
            let rows = count * self.size + 1;
            (Tensor::zeros([rows, LANES], (&self.device, self.precision.dtype())), first)
        })
    }

    /// The window after a move: the needed frames, and as many of the present ones as fit.
    fn slid(&self, has: &Range<i64>, needed: &Range<i64>) -> Range<i64> {
        if has.is_empty() || needed.start > has.end || needed.end < has.start {
            return needed.clone();
        }
        let limit = (self.capacity as i64).max(needed.end - needed.start);
        if needed.end > has.end {
            needed.start.min(has.start.max(needed.end - limit))..needed.end
        } else {
            needed.start..needed.end.max(has.end.min(needed.start + limit))
        }
    }

    /// Moves the window, in place if its tensor has no other owner and is in host memory.
    fn slide(&self, window: &mut Window, next: Range<i64>) -> Result<()> {
        let has = std::mem::replace(&mut window.frames, 0..0);
        let overlap = has.start.max(next.start)..has.end.min(next.end);
        let overlap = if overlap.is_empty() { next.start..next.start } else { overlap };
        let fresh: Vec<i64> = (next.start..overlap.start).chain(overlap.end..next.end).collect();
        let in_order: Vec<i64> = match window.runs_backward {
            true => fresh.into_iter().rev().collect(),
            false => fresh,
        };
        let velocity = window.velocity.take();
        window.velocity = Some(match velocity {
            Some(velocity) if device::compiles_kernels(&self.device) => {
                let mut parts = Vec::new();
                for frame in in_order {
                    let part = self.read(window, frame)?.0;
                    parts.push((frame, part.into_tensor([self.size, LANES], &self.device)));
                }
                if !overlap.is_empty() {
                    let rows = self.rows(&has, &overlap);
                    parts.push((overlap.start, velocity.slice([rows, 0..LANES])));
                }
                parts.sort_by_key(|(frame, _)| *frame);
                let end = Tensor::zeros([1, LANES], (&self.device, self.precision.dtype()));
                let parts = parts.into_iter().map(|(_, part)| part);
                Tensor::cat(parts.chain([end]).collect(), 0)
            }
            velocity => {
                let mut all = match velocity {
                    Some(velocity) => Floats::from_tensor(velocity)?,
                    None => Floats::with_capacity(self.precision, 0),
                };
                let rows = (next.end - next.start) as usize * self.size + 1;
                let from = self.rows(&has, &overlap);
                let to = self.rows(&next, &overlap).start;
                all.shift(from.start * LANES..from.end * LANES, to * LANES, rows * LANES);
                for frame in in_order {
                    let at = self.rows(&next, &(frame..frame + 1)).start;
                    all.put(at * LANES, &self.read(window, frame)?.0);
                }
                let zeros = Floats::zeros(self.precision, LANES);
                all.put((rows - 1) * LANES, &zeros);
                all.into_tensor([rows, LANES], &self.device)
            }
        });
        window.frames = next;
        Ok(())
    }

    /// Rows of a range of frames in a window; empty for an empty range.
    fn rows(&self, window: &Range<i64>, frames: &Range<i64>) -> Range<usize> {
        if frames.is_empty() {
            return 0..0;
        }
        let row = |frame: i64| (frame - window.start) as usize * self.size;
        row(frames.start)..row(frames.end)
    }

    /// Receives a frame, which may have been read ahead.
    fn read(&self, window: &mut Window, frame: i64) -> Result<ReadFrame> {
        let _phase = crate::phase!("wait for frames");
        let start = Instant::now();
        if !window.requested.contains(&frame) {
            // Discard pending frames: they are not needed, or needed later.
            window.reader.cancel();
            window.requested.clear();
            window.reader.request(self.time.number(frame))?;
            window.requested.push_back(frame);
        }
        let mut found = window.reader.next();
        while window.requested.pop_front().is_some_and(|requested| requested != frame) {
            found = window.reader.next();
        }
        window.input.frames += 1;
        window.input.bytes += (self.size * LANES * self.precision.bytes()) as u64;
        window.input.wait_seconds += start.elapsed().as_secs_f64();
        found
    }

    /// Requests the next frames.
    fn read_ahead(&self, window: &mut Window) {
        let Range { start, end } = window.frames;
        let next = |k: i64| if window.runs_backward { start - 1 - k } else { end + k };
        let is_there = |frame: &i64| {
            self.time.repeats() || (0..self.time.clock().frames as i64).contains(frame)
        };
        let wanted: Vec<i64> = (0..self.ahead as i64).map(next).filter(is_there).collect();
        for frame in wanted {
            if !window.requested.contains(&frame) && window.requested.len() < self.ahead {
                // If the thread has ended, the next read of a frame returns the error.
                if window.reader.request(self.time.number(frame)).is_ok() {
                    window.requested.push_back(frame);
                }
            }
        }
    }
}
