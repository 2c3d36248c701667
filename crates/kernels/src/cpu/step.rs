//! One Runge-Kutta step of a few particles at once, and what becomes of them.

use super::{
    Arrays, Method, Real, Sampler,
    edge::{Passage, pass},
    lanes::{Four, Lanes, Vector},
    moment::{Frames, Moment},
    walls::Walls,
};
use crate::{
    Segment, Step,
    scheme::MAX_STAGES,
    status::{NON_FINITE, STAGNANT},
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
}

impl<'a, F: Real> Run<'a, F> {
    pub fn new<M: Method>(segment: &'a Segment, frame_size: usize) -> Self {
        let frames = Frames::new(&segment.clock, frame_size);
        let whole = |step: &Step| stage_moments::<F, M>(&frames, step, F::zero(), F::of(step.h));
        let moments = segment.steps.iter().map(whole).collect();
        Run {
            segment,
            walls: Walls::new(&segment.boundary),
            stagnant: F::of(segment.stagnant_speed * segment.stagnant_speed),
            moments,
            frames,
        }
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

/// Writes what became of particle `i` on its way from where it is to `to`, in a step from its
/// fraction `start` on; the step counts from the beginning of the run.
#[cold]
#[inline(never)]
pub(super) fn settle<F: Real, S: Sampler<F>>(
    tile: &mut Arrays<F>,
    i: usize,
    (walls, sampler): (&Walls<F>, &S),
    hint: &mut S::Hint,
    (to, slow): ([F; 3], bool),
    (step, start): (i32, F),
) {
    if to.iter().any(|x| !x.is_finite()) {
        return end(tile, i, NON_FINITE, (step, start));
    }
    if slow {
        return end(tile, i, STAGNANT, (step, start));
    }
    let from = tile.position[i];
    let passage = if S::ENDS {
        pass(walls, sampler, hint, &from, &to)
    } else {
        Passage::of(walls.land(&from, &to))
    };
    tile.position[i] = passage.position;
    for (image, crossed) in tile.record[i].image.iter_mut().zip(passage.image) {
        *image = image.saturating_add(crossed);
    }
    tile.record[i].place = passage.face.unwrap_or(S::note(hint));
    if let Some((status, fraction)) = passage.end {
        let when = start + fraction * (F::one() - start);
        end(tile, i, status, (step, when));
    }
}

fn end<F: Real>(tile: &mut Arrays<F>, i: usize, status: i32, (step, fraction): (i32, F)) {
    tile.record[i].status = status;
    tile.record[i].step = step;
    tile.fraction[i] = fraction;
}
