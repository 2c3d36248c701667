//! The stages of steps, kept to be reversed.

use super::turns::Turn;
use crate::{
    cpu::{Real, lanes::Four, paths::Jacobian},
    scheme::MAX_STAGES,
};

/// What the reversal of a step finds.
pub(super) struct Scratch<V, const G: usize> {
    /// The gradients by the velocity at each stage.
    pub by_velocity: [[V; G]; MAX_STAGES],
    pub by_start: [V; G],
    pub by_drift: [V; G],
}

impl<V: Copy, const G: usize> Scratch<V, G> {
    pub fn new<F: Real>() -> Self
    where
        V: Four<F>,
    {
        let zero = [V::splat(F::zero()); G];
        Scratch { by_velocity: [zero; MAX_STAGES], by_start: zero, by_drift: zero }
    }
}

/// The stages of a step: where they sampled the field, what they found, and the derivatives there.
pub(super) struct Stages<V: Copy, const G: usize> {
    pub at: [[V; G]; MAX_STAGES],
    /// The velocity, on a sphere.
    pub velocity: [[V; G]; MAX_STAGES],
    /// The derivatives of the velocity along x, y and z.
    pub slopes: [[[V; 3]; G]; MAX_STAGES],
    /// The stages outside a mesh, which sampled it at the last point inside, on a straight path.
    pub clips: Vec<Clip>,
    /// The particles of a flight that met something, with the free ends of their paths.
    pub met: Vec<(usize, V)>,
    /// How displacements on a sphere change positions at each stage and at the end of the step, particle after particle.
    pub turns: Vec<Turn<V>>,
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
            velocity: [[zero; G]; MAX_STAGES],
            slopes: [[[zero; 3]; G]; MAX_STAGES],
            clips: Vec::new(),
            met: Vec::new(),
            turns: Vec::new(),
        }
    }

    /// How a displacement on a sphere changes the position of a particle at a stage.
    #[inline(always)]
    pub fn turn(&self, stage: usize, member: usize) -> Option<&Turn<V>> {
        self.turns.get(member * (self.turns.len() / G) + stage)
    }

    /// The gradients by the start of a step and by the displacement at a stage, from that by the position there.
    #[inline(always)]
    pub fn transposed<F: Real>(&self, (stage, member): (usize, usize), by: V) -> [V; 2]
    where
        V: Four<F>,
    {
        match self.turn(stage, member) {
            Some(turn) => turn.transposed(by),
            None => [by; 2],
        }
    }

    /// The free end of a particle that met something.
    #[inline(always)]
    pub fn met(&self, member: usize) -> Option<V> {
        self.met.iter().find(|(of, _)| *of == member).map(|(_, to)| *to)
    }

    /// The derivatives of the last point inside a mesh, for a stage outside.
    #[inline(always)]
    pub fn clip(&self, stage: usize, member: usize) -> Option<&[Jacobian; 2]> {
        let is_it = |clip: &&Clip| (clip.stage, clip.member) == (stage, member);
        self.clips.iter().find(is_it).map(|clip| &clip.jacobians)
    }
}

/// The rows of a matrix, from its columns.
#[inline(always)]
pub(super) fn transpose<F: Real, V: Four<F>>(columns: [V; 3]) -> [V; 4] {
    let [x, y, z] = columns.map(V::array);
    [0, 1, 2, 3].map(|c| V::new([x[c], y[c], z[c], F::zero()]))
}
