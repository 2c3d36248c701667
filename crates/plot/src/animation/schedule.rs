//! Which time is shown when.

use super::Animation;

/// A moment of the run, and for how many hundredths of a second it is shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Shown {
    pub time: f64,
    pub delay: u16,
}

/// For how long the last frame is shown, in hundredths of a second.
const LAST: u16 = 100;

/// Frames at the saves, and between them if they are far apart, for as long as it takes to the next
/// one. Delays are whole hundredths of a second, as in GIF files; their errors do not add up.
pub(super) fn unequal(times: &[f64], animation: &Animation) -> Vec<Shown> {
    // Viewers take delays below 2 for longer ones.
    let least = (100.0 / animation.frames_per_second).round().max(2.0);
    let mut moments: Vec<(f64, f64)> = Vec::new();
    for (time, at) in marks(times, animation, least) {
        let at = at.round();
        match moments.last() {
            Some(&(_, last)) if at - last < least => {}
            _ => moments.push((time, at)),
        }
    }
    if let (Some(moment), Some(&last)) = (moments.last_mut(), times.last()) {
        // The last save is always seen.
        moment.0 = last;
    }
    let delays = moments.windows(2).map(|pair| (pair[1].1 - pair[0].1) as u16).chain([LAST]);
    let shown = moments.iter().zip(delays);
    shown.map(|(&(time, _), delay)| Shown { time, delay }).collect()
}

/// Times of the run, and when they are shown, in hundredths of a second.
fn marks(times: &[f64], animation: &Animation, least: f64) -> Vec<(f64, f64)> {
    let (first, span) = extent(times);
    let when = |time: f64| {
        if span != 0.0 { (time - first) / span * 100.0 * animation.seconds } else { 0.0 }
    };
    let mut marks: Vec<_> = times.first().map(|&time| (time, 0.0)).into_iter().collect();
    for pair in times.windows(2) {
        let (from, to) = (when(pair[0]), when(pair[1]));
        let parts = ((to - from) / least + 1e-6).floor().max(1.0);
        let parts = if animation.interpolate { parts } else { 1.0 };
        marks.extend((1..=parts as usize).map(|i| {
            let part = i as f64 / parts;
            (pair[0] + part * (pair[1] - pair[0]), from + part * (to - from))
        }));
    }
    marks
}

/// Times of frames that all are shown for as long.
pub(super) fn equal(times: &[f64], animation: &Animation) -> Vec<f64> {
    let (first, span) = extent(times);
    let steps = (animation.seconds * animation.frames_per_second).round().max(1.0);
    if span == 0.0 {
        // Films of one frame are not shown by some players.
        return vec![first; steps as usize];
    }
    (0..=steps as usize).map(|i| first + span * i as f64 / steps).collect()
}

/// The first time, and how long it is to the last one: below 0 if the run goes back in time.
fn extent(times: &[f64]) -> (f64, f64) {
    match (times.first(), times.last()) {
        (Some(&first), Some(&last)) => (first, last - first),
        _ => (0.0, 0.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn animation(seconds: f64, interpolate: bool) -> Animation {
        Animation { seconds, interpolate, ..Animation::default() }
    }

    fn delays(times: &[f64], animation: &Animation) -> Vec<u16> {
        unequal(times, animation).iter().map(|shown| shown.delay).collect()
    }

    #[test]
    fn held_saves_are_shown_until_the_next_one() {
        let times = [0.0, 1.0, 3.0, 3.5, 10.0];
        assert_eq!(delays(&times, &animation(10.0, false)), [100, 200, 50, 650, LAST]);
    }

    #[test]
    fn between_saves_time_goes_by_evenly() {
        let times = [2.0, 3.0, 5.0, 5.5, 12.0];
        let shown = unequal(&times, &animation(4.0, true));
        let mut at = 0.0;
        for pair in shown.windows(2) {
            // A hundredth of a second is 0.025 of the run.
            assert!((pair[0].time - (2.0 + at * 0.025)).abs() <= 0.0125 + 1e-9, "{pair:?} at {at}");
            assert!((4..8).contains(&pair[0].delay), "{pair:?}");
            at += f64::from(pair[0].delay);
        }
        assert_eq!((at, shown[shown.len() - 1].time), (400.0, 12.0));
        assert!(times.iter().all(|time| shown.iter().any(|shown| shown.time == *time)));
    }

    #[test]
    fn saves_that_are_too_close_are_passed_over() {
        let times: Vec<f64> = (0..=1000).map(f64::from).collect();
        let delays = delays(&times, &animation(8.0, false));
        assert!(delays.iter().all(|delay| *delay >= 4) && delays.len() <= 201, "{delays:?}");
        let sum: u32 = delays.iter().map(|delay| u32::from(*delay)).sum();
        assert!((890..=900).contains(&sum), "{sum}");
    }

    #[test]
    fn one_save_or_none() {
        assert_eq!(unequal(&[3.0], &animation(8.0, true)), [Shown { time: 3.0, delay: LAST }]);
        assert_eq!(unequal(&[], &animation(8.0, true)), []);
        assert_eq!(equal(&[3.0], &animation(2.0, true)), vec![3.0; 50]);
    }

    #[test]
    fn equal_frames_go_from_the_first_to_the_last_save() {
        let times = equal(&[1.0, 2.0, 5.0], &animation(2.0, true));
        assert_eq!((times.len(), times[0], times[25], times[50]), (51, 1.0, 3.0, 5.0));
    }
}
