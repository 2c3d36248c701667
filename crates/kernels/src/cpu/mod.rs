//! The fused step on a CPU: loops over tiles of particles, on all threads of the current rayon
//! pool, compiled for the widest vectors that the processor supports.

mod adapt;
pub(crate) mod adjoint;
mod arrays;
pub(crate) mod carry;
mod chart;
pub(crate) mod dual;
mod field;
mod follow;
mod formula;
mod frame_pair;
pub(crate) mod gates;
mod grid;
mod inertial;
pub(crate) mod lanes;
pub(crate) mod launch;
pub(crate) mod mesh;
mod method;
pub(crate) mod order;
pub(crate) mod paths;
mod points;
mod probe;
mod real;
mod reinjection;
pub(crate) mod reuse;
mod sample;
mod sampler;
mod samplers;
mod segment;
pub(crate) mod settle;
mod shapes;
mod shares;
mod single;
mod step;
pub(crate) mod tallies;
mod tile;
mod trail;
mod walk;
mod walls;

pub(crate) use arrays::{Arrays, Position, Slots, tiles};
pub(crate) use field::FieldArrays;
pub(crate) use inertial::Inertia;
pub use real::Real;
pub(crate) use reinjection::Ended;
pub(crate) use sample::sample;

use crate::{FieldShape, Segment};
use follow::{TakeSteps, take_steps};
pub use lanes::instructions;
use launch::LaunchData;
use order::{Order, Parts};
use rayon::prelude::*;
use sampler::{Differentiable, WithSampler};
use segment::SegmentContext;
use std::ops::Range;
use tile::Tile;

/// Advances all particles through a segment. Returns the instances that ended and were followed by
/// others, in no particular order.
pub(crate) fn advance<F: Real>(
    arrays: Arrays<F>,
    field: &FieldArrays<F>,
    geometry: (&[[F; 3]], &[i32]),
    segment: &Segment,
) -> Vec<Ended<F>> {
    // The log on a CPU is unbounded, so no launch leaves anything to resume.
    let resumes = segment.reinjection.as_ref().is_some_and(|reinjection| reinjection.resumes);
    let mut log = Vec::new();
    if !resumes {
        let data = LaunchData::of(field, geometry, segment);
        let work = Advance { arrays, segment, data: &data, log: &mut log };
        field.with_sampler(segment.clock.frames, work);
    }
    log
}

struct Advance<'a, F> {
    arrays: Arrays<'a, F>,
    segment: &'a Segment,
    data: &'a LaunchData<'a, F>,
    log: &'a mut Vec<Ended<F>>,
}

impl<F: Real> WithSampler<F> for Advance<'_, F> {
    fn run<S: Differentiable<F>>(self, sampler: S) {
        let mut context = SegmentContext::new(self.segment, self.data.launch(sampler.region()));
        sampler.prepare(&mut context.pairs);
        self.run_tiles(context, &|tile| take_steps(tile, &sampler));
    }
}

impl<F: Real> Advance<'_, F> {
    fn run_tiles(self, context: SegmentContext<F>, take_steps: &TakeSteps<F>) {
        let advance = |arrays: Arrays<F>, steps: &Range<usize>| {
            tiles(arrays).for_each(|arrays| take_steps(Tile::new(arrays, &context, steps.clone())));
        };
        let mut arrays = self.arrays;
        let mut parts = Parts::new(arrays.position.len(), self.segment.steps.len());
        while let Some(steps) = parts.next(context.ended()) {
            // Rows that are not in the order of slots have been sorted before.
            let order = match arrays.slots {
                Slots::From(_) => Order::new(&arrays, steps.len()),
                Slots::Listed(..) => None,
            };
            match order {
                None => advance(arrays.reborrow(), &steps),
                Some(order) => {
                    let mut ordered = order.gather(&arrays);
                    advance(ordered.arrays(), &steps);
                    order.scatter(&ordered, &mut arrays);
                }
            }
        }
        *self.log = context.into_log();
    }
}

/// The mesh cell of each position, or -1.
///
/// # Panics
///
/// If the field is not on a mesh.
pub(crate) fn locate<F: Real>(position: &[[F; 3]], field: &FieldArrays<F>, cells: &mut [i32]) {
    let FieldShape::Mesh(shape) = field.shape else {
        panic!("locate: the field is not on a mesh");
    };
    field.with_region(shape, |region| {
        let both = position.par_iter().zip(cells.par_iter_mut());
        both.for_each(|(p, cell)| *cell = region.find_cell(*p, 0, -1, false).cell - 1);
    });
}
