//! The stages of steps, kept to be reversed.

use super::values::{Pending, Shares};
use crate::{
    cpu::{Real, lanes::Four, paths::Jacobian},
    scheme::MAX_STAGES,
};

/// What is kept for particles that are reversed together.
pub(super) struct Group<F, V: Copy, const G: usize> {
    pub stages: Stages<V, G>,
    pub shares: Shares<F>,
    pub pending: [Pending<F>; G],
}

impl<F: Real, V: Four<F>, const G: usize> Group<F, V, G> {
    pub fn new() -> Self {
        Group {
            stages: Stages::new(),
            shares: Shares::none(),
            pending: std::array::from_fn(|_| Pending::none()),
        }
    }
}

/// The stages of a step: where they sampled the field, and the derivatives there.
pub(super) struct Stages<V: Copy, const G: usize> {
    pub at: [[V; G]; MAX_STAGES],
    /// The derivatives of the velocity along x, y and z.
    pub slopes: [[[V; 3]; G]; MAX_STAGES],
    /// The stages outside a mesh, which sampled it at the last point inside, on a straight path.
    pub clips: Vec<Clip>,
}

/// The last point in a mesh on the path to a stage.
pub(super) struct Clip {
    pub stage: usize,
    pub member: usize,
    /// Its derivatives by the start of the step, and by the stage.
    pub jacobians: [Jacobian; 2],
}

impl<V: Copy, const G: usize> Stages<V, G> {
    pub fn new<F: Real>() -> Self
    where
        V: Four<F>,
    {
        let zero = V::splat(F::zero());
        Stages {
            at: [[zero; G]; MAX_STAGES],
            slopes: [[[zero; 3]; G]; MAX_STAGES],
            clips: Vec::new(),
        }
    }

    /// The derivatives of the last point inside a mesh, for a stage outside.
    #[inline(always)]
    pub fn clip(&self, stage: usize, member: usize) -> Option<&[Jacobian; 2]> {
        let is_it = |clip: &&Clip| (clip.stage, clip.member) == (stage, member);
        self.clips.iter().find(is_it).map(|clip| &clip.jacobians)
    }
}

/// The product of a transposed Jacobian and a gradient.
pub(in crate::cpu) fn transposed<F: Real>(jacobian: &Jacobian, gradient: [F; 3]) -> [F; 3] {
    [0, 1, 2].map(|d| F::of((0..3).map(|c| jacobian[c][d] * gradient[c].exact()).sum()))
}

/// The product of a Jacobian and a change.
pub(super) fn product<F: Real>(jacobian: &Jacobian, change: [F; 3]) -> [F; 3] {
    jacobian.map(|row| F::of((0..3).map(|d| row[d] * change[d].exact()).sum()))
}

/// The rows of a matrix, from its columns.
#[inline(always)]
pub(super) fn transpose<F: Real, V: Four<F>>(columns: [V; 3]) -> [V; 3] {
    let [x, y, z] = columns.map(V::array);
    [0, 1, 2].map(|c| V::new([x[c], y[c], z[c], F::zero()]))
}
