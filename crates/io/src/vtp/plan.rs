//! Selection of the saves that become points, and of the points at which lines are split.

use crate::Result;
use crate::export::{Finals, Selection};
use crate::tracks::{ParticleState, SavedStates, Tracks};

/// The points of all particles, particle by particle, and the lines between them.
#[derive(Debug, Default, PartialEq)]
pub(super) struct LinePlan {
    /// Index of the first point of each particle, followed by the number of points.
    pub first: Vec<usize>,
    /// Points at which a line starts, in increasing order, the first point of each particle
    /// included.
    pub starts: Vec<usize>,
}

/// The saves and particles whose points are written.
pub(super) struct Chosen<'a> {
    pub saves: Vec<usize>,
    pub selection: &'a Selection,
    pub finals: Option<Finals>,
}

impl Chosen<'_> {
    /// Whether a state is selected.
    pub fn accepts(&self, state: &ParticleState) -> bool {
        self.selection.accepts(state, self.finals.as_ref())
    }
}

/// Selects the particles of each save that get a point.
pub(super) struct PointFilter {
    /// For each slot, the generation whose end already has a point.
    ended: Vec<Option<i32>>,
}

impl PointFilter {
    pub fn new(particles: usize) -> PointFilter {
        PointFilter { ended: vec![None; particles] }
    }

    /// Whether a particle gets a point: not while it waits for its release or its slot is empty, and
    /// only once after its end.
    pub fn accepts(&mut self, state: &ParticleState) -> bool {
        if !state.is_present() {
            return false;
        }
        let ended = state.status.has_ended().then_some(state.generation);
        let previous = std::mem::replace(&mut self.ended[state.slot], ended);
        ended.is_none() || ended != previous
    }
}

impl LinePlan {
    /// Plans the lines of the given saves of a store, and reads them once.
    pub fn of(store: &Tracks, chosen: &Chosen<'_>) -> Result<LinePlan> {
        let n = store.num_particles();
        let mut filter = PointFilter::new(n);
        let mut counts = vec![0_usize; n];
        // No line crosses the box, nor connects one particle instance with the next.
        let mut last = vec![([0; 3], 0); n];
        // Particle, and index of the point in its track.
        let mut cuts: Vec<(usize, usize)> = Vec::new();
        for &save in &chosen.saves {
            let (states, image) = (SavedStates::read(store, save)?, store.image(save)?);
            for p in 0..n {
                let state = states.state(p);
                if !chosen.accepts(&state) || !filter.accepts(&state) {
                    continue;
                }
                let current = (image.as_ref().map_or([0; 3], |all| all[p]), state.generation);
                if counts[p] == 0 || current != last[p] {
                    cuts.push((p, counts[p]));
                }
                last[p] = current;
                counts[p] += 1;
            }
        }
        Ok(LinePlan::from_counts(&counts, cuts))
    }

    fn from_counts(counts: &[usize], mut cuts: Vec<(usize, usize)>) -> LinePlan {
        let mut first = vec![0];
        let mut points = 0;
        for count in counts {
            points += count;
            first.push(points);
        }
        cuts.sort_unstable();
        let starts = cuts.into_iter().map(|(particle, point)| first[particle] + point).collect();
        LinePlan { first, starts }
    }

    /// Number of points.
    pub fn points(&self) -> usize {
        self.first.last().copied().unwrap_or(0)
    }

    /// The lines: first point, and one after the last point.
    pub fn lines(&self) -> impl Iterator<Item = (usize, usize)> + Clone {
        let ends = self.starts.iter().skip(1).copied().chain([self.points()]);
        self.starts.iter().copied().zip(ends)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burntrace_core::{Face, Status};

    #[test]
    fn waiting_particles_have_no_point_and_ends_have_one() {
        let mut filter = PointFilter::new(1);
        let exited = Status::Exited(Face::XHigh);
        let track =
            [Status::Waiting, Status::Active, Status::Active, exited, exited, Status::Active];
        let position = [0.0; 3];
        let state =
            |status, generation| ParticleState { slot: 0, generation, status, position, time: 0.0 };
        let accepted = track.map(|status| filter.accepts(&state(status, 0)));
        assert_eq!(accepted, [false, true, true, true, false, true]);
        let empty = ParticleState { position: [0.0, f64::NAN, 0.0], ..state(Status::Active, 0) };
        assert!(!filter.accepts(&empty));
        // Two instances, each of which ends before its first save.
        let accepted = [0, 0, 1, 1].map(|generation| filter.accepts(&state(exited, generation)));
        assert_eq!(accepted, [true, false, true, false]);
    }

    #[test]
    fn lines_start_at_particles_and_at_cuts() {
        let plan = LinePlan::from_counts(&[3, 0, 2], vec![(0, 0), (2, 0), (0, 2)]);
        assert_eq!(plan, LinePlan { first: vec![0, 3, 3, 5], starts: vec![0, 2, 3] });
        assert_eq!(plan.lines().collect::<Vec<_>>(), [(0, 2), (2, 3), (3, 5)]);
        assert_eq!(LinePlan::from_counts(&[0], vec![]).lines().count(), 0);
    }
}
