//! Settling on the host: what becomes of the end of a step that an engine has computed.

use super::{
    Real,
    adjoint::Taken,
    arrays::{Arrays, chunks},
    dual::Dual,
    field::FieldArrays,
    launch::{Launch, LaunchData, Region},
    paths::{based, by_ends, follow_noting, free_end, replayed, start_cell},
    reinjection::{EndLog, Ended, Slot},
    walk::displacement_slopes,
};
use crate::{
    FieldShape, Segment, Step,
    ops::OUTCOME,
    physics::{
        diffusion::host::{Address, Spread, displacement},
        gates::host::{Noting, note, noting, whole},
        particle::host::{Particle, lost_status},
        prelude::host::Vec3,
        settle::host::{FreeEnd, arrive, await_release, end},
        slots::host::{is_followed, succeed},
    },
    settling::{DEFERS, GIVES_UP, MOVES, PUSHED, REJECTED, SLOW, UNKNOWN, WAKES},
    status::{ACTIVE, STAGNANT, STEP_TOO_SMALL},
};
use rayon::prelude::*;

/// Number of particles that a thread settles at a time.
const BLOCK: usize = 1024;

/// The free ends of a step; see [`FreeEnds`](crate::FreeEnds).
#[derive(Clone, Copy)]
pub(crate) struct Ends<'a, F> {
    pub displacement: &'a [[F; 3]],
    pub span: &'a [[F; 2]],
    pub spread: &'a [[F; 4]],
    pub flags: &'a [i32],
}

/// The settling of a step.
pub(super) struct Settling<'a, 'b, F: Real> {
    pub launch: &'a Launch<'b, F>,
    ends: Ends<'a, F>,
    step: Step,
    number: i32,
    first_slot: u32,
}

/// How a particle moved in the step.
pub(super) enum Move<F> {
    /// It stays where it is.
    None,
    /// To its free end.
    Free,
    /// On a path from a cell that met something.
    Met { from: [F; 3], to: [F; 3], cell: i32 },
}

/// Settles a step. Returns the instances that ended and were followed by others, and crossings of gates; those of a slot in
/// order.
pub(crate) fn settle<F: Real>(
    arrays: Arrays<F>,
    ends: Ends<F>,
    field: &FieldArrays<F>,
    geometry: (&[[F; 3]], &[i32]),
    segment: &Segment,
) -> Vec<Ended<F>> {
    let log = EndLog::of(segment, geometry.0.len());
    with_settling(field, geometry, ends, segment, |settling, _| {
        chunks(arrays, BLOCK).for_each(|mut tile| {
            let mut ended = Vec::new();
            for i in 0..tile.position.len() {
                settling.settle(tile.slot(i), &mut ended);
            }
            if let Some(log) = &log {
                log.append(&mut ended);
            }
        });
    });
    log.map(EndLog::into_log).unwrap_or_default()
}

/// Calls a function with the settling of a segment's step, and with its launch with derivatives.
pub(super) fn with_settling<F: Real, T>(
    field: &FieldArrays<F>,
    geometry: (&[[F; 3]], &[i32]),
    ends: Ends<F>,
    segment: &Segment,
    call: impl FnOnce(&Settling<F>, &Launch<Dual<F>>) -> T,
) -> T {
    let data = LaunchData::of(field, geometry, segment);
    let Segment { first_step: number, first_slot, .. } = *segment;
    let step = segment.steps[0];
    let with = |region: Option<&dyn Region<F>>| {
        let (launch, exact) = (data.launch(region), data.launch_dual(region));
        call(&Settling { launch: &launch, ends, step, number, first_slot }, &exact)
    };
    match field.shape {
        FieldShape::Mesh(mesh) => field.with_region(mesh, |region| with(Some(region))),
        _ => with(None),
    }
}

/// A position after a displacement, and what the sum loses by rounding (Dekker's fast two-sum).
pub(super) fn sum<F: Real>(from: Vec3<F>, displacement: Vec3<F>) -> (Vec3<F>, Vec3<F>) {
    let to = from + displacement;
    (to, displacement - (to - from))
}

impl<F: Real> Settling<'_, '_, F> {
    /// Settles the step of a particle. Logs the gates that it crosses, and its end if another one follows it.
    fn settle(&self, mut slot: Slot<F>, log: &mut Vec<Ended<F>>) {
        let reuses_slots = self.launch.features.reuses_slots;
        let flags = self.flags(slot.number);
        if flags & WAKES != 0 {
            slot.assign_first_release(self.launch);
        }
        if flags & (MOVES | PUSHED | REJECTED | GIVES_UP) == 0 {
            return;
        }
        let mut particle = slot.particle();
        self.take(&mut particle, slot.number, log);
        slot.put(&particle);
        if !reuses_slots || !is_followed(self.launch, &mut particle, slot.number) {
            return;
        }
        log.push(slot.ended());
        succeed(self.launch, &mut particle, slot.number);
        await_release(self.launch, &mut particle, flags & DEFERS != 0);
        slot.put(&particle);
    }

    /// The element of the particle in a slot, of one for each or of one for all.
    fn of<T: Copy>(&self, rows: &[T], slot: u32) -> T {
        rows[if rows.len() == 1 { 0 } else { (slot - self.first_slot) as usize }]
    }

    pub fn flags(&self, slot: u32) -> i32 {
        self.of(self.ends.flags, slot)
    }

    /// Takes a particle to the end of its step.
    pub fn take(&self, particle: &mut Particle<F>, slot: u32, log: &mut Vec<Ended<F>>) -> Move<F> {
        let flags = self.flags(slot);
        let adapts = self.launch.features.adaptive;
        if flags & PUSHED != 0 && self.of(self.ends.displacement, slot) == [F::zero(); 3] {
            // A path would round its position.
            return Move::Free;
        }
        particle.status = ACTIVE;
        if flags & REJECTED != 0 {
            particle.rejected = particle.rejected.saturating_add(1);
            return Move::None;
        }
        if flags & GIVES_UP != 0 {
            let [start, _] = self.of(self.ends.span, slot);
            end(particle, STEP_TOO_SMALL, self.number, start);
            return Move::None;
        }
        particle.accepted = particle.accepted.saturating_add(i32::from(adapts));
        let free = self.free_end(particle, slot);
        if free.to.0.iter().any(|x| !x.is_finite()) {
            let is_first = particle.step == self.number && particle.fraction == free.start;
            let has_holes = self.launch.features.holes;
            let status = lost_status(is_first, flags & UNKNOWN == 0, has_holes);
            end(particle, status, self.number, free.start);
            return Move::None;
        }
        if flags & SLOW != 0 {
            end(particle, STAGNANT, self.number, free.start);
            return Move::None;
        }
        let mut noting = Noting {
            generation: particle.generation,
            number: self.number,
            start: free.start,
            until: free.until,
            ..noting(slot)
        };
        self.land(particle, &free, (&mut noting, log))
    }

    /// The free end of a particle, with the displacement of the random walk.
    fn free_end(&self, particle: &Particle<F>, slot: u32) -> FreeEnd<F> {
        let [start, until] = self.of(self.ends.span, slot);
        let h = (until - start) * F::of(self.step.h);
        let step = Vec3(self.of(self.ends.displacement, slot));
        let (mut to, mut rest) = sum(particle.position, step + particle.rest);
        if self.launch.features.walk.is_on {
            let (address, spread) = self.walk(particle, slot);
            let step = displacement(self.launch, &address, &spread, h);
            (to, rest) = sum(to, step + rest);
        }
        FreeEnd { to, rest, start, until, h }
    }

    /// What the random displacement of a particle is a function of.
    fn walk(&self, particle: &Particle<F>, slot: u32) -> (Address, Spread<F>) {
        let generation = particle.generation as u32;
        let address = Address { slot, generation, step: self.number as u32 };
        let [here, gradient @ ..] = match self.launch.features.walk.varies {
            true => self.of(self.ends.spread, slot),
            false => [F::one(), F::zero(), F::zero(), F::zero()],
        };
        (address, Spread { here, gradient: Vec3(gradient) })
    }

    /// Moves a particle on the straight path to its free end.
    fn land(
        &self,
        particle: &mut Particle<F>,
        free: &FreeEnd<F>,
        (noting, log): (&mut Noting<F>, &mut Vec<Ended<F>>),
    ) -> Move<F> {
        let (from, to) = (particle.position, free.to);
        let cell = start_cell(self.launch, from.0, particle.location);
        if let Some(location) = free_end(self.launch, from.0, to.0, cell) {
            note(self.launch, &whole(from, to), noting, log);
            (particle.position, particle.rest, particle.location) = (to, free.rest, location);
            return Move::Free;
        }
        let mut hint = based(cell);
        let passage = follow_noting(self.launch, [from, to], &mut hint, (noting, log));
        arrive(self.launch, particle, &passage, free, self.number, hint.base);
        Move::Met { from: from.0, to: to.0, cell }
    }
}

/// Gradients by what a particle was before a step settled.
#[derive(Clone, Copy)]
pub(crate) struct EndGradient<F> {
    pub position: [F; 3],
    pub fraction: F,
    pub displacement: [F; 3],
    /// By the diffusivity where it starts and its derivatives.
    pub spread: [F; 4],
    /// By the diffusivity along each axis.
    pub diffusivity: [F; 3],
}

/// The gradients by what particles were before a step settled, from those by their positions and fractions after it.
pub(crate) fn pull_back<F: Real>(
    taken: &Taken<F>,
    ends: Ends<F>,
    gradients: &[[F; OUTCOME]],
) -> Vec<EndGradient<F>> {
    let Taken { position, record, fraction, field, geometry, segment } = *taken;
    with_settling(field, geometry, ends, segment, |settling, exact| {
        let row = |(i, by): (usize, &[F; OUTCOME])| {
            let (mut position, mut record, mut fraction) = (position[i], record[i], fraction[i]);
            let slot = Slot {
                number: segment.first_slot + i as u32,
                position: &mut position,
                record: &mut record,
                fraction: &mut fraction,
            };
            settling.pull_back(exact, slot, by)
        };
        gradients.par_iter().enumerate().map(row).collect()
    })
}

impl<F: Real> Settling<'_, '_, F> {
    fn pull_back(
        &self,
        exact: &Launch<Dual<F>>,
        mut slot: Slot<F>,
        by: &[F; OUTCOME],
    ) -> EndGradient<F> {
        let (zero, none) = (F::zero(), [F::zero(); 3]);
        let (position, fraction) = ([by[0], by[1], by[2]], by[OUTCOME - 1]);
        let passed = EndGradient {
            position,
            fraction,
            displacement: none,
            spread: [zero; 4],
            diffusivity: none,
        };
        let dropped = EndGradient { position: none, fraction: zero, ..passed };
        let flags = self.flags(slot.number);
        let is_released = flags & WAKES != 0 && slot.assign_first_release(self.launch).is_some();
        if is_released || position == none && fraction == zero {
            return dropped;
        }
        if flags & (MOVES | PUSHED) == 0 {
            return passed;
        }
        let before = slot.particle();
        let mut particle = before;
        let taken = self.take(&mut particle, slot.number, &mut Vec::new());
        let reuses_slots = self.launch.features.reuses_slots;
        if reuses_slots && is_followed(self.launch, &mut particle, slot.number) {
            return dropped;
        }
        let has_ended = particle.status != ACTIVE;
        let mut gradient =
            EndGradient { fraction: if has_ended { zero } else { fraction }, ..passed };
        match taken {
            Move::None => return gradient,
            Move::Free => gradient.displacement = position,
            Move::Met { from, to, cell } => {
                let [start, until] = self.of(self.ends.span, slot.number);
                let by_path = (fraction * (until - start)).exact();
                let [by_start, by_end] =
                    by_ends(&replayed(exact, from, to, cell), position, by_path);
                gradient.displacement = by_end;
                gradient.position = (Vec3(by_start) + Vec3(by_end)).0;
            }
        }
        if self.launch.features.walk.is_on {
            self.add_walk(exact, &mut gradient, &before, slot.number);
        }
        gradient
    }

    /// Adds the gradients by the diffusivity of the random walk.
    fn add_walk(
        &self,
        exact: &Launch<Dual<F>>,
        gradient: &mut EndGradient<F>,
        particle: &Particle<F>,
        slot: u32,
    ) {
        let [start, until] = self.of(self.ends.span, slot);
        let h = (until - start) * F::of(self.step.h);
        let (address, spread) = self.walk(particle, slot);
        let slopes = displacement_slopes((self.launch, exact), &address, &spread, h);
        for (d, by) in gradient.displacement.into_iter().enumerate() {
            gradient.spread[0] += by * slopes.by_here[d];
            gradient.spread[1 + d] = by * slopes.by_gradient[d];
            gradient.diffusivity[d] = by * slopes.by_factor[d];
        }
    }
}
