//! Steps of particles with inertia: those of `core/src/tracer/inertial_step.rs`, which explains them.

// By index, as an iterator call might not be inlined.
#![allow(clippy::needless_range_loop)]

mod drag;
mod met;
mod weights;

use super::{
    Real,
    arrays::Position,
    lanes::{Four, Lanes, Vector, four, three},
    method::Method,
    paths::{deflected, start_cell},
    segment::{FramePairs, SegmentContext},
    step::{Positions, StageSlopes},
};
use crate::{InertialLaunch, physics::prelude::host::Vec3};
use drag::{factor, first_factor, length};
use weights::Weights;

/// The velocity of a particle, then its relaxation time, beta and Reynolds number of a unit of speed, then a fluctuation of the fluid's
/// velocity.
pub(crate) type Inertia<F> = [[F; 3]; 3];

/// The velocity of a particle at the start of a step, and its change.
pub(crate) type Velocities<F> = [[F; 3]; 2];

/// A point of a step: its part, and the stage of RK4 that has its frames.
type Point = (f64, usize);

const START: Point = (0.0, 0);
const MIDDLE: Point = (0.5, 1);
const END: Point = (1.0, 3);

/// What `G` particles with inertia have beside their positions.
pub(super) struct Own<F, V, const G: usize> {
    pub velocity: [V; G],
    /// Whether the velocity is not known yet.
    is_new: [bool; G],
    tau: [F; G],
    beta: [F; G],
    reynolds: [F; G],
    fluctuation: [V; G],
    /// The factors of the drag at the start of a step.
    factor: [f64; G],
    /// The weights of half a step and of a whole one, and the length and the relaxation time that they are for.
    weights: [[Weights<F>; 2]; G],
    key: [[F; 2]; G],
}

impl<F: Real, V: Four<F>, const G: usize> Own<F, V, G> {
    pub fn new() -> Self {
        let zero = F::zero();
        Own {
            velocity: [V::splat(zero); G],
            is_new: [false; G],
            tau: [F::one(); G],
            beta: [zero; G],
            reynolds: [zero; G],
            fluctuation: [V::splat(zero); G],
            factor: [1.0; G],
            weights: [[Weights { of_velocity: [zero; 2], of_targets: [[zero; 2]; 3] }; 2]; G],
            key: [[zero; 2]; G],
        }
    }

    #[inline(always)]
    pub fn load<L: Lanes<F, Four = V>>(
        &mut self,
        g: usize,
        [velocity, response, fluctuation]: &Inertia<F>,
    ) {
        self.velocity[g] = four::<F, L>(velocity);
        self.is_new[g] = velocity[0].is_nan();
        [self.tau[g], self.beta[g], self.reynolds[g]] = *response;
        let is_known = !fluctuation[0].is_nan();
        self.fluctuation[g] = match is_known {
            true => four::<F, L>(fluctuation),
            false => V::splat(F::zero()),
        };
    }

    /// Reads the rows of particles.
    #[inline(always)]
    pub fn read<M: Method, L: Lanes<F, Four = V>>(
        &mut self,
        rows: &[Inertia<F>],
        members: &[usize; G],
    ) {
        if const { M::IS_INERTIAL } {
            for g in 0..G {
                self.load::<L>(g, &rows[members[g]]);
            }
        }
    }

    /// Writes velocities back; NaN for those that are not known yet.
    #[inline(always)]
    pub fn write<M: Method>(&self, rows: &mut [Inertia<F>], members: &[usize; G]) {
        if const { M::IS_INERTIAL } {
            for g in 0..G {
                rows[members[g]][0] = match self.is_new[g] {
                    true => [F::of(f64::NAN); 3],
                    false => three(self.velocity[g].array()),
                };
            }
        }
    }

    /// Changes the velocities after a step that met nothing.
    #[inline(always)]
    pub fn change<M: Method>(&mut self, change: &[V; G]) {
        if const { M::IS_INERTIAL } {
            for g in 0..G {
                self.velocity[g] = self.velocity[g] + change[g];
            }
        }
    }

    /// The velocities and their changes, of particles with inertia.
    #[inline(always)]
    pub fn carried<M: Method>(&self, change: &[V; G]) -> Option<[Velocities<F>; G]> {
        let mut carried = [[[F::zero(); 3]; 2]; G];
        for g in 0..G {
            carried[g] = [three(self.velocity[g].array()), three(change[g].array())];
        }
        const { M::IS_INERTIAL }.then_some(carried)
    }

    /// The weights of a step, which are kept for the next one of the same length.
    #[inline(always)]
    fn weigh(&mut self, g: usize, h: F, tau: F) {
        if self.key[g] != [h, tau] {
            self.key[g] = [h, tau];
            self.weights[g] = Weights::of_step(h.exact(), tau.exact());
        }
    }
}

/// The end of a step, before boundaries.
pub(super) struct Flown<V, const G: usize> {
    pub to: Positions<V, G>,
    /// The changes of the velocities.
    pub change: [V; G],
    /// The differences of the ends from those of the sweep before.
    pub error: [V; G],
}

/// When a step is taken: its number in the segment, the time from its start to that of a part of it, and the length of that part.
pub(super) type When<F> = (usize, F, F);

/// A step of `G` particles.
pub(super) struct Flight<'a, 'b, F: Real, L: Lanes<F>, E, const G: usize> {
    pub context: &'a SegmentContext<'b, F>,
    pub inertia: &'a InertialLaunch,
    pub from: &'a Positions<L::Four, G>,
    pub pairs: &'a FramePairs<F>,
    pub when: When<F>,
    pub fluid: E,
    pub own: &'a mut Own<F, L::Four, G>,
}

/// Targets of the drag as polynomials in the part of the step: their coefficients.
type Polynomials<V, const G: usize> = [[V; G]; 3];

impl<F: Real, L: Lanes<F>, E: StageSlopes<F, L, G>, const G: usize> Flight<'_, '_, F, L, E, G> {
    /// Takes the step. Everything is by index and inlined: a call might be compiled without the vectors of the loop.
    #[inline(always)]
    pub fn fly(&mut self) -> Flown<L::Four, G> {
        let mut at = self.from.at;
        for g in 0..G {
            at[g] = self.context.walls.wrap::<L>(at[g]);
        }
        let zero = [L::Four::splat(F::zero()); G];
        let (fluid, acceleration) = self.sample(START, &at, &zero);
        self.start(&fluid, &acceleration);
        let first = self.targets_of(fluid, acceleration, &self.own.velocity.clone());
        let mut targets: Polynomials<L::Four, G> = [first, zero, zero];
        let (mut middle, mut before) = (zero, zero);
        // Of three sweeps. As a loop, so that a sample is compiled once.
        for (round, point) in [MIDDLE, MIDDLE, END, MIDDLE, END].into_iter().enumerate() {
            let found = self.targets(point, &targets);
            match round {
                0 => targets[1] = line(first, found),
                1 | 3 => middle = found,
                _ => {
                    before = self.moved(1, 0, &targets);
                    targets = parabola([first, middle, found]);
                }
            }
        }
        let mut displacements = self.moved(1, 0, &targets);
        let (change, mut error) = (self.moved(1, 1, &targets), displacements);
        for g in 0..G {
            error[g] = displacements[g] - before[g];
            displacements[g] = displacements[g] + self.from.rest[g];
        }
        Flown { to: self.from.moved::<F>(&displacements), change, error }
    }

    /// Finds the weights of the step.
    #[inline(always)]
    fn start(&mut self, fluid: &[L::Four; G], acceleration: &[L::Four; G]) {
        let (_, _, h) = self.when;
        let gravity = self.gravity();
        for g in 0..G {
            let mut tau = self.own.tau[g];
            if let Some(law) = self.inertia.drag {
                let (reynolds, beta) = (self.own.reynolds[g], self.own.beta[g]);
                let slip = (fluid[g] - self.own.velocity[g]).array();
                let pull = gravity * L::Four::splat(tau * (F::one() - beta));
                let pull = acceleration[g].fma(L::Four::splat(tau * beta), pull).array();
                let factor = first_factor(law, reynolds, [slip, pull]);
                self.own.factor[g] = factor;
                tau = F::of(tau.exact() / factor);
            }
            self.own.weigh(g, h, tau);
        }
    }

    /// The targets at a point of the step, on the paths with given targets.
    #[inline(always)]
    fn targets(&mut self, point: Point, targets: &Polynomials<L::Four, G>) -> [L::Four; G] {
        let which = usize::from(point.1 == END.1);
        let moved = self.moved(which, 0, targets);
        let mut at = self.from.at;
        for g in 0..G {
            at[g] = self.context.walls.wrap::<L>(at[g] + moved[g]);
        }
        let (mut change, mut velocity) = (at, at);
        if self.inertia.drag.is_some() || self.inertia.lift != 0.0 {
            change = self.moved(which, 1, targets);
            for g in 0..G {
                velocity[g] = self.own.velocity[g] + change[g];
            }
        }
        let (fluid, acceleration) = self.sample(point, &at, &change);
        self.targets_of(fluid, acceleration, &velocity)
    }

    /// The velocities towards which the drag turns particles.
    #[inline(always)]
    fn targets_of(
        &self,
        fluid: [L::Four; G],
        acceleration: [L::Four; G],
        velocity: &[L::Four; G],
    ) -> [L::Four; G] {
        let gravity = self.gravity();
        let mut targets = fluid;
        for g in 0..G {
            let (tau, beta) = (self.own.key[g][1], self.own.beta[g]);
            targets[g] = gravity.fma(L::Four::splat(tau * (F::one() - beta)), fluid[g]);
            targets[g] = acceleration[g].fma(L::Four::splat(tau * beta), targets[g]);
            if let Some(law) = self.inertia.drag {
                let slip = fluid[g] - velocity[g];
                let more = factor(law, self.own.reynolds[g], length(slip.array()));
                let more = more / self.own.factor[g] - 1.0;
                targets[g] = slip.fma(L::Four::splat(F::of(more)), targets[g]);
            }
        }
        targets
    }

    /// The displacements (0) or the changes of the velocities (1) after half the step (0) or all of it (1), on the paths with given targets.
    #[inline(always)]
    fn moved(&self, part: usize, what: usize, targets: &Polynomials<L::Four, G>) -> [L::Four; G] {
        let mut moved = self.own.velocity;
        for g in 0..G {
            let weights = &self.own.weights[g][part];
            moved[g] = moved[g] * L::Four::splat(weights.of_velocity[what]);
            for k in 0..3 {
                let weight = L::Four::splat(weights.of_targets[k][what]);
                moved[g] = targets[k][g].fma(weight, moved[g]);
            }
        }
        moved
    }
}

/// The lines through targets at the start and in the middle of a step: their slopes.
#[inline(always)]
fn line<F: Real, V: Four<F>, const G: usize>(first: [V; G], middle: [V; G]) -> [V; G] {
    let mut slope = first;
    for g in 0..G {
        slope[g] = (middle[g] - first[g]) * V::splat(F::of(2.0));
    }
    slope
}

/// The parabolas through targets at the start, in the middle and at the end of a step.
#[inline(always)]
fn parabola<F: Real, V: Four<F>, const G: usize>(
    [first, middle, last]: Polynomials<V, G>,
) -> Polynomials<V, G> {
    let two = V::splat(F::of(2.0));
    let (three, four) = (V::splat(F::of(3.0)), two + two);
    let mut through = [first; 3];
    for g in 0..G {
        through[1][g] = four * middle[g] - three * first[g] - last[g];
        through[2][g] = two * (first[g] + last[g]) - four * middle[g];
    }
    through
}

impl<F: Real> SegmentContext<'_, F> {
    /// The velocity of a particle that is at a position after a step to a free end, where its path may have been turned. `location` is
    /// that of its record at the start.
    pub fn landed(
        &self,
        [from, to, at]: [Position<F>; 3],
        location: i32,
        velocities: Velocities<F>,
    ) -> [F; 3] {
        let [own, change] = velocities.map(Vec3);
        if at == to {
            return (own + change).0;
        }
        let cell = start_cell(&self.launch, from[0], location);
        deflected(&self.launch, [Vec3(from[0]), Vec3(to[0])], cell, [own, change]).0
    }
}
