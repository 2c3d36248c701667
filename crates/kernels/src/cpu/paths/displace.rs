//! Particles in host memory, moved at the end of a step.

use super::{Paths, Precise, Surroundings, plain, replayed, start_cell};
use crate::{
    POSITION, Record, Status,
    cpu::{Real, dual::Dual, launch::Launch},
};
use rayon::prelude::*;
use std::any::Any;

/// Number of particles that a thread moves at a time.
const BLOCK: usize = 4096;

/// Particles in host memory at the end of a step, and the positions to which an operation moves them.
pub struct Displaced<'a, F> {
    /// Positions and their rests; see [`Particles`](crate::Particles).
    pub position: &'a mut [[F; POSITION]],
    /// A record for each particle.
    pub record: &'a mut [Record],
    /// A fraction for each particle.
    pub fraction: &'a mut [F],
    /// The slot of each particle, from 0; `None` if they are in that order.
    pub slots: Option<&'a [u32]>,
    /// The position after the operation of each slot, in the data's coordinates.
    pub to: &'a [[F; 3]],
    /// The origin from which positions of particles are measured.
    pub origin: [F; 3],
    /// Axes along which particles do not move.
    pub flat: [bool; 3],
    /// The step.
    pub step: i32,
}

/// A particle of [`Displaced`].
struct Row<'a, F> {
    position: &'a mut [F; POSITION],
    record: &'a mut Record,
    fraction: &'a mut F,
}

/// A displacement at the end of a step.
struct Displacement<'a, 'b, F: Real> {
    launch: &'a Launch<'b, F>,
    exact: &'a Launch<'b, Dual<F>>,
    /// The cell that a location names.
    cell_of: &'a (dyn Fn(i32) -> i32 + Sync),
    step: i32,
}

impl Paths {
    /// Moves active particles on straight paths, which meet faces, obstacles and the boundary of the mesh as the
    /// path of a step does. Those that the operation left where they were keep their position and what surrounds
    /// them; one with a position that is not finite ends where it is.
    ///
    /// # Panics
    ///
    /// If the paths have another precision.
    pub fn displace<F: Real>(&self, particles: Displaced<F>) {
        let surroundings: &dyn Any = match &self.0 {
            Precise::Single(surroundings) => surroundings,
            Precise::Double(surroundings) => surroundings,
        };
        match surroundings.downcast_ref::<Surroundings<F>>() {
            Some(surroundings) => surroundings.displace(particles),
            None => panic!("displace: the paths have another precision than the particles"),
        }
    }
}

impl<F: Real> Surroundings<F> {
    fn displace(&self, particles: Displaced<F>) {
        let Displaced { position, record, fraction, slots, to, origin, flat, step } = particles;
        self.with(|data, region| {
            let (launch, exact) = (data.launch(region), data.launch_dual(region));
            let cell_of = |location| self.cell_of(location);
            let displacement =
                Displacement { launch: &launch, exact: &exact, cell_of: &cell_of, step };
            let blocks = position.par_chunks_mut(BLOCK).zip(record.par_chunks_mut(BLOCK));
            let blocks = blocks.zip(fraction.par_chunks_mut(BLOCK)).enumerate();
            blocks.for_each(|(block, ((position, record), fraction))| {
                let rows = position.iter_mut().zip(record).zip(fraction);
                for (i, ((position, record), fraction)) in rows.enumerate() {
                    if record.status != Status::Active.code() {
                        continue;
                    }
                    let slot =
                        slots.map_or(BLOCK * block + i, |slots| slots[BLOCK * block + i] as usize);
                    let after = in_data(position, origin);
                    let to = [0, 1, 2].map(|d| if flat[d] { after[d] } else { to[slot][d] });
                    displacement.apply(Row { position, record, fraction }, after, to);
                }
            });
        });
    }
}

/// The position of a particle in the data's coordinates.
fn in_data<F: Real>(position: &[F; POSITION], origin: [F; 3]) -> [F; 3] {
    let is_shifted = origin.iter().any(|x| *x != F::zero());
    [0, 1, 2].map(|d| if is_shifted { position[d] + origin[d] } else { position[d] })
}

impl<F: Real> Displacement<'_, '_, F> {
    /// Moves a particle from `after` to `to`, both in the data's coordinates.
    fn apply(&self, row: Row<F>, after: [F; 3], to: [F; 3]) {
        let Row { position: p, record, fraction } = row;
        let displacement = [0, 1, 2].map(|d| to[d] - after[d]);
        if to == after {
            // Paths would round it.
            (0..3).for_each(|d| p[d] += displacement[d]);
            return;
        }
        let from = [p[0], p[1], p[2]];
        let displacement = [0, 1, 2].map(|d| displacement[d] + p[d + 3]);
        let to = [0, 1, 2].map(|d| from[d] + displacement[d]);
        if !to.iter().all(|x| x.is_finite()) {
            record.status = Status::NonFinite.code();
            (record.step, *fraction) = (self.step, F::one());
            return;
        }
        let cell = start_cell(self.launch, from, (self.cell_of)(record.location));
        let path = plain(self.launch, from, to, cell)
            .unwrap_or_else(|| replayed(self.exact, from, to, cell));
        for d in 0..3 {
            let end = F::of(path.position[d]);
            // What the sum has lost, along axes on which nothing but periods came between.
            let is_free = end == to[d] || path.image[d] != 0;
            p[d + 3] = if is_free { displacement[d] - (to[d] - from[d]) } else { F::zero() };
            p[d] = end;
            record.image[d] += path.image[d];
        }
        record.location = path.location;
        if let Some((status, _)) = path.end {
            record.status = status.code();
            (record.step, *fraction) = (self.step, F::one());
        }
    }
}
