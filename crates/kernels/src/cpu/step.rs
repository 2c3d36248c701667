//! One Runge-Kutta step of a few particles at once.

use super::{
    Ended, Method, Position, Real, Sampler,
    frame_pair::{FramePair, frame_pair},
    lanes::{Four, Lanes, Vector},
    launch::Launch,
    reinjection::EndLog,
    three,
    walls::Walls,
};
use crate::{
    Segment, Step,
    obstacle::FACETED,
    physics::{
        body::host::{Body, is_clear, load},
        facets::host as facets,
        prelude::host::Vec3,
    },
    scheme::{MAX_STAGES, Tableau},
};

/// The frames and weights of a step's stages.
pub(super) type FramePairs<F> = [FramePair<F>; MAX_STAGES];

/// Data shared by all particles of a segment.
pub(super) struct SegmentContext<'a, F: Real> {
    pub segment: &'a Segment,
    pub launch: Launch<'a, F>,
    /// The coefficients of the scheme.
    pub tableau: &'static Tableau,
    pub walls: Walls<'a, F>,
    /// The obstacles.
    bodies: Vec<Body<F>>,
    /// The frames of each step, for particles that take all of it.
    pairs: Vec<FramePairs<F>>,
    /// The nodes of the scheme: the fraction of a step at which each stage samples the field.
    nodes: [F; MAX_STAGES],
    /// Square of the stagnation speed; 0 without a threshold.
    stagnant: F,
    /// Whether samples need a correction (fourth component or drift): the mask of velocity
    /// components, and the drift.
    adds: bool,
    three: [F; 4],
    drift: [F; 4],
    /// The log of ends, if slots are re-used.
    pub ends: Option<EndLog<F>>,
}

impl<'a, F: Real> SegmentContext<'a, F> {
    pub fn new(segment: &'a Segment, launch: Launch<'a, F>, sampler: &impl Sampler<F>) -> Self {
        let tableau = segment.scheme.tableau();
        let last = tableau.stages - 1;
        let nodes = std::array::from_fn(|s| F::of(tableau.c[s.min(last)].value()));
        let steps = segment.steps.iter().enumerate();
        let full_step = |(j, step): (usize, &Step)| {
            stage_frame_pairs(&launch, &nodes, j, [F::zero(), F::of(step.h)])
        };
        let mut pairs: Vec<FramePairs<F>> = steps.map(full_step).collect();
        sampler.prepare(&mut pairs);
        SegmentContext {
            nodes,
            tableau,
            segment,
            launch,
            walls: Walls::new(&segment.boundary, launch),
            bodies: (0..segment.obstacles.len()).map(|k| load(&launch, k)).collect(),
            stagnant: F::of(segment.stagnant_speed * segment.stagnant_speed),
            pairs,
            adds: segment.drift != [0.0; 3] || segment.walk.is_some_and(|walk| walk.varies),
            drift: [0, 1, 2, 3].map(|d| segment.drift.get(d).map_or(F::zero(), |v| F::of(*v))),
            three: [F::one(), F::one(), F::one(), F::zero()],
            ends: segment.reinjection.as_ref().map(|next| EndLog::new(next, launch.rows.len())),
        }
    }

    /// The instances that ended and were followed by others.
    pub fn into_log(self) -> Vec<Ended<F>> {
        self.ends.map(EndLog::into_log).unwrap_or_default()
    }

    /// Samples with the drift, if there is one.
    #[inline(always)]
    pub fn with_drift<V: Four<F>, const G: usize>(&self, samples: [V; G]) -> [V; G] {
        if self.adds { self.add::<V, G>(samples) } else { samples }
    }

    /// Whether the square of a speed is below the threshold.
    #[inline(always)]
    pub fn is_stagnant(&self, square: F) -> bool {
        square < self.stagnant
    }

    /// Masks samples and adds the drift.
    #[inline(always)]
    fn add<V: Four<F>, const G: usize>(&self, samples: [V; G]) -> [V; G] {
        let (three, drift) = (V::new(self.three), V::new(self.drift));
        let mut sums = samples;
        // By index: an iterator call might not be inlined and unrolled.
        for g in 0..G {
            sums[g] = samples[g].fma(three, drift);
        }
        sums
    }

    /// The frames of step `j` for a particle that takes all of it.
    #[inline(always)]
    pub fn frame_pairs(&self, j: usize) -> &FramePairs<F> {
        &self.pairs[j]
    }

    /// Whether straight paths certainly meet no obstacle.
    #[inline(always)]
    pub fn are_clear<L: Lanes<F>, const G: usize>(
        &self,
        from: &[L::Four; G],
        to: &[L::Four; G],
    ) -> bool {
        self.bodies.is_empty() || self.are_clear_of_bodies::<L, G>(*from, *to)
    }

    /// As [`are_clear`](Self::are_clear) with obstacles. Cold, so that the loop is laid out for runs
    /// without them.
    #[cold]
    #[inline(never)]
    fn are_clear_of_bodies<L: Lanes<F>, const G: usize>(
        &self,
        from: [L::Four; G],
        to: [L::Four; G],
    ) -> bool {
        for g in 0..G {
            let [from, to] = [three(from[g].array()), three(to[g].array())];
            if !is_clear_of_bodies(&self.launch, &self.bodies, from, to) {
                return false;
            }
        }
        true
    }

    /// The frames of a part of step `j`, of length `h`; `start` is the time from the start of the
    /// step to the start of the part.
    pub fn part(&self, j: usize, start: F, h: F) -> FramePairs<F> {
        stage_frame_pairs(&self.launch, &self.nodes, j, [start, h])
    }

    /// Whether a particle certainly meets nothing on a straight path that was sampled with a hint.
    #[inline(always)]
    pub fn is_plain<L: Lanes<F>, S: Sampler<F>>(
        &self,
        (from, to): (L::Four, L::Four),
        (sampler, hint): (&S, &mut S::Hint),
    ) -> bool {
        self.walls.contain::<L>(to)
            && self.are_clear::<L, 1>(&[from], &[to])
            && (!S::ENDS || sampler.holds::<L>(to, hint))
    }
}

/// Whether a straight path certainly meets none of the bodies. It is not inlined into the callers'
/// loops, which are compiled many times.
#[inline(never)]
fn is_clear_of_bodies<F: Real>(
    launch: &Launch<F>,
    bodies: &[Body<F>],
    from: [F; 3],
    to: [F; 3],
) -> bool {
    let (from, to) = (Vec3(from), Vec3(to));
    bodies.iter().enumerate().all(|(k, body)| {
        if body.code == FACETED {
            facets::is_clear(launch, &facets::load(launch, k), from, to)
        } else {
            is_clear(body, from, to)
        }
    })
}

/// The frames of the stages of a step of length `h` that starts `start` after the start of step `j`.
#[inline(never)]
fn stage_frame_pairs<F: Real>(
    launch: &Launch<F>,
    nodes: &[F; MAX_STAGES],
    j: usize,
    [start, h]: [F; 2],
) -> FramePairs<F> {
    nodes.map(|c| frame_pair(launch, j, start + c * h))
}

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
            self.k.as_mut()[n] = self.sampler.sample_together::<L, G>(&at, &self.pairs[n]);
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
                result.slow[g] = u * u + v * v + w * w < self.context.stagnant;
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
