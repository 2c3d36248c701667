//! A way that may lead out of the field within its box: where it ends, and what then.

use super::{
    Real, Sampler, four,
    lanes::Portable,
    walls::{Landing, Walls},
};
use crate::{
    MAX_BOUNCES, Wall,
    status::{EXITED, LEFT_MESH},
};

/// What became of a particle on a way.
pub(super) struct Passage<F> {
    pub position: [F; 3],
    /// Boxes crossed through periodic faces, per axis.
    pub image: [i32; 3],
    /// The status that it ended with, and the fraction of the way.
    pub end: Option<(i32, F)>,
    /// The face of the field at which it ended.
    pub face: Option<i32>,
}

impl<F: Real> Passage<F> {
    /// What became of it where only the box counts.
    pub fn of(landing: Landing<F>) -> Self {
        let Landing { position, image, exit } = landing;
        let end = exit.map(|(face, fraction)| (EXITED + face as i32, fraction));
        Passage { position, image, end, face: None }
    }
}

/// Follows a way from a position in the field, wall by wall.
pub(super) fn pass<F: Real, S: Sampler<F>>(
    walls: &Walls<F>,
    sampler: &S,
    hint: &mut S::Hint,
    from: &[F; 3],
    to: &[F; 3],
) -> Passage<F> {
    S::turn_back(hint);
    let (mut from, mut to) = (*from, *to);
    let (mut begun, mut walks) = (F::zero(), MAX_WALKS);
    let mut passage = Passage { position: from, image: [0; 3], end: None, face: None };
    for _ in 0..=MAX_BOUNCES {
        let way = Way { walls, sampler, from, to, landing: walls.land(&from, &to) };
        let found = way.follow(hint, &mut walks);
        let landing = way.landing_at(found.reached);
        passage.position = landing.position;
        for d in 0..3 {
            passage.image[d] += landing.image[d];
        }
        let left = F::one() - begun;
        let Some(beyond) = found.beyond else {
            passage.end = Passage::of(landing).end.map(|(status, f)| (status, begun + f * left));
            return passage;
        };
        let (face, inward) = sampler.edge(way.landing_at(beyond).position, hint);
        let fraction = found.reached * way.length();
        begun = begun + fraction * left;
        let wall = walls.wall_at(&passage.position);
        if wall == Wall::Leave {
            passage.end = Some((LEFT_MESH, begun));
            passage.face = Some(face);
            return passage;
        }
        let rest = [0, 1, 2].map(|d| (F::one() - fraction) * (to[d] - from[d]));
        let rest = turned(rest, inward, wall);
        // Not on the wall, where rounding would have it leave again.
        from = [0, 1, 2].map(|d| passage.position[d] + inward[d]);
        to = [0, 1, 2].map(|d| from[d] + rest[d]);
    }
    passage
}

/// What remains of a way at a wall.
fn turned<F: Real>(rest: [F; 3], inward: [F; 3], wall: Wall) -> [F; 3] {
    let size = inward.iter().fold(F::zero(), |a, b| a.max(b.abs()));
    if size == F::zero() {
        return [F::zero(); 3];
    }
    let normal = inward.map(|x| x / size);
    let dot = |a: &[F; 3], b: &[F; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let share = (dot(&rest, &normal) / dot(&normal, &normal)).min(F::zero());
    let factor = if wall == Wall::Reflect { share + share } else { share };
    [0, 1, 2].map(|d| rest[d] - factor * normal[d])
}

/// A straight way, folded into the box, up to where it goes out of that.
struct Way<'a, F, S> {
    walls: &'a Walls<F>,
    sampler: &'a S,
    from: [F; 3],
    to: [F; 3],
    landing: Landing<F>,
}

/// How far a way goes in the field, as a part of its length.
struct Found<F> {
    reached: F,
    /// A part that is right behind the edge of the field; nothing where the whole way is in it.
    beyond: Option<F>,
}

impl<F: Real, S: Sampler<F>> Way<'_, F, S> {
    /// The fraction of the straight line at which the way ends.
    fn length(&self) -> F {
        self.landing.exit.map_or(F::one(), |(_, fraction)| fraction)
    }

    /// Where a part of the way ends.
    fn landing_at(&self, part: F) -> Landing<F> {
        if part == F::one() {
            return self.landing;
        }
        let landing = self.walls.land_at(&self.from, &self.to, part * self.length());
        Landing { exit: None, ..landing }
    }

    /// Whether a walk from a hint's cell leads to where a part of the way ends; if so, the hint is
    /// there now.
    fn leads(&self, part: F, hint: &mut S::Hint) -> bool {
        let position = four::<F, Portable>(&self.landing_at(part).position);
        let mut next = *hint;
        let holds = self.sampler.holds::<Portable>(position, &mut next);
        if holds {
            *hint = next;
        }
        holds
    }

    /// Goes along the way. A walk may end where the way goes on: around a corner that points
    /// inwards, and where faces of neighbours do not match. There the way goes on where some cell
    /// does.
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

/// Walks in a step after which a way that has broken off does not go on: enough for a wall at each
/// bounce, or for some twenty faces that do not match.
const MAX_WALKS: usize = 1024;

/// Whether there is something between two parts of a way. Nothing is as short as the square of
/// rounding, so that not even a way that leads nowhere takes many rounds.
pub(super) fn is_between<F: Real>(part: F, reached: F, beyond: F) -> bool {
    let is_long = beyond - reached > F::epsilon() * F::epsilon();
    is_long && part > reached && part < beyond
}
