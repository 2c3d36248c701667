//! The times and durations of frames.

use super::settings::Animation;

/// A frame: its time in the run, and its duration in hundredths of a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TimedFrame {
    pub time: f64,
    pub delay: u16,
}

/// The duration of the last frame, in hundredths of a second.
const LAST_DELAY: u16 = 100;

/// Frames at the saves and, if these are far apart, between them, each shown until the next one.
/// Delays are whole hundredths of a second, as in GIF files; rounding errors do not accumulate.
pub(super) fn frames_at_saves(times: &[f64], animation: &Animation) -> Vec<TimedFrame> {
    // Viewers replace delays below 2 by longer ones.
    let min_delay = (100.0 / animation.frames_per_second).round().max(2.0);
    let mut frames: Vec<(f64, f64)> = Vec::new();
    for (time, start) in keyframes(times, animation, min_delay) {
        let start = start.round();
        match frames.last() {
            Some(&(_, last)) if start - last < min_delay => {}
            _ => frames.push((time, start)),
        }
    }
    if let (Some(frame), Some(&last)) = (frames.last_mut(), times.last()) {
        // The last save is always shown.
        frame.0 = last;
    }
    let delays = frames.windows(2).map(|pair| (pair[1].1 - pair[0].1) as u16).chain([LAST_DELAY]);
    frames.iter().zip(delays).map(|(&(time, _), delay)| TimedFrame { time, delay }).collect()
}

/// Candidate frames: times in the run, and their start in the animation in hundredths of a second.
fn keyframes(times: &[f64], animation: &Animation, min_delay: f64) -> Vec<(f64, f64)> {
    let (first, span) = first_and_span(times);
    let start = |time: f64| {
        if span != 0.0 { (time - first) / span * 100.0 * animation.seconds } else { 0.0 }
    };
    let mut keyframes: Vec<_> = times.first().map(|&time| (time, 0.0)).into_iter().collect();
    for pair in times.windows(2) {
        let (from, to) = (start(pair[0]), start(pair[1]));
        let steps = ((to - from) / min_delay + 1e-6).floor().max(1.0);
        let steps = if animation.interpolate { steps } else { 1.0 };
        keyframes.extend((1..=steps as usize).map(|i| {
            let fraction = i as f64 / steps;
            (pair[0] + fraction * (pair[1] - pair[0]), from + fraction * (to - from))
        }));
    }
    keyframes
}

/// Times of frames of equal duration.
pub(super) fn evenly_spaced_times(times: &[f64], animation: &Animation) -> Vec<f64> {
    let (first, span) = first_and_span(times);
    let steps = (animation.seconds * animation.frames_per_second).round().max(1.0);
    if span == 0.0 {
        // Some players do not show videos of a single frame.
        return vec![first; steps as usize];
    }
    (0..=steps as usize).map(|i| first + span * i as f64 / steps).collect()
}

/// The first time and the time span to the last one, which is negative in a backward run.
fn first_and_span(times: &[f64]) -> (f64, f64) {
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
        frames_at_saves(times, animation).iter().map(|frame| frame.delay).collect()
    }

    #[test]
    fn without_interpolation_each_save_is_shown_until_the_next_one() {
        let times = [0.0, 1.0, 3.0, 3.5, 10.0];
        assert_eq!(delays(&times, &animation(10.0, false)), [100, 200, 50, 650, LAST_DELAY]);
    }

    #[test]
    fn interpolated_frames_advance_at_constant_speed() {
        let times = [2.0, 3.0, 5.0, 5.5, 12.0];
        let frames = frames_at_saves(&times, &animation(4.0, true));
        let mut start = 0.0;
        for pair in frames.windows(2) {
            // A hundredth of a second is 0.025 in the time of the run.
            let expected = 2.0 + start * 0.025;
            assert!((pair[0].time - expected).abs() <= 0.0125 + 1e-9, "{pair:?} at {start}");
            assert!((4..8).contains(&pair[0].delay), "{pair:?}");
            start += f64::from(pair[0].delay);
        }
        assert_eq!((start, frames[frames.len() - 1].time), (400.0, 12.0));
        assert!(times.iter().all(|time| frames.iter().any(|frame| frame.time == *time)));
    }

    #[test]
    fn saves_closer_than_the_minimum_delay_are_skipped() {
        let times: Vec<f64> = (0..=1000).map(f64::from).collect();
        let delays = delays(&times, &animation(8.0, false));
        assert!(delays.iter().all(|delay| *delay >= 4) && delays.len() <= 201, "{delays:?}");
        let sum: u32 = delays.iter().map(|delay| u32::from(*delay)).sum();
        assert!((890..=900).contains(&sum), "{sum}");
    }

    #[test]
    fn one_save_gives_one_frame_and_none_gives_none() {
        let only = TimedFrame { time: 3.0, delay: LAST_DELAY };
        assert_eq!(frames_at_saves(&[3.0], &animation(8.0, true)), [only]);
        assert_eq!(frames_at_saves(&[], &animation(8.0, true)), []);
        assert_eq!(evenly_spaced_times(&[3.0], &animation(2.0, true)), vec![3.0; 50]);
    }

    #[test]
    fn evenly_spaced_times_include_the_first_and_the_last_save() {
        let times = evenly_spaced_times(&[1.0, 2.0, 5.0], &animation(2.0, true));
        assert_eq!((times.len(), times[0], times[25], times[50]), (51, 1.0, 3.0, 5.0));
    }
}
