//! An independent reference tracer: double precision, one particle at a time, with other algorithms than the
//! library. Frames and cells are found by linear search, schemes are written out, and displacements are
//! followed from face to face, event by event.

// A wrong use is a wrong test.
#![allow(clippy::expect_used)]

pub mod bodies;
pub mod events;
pub mod mesh;
mod schemes;
pub mod vectors;

use burntrace::{
    BoundaryCondition, Face, FrameSource, Obstacle, OutsideTime, Scheme, Status, TimeInterpolation,
};
use events::{Contact, Met, Passage};
use std::collections::HashSet;

pub type Point = [f64; 3];

/// A distance from walls that is larger than the rounding of the oracle, so that no particle gets behind one.
pub const HELD: f64 = 1e-14;

/// Sample positions of velocities, and their interpolation.
pub trait Space: FrameSource {
    /// The low and high corners of the box; equal along a flat axis.
    fn corners(&self) -> [Point; 2];

    /// Velocity in a frame.
    fn in_frame(&self, frame: usize, p: Point) -> Point;

    /// Velocity at a time between frames, which are given with their weights.
    fn between(&self, frames: &[(usize, f64)], p: Point, _t: f64) -> Point {
        frames.iter().fold([0.0; 3], |sum, (frame, weight)| {
            vectors::plus(sum, vectors::scaled(self.in_frame(*frame, p), *weight))
        })
    }

    /// Whether the field is limited by walls of its own, as on a mesh.
    fn has_walls(&self) -> bool {
        false
    }

    /// The first contact of a straight path with a wall of the field.
    fn first_wall(&self, _from: Point, _to: Point) -> Option<Contact> {
        None
    }

    /// Whether a position is in the field.
    fn contains(&self, _p: Point) -> bool {
        true
    }
}

/// A field with the options of a run.
#[derive(Clone, Debug)]
pub struct Case<S> {
    pub frames: S,
    pub in_time: TimeInterpolation,
    pub outside: OutsideTime,
    pub scheme: Scheme,
    pub faces: [[BoundaryCondition; 2]; 3],
    pub obstacles: Vec<Obstacle>,
    /// The distance at which particles are held from a wall after a contact.
    pub held: f64,
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
    /// The faces and walls that the particle has met, if it was followed from event to event.
    pub met: HashSet<Met>,
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
        self.resume(FinalState::waiting(start), 0, release)
    }

    /// Traces a particle from the start of a step.
    fn resume(&self, mut state: FinalState, first: usize, release: f64) -> FinalState {
        for k in first..self.times.len() - 1 {
            self.take_step(&mut state, k, release);
        }
        state
    }

    /// Takes a step, or the part of it after the release, unless the particle is waiting or has ended.
    fn take_step(&self, state: &mut FinalState, k: usize, release: f64) {
        let [start, end] = [self.times[k], self.times[k + 1]];
        let is_backward = end < start;
        let is_late = if is_backward { release <= end } else { release >= end };
        if is_late || ![Status::Waiting, Status::Active].contains(&state.status) {
            return;
        }
        let is_within = if is_backward { release < start } else { release > start };
        let t = if is_within { release } else { start };
        state.status = Status::Active;
        self.step(state, t, end - t);
    }

    /// The effect of rounding on a particle: the sum of the deviations caused by perturbations of `delta` along
    /// each axis before each step. Infinite if a perturbation changes the status, as on the verge of an exit.
    pub fn sensitivity(&self, state: &FinalState, start: Point, release: f64, delta: f64) -> f64 {
        let mut sum = 0.0;
        let mut before = FinalState::waiting(start);
        for step in 0..self.times.len() - 1 {
            for d in (0..3).filter(|d| !self.is_flat(*d)) {
                let deviation = |delta: f64| {
                    let mut perturbed = before.clone();
                    perturbed.position[d] += delta;
                    match self.is_allowed(perturbed.position) {
                        true => state.apart(&self.resume(perturbed, step, release), self.width()),
                        false => 0.0,
                    }
                };
                sum += deviation(delta).max(deviation(-delta));
            }
            self.take_step(&mut before, step, release);
            if before.status.has_ended() {
                break;
            }
        }
        sum
    }

    /// Whether a particle may be at a position.
    pub fn is_allowed(&self, p: Point) -> bool {
        let (low, high) = (self.low(), self.high());
        (0..3).all(|d| low[d] <= p[d] && p[d] <= high[d])
            && self.obstacles.iter().all(|obstacle| bodies::allows(obstacle, p))
            && self.frames.contains(p)
    }

    pub fn width(&self) -> Point {
        std::array::from_fn(|d| self.high()[d] - self.low()[d])
    }

    /// Takes a step from `t` to `t + h`.
    pub fn step(&self, state: &mut FinalState, t: f64, h: f64) {
        let velocity = self.mean_velocity(state.position, t, h);
        let displacement = velocity.map(|v| h * v);
        if displacement.iter().any(|x| !x.is_finite()) {
            state.status = Status::NonFinite;
            state.end_time = t;
            return;
        }
        let speed = velocity.iter().map(|v| v * v).sum::<f64>().sqrt();
        if speed < self.stagnant_speed {
            state.status = Status::Stagnant;
            state.end_time = t;
            return;
        }
        if self.frames.has_walls() || !self.obstacles.is_empty() {
            self.pass_walls(state, displacement, (t, h));
        } else {
            self.pass_faces(state, displacement, (t, h));
        }
    }

    /// Follows a displacement among walls and faces.
    pub fn pass_walls(&self, state: &mut FinalState, displacement: Point, (t, h): (f64, f64)) {
        assert_eq!(self.stagnant_speed, 0.0, "paths along walls have no length");
        let passage = Passage::follow(self, state.position, displacement);
        state.position = passage.position;
        (0..3).for_each(|d| state.image[d] += passage.image[d]);
        state.met.extend(passage.met);
        if let Some((status, part)) = passage.end {
            (state.status, state.end_time) = (status, t + part * h);
        }
    }

    /// Follows a displacement among faces alone, axis by axis.
    pub fn pass_faces(&self, state: &mut FinalState, displacement: Point, (t, h): (f64, f64)) {
        let moves: [AxisMove; 3] =
            std::array::from_fn(|d| self.advance(d, state.position[d], displacement[d], 1.0));
        let first = moves.iter().filter_map(|moved| moved.exit).min_by(|a, b| a.0.total_cmp(&b.0));
        let part = first.map_or(1.0, |(part, _)| part);
        let length = moves.iter().map(|moved| moved.length.powi(2)).sum::<f64>().sqrt();
        if first.is_none() && length < self.stagnant_speed * h.abs() {
            state.status = Status::Stagnant;
            state.end_time = t + h;
        }
        for (d, displacement) in displacement.into_iter().enumerate() {
            let moved = self.advance(d, state.position[d], displacement, part);
            state.position[d] = moved.at;
            state.image[d] += moved.image;
        }
        if let Some((part, face)) = first {
            let d = face as usize / 2;
            state.position[d] =
                if (face as usize).is_multiple_of(2) { self.low()[d] } else { self.high()[d] };
            let condition = self.faces[d][face as usize % 2];
            state.status = match condition {
                BoundaryCondition::Stick => Status::Stuck,
                _ => Status::Exited(face),
            };
            state.end_time = t + part * h;
        }
    }

    /// Applies a part of a displacement along an axis, from face to face.
    fn advance(&self, d: usize, from: f64, displacement: f64, part: f64) -> AxisMove {
        let mut moved = AxisMove { at: from, image: 0, length: 0.0, exit: None };
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
                moved.length += left;
                return moved;
            }
            left -= reach;
            moved.length += reach;
            moved.at = if up { high } else { low };
            match self.faces[d][usize::from(up)] {
                BoundaryCondition::Periodic => {
                    moved.at = if up { low } else { high };
                    moved.image += if up { 1 } else { -1 };
                }
                BoundaryCondition::Reflect => up = !up,
                BoundaryCondition::Clamp | BoundaryCondition::Slide => return moved,
                BoundaryCondition::Exit | BoundaryCondition::Stick => {
                    let face = Face::ALL[2 * d + usize::from(up)];
                    moved.exit = Some(((part * total - left) / total, face));
                    return moved;
                }
            }
        }
    }

    /// The image of a point in the box on periodic axes. The high face is that of the next period: it belongs
    /// to the first cell.
    fn folded(&self, p: Point) -> Point {
        let (low, high) = (self.low(), self.high());
        std::array::from_fn(|d| {
            let mut x = p[d];
            if self.faces[d][0] == BoundaryCondition::Periodic && !self.is_flat(d) {
                while x < low[d] {
                    x += high[d] - low[d];
                }
                while x >= high[d] {
                    x -= high[d] - low[d];
                }
            }
            x
        })
    }

    /// Velocity at any point and time.
    pub fn velocity(&self, p: Point, t: f64) -> Point {
        let (frames, count) = self.frames_at(t);
        let v = self.frames.between(&frames[..count], self.folded(p), t);
        std::array::from_fn(|d| if self.is_flat(d) { 0.0 } else { v[d] })
    }

    /// The frames around a time with their weights, and how many they are.
    fn frames_at(&self, t: f64) -> ([(usize, f64); 2], usize) {
        let times = self.frames.times();
        let last = times.len() - 1;
        let (mut t, mut end) = (t, last);
        let mut after = f64::NAN;
        if let OutsideTime::Periodic { period } = self.outside {
            let period = period.unwrap_or(times[last] - times[0]);
            (after, end) = (times[0] + period, last + 1);
            while t < times[0] {
                t += period;
            }
            while t >= after {
                t -= period;
            }
        } else if last == 0 || t < times[0] || t > times[last] {
            let is_zero = last > 0 && self.outside == OutsideTime::Zero;
            let frame = if t < times[0] { 0 } else { last };
            return ([(frame, 1.0); 2], usize::from(!is_zero));
        }
        let time = |k: usize| times.get(k).copied().unwrap_or(after);
        let mut k = 0;
        while k + 1 < end && time(k + 1) <= t {
            k += 1;
        }
        let next = if k == last { 0 } else { k + 1 };
        let part = (t - time(k)) / (time(k + 1) - time(k));
        match self.in_time {
            TimeInterpolation::Linear => ([(k, 1.0 - part), (next, part)], 2),
            TimeInterpolation::Nearest => ([(if part < 0.5 { k } else { next }, 1.0); 2], 1),
        }
    }
}

/// Passes the nodes around a position on a grid with their weights to `add`; positions outside are clamped to the grid. x
/// varies fastest.
pub fn corners(axes: [&[f64]; 3], p: Point, mut add: impl FnMut(usize, f64)) {
    let located: [(usize, f64); 3] = std::array::from_fn(|d| locate(axes[d], p[d]));
    for corner in 0..8 {
        let (mut node, mut weight) = (0, 1.0);
        for d in (0..3).rev() {
            let ((cell, part), side) = (located[d], corner >> d & 1);
            node = node * axes[d].len() + cell + side;
            weight *= if side == 1 { part } else { 1.0 - part };
        }
        if weight != 0.0 {
            add(node, weight);
        }
    }
}

/// The cell of a coordinate and the fraction within it, clamped to the axis.
pub fn locate(axis: &[f64], x: f64) -> (usize, f64) {
    if axis.len() == 1 {
        return (0, 0.0);
    }
    let x = x.clamp(axis[0], axis[axis.len() - 1]);
    let cell = axis.partition_point(|node| *node <= x).clamp(1, axis.len() - 1) - 1;
    (cell, (x - axis[cell]) / (axis[cell + 1] - axis[cell]))
}

/// The result of a displacement along an axis.
struct AxisMove {
    at: f64,
    image: i64,
    /// Length of the path, without what a slide removes.
    length: f64,
    /// The fraction of the displacement at the exit, and the face.
    exit: Option<(f64, Face)>,
}

impl FinalState {
    /// A particle before its release.
    pub fn waiting(position: Point) -> FinalState {
        FinalState {
            position,
            image: [0; 3],
            status: Status::Waiting,
            end_time: f64::NAN,
            met: HashSet::new(),
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

#[cfg(test)]
mod tests {
    /// What computes in the library, and its crates, which the oracle must not use.
    const COMPUTES: [&str; 5] = ["Tracer", "GridField", "MeshField", "PointField", "kernels"];

    #[test]
    fn oracle_takes_no_arithmetic_from_the_library() {
        let sources = [
            include_str!("bodies.rs"),
            include_str!("events.rs"),
            include_str!("mesh.rs"),
            include_str!("schemes.rs"),
            include_str!("vectors.rs"),
            include_str!("mod.rs"),
        ];
        for code in sources.map(|source| source.split("#[cfg(test)]").next().unwrap()) {
            for name in COMPUTES {
                assert!(!code.contains(name), "{name}");
            }
        }
    }
}
