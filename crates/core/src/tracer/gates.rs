//! The gates of a run, the room of logs, and what crossed gates so far.

use super::{
    Tracer, arrays::is_host, fused, obstacles::outline, reinjection::End, stepper::Stepper,
};
use crate::{
    Crossing, Error, Gate, GateShape, Result, Sampled, Shape,
    error::short,
    field::{self, AXES},
    schedule::Chunk,
};
use burntrace_kernels::{Launched, Particles, Segment};
use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

/// Crossings of a slot for which a log has room at first, on devices that need a fixed size.
const ROWS: usize = 8;

/// The gates of a run, and what crossed them since the last segment.
pub(super) struct Gates {
    /// Measured from the origin.
    pub shapes: Arc<[GateShape]>,
    rows: AtomicUsize,
    crossings: Mutex<Vec<End>>,
}

impl Gates {
    pub fn of(tracer: &Tracer) -> Result<Self> {
        let by = field::origin(tracer.field).map(|x| -x);
        let shapes = checked(tracer)?.into_iter().map(|shape| shape.moved(by)).collect();
        Ok(Gates { shapes, rows: AtomicUsize::new(ROWS), crossings: Mutex::default() })
    }

    /// Rows of a log for each slot, of which ends need some.
    fn rows(&self, of_ends: usize) -> usize {
        if self.shapes.is_empty() {
            of_ends
        } else {
            of_ends.max(self.rows.load(Ordering::Relaxed))
        }
    }

    pub fn add(&self, crossing: End) {
        self.with(|all| all.push(crossing));
    }

    /// Number of crossings since they were taken.
    pub fn count(&self) -> usize {
        self.with(|all| all.len())
    }

    /// Removes crossings of steps that are taken once more.
    pub fn truncate(&self, count: usize) {
        self.with(|all| all.truncate(count));
    }

    /// Takes the crossings of a segment, in the order of slots. `first` is the slot of the first particle, and `origin` the point from
    /// which positions are measured.
    pub fn take(&self, chunk: &Chunk, first: usize, origin: [f64; 3]) -> Vec<Crossing> {
        let mut all = self.with(std::mem::take);
        // Those of a slot are in order.
        all.sort_by_key(|crossing| crossing.slot);
        let crossing = |crossing: End| Crossing {
            gate: crossing.location as usize,
            slot: (crossing.slot as usize).saturating_sub(first),
            generation: crossing.generation,
            is_forward: crossing.status > 0,
            time: super::slots::time_of(&crossing, chunk),
            position: field::plain(origin, crossing.position),
        };
        all.into_iter().map(crossing).collect()
    }

    fn with<T>(&self, call: impl FnOnce(&mut Vec<End>) -> T) -> T {
        call(&mut self.crossings.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What a log of fixed size had no room for.
pub(super) enum Room {
    /// Nothing.
    Enough,
    /// Ends: they wait for a launch that resumes.
    Waits,
    /// Crossings.
    Lost,
}

/// Launches steps, again if the log had no room for all that happened in them. `rows` are those that ends need. Adds the ends that are
/// followed by others.
pub(super) fn launch(
    stepper: &Stepper,
    mut particles: Particles,
    (mut segment, rows): (Segment, usize),
    ends: &mut Vec<End>,
    take: impl Fn(Particles, Segment) -> Launched,
) -> Result<Particles> {
    if segment.reinjection.is_none() && segment.gates.is_empty() {
        return Ok(take(particles, segment).particles);
    }
    let gates = &stepper.gates;
    let known = (ends.len(), gates.count());
    // Logs in host memory have room for everything.
    let may_lose = !segment.gates.is_empty() && !is_host(&particles.position.device());
    let start = may_lose.then(|| particles.clone());
    segment.log_rows = gates.rows(rows);
    loop {
        let launched = take(particles, segment.clone());
        particles = launched.particles;
        match (fused::read(launched.log, ends, gates)?, &start) {
            (Room::Enough, _) | (Room::Lost, None) => return Ok(particles),
            (Room::Waits, _) => resume(&mut segment, true),
            (Room::Lost, Some(start)) => {
                ends.truncate(known.0);
                gates.truncate(known.1);
                gates.rows.fetch_max(2 * segment.log_rows, Ordering::Relaxed);
                segment.log_rows = gates.rows(rows);
                resume(&mut segment, false);
                particles = start.clone();
            }
        }
    }
}

fn resume(segment: &mut Segment, resumes: bool) {
    if let Some(reinjection) = &mut segment.reinjection {
        reinjection.resumes = resumes;
    }
}

/// The shapes of a tracer's gates, adapted to its domain.
fn checked(tracer: &Tracer) -> Result<Vec<GateShape>> {
    let gates = &tracer.save.gates;
    let of_one = |(number, gate): (usize, &Gate)| {
        let fail = |reason: String| Error::Gate { name: gate.name.clone(), reason };
        if gates[..number].iter().any(|other| other.name == gate.name) {
            return Err(fail("another one has the same name; give each its own".into()));
        }
        let shape = adapted(tracer, &gate.shape).map_err(fail)?;
        match shape.flaw() {
            Some(flaw) => Err(fail(flaw.into())),
            None => in_domain(tracer, &shape).map(|()| shape).map_err(fail),
        }
    };
    gates.iter().enumerate().map(of_one).collect()
}

/// A shape that extends along the flat axes of the domain.
fn adapted(tracer: &Tracer, shape: &GateShape) -> std::result::Result<GateShape, String> {
    let domain = tracer.domain_box();
    let flat = |d: usize| domain.is_flat(d);
    let is_round = match shape {
        GateShape::Plane { radius, .. } => radius.is_finite(),
        GateShape::Region(shape) => !matches!(shape, Shape::Box { .. }),
    };
    if is_round && tracer.field.sampled().and_then(Sampled::radius).is_some() {
        return Err("on a sphere, positions are longitudes, latitudes and heights, of which there is no common \
                    distance; use a box or a plane without a radius"
            .into());
    }
    match shape.clone() {
        GateShape::Region(shape) => outline(shape, &domain).map(GateShape::Region),
        GateShape::Plane { origin, normal, radius, mut low, mut high } => {
            if let Some(d) = (0..3).find(|d| flat(*d) && normal[*d] != 0.0) {
                let axis = AXES[d];
                return Err(format!(
                    "its normal has a component along {axis}, along which the domain is flat; give 0 there"
                ));
            }
            for d in (0..3).filter(|d| flat(*d)) {
                (low[d], high[d]) = (f64::NEG_INFINITY, f64::INFINITY);
            }
            Ok(GateShape::Plane { origin, normal, radius, low, high })
        }
    }
}

/// Refuses a gate that no particle can reach.
fn in_domain(tracer: &Tracer, shape: &GateShape) -> std::result::Result<(), String> {
    let (domain, [low, high]) = (tracer.domain_box(), shape.bounds());
    let is_apart =
        |d: &usize| !domain.is_flat(*d) && (high[*d] < domain.low[*d] || low[*d] > domain.high[*d]);
    match (0..3).find(is_apart) {
        None => Ok(()),
        Some(d) => Err(format!(
            "along {} it reaches from {} to {}, and the domain from {} to {}; no particle can cross it",
            AXES[d],
            short(low[d]),
            short(high[d]),
            short(domain.low[d]),
            short(domain.high[d]),
        )),
    }
}
