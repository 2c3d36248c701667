//! How a field is read: what each kind of field answers.

use super::{
    Real,
    chart::{Chart, InGroups},
    frame_pair::FramePair,
    lanes::Lanes,
    launch::Region,
    segment::FramePairs,
    shares::Shares,
};
use crate::physics::region::host::CellHint;

/// Velocity as a function of position, at a given time.
pub(crate) trait Sampler<F: Real>: Sync {
    /// Data that speeds up the next sample of the same particle and never changes its value.
    type Hint: Copy + Default;

    /// The space that it is in.
    type Chart: Chart<F>;

    fn sample<L: Lanes<F>>(
        &self,
        position: L::Four,
        pair: &FramePair<F>,
        hint: &mut Self::Hint,
    ) -> L::Four;

    /// Whether several particles are sampled at once by `sample_together`.
    const TOGETHER: bool = false;

    /// Runs a loop over particles in groups of the number that suits the field.
    #[inline(always)]
    fn in_groups(work: impl InGroups) {
        Self::Chart::in_groups(work);
    }

    /// Whether a sample is so fast that the loop over steps is compiled for each scheme.
    const IS_FAST: bool = true;

    /// Computes what all samples of whole steps share. Called once for a sampler, before them.
    fn prepare(&self, _steps: &mut [FramePairs<F>]) {}

    /// As `sample`, for `G` particles.
    #[inline(always)]
    fn sample_together<L: Lanes<F>, const G: usize>(
        &self,
        positions: &[L::Four; G],
        pair: &FramePair<F>,
        hints: &mut [Self::Hint; G],
    ) -> [L::Four; G] {
        let mut samples = *positions;
        // By index: an iterator call might not be inlined.
        for g in 0..G {
            samples[g] = self.sample::<L>(positions[g], pair, &mut hints[g]);
        }
        samples
    }

    /// Whether the field can end within its box. If not, of the methods below only `recall` and
    /// `note` are called.
    const ENDS: bool = false;

    /// Restores a hint from a particle's record.
    #[inline(always)]
    fn recall(&self, _note: i32) -> Self::Hint {
        Self::Hint::default()
    }

    /// The part of a hint that a particle's record stores.
    #[inline(always)]
    fn note(_hint: &Self::Hint) -> i32 {
        0
    }

    /// Quick test whether a step that was sampled with a hint stays in the field up to a position.
    /// If so, the next step starts there.
    #[inline(always)]
    fn holds<L: Lanes<F>>(&self, _position: L::Four, _hint: &mut Self::Hint) -> bool {
        true
    }

    /// As `holds`, for `G` particles: whether the field contains all positions.
    #[inline(always)]
    fn holds_all<L: Lanes<F>, const G: usize>(
        &self,
        positions: &[L::Four; G],
        hints: &mut [Self::Hint; G],
    ) -> bool {
        let mut holds = true;
        for g in 0..G {
            holds &= self.holds::<L>(positions[g], &mut hints[g]);
        }
        holds
    }

    /// The part of space that the field fills, if it can end within its box.
    fn region(&self) -> Option<&dyn Region<F>> {
        None
    }

    /// The cells that a hint knows.
    fn cells(_hint: &mut Self::Hint) -> Option<&mut CellHint<F>> {
        None
    }
}

/// A sampler whose values have derivatives by the position and by the field's values.
pub(crate) trait Differentiable<F: Real>: Sampler<F> {
    /// The value at a position, and its derivatives along x, y and z.
    fn slopes<L: Lanes<F>>(
        &self,
        position: L::Four,
        pair: &FramePair<F>,
        hint: &mut Self::Hint,
    ) -> (L::Four, [L::Four; 3]);

    /// The values of a frame of which the value at a position is the weighted sum.
    fn shares<L: Lanes<F>>(&self, position: L::Four, hint: &mut Self::Hint, shares: &mut Shares<F>);
}

/// A computation to be compiled for each kind of sampler.
pub(crate) trait WithSampler<F: Real> {
    fn run<S: Differentiable<F>>(self, sampler: S);
}
