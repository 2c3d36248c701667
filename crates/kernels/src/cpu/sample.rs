//! Values of a field at the positions of particles.

use super::{
    FieldArrays, Position, Real,
    arrays::TILE,
    chart::{Chart, InGroups},
    frame_pair::{FramePair, frame_pair, from_value},
    lanes::{self, Four, Lanes, Task, Vector, four},
    launch::{Launch, LaunchData},
    sampler::{Differentiable, Sampler, WithSampler},
    walls::Walls,
};
use crate::{Record, Segment};
use rayon::prelude::*;
use std::{marker::PhantomData, ops::Range};

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
        S::in_groups(InLanes::<F, S, L> { tile: self, lanes: PhantomData });
    }
}

/// A tile whose positions are sampled with some vectors, in groups.
struct InLanes<'a, F: Real, S, L> {
    tile: SampleTile<'a, F, S>,
    lanes: PhantomData<fn() -> L>,
}

impl<F: Real, S: Sampler<F>, L: Lanes<F>> InGroups for InLanes<'_, F, S, L> {
    #[inline(always)]
    fn run<const G: usize>(mut self) {
        let mut hints = [S::Hint::default(); G];
        let count = self.tile.position.len();
        let grouped = count - count % G;
        for first in (0..grouped).step_by(G) {
            self.tile.sample::<L, G>(first, &mut hints);
        }
        for first in grouped..count {
            self.tile.sample::<L, 1>(first, &mut [hints[0]]);
        }
    }
}

impl<F: Real, S: Sampler<F>> SampleTile<'_, F, S> {
    /// Samples some positions, from `first` on.
    #[inline(always)]
    fn sample<L: Lanes<F>, const G: usize>(&mut self, first: usize, hints: &mut [S::Hint; G]) {
        let mut at = [L::Four::splat(F::zero()); G];
        // By index: an iterator call might not be inlined.
        for g in 0..G {
            if S::ENDS {
                // A hint from one particle must not change the value of another.
                hints[g] = self.sampler.recall(self.record[first + g].near_cell());
            }
            at[g] = self.walls.wrap::<L>(four::<F, L>(&self.position[first + g][0]));
        }
        let width = self.groups.len();
        for k in 0..width {
            let mut samples = at;
            if S::TOGETHER {
                samples = self.sampler.sample_together::<L, G>(&at, &self.groups[k], hints);
            } else {
                for g in 0..G {
                    samples[g] = self.sampler.sample::<L>(at[g], &self.groups[k], &mut hints[g]);
                }
            }
            if let (false, 0, Some(launch)) = (S::Chart::IS_FLAT, k, self.turns) {
                let around = S::Chart::around::<L, G>(launch, &at);
                samples = S::Chart::along_axes::<L, G>(&around, samples);
            }
            #[allow(clippy::needless_range_loop)]
            for g in 0..G {
                self.values[width * (first + g) + k] = samples[g].array();
            }
        }
    }
}
