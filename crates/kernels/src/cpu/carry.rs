//! The velocities of particles with inertia at the ends of a step that an engine has computed.

use super::{
    Real,
    adjoint::Taken,
    dual::Dual,
    launch::Launch,
    paths::{Turn, transposed, turned},
    reinjection::Slot,
    settle::{Ends, Move, Settling, with_settling},
};
use crate::{
    physics::{prelude::host::Vec3, slots::host::is_followed},
    settling::{MOVES, PUSHED, WAKES},
};
use rayon::prelude::*;

/// The velocity of a particle at the start of a step, and its change.
type Carried<F> = [[F; 3]; 2];

/// What a step does to a velocity.
enum Landing {
    /// The particle does not move: its velocity does not change.
    Kept,
    /// It ends its path freely.
    Free,
    /// Another particle has replaced it.
    Replaced,
    Turned(Turn),
}

/// The velocities at the end of a step: [`TraceBackend::carry`](crate::TraceBackend::carry).
pub(crate) fn carry<F: Real>(
    taken: &Taken<F>,
    ends: Ends<F>,
    velocities: &[Carried<F>],
) -> Vec<[F; 3]> {
    each(taken, ends, |i, landing| {
        let [from, change] = velocities[i].map(Vec3);
        match landing {
            Landing::Kept => from.0,
            Landing::Free => (from + change).0,
            Landing::Replaced => [F::of(f64::NAN); 3],
            Landing::Turned(turn) => turn.velocity(from, change),
        }
    })
}

/// The gradients by the velocities, their changes, the starts and the displacements, from those by the velocities at the
/// end.
pub(crate) fn pull_back<F: Real>(
    taken: &Taken<F>,
    ends: Ends<F>,
    (velocities, gradients): (&[Carried<F>], &[[F; 3]]),
) -> Vec<[[F; 3]; 4]> {
    let none = [F::zero(); 3];
    each(taken, ends, |i, landing| {
        let (by, change) = (gradients[i], velocities[i][1]);
        match landing {
            Landing::Kept => [by, none, none, none],
            Landing::Free => [by, by, none, none],
            Landing::Replaced => [none; 4],
            Landing::Turned(turn) => {
                let keeps_contact = turn.keeps_contact();
                let Turn { jacobian, covered, slopes: [by_start, by_end] } = turn;
                let turned = transposed(&jacobian, by);
                if keeps_contact {
                    return [turned, turned, none, none];
                }
                let part = F::of(covered);
                let of_change = [0, 1, 2].map(|d| part * turned[d] + (F::one() - part) * by[d]);
                // The part of the path at the event depends on where it starts and ends.
                let later = (0..3).map(|d| (turned[d] - by[d]) * change[d]);
                let later = later.fold(F::zero(), |sum, part| sum + part).exact();
                let displacement = by_end.map(|slope| F::of(later * slope));
                let start = [0, 1, 2].map(|d| F::of(later * by_start[d]) + displacement[d]);
                [turned, of_change, start, displacement]
            }
        }
    })
}

/// Rows for all particles, in their order.
fn each<F: Real, T: Send>(
    taken: &Taken<F>,
    ends: Ends<F>,
    row: impl Fn(usize, Landing) -> T + Sync,
) -> Vec<T> {
    let Taken { position, record, fraction, field, geometry, segment } = *taken;
    with_settling(field, geometry, ends, segment, |settling, exact| {
        let of = |i: usize| {
            let (mut position, mut record, mut fraction) = (position[i], record[i], fraction[i]);
            let slot = Slot {
                number: segment.first_slot + i as u32,
                position: &mut position,
                record: &mut record,
                fraction: &mut fraction,
            };
            row(i, landing(settling, exact, slot))
        };
        (0..position.len()).into_par_iter().map(of).collect()
    })
}

fn landing<F: Real>(settling: &Settling<F>, exact: &Launch<Dual<F>>, mut slot: Slot<F>) -> Landing {
    let flags = settling.flags(slot.number);
    if flags & WAKES != 0 && slot.assign_first_release(settling.launch).is_some() {
        return Landing::Replaced;
    }
    if flags & (MOVES | PUSHED) == 0 {
        return Landing::Kept;
    }
    let mut particle = slot.particle();
    let taken = settling.take(&mut particle, slot.number);
    let reuses_slots = settling.launch.features.reuses_slots;
    if reuses_slots && is_followed(settling.launch, &mut particle, slot.number) {
        return Landing::Replaced;
    }
    match taken {
        Move::Met { from, to, cell } => Landing::Turned(turned(exact, from, to, cell)),
        Move::Free => Landing::Free,
        Move::None => Landing::Kept,
    }
}
