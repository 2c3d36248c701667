//! Which saves of a particle become points, and where its line is cut.

use crate::Result;
use crate::tracks::Tracks;
use burntrace_core::Status;

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
    has_ended: Vec<bool>,
}

impl Chooser {
    pub fn new(particles: usize) -> Chooser {
        Chooser { has_ended: vec![false; particles] }
    }

    /// Whether a particle gets a point: not while it waits, and once only after it has ended.
    pub fn takes(&mut self, particle: usize, status: Status, position: [f64; 3]) -> bool {
        if status == Status::Waiting || position.iter().any(|x| !x.is_finite()) {
            return false;
        }
        let had_ended = std::mem::replace(&mut self.has_ended[particle], status.has_ended());
        !(had_ended && status.has_ended())
    }
}

impl Plan {
    /// Goes through the saves of a store once.
    pub fn of(store: &Tracks) -> Result<Plan> {
        let n = store.num_particles();
        let mut chooser = Chooser::new(n);
        let mut counts = vec![0_usize; n];
        let mut last_image = vec![[0; 3]; n];
        // Particle, and number of the point within its track.
        let mut cuts: Vec<(usize, usize)> = Vec::new();
        for save in 0..store.num_saves() {
            let (status, position) = (store.status(save)?, store.position(save)?);
            let image = store.image(save)?.unwrap_or_else(|| vec![[0; 3]; n]);
            for p in 0..n {
                if !chooser.takes(p, status[p], position[p]) {
                    continue;
                }
                if counts[p] == 0 || image[p] != last_image[p] {
                    cuts.push((p, counts[p]));
                }
                last_image[p] = image[p];
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
    use burntrace_core::Face;

    #[test]
    fn waiting_saves_are_left_out_and_an_end_has_one_point() {
        let mut chooser = Chooser::new(1);
        let exited = Status::Exited(Face::XHigh);
        let way = [Status::Waiting, Status::Active, Status::Active, exited, exited, Status::Active];
        let taken = way.map(|status| chooser.takes(0, status, [0.0; 3]));
        assert_eq!(taken, [false, true, true, true, false, true]);
        assert!(!chooser.takes(0, Status::Active, [0.0, f64::NAN, 0.0]));
    }

    #[test]
    fn lines_begin_with_particles_and_at_cuts() {
        let plan = Plan::from_counts(&[3, 0, 2], vec![(0, 0), (2, 0), (0, 2)]);
        assert_eq!(plan, Plan { first: vec![0, 3, 3, 5], starts: vec![0, 2, 3] });
        assert_eq!(plan.runs().collect::<Vec<_>>(), [(0, 2), (2, 3), (3, 5)]);
        assert_eq!(Plan::from_counts(&[0], vec![]).runs().count(), 0);
    }
}
