//! The integration loop: field, seeds, scheme and boundaries in, tracks out.

mod adapt;
mod adjoint;
mod arrays;
mod batches;
mod blocks;
mod boundary;
mod columns;
mod ends;
mod extend;
mod fused;
mod gradients;
mod hook;
mod inflow;
mod join;
mod kept_values;
mod observer;
mod obstacles;
mod origin_shift;
#[cfg(test)]
mod out_of_memory;
mod particle_store;
mod patches;
mod planning;
mod prepared;
mod reading;
mod rows;
mod run;
mod runge_kutta;
mod sampled_at;
mod saving;
mod selection;
mod settling;
mod slot_counters;
mod slots;
mod snapshot;
mod start;
mod state;
mod stepper;
mod tape;
mod tensor;
mod walk;

use crate::{
    Adjoint, BoundaryCondition, Domain, Engine, Error, Execution, Face, Field, Inlet, Motion,
    Obstacle, OutletAt, PerAxis, RandomWalk, Result, SampledArray, SaveAt, SaveRequest, Scheme,
    Seeds, SeedsOutside, Solver, Source, Span, Surroundings, TimeSpan, Tolerance,
    combinations::{self, Feature},
    device,
    schedule::{Chunk, Schedule},
};
pub use adjoint::FLOW_MAP_GRADIENT;
use arrays::Sampler;
pub use batches::BatchSummary;
use boundary::boundary;
use burn::tensor::TensorData;
pub use hook::Step;
pub use observer::{CheckpointEvery, Control, Observer, Progress};
pub use patches::{MAX_PATCHES, Patch};
pub use prepared::Prepared;
use slots::Slots;
use start::Release;
pub use state::{RunNumbers, RunState};
use std::time::Instant;
use stepper::Stepper;
pub use tape::value_and_grad;

/// Traces particles through a field.
///
/// ```
/// use burntrace_core::{Analytic, Flow, Precision, SaveAt, Seeds, Tracer};
/// use burn::tensor::Device;
///
/// # fn main() -> Result<(), burntrace_core::Error> {
/// let flow = Flow::named("double-gyre").expect("a built-in flow");
/// let field = Analytic::new(flow, &Device::flex(), Precision::F64);
/// let seeds = Seeds::list(vec![[0.5, 0.5, 0.0], [1.0, 0.5, 0.0]])?;
/// let tracks = Tracer::new(&field)
///     .span(0.0..=10.0)
///     .steps(200)
///     .save(SaveAt::EverySteps(20))
///     .trace(&seeds)?;
/// assert_eq!(tracks.positions().dims(), [11, 2, 3]);
/// # Ok(())
/// # }
/// ```
///
/// Its settings are a few values, which can be made, compared and passed around by themselves: [`Motion`],
/// [`Solver`], [`Span`], [`Surroundings`], [`SaveRequest`] and [`Execution`]. Methods set one thing of a value
/// each. [`prepare`](Tracer::prepare) refuses combinations that are not possible (docs/guide/combinations.md).
#[derive(Clone)]
pub struct Tracer<'a> {
    field: &'a dyn Field,
    motion: Motion,
    solver: Solver,
    span: Span,
    surroundings: Surroundings,
    sources: Vec<Source>,
    save: SaveRequest<'a>,
    execution: Execution,
    each_step: Option<hook::Operation<'a>>,
}

/// Methods that set one thing each, and return the tracer.
macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*): $tracer:ident => $set:expr;)*) => {
        $($(#[$doc])* pub fn $name(mut self, $($argument: $type),*) -> Self {
            let $tracer = &mut self;
            $set;
            self
        })*
    };
}

impl<'a> Tracer<'a> {
    /// A tracer with the defaults: RK4, exits at all faces, the whole time range of the field, and
    /// one save at the end.
    pub fn new(field: &'a dyn Field) -> Self {
        Tracer {
            field,
            motion: Motion::default(),
            solver: Solver::default(),
            span: Span::default(),
            surroundings: Surroundings::default(),
            sources: Vec::new(),
            save: SaveRequest::default(),
            execution: Execution::default(),
            each_step: None,
        }
    }

    setters! {
        /// Sets what moves the particles beside the field.
        motion(motion: Motion): it => it.motion = motion;
        /// Adds a constant [velocity](Motion::drift) to the field's, in length per time.
        drift(velocity: impl Into<PerAxis>): it => it.motion.drift = velocity.into();
        /// Adds a [random walk](Motion::walk).
        random_walk(walk: RandomWalk): it => it.motion.walk = Some(walk);

        /// Sets how the steps are taken.
        solver(solver: Solver): it => it.solver = solver;
        /// Sets the time integration [scheme](Solver::scheme).
        scheme(scheme: Scheme): it => it.solver.scheme = scheme;
        /// Chooses step sizes by error control; the scheme must be [`Scheme::DormandPrince`].
        tolerance(tolerance: Tolerance): it => it.solver.tolerance = Some(tolerance);

        /// Sets start time, end time and steps: a [`Span`], or a range of times such as `0.0..=10.0`.
        span(span: impl Into<Span>): it => it.span = span.into();
        /// Sets the [length](Span::dt) of the steps, in the data's unit of time; negative for backward runs.
        dt(dt: f64): it => it.span.dt = Some(dt);
        /// Sets the [number](Span::steps) of steps.
        steps(steps: u64): it => it.span.steps = Some(steps);

        /// Sets what surrounds the particles.
        surroundings(surroundings: Surroundings): it => it.surroundings = surroundings;
        /// Sets the [domain box](Surroundings::domain) to which the face conditions apply.
        domain(domain: Domain): it => it.surroundings.domain = Some(domain);
        /// Sets the same condition at all six faces of the domain box.
        all_faces(condition: BoundaryCondition): it => it.surroundings.faces = [[condition; 2]; 3];
        /// Sets the condition at one face of the domain box.
        face(face: Face, condition: BoundaryCondition): it => *it.surroundings.at_mut(face) = condition;
        /// Makes a face, the mesh boundary or the obstacles an [`Outlet`](crate::Outlet).
        outlet(at: impl Into<OutletAt>, inlet: Inlet): it => it.surroundings.add_outlet(at.into(), inlet);
        /// Sets the condition at the [mesh boundary](Surroundings::mesh_wall).
        mesh_wall(wall: BoundaryCondition): it => it.surroundings.mesh_wall = wall;
        /// Adds a [patch](Surroundings::patches) of the mesh boundary with a condition of its own.
        mesh_patch(patch: Patch): it => it.surroundings.patches.push(patch);
        /// Adds an [obstacle](Surroundings::obstacles).
        obstacle(obstacle: Obstacle): it => it.surroundings.obstacles.push(obstacle);
        /// Adds several [obstacles](Surroundings::obstacles).
        obstacles(obstacles: impl IntoIterator<Item = Obstacle>): it => it.surroundings.obstacles.extend(obstacles);
        /// Ends particles that are [slower](Surroundings::stagnant_speed), in length per time.
        stagnant_speed(speed: f64): it => it.surroundings.stagnant_speed = speed;
        /// Sets how seeds outside the domain are handled.
        seeds_outside(choice: SeedsOutside): it => it.surroundings.seeds_outside = choice;

        /// Adds a source; its slots follow the slots of the seeds.
        source(source: Source): it => it.sources.push(source);

        /// Sets everything that is saved.
        save_request(save: SaveRequest<'a>): it => it.save = save;
        /// Sets when positions are saved.
        save(at: SaveAt): it => it.save.at = at;
        /// Saves the velocity at each position, too.
        save_velocity(is_saved: bool): it => it.save.velocity = is_saved;
        /// Saves the [gradient of the flow map](SaveRequest::flow_map_gradient) with each position, too.
        flow_map_gradient(is_saved: bool): it => it.save.flow_map_gradient = is_saved;
        /// Samples an [array](SampledArray) of a field where the particles are, at each save.
        sample(name: impl Into<String>, field: &'a dyn Field): it => {
            it.save.arrays.push(SampledArray { name: name.into(), field })
        };

        /// Sets how the run is executed.
        execution(execution: Execution): it => it.execution = execution;
        /// Sets the maximum number of particles on the device [at a time](Execution::batch).
        batch(max: usize): it => it.execution.batch = Some(max);
        /// Limits the [memory](Execution::memory) of the run, in bytes.
        memory(bytes: u64): it => it.execution.memory = Some(bytes);
        /// Plans the memory of [pieces](Execution::piece) of up to this number of particles.
        piece(max: usize): it => it.execution.piece = Some(max);
        /// Sets how [gradients](Execution::adjoint) go back through the run.
        adjoint(adjoint: Adjoint): it => it.execution.adjoint = adjoint;
        /// Requires an engine, for tests.
        #[doc(hidden)]
        engine(engine: Engine): it => it.execution.engine = Some(engine);
    }

    /// The domain box of the run.
    fn domain_box(&self) -> Domain {
        self.surroundings.domain.unwrap_or_else(|| self.field.domain())
    }

    /// The re-used slots, if there are any.
    fn slots(&self, seeds: &Seeds, schedule: &Schedule) -> Result<Option<Slots>> {
        if !self.reuses_slots() {
            return match seeds.is_empty() {
                true => Err(Error::Seeds("there are no seeds and no source; give either".into())),
                false => Ok(None),
            };
        }
        Slots::new(self, seeds, schedule).map(Some)
    }

    /// The maximum number of particles of all sources at a time.
    fn capacity(&self) -> usize {
        self.sources.iter().fold(0, |sum: usize, source| sum.saturating_add(source.capacity()))
    }

    /// Number of slots of a run with these seeds: theirs, and those of sources.
    pub fn num_slots(&self, seeds: &Seeds) -> usize {
        seeds.len().saturating_add(self.capacity())
    }

    /// Whether an instance can be followed by another one in its slot.
    fn reuses_slots(&self) -> bool {
        self.surroundings.has_outlet() || !self.sources.is_empty()
    }

    /// The number of the mesh cell of each seed, as returned by [`start::cells`]; `None` for seeds
    /// outside the domain or the mesh, or inside an obstacle.
    fn locate(&self, seeds: &Seeds) -> Result<Vec<Option<i32>>> {
        let mut cells = start::cells(seeds, &self.domain_box(), self.field)?;
        let allows = obstacles::allowed(self)?;
        for (cell, position) in cells.iter_mut().zip(seeds.positions()) {
            *cell = cell.filter(|_| allows(position));
        }
        if self.surroundings.seeds_outside == SeedsOutside::Error {
            let on_mesh = self.field.mesh().is_some();
            let inner = if on_mesh { "mesh" } else { "allowed side of the obstacles" };
            start::check_inside(seeds, &cells, &self.domain_box(), inner)?;
        }
        Ok(cells)
    }

    /// Compiles the kernels of a run on its device and returns the seconds spent. A later run of up
    /// to `particles` particles compiles nothing.
    ///
    /// # Errors
    ///
    /// As [`prepare`](Tracer::prepare), except for errors of the seeds.
    pub fn warm_up(&self, particles: usize) -> Result<f64> {
        let start = Instant::now();
        let stepper = self.stepper(self.choose_engine(false)?, Vec::new(), &[])?;
        let schedule = self.schedule()?;
        let span = schedule.span;
        let chunk = Chunk { first_step: 0, times: vec![span.t0, span.t0], save: None };
        let slots = self.reuses_slots().then(slots::nothing_follows);
        let particles = self.execution.batch.map_or(particles, |batch| batch.min(particles));
        let idle = start::idle(particles.max(1), self, stepper.engine);
        let (idle, _) = stepper.advance((0, idle), &chunk, slots.as_ref())?;
        let values = Sampler::new(self, &schedule)?.sample(&stepper, &idle, span.t0)?;
        for values in [values.velocity, values.arrays].into_iter().flatten() {
            done(values.try_into_data())?;
        }
        done(idle.position.clone().try_into_data())?;
        done(idle.image().try_into_data())?;
        done(idle.status().try_into_data())?;
        Ok(start.elapsed().as_secs_f64())
    }

    /// Builds the stepper for the given later releases and positions of inlets.
    fn stepper<'s>(
        &'s self,
        engine: Engine,
        releases: Vec<Release>,
        inlets: &[[f64; 3]],
    ) -> Result<Stepper<'s>> {
        let (boundary, obstacles) = (boundary(self)?, obstacles::measured(self)?);
        let speed = self.surroundings.stagnant_speed;
        if !(speed.is_finite() && speed >= 0.0) {
            return Err(Error::StagnantSpeed(speed));
        }
        let (drift, walk) = (walk::drift(self)?, walk::walk(self)?);
        let mut geometry = obstacles::geometry(self.field, inlets, &obstacles);
        geometry.motion = walk::motion(self, drift, walk.as_ref());
        Ok(Stepper {
            field: self.field,
            engine,
            scheme: self.solver.scheme,
            surroundings: settling::surroundings(self.field),
            clips: sampled_at::clips(self, engine),
            boundary,
            geometry,
            obstacles: obstacles.into(),
            stagnant_speed: speed,
            adaptive: adapt::adaptive(self)?,
            drifts: drift != [0.0; 3] || walk::is_tracked(self),
            drift,
            walk,
            hook: hook::hook(self),
            releases,
            batch: None,
        })
    }

    fn schedule(&self) -> Result<Schedule> {
        let span = adapt::with_default_steps(self)?.resolve(self.field.span())?;
        if let Some(sampled) = self.field.sampled() {
            sampled.time.check_step(span.dt)?;
        }
        check_known(self.field, &span)?;
        adapt::check_max_step(self, span.dt)?;
        Schedule::new(span, self.save.at.clone())
    }

    /// The engine of a run, if its features can be combined; `is_tracked` if its input tracks gradients.
    fn choose_engine(&self, is_tracked: bool) -> Result<Engine> {
        let is_tracked = is_tracked || self.field.device().is_autodiff();
        let requested = self.requested_engine(is_tracked)?;
        let is_fused = self.field.sampled().is_some() && !self.has_card_gradients(is_tracked);
        let engine = requested.unwrap_or(if is_fused { Engine::Fused } else { Engine::Tensor });
        let has = |feature| match feature {
            Feature::FusedEngine => requested == Some(Engine::Fused),
            Feature::TensorSteps => engine == Engine::Tensor,
            Feature::Gradients => is_tracked,
            Feature::CardGradients => self.has_card_gradients(is_tracked),
            _ => self.has(feature),
        };
        combinations::check(has, |feature| self.given(feature))?;
        Ok(engine)
    }

    /// What was given of a feature, for the error of a run that may not have it.
    fn given(&self, feature: Feature) -> Option<String> {
        let names = || self.surroundings.patches.iter().map(|patch| format!("`{}`", patch.name()));
        match feature {
            Feature::OtherScheme => Some(format!("`{}`", self.solver.scheme.name())),
            Feature::Patches => Some(names().collect::<Vec<_>>().join(", ")),
            _ => None,
        }
    }

    /// Whether gradients go through re-used slots on a graphics card.
    fn has_card_gradients(&self, is_tracked: bool) -> bool {
        is_tracked && self.reuses_slots() && device::compiles_kernels(&self.field.device())
    }

    /// Whether a run has a feature that follows from its settings.
    fn has(&self, feature: Feature) -> bool {
        let (field, surroundings) = (self.field, &self.surroundings);
        let has_outlet = |at| surroundings.outlets.iter().any(|outlet| outlet.at == at);
        match feature {
            Feature::Tolerance => self.solver.tolerance.is_some(),
            Feature::OtherScheme => self.solver.scheme != Scheme::DormandPrince,
            Feature::Walk => self.motion.walk.is_some(),
            Feature::FieldWalk => self.motion.walk.as_ref().is_some_and(|walk| walk.varies),
            Feature::NoDiffusivity => !field.has_diffusivity(),
            Feature::MeshOutlet => has_outlet(OutletAt::Mesh),
            Feature::ObstacleOutlet => has_outlet(OutletAt::Obstacles),
            Feature::Patches => !surroundings.patches.is_empty(),
            Feature::NoMesh => field.mesh().is_none(),
            Feature::NoExit => {
                surroundings.obstacles.iter().all(|o| o.surface != BoundaryCondition::Exit)
            }
            Feature::PeriodicFaces => {
                surroundings.faces.as_flattened().contains(&BoundaryCondition::Periodic)
            }
            Feature::ReusedSlots => self.reuses_slots(),
            Feature::Hook => self.each_step.is_some(),
            Feature::FieldSaves => self.samples_field(),
            Feature::FlowMapGradient => self.save.flow_map_gradient,
            Feature::OwnField => field.sampled().is_none(),
            Feature::TrackedInlets => inflow::is_tracked(self),
            Feature::Blocks => field.sampled().is_some_and(|sampled| sampled.blocks.is_some()),
            _ => false,
        }
    }
}

/// Checks that a field is known during a run.
fn check_known(field: &dyn Field, span: &TimeSpan) -> Result<()> {
    let Some([first, last]) = field.times() else { return Ok(()) };
    let slack = 1e-9 * (last - first);
    let known = first - slack..=last + slack;
    match known.contains(&span.t0) && known.contains(&span.t1) {
        true => Ok(()),
        false => Err(Error::OutsideTime { t0: span.t0, t1: span.t1, first, last }),
    }
}

/// Converts an error of a device.
fn done<E: std::fmt::Debug>(data: std::result::Result<TensorData, E>) -> Result<()> {
    data.map(drop).map_err(|error| Error::Execution(format!("{error:?}")))
}
