//! A tracer: its settings.

use super::{
    contact,
    each_step::{Operation, Step},
};
use crate::{
    Adjoint, BoundaryCondition, Domain, Engine, Execution, Face, Field, Gate, Inertia, Inlet,
    Motion, Obstacle, OutletAt, Patch, PerAxis, PerParticle, RandomWalk, SampledArray, SaveAt,
    SaveRequest, SavedTally, Scheme, Seeds, SeedsOutside, Solver, Source, Span, StopCondition,
    Surroundings, Tally, Tolerance,
};
use burn::tensor::Tensor;
use burntrace_kernels::{INERTIAL, POSITION};
use std::sync::Arc;

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
    pub(super) field: &'a dyn Field,
    pub(super) motion: Motion,
    pub(super) solver: Solver,
    pub(super) span: Span,
    pub(super) surroundings: Surroundings,
    pub(super) sources: Vec<Source>,
    pub(super) save: SaveRequest<'a>,
    pub(super) execution: Execution,
    pub(super) each_step: Option<Operation<'a>>,
    /// The start and the end of the run, in their graph.
    pub(super) times: Option<Tensor<1>>,
    /// The numbers of shapes of obstacles, in their graphs.
    pub(super) shapes: Vec<(usize, Tensor<1>)>,
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
            times: None,
            shapes: Vec::new(),
        }
    }

    setters! {
        /// Sets what moves the particles beside the field.
        motion(motion: Motion): it => it.motion = motion;
        /// Adds a constant [velocity](Motion::drift) to the field's, in length per time.
        drift(velocity: impl Into<PerAxis>): it => it.motion.drift = velocity.into();
        /// Gives particles [inertia](Motion::inertia).
        inertia(inertia: Inertia): it => it.motion.inertia = Some(inertia);
        /// Sets the [factors](Motion::factors) by which particles scale the second velocity of the field.
        factors(factors: impl Into<PerParticle>): it => it.motion.factors = Some(factors.into());
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
        /// Sets the same condition at all six faces of the domain box. A condition other than exit replaces outlets there.
        all_faces(condition: BoundaryCondition): it => it.surroundings.set_all(condition);
        /// Sets the condition at one face of the domain box. One other than exit replaces an outlet there.
        face(face: Face, condition: BoundaryCondition): it => it.surroundings.set(face, condition);
        /// Makes a face, the mesh boundary or the obstacles an [`Outlet`](crate::Outlet), instead of the condition of that face.
        outlet(at: impl Into<OutletAt>, inlet: Inlet): it => it.surroundings.add_outlet(at.into(), inlet);
        /// Sets the condition at the [mesh boundary](Surroundings::mesh_wall).
        mesh_wall(wall: BoundaryCondition): it => it.surroundings.mesh_wall = wall;
        /// Adds a [patch](Surroundings::patches) of the mesh boundary with a condition of its own.
        mesh_patch(patch: Patch): it => it.surroundings.patches.push(patch);
        /// Adds an [obstacle](Surroundings::obstacles).
        obstacle(obstacle: Obstacle): it => it.surroundings.obstacles.push(obstacle);
        /// Adds several [obstacles](Surroundings::obstacles).
        obstacles(obstacles: impl IntoIterator<Item = Obstacle>): it => it.surroundings.obstacles.extend(obstacles);
        /// Sets the condition at the [coast](Surroundings::coast).
        coast(condition: BoundaryCondition): it => it.surroundings.coast = condition;
        /// Ends particles that are [slower](Surroundings::stagnant_speed), in length per time.
        stagnant_speed(speed: f64): it => it.surroundings.stagnant_speed = speed;
        /// Ends particles that meet a [condition](Surroundings::stop_when).
        stop_when(condition: StopCondition): it => it.surroundings.stop_when.push(condition);
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
        /// Saves the [field's velocity](SaveRequest::fluid_velocity) at each position, too.
        save_fluid_velocity(is_saved: bool): it => it.save.fluid_velocity = is_saved;
        /// Saves the [sizes](SaveRequest::sizes) of particles with inertia, too.
        save_sizes(is_saved: bool): it => it.save.sizes = is_saved;
        /// Notes the crossings of a [gate](Gate).
        gate(gate: Gate): it => it.save.gates.push(gate);
        /// Saves what [adds up](Tally) along each track, too, as an array `[saves, n, 1]` of this name.
        tally(name: impl Into<String>, tally: Tally): it => {
            it.save.tallies.push(SavedTally { name: name.into(), tally })
        };
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
        /// Sets whether a run with gradients may lose [particles](Execution::allow_non_finite).
        allow_non_finite(is_allowed: bool): it => it.execution.allow_non_finite = is_allowed;
        /// Requires an engine, for tests.
        #[doc(hidden)]
        engine(engine: Engine): it => it.execution.engine = Some(engine);
    }

    /// Calls a function after each step of the run. It receives all positions before and after the
    /// step and returns the positions `[n, 3]` to continue from, on the same device and in the same
    /// precision.
    ///
    /// ```
    /// # use burntrace_core::{Analytic, Error, Flow, Precision, Seeds, Span, Tracer};
    /// # use burn::tensor::Device;
    /// # fn main() -> Result<(), Error> {
    /// # let flow = Flow::named("double-gyre").expect("a built-in flow");
    /// # let field = Analytic::new(flow, &Device::flex(), Precision::F64);
    /// let tracer = Tracer::new(&field)
    ///     .each_step(|step| step.after + step.before.sin() * 0.1 * step.dt)
    ///     .span(Span { t1: Some(1.0), steps: Some(20), ..Span::default() });
    /// # tracer.trace(&Seeds::list(vec![[0.5, 0.5, 0.0]])?)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// The added displacement is treated like that of a step: domain faces, obstacles and mesh
    /// boundaries apply to it, outlets re-inject, and positions do not move along flat axes. It
    /// takes no time: a particle that ends in it ends at the end of the step. A particle returned
    /// unchanged keeps its exact bits; a particle with a non-finite new position ends as
    /// [`NonFinite`](crate::Status::NonFinite) at its old one. Rows of inactive particles are ignored.
    ///
    /// Positions are in the data's coordinates and the precision of the run. Of the result, the
    /// displacement from `after` counts, so that a step loses nothing of a position that this precision
    /// does not hold; but far from 0 a displacement below its rounding is lost in the result itself
    /// (0.5 m at 4,500 km in single precision).
    ///
    /// The function is called once per step of the run's [`Span`](crate::Span) (twice if a save
    /// splits the step), after advection, drift, random walk, all adaptive steps within it and
    /// re-injections. On the fused engine each launch then takes one step. On CPUs particles stay in spatial
    /// order between launches, and rows are copied to and from the order of slots; on other devices, with
    /// re-injection and with gradients, tensor operations follow each launch. [`warm_up`](Tracer::warm_up) calls it once, with particles that are active on the
    /// tensor engine only.
    ///
    /// Gradients flow through the function if the field's device tracks them; its result must then
    /// be on that device, too.
    ///
    /// A result of another shape, precision or device ends the run with [`Error::EachStep`](crate::Error::EachStep).
    pub fn each_step(mut self, operation: impl Fn(Step) -> Tensor<2> + Send + Sync + 'a) -> Self {
        self.each_step = Some(Arc::new(operation));
        self
    }

    /// The same settings for another field: that of the next iteration of a training, or of the next member of an ensemble.
    ///
    /// ```
    /// use burntrace_core::{FieldOptions, GridField, Seeds, Tracer};
    /// use burn::tensor::{Device, Tensor};
    ///
    /// # fn main() -> Result<(), burntrace_core::Error> {
    /// let axes = [vec![0.0, 4.0], vec![0.0, 1.0], vec![0.0]];
    /// let (device, options) = (Device::flex(), FieldOptions::default());
    /// let rest = GridField::from_fn(axes, vec![0.0], &device, &options, |_, _| [0.0; 3])?;
    /// let tracer = Tracer::new(&rest).span(0.0..=1.0).steps(10);
    /// let seeds = Seeds::list(vec![[0.0, 0.5, 0.0]])?;
    /// for speed in [1.0, 2.0] {
    ///     let field = rest.with_values(Tensor::from_floats([[[speed, 0.0, 0.0]; 4]], &device))?;
    ///     let tracks = tracer.with_field(&field).trace(&seeds)?;
    /// #   let x: f64 = tracks.positions().narrow(2, 0, 1).into_data().iter().next().unwrap();
    /// #   assert!((x - f64::from(speed)).abs() < 1e-5);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn with_field<'b>(&self, field: &'b dyn Field) -> Tracer<'b>
    where
        'a: 'b,
    {
        let all: Tracer<'b> = self.clone();
        Tracer { field, ..all }
    }

    /// The domain box of the run, in which the centres of particles are.
    pub(super) fn domain_box(&self) -> Domain {
        contact::inner(self, self.surroundings.domain.unwrap_or_else(|| self.field.domain()))
    }

    /// Columns of the particles' positions, with what those with inertia have beside.
    pub(super) fn position_width(&self) -> usize {
        if self.motion.inertia.is_some() { INERTIAL } else { POSITION }
    }

    /// The maximum number of particles of all sources at a time.
    pub(super) fn capacity(&self) -> usize {
        self.sources.iter().fold(0, |sum: usize, source| sum.saturating_add(source.capacity()))
    }

    /// Number of slots of a run with these seeds: theirs, and those of sources.
    pub fn num_slots(&self, seeds: &Seeds) -> usize {
        seeds.len().saturating_add(self.capacity())
    }

    /// Whether an instance can be followed by another one in its slot.
    pub(super) fn reuses_slots(&self) -> bool {
        self.surroundings.has_outlet() || !self.sources.is_empty()
    }
}
