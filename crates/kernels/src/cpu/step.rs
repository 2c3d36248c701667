//! One Runge-Kutta step of a few particles at once.

mod velocity;

pub(super) use velocity::{Probed, Sampled, SampledTwice, Scaled, StageSlopes, StageVelocity};

use super::{
    Real,
    arrays::Position,
    chart::{Chart, Either},
    lanes::{Four, Lanes, Vector, four, three},
    method::{AnyScheme, Method},
    segment::{FramePairs, SegmentContext},
};
use crate::{physics::tables::RADIUS, scheme::MAX_STAGES};

/// Positions of `G` particles and their rests.
#[derive(Clone, Copy)]
pub(super) struct Positions<V, const G: usize> {
    pub at: [V; G],
    pub rest: [V; G],
}

impl<V: Copy, const G: usize> Positions<V, G> {
    /// The positions of `G` particles.
    #[inline(always)]
    pub fn load<F: Real, L: Lanes<F, Four = V>>(of: &[Position<F>; G]) -> Self
    where
        V: Four<F>,
    {
        let zero = V::splat(F::zero());
        let mut positions = Positions { at: [zero; G], rest: [zero; G] };
        // By index: an iterator call might not be inlined.
        #[allow(clippy::needless_range_loop)]
        for g in 0..G {
            positions.at[g] = four::<F, L>(&of[g][0]);
            positions.rest[g] = four::<F, L>(&of[g][1]);
        }
        positions
    }

    /// The position of particle `g`.
    #[inline(always)]
    pub fn of<F: Real>(&self, g: usize) -> Position<F>
    where
        V: Four<F>,
    {
        [three(self.at[g].array()), three(self.rest[g].array())]
    }

    /// These positions after displacements. The new rests are what the sums lose by rounding (Dekker's fast two-sum): a
    /// displacement includes the rest before.
    #[inline(always)]
    pub fn moved<F>(&self, displacements: &[V; G]) -> Self
    where
        V: Vector<F>,
    {
        let mut moved = *self;
        // By index: an iterator call might not be inlined and unrolled.
        #[allow(clippy::needless_range_loop)]
        for g in 0..G {
            moved.at[g] = self.at[g] + displacements[g];
            moved.rest[g] = displacements[g] - (moved.at[g] - self.at[g]);
        }
        moved
    }

    /// These positions after further displacements.
    #[inline(always)]
    pub fn moved_on<F: Real, L: Lanes<F, Four = V>>(&self, by: &[[F; 3]; G]) -> Self
    where
        V: Four<F>,
    {
        let mut displacements = self.rest;
        for g in 0..G {
            displacements[g] = four::<F, L>(&by[g]) + self.rest[g];
        }
        self.moved::<F>(&displacements)
    }
}

/// Result of a step, before boundary conditions.
pub(super) struct StepResult<V, const G: usize> {
    pub to: Positions<V, G>,
    /// Particles slower than the threshold speed.
    pub slow: [bool; G],
}

/// The stages of a step of `G` particles.
pub(super) struct Stages<
    'a,
    F: Real,
    L: Lanes<F>,
    E: StageVelocity<F, L, G>,
    M: Method,
    const G: usize,
> {
    around: <E::Chart as Chart<F>>::Around<L::Four>,
    from: &'a Positions<L::Four, G>,
    h: F,
    pairs: &'a FramePairs<F>,
    context: &'a SegmentContext<'a, F>,
    velocity: E,
    k: M::Stages<[L::Four; G]>,
}

impl<'a, F, L, E, M, const G: usize> Stages<'a, F, L, E, M, G>
where
    F: Real,
    L: Lanes<F>,
    E: StageVelocity<F, L, G>,
    M: Method,
{
    #[inline(always)]
    pub fn new(
        from: &'a Positions<L::Four, G>,
        (h, pairs): (F, &'a FramePairs<F>),
        context: &'a SegmentContext<'a, F>,
        velocity: E,
    ) -> Self {
        let k = M::all([L::Four::splat(F::zero()); G]);
        let around = E::Chart::around::<L, G>(&context.launch, &from.at);
        Stages { around, from, h, pairs, context, velocity, k }
    }

    /// Stage `N`, if the solution needs it. The condition is a constant, so that stages without use are not compiled.
    #[inline(always)]
    fn stage<const N: usize>(&mut self) {
        if const { matches!(M::TABLEAU, Some(tableau) if N < tableau.solution_stages()) } {
            self.any_stage(N);
        }
    }

    /// Stage `n`. While one particle waits for its values from memory, the others are computed.
    #[inline(always)]
    fn any_stage(&mut self, n: usize) {
        if E::TOGETHER || const { !E::Chart::IS_FLAT } {
            let mut sums = self.from.at;
            // By index: a call might not be inlined.
            #[allow(clippy::needless_range_loop)]
            for g in 0..G {
                sums[g] = self.sum(n, g);
            }
            let mut at = self.from.at;
            if n > 0 {
                at = E::Chart::stage::<L, G>(&self.around, &self.from.at, sums);
            }
            #[allow(clippy::needless_range_loop)]
            for g in 0..G {
                at[g] = self.context.walls.wrap::<L>(at[g]);
            }
            self.k.as_mut()[n] = self.velocity.of_all(n, &at, &self.pairs[n]);
        } else {
            for g in 0..G {
                let at = self.context.walls.wrap::<L>(self.sum(n, g));
                self.k.as_mut()[n][g] = self.velocity.of(n, g, at, &self.pairs[n]);
            }
        }
        // Stored only if they change: a copy of all samples costs a seventh of a step.
        if self.context.adds {
            self.k.as_mut()[n] = self.context.add(self.k.as_ref()[n]);
        }
    }

    /// What displacements add up to in stage `n` of particle `g`.
    #[inline(always)]
    fn sum(&self, n: usize, g: usize) -> L::Four {
        let mut sum = E::Chart::start::<L>(&self.around, self.from.at[g]);
        for r in 0..n {
            let a = M::a(&self.context.coefficients, n, r);
            if a != F::zero() {
                sum = self.k.as_ref()[r][g].fma(L::Four::splat(a * self.h), sum);
            }
        }
        sum
    }

    /// All stages that the solution needs: one by one, so that their coefficients are constants in the compiled loop,
    /// unless they are known at run time only.
    #[inline(always)]
    fn solution(&mut self) {
        const { assert!(MAX_STAGES == 7) };
        if const { M::TABLEAU.is_none() } {
            for n in 0..M::solution_stages(&self.context.coefficients) {
                self.any_stage(n);
            }
            return;
        }
        self.stage::<0>();
        self.stage::<1>();
        self.stage::<2>();
        self.stage::<3>();
        self.stage::<4>();
        self.stage::<5>();
        self.stage::<6>();
    }

    /// The weighted mean of the stage velocities of particle `g`.
    #[inline(always)]
    fn mean_velocity(&self, g: usize) -> L::Four {
        let mut mean_velocity = L::Four::splat(F::zero());
        for s in 0..M::solution_stages(&self.context.coefficients) {
            let b = M::b(&self.context.coefficients, s);
            if b != F::zero() {
                mean_velocity = self.k.as_ref()[s][g].fma(L::Four::splat(b), mean_velocity);
            }
        }
        mean_velocity
    }

    /// The difference of the embedded solution's mean.
    #[inline(always)]
    fn error(&self, g: usize) -> L::Four {
        let mut error = L::Four::splat(F::zero());
        for s in 0..self.context.tableau.stages {
            let weight = L::Four::splat(self.context.coefficients.error[s]);
            error = self.k.as_ref()[s][g].fma(weight, error);
        }
        error
    }

    /// The end of the step.
    #[inline(always)]
    fn result(&self) -> StepResult<L::Four, G> {
        let h = L::Four::splat(self.h);
        let mut velocities = self.from.rest;
        // By index: an iterator call might not be inlined.
        #[allow(clippy::needless_range_loop)]
        for g in 0..G {
            velocities[g] = self.mean_velocity(g);
        }
        let displacements = E::Chart::step::<L, G>(&self.around, velocities, h, &self.from.rest);
        let to = self.from.moved::<F>(&displacements);
        let mut result = StepResult { to, slow: [false; G] };
        if self.context.stagnant > F::zero() {
            let along = E::Chart::along_axes::<L, G>(&self.around, velocities);
            #[allow(clippy::needless_range_loop)]
            for g in 0..G {
                let [u, v, w, _] = along[g].array();
                result.slow[g] = self.context.is_stagnant(u * u + v * v + w * w);
            }
        }
        result
    }

    /// Takes the step.
    #[inline(always)]
    pub fn step(&mut self) -> StepResult<L::Four, G> {
        self.solution();
        self.result()
    }
}

/// A step whose error is estimated.
pub(super) struct Attempt<V> {
    pub result: StepResult<V, 1>,
    /// Its difference from the embedded solution.
    pub error: V,
    /// The coordinates of its ends that a tolerance is relative to.
    pub ends: [V; 2],
}

/// A step of one particle in rare code, with its error.
#[inline(always)]
pub(super) fn rk_attempt<F: Real, L: Lanes<F>>(
    from: &Positions<L::Four, 1>,
    (h, pairs): (F, &FramePairs<F>),
    context: &SegmentContext<F>,
    probed: Probed<F>,
) -> Attempt<L::Four> {
    let mut stages = Stages::<F, L, _, AnyScheme, 1>::new(from, (h, pairs), context, probed);
    let result = stages.step();
    // The last stage only estimates the error. Its sample must not advance the hint of a mesh walk:
    // the next step continues from the end of this one.
    stages.velocity.probe.keep();
    stages.any_stage(context.tableau.stages - 1);
    stages.velocity.probe.restore();
    let error = [stages.error(0) * L::Four::splat(h)];
    let [error] = Either::along_axes::<L, 1>(&stages.around, error);
    let ends = match context.launch.features.sphere {
        true => [L::Four::splat(context.launch.float(RADIUS)); 2],
        false => [from.at[0], result.to.at[0]],
    };
    Attempt { result, error, ends }
}
