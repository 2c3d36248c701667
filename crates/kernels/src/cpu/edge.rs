//! Paths that may leave the field within the domain box: their end positions and events.

use super::{
    Real, Sampler, four,
    lanes::Portable,
    walls::{Landing, Walls},
};
use crate::{
    MAX_BOUNCES, Wall,
    status::{EXITED, LEFT_MESH},
};

/// Result of following a path.
pub(super) struct Passage<F> {
    pub position: [F; 3],
    /// Boxes crossed through periodic faces, per axis.
    pub image: [i32; 3],
    /// Final status, and the fraction of the path at the end, if the particle ended.
    pub end: Option<(i32, F)>,
    /// The face of the field at which it ended.
    pub face: Option<i32>,
}

impl<F: Real> Passage<F> {
    /// The result if only the domain box matters.
    pub fn of(landing: Landing<F>) -> Self {
        let Landing { position, image, exit } = landing;
        let end = exit.map(|(face, fraction)| (EXITED + face as i32, fraction));
        Passage { position, image, end, face: None }
    }
}

/// Follows a path from a position in the field, wall by wall.
pub(super) fn pass<F: Real, S: Sampler<F>>(
    walls: &Walls<F>,
    sampler: &S,
    hint: &mut S::Hint,
    from: &[F; 3],
    to: &[F; 3],
) -> Passage<F> {
    S::restore(hint);
    let (mut from, mut to) = (*from, *to);
    let (mut covered, mut walks) = (F::zero(), MAX_WALKS);
    let mut passage = Passage { position: from, image: [0; 3], end: None, face: None };
    for _ in 0..=MAX_BOUNCES {
        let path = StraightPath { walls, sampler, from, to, landing: walls.land(&from, &to) };
        let found = path.follow(hint, &mut walks);
        let landing = path.landing_at(found.reached);
        passage.position = landing.position;
        for d in 0..3 {
            passage.image[d] += landing.image[d];
        }
        let left = F::one() - covered;
        let Some(beyond) = found.beyond else {
            passage.end = Passage::of(landing).end.map(|(status, f)| (status, covered + f * left));
            return passage;
        };
        let (face, inward) = sampler.edge(path.landing_at(beyond).position, hint);
        let fraction = found.reached * path.length();
        covered = covered + fraction * left;
        let wall = walls.wall_at(&passage.position);
        if wall == Wall::Leave {
            passage.end = Some((LEFT_MESH, covered));
            passage.face = Some(face);
            return passage;
        }
        let rest = [0, 1, 2].map(|d| (F::one() - fraction) * (to[d] - from[d]));
        let rest = redirected(rest, inward, wall);
        // Slightly off the wall, so that rounding does not make it leave again.
        from = [0, 1, 2].map(|d| passage.position[d] + inward[d]);
        to = [0, 1, 2].map(|d| from[d] + rest[d]);
    }
    passage
}

/// The remaining displacement after a wall.
fn redirected<F: Real>(rest: [F; 3], inward: [F; 3], wall: Wall) -> [F; 3] {
    let size = inward.iter().fold(F::zero(), |a, b| a.max(b.abs()));
    if size == F::zero() {
        return [F::zero(); 3];
    }
    let normal = inward.map(|x| x / size);
    let dot = |a: &[F; 3], b: &[F; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let normal_part = (dot(&rest, &normal) / dot(&normal, &normal)).min(F::zero());
    let factor = if wall == Wall::Reflect { normal_part + normal_part } else { normal_part };
    [0, 1, 2].map(|d| rest[d] - factor * normal[d])
}

/// A straight path, folded into the box, up to its exit from it.
struct StraightPath<'a, F, S> {
    walls: &'a Walls<F>,
    sampler: &'a S,
    from: [F; 3],
    to: [F; 3],
    landing: Landing<F>,
}

/// The part of a path in the field, as fractions of its length.
struct Found<F> {
    reached: F,
    /// A fraction just beyond the boundary of the field; `None` if the whole path is inside.
    beyond: Option<F>,
}

impl<F: Real, S: Sampler<F>> StraightPath<'_, F, S> {
    /// The fraction of the straight line at which the path ends.
    fn length(&self) -> F {
        self.landing.exit.map_or(F::one(), |(_, fraction)| fraction)
    }

    /// The end of the leading fraction `part` of the path.
    fn landing_at(&self, part: F) -> Landing<F> {
        if part == F::one() {
            return self.landing;
        }
        let landing = self.walls.land_at(&self.from, &self.to, part * self.length());
        Landing { exit: None, ..landing }
    }

    /// Whether a walk from the hint's cell reaches the end of a part of the path; if so, moves the
    /// hint there.
    fn leads(&self, part: F, hint: &mut S::Hint) -> bool {
        let position = four::<F, Portable>(&self.landing_at(part).position);
        let mut next = *hint;
        let holds = self.sampler.holds::<Portable>(position, &mut next);
        if holds {
            *hint = next;
        }
        holds
    }

    /// Follows the path to its last point in the field. A walk may fail where the path continues:
    /// around a reentrant corner, and between neighbours with faces that do not match. The path
    /// resumes there if some cell contains it.
    fn follow(&self, hint: &mut S::Hint, walks: &mut usize) -> Found<F> {
        let (mut reached, half) = (F::zero(), F::of(0.5));
        loop {
            if self.leads(F::one(), hint) {
                return Found { reached: F::one(), beyond: None };
            }
            let mut beyond = F::one();
            loop {
                let middle = half * (reached + beyond);
                if !is_between(middle, reached, beyond) {
                    break;
                }
                *walks = walks.saturating_sub(1);
                if self.leads(middle, hint) {
                    reached = middle;
                } else {
                    beyond = middle;
                }
            }
            if *walks == 0 || !self.sampler.find(self.landing_at(beyond).position, hint) {
                return Found { reached, beyond: Some(beyond) };
            }
            reached = beyond;
        }
    }
}

/// Maximum number of walks in a step, after which an interrupted path is not resumed: enough for a
/// wall at each bounce, or for about twenty faces that do not match.
const MAX_WALKS: usize = 1024;

/// Whether bisection between two fractions of a path can continue. It stops at the square of
/// machine epsilon, which bounds the number of rounds even for a path of no length.
pub(super) fn is_between<F: Real>(part: F, reached: F, beyond: F) -> bool {
    let is_long = beyond - reached > F::epsilon() * F::epsilon();
    is_long && part > reached && part < beyond
}
