//! An independent reference tracer: double precision, one particle at a time, with other algorithms than the
//! library. Frames and cells are found by linear search, schemes are written out, and displacements are
//! followed from face to face, event by event.

use super::common::{Frames, Run};
use burntrace::{
    Condition, Face, FrameSource, OutsideTime, Placement, Scheme, Status, TimeInterpolation,
};

pub type Point = [f64; 3];

/// Sample positions of velocities, and their interpolation.
pub trait Space: FrameSource {
    /// The low and high corners of the box; equal along a flat axis.
    fn corners(&self) -> [Point; 2];

    /// Velocity in a frame.
    fn in_frame(&self, frame: usize, p: Point) -> Point;
}

/// A field with the options of a run.
#[derive(Clone, Debug)]
pub struct Case<S = Frames> {
    pub frames: S,
    pub in_time: TimeInterpolation,
    pub outside: OutsideTime,
    pub scheme: Scheme,
    pub faces: [[Condition; 2]; 3],
    /// Start of each step, and end of the last one.
    pub times: Vec<f64>,
    pub stagnant_speed: f64,
}

/// The final state of a particle.
#[derive(Clone, Debug, PartialEq)]
pub struct FinalState {
    pub position: Point,
    pub image: [i64; 3],
    pub status: Status,
    pub end_time: f64,
}

impl<S: Space> Case<S> {
    pub fn low(&self) -> Point {
        self.frames.corners()[0]
    }

    pub fn high(&self) -> Point {
        self.frames.corners()[1]
    }

    fn is_flat(&self, d: usize) -> bool {
        self.low()[d] == self.high()[d]
    }

    /// Traces a particle from its release.
    pub fn follow(&self, start: Point, release: f64) -> FinalState {
        self.follow_perturbed(start, release, &|_, p| p)
    }

    /// Traces a particle, with its position perturbed before each step by a function of the step's index.
    pub fn follow_perturbed(
        &self,
        start: Point,
        release: f64,
        perturbation: &dyn Fn(usize, Point) -> Point,
    ) -> FinalState {
        let mut state = FinalState {
            position: start,
            image: [0; 3],
            status: Status::Waiting,
            end_time: f64::NAN,
        };
        for (k, pair) in self.times.windows(2).enumerate() {
            let is_backward = pair[1] < pair[0];
            let is_late = if is_backward { release <= pair[1] } else { release >= pair[1] };
            if is_late {
                continue;
            }
            let is_within = if is_backward { release < pair[0] } else { release > pair[0] };
            let t = if is_within { release } else { pair[0] };
            state.status = Status::Active;
            state.position = perturbation(k, state.position);
            self.step(&mut state, t, pair[1] - t);
            if state.status != Status::Active {
                break;
            }
        }
        state
    }

    /// The effect of rounding on a particle: the sum of the deviations caused by perturbations of `delta` along
    /// each axis before each step. Infinite if a perturbation changes the status, as on the verge of an exit.
    pub fn sensitivity(&self, state: &FinalState, start: Point, release: f64, delta: f64) -> f64 {
        let (low, high) = (self.low(), self.high());
        let mut sum = 0.0;
        for step in 0..self.times.len() - 1 {
            for d in (0..3).filter(|d| !self.is_flat(*d)) {
                let deviation = |delta: f64| {
                    let perturbation = |k: usize, mut p: Point| {
                        let x = p[d] + delta;
                        if k == step && low[d] <= x && x <= high[d] {
                            p[d] = x;
                        }
                        p
                    };
                    state.apart(&self.follow_perturbed(start, release, &perturbation), self.width())
                };
                sum += deviation(delta).max(deviation(-delta));
            }
        }
        sum
    }

    pub fn width(&self) -> Point {
        std::array::from_fn(|d| self.high()[d] - self.low()[d])
    }

    fn step(&self, state: &mut FinalState, t: f64, h: f64) {
        let velocity = self.mean_velocity(state.position, t, h);
        let displacement = velocity.map(|v| h * v);
        if displacement.iter().any(|x| !x.is_finite()) {
            state.status = Status::NonFinite;
            state.end_time = t;
            return;
        }
        let speed = self.velocity(state.position, t).iter().map(|v| v * v).sum::<f64>().sqrt();
        if speed < self.stagnant_speed {
            state.status = Status::Stagnant;
            state.end_time = t;
            return;
        }
        let moves: [AxisMove; 3] =
            std::array::from_fn(|d| self.advance(d, state.position[d], displacement[d], 1.0));
        let first = moves.iter().filter_map(|moved| moved.exit).min_by(|a, b| a.0.total_cmp(&b.0));
        let part = first.map_or(1.0, |(part, _)| part);
        for (d, displacement) in displacement.into_iter().enumerate() {
            let moved = self.advance(d, state.position[d], displacement, part);
            state.position[d] = moved.at;
            state.image[d] += moved.image;
        }
        if let Some((part, face)) = first {
            let d = face as usize / 2;
            state.position[d] =
                if (face as usize).is_multiple_of(2) { self.low()[d] } else { self.high()[d] };
            state.status = Status::Exited(face);
            state.end_time = t + part * h;
        }
    }

    /// Applies a part of a displacement along an axis, from face to face.
    fn advance(&self, d: usize, from: f64, displacement: f64, part: f64) -> AxisMove {
        let mut moved = AxisMove { at: from, image: 0, exit: None };
        if self.is_flat(d) {
            return moved;
        }
        let (low, high) = (self.low()[d], self.high()[d]);
        let mut up = displacement > 0.0;
        let total = displacement.abs();
        let mut left = part * total;
        loop {
            let reach = if up { high - moved.at } else { moved.at - low };
            if left <= reach {
                moved.at += if up { left } else { -left };
                return moved;
            }
            left -= reach;
            moved.at = if up { high } else { low };
            match self.faces[d][usize::from(up)] {
                Condition::Periodic => {
                    moved.at = if up { low } else { high };
                    moved.image += if up { 1 } else { -1 };
                }
                Condition::Reflect => up = !up,
                Condition::Clamp => return moved,
                Condition::Exit => {
                    let face = Face::ALL[2 * d + usize::from(up)];
                    moved.exit = Some(((part * total - left) / total, face));
                    return moved;
                }
            }
        }
    }

    /// Mean velocity over a step.
    fn mean_velocity(&self, p: Point, t: f64, h: f64) -> Point {
        let go = |k: Point, c: f64| std::array::from_fn(|d| p[d] + c * h * k[d]);
        let k1 = self.velocity(p, t);
        match self.scheme {
            Scheme::Euler => k1,
            Scheme::Midpoint => self.velocity(go(k1, 0.5), t + 0.5 * h),
            Scheme::Heun => {
                let k2 = self.velocity(go(k1, 1.0), t + h);
                std::array::from_fn(|d| 0.5 * (k1[d] + k2[d]))
            }
            Scheme::Rk4 => {
                let k2 = self.velocity(go(k1, 0.5), t + 0.5 * h);
                let k3 = self.velocity(go(k2, 0.5), t + 0.5 * h);
                let k4 = self.velocity(go(k3, 1.0), t + h);
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
            slopes.push(self.velocity(stage, t + time * h));
        }
        std::array::from_fn(|d| mean(&slopes, &weights, d))
    }

    /// Velocity at any point and time.
    pub fn velocity(&self, p: Point, t: f64) -> Point {
        let (low, high) = (self.low(), self.high());
        let p: Point = std::array::from_fn(|d| {
            let mut x = p[d];
            if self.faces[d][0] == Condition::Periodic && !self.is_flat(d) {
                while x < low[d] {
                    x += high[d] - low[d];
                }
                while x > high[d] {
                    x -= high[d] - low[d];
                }
            }
            x
        });
        let mut sum = [0.0; 3];
        for (frame, weight) in self.frames_at(t) {
            let v = self.frames.in_frame(frame, p);
            for d in (0..3).filter(|d| !self.is_flat(*d)) {
                sum[d] += weight * v[d];
            }
        }
        sum
    }

    /// The frames around a time, with their weights.
    fn frames_at(&self, t: f64) -> Vec<(usize, f64)> {
        let mut times = self.frames.times().to_vec();
        let last = times.len() - 1;
        let mut t = t;
        if let OutsideTime::Periodic { period } = self.outside {
            let period = period.unwrap_or(times[last] - times[0]);
            times.push(times[0] + period);
            while t < times[0] {
                t += period;
            }
            while t >= times[0] + period {
                t -= period;
            }
        } else if last == 0 || t < times[0] || t > times[last] {
            let is_zero = last > 0 && self.outside == OutsideTime::Zero;
            let frame = if t < times[0] { 0 } else { last };
            return if is_zero { vec![] } else { vec![(frame, 1.0)] };
        }
        let mut k = 0;
        while k + 2 < times.len() && times[k + 1] <= t {
            k += 1;
        }
        let next = if k == last { 0 } else { k + 1 };
        let part = (t - times[k]) / (times[k + 1] - times[k]);
        match self.in_time {
            TimeInterpolation::Linear => vec![(k, 1.0 - part), (next, part)],
            TimeInterpolation::Nearest => vec![(if part < 0.5 { k } else { next }, 1.0)],
        }
    }
}

impl Space for Frames {
    fn corners(&self) -> [Point; 2] {
        [self.axes.each_ref().map(|axis| axis[0]), self.axes.each_ref().map(|a| a[a.len() - 1])]
    }

    /// A weighted sum over the eight corners, or the cell's value.
    fn in_frame(&self, frame: usize, p: Point) -> Point {
        let values = &self.values[frame];
        let located: [(usize, f64); 3] = std::array::from_fn(|d| locate(&self.axes[d], p[d]));
        let is_cells = self.placement == Placement::Cells;
        let counts = self.axes.each_ref().map(|axis| match is_cells {
            true => (axis.len() - 1).max(1),
            false => axis.len(),
        });
        let read = |ijk: [usize; 3], c: usize| {
            values[3 * (ijk[0] + counts[0] * (ijk[1] + counts[1] * ijk[2])) + c]
        };
        let cell = located.map(|(cell, _)| cell);
        if is_cells {
            return std::array::from_fn(|c| read(cell, c));
        }
        let mut sum = [0.0; 3];
        for corner in 0..8 {
            let bits = [corner & 1, corner >> 1 & 1, corner >> 2];
            let weight: f64 = (0..3)
                .map(|d| if bits[d] == 1 { located[d].1 } else { 1.0 - located[d].1 })
                .product();
            if weight != 0.0 {
                let ijk = std::array::from_fn(|d| cell[d] + bits[d]);
                (0..3).for_each(|c| sum[c] += weight * read(ijk, c));
            }
        }
        sum
    }
}

/// The cell of a coordinate and the fraction within it, clamped to the axis.
fn locate(axis: &[f64], x: f64) -> (usize, f64) {
    if axis.len() == 1 {
        return (0, 0.0);
    }
    let x = x.clamp(axis[0], axis[axis.len() - 1]);
    let mut cell = 0;
    while cell + 2 < axis.len() && axis[cell + 1] <= x {
        cell += 1;
    }
    (cell, (x - axis[cell]) / (axis[cell + 1] - axis[cell]))
}

/// The result of a displacement along an axis.
struct AxisMove {
    at: f64,
    image: i64,
    /// The fraction of the displacement at the exit, and the face.
    exit: Option<(f64, Face)>,
}

impl FinalState {
    /// The final state of a particle of a run.
    pub fn of(run: &Run, i: usize) -> FinalState {
        FinalState {
            position: run.last()[i],
            image: run.image[i],
            status: run.status[i],
            end_time: run.end_time[i],
        }
    }

    /// The deviation between two final states; infinite if their statuses differ.
    pub fn apart(&self, other: &FinalState, width: [f64; 3]) -> f64 {
        if self.status != other.status || self.end_time.is_nan() != other.end_time.is_nan() {
            return f64::INFINITY;
        }
        // Unwrapped: on a periodic face rounding may choose either side.
        let free =
            |state: &FinalState, d: usize| state.position[d] + state.image[d] as f64 * width[d];
        let deviations = (0..3).map(|d| (free(self, d) - free(other, d)).abs());
        deviations.fold((self.end_time - other.end_time).abs(), f64::max)
    }
}

/// The rounding error of a step: half an ulp of a position of up to 5, for about ten operations.
pub fn perturbation(eps: f64) -> f64 {
    10.0 * 0.5 * 5.0 * eps
}
