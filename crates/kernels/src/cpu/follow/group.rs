//! What a group of particles does in a step of the main loop.

use super::Follow;
use crate::{
    cpu::{
        Real,
        arrays::Position,
        frame_pair::FramePair,
        inertial::{Flight, Flown, Own, Velocities, When},
        lanes::{Four, Lanes},
        method::Method,
        probe::{Hinted, Width},
        sampler::Differentiable,
        segment::FramePairs,
        step::{Positions, Sampled, SampledTwice, Scaled, Stages, StepResult},
        tallies::AddPlain,
        tile::{Member, PartOfStep, Tile},
    },
    status::ACTIVE,
};

impl<F: Real, S: Differentiable<F>, M: Method> Follow<'_, '_, F, S, M> {
    /// Where step `j` ends before boundaries, from a fraction of it on; and of particles with inertia the change of velocity.
    #[inline(always)]
    pub(super) fn step<L: Lanes<F>, const G: usize>(
        &self,
        members: &[usize; G],
        at: &Positions<L::Four, G>,
        (j, start): (usize, F),
        hints: &mut [S::Hint; G],
        own: &mut Own<F, L::Four, G>,
        scaled: &[Scaled<F>; G],
    ) -> (StepResult<L::Four, G>, [L::Four; G]) {
        let full_dt = F::of(self.tile.context.segment.steps[j].h);
        let part;
        let (h, pairs) = if start == F::zero() {
            (full_dt, self.tile.context.frame_pairs(j))
        } else {
            let h = (F::one() - start) * full_dt;
            part = self.tile.context.part(j, start * full_dt, h);
            (h, &part)
        };
        let sampled = Sampled { sampler: self.sampler, hints: &mut *hints };
        let (step, context) = ((h, pairs), self.tile.context);
        let mut change = at.at;
        let mut result;
        if const { M::IS_SCALED } {
            let velocity = SampledTwice { sampled, scaled };
            result = Stages::<F, L, _, M, G>::new(at, step, context, velocity).step();
        } else if const { M::IS_INERTIAL } {
            let when = (j, start * full_dt, h);
            let flown = self.fly::<L, G>((at, pairs, when), sampled, own);
            (result, change) = (StepResult { to: flown.to, slow: [false; G] }, flown.change);
        } else {
            result = Stages::<F, L, _, M, G>::new(at, step, context, sampled).step();
        }
        if self.tile.context.launch.features.walk.is_on {
            let step = (j, h, &pairs[0]);
            result.to = diffuse::<F, S, L, G>(
                (&*self.tile, self.sampler),
                members,
                (*at, result.to),
                step,
                *hints,
            );
        }
        (result, change)
    }

    /// Whether the field contains all positions.
    #[inline(always)]
    pub(super) fn holds<L: Lanes<F>, const G: usize>(
        &self,
        to: &[L::Four; G],
        hints: &mut [S::Hint; G],
    ) -> bool {
        !S::ENDS || self.sampler.holds_all::<L, G>(to, hints)
    }

    /// Adds to the tallies of particles, if there are any. Returns whether their step is plain with these, too.
    #[inline(always)]
    pub(super) fn adds<L: Lanes<F>, const G: usize>(
        &mut self,
        members: &[usize; G],
        (from, to): (&Positions<L::Four, G>, &Positions<L::Four, G>),
        hints: &[S::Hint; G],
        step: (usize, F),
    ) -> bool {
        if self.tile.tallied.is_none() {
            return true;
        }
        let mut is_all = true;
        let mut paths = [[[F::zero(); 4]; G]; 2];
        // By index: a closure might not be inlined.
        #[allow(clippy::needless_range_loop)]
        for g in 0..G {
            paths[0][g] = from.at[g].array();
            paths[1][g] = to.at[g].array();
        }
        let (tile, sampler) = (&mut *self.tile, self.sampler);
        let (members, hints, is) = (*members, *hints, &mut is_all);
        L::apart(AddPlain { tile, sampler, members, paths, hints, step, is_all: is });
        is_all
    }

    /// The parts of a second velocity; none of it if there is none.
    #[inline(always)]
    pub(super) fn scaled<const G: usize>(&self, members: &[usize; G]) -> [Scaled<F>; G] {
        let mut all = [Scaled { first: 0, factor: F::zero() }; G];
        if const { M::IS_SCALED } {
            // By index: an iterator call might not be inlined.
            for g in 0..G {
                let slot = self.tile.arrays.slots.get(members[g]);
                all[g] = self.tile.context.scaled(slot).unwrap_or(all[g]);
            }
        }
        all
    }

    /// A step of particles with inertia.
    #[inline(always)]
    fn fly<L: Lanes<F>, const G: usize>(
        &self,
        (from, pairs, when): (&Positions<L::Four, G>, &FramePairs<F>, When<F>),
        fluid: Sampled<F, S, G>,
        own: &mut Own<F, L::Four, G>,
    ) -> Flown<L::Four, G> {
        let context = self.tile.context;
        match &context.segment.inertia {
            None => Flown { to: *from, change: from.at, error: from.at },
            Some(inertia) => {
                Flight::<F, L, _, G> { context, inertia, from, pairs, when, fluid, own }.fly()
            }
        }
    }

    /// Reads positions.
    #[inline(always)]
    pub(super) fn load<L: Lanes<F>, const G: usize>(
        &self,
        members: &[usize; G],
    ) -> Positions<L::Four, G> {
        let mut positions = [[[F::zero(); 3]; 2]; G];
        // By index: an iterator call might not be inlined.
        for g in 0..G {
            positions[g] = self.tile.arrays.position[members[g]];
        }
        Positions::load::<F, L>(&positions)
    }

    /// Writes positions back.
    #[inline(always)]
    pub(super) fn store<L: Lanes<F>, const G: usize>(
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
}

/// Applies the random walk after a step. Cold and with copies of the loop's registers, so that
/// runs without a walk keep them in registers.
#[cold]
#[inline(never)]
fn diffuse<F: Real, S: Differentiable<F>, L: Lanes<F>, const G: usize>(
    (tile, sampler): (&Tile<F>, &S),
    members: &[usize; G],
    (from, to): (Positions<L::Four, G>, Positions<L::Four, G>),
    step: (usize, F, &FramePair<F>),
    mut hints: [S::Hint; G],
) -> Positions<L::Four, G> {
    let mut displacements = [[F::zero(); 3]; G];
    for g in 0..G {
        let ([from, _], mut probe) = (from.of(g), Hinted::new(sampler, &mut hints[g]));
        displacements[g] = tile.diffuse((members[g], from), step, &mut probe);
    }
    to.moved_on::<F, L>(&displacements)
}

/// The ends of a step of `G` particles, before boundaries.
pub(super) struct Ends<F, const G: usize> {
    pub to: [Position<F>; G],
    pub slow: [bool; G],
    /// Of particles with inertia.
    pub velocity: Option<[Velocities<F>; G]>,
}

/// Finishes a step in which some particles met a boundary or ended; returns whether any has
/// ended.
#[cold]
#[inline(never)]
pub(super) fn finish_step<F: Real, S: Differentiable<F>, L: Lanes<F>, const G: usize>(
    (tile, sampler): (&mut Tile<F>, &S),
    members: &[usize; G],
    hints: &mut [S::Hint; G],
    Ends { to, slow, velocity }: Ends<F, G>,
    (j, start): (usize, F),
) -> bool {
    let mut has_ended = false;
    for g in 0..G {
        let (i, to, slow) = (members[g], to[g], slow[g]);
        let mut probe = Hinted::new(sampler, &mut hints[g]);
        let velocity = velocity.map(|all| all[g]);
        let member = Member { i, to, slow, probe: &mut probe, velocity };
        let step = PartOfStep { j, start, until: F::one() };
        let before = tile.before_step(i, Some(start));
        tile.finish_step(member, step, Width::of::<F, L>());
        let mut probe = Hinted::new(sampler, &mut hints[g]);
        tile.tally((i, j), before, (&mut probe, Width::of::<F, L>()));
        has_ended |= tile.arrays.record[i].status != ACTIVE;
    }
    has_ended
}
