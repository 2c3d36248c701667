//! A closed triangulated surface in the kernel's precision: signed distances, and the first
//! crossing of a line.

#[cfg(test)]
mod tests;

use super::{
    Real,
    line::{Line, dot, minus, plus},
};
use crate::surface::{
    CUTS, ClosedSurface, MAX_CUTS, QUANTA,
    facet::{FACE, Facet},
};
use std::sync::Arc;

/// A closed surface. Lattice coordinates count cells from the lattice's first corner.
pub(crate) struct Facets<F> {
    surface: Arc<ClosedSurface>,
    rows: Arc<Vec<[F; 3]>>,
    low: [F; 3],
    high: [F; 3],
    pitch: F,
    /// Cells of the lattice along each axis.
    nodes: [F; 3],
    /// Distance of particles from the surface.
    skin: F,
}

/// An undivided cell.
struct Leaf<F> {
    low: [F; 3],
    width: F,
    /// Offset and length of its list of triangles.
    first: usize,
    count: usize,
    /// Signed lower bound of the distance from the surface; 0 if the list decides.
    distance: F,
}

/// The triangle nearest to a point.
struct Closest<F> {
    which: usize,
    /// From its nearest feature to the point, in its frame.
    off: [F; 3],
    part: usize,
    square: F,
}

/// A line through the lattice.
struct Ray<F> {
    from: [F; 3],
    direction: [F; 3],
    /// Origin and direction in lattice coordinates.
    start: [F; 3],
    speed: [F; 3],
    length: F,
    is_vessel: bool,
}

impl<F: Real> Facets<F> {
    pub fn new(surface: &Arc<ClosedSurface>, skin: F) -> Self {
        Facets {
            rows: F::rows(surface),
            low: surface.low.map(F::of),
            high: surface.high.map(F::of),
            pitch: F::of(surface.pitch),
            nodes: surface.nodes.map(|n| F::from_i32(n as i32)),
            surface: surface.clone(),
            skin,
        }
    }

    /// Lattice coordinates of a point; the lattice starts one cell before the surface's box.
    fn in_lattice(&self, p: &[F; 3]) -> [F; 3] {
        [0, 1, 2].map(|d| (p[d] - self.low[d]) / self.pitch + F::one())
    }

    fn holds(&self, at: &[F; 3]) -> bool {
        (0..3).all(|d| F::zero() <= at[d] && at[d] < self.nodes[d])
    }

    /// The cell at lattice coordinates, or the nearest one.
    fn leaf(&self, at: &[F; 3]) -> Leaf<F> {
        let numbers = &self.surface.numbers;
        let mut cell =
            [0, 1, 2].map(|d| at[d].max(F::zero()).floor().min(self.nodes[d] - F::one()));
        let mut low = cell;
        let mut counts = self.surface.nodes;
        let mut width = F::one();
        let mut start = self.surface.triangles().len();
        for _ in 0..=MAX_CUTS {
            let [x, y, z] = cell.map(|i| i.as_i32() as usize);
            let here = start + 2 * (x + counts[0] * (y + counts[1] * z));
            let (first, quanta) = (numbers[here], numbers[here + 1]);
            if quanta != 0 {
                let distance = F::from_i32(quanta) * self.pitch / F::of(QUANTA);
                return Leaf { low, width, first: here, count: 1, distance };
            }
            if first >= 0 {
                let first = first as usize;
                let count = numbers[first] as usize;
                return Leaf { low, width, first: first + 1, count, distance: F::zero() };
            }
            start = -first as usize;
            counts = [CUTS; 3];
            width = width / F::of(CUTS as f64);
            let last = F::of(CUTS as f64 - 1.0);
            cell = [0, 1, 2].map(|d| ((at[d] - low[d]) / width).floor().max(F::zero()).min(last));
            low = [0, 1, 2].map(|d| low[d] + cell[d] * width);
        }
        // Unreachable: cells are not divided more often.
        Leaf { low, width, first: 0, count: 0, distance: F::zero() }
    }

    fn list(&self, leaf: &Leaf<F>) -> &[i32] {
        &self.surface.numbers[leaf.first..leaf.first + leaf.count]
    }

    fn facet(&self, which: usize) -> Facet<F> {
        Facet::of(&self.rows, which)
    }

    fn closest(&self, p: &[F; 3], list: &[i32]) -> Closest<F> {
        let none = [F::zero(); 3];
        let mut closest = Closest { which: 0, off: none, part: FACE, square: F::max_value() };
        for which in list {
            let which = *which as usize;
            let facet = self.facet(which);
            let [x, y, z] = facet.local(p);
            if z * z >= closest.square {
                continue;
            }
            let nearest = facet.nearest(x, y);
            let off = [nearest.off[0], nearest.off[1], z];
            let square = dot(&off, &off);
            if square < closest.square {
                closest = Closest { which, off, part: nearest.part, square };
            }
        }
        closest
    }

    fn is_outside(&self, closest: &Closest<F>) -> bool {
        self.surface.sides(closest.which).is_outside(closest.part, closest.off[2])
    }

    /// Signed distance of a point, negative inside: exact near the surface, elsewhere a lower bound
    /// in magnitude.
    pub fn value(&self, p: &[F; 3]) -> F {
        let at = self.in_lattice(p);
        if !self.holds(&at) {
            let beyond = |d: usize| (self.low[d] - p[d]).max(p[d] - self.high[d]).max(F::zero());
            let beyond = [beyond(0), beyond(1), beyond(2)];
            return dot(&beyond, &beyond).sqrt();
        }
        let leaf = self.leaf(&at);
        if leaf.distance != F::zero() {
            return leaf.distance;
        }
        let closest = self.closest(p, self.list(&leaf));
        let distance = closest.square.sqrt();
        if self.is_outside(&closest) { distance } else { -distance }
    }

    /// A point at a signed distance from the feature of the surface nearest to `p`, or from a
    /// feature near it if the surface is far away.
    pub fn at_distance(&self, p: &[F; 3], distance: F) -> [F; 3] {
        let at = self.in_lattice(p);
        let leaf = self.leaf(&at);
        let closest = self.closest(p, self.list(&leaf));
        let is_outside = if !self.holds(&at) {
            true
        } else if leaf.distance != F::zero() {
            leaf.distance > F::zero()
        } else {
            self.is_outside(&closest)
        };
        let facet = self.facet(closest.which);
        let apart = closest.square.sqrt();
        if closest.part == FACE || apart < self.skin {
            return plus(p, &facet.normal, distance - closest.off[2]);
        }
        let sign = if is_outside { F::one() } else { -F::one() };
        let [x, y, z] = closest.off.map(|x| x * sign / apart);
        let along = plus(&plus(&facet.normal.map(|n| n * z), &facet.along, x), &facet.up(), y);
        plus(p, &along, distance - sign * apart)
    }

    /// The outward normal of a triangle.
    pub fn normal(&self, which: usize) -> [F; 3] {
        self.facet(which).normal
    }

    /// Quick, conservative test that the straight path between two points stays on the allowed
    /// side.
    pub fn is_clear(&self, from: &[F; 3], to: &[F; 3], is_vessel: bool) -> bool {
        // Triangles extend two skins beyond their sides.
        let reach = F::of(4.0) * self.skin;
        let beyond = |d: usize| {
            from[d].max(to[d]) < self.low[d] - reach || from[d].min(to[d]) > self.high[d] + reach
        };
        if !is_vessel && (beyond(0) || beyond(1) || beyond(2)) {
            return true;
        }
        let displacement = [to[0] - from[0], to[1] - from[1], to[2] - from[2]];
        let length = dot(&displacement, &displacement).sqrt();
        let value = self.value(from);
        let clearance = if is_vessel { -value } else { value };
        let safe = F::one() - F::of(16.0) * F::epsilon();
        clearance * safe > length + reach && length <= F::max_value()
    }

    /// The first crossing of a line through a triangle to its forbidden side: distance and triangle
    /// index.
    pub(super) fn intersection(
        &self,
        from: &[F; 3],
        line: &Line<F>,
        is_vessel: bool,
    ) -> Option<(F, usize)> {
        let speed = line.direction.map(|x| x / self.pitch);
        let (enter, leave) = self.span(&self.in_lattice(from), &speed);
        let (enter, leave) = (enter.max(F::zero()), leave.min(line.length));
        if enter > leave {
            return None;
        }
        // Starts where the line enters the lattice, to reduce rounding.
        let from = plus(from, &line.direction, enter);
        let start = self.in_lattice(&from);
        let length = leave - enter;
        let ray = Ray { from, direction: line.direction, start, speed, length, is_vessel };
        let (distance, which) = self.follow(&ray)?;
        let distance = enter + distance;
        (distance <= line.length).then_some((distance, which))
    }

    /// The interval of distances along a line within the lattice.
    fn span(&self, start: &[F; 3], speed: &[F; 3]) -> (F, F) {
        let (mut enter, mut leave) = (F::min_value(), F::max_value());
        for d in 0..3 {
            if speed[d] == F::zero() {
                if start[d] < F::zero() || start[d] >= self.nodes[d] {
                    return (F::max_value(), F::min_value());
                }
                continue;
            }
            let (a, b) = (-start[d] / speed[d], (self.nodes[d] - start[d]) / speed[d]);
            enter = enter.max(a.min(b));
            leave = leave.min(a.max(b));
        }
        (enter, leave)
    }

    /// Traverses the lattice cell by cell.
    fn follow(&self, ray: &Ray<F>) -> Option<(F, usize)> {
        let mut first: Option<(F, usize)> = None;
        let mut reached = F::zero();
        while reached <= ray.length {
            let leaf = self.leaf(&plus(&ray.start, &ray.speed, reached));
            let mut next = leaf.end(ray);
            // A step past the side of the cell, within its margin.
            let step = F::of(0.005) * leaf.width * self.pitch;
            let step = step.max(F::of(4.0) * F::epsilon() * reached);
            if leaf.distance == F::zero() {
                for which in self.list(&leaf) {
                    self.meet(ray, *which as usize, &mut first);
                }
                if first.is_some_and(|(distance, _)| distance <= next + step) {
                    return first;
                }
            } else {
                next = next.max(reached + leaf.distance.abs());
            }
            reached = next.max(reached) + step;
        }
        first
    }

    /// Updates the first crossing with that of a triangle, if it comes earlier. Triangles extend
    /// slightly beyond their sides, so that there are no gaps between them.
    fn meet(&self, ray: &Ray<F>, which: usize, first: &mut Option<(F, usize)>) {
        let facet = self.facet(which);
        let sign = if ray.is_vessel { -F::one() } else { F::one() };
        let (height, approach) = (
            sign * dot(&minus(&ray.from, &facet.corner), &facet.normal),
            -sign * dot(&ray.direction, &facet.normal),
        );
        let is_behind = height < -F::of(0.25) * self.skin;
        if approach <= F::zero() || is_behind {
            return;
        }
        let distance = height.max(F::zero()) / approach;
        if distance > ray.length || first.is_some_and(|(other, _)| other <= distance) {
            return;
        }
        let [x, y, _] = facet.local(&plus(&ray.from, &ray.direction, distance));
        let [a, b] = facet.nearest(x, y).off;
        let beyond = self.skin + self.skin;
        if a * a + b * b <= beyond * beyond {
            *first = Some((distance, which));
        }
    }
}

impl<F: Real> Leaf<F> {
    /// The distance at which a ray in the cell leaves it.
    fn end(&self, ray: &Ray<F>) -> F {
        let mut end = F::max_value();
        for d in 0..3 {
            let speed = ray.speed[d];
            if speed != F::zero() {
                let side = if speed > F::zero() { self.low[d] + self.width } else { self.low[d] };
                end = end.min((side - ray.start[d]) / speed);
            }
        }
        end
    }
}
