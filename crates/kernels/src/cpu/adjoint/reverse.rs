//! The steps of a tile in reverse.

use super::{
    Adjoint, Differentiable, Gradient,
    stages::{Clip, Group, Stages, transposed},
    states::{Coefficients, Part, States},
    values::ValueGradients,
};
use crate::{
    cpu::{
        Position, Real, Slots, four,
        frame_pair::FramePair,
        lanes::{Four, Lanes, Task, Vector},
        paths::{Jacobian, clipped, pulled_in, replayed},
        step::{FramePairs, Positions},
        three,
        walk::{diffuse, walk_slopes},
    },
    physics::{diffusion::host::Address, prelude::host::Vec3},
    scheme::MAX_STAGES,
    status::{ACTIVE, WAITING},
};

/// Number of particles in a group: while one waits for its values from memory, the others are computed.
const GROUP: usize = 4;

/// The steps of a tile in reverse.
pub(super) struct Reverse<'a, F: Real, S> {
    pub adjoint: &'a Adjoint<'a, F, S>,
    pub states: &'a States<F>,
    pub slots: Slots<'a>,
    pub gradients: &'a mut [Gradient<F>],
    pub values: Option<&'a mut ValueGradients<F>>,
}

impl<F: Real, S: Differentiable<F>> Task<F> for Reverse<'_, F, S> {
    /// Takes a few particles through all steps before the next ones: their part of the field stays cached.
    /// Adaptive steps are reversed one by one, particle after particle.
    #[inline(always)]
    fn run<L: Lanes<F>>(mut self) {
        let mut group = Group::new();
        let mut alone = Group::new();
        let is_adaptive = self.adjoint.context.launch.features.adaptive;
        let count = if is_adaptive { 1 } else { self.states.count };
        let rounds = if is_adaptive { self.states.parts.len() } else { self.states.steps() };
        for first in (0..count).step_by(GROUP) {
            for round in (0..rounds).rev() {
                let taken = if is_adaptive { self.part(round) } else { self.steps(first, round) };
                if let Some(whole) = whole_step(&taken) {
                    let members = std::array::from_fn(|g| first + g);
                    self.step::<L, GROUP>(&mut group, &members, whole);
                    continue;
                }
                // By index: an iterator call might not be inlined.
                #[allow(clippy::needless_range_loop)]
                for g in 0..GROUP {
                    let Some(step) = taken[g] else { continue };
                    std::mem::swap(&mut alone.pending[0], &mut group.pending[g]);
                    self.step::<L, 1>(&mut alone, &[step.i], step);
                    std::mem::swap(&mut alone.pending[0], &mut group.pending[g]);
                }
            }
            if let Some(values) = &mut self.values {
                group.pending.iter_mut().for_each(|pending| pending.pass_to(values));
            }
        }
    }
}

/// What a particle takes of a step of the launch.
#[derive(Clone, Copy)]
struct TakenStep<F> {
    i: usize,
    j: usize,
    /// The row of its state before.
    row: usize,
    /// The fraction of the step at which it starts, and the length, if it is not all of it.
    part: Option<(F, F)>,
}

/// The first of four steps, if all particles take all of it.
#[inline(always)]
fn whole_step<F: Copy>(taken: &[Option<TakenStep<F>>; GROUP]) -> Option<TakenStep<F>> {
    for step in taken {
        if !matches!(step, Some(TakenStep { part: None, .. })) {
            return None;
        }
    }
    taken[0]
}

/// The gradients by the ends of a path, in place of the gradient by the end of the step.
#[derive(Clone, Copy)]
struct Landing<V> {
    from: V,
    to: V,
}

impl<F: Real, S: Differentiable<F>> Reverse<'_, F, S> {
    /// An adaptive step.
    #[inline(always)]
    fn part(&self, row: usize) -> [Option<TakenStep<F>>; GROUP] {
        let Part { i, j, start, h } = self.states.parts[row];
        let moves = self.gradients[i].position != [F::zero(); 3];
        let step = TakenStep { i, j, row, part: Some((start, h)) };
        [moves.then_some(step), None, None, None]
    }

    /// Step `j` of a few particles.
    #[inline(always)]
    fn steps(&self, first: usize, j: usize) -> [Option<TakenStep<F>>; GROUP] {
        let count = self.states.count;
        let full_dt = F::of(self.adjoint.context.segment.steps[j].h);
        let mut taken = [None; GROUP];
        // By index: an iterator call might not be inlined.
        #[allow(clippy::needless_range_loop)]
        for g in 0..GROUP.min(count - first) {
            let i = first + g;
            if let Some(start) = self.start(j, i) {
                let part = (start != F::zero()).then_some((start, (F::one() - start) * full_dt));
                taken[g] = Some(TakenStep { i, j, row: j * count + i, part });
            }
        }
        taken
    }

    /// The fraction of step `j` at which a particle starts to move, if it does and its gradient is not
    /// zero.
    #[inline(always)]
    fn start(&self, j: usize, i: usize) -> Option<F> {
        let row = j * self.states.count + i;
        let record = &self.states.record[row];
        let number = self.adjoint.context.segment.first_step + j as i32;
        if self.gradients[i].position == [F::zero(); 3] {
            return None;
        }
        match record.status {
            ACTIVE => Some(F::zero()),
            WAITING if record.step == number => Some(self.states.fraction[row]),
            _ => None,
        }
    }

    /// Reverses a step of particles, the states of which follow one another from `row` on.
    #[inline(always)]
    fn step<L: Lanes<F>, const G: usize>(
        &mut self,
        group: &mut Group<F, L::Four, G>,
        members: &[usize; G],
        TakenStep { j, row, part, .. }: TakenStep<F>,
    ) {
        let adjoint = self.adjoint;
        let context = adjoint.context;
        let full_dt = F::of(context.segment.steps[j].h);
        let part_pairs;
        let (h, pairs) = match part {
            None => (full_dt, context.frame_pairs(j)),
            Some((start, h)) => {
                part_pairs = context.part(j, start * full_dt, h);
                (h, &part_pairs)
            }
        };
        let from = Positions::load::<F, L>(|g| self.states.position[row + g]);
        let location = |g: usize| self.states.record[row + g].location;
        let mut hints = std::array::from_fn(|g| adjoint.sampler.recall(location(g)));
        adjoint.sample::<L, G>(&from, (h, pairs), &mut hints, &mut group.stages);
        let mut landings = [None; G];
        for g in 0..G {
            let gradient = four::<F, L>(&self.gradients[members[g]].position);
            let address = self.address(members[g], row + g, j);
            let (from, step) = (from.of(g), (h, &pairs[0], address));
            let end = self.end::<L, G>((from, &group.stages, g), step, &hints[g]);
            if let Some(to) = end {
                let path = (from[0], to);
                let landing = self.landing::<L>(row + g, path, gradient, &mut hints[g]);
                landings[g] = Some(self.walk::<L>(members[g], (from[0], landing), step, &hints[g]));
            }
        }
        let (gradients, by_drift) = self.pull::<L, G>(&landings, group, (h, pairs), &mut hints);
        for g in 0..G {
            if landings[g].is_some() {
                let gradient = &mut self.gradients[members[g]];
                gradient.position = three(gradients[g].array());
                let sum = four::<F, L>(&gradient.drift) + by_drift[g];
                gradient.drift = three(sum.array());
            }
        }
    }

    /// What the random numbers of a step are functions of.
    #[inline(always)]
    fn address(&self, i: usize, row: usize, j: usize) -> Address {
        Address {
            slot: self.slots.get(i),
            generation: self.states.record[row].generation as u32,
            step: (self.adjoint.context.segment.first_step + j as i32) as u32,
        }
    }

    /// The free end of a step of a particle; `None` if it lost its position or ended as stagnant, and
    /// did not move.
    #[inline(always)]
    fn end<L: Lanes<F>, const G: usize>(
        &self,
        (from, stages, g): (Position<F>, &Stages<L::Four, G>, usize),
        (h, pair, address): (F, &FramePair<F>, Address),
        hint: &S::Hint,
    ) -> Option<L::Four> {
        let context = self.adjoint.context;
        let mean = self.adjoint.mean_velocity::<L, G>(stages, g);
        let [x, y, z] = three(mean.array());
        if context.is_stagnant(x * x + y * y + z * z) {
            return None;
        }
        let from_at = Positions::<L::Four, 1>::load::<F, L>(|_| from);
        let mut to = from_at.moved::<F>(|_, rest| mean.fma(L::Four::splat(h), rest));
        if context.launch.features.walk.is_on {
            let field = (&context.walls, self.adjoint.sampler, hint);
            let step = diffuse(&context.launch, from[0], address, (h, pair), field);
            to = to.moved::<F>(|_, rest| four::<F, L>(&step) + rest);
        }
        let [to] = to.at;
        three(to.array()).iter().all(|x| x.is_finite()).then_some(to)
    }

    /// The gradients by the ends of the path of a step.
    #[inline(always)]
    fn landing<L: Lanes<F>>(
        &self,
        row: usize,
        (from, to): ([F; 3], L::Four),
        gradient: L::Four,
        hint: &mut S::Hint,
    ) -> Landing<L::Four> {
        let context = self.adjoint.context;
        let path = (four::<F, L>(&from), to);
        if context.is_plain::<L, S>(path, (self.adjoint.sampler, hint)) {
            return Landing { from: L::Four::splat(F::zero()), to: gradient };
        }
        let cell = self.states.record[row].near_cell();
        let [from, to] =
            self.adjoint.wall((from, three(to.array())), cell, three(gradient.array()));
        Landing { from: four::<F, L>(&from), to: four::<F, L>(&to) }
    }

    /// Adds the gradients by the diffusivity, and by the start of a walk in a diffusivity that varies.
    #[inline(always)]
    fn walk<L: Lanes<F>>(
        &mut self,
        i: usize,
        (from, landing): ([F; 3], Landing<L::Four>),
        (h, pair, address): (F, &FramePair<F>, Address),
        hint: &S::Hint,
    ) -> Landing<L::Four> {
        let adjoint = self.adjoint;
        if !adjoint.context.launch.features.walk.is_on {
            return landing;
        }
        let field = (&adjoint.context.walls, adjoint.sampler, hint);
        let launches = (&adjoint.context.launch, &adjoint.exact);
        let slopes = walk_slopes(launches, from, address, (h, pair), field);
        let to = three(landing.to.array());
        let by = &mut self.gradients[i].diffusivity;
        let mut by_start = [F::zero(); 3];
        for d in 0..3 {
            by[d] += to[d] * slopes.by_diffusivity[d];
            for (sum, slope) in by_start.iter_mut().zip(slopes.by_start[d]) {
                *sum += to[d] * slope;
            }
        }
        Landing { from: landing.from + four::<F, L>(&by_start), ..landing }
    }

    /// The gradients by the starts of a step, and by its drift; adds those by the field's values. Those of
    /// particles without a landing have no meaning.
    #[inline(always)]
    fn pull<L: Lanes<F>, const G: usize>(
        &mut self,
        landings: &[Option<Landing<L::Four>>; G],
        Group { stages, shares, pending }: &mut Group<F, L::Four, G>,
        (h, pairs): (F, &FramePairs<F>),
        hints: &mut [S::Hint; G],
    ) -> ([L::Four; G], [L::Four; G]) {
        let Coefficients { stages: count, a, b } = &self.adjoint.coefficients;
        let zero = L::Four::splat(F::zero());
        let mut by_stage = [[zero; G]; MAX_STAGES];
        let (mut gradients, mut by_drift) = ([zero; G], [zero; G]);
        for s in (0..*count).rev() {
            for g in 0..G {
                let Some(Landing { from, to }) = landings[g] else { continue };
                if s + 1 == *count {
                    gradients[g] = from + to;
                }
                let mut by_velocity = to * L::Four::splat(b[s] * h);
                for r in s + 1..*count {
                    if a[r][s] != F::zero() {
                        by_velocity = by_stage[r][g].fma(L::Four::splat(a[r][s] * h), by_velocity);
                    }
                }
                by_drift[g] = by_drift[g] + by_velocity;
                if let Some(values) = &mut self.values {
                    let at = stages.at[s][g];
                    self.adjoint.sampler.shares::<L>(at, &mut hints[g], shares);
                    pending[g].add::<L>(shares, &pairs[s], by_velocity, values);
                }
                let [u, v, w] = stages.slopes[s][g];
                let by_point = w * by_velocity.spread::<2>();
                let by_point = v.fma(by_velocity.spread::<1>(), by_point);
                by_stage[s][g] = u.fma(by_velocity.spread::<0>(), by_point);
                if let Some([by_start, by_free]) = stages.clipped(s, g, by_stage[s][g]) {
                    gradients[g] = gradients[g] + by_start;
                    by_stage[s][g] = by_free;
                }
                gradients[g] = gradients[g] + by_stage[s][g];
            }
        }
        (gradients, by_drift)
    }
}

impl<F: Real, S: Differentiable<F>> Adjoint<'_, F, S> {
    #[inline(always)]
    fn sample<L: Lanes<F>, const G: usize>(
        &self,
        from: &Positions<L::Four, G>,
        (h, pairs): (F, &FramePairs<F>),
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
                (stages.velocity[s][g], stages.slopes[s][g]) = (sample.0, transpose(sample.1));
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

    /// The gradients by the start and by the free end of a path that meets a wall.
    #[cold]
    #[inline(never)]
    fn wall(&self, (from, to): ([F; 3], [F; 3]), cell: i32, gradient: [F; 3]) -> [[F; 3]; 2] {
        let path = replayed(&self.exact, from, to, cell);
        let Some(jacobians) = path.jacobians else { return [[F::zero(); 3], gradient] };
        jacobians.map(|jacobian| transposed(&jacobian, gradient))
    }

    /// The derivatives of the last point in the mesh on the path from the start of a step to a stage;
    /// `None` for a stage in the mesh.
    #[cold]
    #[inline(never)]
    fn clip(&self, from: [F; 3], to: [F; 3], cell: i32) -> Option<[Jacobian; 2]> {
        let launch = &self.context.launch;
        let contains = |p: [F; 3]| launch.find_cell(Vec3(p), 0).is_found;
        if contains(to) {
            return None;
        }
        let clip = pulled_in(launch, from, cell, &contains)
            .and_then(|from| clipped(&self.exact, from, to, cell, &contains).jacobians);
        // A path without a point in the mesh has no velocity.
        Some(clip.unwrap_or_default())
    }
}

/// The derivatives of each component, from those along each axis.
#[inline(always)]
fn transpose<F: Real, V: Four<F>>(columns: [V; 3]) -> [V; 3] {
    let [x, y, z] = columns.map(V::array);
    [0, 1, 2].map(|c| V::new([x[c], y[c], z[c], F::zero()]))
}
