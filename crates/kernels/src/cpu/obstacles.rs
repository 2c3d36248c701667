//! Obstacles in the domain box: whether a straight path meets any, the first contact, and the
//! response of a particle that follows the path, contact by contact.

mod body;
pub(crate) mod facets;
mod line;
#[cfg(test)]
pub(crate) mod random;
#[cfg(test)]
pub(crate) mod tests;

use super::{Real, edge::Passage};
use crate::{
    Boundary, Condition, MAX_EVENTS, Obstacle, ObstaclePassage, Status, Surface,
    status::{EXITED, HIT, STUCK},
};
use body::Body;
use burn::backend::DType;
use line::{Line, dot, minus, plus};

/// The obstacles and the domain box, in the kernel's precision.
pub(super) struct Obstacles<F> {
    bodies: Vec<Body<F>>,
    low: [F; 3],
    high: [F; 3],
    faces: [[Condition; 2]; 3],
}

/// The first crossing of a path from the allowed to the forbidden side of an obstacle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit<F> {
    /// The fraction of the path.
    pub fraction: F,
    /// The unit normal there, towards the allowed side.
    pub normal: [F; 3],
    /// The obstacle's index.
    pub which: usize,
}

/// Maximum number of corrections to move a point out of all obstacles.
const MAX_ROUNDS: usize = 8;

impl<F: Real> Obstacles<F> {
    pub fn new(obstacles: &[Obstacle], boundary: &Boundary) -> Self {
        let bounded = |x: f64| F::of(x).max(F::min_value()).min(F::max_value());
        Obstacles {
            bodies: obstacles.iter().map(Body::new).collect(),
            low: boundary.low.map(bounded),
            high: boundary.high.map(bounded),
            faces: boundary.faces,
        }
    }

    /// Quick, conservative test that the straight path between two points meets no obstacle and
    /// ends at an allowed point. If it is positive and the path stays in the domain box, the step
    /// is finished; any other path requires [`pass`](Obstacles::pass).
    #[inline(always)]
    pub fn is_clear(&self, from: &[F; 3], to: &[F; 3]) -> bool {
        for body in &self.bodies {
            if !body.is_clear(from, to) {
                return false;
            }
        }
        true
    }

    /// As [`is_clear`](Obstacles::is_clear), for several paths. It is not inlined into the callers'
    /// loops, which are compiled many times.
    #[inline(never)]
    pub fn are_clear(&self, paths: &[[[F; 3]; 2]]) -> bool {
        paths.iter().all(|[from, to]| self.is_clear(from, to))
    }

    /// The first crossing from the allowed to the forbidden side of an obstacle, if any.
    pub fn first_hit(&self, from: &[F; 3], to: &[F; 3]) -> Option<Hit<F>> {
        let line = Line::new(from, to)?;
        let mut first: Option<(usize, body::Intersection<F>)> = None;
        for (which, body) in self.bodies.iter().enumerate() {
            if let Some(intersection) = body.intersection(from, &line)
                && first.as_ref().is_none_or(|(_, first)| intersection.distance < first.distance)
            {
                first = Some((which, intersection));
            }
        }
        let (which, intersection) = first?;
        let point = plus(from, &line.direction, intersection.distance);
        let normal = self.bodies[which].normal(&point, intersection.bound);
        Some(Hit { fraction: intersection.distance / line.length, normal, which })
    }

    /// Follows the straight path `from -> to`, with `from` in the domain box, through all contacts.
    /// The final position is an allowed point despite rounding: a particle that cannot be moved to
    /// an allowed point stays at its last one.
    #[cold]
    #[inline(never)]
    pub fn pass(&self, from: &[F; 3], to: &[F; 3]) -> Passage<F> {
        let displacement = minus(to, from);
        let start = self.nearest_allowed(*from).unwrap_or(*from);
        let passage = Passage { position: start, image: [0; 3], end: None, face: None };
        // A correction of the start does not change the displacement.
        let to = if start == *from { *to } else { plus(&start, &displacement, F::one()) };
        let mut cursor = StepCursor { obstacles: self, to, covered: F::zero(), passage };
        // Longer displacements could overflow.
        let longest = F::max_value() / F::of(16.0);
        let mut continues = displacement.iter().all(|x| x.abs() <= longest);
        let mut events = 0;
        while continues {
            events += 1;
            continues = cursor.next() && events < MAX_EVENTS;
        }
        cursor.passage
    }

    /// The nearest allowed point: the given one, or a corrected one.
    fn nearest_allowed(&self, point: [F; 3]) -> Option<[F; 3]> {
        let mut point = point;
        for _ in 0..MAX_ROUNDS {
            point = [0, 1, 2].map(|d| point[d].max(self.low[d]).min(self.high[d]));
            if self.bodies.iter().all(|body| body.allows(&point)) {
                return Some(point);
            }
            for body in &self.bodies {
                point = body.projected(point);
            }
        }
        None
    }

    /// The domain face through which a path first leaves, as axis and side, and the fraction.
    fn first_face(&self, from: &[F; 3], to: &[F; 3]) -> Option<(usize, usize, F)> {
        let mut first: Option<(usize, usize, F)> = None;
        for d in 0..3 {
            let (side, reach) = if to[d] < self.low[d] {
                (0, from[d] - self.low[d])
            } else if to[d] > self.high[d] {
                (1, self.high[d] - from[d])
            } else {
                continue;
            };
            let fraction = (reach / (to[d] - from[d]).abs()).max(F::zero()).min(F::one());
            if first.is_none_or(|(_, _, first)| fraction < first) {
                first = Some((d, side, fraction));
            }
        }
        first
    }
}

/// Progress of a particle along its path in one step.
struct StepCursor<'a, F> {
    obstacles: &'a Obstacles<F>,
    /// End of the remaining straight path, which starts at the passage's position.
    to: [F; 3],
    /// Fraction of the whole path already covered.
    covered: F,
    passage: Passage<F>,
}

impl<F: Real> StepCursor<'_, F> {
    /// Moves to the next contact, or to the end of the path. Returns whether the path continues.
    fn next(&mut self) -> bool {
        let (from, to) = (self.passage.position, self.to);
        let hit = self.obstacles.first_hit(&from, &to);
        if let Some((axis, side, fraction)) = self.obstacles.first_face(&from, &to)
            && hit.is_none_or(|hit| fraction < hit.fraction)
        {
            return self.cross(axis, side, fraction);
        }
        let Some(hit) = hit else {
            self.arrive(to);
            return false;
        };
        let point = self.advance(hit.fraction);
        self.turn(hit, point)
    }

    /// Advances by a fraction of the remaining path, and returns the point there.
    fn advance(&mut self, fraction: F) -> [F; 3] {
        self.covered = (self.covered + fraction * (F::one() - self.covered)).min(F::one());
        let from = &self.passage.position;
        plus(from, &minus(&self.to, from), fraction)
    }

    /// Moves the particle to a point. Returns whether it is possible.
    fn arrive(&mut self, point: [F; 3]) -> bool {
        let nearest_allowed = self.obstacles.nearest_allowed(point);
        if let Some(nearest_allowed) = nearest_allowed {
            self.passage.position = nearest_allowed;
        }
        nearest_allowed.is_some()
    }

    /// Applies the condition of an obstacle's surface at a contact.
    fn turn(&mut self, hit: Hit<F>, point: [F; 3]) -> bool {
        let body = &self.obstacles.bodies[hit.which];
        let rest = minus(&self.to, &self.passage.position);
        let rest = rest.map(|x| x * (F::one() - hit.fraction));
        let continues = self.arrive(point);
        let normal_part = dot(&rest, &hit.normal).min(F::zero());
        let from = &self.passage.position;
        let straight = plus(from, &rest, F::one());
        match body.surface {
            Surface::Reflect => {
                self.to = plus(&straight, &hit.normal, -(normal_part + normal_part))
            }
            Surface::Slide => self.to = body.along(plus(&straight, &hit.normal, -normal_part)),
            Surface::Stick => return self.end(STUCK, Some(hit.which)),
            Surface::Exit => return self.end(HIT, Some(hit.which)),
        }
        continues
    }

    /// Applies the condition of a domain face.
    fn cross(&mut self, axis: usize, side: usize, fraction: F) -> bool {
        let at = [self.obstacles.low, self.obstacles.high][side][axis];
        let mut point = self.advance(fraction);
        point[axis] = at;
        match self.obstacles.faces[axis][side] {
            Condition::Periodic => self.wrap(axis, side, (fraction, point)),
            Condition::Exit => {
                self.arrive(point);
                self.end(EXITED + (2 * axis + side) as i32, None)
            }
            Condition::Reflect => {
                self.to[axis] = at + (at - self.to[axis]);
                self.arrive(point)
            }
            Condition::Clamp => {
                self.to[axis] = at;
                self.arrive(point)
            }
        }
    }

    /// Crosses a periodic face at a point, after a fraction of the remaining path, and re-enters
    /// through the opposite face. If an obstacle covers the point of re-entry, the face acts as its
    /// surface.
    fn wrap(&mut self, axis: usize, side: usize, (fraction, point): (F, [F; 3])) -> bool {
        let (low, high) = (self.obstacles.low[axis], self.obstacles.high[axis]);
        let mut entered = point;
        entered[axis] = [high, low][side];
        let bodies = &self.obstacles.bodies;
        if let Some(which) = bodies.iter().position(|body| body.clearance(&entered) <= F::zero()) {
            let mut normal = [F::zero(); 3];
            normal[axis] = [F::one(), -F::one()][side];
            return self.turn(Hit { fraction, normal, which }, point);
        }
        let continues = self.arrive(entered);
        if continues {
            let (to, width) = (self.to[axis], high - low);
            self.to[axis] = [(to + width).min(high), (to - width).max(low)][side];
            self.passage.image[axis] += [-1, 1][side];
        }
        continues
    }

    fn end(&mut self, status: i32, which: Option<usize>) -> bool {
        self.passage.end = Some((status, self.covered));
        self.passage.face = which.map(|which| which as i32);
        false
    }
}

/// Follows the straight paths `from -> to` among obstacles in the domain box, in single precision
/// for [`DType::F32`] and in double precision otherwise: sequentially, on the host, with the code
/// of the fused operation on a CPU.
pub fn obstacle_passages(
    obstacles: &[Obstacle],
    boundary: &Boundary,
    dtype: DType,
    from: &[[f64; 3]],
    to: &[[f64; 3]],
) -> Vec<ObstaclePassage> {
    match dtype {
        DType::F32 => obstacle_passage::<f32>(obstacles, boundary, from, to),
        _ => obstacle_passage::<f64>(obstacles, boundary, from, to),
    }
}

/// See [`obstacle_passages`](crate::obstacle_passages).
fn obstacle_passage<F: Real>(
    obstacles: &[Obstacle],
    boundary: &Boundary,
    from: &[[f64; 3]],
    to: &[[f64; 3]],
) -> Vec<ObstaclePassage> {
    let obstacles = Obstacles::<F>::new(obstacles, boundary);
    let rounded = |point: &[f64; 3]| point.map(F::of);
    let paths = from.iter().zip(to).map(|(from, to)| obstacles.pass(&rounded(from), &rounded(to)));
    let passage = |passed: Passage<F>| ObstaclePassage {
        position: passed.position.map(number),
        image: passed.image,
        end: passed.end.and_then(|(code, f)| Some((Status::from_code(code)?, number(f)))),
        obstacle: passed.face.map(|which| which as usize),
    };
    paths.map(passage).collect()
}

fn number<F: Real>(x: F) -> f64 {
    num_traits::ToPrimitive::to_f64(&x).unwrap_or(f64::NAN)
}
