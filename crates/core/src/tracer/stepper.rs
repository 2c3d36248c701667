//! What steps of a run need.

use super::{
    arrays::is_host,
    each_step::Hook,
    factors::Factors,
    gates::Gates,
    response::Inertial,
    selection::{RowSelection, finite},
    turbulence::Turbulent,
};
use crate::{Engine, Field, Result, Scheme, Status, device, field::evaluate, schedule::Chunk};
use burn::tensor::{Device, Tensor};
use burntrace_kernels::{
    Adaptive, Boundary, FieldTensors, GeometryTensors, Obstacle, Particles, StageClips, Tallies,
    Walk,
};
use std::sync::Arc;

/// Maximum number of steps in a launch: few enough that an observer is called every second or two
/// even on a slow device, and enough to pay for sorting the particles.
///
/// A software rasteriser (Mesa's llvmpipe) ends all loops after 65,535 iterations in total,
/// including those of cell and node searches; a kernel detects that. This limit leaves a thousand
/// iterations for each search.
pub(super) fn max_steps(particles: usize, device: &Device) -> usize {
    let limit = if device::is_software(device) { 16 } else { 1024 };
    (20_000_000 / particles.max(1)).clamp(16, limit)
}

/// With fewer steps in a run, sorting costs more than it saves.
const STEPS_WORTH_SORTING: u64 = 8;

/// A release after the start of the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Release {
    /// Number of the step within which it happens.
    pub step: u64,
    /// The fraction of that step.
    pub fraction: f64,
}

/// What steps need of a run.
pub(super) struct Stepper<'a> {
    pub field: &'a dyn Field,
    pub engine: Engine,
    pub scheme: Scheme,
    pub boundary: Boundary,
    pub obstacles: Arc<[Obstacle]>,
    /// Whether gradients by their shapes are wanted.
    pub tracks_shapes: bool,
    pub gates: Gates,
    /// What adds up along the tracks.
    pub tallies: Arc<Tallies>,
    /// Buffers of inlets and obstacles.
    pub geometry: GeometryTensors,
    /// The tables of the field's mesh, or placeholders.
    pub surroundings: FieldTensors,
    /// The mesh in which the tensor engine clips stages.
    pub clips: Option<StageClips>,
    pub stagnant_speed: f64,
    pub adaptive: Option<Adaptive>,
    /// A velocity added to the field's; also in the geometry, with its gradients.
    pub drift: [f64; 3],
    /// Whether it is added: it is not 0, or has gradients.
    pub drifts: bool,
    pub walk: Option<Walk>,
    pub inertia: Option<Inertial>,
    /// The factors of a second velocity of the field.
    pub factors: Option<Factors>,
    pub turbulence: Option<Turbulent>,
    /// The user's operation after each step.
    pub hook: Option<Hook<'a>>,
    /// Releases of seeds after the start, in order.
    pub releases: Vec<Release>,
    /// The start and the end of the run, if their gradients are wanted.
    pub span: Option<[f64; 2]>,
    /// Whether releases have gradients by their times.
    pub tracks_releases: bool,
    /// With gradients, the maximum number of particles in a launch: all of them are one operation in the graph.
    pub batch: Option<usize>,
}

impl Stepper<'_> {
    /// The parts of a segment for which all frames are on the device at once. With `samples`, the
    /// last part includes the velocities at its end.
    pub fn parts(&self, segment: &Chunk, samples: bool) -> Vec<Chunk> {
        parts(self.field, segment, samples)
    }

    /// Waits until the frames for a part of a segment are on the device.
    pub fn ready(&self, part: &Chunk, samples: bool) -> Result<()> {
        let samples = samples && part.save.is_some();
        let spans = step_spans(part, samples);
        match self.field.sampled() {
            Some(sampled) if !spans.is_empty() => sampled.during(&spans).map(drop),
            _ => Ok(()),
        }
    }

    /// Velocity at the positions of particles, the first of which has the slot `first`, by tensor operations. Gradients are those
    /// of active particles with a finite velocity.
    pub fn velocity(
        &self,
        (first, particles): (usize, &Particles),
        time: f64,
    ) -> Result<Tensor<2>> {
        let all = RowSelection::of_rows((0..particles.count()).collect(), particles.count());
        let velocity = self.velocity_of((first, particles), &all, time)?;
        if !velocity.device().is_autodiff() {
            return Ok(velocity);
        }
        let is_active = particles.status().reshape([-1, 1]).equal_elem(Status::Active.code());
        let rows = RowSelection::of(&is_active.bool_and(finite(&velocity)))?;
        if rows.is_all() || rows.is_empty() {
            return Ok(if rows.is_all() { velocity } else { velocity.detach() });
        }
        let tracked = self.velocity_of((first, particles), &rows, time)?;
        Ok(rows.put(velocity.detach(), tracked))
    }

    /// Velocity at some of the particles.
    fn velocity_of(
        &self,
        (first, particles): (usize, &Particles),
        rows: &RowSelection,
        time: f64,
    ) -> Result<Tensor<2>> {
        let position = rows.take(&particles.coordinates());
        let velocity = evaluate::velocity(self.field, position.clone(), time)?;
        let Some(factors) = &self.factors else { return Ok(velocity) };
        let second = evaluate::scaled_velocity(self.field, position, &[time])?;
        Ok(velocity + second * factors.of_rows((first, particles), rows)?)
    }

    /// Whether the field has holes, where particles end.
    pub fn has_holes(&self) -> bool {
        self.field.sampled().is_some_and(|sampled| sampled.traits.has_holes)
    }

    /// Whether each launch takes one step, as something happens between them.
    pub fn takes_steps_alone(&self) -> bool {
        self.hook.is_some() || self.turbulence.is_some()
    }

    /// Whether particles are kept in spatial order through a run of some steps: in host memory, unless an operation needs the order of slots.
    pub fn sorts(&self, steps: u64) -> bool {
        is_host(&self.field.device())
            && self.engine == Engine::Fused
            && (self.turbulence.is_none() || self.hook.is_none())
            && steps >= STEPS_WORTH_SORTING
    }

    /// Number of launches for a chunk.
    pub fn launches(&self, chunk: &Chunk) -> u64 {
        match self.engine {
            Engine::Fused if !self.takes_steps_alone() => 1,
            _ => chunk.steps() as u64,
        }
    }

    /// Kernels of this crate that the run launches on a GPU; see `Summary::kernels`.
    pub fn kernels(&self, samples: bool) -> usize {
        let is_compiled = crate::device::compiles_kernels(&self.field.device());
        match self.engine {
            Engine::Fused if is_compiled => 1 + usize::from(samples),
            _ => 0,
        }
    }
}

/// See [`Stepper::parts`].
pub(super) fn parts(field: &dyn Field, segment: &Chunk, samples: bool) -> Vec<Chunk> {
    let Some(sampled) = field.sampled() else {
        return vec![segment.clone()];
    };
    let spans = step_spans(segment, samples);
    let (mut parts, mut first) = (Vec::new(), 0);
    while first < spans.len() || parts.is_empty() {
        let next = first + sampled.at_once(&spans[first..]);
        let steps = first.min(segment.steps())..next.min(segment.steps());
        parts.push(segment.part(steps, next >= spans.len()));
        first = next;
    }
    parts
}

/// Start times and lengths of the steps of a segment, and its end if velocities are sampled there.
fn step_spans(segment: &Chunk, samples: bool) -> Vec<(f64, f64)> {
    let mut spans = segment.step_spans();
    spans.extend(samples.then_some((segment.end(), 0.0)));
    spans
}
