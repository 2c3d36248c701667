//! What particles with inertia meet in a step: the fluid's velocity and its acceleration.

// By index, as an iterator call might not be inlined.
#![allow(clippy::needless_range_loop)]

use super::{Flight, Point, START, drag::lift};
use crate::{
    cpu::{
        Real,
        frame_pair::frame_pair,
        lanes::{Four, Lanes, Vector, four},
        step::StageSlopes,
    },
    inertia::{DIFFERENCE, difference_in_time},
};

impl<F: Real, L: Lanes<F>, E: StageSlopes<F, L, G>, const G: usize> Flight<'_, '_, F, L, E, G> {
    /// Finds velocities that are not known yet.
    #[inline(always)]
    fn release(&mut self, fluid: &[L::Four; G]) {
        for g in 0..G {
            if self.own.is_new[g] {
                self.own.is_new[g] = false;
                self.own.velocity[g] = match self.inertia.initial_velocity {
                    Some(initial) => four::<F, L>(&initial.map(F::of)),
                    None => fluid[g] - self.own.fluctuation[g],
                };
            }
        }
    }

    /// The velocities of the fluid and, unless particles are heavy, its accelerations with those by lift over beta. `change` is that of the
    /// velocities since the start.
    #[inline(always)]
    pub(super) fn sample(
        &mut self,
        (part, stage): Point,
        at: &[L::Four; G],
        change: &[L::Four; G],
    ) -> ([L::Four; G], [L::Four; G]) {
        let pair = &self.pairs[stage];
        let mut acceleration = [L::Four::splat(F::zero()); G];
        if self.inertia.is_heavy {
            let fluid = self.fluid.of_all(stage, at, pair);
            let fluid = self.fluctuating(fluid);
            if stage == START.1 {
                self.release(&fluid);
            }
            return (fluid, acceleration);
        }
        let (mut fluid, mut vorticity) = (*at, acceleration);
        for g in 0..G {
            let (value, [by_x, by_y, by_z]) = self.fluid.slopes(g, at[g], pair);
            if self.inertia.lift != 0.0 {
                let [x, y, z] = [by_x.array(), by_y.array(), by_z.array()];
                vorticity[g] = L::Four::new([y[2] - z[1], z[0] - x[2], x[1] - y[0], F::zero()]);
            }
            fluid[g] = value;
            acceleration[g] = by_x * value.spread::<0>();
            acceleration[g] = by_y.fma(value.spread::<1>(), acceleration[g]);
            acceleration[g] = by_z.fma(value.spread::<2>(), acceleration[g]);
        }
        if !self.inertia.is_steady {
            self.add_changes((part, stage), at, &fluid, &mut acceleration);
        }
        let fluid = self.fluctuating(fluid);
        if stage == START.1 {
            self.release(&fluid);
        }
        if self.inertia.lift != 0.0 {
            for g in 0..G {
                let slip = (fluid[g] - self.own.velocity[g] - change[g]).array();
                let (by, reynolds) = (self.inertia.lift, self.own.reynolds[g]);
                let lift = lift(by, reynolds, slip, vorticity[g].array());
                acceleration[g] = acceleration[g] + L::Four::new(lift);
            }
        }
        (fluid, acceleration)
    }

    #[inline(always)]
    fn fluctuating(&self, mut fluid: [L::Four; G]) -> [L::Four; G] {
        if self.inertia.fluctuates {
            for g in 0..G {
                fluid[g] = fluid[g] + self.own.fluctuation[g];
            }
        }
        fluid
    }

    #[inline(always)]
    pub(super) fn gravity(&self) -> L::Four {
        let [x, y, z] = self.inertia.gravity;
        L::Four::new([F::of(x), F::of(y), F::of(z), F::zero()])
    }

    /// Adds the derivatives of the fluid's velocities by the time.
    #[inline(always)]
    fn add_changes(
        &mut self,
        (part, stage): Point,
        at: &[L::Four; G],
        fluid: &[L::Four; G],
        acceleration: &mut [L::Four; G],
    ) {
        let (j, offset, h) = self.when;
        for (steps, weight) in difference_in_time(part) {
            let later = offset + F::of(part + steps * DIFFERENCE) * h;
            let pair = frame_pair(&self.context.launch, j, later);
            let there = self.fluid.of_all(stage, at, &pair);
            let weight = L::Four::splat(F::of(weight / (12.0 * DIFFERENCE)) / h);
            for g in 0..G {
                acceleration[g] = (there[g] - fluid[g]).fma(weight, acceleration[g]);
            }
        }
    }
}
