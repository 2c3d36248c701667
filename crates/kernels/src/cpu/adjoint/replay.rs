//! The steps of a tile once more, with the derivatives of the field at their stages.

use super::{
    Differentiable, Shared,
    stages::{Clip, Stages},
    states::{Part, States, start_in},
};
use crate::{
    cpu::{
        Real, Slots, four,
        frame_pair::FramePair,
        lanes::{Four, Lanes},
        method::AnyScheme,
        paths::{Jacobian, PathEnd, clipped, pulled_in, replayed},
        probe::Hinted,
        segment::FramePairs,
        step::{self, Positions, StageVelocity, StepResult},
        three,
        walk::{WalkSlopes, diffuse, walk_slopes},
    },
    physics::{diffusion::host::Address, prelude::host::Vec3},
};

/// Number of particles in a group: while one waits for its values from memory, the others are computed.
pub(super) const GROUP: usize = 4;

/// The steps of a tile.
pub(super) struct Replay<'a, F: Real, S> {
    pub shared: &'a Shared<'a, F, S>,
    pub states: &'a States<F>,
    pub slots: Slots<'a>,
}

impl<F: Real, S> Clone for Replay<'_, F, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F: Real, S> Copy for Replay<'_, F, S> {}

/// What a particle takes of a step of the launch.
#[derive(Clone, Copy)]
pub(super) struct TakenStep<F> {
    pub i: usize,
    pub j: usize,
    /// The row of its state before.
    pub row: usize,
    /// The fraction of the step at which it starts, and the length, if it is not all of it.
    part: Option<(F, F)>,
}

impl<F: Copy> TakenStep<F> {
    /// The same step of particle `i`, the state of which is `g` rows further on.
    #[inline(always)]
    pub fn of(&self, i: usize, g: usize) -> Self {
        TakenStep { i, row: self.row + g, ..*self }
    }
}

/// The first of four steps, if all particles take all of it.
#[inline(always)]
pub(super) fn whole_step<F: Copy>(taken: &[Option<TakenStep<F>>; GROUP]) -> Option<TakenStep<F>> {
    for step in taken {
        if !matches!(step, Some(TakenStep { part: None, .. })) {
            return None;
        }
    }
    taken[0]
}

/// Length and frames of a step.
pub(super) type Timed<'b, F> = (F, &'b FramePairs<F>);

impl<F: Real, S: Differentiable<F>> Replay<'_, F, S> {
    /// The first particle of each group. Irregular steps are taken one by one, particle after particle.
    pub fn groups(&self) -> impl Iterator<Item = usize> + use<F, S> {
        let count = if self.states.parts.is_some() { 1 } else { self.states.count };
        (0..count).step_by(GROUP)
    }

    /// Number of steps of a group.
    pub fn rounds(&self) -> usize {
        self.states.parts.as_ref().map_or_else(|| self.states.steps(), Vec::len)
    }

    /// A step of a group, for the particles for which `wanted` is true.
    #[inline(always)]
    pub fn taken(
        &self,
        first: usize,
        round: usize,
        wanted: impl Fn(usize) -> bool,
    ) -> [Option<TakenStep<F>>; GROUP] {
        let mut taken = [None; GROUP];
        if let Some(parts) = &self.states.parts {
            let Part { i, j, start, h } = parts[round];
            let is_whole = start == F::zero() && !self.shared.context.launch.features.adaptive;
            let step = TakenStep { i, j, row: round, part: (!is_whole).then_some((start, h)) };
            taken[0] = wanted(i).then_some(step);
            return taken;
        }
        let count = self.states.count;
        let full_dt = F::of(self.shared.context.segment.steps[round].h);
        // By index: an iterator call might not be inlined.
        #[allow(clippy::needless_range_loop)]
        for g in 0..GROUP.min(count - first) {
            let i = first + g;
            if !wanted(i) {
                continue;
            }
            if let Some(start) = self.start(round, i) {
                let part = (start != F::zero()).then_some((start, (F::one() - start) * full_dt));
                taken[g] = Some(TakenStep { i, j: round, row: round * count + i, part });
            }
        }
        taken
    }

    /// The fraction of step `j` at which a particle starts to move, if it does.
    #[inline(always)]
    fn start(&self, j: usize, i: usize) -> Option<F> {
        let row = j * self.states.count + i;
        let number = self.shared.context.segment.first_step + j as i32;
        start_in(&self.states.record[row], self.states.fraction[row], number)
    }

    /// Length and frames of a step. `part` has room for the frames of a part.
    #[inline(always)]
    pub fn timed<'b>(
        &'b self,
        step: &TakenStep<F>,
        part: &'b mut Option<FramePairs<F>>,
    ) -> Timed<'b, F> {
        let context = self.shared.context;
        let full_dt = F::of(context.segment.steps[step.j].h);
        match step.part {
            None => (full_dt, context.frame_pairs(step.j)),
            Some((start, h)) => (h, part.insert(context.part(step.j, start * full_dt, h))),
        }
    }

    /// Takes a step of particles, the states of which follow one another from `row` on, without boundaries and random
    /// walks. Returns its starts and ends, and the hints of the sampler.
    #[inline(always)]
    pub fn sample<L: Lanes<F>, const G: usize>(
        &self,
        row: usize,
        timed: Timed<F>,
        stages: &mut Stages<L::Four, G>,
    ) -> FreeStep<F, L, S, G> {
        let mut positions = [[[F::zero(); 3]; 2]; G];
        let mut hints = [S::Hint::default(); G];
        // By index: an iterator call might not be inlined.
        for g in 0..G {
            positions[g] = self.states.position[row + g];
            hints[g] = self.shared.sampler.recall(self.states.record[row + g].location);
        }
        let from = Positions::load::<F, L>(&positions);
        stages.clips.clear();
        let sloped = Sloped { shared: self.shared, from: from.at, hints: &mut hints, stages };
        let context = self.shared.context;
        let result =
            step::Stages::<F, L, _, AnyScheme, G>::new(&from, timed, context, sloped).step();
        FreeStep { from, result, hints }
    }

    /// What the random numbers of a step are functions of.
    #[inline(always)]
    fn address(&self, i: usize, row: usize, j: usize) -> Address {
        Address {
            slot: self.slots.get(i),
            generation: self.states.record[row].generation as u32,
            step: (self.shared.context.segment.first_step + j as i32) as u32,
        }
    }

    /// The free end of a step of particle `g`, after its random walk; `None` if it lost its position or ended as
    /// stagnant, and did not move.
    #[inline(always)]
    pub fn end<L: Lanes<F>, const G: usize>(
        &self,
        step: &TakenStep<F>,
        free: &mut FreeStep<F, L, S, G>,
        (h, pairs): Timed<F>,
        g: usize,
    ) -> Option<L::Four> {
        let context = self.shared.context;
        if free.result.slow[g] {
            return None;
        }
        let mut to = free.result.to.at[g];
        if context.launch.features.walk.is_on {
            let [from, _] = free.from.of(g);
            let address = self.address(step.i, step.row, step.j);
            let mut probe = Hinted::new(self.shared.sampler, &mut free.hints[g]);
            let (launch, walls, step) = (&context.launch, &context.walls, (h, &pairs[0]));
            let walk = diffuse(launch, from, address, step, walls, &mut probe);
            let end = Positions::<L::Four, 1> { at: [to], rest: [free.result.to.rest[g]] };
            [to] = end.moved_on::<F, L>(&[walk]).at;
        }
        three(to.array()).iter().all(|x| x.is_finite()).then_some(to)
    }

    /// The derivatives of the random displacement in a step, if there is one.
    #[inline(always)]
    pub fn walk_slopes(
        &self,
        step: &TakenStep<F>,
        (from, h, pair): ([F; 3], F, &FramePair<F>),
        hint: &mut S::Hint,
    ) -> Option<WalkSlopes<F>> {
        let shared = self.shared;
        if !shared.context.launch.features.walk.is_on {
            return None;
        }
        let mut probe = Hinted::new(shared.sampler, hint);
        let (walls, launches) = (&shared.context.walls, (&shared.context.launch, &shared.exact));
        let address = self.address(step.i, step.row, step.j);
        Some(walk_slopes(launches, from, address, (h, pair), walls, &mut probe))
    }

    /// The end of the path of a step, with its derivatives by its start and by its free end; `None` if it
    /// is the free end.
    #[inline(always)]
    pub fn path_end<L: Lanes<F>>(
        &self,
        row: usize,
        (from, to): ([F; 3], L::Four),
        hint: &mut S::Hint,
    ) -> Option<PathEnd> {
        let context = self.shared.context;
        let is_plain = context.walls.contain::<L>(to)
            && context.are_clear::<L, 1>(&[four::<F, L>(&from)], &[to])
            && (!S::ENDS || self.shared.sampler.holds::<L>(to, hint));
        if is_plain {
            return None;
        }
        let cell = self.states.record[row].near_cell();
        Some(self.shared.wall((from, three(to.array())), cell))
    }
}

/// A step of particles without boundaries and random walks.
pub(super) struct FreeStep<F: Real, L: Lanes<F>, S: Differentiable<F>, const G: usize> {
    pub from: Positions<L::Four, G>,
    pub result: StepResult<L::Four, G>,
    pub hints: [S::Hint; G],
}

/// The velocities at the stages of steps, of which the derivatives are kept.
struct Sloped<'a, 'b, F: Real, V: Copy, S: Differentiable<F>, const G: usize> {
    shared: &'a Shared<'a, F, S>,
    from: [V; G],
    hints: &'b mut [S::Hint; G],
    stages: &'b mut Stages<V, G>,
}

impl<F, L, S, const G: usize> StageVelocity<F, L, G> for Sloped<'_, '_, F, L::Four, S, G>
where
    F: Real,
    L: Lanes<F>,
    S: Differentiable<F>,
{
    #[inline(always)]
    fn of(&mut self, stage: usize, g: usize, at: L::Four, pair: &FramePair<F>) -> L::Four {
        let Sloped { shared, from, hints, stages } = self;
        let (velocity, slopes) = shared.sampler.slopes::<L>(at, pair, &mut hints[g]);
        (stages.at[stage][g], stages.slopes[stage][g]) = (at, slopes);
        if S::cells(&mut hints[g]).is_some_and(|cells| cells.walk_failed) {
            let (from, at) = (three(from[g].array()), three(at.array()));
            let jacobians = shared.clip(from, at, S::note(&hints[g]));
            stages.clips.extend(jacobians.map(|jacobians| Clip { stage, member: g, jacobians }));
        }
        velocity
    }
}

impl<F: Real, S> Shared<'_, F, S> {
    /// The end of a path that meets something, with its derivatives.
    #[cold]
    #[inline(never)]
    fn wall(&self, (from, to): ([F; 3], [F; 3]), cell: i32) -> PathEnd {
        replayed(&self.exact, from, to, cell)
    }

    /// The derivatives of the last point in the mesh on the path from the start of a step to a stage;
    /// `None` for a stage in the mesh.
    #[cold]
    #[inline(never)]
    fn clip(&self, from: [F; 3], to: [F; 3], cell: i32) -> Option<[Jacobian; 2]> {
        let launch = &self.context.launch;
        let contains = |p: [F; 3]| launch.find_cell(Vec3(p), 0, -1, false).is_found;
        if contains(to) {
            return None;
        }
        let clip = pulled_in(launch, from, cell, &contains)
            .and_then(|from| clipped(&self.exact, from, to, cell, &contains).jacobians);
        // A path without a point in the mesh has no velocity.
        Some(clip.unwrap_or_default())
    }
}
