//! Schemes, written out.

use super::{Case, Point, Space, vectors};
use burntrace::Scheme;

impl<S: Space> Case<S> {
    /// Mean velocity over a step.
    pub(super) fn mean_velocity(&self, p: Point, t: f64, h: f64) -> Point {
        let go = |k: Point, c: f64| std::array::from_fn(|d| p[d] + c * h * k[d]);
        let k1 = self.velocity(p, t);
        match self.scheme {
            Scheme::Euler => k1,
            Scheme::Midpoint => self.stage_velocity(p, go(k1, 0.5), t + 0.5 * h),
            Scheme::Heun => {
                let k2 = self.stage_velocity(p, go(k1, 1.0), t + h);
                std::array::from_fn(|d| 0.5 * (k1[d] + k2[d]))
            }
            Scheme::Rk4 => {
                let k2 = self.stage_velocity(p, go(k1, 0.5), t + 0.5 * h);
                let k3 = self.stage_velocity(p, go(k2, 0.5), t + 0.5 * h);
                let k4 = self.stage_velocity(p, go(k3, 1.0), t + h);
                std::array::from_fn(|d| (k1[d] + 2.0 * k2[d] + 2.0 * k3[d] + k4[d]) / 6.0)
            }
            Scheme::DormandPrince => self.dormand_prince(p, t, h),
        }
    }

    fn dormand_prince(&self, p: Point, t: f64, h: f64) -> Point {
        let rows: [(f64, &[f64]); 6] = [
            (0.0, &[]),
            (0.2, &[0.2]),
            (0.3, &[3.0 / 40.0, 9.0 / 40.0]),
            (0.8, &[44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0]),
            (8.0 / 9.0, &[19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0]),
            (
                1.0,
                &[
                    9017.0 / 3168.0,
                    -355.0 / 33.0,
                    46732.0 / 5247.0,
                    49.0 / 176.0,
                    -5103.0 / 18656.0,
                ],
            ),
        ];
        let weights =
            [35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0];
        let mut slopes: Vec<Point> = Vec::new();
        let mean = |slopes: &[Point], weights: &[f64], d: usize| {
            slopes.iter().zip(weights).map(|(k, w)| w * k[d]).sum::<f64>()
        };
        for (time, row) in rows {
            let stage = std::array::from_fn(|d| p[d] + h * mean(&slopes, row, d));
            slopes.push(self.stage_velocity(p, stage, t + time * h));
        }
        std::array::from_fn(|d| mean(&slopes, &weights, d))
    }

    /// Velocity at a stage of a step from `start`. A stage outside the field samples the last point in it on
    /// the straight line to the stage.
    fn stage_velocity(&self, start: Point, stage: Point, t: f64) -> Point {
        let stage = self.folded(stage);
        if self.frames.contains(stage) {
            return self.velocity(stage, t);
        }
        let contact = self.frames.first_wall(start, stage);
        self.velocity(
            contact.map_or(stage, |contact| vectors::between(start, stage, contact.fraction)),
            t,
        )
    }
}
