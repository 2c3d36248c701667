//! Slots that are re-used: the instance in each, and the instances before it.

use super::{
    Tracer,
    inflow::Inflow,
    reinjection::{End, Reinjection},
};
use crate::{
    Error, ParticleInstance, Precision, Result, Seeds, Status, field,
    schedule::{Chunk, Schedule, TimeSpan},
    source::Timetable,
};
use burn::tensor::{Bool, DType, Int, Tensor, TensorData};
use burntrace_kernels::{
    Instance, MeshPatch, NEVER, ReinjectionRules, Releases, SlotRules, SourceSlots, status::WAITING,
};
use std::{ops::Range, sync::Arc};

/// The start of the current instance of a slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct InstanceStart {
    pub time: f64,
    pub step: u64,
    pub generation: u32,
    /// The inlet; `None` for a seed.
    pub inlet: Option<u16>,
    /// Whether this is an empty slot of a source.
    pub is_empty: bool,
}

/// The re-used slots of a run, or of a piece of it. Methods take slots counted from the first one of the
/// piece; the rules of re-use have slots of the whole run.
pub(super) struct Slots {
    /// The first slot.
    first: usize,
    following: Reinjection,
    pub timetables: Vec<Timetable>,
    span: TimeSpan,
    precision: Precision,
    /// The point from which positions are measured, but those of seeds.
    origin: [f64; 3],
    seeds: Vec<[f64; 3]>,
    /// Positions of inlets that track gradients, each with its first row among all.
    pub tracked: Vec<(usize, Tensor<2>)>,
    pub current: Vec<InstanceStart>,
    /// Number of ended instances that were followed by another one, by status.
    pub ended: Vec<(Status, usize)>,
    /// Number of them that left the mesh, by patch, then of those that a condition stopped, by condition.
    pub left_through: Vec<usize>,
    /// Steps taken by them.
    pub particle_steps: u64,
    /// Particles that sources have released.
    pub from_sources: u64,
    /// In a piece, number of ended instances in each segment so far.
    pub by_segment: Option<Vec<u64>>,
}

/// Ends per slot for which a launch's log has room, on devices that need a fixed size; smaller for
/// many slots. If a slot has more ends, its remaining steps take another launch.
pub(super) fn log_rows(slots: usize) -> usize {
    ((1 << 21) / slots.max(1)).clamp(1, 64)
}

/// Rules without inlets, to compile kernels.
pub(super) fn nothing_follows() -> Reinjection {
    following(Inflow::default())
}

fn following(inflow: Inflow) -> Reinjection {
    let Inflow { rules, positions, .. } = inflow;
    let reinjection = ReinjectionRules {
        releases: vec![Releases::default(); rules.sources.len()],
        slots: Arc::new(rules),
        resumes: false,
    };
    Reinjection::new(Arc::new(positions), reinjection)
}

impl Slots {
    pub fn new(tracer: &Tracer, seeds: &Seeds, schedule: &Schedule) -> Result<Self> {
        let span = schedule.span;
        let mut inflow = Inflow::new(tracer, seeds, span.t0)?;
        let sources = inflow.rules.sources.clone();
        let timetables: Vec<Timetable> =
            tracer.sources.iter().map(|source| Timetable::new(source, &span)).collect();
        for (source, timetable) in tracer.sources.iter().zip(&timetables) {
            timetable.check(source, &span)?;
        }
        let precision = tracer.field.precision();
        let mut current = vec![InstanceStart::seed(span.t0); seeds.len()];
        for source in &sources {
            let inlet = Some(source.inlet as u16);
            let empty = InstanceStart { inlet, is_empty: true, ..InstanceStart::seed(f64::NAN) };
            current.extend(vec![empty; source.slots as usize]);
        }
        Ok(Slots {
            first: 0,
            left_through: vec![0; inflow.rules.patches.len() + tracer.surroundings.stop_when.len()],
            tracked: std::mem::take(&mut inflow.tracked),
            following: following(inflow),
            timetables,
            span,
            precision,
            origin: field::origin(tracer.field),
            seeds: seeds.positions().to_vec(),
            current,
            ended: Status::ALL.map(|status| (status, 0)).to_vec(),
            particle_steps: 0,
            from_sources: 0,
            by_segment: None,
        })
    }

    /// The slots of a piece, before the first step.
    pub fn piece(&self, slots: Range<usize>) -> Self {
        let of_seeds = |slot: usize| slot.min(self.seeds.len());
        Slots {
            first: slots.start,
            following: self.following.clone(),
            timetables: self.timetables.clone(),
            span: self.span,
            precision: self.precision,
            origin: self.origin,
            seeds: self.seeds[of_seeds(slots.start)..of_seeds(slots.end)].to_vec(),
            tracked: Vec::new(),
            current: self.current[slots].to_vec(),
            ended: self.ended.clone(),
            left_through: self.left_through.clone(),
            particle_steps: 0,
            from_sources: 0,
            by_segment: Some(Vec::new()),
        }
    }

    fn rules(&self) -> &SlotRules {
        &self.following.reinjection.slots
    }

    /// Positions of inlets for the whole run, measured from the origin.
    pub fn inlets(&self) -> &[[f64; 3]] {
        &self.following.positions
    }

    /// Number of these slots.
    pub fn count(&self) -> usize {
        self.current.len()
    }

    /// The positions of the first releases in the slots of sources, measured from the origin.
    pub fn first_positions(&self) -> Vec<[f64; 3]> {
        let slots = self.seeds.len()..self.count();
        slots
            .filter_map(|slot| Some(self.inlet_position(slot, self.current[slot].inlet?)))
            .collect()
    }

    /// Sets the release times of the seeds.
    pub fn set_seed_releases(&mut self, each: &[(f64, u64)]) {
        for (current, release) in self.current.iter_mut().zip(each) {
            (current.time, current.step) = *release;
        }
    }

    /// The rules for a chunk. Empty slots of sources get their releases.
    pub fn prepare(&mut self, chunk: &Chunk) -> &Reinjection {
        let (span, precision) = (self.span, self.precision);
        let releases = self.timetables.iter_mut().map(|t| t.releases(chunk, &span, precision));
        self.following = self.following.with_releases(releases.collect());
        for (slot, current) in self.current.iter_mut().enumerate().skip(self.seeds.len()) {
            let idle = Instance::idle((self.first + slot) as u32, current.generation);
            if current.is_empty
                && let Some(first) = self.following.reuse.first_release(&idle)
            {
                current.release(&first, chunk);
                self.from_sources += 1;
            }
        }
        &self.following
    }

    /// Records the ends that the launches of a chunk have logged, and returns those instances.
    pub fn absorb(&mut self, mut ends: Vec<End>, chunk: &Chunk) -> Result<Vec<ParticleInstance>> {
        ends.sort_unstable_by_key(|end| (end.slot, end.generation));
        if let Some(by_segment) = &mut self.by_segment {
            by_segment.push(ends.len() as u64);
        }
        ends.iter().map(|end| self.end(end, chunk)).collect()
    }

    fn end(&mut self, end: &End, chunk: &Chunk) -> Result<ParticleInstance> {
        let status = Status::from_code(end.status);
        let slot = (end.slot as usize).checked_sub(self.first);
        let slot = slot.filter(|slot| {
            self.current.get(*slot).is_some_and(|current| current.generation == end.generation)
        });
        let (Some(status), Some(slot)) = (status, slot) else {
            return Err(Error::Execution(format!(
                "it logged an end of an unknown instance: {end:?}"
            )));
        };
        let instance = ParticleInstance {
            slot,
            generation: end.generation,
            status,
            release_time: self.current[slot].time,
            release_position: self.release_position(slot),
            end_time: time_of(end, chunk),
            end_position: self.plain(end.position),
        };
        if let Some(entry) = self.ended.iter_mut().find(|(of, _)| *of == status) {
            entry.1 += 1;
        }
        let rules = self.rules();
        let tag = rules.faces.of(end.location);
        let place = match status {
            Status::LeftMesh => MeshPatch::at(&rules.patches, end.position, tag),
            Status::Stopped => Some(rules.patches.len() + end.location as usize),
            _ => None,
        };
        if let Some(place) = place {
            self.left_through[place] += 1;
        }
        self.particle_steps += (end.step as u64 + 1).saturating_sub(self.current[slot].step);
        self.follow(slot, end, chunk);
        Ok(instance)
    }

    /// Starts the instance that follows an end.
    fn follow(&mut self, slot: usize, end: &End, chunk: &Chunk) {
        let reuse = &self.following.reuse;
        let current = &mut self.current[slot];
        current.generation += 1;
        let Some(next) = reuse.next(end) else { return };
        let at_once = reuse.inlet_after(end);
        let inlet = at_once.or_else(|| reuse.source(end.slot).map(|source| source.inlet));
        current.inlet = inlet.map(|inlet| inlet as u16);
        current.is_empty = next.step == NEVER;
        if !current.is_empty {
            current.release(&next, chunk);
            self.from_sources += u64::from(at_once.is_none());
        }
    }

    /// The release position of the current instance of a slot.
    fn release_position(&self, slot: usize) -> [f64; 3] {
        match self.current[slot].inlet {
            None => self.seeds[slot],
            Some(inlet) => self.plain(self.inlet_position(slot, inlet)),
        }
    }

    /// A position in the data's coordinates.
    pub fn plain(&self, position: [f64; 3]) -> [f64; 3] {
        field::plain(self.origin, position)
    }

    /// The position at an inlet of the current instance of a slot.
    fn inlet_position(&self, slot: usize, inlet: u16) -> [f64; 3] {
        let generation = self.current[slot].generation;
        self.following.reuse.position_at(inlet.into(), (self.first + slot) as u32, generation)
    }

    /// Number of ended instances that were followed by another one, by status.
    pub fn ended(&self) -> &[(Status, usize)] {
        &self.ended
    }

    /// Number of them that left the mesh, by patch, then of those that a condition stopped, by condition.
    pub fn left_through(&self) -> &[usize] {
        &self.left_through
    }

    /// Steps taken by them.
    pub fn particle_steps(&self) -> u64 {
        self.particle_steps
    }

    /// Releases that were due but dropped, because their slots were not free.
    pub fn dropped(&self) -> u64 {
        let sources = self.rules().sources.iter().zip(&self.timetables);
        let due: u64 = sources.map(|(source, timetable)| self.due(source, timetable.due())).sum();
        due.saturating_sub(self.from_sources)
    }

    /// How many of the first `due` releases of a source belong to these slots: release `k` belongs to its
    /// slot `k % slots`.
    fn due(&self, source: &SourceSlots, due: u64) -> u64 {
        let local = |slot: usize| slot.saturating_sub(source.first as usize) as u64;
        let slots = u64::from(source.slots);
        let until = |slot: u64| due / slots * slot + slot.min(due % slots);
        let [start, end] =
            [self.first, self.first + self.count()].map(|slot| local(slot).min(slots));
        until(end) - until(start)
    }

    /// Release time and step, generation and release position of the current instance of a slot.
    pub fn present(&self, slot: usize) -> (f64, u64, u32, [f64; 3]) {
        let InstanceStart { time, step, generation, .. } = self.current[slot];
        (time, step, generation, self.release_position(slot))
    }

    /// Empty slots of sources among those from `first` on, by their statuses `[n]`: a mask `[n,
    /// 1]`, or `None` if there are no sources.
    pub fn empty(&self, first: usize, status: &Tensor<1, Int>) -> Option<Tensor<2, Bool>> {
        if self.timetables.is_empty() {
            return None;
        }
        let [n] = status.dims();
        let slots = first..first + n;
        let of_source: Vec<i32> = slots.map(|slot| i32::from(slot >= self.seeds.len())).collect();
        let of_source = TensorData::new(of_source, [n, 1]);
        let of_source = Tensor::<2, Int>::from_data(of_source, (&status.device(), DType::I32));
        let waits = status.clone().reshape([n, 1]).equal_elem(WAITING);
        Some(waits.bool_and(of_source.equal_elem(1)))
    }
}

impl InstanceStart {
    fn seed(time: f64) -> Self {
        InstanceStart { time, step: 0, generation: 0, inlet: None, is_empty: false }
    }

    fn release(&mut self, instance: &Instance, chunk: &Chunk) {
        self.time = time_of(instance, chunk);
        self.step = instance.step as u64;
        self.is_empty = false;
    }
}

/// The time of the release or the end of an instance in a chunk.
pub(super) fn time_of(instance: &Instance, chunk: &Chunk) -> f64 {
    let j = (instance.step as u64).saturating_sub(chunk.first_step) as usize;
    let j = j.min(chunk.steps().saturating_sub(1));
    let [start, end] = [chunk.times[j], chunk.times[j + 1]];
    start + instance.fraction * (end - start)
}
