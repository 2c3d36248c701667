//! Obstacles in the domain box: whether a straight path meets any, where it does so first, and
//! what becomes of a particle that follows the path, obstacle by obstacle and face by face.

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
use line::{Line, dot, minus, plus};

/// The obstacles in a domain box, and that box, in the kernel's precision.
pub(super) struct Obstacles<F> {
    bodies: Vec<Body<F>>,
    low: [F; 3],
    high: [F; 3],
    faces: [[Condition; 2]; 3],
}

/// Where a path first goes from the allowed to the forbidden side of an obstacle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit<F> {
    /// The fraction of the path.
    pub fraction: F,
    /// The unit normal there, into the allowed side.
    pub normal: [F; 3],
    /// The obstacle's number.
    pub which: usize,
}

/// Rounds in which a place is brought out of all obstacles.
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

    /// Whether the straight path between two places meets no obstacle for sure, and ends where a
    /// particle may be: quick, and on the safe side. A path that does is plain as long as it is in
    /// the domain box; any other is for [`pass`](Obstacles::pass).
    #[inline(always)]
    pub fn is_clear(&self, from: &[F; 3], to: &[F; 3]) -> bool {
        for body in &self.bodies {
            if !body.is_clear(from, to) {
                return false;
            }
        }
        true
    }

    /// As [`is_clear`](Obstacles::is_clear), for several paths from one place to another. It is not
    /// part of the loops that call it, which are compiled many times over.
    #[inline(never)]
    pub fn are_clear(&self, ways: &[[[F; 3]; 2]]) -> bool {
        ways.iter().all(|[from, to]| self.is_clear(from, to))
    }

    /// The first crossing from the allowed to the forbidden side of an obstacle, if there is one.
    pub fn first_hit(&self, from: &[F; 3], to: &[F; 3]) -> Option<Hit<F>> {
        let line = Line::new(from, to)?;
        let mut first: Option<(usize, body::Meeting<F>)> = None;
        for (which, body) in self.bodies.iter().enumerate() {
            if let Some(meeting) = body.meeting(from, &line)
                && first.as_ref().is_none_or(|(_, first)| meeting.distance < first.distance)
            {
                first = Some((which, meeting));
            }
        }
        let (which, meeting) = first?;
        let place = plus(from, &line.direction, meeting.distance);
        let normal = self.bodies[which].normal(&place, meeting.bound);
        Some(Hit { fraction: meeting.distance / line.length, normal, which })
    }

    /// Follows the straight path `from -> to`, `from` being in the domain box, through all that it
    /// meets. The place where it ends is one where a particle may be, whatever rounding does: what
    /// cannot be brought to such a place stays at the last one.
    #[cold]
    #[inline(never)]
    pub fn pass(&self, from: &[F; 3], to: &[F; 3]) -> Passage<F> {
        let way = minus(to, from);
        let begin = self.settled(*from).unwrap_or(*from);
        let passage = Passage { position: begin, image: [0; 3], end: None, face: None };
        // Its way is the same wherever it has been brought to.
        let to = if begin == *from { *to } else { plus(&begin, &way, F::one()) };
        let mut cursor = StepCursor { obstacles: self, to, begun: F::zero(), passage };
        // So long a way is no number, nor are its parts.
        let longest = F::max_value() / F::of(16.0);
        let mut goes_on = way.iter().all(|x| x.abs() <= longest);
        let mut events = 0;
        while goes_on {
            events += 1;
            goes_on = cursor.next() && events < MAX_EVENTS;
        }
        cursor.passage
    }

    /// A place where a particle may be: the given one, or one that it is brought to.
    fn settled(&self, place: [F; 3]) -> Option<[F; 3]> {
        let mut place = place;
        for _ in 0..MAX_ROUNDS {
            place = [0, 1, 2].map(|d| place[d].max(self.low[d]).min(self.high[d]));
            if self.bodies.iter().all(|body| body.allows(&place)) {
                return Some(place);
            }
            for body in &self.bodies {
                place = body.brought(place);
            }
        }
        None
    }

    /// The face of the box by which a path first goes out, as axis and side, and the fraction.
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

/// A particle on its way.
struct StepCursor<'a, F> {
    obstacles: &'a Obstacles<F>,
    /// Where what is left of the way leads, straight from the passage's position.
    to: [F; 3],
    /// The fraction of the whole way that is behind it.
    begun: F,
    passage: Passage<F>,
}

impl<F: Real> StepCursor<'_, F> {
    /// Goes to what the way meets next, or to its end. Returns whether it goes on.
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
        let place = self.advance(hit.fraction);
        self.turn(hit, place)
    }

    /// The place at a fraction of what is left of the way.
    fn advance(&mut self, fraction: F) -> [F; 3] {
        self.begun = (self.begun + fraction * (F::one() - self.begun)).min(F::one());
        let from = &self.passage.position;
        plus(from, &minus(&self.to, from), fraction)
    }

    /// Moves the particle to a place. Returns whether it could.
    fn arrive(&mut self, place: [F; 3]) -> bool {
        let settled = self.obstacles.settled(place);
        if let Some(settled) = settled {
            self.passage.position = settled;
        }
        settled.is_some()
    }

    /// Applies an obstacle's surface, met at a place.
    fn turn(&mut self, hit: Hit<F>, place: [F; 3]) -> bool {
        let body = &self.obstacles.bodies[hit.which];
        let rest = minus(&self.to, &self.passage.position);
        let rest = rest.map(|x| x * (F::one() - hit.fraction));
        let goes_on = self.arrive(place);
        let share = dot(&rest, &hit.normal).min(F::zero());
        let from = &self.passage.position;
        let straight = plus(from, &rest, F::one());
        match body.surface {
            Surface::Reflect => self.to = plus(&straight, &hit.normal, -(share + share)),
            Surface::Slide => self.to = body.along(plus(&straight, &hit.normal, -share)),
            Surface::Stick => return self.end(STUCK, Some(hit.which)),
            Surface::Exit => return self.end(HIT, Some(hit.which)),
        }
        goes_on
    }

    /// Applies the condition of a face of the box.
    fn cross(&mut self, axis: usize, side: usize, fraction: F) -> bool {
        let at = [self.obstacles.low, self.obstacles.high][side][axis];
        let mut place = self.advance(fraction);
        place[axis] = at;
        match self.obstacles.faces[axis][side] {
            Condition::Periodic => self.wrap(axis, side, (fraction, place)),
            Condition::Exit => {
                self.arrive(place);
                self.end(EXITED + (2 * axis + side) as i32, None)
            }
            Condition::Reflect => {
                self.to[axis] = at + (at - self.to[axis]);
                self.arrive(place)
            }
            Condition::Clamp => {
                self.to[axis] = at;
                self.arrive(place)
            }
        }
    }

    /// Goes out through a periodic face, at a fraction of what is left and the place there, and in
    /// by the opposite one. Where there is an obstacle behind that, the face is part of the
    /// obstacle's surface.
    fn wrap(&mut self, axis: usize, side: usize, (fraction, place): (F, [F; 3])) -> bool {
        let (low, high) = (self.obstacles.low[axis], self.obstacles.high[axis]);
        let mut entered = place;
        entered[axis] = [high, low][side];
        let bodies = &self.obstacles.bodies;
        if let Some(which) = bodies.iter().position(|body| body.gap(&entered) <= F::zero()) {
            let mut normal = [F::zero(); 3];
            normal[axis] = [F::one(), -F::one()][side];
            return self.turn(Hit { fraction, normal, which }, place);
        }
        let goes_on = self.arrive(entered);
        if goes_on {
            let (to, width) = (self.to[axis], high - low);
            self.to[axis] = [(to + width).min(high), (to - width).max(low)][side];
            self.passage.image[axis] += [-1, 1][side];
        }
        goes_on
    }

    fn end(&mut self, status: i32, which: Option<usize>) -> bool {
        self.passage.end = Some((status, self.begun));
        self.passage.face = which.map(|which| which as i32);
        false
    }
}

/// See [`obstacle_passages`](crate::obstacle_passages).
pub(crate) fn obstacle_passage<F: Real>(
    obstacles: &[Obstacle],
    boundary: &Boundary,
    from: &[[f64; 3]],
    to: &[[f64; 3]],
) -> Vec<ObstaclePassage> {
    let obstacles = Obstacles::<F>::new(obstacles, boundary);
    let real = |place: &[f64; 3]| place.map(F::of);
    let ways = from.iter().zip(to).map(|(from, to)| obstacles.pass(&real(from), &real(to)));
    let passage = |passed: Passage<F>| ObstaclePassage {
        position: passed.position.map(number),
        image: passed.image,
        end: passed.end.and_then(|(code, f)| Some((Status::from_code(code)?, number(f)))),
        obstacle: passed.face.map(|which| which as usize),
    };
    ways.map(passage).collect()
}

fn number<F: Real>(x: F) -> f64 {
    num_traits::ToPrimitive::to_f64(&x).unwrap_or(f64::NAN)
}
