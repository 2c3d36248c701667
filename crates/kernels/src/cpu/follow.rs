//! The main loop: takes a tile of particles, in small groups, through all steps of a segment.

mod group;

use super::{
    Real,
    adapt::adapt,
    arrays::TILE,
    chart::InGroups,
    inertial::Own,
    lanes::{self, Lanes, Portable, Task},
    method::{self, AnyScheme, Method},
    probe::Hinted,
    sampler::Differentiable,
    segment::Waters,
    tallies::TallyRoom,
    tile::{PartOfStep, Tile},
    trail::Trail,
};
use crate::{
    Scheme,
    scheme::with_schemes,
    status::{ACTIVE, WAITING},
};
use group::{Ends, finish_step};
use std::{marker::PhantomData, ops::Range};

/// Steps that a group takes before the next group: enough for its part of the field to stay cached,
/// few enough to regroup soon after some particles have ended.
const BLOCK: usize = 32;

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

/// Takes a tile through its steps in the field of a sampler.
pub(super) type TakeSteps<'a, F> = dyn Fn(Tile<F>) + Sync + 'a;

/// Takes all particles of a tile through its steps.
pub(super) fn take_steps<F: Real, S: Differentiable<F>>(mut tile: Tile<F>, sampler: &S) {
    tile.assign_first_release();
    if tile.arrays.tallies.is_empty() {
        take(&mut tile, sampler);
    } else {
        let (mut trail, mut room) = (Trail::new(), TallyRoom::of(tile.context));
        let Tile { arrays, context, steps, .. } = &mut tile;
        let mut tallied = Tile::new(arrays.reborrow(), context, steps.clone());
        (tallied.trail, tallied.tallied) = (Some(&mut trail), Some(&mut room));
        take(&mut tallied, sampler);
        tile.log = tallied.log;
    }
    tile.append_log();
}

/// Takes all particles of a tile through its steps in the way that they need.
fn take<F: Real, S: Differentiable<F>>(tile: &mut Tile<F>, sampler: &S) {
    if const { S::IS_FAST } && lanes::are_widest() && tile.context.flies() {
        F::run_widest(Follow::<F, S, method::Inertial>::new(tile, sampler));
    } else if const { S::IS_FAST } && lanes::are_widest() && tile.context.scales() {
        F::run_widest(Follow::<F, S, method::Scaled>::new(tile, sampler));
    } else if tile.context.takes_parts() || tile.context.scales() {
        adapt(tile, &mut Hinted::new(sampler, &mut S::Hint::default()));
    } else {
        follow(tile, sampler);
    }
}

/// Takes the steps of a tile by a loop that is compiled for the scheme, unless the sampler is not worth it or the
/// processor lacks the widest vectors.
fn follow<F: Real, S: Differentiable<F>>(tile: &mut Tile<F>, sampler: &S) {
    if const { !S::IS_FAST } {
        return lanes::dispatch(Follow::<F, S, AnyScheme>::new(tile, sampler));
    }
    if !lanes::are_widest() {
        return Follow::<F, S, AnyScheme>::new(tile, sampler).run::<Portable>();
    }
    macro_rules! follow_by {
        ($($scheme:ident $name:literal $order:literal $tableau:ident,)*) => {
            match tile.context.segment.scheme {
                $(Scheme::$scheme => {
                    F::run_widest(Follow::<F, S, method::$scheme>::new(tile, sampler));
                })*
            }
        };
    }
    with_schemes!(follow_by);
}

/// The loop over the steps of a tile, compiled for a sampler and a scheme.
struct Follow<'t, 'a, F: Real, S, M> {
    tile: &'t mut Tile<'a, F>,
    sampler: &'t S,
    method: PhantomData<fn() -> M>,
}

impl<'t, 'a, F: Real, S, M> Follow<'t, 'a, F, S, M> {
    fn new(tile: &'t mut Tile<'a, F>, sampler: &'t S) -> Self {
        Follow { tile, sampler, method: PhantomData }
    }
}

impl<F: Real, S: Differentiable<F>, M: Method> Task<F> for Follow<'_, '_, F, S, M> {
    #[inline(always)]
    fn run<L: Lanes<F>>(mut self) {
        let Range { start, end } = self.tile.steps;
        for start in (start..end).step_by(BLOCK) {
            let block = start..end.min(start + BLOCK);
            let block = Block::<F, S, M, L> { follow: &mut self, block, lanes: PhantomData };
            S::in_groups(block);
        }
    }
}

/// A block of steps, in groups of particles.
struct Block<'f, 't, 'a, F: Real, S, M, L> {
    follow: &'f mut Follow<'t, 'a, F, S, M>,
    block: Range<usize>,
    lanes: PhantomData<fn() -> L>,
}

impl<F: Real, S: Differentiable<F>, M: Method, L: Lanes<F>> InGroups
    for Block<'_, '_, '_, F, S, M, L>
{
    #[inline(always)]
    fn run<const G: usize>(self) {
        self.follow.block::<L, G>(self.block);
    }
}

/// Particles that take the rest of a block one by one. This is compiled once for all schemes.
struct Alone<'t, 'a, F: Real, S, M> {
    tile: &'t mut Tile<'a, F>,
    sampler: &'t S,
    singles: &'t Singles,
    block: Range<usize>,
    method: PhantomData<fn() -> M>,
}

impl<F: Real, S: Differentiable<F>, M: Method> Task<F> for Alone<'_, '_, F, S, M> {
    #[inline(always)]
    fn run<L: Lanes<F>>(self) {
        let Alone { tile, sampler, singles, block, method } = self;
        let mut follow = Follow { tile, sampler, method };
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
    fn block<L: Lanes<F>, const G: usize>(&mut self, block: Range<usize>) {
        let mut singles = Singles { list: [(0, 0); TILE], count: 0 };
        let mut group = [0; G];
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
            if filled == G {
                filled = 0;
                let next = self.follow::<L, G>(&group, block.clone());
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
            let method = PhantomData::<fn() -> M::Alone>;
            L::apart(Alone { tile, sampler, singles: &singles, block, method });
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
        let mut own = Own::<F, L::Four, G>::new();
        own.read::<M, L>(self.tile.arrays.inertia, members);
        let scaled = self.scaled::<G>(members);
        let mut waters = Waters::unknown::<F>();
        let mut apart = Waters::unknown::<F>();
        for j in steps.clone() {
            let (result, change) =
                self.step::<L, G>(members, &at, (j, start), &mut hints, &mut own, &scaled);
            let is_plain = self.tile.context.walls.contain_all::<L, G>(&result.to.at)
                && result.slow == [false; G]
                && self.tile.context.are_clear::<L, G>((&at.at, &result.to.at), &mut waters)
                && self.holds::<L, G>(&result.to.at, &mut hints)
                && self.adds::<L, G>(members, (&at, &result.to), &hints, (j, start));
            if is_plain {
                if !self.tile.context.gates.is_empty() {
                    let (paths, step) =
                        ((&at.at, &result.to.at), PartOfStep { j, start, until: F::one() });
                    self.tile.pass_gates::<L, G>(members, paths, &mut apart, step);
                }
                at = result.to;
                own.change::<M>(&change);
            } else {
                self.store::<L, G>(members, &at, &hints);
                let velocity = own.carried::<M>(&change);
                let to = std::array::from_fn(|g| result.to.of(g));
                let ends = Ends { to, slow: result.slow, velocity };
                if finish_step::<F, S, L, G>(
                    (&mut *self.tile, self.sampler),
                    members,
                    &mut hints,
                    ends,
                    (j, start),
                ) {
                    return j + 1;
                }
                at = self.load::<L, G>(members);
                own.read::<M, L>(self.tile.arrays.inertia, members);
                waters = Waters::unknown::<F>();
                apart = Waters::unknown::<F>();
            }
            start = F::zero();
        }
        self.store::<L, G>(members, &at, &hints);
        own.write::<M>(self.tile.arrays.inertia, members);
        steps.end
    }
}
