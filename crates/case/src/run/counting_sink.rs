//! The track sink of a run: writes tracks and counts the bytes.

use super::{residence::ResidenceTimes, shared::Shared};
use burntrace_core::{
    Crossing, DurablePosition, Ends, ParticleInstance, Save, SavePlan, SinkError, TrackSink,
};
use burntrace_io::TrackWriter;

/// Forwards a run to the track writer, and records residence times, bytes written and waiting
/// times. The end of a stopped run is not written, so that the run can be resumed.
pub struct CountingSink<'a> {
    writer: TrackWriter,
    shared: &'a Shared,
}

impl<'a> CountingSink<'a> {
    pub fn new(writer: TrackWriter, shared: &'a Shared) -> Self {
        CountingSink { writer, shared }
    }

    fn count(&self) {
        self.shared.tracks.set((self.writer.bytes_written(), self.writer.wait_seconds()));
    }
}

impl TrackSink for CountingSink<'_> {
    fn on_host(&self) -> bool {
        self.writer.on_host()
    }

    fn begin(&mut self, plan: &SavePlan) -> Result<(), SinkError> {
        let mut residence = self.shared.residence.borrow_mut();
        *residence = plan.reuses_slots.then(|| residence.take().unwrap_or_default());
        self.writer.begin(plan)
    }

    fn releases(&mut self, first: usize, positions: &[[f64; 3]]) -> Result<(), SinkError> {
        self.writer.releases(first, positions)
    }

    fn save(&mut self, save: Save) -> Result<(), SinkError> {
        self.writer.save(save)?;
        self.count();
        Ok(())
    }

    fn instances(&mut self, instances: &[ParticleInstance]) -> Result<(), SinkError> {
        if self.shared.is_stopped.get() {
            return Ok(());
        }
        if let Some(residence) = self.shared.residence.borrow_mut().as_mut() {
            let ended = instances.iter().filter(|instance| instance.status.has_ended());
            ended.for_each(|instance| ResidenceTimes::add(residence, instance));
        }
        self.writer.instances(instances)
    }

    fn crossings(&mut self, crossings: &[Crossing]) -> Result<(), SinkError> {
        match self.shared.is_stopped.get() {
            true => Ok(()),
            false => self.writer.crossings(crossings),
        }
    }

    fn sync(&mut self) -> Result<DurablePosition, SinkError> {
        let durable = self.writer.sync();
        self.count();
        durable
    }

    fn end(&mut self, ends: &Ends) -> Result<(), SinkError> {
        if self.shared.is_stopped.get() {
            return Ok(());
        }
        self.writer.end(ends)?;
        self.count();
        Ok(())
    }
}
