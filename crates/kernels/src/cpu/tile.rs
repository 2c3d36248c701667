//! The main loop: takes a tile of particles, in small groups, through all steps of a segment.

use super::{
    AnyScheme, Arrays, Ended, Method, Position, Real, TILE,
    adapt::adapt,
    adjoint::Differentiable,
    frame_pair::FramePair,
    lanes::{Lanes, Task},
    padded,
    probe::{Hinted, Probe, Width},
    reinjection::Restart,
    segment::SegmentContext,
    single::Single,
    step::{Positions, Sampled, Stages},
    walk::diffuse,
    with_method,
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
pub(super) struct Tile<'a, F: Real> {
    pub arrays: Arrays<'a, F>,
    pub context: &'a SegmentContext<'a, F>,
    /// Instances that have ended and are followed by others.
    pub log: Vec<Ended<F>>,
    /// The steps of the segment to take.
    pub steps: Range<usize>,
    /// Keeps what gradients need of irregular steps, if it is wanted.
    pub trail: Option<&'a mut Trail<F>>,
}

/// Takes a tile through its steps in the field of a sampler.
pub(super) type TakeSteps<'a, F> = dyn Fn(Tile<F>) + Sync + 'a;

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

/// Takes all particles of a tile through its steps.
pub(super) fn take_steps<F: Real, S: Differentiable<F>>(mut tile: Tile<F>, sampler: &S) {
    tile.assign_first_release();
    if tile.context.is_adaptive() {
        adapt(&mut tile, &mut Hinted::new(sampler, &mut S::Hint::default()));
    } else {
        with_method!(S, tile.context.segment.scheme, M => {
            M::run(Follow::<F, S, M> { tile: &mut tile, sampler, method: PhantomData });
        });
    }
    tile.append_log();
}

impl<'a, F: Real> Tile<'a, F> {
    pub fn new(
        arrays: Arrays<'a, F>,
        context: &'a SegmentContext<'a, F>,
        steps: Range<usize>,
    ) -> Self {
        Tile { arrays, context, log: Vec::new(), steps, trail: None }
    }

    /// Assigns the first release to slots of sources.
    fn assign_first_release(&mut self) {
        // Once in a launch, which may be taken in several parts.
        if self.context.ends.is_some() && self.steps.start == 0 {
            for i in 0..self.arrays.position.len() {
                self.arrays.slot(i).assign_first_release(&self.context.launch);
            }
        }
    }

    fn append_log(&mut self) {
        if let Some(ends) = &self.context.ends {
            ends.append(&mut self.log);
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

    /// The displacement of the random walk of a particle in step `j`, over a part of length `h`.
    pub fn diffuse(
        &self,
        (i, from): (usize, [F; 3]),
        (j, h, pair): (usize, F, &FramePair<F>),
        probe: &mut dyn Probe<F>,
    ) -> [F; 3] {
        let address = Address {
            slot: self.arrays.slots.get(i),
            generation: self.arrays.record[i].generation as u32,
            step: (self.context.segment.first_step + j as i32) as u32,
        };
        let SegmentContext { launch, walls, .. } = self.context;
        diffuse(launch, from, address, (h, pair), walls, probe)
    }

    /// The rest of a step in which a particle may meet a boundary or end, by the vectors of the loop.
    pub fn finish_step(&mut self, member: Member<F>, step: PartOfStep<F>, width: Width) {
        let Member { i, to, slow, probe } = member;
        let [from, _] = self.arrays.position[i];
        let is_plain = !slow && self.context.is_clear((from, to[0]));
        if is_plain && probe.holds(padded(to[0]), width) {
            self.arrays.position[i] = to;
            self.arrays.record[i].location = probe.note();
            return;
        }
        let PartOfStep { j, start, until } = step;
        let trail = self.trail.as_deref_mut();
        let (tile, log, context) = (&mut self.arrays, &mut self.log, self.context);
        let mut single = Single { tile, log, trail, i, context, probe, j, until };
        single.finish_step((to, slow), start);
    }
}

/// A particle at the end of a step, before boundary conditions.
pub(super) struct Member<'a, F: Real> {
    /// Its index in the tile.
    pub i: usize,
    pub to: Position<F>,
    /// Whether it is slower than the threshold speed.
    pub slow: bool,
    pub probe: &'a mut dyn Probe<F>,
}

/// A part of step `j` of a segment, between two fractions of it.
#[derive(Clone, Copy)]
pub(super) struct PartOfStep<F> {
    pub j: usize,
    pub start: F,
    pub until: F,
}

/// The loop over the steps of a tile, compiled for a sampler and a scheme.
struct Follow<'t, 'a, F: Real, S, M> {
    tile: &'t mut Tile<'a, F>,
    sampler: &'t S,
    method: PhantomData<fn() -> M>,
}

impl<F: Real, S: Differentiable<F>, M: Method> Task<F> for Follow<'_, '_, F, S, M> {
    #[inline(always)]
    fn run<L: Lanes<F>>(mut self) {
        let Range { start, end } = self.tile.steps;
        for start in (start..end).step_by(BLOCK) {
            self.block::<L>(start..end.min(start + BLOCK));
        }
    }
}

/// Particles that take the rest of a block one by one. This is compiled once for all schemes.
struct Alone<'t, 'a, F: Real, S> {
    tile: &'t mut Tile<'a, F>,
    sampler: &'t S,
    singles: &'t Singles,
    block: Range<usize>,
}

impl<F: Real, S: Differentiable<F>> Task<F> for Alone<'_, '_, F, S> {
    #[inline(always)]
    fn run<L: Lanes<F>>(self) {
        let Alone { tile, sampler, singles, block } = self;
        let mut follow = Follow::<F, S, AnyScheme> { tile, sampler, method: PhantomData };
        for (i, j) in &singles.list[..singles.count] {
            let i = *i as usize;
            let mut from = block.start + *j as usize;
            while follow.tile.continues(i, &mut from, &block) {
                from = follow.follow::<L, 1>(&[i], from..block.end);
            }
        }
    }
}

impl<F: Real, S: Differentiable<F>, M: Method> Follow<'_, '_, F, S, M> {
    /// Takes all particles through a block of steps: active ones in groups, then the others one by
    /// one.
    #[inline(always)]
    fn block<L: Lanes<F>>(&mut self, block: Range<usize>) {
        let mut singles = Singles { list: [(0, 0); TILE], count: 0 };
        let mut group = [0; GROUP];
        let mut filled = 0;
        for i in 0..self.tile.arrays.position.len() {
            let record = &self.tile.arrays.record[i];
            if record.status == WAITING {
                if let Some(j) = self.tile.release(record.step, &block) {
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
        if singles.count > 0 {
            let (tile, sampler) = (&mut *self.tile, self.sampler);
            L::apart(Alone { tile, sampler, singles: &singles, block });
        }
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
            let record = &mut self.tile.arrays.record[members[0]];
            if record.status == WAITING {
                start = self.tile.arrays.fraction[members[0]];
            }
            record.status = ACTIVE;
        }
        let mut hints = members.map(|i| self.sampler.recall(self.tile.arrays.record[i].location));
        let mut at = self.load::<L, G>(members);
        for j in steps.clone() {
            let full_dt = F::of(self.tile.context.segment.steps[j].h);
            let part;
            let (h, pairs) = if start == F::zero() {
                (full_dt, self.tile.context.frame_pairs(j))
            } else {
                let h = (F::one() - start) * full_dt;
                part = self.tile.context.part(j, start * full_dt, h);
                (h, &part)
            };
            let sampled = Sampled { sampler: self.sampler, hints: &mut hints };
            let (step, context) = ((h, pairs), self.tile.context);
            let mut result = Stages::<F, L, _, M, G>::new(&at, step, context, sampled).step();
            if self.tile.context.launch.features.walk.is_on {
                let step = (j, h, &pairs[0]);
                result.to = self.diffuse::<L, G>(members, (at, result.to), step, hints);
            }
            let is_plain = self.tile.context.walls.contain_all::<L, G>(&result.to.at)
                && result.slow == [false; G]
                && self.tile.context.are_clear::<L, G>(&at.at, &result.to.at)
                && self.holds::<L, G>(&result.to.at, &mut hints);
            if is_plain {
                at = result.to;
            } else {
                self.store::<L, G>(members, &at, &hints);
                let ends = (std::array::from_fn(|g| result.to.of(g)), result.slow);
                if self.finish_step::<L, G>(members, &mut hints, ends, (j, start)) {
                    return j + 1;
                }
                at = self.load::<L, G>(members);
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
        step: (usize, F, &FramePair<F>),
        mut hints: [S::Hint; G],
    ) -> Positions<L::Four, G> {
        let mut displacements = [[F::zero(); 3]; G];
        for g in 0..G {
            let ([from, _], mut probe) = (from.of(g), Hinted::new(self.sampler, &mut hints[g]));
            displacements[g] = self.tile.diffuse((members[g], from), step, &mut probe);
        }
        to.moved_on::<F, L>(&displacements)
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

    /// Reads positions.
    #[inline(always)]
    fn load<L: Lanes<F>, const G: usize>(&self, members: &[usize; G]) -> Positions<L::Four, G> {
        let mut positions = [[[F::zero(); 3]; 2]; G];
        // By index: an iterator call might not be inlined.
        for g in 0..G {
            positions[g] = self.tile.arrays.position[members[g]];
        }
        Positions::load::<F, L>(&positions)
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
            self.tile.arrays.position[members[g]] = at.of(g);
            self.tile.arrays.record[members[g]].location = S::note(&hints[g]);
        }
    }

    /// Finishes a step in which some particles met a boundary or ended; returns whether any has
    /// ended.
    #[cold]
    #[inline(never)]
    fn finish_step<L: Lanes<F>, const G: usize>(
        &mut self,
        members: &[usize; G],
        hints: &mut [S::Hint; G],
        (to, slow): ([Position<F>; G], [bool; G]),
        (j, start): (usize, F),
    ) -> bool {
        let mut has_ended = false;
        for g in 0..G {
            let (i, to, slow) = (members[g], to[g], slow[g]);
            let mut probe = Hinted::new(self.sampler, &mut hints[g]);
            let member = Member { i, to, slow, probe: &mut probe };
            let step = PartOfStep { j, start, until: F::one() };
            self.tile.finish_step(member, step, Width::of::<F, L>());
            has_ended |= self.tile.arrays.record[i].status != ACTIVE;
        }
        has_ended
    }
}
