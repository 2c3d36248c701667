//! One Runge-Kutta step of a few particles at once, and what becomes of them.

use super::{
    Arrays, Ended, Method, Real, Sampler,
    edge::{Passage, pass},
    four,
    lanes::{Four, Lanes, Portable, Vector},
    lives::Followers,
    moment::{Frames, Moment},
    three,
    walls::Walls,
};
use crate::{
    MOST_LIVES_A_STEP, Segment, Step,
    scheme::MAX_STAGES,
    status::{ACTIVE, NON_FINITE, STAGNANT, WAITING},
};

/// The moments of a step's stages.
pub(super) type Moments<F> = [Moment<F>; MAX_STAGES];

/// What is the same for all particles of a segment.
pub(super) struct Run<'a, F> {
    pub segment: &'a Segment,
    pub walls: Walls<F>,
    frames: Frames<'a, F>,
    /// The moments of each step, for particles that take the whole of it.
    moments: Vec<Moments<F>>,
    /// Square of the speed below which a particle stagnates; 0 where there is no threshold.
    stagnant: F,
    /// What follows the ends of lives, if anything does.
    pub followers: Option<Followers<'a, F>>,
}

impl<'a, F: Real> Run<'a, F> {
    pub fn new<M: Method>(segment: &'a Segment, inlets: &'a [[F; 3]], frame_size: usize) -> Self {
        let frames = Frames::new(&segment.clock, frame_size);
        let whole = |step: &Step| stage_moments::<F, M>(&frames, step, F::zero(), F::of(step.h));
        let moments = segment.steps.iter().map(whole).collect();
        Run {
            segment,
            walls: Walls::new(&segment.boundary),
            stagnant: F::of(segment.stagnant_speed * segment.stagnant_speed),
            moments,
            frames,
            followers: segment.succession.as_ref().map(|next| Followers::new(next, inlets)),
        }
    }

    /// The lives that have ended and are followed by others.
    pub fn into_log(self) -> Vec<Ended<F>> {
        self.followers.map(Followers::into_log).unwrap_or_default()
    }

    /// The moments of step `j` for a particle that takes the whole of it.
    #[inline(always)]
    pub fn moments(&self, j: usize) -> &Moments<F> {
        &self.moments[j]
    }

    /// The moments of a part of step `j`, of length `h`, from `start` after its beginning.
    pub fn part<M: Method>(&self, j: usize, start: F, h: F) -> Moments<F> {
        stage_moments::<F, M>(&self.frames, &self.segment.steps[j], start, h)
    }
}

/// The moments of the stages of a step of length `h` that begins `start` after its beginning.
#[inline(never)]
fn stage_moments<F: Real, M: Method>(
    frames: &Frames<F>,
    step: &Step,
    start: F,
    h: F,
) -> Moments<F> {
    std::array::from_fn(|s| {
        let c = F::of(M::TABLEAU.c[s.min(M::TABLEAU.stages - 1)].value());
        frames.moment(step, start + c * h)
    })
}

/// Where a step led, before the boundary.
pub(super) struct Leap<V, const G: usize> {
    pub to: [V; G],
    /// Who is slower than the threshold speed.
    pub slow: [bool; G],
}

/// A step of `G` particles in the making.
struct Stages<'a, F, V, S: Sampler<F>, const G: usize>
where
    F: Real,
{
    from: &'a [V; G],
    h: F,
    moments: &'a Moments<F>,
    walls: &'a Walls<F>,
    sampler: &'a S,
    hints: &'a mut [S::Hint; G],
    k: [[V; G]; MAX_STAGES],
}

impl<F: Real, V: Four<F>, S: Sampler<F>, const G: usize> Stages<'_, F, V, S, G> {
    /// Stage `N`: a constant, so that its coefficients are constants in the compiled loop.
    /// While one particle waits for its corners to come from memory, the others are computed.
    #[inline(always)]
    fn stage<L: Lanes<F, Four = V>, M: Method, const N: usize>(&mut self) {
        if N >= M::TABLEAU.stages {
            return;
        }
        for g in 0..G {
            let mut stage = self.from[g];
            for r in 0..N {
                let a = M::TABLEAU.a[N][r];
                if !a.is_zero() {
                    stage = self.k[r][g].fma(V::splat(F::of(a.value()) * self.h), stage);
                }
            }
            let at = self.walls.wrap::<L>(stage);
            self.k[N][g] = self.sampler.sample::<L>(at, &self.moments[N], &mut self.hints[g]);
        }
    }

    /// The mean of the stages' slopes for particle `g`.
    #[inline(always)]
    fn slope<M: Method>(&self, g: usize) -> V {
        let mut slope = V::splat(F::zero());
        for s in 0..MAX_STAGES {
            let b = M::TABLEAU.b[s];
            if !b.is_zero() {
                slope = self.k[s][g].fma(V::splat(F::of(b.value())), slope);
            }
        }
        slope
    }
}

/// One Runge-Kutta step of `G` particles.
#[inline(always)]
pub(super) fn rk_step<F: Real, L: Lanes<F>, S: Sampler<F>, M: Method, const G: usize>(
    from: &[L::Four; G],
    (h, moments): (F, &Moments<F>),
    run: &Run<F>,
    sampler: &S,
    hints: &mut [S::Hint; G],
) -> Leap<L::Four, G> {
    let k = [[L::Four::splat(F::zero()); G]; MAX_STAGES];
    let mut stages = Stages { from, h, moments, walls: &run.walls, sampler, hints, k };
    const { assert!(MAX_STAGES == 4) };
    stages.stage::<L, M, 0>();
    stages.stage::<L, M, 1>();
    stages.stage::<L, M, 2>();
    stages.stage::<L, M, 3>();
    let mut leap = Leap { to: *from, slow: [false; G] };
    // By index: an iterator might be called where it should be inlined and unrolled.
    #[allow(clippy::needless_range_loop)]
    for g in 0..G {
        leap.to[g] = stages.slope::<M>(g).fma(L::Four::splat(h), from[g]);
    }
    if run.stagnant > F::zero() {
        for g in 0..G {
            let [u, v, w, _] = stages.k[0][g].array();
            leap.slow[g] = u * u + v * v + w * w < run.stagnant;
        }
    }
    leap
}

/// A particle of a tile in a step of its own.
pub(super) struct Single<'a, 'b, F, S: Sampler<F>>
where
    F: Real,
{
    pub tile: &'a mut Arrays<'b, F>,
    /// Lives that have ended and are followed by others.
    pub log: &'a mut Vec<Ended<F>>,
    /// Its number in the tile.
    pub i: usize,
    pub run: &'a Run<'a, F>,
    pub sampler: &'a S,
    pub hint: &'a mut S::Hint,
    /// The step in the segment.
    pub j: usize,
}

impl<F: Real, S: Sampler<F>> Single<'_, '_, F, S> {
    /// Writes what became of it on its way to `to`, in the step from its fraction `start` on. Where
    /// another life follows at once, that takes the rest of the step.
    #[cold]
    #[inline(never)]
    pub fn settle<M: Method>(&mut self, leap: ([F; 3], bool), start: F) {
        self.land(leap, start);
        let number = self.number();
        for _ in 0..MOST_LIVES_A_STEP {
            if !self.succeed() {
                return;
            }
            let record = &self.tile.record[self.i];
            if record.status != WAITING || record.step != number {
                return;
            }
            self.remainder::<M>();
        }
        if self.succeed() {
            self.tile.record[self.i].step = number + 1;
            self.tile.fraction[self.i] = F::zero();
        }
    }

    /// The number of the step in the run.
    fn number(&self) -> i32 {
        self.run.segment.first_step + self.j as i32
    }

    fn land(&mut self, (to, slow): ([F; 3], bool), start: F) {
        let i = self.i;
        if to.iter().any(|x| !x.is_finite()) {
            return self.end(NON_FINITE, start);
        }
        if slow {
            return self.end(STAGNANT, start);
        }
        let from = self.tile.position[i];
        let passage = if S::ENDS {
            pass(&self.run.walls, self.sampler, self.hint, &from, &to)
        } else {
            Passage::of(self.run.walls.land(&from, &to))
        };
        self.tile.position[i] = passage.position;
        for (image, crossed) in self.tile.record[i].image.iter_mut().zip(passage.image) {
            *image = image.saturating_add(crossed);
        }
        self.tile.record[i].place = passage.face.unwrap_or(S::note(self.hint));
        if let Some((status, fraction)) = passage.end {
            self.end(status, start + fraction * (F::one() - start));
        }
    }

    fn end(&mut self, status: i32, fraction: F) {
        self.tile.record[self.i].status = status;
        self.tile.record[self.i].step = self.number();
        self.tile.fraction[self.i] = fraction;
    }

    /// Whether it has ended and another life follows, which then waits for its release.
    fn succeed(&mut self) -> bool {
        let Some(followers) = &self.run.followers else { return false };
        let ended = followers.succeed(&mut self.tile.slot(self.i));
        self.log.extend(ended);
        ended.is_some()
    }

    /// Takes the rest of the step from the release that it waits for. A few particles do so in a
    /// step, and vectors of the processor would have the whole step compiled once more for them.
    fn remainder<M: Method>(&mut self) {
        let i = self.i;
        let start = self.tile.fraction[i];
        let whole = F::of(self.run.segment.steps[self.j].h);
        let h = (F::one() - start) * whole;
        let moments = self.run.part::<M>(self.j, start * whole, h);
        self.tile.record[i].status = ACTIVE;
        let mut hints = [self.sampler.recall(0)];
        let from = [four::<F, Portable>(&self.tile.position[i])];
        let leap = rk_step::<F, Portable, S, M, 1>(
            &from,
            (h, &moments),
            self.run,
            self.sampler,
            &mut hints,
        );
        *self.hint = hints[0];
        let [to] = leap.to;
        let is_plain = self.run.walls.contain::<Portable>(to)
            && !leap.slow[0]
            && (!S::ENDS || self.sampler.holds::<Portable>(to, self.hint));
        if is_plain {
            self.tile.position[i] = three(to.array());
            self.tile.record[i].place = S::note(self.hint);
        } else {
            self.land((three(to.array()), leap.slow[0]), start);
        }
    }
}
