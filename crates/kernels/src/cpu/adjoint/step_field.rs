//! The field as the particles of a replayed step see it.

use crate::cpu::{
    Real,
    chart::{Chart, Either},
    frame_pair::FramePair,
    lanes::{Four, Lanes, Portable},
    probe::{Hinted, Probe, Width},
    sampler::Differentiable,
    shares::Shares,
};

/// The field around `G` particles that take a step together.
pub(super) trait StepField<F: Real, L: Lanes<F>, const G: usize> {
    /// The space that it is in.
    type Chart: Chart<F>;

    /// Starts from what the record of particle `g` stores.
    fn recall(&mut self, g: usize, note: i32);
    /// The value at a position, and its derivatives along x, y and z.
    fn slopes(&mut self, g: usize, at: L::Four, pair: &FramePair<F>) -> (L::Four, [L::Four; 3]);
    /// As [`Differentiable::shares`].
    fn shares(&mut self, g: usize, at: L::Four, shares: &mut Shares<F>);
    /// As [`Sampler::holds`](crate::cpu::Sampler::holds); true if the field does not end within its box.
    fn holds(&mut self, g: usize, to: L::Four) -> bool;
    /// As `holds`, for all particles.
    fn hold_all(&mut self, to: &[L::Four; G]) -> bool;
    /// What a record stores of particle `g`.
    fn note(&mut self, g: usize) -> i32;
    /// What a record would store of the last sample, if that was outside a mesh.
    fn outside(&mut self, g: usize) -> Option<i32>;
    /// Calls rare code with the field around one of them.
    fn with_probe<T>(&mut self, g: usize, call: impl FnOnce(&mut dyn Probe<F>) -> T) -> T;
}

/// A sampler with the hints of particles.
pub(super) struct GroupField<'a, F: Real, S: Differentiable<F>, const G: usize> {
    sampler: &'a S,
    hints: [S::Hint; G],
}

impl<'a, F: Real, S: Differentiable<F>, const G: usize> GroupField<'a, F, S, G> {
    #[inline(always)]
    pub fn new(sampler: &'a S) -> Self {
        GroupField { sampler, hints: [S::Hint::default(); G] }
    }
}

impl<F, L, S, const G: usize> StepField<F, L, G> for GroupField<'_, F, S, G>
where
    F: Real,
    L: Lanes<F>,
    S: Differentiable<F>,
{
    type Chart = S::Chart;

    #[inline(always)]
    fn recall(&mut self, g: usize, note: i32) {
        self.hints[g] = self.sampler.recall(note);
    }

    #[inline(always)]
    fn slopes(&mut self, g: usize, at: L::Four, pair: &FramePair<F>) -> (L::Four, [L::Four; 3]) {
        self.sampler.slopes::<L>(at, pair, &mut self.hints[g])
    }

    #[inline(always)]
    fn shares(&mut self, g: usize, at: L::Four, shares: &mut Shares<F>) {
        self.sampler.shares::<L>(at, &mut self.hints[g], shares);
    }

    #[inline(always)]
    fn holds(&mut self, g: usize, to: L::Four) -> bool {
        !S::ENDS || self.sampler.holds::<L>(to, &mut self.hints[g])
    }

    #[inline(always)]
    fn hold_all(&mut self, to: &[L::Four; G]) -> bool {
        !S::ENDS || self.sampler.holds_all::<L, G>(to, &mut self.hints)
    }

    #[inline(always)]
    fn note(&mut self, g: usize) -> i32 {
        S::note(&self.hints[g])
    }

    #[inline(always)]
    fn outside(&mut self, g: usize) -> Option<i32> {
        let hint = &mut self.hints[g];
        let is_outside = S::cells(hint).is_some_and(|cells| cells.walk_failed);
        is_outside.then(|| S::note(hint))
    }

    fn with_probe<T>(&mut self, g: usize, call: impl FnOnce(&mut dyn Probe<F>) -> T) -> T {
        call(&mut Hinted::new(self.sampler, &mut self.hints[g]))
    }
}

/// The field around a single particle, in the vectors of every processor: compiled once for a precision.
pub(super) struct SingleField<'a, F>(pub &'a mut dyn Probe<F>);

impl<F: Real> StepField<F, Portable, 1> for SingleField<'_, F> {
    type Chart = Either;

    fn recall(&mut self, _: usize, note: i32) {
        self.0.recall(note);
    }

    fn slopes(
        &mut self,
        _: usize,
        at: PortableFour<F>,
        pair: &FramePair<F>,
    ) -> (PortableFour<F>, [PortableFour<F>; 3]) {
        let (value, slopes) = self.0.slopes(at.array(), pair);
        (Four::new(value), slopes.map(Four::new))
    }

    fn shares(&mut self, _: usize, at: PortableFour<F>, shares: &mut Shares<F>) {
        self.0.shares(at.array(), shares);
    }

    fn holds(&mut self, _: usize, to: PortableFour<F>) -> bool {
        self.0.holds(to.array(), Width::Portable)
    }

    fn hold_all(&mut self, [to]: &[PortableFour<F>; 1]) -> bool {
        self.0.holds(to.array(), Width::Portable)
    }

    fn note(&mut self, _: usize) -> i32 {
        self.0.note()
    }

    fn outside(&mut self, _: usize) -> Option<i32> {
        let is_outside = self.0.cells().is_some_and(|cells| cells.walk_failed);
        is_outside.then(|| self.0.note())
    }

    fn with_probe<T>(&mut self, _: usize, call: impl FnOnce(&mut dyn Probe<F>) -> T) -> T {
        call(&mut *self.0)
    }
}

type PortableFour<F> = <Portable as Lanes<F>>::Four;
