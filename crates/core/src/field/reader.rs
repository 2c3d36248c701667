//! The thread that reads streamed frames, for one device or for several.

use super::{
    layout::{FrameTraits, Layout, threads},
    options::NotFinite,
    source::FrameSource,
};
use crate::{Error, Floats, Precision, Result};
use std::{
    collections::VecDeque,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, Sender, channel},
    },
    thread::JoinHandle,
};

/// Frames that are kept for the other devices of a run on several devices.
pub(super) const SHARED_FRAMES: usize = 4;

/// A frame as it is on a device, and what is known of the source from it.
pub(super) type ReadFrame = (Floats, FrameTraits);

/// A request for a frame.
struct Request {
    frame: usize,
    to: Sender<Result<ReadFrame>>,
    /// Expires when nobody waits for the frame.
    from: Weak<()>,
}

/// The frames that one device has requested from the thread that reads them.
pub(super) struct FrameReader {
    // Dropped before the thread, which then ends.
    requests: Sender<Request>,
    /// Frames that were requested and not received.
    pending: VecDeque<Receiver<Result<ReadFrame>>>,
    waits: Arc<()>,
    thread: Arc<ReaderThread>,
}

/// The thread, which has ended when this is dropped.
struct ReaderThread {
    handle: Option<JoinHandle<()>>,
    is_shared: Arc<AtomicBool>,
}

impl FrameReader {
    /// Starts a thread that reads a source.
    pub fn new(
        layout: Layout,
        source: Box<dyn FrameSource + Send>,
        options: (NotFinite, Precision),
    ) -> Result<Self> {
        let (requests, received) = channel::<Request>();
        let is_shared = Arc::<AtomicBool>::default();
        let mut frames = SourceFrames {
            layout,
            source,
            options,
            is_shared: Arc::clone(&is_shared),
            recent: VecDeque::new(),
        };
        let work = move || {
            while let Ok(request) = received.recv() {
                // Read other requested frames at the same time.
                let others = received.try_iter().take(threads() - 1);
                frames.serve(std::iter::once(request).chain(others).collect());
            }
        };
        let handle = std::thread::Builder::new().name("burntrace frames".into()).spawn(work);
        let handle = handle.map_err(|error| {
            Error::Execution(format!("cannot start a thread to read frames: {error}"))
        })?;
        let thread = Arc::new(ReaderThread { handle: Some(handle), is_shared });
        Ok(FrameReader { requests, pending: VecDeque::new(), waits: Arc::default(), thread })
    }

    /// A reader for another device. From now on the thread keeps the last frames: those that both devices need
    /// at about the same time are read once.
    pub fn share(&self) -> Self {
        self.thread.is_shared.store(true, Ordering::Relaxed);
        FrameReader {
            requests: self.requests.clone(),
            pending: VecDeque::new(),
            waits: Arc::default(),
            thread: Arc::clone(&self.thread),
        }
    }

    /// Whether the thread keeps frames for several devices.
    pub fn is_shared(&self) -> bool {
        self.thread.is_shared.load(Ordering::Relaxed)
    }

    pub fn request(&mut self, frame: usize) -> Result<()> {
        let (to, receiver) = channel();
        let request = Request { frame, to, from: Arc::downgrade(&self.waits) };
        self.requests.send(request).map_err(|_| ended())?;
        self.pending.push_back(receiver);
        Ok(())
    }

    /// Receives the next requested frame.
    pub fn next(&mut self) -> Result<ReadFrame> {
        let receiver = self.pending.pop_front().ok_or_else(ended)?;
        receiver.recv().map_err(|_| ended())?
    }

    /// Requests and receives a frame, when no other is pending.
    pub fn read(&mut self, frame: usize) -> Result<ReadFrame> {
        self.request(frame)?;
        self.next()
    }

    /// Forgets the frames that were requested and not received.
    pub fn cancel(&mut self) {
        self.pending.clear();
        self.waits = Arc::default();
    }
}

impl Drop for ReaderThread {
    fn drop(&mut self) {
        if let Some(handle) = self.handle.take() {
            // A panic of the source has already been reported to the reader of that frame.
            handle.join().ok();
        }
    }
}

/// The source of the thread, and the frames that it keeps.
struct SourceFrames {
    layout: Layout,
    source: Box<dyn FrameSource + Send>,
    options: (NotFinite, Precision),
    is_shared: Arc<AtomicBool>,
    recent: VecDeque<(usize, ReadFrame)>,
}

impl SourceFrames {
    /// Reads the frames of requests and sends them.
    fn serve(&mut self, mut group: Vec<Request>) {
        group.retain(|request| request.from.strong_count() > 0);
        let mut missing: Vec<usize> = Vec::new();
        for request in &group {
            if !missing.contains(&request.frame) && self.kept(request.frame).is_none() {
                missing.push(request.frame);
            }
        }
        let mut read = self.read(missing);
        for request in group {
            let found = match self.kept(request.frame) {
                Some(kept) => Ok(kept.clone()),
                None => match read.iter().position(|(frame, _)| *frame == request.frame) {
                    Some(at) => read.swap_remove(at).1,
                    // The error of a frame was sent to another device, or the frame is no longer kept.
                    None => match self.read(vec![request.frame]).pop() {
                        Some((_, found)) => found,
                        None => continue,
                    },
                },
            };
            self.keep(request.frame, &found);
            // The device may have gone.
            request.to.send(found).ok();
        }
    }

    fn read(&mut self, group: Vec<usize>) -> Vec<(usize, Result<ReadFrame>)> {
        if group.is_empty() {
            return Vec::new();
        }
        tracing::debug!(?group, "reading");
        let _phase = crate::phase!("read");
        let found = self.layout.read_frames(&mut *self.source, &group, self.options);
        group.into_iter().zip(found).collect()
    }

    fn kept(&self, frame: usize) -> Option<&ReadFrame> {
        self.recent.iter().find(|(kept, _)| *kept == frame).map(|(_, kept)| kept)
    }

    /// Keeps a frame for the other devices.
    fn keep(&mut self, frame: usize, found: &Result<ReadFrame>) {
        if !self.is_shared.load(Ordering::Relaxed) || self.kept(frame).is_some() {
            return;
        }
        if let Ok(found) = found {
            self.recent.push_back((frame, found.clone()));
            if self.recent.len() > SHARED_FRAMES {
                self.recent.pop_front();
            }
        }
    }
}

fn ended() -> Error {
    Error::Execution("the thread that reads frames has ended because their source panicked".into())
}
