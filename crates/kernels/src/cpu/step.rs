//! The loop: steps outside, the particles of a tile inside.

use super::{
    Arrays, Method, Real, Sampler,
    moment::{Frames, Moment},
    walls::Walls,
};
use crate::{
    Segment, Step,
    scheme::MAX_STAGES,
    status::{ACTIVE, EXITED, NON_FINITE, STAGNANT, WAITING},
};

/// What is the same for all particles of a segment.
pub(crate) struct Run<'a, F> {
    segment: &'a Segment,
    frames: Frames<'a, F>,
    walls: Walls<F>,
    /// The moments of each step's stages, for particles that take the whole step.
    moments: Vec<[Moment<F>; MAX_STAGES]>,
    /// Square of the speed below which a particle stagnates; 0 where there is no threshold.
    stagnant: F,
}

impl<'a, F: Real> Run<'a, F> {
    pub fn new<M: Method>(segment: &'a Segment) -> Self {
        let frames = Frames::new(&segment.clock);
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
}

/// The moments of the stages of a step of length `h` that begins `start` after its beginning.
fn stage_moments<F: Real, M: Method>(
    frames: &Frames<F>,
    step: &Step,
    start: F,
    h: F,
) -> [Moment<F>; MAX_STAGES] {
    std::array::from_fn(|s| {
        let c = F::of(M::TABLEAU.c[s.min(M::TABLEAU.stages - 1)].value());
        frames.moment(step, start + c * h)
    })
}

/// Takes a tile of particles through all steps of a segment.
#[inline(always)]
pub(crate) fn advance_tile<F: Real, S: Sampler<F>, M: Method>(
    tile: &mut Arrays<F>,
    run: &Run<F>,
    sampler: &S,
) {
    for (j, step) in run.segment.steps.iter().enumerate() {
        let index = run.segment.first_step + j as i32;
        let h = F::of(step.h);
        let moments = &run.moments[j];
        for i in 0..tile.position.len() {
            if tile.record[i].status == ACTIVE {
                let (to, slow) = rk_step::<F, S, M>(&tile.position[i], h, moments, run, sampler);
                if run.walls.contain(&to) && !slow {
                    tile.position[i] = to;
                } else {
                    settle(tile, i, run, to, slow, (index, F::zero()));
                }
            } else if tile.record[i].status == WAITING && tile.record[i].step == index {
                release::<F, S, M>(tile, i, j, run, sampler);
            }
        }
    }
}

/// One Runge-Kutta step, before the boundary: the new position, and whether the particle is
/// slower than the threshold speed.
#[inline(always)]
fn rk_step<F: Real, S: Sampler<F>, M: Method>(
    from: &[F; 3],
    h: F,
    moments: &[Moment<F>; MAX_STAGES],
    run: &Run<F>,
    sampler: &S,
) -> ([F; 3], bool) {
    let tableau = M::TABLEAU;
    let mut k = [[F::zero(); 3]; MAX_STAGES];
    for s in 0..tableau.stages {
        let mut stage = *from;
        for (a, k) in tableau.a[s].iter().zip(&k) {
            if !a.is_zero() {
                let ah = F::of(a.value()) * h;
                for d in 0..3 {
                    stage[d] = stage[d] + ah * k[d];
                }
            }
        }
        k[s] = sampler.sample(&run.walls.wrap(stage), &moments[s]);
    }
    let mut to = *from;
    for d in 0..3 {
        let mut slope = F::zero();
        for (b, k) in tableau.b.iter().zip(&k) {
            if !b.is_zero() {
                slope = slope + F::of(b.value()) * k[d];
            }
        }
        to[d] = to[d] + h * slope;
    }
    let speed = k[0][0] * k[0][0] + k[0][1] * k[0][1] + k[0][2] * k[0][2];
    (to, speed < run.stagnant)
}

/// Releases a waiting particle within step `j` and takes it through the rest of the step.
#[cold]
#[inline(never)]
fn release<F: Real, S: Sampler<F>, M: Method>(
    tile: &mut Arrays<F>,
    i: usize,
    j: usize,
    run: &Run<F>,
    sampler: &S,
) {
    let step = &run.segment.steps[j];
    let start = tile.fraction[i];
    let h = (F::one() - start) * F::of(step.h);
    let moments = stage_moments::<F, M>(&run.frames, step, start * F::of(step.h), h);
    let (to, slow) = rk_step::<F, S, M>(&tile.position[i], h, &moments, run, sampler);
    tile.record[i].status = ACTIVE;
    let index = run.segment.first_step + j as i32;
    settle(tile, i, run, to, slow, (index, start));
}

/// Writes what became of particle `i` on its way to `to`, in step `begin.0` from its fraction
/// `begin.1` on.
#[cold]
#[inline(never)]
fn settle<F: Real>(
    tile: &mut Arrays<F>,
    i: usize,
    run: &Run<F>,
    to: [F; 3],
    slow: bool,
    (index, start): (i32, F),
) {
    if to.iter().any(|x| !x.is_finite()) {
        return end(tile, i, NON_FINITE, (index, start));
    }
    if slow {
        return end(tile, i, STAGNANT, (index, start));
    }
    if run.walls.contain(&to) {
        tile.position[i] = to;
        return;
    }
    let landing = run.walls.land(&tile.position[i], &to);
    tile.position[i] = landing.position;
    for (image, crossed) in tile.record[i].image.iter_mut().zip(landing.image) {
        *image = image.saturating_add(crossed);
    }
    if let Some((face, fraction)) = landing.exit {
        let when = start + fraction * (F::one() - start);
        end(tile, i, EXITED + face as i32, (index, when));
    }
}

fn end<F: Real>(tile: &mut Arrays<F>, i: usize, status: i32, (index, fraction): (i32, F)) {
    tile.record[i].status = status;
    tile.record[i].step = index;
    tile.fraction[i] = fraction;
}
