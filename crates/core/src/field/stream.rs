//! Frames that are read in the course of a run: a window of consecutive ones on the device, and a
//! thread that reads those that come next.

use super::{
    FieldOptions, FrameSource, Frames, NotFinite,
    frames::TimeAxis,
    layout::{LANES, Layout, Loaded, check_ends, threads},
};
use crate::{Error, Precision, Result, device, floats::Floats};
use burn::tensor::{Device, Tensor};
use std::{
    collections::VecDeque,
    ops::Range,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, Sender, channel},
    },
    thread::JoinHandle,
    time::Instant,
};

/// What a run has read in its course.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct InputSummary {
    /// Frames, those that were read again counted again.
    pub frames: u64,
    /// Bytes that they take on the device.
    pub bytes: u64,
    /// Seconds for which the run waited for them.
    pub wait_seconds: f64,
}

/// A window of frames on a device, and where the next ones come from.
///
/// Frames are numbered without end: those of a period again and again, in both directions.
pub(crate) struct Stream {
    window: Mutex<Window>,
    time: TimeAxis,
    /// Values of a frame.
    size: usize,
    /// The most frames in the window, but for a step that needs more.
    capacity: usize,
    /// How many frames are read ahead.
    ahead: usize,
    device: Device,
    precision: Precision,
}

struct Window {
    /// The frames' values `[frames x size + 1, 4]`.
    velocity: Option<Tensor<2>>,
    frames: Range<i64>,
    reader: Reader,
    /// Frames that the reader was asked for, in this order.
    asked: VecDeque<i64>,
    runs_backward: bool,
    input: InputSummary,
    /// What went wrong where nobody could be told.
    failure: Option<Error>,
}

/// The thread that reads.
struct Reader {
    /// Closed to end the thread.
    ask: Option<Sender<usize>>,
    frames: Receiver<Result<(Floats, bool)>>,
    thread: Option<JoinHandle<()>>,
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
    /// Begins to read a source, of whose frames so many are to be held at a time.
    pub(super) fn open(
        layout: Layout,
        source: Box<dyn FrameSource + Send>,
        time: TimeAxis,
        (device, options): (&Device, &FieldOptions),
        held: usize,
    ) -> Result<Loaded> {
        let ahead = Frames::ahead(held);
        let stream = Stream {
            size: layout.size(),
            capacity: (held - ahead).max(2),
            ahead,
            device: device.clone(),
            precision: options.precision,
            window: Mutex::new(Window {
                velocity: None,
                frames: 0..0,
                reader: Reader::new(layout, source, (options.not_finite, options.precision))?,
                asked: VecDeque::new(),
                runs_backward: false,
                input: InputSummary::default(),
                failure: None,
            }),
            time,
        };
        let has_diffusivity = stream.check_first()?;
        let nothing = Floats::from_f64(options.precision, [0.0; LANES].into_iter());
        let velocity = nothing.into_tensor([1, LANES], device);
        Ok(Loaded { velocity, stream: Some(Arc::new(stream)), has_diffusivity })
    }

    /// Reads the first frame, and the last one where they must be equal.
    fn check_first(&self) -> Result<bool> {
        let mut window = self.lock();
        let (first, has_diffusivity) = self.read(&mut window, 0)?;
        if self.time.ends_meet() {
            let last = self.time.clock().frames - 1;
            check_ends(&self.time, window.reader.read(last)?.0 == first)?;
        }
        let values = first.len();
        let mut all = first;
        all.shift(0..0, 0, values + LANES);
        window.velocity = Some(all.into_tensor([self.size + 1, LANES], &self.device));
        window.frames = 0..1;
        Ok(has_diffusivity)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Window> {
        self.window.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Frames held at a time, those that are read ahead among them.
    pub fn held(&self) -> usize {
        self.capacity + self.ahead
    }

    /// The most frames in a window.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// What was read so far.
    pub fn input(&self) -> InputSummary {
        self.lock().input
    }

    /// What went wrong where nobody could be told, once.
    pub fn failure(&self) -> Option<Error> {
        self.lock().failure.take()
    }

    /// A window in which some frames are, and its first frame. Frames that are in the window already
    /// are not read again. `backward` says in which direction the next ones are, if that is known.
    pub fn window(&self, needed: Range<i64>, backward: Option<bool>) -> Result<(Tensor<2>, i64)> {
        let mut window = self.lock();
        window.runs_backward = backward.unwrap_or(window.runs_backward);
        let has = window.frames.clone();
        if needed.start < has.start || needed.end > has.end {
            let next = self.slid(&has, &needed);
            self.slide(&mut window, next)?;
        }
        self.read_ahead(&mut window);
        match &window.velocity {
            Some(velocity) => Ok((velocity.clone(), window.frames.start)),
            None => Err(Error::Execution("it lost its frames".into())),
        }
    }

    /// The same; zeros where a frame cannot be read, which [`failure`](Stream::failure) tells of.
    pub fn window_or_zeros(&self, needed: Range<i64>) -> (Tensor<2>, i64) {
        let (first, count) = (needed.start, (needed.end - needed.start) as usize);
        self.window(needed, None).unwrap_or_else(|error| {
            self.lock().failure.get_or_insert(error);
            let rows = count * self.size + 1;
            (Tensor::zeros([rows, LANES], (&self.device, self.precision.dtype())), first)
        })
    }

    /// The window after a move: what is needed, and as many of those that were there as fit.
    fn slid(&self, has: &Range<i64>, needed: &Range<i64>) -> Range<i64> {
        if has.is_empty() || needed.start > has.end || needed.end < has.start {
            return needed.clone();
        }
        let most = (self.capacity as i64).max(needed.end - needed.start);
        if needed.end > has.end {
            needed.start.min(has.start.max(needed.end - most))..needed.end
        } else {
            needed.start..needed.end.max(has.end.min(needed.start + most))
        }
    }

    /// Moves the window, in place where nobody else holds its tensor and the host can write to it.
    fn slide(&self, window: &mut Window, next: Range<i64>) -> Result<()> {
        let has = std::mem::replace(&mut window.frames, 0..0);
        let kept = has.start.max(next.start)..has.end.min(next.end);
        let kept = if kept.is_empty() { next.start..next.start } else { kept };
        let fresh: Vec<i64> = (next.start..kept.start).chain(kept.end..next.end).collect();
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
                if !kept.is_empty() {
                    let rows = self.rows(&has, &kept);
                    parts.push((kept.start, velocity.slice([rows, 0..LANES])));
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
                let from = self.rows(&has, &kept);
                let to = self.rows(&next, &kept).start;
                all.shift(from.start * LANES..from.end * LANES, to * LANES, rows * LANES);
                for frame in in_order {
                    let at = self.rows(&next, &(frame..frame + 1)).start;
                    all.put(at * LANES, &self.read(window, frame)?.0);
                }
                let zeros = Floats::from_f64(self.precision, [0.0; LANES].into_iter());
                all.put((rows - 1) * LANES, &zeros);
                all.into_tensor([rows, LANES], &self.device)
            }
        });
        window.frames = next;
        Ok(())
    }

    /// Rows of some frames in a window; none where there are no frames.
    fn rows(&self, window: &Range<i64>, frames: &Range<i64>) -> Range<usize> {
        if frames.is_empty() {
            return 0..0;
        }
        let row = |frame: i64| (frame - window.start) as usize * self.size;
        row(frames.start)..row(frames.end)
    }

    /// The source's number of a frame.
    fn number(&self, frame: i64) -> usize {
        let clock = self.time.clock();
        match clock.frame_intervals.len() {
            0 => 0,
            gaps if self.time.repeats() => frame.rem_euclid(gaps as i64) as usize,
            _ => frame.clamp(0, clock.frames as i64 - 1) as usize,
        }
    }

    /// A frame, which may have been read ahead.
    fn read(&self, window: &mut Window, frame: i64) -> Result<(Floats, bool)> {
        let begin = Instant::now();
        if !window.asked.contains(&frame) {
            // What is on its way leads elsewhere, or comes later than this one.
            for _ in 0..window.asked.len() {
                window.reader.next().ok();
            }
            window.asked.clear();
            window.reader.ask(self.number(frame))?;
            window.asked.push_back(frame);
        }
        let mut found = None;
        while found.is_none()
            && let Some(asked) = window.asked.pop_front()
        {
            found = Some(window.reader.next()).filter(|_| asked == frame);
        }
        window.input.frames += 1;
        window.input.bytes += (self.size * LANES * self.precision.bytes()) as u64;
        window.input.wait_seconds += begin.elapsed().as_secs_f64();
        found.unwrap_or_else(|| Err(gone()))
    }

    /// Asks for the frames that come next.
    fn read_ahead(&self, window: &mut Window) {
        let Range { start, end } = window.frames;
        let next = |k: i64| if window.runs_backward { start - 1 - k } else { end + k };
        let is_there = |frame: &i64| {
            self.time.repeats() || (0..self.time.clock().frames as i64).contains(frame)
        };
        let wanted: Vec<i64> = (0..self.ahead as i64).map(next).filter(is_there).collect();
        for frame in wanted {
            if !window.asked.contains(&frame) && window.asked.len() < self.ahead {
                // Where the thread is gone, whoever reads the frame hears of it.
                if window.reader.ask(self.number(frame)).is_ok() {
                    window.asked.push_back(frame);
                }
            }
        }
    }
}

impl Reader {
    fn new(
        layout: Layout,
        mut source: Box<dyn FrameSource + Send>,
        options: (NotFinite, Precision),
    ) -> Result<Self> {
        let (ask, asked) = channel::<usize>();
        let (give, frames) = channel();
        let work = move || {
            while let Ok(frame) = asked.recv() {
                // What else is asked for already is read beside it.
                let others = asked.try_iter().take(threads() - 1);
                let group: Vec<usize> = std::iter::once(frame).chain(others).collect();
                tracing::debug!(?group, "reading");
                for found in layout.read_frames(&mut *source, &group, options) {
                    if give.send(found).is_err() {
                        return;
                    }
                }
            }
        };
        let thread = std::thread::Builder::new().name("burntrace frames".into()).spawn(work);
        let thread = thread.map_err(|error| {
            Error::Execution(format!("it has no thread to read frames: {error}"))
        })?;
        Ok(Reader { ask: Some(ask), frames, thread: Some(thread) })
    }

    fn ask(&self, frame: usize) -> Result<()> {
        let ask = self.ask.as_ref().ok_or_else(gone)?;
        ask.send(frame).map_err(|_| gone())
    }

    /// The next frame of those that were asked for.
    fn next(&self) -> Result<(Floats, bool)> {
        self.frames.recv().map_err(|_| gone())?
    }

    /// A frame, nothing else having been asked for.
    fn read(&self, frame: usize) -> Result<(Floats, bool)> {
        self.ask(frame)?;
        self.next()
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.ask = None;
        if let Some(thread) = self.thread.take() {
            // It has panicked where the source has; whoever asked for that frame knows.
            thread.join().ok();
        }
    }
}

fn gone() -> Error {
    Error::Execution("the thread that reads frames has ended; their source panicked".into())
}
