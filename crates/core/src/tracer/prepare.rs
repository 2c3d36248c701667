//! Prepares runs.

use super::{
    Prepared, Tracer,
    arrays::Sampler,
    boundary::check_overlap,
    contact, factors, inertia, inflow, located, shapes,
    slots::Slots,
    start::{self, Releases},
};
use crate::{
    Control, Error, Progress, Result, Sampled, Seeds, SeedsOutside, Summary, TrackSink, Tracks,
    combinations::{Feature, refusal},
};

impl<'a> Tracer<'a> {
    /// Prepares a run of these seeds: checks the whole configuration, schedules steps and saves,
    /// locates the seeds, samples the inlets, and chooses the batches. No step is taken.
    ///
    /// # Errors
    ///
    /// If the span, the saves, the faces, the obstacles, the inlets or the seeds do not fit the
    /// field, if features exclude each other ([`Error::Combination`](crate::Error::Combination)), or if the run does not fit
    /// into memory ([`Error::Memory`](crate::Error::Memory)).
    pub fn prepare<'s>(&'s self, seeds: &'s Seeds) -> Result<Prepared<'s>> {
        self.prepare_for(seeds, false)
    }

    /// As [`prepare`](Tracer::prepare); `in_segments` if its backward pass can take segments again.
    pub(super) fn prepare_for<'s>(
        &'s self,
        seeds: &'s Seeds,
        in_segments: bool,
    ) -> Result<Prepared<'s>> {
        let schedule = self.schedule()?;
        let engine = self.choose_engine(Some(seeds))?;
        self.check_segments(in_segments)?;
        contact::check(self)?;
        check_overlap(self)?;
        self.check_fields(seeds)?;
        self.check_times(&schedule.span)?;
        self.check_shapes()?;
        inertia::check_counts(self, self.num_slots(seeds))?;
        factors::check_count(self, self.num_slots(seeds))?;
        let sampler = Sampler::new(self, &schedule)?;
        let mut cells = self.locate(seeds)?;
        let is_tracked = in_segments || self.is_tracked(seeds)?;
        let slots = self.slots(seeds, &schedule)?;
        let particles = self.num_slots(seeds);
        let resolved = || self.resolved(engine, in_segments, particles);
        let adjoint = is_tracked.then(resolved).transpose()?;
        if adjoint.is_some() && self.has(Feature::Tallies) {
            return Err(refusal(Feature::Tallies, Feature::Gradients));
        }
        let batch = self.plan_of(seeds, engine, (adjoint, false))?.batch();
        if batch < self.num_slots(seeds) && self.has(Feature::SeveralFields) {
            return Err(refusal(Feature::SeveralFields, Feature::Batches));
        }
        let (releases, later) = Releases::new(seeds, &schedule);
        let inlets = slots.as_ref().map_or(&[] as &[_], Slots::inlets);
        let mut stepper = self.stepper(engine, later, inlets)?;
        if is_tracked {
            let mut tracked = shapes::tracked(self, &stepper);
            tracked.extend(slots.iter().flat_map(|slots| slots.tracked.clone()));
            stepper.geometry.rows = inflow::with_graphs(stepper.geometry.rows, &tracked, self);
            stepper.span = self.times.as_ref().map(|_| [schedule.span.t0, schedule.span.t1]);
            stepper.tracks_releases = seeds.tracked_release().is_some();
            stepper.batch = (batch < self.num_slots(seeds)).then_some(batch);
        }
        start::leave_holes(&mut cells, (seeds, &releases), &stepper, schedule.span.t0)?;
        if self.surroundings.seeds_outside == SeedsOutside::Error {
            let what = "field (in its holes; with `NotFinite::Land` they are land)";
            located::check_inside(self, seeds, &cells, what)?;
        }
        let all = slots.as_ref().map_or(cells.len(), Slots::count);
        Ok(Prepared {
            tracer: self,
            seeds,
            schedule,
            cells,
            piece: 0..all,
            all,
            releases,
            slots,
            stepper,
            sampler,
            batch,
            adjoint,
            state: None,
        })
    }

    /// Refuses seeds that are not as many in each of several fields.
    fn check_fields(&self, seeds: &Seeds) -> Result<()> {
        let fields = self.field.sampled().map_or(1, Sampled::fields);
        match seeds.len().is_multiple_of(fields) {
            true => Ok(()),
            false => Err(Error::Seeds(format!(
                "there are {} of them in {fields} fields; give as many for each field, those of the first field first",
                seeds.len()
            ))),
        }
    }

    /// Traces seeds and keeps the tracks on the device. Short for
    /// `self.prepare(seeds)?.run()`.
    ///
    /// # Errors
    ///
    /// As [`prepare`](Tracer::prepare) and [`Prepared::run`].
    pub fn trace(&self, seeds: &Seeds) -> Result<Tracks> {
        self.prepare(seeds)?.run()
    }

    /// Traces seeds into a sink; the observer is called after each segment and may cancel the run.
    /// Short for `self.prepare(seeds)?.run_observed(sink, observer)`.
    ///
    /// # Errors
    ///
    /// As [`prepare`](Tracer::prepare) and [`Prepared::run_into`].
    pub fn trace_into(
        &self,
        seeds: &Seeds,
        sink: &mut dyn TrackSink,
        mut observer: &mut dyn FnMut(Progress) -> Control,
    ) -> Result<Summary> {
        self.prepare(seeds)?.run_observed(sink, &mut observer)
    }
}
