//! The steps of a tile once more, with the derivatives of the field at their stages.

use super::{
    Differentiable, Shared,
    stages::{Clip, Stages},
    states::{Part, States, start_in},
};
use crate::{
    cpu::{
        Position, Real, Slots, four,
        frame_pair::FramePair,
        lanes::{Four, Lanes, Vector},
        paths::{Jacobian, PathEnd, clipped, pulled_in, replayed},
        segment::FramePairs,
        step::Positions,
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

    /// Samples the field at the stages of particles, the states of which follow one another from `row`
    /// on. Returns the starts of their steps, and the hints of the sampler.
    #[inline(always)]
    pub fn sample<L: Lanes<F>, const G: usize>(
        &self,
        row: usize,
        timed: Timed<F>,
        stages: &mut Stages<L::Four, G>,
    ) -> (Positions<L::Four, G>, [S::Hint; G]) {
        let from = Positions::load::<F, L>(|g| self.states.position[row + g]);
        let location = |g: usize| self.states.record[row + g].location;
        let mut hints = std::array::from_fn(|g| self.shared.sampler.recall(location(g)));
        self.shared.sample::<L, G>(&from, timed, &mut hints, stages);
        (from, hints)
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

    /// The free end of a step of a particle; `None` if it lost its position or ended as stagnant, and
    /// did not move.
    #[inline(always)]
    pub fn end<L: Lanes<F>, const G: usize>(
        &self,
        step: &TakenStep<F>,
        (from, stages, g): (Position<F>, &Stages<L::Four, G>, usize),
        (h, pairs): Timed<F>,
        hint: &S::Hint,
    ) -> Option<L::Four> {
        let context = self.shared.context;
        let mean = self.shared.mean_velocity::<L, G>(stages, g);
        let [x, y, z] = three(mean.array());
        if context.is_stagnant(x * x + y * y + z * z) {
            return None;
        }
        let from_at = Positions::<L::Four, 1>::load::<F, L>(|_| from);
        let mut to = from_at.moved::<F>(|_, rest| mean.fma(L::Four::splat(h), rest));
        if context.launch.features.walk.is_on {
            let field = (&context.walls, self.shared.sampler, hint);
            let address = self.address(step.i, step.row, step.j);
            let step = diffuse(&context.launch, from[0], address, (h, &pairs[0]), field);
            to = to.moved::<F>(|_, rest| four::<F, L>(&step) + rest);
        }
        let [to] = to.at;
        three(to.array()).iter().all(|x| x.is_finite()).then_some(to)
    }

    /// The derivatives of the random displacement in a step, if there is one.
    #[inline(always)]
    pub fn walk_slopes(
        &self,
        step: &TakenStep<F>,
        (from, h, pair): ([F; 3], F, &FramePair<F>),
        hint: &S::Hint,
    ) -> Option<WalkSlopes<F>> {
        let shared = self.shared;
        if !shared.context.launch.features.walk.is_on {
            return None;
        }
        let field = (&shared.context.walls, shared.sampler, hint);
        let launches = (&shared.context.launch, &shared.exact);
        let address = self.address(step.i, step.row, step.j);
        Some(walk_slopes(launches, from, address, (h, pair), field))
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
        let path = (four::<F, L>(&from), to);
        if self.shared.context.is_plain::<L, S>(path, (self.shared.sampler, hint)) {
            return None;
        }
        let cell = self.states.record[row].near_cell();
        Some(self.shared.wall((from, three(to.array())), cell))
    }
}

impl<F: Real, S: Differentiable<F>> Shared<'_, F, S> {
    #[inline(always)]
    fn sample<L: Lanes<F>, const G: usize>(
        &self,
        from: &Positions<L::Four, G>,
        (h, pairs): Timed<F>,
        hints: &mut [S::Hint; G],
        stages: &mut Stages<L::Four, G>,
    ) {
        stages.clips.clear();
        // By index: an iterator call might not be inlined and unrolled.
        #[allow(clippy::needless_range_loop)]
        for s in 0..self.coefficients.stages {
            #[allow(clippy::needless_range_loop)]
            for g in 0..G {
                let mut at = from.at[g];
                for r in 0..s {
                    let a = self.coefficients.a[s][r];
                    if a != F::zero() {
                        at = stages.velocity[r][g].fma(L::Four::splat(a * h), at);
                    }
                }
                let at = self.context.walls.wrap::<L>(at);
                stages.at[s][g] = at;
                let sample = self.sampler.slopes::<L>(at, &pairs[s], &mut hints[g]);
                (stages.velocity[s][g], stages.slopes[s][g]) = sample;
                if S::cells(&mut hints[g]).is_some_and(|cells| cells.walk_failed) {
                    let (from, at) = (three(from.at[g].array()), three(at.array()));
                    let jacobians = self.clip(from, at, S::note(&hints[g]));
                    let clip = |jacobians| Clip { stage: s, member: g, jacobians };
                    stages.clips.extend(jacobians.map(clip));
                }
            }
            stages.velocity[s] = self.context.with_drift(stages.velocity[s]);
        }
    }

    #[inline(always)]
    fn mean_velocity<L: Lanes<F>, const G: usize>(
        &self,
        stages: &Stages<L::Four, G>,
        g: usize,
    ) -> L::Four {
        let mut mean = L::Four::splat(F::zero());
        for s in 0..self.coefficients.stages {
            mean = stages.velocity[s][g].fma(L::Four::splat(self.coefficients.b[s]), mean);
        }
        mean
    }

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
