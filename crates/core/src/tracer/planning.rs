//! The memory plan of a tracer's run.

use super::{Tracer, factors, inertia, inflow, start, stepper, walk};
use crate::{
    Adjoint, Engine, FieldSize, Frames, Memory, MemoryRequest, Plan, Result, RunSize, Sampled,
    Seeds, field::evaluate, schedule::Chunk,
};

/// Runs that need no more than this are not checked against the machine's memory.
const SMALL: u64 = 64 << 20;

/// States that the process keeps for each launch with gradients, by measurement: those in the graph, and the
/// saves and gradients beside them (docs/decisions/0024-adjoint.md).
const KEPT_STATES: usize = 3;

/// Numbers that the tensor engine keeps for each stage of a step of a particle, at least.
const GRAPH_NUMBERS: usize = 20;

impl Tracer<'_> {
    /// Plans the memory of a run with these seeds, without locating them. Saves count as passed on
    /// by the sink; saves that stay in memory, as in [`Tracks`](crate::Tracks), need more.
    ///
    /// # Errors
    ///
    /// [`Error::Memory`](crate::Error::Memory) if the run cannot fit, and
    /// [`Error::Plan`](crate::Error::Plan) if the requested strategy or batch contradicts itself or
    /// the field.
    pub fn plan(&self, seeds: &Seeds) -> Result<Plan> {
        let engine = self.choose_engine(Some(seeds))?;
        let adjoint = match self.is_tracked(seeds)? {
            true => Some(self.resolved(engine, false, self.num_slots(seeds))?),
            false => None,
        };
        self.plan_of(seeds, engine, (adjoint, true))
    }

    /// Whether the run tracks gradients: of the seeds, the drift, the diffusivity, or of parameters of
    /// the field, which can be tracked on a device that is not.
    pub(super) fn is_tracked(&self, seeds: &Seeds) -> Result<bool> {
        let position = seeds.positions().first().copied();
        let position = position.unwrap_or_else(|| start::middle(&self.field.domain()));
        let time = self.span.t0.unwrap_or(self.field.span()[0]);
        Ok(evaluate::is_tracked(self.field, position, time)? || self.has_tracked_input(seeds))
    }

    /// Whether the seeds, the drift, the diffusivity, times, shapes of obstacles or the points of inlets are tracked.
    pub(super) fn has_tracked_input(&self, seeds: &Seeds) -> bool {
        seeds.is_tracked()
            || walk::is_tracked(self)
            || inertia::is_tracked(self)
            || factors::is_tracked(self)
            || self.has_tracked_times(seeds)
            || inflow::is_tracked(self)
            || !self.shapes.is_empty()
    }

    /// As [`plan`](Tracer::plan), but unless `is_exact` is set, small runs are not checked against
    /// free memory.
    pub(super) fn plan_of(
        &self,
        seeds: &Seeds,
        engine: Engine,
        (adjoint, is_exact): (Option<Adjoint>, bool),
    ) -> Result<Plan> {
        let field = self.field.sampled().map_or(FieldSize::default(), Sampled::size);
        let device = self.field.device();
        let mut memory = Memory::unknown(&device);
        let mut size = self.run_size(seeds, engine);
        if let Some(adjoint) = adjoint {
            size.gradients = self.kept_by_gradients(adjoint)?;
        }
        let has_graph = adjoint.is_some_and(|adjoint| !matches!(adjoint, Adjoint::Fused { .. }));
        let request = self.memory_request(has_graph);
        let plan = Plan::choose(&size, &field, memory, &request)?;
        if !is_exact
            && self.execution.memory.is_none()
            && plan.host_bytes() + plan.device_bytes() < SMALL
        {
            return Ok(plan);
        }
        if is_exact || self.execution.memory.is_some() {
            size.program = crate::plan::program(self.bytes_before_run(&plan, &field));
        }
        memory = Memory::of(&device);
        if let Some(bytes) = self.execution.memory {
            memory = memory.within(bytes);
        }
        Plan::choose(&size, &field, memory, &request)
    }

    /// Bytes that gradients keep for each particle: the states before launches, or the graph of all steps
    /// or of a segment.
    fn kept_by_gradients(&self, adjoint: Adjoint) -> Result<u64> {
        let (schedule, precision) = (self.schedule()?, self.field.precision());
        let graph = self.solver.scheme.tableau().stages * GRAPH_NUMBERS * precision.bytes();
        let max_steps = match adjoint {
            Adjoint::Fused { every: steps } | Adjoint::Segments { steps } => steps,
            Adjoint::Auto | Adjoint::Graph => 1024,
        };
        let launches = |chunk: &Chunk| match adjoint {
            // An operation follows each step.
            Adjoint::Fused { .. } if self.each_step.is_some() => chunk.steps(),
            Adjoint::Fused { .. } => stepper::parts(self.field, chunk, false).len(),
            _ => 1,
        };
        let (mut steps, mut longest, mut states) = (0, 0, 0);
        for chunk in schedule.chunks(max_steps).filter(|chunk| chunk.steps() > 0) {
            steps += chunk.steps();
            longest = longest.max(chunk.steps());
            states += launches(&chunk) * precision.particle_bytes();
        }
        Ok(match adjoint {
            Adjoint::Fused { .. } => KEPT_STATES * states,
            Adjoint::Segments { steps: kept } => states + longest.max(kept.min(steps)) * graph,
            Adjoint::Auto | Adjoint::Graph => steps * graph,
        } as u64)
    }

    /// Bytes on the host before the run: seeds and frames.
    fn bytes_before_run(&self, plan: &Plan, field: &FieldSize) -> u64 {
        let item = |name: &str| plan.items().iter().find(|item| item.name == name);
        let seeds = item("seeds").map_or(0, |item| item.host);
        let frames = match plan.frames() {
            // A window starts with one frame.
            Frames::Streamed(_) => field.frame_bytes + field.other_bytes,
            Frames::All => item("field").map_or(0, |item| item.device),
        };
        seeds + if plan.memory().is_shared { frames } else { 0 }
    }

    fn run_size(&self, seeds: &Seeds, engine: Engine) -> RunSize {
        let (sampled, sampled_fields) = self.sampled_size();
        let all = self.num_slots(seeds);
        RunSize {
            sampled,
            sampled_fields,
            tallies: self.save.tallies.len() + self.surroundings.stop_when.len(),
            flow_map_gradient: self.save.flow_map_gradient,
            gradients: 0,
            particles: all.min(self.execution.piece.unwrap_or(all)),
            all,
            precision: self.field.precision(),
            engine,
            has_inertia: self.motion.inertia.is_some(),
            velocity: self.save.velocity,
            is_staggered: seeds.release().is_some(),
            inlets: inflow::count(self),
            has_end_locations: self.field.mesh().is_some()
                || !self.surroundings.obstacles.is_empty(),
            program: 0,
        }
    }

    fn memory_request(&self, has_graph: bool) -> MemoryRequest {
        let frames = self.field.sampled().map_or(Frames::All, Sampled::frames);
        MemoryRequest {
            strategy: self.execution.strategy,
            batch: self.execution.batch,
            frames: Some(frames),
            has_graph,
        }
    }
}
