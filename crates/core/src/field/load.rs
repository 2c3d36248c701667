//! Loading of a source's frames to a device.

use super::{
    frames::TimeAxis,
    lanes::{ArrayLanes, LANES},
    layout::{FrameTraits, Layout, ValueLayout, check_ends, threads},
    options::{FieldOptions, NotFinite},
    source::FrameSource,
    stream::Stream,
    totals::ReadTotals,
};
use crate::{
    Error, FreeMemory, Result,
    combinations::{Feature, refusal},
    floats::Floats,
};
use burn::tensor::{Device, Tensor};
use std::{sync::Arc, time::Instant};

/// A source that is borrowed to read all frames at once, or owned to read them during the run.
pub(super) enum Input<'a> {
    Borrowed(&'a mut dyn FrameSource),
    Owned(Box<dyn FrameSource + Send>),
}

impl Input<'_> {
    /// The time axis of the frames.
    pub fn time(&self, options: &FieldOptions) -> Result<TimeAxis> {
        let times = match self {
            Input::Borrowed(source) => source.times(),
            Input::Owned(source) => source.times(),
        };
        TimeAxis::new(times.to_vec(), options.outside_time, options.in_time)
    }

    /// The quantities of the frames, whose velocities have four numbers if `is_full`.
    pub fn lanes(&self, is_full: bool) -> Result<ArrayLanes> {
        match self {
            Input::Borrowed(source) => ArrayLanes::checked(*source, is_full),
            Input::Owned(source) => ArrayLanes::checked(&**source, is_full),
        }
    }
}

/// Frames on a device.
pub(super) struct Loaded {
    /// Velocities of all frames; a placeholder of one value if frames are read during the run.
    pub velocity: Tensor<2>,
    pub stream: Option<Arc<Stream>>,
    pub traits: FrameTraits,
    pub layout: ValueLayout,
}

impl Layout {
    /// Reads all frames of a source to a device, or prepares to stream them.
    pub fn load(
        self,
        input: Input,
        time: &TimeAxis,
        device: &Device,
        options: &FieldOptions,
    ) -> Result<Loaded> {
        crate::device::check_precision(device, options.precision)?;
        if options.not_finite == NotFinite::Land && self.coast.is_none() && self.lanes.has_velocity
        {
            return Err(refusal(Feature::Land, Feature::NotOnGrid));
        }
        let given = self.values_of_source();
        let frames = time.clock().frames;
        match (input, options.frames.window(frames)) {
            (Input::Owned(source), Some(window)) => {
                self.check_memory(window.min(frames), options)?;
                let (stream, traits) =
                    Stream::open(self, source, time.clone(), (device, options), window)?;
                let placeholder = Floats::zeros(options.precision, LANES);
                let velocity = placeholder.into_tensor([1, LANES], device);
                Ok(Loaded { velocity, stream: Some(Arc::new(stream)), traits, layout: given })
            }
            (Input::Borrowed(_), Some(_)) => Err(Error::Plan(
                "frames cannot be streamed from a borrowed source; pass an owned source (`open` \
                 in place of `load`), or use `Frames::All`"
                    .into(),
            )),
            (Input::Borrowed(source), None) => self.load_all(source, time, device, options),
            (Input::Owned(mut source), None) => self.load_all(&mut *source, time, device, options),
        }
    }

    fn load_all(
        &self,
        source: &mut dyn FrameSource,
        time: &TimeAxis,
        device: &Device,
        options: &FieldOptions,
    ) -> Result<Loaded> {
        let frames = time.clock().frames;
        self.check_memory(frames, options)?;
        let (all, traits) = self.read(source, time, options)?;
        let rows = frames * self.size() + 1;
        let velocity = all.into_tensor([rows, LANES], device);
        let layout = self.values_of_source();
        Ok(Loaded { velocity, stream: None, traits, layout })
    }

    fn check_memory(&self, frames: usize, options: &FieldOptions) -> Result<()> {
        let numbers = (frames * self.size() + 1) * LANES;
        let needed = (numbers * options.precision.bytes()) as u64 + self.other_bytes;
        match options.memory {
            Some(available) if needed > available => Err(Error::Memory {
                what: format!("a field of {frames} frames x {}", self.name),
                needed,
                available,
                remedy: format!(
                    "select fewer frames, use f32, or read frames during the run (`Frames::Streamed`){}",
                    FreeMemory::now()
                ),
            }),
            _ => Ok(()),
        }
    }

    /// Reads all frames into one array with a closing value.
    fn read(
        &self,
        source: &mut dyn FrameSource,
        time: &TimeAxis,
        options: &FieldOptions,
    ) -> Result<(Floats, FrameTraits)> {
        let frames = time.clock().frames;
        let size = self.size() * LANES;
        let mut traits = FrameTraits::default();
        let mut all = Floats::with_capacity(options.precision, frames * size + LANES);
        let numbers: Vec<usize> = (0..frames).collect();
        for group in numbers.chunks(at_once(frames)) {
            tracing::debug!(?group, frames, "reading");
            let read = {
                let _phase = crate::phase!("read");
                let start = Instant::now();
                let read = source.read_many(group);
                ReadTotals::add(start, &read);
                read
            };
            for (frame, data) in group.iter().zip(read) {
                let data = data.map_err(|source| Error::Source { frame: *frame, source })?;
                let here = self.frame(*frame, data, options.not_finite, &mut all)?;
                traits.has_diffusivity |= here.has_diffusivity;
                traits.has_holes |= here.has_holes;
                traits.has_zeros |= here.has_zeros;
            }
        }
        if time.ends_meet() {
            let last = (frames - 1) * size;
            let meet = all.agrees(0..size, (&all, last..last + size));
            check_ends(time, meet)?;
        }
        let count = all.len();
        all.shift(0..0, 0, count + LANES);
        Ok((all, traits))
    }
}

/// Number of frames of a series to read at once: one for each thread of the machine, with at most a
/// sixteenth of extra memory.
fn at_once(frames: usize) -> usize {
    (frames / 16).clamp(1, threads())
}
