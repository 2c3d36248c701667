//! Tallies: what adds up along the track of a particle, and conditions that end it.

use crate::{Boundary, cpu::Real};

/// Numbers of a tally for each particle: what has added up, its rest (too small for it), and the quantity at the end of the last step.
pub const TALLY: usize = 3;

/// A quantity that is followed along tracks, from step to step. Between the ends of a step it counts as linear in time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tally {
    /// The quantity.
    pub of: Followed,
    /// What adds up.
    pub kind: TallyKind,
}

/// A quantity at a particle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Followed {
    /// 1.
    One,
    /// The way that the particle has gone: its integral is the length of the straight lines between the ends of its steps.
    Path,
    /// The field's values from a column of its groups on: a number, or the length of a vector of several.
    Values {
        /// The first column.
        first: usize,
        /// Number of columns, at least 1.
        count: usize,
    },
}

/// What of a quantity adds up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TallyKind {
    /// Nothing: the quantity itself.
    Value,
    /// Its integral over time since the release, which is positive in backward runs, too.
    Integral,
    /// The largest value since the release.
    Maximum,
    /// The smallest one.
    Minimum,
    /// The time since the release in which it is above a threshold.
    TimeAbove(f64),
    /// The time in which it is below one.
    TimeBelow(f64),
}

/// Ends particles of which a tally reaches a bound, as [`Stopped`](crate::Status::Stopped).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Condition {
    /// The number of the tally.
    pub tally: usize,
    /// The bound.
    pub bound: f64,
    /// Whether particles end above it, not below it.
    pub is_above: bool,
}

/// The tallies of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tallies {
    /// All of them.
    pub each: Vec<Tally>,
    /// The conditions on them.
    pub conditions: Vec<Condition>,
}

/// A part of a particle's track, from one point in time to the next.
#[derive(Clone, Copy, Debug)]
pub struct Stretch<F> {
    /// The time between them, 0 or more.
    pub time: F,
    /// The distance.
    pub length: F,
}

/// A point on a particle's track: its position in the box, and the boxes that it has crossed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrackPoint<F> {
    /// The fraction of the step.
    pub at: F,
    /// The position.
    pub position: [F; 3],
    /// Boxes crossed through periodic faces.
    pub image: [i32; 3],
}

impl<F: Real> TrackPoint<F> {
    /// The position of a later point, moved by periods to where the track goes on from this one.
    pub fn continued(&self, to: &Self, boundary: &Boundary) -> [F; 3] {
        std::array::from_fn(|d| match to.image[d] == self.image[d] {
            true => to.position[d],
            false => to.position[d] + self.periods(to, d, boundary),
        })
    }

    /// The point at a part of the way to a later one.
    pub fn between(&self, to: &Self, part: F, boundary: &Boundary) -> Self {
        if part == F::one() {
            return *to;
        }
        let end = self.continued(to, boundary);
        let mut point = *self;
        point.at = part.mul_add(to.at - self.at, self.at);
        for (d, end) in end.into_iter().enumerate() {
            point.position[d] = part.mul_add(end - self.position[d], self.position[d]);
            let (low, high) = (F::of(boundary.low[d]), F::of(boundary.high[d]));
            let is_inside = low <= point.position[d] && point.position[d] <= high;
            if to.image[d] != self.image[d] && !is_inside {
                point.position[d] -= self.periods(to, d, boundary);
                point.image[d] = to.image[d];
            }
        }
        point
    }

    /// The periods along an axis that are crossed on the way to a later point.
    fn periods(&self, to: &Self, d: usize, boundary: &Boundary) -> F {
        F::of(f64::from(to.image[d] - self.image[d])) * F::of(boundary.high[d] - boundary.low[d])
    }
}

impl Tallies {
    /// Numbers of each particle.
    pub fn width(&self) -> usize {
        TALLY * self.each.len()
    }

    /// The groups of four values that are needed, in order.
    pub fn groups(&self) -> Vec<usize> {
        let columns = self.each.iter().filter_map(|tally| match tally.of {
            Followed::Values { first, count } => Some(first / 4..=(first + count - 1) / 4),
            Followed::One | Followed::Path => None,
        });
        let mut groups: Vec<usize> = columns.flatten().collect();
        groups.sort_unstable();
        groups.dedup();
        groups
    }

    /// Whether one of them is the length of a path.
    pub fn measure_paths(&self) -> bool {
        self.each.iter().any(|tally| tally.of == Followed::Path)
    }

    /// The row of a particle before its first step.
    pub fn start<F: Real>(&self, row: &mut [F]) {
        for (tally, [total, rest, last]) in self.each.iter().zip(row.as_chunks_mut().0) {
            (*total, *rest, *last) = (tally.kind.start(), F::zero(), F::of(f64::NAN));
        }
    }

    /// Where the quantities are among the values of groups in order, one after another.
    pub fn places(&self, groups: &[usize]) -> Vec<Followed> {
        let place = |tally: &Tally| match tally.of {
            Followed::Values { first, count } => {
                let group = groups.partition_point(|group| *group < first / 4);
                Followed::Values { first: 4 * group + first % 4, count }
            }
            other => other,
        };
        self.each.iter().map(place).collect()
    }

    /// As [`advance`](Self::advance) without conditions.
    #[inline(always)]
    pub(crate) fn add<F: Real>(&self, row: &mut [F], quantities: &[F], stretch: &Stretch<F>) {
        let states = row.as_chunks_mut::<TALLY>().0.iter_mut().zip(quantities);
        for (tally, (state, to)) in self.each.iter().zip(states) {
            *state = tally.advanced(*state, *to, stretch);
        }
    }

    /// The row of a particle after a stretch of its track, from its row before and the quantities after it. If a condition is met
    /// in the stretch, the row is that of the part up to there; returns the number of the condition and that part.
    pub fn advance<F: Real>(
        &self,
        row: &mut [F],
        quantities: &[F],
        stretch: &Stretch<F>,
    ) -> Option<(usize, F)> {
        let met = self.met(row, quantities, stretch);
        let part = met.map_or(F::one(), |(_, part)| part);
        for (i, tally) in self.each.iter().enumerate() {
            let [_, _, last] = state(row, i);
            let mut to = quantities[i];
            let mut of_part = *stretch;
            if part < F::one() {
                to = part.mul_add(to - last, last);
                of_part = Stretch { time: part * stretch.time, length: part * stretch.length };
            }
            let next = tally.advanced(state(row, i), to, &of_part);
            row[TALLY * i..][..TALLY].copy_from_slice(&next);
        }
        met
    }

    /// The condition that is met first in a stretch, and the part of the stretch up to there.
    fn met<F: Real>(
        &self,
        row: &[F],
        quantities: &[F],
        stretch: &Stretch<F>,
    ) -> Option<(usize, F)> {
        let conditions = self.conditions.iter().enumerate();
        let met = conditions.filter_map(|(k, condition)| {
            let Condition { tally: i, bound, is_above } = *condition;
            let (tally, before) = (&self.each[i], state(row, i));
            let to = quantities[i];
            let after = tally.advanced(before, to, stretch);
            let bound = F::of(bound);
            let reaches = |of: [F; TALLY]| {
                let x = tally.kind.reading(of);
                if is_above { x >= bound } else { x <= bound }
            };
            match (reaches(before), reaches(after)) {
                (true, _) => Some((k, F::zero())),
                (false, true) => Some((k, tally.part_to(before, to, bound, stretch))),
                (false, false) => None,
            }
        });
        let earlier = |a: (usize, F), b: (usize, F)| if b.1 < a.1 { b } else { a };
        met.reduce(earlier)
    }

    /// What is shown of the tallies in a row of numbers, as f64.
    pub fn readings(&self, row: &[f64]) -> impl Iterator<Item = f64> {
        let rows = self.each.iter().zip(row.as_chunks::<TALLY>().0);
        rows.map(|(tally, [total, rest, last])| match tally.kind {
            TallyKind::Value => *last,
            _ => total + rest,
        })
    }
}

/// Writes the quantities at a particle, from the values at their [places](Tallies::places) there.
pub fn quantities<F: Real>(places: &[Followed], values: &[F], quantities: &mut [F]) {
    for (place, quantity) in places.iter().zip(quantities) {
        *quantity = match *place {
            Followed::One => F::one(),
            Followed::Path => F::zero(),
            Followed::Values { first, count: 1 } => values[first],
            Followed::Values { first, count } => {
                let of = values[first..first + count].iter();
                F::of(of.map(|x| x.exact() * x.exact()).sum::<f64>().sqrt())
            }
        };
    }
}

/// The numbers of a tally in a row.
fn state<F: Real>(row: &[F], tally: usize) -> [F; TALLY] {
    let at = TALLY * tally;
    [row[at], row[at + 1], row[at + 2]]
}

impl TallyKind {
    /// What a condition compares.
    fn reading<F: Real>(self, [total, _, last]: [F; TALLY]) -> F {
        match self {
            TallyKind::Value => last,
            TallyKind::Maximum => total.max(last),
            TallyKind::Minimum => total.min(last),
            _ => total,
        }
    }

    /// What has added up before the first step.
    fn start<F: Real>(self) -> F {
        match self {
            TallyKind::Value | TallyKind::Maximum | TallyKind::Minimum => F::of(f64::NAN),
            TallyKind::Integral | TallyKind::TimeAbove(_) | TallyKind::TimeBelow(_) => F::zero(),
        }
    }
}

impl Tally {
    /// The tally after a stretch of a track at the end of which the quantity is `to`.
    #[inline(always)]
    fn advanced<F: Real>(
        &self,
        [total, rest, last]: [F; TALLY],
        to: F,
        stretch: &Stretch<F>,
    ) -> [F; TALLY] {
        let sum = |more: F| {
            let more = more + rest;
            let next = total + more;
            // What the sum loses by rounding (Dekker's fast two-sum; the total is the larger one, but for the first steps).
            let lost = if total.max(-total) < more.max(-more) {
                total - (next - more)
            } else {
                more - (next - total)
            };
            [next, lost, to]
        };
        let half = F::of(0.5);
        match self.kind {
            TallyKind::Value => [total, rest, to],
            TallyKind::Maximum => [total.max(last).max(to), rest, to],
            TallyKind::Minimum => [total.min(last).min(to), rest, to],
            TallyKind::Integral if self.of == Followed::Path => sum(stretch.length),
            TallyKind::Integral => sum(half * (last + to) * stretch.time),
            TallyKind::TimeAbove(bound) => {
                let bound = F::of(bound);
                sum(part_above(last - bound, to - bound) * stretch.time)
            }
            TallyKind::TimeBelow(bound) => {
                let bound = F::of(bound);
                sum(part_above(bound - last, bound - to) * stretch.time)
            }
        }
    }

    /// The part of a stretch after which a bound is reached that is at its end, for a quantity that is linear in it; the whole stretch if that is not known.
    fn part_to<F: Real>(&self, before: [F; TALLY], to: F, bound: F, stretch: &Stretch<F>) -> F {
        let [total, _, last] = before;
        let one = F::one();
        let missing = (bound - total) / stretch.time;
        let part = match self.kind {
            TallyKind::Value | TallyKind::Maximum | TallyKind::Minimum => {
                (bound - last) / (to - last)
            }
            TallyKind::Integral if self.of == Followed::Path => (bound - total) / stretch.length,
            TallyKind::Integral => {
                // With the slope d, last * x + d * x^2 / 2 is what is missing; in the form that does not divide by a small slope.
                let slope = to - last;
                let root = (last * last + slope * missing * F::of(2.0)).exact().max(0.0).sqrt();
                let root = if missing < F::zero() { -F::of(root) } else { F::of(root) };
                F::of(2.0) * missing / (last + root)
            }
            // Time passes from where the line is above.
            TallyKind::TimeAbove(level) if last <= F::of(level) => {
                missing + (F::of(level) - last) / (to - last)
            }
            TallyKind::TimeBelow(level) if last >= F::of(level) => {
                missing + (F::of(level) - last) / (to - last)
            }
            TallyKind::TimeAbove(_) | TallyKind::TimeBelow(_) => missing,
        };
        if part.is_nan() { one } else { part.max(F::zero()).min(one) }
    }
}

/// The part of a line between two numbers that is above 0.
fn part_above<F: Real>(from: F, to: F) -> F {
    let zero = F::zero();
    match (from > zero, to > zero) {
        (true, true) => F::one(),
        (true, false) => from / (from - to),
        (false, true) => to / (to - from),
        (false, false) => zero,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tallies(kinds: &[TallyKind]) -> Tallies {
        let of = Followed::Values { first: 4, count: 1 };
        let each = kinds.iter().map(|kind| Tally { of, kind: *kind }).collect();
        Tallies { each, conditions: Vec::new() }
    }

    #[test]
    fn line_has_its_integral_extremes_and_times() {
        use TallyKind::*;
        let all = tallies(&[Value, Integral, Maximum, Minimum, TimeAbove(2.0), TimeBelow(2.0)]);
        let mut row = vec![0.0_f64; all.width()];
        all.start(&mut row);
        row.as_chunks_mut::<TALLY>().0.iter_mut().for_each(|[.., last]| *last = 1.0);
        let stretch = Stretch { time: 0.5, length: 9.0 };
        for to in [5.0, -3.0] {
            assert_eq!(all.advance(&mut row, &[to; 6], &stretch), None);
        }
        let found: Vec<f64> = all.readings(&row).collect();
        // 2 is passed after a quarter of the first stretch and three eighths of the second one.
        let above = 0.5 * (0.75 + 0.375);
        assert_eq!(found, [-3.0, 0.5 * (3.0 + 1.0), 5.0, -3.0, above, 1.0 - above]);
    }

    #[test]
    fn first_condition_that_is_met_ends_the_stretch() {
        let mut all = tallies(&[TallyKind::Value, TallyKind::Integral]);
        let condition = |tally, bound, is_above| Condition { tally, bound, is_above };
        all.conditions =
            vec![condition(0, 9.0, true), condition(1, 0.75, true), condition(0, -1.0, false)];
        let mut row = vec![0.0_f64; all.width()];
        all.start(&mut row);
        row.as_chunks_mut::<TALLY>().0.iter_mut().for_each(|[.., last]| *last = 1.0);
        let stretch = Stretch { time: 1.0, length: 0.0 };
        assert_eq!(all.advance(&mut row, &[1.0; 2], &Stretch { time: 0.5, ..stretch }), None);
        // From 0.5 on, the integral grows by 1 in the stretch.
        assert_eq!(all.advance(&mut row, &[1.0; 2], &stretch), Some((1, 0.25)));
        assert_eq!(all.readings(&row).collect::<Vec<_>>(), [1.0, 0.75]);
        row[4] = 0.0;
        row[3] = 0.0;
        assert_eq!(all.advance(&mut row, &[-3.0; 2], &stretch), Some((2, 0.5)));
    }

    /// A quantity from 0 to 2 in a stretch of the length 1.
    #[test]
    fn bounds_are_reached_where_a_line_reaches_them() {
        use TallyKind::*;
        let found = |kind, bound, is_above, from: f64, to: f64| {
            let mut all = tallies(&[kind]);
            all.conditions = vec![Condition { tally: 0, bound, is_above }];
            let mut row = vec![0.0_f64; all.width()];
            all.start(&mut row);
            row[2] = from;
            let met = all.advance(&mut row, &[to], &Stretch { time: 1.0, length: 0.0 });
            met.map(|(_, part)| part)
        };
        let near = |part: Option<f64>, expected: f64| {
            assert!((part.unwrap() - expected).abs() < 1e-12, "{part:?} {expected}");
        };
        near(found(Integral, 0.5, true, 0.0, 2.0), 0.5_f64.sqrt());
        near(found(Integral, -0.5, false, 0.0, -2.0), 0.5_f64.sqrt());
        near(found(Integral, 0.75, true, 2.0, 0.0), 0.5);
        near(found(TimeAbove(1.0), 0.25, true, 0.0, 2.0), 0.75);
        near(found(TimeBelow(1.0), 0.25, true, 0.0, 2.0), 0.25);
        near(found(Maximum, 0.5, true, 0.0, 2.0), 0.25);
        near(found(Minimum, -0.5, false, 0.0, -2.0), 0.25);
        near(found(Value, 0.5, true, f64::NAN, 2.0), 1.0);
        // An extreme that is not yet that far.
        assert_eq!(found(Minimum, 1.0, true, 0.0, 2.0), None);
        assert_eq!(found(Integral, 1.5, true, 0.0, 2.0), None);
    }

    #[test]
    fn vector_counts_by_its_length_and_sums_keep_small_steps() {
        let vector =
            Tally { of: Followed::Values { first: 7, count: 2 }, kind: TallyKind::Integral };
        let path = Tally { of: Followed::Path, kind: TallyKind::Integral };
        let all = Tallies { each: vec![vector, path], conditions: Vec::new() };
        let groups = all.groups();
        assert_eq!(groups, [1, 2]);
        let (mut found, places) = ([0.0_f32; 2], all.places(&groups));
        quantities(&places, &[0.0, 0.0, 0.0, 3.0, 4.0, 0.0, 0.0, 0.0], &mut found);
        let quantities = found;
        assert_eq!(quantities, [5.0, 0.0]);
        let mut row = vec![0.0_f32; all.width()];
        all.start(&mut row);
        row[2] = 5.0;
        for _ in 0..1_000_000 {
            all.advance(&mut row, &quantities, &Stretch { time: 1e-4, length: 1e-4 });
        }
        let row: Vec<f64> = row.into_iter().map(f64::from).collect();
        for (found, expected) in all.readings(&row).zip([500.0, 100.0]) {
            assert!((found / expected - 1.0).abs() < 1e-6, "{found} {expected}");
        }
    }
}
