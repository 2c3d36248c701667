//! Where the velocities of a step come from.

use crate::cpu::{
    Real,
    chart::{Chart, Either},
    frame_pair::{FramePair, from_velocity},
    lanes::{Four, Lanes, Vector},
    probe::{Probe, Width},
    sampler::{Differentiable, Sampler},
};

/// Where the velocities at the stages of a step of `G` particles come from.
pub(in crate::cpu) trait StageVelocity<F: Real, L: Lanes<F>, const G: usize> {
    /// Whether those of all particles are evaluated at once.
    const TOGETHER: bool = false;

    /// The space that positions are in.
    type Chart: Chart<F>;

    /// The velocity of particle `g`, which is at a position at a stage.
    fn of(&mut self, stage: usize, g: usize, at: L::Four, pair: &FramePair<F>) -> L::Four;

    /// The velocities of all particles.
    #[inline(always)]
    fn of_all(&mut self, stage: usize, at: &[L::Four; G], pair: &FramePair<F>) -> [L::Four; G] {
        let mut velocities = *at;
        // By index: an iterator call might not be inlined.
        for g in 0..G {
            velocities[g] = self.of(stage, g, at[g], pair);
        }
        velocities
    }
}

/// The field, sampled with the hints of particles.
pub(in crate::cpu) struct Sampled<'a, F: Real, S: Sampler<F>, const G: usize> {
    pub sampler: &'a S,
    pub hints: &'a mut [S::Hint; G],
}

impl<F, L, S, const G: usize> StageVelocity<F, L, G> for Sampled<'_, F, S, G>
where
    F: Real,
    L: Lanes<F>,
    S: Sampler<F>,
{
    const TOGETHER: bool = S::TOGETHER;

    type Chart = S::Chart;

    #[inline(always)]
    fn of(&mut self, _: usize, g: usize, at: L::Four, pair: &FramePair<F>) -> L::Four {
        self.sampler.sample::<L>(at, pair, &mut self.hints[g])
    }

    #[inline(always)]
    fn of_all(&mut self, _: usize, at: &[L::Four; G], pair: &FramePair<F>) -> [L::Four; G] {
        self.sampler.sample_together::<L, G>(at, pair, self.hints)
    }
}

/// The field and its second velocity.
pub(in crate::cpu) struct SampledTwice<'a, F: Real, S: Sampler<F>, const G: usize> {
    pub sampled: Sampled<'a, F, S, G>,
    pub scaled: &'a [Scaled<F>; G],
}

impl<F, L, S, const G: usize> StageVelocity<F, L, G> for SampledTwice<'_, F, S, G>
where
    F: Real,
    L: Lanes<F>,
    S: Sampler<F>,
{
    const TOGETHER: bool = S::TOGETHER;

    type Chart = S::Chart;

    #[inline(always)]
    fn of(&mut self, _: usize, g: usize, at: L::Four, pair: &FramePair<F>) -> L::Four {
        let Sampled { sampler, hints } = &mut self.sampled;
        let velocity = sampler.sample::<L>(at, pair, &mut hints[g]);
        let Scaled { first, factor } = self.scaled[g];
        let second = sampler.sample::<L>(at, &from_velocity(pair, first), &mut hints[g]);
        second.fma(L::Four::splat(factor), velocity)
    }

    #[inline(always)]
    fn of_all(&mut self, _: usize, at: &[L::Four; G], pair: &FramePair<F>) -> [L::Four; G] {
        let Sampled { sampler, hints } = &mut self.sampled;
        let mut velocities = sampler.sample_together::<L, G>(at, pair, hints);
        let pair = from_velocity(pair, self.scaled[0].first);
        let second = sampler.sample_together::<L, G>(at, &pair, hints);
        // By index: an iterator call might not be inlined.
        for g in 0..G {
            velocities[g] = second[g].fma(L::Four::splat(self.scaled[g].factor), velocities[g]);
        }
        velocities
    }
}

/// The field of a single particle in rare code.
pub(in crate::cpu) struct Probed<'a, F> {
    pub probe: &'a mut dyn Probe<F>,
    /// The particle's part of a second velocity.
    pub scaled: Option<Scaled<F>>,
}

/// A particle's part of a second velocity: it is added after a multiplication by the factor.
#[derive(Clone, Copy)]
pub(in crate::cpu) struct Scaled<F> {
    /// The first value of the velocity in a frame.
    pub first: usize,
    pub factor: F,
}

impl<'a, F> Probed<'a, F> {
    /// The field without a second velocity.
    pub fn new(probe: &'a mut dyn Probe<F>) -> Self {
        Probed { probe, scaled: None }
    }
}

impl<F: Real, L: Lanes<F>> StageVelocity<F, L, 1> for Probed<'_, F> {
    type Chart = Either;

    #[inline(always)]
    fn of(&mut self, _: usize, _: usize, at: L::Four, pair: &FramePair<F>) -> L::Four {
        let (at, width) = (at.array(), Width::of::<F, L>());
        let velocity = L::Four::new(self.probe.sample(at, pair, width));
        let Some(Scaled { first, factor }) = self.scaled else { return velocity };
        let second = self.probe.sample(at, &from_velocity(pair, first), width);
        L::Four::new(second).fma(L::Four::splat(factor), velocity)
    }
}

/// Velocities with their derivatives by the position.
pub(in crate::cpu) trait StageSlopes<F: Real, L: Lanes<F>, const G: usize>:
    StageVelocity<F, L, G>
{
    /// The velocity of particle `g`, and its derivatives along x, y and z.
    fn slopes(&mut self, g: usize, at: L::Four, pair: &FramePair<F>) -> (L::Four, [L::Four; 3]);
}

impl<F, L, S, const G: usize> StageSlopes<F, L, G> for Sampled<'_, F, S, G>
where
    F: Real,
    L: Lanes<F>,
    S: Differentiable<F>,
{
    #[inline(always)]
    fn slopes(&mut self, g: usize, at: L::Four, pair: &FramePair<F>) -> (L::Four, [L::Four; 3]) {
        self.sampler.slopes::<L>(at, pair, &mut self.hints[g])
    }
}

impl<F: Real, L: Lanes<F>> StageSlopes<F, L, 1> for Probed<'_, F> {
    fn slopes(&mut self, _: usize, at: L::Four, pair: &FramePair<F>) -> (L::Four, [L::Four; 3]) {
        let (value, slopes) = self.probe.slopes(at.array(), pair);
        (L::Four::new(value), slopes.map(L::Four::new))
    }
}
