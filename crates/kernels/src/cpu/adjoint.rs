//! The derivatives of a launch. Backward ([`pull_back`], its adjoint): gradients by the positions at its
//! start, by the field's values and by the motion, from those by the positions at its end. Forward
//! ([`push_forward`]): the derivatives of the positions at its end, from those of the positions at its start.
//!
//! They are exact derivatives of the steps that were taken (discretise, then optimise); the lengths of
//! adaptive steps count as constants. A few particles take the steps of the launch once more, with the derivatives of the field at
//! their stages ([`flight`]); a step in which something happens is taken as in the run. Then the steps are reversed, the last one
//! first. Irregular steps are taken once more, one by one, and replayed with derivatives ([`replay`]).

mod flight;
mod forward;
mod replay;
mod reverse;
mod shared;
mod stages;
mod states;
mod step_field;
mod times;
mod turns;
mod values;
mod walked;

pub(crate) use forward::Tangents;
pub(crate) use reverse::Gradient;

use super::{
    Real,
    arrays::{Arrays, Position, Slots, chunks},
    field::FieldArrays,
    follow::take_steps,
    lanes,
    launch::LaunchData,
    order::Order,
    sampler::{Differentiable, WithSampler},
    segment::SegmentContext,
    shapes::RowGradients,
};
use crate::{Record, Segment, obstacle_rows};
use forward::ForwardTile;
use rayon::prelude::*;
use reverse::{ReverseTile, StartGradient, Sums};
use shared::Shared;
use values::{ValueGradients, add_parts, frames_read, parts_of};

/// Number of particles in a tile.
const TILE: usize = 64;

/// A launch that was taken, with the particles at its start.
#[derive(Clone, Copy)]
pub(crate) struct Taken<'a, F> {
    pub position: &'a [Position<F>],
    pub record: &'a [Record],
    pub fraction: &'a [F],
    pub field: &'a FieldArrays<'a, F>,
    pub geometry: (&'a [[F; 3]], &'a [i32]),
    pub segment: &'a Segment,
}

/// Turns the gradients by the positions and end fractions after a launch into those before it and by the
/// drift and diffusivity, and adds the gradients by the field's values to `values` and those by the positions
/// of inlets and by tracked shapes of obstacles to `rows`, if given.
pub(crate) fn pull_back<F: Real>(
    taken: &Taken<F>,
    gradients: &mut [Gradient<F>],
    values: Option<&mut [[F; 4]]>,
    rows: Option<&mut [[F; 3]]>,
) {
    let (mut starts, mut shapes) = (Vec::new(), RowGradients::default());
    derive(taken, gradients, Backward { values, starts: &mut starts, shapes: &mut shapes });
    let Some(rows) = rows else { return };
    for (row, by) in shapes.0 {
        rows[row] = [0, 1, 2].map(|d| rows[row][d] + F::of(by[d]));
    }
    // The same sums for any order of the particles.
    starts.sort_unstable_by_key(|start| (start.slot, start.generation));
    for start in starts {
        for (sum, by) in rows[start.row].iter_mut().zip(start.gradient) {
            *sum += by;
        }
    }
}

/// Turns the derivatives of the positions before a launch into those of the positions after it.
///
/// # Panics
///
/// If slots are re-used.
pub(crate) fn push_forward<F: Real>(taken: &Taken<F>, tangents: &mut [Tangents<F>]) {
    let is_reused = taken.segment.reinjection.is_some();
    assert!(!is_reused, "instances in re-used slots have no seed to derive by");
    derive(taken, tangents, Onward);
}

/// What is done with the steps of a launch.
trait Direction<F: Real> {
    /// The numbers of a particle.
    type Row: Copy + Send;

    /// Replays the steps of all tiles.
    fn tiles<S: Differentiable<F>>(
        self,
        sampler: &S,
        shared: &Shared<F>,
        tiles: Vec<RowTile<F, Self::Row>>,
    );
}

/// A few particles, and their numbers.
type RowTile<'a, F, R> = (Arrays<'a, F>, &'a mut [R]);

fn derive<F: Real, D: Direction<F>>(taken: &Taken<F>, rows: &mut [D::Row], direction: D) {
    let Taken { field, geometry, segment, .. } = *taken;
    if segment.steps.is_empty() {
        return;
    }
    let data = LaunchData::of(field, geometry, segment);
    field.with_sampler(segment.clock.frames, Derivation { taken, data: &data, rows, direction });
}

struct Derivation<'a, F, D: Direction<F>>
where
    F: Real,
{
    taken: &'a Taken<'a, F>,
    data: &'a LaunchData<'a, F>,
    rows: &'a mut [D::Row],
    direction: D,
}

impl<F: Real, D: Direction<F>> WithSampler<F> for Derivation<'_, F, D> {
    fn run<S: Differentiable<F>>(self, sampler: S) {
        let segment = self.taken.segment;
        let mut context = SegmentContext::new(segment, self.data.launch(sampler.region()));
        sampler.prepare(&mut context.pairs);
        let shared = Shared {
            context: &context,
            exact: self.data.launch_dual(sampler.region()),
            take_steps: &|tile| take_steps(tile, &sampler),
            shapes: segment.tracks_shapes.then(|| {
                let rows = self.taken.geometry.0.len();
                obstacle_rows(rows, &segment.obstacles, &segment.gates)
            }),
        };
        let Taken { position, record, fraction, .. } = self.taken;
        let (mut position, mut record) = (position.to_vec(), record.to_vec());
        let mut fraction = fraction.to_vec();
        let arrays = Arrays {
            position: &mut position,
            record: &mut record,
            fraction: &mut fraction,
            inertia: &mut [],
            tallies: &mut [],
            slots: Slots::From(segment.first_slot as usize),
        };
        let steps = segment.steps.len();
        let order = Order::new(&arrays, steps).unwrap_or_else(|| Order::unsorted(&arrays));
        let mut ordered = order.gather(&arrays);
        let mut rows = order.take(self.rows);
        let tiles = chunks(ordered.arrays(), TILE).zip(rows.par_chunks_mut(TILE)).collect();
        self.direction.tiles(&sampler, &shared, tiles);
        order.put(&rows, self.rows);
    }
}

/// The steps in reverse.
struct Backward<'a, F> {
    /// The gradients by the field's values, if they are wanted.
    values: Option<&'a mut [[F; 4]]>,
    /// The gradients by the release positions of instances that started in the launch.
    starts: &'a mut Vec<StartGradient<F>>,
    /// The gradients by the shapes of obstacles, if they are wanted.
    shapes: &'a mut RowGradients,
}

impl<F: Real> Direction<F> for Backward<'_, F> {
    type Row = Gradient<F>;

    fn tiles<S: Differentiable<F>>(
        self,
        sampler: &S,
        shared: &Shared<F>,
        mut tiles: Vec<RowTile<F, Gradient<F>>>,
    ) {
        let read = frames_read(shared.context);
        let steps = tiles.len() * TILE * shared.context.segment.steps.len();
        let parts = self.values.is_some().then(|| parts_of(&read, steps));
        let per_part = parts.map_or(1, |parts| tiles.len().div_ceil(parts)).max(1);
        let part = |tiles: &mut [RowTile<F, Gradient<F>>]| {
            let values = parts.map(|_| ValueGradients::zeros(&read));
            let (starts, shapes) = (Vec::new(), RowGradients::default());
            let mut sums = Sums { values, starts, shapes };
            for (arrays, gradients) in tiles {
                let (arrays, sums) = (arrays.reborrow(), &mut sums);
                lanes::dispatch(ReverseTile { shared, arrays, gradients, sums, sampler });
            }
            sums
        };
        let parts: Vec<_> = tiles.par_chunks_mut(per_part).map(part).collect();
        let mut values = Vec::with_capacity(parts.len());
        for part in parts {
            self.starts.extend(part.starts);
            part.shapes.0.into_iter().for_each(|(row, by)| self.shapes.add(row, by));
            values.extend(part.values);
        }
        if let Some(all) = self.values {
            add_parts(all, &values);
        }
    }
}

/// The steps in their order.
struct Onward;

impl<F: Real> Direction<F> for Onward {
    type Row = Tangents<F>;

    fn tiles<S: Differentiable<F>>(
        self,
        sampler: &S,
        shared: &Shared<F>,
        tiles: Vec<RowTile<F, Tangents<F>>>,
    ) {
        tiles.into_par_iter().for_each(|(arrays, tangents)| {
            lanes::dispatch(ForwardTile { shared, arrays, tangents, sampler });
        });
    }
}
