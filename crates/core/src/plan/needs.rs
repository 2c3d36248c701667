//! What needs memory in a run.

use super::{FieldSize, size::resident};
use crate::{Engine, Frames, ParticleInstance, Precision};

/// When memory is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Throughout the run.
    Always,
    /// Before the first step.
    Begin,
    /// While steps are taken.
    Steps,
    /// When particles are counted.
    End,
}

/// Something that needs memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanItem {
    /// What it is.
    pub name: &'static str,
    /// When it is there.
    pub phase: Phase,
    /// Its bytes on the host.
    pub host: u64,
    /// Its bytes on the device.
    pub device: u64,
}

/// What of a run counts for its memory, but for the field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunSize {
    /// Slots: seeds, and those of sources.
    pub particles: usize,
    /// Precision of the arithmetic.
    pub precision: Precision,
    /// The arithmetic.
    pub engine: Engine,
    /// Whether saves carry velocities.
    pub velocity: bool,
    /// Whether seeds are released one by one.
    pub is_staggered: bool,
    /// Inlets of slots that are used again.
    pub inlets: usize,
    /// Whether the field is on a mesh, or there are obstacles, so that ends have places at them.
    pub has_places: bool,
    /// Bytes that the process has before it has field and seeds.
    pub program: u64,
}

impl RunSize {
    /// So many particles on the fused engine, in this process as it is now.
    pub fn new(particles: usize, precision: Precision) -> Self {
        RunSize {
            particles,
            precision,
            engine: Engine::Fused,
            velocity: false,
            is_staggered: false,
            inlets: 0,
            has_places: false,
            program: resident(),
        }
    }

    /// Bytes of a particle's position, record and fraction.
    fn row(&self) -> u64 {
        self.precision.particle_bytes() as u64
    }

    /// Bytes of a particle in a save: position, status, images, and velocity and generation where
    /// there are any.
    fn saved(&self) -> u64 {
        let vectors = if self.velocity { 6 } else { 3 };
        (vectors * self.precision.bytes() + 4 * size_of::<i32>()) as u64
            + if self.inlets > 0 { 4 } else { 0 }
    }
}

/// How particles and frames lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MemoryLayout {
    pub frames: Frames,
    pub batch: usize,
    pub is_shared: bool,
}

/// All that needs memory in a run.
pub(super) fn items(load: &RunSize, field: &FieldSize, lie: MemoryLayout) -> Vec<PlanItem> {
    let n = load.particles as u64;
    let mut items = vec![
        item("program", Phase::Always, load.program, 0),
        item("seeds", Phase::Always, n * if load.is_staggered { 48 } else { 24 }, 0),
    ];
    items.extend(of_field(field, lie));
    items.extend(of_particles(load, lie));
    if load.inlets > 0 {
        // Who is in each slot, since when, and from where; at the end all lives that go on.
        let places = (n.max(1 << 16) * load.inlets as u64) * 24;
        items.push(item("slots", Phase::Always, n * 56 + places, places / 24 * 3 * 8));
    }
    let begin = n * if load.is_staggered { 24 } else { 8 };
    items.push(item("begin", Phase::Begin, begin, 0));
    items.push(item("end", Phase::End, of_end(load, lie), 0));
    items
}

fn item(name: &'static str, phase: Phase, host: u64, device: u64) -> PlanItem {
    PlanItem { name, phase, host, device }
}

fn of_field(field: &FieldSize, lie: MemoryLayout) -> Vec<PlanItem> {
    let frames = |count: usize| count as u64 * field.frame_bytes;
    match lie.frames.window(field.frames) {
        None => {
            vec![item("field", Phase::Always, 0, frames(field.frames) + field.other_bytes)]
        }
        Some(held) => {
            let ahead = Frames::ahead(held);
            // A card moves its window into another one.
            let windows = if lie.is_shared { 1 } else { 2 };
            let window = frames(windows * (held - ahead)) + field.other_bytes;
            vec![
                item("field", Phase::Always, 0, window),
                item("frames ahead", Phase::Always, frames(ahead), 0),
                item("reading", Phase::Always, field.read_bytes, 0),
            ]
        }
    }
}

fn of_particles(load: &RunSize, lie: MemoryLayout) -> Vec<PlanItem> {
    let (n, batch, row) = (load.particles as u64, lie.batch as u64, load.row());
    let is_split = batch < n;
    let on_host = if is_split || !lie.is_shared { n * row } else { 0 };
    // What is ordered by space is there twice while a launch lasts; stages of tensor operations have
    // tensors of their own.
    let work = match load.engine {
        Engine::Fused if lie.is_shared => batch * (row + 12),
        Engine::Fused => 0,
        Engine::Tensor => batch * 60 * load.precision.bytes() as u64,
    };
    // One save that is made, and one that is written.
    let saves = 2 * batch * load.saved();
    vec![
        item("particles", Phase::Always, on_host, if is_split { 0 } else { n * row }),
        item("batch", Phase::Steps, 0, if is_split { batch * row } else { 0 }),
        item("work", Phase::Steps, 0, work),
        item("saves", Phase::Steps, saves, 0),
    ]
}

/// What the account of particles needs.
fn of_end(load: &RunSize, lie: MemoryLayout) -> u64 {
    let n = load.particles as u64;
    let places = if load.has_places { 24 } else { 0 };
    let lives = if load.inlets > 0 { size_of::<ParticleInstance>() as u64 + 4 } else { 0 };
    let rows = if lie.is_shared || (lie.batch as u64) < n { 0 } else { load.row() };
    n * (17 + places + lives + rows) + n.min(crate::tracer::EVENTS as u64) * 32
}
