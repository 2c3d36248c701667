//! The surface of one obstacle in the kernel's precision.
//!
//! Every shape except a triangulated surface (`facets.rs`) is convex: the set where one to three
//! bounds are negative. A bound is a signed distance from a round surface, or from the nearer of
//! two parallel planes.

use super::{
    Real,
    facets::Facets,
    line::{Line, dot, minus, plus},
};
use crate::{
    Allowed, Obstacle, Shape, Surface,
    obstacle::{BLOCK, CAPPED, FACETED},
};

/// An obstacle in the kernel's precision; see [`Shape::numbers`](crate::Shape).
pub(super) struct Body<F> {
    code: i32,
    is_vessel: bool,
    pub surface: Surface,
    base: [F; 3],
    /// Axis direction; zero for a sphere and a box.
    axis: [F; 3],
    /// Maximum corner of a box.
    top: [F; 3],
    radius: F,
    height: F,
    size: F,
    /// The triangles of a closed surface.
    facets: Option<Facets<F>>,
}

/// A line's intersection with a surface.
pub(super) struct Intersection<F> {
    pub distance: F,
    /// The bound or triangle that is hit.
    pub bound: usize,
}

impl<F: Real> Body<F> {
    pub fn new(obstacle: &Obstacle) -> Self {
        let numbers = obstacle.shape.numbers();
        let number = |i: usize| F::of(numbers[i]).max(F::min_value()).min(F::max_value());
        let (base, second) = ([number(0), number(1), number(2)], [number(3), number(4), number(5)]);
        let code = obstacle.shape.code();
        let none = [F::zero(); 3];
        let has_axis = code != BLOCK && code != FACETED;
        let (axis, top) = if has_axis { (second, none) } else { (none, second) };
        let size = number(8);
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
            radius: number(6),
            height: number(7),
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

    /// Distance that particles keep from the surface: a multiple of the rounding error of a bound
    /// near `p`. Half of it is enough to respect the exact shape.
    #[inline(always)]
    fn skin(&self, p: &[F; 3]) -> F {
        let unit = skins::<F>();
        if self.code == BLOCK {
            return unit * self.size;
        }
        unit * (self.size + dot(&minus(p, &self.base), &self.axis).abs())
    }

    /// The component of a vector normal to the axis; for a sphere the whole vector.
    #[inline(always)]
    fn across(&self, v: &[F; 3]) -> [F; 3] {
        let along = dot(v, &self.axis);
        let axis = &self.axis;
        [v[0] - along * axis[0], v[1] - along * axis[1], v[2] - along * axis[2]]
    }

    /// Signed distances from the two planes of a flat bound, positive between them.
    #[inline(always)]
    fn between(&self, p: &[F; 3], bound: usize) -> [F; 2] {
        if self.code == CAPPED {
            let along = dot(&minus(p, &self.base), &self.axis);
            [along, self.height - along]
        } else {
            [p[bound] - self.base[bound], self.top[bound] - p[bound]]
        }
    }

    /// Signed distance from a bound, negative inside.
    fn value(&self, p: &[F; 3], bound: usize) -> F {
        if self.is_round(bound) {
            let across = self.across(&minus(p, &self.base));
            return dot(&across, &across).sqrt() - self.radius;
        }
        let [above, below] = self.between(p, bound);
        -above.min(below)
    }

    /// Outward normal of a bound at the point nearest to `p`.
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

    /// A unit vector normal to the axis.
    fn any_across(&self) -> [F; 3] {
        let axis = self.axis.map(|x| x.abs());
        let mut smallest = 0;
        for d in 1..3 {
            if axis[d] < axis[smallest] {
                smallest = d;
            }
        }
        let mut unit = [F::zero(); 3];
        unit[smallest] = F::one();
        let across = self.across(&unit);
        let norm = dot(&across, &across).sqrt();
        across.map(|x| x / norm)
    }

    /// The normal of a bound or triangle, towards the allowed side.
    pub fn normal(&self, p: &[F; 3], bound: usize) -> [F; 3] {
        let outward = match &self.facets {
            Some(facets) => facets.normal(bound),
            None => self.outward(p, bound),
        };
        if self.is_vessel { outward.map(|x| -x) } else { outward }
    }

    /// The bound with the largest value.
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

    /// Lower bound of the distance inside the allowed side; negative on the forbidden side.
    pub fn clearance(&self, p: &[F; 3]) -> F {
        let value = match &self.facets {
            Some(facets) => facets.value(p),
            None => self.outermost(p).1,
        };
        if self.is_vessel { -value } else { value }
    }

    /// Whether a particle may be at a point, with a margin for rounding.
    pub fn allows(&self, p: &[F; 3]) -> bool {
        self.clearance(p) > F::of(0.5) * self.skin(p)
    }

    /// The end of a tangential displacement: projected back onto a curved vessel's surface.
    /// Triangles are flat.
    pub fn along(&self, p: [F; 3]) -> [F; 3] {
        if self.facets.is_some() { p } else { self.projected(p) }
    }

    /// The point itself if it is allowed; else a point at the nearest part of the surface, within
    /// rounding.
    pub fn projected(&self, p: [F; 3]) -> [F; 3] {
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

    /// Quick, conservative test that the straight path between two points stays on the allowed
    /// side. A vessel is convex; a path misses a body if it is apart from one of the body's bounds.
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
        let start = self.across(&minus(from, &self.base));
        let end = self.across(&minus(to, &self.base));
        if self.is_vessel {
            let reach = self.radius - skin;
            let farthest = dot(&start, &start).max(dot(&end, &end));
            return reach > F::zero() && farthest < reach * reach;
        }
        let displacement = minus(&end, &start);
        let square = dot(&displacement, &displacement);
        let part = (-dot(&start, &displacement) / square).max(F::zero()).min(F::one());
        // A displacement of length zero gives NaN; any fraction will do.
        let part = if square > F::zero() { part } else { F::zero() };
        let nearest = plus(&start, &displacement, part);
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

    /// The first crossing of a line from the allowed to the forbidden side. A line that starts on
    /// the surface or beyond it crosses at its start, unless it leads to the allowed side.
    pub fn intersection(&self, from: &[F; 3], line: &Line<F>) -> Option<Intersection<F>> {
        if let Some(facets) = &self.facets {
            let (distance, bound) = facets.intersection(from, line, self.is_vessel)?;
            return Some(Intersection { distance, bound });
        }
        let (mut enter, mut leave) = (F::min_value(), F::max_value());
        let (mut first, mut last) = (0, 0);
        for bound in 0..self.bounds() {
            let [starts, ends] = self.span(from, &line.direction, bound);
            if starts > enter {
                (enter, first) = (starts, bound);
            }
            if ends < leave {
                (leave, last) = (ends, bound);
            }
        }
        let is_through = enter < leave;
        let at_once = Intersection { distance: F::zero(), bound: self.outermost(from).0 };
        let intersection = if self.is_vessel {
            if !is_through || leave < F::zero() {
                return Some(at_once);
            }
            Intersection { distance: leave, bound: last }
        } else {
            if !is_through || leave < F::zero() {
                return None;
            }
            if enter <= F::zero() {
                let outward = self.outward(from, at_once.bound);
                return (dot(&outward, &line.direction) < F::zero()).then_some(at_once);
            }
            Intersection { distance: enter, bound: first }
        };
        (intersection.distance <= line.length).then_some(intersection)
    }

    /// The interval of distances along a line in which a bound is negative; the first value exceeds
    /// the second if it is empty.
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

    /// The roots of a quadratic without cancellation: the discriminant from the distance at which
    /// the line passes (Haines, Günther, Akenine-Möller, "Precision improvements for ray/sphere
    /// intersection", Ray Tracing Gems, 2019, ch. 7), the smaller root from the larger (Press et
    /// al., Numerical Recipes, section 5.6).
    fn round_span(&self, from: &[F; 3], direction: &[F; 3]) -> [F; 2] {
        let start = self.across(&minus(from, &self.base));
        let across = self.across(direction);
        let speed = dot(&across, &across).sqrt();
        let distance = dot(&start, &start).sqrt();
        if speed <= F::of(4.0) * F::epsilon() {
            return all_or_nothing(distance < self.radius);
        }
        let across = across.map(|x| x / speed);
        let displacement = dot(&start, &across);
        let passing = plus(&start, &across, -displacement);
        let passing = dot(&passing, &passing).sqrt();
        let square = (self.radius - passing) * (self.radius + passing);
        if square < F::zero() {
            return all_or_nothing(false);
        }
        let far = square.sqrt() + displacement.abs();
        if far == F::zero() {
            return all_or_nothing(false);
        }
        let near = (distance - self.radius) * (distance + self.radius) / far;
        if displacement < F::zero() {
            [near / speed, far / speed]
        } else {
            [-far / speed, -near / speed]
        }
    }
}

/// Not inlined, to keep the loop over other shapes small.
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

/// Distance of particles from a surface of size 1.
#[inline(always)]
fn skins<F: Real>() -> F {
    F::of(16.0) * F::epsilon()
}

/// The whole line, or an empty interval.
fn all_or_nothing<F: Real>(all: bool) -> [F; 2] {
    let (low, high) = (F::min_value(), F::max_value());
    if all { [low, high] } else { [high, low] }
}
