//! How a run lies in memory: what the case says, and what fits.

use crate::case::{Case, Misuse, SeedKind};
use anyhow::Result;
use burntrace::{
    Engine, FieldSize, Frames, Memory, MemoryRequest, Plan, RunSize, Tracer, device::OpenDevice,
};

/// Refuses numbers that cannot be.
pub fn check(case: &Case) -> Result<()> {
    let run = &case.run;
    if !(run.checkpoint.is_finite() && run.checkpoint >= 0.0) {
        return Err(Misuse::error(format!(
            "run.checkpoint is {}; give seconds above 0, or 0 for no checkpoints",
            run.checkpoint
        )));
    }
    match run.checkpoint_segments {
        Some(0) => Err(Misuse::error("run.checkpoint_segments is 0; give 1 or more")),
        Some(_) if run.checkpoint == 0.0 => Err(Misuse::error(
            "run.checkpoint_segments does not go with run.checkpoint = 0, which says that there are \
             no checkpoints; give seconds, or leave it out",
        )),
        _ => Ok(()),
    }
}

/// What the case asks for.
fn asked(case: &Case) -> MemoryRequest {
    MemoryRequest {
        strategy: case.run.strategy.into(),
        batch: case.run.batch,
        ..MemoryRequest::default()
    }
}

/// The plan of a case by what is known before its field is read. Seeds and slots of sources count
/// where the case gives their number.
pub fn plan(case: &Case, size: &FieldSize, device: &OpenDevice) -> Result<Plan> {
    let of_sources = case.source.iter().map(|source| {
        source.capacity.or(source.burst.map(|burst| burst.count)).unwrap_or_default()
    });
    let load = RunSize {
        engine: Option::from(case.trace.path).unwrap_or(Engine::Fused),
        velocity: case.save.velocity,
        is_staggered: case.seeds.as_ref().is_some_and(|seeds| seeds.release.is_some()),
        inlets: usize::from(case.inlet.is_some()) + case.source.len(),
        has_places: case.field.interpolation == crate::case::Interpolation::Mesh
            || !case.obstacle.is_empty(),
        ..RunSize::new(count(case) + of_sources.sum::<usize>(), case.run.precision.into())
    };
    let mut memory = Memory::of(&device.device);
    if let Some(bytes) = case.run.memory {
        memory = memory.within(bytes.0);
    }
    Plan::choose(&load, size, memory, &asked(case)).map_err(Misuse::of)
}

/// How many frames the field is to hold. Where no plan fits, it is for the run to say why.
pub fn frames(case: &Case, size: &FieldSize, device: &OpenDevice) -> Result<Frames> {
    let strategy: Option<burntrace::Strategy> = case.run.strategy.into();
    match (plan(case, size, device), strategy) {
        (Ok(plan), _) => Ok(plan.frames()),
        (Err(_), None) => Ok(Frames::All),
        (Err(error), Some(_)) => Err(error),
    }
}

/// How many seeds a case gives; those of a file are not counted. What is wrong with them is said
/// where they are made.
fn count(case: &Case) -> usize {
    let Some(seeds) = &case.seeds else { return 0 };
    match (seeds.kind, &seeds.counts, &seeds.points) {
        (SeedKind::Grid | SeedKind::Plane, Some(counts), _) => {
            counts.iter().fold(1, |all, count| all.saturating_mul(*count))
        }
        (SeedKind::List, _, Some(points)) => points.len(),
        _ => seeds.count.unwrap_or_default(),
    }
}

/// Gives a tracer what the case says of memory.
pub fn add<'a>(case: &Case, mut tracer: Tracer<'a>) -> Tracer<'a> {
    if let Some(bytes) = case.run.memory {
        tracer = tracer.memory(bytes.0);
    }
    if let Some(strategy) = case.run.strategy.into() {
        tracer = tracer.strategy(strategy);
    }
    match case.run.batch {
        Some(most) => tracer.batch(most),
        None => tracer,
    }
}

/// Bytes of memory that a field may take: what this machine has to spare, or less.
pub fn available(case: &Case) -> u64 {
    let mut system = sysinfo::System::new();
    system.refresh_memory();
    let limit = system.cgroup_limits().map_or(u64::MAX, |limits| limits.free_memory);
    let asked = case.run.memory.map_or(u64::MAX, |bytes| bytes.0);
    system.available_memory().min(limit).min(asked)
}
