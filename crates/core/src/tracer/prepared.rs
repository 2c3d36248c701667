//! A prepared run: everything derived from tracer and seeds before the first step.

use super::{
    Tracer,
    arrays::Sampler,
    batches::Batches,
    boundary::periods,
    kept_values::KeptValues,
    origin_shift::OriginShift,
    particle_store::ParticleStore,
    run::{self, Run},
    segments::Tape,
    slots::Slots,
    start::{self, Releases},
    state::{Counts, Identity, RunState},
    stepper::{self, Stepper},
};
use crate::{
    Adjoint, Control, DurablePosition, Engine, Error, Observer, Plan, Progress, Result, Sampled,
    SavePlan, Seeds, Summary, TrackSink, Tracks,
    combinations::{Feature, refusal},
    device,
    schedule::Schedule,
    sink::sunk,
};
use burn::tensor::Tensor;
use std::ops::Range;

/// A run that is ready to start: its steps and saves are scheduled, its seeds located, its inlets
/// sampled, and its batches chosen. Made by [`Tracer::prepare`].
///
/// ```
/// use burntrace_core::{Analytic, Flow, Precision, Seeds, Tracer};
/// use burn::tensor::Device;
///
/// # fn main() -> Result<(), burntrace_core::Error> {
/// let flow = Flow::named("double-gyre").expect("a built-in flow");
/// let field = Analytic::new(flow, &Device::flex(), Precision::F64);
/// let seeds = Seeds::list(vec![[0.5, 0.5, 0.0]])?;
/// let tracer = Tracer::new(&field).span(0.0..=1.0).steps(20);
/// let prepared = tracer.prepare(&seeds)?;
/// println!("{}", prepared.plan()?);
/// let tracks = prepared.run()?;
/// assert_eq!(tracks.positions().dims(), [1, 1, 3]);
/// # Ok(())
/// # }
/// ```
pub struct Prepared<'a> {
    pub(super) tracer: &'a Tracer<'a>,
    pub(super) seeds: &'a Seeds,
    pub(super) schedule: Schedule,
    /// Initial cell number in the record of each seed; `None` for a seed that is not released.
    pub(super) cells: Vec<Option<i32>>,
    /// The slots of the piece.
    pub(super) piece: Range<usize>,
    /// Number of slots of the whole run.
    pub(super) all: usize,
    pub(super) releases: Releases,
    pub(super) slots: Option<Slots>,
    pub(super) stepper: Stepper<'a>,
    pub(super) sampler: Sampler<'a>,
    pub(super) batch: usize,
    /// How gradients go back, if they are tracked.
    pub(super) adjoint: Option<Adjoint>,
    pub(super) state: Option<&'a RunState<'a>>,
}

impl<'a> Prepared<'a> {
    /// The memory plan of the run. Saves count as passed on by the sink; saves that stay in memory,
    /// as in [`Tracks`], need more.
    ///
    /// # Errors
    ///
    /// [`Error::Memory`] if the run does not fit into the memory that is free now.
    pub fn plan(&self) -> Result<Plan> {
        self.tracer.plan_of(self.seeds, self.stepper.engine, (self.adjoint, true))
    }

    /// The run of some of the slots: a piece, with the bits that these slots have in the whole run. Pieces run
    /// in any order, at the same time or in different processes; [`RunState::join`] and [`Summary::join`] join
    /// their results. The sink and the states of a piece count slots from its first one.
    ///
    /// # Errors
    ///
    /// [`Error::Plan`] if there are no such slots, [`Error::Combination`] if gradients are tracked; as
    /// [`prepare`](Tracer::prepare) if the device fails.
    pub fn piece(&self, slots: Range<usize>) -> Result<Prepared<'a>> {
        if slots.is_empty() || slots.end > self.all || self.piece != (0..self.all) {
            return Err(Error::Plan(format!(
                "the slots {slots:?} are no piece of a run of {} slots; give a range of them that is not empty, \
                 and take pieces of the whole run",
                self.all
            )));
        }
        if self.adjoint.is_some() {
            return Err(refusal(Feature::Pieces, Feature::Gradients));
        }
        if self.tracer.has(Feature::SeveralFields) {
            return Err(refusal(Feature::SeveralFields, Feature::Pieces));
        }
        let count = self.seeds.len();
        let seeds = slots.start.min(count)..slots.end.min(count);
        Ok(Prepared {
            tracer: self.tracer,
            seeds: self.seeds,
            schedule: self.schedule.clone(),
            cells: self.cells[seeds.clone()].to_vec(),
            releases: self.releases.piece(seeds),
            slots: self.slots.as_ref().map(|all| all.piece(slots.clone())),
            stepper: self.second_stepper()?,
            sampler: Sampler::new(self.tracer, &self.schedule)?,
            batch: self.batch,
            adjoint: None,
            state: None,
            all: self.all,
            piece: slots,
        })
    }

    /// Another stepper for the run.
    pub(super) fn second_stepper(&self) -> Result<Stepper<'a>> {
        let inlets = self.slots.as_ref().map_or(&[] as &[_], Slots::inlets);
        self.tracer.stepper(self.stepper.engine, self.stepper.releases.clone(), inlets)
    }

    /// Whether gradients go back in segments.
    pub(super) fn is_in_segments(&self) -> bool {
        matches!(self.adjoint, Some(Adjoint::Segments { .. }))
    }

    /// Replaces the drift with the diffusivity by a tensor of the same values.
    pub(super) fn set_motion(&mut self, motion: &Tensor<1>) {
        self.stepper.geometry.motion = motion.clone();
    }

    /// Number of slots: one for each seed, and those of sources.
    pub fn count(&self) -> usize {
        self.piece.len()
    }

    /// The positions of the seeds.
    pub(super) fn positions(&self) -> &'a [[f64; 3]] {
        let all = self.seeds.positions();
        &all[self.piece.start.min(all.len())..self.piece.end.min(all.len())]
    }

    /// Identifies the run.
    pub(super) fn identity(&self) -> Identity {
        Identity::of(self.piece.clone(), &self.stepper, &self.schedule)
    }

    /// The plan of all saves, which the sink will receive.
    pub fn save_plan(&self) -> SavePlan {
        let precision = self.tracer.field.precision();
        SavePlan {
            particles: self.count(),
            reuses_slots: self.slots.is_some(),
            saves: self.schedule.saves(),
            precision,
            positions: OriginShift::new(self.tracer.field).precision(precision),
            velocity: self.tracer.save.velocity,
            periods: periods(&self.stepper.boundary),
            arrays: self.sampler.arrays().to_vec(),
            gates: self.tracer.save.gates.iter().map(|gate| gate.name.clone()).collect(),
        }
    }

    /// The engine that will take the steps.
    pub fn engine(&self) -> Engine {
        self.stepper.engine
    }

    /// Resumes a run from the state of a [checkpoint](Observer::checkpoint); the result is
    /// bit-identical to that of an uninterrupted run. Tracer and seeds must be the same.
    ///
    /// The sink receives the plan of the whole run ([`TrackSink::begin`]), then everything after
    /// the state's [durable position](super::RunNumbers::mark).
    ///
    /// # Errors
    ///
    /// [`Error::Combination`] if gradients are tracked. A state of another run is refused by
    /// [`run_into`](Prepared::run_into).
    pub fn resume(mut self, state: &'a RunState<'a>) -> Result<Self> {
        if self.adjoint.is_some() {
            return Err(refusal(Feature::Checkpoint, Feature::Gradients));
        }
        self.state = Some(state);
        Ok(self)
    }

    /// Runs and keeps the tracks on the device.
    ///
    /// # Errors
    ///
    /// As [`run_into`](Prepared::run_into), except for errors of a sink.
    pub fn run(self) -> Result<Tracks> {
        let mut tracks = Tracks::default();
        let releases = self.seeds.tracked_release().cloned();
        let summary = self.run_into(&mut tracks)?;
        Ok(tracks.with_releases(releases).with_summary(summary))
    }

    /// Runs into a sink.
    ///
    /// # Errors
    ///
    /// [`Error::Execution`] if the device fails, [`Error::Source`] if a frame cannot be read,
    /// [`Error::Sink`] if the sink fails, and [`Error::State`] if the state to
    /// [resume](Prepared::resume) from belongs to another run or is incomplete.
    pub fn run_into(self, sink: &mut dyn TrackSink) -> Result<Summary> {
        self.run_observed(sink, &mut |_: Progress| Control::Continue)
    }

    /// Runs into a sink and calls an observer after each segment of the run, which may cancel it
    /// and write checkpoints.
    ///
    /// A sink that wants its saves [on the host](TrackSink::on_host) receives the saves of a
    /// graphics card while the card takes the next steps, hence after the call of the observer.
    ///
    /// # Errors
    ///
    /// As [`run_into`](Prepared::run_into), and [`Error::Sink`] if the observer fails to write a
    /// checkpoint.
    pub fn run_observed(
        self,
        sink: &mut dyn TrackSink,
        observer: &mut dyn Observer,
    ) -> Result<Summary> {
        self.run_with((sink, observer), None)
    }

    /// Runs into a sink and records the segments.
    pub(super) fn run_recorded(self, sink: &mut dyn TrackSink, tape: &mut Tape) -> Result<Summary> {
        let observer = &mut |_: Progress| Control::Continue;
        self.run_with((sink, observer), Some(tape))
    }

    fn run_with(
        self,
        (sink, observer): (&mut dyn TrackSink, &mut dyn Observer),
        tape: Option<&mut Tape>,
    ) -> Result<Summary> {
        let starting = crate::phase!("start");
        let (plan, positions) = (self.save_plan(), self.positions());
        let first_slot = self.piece.start;
        self.say_slow_steps();
        let Prepared { tracer, seeds, schedule, cells, mut releases, mut slots, .. } = self;
        let (stepper, sampler) = (self.stepper, self.sampler);
        let is_tracked = self.adjoint.is_some();
        let device = tracer.field.device();
        let rows = start::rows(
            (first_slot, positions, &cells),
            slots.as_ref(),
            &mut releases,
            (tracer, &stepper.tallies),
        )?;
        drop(cells);
        if let (Some(slots), Some(each)) = (&mut slots, &releases.each) {
            slots.set_seed_releases(each);
        }
        let count = rows.count();
        let shift = OriginShift::new(tracer.field);
        // The graph of a run with gradients spans all particles.
        let batch = if is_tracked { count } else { self.batch };
        let is_split = batch < count;
        let sorts = slots.is_none()
            && !is_tracked
            && tracer.field.sampled().is_none_or(|sampled| sampled.fields() == 1)
            && !tracer.save.flow_map_gradient
            && stepper.sorts(schedule.span.steps);
        let sorts_steps = sorts && stepper.takes_steps_alone();
        let most = stepper::max_steps(self.all, &device);
        let max_steps = steps_of_launch(self.adjoint, most, sorts_steps);
        let mut run = Run {
            tracer,
            segments: schedule.chunks(max_steps),
            schedule: &schedule,
            first_slot,
            stepper,
            sampler,
            kept: KeptValues::default(),
            releases,
            slots,
            store: ParticleStore::on_host(rows, &device),
            shift,
            batches: Batches::new(batch),
            is_tracked,
            tape,
            overlaps: sink.on_host() && device::compiles_kernels(&device) && !is_tracked,
            sorts,
            since_sort: 0,
            ranks: Vec::new(),
            no_images: None,
            reading: None,
            counts: Counts::default(),
            crossings_by_segment: Vec::new(),
            taken: [0, 0],
            given: DurablePosition::default(),
            snapshot: None,
            input_before: tracer.field.sampled().and_then(Sampled::input).unwrap_or_default(),
            cancelled: false,
        };
        if let Some(state) = self.state {
            run.restore(state)?;
            run.given = run.counts.given();
        }
        if !is_split {
            run.go_to_device(seeds)?;
        }
        run.taken[1] = run.store.active()?;
        sunk(sink.begin(&plan))?;
        shift.give_releases(positions, plan.precision, sink)?;
        drop(starting);
        run.all_segments(sink, observer)?;
        run.finish(sink)
    }
}

/// Maximum number of steps of a launch, of which a device takes at most some.
fn steps_of_launch(adjoint: Option<Adjoint>, most: usize, sorts_steps: bool) -> usize {
    match adjoint {
        Some(Adjoint::Fused { every: steps } | Adjoint::Segments { steps }) => steps,
        // Launches of one step need the order more than longer ones.
        _ if sorts_steps => most.min(run::STEPS_BETWEEN_SORTS),
        _ => most,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Analytic, Flow, Precision, SaveAt, Span};
    use burn::tensor::Device;

    fn tracer(field: &Analytic) -> Tracer<'_> {
        let span = Span { t1: Some(2.0), steps: Some(40), ..Span::default() };
        Tracer::new(field).span(span).save(SaveAt::EverySteps(10))
    }

    fn field() -> Analytic {
        let flow = Flow::named("double-gyre").unwrap();
        Analytic::new(flow, &Device::flex(), Precision::F64)
    }

    #[test]
    fn tracer_runs_on_another_thread() {
        let field = field();
        let seeds = Seeds::uniform([0.0; 3], [2.0, 1.0, 0.0], 9, 7).unwrap();
        let here = tracer(&field).trace(&seeds).unwrap().positions().into_data();
        let moved = tracer(&field);
        let there = std::thread::scope(|scope| {
            let run = scope.spawn(|| moved.trace(&seeds).unwrap().positions().into_data());
            run.join().unwrap()
        });
        assert_eq!(here, there);
    }

    #[test]
    fn prepare_refuses_seeds_outside_before_any_step() {
        let field = field();
        let seeds = Seeds::list(vec![[5.0, 0.5, 0.0]]).unwrap();
        let refused = tracer(&field).prepare(&seeds).err();
        assert!(matches!(refused, Some(Error::SeedsOutside { outside: 1, .. })), "{refused:?}");
    }

    #[test]
    fn prepared_run_has_the_plan_and_engine_of_its_tracer() {
        let field = field();
        let seeds = Seeds::list(vec![[0.5, 0.5, 0.0]]).unwrap();
        let tracer = tracer(&field).engine(Engine::Tensor);
        let prepared = tracer.prepare(&seeds).unwrap();
        assert_eq!(prepared.engine(), Engine::Tensor);
        let (own, direct) = (prepared.plan().unwrap(), tracer.plan(&seeds).unwrap());
        assert_eq!((own.batch(), own.strategy()), (direct.batch(), direct.strategy()));
        assert_eq!(prepared.run().unwrap().saves().len(), 5);
    }
}
