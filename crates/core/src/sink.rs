//! Receivers of the saves of a run.

use crate::{Crossing, Ends, ParticleInstance, Result, Save, SavePlan};
use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

/// A receiver of saves, for example memory, a file or a statistic.
pub trait TrackSink {
    /// Whether to pass saves in host memory, whichever device computes them.
    ///
    /// Saves of a graphics card are then read back as tensors of Flex, and the sink works while the
    /// card takes the next steps. Saves of other devices are in host memory already; tensors of a
    /// device that tracks gradients stay there.
    fn on_host(&self) -> bool {
        false
    }

    /// Called once, before the first save.
    ///
    /// # Errors
    ///
    /// If the sink cannot take the tracks; the run stops.
    fn begin(&mut self, plan: &SavePlan) -> std::result::Result<(), SinkError>;

    /// Called before the first save for blocks of the seeds' slots, in order: their release positions in
    /// the data's coordinates, rounded as those of saves; not for slots of sources. `first` is the slot of
    /// the first position.
    ///
    /// # Errors
    ///
    /// Like [`begin`](TrackSink::begin).
    fn releases(
        &mut self,
        first: usize,
        positions: &[[f64; 3]],
    ) -> std::result::Result<(), SinkError> {
        let _ = (first, positions);
        Ok(())
    }

    /// Called for each save in order. A save in blocks has one call for each block, consecutively
    /// and in the order of the particles.
    ///
    /// # Errors
    ///
    /// Like [`begin`](TrackSink::begin).
    fn save(&mut self, save: Save) -> std::result::Result<(), SinkError>;

    /// Called if slots are re-used: for particle instances that have ended since the last call, and
    /// once before [`end`](TrackSink::end) for the last instance in each slot, which may still be
    /// active. Each released instance is passed once, those of a slot in order.
    ///
    /// # Errors
    ///
    /// Like [`begin`](TrackSink::begin).
    fn instances(&mut self, instances: &[ParticleInstance]) -> std::result::Result<(), SinkError> {
        let _ = instances;
        Ok(())
    }

    /// Called if there are gates: for the crossings since the last call, in the order of slots, and of time in a slot.
    ///
    /// # Errors
    ///
    /// Like [`begin`](TrackSink::begin).
    fn crossings(&mut self, crossings: &[Crossing]) -> std::result::Result<(), SinkError> {
        let _ = crossings;
        Ok(())
    }

    /// Writes everything received so far to durable storage, and returns the amount. Called between
    /// complete saves only.
    ///
    /// The default implementation is for sinks without durable storage.
    ///
    /// # Errors
    ///
    /// Like [`begin`](TrackSink::begin).
    fn sync(&mut self) -> std::result::Result<DurablePosition, SinkError> {
        Ok(DurablePosition::default())
    }

    /// Called before [`end`](TrackSink::end) in a run with gradients: the end time of each particle `[n]`, in the
    /// data's unit, in the graph of the run; NaN for particles that have not ended.
    ///
    /// # Errors
    ///
    /// Like [`begin`](TrackSink::begin).
    fn end_times(&mut self, times: Tensor<1>) -> std::result::Result<(), SinkError> {
        let _ = times;
        Ok(())
    }

    /// Called once, after the last save.
    ///
    /// # Errors
    ///
    /// Like [`begin`](TrackSink::begin).
    fn end(&mut self, ends: &Ends) -> std::result::Result<(), SinkError>;
}

/// The durable part of a run's output, from which the run can resume after a crash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DurablePosition {
    /// Complete saves.
    pub saves: u64,
    /// Complete rows of the table of particle instances.
    pub instances: u64,
    /// Complete rows of the table of crossings.
    #[serde(default)]
    pub crossings: u64,
}

/// The error of a track sink.
pub type SinkError = Box<dyn std::error::Error + Send + Sync>;

pub(crate) fn sunk<T>(result: std::result::Result<T, SinkError>) -> Result<T> {
    result.map_err(crate::Error::Sink)
}
