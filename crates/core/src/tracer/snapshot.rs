//! A state to return to when a device with all particles runs out of memory.

use super::{
    batches::is_out_of_memory,
    particle_store::ParticleStore,
    run::{Run, Snapshot},
    start,
};
use crate::{DurablePosition, Error, Result, Seeds, device};
use std::time::{Duration, Instant};

/// The minimum time between two snapshots.
const MIN_INTERVAL: Duration = Duration::from_secs(10);

/// The time between snapshots is at least this multiple of the time that one takes.
const PART: u32 = 100;

impl Run<'_> {
    /// Whether the device can report a lack of memory. On a CPU nothing reports it: the system ends
    /// the process.
    fn may_lack_memory(&self) -> bool {
        #[cfg(test)]
        if super::batches::failing::is_armed() {
            return true;
        }
        let device = self.tracer.field.device();
        device::compiles_kernels(&device) && !self.is_tracked
    }

    /// Moves all particles from the host to the device.
    pub fn go_to_device(&mut self, seeds: &Seeds) -> Result<()> {
        self.snapshot = match self.may_lack_memory() {
            true => Some(self.snapshot()?),
            false => None,
        };
        let nothing = ParticleStore::OnDevice { particles: None, count: self.store.count() };
        let rows = std::mem::replace(&mut self.store, nothing).into_rows(true)?;
        self.store = ParticleStore::on_device(start::on_device(
            rows,
            seeds,
            (self.tracer, &self.releases, self.schedule),
        ));
        Ok(())
    }

    fn snapshot(&self) -> Result<Snapshot> {
        let taken = Instant::now();
        let state = self.state(DurablePosition::default())?.into_owned();
        Ok(Snapshot { state, taken, took: taken.elapsed() })
    }

    /// Replaces the snapshot, if there is one and it is old.
    pub fn take_snapshot(&mut self) -> Result<()> {
        let is_old = |last: &Snapshot| last.taken.elapsed() > MIN_INTERVAL.max(PART * last.took);
        if self.snapshot.as_ref().is_some_and(is_old) {
            let start = Instant::now();
            self.snapshot = Some(self.snapshot()?);
            self.counts.trace_seconds += start.elapsed().as_secs_f64();
        }
        Ok(())
    }

    /// Returns to the last snapshot and continues in batches, after a device with all particles ran
    /// out of memory. The sink receives nothing twice.
    ///
    /// # Errors
    ///
    /// `error` itself, if it has another cause.
    pub fn roll_back(&mut self, error: Error) -> Result<()> {
        let snapshot = match self.snapshot.take() {
            Some(snapshot) if is_out_of_memory(&error) => snapshot,
            _ => return Err(error),
        };
        self.batches.halve(self.store.count(), error)?;
        self.reading = None;
        let (trace_seconds, save_seconds) = (self.counts.trace_seconds, self.counts.save_seconds);
        self.restore(&snapshot.state)?;
        (self.counts.trace_seconds, self.counts.save_seconds) = (trace_seconds, save_seconds);
        self.tracer.field.device().memory_cleanup();
        Ok(())
    }
}
