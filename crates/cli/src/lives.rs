//! How long lives have lasted, where slots are used by one after another.

use burntrace::{Ends, Life, Mark, Save, SavePlan, SinkError, Status, TrackSink};

/// Lives that have ended in the same way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stays {
    pub status: Status,
    pub count: usize,
    /// Sum of the residence times.
    pub sum: f64,
    pub min: f64,
    pub max: f64,
}

impl Stays {
    pub fn mean(&self) -> f64 {
        self.sum / self.count as f64
    }
}

/// Passes a run on to a sink, and keeps how long its lives have lasted.
pub struct Watched<'a> {
    sink: &'a mut dyn TrackSink,
    stays: Option<Vec<Stays>>,
}

impl<'a> Watched<'a> {
    pub fn new(sink: &'a mut dyn TrackSink) -> Self {
        Watched { sink, stays: None }
    }

    /// How long lives have lasted, in the order of the statuses' codes; nothing for a run in which
    /// no slot is used again.
    pub fn into_stays(self) -> Option<Vec<Stays>> {
        let mut stays = self.stays?;
        stays.sort_by_key(|of| of.status.code());
        Some(stays)
    }

    fn add(stays: &mut Vec<Stays>, life: &Life) {
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
                stays.push(Stays { status, count: 1, sum: time, min: time, max: time });
            }
        }
    }
}

impl TrackSink for Watched<'_> {
    fn on_host(&self) -> bool {
        self.sink.on_host()
    }

    fn begin(&mut self, plan: &SavePlan) -> Result<(), SinkError> {
        self.stays = plan.lives.then(Vec::new);
        self.sink.begin(plan)
    }

    fn save(&mut self, save: Save) -> Result<(), SinkError> {
        self.sink.save(save)
    }

    fn lives(&mut self, lives: &[Life]) -> Result<(), SinkError> {
        if let Some(stays) = &mut self.stays {
            let ended = lives.iter().filter(|life| life.status.has_ended());
            ended.for_each(|life| Watched::add(stays, life));
        }
        self.sink.lives(lives)
    }

    fn sync(&mut self) -> Result<Mark, SinkError> {
        self.sink.sync()
    }

    fn end(&mut self, ends: &Ends) -> Result<(), SinkError> {
        self.sink.end(ends)
    }
}
