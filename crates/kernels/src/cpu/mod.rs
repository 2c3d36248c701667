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

use crate::{FieldShape, Record, Segment};
use arrays::TILE;
use chart::Chart;
use follow::{TakeSteps, take_steps};
use frame_pair::{FramePair, frame_pair, from_value};
pub use lanes::instructions;
use lanes::{Four, Lanes, Task, four};
use launch::{Launch, LaunchData};
use order::{Order, Parts};
use rayon::prelude::*;
use sampler::{Differentiable, Sampler, WithSampler};
use segment::SegmentContext;
use std::ops::Range;
use tile::Tile;
use walls::Walls;

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

/// Samples groups of a field at the positions of particles, at the start of the segment's first
/// step.
pub(crate) fn sample<F: Real>(
    (position, record): (&[Position<F>], &[Record]),
    values: &mut [[F; 4]],
    (field, groups): (&FieldArrays<F>, Range<usize>),
    segment: &Segment,
) {
    if segment.steps.is_empty() {
        return;
    }
    let data = LaunchData::of(field, (&[], &[]), segment);
    let launch = data.launch(None);
    let pair = frame_pair(&launch, 0, F::zero());
    let walls = Walls::new(&segment.boundary, launch);
    let size = field.shape.values_per_frame();
    let has_velocity = groups.start == 0;
    let groups = groups.map(|group| from_value(&pair, group * size)).collect();
    let work = Sample { position, record, values, walls, groups, launch, has_velocity };
    field.with_sampler(segment.clock.frames, work);
}

struct Sample<'a, F: Real> {
    position: &'a [Position<F>],
    record: &'a [Record],
    values: &'a mut [[F; 4]],
    walls: Walls<'a, F>,
    /// The frames of each group of values.
    groups: Vec<FramePair<F>>,
    launch: Launch<'a, F>,
    /// Whether the first group has the velocity.
    has_velocity: bool,
}

impl<F: Real> WithSampler<F> for Sample<'_, F> {
    fn run<S: Differentiable<F>>(self, sampler: S) {
        let (walls, groups, sampler) = (&self.walls, self.groups.as_slice(), &sampler);
        let turns = self.has_velocity.then_some(&self.launch);
        let values = self.values.par_chunks_mut(TILE * groups.len());
        let tiles = self.position.par_chunks(TILE).zip(self.record.par_chunks(TILE)).zip(values);
        tiles.for_each(|((position, record), values)| {
            lanes::dispatch(SampleTile { position, record, values, walls, groups, sampler, turns });
        });
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

struct SampleTile<'a, F: Real, S> {
    position: &'a [Position<F>],
    record: &'a [Record],
    values: &'a mut [[F; 4]],
    walls: &'a Walls<'a, F>,
    groups: &'a [FramePair<F>],
    sampler: &'a S,
    /// Says that the first value is a velocity, whose components are to be along the axes.
    turns: Option<&'a Launch<'a, F>>,
}

impl<F: Real, S: Sampler<F>> Task<F> for SampleTile<'_, F, S> {
    #[inline(always)]
    fn run<L: Lanes<F>>(self) {
        let mut hint = S::Hint::default();
        let values = self.values.chunks_exact_mut(self.groups.len());
        for (([p, _], record), values) in self.position.iter().zip(self.record).zip(values) {
            if S::ENDS {
                // A hint from one particle must not change the value of another.
                hint = self.sampler.recall(record.near_cell());
            }
            let at = self.walls.wrap::<L>(four::<F, L>(p));
            for (value, pair) in values.iter_mut().zip(self.groups) {
                *value = self.sampler.sample::<L>(at, pair, &mut hint).array();
            }
            if let (false, Some(launch)) = (S::Chart::IS_FLAT, self.turns) {
                let around = S::Chart::around::<L, 1>(launch, &[at]);
                let velocity = [L::Four::new(values[0])];
                values[0] = S::Chart::along_axes::<L, 1>(&around, velocity)[0].array();
            }
        }
    }
}
