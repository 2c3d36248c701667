//! The steps of a tile in reverse.

use super::{
    Adjoint, Differentiable,
    states::{Coefficients, States},
    values::{Pending, Shares, ValueGradients},
};
use crate::{
    cpu::{
        Position, Real, Slots, four,
        frame_pair::FramePair,
        lanes::{Four, Lanes, Task, Vector},
        paths::{Jacobian, clipped, pulled_in, replayed},
        step::{FramePairs, Positions},
        three,
        walk::diffuse,
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
    /// Gradients by the positions, of the end and then of the start.
    pub gradients: &'a mut [[F; 3]],
    pub values: Option<&'a mut ValueGradients<F>>,
}

impl<F: Real, S: Differentiable<F>> Task<F> for Reverse<'_, F, S> {
    /// Takes a few particles through all steps before the next ones: their part of the field stays cached.
    #[inline(always)]
    fn run<L: Lanes<F>>(mut self) {
        let mut group = Group::new();
        let mut alone = Group::new();
        for first in (0..self.states.count).step_by(GROUP) {
            let members = first..self.states.count.min(first + GROUP);
            for j in (0..self.states.steps()).rev() {
                let starts = self.starts(j, members.clone());
                if starts == [Some(F::zero()); GROUP] {
                    let members = std::array::from_fn(|g| first + g);
                    self.step::<L, GROUP>(&mut group, &members, (j, F::zero()));
                    continue;
                }
                for (g, start) in starts.into_iter().enumerate() {
                    let Some(start) = start else { continue };
                    std::mem::swap(&mut alone.pending[0], &mut group.pending[g]);
                    self.step::<L, 1>(&mut alone, &[first + g], (j, start));
                    std::mem::swap(&mut alone.pending[0], &mut group.pending[g]);
                }
            }
            if let Some(values) = &mut self.values {
                group.pending.iter_mut().for_each(|pending| pending.pass_to(values));
            }
        }
    }
}

impl<V: Copy, const G: usize> Stages<V, G> {
    /// For a stage outside a mesh, the gradients by the start and by the stage, from that by the last
    /// point inside.
    #[inline(always)]
    fn clipped<F: Real>(&self, stage: usize, member: usize, by_point: V) -> Option<[V; 2]>
    where
        V: Four<F>,
    {
        let is_it = |clip: &&Clip| (clip.stage, clip.member) == (stage, member);
        let clip = self.clips.iter().find(is_it)?;
        Some(clip.jacobians.map(|jacobian| {
            let [x, y, z] = transposed(&jacobian, three(by_point.array()));
            V::new([x, y, z, F::zero()])
        }))
    }
}

/// What is kept for particles that are reversed together.
struct Group<F, V: Copy, const G: usize> {
    stages: Stages<V, G>,
    shares: Shares<F>,
    pending: [Pending<F>; G],
}

impl<F: Real, V: Four<F>, const G: usize> Group<F, V, G> {
    fn new() -> Self {
        let zero = V::splat(F::zero());
        Group {
            stages: Stages {
                at: [[zero; G]; MAX_STAGES],
                velocity: [[zero; G]; MAX_STAGES],
                slopes: [[[zero; 3]; G]; MAX_STAGES],
                clips: Vec::new(),
            },
            shares: Shares::none(),
            pending: std::array::from_fn(|_| Pending::none()),
        }
    }
}

/// The stages of a step: where they sampled the field, and the derivatives there.
struct Stages<V: Copy, const G: usize> {
    at: [[V; G]; MAX_STAGES],
    velocity: [[V; G]; MAX_STAGES],
    /// The derivatives of each component of the velocity along x, y and z.
    slopes: [[[V; 3]; G]; MAX_STAGES],
    /// The stages outside a mesh, which sampled it at the last point inside, on a straight path.
    clips: Vec<Clip>,
}

/// The last point in a mesh on the path to a stage.
struct Clip {
    stage: usize,
    member: usize,
    /// Its derivatives by the start of the step, and by the stage.
    jacobians: [Jacobian; 2],
}

/// The gradients by the ends of a path, in place of the gradient by the end of the step.
#[derive(Clone, Copy)]
struct Landing<V> {
    from: V,
    to: V,
}

impl<F: Real, S: Differentiable<F>> Reverse<'_, F, S> {
    /// The starts of some particles in step `j`.
    #[inline(always)]
    fn starts(&self, j: usize, members: std::ops::Range<usize>) -> [Option<F>; GROUP] {
        let mut starts = [None; GROUP];
        // By index: an iterator call might not be inlined.
        #[allow(clippy::needless_range_loop)]
        for g in 0..members.len() {
            starts[g] = self.start(j, members.start + g);
        }
        starts
    }

    /// The fraction of step `j` at which a particle starts to move, if it does and its gradient is not
    /// zero.
    #[inline(always)]
    fn start(&self, j: usize, i: usize) -> Option<F> {
        let row = j * self.states.count + i;
        let record = &self.states.record[row];
        let number = self.adjoint.context.segment.first_step + j as i32;
        if self.gradients[i] == [F::zero(); 3] {
            return None;
        }
        match record.status {
            ACTIVE => Some(F::zero()),
            WAITING if record.step == number => Some(self.states.fraction[row]),
            _ => None,
        }
    }

    #[inline(always)]
    fn step<L: Lanes<F>, const G: usize>(
        &mut self,
        group: &mut Group<F, L::Four, G>,
        members: &[usize; G],
        (j, start): (usize, F),
    ) {
        let (adjoint, row) = (self.adjoint, j * self.states.count);
        let context = adjoint.context;
        let full_dt = F::of(context.segment.steps[j].h);
        let part;
        let (h, pairs) = if start == F::zero() {
            (full_dt, context.frame_pairs(j))
        } else {
            let h = (F::one() - start) * full_dt;
            part = adjoint.coefficients.frame_pairs(&context.launch, j, start * full_dt, h);
            (h, &part)
        };
        let from = Positions::load::<F, L>(|g| self.states.position[row + members[g]]);
        let location = |i: usize| self.states.record[row + i].location;
        let mut hints = members.map(|i| adjoint.sampler.recall(location(i)));
        adjoint.sample::<L, G>(&from, (h, pairs), &mut hints, &mut group.stages);
        let mut landings = [None; G];
        for g in 0..G {
            let i = members[g];
            let gradient = four::<F, L>(&self.gradients[i]);
            let (from, step) = (from.of(g), (j, h, &pairs[0]));
            let end = self.end::<L, G>(i, (from, &group.stages, g), step, &hints[g]);
            if let Some(to) = end {
                let landing = self.landing::<L>(row + i, (from[0], to), gradient, &mut hints[g]);
                landings[g] = Some(landing);
            }
        }
        let gradients = self.pull::<L, G>(&landings, group, (h, pairs), &mut hints);
        for g in 0..G {
            if landings[g].is_some() {
                self.gradients[members[g]] = three(gradients[g].array());
            }
        }
    }

    /// The free end of a step of a particle; `None` if it lost its position or ended as stagnant, and
    /// did not move.
    #[inline(always)]
    fn end<L: Lanes<F>, const G: usize>(
        &self,
        i: usize,
        (from, stages, g): (Position<F>, &Stages<L::Four, G>, usize),
        (j, h, pair): (usize, F, &FramePair<F>),
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
            let address = Address {
                slot: self.slots.get(i),
                generation: self.states.record[j * self.states.count + i].generation as u32,
                step: (context.segment.first_step + j as i32) as u32,
            };
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
        let start = four::<F, L>(&from);
        let is_plain = context.walls.contain::<L>(to)
            && context.are_clear::<L, 1>(&[start], &[to])
            && (!S::ENDS || self.adjoint.sampler.holds::<L>(to, hint));
        if is_plain {
            return Landing { from: L::Four::splat(F::zero()), to: gradient };
        }
        let cell = self.states.record[row].near_cell();
        let [from, to] =
            self.adjoint.wall((from, three(to.array())), cell, three(gradient.array()));
        Landing { from: four::<F, L>(&from), to: four::<F, L>(&to) }
    }

    /// The gradients by the starts of a step; adds those by the field's values. Those of particles without
    /// a landing have no meaning.
    #[inline(always)]
    fn pull<L: Lanes<F>, const G: usize>(
        &mut self,
        landings: &[Option<Landing<L::Four>>; G],
        Group { stages, shares, pending }: &mut Group<F, L::Four, G>,
        (h, pairs): (F, &FramePairs<F>),
        hints: &mut [S::Hint; G],
    ) -> [L::Four; G] {
        let Coefficients { stages: count, a, b, .. } = &self.adjoint.coefficients;
        let zero = L::Four::splat(F::zero());
        let mut by_stage = [[zero; G]; MAX_STAGES];
        let mut gradients = [zero; G];
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
        gradients
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

/// The product of a transposed Jacobian and a gradient.
fn transposed<F: Real>(jacobian: &Jacobian, gradient: [F; 3]) -> [F; 3] {
    [0, 1, 2].map(|d| F::of((0..3).map(|c| jacobian[c][d] * gradient[c].exact()).sum()))
}
