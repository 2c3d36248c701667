//! Which saves of a particle become points, and where its line is cut.

use crate::Result;
use crate::tracks::{ParticleState, SavedStates, Tracks};
/// The points of all particles, particle by particle, and the lines between them.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Plan {
    /// Number of the first point of each particle, and after the last one the number of points.
    pub first: Vec<usize>,
    /// Points at which a new line begins, in order; the first point of each particle is one.
    pub starts: Vec<usize>,
}

/// Decides save by save which particles get a point.
pub(super) struct Chooser {
    /// The life of each slot that has got the point of its end.
    ended: Vec<Option<i32>>,
}

impl Chooser {
    pub fn new(particles: usize) -> Chooser {
        Chooser { ended: vec![None; particles] }
    }

    /// Whether a particle gets a point: not while it waits, or its slot is empty, and once only
    /// after it has ended.
    pub fn takes(&mut self, moment: &ParticleState) -> bool {
        if !moment.is_there() {
            return false;
        }
        let ended = moment.status.has_ended().then_some(moment.generation);
        let before = std::mem::replace(&mut self.ended[moment.slot], ended);
        ended.is_none() || ended != before
    }
}

impl Plan {
    /// Goes through the saves of a store once.
    pub fn of(store: &Tracks) -> Result<Plan> {
        let n = store.num_particles();
        let mut chooser = Chooser::new(n);
        let mut counts = vec![0_usize; n];
        // A line leads neither across the box nor from one life to the next.
        let mut last = vec![([0; 3], 0); n];
        // Particle, and number of the point within its track.
        let mut cuts: Vec<(usize, usize)> = Vec::new();
        for save in 0..store.num_saves() {
            let (moments, image) = (SavedStates::read(store, save)?, store.image(save)?);
            for p in 0..n {
                let moment = moments.of(p);
                if !chooser.takes(&moment) {
                    continue;
                }
                let present = (image.as_ref().map_or([0; 3], |all| all[p]), moment.generation);
                if counts[p] == 0 || present != last[p] {
                    cuts.push((p, counts[p]));
                }
                last[p] = present;
                counts[p] += 1;
            }
        }
        Ok(Plan::from_counts(&counts, cuts))
    }

    fn from_counts(counts: &[usize], mut cuts: Vec<(usize, usize)>) -> Plan {
        let mut first = vec![0];
        let mut points = 0;
        for count in counts {
            points += count;
            first.push(points);
        }
        cuts.sort_unstable();
        let starts = cuts.into_iter().map(|(particle, point)| first[particle] + point).collect();
        Plan { first, starts }
    }

    /// How many points there are.
    pub fn points(&self) -> usize {
        self.first.last().copied().unwrap_or(0)
    }

    /// The lines: first point, and one more than the last one.
    pub fn runs(&self) -> impl Iterator<Item = (usize, usize)> + Clone {
        let ends = self.starts.iter().skip(1).copied().chain([self.points()]);
        self.starts.iter().copied().zip(ends)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burntrace_core::{Face, Status};

    #[test]
    fn waiting_saves_are_left_out_and_an_end_has_one_point() {
        let mut chooser = Chooser::new(1);
        let exited = Status::Exited(Face::XHigh);
        let way = [Status::Waiting, Status::Active, Status::Active, exited, exited, Status::Active];
        let position = [0.0; 3];
        let moment =
            |status, generation| ParticleState { slot: 0, generation, status, position, time: 0.0 };
        let taken = way.map(|status| chooser.takes(&moment(status, 0)));
        assert_eq!(taken, [false, true, true, true, false, true]);
        let empty = ParticleState { position: [0.0, f64::NAN, 0.0], ..moment(Status::Active, 0) };
        assert!(!chooser.takes(&empty));
        // One life after another, each of which ends before its first save.
        let taken = [0, 0, 1, 1].map(|life| chooser.takes(&moment(exited, life)));
        assert_eq!(taken, [true, false, true, false]);
    }

    #[test]
    fn lines_begin_with_particles_and_at_cuts() {
        let plan = Plan::from_counts(&[3, 0, 2], vec![(0, 0), (2, 0), (0, 2)]);
        assert_eq!(plan, Plan { first: vec![0, 3, 3, 5], starts: vec![0, 2, 3] });
        assert_eq!(plan.runs().collect::<Vec<_>>(), [(0, 2), (2, 3), (3, 5)]);
        assert_eq!(Plan::from_counts(&[0], vec![]).runs().count(), 0);
    }
}
