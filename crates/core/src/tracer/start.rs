//! How a run starts: its particles on the device, and when each is released.

use super::{lives::Slots, rows::Rows};
use crate::{
    Domain, Error, Field, Result, Seeds, Status,
    floats::Floats,
    schedule::{Schedule, TimeSpan},
};
use burn::tensor::{DType, Device, Tensor, TensorData};
use burntrace_kernels::{NEVER, Particles, RECORD};

/// A release that does not coincide with the begin of the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Release {
    /// Number of the step within which it happens.
    pub step: u64,
    /// The fraction of that step.
    pub fraction: f64,
}

/// How the particles of a run began.
pub(super) struct Start {
    pub begun: ReleaseTimes,
    /// The distinct later releases, in order.
    pub releases: Vec<Release>,
}

/// When the seeds are released.
pub(super) struct ReleaseTimes {
    /// The begin of the run, where all of them are.
    t0: f64,
    /// Time and step of each, where they are released one by one.
    pub each: Option<Vec<(f64, u64)>>,
}

impl ReleaseTimes {
    /// Time and step of the release of a seed.
    pub fn of(&self, seed: usize) -> (f64, u64) {
        self.each.as_ref().map_or((self.t0, 0), |each| each[seed])
    }
}

/// The particles before the first step: those of seeds, and after them the slots of sources, which
/// are empty.
pub(super) fn start(
    (seeds, places): (&Seeds, &[Option<i32>]),
    slots: Option<&Slots>,
    schedule: &Schedule,
    field: &dyn Field,
) -> (Rows, Start) {
    let span = &schedule.span;
    let events = seeds.release().map(|times| (release_events(schedule, times), times));
    let event = |i: usize| events.as_ref().map_or((0, 0.0), |(events, _)| events[i]);
    let is_late = |i: usize| events.as_ref().is_some_and(|(_, times)| is_late(span, times[i]));
    let empty = slots.map(Slots::first_places).unwrap_or_default();
    let mut records = Vec::with_capacity((places.len() + empty.len()) * RECORD);
    for (i, place) in places.iter().enumerate() {
        let status = if place.is_none() {
            Status::NotLocated
        } else if is_late(i) {
            Status::Waiting
        } else {
            Status::Active
        };
        records.extend([status.code(), event(i).0 as i32, 0, 0, 0, place.unwrap_or(0), 0, 0, 0]);
    }
    records.extend([Status::Waiting.code(), NEVER, 0, 0, 0, 0, 0, 0, 0].repeat(empty.len()));
    let fractions = (0..places.len()).map(|i| event(i).1).chain(empty.iter().map(|_| 0.0));
    let numbers = seeds.positions().as_flattened().iter().chain(empty.as_flattened());
    let rows = Rows {
        position: Floats::of(field.precision(), numbers.copied()),
        record: records,
        fraction: Floats::of(field.precision(), fractions),
    };
    let each = |(events, times): &(Vec<(u64, f64)>, &[f64])| {
        times.iter().zip(events).map(|(time, event)| (*time, event.0)).collect()
    };
    let start = Start {
        begun: ReleaseTimes { t0: span.t0, each: events.as_ref().map(each) },
        releases: events.map_or(Vec::new(), |(events, times)| distinct(&events, span, times)),
    };
    (rows, start)
}

/// Particles on the field's device. Seeds that are a tensor stay in their graph.
pub(super) fn on_device(rows: Rows, seeds: &Seeds, field: &dyn Field) -> Particles {
    let count = rows.count();
    let particles = rows.into_particles(&plain(&field.device()));
    if !seeds.is_tracked() && !field.device().is_autodiff() {
        return particles;
    }
    let given = seeds.tensor(&field.device(), field.precision());
    let position = match seeds.len() == count {
        true => given,
        false => {
            let empty = particles.position.clone().slice([seeds.len()..count, 0..3]);
            let empty = Tensor::from_data(empty.into_data(), (&given.device(), given.dtype()));
            if seeds.is_empty() { empty } else { Tensor::cat(vec![given, empty], 0) }
        }
    };
    Particles { position, ..particles }
}

/// Particles that take part in nothing, in the middle of the domain, for trying a run out.
pub(super) fn idle(count: usize, field: &dyn Field) -> Particles {
    let Domain { low, high } = field.domain();
    let middle = [0, 1, 2].map(|d| {
        let middle = 0.5 * (low[d] + high[d]);
        if middle.is_finite() { middle } else { 0.0 }
    });
    let device = plain(&field.device());
    let dtype = field.precision().dtype();
    let position = field.precision().data(middle.repeat(count), [count, 3]);
    let record = [Status::NotLocated.code(), 0, 0, 0, 0, 0, 0, 0, 0].repeat(count);
    Particles {
        position: Tensor::from_data(position, (&device, dtype)),
        record: Tensor::from_data(TensorData::new(record, [count, RECORD]), (&device, DType::I32)),
        fraction: Tensor::zeros([count], (&device, dtype)),
    }
}

/// Whether a time comes after the begin of the run.
fn is_late(span: &TimeSpan, time: f64) -> bool {
    (time - span.t0) / span.dt > 0.0
}

/// The device without gradient tracking, for tensors that have none.
pub(super) fn plain(device: &Device) -> Device {
    if device.is_autodiff() { device.clone().inner() } else { device.clone() }
}

/// What the records of seeds keep of their cells, 0 where the field has no mesh; nothing for seeds
/// outside the domain, or outside the mesh of a field that has one.
pub(super) fn places(
    seeds: &Seeds,
    domain: &Domain,
    field: &dyn Field,
) -> Result<Vec<Option<i32>>> {
    let cells = cells(seeds, field)?;
    let place = |(i, p): (usize, &[f64; 3])| {
        let cell = cells.as_ref().map_or(-1, |cells| cells[i]);
        let is_inside = domain.contains(*p) && (cells.is_none() || cell >= 0);
        is_inside.then_some(cell + 1)
    };
    Ok(seeds.positions().iter().enumerate().map(place).collect())
}

/// The cells of seeds in the mesh of a field that has one, or -1.
fn cells(seeds: &Seeds, field: &dyn Field) -> Result<Option<Vec<i32>>> {
    let (Some(mesh), Some(sampled)) = (field.mesh(), field.sampled()) else { return Ok(None) };
    if seeds.is_empty() {
        return Ok(Some(Vec::new()));
    }
    if field.device().is_autodiff() {
        let cell = |p: &[f64; 3]| mesh.locate(*p).map_or(-1, |found| found.cell as i32);
        return Ok(Some(seeds.positions().iter().map(cell).collect()));
    }
    let position = seeds.tensor(&field.device(), field.precision()).detach();
    let failed = |error: &dyn std::fmt::Debug| Error::Execution(format!("{error:?}"));
    let cells = burntrace_kernels::locate(position, &sampled.tensors).try_into_data();
    let cells = cells.map_err(|error| failed(&error))?.convert::<i32>();
    Ok(Some(cells.try_into_vec::<i32>().map_err(|error| failed(&error))?))
}

/// Refuses seeds without a place.
pub(super) fn check_inside(
    seeds: &Seeds,
    places: &[Option<i32>],
    domain: &Domain,
    field: &dyn Field,
) -> Result<()> {
    let positions = seeds.positions();
    let Some(first) = places.iter().position(Option::is_none) else {
        return Ok(());
    };
    let what = match domain.contains(positions[first]) {
        false => "domain",
        true if field.mesh().is_some() => "mesh",
        true => "allowed side of the obstacles",
    };
    Err(Error::SeedsOutside {
        what,
        outside: places.iter().filter(|place| place.is_none()).count(),
        count: positions.len(),
        first,
        position: positions[first],
        low: domain.low,
        high: domain.high,
    })
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

/// The different releases after the begin, in order.
fn distinct(events: &[(u64, f64)], span: &TimeSpan, times: &[f64]) -> Vec<Release> {
    let late = events.iter().zip(times).filter(|(_, time)| is_late(span, **time));
    let mut releases: Vec<Release> =
        late.map(|(&(step, fraction), _)| Release { step, fraction }).collect();
    releases.sort_by(|a, b| a.step.cmp(&b.step).then(a.fraction.total_cmp(&b.fraction)));
    releases.dedup();
    releases
}
