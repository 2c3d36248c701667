//! Saves that are read back from the device while the next launch runs.

use super::{arrays::Values, origin_shift::OriginShift};
use crate::{Error, Result, Save};
use burn::tensor::{DType, Device, ExecutionError, Int, Tensor, TensorData, Transaction};
use burntrace_kernels::Particles;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// Number and time of a save, and the first particle of the block.
pub(super) type Block = (usize, f64, usize);

type Read = std::result::Result<Vec<TensorData>, ExecutionError>;

/// A save whose copies are in the device's queue.
pub(super) struct Reading {
    index: usize,
    time: f64,
    first: usize,
    has_image: bool,
    has_generation: bool,
    has_velocity: bool,
    shift: OriginShift,
    copies: Copies,
}

enum Copies {
    Underway(Pin<Box<dyn Future<Output = Read>>>),
    Done(Read),
}

impl Reading {
    /// Queues the copies of a save, or of its block from particle `first` on, ahead of the next
    /// launch. Images are read only with a periodic axis, generations only if slots are re-used.
    ///
    /// Uses a transaction, because it copies when it is first polled; `Tensor::into_data_async`
    /// copies when the data are first accessed, and by then the particles have moved on. On Vulkan
    /// and wgpu the copies are then under way; the servers of CUDA and ROCm (cubecl 0.11) wait for
    /// them at that point, so that only the sink's work overlaps with the card's.
    pub fn start(
        particles: &Particles,
        Values { velocity, arrays }: Values,
        [has_image, has_generation]: [bool; 2],
        ((index, time, first), shift): (Block, OriginShift),
    ) -> Self {
        let mut transaction = Transaction::default()
            .register(particles.position.clone())
            .register(particles.status());
        if has_image {
            transaction = transaction.register(particles.image());
        }
        if has_generation {
            transaction = transaction.register(particles.generation());
        }
        let has_velocity = velocity.is_some();
        for values in [velocity, arrays].into_iter().flatten() {
            transaction = transaction.register(values);
        }
        let mut copies: Pin<Box<dyn Future<Output = Read>>> = Box::pin(transaction.execute_async());
        let copies = match copies.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(read) => Copies::Done(read),
            Poll::Pending => Copies::Underway(copies),
        };
        Reading { index, time, first, has_image, has_generation, has_velocity, shift, copies }
    }

    /// Waits for the copies and returns the save on the host.
    pub fn finish(self) -> Result<Save> {
        let read = match self.copies {
            Copies::Underway(copies) => burn::tensor::read_sync(copies),
            Copies::Done(read) => read,
        };
        let mut data = read.map_err(|error| Error::Execution(format!("{error:?}")))?.into_iter();
        let mut next =
            || data.next().ok_or_else(|| Error::Execution("it lost part of a save".into()));
        let (position, rest) = self.shift.apply(floats(next()?));
        let status = ints(next()?);
        let image = match self.has_image {
            true => ints(next()?),
            false => Tensor::zeros(position.dims(), (&Device::flex(), DType::I32)),
        };
        let generation = match self.has_generation {
            true => Some(ints(next()?)),
            false => None,
        };
        let velocity = match self.has_velocity {
            true => Some(floats(next()?)),
            false => None,
        };
        let arrays = data.map(floats).collect();
        let (index, time, first) = (self.index, self.time, self.first);
        Ok(Save { index, time, first, position, rest, status, image, velocity, generation, arrays })
    }
}

/// A tensor on the host, without another copy of the data.
fn floats<const D: usize>(data: TensorData) -> Tensor<D> {
    let dtype = data.dtype();
    Tensor::from_data(data, (&Device::flex(), dtype))
}

/// As [`floats`], for integers.
fn ints<const D: usize>(data: TensorData) -> Tensor<D, Int> {
    let dtype = data.dtype();
    Tensor::from_data(data, (&Device::flex(), dtype))
}
