//! Items of a run that need memory.

use super::program;
use crate::{Engine, FieldSize, Frames, ParticleInstance, Precision, schedule::EVENTS};
use burntrace_kernels::{INERTIAL, POSITION, TALLY, TANGENTS};

/// The phase of a run that needs an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// The whole run.
    Always,
    /// Before the first step.
    Start,
    /// During the steps.
    Steps,
    /// At the end, when particles are counted.
    End,
}

/// An item that needs memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanItem {
    /// Name of the item.
    pub name: &'static str,
    /// Phase that needs it.
    pub phase: Phase,
    /// Bytes on the host.
    pub host: u64,
    /// Bytes on the device.
    pub device: u64,
}

/// The size of a run, without its field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunSize {
    /// Number of slots that are traced: one for each seed, and the slots of sources.
    pub particles: usize,
    /// Number of slots of the whole run: more than `particles` if these are a piece of it.
    pub all: usize,
    /// Precision of the arithmetic.
    pub precision: Precision,
    /// The engine.
    pub engine: Engine,
    /// Whether particles have velocities of their own.
    pub has_inertia: bool,
    /// Whether saves have velocities.
    pub velocity: bool,
    /// Numbers of arrays that are sampled for each particle at saves.
    pub sampled: usize,
    /// Bytes of fields that are sampled only.
    pub sampled_fields: u64,
    /// Number of tallies along the tracks, saved or of conditions.
    pub tallies: usize,
    /// Whether particles have the gradient of the flow map, which is an array at saves, too.
    pub flow_map_gradient: bool,
    /// Bytes that gradients keep for each particle until the backward pass.
    pub gradients: u64,
    /// Whether seeds have individual release times.
    pub is_staggered: bool,
    /// Number of inlets that re-use slots.
    pub inlets: usize,
    /// Whether ends have a mesh face or an obstacle, because the run has a mesh or obstacles.
    pub has_end_locations: bool,
    /// Bytes of the process before it loads field and seeds.
    pub program: u64,
}

impl RunSize {
    /// A run of `particles` on the fused engine, in this process in its current state.
    pub fn new(particles: usize, precision: Precision) -> Self {
        RunSize {
            particles,
            all: particles,
            precision,
            engine: Engine::Fused,
            has_inertia: false,
            velocity: false,
            sampled: 0,
            sampled_fields: 0,
            tallies: 0,
            flow_map_gradient: false,
            gradients: 0,
            is_staggered: false,
            inlets: 0,
            has_end_locations: false,
            program: program(0),
        }
    }

    /// Bytes of a particle's position, velocity, record, fraction and gradient of the flow map.
    fn row(&self) -> u64 {
        let inertia = if self.has_inertia { INERTIAL - POSITION } else { 0 };
        let numbers = (inertia + self.tangents() + TALLY * self.tallies) * self.precision.bytes();
        (self.precision.particle_bytes() + numbers) as u64
    }

    /// Numbers of the gradient of the flow map of a particle.
    fn tangents(&self) -> usize {
        if self.flow_map_gradient { TANGENTS } else { 0 }
    }

    /// Numbers of arrays at saves.
    fn arrays(&self) -> usize {
        self.sampled + self.tangents()
    }

    /// Bytes of a particle in a save: position, status and images, with velocity and generation if
    /// present.
    fn saved(&self) -> u64 {
        let vectors = if self.velocity { 6 } else { 3 };
        ((vectors + self.arrays()) * self.precision.bytes() + 4 * size_of::<i32>()) as u64
            + if self.inlets > 0 { 4 } else { 0 }
    }
}

/// Placement of particles and frames in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MemoryLayout {
    pub frames: Frames,
    pub batch: usize,
    pub is_shared: bool,
    /// Whether the frames are on the device already.
    pub is_loaded: bool,
}

/// All items of a run that need memory.
pub(super) fn items(size: &RunSize, field: &FieldSize, layout: MemoryLayout) -> Vec<PlanItem> {
    let (n, all) = (size.particles as u64, size.all.max(size.particles) as u64);
    let mut items = vec![
        item("program", Phase::Always, size.program, 0),
        item("seeds", Phase::Always, all * if size.is_staggered { 48 } else { 24 }, 0),
    ];
    items.extend(of_field(field, layout));
    if size.arrays() > 0 {
        // The values of the last save, which ended particles keep.
        let kept = n * (size.arrays() * size.precision.bytes() + size_of::<i32>()) as u64;
        items.push(item("sampled arrays", Phase::Always, kept, size.sampled_fields));
    }
    items.extend(of_particles(size, layout));
    if size.gradients > 0 {
        items.push(item("gradients", Phase::Always, 0, n * size.gradients));
    }
    if size.inlets > 0 {
        // Particle, release time and release position of each slot, and all active instances at the
        // end.
        let positions = (all.max(1 << 16) * size.inlets as u64) * 24;
        items.push(item("slots", Phase::Always, all * 56 + positions, positions / 24 * 3 * 8));
    }
    let start = all * if size.is_staggered { 24 } else { 8 };
    items.push(item("begin", Phase::Start, start, 0));
    items.push(item("end", Phase::End, of_end(size, layout), 0));
    items
}

fn item(name: &'static str, phase: Phase, host: u64, device: u64) -> PlanItem {
    PlanItem { name, phase, host, device }
}

fn of_field(field: &FieldSize, layout: MemoryLayout) -> Vec<PlanItem> {
    let frames = |count: usize| count as u64 * field.frame_bytes;
    match layout.frames.window(field.frames) {
        None => {
            let all = frames(field.frames) + field.other_bytes;
            let reading = if layout.is_loaded { 0 } else { field.read_bytes };
            let mut items = vec![item("field", Phase::Always, 0, all)];
            if reading > 0 {
                items.push(item("reading", Phase::Start, reading, 0));
            }
            items
        }
        Some(held) => {
            let ahead = Frames::ahead(held);
            // A graphics card copies its window into another one.
            let windows = if layout.is_shared { 1 } else { 2 };
            let window = frames(windows * (held - ahead)) + field.other_bytes;
            vec![
                item("field", Phase::Always, 0, window),
                item("frames ahead", Phase::Always, frames(ahead), 0),
                item("reading", Phase::Always, field.read_bytes, 0),
            ]
        }
    }
}

fn of_particles(size: &RunSize, layout: MemoryLayout) -> Vec<PlanItem> {
    let (n, batch, row) = (size.particles as u64, layout.batch as u64, size.row());
    // With gradients, all particles are in one graph.
    let is_split = batch < n && size.gradients == 0;
    let on_host = if is_split || !layout.is_shared { n * row } else { 0 };
    // Sorting by space doubles the particles for a moment, with five integers for each; the tensor engine has a
    // tensor for each stage.
    let work = match size.engine {
        // With tallies, rows are divided and joined for a launch.
        Engine::Fused if layout.is_shared && size.tallies > 0 => batch * (2 * row + 20),
        Engine::Fused if layout.is_shared => batch * (row + 20),
        Engine::Fused => 0,
        Engine::Tensor => batch * 60 * size.precision.bytes() as u64,
    };
    // One save in preparation and one being written.
    let saves = 2 * batch * size.saved();
    vec![
        item("particles", Phase::Always, on_host, if is_split { 0 } else { n * row }),
        item("batch", Phase::Steps, 0, if is_split { batch * row } else { 0 }),
        item("work", Phase::Steps, 0, work),
        item("saves", Phase::Steps, saves, 0),
    ]
}

/// Memory of the final count of particles.
fn of_end(size: &RunSize, layout: MemoryLayout) -> u64 {
    let n = size.particles as u64;
    let locations =
        if size.has_end_locations { 40 } else { 0 } + if size.tallies > 0 { 16 } else { 0 };
    let instances = if size.inlets > 0 { size_of::<ParticleInstance>() as u64 + 4 } else { 0 };
    let rows = if layout.is_shared || (layout.batch as u64) < n { 0 } else { size.row() };
    n * (17 + locations + instances + rows) + n.min(EVENTS as u64) * 32
}
