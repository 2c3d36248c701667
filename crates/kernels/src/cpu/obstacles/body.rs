//! The surface of one obstacle in the kernel's precision.
//!
//! Every shape but a surface of triangles (`facets.rs`) is convex: it is where all of one to three
//! bounds are negative. A bound is a signed distance: from a round surface, or from the nearer of two
//! parallel planes.

use super::{
    Real,
    facets::Facets,
    line::{Line, dot, minus, plus},
};
use crate::{
    Allowed, Obstacle, Shape, Surface,
    obstacle::{BLOCK, CAPPED, FACETED},
};

/// An obstacle in the kernel's precision; the numbers are those of
/// [`Shape::numbers`](crate::Shape).
pub(super) struct Body<F> {
    code: i32,
    is_vessel: bool,
    pub surface: Surface,
    base: [F; 3],
    /// Direction of the axis; zero for a sphere and a box.
    axis: [F; 3],
    /// Greatest corner of a box.
    top: [F; 3],
    radius: F,
    height: F,
    size: F,
    /// The triangles of a closed surface.
    facets: Option<Facets<F>>,
}

/// Where a line meets a surface.
pub(super) struct Meeting<F> {
    pub distance: F,
    /// The bound or the triangle that it meets there.
    pub bound: usize,
}

impl<F: Real> Body<F> {
    pub fn new(obstacle: &Obstacle) -> Self {
        let numbers = obstacle.shape.numbers();
        let real = |i: usize| F::of(numbers[i]).max(F::min_value()).min(F::max_value());
        let (base, second) = ([real(0), real(1), real(2)], [real(3), real(4), real(5)]);
        let code = obstacle.shape.code();
        let none = [F::zero(); 3];
        let has_axis = code != BLOCK && code != FACETED;
        let (axis, top) = if has_axis { (second, none) } else { (none, second) };
        let size = real(8);
        let facets = match &obstacle.shape {
            Shape::Surface(surface) => Some(Facets::new(surface, skins::<F>() * size)),
            _ => None,
        };
        Body {
            code,
            is_vessel: obstacle.allowed == Allowed::Inside,
            surface: obstacle.surface,
            base,
            axis,
            top,
            radius: real(6),
            height: real(7),
            size,
            facets,
        }
    }

    #[inline(always)]
    fn bounds(&self) -> usize {
        self.code as usize + 1
    }

    #[inline(always)]
    fn is_round(&self, bound: usize) -> bool {
        self.code != BLOCK && bound == 0
    }

    /// How far off the surface a particle is put: a multiple of what rounding may add up to in a
    /// bound near there. Half of it is enough for the exact shape to hold.
    #[inline(always)]
    fn skin(&self, p: &[F; 3]) -> F {
        let unit = skins::<F>();
        if self.code == BLOCK {
            return unit * self.size;
        }
        unit * (self.size + dot(&minus(p, &self.base), &self.axis).abs())
    }

    /// What of a vector is across the axis: for a sphere all of it.
    #[inline(always)]
    fn across(&self, v: &[F; 3]) -> [F; 3] {
        let along = dot(v, &self.axis);
        let axis = &self.axis;
        [v[0] - along * axis[0], v[1] - along * axis[1], v[2] - along * axis[2]]
    }

    /// The place between the planes of a bound that is not round: the distances to both, positive
    /// between them.
    #[inline(always)]
    fn between(&self, p: &[F; 3], bound: usize) -> [F; 2] {
        if self.code == CAPPED {
            let along = dot(&minus(p, &self.base), &self.axis);
            [along, self.height - along]
        } else {
            [p[bound] - self.base[bound], self.top[bound] - p[bound]]
        }
    }

    /// The signed distance from a bound, negative within.
    fn value(&self, p: &[F; 3], bound: usize) -> F {
        if self.is_round(bound) {
            let across = self.across(&minus(p, &self.base));
            return dot(&across, &across).sqrt() - self.radius;
        }
        let [above, below] = self.between(p, bound);
        -above.min(below)
    }

    /// The outward normal of a bound at the place nearest to `p`.
    fn outward(&self, p: &[F; 3], bound: usize) -> [F; 3] {
        if self.is_round(bound) {
            let across = self.across(&minus(p, &self.base));
            let distance = dot(&across, &across).sqrt();
            if distance > F::zero() {
                return across.map(|x| x / distance);
            }
            return self.any_across();
        }
        let [above, below] = self.between(p, bound);
        let sign = if above < below { -F::one() } else { F::one() };
        if self.code == CAPPED {
            return self.axis.map(|x| sign * x);
        }
        let mut normal = [F::zero(); 3];
        normal[bound] = sign;
        normal
    }

    /// A direction across the axis.
    fn any_across(&self) -> [F; 3] {
        let axis = self.axis.map(|x| x.abs());
        let mut least = 0;
        for d in 1..3 {
            if axis[d] < axis[least] {
                least = d;
            }
        }
        let mut unit = [F::zero(); 3];
        unit[least] = F::one();
        let across = self.across(&unit);
        let norm = dot(&across, &across).sqrt();
        across.map(|x| x / norm)
    }

    /// The normal of a bound, or of a triangle, into the allowed side.
    pub fn normal(&self, p: &[F; 3], bound: usize) -> [F; 3] {
        let outward = match &self.facets {
            Some(facets) => facets.normal(bound),
            None => self.outward(p, bound),
        };
        if self.is_vessel { outward.map(|x| -x) } else { outward }
    }

    /// The bound of greatest value.
    fn outermost(&self, p: &[F; 3]) -> (usize, F) {
        let mut outermost = (0, self.value(p, 0));
        for bound in 1..self.bounds() {
            let value = self.value(p, bound);
            if value > outermost.1 {
                outermost = (bound, value);
            }
        }
        outermost
    }

    /// How far a place is on the allowed side, at least; negative on the forbidden side.
    pub fn gap(&self, p: &[F; 3]) -> F {
        let value = match &self.facets {
            Some(facets) => facets.value(p),
            None => self.outermost(p).1,
        };
        if self.is_vessel { -value } else { value }
    }

    /// Whether a particle may be at a place, beyond all doubt that rounding leaves.
    pub fn allows(&self, p: &[F; 3]) -> bool {
        self.gap(p) > F::of(0.5) * self.skin(p)
    }

    /// What a way along a tangent ends at: back on a curved vessel's surface. Triangles are flat.
    pub fn along(&self, p: [F; 3]) -> [F; 3] {
        if self.facets.is_some() { p } else { self.brought(p) }
    }

    /// The place itself where a particle may be there; else one at the nearest part of the
    /// surface, as far as rounding allows.
    pub fn brought(&self, p: [F; 3]) -> [F; 3] {
        if self.allows(&p) {
            return p;
        }
        if let Some(facets) = &self.facets {
            let skin = self.skin(&p);
            return facets.at_distance(&p, if self.is_vessel { -skin } else { skin });
        }
        if !self.is_vessel {
            let (bound, value) = self.outermost(&p);
            return plus(&p, &self.outward(&p, bound), self.skin(&p) - value);
        }
        let mut p = p;
        for bound in 0..self.bounds() {
            let beyond = self.value(&p, bound) + self.skin(&p);
            if beyond > F::zero() {
                p = plus(&p, &self.outward(&p, bound), -beyond);
            }
        }
        p
    }

    /// Whether the straight path between two places stays on the allowed side for sure: quick, and
    /// on the safe side. A vessel is convex; a body is passed by what is apart from one of its
    /// bounds.
    #[inline(always)]
    pub fn is_clear(&self, from: &[F; 3], to: &[F; 3]) -> bool {
        if let Some(facets) = &self.facets {
            return is_clear_of_facets(facets, from, to, self.is_vessel);
        }
        let skin = self.skin(from).max(self.skin(to));
        let mut clear = self.is_vessel;
        for bound in 0..self.bounds() {
            let apart = if self.is_round(bound) {
                self.is_clear_of_round(from, to, skin)
            } else {
                self.is_clear_of_planes(from, to, bound, skin)
            };
            clear = if self.is_vessel { clear && apart } else { clear || apart };
        }
        clear
    }

    #[inline(always)]
    fn is_clear_of_round(&self, from: &[F; 3], to: &[F; 3], skin: F) -> bool {
        let begin = self.across(&minus(from, &self.base));
        let end = self.across(&minus(to, &self.base));
        if self.is_vessel {
            let reach = self.radius - skin;
            let farthest = dot(&begin, &begin).max(dot(&end, &end));
            return reach > F::zero() && farthest < reach * reach;
        }
        let way = minus(&end, &begin);
        let square = dot(&way, &way);
        let part = (-dot(&begin, &way) / square).max(F::zero()).min(F::one());
        // A way of no length has no number for a part, and any part of it will do.
        let part = if square > F::zero() { part } else { F::zero() };
        let nearest = plus(&begin, &way, part);
        let reach = self.radius + skin;
        square <= F::max_value() && dot(&nearest, &nearest) > reach * reach
    }

    #[inline(always)]
    fn is_clear_of_planes(&self, from: &[F; 3], to: &[F; 3], bound: usize, skin: F) -> bool {
        let [begin_above, begin_below] = self.between(from, bound);
        let [end_above, end_below] = self.between(to, bound);
        let (above, below) = (begin_above.min(end_above), begin_below.min(end_below));
        if self.is_vessel {
            return above.min(below) > skin;
        }
        begin_above.max(end_above) < -skin || begin_below.max(end_below) < -skin
    }

    /// Where a line first goes from the allowed to the forbidden side. One that begins on the
    /// surface or behind it does so at once, unless it leads to the allowed side.
    pub fn meeting(&self, from: &[F; 3], line: &Line<F>) -> Option<Meeting<F>> {
        if let Some(facets) = &self.facets {
            let (distance, bound) = facets.meeting(from, line, self.is_vessel)?;
            return Some(Meeting { distance, bound });
        }
        let (mut enter, mut leave) = (F::min_value(), F::max_value());
        let (mut first, mut last) = (0, 0);
        for bound in 0..self.bounds() {
            let [begins, ends] = self.span(from, &line.direction, bound);
            if begins > enter {
                (enter, first) = (begins, bound);
            }
            if ends < leave {
                (leave, last) = (ends, bound);
            }
        }
        let is_through = enter < leave;
        let at_once = Meeting { distance: F::zero(), bound: self.outermost(from).0 };
        let meeting = if self.is_vessel {
            if !is_through || leave < F::zero() {
                return Some(at_once);
            }
            Meeting { distance: leave, bound: last }
        } else {
            if !is_through || leave < F::zero() {
                return None;
            }
            if enter <= F::zero() {
                let outward = self.outward(from, at_once.bound);
                return (dot(&outward, &line.direction) < F::zero()).then_some(at_once);
            }
            Meeting { distance: enter, bound: first }
        };
        (meeting.distance <= line.length).then_some(meeting)
    }

    /// The distances along a line between which a bound is negative; the first is the greater one
    /// where there are none.
    fn span(&self, from: &[F; 3], direction: &[F; 3], bound: usize) -> [F; 2] {
        if self.is_round(bound) {
            return self.round_span(from, direction);
        }
        let [above, below] = self.between(from, bound);
        let speed = if self.code == CAPPED { dot(direction, &self.axis) } else { direction[bound] };
        if speed == F::zero() {
            return all_or_nothing(above.min(below) > F::zero());
        }
        let (a, b) = (-above / speed, below / speed);
        [a.min(b), a.max(b)]
    }

    /// The roots of a quadratic, in the form that does not cancel: the discriminant from the
    /// distance at which the line passes (Haines, Günther, Akenine-Möller, "Precision improvements
    /// for ray/sphere intersection", Ray Tracing Gems, 2019, ch. 7), the smaller root from the
    /// greater (Press et al., Numerical Recipes, section 5.6).
    fn round_span(&self, from: &[F; 3], direction: &[F; 3]) -> [F; 2] {
        let begin = self.across(&minus(from, &self.base));
        let across = self.across(direction);
        let speed = dot(&across, &across).sqrt();
        let distance = dot(&begin, &begin).sqrt();
        if speed <= F::of(4.0) * F::epsilon() {
            return all_or_nothing(distance < self.radius);
        }
        let across = across.map(|x| x / speed);
        let way = dot(&begin, &across);
        let passing = plus(&begin, &across, -way);
        let passing = dot(&passing, &passing).sqrt();
        let square = (self.radius - passing) * (self.radius + passing);
        if square < F::zero() {
            return all_or_nothing(false);
        }
        let far = square.sqrt() + way.abs();
        if far == F::zero() {
            return all_or_nothing(false);
        }
        let near = (distance - self.radius) * (distance + self.radius) / far;
        if way < F::zero() { [near / speed, far / speed] } else { [-far / speed, -near / speed] }
    }
}

/// Apart, so that the loop over other shapes is small.
#[cold]
#[inline(never)]
fn is_clear_of_facets<F: Real>(
    facets: &Facets<F>,
    from: &[F; 3],
    to: &[F; 3],
    is_vessel: bool,
) -> bool {
    facets.is_clear(from, to, is_vessel)
}

/// How far off a surface of size 1 a particle is put.
#[inline(always)]
fn skins<F: Real>() -> F {
    F::of(16.0) * F::epsilon()
}

/// The whole line, or none of it.
fn all_or_nothing<F: Real>(all: bool) -> [F; 2] {
    let (low, high) = (F::min_value(), F::max_value());
    if all { [low, high] } else { [high, low] }
}
