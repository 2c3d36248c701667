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
    BoundaryCondition, Domain, Engine, Error, Face, Field, Inlet, MemoryRequest, Obstacle, Result,
    SaveAt, Scheme, Seeds, Source, Span, Status, TimeSpan,
    schedule::{Chunk, Schedule},
};
pub use adapt::Tolerance;
pub use adjoint::FLOW_MAP_GRADIENT;
use arrays::Sampler;
pub use batches::BatchSummary;
use boundary::boundary;
use burn::tensor::TensorData;
pub(crate) use ends::EVENTS;
pub use gradients::Adjoint;
pub use hook::Step;
pub use patches::{MAX_PATCHES, Patch};
pub use prepared::Prepared;
use slots::Slots;
use start::Release;
pub(crate) use state::Cursor;
pub use state::{RunNumbers, RunState};
use std::time::Instant;
use stepper::Stepper;
pub use tape::value_and_grad;
pub use walk::{PerAxis, RandomWalk};

/// How seeds outside the domain, the mesh or the field are handled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SeedsOutside {
    /// Refuse the run and report their number.
    #[default]
    Error,
    /// Do not release them: their status is `not located`.
    NotLocated,
}

/// Traces particles through a field.
///
/// ```
/// use burntrace_core::{Analytic, Flow, Precision, SaveAt, Scheme, Seeds, Span, Tracer};
/// use burn::tensor::Device;
///
/// # fn main() -> Result<(), burntrace_core::Error> {
/// let flow = Flow::named("double-gyre").expect("a built-in flow");
/// let field = Analytic::new(flow, &Device::flex(), Precision::F64);
/// let seeds = Seeds::list(vec![[0.5, 0.5, 0.0], [1.0, 0.5, 0.0]])?;
/// let tracks = Tracer::new(&field)
///     .scheme(Scheme::Rk4)
///     .span(Span { t1: Some(10.0), steps: Some(200), ..Span::default() })
///     .save(SaveAt::EverySteps(20))
///     .trace(&seeds)?;
/// assert_eq!(tracks.positions().dims(), [11, 2, 3]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Tracer<'a> {
    field: &'a dyn Field,
    scheme: Scheme,
    faces: [[BoundaryCondition; 2]; 3],
    domain: Domain,
    span: Span,
    save: SaveAt,
    velocity: bool,
    flow_map_gradient: bool,
    engine: Option<Engine>,
    adjoint: Adjoint,
    wall: BoundaryCondition,
    patches: Vec<Patch>,
    /// The inlet at which particles re-enter, by their final status.
    outlets: Vec<(Status, Inlet)>,
    sources: Vec<Source>,
    obstacles: Vec<Obstacle>,
    stagnant_speed: f64,
    drift: PerAxis,
    walk: Option<RandomWalk>,
    tolerance: Option<Tolerance>,
    each_step: Option<hook::Operation<'a>>,
    /// Names of arrays that are sampled at saves, with their fields.
    sampled: Vec<(String, &'a dyn Field)>,
    seeds_outside: SeedsOutside,
    device_name: Option<String>,
    asked: MemoryRequest,
    memory: Option<u64>,
    /// Maximum number of particles of a piece; `None` for the whole run at once.
    piece: Option<usize>,
}

impl<'a> Tracer<'a> {
    /// A tracer with the defaults: RK4, exits at all faces, the whole time range of the field, and
    /// one save at the end.
    pub fn new(field: &'a dyn Field) -> Self {
        Tracer {
            field,
            scheme: Scheme::default(),
            faces: Default::default(),
            wall: BoundaryCondition::default(),
            patches: Vec::new(),
            outlets: Vec::new(),
            sources: Vec::new(),
            obstacles: Vec::new(),
            domain: field.domain(),
            span: Span::default(),
            save: SaveAt::default(),
            velocity: false,
            flow_map_gradient: false,
            engine: None,
            adjoint: Adjoint::default(),
            stagnant_speed: 0.0,
            drift: [0.0; 3].into(),
            walk: None,
            tolerance: None,
            each_step: None,
            sampled: Vec::new(),
            seeds_outside: SeedsOutside::default(),
            device_name: None,
            asked: MemoryRequest::default(),
            memory: None,
            piece: None,
        }
    }

    /// Sets the time integration scheme.
    pub fn scheme(mut self, scheme: Scheme) -> Self {
        self.scheme = scheme;
        self
    }

    /// Sets the same condition at all six faces.
    pub fn all_faces(mut self, condition: BoundaryCondition) -> Self {
        self.faces = [[condition; 2]; 3];
        self
    }

    /// Sets the condition at one face.
    pub fn face(mut self, face: Face, condition: BoundaryCondition) -> Self {
        self.faces[face as usize / 2][face as usize % 2] = condition;
        self
    }

    /// Makes a face an outlet: a particle that crosses it ends there. At the same time another one
    /// is released at the inlet, in the same slot, and takes the rest of the step.
    ///
    /// The condition of the inlet's own face applies to particles that flow back out through it.
    pub fn outlet(mut self, face: Face, inlet: Inlet) -> Self {
        self.outlets.retain(|(status, _)| *status != Status::Exited(face));
        self.outlets.push((Status::Exited(face), inlet));
        self
    }

    /// Adds a source; its slots follow the slots of the seeds.
    pub fn source(mut self, source: Source) -> Self {
        self.sources.push(source);
        self
    }

    /// Sets the domain box to which the face conditions apply; by default the field's domain.
    pub fn domain(mut self, domain: Domain) -> Self {
        self.domain = domain;
        self
    }

    /// Sets start time, end time and steps.
    pub fn span(mut self, span: Span) -> Self {
        self.span = span;
        self
    }

    /// Sets when positions are saved.
    pub fn save(mut self, save: SaveAt) -> Self {
        self.save = save;
        self
    }

    /// Saves the velocity at each position, too.
    pub fn save_velocity(mut self, velocity: bool) -> Self {
        self.velocity = velocity;
        self
    }

    /// Requires an engine. The default is the fused one if it is available.
    pub fn engine(mut self, engine: Engine) -> Self {
        self.engine = Some(engine);
        self
    }

    /// Ends particles that move slower than `speed` (length per time) in a step, by their mean velocity in
    /// it; also those that walls hold, as in a corner of sliding walls or while the flow presses them
    /// against a wall. Motions shorter than the rounding of positions do not count as slow.
    pub fn stagnant_speed(mut self, speed: f64) -> Self {
        self.stagnant_speed = speed;
        self
    }

    /// Sets how seeds outside the domain are handled.
    pub fn seeds_outside(mut self, choice: SeedsOutside) -> Self {
        self.seeds_outside = choice;
        self
    }

    /// Sets the name of the device in the summary.
    pub fn device_name(mut self, name: impl Into<String>) -> Self {
        self.device_name = Some(name.into());
        self
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
        let has_outlet = !self.outlets.is_empty() || self.patches.iter().any(Patch::is_outlet);
        has_outlet || !self.sources.is_empty()
    }

    /// The number of the mesh cell of each seed, as returned by [`start::cells`]; `None` for seeds
    /// outside the domain or the mesh, or inside an obstacle.
    fn locate(&self, seeds: &Seeds) -> Result<Vec<Option<i32>>> {
        let mut cells = start::cells(seeds, &self.domain, self.field)?;
        let allows = obstacles::allowed(self)?;
        for (cell, position) in cells.iter_mut().zip(seeds.positions()) {
            *cell = cell.filter(|_| allows(position));
        }
        if self.seeds_outside == SeedsOutside::Error {
            let on_mesh = self.field.mesh().is_some();
            let inner = if on_mesh { "mesh" } else { "allowed side of the obstacles" };
            start::check_inside(seeds, &cells, &self.domain, inner)?;
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
        let particles = self.asked.batch.map_or(particles, |batch| batch.min(particles));
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
        if !(self.stagnant_speed.is_finite() && self.stagnant_speed >= 0.0) {
            return Err(Error::StagnantSpeed(self.stagnant_speed));
        }
        let (drift, walk) = (walk::drift(self)?, walk::walk(self)?);
        let mut geometry = obstacles::geometry(self.field, inlets, &obstacles);
        geometry.motion = walk::motion(self, drift, walk.as_ref());
        Ok(Stepper {
            field: self.field,
            engine,
            scheme: self.scheme,
            surroundings: settling::surroundings(self.field),
            clips: sampled_at::clips(self, engine),
            boundary,
            geometry,
            obstacles: obstacles.into(),
            stagnant_speed: self.stagnant_speed,
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
        Schedule::new(span, self.save.clone())
    }

    fn choose_engine(&self, is_tracked: bool) -> Result<Engine> {
        let obstacle = if self.field.sampled().is_none() {
            Some(
                "the field is not on a grid, a mesh or points, nor a formula: the fused operation needs one of them",
            )
        } else if is_tracked || self.field.device().is_autodiff() {
            self.without_adjoint()
        } else {
            None
        };
        let requested = self.requested_engine(is_tracked || self.field.device().is_autodiff())?;
        let engine = match (requested, obstacle) {
            (Some(Engine::Fused), Some(reason)) => {
                return Err(Error::NotFused { reason: reason.into() });
            }
            (Some(engine), _) => engine,
            (None, Some(_)) => Engine::Tensor,
            (None, None) => Engine::Fused,
        };
        self.check_tracked_inlets(engine)?;
        let is_tracked = is_tracked || self.field.device().is_autodiff();
        self.check_flow_map_gradient(engine, is_tracked).map(|()| engine)
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
