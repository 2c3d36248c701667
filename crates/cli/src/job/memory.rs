//! The memory plan of a run.

use crate::case::{self, Case, Misuse};
use anyhow::Result;
use burntrace::{
    Engine, FieldSize, Frames, Memory, MemoryRequest, Plan, RunSize, Tracer, device::OpenDevice,
};

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
    check_particles(case, None)?;
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
/// is exact, but needs the field. `start` is the start of the run, if it is known.
pub fn check_particles(case: &Case, start: Option<f64>) -> Result<()> {
    let particles = particles(case, start);
    if particles <= FEW_PARTICLES {
        return Ok(());
    }
    let (needed, available) = (particles.saturating_mul(POSITION_BYTES) as u64, available(case));
    match needed <= available {
        true => Ok(()),
        false => Err(Misuse::error(format!(
            "the case has {particles} particles (the count of [seeds] and the capacity of sources), whose \
             positions need {needed} bytes, but only {available} are available; trace fewer particles, or \
             raise `run.memory`"
        ))),
    }
}

/// The number of seeds, without those of a file, and the capacity of all sources.
fn particles(case: &Case, start: Option<f64>) -> usize {
    let start = start.or(case.trace.t0);
    let of_seeds = case.seeds.iter().map(|seeds| seeds.count(start));
    let of_sources = case.source.iter().map(|source| source.capacity());
    of_seeds.chain(of_sources).fold(0, usize::saturating_add)
}

/// What the plan of a case does not count.
pub fn plan_warnings(case: &Case) -> Vec<String> {
    let is_open =
        |seeds: &case::Seeds| seeds.repeat.is_some() && seeds.release.or(case.trace.t0).is_none();
    let warning = "seeds.repeat: the plan counts one release, as the start of the run is not in the case; give \
                   seeds.release or trace.t0";
    case.seeds.iter().any(is_open).then(|| warning.into()).into_iter().collect()
}

/// The memory settings of a case.
fn request(case: &Case) -> MemoryRequest {
    MemoryRequest {
        strategy: case.run.strategy.into(),
        batch: case.run.batch,
        ..MemoryRequest::default()
    }
}

/// The memory plan of a case before its field is read. It counts seeds and slots of sources; seeds in a
/// file are not counted.
pub fn plan(case: &Case, size: &FieldSize, device: &OpenDevice) -> Result<Plan> {
    let size_of_run = RunSize {
        engine: Option::from(case.trace.engine).unwrap_or(Engine::Fused),
        velocity: case.save.velocity,
        is_staggered: case
            .seeds
            .iter()
            .any(|seeds| seeds.release.is_some() || seeds.repeat.is_some()),
        inlets: usize::from(case.inlet.is_some()) + case.source.len(),
        has_end_locations: case.is_on_mesh() || !case.obstacle.is_empty(),
        ..RunSize::new(particles(case, None), case.run.precision.into())
    };
    let mut memory = Memory::of(&device.device);
    if let Some(bytes) = case.run.memory {
        memory = memory.within(bytes.0);
    }
    Plan::choose(&size_of_run, size, memory, &request(case)).map_err(Misuse::of)
}

/// The number of frames that the field holds in memory. If no plan fits, the run reports the reason.
pub fn frames(case: &Case, size: &FieldSize, device: &OpenDevice) -> Result<Frames> {
    let strategy: Option<burntrace::Strategy> = case.run.strategy.into();
    match (plan(case, size, device), strategy) {
        (Ok(plan), _) => Ok(plan.frames()),
        (Err(_), None) => Ok(Frames::All),
        (Err(error), Some(_)) => Err(error),
    }
}

/// Adds the memory settings of a case to a tracer.
pub fn add<'a>(case: &Case, mut tracer: Tracer<'a>) -> Tracer<'a> {
    if let Some(bytes) = case.run.memory {
        tracer = tracer.memory(bytes.0);
    }
    if let Some(strategy) = case.run.strategy.into() {
        tracer = tracer.strategy(strategy);
    }
    match case.run.batch {
        Some(batch) => tracer.batch(batch),
        None => tracer,
    }
}

/// Bytes of memory available to a field: the free memory of this machine, or the limit of the case.
pub fn available(case: &Case) -> u64 {
    let mut system = sysinfo::System::new();
    system.refresh_memory();
    let limit = system.cgroup_limits().map_or(u64::MAX, |limits| limits.free_memory);
    let of_case = case.run.memory.map_or(u64::MAX, |bytes| bytes.0);
    system.available_memory().min(limit).min(of_case)
}
