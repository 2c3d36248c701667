//! The field as a single particle sees it, behind a virtual call. What is rare in a launch (landings, adaptive steps,
//! random walks, the rest of a step after a release) is compiled once for a precision through it, and not once for each
//! sampler and scheme.

use super::{
    Real,
    frame_pair::FramePair,
    lanes::{Four, Lanes, Portable, Task},
    sampler::Differentiable,
    shares::Shares,
};
use crate::physics::region::host::CellHint;

/// The vectors that compute a sample. Results differ by rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    /// Those of every processor.
    Portable,
    /// The widest ones that this crate has for the architecture, which the processor must have.
    Widest,
}

impl Width {
    /// The vectors of a family.
    pub fn of<F: Real, L: Lanes<F>>() -> Self {
        if L::IS_PORTABLE { Width::Portable } else { Width::Widest }
    }

    fn run<F: Real>(self, task: impl Task<F>) {
        match self {
            Width::Portable => task.run::<Portable>(),
            Width::Widest => F::run_widest(task),
        }
    }
}

/// A field, and what speeds up its next sample at a particle.
pub(super) trait Probe<F: Real> {
    /// The value at a position.
    fn sample(&mut self, position: [F; 4], pair: &FramePair<F>, width: Width) -> [F; 4];
    /// The value at a position, and its derivatives along x, y and z; by the vectors of every processor.
    fn slopes(&mut self, position: [F; 4], pair: &FramePair<F>) -> Slopes<F>;
    /// As [`Differentiable::shares`]; by the vectors of every processor.
    fn shares(&mut self, position: [F; 4], shares: &mut Shares<F>);
    /// As [`Sampler::holds`](super::Sampler::holds); true if the field does not end within its box.
    fn holds(&mut self, to: [F; 4], width: Width) -> bool;
    /// Starts from what a particle's record stores.
    fn recall(&mut self, note: i32);
    /// What a particle's record stores.
    fn note(&self) -> i32;
    /// The cells that are known, if the field can end within its box.
    fn cells(&mut self) -> Option<&mut CellHint<F>>;
    /// Keeps what is known, to be restored after samples elsewhere.
    fn keep(&mut self);
    /// Returns to what was kept.
    fn restore(&mut self);
}

/// A sampler with the hint of a particle.
pub(super) struct Hinted<'a, F: Real, S: Differentiable<F>> {
    sampler: &'a S,
    hint: &'a mut S::Hint,
    kept: S::Hint,
}

impl<'a, F: Real, S: Differentiable<F>> Hinted<'a, F, S> {
    pub fn new(sampler: &'a S, hint: &'a mut S::Hint) -> Self {
        Hinted { sampler, kept: *hint, hint }
    }
}

impl<F: Real, S: Differentiable<F>> Probe<F> for Hinted<'_, F, S> {
    fn sample(&mut self, position: [F; 4], pair: &FramePair<F>, width: Width) -> [F; 4] {
        let mut value = position;
        let Hinted { sampler, hint, .. } = self;
        width.run(Sample { sampler: *sampler, hint, position, pair, value: &mut value });
        value
    }

    fn slopes(&mut self, position: [F; 4], pair: &FramePair<F>) -> Slopes<F> {
        let position = <Portable as Lanes<F>>::Four::new(position);
        let (value, slopes) = self.sampler.slopes::<Portable>(position, pair, self.hint);
        (value.array(), slopes.map(Four::array))
    }

    fn shares(&mut self, position: [F; 4], shares: &mut Shares<F>) {
        let position = <Portable as Lanes<F>>::Four::new(position);
        self.sampler.shares::<Portable>(position, self.hint, shares);
    }

    fn holds(&mut self, to: [F; 4], width: Width) -> bool {
        let mut holds = true;
        if S::ENDS {
            let Hinted { sampler, hint, .. } = self;
            width.run(Holds { sampler: *sampler, hint, to, holds: &mut holds });
        }
        holds
    }

    fn recall(&mut self, note: i32) {
        *self.hint = self.sampler.recall(note);
    }

    fn note(&self) -> i32 {
        S::note(self.hint)
    }

    fn cells(&mut self) -> Option<&mut CellHint<F>> {
        S::cells(self.hint)
    }

    fn keep(&mut self) {
        self.kept = *self.hint;
    }

    fn restore(&mut self) {
        *self.hint = self.kept;
    }
}

struct Sample<'a, F: Real, S: Differentiable<F>> {
    sampler: &'a S,
    hint: &'a mut S::Hint,
    position: [F; 4],
    pair: &'a FramePair<F>,
    value: &'a mut [F; 4],
}

impl<F: Real, S: Differentiable<F>> Task<F> for Sample<'_, F, S> {
    #[inline(always)]
    fn run<L: Lanes<F>>(self) {
        let position = L::Four::new(self.position);
        *self.value = self.sampler.sample::<L>(position, self.pair, self.hint).array();
    }
}

/// A value, and its derivatives along x, y and z.
pub(super) type Slopes<F> = ([F; 4], [[F; 4]; 3]);

struct Holds<'a, F: Real, S: Differentiable<F>> {
    sampler: &'a S,
    hint: &'a mut S::Hint,
    to: [F; 4],
    holds: &'a mut bool,
}

impl<F: Real, S: Differentiable<F>> Task<F> for Holds<'_, F, S> {
    #[inline(always)]
    fn run<L: Lanes<F>>(self) {
        *self.holds = self.sampler.holds::<L>(L::Four::new(self.to), self.hint);
    }
}
