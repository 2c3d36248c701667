//! One Runge-Kutta step of a few particles at once, and what becomes of them.

use super::{
    Ended, Method, Real, Sampler,
    adapt::Control,
    frame_pair::{FramePair, Frames},
    lanes::{Four, Lanes, Vector},
    lives::ReinjectionTable,
    obstacles::Obstacles,
    three,
    walk::Walker,
    walls::Walls,
};
use crate::{Segment, Step, scheme::MAX_STAGES};

/// The moments of a step's stages.
pub(super) type FramePairs<F> = [FramePair<F>; MAX_STAGES];

/// What is the same for all particles of a segment.
pub(super) struct Run<'a, F> {
    pub segment: &'a Segment,
    pub walls: Walls<F>,
    /// The obstacles, if there are any.
    pub obstacles: Option<Obstacles<F>>,
    frames: Frames<'a, F>,
    /// The moments of each step, for particles that take the whole of it.
    moments: Vec<FramePairs<F>>,
    /// Square of the speed below which a particle stagnates; 0 where there is no threshold.
    stagnant: F,
    /// Whether samples are more than velocities, or something is added to them: the lanes that
    /// count, and that.
    adds: bool,
    three: [F; 4],
    drift: [F; 4],
    /// How the lengths of steps follow from their errors.
    pub control: Option<Control<F>>,
    /// The random walk, if there is one.
    pub walker: Option<Walker<F>>,
    /// What follows the ends of lives, if anything does.
    pub followers: Option<ReinjectionTable<'a, F>>,
}

impl<'a, F: Real> Run<'a, F> {
    pub fn new<M: Method>(segment: &'a Segment, inlets: &'a [[F; 3]], frame_size: usize) -> Self {
        let frames = Frames::new(&segment.clock, frame_size);
        let whole = |step: &Step| stage_moments::<F, M>(&frames, step, F::zero(), F::of(step.h));
        let moments = segment.steps.iter().map(whole).collect();
        Run {
            segment,
            walls: Walls::new(&segment.boundary),
            obstacles: (!segment.obstacles.is_empty())
                .then(|| Obstacles::new(&segment.obstacles, &segment.boundary)),
            stagnant: F::of(segment.stagnant_speed * segment.stagnant_speed),
            moments,
            frames,
            adds: segment.drift != [0.0; 3] || segment.walk.is_some_and(|walk| walk.varies),
            drift: [0, 1, 2, 3].map(|d| segment.drift.get(d).map_or(F::zero(), |v| F::of(*v))),
            three: [F::one(), F::one(), F::one(), F::zero()],
            control: segment.adaptive.as_ref().map(Control::new),
            walker: segment.walk.as_ref().map(Walker::new),
            followers: segment.reinjection.as_ref().map(|next| ReinjectionTable::new(next, inlets)),
        }
    }

    /// The lives that have ended and are followed by others.
    pub fn into_log(self) -> Vec<Ended<F>> {
        self.followers.map(ReinjectionTable::into_log).unwrap_or_default()
    }

    /// What samples are with what is added to them.
    #[cold]
    #[inline(never)]
    fn add<V: Four<F>, const G: usize>(&self, samples: [V; G]) -> [V; G] {
        samples.map(|sample| {
            let v = sample.array();
            V::new([0, 1, 2, 3].map(|d| v[d] * self.three[d] + self.drift[d]))
        })
    }

    /// The moments of step `j` for a particle that takes the whole of it.
    #[inline(always)]
    pub fn moments(&self, j: usize) -> &FramePairs<F> {
        &self.moments[j]
    }

    /// Whether straight paths meet no obstacle for sure.
    #[inline(always)]
    pub fn are_clear<L: Lanes<F>, const G: usize>(
        &self,
        from: &[L::Four; G],
        to: &[L::Four; G],
    ) -> bool {
        match &self.obstacles {
            None => true,
            Some(obstacles) => are_clear_of::<F, L, G>(obstacles, *from, *to),
        }
    }

    /// The moments of a part of step `j`, of length `h`, from `start` after its beginning.
    pub fn part<M: Method>(&self, j: usize, start: F, h: F) -> FramePairs<F> {
        stage_moments::<F, M>(&self.frames, &self.segment.steps[j], start, h)
    }
}

/// Whether straight paths meet none of some obstacles for sure. Cold, so that the loop is laid out
/// for those who have none.
#[cold]
#[inline(never)]
fn are_clear_of<F: Real, L: Lanes<F>, const G: usize>(
    obstacles: &Obstacles<F>,
    from: [L::Four; G],
    to: [L::Four; G],
) -> bool {
    let mut ways = [[[F::zero(); 3]; 2]; G];
    for g in 0..G {
        ways[g] = [three(from[g].array()), three(to[g].array())];
    }
    obstacles.are_clear(&ways)
}

/// The moments of the stages of a step of length `h` that begins `start` after its beginning.
#[inline(never)]
fn stage_moments<F: Real, M: Method>(
    frames: &Frames<F>,
    step: &Step,
    start: F,
    h: F,
) -> FramePairs<F> {
    std::array::from_fn(|s| {
        let c = F::of(M::TABLEAU.c[s.min(M::TABLEAU.stages - 1)].value());
        frames.moment(step, start + c * h)
    })
}

/// Where a step led, before the boundary.
pub(super) struct StepResult<V, const G: usize> {
    pub to: [V; G],
    /// Who is slower than the threshold speed.
    pub slow: [bool; G],
}

/// A step of `G` particles in the making.
struct Stages<'a, F, V: Copy, S: Sampler<F>, M: Method, const G: usize>
where
    F: Real,
{
    from: &'a [V; G],
    h: F,
    moments: &'a FramePairs<F>,
    run: &'a Run<'a, F>,
    sampler: &'a S,
    hints: &'a mut [S::Hint; G],
    k: M::Stages<[V; G]>,
}

impl<'a, F: Real, V: Four<F>, S: Sampler<F>, M: Method, const G: usize> Stages<'a, F, V, S, M, G> {
    #[inline(always)]
    fn new(
        from: &'a [V; G],
        (h, moments): (F, &'a FramePairs<F>),
        run: &'a Run<'a, F>,
        sampler: &'a S,
        hints: &'a mut [S::Hint; G],
    ) -> Self {
        Stages { from, h, moments, run, sampler, hints, k: M::all([V::splat(F::zero()); G]) }
    }

    /// Stage `N`, if the solution needs it.
    #[inline(always)]
    fn stage<L: Lanes<F, Four = V>, const N: usize>(&mut self) {
        if const { N < M::TABLEAU.solution_stages() } {
            self.any_stage::<L, N>();
        }
    }

    /// Stage `N`: a constant, so that its coefficients are constants in the compiled loop.
    /// While one particle waits for its corners to come from memory, the others are computed.
    #[inline(always)]
    fn any_stage<L: Lanes<F, Four = V>, const N: usize>(&mut self) {
        for g in 0..G {
            let mut stage = self.from[g];
            for r in 0..N {
                let a = M::TABLEAU.a[N][r];
                if !a.is_zero() {
                    let a = V::splat(F::of(a.value()) * self.h);
                    stage = self.k.as_ref()[r][g].fma(a, stage);
                }
            }
            let at = self.run.walls.wrap::<L>(stage);
            self.k.as_mut()[N][g] =
                self.sampler.sample::<L>(at, &self.moments[N], &mut self.hints[g]);
        }
        if self.run.adds {
            self.k.as_mut()[N] = self.run.add(self.k.as_ref()[N]);
        }
    }

    #[inline(always)]
    fn solution<L: Lanes<F, Four = V>>(&mut self) {
        const { assert!(MAX_STAGES == 7) };
        self.stage::<L, 0>();
        self.stage::<L, 1>();
        self.stage::<L, 2>();
        self.stage::<L, 3>();
        self.stage::<L, 4>();
        self.stage::<L, 5>();
        self.stage::<L, 6>();
    }

    /// The mean of the stages' slopes for particle `g`.
    #[inline(always)]
    fn slope(&self, g: usize) -> V {
        let mut slope = V::splat(F::zero());
        for s in 0..const { M::TABLEAU.solution_stages() } {
            let b = M::TABLEAU.b[s];
            if !b.is_zero() {
                slope = self.k.as_ref()[s][g].fma(V::splat(F::of(b.value())), slope);
            }
        }
        slope
    }

    /// What the embedded solution's mean differs by.
    #[inline(always)]
    fn error(&self, g: usize) -> V {
        let mut error = V::splat(F::zero());
        for s in 0..const { M::TABLEAU.stages } {
            let e = M::TABLEAU.error[s];
            if !e.is_zero() {
                error = self.k.as_ref()[s][g].fma(V::splat(F::of(e.value())), error);
            }
        }
        error
    }

    /// Where the step leads.
    #[inline(always)]
    fn leap(&self) -> StepResult<V, G> {
        let mut leap = StepResult { to: *self.from, slow: [false; G] };
        // By index: an iterator might be called where it should be inlined and unrolled.
        #[allow(clippy::needless_range_loop)]
        for g in 0..G {
            leap.to[g] = self.slope(g).fma(V::splat(self.h), self.from[g]);
        }
        if self.run.stagnant > F::zero() {
            for g in 0..G {
                let [u, v, w, _] = self.k.as_ref()[0][g].array();
                leap.slow[g] = u * u + v * v + w * w < self.run.stagnant;
            }
        }
        leap
    }
}

/// One Runge-Kutta step of `G` particles.
#[inline(always)]
pub(super) fn rk_step<F: Real, L: Lanes<F>, S: Sampler<F>, M: Method, const G: usize>(
    from: &[L::Four; G],
    step: (F, &FramePairs<F>),
    run: &Run<F>,
    sampler: &S,
    hints: &mut [S::Hint; G],
) -> StepResult<L::Four, G> {
    let mut stages = Stages::<F, L::Four, S, M, G>::new(from, step, run, sampler, hints);
    stages.solution::<L>();
    stages.leap()
}

/// A step of one particle, and how far it is from the embedded solution.
#[inline(always)]
pub(super) fn rk_attempt<F: Real, L: Lanes<F>, S: Sampler<F>, M: Method>(
    from: L::Four,
    (h, moments): (F, &FramePairs<F>),
    run: &Run<F>,
    sampler: &S,
    hint: &mut S::Hint,
) -> (StepResult<L::Four, 1>, L::Four) {
    let (from, mut hints) = ([from], [*hint]);
    let mut stages =
        Stages::<F, L::Four, S, M, 1>::new(&from, (h, moments), run, sampler, &mut hints);
    stages.solution::<L>();
    let leap = stages.leap();
    // The last stage is for the error alone. Where it reads the field it must not lead a walk
    // through a mesh on: the next step goes on from the end of this one.
    *hint = stages.hints[0];
    stages.any_stage::<L, { MAX_STAGES - 1 }>();
    let error = stages.error(0) * L::Four::splat(h);
    (leap, error)
}
