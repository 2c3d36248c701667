//! The memory plan of a run.

use super::{along, geometry};
use crate::file::{self, AtOnce, Case, Condition, FieldSource, MemoryLimit, Misuse, SeedShape};
use anyhow::Result;
use burn::tensor::Device;
use burntrace_core::{
    BoundaryCondition, Engine, Execution, Frames, Plan, Precision, SaveAt,
    device::OpenDevice,
    program::{FieldSize, FreeMemory, Memory, MemoryRequest, RunSize},
};
use burntrace_io as io;

/// Maximum number of threads of a run.
const MAX_THREADS: usize = 4096;
/// Maximum number of seconds between checkpoints.
const MAX_SECONDS: f64 = 1e9;

/// Refuses values out of range.
pub fn check(case: &Case) -> Result<()> {
    let run = &case.run;
    if !(0.0..=MAX_SECONDS).contains(&run.checkpoint) {
        return Err(Misuse::error(format!(
            "run.checkpoint is {:e}; give seconds from 0 (no checkpoints) to {MAX_SECONDS:e}",
            run.checkpoint
        )));
    }
    if run.out.as_os_str().is_empty() {
        return Err(Misuse::error(
            "run.out is \"\"; give the name of a folder, such as results/run",
        ));
    }
    if run.threads > MAX_THREADS {
        return Err(Misuse::error(format!(
            "run.threads is {}; give up to {MAX_THREADS}, or 0 for one on each core",
            run.threads
        )));
    }
    if run.piece == Some(0) {
        return Err(Misuse::error("run.piece is 0; give 1 or more particles for each piece"));
    }
    check_particles(case, [None; 2])?;
    match run.checkpoint_segments {
        Some(0) => Err(Misuse::error("run.checkpoint_segments is 0; give 1 or more")),
        Some(_) if run.checkpoint == 0.0 => Err(Misuse::error(
            "run.checkpoint_segments cannot be combined with run.checkpoint = 0, which turns checkpoints \
             off; give seconds, or omit run.checkpoint_segments",
        )),
        _ => Ok(()),
    }
}

/// Numbers of particles up to which the memory is not checked here.
const FEW_PARTICLES: usize = 1 << 20;
/// Bytes of the position of a particle.
const POSITION_BYTES: usize = 24;

/// Refuses more particles than the memory holds, before their positions are computed. The plan of the run
/// is exact, but needs the field. `span` has the start and the end of the run, if they are known.
pub fn check_particles(case: &Case, span: [Option<f64>; 2]) -> Result<()> {
    let particles = particles(case, span);
    if particles <= FEW_PARTICLES {
        return Ok(());
    }
    let (needed, available) = (particles.saturating_mul(POSITION_BYTES) as u64, available(case));
    match needed <= available {
        true => Ok(()),
        false => Err(Misuse::error(format!(
            "the case has {particles} particles (the count of [seeds] and the capacity of sources), whose \
             positions need {needed} bytes, but only {available} are available; trace fewer particles, or \
             raise `run.memory`{}",
            FreeMemory::now()
        ))),
    }
}

/// The number of seeds, without those of a file, and the capacity of all sources.
fn particles(case: &Case, [start, end]: [Option<f64>; 2]) -> usize {
    let span = [start.or(case.trace.span.t0), end.or(case.trace.span.t1)];
    let of_seeds = case.seeds.iter().map(|seeds| seeds.count(span));
    let of_sources = case.source.iter().map(|source| source.capacity());
    of_seeds.chain(of_sources).fold(0, usize::saturating_add)
}

/// What the plan of a case does not count.
pub fn plan_warnings(case: &Case) -> Vec<String> {
    let span = [case.trace.span.t0, case.trace.span.t1];
    let is_open = |seeds: &file::Seeds| seeds.repeat.is_some() && seeds.releases(span).is_none();
    let is_read =
        |seeds: &file::Seeds| matches!(seeds.shape, SeedShape::File { .. } | SeedShape::Run { .. });
    let open = "seeds.repeat: the plan counts one release, as the start or the end of the run is not in the case; give \
                trace.t0 and trace.t1";
    let read = "[seeds] kind = \"file\" or \"run\": the plan does not count these seeds, which only a run reads";
    let warnings = [(case.seeds.iter().any(is_open), open), (case.seeds.iter().any(is_read), read)];
    warnings.into_iter().filter(|(is_due, _)| *is_due).map(|(_, text)| text.into()).collect()
}

/// The memory settings of a case.
fn request(case: &Case) -> MemoryRequest {
    MemoryRequest { strategy: case.run.strategy, batch: case.run.batch, ..MemoryRequest::default() }
}

/// The sizes of the fields of a case.
#[derive(Clone)]
pub struct FieldSizes {
    /// The traced field; empty if it is a formula.
    pub traced: FieldSize,
    /// Fields that are sampled and not traced.
    pub sampled: Vec<FieldSize>,
    /// Components of all arrays that are sampled.
    pub components: usize,
    /// The first and the last time of the files; 0 without any.
    pub times: [f64; 2],
}

/// The size of the tracks of a run on the disk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StoredSize {
    /// Number of particles.
    pub particles: usize,
    /// Number of saves.
    pub saves: usize,
    /// Bytes of the numbers, before they are compressed.
    pub bytes: u64,
}

/// The numbers of frames that fields hold in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeldFrames {
    /// Of the traced field.
    pub traced: Frames,
    /// Of each field that is sampled and not traced.
    pub sampled: Frames,
}

/// Frames of a field that is sampled and not traced, if they are streamed. A save needs two of them.
const STREAMED: Frames = Frames::Streamed(4);

/// The memory plan of a case before its fields are read. It counts seeds and slots of sources; seeds of files
/// and of runs are not counted.
pub fn plan(case: &Case, sizes: &FieldSizes, device: &OpenDevice) -> Result<Plan> {
    Ok(choose(case, sizes, device)?.0)
}

/// The first and the last time of the field of a case; 0 of a formula.
pub(super) fn times(case: &Case, series: Option<&io::SeriesInfo>) -> [f64; 2] {
    if let FieldSource::Flow { sample: Some(sample), .. } = &case.field.source {
        return [sample.start, sample.stop];
    }
    let times = series.map_or(&[][..], |series| &series.times);
    [times.first(), times.last()].map(|time| time.copied().unwrap_or(0.0))
}

/// The size of the tracks of a case, by what it saves; `None` if the number of saves is not known before the run. Slots of sources
/// without a capacity, seeds of files, and tables of instances and crossings are not counted.
pub fn stored(case: &Case, sizes: &FieldSizes) -> Option<StoredSize> {
    let span = super::ends(&case.trace).resolve(sizes.times).ok()?;
    // With a tolerance, the number of steps is open.
    if case.trace.solver.tolerance.is_some() && matches!(case.save.at, SaveAt::EverySteps(_)) {
        return None;
    }
    let saves = span.saves(case.save.at.clone()).ok()?;
    let particles = particles(case, sizes.times.map(Some));
    let size = run_size(case, sizes, Frames::All);
    let float = match case.run.precision {
        Precision::F32 => 4,
        Precision::F64 => 8,
    };
    let is_periodic = |face: &Condition| *face == Condition::Of(BoundaryCondition::Periodic);
    let has_images = geometry::faces(case, None).iter().flatten().any(is_periodic);
    let gradient = if size.flow_map_gradient { 9 } else { 0 };
    let velocity = if size.velocity { 3 } else { 0 };
    let generation = if size.inlets > 0 { 4 } else { 0 };
    let of_save = float * (3 + velocity + size.sampled + gradient)
        + 1
        + if has_images { 12 } else { 0 }
        + generation;
    // Position and time of the release, status and time of the end.
    let of_particle = 3 * float + 8 + 1 + 8;
    let bytes = saves.checked_mul(of_save)?.checked_add(of_particle)?.checked_mul(particles)?;
    Some(StoredSize { particles, saves, bytes: bytes as u64 })
}

/// The memory of a run, or of each piece if this process traces several at a time.
fn memory(case: &Case, device: &Device) -> Result<Memory> {
    let mut memory = Memory::of(device);
    if let Some(bytes) = bytes(case, memory)? {
        memory = memory.within(bytes);
    }
    let AtOnce { devices, on_device } = case.run.at_once;
    Ok(if devices > 1 { memory.divided(devices, on_device) } else { memory })
}

/// What limits the memory of a plan on the host, such as `run.memory` or `ulimit -v`.
pub fn limited_by(case: &Case, plan: &Plan) -> &'static str {
    let free = Memory::of(&Device::flex());
    let own = bytes(case, free).ok().flatten().filter(|_| plan.memory().is_shared);
    match own.zip(free.host) {
        Some((own, free)) if own < free => "run.memory",
        _ => FreeMemory::now().limited_by(),
    }
}

/// The limit of a case in bytes.
fn bytes(case: &Case, memory: Memory) -> Result<Option<u64>> {
    let available = if memory.is_shared { memory.host } else { memory.device };
    match (case.run.memory, available) {
        (None, _) => Ok(None),
        (Some(MemoryLimit::Bytes(bytes)), _) => Ok(Some(bytes)),
        (Some(MemoryLimit::Part(part)), Some(all)) => Ok(Some((part * all as f64) as u64)),
        (Some(limit), None) => Err(Misuse::error(format!(
            "run.memory is {limit}, but the free memory of this device is not known; give bytes, such as \"8GiB\""
        ))),
    }
}

/// The plan of a case, and the frames held of fields that are sampled only: all of them if they fit, unless
/// the case asks for streaming.
fn choose(case: &Case, sizes: &FieldSizes, device: &OpenDevice) -> Result<(Plan, Frames)> {
    let memory = memory(case, &device.device)?;
    let with = |frames: Frames| {
        let size = run_size(case, sizes, frames);
        let plan = Plan::choose(&size, &sizes.traced, memory, &request(case));
        plan.map(|plan| (plan, frames)).map_err(Misuse::of)
    };
    match case.run.strategy {
        Some(strategy) if strategy.streams_frames() => with(STREAMED),
        None if !sizes.sampled.is_empty() => with(Frames::All).or_else(|_| with(STREAMED)),
        _ => with(Frames::All),
    }
}

/// The size of the run of a case that holds `frames` of fields that are sampled only.
fn run_size(case: &Case, sizes: &FieldSizes, frames: Frames) -> RunSize {
    let all = particles(case, [None; 2]);
    let at_once = if case.run.is_shared { piece_length(case, all) } else { all };
    let saved = case.save.fields.iter().filter(|request| along::tally(request).is_some()).count();
    let is_staggered = |seeds: &file::Seeds| seeds.release.is_some() || seeds.repeat.is_some();
    RunSize {
        engine: case.trace.engine.unwrap_or(Engine::Fused),
        velocity: case.save.velocity,
        sampled: sizes.components
            + if case.save.fluid_velocity { 3 } else { 0 }
            + if case.save.sizes { 2 } else { 0 }
            + saved,
        tallies: saved + case.trace.stop_when.len(),
        has_inertia: case.motion.is_some(),
        flow_map_gradient: case.save.flow_map_gradient,
        sampled_fields: sizes.sampled.iter().map(|size| size.bytes(frames)).sum(),
        is_staggered: case.seeds.iter().any(is_staggered),
        inlets: usize::from(case.inlet.is_some()) + case.source.len(),
        has_end_locations: case.is_on_mesh() || !case.obstacle.is_empty(),
        all,
        ..RunSize::new(at_once, case.run.precision)
    }
}

/// Number of particles in a piece of a run with this number of slots.
pub fn piece_length(case: &Case, slots: usize) -> usize {
    let length = case.run.piece.unwrap_or_else(|| io::tracks::piece_length(slots));
    length.min(slots).max(1)
}

/// The numbers of frames that fields hold in memory.
pub fn frames(case: &Case, sizes: &FieldSizes, device: &OpenDevice) -> Result<HeldFrames> {
    let (plan, sampled) = choose(case, sizes, device)?;
    Ok(HeldFrames { traced: plan.frames(), sampled })
}

/// How a case is executed on a device.
pub fn execution(case: &Case, device: &Device) -> Execution {
    Execution {
        memory: limit(case, device),
        strategy: case.run.strategy,
        batch: case.run.batch,
        engine: case.trace.engine,
        ..Execution::default()
    }
}

/// The memory limit of a run, or of each piece of those that this process traces at a time.
fn limit(case: &Case, device: &Device) -> Option<u64> {
    // An unknown part has been refused by the plan.
    if case.run.at_once == AtOnce::default() {
        return bytes(case, Memory::of(device)).ok().flatten();
    }
    let memory = memory(case, device).ok()?;
    if memory.is_shared { memory.host } else { memory.device }
}

/// Bytes of memory available to a field: the free memory of this machine, or the limit of the case.
pub fn available(case: &Case) -> u64 {
    match case.run.memory {
        None => free(),
        Some(MemoryLimit::Bytes(bytes)) => free().min(bytes),
        Some(MemoryLimit::Part(part)) => (part * free() as f64) as u64,
    }
}

/// Bytes of memory that are free for this process.
pub fn free() -> u64 {
    FreeMemory::now().bytes
}
