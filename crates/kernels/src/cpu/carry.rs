//! The velocities of particles with inertia at the ends of a step that an engine has computed.

use super::{
    Real,
    adjoint::Taken,
    dual::Dual,
    inertial::Velocities,
    launch::Launch,
    paths::{deflected, deflected_back},
    reinjection::Slot,
    settle::{Ends, Move, Settling, with_settling},
};
use crate::{
    physics::{prelude::host::Vec3, slots::host::is_followed},
    settling::{MOVES, PUSHED, WAKES},
};
use rayon::prelude::*;

/// A launch without and with derivatives.
type Launches<'a, 'b, F> = (&'a Launch<'b, F>, &'a Launch<'b, Dual<F>>);

/// What a step does to a velocity.
enum Landing<F> {
    /// The particle does not move: its velocity does not change.
    Still,
    /// It ends its path freely.
    Free,
    /// Another particle has replaced it.
    Replaced,
    /// Its path met something, from a cell on.
    Met { path: [[F; 3]; 2], cell: i32 },
}

/// The velocities at the end of a step: [`TraceBackend::carry`](crate::TraceBackend::carry).
pub(crate) fn carry<F: Real>(
    taken: &Taken<F>,
    ends: Ends<F>,
    velocities: &[Velocities<F>],
) -> Vec<[F; 3]> {
    each(taken, ends, |i, landing, launches| {
        let [from, change] = velocities[i].map(Vec3);
        match landing {
            Landing::Still => from.0,
            Landing::Free => (from + change).0,
            Landing::Replaced => [F::of(f64::NAN); 3],
            Landing::Met { path, cell } => {
                deflected(launches.0, path.map(Vec3), cell, [from, change]).0
            }
        }
    })
}

/// The gradients by the velocities, their changes, the starts and the displacements, from those by the velocities at the
/// end.
pub(crate) fn pull_back<F: Real>(
    taken: &Taken<F>,
    ends: Ends<F>,
    (velocities, gradients): (&[Velocities<F>], &[[F; 3]]),
) -> Vec<[[F; 3]; 4]> {
    let none = [F::zero(); 3];
    each(taken, ends, |i, landing, launches| {
        let by = gradients[i];
        match landing {
            Landing::Still => [by, none, none, none],
            Landing::Free => [by, by, none, none],
            Landing::Replaced => [none; 4],
            Landing::Met { path, cell } => {
                let back = deflected_back(launches.1, path, cell, velocities[i], by);
                let [from, to, velocity, of_change] = back;
                [velocity, of_change, (Vec3(from) + Vec3(to)).0, to]
            }
        }
    })
}

/// Rows for all particles, in their order.
fn each<F: Real, T: Send>(
    taken: &Taken<F>,
    ends: Ends<F>,
    row: impl Fn(usize, Landing<F>, Launches<F>) -> T + Sync,
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
            row(i, landing(settling, slot), (settling.launch, exact))
        };
        (0..position.len()).into_par_iter().map(of).collect()
    })
}

fn landing<F: Real>(settling: &Settling<F>, mut slot: Slot<F>) -> Landing<F> {
    let flags = settling.flags(slot.number);
    if flags & WAKES != 0 && slot.assign_first_release(settling.launch).is_some() {
        return Landing::Replaced;
    }
    if flags & (MOVES | PUSHED) == 0 {
        return Landing::Still;
    }
    let mut particle = slot.particle();
    let taken = settling.take(&mut particle, slot.number, &mut Vec::new());
    let reuses_slots = settling.launch.features.reuses_slots;
    if reuses_slots && is_followed(settling.launch, &mut particle, slot.number) {
        return Landing::Replaced;
    }
    match taken {
        Move::Met { from, to, cell } => Landing::Met { path: [from, to], cell },
        Move::Free => Landing::Free,
        Move::None => Landing::Still,
    }
}
