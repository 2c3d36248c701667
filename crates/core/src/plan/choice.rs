//! The choice among the ways in which a run may lie in memory.

use super::{FieldSize, Memory, Plan, RunSize, Strategy, needs};
use crate::{Error, Frames, Result};

/// What was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MemoryRequest {
    /// A strategy; without it, the first of [`Strategy::ALL`] that fits.
    pub strategy: Option<Strategy>,
    /// The most particles on the device at a time.
    pub batch: Option<usize>,
    /// How many frames the field holds, where that is settled.
    pub frames: Option<Frames>,
    /// Why particles cannot come in batches, if they cannot.
    pub whole: Option<&'static str>,
}

/// Frames that are held, from many to few: more are read ahead, and steps are cut into fewer
/// launches.
const HELD: [usize; 5] = [12, 8, 6, 5, 4];

/// A batch that is worth its launch.
const LEAST_BATCH: usize = 1 << 16;

/// The greatest batch of a run that was to have batches, and has room for all its particles.
const AMPLE_BATCH: usize = 1 << 20;

impl Plan {
    /// The plan of a run: that of the strategy that was asked for, or of the first one that fits.
    ///
    /// # Errors
    ///
    /// [`Error::Memory`] where no plan fits, and [`Error::Plan`] where what was asked for
    /// contradicts itself or the field.
    pub fn choose(
        load: &RunSize,
        field: &FieldSize,
        memory: Memory,
        asked: &MemoryRequest,
    ) -> Result<Self> {
        if asked.batch == Some(0) {
            return Err(Error::Plan("a batch of 0 particles; give 1 or more".into()));
        }
        let must_split = asked.batch.is_some_and(|batch| batch < load.particles);
        if let (true, None, Some(reason)) = (must_split, asked.strategy, asked.whole) {
            return Err(Error::Plan(format!("{reason}; leave out the batch")));
        }
        let candidates: Vec<_> = Strategy::ALL
            .into_iter()
            .filter(|strategy| asked.strategy.is_none_or(|asked| asked == *strategy))
            .map(|strategy| (strategy, asked.fits(strategy, load, field)))
            .collect();
        let mut least: Option<Plan> = None;
        for (strategy, _) in candidates.iter().filter(|(_, reason)| reason.is_none()) {
            let plan = smallest_that_fits(*strategy, load, field, memory, asked);
            if plan.excess().is_none() {
                return Ok(plan);
            }
            let is_less = |least: &Plan| plan.host_bytes() < least.host_bytes();
            if least.as_ref().is_none_or(is_less) {
                least = Some(plan);
            }
        }
        match (least, candidates.into_iter().find_map(|(_, reason)| reason)) {
            (Some(plan), reason) => Err(too_large(&plan, load, asked, reason)),
            (None, reason) => Err(Error::Plan(reason.unwrap_or_default())),
        }
    }

    fn new(
        load: &RunSize,
        field: &FieldSize,
        memory: Memory,
        (frames, batch): (Frames, usize),
    ) -> Self {
        let batch = batch.min(load.particles).max(1);
        let lie = needs::MemoryLayout { frames, batch, is_shared: memory.is_shared };
        let streams = frames.window(field.frames).is_some();
        Plan {
            strategy: Strategy::of(streams, batch < load.particles),
            frames: if streams { frames } else { Frames::All },
            particles: load.particles,
            batch,
            items: needs::items(load, field, lie),
            memory,
        }
    }
}

impl MemoryRequest {
    /// Why a strategy does not go with what is settled, if it does not.
    fn fits(&self, strategy: Strategy, load: &RunSize, field: &FieldSize) -> Option<String> {
        let streams = self.frames.map(|frames| frames.window(field.frames).is_some());
        let name = strategy.name();
        let has_more = field.frames > HELD[HELD.len() - 1];
        if streams == Some(false) && strategy.streams_frames() && has_more {
            return Some(format!(
                "`{name}` reads frames in the course of the run, and the field has all of its {} \
                 frames; open it with `Frames::Streamed`",
                field.frames
            ));
        }
        if streams == Some(true) && !strategy.streams_frames() {
            return Some(format!("`{name}` has all frames at once, and the field streams them"));
        }
        let must_split = self.batch.is_some_and(|batch| batch < load.particles);
        if must_split && !strategy.has_batches() {
            return Some(format!("`{name}` has no batches; leave out the batch"));
        }
        match self.whole {
            Some(reason) if strategy.has_batches() => Some(format!(
                "{reason}, and `{name}` has batches; use `in-memory` or `streamed-frames`"
            )),
            _ => None,
        }
    }
}

/// The plan of a strategy with as many frames and particles on the device as fit; if none fits, the
/// smallest.
fn smallest_that_fits(
    strategy: Strategy,
    load: &RunSize,
    field: &FieldSize,
    memory: Memory,
    asked: &MemoryRequest,
) -> Plan {
    let held: Vec<Frames> = match (asked.frames, strategy.streams_frames()) {
        (Some(frames), _) => vec![frames],
        (None, false) => vec![Frames::All],
        (None, true) => HELD.iter().map(|held| Frames::Streamed(*held)).collect(),
    };
    let most = asked.batch.unwrap_or(load.particles).min(load.particles);
    let plan = |frames, batch| Plan::new(load, field, memory, (frames, batch));
    let fits = |plan: &Plan| plan.excess().is_none();
    let mut last = None;
    for frames in held {
        let found = if strategy.has_batches() {
            // A strategy that was named has batches even where there is room for all.
            let ample = AMPLE_BATCH.min(load.particles.div_ceil(2)).max(1);
            let most = if asked.batch.is_some() { most } else { most.min(ample) };
            greatest(LEAST_BATCH.min(most), most, |batch| fits(&plan(frames, batch)))
        } else {
            load.particles
        };
        let found = plan(frames, found);
        if fits(&found) {
            return found;
        }
        last = Some(found);
    }
    last.unwrap_or_else(|| plan(Frames::All, most))
}

/// The greatest number from `least` to `most` that fits, or `least`.
fn greatest(mut least: usize, most: usize, fits: impl Fn(usize) -> bool) -> usize {
    if fits(most) {
        return most;
    }
    let mut too_many = most;
    while least + 1 < too_many {
        let middle = least.midpoint(too_many);
        if fits(middle) { least = middle } else { too_many = middle }
    }
    least
}

/// What is short, and what would help.
fn too_large(plan: &Plan, load: &RunSize, asked: &MemoryRequest, reason: Option<String>) -> Error {
    let (place, needed, available) = plan.excess().unwrap_or(("the host", plan.host_bytes(), 0));
    let mut items: Vec<_> = plan.items.iter().map(|i| (i.host + i.device, i.name)).collect();
    items.sort_unstable_by(|a, b| b.cmp(a));
    let (bytes, name) = items.first().copied().unwrap_or_default();
    let hint = match (asked.strategy, reason) {
        (Some(strategy), _) if strategy != Strategy::Streamed => {
            "use `run.strategy = \"streamed\"`, ".to_string()
        }
        (_, Some(reason)) => format!("note that {reason}; "),
        _ => String::new(),
    };
    Error::Memory {
        what: format!(
            "a run of {} particles, {}, on {place} (most of it: {name}, {bytes} bytes)",
            load.particles,
            plan.strategy.name()
        ),
        needed,
        available,
        remedy: format!("{hint}trace fewer particles at once, or raise `run.memory`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Engine, Precision};

    const MIB: u64 = 1 << 20;

    fn load(particles: usize) -> RunSize {
        RunSize { program: 50 * MIB, ..RunSize::new(particles, Precision::F32) }
    }

    /// 40 frames of 4 MiB.
    fn field() -> FieldSize {
        FieldSize { frames: 40, frame_bytes: 4 * MIB, other_bytes: 1000, read_bytes: 7 * MIB }
    }

    fn memory(mib: u64) -> Memory {
        Memory { host: Some(mib * MIB), device: None, is_shared: true }
    }

    fn choose(mib: u64, particles: usize, asked: MemoryRequest) -> Result<Plan> {
        Plan::choose(&load(particles), &field(), memory(mib), &asked)
    }

    #[test]
    fn the_first_strategy_that_fits_is_taken() {
        let strategy =
            |mib, particles| choose(mib, particles, MemoryRequest::default()).unwrap().strategy;
        assert_eq!(strategy(2000, 1_000_000), Strategy::InMemory);
        assert_eq!(strategy(330, 1_000_000), Strategy::StreamedFrames);
        assert_eq!(strategy(220, 1_000_000), Strategy::Streamed);
        let one_frame = FieldSize { frames: 1, ..field() };
        let plan =
            Plan::choose(&load(2_000_000), &one_frame, memory(350), &MemoryRequest::default());
        let plan = plan.unwrap();
        assert_eq!(plan.strategy, Strategy::Batched);
        assert!(plan.host_bytes() <= 350 * MIB && plan.batch >= LEAST_BATCH);
        let more =
            Plan::new(&load(2_000_000), &one_frame, memory(350), (Frames::All, plan.batch + 1));
        assert!(more.excess().is_some());
    }

    #[test]
    fn what_is_asked_for_is_a_limit() {
        let asked = MemoryRequest { batch: Some(1000), ..MemoryRequest::default() };
        let plan = choose(2000, 5000, asked).unwrap();
        assert_eq!((plan.strategy, plan.batch, plan.batches()), (Strategy::Batched, 1000, 5));
        let asked =
            MemoryRequest { strategy: Some(Strategy::Streamed), ..MemoryRequest::default() };
        let plan = choose(2000, 5000, asked).unwrap();
        assert_eq!((plan.frames, plan.batch), (Frames::Streamed(12), 2500));
        let plan =
            Plan::choose(&load(5), &field(), Memory::default(), &MemoryRequest::default()).unwrap();
        assert_eq!(plan.strategy, Strategy::InMemory);
    }

    #[test]
    fn what_cannot_fit_says_what_is_short_and_what_helps() {
        let message = |asked| choose(100, 1_000_000, asked).unwrap_err().to_string();
        let text = message(MemoryRequest::default());
        assert!(text.contains("1000000 particles, streamed, on the host"), "{text}");
        assert!(text.contains("104857600 are there") && text.contains("run.memory"), "{text}");
        let text = message(MemoryRequest {
            strategy: Some(Strategy::InMemory),
            ..MemoryRequest::default()
        });
        assert!(text.contains("most of it: field") && text.contains("\"streamed\""), "{text}");
        let whole =
            MemoryRequest { whole: Some("gradients are tracked"), ..MemoryRequest::default() };
        assert!(message(whole).contains("gradients are tracked"));
        let asked = MemoryRequest { batch: Some(7), strategy: Some(Strategy::InMemory), ..whole };
        assert!(message(asked).contains("has no batches"));
        let asked = MemoryRequest {
            frames: Some(Frames::All),
            strategy: Some(Strategy::Streamed),
            ..whole
        };
        assert!(message(asked).contains("all of its 40 frames"));
        assert!(message(MemoryRequest { batch: Some(0), ..whole }).contains("0 particles"));
        assert!(Strategy::named("fast").unwrap_err().to_string().contains("streamed-frames"));
    }

    #[test]
    fn cards_have_memory_of_their_own() {
        let memory = Memory { host: None, device: Some(100 * MIB), is_shared: false };
        let plan =
            Plan::choose(&load(1_000_000), &field(), memory, &MemoryRequest::default()).unwrap();
        assert!(plan.device_bytes() <= 100 * MIB && plan.strategy.streams_frames());
        let tensors = RunSize { engine: Engine::Tensor, ..load(1000) };
        let plan = Plan::choose(&tensors, &field(), memory, &MemoryRequest::default()).unwrap();
        assert_eq!(plan.strategy, Strategy::StreamedFrames);
        assert!(plan.to_string().contains("unknown"), "{plan}");
    }
}
