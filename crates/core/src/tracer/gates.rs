//! The gates of a run, the room of logs, and what crossed gates so far.

use super::{
    Tracer, arrays::is_host, fused, obstacles::outline, reinjection::End, stepper::Stepper,
};
use crate::{
    BoundaryCondition, Crossing, Domain, Error, Gate, GateShape, Result, Sampled, Shape,
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

/// Maximum number of rows of all slots together: 4.8 GB in single precision.
const MAX_ROWS: usize = 1 << 27;

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

    /// Removes the crossings of a particle later in a step than a fraction, at which it has ended.
    pub fn forget(&self, slot: u32, step: i32, fraction: f64) {
        self.with(|all| {
            all.retain(|of| of.slot != slot || of.step != step || of.fraction <= fraction);
        });
    }

    /// Takes the crossings of a segment, in the order of slots. `first` is the slot of the first particle, and `origin` the point from
    /// which positions are measured.
    pub fn take(&self, chunk: &Chunk, first: usize, origin: [f64; 3]) -> Vec<Crossing> {
        let mut all = self.with(std::mem::take);
        // Those at the same time are in order.
        let key = |of: &End| (of.slot, of.generation, of.step);
        all.sort_by(|a, b| key(a).cmp(&key(b)).then(a.fraction.total_cmp(&b.fraction)));
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
                let wider = 2 * segment.log_rows;
                if wider.saturating_mul(start.count()) > MAX_ROWS {
                    return Err(too_many(segment.log_rows, start.count()));
                }
                gates.rows.fetch_max(wider, Ordering::Relaxed);
                segment.log_rows = gates.rows(rows);
                resume(&mut segment, false);
                particles = start.clone();
            }
        }
    }
}

fn too_many(rows: usize, particles: usize) -> Error {
    Error::Execution(format!(
        "particles cross gates more than {rows} times in a launch, for which a log of {particles} particles has no room; give a smaller batch, \
         save more often, or use a CPU"
    ))
}

fn resume(segment: &mut Segment, resumes: bool) {
    if let Some(reinjection) = &mut segment.reinjection {
        reinjection.resumes = resumes;
    }
}

impl Gate {
    /// The gate as it is in a domain: a region extends along its flat axes, as obstacles do.
    pub fn extended(self, domain: &Domain) -> Gate {
        let shape = match self.shape {
            GateShape::Region(shape) => {
                GateShape::Region(outline(shape.clone(), domain).unwrap_or(shape))
            }
            other @ (GateShape::Plane { .. } | GateShape::Polygon(_) | GateShape::Patch(_)) => {
                other
            }
        };
        Gate { shape, ..self }
    }
}

/// The shapes of a tracer's gates, adapted to its domain.
fn checked(tracer: &Tracer) -> Result<Vec<GateShape>> {
    let gates = &tracer.save.gates;
    let of_one = |(number, gate): (usize, &Gate)| {
        let fail = |reason: String| Error::Gate { name: gate.name.clone(), reason };
        // Names of the store have no spaces.
        let in_store = |gate: &Gate| gate.name.trim().replace(' ', "_");
        if in_store(gate).is_empty() {
            return Err(fail("its name is empty; give it one".into()));
        }
        if gates[..number].iter().any(|other| in_store(other) == in_store(gate)) {
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
        GateShape::Polygon(_) | GateShape::Patch(_) => false,
        GateShape::Region(shape) => !matches!(shape, Shape::Box { .. }),
    };
    if is_round && tracer.field.sampled().and_then(Sampled::radius).is_some() {
        return Err("on a sphere, positions are longitudes, latitudes and heights, of which there is no common \
                    distance; use a box or a plane without a radius"
            .into());
    }
    match shape.clone() {
        GateShape::Region(shape) => outline(shape, &domain).map(GateShape::Region),
        GateShape::Patch(number) => match exit_flaw(tracer, number) {
            Some(flaw) => Err(flaw),
            None => Ok(GateShape::Patch(number)),
        },
        GateShape::Polygon(_) if (0..3).any(flat) => {
            Err("the domain is flat, where a polygon is a line; use a plane with its corners low and high".into())
        }
        GateShape::Polygon(corners) => {
            let mut by = [0.0; 3];
            for (d, by) in by.iter_mut().enumerate() {
                // The low face of a period is its high face, as for a plane.
                let is_at_low = corners.iter().all(|corner| corner[d] == domain.low[d]);
                if is_at_low && is_periodic(tracer, d) {
                    *by = domain.high[d] - domain.low[d];
                }
            }
            Ok(GateShape::Polygon(corners).moved(by))
        }
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
            let mut origin = origin;
            for (d, at) in origin.iter_mut().enumerate() {
                // The low face of a period is its high face, which paths meet before they go on.
                let is_along = (0..3).all(|other| other == d || normal[other] == 0.0);
                if is_along && is_periodic(tracer, d) && *at == domain.low[d] {
                    *at = domain.high[d];
                }
            }
            Ok(GateShape::Plane { origin, normal, radius, low, high })
        }
    }
}

/// Why no particle leaves through a patch, if so.
fn exit_flaw(tracer: &Tracer, number: usize) -> Option<String> {
    let patches = &tracer.surroundings.patches;
    let Some(patch) = patches.get(number) else {
        return Some(format!("it is the patch {number}, but there are {}", patches.len()));
    };
    let (name, wall) = (patch.name(), patch.condition());
    if tracer.field.mesh().is_none() {
        return Some(format!(
            "it is the patch `{name}` of a mesh, and the field is not on a mesh; use a plane"
        ));
    }
    (wall != BoundaryCondition::Exit).then(|| {
        format!(
            "no particle leaves through its patch `{name}`, whose condition is `{}`; use a patch with `exit`",
            wall.name()
        )
    })
}

/// Refuses a gate that no particle can reach.
fn in_domain(tracer: &Tracer, shape: &GateShape) -> std::result::Result<(), String> {
    let (domain, [low, high]) = (tracer.domain_box(), shape.bounds());
    let is_apart =
        |d: &usize| !domain.is_flat(*d) && (high[*d] < domain.low[*d] || low[*d] > domain.high[*d]);
    let is_cut = |d: &usize| {
        let (below, above) = (low[*d] < domain.low[*d], high[*d] > domain.high[*d]);
        is_periodic(tracer, *d)
            && !domain.is_flat(*d)
            && (below && low[*d].is_finite() || above && high[*d].is_finite())
    };
    let Some(d) = (0..3).find(|d| is_apart(d) || is_cut(d)) else { return Ok(()) };
    let range = |[from, to]: [f64; 2]| format!("from {} to {}", short(from), short(to));
    let reach = format!("along {} it reaches {}", AXES[d], range([low[d], high[d]]));
    let domain = range([domain.low[d], domain.high[d]]);
    Err(match is_apart(&d) {
        false => format!(
            "{reach}, beyond the periodic domain {domain}; give the part in it, or two gates"
        ),
        true => format!("{reach}, and the domain {domain}; no particle can cross it"),
    })
}

fn is_periodic(tracer: &Tracer, d: usize) -> bool {
    tracer.surroundings.faces[d].contains(&BoundaryCondition::Periodic)
}
