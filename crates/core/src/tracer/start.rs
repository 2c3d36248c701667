//! The start of a run: its particles on the device, and their release times.

use super::{
    Tracer, fused, inertia,
    rows::Rows,
    slots::Slots,
    stepper::{Release, Stepper},
    tallies, timed, walk,
};
use crate::{
    Domain, Engine, Result, Seeds, Status, device, field,
    field::{measured, measured_from},
    floats::Floats,
    schedule::{Schedule, TimeSpan},
};
use burn::tensor::{DType, Tensor, TensorData};
use burntrace_kernels::{IDENTITY, NEVER, POSITION, Particles, RECORD, Record, TANGENTS, Tallies};
use rayon::prelude::*;
use std::ops::Range;

/// Release times of the seeds of a run.
pub(super) struct Releases {
    span: TimeSpan,
    /// Release time and step of each seed, if seeds have individual times.
    pub each: Option<Vec<(f64, u64)>>,
    /// Fraction of the step at which each seed is released, if seeds have individual times; moved
    /// out by [`rows`].
    fractions: Vec<f64>,
}

impl Releases {
    /// The release times of seeds, and the distinct releases after the start, in order.
    pub fn new(seeds: &Seeds, schedule: &Schedule) -> (Self, Vec<Release>) {
        let span = schedule.span;
        let Some(times) = seeds.release() else {
            return (Releases { span, each: None, fractions: Vec::new() }, Vec::new());
        };
        let events = release_events(schedule, times);
        let each = times.iter().zip(&events).map(|(time, event)| (*time, event.0));
        let later = distinct(&events, &span, times);
        let fractions = events.iter().map(|event| event.1).collect();
        (Releases { span, each: Some(each.collect()), fractions }, later)
    }

    /// The releases of some of the seeds.
    pub fn piece(&self, seeds: Range<usize>) -> Self {
        Releases {
            span: self.span,
            each: self.each.as_ref().map(|each| each[seeds.clone()].to_vec()),
            fractions: self.fractions.get(seeds).unwrap_or_default().to_vec(),
        }
    }

    /// Time and step of the release of a seed.
    pub fn of(&self, seed: usize) -> (f64, u64) {
        self.each.as_ref().map_or((self.span.t0, 0), |each| each[seed])
    }

    /// Fraction of the step at which a seed is released. 0 after [`rows`].
    pub fn fraction(&self, seed: usize) -> f64 {
        self.fractions.get(seed).copied().unwrap_or(0.0)
    }

    /// Whether a seed is released after the start of the run.
    fn is_late(&self, seed: usize) -> bool {
        self.each.as_ref().is_some_and(|each| is_late(&self.span, each[seed].0))
    }
}

/// The particles before the first step: the seeds, then the empty slots of sources.
pub(super) fn rows(
    (first_slot, seeds, cells): (usize, &[[f64; 3]], &[Option<i32>]),
    slots: Option<&Slots>,
    releases: &mut Releases,
    (tracer, tallies): (&Tracer, &Tallies),
) -> Result<Rows> {
    let field = tracer.field;
    let fractions = std::mem::take(&mut releases.fractions);
    let empty = slots.map(Slots::first_positions).unwrap_or_default();
    let (precision, count) = (field.precision(), cells.len() + empty.len());
    let record = |i: usize| {
        let Some(cell) = cells.get(i) else { return Record::with(Status::Waiting, NEVER, 0) };
        let status = match cell {
            None => Status::NotLocated,
            Some(_) if releases.is_late(i) => Status::Waiting,
            Some(_) => Status::Active,
        };
        Record::with(status, releases.of(i).1 as i32, cell.unwrap_or(0))
    };
    let mut records = vec![0; RECORD * count];
    let rows = records.as_chunks_mut::<RECORD>().0.par_iter_mut().enumerate();
    rows.for_each(|(i, row)| row.copy_from_slice(Record::as_numbers(&[record(i)])));
    let inertia = inertia::rows(tracer, first_slot..first_slot + count)?;
    let origin = field::origin(field);
    let place = |i: usize| match seeds.get(i) {
        Some(seed) => measured(origin, *seed),
        None => empty[i - seeds.len()],
    };
    let beside = |i: usize| inertia.get(i).map_or(&[][..], |row| &row[..]);
    let number = |i: usize, column: usize| match column {
        0..POSITION => precision.split(place(i))[column],
        _ => beside(i)[column - POSITION],
    };
    let fraction = |i: usize, _: usize| fractions.get(i).copied().unwrap_or(0.0);
    Ok(Rows {
        position: Floats::filled(precision, (count, tracer.position_width()), number),
        record: records,
        fraction: Floats::filled(precision, (count, 1), fraction),
        tangents: tangents(tracer, count),
        tallies: tallies::rows(tallies, count, precision),
        slots: None,
    })
}

/// The gradients of the flow map before the first step, if they are wanted.
fn tangents(tracer: &Tracer, count: usize) -> Option<Floats> {
    let identities =
        || Floats::filled(tracer.field.precision(), (count, TANGENTS), |_, at| IDENTITY[at]);
    tracer.save.flow_map_gradient.then(identities)
}

/// Particles on the tracer's device. Seeds given as a tensor stay in their graph, as do release times.
pub(super) fn on_device(
    rows: Rows,
    seeds: &Seeds,
    (tracer, releases, schedule): (&Tracer, &Releases, &Schedule),
) -> Particles {
    let field = tracer.field;
    let mut particles = rows.into_particles(&device::plain(&field.device()));
    if !tracer.has_tracked_input(seeds) && !field.device().is_autodiff() {
        return particles;
    }
    let (device, precision) = (walk::device(tracer, true), field.precision());
    let around = (tracer, releases, schedule);
    particles.fraction = timed::fractions(particles.fraction, seeds, around);
    let known = particles.position.clone().into_data();
    let known = Tensor::<2>::from_data(known, (&device, precision.dtype()));
    if !seeds.is_tracked() {
        return Particles { position: known, ..particles };
    }
    let tracked = seeds.tensor(&field.device(), precision);
    // The same numbers, in the graph of the seeds.
    let change = tracked.clone() - tracked.detach();
    let of_seeds = known.clone().slice([0..seeds.len(), 0..3]) + change;
    let position = known.slice_assign([0..seeds.len(), 0..3], of_seeds);
    Particles { position, ..particles }
}

/// Particles in the middle of the domain, to compile the kernels of a run. On the tensor engine they
/// are active: it computes nothing for others.
pub(super) fn idle(
    count: usize,
    tracer: &Tracer,
    (engine, tallies): (Engine, &Tallies),
) -> Particles {
    let field = tracer.field;
    let status = match engine {
        Engine::Fused => Status::NotLocated,
        Engine::Tensor => Status::Active,
    };
    let middle = field::measured(field::origin(field), middle(&field.domain()));
    let width = tracer.position_width();
    let mut middle = field.precision().split(middle).to_vec();
    middle.resize(width, 1.0);
    let device = device::plain(&field.device());
    let dtype = field.precision().dtype();
    let position = field.precision().data(middle.repeat(count), [count, width]);
    let record = Record::as_numbers(&vec![Record::with(status, 0, 0); count]).to_vec();
    Particles {
        position: Tensor::from_data(position, (&device, dtype)),
        record: Tensor::from_data(TensorData::new(record, [count, RECORD]), (&device, DType::I32)),
        fraction: Tensor::zeros([count], (&device, dtype)),
        tangents: tangents(tracer, count).map(|rows| rows.into_tensor([count, TANGENTS], &device)),
        tallies: tallies::rows(tallies, count, field.precision())
            .map(|rows| rows.into_tensor([count, tallies.width()], &device)),
        slots: None,
    }
}

/// The middle of a domain; 0 along unbounded axes.
pub(super) fn middle(Domain { low, high }: &Domain) -> [f64; 3] {
    [0, 1, 2].map(|d| {
        let middle = 0.5 * (low[d] + high[d]);
        if middle.is_finite() { middle } else { 0.0 }
    })
}

/// Whether a time comes after the start of the run.
fn is_late(span: &TimeSpan, time: f64) -> bool {
    (time - span.t0) / span.dt > 0.0
}

/// Maximum number of seeds to sample at once.
const SAMPLED: usize = 1 << 20;

/// Does not release seeds in holes of the field: those of the start of the run, and all of them in a
/// steady field. Later seeds end in holes at their release.
pub(super) fn leave_holes(
    cells: &mut [Option<i32>],
    (seeds, releases): (&Seeds, &Releases),
    stepper: &Stepper,
    t0: f64,
) -> Result<()> {
    let field = stepper.field;
    let Some(sampled) = field.sampled().filter(|_| stepper.has_holes()) else { return Ok(()) };
    let is_steady = sampled.time.is_steady();
    let is_known = |i: &usize| is_steady || !releases.is_late(*i);
    let known: Vec<usize> = (0..cells.len()).filter(is_known).collect();
    let beside = (&device::plain(&field.device()), field.precision().dtype());
    for part in known.chunks(SAMPLED) {
        let positions: Vec<[f64; 3]> = part.iter().map(|i| seeds.positions()[*i]).collect();
        let measured = measured_from(field::origin(field), &positions).into_flattened();
        let position = field.precision().data(measured, [part.len(), 3]);
        let holes = fused::are_in_holes(stepper, sampled, Tensor::from_data(position, beside), t0)?;
        for (i, _) in part.iter().zip(holes).filter(|(_, is_hole)| *is_hole) {
            cells[*i] = None;
        }
    }
    Ok(())
}

/// Steps and fractions of the releases, in the order of the seeds.
fn release_events(schedule: &Schedule, times: &[f64]) -> Vec<(u64, f64)> {
    let span = &schedule.span;
    let mut order: Vec<usize> = (0..times.len()).collect();
    let late = |i: &usize| ((times[*i] - span.t0) / span.dt).max(0.0);
    if order.iter().all(|i| late(i) == 0.0) {
        return vec![(0, 0.0); times.len()];
    }
    order.sort_by(|a, b| late(a).total_cmp(&late(b)));
    let sorted: Vec<f64> = order.iter().map(|&i| span.t0 + late(&i) * span.dt).collect();
    let mut events = vec![(0, 0.0); times.len()];
    for (i, event) in order.into_iter().zip(schedule.locate(&sorted)) {
        events[i] = event;
    }
    events
}

/// The distinct releases after the start, in order.
fn distinct(events: &[(u64, f64)], span: &TimeSpan, times: &[f64]) -> Vec<Release> {
    let late = events.iter().zip(times).filter(|(_, time)| is_late(span, **time));
    let mut releases: Vec<Release> =
        late.map(|(&(step, fraction), _)| Release { step, fraction }).collect();
    releases.sort_by(|a, b| a.step.cmp(&b.step).then(a.fraction.total_cmp(&b.fraction)));
    releases.dedup();
    releases
}
