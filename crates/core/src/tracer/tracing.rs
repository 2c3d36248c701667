//! Runs: from seeds to tracks.

use super::{
    Tracer,
    batches::Batches,
    boundary::periods,
    lives::Slots,
    particle_store::ParticleStore,
    run::Run,
    start::{self, Start},
    state::RunState,
    stepper,
};
use crate::{
    Control, DurablePosition, Error, Observer, Progress, Result, SavePlan, Seeds, Summary,
    TrackSink, Tracks, tracks::sunk,
};

impl Tracer<'_> {
    /// Traces seeds, and keeps the tracks on the device.
    ///
    /// # Errors
    ///
    /// Where the span, the saves, the faces or the seeds do not fit the field, or the path that
    /// was insisted on cannot be taken.
    pub fn trace(&self, seeds: &Seeds) -> Result<Tracks> {
        let mut tracks = Tracks::default();
        let summary = self.trace_into(seeds, &mut tracks, &mut |_| Control::Continue)?;
        Ok(tracks.with_summary(summary))
    }

    /// Traces seeds into a sink, under the eyes of an observer, which is called after each
    /// segment of the run and may cancel it.
    ///
    /// A sink that wants its saves [on the host](TrackSink::on_host) gets those of a graphics card
    /// while the card takes the steps that follow, and so after the observer has heard of them.
    ///
    /// # Errors
    ///
    /// As [`trace`](Tracer::trace), and where the sink fails.
    pub fn trace_into(
        &self,
        seeds: &Seeds,
        sink: &mut dyn TrackSink,
        mut observer: &mut dyn FnMut(Progress) -> Control,
    ) -> Result<Summary> {
        self.trace_from(None, seeds, sink, &mut observer)
    }

    /// Traces seeds from their begin, or goes on with a run from a state that an observer
    /// [kept](Observer::keep), as if it had never been stopped: tracer and seeds must be those of
    /// that run.
    ///
    /// The sink is told what the whole run is about ([`TrackSink::begin`]) in both cases; of a run
    /// that goes on it then gets what comes after the state's [mark](super::RunNumbers::mark).
    ///
    /// # Errors
    ///
    /// As [`trace_into`](Tracer::trace_into), and [`Error::State`](crate::Error::State) where the
    /// state is of another run or incomplete, or where gradients are tracked.
    pub fn trace_from(
        &self,
        state: Option<&RunState>,
        seeds: &Seeds,
        sink: &mut dyn TrackSink,
        observer: &mut dyn Observer,
    ) -> Result<Summary> {
        let schedule = self.schedule()?;
        let places = self.places(seeds)?;
        let engine = self.choose_engine(seeds.is_tracked())?;
        if state.is_some() && (seeds.is_tracked() || self.field.device().is_autodiff()) {
            return Err(Error::State("a graph of gradients does not go on from it".into()));
        }
        let batches = Batches::new(self.plan_of(seeds, engine, false)?.batch());
        let mut slots = self.slots(seeds, &schedule)?;
        let (rows, start) = start::start((seeds, &places), slots.as_ref(), &schedule, self.field);
        drop(places);
        let Start { begun, releases } = start;
        let inlets = slots.as_ref().map_or(&[] as &[_], Slots::inlets);
        let stepper = self.stepper(engine, &releases, inlets)?;
        let count = rows.count();
        let plan = SavePlan {
            particles: count,
            lives: slots.is_some(),
            saves: schedule.saves(),
            precision: self.field.precision(),
            velocity: self.velocity,
            periods: periods(&stepper.boundary),
        };
        if let (Some(slots), Some(each)) = (&mut slots, &begun.each) {
            slots.seeds_begin(each);
        }
        let is_split = batches.split(count);
        let cloud = ParticleStore::on_host(rows, &self.field.device());
        let segments = schedule.chunks(stepper::most_steps(count, &self.field.device()));
        let parts = ((&schedule, segments), stepper, (begun, slots), (cloud, batches));
        let (schedule, stepper, slots, particles) = parts;
        let mut run = Run::new(self, schedule, stepper, slots, particles, sink.on_host());
        if let Some(state) = state {
            run.go_on_from(state)?;
            run.given = DurablePosition { saves: run.counts.saves, lives: run.counts.lives };
        }
        if !is_split {
            run.go_to_device(seeds)?;
        }
        sunk(sink.begin(&plan))?;
        run.all_segments(sink, observer)?;
        run.finish(sink)
    }
}
