//! How long lives have lasted, where slots are used by one after another.

use crate::watch::Shared;
use burntrace::{
    DurablePosition, Ends, ParticleInstance, Save, SavePlan, SinkError, Status, TrackSink,
    io::TrackWriter,
};

/// Lives that have ended in the same way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResidenceTimes {
    pub status: Status,
    pub count: usize,
    /// Sum of the residence times.
    pub sum: f64,
    pub min: f64,
    pub max: f64,
}

impl ResidenceTimes {
    pub fn mean(&self) -> f64 {
        self.sum / self.count as f64
    }

    /// The same as whole numbers, reals by their bits, for a checkpoint.
    pub fn numbers(&self) -> [u64; 5] {
        let [sum, min, max] = [self.sum, self.min, self.max].map(f64::to_bits);
        [self.status.code() as u64, self.count as u64, sum, min, max]
    }

    /// The stays of such numbers.
    pub fn of_numbers(&[code, count, sum, min, max]: &[u64; 5]) -> Option<Self> {
        let status = Status::from_code(i32::try_from(code).ok()?)?;
        let [sum, min, max] = [sum, min, max].map(f64::from_bits);
        Some(ResidenceTimes { status, count: count as usize, sum, min, max })
    }

    fn add(stays: &mut Vec<ResidenceTimes>, life: &ParticleInstance) {
        let time = life.residence_time();
        match stays.iter_mut().find(|of| of.status == life.status) {
            Some(of) => {
                of.count += 1;
                of.sum += time;
                of.min = of.min.min(time);
                of.max = of.max.max(time);
            }
            None => {
                let status = life.status;
                stays.push(ResidenceTimes { status, count: 1, sum: time, min: time, max: time });
            }
        }
    }
}

/// How long lives have lasted, in the order of the statuses' codes.
pub fn sorted(mut stays: Vec<ResidenceTimes>) -> Vec<ResidenceTimes> {
    stays.sort_by_key(|of| of.status.code());
    stays
}

/// Passes a run on to the writer of its tracks, and takes note of how long its lives have lasted and
/// of what has been written. A run that is stopped has no end.
pub struct Watched<'a> {
    writer: TrackWriter,
    shared: &'a Shared,
}

impl<'a> Watched<'a> {
    pub fn new(writer: TrackWriter, shared: &'a Shared) -> Self {
        Watched { writer, shared }
    }

    fn count(&self) {
        self.shared.tracks.set((self.writer.bytes_written(), self.writer.wait_seconds()));
    }
}

impl TrackSink for Watched<'_> {
    fn on_host(&self) -> bool {
        self.writer.on_host()
    }

    fn begin(&mut self, plan: &SavePlan) -> Result<(), SinkError> {
        let mut stays = self.shared.stays.borrow_mut();
        *stays = plan.reuses_slots.then(|| stays.take().unwrap_or_default());
        self.writer.begin(plan)
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
        if let Some(stays) = self.shared.stays.borrow_mut().as_mut() {
            let ended = instances.iter().filter(|instance| instance.status.has_ended());
            ended.for_each(|instance| ResidenceTimes::add(stays, instance));
        }
        self.writer.instances(instances)
    }

    fn sync(&mut self) -> Result<DurablePosition, SinkError> {
        let mark = self.writer.sync();
        self.count();
        mark
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
