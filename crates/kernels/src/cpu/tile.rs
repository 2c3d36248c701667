//! The main loop: takes a tile of particles, in small groups, through all steps of a segment.

use super::{
    Arrays, Ended, Method, Position, Real, Sampler, TILE,
    frame_pair::FramePair,
    lanes::{Lanes, Task},
    reinjection::Restart,
    segment::SegmentContext,
    single::Single,
    step::{Positions, StepResult, rk_step},
    walk::diffuse,
};
use crate::{
    Record,
    physics::diffusion::host::Address,
    status::{ACTIVE, WAITING},
};
use std::{marker::PhantomData, ops::Range};

/// Number of particles in a group.
const GROUP: usize = 4;

/// Steps that a group takes before the next group: enough for its part of the field to stay cached,
/// few enough to regroup soon after some particles have ended.
const BLOCK: usize = 32;

/// A tile of particles in a segment.
pub(super) struct Tile<'a, F: Real, S, M> {
    pub arrays: Arrays<'a, F>,
    pub context: &'a SegmentContext<'a, F>,
    pub sampler: &'a S,
    /// Instances that have ended and are followed by others.
    pub log: Vec<Ended<F>>,
    /// The steps of the segment to take.
    pub steps: Range<usize>,
    /// Keeps what gradients need of irregular steps, if it is wanted.
    pub trail: Option<&'a mut Trail<F>>,
    method: PhantomData<fn() -> M>,
}

/// The irregular steps of a tile, and the instances that started in them.
pub(super) struct Trail<F> {
    pub steps: Vec<AcceptedStep<F>>,
    pub restarts: Vec<Restart>,
}

/// An adaptive step of a particle, or a step in a slot that is re-used, and the particle's state before it.
pub(super) struct AcceptedStep<F> {
    /// The particle, and the step of the segment of which this is a part.
    pub i: usize,
    pub j: usize,
    /// The fraction of that step at which the part starts, and its length.
    pub start: F,
    pub h: F,
    pub position: Position<F>,
    pub record: Record,
}

/// Particles that continue alone from a step.
struct Singles {
    list: [(u16, u16); TILE],
    count: usize,
}

impl Singles {
    #[inline(always)]
    fn push(&mut self, i: usize, j: usize, block: &Range<usize>) {
        self.list[self.count] = (i as u16, (j - block.start) as u16);
        self.count += 1;
    }
}

impl<'a, F: Real, S, M> Tile<'a, F, S, M> {
    pub fn new(
        arrays: Arrays<'a, F>,
        context: &'a SegmentContext<'a, F>,
        sampler: &'a S,
        steps: Range<usize>,
    ) -> Self {
        Tile { arrays, context, sampler, log: Vec::new(), steps, trail: None, method: PhantomData }
    }
}

impl<F: Real, S, M> Tile<'_, F, S, M> {
    /// Assigns the first release to slots of sources.
    #[inline(never)]
    fn assign_first_release(&mut self) {
        // Once in a launch, which may be taken in several parts.
        if self.context.ends.is_some() && self.steps.start == 0 {
            for i in 0..self.arrays.position.len() {
                self.arrays.slot(i).assign_first_release(&self.context.launch);
            }
        }
    }

    #[inline(never)]
    fn append_log(&mut self) {
        if let Some(ends) = &self.context.ends {
            ends.append(&mut self.log);
        }
    }
}

impl<F: Real, S: Sampler<F>, M: Method> Task<F> for Tile<'_, F, S, M> {
    #[inline(always)]
    fn run<L: Lanes<F>>(mut self) {
        self.assign_first_release();
        // The first condition is a constant, so that adaptive steps of other schemes are not compiled.
        if const { !matches!(M::TABLEAU, Some(tableau) if !tableau.is_embedded()) }
            && self.context.tableau.is_embedded()
            && self.context.launch.features.adaptive
        {
            self.adapt::<L>();
        } else {
            let Range { start, end } = self.steps;
            for start in (start..end).step_by(BLOCK) {
                self.block::<L>(start..end.min(start + BLOCK));
            }
        }
        self.append_log();
    }
}

impl<F: Real, S: Sampler<F>, M: Method> Tile<'_, F, S, M> {
    /// Takes all particles through a block of steps: active ones in groups, then the others one by
    /// one.
    #[inline(always)]
    fn block<L: Lanes<F>>(&mut self, block: Range<usize>) {
        let mut singles = Singles { list: [(0, 0); TILE], count: 0 };
        let mut group = [0; GROUP];
        let mut filled = 0;
        for i in 0..self.arrays.position.len() {
            let record = &self.arrays.record[i];
            if record.status == WAITING {
                if let Some(j) = self.release(record.step, &block) {
                    singles.push(i, j, &block);
                }
            } else if record.status == ACTIVE {
                group[filled] = i;
                filled += 1;
            }
            if filled == GROUP {
                filled = 0;
                let next = self.follow::<L, GROUP>(&group, block.clone());
                if next < block.end {
                    for i in group {
                        singles.push(i, next, &block);
                    }
                }
            }
        }
        for i in &group[..filled] {
            singles.push(*i, block.start, &block);
        }
        for (i, j) in &singles.list[..singles.count] {
            let i = *i as usize;
            let mut from = block.start + *j as usize;
            while self.continues(i, &mut from, &block) {
                from = self.follow::<L, 1>(&[i], from..block.end);
            }
        }
    }

    /// Whether a particle takes part in the remainder of a block, and from which step on.
    #[inline(always)]
    fn continues(&self, i: usize, from: &mut usize, block: &Range<usize>) -> bool {
        let record = &self.arrays.record[i];
        if record.status == WAITING {
            let release = self.release(record.step, block);
            *from = release.unwrap_or(block.end);
        }
        (record.status == WAITING || record.status == ACTIVE) && *from < block.end
    }

    /// The step of the segment in which a waiting particle is released, if it is in the block.
    #[inline(always)]
    fn release(&self, step: i32, block: &Range<usize>) -> Option<usize> {
        let j = usize::try_from(step - self.context.segment.first_step).ok()?;
        block.contains(&j).then_some(j)
    }

    /// Takes particles through steps until one of them ends; returns the next step of the others. A
    /// waiting particle is released in the first step.
    #[inline(always)]
    fn follow<L: Lanes<F>, const G: usize>(
        &mut self,
        members: &[usize; G],
        steps: Range<usize>,
    ) -> usize {
        let mut start = F::zero();
        if G == 1 {
            let record = &mut self.arrays.record[members[0]];
            if record.status == WAITING {
                start = self.arrays.fraction[members[0]];
            }
            record.status = ACTIVE;
        }
        let mut hints = members.map(|i| self.sampler.recall(self.arrays.record[i].location));
        let mut at = Positions::load::<F, L>(|g| self.arrays.position[members[g]]);
        for j in steps.clone() {
            let full_dt = F::of(self.context.segment.steps[j].h);
            let part;
            let (h, pairs) = if start == F::zero() {
                (full_dt, self.context.frame_pairs(j))
            } else {
                let h = (F::one() - start) * full_dt;
                part = self.context.part(j, start * full_dt, h);
                (h, &part)
            };
            let mut result =
                rk_step::<F, L, S, M, G>(&at, (h, pairs), self.context, self.sampler, &mut hints);
            if self.context.launch.features.walk.is_on {
                let step = (j, h, &pairs[0]);
                result.to = self.diffuse::<L, G>(members, (at, result.to), step, hints);
            }
            let is_plain = self.context.walls.contain_all::<L, G>(&result.to.at)
                && result.slow == [false; G]
                && self.context.are_clear::<L, G>(&at.at, &result.to.at)
                && self.holds::<L, G>(&result.to.at, &mut hints);
            if is_plain {
                at = result.to;
            } else if self.finish_step::<L, G>(members, &mut at, &mut hints, &result, (j, start)) {
                return j + 1;
            }
            start = F::zero();
        }
        self.store::<L, G>(members, &at, &hints);
        steps.end
    }

    /// Applies the random walk after a step. Cold and with copies of the loop's registers, so that
    /// runs without a walk keep them in registers.
    #[cold]
    #[inline(never)]
    fn diffuse<L: Lanes<F>, const G: usize>(
        &self,
        members: &[usize; G],
        (from, to): (Positions<L::Four, G>, Positions<L::Four, G>),
        (j, h, pair): (usize, F, &FramePair<F>),
        hints: [S::Hint; G],
    ) -> Positions<L::Four, G> {
        let number = (self.context.segment.first_step + j as i32) as u32;
        to.moved::<F>(|g, rest| {
            let address = Address {
                slot: self.arrays.slots.get(members[g]),
                generation: self.arrays.record[members[g]].generation as u32,
                step: number,
            };
            let field = (&self.context.walls, self.sampler, &hints[g]);
            let [from, _] = from.of(g);
            let displacement = diffuse(&self.context.launch, from, address, (h, pair), field);
            super::four::<F, L>(&displacement) + rest
        })
    }

    /// Whether the field contains all positions.
    #[inline(always)]
    fn holds<L: Lanes<F>, const G: usize>(
        &self,
        to: &[L::Four; G],
        hints: &mut [S::Hint; G],
    ) -> bool {
        !S::ENDS || self.sampler.holds_all::<L, G>(to, hints)
    }

    /// Writes positions back.
    #[inline(always)]
    fn store<L: Lanes<F>, const G: usize>(
        &mut self,
        members: &[usize; G],
        at: &Positions<L::Four, G>,
        hints: &[S::Hint; G],
    ) {
        for g in 0..G {
            self.arrays.position[members[g]] = at.of(g);
            self.arrays.record[members[g]].location = S::note(&hints[g]);
        }
    }

    /// Finishes a step in which some particles met a boundary or ended; returns whether any has
    /// ended.
    #[inline(always)]
    fn finish_step<L: Lanes<F>, const G: usize>(
        &mut self,
        members: &[usize; G],
        at: &mut Positions<L::Four, G>,
        hints: &mut [S::Hint; G],
        result: &StepResult<L::Four, G>,
        (j, start): (usize, F),
    ) -> bool {
        self.store::<L, G>(members, at, hints);
        let mut has_ended = false;
        for g in 0..G {
            let i = members[g];
            let to = result.to.at[g];
            let is_plain = self.context.walls.contain::<L>(to)
                && !result.slow[g]
                && self.context.are_clear::<L, 1>(&[at.at[g]], &[to])
                && (!S::ENDS || self.sampler.holds::<L>(to, &mut hints[g]));
            if is_plain {
                self.arrays.position[i] = result.to.of(g);
                self.arrays.record[i].location = S::note(&hints[g]);
            } else {
                let mut single = Single {
                    tile: &mut self.arrays,
                    log: &mut self.log,
                    trail: self.trail.as_deref_mut(),
                    i,
                    context: self.context,
                    sampler: self.sampler,
                    hint: &mut hints[g],
                    j,
                    until: F::one(),
                };
                single.finish_step((result.to.of(g), result.slow[g]), start);
                has_ended |= self.arrays.record[i].status != ACTIVE;
            }
        }
        *at = Positions::load::<F, L>(|g| self.arrays.position[members[g]]);
        has_ended
    }
}
