//! One Runge-Kutta step of a few particles at once.

use super::{
    Method, Position, Real, Sampler,
    lanes::{Four, Lanes, Vector},
    segment::{FramePairs, SegmentContext},
    three,
};
use crate::scheme::MAX_STAGES;

/// Positions of `G` particles and their rests.
#[derive(Clone, Copy)]
pub(super) struct Positions<V, const G: usize> {
    pub at: [V; G],
    pub rest: [V; G],
}

impl<V: Copy, const G: usize> Positions<V, G> {
    /// The positions `of` each of the `G` particles.
    #[inline(always)]
    pub fn load<F: Real, L: Lanes<F, Four = V>>(of: impl Fn(usize) -> Position<F>) -> Self {
        let all: [Position<F>; G] = std::array::from_fn(of);
        let part = |k: usize| all.map(|position| super::four::<F, L>(&position[k]));
        Positions { at: part(0), rest: part(1) }
    }

    /// The position of particle `g`.
    #[inline(always)]
    pub fn of<F: Real>(&self, g: usize) -> Position<F>
    where
        V: Four<F>,
    {
        [three(self.at[g].array()), three(self.rest[g].array())]
    }

    /// These positions after displacements, to which `displacement` adds the rests that it is given.
    /// The new rests are what the sums lose by rounding (Dekker's fast two-sum).
    #[inline(always)]
    pub fn moved<F>(&self, displacement: impl Fn(usize, V) -> V) -> Self
    where
        V: Vector<F>,
    {
        let mut moved = *self;
        // By index: an iterator call might not be inlined and unrolled.
        for g in 0..G {
            let displacement = displacement(g, self.rest[g]);
            moved.at[g] = self.at[g] + displacement;
            moved.rest[g] = displacement - (moved.at[g] - self.at[g]);
        }
        moved
    }
}

/// Result of a step, before boundary conditions.
pub(super) struct StepResult<V, const G: usize> {
    pub to: Positions<V, G>,
    /// Particles slower than the threshold speed.
    pub slow: [bool; G],
}

/// The stages of a step of `G` particles.
struct Stages<'a, F, V: Copy, S: Sampler<F>, M: Method, const G: usize>
where
    F: Real,
{
    from: &'a Positions<V, G>,
    h: F,
    pairs: &'a FramePairs<F>,
    context: &'a SegmentContext<'a, F>,
    sampler: &'a S,
    hints: &'a mut [S::Hint; G],
    k: M::Stages<[V; G]>,
}

impl<'a, F: Real, V: Four<F>, S: Sampler<F>, M: Method, const G: usize> Stages<'a, F, V, S, M, G> {
    #[inline(always)]
    fn new(
        from: &'a Positions<V, G>,
        (h, pairs): (F, &'a FramePairs<F>),
        context: &'a SegmentContext<'a, F>,
        sampler: &'a S,
        hints: &'a mut [S::Hint; G],
    ) -> Self {
        Stages { from, h, pairs, context, sampler, hints, k: M::all([V::splat(F::zero()); G]) }
    }

    /// Stage `N`, if the solution needs it. The condition is a constant, so that stages without use are not compiled.
    #[inline(always)]
    fn stage<L: Lanes<F, Four = V>, const N: usize>(&mut self) {
        if const { matches!(M::TABLEAU, Some(tableau) if N < tableau.solution_stages()) } {
            self.any_stage::<L>(N);
        }
    }

    /// Stage `n`. While one particle waits for its values from memory, the others are computed.
    #[inline(always)]
    fn any_stage<L: Lanes<F, Four = V>>(&mut self, n: usize) {
        if S::TOGETHER {
            let mut at = self.from.at;
            // By index: a call might not be inlined.
            #[allow(clippy::needless_range_loop)]
            for g in 0..G {
                at[g] = self.stage_position::<L>(n, g);
            }
            self.k.as_mut()[n] =
                self.sampler.sample_together::<L, G>(&at, &self.pairs[n], self.hints);
        } else {
            for g in 0..G {
                let at = self.stage_position::<L>(n, g);
                self.k.as_mut()[n][g] =
                    self.sampler.sample::<L>(at, &self.pairs[n], &mut self.hints[g]);
            }
        }
        // Stored only if they change: a copy of all samples costs a seventh of a step.
        if self.context.adds {
            self.k.as_mut()[n] = self.context.add(self.k.as_ref()[n]);
        }
    }

    /// Where stage `n` of particle `g` samples the field.
    #[inline(always)]
    fn stage_position<L: Lanes<F, Four = V>>(&self, n: usize, g: usize) -> V {
        let mut stage = self.from.at[g];
        for r in 0..n {
            let a = M::tableau(self.context.tableau).a[n][r];
            if !a.is_zero() {
                let a = V::splat(F::of(a.value()) * self.h);
                stage = self.k.as_ref()[r][g].fma(a, stage);
            }
        }
        self.context.walls.wrap::<L>(stage)
    }

    /// All stages that the solution needs: one by one, so that their coefficients are constants in the compiled loop,
    /// unless they are known at run time only.
    #[inline(always)]
    fn solution<L: Lanes<F, Four = V>>(&mut self) {
        const { assert!(MAX_STAGES == 7) };
        if const { M::TABLEAU.is_none() } {
            for n in 0..M::solution_stages(self.context.tableau) {
                self.any_stage::<L>(n);
            }
            return;
        }
        self.stage::<L, 0>();
        self.stage::<L, 1>();
        self.stage::<L, 2>();
        self.stage::<L, 3>();
        self.stage::<L, 4>();
        self.stage::<L, 5>();
        self.stage::<L, 6>();
    }

    /// The weighted mean of the stage velocities of particle `g`.
    #[inline(always)]
    fn mean_velocity(&self, g: usize) -> V {
        let mut mean_velocity = V::splat(F::zero());
        for s in 0..M::solution_stages(self.context.tableau) {
            let b = M::tableau(self.context.tableau).b[s];
            if !b.is_zero() {
                mean_velocity =
                    self.k.as_ref()[s][g].fma(V::splat(F::of(b.value())), mean_velocity);
            }
        }
        mean_velocity
    }

    /// The difference of the embedded solution's mean.
    #[inline(always)]
    fn error(&self, g: usize) -> V {
        let mut error = V::splat(F::zero());
        for s in 0..M::tableau(self.context.tableau).stages {
            let e = M::tableau(self.context.tableau).error[s];
            if !e.is_zero() {
                error = self.k.as_ref()[s][g].fma(V::splat(F::of(e.value())), error);
            }
        }
        error
    }

    /// The end of the step.
    #[inline(always)]
    fn result(&self) -> StepResult<V, G> {
        let h = V::splat(self.h);
        let to = self.from.moved::<F>(|g, rest| self.mean_velocity(g).fma(h, rest));
        let mut result = StepResult { to, slow: [false; G] };
        if self.context.stagnant > F::zero() {
            for g in 0..G {
                let [u, v, w, _] = self.mean_velocity(g).array();
                result.slow[g] = self.context.is_stagnant(u * u + v * v + w * w);
            }
        }
        result
    }
}

/// One Runge-Kutta step of `G` particles.
#[inline(always)]
pub(super) fn rk_step<F: Real, L: Lanes<F>, S: Sampler<F>, M: Method, const G: usize>(
    from: &Positions<L::Four, G>,
    step: (F, &FramePairs<F>),
    context: &SegmentContext<F>,
    sampler: &S,
    hints: &mut [S::Hint; G],
) -> StepResult<L::Four, G> {
    let mut stages = Stages::<F, L::Four, S, M, G>::new(from, step, context, sampler, hints);
    stages.solution::<L>();
    stages.result()
}

/// A step of one particle, and its difference from the embedded solution.
#[inline(always)]
pub(super) fn rk_attempt<F: Real, L: Lanes<F>, S: Sampler<F>, M: Method>(
    from: &Positions<L::Four, 1>,
    (h, pairs): (F, &FramePairs<F>),
    context: &SegmentContext<F>,
    sampler: &S,
    hint: &mut S::Hint,
) -> (StepResult<L::Four, 1>, L::Four) {
    let mut hints = [*hint];
    let mut stages =
        Stages::<F, L::Four, S, M, 1>::new(from, (h, pairs), context, sampler, &mut hints);
    stages.solution::<L>();
    let result = stages.result();
    // The last stage only estimates the error. Its sample must not advance the hint of a mesh walk:
    // the next step continues from the end of this one.
    *hint = stages.hints[0];
    stages.any_stage::<L>(M::tableau(context.tableau).stages - 1);
    let error = stages.error(0) * L::Four::splat(h);
    (result, error)
}
