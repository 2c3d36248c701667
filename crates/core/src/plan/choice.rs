//! The choice of a memory strategy.

use super::{Memory, Plan, RunSize, Strategy, needs};
use crate::{
    Error, FieldSize, Frames, FreeMemory, Result,
    combinations::{Feature, refusal},
};

/// Requirements of a memory plan.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MemoryRequest {
    /// The strategy; `None` selects the first of [`Strategy::ALL`] that fits.
    pub strategy: Option<Strategy>,
    /// Maximum number of particles on the device at a time.
    pub batch: Option<usize>,
    /// What the field holds of its frames, if it is loaded already.
    pub frames: Option<Frames>,
    /// Whether the graph of gradients spans all particles, which then have no batches.
    pub has_graph: bool,
}

/// Numbers of frames to hold, in decreasing order: more frames mean more reading ahead and fewer
/// launches.
const HELD: [usize; 5] = [12, 8, 6, 5, 4];

/// Minimum batch that is worth a launch.
const MIN_BATCH: usize = 1 << 16;

/// Maximum batch if a strategy with batches was requested and all particles would fit.
const MAX_BATCH: usize = 1 << 20;

impl Plan {
    /// Plans a run with the requested strategy, or with the first one that fits.
    ///
    /// # Errors
    ///
    /// [`Error::Memory`] if no plan fits; [`Error::Plan`] or [`Error::Combination`] if the request is
    /// inconsistent with itself or with the field.
    pub fn choose(
        size: &RunSize,
        field: &FieldSize,
        memory: Memory,
        request: &MemoryRequest,
    ) -> Result<Self> {
        if request.batch == Some(0) {
            return Err(Error::Plan("the batch has 0 particles; give 1 or more".into()));
        }
        // Slots are numbered by an `i32`.
        if size.particles > i32::MAX as usize {
            return Err(Error::Plan(format!(
                "it has {} particles, counting the capacity of sources; the maximum is {}",
                size.particles,
                i32::MAX
            )));
        }
        let must_split = request.batch.is_some_and(|batch| batch < size.particles);
        if must_split && request.strategy.is_none() && request.has_graph {
            return Err(refusal(Feature::Batches, Feature::GraphGradients));
        }
        let candidates: Vec<_> = Strategy::ALL
            .into_iter()
            .filter(|strategy| request.strategy.is_none_or(|requested| requested == *strategy))
            .map(|strategy| (strategy, request.fits(strategy, size, field)))
            .collect();
        let mut smallest: Option<Plan> = None;
        for (strategy, _) in candidates.iter().filter(|(_, reason)| reason.is_none()) {
            let plan = smallest_that_fits(*strategy, size, field, memory, request);
            if plan.excess().is_none() {
                return Ok(plan);
            }
            let is_smaller = |other: &Plan| plan.host_bytes() < other.host_bytes();
            if smallest.as_ref().is_none_or(is_smaller) {
                smallest = Some(plan);
            }
        }
        match (smallest, candidates.into_iter().find_map(|(_, reason)| reason)) {
            (Some(plan), reason) => Err(too_large(&plan, size, request, reason)),
            (None, reason) => Err(Error::Plan(reason.unwrap_or_default())),
        }
    }

    fn new(
        size: &RunSize,
        field: &FieldSize,
        memory: Memory,
        (frames, batch): (Frames, usize),
        is_loaded: bool,
    ) -> Self {
        let batch = batch.min(size.particles).max(1);
        let layout = needs::MemoryLayout { frames, batch, is_shared: memory.is_shared, is_loaded };
        let frames = match frames {
            Frames::Streamed(_) if frames.window(field.frames).is_none() => Frames::All,
            frames => frames,
        };
        Plan {
            strategy: Strategy::of(frames, batch < size.particles),
            frames,
            particles: size.particles,
            batch,
            items: needs::items(size, field, layout),
            memory,
        }
    }
}

impl MemoryRequest {
    /// Why a strategy contradicts the request or the field, if it does.
    fn fits(&self, strategy: Strategy, size: &RunSize, field: &FieldSize) -> Option<String> {
        let streams = self.frames.map(|frames| frames.window(field.frames).is_some());
        let name = strategy.name();
        let has_more = field.frames > HELD[HELD.len() - 1];
        if streams == Some(false) && strategy.streams_frames() && has_more {
            return Some(format!(
                "`{name}` reads frames during the run, but the field holds all of its {} frames; \
                 open it with `Frames::Streamed`",
                field.frames
            ));
        }
        if streams == Some(true) && !strategy.streams_frames() {
            return Some(format!(
                "`{name}` holds all frames at once, but the field streams them; open it with \
                 `Frames::All`"
            ));
        }
        let must_split = self.batch.is_some_and(|batch| batch < size.particles);
        if must_split && !strategy.has_batches() {
            return Some(format!(
                "`{name}` has no batches; omit the batch, or use `batched` or `streamed`"
            ));
        }
        (self.has_graph && strategy.has_batches()).then(|| {
            format!(
                "`{name}` has batches, which would cut the graph of gradients; use `in-memory` or \
                 `streamed-frames`"
            )
        })
    }
}

/// The plan of a strategy with as many frames and particles on the device as fit, or else the
/// smallest plan.
fn smallest_that_fits(
    strategy: Strategy,
    size: &RunSize,
    field: &FieldSize,
    memory: Memory,
    request: &MemoryRequest,
) -> Plan {
    let max = request.batch.unwrap_or(size.particles).min(size.particles);
    let is_loaded = request.frames.is_some();
    let plan = |frames, batch| Plan::new(size, field, memory, (frames, batch), is_loaded);
    let fits = |plan: &Plan| plan.excess().is_none();
    let held: Vec<Frames> = match (request.frames, strategy) {
        (Some(frames), _) => vec![frames],
        (None, Strategy::StreamedFrames | Strategy::Streamed) => {
            let held = HELD.map(Frames::Streamed);
            let streams = |frames: &Frames| frames.window(field.frames).is_some();
            let [.., min] = held;
            let streamed: Vec<Frames> = held.into_iter().filter(streams).collect();
            if streamed.is_empty() { vec![min] } else { streamed }
        }
        (None, Strategy::InMemory | Strategy::Batched) => vec![Frames::All],
    };
    let mut last = None;
    for frames in held {
        let found = if strategy.has_batches() {
            // A requested strategy uses batches even if all particles fit.
            let ample = MAX_BATCH.min(size.particles.div_ceil(2)).max(1);
            let max = if request.batch.is_some() { max } else { max.min(ample) };
            largest(MIN_BATCH.min(max), max, |batch| fits(&plan(frames, batch)))
        } else {
            size.particles
        };
        let found = plan(frames, found);
        if fits(&found) {
            return found;
        }
        last = Some(found);
    }
    last.unwrap_or_else(|| plan(Frames::All, max))
}

/// The largest number from `min` to `max` that fits, or `min`.
fn largest(mut min: usize, max: usize, fits: impl Fn(usize) -> bool) -> usize {
    if fits(max) {
        return max;
    }
    let mut too_many = max;
    while min + 1 < too_many {
        let middle = min.midpoint(too_many);
        if fits(middle) { min = middle } else { too_many = middle }
    }
    min
}

/// The error for a plan that does not fit, with a remedy.
fn too_large(
    plan: &Plan,
    size: &RunSize,
    request: &MemoryRequest,
    reason: Option<String>,
) -> Error {
    let (memory, needed, available) = plan.excess().unwrap_or(("the host", plan.host_bytes(), 0));
    let mut items: Vec<_> = plan.items.iter().map(|i| (i.host + i.device, i.name)).collect();
    items.sort_unstable_by(|a, b| b.cmp(a));
    let (bytes, name) = items.first().copied().unwrap_or_default();
    let hint = match (request.strategy, reason) {
        (Some(strategy), _) if strategy != Strategy::Streamed => {
            "use `Strategy::Streamed`, ".to_string()
        }
        (None, None) if name == "field" => {
            "select fewer frames, read only the part of a grid that the particles reach, "
                .to_string()
        }
        (_, Some(reason)) => format!("note that {reason}; "),
        _ => String::new(),
    };
    Error::Memory {
        what: format!(
            "a run of {} particles, {}, on {memory} (largest part: {name}, {bytes} bytes)",
            size.particles,
            plan.strategy.name()
        ),
        needed,
        available,
        remedy: format!(
            "{hint}trace fewer particles at once, or raise `Execution::memory`{}",
            FreeMemory::now()
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Engine, Precision};

    const MIB: u64 = 1 << 20;

    fn size(particles: usize) -> RunSize {
        RunSize { program: 50 * MIB, ..RunSize::new(particles, Precision::F32) }
    }

    /// 40 frames of 4 MiB.
    fn field() -> FieldSize {
        FieldSize { frames: 40, frame_bytes: 4 * MIB, other_bytes: 1000, read_bytes: 7 * MIB }
    }

    fn memory(mib: u64) -> Memory {
        Memory { host: Some(mib * MIB), device: None, is_shared: true }
    }

    fn choose(mib: u64, particles: usize, request: MemoryRequest) -> Result<Plan> {
        Plan::choose(&size(particles), &field(), memory(mib), &request)
    }

    #[test]
    fn first_strategy_that_fits_is_chosen() {
        let strategy =
            |mib, particles| choose(mib, particles, MemoryRequest::default()).unwrap().strategy;
        assert_eq!(strategy(2000, 1_000_000), Strategy::InMemory);
        assert_eq!(strategy(330, 1_000_000), Strategy::StreamedFrames);
        assert_eq!(strategy(220, 1_000_000), Strategy::Streamed);
        let one_frame = FieldSize { frames: 1, ..field() };
        let plan =
            Plan::choose(&size(2_000_000), &one_frame, memory(350), &MemoryRequest::default());
        let plan = plan.unwrap();
        assert_eq!(plan.strategy, Strategy::Batched);
        assert!(plan.host_bytes() <= 350 * MIB && plan.batch >= MIN_BATCH);
        let more = Plan::new(
            &size(2_000_000),
            &one_frame,
            memory(350),
            (Frames::All, plan.batch + 1),
            false,
        );
        assert!(more.excess().is_some());
    }

    #[test]
    fn requests_are_limits() {
        let request = MemoryRequest { batch: Some(1000), ..MemoryRequest::default() };
        let plan = choose(2000, 5000, request).unwrap();
        assert_eq!((plan.strategy, plan.batch, plan.batches()), (Strategy::Batched, 1000, 5));
        let request =
            MemoryRequest { strategy: Some(Strategy::Streamed), ..MemoryRequest::default() };
        let plan = choose(2000, 5000, request).unwrap();
        assert_eq!((plan.frames, plan.batch), (Frames::Streamed(12), 2500));
        let plan =
            Plan::choose(&size(5), &field(), Memory::default(), &MemoryRequest::default()).unwrap();
        assert_eq!(plan.strategy, Strategy::InMemory);
    }

    #[test]
    fn errors_name_the_shortage_and_a_remedy() {
        let message = |request| choose(100, 1_000_000, request).unwrap_err().to_string();
        let text = message(MemoryRequest::default());
        assert!(text.contains("1000000 particles, streamed, on the host"), "{text}");
        assert!(
            text.contains("only 104857600 are available") && text.contains("Execution::memory"),
            "{text}"
        );
        let text = message(MemoryRequest {
            strategy: Some(Strategy::InMemory),
            ..MemoryRequest::default()
        });
        assert!(
            text.contains("largest part: field") && text.contains("Strategy::Streamed"),
            "{text}"
        );
        let with_graph = MemoryRequest { has_graph: true, ..MemoryRequest::default() };
        assert!(message(with_graph).contains("graph of gradients"));
        let request =
            MemoryRequest { batch: Some(7), strategy: Some(Strategy::InMemory), ..with_graph };
        assert!(message(request).contains("has no batches"));
        let request = MemoryRequest {
            frames: Some(Frames::All),
            strategy: Some(Strategy::Streamed),
            ..with_graph
        };
        assert!(message(request).contains("all of its 40 frames"));
        assert!(message(MemoryRequest { batch: Some(0), ..with_graph }).contains("0 particles"));
        let all = choose(4096, usize::MAX, MemoryRequest::default()).unwrap_err().to_string();
        assert!(all.contains("the maximum is 2147483647"), "{all}");
        assert!(Strategy::named("fast").unwrap_err().to_string().contains("streamed-frames"));
    }

    #[test]
    fn everything_of_a_field_counts_wherever_its_frames_are() {
        let bytes = |other_bytes: u64, request: MemoryRequest| {
            let field = FieldSize { other_bytes, ..field() };
            Plan::choose(&size(1000), &field, memory(4096), &request).unwrap().host_bytes()
        };
        for frames in [Some(Frames::All), Some(Frames::Streamed(3))] {
            let request = || MemoryRequest { frames, ..MemoryRequest::default() };
            let more = bytes(7 << 20, request()) - bytes(0, request());
            assert_eq!(more, 7 << 20, "{frames:?}");
        }
    }

    #[test]
    fn plans_of_cards_use_device_memory() {
        let memory = Memory { host: None, device: Some(100 * MIB), is_shared: false };
        let plan =
            Plan::choose(&size(1_000_000), &field(), memory, &MemoryRequest::default()).unwrap();
        assert!(plan.device_bytes() <= 100 * MIB && plan.strategy.streams_frames());
        let tensors = RunSize { engine: Engine::Tensor, ..size(1000) };
        let plan = Plan::choose(&tensors, &field(), memory, &MemoryRequest::default()).unwrap();
        assert_eq!(plan.strategy, Strategy::StreamedFrames);
        assert!(plan.to_string().contains("unknown"), "{plan}");
    }

    /// Bytes of an item of a plan, on the host and on the device.
    fn bytes_of(name: &str, plan: &Plan) -> u64 {
        plan.items().iter().filter(|item| item.name == name).map(|i| i.host + i.device).sum()
    }

    #[test]
    fn card_holds_a_window_of_frames_and_its_copy() {
        let request =
            MemoryRequest { frames: Some(Frames::Streamed(12)), ..MemoryRequest::default() };
        let field_bytes = |is_shared| {
            let memory = Memory { host: None, device: None, is_shared };
            let plan = Plan::choose(&size(1000), &field(), memory, &request).unwrap();
            bytes_of("field", &plan) - field().other_bytes
        };
        assert_eq!(field_bytes(false), 2 * field_bytes(true));
    }

    #[test]
    fn saves_of_reused_slots_have_generations() {
        let saves = |inlets| {
            let size = RunSize { inlets, ..size(1000) };
            let request = MemoryRequest::default();
            let plan = Plan::choose(&size, &field(), memory(4096), &request).unwrap();
            bytes_of("saves", &plan)
        };
        // A number of four bytes in each of the two saves that are held.
        assert_eq!(saves(1) - saves(0), 2 * 4 * 1000);
    }

    #[test]
    fn limit_does_not_exceed_the_memory_there_is() {
        assert_eq!(memory(100).within(200 * MIB).host, Some(100 * MIB));
        assert_eq!(memory(100).within(50 * MIB).host, Some(50 * MIB));
        assert_eq!(Memory { host: None, ..memory(1) }.within(50).host, Some(50));
    }
}
