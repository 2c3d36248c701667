//! How well computed tracks follow observed ones: the skill score of Liu and Weisberg.
//!
//! ```
//! use burntrace_analysis::skill::{Skill, straight};
//!
//! // A drifter that moves by 1 between its positions, and a particle that moves by 1.1.
//! let track = |speed: f64| (0..=10).map(|k| [speed * k as f64, 0.0, 0.0]).collect::<Vec<_>>();
//! let skill = Skill::of(&track(1.0), &track(1.1), straight).unwrap();
//! assert!((skill.score - 0.9).abs() < 1e-12);
//! ```

/// How well a computed track follows an observed one.
#[derive(Clone, Debug, PartialEq)]
pub struct Skill {
    /// 1 for the observed track itself, and 0 if the index is 1 or more: Y. Liu and R. H. Weisberg, 2011, *J. Geophys. Res.* 116:C09013, with
    /// their tolerance n = 1.
    pub score: f64,
    /// The sum of all separations in proportion to the sum of the lengths of the observed track up to each of them.
    pub index: f64,
    /// The distance between both at each position after the first.
    pub separations: Vec<f64>,
    /// Length of the observed track.
    pub length: f64,
}

impl Skill {
    /// Of the positions of both tracks at the same times, the first of which is the start, in a measure of distance. `None` if there is only
    /// a start, or the observed track does not move.
    pub fn of(
        observed: &[[f64; 3]],
        computed: &[[f64; 3]],
        distance: impl Fn([f64; 3], [f64; 3]) -> f64,
    ) -> Option<Self> {
        let both = observed.iter().zip(computed).skip(1);
        let separations: Vec<f64> = both.map(|(a, b)| distance(*a, *b)).collect();
        let (mut length, mut lengths) = (0.0, 0.0);
        for pair in observed.windows(2).take(separations.len()) {
            length += distance(pair[0], pair[1]);
            lengths += length;
        }
        (lengths > 0.0).then(|| {
            let index = separations.iter().sum::<f64>() / lengths;
            Skill { score: (1.0 - index).max(0.0), index, separations, length }
        })
    }

    /// The mean separation.
    pub fn mean_separation(&self) -> f64 {
        self.separations.iter().sum::<f64>() / self.separations.len() as f64
    }
}

/// The straight distance between two points.
pub fn straight(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|d| (a[d] - b[d]).powi(2)).sum::<f64>().sqrt()
}

/// The position of a track at a time, by linear interpolation; `None` before its first time and after its last one. Times are in the order of
/// the run, which may be backward.
pub fn position_at(times: &[f64], positions: &[[f64; 3]], time: f64) -> Option<[f64; 3]> {
    let is_backward = times.first()? > times.last()?;
    let sign = if is_backward { -1.0 } else { 1.0 };
    let after = times.partition_point(|other| sign * *other < sign * time);
    let (t1, p1) = (*times.get(after)?, positions[after]);
    if t1 == time {
        return Some(p1);
    }
    let before = after.checked_sub(1)?;
    let (t0, p0) = (times[before], positions[before]);
    let part = (time - t0) / (t1 - t0);
    Some([0, 1, 2].map(|d| p0[d] + part * (p1[d] - p0[d])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn score_falls_with_the_separation_and_ends_at_zero() {
        let line = |x: f64, y: f64| (0..=4).map(move |k| [x * f64::from(k), y * f64::from(k), 0.0]);
        let observed: Vec<_> = line(1.0, 0.0).collect();
        let of = |x, y| Skill::of(&observed, &line(x, y).collect::<Vec<_>>(), straight).unwrap();
        assert_eq!((of(1.0, 0.0).score, of(1.0, 0.0).length), (1.0, 4.0));
        let across = of(1.0, 0.5);
        assert!((across.score - 0.5).abs() < 1e-15, "{across:?}");
        assert_eq!(
            (across.separations.clone(), across.mean_separation()),
            (vec![0.5, 1.0, 1.5, 2.0], 1.25)
        );
        assert_eq!((of(-1.0, 0.0).score, of(-1.0, 0.0).index), (0.0, 2.0));
        assert_eq!(Skill::of(&observed[..1], &observed[..1], straight), None);
        assert_eq!(Skill::of(&[[1.0; 3]; 3], &observed, straight), None);
    }

    #[test]
    fn positions_between_saves_are_interpolated_in_either_direction() {
        let positions = [[0.0; 3], [2.0, 0.0, 0.0], [2.0, 4.0, 0.0]];
        let forward = [0.0, 1.0, 3.0];
        let at = |times: &[f64], time| position_at(times, &positions, time);
        assert_eq!(at(&forward, 0.5), Some([1.0, 0.0, 0.0]));
        assert_eq!(at(&forward, 2.0), Some([2.0, 2.0, 0.0]));
        assert_eq!(
            [at(&forward, 0.0), at(&forward, 3.0)],
            [Some(positions[0]), Some(positions[2])]
        );
        assert_eq!([at(&forward, -0.1), at(&forward, 3.1)], [None, None]);
        assert_eq!(at(&[3.0, 1.0, 0.0], 2.0), Some([1.0, 0.0, 0.0]));
        assert_eq!(position_at(&[], &[], 0.0), None);
    }
}
