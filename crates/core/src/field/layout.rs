//! How the values of a source's frames come to lie in a field.

use super::{
    FieldOptions, FrameData, FrameSource, NotFinite, frames::TimeAxis, sampled::velocity_bytes,
    stream::Stream,
};
use crate::{
    Error, Precision, Result,
    floats::{Floats, with_numbers},
};
use burn::tensor::{Device, Tensor};
use burntrace_kernels::FieldShape;
use std::sync::Arc;

/// Components of a velocity and the number that pads them.
pub(super) const LANES: usize = 4;

/// Why a mesh with averaged velocities has no diffusivity.
const AVERAGED_DIFFUSIVITY: &str = "it has diffusivities in the cells, and velocities there that are to be averaged: \
     diffusivities are not; use `CellVelocity::Constant`, or give both at the points";

/// The source's index of each value, where they are put into another order.
pub(super) trait Ordered: Send + Sync {
    fn order(&self) -> &[usize];
}

impl Ordered for Vec<usize> {
    fn order(&self) -> &[usize] {
        self
    }
}

/// Where a value is, given its index in the source.
pub(super) type Positions = Arc<dyn Fn(usize) -> [f64; 3] + Send + Sync>;

/// How the values of a source's frames come to lie in a field.
#[derive(Clone)]
pub(super) struct Layout {
    pub shape: FieldShape,
    /// Values of a frame of the source.
    pub given: usize,
    /// Whether the velocities are means of those in cells, which leaves diffusivities in the cells.
    pub averaged: bool,
    pub order: Option<Arc<dyn Ordered>>,
    /// Axes along which nothing moves, so that their component is dropped.
    pub flat: [bool; 3],
    /// The values that there should be, as `64 x 64 x 64 nodes`.
    pub name: String,
    /// Bytes of the places and the index beside the velocities.
    pub other_bytes: u64,
    pub position: Positions,
}

/// A source that is lent while all its frames are read, or given away to be read in the course of a
/// run.
pub(super) enum Input<'a> {
    Lent(&'a mut dyn FrameSource),
    Given(Box<dyn FrameSource + Send>),
}

impl Input<'_> {
    /// The times of its frames.
    pub fn time(&self, options: &FieldOptions) -> Result<TimeAxis> {
        let times = match self {
            Input::Lent(source) => source.times(),
            Input::Given(source) => source.times(),
        };
        TimeAxis::new(times.to_vec(), options.outside_time, options.in_time)
    }
}

/// A field's frames on its device.
pub(super) struct Loaded {
    /// Velocities of all frames; of streamed ones a single value that does not count.
    pub velocity: Tensor<2>,
    pub stream: Option<Arc<Stream>>,
    pub has_diffusivity: bool,
}

impl Layout {
    /// Puts all frames of a source on a device, or gets ready to do so with a few at a time.
    pub fn load(
        self,
        input: Input,
        time: &TimeAxis,
        device: &Device,
        options: &FieldOptions,
    ) -> Result<Loaded> {
        crate::device::check_precision(device, options.precision)?;
        let frames = time.clock().frames;
        match (input, options.frames.window(frames)) {
            (Input::Given(source), Some(window)) => {
                self.check_memory(window.min(frames), options)?;
                Stream::open(self, source, time.clone(), (device, options), window)
            }
            (Input::Lent(_), Some(_)) => Err(Error::Plan(
                "a source that is lent cannot be read in the course of a run; give it to the field \
                 (`open` in place of `load`), or ask for all frames at once"
                    .into(),
            )),
            (Input::Lent(source), None) => self.load_all(source, time, device, options),
            (Input::Given(mut source), None) => self.load_all(&mut *source, time, device, options),
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
        let (all, has_diffusivity) = self.read(source, time, options)?;
        let rows = frames * self.size() + 1;
        let velocity = all.into_tensor([rows, LANES], device);
        Ok(Loaded { velocity, stream: None, has_diffusivity })
    }

    /// Values of a frame.
    pub fn size(&self) -> usize {
        self.shape.values_per_frame()
    }

    fn check_memory(&self, frames: usize, options: &FieldOptions) -> Result<()> {
        let needed = velocity_bytes(&self.shape, frames, options.precision) + self.other_bytes;
        match options.memory {
            Some(available) if needed > available => Err(Error::Memory {
                what: format!("a field of {frames} frames x {} velocities", self.size()),
                needed,
                available,
                remedy: "select fewer frames (`field.frames`) or f32, or have them read in the \
                         course of the run (`run.strategy = \"streamed-frames\"`)"
                    .into(),
            }),
            _ => Ok(()),
        }
    }

    /// All frames in one array, and the value that closes it; and whether they have a diffusivity.
    fn read(
        &self,
        source: &mut dyn FrameSource,
        time: &TimeAxis,
        options: &FieldOptions,
    ) -> Result<(Floats, bool)> {
        let frames = time.clock().frames;
        let size = self.size() * LANES;
        let mut has_diffusivity = false;
        let mut all = Floats::with_capacity(options.precision, frames * size + LANES);
        let numbers: Vec<usize> = (0..frames).collect();
        for group in numbers.chunks(at_once(frames)) {
            tracing::debug!(?group, frames, "reading");
            for (frame, data) in group.iter().zip(source.read_many(group)) {
                let data = data.map_err(|source| Error::Source { frame: *frame, source })?;
                has_diffusivity |= self.frame(*frame, data, options.not_finite, &mut all)?;
            }
        }
        if time.ends_meet() {
            let last = (frames - 1) * size;
            let meet = with_numbers!(&all, all => meets(&all[..size], &all[last..]));
            check_ends(time, meet)?;
        }
        let count = all.len();
        all.shift(0..0, 0, count + LANES);
        Ok((all, has_diffusivity))
    }

    /// Frames in arrays of their own, and whether each has a diffusivity.
    pub fn read_frames(
        &self,
        source: &mut dyn FrameSource,
        frames: &[usize],
        (not_finite, precision): (NotFinite, Precision),
    ) -> Vec<Result<(Floats, bool)>> {
        let packed = |(frame, data): (&usize, std::result::Result<FrameData, _>)| {
            let data = data.map_err(|source| Error::Source { frame: *frame, source })?;
            let mut values = Floats::with_capacity(precision, self.size() * LANES);
            let has_diffusivity = self.frame(*frame, data, not_finite, &mut values)?;
            Ok((values, has_diffusivity))
        };
        frames.iter().zip(source.read_many(frames)).map(packed).collect()
    }

    /// Appends a frame, and says whether it has a diffusivity.
    fn frame(
        &self,
        frame: usize,
        FrameData { velocity, diffusivity }: FrameData,
        not_finite: NotFinite,
        all: &mut Floats,
    ) -> Result<bool> {
        let start = all.len();
        if self.averaged && diffusivity.is_some() {
            return Err(Error::Mesh(AVERAGED_DIFFUSIVITY.into()));
        }
        if velocity.len() != 3 * self.given {
            let (found, expected) = (velocity.len(), 3 * self.given);
            let placement = self.name.clone();
            return Err(Error::FrameSize { frame, found, expected, placement });
        }
        let bad = match (velocity, &mut *all) {
            (Floats::F32(v), Floats::F32(all)) => self.pack(|i| v[i].into(), all, |x| x as f32),
            (Floats::F32(v), Floats::F64(all)) => self.pack(|i| v[i].into(), all, |x| x),
            (Floats::F64(v), Floats::F32(all)) => self.pack(|i| v[i], all, |x| x as f32),
            (Floats::F64(v), Floats::F64(all)) => self.pack(|i| v[i], all, |x| x),
        };
        if let (Some((first, count)), NotFinite::Error) = (bad, not_finite) {
            let position = (self.position)(first);
            return Err(Error::NotFinite { frame, count, first, position });
        }
        let Some(diffusivity) = diffusivity else {
            return Ok(false);
        };
        match all {
            Floats::F32(all) => self.pad(frame, &diffusivity, &mut all[start..], |x| x as f32),
            Floats::F64(all) => self.pad(frame, &diffusivity, &mut all[start..], |x| x),
        }?;
        Ok(true)
    }

    /// Puts diffusivities where velocities are padded.
    fn pad<T>(
        &self,
        frame: usize,
        diffusivity: &Floats,
        rows: &mut [T],
        cast: impl Fn(f64) -> T,
    ) -> Result<()> {
        let count = diffusivity.len();
        let is_bad = |k: f64| !k.is_finite() || k < 0.0;
        if count != self.given || (0..count).any(|i| is_bad(diffusivity.get(i))) {
            return Err(Error::Walk(format!(
                "the diffusivity of frame {frame} has {count} numbers where there are {}, or some \
                 that are negative or not finite",
                self.given
            )));
        }
        let order = self.order.as_ref().map(|order| order.order());
        for (value, row) in rows.chunks_exact_mut(LANES).enumerate() {
            let i = order.map_or(value, |order| order[value]);
            row[LANES - 1] = cast(diffusivity.get(i));
        }
        Ok(())
    }

    /// Appends padded velocities, with zero for those that are not finite; returns the least index
    /// of those in the source and their number.
    fn pack<T: Copy + Default>(
        &self,
        number: impl Fn(usize) -> f64,
        all: &mut Vec<T>,
        cast: impl Fn(f64) -> T,
    ) -> Option<(usize, usize)> {
        let mut bad: Option<(usize, usize)> = None;
        let order = self.order.as_ref().map(|order| order.order());
        for value in 0..self.size() {
            let i = order.map_or(value, |order| order[value]);
            let v = [number(3 * i), number(3 * i + 1), number(3 * i + 2)];
            let mut row = [T::default(); LANES];
            if v.iter().all(|u| u.is_finite()) {
                for d in 0..3 {
                    if !self.flat[d] {
                        row[d] = cast(v[d]);
                    }
                }
            } else {
                let (first, count) = bad.unwrap_or((i, 0));
                bad = Some((first.min(i), count + 1));
            }
            all.extend(row);
        }
        bad
    }
}

/// How many of a series' frames are read at once: one for each thread of the machine, but no more
/// than add a sixteenth to the memory of all.
fn at_once(frames: usize) -> usize {
    (frames / 16).clamp(1, threads())
}

/// The most frames that are read at once.
pub(super) fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, |threads| threads.get()).min(8)
}

fn meets<T: PartialEq>(first: &[T], last: &[T]) -> bool {
    first == last
}

/// Refuses a period whose ends do not meet.
pub(super) fn check_ends(time: &TimeAxis, meet: bool) -> Result<()> {
    if meet {
        return Ok(());
    }
    Err(Error::Period {
        period: time.ends()[1] - time.ends()[0],
        reason: "the first and the last frame differ; give the period if it is longer than the \
                 frames"
            .into(),
    })
}
